"""Slips of more_mistakes.py in tokens, residual and result, and what is never blamed."""

import math

import numpy as np
from pipeline import constant, keep, need, normed, rotated, sinusoids, slip


def of_tokens():
    tokens = {"when": lambda c: c.tokens}

    def norm_tokens(kind):
        def start(c):
            c.X = normed(c.X, kind)
        return start

    for name, kind in (("layer-norm", "layer"), ("rms-norm", "rms")):
        slip(name, "X, before", **tokens, start=norm_tokens(kind))
        slip(name, "result, after", final=lambda c, O, kind=kind: normed(O, kind))

    def positions(count):
        def start(c):
            c.given = {**c.given, "X": c.X + count * sinusoids(c.T, c.E)}
            c.X = c.given["X"]
        return start

    slip("positions-added", "once", **tokens, start=positions(1))
    slip("positions-added", "twice", **tokens, start=positions(2))

    def rotary(halves):
        def heads(c):
            c.q = rotated(c, c.q, halves, 0 if c.options["causal_from"] == "start" else c.N - c.T)
            c.k = rotated(c, c.k, halves, 0)
        return heads

    slip("rotary-positions", "neighbours", heads=rotary(False))
    slip("rotary-positions", "halves", heads=rotary(True), when=lambda c: c.d_k > 2)

    def kept(function, when=lambda c: True):
        return {"when": lambda c: c.options["residual"] and when(c), "residual": lambda c, O: function(O, c.given["X"])}

    slip("residual-doubled", **kept(lambda O, X: O + 2 * X))

    def inside(c, C):
        need(C.shape == c.given["X"].shape)
        return (C + c.given["X"]) @ c.given["W_O"]

    slip("residual-inside", **kept(lambda O, X: O, lambda c: "W_O" in c.given), out=inside)
    slip("residual-normalised", "layer norm", **kept(lambda O, X: O + normed(X)))
    slip("residual-normalised", "RMS norm", **kept(lambda O, X: O + normed(X, "rms")))
    slip("residual-subtracted", "result minus residual", **kept(lambda O, X: O - X))
    slip("residual-subtracted", "residual minus result", **kept(lambda O, X: X - O))
    slip("residual-multiplied", **kept(lambda O, X: O * X))
    slip("rows-reversed", final=lambda c, O: O[::-1])
    slip("rows-off-by-one", "first row missing", final=lambda c, O: np.concatenate([O[1:], O[-1:]]))
    slip("rows-off-by-one", "last row not reached", final=lambda c, O: np.concatenate([O[:-1], O[-2:-1]]))
    slip("rows-off-by-one", "first row twice", final=lambda c, O: np.concatenate([O[:1], O[:-1]]))

    def biased(name, seed):
        def projected(c):
            matrix = getattr(c, name)
            setattr(c, name, matrix + constant(matrix.shape[1], seed))
        return projected

    slip("bias-of-values", projected=biased("V", 1))
    slip("bias-of-output", final=lambda c, O: O + constant(O.shape[1], 2))
    for digits in (1, 2, 3, 4):
        slip("result-truncated", digits, final=lambda c, O, digits=digits: np.trunc(O * 10 ** digits) / 10 ** digits)

    never = {"blame": False}
    slip("bias-of-queries", **never, projected=biased("Q", 3))
    slip("bias-of-keys", **never, right=True, projected=biased("K", 4))

    def all_biased(c):
        for name, seed in (("Q", 3), ("K", 4), ("V", 1)):
            biased(name, seed)(c)

    slip("biases-left-in", "Q, K, V", **never, projected=all_biased)
    slip("biases-left-in", "Q, K, V and output", **never, projected=all_biased,
         final=lambda c, O: O + constant(O.shape[1], 2))

    def dropped(array, seed):
        return array * (np.random.default_rng(seed).random(array.shape) >= 0.1) / 0.9

    slip("dropout", "weights", **never, weights=lambda c, A: dropped(A, 6))
    slip("dropout", "result", **never, final=lambda c, O: dropped(O, 7))
    slip("noise", **never, final=lambda c, O: O + 1e-3 * np.random.default_rng(8).standard_normal(O.shape))


