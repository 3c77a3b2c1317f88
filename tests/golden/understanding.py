"""The figures of document 000's demos that the document speaks of but does not print, by NumPy.

    python understanding.py                writes understanding.json

The drawn matrices come from `np.random.seed(0)`, in the order of the document's code.
"""

import numpy as np

import layout

nodes = []


def record(demo, name, array):
    rows = np.atleast_2d(array).astype(float).tolist()
    values = [[value if np.isfinite(value) else str(value) for value in row] for row in rows]
    nodes.append({"demo": demo, "name": name, "values": values})
    return array


def softmax(x, axis):
    shifted = np.exp(x - x.max(axis=axis, keepdims=True))
    return shifted / shifted.sum(axis=axis, keepdims=True)


def weights():
    cases = {"positive": [1, 2, 2, 3], "mixed": [1, -2, 2, 3], "balanced": [-1, 2, 2, -3]}
    for case, numbers in cases.items():
        numbers = record("weights", f"S_{case}", np.array(numbers, dtype=float))
        record("weights", f"sum_{case}", numbers.sum())
        record("weights", f"share_{case}", numbers / numbers.sum())
        record("weights", f"exp_{case}", np.exp(numbers))
        record("weights", f"A_{case}", np.exp(numbers) / np.exp(numbers).sum())
    large = record("weights", "S_large", np.array([1000.0, 1001.0]))
    record("weights", "exp_overflow", np.exp(large))
    record("weights", "A_overflow", np.exp(large) / np.exp(large).sum())
    record("weights", "S_shifted", large - large.max())
    record("weights", "exp_shifted", np.exp(large - large.max()))
    record("weights", "A", softmax(large, 0))


def interact():
    L = record("interact", "L", np.array([[2, 1], [1, 3]]))
    X = record("interact", "X", np.array([[1, 2, 0], [3, 1, 2]]))
    R = record("interact", "R", np.array([[1, 0], [0, 1], [1, -1]]))
    record("interact", "LX", L @ X)
    record("interact", "XR", X @ R)
    record("interact", "Y", L @ X @ R)
    record("interact", "Y_features_first", L @ (X @ R))


def drawn():
    randn = np.random.randn
    x, _, L = randn(4, 5), randn(4, 4), softmax(randn(4, 4), 1)
    R = randn(5, 6)
    wide = randn(4, 5), randn(5, 7), randn(5, 7), randn(5, 6)
    square = randn(4, 5), randn(5, 5), randn(5, 5), randn(5, 5)
    masked = randn(4, 5), randn(5, 5), randn(5, 5), randn(5, 5)

    record("left", "Y_changed", L @ (x + [1, 0, 0, 0, 0]))
    record("right", "Y_changed", (x + [[1], [0], [0], [0]]) @ R)
    record("right", "R_softmax", softmax(R, 0))
    record("right", "Y_softmax", x @ softmax(R, 0))

    X, W_Q, W_K, _ = wide
    record("qkv", "W_QK", W_Q @ W_K.T)
    record("qkv", "S_direct", X @ W_Q @ W_K.T @ X.T)
    other = record("qkv", "X_other", masked[0])
    record("qkv", "A_other", softmax(other @ W_Q @ (other @ W_K).T, 1))

    X, W_Q, W_K, W_V = masked
    X = X + [[0], [0], [0], [1]]
    scores = np.where(np.tril(np.ones((4, 4))) == 1, X @ W_Q @ (X @ W_K).T, -np.inf)
    record("mask", "O_changed", softmax(scores, 1) @ X @ W_V)


def main():
    np.random.seed(0)
    with np.errstate(all="ignore"):
        weights()
    interact()
    drawn()
    about = "What document 000 describes without printing it; made by understanding.py"
    layout.write(__file__, {"about": about, **layout.versions(np), "nodes": nodes})


main()
