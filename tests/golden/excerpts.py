"""Cuts from the five texts what the errata quote: at most 25 words each, with the number of its line; writes excerpts.json.

    python excerpts.py FOLDER

FOLDER holds the texts as files whose names begin with 000 to 004. An excerpt is everything between its first and its last
words, which are given here, on the line where both stand. It is kept as the text has it, with its LaTeX.

titles      the title of each text, which is a line of it
headings    the lines of the headings that the errata name
excerpts    id, document, line, excerpt
also        the same for other lines that a correction names
"""

import sys
from pathlib import Path

import layout

MOST_WORDS = 25

HEADINGS = {
    "000": ["Interaction matrices in practice", "Parameterizing query, key, and value", "Masked attention"],
    "001": ["Multi-Headed attention as matrix multiplication", "Computing the attention weights",
            "Computing the outputs", "Finishing thoughts"],
    "002": ["Introduction", "Word Similarity", "So what is self-attention?", "Queries, Keys and Values",
            "Intuition behind K, Q and V matrices", "Implementing Multi-head self-attention"],
    "003": ["The word vectors", "The formulation", "The similarity", "Putting it all together",
            "Additional Modifications", "MLP or FFNN", "Finishing notes"],
    "004": ["Attention", "Queries", "Keys", "Example", "Normalization", "Compact form", "Values", "Output",
            "Architecture"],
}

TITLES = {
    "000": "Understanding the attention mechanism",
    "001": "Multi-Headed attention as matrix multiplication",
    "002": "Mathematical details behind self-attention",
    "003": "Attention and Transformer Imagined",
    "004": "Attention is about 1/3 of what you need",
}

# The id of the erratum, its text, its first and its last words.
CUTS = [
    ("long-vectors", "000", "when the vectors get extremely", "modern deep learning"),
    ("exponential-overflow", "000", "first exponentiate", "these positive numbers"),
    ("right-softmax", "000", "for some reason", "done in practice"),
    ("unscaled", "000", r"\mathbf{L} &= \text{softmax}", r"\mathbf{K}^\top \right)"),
    ("query-key-names", "000", "Since Q and K are", "only an conventional."),
    ("all-flows", "000", "the resulting matrix thus", "among the tokens"),
    ("head-width", "000", "the query/key embedding for the left interaction matrix is usually", "(E=H2)"),
    ("one-head", "001", "Multi-Headed attention as", "matrix multiplication"),
    ("row-times-matrix", "001", r"the ith row of \(IW^Q\)", r"\vec{v}_i\)"),
    ("self-left-out", "001", r"\vec{o}_i =", r"\left(W^{V}\cdot\vec{v}_j\right)"),
    ("closing-bracket", "001", "O = Softmax", r"\right)V"),
    ("faster-inference", "002", "This parallelism not only", "training and inference"),
    ("distance", "002", "euclidean distance", "word similarity"),
    ("one-term-too-many", "002", r"u = \sum_{i=0}^{n}", "b_{i}"),
    ("length-or-dimension", "002", "the dot product divided", "length of the vectors"),
    ("rounded-on-the-way", "002", "return np.round(", ", 2)"),
    ("keepdims-left-out", "002", "softmax = bat_cave", "axis=1)"),
    ("array-called", "002", "softmax = np.round", ", 2)"),
    ("vectors-in-training", "002", "we calculate key,", "during the training"),
    ("printed-unrounded", "002", "# array([0.85,", "0.15])"),
    ("values-decide-nothing", "002", "increase/decrease the similarity score and hence", "embedding vectors."),
    ("d-out", "002", "attn_weights = torch.softmax", "dim=-1)"),
    ("heads-in-a-list", "002", "self.heads =", "["),
    ("no-output-matrix", "002", "return torch.cat", "dim=-1)"),
    ("one-letter-three-things", "003", "where $w_i$ is the $i$-th number", "vector."),
    ("capital-or-city", "003", "having more occurances", "towards the word “capital”"),
    ("what-averages-solve", "003", "How do we then tackle", "is average."),
    ("same-words", "003", "So we need a way to assign", "seen so far."),
    ("query-or-key", "003", "tr_{1,q}(w_i)", r"k \in K"),
    ("dot-or-cosine", "003", "both capture the same", "of the vectors)"),
    ("head-index", "003", r"(w_i M_v) \in", "n_h]"),
    ("shared-scores", "003", r"\text{head}_i &=", "M_{v_i})"),
    ("width-of-a-head", "003", r"\text{concat}(\text{head}_1", "n_h h}"),
    ("lower-triangular-mask", "003", "It is a lower triangular", "(n, n)$."),
    ("ith-word", "003", "the importance that we assign to the $j$-th", "$i$-th word"),
    ("pairs-and-heads", "003", "you call each such", "Attention Head"),
    ("linear-separation", "003", "It allows us to linearly", "lower dimension."),
    ("two-letters-again", "003", "O &= O M_o", "n \\times d}"),
    ("not-in-the-text", "003", "We have also peeked", "output layer."),
    ("width-by-tokens", "004", "may be quite big,", "number of tokens."),
    ("a-query-is-a-vector", "004", "A query is a map", r"W_Q \vec{e}_i$ ."),
    ("close-and-large", "004", r"When  $\vec{k}_i$", "is big."),
    ("who-attends", "004", 'the embeddings of "fluffy"', '"creature".'),
    ("sum-to-one", "004", "We would like", "[0, 1]$  and"),
    ("grid-transposed", "004", "The symbol", "represent the matrix"),
    ("mask-left-out", "004", r"\text{softmax} \left( \frac{QK^T}", r"\right) V"),
    ("numerical-stability", "004", "The division by", "numerical stability."),
    ("columns-of-rows", "004", "The softmax is applied", "by column."),
    ("scale-left-out", "004", "We represent by", "to the column."),
    ("summed-twice", "004", "multiplied by the scalar", "generic entry in"),
    ("one-index-twice", "004", "Each head of attention", r"{j^{(j)}}$ ."),
    ("down-in-output", "004", "In general  $V_u, V_d$", "matrix**"),
    ("majority", "004", "The majority of the parameters", "multilayer perceptrons"),
    ("a-third", "004", "just about 1/3", "come from attention"),
]

