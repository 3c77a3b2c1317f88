"""Figures of 60 digits from mpmath, for the arithmetic that judges the fast path.

    python double_double.py                    writes double_double.json

A number is a list of two floats: the nearest one and, nearest again, what it lacks. Inputs are such pairs too, so both
sides start from exactly the same numbers.
"""

import random

import mpmath

import layout

mpmath.mp.dps = 60


def pair(x):
    high = float(x)
    return [high, float(x - high)]


def exact(numbers):
    return mpmath.mpf(numbers[0]) + mpmath.mpf(numbers[1])


def drawn(low, high):
    return pair(mpmath.mpf(random.uniform(low, high)) + mpmath.mpf(random.uniform(-1, 1)) * mpmath.mpf(10) ** -18)


def arithmetic():
    rows = []
    for _ in range(60):
        a, b = drawn(-9, 9), drawn(-9, 9)
        x, y = exact(a), exact(b)
        rows.append({"a": a, "b": b, "sum": pair(x + y), "product": pair(x * y), "quotient": pair(x / y)})
    return rows


def functions():
    exponents = [pair(mpmath.mpf(0)), pair(mpmath.mpf(-1)), pair(mpmath.mpf(2) ** -60)]
    exponents += [drawn(-600, 0) for _ in range(40)] + [drawn(-2, 2) for _ in range(40)]
    numbers = [pair(mpmath.mpf(1)), pair(mpmath.mpf(129))]
    numbers += [drawn(1, 2) for _ in range(30)] + [drawn(2, 5000) for _ in range(30)]
    return {
        "exp": [{"x": x, "y": pair(mpmath.exp(exact(x)))} for x in exponents],
        "ln": [{"x": x, "y": pair(mpmath.log(exact(x)))} for x in numbers],
        **hyperbolic(),
    }


def hyperbolic():
    """From a generator of its own, so that the other figures stay as they are."""
    own = random.Random(21)
    signed = lambda size: own.choice([-1, 1]) * size
    numbers = [0, 1, -1] + [signed(mpmath.mpf(2) ** -power) for power in range(0, 120, 7)]
    numbers += [signed(mpmath.mpf(own.uniform(0, 4))) for _ in range(40)]
    numbers += [signed(mpmath.mpf(own.uniform(4, 60))) for _ in range(20)]
    pairs = [pair(mpmath.mpf(x)) for x in numbers]
    return {"tanh": [{"x": x, "y": pair(mpmath.tanh(exact(x)))} for x in pairs]}


def attention():
    """One head: 4 queries, 5 keys, widths 3 and 2; what is hidden is null in the bias."""
    number = lambda: round(random.gauss(0, 1) * 256) / 256
    matrix = lambda rows, columns: [[number() for _ in range(columns)] for _ in range(rows)]
    q, k, v, bias = matrix(4, 3), matrix(5, 3), matrix(5, 2), matrix(4, 5)
    bias[1][0] = bias[1][4] = bias[2][2] = None
    bias[3] = [None] * 5
    scale = 0.578125
    mixtures, lses = [], []
    for i in range(4):
        seen = [j for j in range(5) if bias[i][j] is not None]
        score = {j: mpmath.mpf(scale) * sum(mpmath.mpf(a) * b for a, b in zip(q[i], k[j])) + bias[i][j] for j in seen}
        total = sum(mpmath.exp(s) for s in score.values())
        mix = lambda c: sum(mpmath.exp(score[j]) * v[j][c] for j in seen) / total
        mixtures.append([pair(mix(c)) for c in range(2)] if seen else None)
        lses.append(pair(mpmath.log(total)) if seen else None)
    return {"q": q, "k": k, "v": v, "bias": bias, "scale": scale, "mixtures": mixtures, "log_sum_exps": lses}


def variants():
    """One head with all variants: a soft cap, a sink, a bias by distance with a null that hides, and a causal window of two keys
    that keeps the first. Query 2 sees nothing."""
    own = random.Random(22)
    number = lambda: round(own.gauss(0, 1) * 256) / 256
    matrix = lambda rows, columns: [[number() for _ in range(columns)] for _ in range(rows)]
    q, k, v, bias, relative = matrix(4, 3), matrix(5, 3), matrix(5, 2), matrix(4, 5), matrix(1, 8)[0]
    bias[2] = [None] * 5
    relative[3] = None
    scale, cap, sink, window, keep_first = 0.578125, 1.5, 0.375, 2, 1
    mixtures, lses = [], []
    for i in range(4):
        at = i + 1
        in_window = [j for j in range(5) if j <= at and (j > at - window or j < keep_first)]
        seen = [j for j in in_window if bias[i][j] is not None and relative[j - i + 3] is not None]
        raw = lambda j: mpmath.mpf(scale) * sum(mpmath.mpf(a) * b for a, b in zip(q[i], k[j])) + bias[i][j] + relative[j - i + 3]
        score = {j: cap * mpmath.tanh(raw(j) / cap) for j in seen}
        total = mpmath.exp(sink) + sum(mpmath.exp(s) for s in score.values())
        mix = lambda c: sum(mpmath.exp(score[j]) * v[j][c] for j in seen) / total
        mixtures.append([pair(mix(c)) for c in range(2)] if seen else None)
        lses.append(pair(mpmath.log(total)) if seen else None)
    inputs = {"q": q, "k": k, "v": v, "bias": bias, "relative": relative, "scale": scale, "soft_cap": cap, "sink": sink}
    return {**inputs, "window": window, "keep_first": keep_first, "mixtures": mixtures, "log_sum_exps": lses}


if __name__ == "__main__":
    random.seed(20)
    figures = {"made_with": f"mpmath {mpmath.__version__}", "arithmetic": arithmetic(), **functions(), "attention": attention(), "variants": variants()}
    layout.write(__file__, figures, line=20_000)
