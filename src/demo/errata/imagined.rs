//! Document 003, “Attention and Transformer Imagined”.

use super::Erratum;
use crate::demo::Document::Imagined;

const VECTORS: &str = "The word vectors";
const TOGETHER: &str = "Putting it all together";
const PERCEPTRON: &str = "MLP or FFNN";

pub(super) const ERRATA: &[Erratum] = &[
    Erratum {
        id: "one-letter-three-things",
        document: Imagined,
        place: VECTORS,
        line: 31,
        text: "where w_i is the i-th number in the vector.",
        holds: "In lines 17 and 19 w_i is a word, here it is one number of a vector, and from line 47 on it is a whole \
                word vector. In the same way n is the width of a vector here, and the number of words in line 47.",
        demo: Some("pooling"),
    },
    Erratum {
        id: "capital-or-city",
        document: Imagined,
        place: VECTORS,
        line: 43,
        text: "having more occurances of the word ‘capital’ would push the answer much more towards the word ‘capital’",
        holds: "In lines 39 to 41 “capital” occurs once in every question. The word that repeats is “city”: it occurs \
                0, 1 and 2 times.",
        demo: Some("pooling"),
    },
    Erratum {
        id: "what-averages-solve",
        document: Imagined,
        place: VECTORS,
        line: 45,
        text: "How do we then tackle these two issues? One approach that comes to mind is average.",
        holds: "The average solves the first issue, the size of the sum, and it makes a repeated sentence harmless. A \
                single word that repeats still gets a larger share: “city” has 1/7, then 2/8.",
        demo: Some("pooling"),
    },
    Erratum {
        id: "same-words",
        document: Imagined,
        place: VECTORS,
        line: 60,
        text: "So we need a way to assign the weights depending on what we have seen so far.",
        holds: "This alone does not tell the two stories apart. Lines 57 and 58 have the same words in another order, \
                and the same last word. Attention without positions or a mask mixes them to the same vector.",
        demo: Some("order"),
    },
    Erratum {
        id: "query-or-key",
        document: Imagined,
        place: "The formulation",
        line: 99,
        text: "tr_{1,q}(w_i) and tr_{2,k}(w_n) for q ∈ Q, k ∈ K",
        holds: "Here, and in line 82, w_i asks and the last word w_n offers; line 127 has it the other way round, as is \
                usual. The word that is updated asks. Exchanged, the scores are transposed, and the weights differ.",
        demo: Some("transforms"),
    },
    Erratum {
        id: "dot-or-cosine",
        document: Imagined,
        place: "The similarity",
        line: 103,
        text: "both capture the same thing (upto certain scaling factors depending on the lengths of the vectors)",
        holds: "These factors can change the ranking. For bat (3, 3) the dot product prefers racket (0, 5) to cave \
                (4, 0); the cosine prefers neither.",
        demo: Some("similarity"),
    },
    Erratum {
        id: "head-index",
        document: Imagined,
        place: TOGETHER,
        line: 127,
        text: "(w_i M_v) ∈ ℝ^h for j ∈ [1, n_h]",
        holds: "Head j needs its own M_q, M_k and M_v, but they have no index j (nor in line 139). With the same \
                matrices all heads would give the same output.",
        demo: Some("output"),
    },
    Erratum {
        id: "shared-scores",
        document: Imagined,
        place: TOGETHER,
        line: 135,
        text: "head_i = S′(X M_{v_i})",
        holds: "S′ has no index, so all heads would share one table of weights. Every head has its own scores. With \
                shared scores, the heads are a single head with wider values.",
        demo: Some("output"),
    },
    Erratum {
        id: "width-of-a-head",
        document: Imagined,
        place: TOGETHER,
        line: 135,
        text: "concat(head_1, …, head_{n_h}) ∈ ℝ^{n × n_h h}",
        holds: "A head is as wide as its values, h_v, and line 117 allows h_v to differ from h. So each head is n × h_v \
                (also in line 127), and all heads together are n × n_h·h_v.",
        demo: Some("output"),
    },
    Erratum {
        id: "lower-triangular-mask",
        document: Imagined,
        place: TOGETHER,
        line: 141,
        text: "It is a lower triangular matrix of shape (n, n).",
        holds: "The mask that is added is 0 on and below the diagonal and −∞ above it. A lower triangular matrix has \
                zeros above the diagonal. If it is added, it hides nothing.",
        demo: Some("mask"),
    },
    Erratum {
        id: "ith-word",
        document: Imagined,
        place: TOGETHER,
        line: 141,
        text: "the importance that we assign to the j-th word for predicting the i-th word",
        holds: "Row i may attend to word i itself, so it cannot be used to predict word i. It predicts word i + 1.",
        demo: Some("mask"),
    },
    Erratum {
        id: "pairs-and-heads",
        document: Imagined,
        place: "Additional Modifications",
        line: 149,
        text: "you call each such relation an Attention Head",
        holds: "Line 147 counts q · k relations, but a head is one pair of a query and a key transformation. H heads \
                use H of the possible pairs.",
        demo: Some("transforms"),
    },
    Erratum {
        id: "linear-separation",
        document: Imagined,
        place: PERCEPTRON,
        line: 161,
        text: "It allows us to linearly seperate data in that higher dimension that wasn’t linearly separable in the \
               lower dimension.",
        holds: "A linear map alone never does this: a plane that separates the images also separates the originals. \
                The ReLU after it (line 165) can.",
        demo: Some("mlp"),
    },
    Erratum {
        id: "two-letters-again",
        document: Imagined,
        place: PERCEPTRON,
        line: 171,
        text: "O = O M_o ∈ ℝ^{n × d}",
        holds: "This M_o is not the M_o of line 135: here it leads from the i columns of the perceptron back to d, \
                there from the n_h·h columns of the heads. The width i of line 163 was a position and a head before.",
        demo: Some("mlp"),
    },
    Erratum {
        id: "not-in-the-text",
        document: Imagined,
        place: "Finishing notes",
        line: 249,
        text: "We have also peeked into the MLP, positional encodings, residual connections, and the final output layer.",
        holds: "The text explains the MLP only. The equations of line 135 have neither positions nor a residual: if you \
                reorder the words, the output is only reordered, and with M_o = 0 it is 0 and not X. The output layer \
                appears only as lm_head in the listing (244).",
        demo: Some("block"),
    },
];
