"""The nodes of the demos `rope`, `alibi`, `cache` and `sink`, computed with NumPy; writes mechanism_demos_1.json next to itself.

    python mechanism_demos_1.py

Nothing here follows the program's steps. A rotation is a product with a complex number, and a rotated score comes from the
distance alone. ALiBi's slopes are the published recursion. The multiplications of `cache` are counted one by one while loops
compute the head. A sink is a column that is appended and dropped again.
"""

import numpy as np

import layout


def softmax(s):
    e = np.exp(np.asarray(s, dtype=float))
    return e / e.sum(axis=-1, keepdims=True)


# Su et al. 2021, section 3.2: pairs as complex numbers.


def paired(x, pairing):
    half = x.shape[1] // 2
    return x[:, :half] + 1j * x[:, half:] if pairing == "halves" else x[:, 0::2] + 1j * x[:, 1::2]


def unpaired(z, pairing):
    if pairing == "halves":
        return np.hstack([z.real, z.imag])
    return np.stack([z.real, z.imag], axis=2).reshape(len(z), -1)


def rotated(x, f, pairing, first=0):
    turn = np.exp(1j * np.outer(first + np.arange(len(x)), f))
    return unpaired(paired(x, pairing) * turn, pairing)


def rotary_scores(q, k, f, pairing):
    """Equation 12 of the paper: the real part of Σ q conj(k) e^(i (m − n) f), from the distance m − n."""
    q, k = paired(q, pairing), paired(k, pairing)
    return [
        [(q[m] * k[n].conj() * np.exp(1j * (m - n) * f)).sum().real for n in range(len(k))] for m in range(len(q))
    ]


def rope(X=None, W_Q=None, W_K=None, base=100, shift=50, factor=3):
    X = np.array([[1, 0], [0, 1], [1, 0], [0, 1]] if X is None else X, dtype=float)
    W_Q = np.array([[2, 0, 1, 1], [1, 2, 0, 1]] if W_Q is None else W_Q, dtype=float)
    W_K = np.array([[1, 1, 0, 2], [2, 0, 1, 1]] if W_K is None else W_K, dtype=float)
    Q, K, pairs = X @ W_Q, X @ W_K, W_Q.shape[1] // 2
    f = np.array([float(base) ** (-p / pairs) for p in range(pairs)])
    moved = [2 * p for p in range(pairs)] + [2 * p + 1 for p in range(pairs)]
    right, wrong = rotary_scores(Q, K, f, "neighbours"), rotary_scores(Q, K, f, "halves")
    far = np.arange(1, 3 * factor + 1)

    def at(distances, f):
        q, k = paired(Q[:, moved], "halves")[-1], paired(K[:, moved], "halves")[0]
        return [(q * k.conj() * np.exp(1j * d * f)).sum().real for d in distances]

    return {
        "Q": Q, "K": K, "F": [f],
        "Q_halves": rotated(Q, f, "halves"), "K_halves": rotated(K, f, "halves"),
        "Q_neighbours": rotated(Q, f, "neighbours"), "K_neighbours": rotated(K, f, "neighbours"),
        "S_neighbours": right, "S_halves": wrong,
        "gap_pairing": [[np.abs(np.array(right) - wrong).max()]],
        "W_Q_moved": W_Q[:, moved], "W_K_moved": W_K[:, moved],
        "Q_fixed": rotated(Q, f, "neighbours")[:, moved], "S_fixed": right,
        "Q_shifted": rotated(Q[:, moved], f, "halves", shift), "S_shifted": right,
        "frequencies": [f, f / factor], "scores": np.column_stack([at(far, f), at(far / factor, f)]),
    }


# Press et al. 2021: the recursion of the published code.


def slopes(heads):
    power = 2 ** int(np.floor(np.log2(heads)))
    start = 2.0 ** (-8 / power)
    first = [start ** (1 + i) for i in range(power)]
    return first if power == heads else first + slopes(2 * power)[0::2][: heads - power]


