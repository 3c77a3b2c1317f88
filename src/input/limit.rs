//! The limits of the bytes read from one file, and unpacked from it.

use crate::error::Error;
use crate::graph::MAX_CELLS;
use crate::text::counted;

/// The most bytes that are read as a whole: text, JSON, standard input, one array.
const MOST_BYTES: u64 = 1 << 30;

/// The most bytes of one array that is only passed to the fast path.
const MOST_LARGE_BYTES: u64 = 1 << 34;

/// The limits of the bytes read from one file, and unpacked from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The most bytes that are read or unpacked.
    pub(super) whole: u64,
    /// The most numbers of an array in binary.
    cells: usize,
    /// The count of numbers from which the limit was computed, if it was; then no larger file is opened.
    pub(super) numbers: Option<usize>,
}

impl Limit {
    /// The limit of any file: 1 GiB at once.
    pub const ANY: Limit = Limit { whole: MOST_BYTES, cells: MAX_CELLS, numbers: None };

    /// The limit of a file whose arrays in binary are only passed to the fast path: 16 GiB. The limit of text is that of any
    /// file, because text is read as a whole.
    pub const LARGE: Limit = Limit { cells: usize::MAX, ..Limit::ANY };

    /// The limit of a file of `numbers` numbers: 64 bytes each, rounded up to whole MiB. A number takes at most 25 bytes as text;
    /// the rest is for names, for what is handed in beside it, and for JSON.
    pub fn of_numbers(numbers: usize) -> Limit {
        let bytes = (numbers as u64).saturating_mul(64).clamp(1, MOST_BYTES);
        Limit { whole: bytes.div_ceil(1 << 20) << 20, numbers: Some(numbers), ..Limit::ANY }
    }

    /// The most numbers that an array in binary has.
    pub(super) fn cells(self) -> usize {
        self.cells
    }

    /// The most bytes of arrays that are read from one file, or unpacked from it.
    pub(super) fn unpacked(self) -> u64 {
        if self.cells > MAX_CELLS { MOST_LARGE_BYTES } else { self.whole }
    }

    /// The error for a file that is larger.
    pub(super) fn too_large(self, name: &str) -> Error {
        let size = self.whole >> 20;
        let error = match self.numbers {
            Some(numbers) => Error::new(format!(
                "the file is larger than {size} MiB, but the exercise has only {}",
                counted(numbers, "number")
            ))
            .help("hand in only what you computed"),
            None => {
                Error::new(format!("the file is larger than {size} MiB; files of this kind are read at once"))
                    .help("save a part of it, or save it as .npy")
            }
        };
        error.in_source(name)
    }
}
