"""The main results of the demos of document 003, computed with NumPy from the same inputs, typed again.

    python imagined.py                     writes imagined.json

Nothing here follows the program's own way: heads are taken at once with einsum, rotary positions are complex numbers
that are turned, counts of pairs are counted from the sentences, and gradients are complex-step derivatives of the forward
computation (exact to rounding) instead of the chain rule.
"""

import json
import platform
from pathlib import Path

import numpy as np

E = np.exp


def softmax(s):
    """Along the last axis; of complex numbers too, for the derivatives."""
    e = E(s - s.real.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attend(q, k, v, causal=False, scale=None):
    s = q @ k.swapaxes(-1, -2) * (1 / np.sqrt(k.shape[-1]) if scale is None else scale)
    if causal:
        s = np.where(np.tril(np.ones(s.shape[-2:], dtype=bool)), s, -np.inf)
    return softmax(s) @ v


def rows(text):
    """“1 2; 3 4” as a matrix."""
    return np.array([[float(x) for x in row.split()] for row in text.split(";")])


def gap(one, two):
    return [[float(abs(one[-1] - two[-1]).max())]]


# Word vectors of `pooling` and `unembed`: nation, town, rule, filler.
VECTORS = {"India": (2, 0, 1, 0), "capital": (1, 0, 2, 0), "city": (0, 2, 0, 0), "Delhi": (2, 1, 2, 0), "Mumbai": (1, 3, 0, 0)}


def vectors(words):
    return np.array([VECTORS.get(word, (0, 0, 0, 1)) for word in words], dtype=float)


def cosine(a, b):
    return (a @ b.T) / np.linalg.norm(a, axis=1)[:, None] / np.linalg.norm(b, axis=1)[None, :]


def pooling():
    questions = [q.split() for q in [
        "What is the capital of India", "What is the capital city of India", "What city is the capital city of India"]]
    vocabulary = "What is the capital city of India".split()
    pairs = [pair for q in questions for pair in zip(q, q[1:])]
    constants = {"capital": 4, "India": 4}

    def pools(weights):
        return np.array([weights(q) @ vectors(q) / weights(q).sum() for q in questions])

    def last(q):
        return softmax(vectors(q) @ vectors(q)[-1])

    w = {
        "w_sum": np.array([vectors(q).sum(axis=0) for q in questions]),
        "w_average": pools(lambda q: np.ones(len(q))),
        "w_fixed": pools(lambda q: np.array([constants.get(word, 1) for word in q])),
        "w_attention": pools(last),
    }
    moved = {name.replace("w_", "moved_"): np.linalg.norm(v - v[0], axis=1)[:, None] for name, v in w.items()}
    third = np.array([v[2] for v in w.values()])
    followed = [[next_word for word, next_word in pairs if word == first] for first in vocabulary[:-1]]
    p = np.array([[followers.count(word) / len(followers) for word in vocabulary] for followers in followed])
    dot = lambda q, word: [vectors([word])[0] @ vectors(q)[-1]]
    return w | moved | {
        "counts": [[pairs.count((a, b)) for b in vocabulary] for a in vocabulary],
        "P": p, "arg_max": p == p.max(axis=1, keepdims=True),
        "f_capital": [dot(q, "capital") for q in questions],
        "f_city": [dot(q, "city") for q in questions[1:] + ["What is a city".split()]],
        "sequences": [[7 ** n for n in range(1, 6)]],
        "sequences_llama": [[128256 ** n for n in range(1, 6)]],
        "A_3": [last(questions[2])],
        "A_4": [last("What is a city".split())],
        "fixed_4": [[0.25] * 4],
        "repeated": [w["w_sum"][0], 2 * w["w_sum"][0], w["w_average"][0], w["w_average"][0]],
        "toward": cosine(third, vectors(["Delhi", "city"])),
    }


def transforms():
    x = np.vstack([np.ones(4), 2 * np.eye(4)])  # bat, cave, wicket, pitcher, swung
    shared = rows("1 0; 0 1; 0 1; 0 1")
    w_q, w_k = rows("1 0; 0 1; 0 1; 0 2"), rows("1 0; 0 1; 0 1; 0 0")
    queries = [rows("1 0; 0 0; 0 0; 0 0"), rows("0 0; 0 1; 0 1; 0 0")]
    keys = [rows("1 0; 0 1; 0 1; 0 0"), rows("0 0; 0 0; 0 0; -1 1")]
    relations = np.array([np.einsum("d,de,fe,nf->n", x[0], q, k, x) for q in queries for k in keys])
    s = np.einsum("md,de,fe,nf->mn", x, w_q, w_k, x)
    return {
        "S_one": np.einsum("md,de,fe,nf->mn", x, shared, shared, x),
        "S": s, "difference": s - s.T, "relations": relations, "A": softmax(relations),
        "possible": [[4, 64, 256]],
    }


def scale():
    state = np.random.RandomState(0)
    tables = {name: [] for name in ["size", "largest", "slope"]}
    scaled = {name: [] for name in tables}
    for d in [1, 4, 16, 64, 256, 1024]:
        q, k = state.randn(16, d), state.randn(16, d)
        for table, s in [(tables, q @ k.T), (scaled, q @ k.T / np.sqrt(d))]:
            a = softmax(s)
            table["size"].append([np.sqrt(np.mean(s ** 2))])
            table["largest"].append([a.max(axis=1).mean()])
            # The diagonal of the softmax's Jacobian diag(a) − a aᵀ, row by row.
            table["slope"].append([np.mean([np.diag(np.diag(row) - np.outer(row, row)) for row in a])])
    return tables | {f"{name}_scaled": table for name, table in scaled.items()}


def output():
    x = rows("1 0 1 0 0; 0 1 0 1 1")
    w_q = np.array([rows("1 0 0 0; 0 1 0 0; 0 0 1 0; 0 0 0 1; 0 1 0 0"), rows("0 1 0 0; 1 0 0 0; 0 0 0 1; 0 0 1 0; 0 0 0 0")])
    w_k = np.array([rows("1 0 0 0; 0 0 0 1; 0 0 1 0; 0 1 0 0; 0 0 0 0"), rows("1 0 0 0; 0 1 0 0; 0 0 1 0; 0 0 0 1; 0 0 0 1")])
    w_v = np.array([rows("1 0 0; 0 1 0; 0 0 1; 1 0 0; 0 1 0"), rows("0 1 0; 0 0 1; 1 0 0; 0 1 0; 0 0 1")])
    w_o = np.vstack([np.eye(5), [1, 0, 0, 0, 1]])
    heads = attend(x @ w_q, x @ w_k, x @ w_v)
    c = heads.transpose(1, 0, 2).reshape(2, 6)
    hidden = attend(x @ w_q, x @ w_k, x @ w_v, causal=True).transpose(1, 0, 2).reshape(2, 6)
    return {
        "O_1": heads[0], "O_2": heads[1], "C": c, "O": c @ w_o, "C_causal": hidden, "O_causal": hidden @ w_o,
        "C_width": [[32 * 128], [16 * 256]],
    }


def gqa():
    x = rows("1 0 1 0; 0 1 0 1; 1 1 0 0")
    w_q = rows("1 0 0 1; 0 1 1 0; 1 1 0 0; 0 0 1 1")

    def heads(keys, values):
        """Four query heads of width 1; keys and values as (n, heads)."""
        q, k, v = ((m.T)[:, :, None] for m in (x @ w_q, keys, values))
        return attend(q, k, v)[:, :, 0].T

    def shared(w_k, w_v, readers):
        return heads(np.repeat(x @ rows(w_k), readers, axis=1), np.repeat(x @ rows(w_v), readers, axis=1))

    latent = x @ rows("1 0; 0 1; 1 0; 0 2")
    two = shared("1 0; 0 1; 1 1; 0 1", "2 0; 0 1; 1 0; 0 3", 2)
    one = shared("1; 1; 0; 1", "1; 2; 0; 3", 4)
    layer = {"MHA": 2 * 32 * 128, "GQA": 2 * 8 * 128, "MQA": 2 * 1 * 128, "MLA": 4 * 128}
    weights = [4096 * layer[name] for name in ["MHA", "GQA", "MQA"]] + [4096 * 512 + 512 * 4096 + 512 * 4096]
    return {
        "O_gqa": two, "O_gqa_each": two, "O_mqa": one, "O_mqa_each": one,
        "O_mla": heads(latent @ rows("1 0 1 0; 0 1 1 2"), latent @ rows("2 0 1 0; 0 1 0 3")),
        "H": [[32], [32], [32]],
        "cached": [[n] for n in layer.values()],
        "token_bytes": [[n * 32 * 2] for n in layer.values()],
        "cache_MiB": [[n * 32 * 2 * 8192 / 2 ** 20] for n in layer.values()],
        "parameters": [[n] for n in weights],
    }


def mlp():
    x = rows("0 0; 0 1; 1 0; 1 1")
    w_1, w_2 = rows("1 0 1; 0 1 -1"), rows("-1; 1; 2")
    z = np.array([-8.0, -1, 0, 1, 2, 8])
    sigmoid = lambda z: (1 + np.tanh(z / 2)) / 2
    up = x @ rows("1 -1; -1 1")
    return {
        "Y_linear": x @ w_1 @ w_2, "W": [[1], [-1]], "H": np.maximum(x @ w_1, 0), "Y": [[0], [1], [1], [0]],
        "relu": [np.maximum(z, 0)], "silu": [z * sigmoid(z)],
        "H_gated": up ** 2 * sigmoid(up), "Y_gated": [[0], [1], [1], [0]],
        "balance_linear": [[0]], "balance_xor": [[2]],
    }


def rotated(x):
    """The half-split form: numbers p and p + d/2 are one complex number, turned by position · 10000^(−2p/d)."""
    half = x.shape[1] // 2
    angles = np.arange(len(x))[:, None] * 10000.0 ** (-2 * np.arange(half) / x.shape[1])[None, :]
    turned = (x[:, :half] + 1j * x[:, half:]) * np.exp(1j * angles)
    return np.hstack([turned.real, turned.imag])


def order():
    teams = rows("1 0 0 0; 0 0 1 0; 0 1 0 0")
    x = [rows("2 0 0 0; 0 0 2 0; 0 2 0 0; 1 1 1 1"), rows("0 2 0 0; 0 0 2 0; 2 0 0 0; 1 1 1 1")]
    angles = np.arange(4)[:, None] / 10000.0 ** (np.array([0, 0, 2, 2]) / 4)[None, :]
    places = np.where(np.arange(4) % 2 == 0, np.sin(angles), np.cos(angles))

    plain = [attend(m, m, m) for m in x]
    causal = [attend(m, m, m, causal=True) for m in x]
    second = [attend(m + o, m + o, m + o) for m, o in zip(x, plain)]
    causal_second = [attend(m + o, m + o, m + o, causal=True) for m, o in zip(x, causal)]
    placed = [attend(m + places, m + places, m + places) for m in x]
    rotary = [attend(rotated(m), rotated(m), m) for m in x]
    cases = [plain, second, causal, causal_second, placed, rotary]
    return {
        "O_AB": attend(teams, teams, teams), "O_BA": attend(teams, teams, teams)[::-1], "P": places,
        "O_1": plain[0], "O_1_causal": causal[0], "O_2_causal": causal[1],
        "last_causal_second": [o[-1] for o in causal_second], "last_placed": [o[-1] for o in placed],
        "last_rotary": [o[-1] for o in rotary], "Q_turned_1_rotary": rotated(x[0]),
        "gaps": [gap(*case)[0] for case in cases],
    }


def unembed():
    w_e = vectors(["Delhi", "Mumbai", "India", "capital", "city", "the"])
    logits = np.array([[1.0, 0, 1, 0]]) @ w_e.T
    return {
        "logits": logits, "p": softmax(logits), "back": w_e @ w_e.T, "back_unit": cosine(w_e, w_e),
        "temperatures": [softmax(logits[0] / t) for t in [0.25, 0.5, 1, 2, 10]],
    }


def init():
    x = rows("1 0 1; 0 1 1; 1 1 0; 2 0 1")
    w_q, w_k = rows("1 0 -1 1; 0 1 1 -1; 1 1 0 0"), rows("0 1 1 0; 1 -1 0 1; 1 0 -1 1")
    v, d_o = x @ rows("1 0; 0 2; 1 -1"), rows("1 0; 0 1; -1 0; 0 2")
    results, sizes, largest = {}, [], []
    for name, factor in [("zero", 0), ("small", 0.01), ("one", 1), ("large", 10)]:
        q, k = factor * w_q, factor * w_k
        loss = lambda q: (d_o * attend(x @ q, x @ k, v)).sum()
        gradient = np.zeros_like(w_q)
        for at in np.ndindex(*w_q.shape):
            step = q.astype(complex)
            step[at] += 1e-30j
            gradient[at] = loss(step).imag / 1e-30
        weights = softmax(x @ q @ (x @ k).T / 2)
        results |= {f"A_{name}": weights, f"O_{name}": weights @ v, f"dW_Q_{name}": gradient}
        sizes.append([abs(gradient).max()])
        largest.append([weights.max()])
    return results | {"average": np.repeat([v.mean(axis=0)], 4, axis=0), "gradient_size": sizes, "largest_weight": largest}


def plain(value):
    return [[float(x) for x in row] for row in value]


demos = [pooling, transforms, scale, output, gqa, mlp, order, unembed, init]
head = json.dumps({
    "about": "Results of the demos of document 003 by NumPy; made by imagined.py",
    "numpy": np.__version__,
    "python": platform.python_version(),
}, indent=2).removesuffix("\n}")
lines = []
for demo in demos:
    nodes = ",\n      ".join(f'"{name}": {json.dumps(plain(value), allow_nan=False)}' for name, value in demo().items())
    lines.append(f'"{demo.__name__}": {{\n      {nodes}\n    }}')
body = ",\n    ".join(lines)
target = Path(__file__).parent / "imagined.json"
target.write_text(f'{head},\n  "demos": {{\n    {body}\n  }}\n}}\n', encoding="utf-8")
print(f"{len(demos)} demos, {target.stat().st_size} bytes")
