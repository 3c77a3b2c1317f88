"""The figures of document 001's demos, by NumPy.

    python multiplication.py               writes multiplication.json

The document prints no numbers; the inputs are the demos' own. Attention is written here as the document's two
loops, over queries and over keys, in one scalar at a time, and never as a matrix product.
"""

import math

import numpy as np

import layout

nodes = []


def record(demo, name, array):
    nodes.append({"demo": demo, "name": name, "values": np.array(array, dtype=float).tolist()})


def given(demo, name, rows):
    record(demo, name, rows)
    return rows


def column(matrix, j):
    return [row[j] for row in matrix]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def pairwise():
    A = given("pairwise", "A", [[2, 0], [1, 1], [0, 3], [-1, 2]])
    B = given("pairwise", "B", [[1, 1, -2], [0, 2, 1]])
    table = [[dot(a, column(B, j)) for j in range(3)] for a in A]
    record("pairwise", "AB", table)
    record("pairwise", "S", table)
    record("pairwise", "dot", [[table[3][2]]])
    assert np.array_equal(np.array(A) @ np.array(B), table)


def weighted_sum():
    A = given("weighted-sum", "A", [[1 / 2, 1 / 4, 1 / 4], [0, 1 / 2, 1 / 2]])
    B = given("weighted-sum", "B", [[4, 0], [0, 8], [8, 4]])
    scaled = [[weight * x for x in row] for weight, row in zip(A[0], B, strict=True)]
    for j, row in enumerate(scaled):
        record("weighted-sum", f"scaled_{j + 1}", [row])
    record("weighted-sum", "row_sum", [[sum(column(scaled, c)) for c in range(2)]])
    record("weighted-sum", "AB", np.array(A) @ np.array(B))


def attention(inputs, W_Q, W_K, W_V):
    """Query by query, key by key: the weights and the outputs."""
    transform = lambda W, v: [dot(v, column(W, c)) for c in range(len(W[0]))]
    all_weights, outputs = [], []
    for v_i in inputs:
        q = transform(W_Q, v_i)
        powers = [math.exp(dot(q, transform(W_K, v_j)) / math.sqrt(len(q))) for v_j in inputs]
        weights = [power / sum(powers) for power in powers]
        output = [0.0] * len(W_V[0])
        for w_j, v_j in zip(weights, inputs, strict=True):
            output = [o + w_j * x for o, x in zip(output, transform(W_V, v_j), strict=True)]
        all_weights.append(weights)
        outputs.append(output)
    return all_weights, outputs


def vectorize():
    X = given("vectorize", "X", [[2, 0], [0, 2], [1, 1]])
    W_Q = given("vectorize", "W_Q", [[1, 0, 1, 0], [0, 1, 0, 1]])
    W_K = given("vectorize", "W_K", [[2, 1, 0, -1], [1, 0, -1, 2]])
    W_V = given("vectorize", "W_V", [[1, 1], [0, 2]])
    W_Q_2 = given("vectorize", "W_Q_2", [[2, 0, 0, 0], [0, 2, 0, 0]])
    W_K_2 = given("vectorize", "W_K_2", [[0, 1, 1, 0], [1, 0, 0, 1]])
    W_V_2 = given("vectorize", "W_V_2", [[3, 0], [0, 1]])
    A, O = attention(X, W_Q, W_K, W_V)
    A_2, O_2 = attention(X, W_Q_2, W_K_2, W_V_2)
    record("vectorize", "A", A)
    record("vectorize", "O", O)
    record("vectorize", "O_loop", O)
    record("vectorize", "A_2", A_2)
    record("vectorize", "O_2", O_2)
    record("vectorize", "C", [a + b for a, b in zip(O, O_2, strict=True)])


def main():
    pairwise()
    weighted_sum()
    vectorize()
    about = "The demos of document 001 in plain loops; made by multiplication.py"
    layout.write(__file__, {"about": about, **layout.versions(np), "nodes": nodes})


main()
