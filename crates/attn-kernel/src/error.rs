//! Why the kernel did not run.

use std::fmt;

use crate::simd::SimdLevel;

/// The result of everything that can fail here.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the kernel did not run. Nothing was computed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Shapes that do not fit each other, or a layout that reaches past its numbers; a sentence without a full stop.
    Shape(String),
    /// A scale that is not finite, as text.
    Scale(String),
    /// A soft cap that is not finite, or below the smallest normal number, as text.
    SoftCap(String),
    /// A sink that is neither finite nor −∞.
    Sink {
        /// The query head, from 0.
        head: usize,
        /// The sink, as text.
        sink: String,
    },
    /// No instruction set has this name.
    UnknownSimd(String),
    /// This processor lacks this instruction set.
    MissingSimd(SimdLevel),
    /// There is no memory for `count` elements of `bytes` bytes.
    Memory {
        /// The number of elements.
        count: usize,
        /// The bytes of one.
        bytes: usize,
    },
    /// The system started fewer threads than this.
    Threads(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Shape(what) => f.write_str(what),
            Error::Scale(scale) => write!(f, "the scale {scale} is not finite"),
            Error::SoftCap(cap) => write!(
                f,
                "the soft cap {cap} is not finite and above 0 (the smallest normal number at least): give such a number, or \
                 none for scores that are not capped"
            ),
            Error::Sink { head, sink } => write!(
                f,
                "the sink {sink} of query head {head} (from 0) is neither finite nor -inf: give a finite number, or -inf for \
                 a head without a sink"
            ),
            Error::UnknownSimd(name) => write!(f, "`{name}` is no set of SIMD instructions"),
            Error::MissingSimd(level) => write!(f, "this processor has no {level}"),
            Error::Memory { count, bytes } => write!(f, "no memory for {count} elements of {bytes} bytes"),
            Error::Threads(threads) => write!(f, "the system has fewer than {threads} threads"),
        }
    }
}

impl std::error::Error for Error {}

/// “1 head”, “2 heads”.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
