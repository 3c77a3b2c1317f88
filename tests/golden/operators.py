"""What students get who do something at one stage of attention that does not belong there: NumPy, written without a look at src/.

    python operators.py                writes operators.json and prints what it covers

The pipeline and its stages are those of pipeline.py, the layout of a case is that of more_mistakes.py. An entry of `wrong` has
the stage's name in `mistakes`, and in `variant` what was done there; `only` says that it was done in one head or in one row
alone. What leaves the result as it is, or gives nothing but NaN and infinities, is left out.
"""

import itertools

import layout
import numpy as np
from pipeline import (
    DEFAULTS, DoesNotGoOn, allowed, change, equal, facts, need, qkv, run, sinusoids, tokens, written,
)


def softmax(a, axis):
    power = np.exp(a - a.max(axis=axis, keepdims=True))
    return power / power.sum(axis=axis, keepdims=True)


def standardised(a, axis, epsilon=1e-5, ddof=0):
    return (a - a.mean(axis=axis, keepdims=True)) / np.sqrt(a.var(axis=axis, ddof=ddof, keepdims=True) + epsilon)


def rms(a, axis, epsilon=1e-5):
    return a / np.sqrt((a ** 2).mean(axis=axis, keepdims=True) + epsilon)


def minmax(a, axis):
    low, high = a.min(axis=axis, keepdims=True), a.max(axis=axis, keepdims=True)
    return (a - low) / (high - low)


def put(a, index, value):
    a = a.copy()
    a[index] = value
    return a


