//! Document 004, “Attention is about 1/3 of what you need”.

use super::Erratum;
use crate::demo::Document::OneThird;

const COMPACT: &str = "Compact form";
const VALUES: &str = "Values";

pub(super) const ERRATA: &[Erratum] = &[
    Erratum {
        id: "width-by-tokens",
        document: OneThird,
        place: "Attention",
        line: 30,
        written: "the dimension 12288 is defined by the number of tokens",
        holds: "The width is chosen when the model is built: in GPT-3, 96 heads of 128. It depends neither on the tokens \
                of a text nor on the vocabulary of 50257.",
        demo: None,
    },
    Erratum {
        id: "close-and-large",
        document: OneThird,
        place: "Keys",
        line: 56,
        written: "vectors that are close have a large dot product",
        holds: "Lengths count too: two equal short vectors have a small dot product, two long ones of one direction a \
                large one, however far apart. Bat is nearer to cave and has the larger product with racket.",
        demo: Some("similarity"),
    },
    Erratum {
        id: "who-attends",
        document: OneThird,
        place: "Example",
        line: 96,
        written: "fluffy and blue attend to creature",
        holds: "In the usual words the token with the query attends: creature attends to fluffy and blue, and reads \
                their values.",
        demo: Some("update"),
    },
    Erratum {
        id: "sum-to-one",
        document: OneThird,
        place: "Normalization",
        line: 106,
        written: "the products k_i · q_j themselves should lie in [0, 1] and each column sum to 1",
        holds: "The products stay what they are. It is their softmax that lies in [0, 1] and sums to 1.",
        demo: Some("columns"),
    },
    Erratum {
        id: "grid-transposed",
        document: OneThird,
        place: COMPACT,
        line: 136,
        written: "Q Kᵀ stands for the grid of the k_i · q_j",
        holds: "With queries and keys as rows, cell (i, j) of Q Kᵀ is q_i · k_j: the transpose of the grid. With columns, \
                as in 38, the grid is Kᵀ Q, and Q Kᵀ is no table of tokens at all.",
        demo: Some("columns"),
    },
    Erratum {
        id: "mask-left-out",
        document: OneThird,
        place: COMPACT,
        line: 142,
        written: "the formula has no mask, after 126 to 130 have called for one",
        holds: "The mask belongs between scaling and softmax; without it later tokens get weight too.",
        demo: Some("columns"),
    },
    Erratum {
        id: "columns-of-rows",
        document: OneThird,
        place: COMPACT,
        line: 144,
        written: "softmax(Q Kᵀ / √d_k) V is to be read with the softmax down the columns",
        holds: "With tokens as rows the softmax of this formula runs along the rows. Down the columns it normalises over \
                the queries, and the rows that mix V no longer sum to 1.",
        demo: Some("columns"),
    },
    Erratum {
        id: "numerical-stability",
        document: OneThird,
        place: COMPACT,
        line: 144,
        written: "√d_k is there for numerical stability",
        holds: "√d_k is there because scores spread like √d_k and would saturate the softmax, whose gradient then \
                vanishes. Overflow is kept away by subtracting the maximum.",
        demo: Some("scale"),
    },
    Erratum {
        id: "scale-left-out",
        document: OneThird,
        place: VALUES,
        line: 158,
        written: "σ(k_i · q_j), without the √d_k of 142, is what weighs the values (also 170)",
        holds: "The weights of 142 are the softmax of the scaled products, a whole column at a time; without the scale \
                they are others.",
        demo: Some("update"),
    },
    Erratum {
        id: "summed-twice",
        document: OneThird,
        place: VALUES,
        line: 164,
        written: "σ(k_i · q_j) v_i is an entry of softmax(Q Kᵀ / √d_k) V, and the column is then summed",
        holds: "The product with V is already that sum: its row for token j is the sum of all the weighted values, Δe_j.",
        demo: Some("update"),
    },
    Erratum {
        id: "down-in-output",
        document: OneThird,
        place: "Output",
        line: 208,
        written: "V_u and V_d of all heads are represented by one output matrix",
        holds: "Only the V_u go into the output matrix. The V_d stay with their heads and are what is elsewhere called \
                W_V.",
        demo: Some("sum-heads"),
    },
    Erratum {
        id: "a-third",
        document: OneThird,
        place: "Architecture",
        line: 218,
        written: "attention is about a third of all parameters, as the title says",
        holds: "Attention has 33.1 % of the parameters of GPT-3, which the text follows, 22.8 % of those of GPT-2 and \
                16.7 % of those of Llama 3 8B.",
        demo: None,
    },
    Erratum {
        id: "majority",
        document: OneThird,
        place: "Architecture",
        line: 218,
        written: "the majority of the parameters comes from the perceptrons",
        holds: "In GPT-3 that is so (66.2 %), in GPT-2 it is not: its perceptrons have 45.5 %, and its embeddings 31.6 %.",
        demo: None,
    },
];
