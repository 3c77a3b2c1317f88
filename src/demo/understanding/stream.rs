//! Everything that the document draws: one stream of numbers, and where in it each matrix begins.

use crate::matrix::Matrix;
use crate::random::LegacyStream;

/// The place of a matrix in the document's stream of numbers: the count of numbers before it.
///
/// With seed 0 and the shape of the document these are the document's own numbers. A matrix that has to fit another
/// shape, because the user put in an X of their own, takes the numbers from the same place on.
#[derive(Clone, Copy)]
pub struct StreamOffset(usize);

/// The data matrix of the first half, (4, 5).
pub const X: StreamOffset = StreamOffset(0);
/// A left interaction matrix of plain draws, (4, 4).
pub const LEFT: StreamOffset = StreamOffset(20);
/// The one that is exponentiated and normalised, (4, 4).
pub const LEFT_SCORES: StreamOffset = StreamOffset(36);
/// The right interaction matrix, (5, 6).
pub const RIGHT: StreamOffset = StreamOffset(52);
/// Queries and keys of width 7, values of width 6.
pub const WIDE: ProjectedInputs = ProjectedInputs::after(82, 7, 6);
/// Everything of width 5.
pub const SQUARE: ProjectedInputs = ProjectedInputs::after(WIDE.end, 5, 5);
/// The same shapes again, for the mask.
pub const MASKED: ProjectedInputs = ProjectedInputs::after(SQUARE.end, 5, 5);

/// The tokens: the document's example sentence begins with these words.
const WORDS: [&str; TOKENS] = ["the", "art", "of", "writing"];
/// Other tokens: its next four words.
const FURTHER_WORDS: [&str; TOKENS] = ["is", "the", "art", "of"];

/// The document's data matrices all have this many rows, the tokens.
pub const TOKENS: usize = 4;
/// The document's data matrices all have this many columns, the features.
pub const FEATURES: usize = 5;

/// A data matrix and its three weight matrices.
pub struct ProjectedInputs {
    /// Four tokens of width 5.
    pub x: StreamOffset,
    /// (5, d_k).
    pub w_q: StreamOffset,
    /// (5, d_k).
    pub w_k: StreamOffset,
    /// (5, d_v).
    pub w_v: StreamOffset,
    end: usize,
}

impl ProjectedInputs {
    const fn after(start: usize, d_k: usize, d_v: usize) -> ProjectedInputs {
        let w_q = start + TOKENS * FEATURES;
        let w_k = w_q + FEATURES * d_k;
        let w_v = w_k + FEATURES * d_k;
        let end = w_v + FEATURES * d_v;
        ProjectedInputs {
            x: StreamOffset(start),
            w_q: StreamOffset(w_q),
            w_k: StreamOffset(w_k),
            w_v: StreamOffset(w_v),
            end,
        }
    }
}

impl StreamOffset {
    /// A data matrix of the document, its rows named after words.
    pub fn tokens(self, seed: u32) -> Matrix {
        self.draw(seed, TOKENS, FEATURES).rows_named(&WORDS)
    }

    /// The data matrix of another text, fitted to the shape of the first.
    pub fn other_tokens(self, seed: u32, rows: usize, cols: usize) -> Matrix {
        self.draw(seed, rows, cols).rows_named(&FURTHER_WORDS)
    }

    /// A matrix of numbers drawn from N(0, 1), from this place on.
    pub fn draw(self, seed: u32, rows: usize, cols: usize) -> Matrix {
        let mut stream = LegacyStream::seeded(seed);
        for _ in 0..self.0 {
            stream.standard_normal();
        }
        stream.standard_normal_matrix(rows, cols)
    }
}
