"""The nodes of the demos `latent`, `linear` and `differential`, computed with NumPy; writes mechanism_demos_2.json next to itself.

    python mechanism_demos_2.py

Everything is written from the formulas of the papers, in their column vectors and in extended precision. Latent attention rotates
by complex numbers and takes one dot product of content and position together; linear attention sums over the keys of each query;
the memories of the delta rule are d_v × d_k, S ← g S and S ← S + β (v − S k) kᵀ, and are transposed at the end.
"""

import numpy as np

import layout

LONG = np.longdouble


def softmax(scores):
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def turned(x, position):
    """Pairs of neighbouring numbers as complex ones, turned by position · 10000^(−2p/d)."""
    pairs = x[0::2] + 1j * x[1::2]
    angles = position * LONG(10000) ** (-2 * np.arange(len(pairs), dtype=LONG) / len(x))
    pairs = pairs * (np.cos(angles) + 1j * np.sin(angles))
    return np.stack([pairs.real, pairs.imag], 1).ravel()


def latent(X, W_DKV, g_KV, W_UK, W_UV, W_Q, W_KR, d_c, d_r, H, d, heads=2):
    down = [W_DKV.T @ x for x in X]
    c = [g_KV[0] * x / np.sqrt((x**2).mean() + LONG("1e-6")) for x in down]
    of_heads = lambda rows, W: [(x @ W).reshape(heads, -1) for x in rows]
    keys, values, queries = of_heads(c, W_UK), of_heads(c, W_UV), of_heads(X, W_Q)
    k_r = [turned(x @ W_KR, t) for t, x in enumerate(X)]
    width = len(k_r[0])
    up_k, up_v = (np.array(np.split(W, heads, 1)) for W in (W_UK, W_UV))
    nodes = {
        "C_down": down, "c_KV": c, "K_C": [k.ravel() for k in keys], "V": [v.ravel() for v in values], "K_R_rotated": k_r,
    }
    results, absorbed = [], []
    for h in range(heads):
        contents, turns = [q[h][:-width] for q in queries], [turned(q[h][-width:], t) for t, q in enumerate(queries)]
        whole_q = [np.concatenate(pair) for pair in zip(contents, turns)]
        whole_k = [np.concatenate([k[h], r]) for k, r in zip(keys, k_r)]
        scores = np.array([[q @ k for k in whole_k] for q in whole_q]) / np.sqrt(LONG(len(whole_q[0])))
        weights = np.zeros_like(scores)
        for t, row in enumerate(scores):
            weights[t, : t + 1] = softmax(row[: t + 1])
        direct = [up_k[h] @ q for q in contents]
        mixed = [sum(w * x for w, x in zip(row, c)) for row in weights]
        results.append([sum(w * v[h] for w, v in zip(row, values)) for row in weights])
        absorbed.append([up_v[h].T @ x for x in mixed])
        nodes |= {
            f"Q_R_{h + 1}_rotated": turns, f"S_scaled_{h + 1}": scores, f"A_{h + 1}": weights, f"A_absorbed_{h + 1}": weights,
            f"Q_absorbed_{h + 1}": direct, f"mixed_c_{h + 1}": mixed,
        }
    count, count_of_heads = len(c[0]) + width, sum(part.size for part in (keys[0], values[0]))
    cached, full = d_c + d_r, 2 * H * d
    return nodes | {
        "O": np.concatenate(results, 1), "O_absorbed": np.concatenate(absorbed, 1), "numbers": [[count]],
        "numbers_of_heads": [[count_of_heads]], "cached_latent": cached, "cached_heads": full, "ratio": full / cached,
    }


def memories(keys, values, beta, gate, start):
    """Each memory, and what the one before answered; columns are vectors here."""
    S, states, known = start.T, [], []
    for k, v in zip(keys, values):
        S = gate * S
        known.append(S @ k)
        S = S + beta * np.outer(v - S @ k, k)
        states.append(S)
    return states, known


def linear(Q, K, V, tokens, d, K_facts, V_facts, K_near, memory_0, beta, g):
    phi = lambda x: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))
    q, k, n = phi(Q), phi(K), len(K)
    total = [sum(q[i] @ k[m] for m in range(i + 1)) for i in range(n)]
    A = np.array([[q[i] @ k[j] / total[i] if j <= i else LONG(0) for j in range(n)] for i in range(n)])
    O = np.array([sum(A[i, j] * V[j] for j in range(n)) for i in range(n)])
    nodes = {"phi_Q": q, "phi_K": k, "A": A, "O": O, "O_recurrent": O, "norms": [k[: t + 1].sum(0) for t in range(n)]}
    nodes |= {f"state_{t + 1}": sum(np.outer(k[j], V[j]) for j in range(t + 1)) for t in range(n)}
    nodes |= {"in_cache": 2 * tokens * d, "in_state": d * d + d + 0 * tokens}
    ask = K_facts[:2]
    for name, asked, keys in [("", ask, K_facts), ("_near", K_near, K_near)]:
        memory = sum(np.outer(k, v) for k, v in zip(keys, V_facts))
        nodes |= {f"memory{name}": memory, f"recalled{name}": [memory.T @ k for k in asked]}
    for name, gate, recalled in [("", LONG(1), "recalled_delta"), ("_gated", g[0, 0], "recalled_gated")]:
        states, known = memories(K_facts, V_facts, beta[0, 0], gate, memory_0)
        nodes |= {f"memory{name}_{t}": S.T for t, S in enumerate(states, 1)} | {recalled: [states[-1] @ k for k in ask]}
        nodes |= {} if name else {"known": known, "errors": V_facts - np.array(known)}
    return nodes


