//! Document 000, “Understanding the attention mechanism”.

use super::Erratum;
use crate::demo::Document::Understanding;

const PRACTICE: &str = "Interaction matrices in practice";
const PARAMETERS: &str = "Parameterizing query, key, and value";

pub(super) const ERRATA: &[Erratum] = &[
    Erratum {
        id: "long-vectors",
        document: Understanding,
        place: PRACTICE,
        line: 115,
        text: "when the vectors get extremely long, as is often the case in modern deep learning",
        holds: "The brackets that follow show what is meant: the context gets long. A sum grows with the number of \
                vectors. Their width does not matter.",
        demo: Some("left"),
    },
    Erratum {
        id: "exponential-overflow",
        document: Understanding,
        place: PRACTICE,
        line: 115,
        text: "first exponentiate all the entries to make sure they are all positive, then compute the weights using \
               these positive numbers",
        holds: "Exponentials of large scores overflow: 1000 and 1001 give ∞/∞ (so does the code, line 118). First \
                subtract the row maximum. This changes no weight and cannot overflow.",
        demo: Some("weights"),
    },
    Erratum {
        id: "right-softmax",
        document: Understanding,
        place: PRACTICE,
        line: 130,
        text: "for some reason (which is still beyond my knowledge) this has never been done in practice",
        holds: "There is a reason. With columns of weights, R can only average the features of a token: every new \
                feature lies between the smallest and the largest old one. R could not negate, amplify or subtract.",
        demo: Some("right"),
    },
    Erratum {
        id: "unscaled",
        document: Understanding,
        place: PARAMETERS,
        line: 151,
        text: "L = softmax(Q K^T)",
        holds: "Attention divides the scores by √d_k, here √7, before the softmax. Then the largest weights of the \
                second and third rows that the text prints (190, 191) are 0.738 and 0.525, not 0.978 and 0.807.",
        demo: Some("qkv"),
    },
    Erratum {
        id: "query-key-names",
        document: Understanding,
        place: PARAMETERS,
        line: 153,
        text: "Since Q and K are calculated exactly the same way, their difference in naming is only an conventional.",
        holds: "Query and key play different parts. If you exchange W_Q and W_K, the scores are transposed, and the \
                softmax of their rows gives other weights. Text 003 explains why (lines 97 to 99).",
        demo: Some("transforms"),
    },
    Erratum {
        id: "all-flows",
        document: Understanding,
        place: PARAMETERS,
        line: 157,
        text: "the resulting matrix thus captures all possible information flows among the tokens",
        holds: "Every pair of tokens gets a score, but not every table of scores is possible: the rank of Q Kᵀ is at \
                most d_k. With more tokens than d_k, most tables cannot occur.",
        demo: Some("qkv"),
    },
    Erratum {
        id: "head-width",
        document: Understanding,
        place: PARAMETERS,
        line: 202,
        text: "the query/key embedding for the left interaction matrix is usually also kept the same as the embedding \
               dimension for the data matrix (E=H2)",
        holds: "This is the width of the queries and keys of all heads together. The queries of one head have E / H \
                columns: in GPT-3, 12288 / 96 = 128.",
        demo: Some("qkv"),
    },
];
