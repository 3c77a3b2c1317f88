//! Why the kernel did not run.

use std::fmt;

use crate::simd::SimdLevel;

/// The result of everything that can fail here.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the kernel did not run. Nothing was computed then.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Shapes that do not fit each other, or numbers that a layout reaches past: which, as a sentence without a full stop.
    Shape(String),
    /// A scale that leaves no number, as it is written.
    Scale(String),
    /// There is no set of SIMD instructions of this name.
    UnknownSimd(String),
    /// This processor lacks these instructions.
    MissingSimd(SimdLevel),
    /// There is no room for this many elements of this many bytes.
    Memory {
        /// How many elements.
        count: usize,
        /// The bytes of one.
        bytes: usize,
    },
    /// The system gave fewer threads than this.
    Threads(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Shape(what) => f.write_str(what),
            Error::Scale(scale) => write!(f, "a scale of {scale} leaves no number"),
            Error::UnknownSimd(name) => write!(f, "`{name}` is no set of SIMD instructions"),
            Error::MissingSimd(level) => write!(f, "this processor has no {level}"),
            Error::Memory { count, bytes } => write!(f, "no memory to work in: {count} times {bytes} bytes"),
            Error::Threads(threads) => write!(f, "the system has fewer than {threads} threads"),
        }
    }
}

impl std::error::Error for Error {}

/// “1 head”, “2 heads”.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
