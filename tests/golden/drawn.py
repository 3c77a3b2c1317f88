"""Questions of `tests/lessons/drawn.md` drawn anew: their seeds, what they show and their answers, with NumPy.

    python drawn.py                        writes drawn.json

The seed of a question is FNV-1a (32 bits) over `SEED/ID/ATTEMPT`, modulo 10000; the first attempt counts at which the
question has one right answer that its wrong ones cannot be taken for:

    rest      the weight is further than 0.015 from each foreseen mistake, and these from each other
    largest   the largest weight and the largest score stand apart, each above all others also at two decimals
    hidden    the three options differ at two decimals; the first grows when the third token is hidden
    ranked    no two scores of the row agree at two decimals, and the other row has another order

X, W_Q, W_K and W_V are drawn in this order by the legacy generator, a row after the other.
"""

import numpy as np

import layout


def seed_of(seed, name, attempt):
    value = 2166136261
    for byte in f"{seed}/{name}/{attempt}".encode():
        value = (value ^ byte) * 16777619 % 2**32
    return value % 10_000


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def attend(seed, tokens, width):
    np.random.seed(seed)
    x, w_q, w_k, w_v = [np.random.randn(rows, width) for rows in (tokens, width, width, width)]
    scores = (x @ w_q) @ (x @ w_k).T
    return scores, scores / np.sqrt(width), softmax(scores / np.sqrt(width))


def places(matrix):
    """Where the largest number stands; several places where it is not alone."""
    return [[int(row) + 1, int(col) + 1] for row, col in np.argwhere(matrix == matrix.max())]


def rest(seed):
    _, scaled, weights = attend(seed, 3, 2)
    key, wrong = weights[1, 2], [weights[2, 1], scaled[1, 2]]
    values = [key, *wrong]
    apart = all(abs(a - b) > 0.015 for i, a in enumerate(values) for b in values[:i])
    return apart, {"shown": [weights[1, 0], weights[1, 1]], "answer": key}


def largest(seed):
    _, scaled, weights = attend(seed, 3, 4)
    alone = [places(matrix) for matrix in (weights, weights.round(2), scaled)]
    sound = all(len(found) == 1 for found in alone) and alone[0] == alone[1] != alone[2]
    return sound, {"answer": alone[0][0]}


def hidden(seed):
    _, scaled, weights = attend(seed, 3, 2)
    masked = softmax(np.where(np.tri(3, dtype=bool), scaled, -np.inf))
    options = [weights[1, 0], 0.5, masked[1, 0]]
    shown = [round(option, 2) for option in options]
    order = sorted(range(3), key=lambda option: shown[option])
    sound = len(set(shown)) == 3 and masked[1, 0] > weights[1, 0]
    answer = "ABC"[order.index(2)]
    return sound, {"shown": list(weights[1]), "options": [shown[option] for option in order], "answer": answer}


def ranked(seed):
    scores, _, _ = attend(seed, 3, 2)
    order = [(-row).argsort().tolist() for row in scores]
    alone = all(len(set(row.round(2))) == 3 for row in scores[:1])
    return alone and order[0] != order[1], {"answer": [["she", "saw", "bats"][at] for at in order[0]]}


questions = {"rest": rest, "largest": largest, "hidden": hidden, "ranked": ranked}
sheets = []
for seed in [1, 2, 31]:
    sheet = {"seed": seed}
    for name, question in questions.items():
        for attempt in range(100):
            drawn = seed_of(seed, name, attempt)
            sound, found = question(drawn)
            if sound:
                sheet[name] = {"seed": drawn, "attempt": attempt, **found}
                break
    sheets.append(sheet)

about = "questions drawn anew; made by drawn.py"
layout.write(__file__, {"about": about, **layout.versions(np), "sheets": sheets})
