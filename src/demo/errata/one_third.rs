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
        text: "may be quite big, for example 12288: this is defined by the number of tokens.",
        holds: "The designers of a model choose the width: in GPT-3, 96 heads of 128. It depends neither on the number \
                of tokens in a text nor on the vocabulary of 50257.",
        demo: None,
    },
    Erratum {
        id: "a-query-is-a-vector",
        document: OneThird,
        place: "Queries",
        line: 36,
        text: "A query is a map W_Q : e_i ↦ W_Q e_i.",
        holds: "The query is the vector q_i = W_Q e_i, as in line 58; the map is its matrix. In the same way line 44 \
                calls a map the key, and line 212 calls the maps V_d the values.",
        demo: Some("update"),
    },
    Erratum {
        id: "close-and-large",
        document: OneThird,
        place: "Keys",
        line: 56,
        text: "When k_i and q_j are close, then the dot product k_i · q_j is big.",
        holds: "Lengths count too. Two equal short vectors have a small dot product; two long vectors of one direction \
                have a large one, even if they are far apart. Bat is nearer to cave, but its product with racket is \
                larger.",
        demo: Some("similarity"),
    },
    Erratum {
        id: "who-attends",
        document: OneThird,
        place: "Example",
        line: 96,
        text: "the embeddings of ‘fluffy’ and ‘blue’ attend to the embedding of ‘creature’.",
        holds: "Usually one says it the other way round. The token with the query attends: creature attends to fluffy \
                and blue, and reads their values.",
        demo: Some("update"),
    },
    Erratum {
        id: "sum-to-one",
        document: OneThird,
        place: "Normalization",
        line: 106,
        text: "We would like k_i · q_j ∈ [0, 1] and",
        holds: "The products themselves do not change. Their softmax lies in [0, 1], and each column of it sums to 1.",
        demo: Some("columns"),
    },
    Erratum {
        id: "grid-transposed",
        document: OneThird,
        place: COMPACT,
        line: 136,
        text: "The symbol QK^T is a compact way to represent the matrix",
        holds: "With queries and keys as rows, cell (i, j) of Q Kᵀ is q_i · k_j, so Q Kᵀ is the transpose of the matrix \
                of line 138. With columns, as in line 38, that matrix is Kᵀ Q, and Q Kᵀ is not a table of tokens.",
        demo: Some("columns"),
    },
    Erratum {
        id: "mask-left-out",
        document: OneThird,
        place: COMPACT,
        line: 142,
        text: "softmax(QK^T/√d_k) V",
        holds: "The mask of lines 126 to 130 is missing. It belongs between the scaling and the softmax. Without it \
                later tokens get weight too.",
        demo: Some("columns"),
    },
    Erratum {
        id: "numerical-stability",
        document: OneThird,
        place: COMPACT,
        line: 144,
        text: "The division by √d_k is applied for numerical stability.",
        holds: "Scores spread like √d_k. Without the division they saturate the softmax, and its gradient vanishes. \
                Subtracting the maximum is what prevents overflow.",
        demo: Some("scale"),
    },
    Erratum {
        id: "columns-of-rows",
        document: OneThird,
        place: COMPACT,
        line: 144,
        text: "The softmax is applied column by column.",
        holds: "With tokens as rows, the softmax of the formula in line 142 runs along the rows. Down the columns it \
                would normalise over the queries, and the rows that mix V would no longer sum to 1.",
        demo: Some("columns"),
    },
    Erratum {
        id: "scale-left-out",
        document: OneThird,
        place: VALUES,
        line: 158,
        text: "We represent by σ(k_i · q_j) the i, j entry result of applying softmax to the column.",
        holds: "The √d_k of line 142 is missing here and in line 170. The softmax of the scaled products gives other \
                weights.",
        demo: Some("update"),
    },
    Erratum {
        id: "summed-twice",
        document: OneThird,
        place: VALUES,
        line: 164,
        text: "multiplied by the scalar σ(k_i · q_j), thus a vector. This is the generic entry in",
        holds: "The product with V in line 166 already contains the sum: its row for token j is Δe_j, the sum of all \
                weighted values.",
        demo: Some("update"),
    },
    Erratum {
        id: "one-index-twice",
        document: OneThird,
        place: VALUES,
        line: 200,
        text: "Each head of attention produces a proposed change Δe_{j^{(j)}}.",
        holds: "The letter j stands for the token and for the head. Line 202 has it right: i is the token, (j) the head.",
        demo: Some("sum-heads"),
    },
    Erratum {
        id: "down-in-output",
        document: OneThird,
        place: "Output",
        line: 208,
        text: "In general V_u, V_d are represented by a single output matrix",
        holds: "Only the V_u go into the output matrix, as line 210 shows. Each V_d stays with its head. Elsewhere it \
                is called W_V.",
        demo: Some("sum-heads"),
    },
    Erratum {
        id: "majority",
        document: OneThird,
        place: "Architecture",
        line: 218,
        text: "The majority of the parameters come from multilayer perceptrons",
        holds: "This is true of GPT-3 (66.2 %), but not of GPT-2: its perceptrons have 45.5 %, and its embeddings 31.6 %.",
        demo: None,
    },
    Erratum {
        id: "a-third",
        document: OneThird,
        place: "Architecture",
        line: 218,
        text: "just about 1/3 of the total parameters come from attention",
        holds: "This is true of GPT-3 (33.1 %), which the text follows. Attention has 22.8 % of the parameters of GPT-2 \
                and 16.7 % of those of Llama 3 8B.",
        demo: None,
    },
];