def alibi(S=None, S_fits=None, heads=8, tokens=24):
    S = np.array([[0, 0, 0, 0, 0, 0]] if S is None else S, dtype=float)
    S_fits = np.array([[0, 2, 0, 0, 1, 0]] if S_fits is None else S_fits, dtype=float)
    m, keys = np.array(slopes(heads)), S.shape[1]
    distance = np.arange(keys)[::-1]
    A = softmax(S - np.outer(m, distance))
    pairs = np.arange(keys)[:, None] - np.arange(keys)
    long = softmax(-np.outer(m, np.arange(tokens)[::-1]))
    return {
        "A_plain": softmax(S), "S_biased": S - np.outer(m, distance),
        "B_masked": np.where(pairs >= 0, -m[0] * pairs, -np.inf),
        "A": A, "ratio": A[:, :-1] / A[:, 1:], "decay": np.exp(-m)[:, None], "near": A[:, -2:].sum(1)[:, None],
        "A_fits_plain": softmax(S_fits), "A_fits": softmax(S_fits - np.outer(m, distance)),
        "far": [long[:, :-keys].sum(axis=1)],
    }


# One head under a causal mask, with every multiplication counted.


class Counter:
    def __init__(self):
        self.count = 0

    def dot(self, a, b):
        self.count += len(a)
        return sum(x * y for x, y in zip(a, b))

    def row(self, x, w):
        return [self.dot(x, column) for column in np.asarray(w).T]


def all_rows(X, weights, counter):
    """The head over a whole text: every query with every key, as one product of matrices has it."""
    Q, K, V = ([counter.row(x, w) for x in X] for w in weights)
    out = []
    for t in range(len(X)):
        scores = [counter.dot(Q[t], k) / np.sqrt(len(k)) for k in K]
        weights_of_row = list(softmax(scores[: t + 1])) + [0.0] * (len(X) - t - 1)
        out.append(counter.row(weights_of_row, V))
    return out


