"""The figures of the demos of document 004, “Attention is about 1/3 of what you need”, computed with NumPy alone.

    python one_third.py                    writes one_third.json

The document prints no numbers, so the inputs are the demos' own; they stand here once more, and a test compares them with
the demos' given matrices. Where the document has tokens as columns this script computes in columns, as the document
writes it, and transposes at the end: the demos compute in rows.
"""

import numpy as np

import layout

HIDDEN = -np.inf


def softmax(scores, axis):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def columns():
    """Everything in the document's columns; Q, K and V hold one token a column."""
    Q = np.array([[0, 0, 2, 2], [2, 0, 0, -2], [2, 2, 0, 0]], float).T
    K = np.array([[1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]], float).T
    V = np.array([[4, 0], [0, 4], [2, 2]], float).T
    grid = np.array([[K[:, i] @ Q[:, j] for j in range(3)] for i in range(3)])
    masked = np.where(np.tri(3, k=-1, dtype=bool), HIDDEN, grid / np.sqrt(4))
    A_grid = softmax(masked, axis=0)
    delta = np.stack([sum(A_grid[i, j] * V[:, i] for i in range(3)) for j in range(3)], axis=1)

    Q, K, V = Q.T, K.T, V.T
    A_literal = softmax(Q @ K.T / np.sqrt(4), axis=0)
    return {
        "Q": Q, "K": K, "V": V, "grid": grid, "A_grid": A_grid, "O_grid": delta, "S": grid.T, "A": A_grid.T, "O": delta.T,
        "A_literal": A_literal, "A_literal_sums": A_literal.sum(axis=1, keepdims=True), "O_literal": A_literal @ V,
        "O_unmasked": softmax(Q @ K.T / np.sqrt(4), axis=1) @ V,
    }


def update():
    """The document's formulas, one token at a time: q_j = W_Q e_j, Δe_j = Σ_i σ(k_i · q_j) v_i."""
    e = np.zeros((8, 5))
    for token, feature in [(1, 2), (2, 3), (3, 0), (6, 4), (7, 1)]:
        e[token, feature] = 1
    W_Q = np.array([[3, 0, 0, 0, 0], [0, 3, 0, 0, 0]], float)
    W_K = np.array([[0, 0, 2, 2, 0], [0, 0, 0, 0, 2]], float)
    W_V = np.diag([0.0, 0, 2, 2, 1])
    weights, delta = np.zeros((8, 8)), np.zeros((8, 5))
    for j in range(8):
        scores = np.array([(W_K @ e[i]) @ (W_Q @ e[j]) / np.sqrt(2) for i in range(j + 1)])
        weights[j, : j + 1] = softmax(scores, axis=0)
        delta[j] = sum(weights[j, i] * (W_V @ e[i]) for i in range(j + 1))
    # One column of the document's table of σ(k_i · q_j) v_i: that of creature, token 4.
    weighted = np.array([weights[3, i] * (W_V @ e[i]) for i in range(8)])
    return {
        "weighted_creature": weighted, "delta_creature": [sum(weighted)],
        "X": e, "W_Q": W_Q.T, "W_K": W_K.T, "W_V": W_V.T, "A": weights, "O": delta, "X_updated": e + delta,
    }


def lowrank():
    V_d = np.array([[1, 0, 2, 1, 0, 0], [0, 1, 0, 1, -1, 2]], float)
    V_u = np.array([[1, 2, 0, 0, 1, 0], [0, 1, 3, -1, 0, 1]], float).T
    X = np.array([[1, 0, 2, 0, 1, 0], [0, 1, 0, 1, 0, 3]], float)
    W_full = (V_u @ V_d).T
    for row, col, by in [(1, 2, 1), (2, 0, 1), (3, 1, -1), (4, 3, -1)]:
        W_full[row, col] += by
    U, sigma, R_t = np.linalg.svd(W_full)
    sign = np.sign(U[np.abs(U).argmax(axis=0), np.arange(6)])
    U, R = U * sign, R_t.T * sign
    W_best = sum(sigma[k] * np.outer(U[:, k], R[:, k]) for k in range(2))
    W_lost = W_full - W_best
    one = lambda number: np.array([[number]], float)
    d, d_k = 12288, 128
    copies = np.array([[1], [96], [96 * 96]])
    return {
        "X": X, "V_down": V_d.T, "V_up": V_u.T, "W_V": (V_u @ V_d).T, "V": (V_d @ X.T).T, "V_lifted": (V_u @ V_d @ X.T).T,
        "d": one(d), "d_k": one(d_k), "copies": copies, "all_full": copies * d * d, "all_factored": copies * 2 * d * d_k,
        "ratio": one(d / (2 * d_k)),
        "W_full": W_full, "sigma": sigma[None, :], "V_down_best": U[:, :2] * sigma[:2], "V_up_best": R[:, :2].T,
        "W_best": W_best, "W_lost": W_lost, "sigma_largest": one(sigma[2]),
        "lost_typical": one(np.sqrt((sigma[2:] ** 2).sum() / W_lost.size)),
    }


