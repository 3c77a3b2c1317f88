//! Document 002, “Mathematical details behind self-attention”.

use super::Erratum;
use crate::demo::Document::Similarity;

const MEASURES: &str = "Word Similarity";
const CONTEXT: &str = "So what is self-attention?";
const MATRICES: &str = "Intuition behind K, Q and V matrices";
const CODE: &str = "Implementing Multi-head self-attention";

pub(super) const ERRATA: &[Erratum] = &[
    Erratum {
        id: "distance",
        document: Similarity,
        place: MEASURES,
        line: 14,
        written: "the Euclidean distance is no right measure of how alike two words are",
        holds: "Between vectors of length 1 the squared distance is 2 − 2 · cosine, so that it ranks as the other \
                measures do. It is different lengths that make them disagree.",
        demo: Some("similarity"),
    },
    Erratum {
        id: "one-term-too-many",
        document: Similarity,
        place: MEASURES,
        line: 16,
        written: "the dot product sums from i = 0 to n",
        holds: "Vectors of n numbers give n terms: from 1 to n, or from 0 to n − 1.",
        demo: Some("similarity"),
    },
    Erratum {
        id: "length-or-dimension",
        document: Similarity,
        place: MEASURES,
        line: 18,
        written: "the dot product is divided by the root of the length of the vectors",
        holds: "The dot product is divided by the root of the number of coordinates, the dimension: √2 in the plane. \
                The length of a vector is its norm, √18 for bat.",
        demo: Some("similarity"),
    },
    Erratum {
        id: "rounded-on-the-way",
        document: Similarity,
        place: CONTEXT,
        line: 52,
        written: "the code rounds the similarities to two decimals, and the weights again (54)",
        holds: "Rounding is for the end. Rounded on the way, bat moves to (3.43, 1.71); the unrounded weights take it to \
                (3.43, 1.72).",
        demo: Some("context"),
    },
    Erratum {
        id: "array-called",
        document: Similarity,
        place: CONTEXT,
        line: 54,
        written: "the name softmax is given to an array, and later called as a function (93, 110)",
        holds: "An array cannot be called, so the code of 93 stops with a TypeError. It needs a function softmax(x).",
        demo: Some("stretch"),
    },
    Erratum {
        id: "vectors-in-training",
        document: Similarity,
        place: "Queries, Keys and Values",
        line: 61,
        written: "query, key and value vectors are calculated during the training",
        holds: "Training finds the matrices. The vectors are computed with them from every text anew, after training \
                too.",
        demo: Some("multihead"),
    },
    Erratum {
        id: "values-decide-nothing",
        document: Similarity,
        place: MATRICES,
        line: 114,
        written: "K, Q and V all change similarities, and so the weights (also 63)",
        holds: "The weights depend on W_Q and W_K alone. W_V changes what is mixed, not how much of it.",
        demo: Some("stretch"),
    },
    Erratum {
        id: "d-out",
        document: Similarity,
        place: CODE,
        line: 126,
        written: "the class sets output_dim and reads d_out (144)",
        holds: "Nothing sets d_out, so the class stops with an AttributeError. It is meant to be output_dim, the width \
                of the keys, whose root divides the scores.",
        demo: Some("multihead"),
    },
    Erratum {
        id: "no-output-matrix",
        document: Similarity,
        place: CODE,
        line: 149,
        written: "the heads, each output_dim wide, are concatenated, and that is the result (157)",
        holds: "H heads give H · output_dim columns: with output_dim as wide as the input, H times the input's width. A \
                matrix W_O is missing that mixes the heads and brings the width back.",
        demo: Some("multihead"),
    },
    Erratum {
        id: "heads-in-a-list",
        document: Similarity,
        place: CODE,
        line: 152,
        written: "the heads are kept in a plain Python list",
        holds: "PyTorch does not look into a plain list: parameters() is empty, no optimiser trains the heads and no \
                checkpoint keeps them. nn.ModuleList registers them.",
        demo: Some("multihead"),
    },
];
