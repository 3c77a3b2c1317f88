//! Document 000, “Understanding the attention mechanism”.

use super::Erratum;
use crate::demo::Document::Understanding;

const PRACTICE: &str = "Interaction matrices in practice";
const PARAMETERS: &str = "Parameterizing query, key, and value";

pub(super) const ERRATA: &[Erratum] = &[
    Erratum {
        id: "diagonal",
        document: Understanding,
        place: PRACTICE,
        line: 59,
        written: "a diagonal interaction matrix means no interaction, and the example leaves X as it was",
        holds: "A diagonal matrix keeps the tokens apart but scales each by its own factor. Only the identity, with \
                ones on the diagonal, leaves X as it is.",
        demo: Some("left"),
    },
    Erratum {
        id: "long-vectors",
        document: Understanding,
        place: PRACTICE,
        line: 115,
        written: "a sum of vectors explodes when the vectors are long",
        holds: "A sum grows with how many tokens are added up, that is with the context. How wide their vectors are \
                plays no part.",
        demo: Some("left"),
    },
    Erratum {
        id: "exponential-overflow",
        document: Understanding,
        place: PRACTICE,
        line: 115,
        written: "exponentiate, then divide by the sum: as simple as that (and so in the code, 118)",
        holds: "Exponentials of large scores overflow: 1000 and 1001 give ∞/∞. Subtracting the largest score of the \
                row first changes no weight and cannot overflow.",
        demo: Some("weights"),
    },
    Erratum {
        id: "right-softmax",
        document: Understanding,
        place: PRACTICE,
        line: 130,
        written: "nobody puts a softmax on the columns of R, for a reason unknown to the author",
        holds: "With columns of weights, R could only average the features of a token: every new one would lie between \
                the smallest and the largest old one, and none could be negated, amplified or subtracted.",
        demo: Some("right"),
    },
    Erratum {
        id: "unscaled",
        document: Understanding,
        place: PARAMETERS,
        line: 151,
        written: "L = softmax(Q Kᵀ), and so in all code (175, 216, 263), called what attention usually looks like (243)",
        holds: "Attention divides the scores by √d_k. Unscaled they spread so far that the first row printed (189) gives \
                one token all but 0.000003 of its weight.",
        demo: Some("qkv"),
    },
    Erratum {
        id: "query-key-names",
        document: Understanding,
        place: PARAMETERS,
        line: 153,
        written: "Q and K are computed alike, so which is which is a convention",
        holds: "Query and key play different parts: exchanging W_Q and W_K transposes the scores, and the softmax of their \
                rows becomes another one. 003:97 asks for the reason and gives it.",
        demo: Some("transforms"),
    },
    Erratum {
        id: "all-flows",
        document: Understanding,
        place: PARAMETERS,
        line: 157,
        written: "Q Kᵀ captures every possible flow of information among the tokens",
        holds: "Q Kᵀ has at most rank d_k. With more tokens than that, most tables of scores are out of its reach.",
        demo: Some("qkv"),
    },
    Erratum {
        id: "head-width",
        document: Understanding,
        place: PARAMETERS,
        line: 202,
        written: "queries and keys are usually as wide as the embedding (H2 = E)",
        holds: "E is the width of queries and keys for all heads together. One head has E / H: in GPT-3, \
                12288 / 96 = 128.",
        demo: Some("qkv"),
    },
    Erratum {
        id: "what-came-before",
        document: Understanding,
        place: "Masked attention",
        line: 247,
        written: "a model that predicts the next word is not interested in what came before",
        holds: "A model that predicts the next word reads nothing but what came before: under the causal mask the last \
                row depends on every earlier token.",
        demo: Some("mask"),
    },
];