def sum_heads():
    X = np.array([[2, 0, 1, 0], [0, 2, 0, 1], [1, 1, 0, 0]], float)
    S = np.array([[[1, 0, 0], [0, 1, 0], [1, 3, 0]], [[0, 0, 0], [2, 0, 0], [2, 0, 1]]], float)
    V_down = np.array([[[1, 0], [0, 1], [0, 1], [1, 0]], [[0, 1], [1, 0], [1, 1], [0, 0]]], float)
    V_up = np.array([[[1, 0, 2, 0], [0, 1, 0, -1]], [[0, 3, 0, 1], [1, 0, -1, 0]]], float)
    A = softmax(np.where(np.tri(3, dtype=bool), S, HIDDEN), axis=2)
    # The document's sum: every head's full W_V = V_down V_up, its own proposal for each token, added up.
    delta = np.einsum("htn,nd,hdk,hke->hte", A, X, V_down, V_up)
    return {
        "X": X, "S_1": S[0], "S_2": S[1], "V_down_1": V_down[0], "V_down_2": V_down[1], "V_up_1": V_up[0], "V_up_2": V_up[1],
        "A_1": A[0], "A_2": A[1], "delta_1": delta[0], "delta_2": delta[1], "delta_sum": delta.sum(axis=0),
        "O": delta.sum(axis=0), "X_updated": X + delta.sum(axis=0), "W_O": V_up.reshape(4, 4),
    }


def block():
    weights = {
        "W_Q": [[1, 0], [0, 1]], "W_K": [[0, 1], [1, 0]], "W_V": [[0, 1], [1, 0]], "W_O": [[1, 0], [0, 2]],
        "W_up": [[1, -1, 0, 1], [0, 1, 1, -1]], "W_down": [[1, 0], [0, 1], [0, 2], [-1, 0]],
    }
    weights = {name: np.array(values, float) for name, values in weights.items()}
    norm = lambda x: x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5)

    def one_block(x):
        W = weights
        n = norm(x)
        sees = np.tri(len(x), dtype=bool) & ~np.tri(len(x), k=-2, dtype=bool)
        A = softmax(np.where(sees, (n @ W["W_Q"]) @ (n @ W["W_K"]).T / np.sqrt(2), HIDDEN), axis=1)
        attended = x + A @ (n @ W["W_V"]) @ W["W_O"]
        return A, attended, attended + np.maximum(norm(attended) @ W["W_up"], 0) @ W["W_down"]

    X = np.array([[1, 1], [7, 1], [1, 7], [3, -3]], float)
    change = np.array([[1, 0], [0, 0], [0, 0], [0, 0]], float)
    A, attended, first = one_block(X)
    second = one_block(first)[2]
    first_changed = one_block(X + change)[2]
    second_changed = one_block(first_changed)[2]
    return {
        "X": X, **weights, "change": change, "X_normed_block1": norm(X), "A_block1": A, "X_attended_block1": attended,
        "X_out_block1": first, "X_out_block2": second, "difference_block1": first_changed - first,
        "difference_block2": second_changed - second,
    }


def readable(matrix):
    return [[float(x) if np.isfinite(x) else str(x) for x in row] for row in np.asarray(matrix)]


demos = {"columns": columns, "update": update, "lowrank": lowrank, "sum-heads": sum_heads, "block": block}
about = "The figures of the demos of document 004, by NumPy; made by one_third.py"
nodes = {name: {node: readable(matrix) for node, matrix in demo().items()} for name, demo in demos.items()}
layout.write(__file__, {"about": about, **layout.versions(np), "demos": nodes})
