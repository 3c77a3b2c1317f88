"""The demo `induction` by NumPy, with full weight matrices and the closed forms; writes induction.json.

    python induction.py        (NumPy alone)

The demo picks columns of the residual stream. Here every head has matrices W_Q, W_K, W_V and W_O that act on the whole stream, as in a
transformer without norms and MLPs, and the closed forms are computed from the text by counting.
"""

import math

import numpy as np

import layout


def softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def head(x, w_q, w_k, w_v, w_o, strength):
    n = len(x)
    scores = strength * (x @ w_q) @ (x @ w_k).T
    weights = softmax(np.where(np.tri(n, dtype=bool), scores, -np.inf))
    return weights, weights @ (x @ w_v), weights @ (x @ w_v) @ w_o


def case(text, words, beta_1, beta_2, gamma, odds=99.0):
    n, v = len(text), words
    width = 2 * v + n
    token, slot = range(v), range(v + n, width)
    x = np.zeros((n, width))
    for i, word in enumerate(text):
        x[i, word] = x[i, v + i] = 1
    select = lambda columns: np.eye(width)[:, list(columns)]
    earlier = np.zeros((width, n))
    for i in range(1, n):
        earlier[v + i, i - 1] = 1
    a_1, o_1, written = head(x, earlier, select(range(v, v + n)), select(token), select(slot).T, beta_1)
    x_2 = x + written
    a_2, o_2, _ = head(x_2, select(token), select(slot), select(token), select(slot).T, beta_2)
    # Counted in the text: keys of the last query whose token before is the query's. The first token sees itself.
    before = [text[0]] + list(text[:-1])
    m = sum(word == text[-1] for word in before)
    needed = math.log(odds * (n - m) / m) if m else None
    return {"tokens": x[:, :v].tolist(), "beta_1": beta_1, "beta_2": beta_2, "gamma": gamma, "m": m,
            "closed_1": math.exp(beta_1) / (math.exp(beta_1) + n - 1),
            "closed_2": math.exp(beta_2) / (m * math.exp(beta_2) + n - m), "needed": needed,
            "nodes": {"A_1": a_1.tolist(), "O_1": o_1.tolist(), "X_2": x_2.tolist(), "A_2": a_2.tolist(),
                      "O_2": o_2.tolist(), "P": softmax(gamma * o_2).tolist()}}


OWN = [0, 1, 2, 3, 1, 2]
CASES = [
    case(OWN, 4, 20.0, 5.0, 8.0),
    case(OWN, 4, 3.0, 2.0, 1.5),
    case(OWN, 4, 40.0, math.log(99 * 5), 8.0),
    # Two matches, and two different words after them.
    case([2, 0, 1, 0, 3, 2, 0], 4, 25.0, 4.0, 6.0),
    case([0, 1, 2, 3, 4, 0, 1, 2], 5, 30.0, 6.0, 10.0),
]

if __name__ == "__main__":
    layout.write(__file__, {"cases": CASES, "needed": [{"n": n, "beta": math.log(99 * (n - 1))} for n in [2, 6, 24, 1000]]})
