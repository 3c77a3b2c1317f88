//! Document 003, “Attention and Transformer Imagined”.

use super::Erratum;
use crate::demo::Document::Imagined;

const VECTORS: &str = "The word vectors";
const TOGETHER: &str = "Putting it all together";

pub(super) const ERRATA: &[Erratum] = &[
    Erratum {
        id: "capital-or-city",
        document: Imagined,
        place: VECTORS,
        line: 43,
        written: "“capital” occurs more often from question to question and pulls on the sum",
        holds: "In 39 to 41 “capital” stands once in every question. The word that comes in and repeats is “city”: 0, 1 \
                and 2 times.",
        demo: Some("pooling"),
    },
    Erratum {
        id: "what-averages-solve",
        document: Imagined,
        place: VECTORS,
        line: 45,
        written: "the average is offered for both problems of the sum, its size and the repeated word",
        holds: "The average undoes the repetition of a whole sentence. A single word that repeats still takes a larger \
                share: “city” has 1/7, then 2/8.",
        demo: Some("pooling"),
    },
    Erratum {
        id: "same-words",
        document: Imagined,
        place: VECTORS,
        line: 60,
        written: "weights that depend on what has been seen are offered to tell the two cricket stories apart",
        holds: "57 and 58 hold the same words in another order, and end in the same word. Attention without positions or \
                a mask mixes them to the same vector.",
        demo: Some("order"),
    },
    Erratum {
        id: "dot-or-cosine",
        document: Imagined,
        place: "The similarity",
        line: 103,
        written: "dot product and cosine capture the same thing",
        holds: "Dot product and cosine can rank differently where lengths differ: for bat (3, 3) the dot product prefers \
                racket (0, 5) to cave (4, 0), and the cosine neither.",
        demo: Some("similarity"),
    },
    Erratum {
        id: "head-index",
        document: Imagined,
        place: TOGETHER,
        line: 127,
        written: "head j is computed with M_q, M_k and M_v that carry no j (also in 139)",
        holds: "Every head has matrices of its own. With the same ones all heads would give the same output.",
        demo: Some("output"),
    },
    Erratum {
        id: "query-or-key",
        document: Imagined,
        place: TOGETHER,
        line: 127,
        written: "the last word w_n goes through M_q and w_i through M_k; 82 and 99 have it the other way round",
        holds: "The word that is to be updated asks: its query meets the keys of the words it reads. Exchanged, the \
                scores are transposed and the weights are others.",
        demo: Some("transforms"),
    },
    Erratum {
        id: "shared-scores",
        document: Imagined,
        place: TOGETHER,
        line: 135,
        written: "S and S′ carry no index: all heads share one table of weights",
        holds: "Every head has scores of its own. With shared ones the heads are a single head with wider values.",
        demo: Some("output"),
    },
    Erratum {
        id: "width-of-a-head",
        document: Imagined,
        place: TOGETHER,
        line: 135,
        written: "a head is n × h and the concatenation n × n_h·h (also 127)",
        holds: "A head is as wide as its values, h_v, which 117 allows to differ from h: n × h_v, and n × n_h·h_v for \
                all of them.",
        demo: Some("output"),
    },
    Erratum {
        id: "lower-triangular-mask",
        document: Imagined,
        place: TOGETHER,
        line: 141,
        written: "the mask that is added to the scores is a lower triangular matrix",
        holds: "The added mask is 0 on and below the diagonal and −∞ above it. A lower triangular one has zeros above \
                the diagonal and, added, would hide nothing.",
        demo: Some("mask"),
    },
    Erratum {
        id: "ith-word",
        document: Imagined,
        place: TOGETHER,
        line: 141,
        written: "S[i][j] says what word j means for predicting word i",
        holds: "Row i may look at word i itself, on the diagonal, so it cannot be there to predict it: it predicts word \
                i + 1.",
        demo: Some("mask"),
    },
    Erratum {
        id: "pairs-and-heads",
        document: Imagined,
        place: "Additional Modifications",
        line: 149,
        written: "each of the q · k relations (147) is called a head, and the number of heads is that of the queries",
        holds: "A head pairs one query transformation with one key transformation: H heads use H of the pairs that are \
                possible.",
        demo: Some("transforms"),
    },
    Erratum {
        id: "linear-separation",
        document: Imagined,
        place: "MLP or FFNN",
        line: 161,
        written: "a linear map into more dimensions can make inseparable data separable",
        holds: "A linear map alone never does: a plane that separates the images also separates the originals. It is \
                the ReLU after it that can.",
        demo: Some("mlp"),
    },
    Erratum {
        id: "not-in-the-text",
        document: Imagined,
        place: "Finishing notes",
        line: 249,
        written: "positional encodings and residual connections have been looked at",
        holds: "The equations of 135 have neither: reordering the words only reorders the output, and with M_o = 0 the \
                output is 0 and not X.",
        demo: Some("block"),
    },
];