def cache(X=None, W_Q=None, W_K=None, W_V=None):
    X = np.array([[1, 0, 1], [0, 2, 0], [1, 1, 0], [0, 1, 2]] if X is None else X, dtype=float)
    W_Q = np.array([[1, 0], [0, 1], [1, 0]] if W_Q is None else W_Q, dtype=float)
    W_K = np.array([[0, 1], [1, 0], [0, 1]] if W_K is None else W_K, dtype=float)
    W_V = np.array([[2, 0], [0, 3], [1, 1]] if W_V is None else W_V, dtype=float)
    weights, nodes = (W_Q, W_K, W_V), {}
    K, V, with_cache, without_cache = [], [], [], []
    for t, x in enumerate(X, 1):
        counter = Counter()
        q, k, v = (counter.row(x, w) for w in weights)
        K.append(k)
        V.append(v)
        A = softmax([counter.dot(q, k) / np.sqrt(len(k)) for k in K])
        nodes |= {f"K_cache_{t}": list(K), f"V_cache_{t}": list(V), f"A_{t}": [A], f"O_{t}": [counter.row(A, V)]}
        with_cache.append([counter.count])
        counter = Counter()
        all_rows(X[:t], weights, counter)
        without_cache.append([counter.count])
    O = all_rows(X, weights, Counter())
    f = np.array([10000.0 ** (-2 * p / len(K[0])) for p in range(len(K[0]) // 2)])
    return nodes | {
        "O": O, "O_cached": O, "K_rotated": rotated(np.array(K), f, "halves"),
        "K_cache_rotated": rotated(np.array(K), f, "halves"),
        "with_cache": with_cache, "without_cache": without_cache,
        "total": [[np.sum(with_cache), np.sum(without_cache)]],
    } | qwen()


def qwen():
    """Qwen3 0.6B, from its config.json: d 1024, 28 layers, 16 heads and 8 for keys and values, 128 wide; all tied."""
    d, layers, heads, groups, width, inner, vocabulary, context = 1024, 28, 16, 8, 128, 3072, 151936, 40960
    attention = d * heads * width * 2 + d * groups * width * 2 + 2 * width
    layer = attention + 3 * d * inner + 2 * d
    parameters = vocabulary * d + layers * layer + d
    token = 2 * layers * groups * width * 2
    return {
        "parameters": [[parameters]], "token_bytes": [[token]], "cache_bytes": [[token * context]],
        "in_MiB": [[token * context / 2**20], [2 * parameters / 2**20]],
    }


# Xiao et al. 2023; gpt-oss: the sink as one more column, which is dropped after the softmax.


def with_sink(s, sink):
    return softmax(np.append(s, sink))[:-1]


def sink(S_none=None, V=None, S=None, window=3, keep_first=1, sink=4):
    none = np.array([0, 0, 0, 0, 0, 0] if S_none is None else S_none[0], dtype=float)
    V = np.array([[0, 0], [1, 0], [4, 2], [2, 6], [0, 4], [1, 0]] if V is None else V, dtype=float)
    s = np.array([4, 0, 0, 0, 0, 0] if S is None else S[0], dtype=float)
    n = len(s)

    def visible(kept):
        A = np.zeros(n)
        A[kept] = softmax(s[kept])
        return A

    A_window = visible([j for j in range(n) if n - 1 - j < window])
    A_kept = visible([j for j in range(n) if n - 1 - j < window or j < keep_first])
    A_none, A, A_sink = softmax(none), softmax(s), with_sink(none, sink)
    by_formula = np.exp(none) / (1 + np.exp(none).sum())
    return {
        "A_none": [A_none], "A": [A], "O_none": [A_none @ V], "O": [A @ V],
        "A_each": [np.append(softmax(s[: i + 1]), np.zeros(n - 1 - i)) for i in range(n)],
        "A_window": [A_window], "A_kept": [A_kept],
        "gap_window": [[np.abs((A_window - A) @ V).max()]], "gap_kept": [[np.abs((A_kept - A) @ V).max()]],
        "A_sink": [A_sink], "total_sink": [[A_sink.sum()]],
        "A_off": [A_none], "A_zero": [by_formula], "A_one_more": [by_formula],
        "outputs": [A_none @ V, A @ V, A_window @ V, A_kept @ V, A_sink @ V],
    }


def number(x):
    return float(x) if np.isfinite(x) else ("inf" if x > 0 else "-inf")


def plain(value):
    return [[number(x) for x in row] for row in value]


THREE = [[1, 2], [0, 1], [3, -1]]
WIDE = [[2, 0, 1, 1, -1, 3], [1, 2, 0, 1, 0.5, 2]]
WIDE_KEYS = [[1, 1, 0, 2, 4, -2], [2, 0, 1, 1, 1.5, 1]]
cases = [
    (rope, {}), (rope, {"base": 10000, "shift": 7, "factor": 2}),
    (rope, {"X": THREE, "W_Q": WIDE, "W_K": WIDE_KEYS, "base": 500, "shift": 1000, "factor": 4}),
    (alibi, {}), (alibi, {"heads": 12, "tokens": 100}),
    (alibi, {"S": [[1, -2, 0.5, 3]], "S_fits": [[2, 1, 0, -1]], "heads": 3, "tokens": 5}),
    (cache, {}),
    (cache, {"X": THREE, "W_Q": WIDE, "W_K": WIDE_KEYS, "W_V": [[1], [-2]]}),
    (sink, {}), (sink, {"window": 2, "keep_first": 2, "sink": -1}),
    (sink, {"S_none": [[1, 2, -1, 0]], "S": [[3, 1, 0, 2]], "V": THREE + [[5, 5]], "window": 1, "sink": 0.5}),
]
records = [
    {"demo": demo.__name__, "set": numbers, "nodes": {name: plain(value) for name, value in demo(**numbers).items()}}
    for demo, numbers in cases
]
about = "Nodes of the demos rope, alibi, cache and sink by NumPy; made by mechanism_demos_1.py"
print(layout.write(__file__, {"about": about, **layout.versions(np), "cases": records}, line=10_000), "bytes")
