//! Document 001, “Multi-Headed attention as matrix multiplication”.

use super::Erratum;
use crate::demo::Document::Multiplication;

pub(super) const ERRATA: &[Erratum] = &[
    Erratum {
        id: "one-head",
        document: Multiplication,
        place: "Title",
        line: 1,
        written: "the title promises several heads; the text computes one and never splits it",
        holds: "Every further head has a W_Q, W_K and W_V of its own and makes a table of weights of its own; the \
                outputs of the heads are put side by side and multiplied by W_O.",
        demo: Some("vectorize"),
    },
    Erratum {
        id: "row-times-matrix",
        document: Multiplication,
        place: "Computing the attention weights",
        line: 8,
        written: "row i of I W^Q is W^Q · v_i, with the matrix on the left (also 7 and 16)",
        holds: "Row i of I W^Q is v_i W^Q, a row times the matrix. The matrix on the left would need its transpose.",
        demo: Some("vectorize"),
    },
    Erratum {
        id: "how-many-rows",
        document: Multiplication,
        place: "Computing the outputs",
        line: 12,
        written: "there are n vectors b, as many as vectors a, while the a are m numbers wide",
        holds: "A weighted sum needs one row of B for each weight: m vectors b, where m is the width of the a. Their \
                number n is free.",
        demo: Some("weighted-sum"),
    },
    Erratum {
        id: "self-left-out",
        document: Multiplication,
        place: "Computing the outputs",
        line: 16,
        written: "the output of token i sums over every j except i",
        holds: "O = A V sums over every j, the token's own value included. Leaving it out would need a mask on the \
                diagonal.",
        demo: Some("vectorize"),
    },
];