def differential(X, W_Q, W_K, W_V, layer, lambda_q1, lambda_k1, lambda_q2, lambda_k2, layers):
    half = W_Q.shape[1] // 2
    maps = []
    for columns in (slice(None, half), slice(half, None)):
        scores = [[(W_Q[:, columns].T @ x) @ (W_K[:, columns].T @ y) / np.sqrt(LONG(half)) for y in X] for x in X]
        maps.append(np.array([softmax(np.array(row)) for row in scores]))
    start = lambda l: LONG("0.8") - LONG("0.6") * np.exp(LONG("-0.3") * (l - 1))
    lambda_init = start(layer)
    factor = np.exp(lambda_q1 @ lambda_k1.T) - np.exp(lambda_q2 @ lambda_k2.T) + lambda_init
    A = maps[0] - factor * maps[1]
    O = np.array([sum(a * (W_V.T @ x) for a, x in zip(row, X)) for row in A])
    normed = np.array([o / np.sqrt((o**2).mean() + LONG("1e-5")) for o in O])
    scaled = (1 - lambda_init) * normed
    return {
        "A_1": maps[0], "A_2": maps[1], "lambda_init": lambda_init, "lambda": factor, "lambda_init_layers": start(layers), "A": A,
        "row_sums": A.sum(1, keepdims=True), "one_minus_lambda": 1 - factor, "O": O, "O_normed": normed, "factor": 1 - lambda_init,
        "O_scaled": scaled, "size": [[np.sqrt((scaled**2).mean())]],
    }


OWN = {
    latent: {
        "X": [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]], "W_DKV": [[3, -1], [4, 0], [-1, 3], [-3, 7]], "g_KV": [[1, 2]],
        "W_UK": [[1, 1, 0, 1], [0, 1, 1, 0]], "W_UV": [[2, 0, 0, 1], [0, 1, 1, 0]],
        "W_Q": [[1, 0, 1, 0, 0, 1, 0, 1], [0, 1, 0, 1, 1, 0, 1, 0], [1, 0, 0, 1, 1, 0, 0, 1], [0, 1, 1, 0, 0, 1, 1, 0]],
        "W_KR": [[1, 0], [0, 1], [1, 0], [0, 1]], "d_c": [[512]], "d_r": [[64]], "H": [[128]], "d": [[128]],
    },
    linear: {
        "Q": [[1, 0], [0, 2], [2, 1], [1, 1]], "K": [[0, 1], [2, 0], [1, -1], [1, 2]], "V": [[4, 0], [0, 2], [2, 2], [0, 4]],
        "tokens": [[10, 100, 1000, 100000]], "d": [[128]], "K_facts": [[1, 0], [0, 1], [1, 0]],
        "V_facts": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "K_near": [[1, 0], [0.6, 0.8]], "memory_0": [[0, 0, 0], [0, 0, 0]],
        "beta": [[1]], "g": [[0.5]],
    },
    differential: {
        "X": [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]], "W_Q": [[1, 0, 1, 0], [1, 1, 1, 0], [2, 2, 2, 0]],
        "W_K": [[1, 0, 1, 0], [0, 2, 0, 0], [0, 0, 0, 0]], "W_V": [[0, 0, 3, 1], [4, 0, 0, 1], [0, 2, 0, 1]], "layer": [[1]],
        "lambda_q1": [[0.4, 0]], "lambda_k1": [[0.5, 0]], "lambda_q2": [[0, 0.4]], "lambda_k2": [[0.5, 0]],
        "layers": [[1, 2, 4, 8, 16, 32]],
    },
}
rng = np.random.default_rng(16)


def drawn(rows, cols):
    return np.round(rng.normal(size=(rows, cols)) * 1.5, 2).tolist()


CHANGES = [
    (latent, {}),
    (latent, {"X": drawn(5, 4), "W_DKV": drawn(4, 3), "g_KV": drawn(1, 3), "W_UK": drawn(3, 8), "W_UV": drawn(3, 6),
              "W_Q": drawn(4, 16), "W_KR": drawn(4, 4)}),
    (latent, {"X": drawn(1, 4), "H": [[16]], "d_c": [[256]]}),
    (linear, {}),
    (linear, {"Q": drawn(6, 3), "K": drawn(6, 3), "V": drawn(6, 2), "tokens": [[3, 7]], "d": [[2]]}),
    (linear, {"K_facts": drawn(4, 3), "V_facts": drawn(4, 2), "memory_0": drawn(3, 2), "K_near": drawn(3, 3), "beta": [[0.25]],
              "g": [[0.9]]}),
    (differential, {}),
    (differential, {"X": drawn(5, 3), "W_Q": drawn(3, 6), "W_K": drawn(3, 6), "W_V": drawn(3, 2), "layer": [[7]]}),
    (differential, {"lambda_q1": drawn(1, 3), "lambda_k1": drawn(1, 3), "layers": [[5, 3]]}),
]


def plain(value):
    return [[float(x) for x in row] for row in value]


records = []
for build, changes in CHANGES:
    inputs = {name: np.array(rows, dtype=LONG) for name, rows in (OWN[build] | changes).items()}
    nodes = build(**inputs)
    records.append({"demo": build.__name__, "set": changes, "nodes": {name: plain(value) for name, value in nodes.items()}})
about = "Nodes of the demos latent, linear and differential by NumPy; made by mechanism_demos_2.py"
layout.write(__file__, {"about": about, **layout.versions(np), "cases": records}, line=20000)