def pairs(a):
    a = a.copy()
    n = len(a) // 2 * 2
    a[:n] = a[:n].reshape(n // 2, 2, -1)[:, ::-1].reshape(n, -1)
    return a


def square(a):
    need(a.shape[0] == a.shape[1])
    return a


WHOLE = (0, 1)
OPERATORS = {
    "negated": lambda a: -a,
    "plus 1": lambda a: a + 1,
    "1 minus": lambda a: 1 - a,
    "squared": lambda a: a ** 2,
    "cubed": lambda a: a ** 3,
    "root of size": lambda a: np.sqrt(np.abs(a)),
    "absolute": np.abs,
    "sign": np.sign,
    "ReLU": lambda a: np.maximum(a, 0),
    "leaky ReLU": lambda a: np.where(a > 0, a, 0.01 * a),
    "GELU": lambda a: 0.5 * a * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a ** 3))),
    "SiLU": lambda a: a / (1 + np.exp(-a)),
    "softplus": lambda a: np.log1p(np.exp(a)),
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "tanh": np.tanh,
    "exp": np.exp,
    "log of size": lambda a: np.log(np.abs(a)),
    "log1p of size": lambda a: np.log1p(np.abs(a)),
    "inverse": lambda a: 1 / a,
    "clipped": lambda a: np.clip(a, -1, 1),
    "to int": lambda a: np.trunc(a),
    "to 1 decimal": lambda a: np.round(a, 1),
    "to 2 decimals": lambda a: np.round(a, 2),
    "softmax of rows": lambda a: softmax(a, 1),
    "softmax of columns": lambda a: softmax(a, 0),
    "softmax of all": lambda a: softmax(a, WHOLE),
    "over row sums": lambda a: a / a.sum(axis=1, keepdims=True),
    "over column sums": lambda a: a / a.sum(axis=0, keepdims=True),
    "over sums of sizes": lambda a: a / np.abs(a).sum(axis=1, keepdims=True),
    "unit rows": lambda a: a / np.linalg.norm(a, axis=1, keepdims=True),
    "unit columns": lambda a: a / np.linalg.norm(a, axis=0, keepdims=True),
    "unit norm": lambda a: a / np.linalg.norm(a),
    "over row maximum": lambda a: a / a.max(axis=1, keepdims=True),
    "over largest of all": lambda a: a / a.max(),
    "over largest size": lambda a: a / np.abs(a).max(axis=1, keepdims=True),
    "min-max of rows": lambda a: minmax(a, 1),
    "min-max of columns": lambda a: minmax(a, 0),
    "min-max of all": lambda a: minmax(a, WHOLE),
    "layer norm": lambda a: standardised(a, 1),
    "layer norm without epsilon": lambda a: standardised(a, 1, 0),
    "layer norm with ddof 1": lambda a: standardised(a, 1, 1e-5, 1),
    "batch norm": lambda a: standardised(a, 0),
    "z-score": lambda a: standardised(a, 0, 0, 1),
    "z-score of all": lambda a: standardised(a, WHOLE, 0),
    "RMS norm": lambda a: rms(a, 1),
    "RMS norm of columns": lambda a: rms(a, 0, 0),
    "centred rows": lambda a: a - a.mean(axis=1, keepdims=True),
    "centred columns": lambda a: a - a.mean(axis=0, keepdims=True),
    "centred": lambda a: a - a.mean(),
    "minus column maximum": lambda a: a - a.max(axis=0, keepdims=True),
    "rows reversed": lambda a: a[::-1],
    "columns reversed": lambda a: a[:, ::-1],
    "rows rolled": lambda a: np.roll(a, 1, axis=0),
    "rows rolled back": lambda a: np.roll(a, -1, axis=0),
    "columns rolled": lambda a: np.roll(a, 1, axis=1),
    "rows shifted from zero": lambda a: np.vstack([0 * a[:1], a[:-1]]),
    "rows shifted to zero": lambda a: np.vstack([a[1:], 0 * a[:1]]),
    "first row twice": lambda a: np.vstack([a[:1], a[:-1]]),
    "last row twice": lambda a: np.vstack([a[1:], a[-1:]]),
    "first row zero": lambda a: put(a, 0, 0.0),
    "last row zero": lambda a: put(a, -1, 0.0),
    "first column zero": lambda a: put(a, (slice(None), 0), 0.0),
    "last column zero": lambda a: put(a, (slice(None), -1), 0.0),
    "first column missing": lambda a: a[:, 1:],
    "last column missing": lambda a: a[:, :-1],
    "last row missing": lambda a: a[:-1],
    "last half zero": lambda a: put(a, (slice(None), slice(a.shape[1] // 2, None)), 0.0),
    "ends swapped": lambda a: put(put(a, 0, a[-1]), -1, a[0]),
    "pairs swapped": pairs,
    "pairs of columns swapped": lambda a: pairs(a.T).T,
    "halves swapped": lambda a: np.roll(a, -(len(a) // 2), axis=0),
    "first row for all": lambda a: np.repeat(a[:1], len(a), axis=0),
    "last row for all": lambda a: np.repeat(a[-1:], len(a), axis=0),
    "mean row for all": lambda a: np.repeat(a.mean(axis=0, keepdims=True), len(a), axis=0),
    "sum row for all": lambda a: np.repeat(a.sum(axis=0, keepdims=True), len(a), axis=0),
    "maximum row for all": lambda a: np.repeat(a.max(axis=0, keepdims=True), len(a), axis=0),
    "mean column for all": lambda a: np.repeat(a.mean(axis=1, keepdims=True), a.shape[1], axis=1),
    "running sum": lambda a: a.cumsum(axis=0),
    "running sum of columns": lambda a: a.cumsum(axis=1),
    "running mean": lambda a: a.cumsum(axis=0) / np.arange(1, len(a) + 1)[:, None],
    "differences": lambda a: np.vstack([a[:1], np.diff(a, axis=0)]),
    "maximum row": lambda a: a.max(axis=0, keepdims=True),
    "last row alone": lambda a: a[-1:],
    "lower triangle": np.tril,
    "upper triangle": np.triu,
    "upper triangle without diagonal": lambda a: np.triu(a, 1),
    "without diagonal": lambda a: a - np.diag(np.diag(square(a))),
    "diagonal": lambda a: np.diag(np.diag(square(a))),
    "plus identity": lambda a: a + np.eye(len(square(a))),
    "transposed": lambda a: square(a).T,
    "symmetric": lambda a: (square(a) + a.T) / 2,
    "times itself": lambda a: square(a) @ a,
    "transposed and read back": lambda a: a.T.reshape(a.shape),
    "reshaped and transposed": lambda a: a.reshape(a.shape[::-1]).T,
    "positions": lambda a: a + sinusoids(*a.shape),
    "positions twice": lambda a: a + 2 * sinusoids(*a.shape),
}


def of_input(name, operator):
    return {"start": change(name, lambda c, a: operator(a))}


def of_x(operator, residual):
    def start(c):
        c.X = operator(c.given["X"])
        if residual:
            c.given = {**c.given, "X": c.X}
    return {"start": start}


def of_heads(names, operator):
    def heads(c):
        for name in names:
            block = np.stack([operator(block) for block in getattr(c, name)])
            setattr(c, name, block)
    return {"heads": heads}


def of_whole(name, operator):
    def projected(c):
        setattr(c, name, operator(getattr(c, name)))
    return {"projected": projected}


def each(operator):
    return lambda c, S: np.stack([operator(block) for block in S])


STAGES = {
    "tokens-altered": lambda c, f: of_x(f, c.options["residual"]) if c.tokens else None,
    "projections-altered": lambda c, f: of_input("W_K", f) if c.tokens else None,
    "queries-altered": lambda c, f: of_heads("q", f),
    "keys-altered": lambda c, f: of_heads("k", f),
    "values-altered": lambda c, f: of_heads("v", f),
    "queries-keys-altered": lambda c, f: of_heads("qk", f),
    "keys-values-altered": lambda c, f: of_heads("kv", f),
    "queries-keys-values-altered": lambda c, f: of_heads("qkv", f),
    "scores-altered": lambda c, f: {"scale": lambda c, S: each(f)(c, S) * c.S_factor},
    "scores-altered after the scale": lambda c, f: {"scale": lambda c, S: each(f)(c, S * c.S_factor)},
    "weights-altered": lambda c, f: {"weights": each(f)},
    "heads-altered": lambda c, f: {"mixed": each(f)} if c.H > 1 else None,
    "result-altered": lambda c, f: {"final": lambda c, O: f(O)},
    "values-altered before the split": lambda c, f: of_whole("V", f) if c.H > 1 else None,
    "queries-altered before the split": lambda c, f: of_whole("Q", f) if c.H > 1 else None,
}


def in_one(hooks, options, inputs, right, place):
    """The same mistake in one head or row alone: what the others mix, or all other rows, stay right."""
    kind, at = place
    wrong = run(options, inputs, hooks)
    if kind == "row":
        return {"O": put(right["O"], at, wrong["O"][at])}
    mixed = put(right["O_h"], at, wrong["O_h"][at])
    return run(options, inputs, {"mixed": lambda c, rows: mixed})


def case(name, inputs, every, start, **changed):
    """Every so many-th pair of a stage and an operator, from some place on."""
    options = {**DEFAULTS, **changed}
    exercise, right = facts(options, dict(inputs)), run(options, inputs, {})
    right = {step: value for step, value in right.items()}
    products = list(itertools.product(STAGES.items(), OPERATORS.items()))[start::every]
    wrong = []
    for count, ((stage, hooks_of), (operator, function)) in enumerate(products):
        hooks = hooks_of(exercise, function)
        place = None
        if hooks is None:
            continue
        if count % 11 == 5 and stage not in ("tokens-altered", "projections-altered", "result-altered"):
            place = ("head", exercise.H - 1) if exercise.H > 1 else ("row", -1)
        try:
            given = in_one(hooks, options, inputs, right, place) if place else run(options, inputs, hooks)
        except (DoesNotGoOn, ValueError, IndexError):
            continue
        O = given["O"]
        if not np.isfinite(O).all() or equal(O, right["O"], 1e-4):
            continue
        record = {"mistakes": [stage.split()[0]], "variant": f"{operator} {stage.partition(' ')[2]}".strip()}
        if place:
            record["only"] = place[0]
        wrong.append(record | {"O": written(O)})
    figures = {name: written(value) for name, value in inputs.items()}
    return {"name": name, "options": options, "inputs": figures,
            "right": {"O": written(right["O"])}, "wrong": wrong}


def main():
    np.seterr(all="ignore")
    cases = [
        case("one head from Q, K, V", qkv(5, 5, 4, 3), 5, 0),
        case("one head, causal, from square weights", tokens(5, 4, 4, 4), 5, 1, causal=True),
        case("padding, rectangular", tokens(6, 4, 4, 3, mask=np.tile(allowed("111100"), (6, 1))), 5, 2, mask_kind="allow"),
        case("2 heads, output projection", tokens(5, 4, 4, 4, H=2, G=2, out=4), 5, 3, heads=2, kv_heads=2),
        case("2 heads, causal, residual", tokens(6, 4, 2, 2, H=2, G=2, out=4), 5, 4, heads=2, kv_heads=2, causal=True,
             residual=True),
    ]
    layout.write_cases(__file__, "Attention with something done at one stage, by NumPy; made by operators.py", cases, np)


if __name__ == "__main__":
    main()