def of_more():
    def reshaped(c):
        need(c.options["score"] == "dot")
        return c.q @ c.k.reshape(len(c.k), c.k.shape[2], c.k.shape[1])

    slip("keys-reshaped", score=reshaped, when=lambda c: c.N > 1 and c.d_k > 1)
    slip("dot-scores", score=lambda c: c.q @ c.k.swapaxes(1, 2), when=lambda c: c.options["score"] == "cosine")

    biased = {"when": lambda c: "bias" in c.given}
    slip("bias-misused", "left out", **biased, bias=keep)
    slip("bias-misused", "subtracted", **biased, bias=lambda c, S: S - c.given["bias"])
    slip("bias-misused", "twice", **biased, bias=lambda c, S: S + 2 * c.given["bias"])
    slip("bias-misused", "before the scale", **biased, bias=lambda c, S: S + c.S_factor * c.given["bias"])
    slip("bias-misused", "to the weights", **biased, bias=keep, weights=lambda c, A: A + c.given["bias"])

    def linear(function, divided=True):
        def weights(c, S):
            A = np.where(c.sees, S, 0.0)
            return A / A.sum(axis=2, keepdims=True) if divided else A
        return {"score": lambda c: function(c.q) @ function(c.k).swapaxes(1, 2), "scale": keep, "softmax": weights,
                "when": lambda c: c.auto and c.options["score"] == "dot" and "bias" not in c.given and not c.empty}

    def features(rows):
        power = np.exp(rows - rows.max(axis=-1, keepdims=True))
        return power / power.sum(axis=-1, keepdims=True)

    slip("linear-attention", "softmax of the features", **linear(features))
    slip("linear-attention", "exp", **linear(np.exp))
    slip("linear-attention", "softmax of the features, not divided", **linear(features, False))

    def scaled_tokens(factor):
        def start(c):
            c.X = c.X * factor(c)
        return start

    tokens = {"when": lambda c: c.tokens}
    slip("tokens-scaled", "times the root of d_model", **tokens, start=scaled_tokens(lambda c: math.sqrt(c.E)))
    slip("tokens-scaled", "by the root of d_model", **tokens, start=scaled_tokens(lambda c: 1 / math.sqrt(c.E)))
    slip("tokens-scaled", "times 2", **tokens, start=scaled_tokens(lambda c: 2.0))

    def rolled(step, *names):
        def projected(c):
            for name in names:
                rows = getattr(c, name)
                setattr(c, name, rows[::-1] if step is None else np.roll(rows, step, axis=0))
        return projected

    for names in ("Q", "K", "V", "KV"):
        slip("rows-shifted", f"{names} one later", projected=rolled(1, *names))
        slip("rows-shifted", f"{names} one earlier", projected=rolled(-1, *names))
    slip("rows-shifted", "K reversed", projected=rolled(None, "K"))
    slip("rows-shifted", "V reversed", projected=rolled(None, "V"))

    def standardised(rows):
        centred = rows - rows.mean(axis=0)
        return centred / np.sqrt((centred ** 2).mean(axis=0) + 1e-5)

    def start(c):
        c.X = standardised(c.X)

    slip("columns-standardised", "X", **tokens, start=start)
    slip("columns-standardised", "result", final=lambda c, O: standardised(O))

    for factor in (0.5, 3.0):
        slip("residual-scaled", f"{factor:g} times", when=lambda c: c.options["residual"],
             residual=lambda c, O, factor=factor: O + factor * c.given["X"])

    def weighted(head, factor):
        return lambda c, mixed: np.stack([block * (factor if h == head else 1.0) for h, block in enumerate(mixed)])

    several = {"when": lambda c: c.H > 1}
    slip("heads-weighted", "head 2 missing", **several, mixed=weighted(1, 0.0))
    slip("heads-weighted", "head 1 twice", **several, mixed=weighted(0, 2.0))

    def wide(c):
        width = c.given["W_O"].shape[1] if "W_O" in c.given else c.H * c.d_v
        return (width > c.H and (c.d_v > 1 or "W_O" in c.given) and not c.empty and c.options["score"] == "dot"
                and (c.causal or c.options["window"] is not None or "bias" in c.given))

    slip("rows-scaled", "divided again by the number of visible keys", when=wide,
         weights=lambda c, A: A / c.sees.sum(axis=-1, keepdims=True))

    def mismatched(c, S):
        power = np.exp(S - S.max(axis=2, keepdims=True))
        return power / np.exp(S).sum(axis=2, keepdims=True)

    slip("rows-scaled", "a maximum above and none below", when=wide, softmax=mismatched)
    slip("rows-reordered", "rolled", final=lambda c, O: np.roll(O, 1, axis=0))
    slip("columns-reordered", "rolled", final=lambda c, O: np.roll(O, 1, axis=1), when=lambda c: c.d_v * c.H > 2)
    slip("result-incomplete", "without the first row", final=lambda c, O: O[1:])
    slip("result-incomplete", "without the last column", final=lambda c, O: O[:, :-1], when=lambda c: c.H == 1)
    slip("result-incomplete", "the last row", final=lambda c, O: O[-1:])