# The id of the erratum, and what its correction says of another line: text, first and last words.
ALSO = [
    ("row-times-matrix", "001", r"\exp\left(\frac{\left(W^{Q}\cdot", r"\vec{v}_i\right)"),
    ("row-times-matrix", "001", r"\left(W^{V}\cdot", r"\vec{v}_j\right)"),
    ("array-called", "002", "attn_weights1 = softmax(", ")"),
    ("array-called", "002", "attn_weights2 = softmax(", ")"),
    ("printed-unrounded", "002", "# array([0.88,", "0.12])"),
    ("d-out", "002", "self.output_dim =", "= output_dim"),
    ("one-letter-three-things", "003", "where $w_{t+1}$ is the next word", "sequence of words."),
    ("one-letter-three-things", "003", r"w = \frac{1}{n}", r"w_i\]"),
    ("query-or-key", "003", r"\overbrace{w_n M_q}", "1"),
    ("query-or-key", "003", r"\text{similarity} (\text{transformation}_1{(w_i)}", "(w_n)})"),
    ("width-of-a-head", "003", r"$M_v \in", "h_v}$"),
    ("two-letters-again", "003", "O &= A M_o", "n \\times d}"),
    ("two-letters-again", "003", "the intermediate dimension i is", "dimension d."),
    ("not-in-the-text", "003", "(lm_head):", "Linear("),
    ("a-query-is-a-vector", "004", "A key is a map", r"W_k \vec{e}_i$"),
    ("a-query-is-a-vector", "004", r"the query  $\vec{q}_j$", "an operator"),
    ("a-query-is-a-vector", "004", "$V_d^{(j)}$", "**values**"),
    ("grid-transposed", "004", r"\vec{q}_i = W_Q", r"\vec{e}_i.$$"),
    ("one-index-twice", "004", r"\sum_j", r"\Delta\vec{e}_i^{(j)}"),
    ("down-in-output", "004", r"[V_u^{(1)}", "V_u^{(n)}]"),
]


def lines_of(folder, document):
    [path] = sorted(folder.glob(f"{document}*.txt"))
    return path.read_text(encoding="utf-8").split("\n")


def line_of_heading(lines, heading):
    places = [number for number, line in enumerate(lines, 1) if line.lstrip("# ").rstrip() == heading]
    if not places:
        raise SystemExit(f"there is no heading {heading!r}")
    return places[-1]


def cut(lines, first, last):
    """The line that holds both, and what lies between them; there must be exactly one."""
    found = []
    for number, line in enumerate(lines, 1):
        start = line.find(first)
        end = line.find(last, start)
        if start >= 0 and end >= 0:
            found.append((number, line[start : end + len(last)]))
    if len(found) != 1:
        raise SystemExit(f"{first!r} … {last!r}: found {len(found)} times")
    return found[0]


def all_cuts(texts, wanted):
    excerpts = []
    for name, document, first, last in wanted:
        line, excerpt = cut(texts[document], first, last)
        if len(excerpt.split()) > MOST_WORDS:
            raise SystemExit(f"{name}: {len(excerpt.split())} words")
        excerpts.append({"id": name, "document": document, "line": line, "excerpt": excerpt})
    return excerpts


def main():
    folder = Path(sys.argv[1])
    texts = {document: lines_of(folder, document) for document in HEADINGS}
    for document, title in TITLES.items():
        line_of_heading(texts[document], title)
    headings = {
        document: [{"line": line_of_heading(texts[document], heading), "heading": heading} for heading in listed]
        for document, listed in HEADINGS.items()
    }
    result = {
        "about": "What the errata quote, cut from the texts by excerpts.py",
        "titles": TITLES,
        "headings": headings,
        "excerpts": all_cuts(texts, CUTS),
        "also": all_cuts(texts, ALSO),
    }
    layout.write(__file__, result)


main()
