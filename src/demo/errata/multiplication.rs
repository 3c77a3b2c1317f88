//! Document 001, “Multi-Headed attention as matrix multiplication”.

use super::Erratum;
use crate::demo::Document::Multiplication;

pub(super) const ERRATA: &[Erratum] = &[
    Erratum {
        id: "one-head",
        document: Multiplication,
        place: "Multi-Headed attention as matrix multiplication",
        line: 1,
        text: "Multi-Headed attention as matrix multiplication",
        holds: "The text computes one head only. Every further head has its own W_Q, W_K and \
                W_V, and makes its own table of weights. The outputs of the heads are put side by side and multiplied \
                by W_O.",
        demo: Some("vectorize"),
    },
    Erratum {
        id: "row-times-matrix",
        document: Multiplication,
        place: "Computing the attention weights",
        line: 8,
        text: "the ith row of IW^Q is W^Q·v_i",
        holds: "Row i of I W^Q is v_i W^Q: the row stands on the left of the matrix. With the matrix on the left, as \
                also in lines 7 and 16, it would have to be transposed.",
        demo: Some("vectorize"),
    },
    Erratum {
        id: "self-left-out",
        document: Multiplication,
        place: "Computing the outputs",
        line: 16,
        text: "o_i = Σ_{j ≠ i} w_j (W^V·v_j)",
        holds: "O = A V sums over every j, and includes the token’s own value. To leave it out, you would need a mask \
                on the diagonal.",
        demo: Some("vectorize"),
    },
    Erratum {
        id: "closing-bracket",
        document: Multiplication,
        place: "Finishing thoughts",
        line: 20,
        text: "O = Softmax(1/√d · QK^T) )V",
        holds: "There is one closing bracket too many. The formula is O = Softmax(1/√d · QKᵀ) V.",
        demo: Some("vectorize"),
    },
];
