//! Everything that the document draws, from one stream, in the order of its code.

use crate::input::random::LegacyStream;
use crate::matrix::Matrix;

/// The document's draws. With seed 0 they are the document's own numbers.
pub struct Draws {
    /// The data matrix of the first half, (4, 5).
    pub x: Matrix,
    /// A left interaction matrix of plain draws, (4, 4).
    pub left: Matrix,
    /// The one that is exponentiated and normalised, (4, 4).
    pub left_scores: Matrix,
    /// The right interaction matrix, (5, 6).
    pub right: Matrix,
    /// Queries and keys of width 7, values of width 6.
    pub wide: Projected,
    /// Everything of width 5.
    pub square: Projected,
    /// The same shapes once more, for the mask.
    pub masked: Projected,
}

/// A data matrix and its three weight matrices.
pub struct Projected {
    /// Four tokens of width 5.
    pub x: Matrix,
    /// (5, d_k).
    pub w_q: Matrix,
    /// (5, d_k).
    pub w_k: Matrix,
    /// (5, d_v).
    pub w_v: Matrix,
}

impl Draws {
    /// Draws everything, in the document's order.
    pub fn from_seed(seed: u32) -> Draws {
        let mut stream = LegacyStream::seeded(seed);
        let mut draw = |rows, cols| stream.standard_normal_matrix(rows, cols);
        let (x, left, left_scores, right) = (draw(4, 5), draw(4, 4), draw(4, 4), draw(5, 6));
        let mut projected =
            |d_k, d_v| Projected { x: draw(4, 5), w_q: draw(5, d_k), w_k: draw(5, d_k), w_v: draw(5, d_v) };
        Draws {
            x,
            left,
            left_scores,
            right,
            wide: projected(7, 6),
            square: projected(5, 5),
            masked: projected(5, 5),
        }
    }
}
