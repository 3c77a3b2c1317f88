//! Document 002, “Mathematical details behind self-attention”.

use super::Erratum;
use crate::demo::Document::Similarity;

const MEASURES: &str = "Word Similarity";
const CONTEXT: &str = "So what is self-attention?";
const MATRICES: &str = "Intuition behind K, Q and V matrices";
const CODE: &str = "Implementing Multi-head self-attention";

pub(super) const ERRATA: &[Erratum] = &[
    Erratum {
        id: "faster-inference",
        document: Similarity,
        place: "Introduction",
        line: 4,
        text: "This parallelism not only speeds up training and inference",
        holds: "It speeds up training, and reading a given text. A model that writes still makes one token after the \
                other, because each new token needs the one before it.",
        demo: None,
    },
    Erratum {
        id: "distance",
        document: Similarity,
        place: MEASURES,
        line: 14,
        text: "euclidean distance is not the correct measure of the word similarity",
        holds: "For vectors of length 1 the squared distance is 2 − 2 · cosine, so it ranks words as the other \
                measures do. They disagree only when lengths differ.",
        demo: Some("similarity"),
    },
    Erratum {
        id: "one-term-too-many",
        document: Similarity,
        place: MEASURES,
        line: 16,
        text: "u = Σ_{i=0}^n a_i · b_i",
        holds: "This sum has n + 1 terms. Vectors of n numbers give n terms: from 1 to n, or from 0 to n − 1.",
        demo: Some("similarity"),
    },
    Erratum {
        id: "length-or-dimension",
        document: Similarity,
        place: MEASURES,
        line: 18,
        text: "the dot product divided by the square root of the length of the vectors",
        holds: "Length must mean the number of coordinates here, the dimension: √2 in the plane. The length of a \
                vector in the usual sense is its norm, √18 for bat.",
        demo: Some("similarity"),
    },
    Erratum {
        id: "rounded-on-the-way",
        document: Similarity,
        place: CONTEXT,
        line: 52,
        text: "return np.round(cosine_similarity, 2)",
        holds: "Round at the end, not on the way. The similarities are rounded here and the weights again in line 54. \
                With the rounded weights bat moves to (3.43, 1.71), with the unrounded ones to (3.43, 1.72).",
        demo: Some("context"),
    },
    Erratum {
        id: "keepdims-left-out",
        document: Similarity,
        place: CONTEXT,
        line: 54,
        text: "softmax = bat_cave / np.sum(bat_cave, axis=1)",
        holds: "np.sum needs keepdims=True. Without it this line is right for one row only. For the whole table of \
                line 52, NumPy divides each column by the sum of a row, without an error, and the rows sum to 1.108, \
                0.946 and 0.946.",
        demo: Some("context"),
    },
    Erratum {
        id: "array-called",
        document: Similarity,
        place: CONTEXT,
        line: 54,
        text: "softmax = np.round(softmax, 2)",
        holds: "From here on softmax is an array, and lines 93 and 110 call it as a function. Python stops at 93 with a \
                TypeError. The code needs a function softmax(x).",
        demo: Some("stretch"),
    },
    Erratum {
        id: "vectors-in-training",
        document: Similarity,
        place: "Queries, Keys and Values",
        line: 61,
        text: "we calculate key, query and value vectors during the training",
        holds: "Training finds the matrices. The model then computes the vectors with these matrices for every text, \
                after training as well.",
        demo: Some("multihead"),
    },
    Erratum {
        id: "printed-unrounded",
        document: Similarity,
        place: MATRICES,
        line: 96,
        text: "# array([0.85, 0.15])",
        holds: "Nothing rounds these weights, and print does not write array( ). NumPy prints [0.84683628 0.15316372] \
                here, and [0.87544664 0.12455336] at line 113.",
        demo: Some("stretch"),
    },
    Erratum {
        id: "values-decide-nothing",
        document: Similarity,
        place: MATRICES,
        line: 114,
        text: "increase/decrease the similarity score and hence the attention weights between two vectors. This is \
               what K, Q and V do to the input embedding vectors.",
        holds: "The weights depend on W_Q and W_K only. W_V changes what is mixed, but not how much of it.",
        demo: Some("stretch"),
    },
    Erratum {
        id: "d-out",
        document: Similarity,
        place: CODE,
        line: 144,
        text: "attn_weights = torch.softmax(attn_scores / self.d_out**0.5, dim=-1)",
        holds: "Line 126 calls it output_dim. Nothing sets d_out, so Python stops here with an AttributeError. \
                self.output_dim is meant, the width of the keys.",
        demo: Some("multihead"),
    },
    Erratum {
        id: "heads-in-a-list",
        document: Similarity,
        place: CODE,
        line: 152,
        text: "self.heads = [",
        holds: "PyTorch does not look into a plain Python list: parameters() is empty, no optimiser trains the heads, \
                and no checkpoint keeps them. nn.ModuleList registers them.",
        demo: Some("multihead"),
    },
    Erratum {
        id: "no-output-matrix",
        document: Similarity,
        place: CODE,
        line: 157,
        text: "return torch.cat([head(x) for head in self.heads], dim=-1)",
        holds: "H heads give H · output_dim columns: H times the width of the input, if output_dim is that width. A \
                matrix W_O is missing. It mixes the heads and restores the width.",
        demo: Some("multihead"),
    },
];
