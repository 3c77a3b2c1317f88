"""Slips of reviewed_slips.py: functions, masks, queries, keys and values, scores, and the result."""

import numpy as np
from pipeline import merge, need, normed, rotated, sinusoids, slip, softmax, visible


# Functions.

def erf(x):
    """The error function by its series, which is exact enough below 6."""
    total = term = x
    for n in range(1, 200):
        term = -term * x * x / n
        total = total + term / (2 * n + 1)
    return 2 / np.sqrt(np.pi) * total


FUNCTIONS = {
    "exact GELU": lambda a: a * (1 + erf(a / np.sqrt(2))) / 2,
    "GELU": lambda a: 0.5 * a * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a ** 3))),
    "SiLU": lambda a: a / (1 + np.exp(-a)),
    "leaky ReLU": lambda a: np.where(a > 0, a, 0.01 * a),
    "ELU": lambda a: np.where(a > 0, a, np.exp(a) - 1),
    "softplus": lambda a: np.log1p(np.exp(a)),
    "ReLU": lambda a: np.maximum(a, 0),
    "tanh": np.tanh,
}


def of_functions():
    for name, function in FUNCTIONS.items():
        slip("activation-added", name, final=lambda c, O, function=function: function(O))
        slip("activation-added", f"{name}, before W_O",
             merge=lambda c, mixed, function=function: need("W_O" in c.given) or function(merge(c, mixed)))

    def features(rows):
        return np.where(rows > 0, rows + 1, np.exp(rows))

    def shares(c, S):
        A = np.where(c.sees, S, 0.0)
        return A / A.sum(axis=2, keepdims=True)

    slip("linear-attention", "elu + 1", score=lambda c: features(c.q) @ features(c.k).swapaxes(1, 2),
         scale=lambda c, S: S, softmax=shares)

    def open_scores(function):
        return lambda c, S: np.where(c.sees, function(np.where(c.sees, S, 0.0)), 0.0)

    def over_sum(function):
        return lambda c, S: open_scores(function)(c, S) / open_scores(function)(c, S).sum(axis=2, keepdims=True)

    slip("softmax-base-10", "", softmax=lambda c, S: softmax(c, S * np.log(10)))
    slip("tanh-weights", "not divided", softmax=open_scores(np.tanh))
    slip("squares-normalised", "over its sum", softmax=over_sum(np.square))
    slip("scores-divided", "the number of keys", softmax=open_scores(lambda S: S / S.shape[2]))
    slip("scores-divided", "the largest of the row",
         softmax=open_scores(lambda S: S / S.max(axis=2, keepdims=True)))


# Masks.

def of_masks():
    def seeing(function):
        return {"visible": function}

    def unmasked(c):
        need(not c.masked and c.T == c.N)
        return np.eye(c.T, dtype=bool)

    def causal(c):
        need(c.masked and c.T == c.N)
        return visible(c).T

    slip("mask-unasked", "each token itself alone", visible=unmasked)
    slip("mask-transposed", "", visible=causal)

    def shifted(change):
        def function(c):
            need(c.masked)
            sees = visible(c).copy()
            change(sees)
            return sees
        return function

    slip("mask-shifted", "the first key visible to all", visible=shifted(lambda sees: sees[:, 0].fill(True)))
    slip("mask-shifted", "the last key hidden too", visible=shifted(lambda sees: sees[:, -1].fill(False)))

    def two(c):
        need(c.mask is not None and c.causal)

    slip("mask-part-missing", "without the causal mask", visible=lambda c: two(c) or visible(c, causal=False))
    slip("mask-part-missing", "without the matrix", visible=lambda c: two(c) or visible(c, mask=False))
    for number in (-1.0, 1.0):
        slip("hidden-weights-replaced", f"{number:g}", hide=lambda c, S, sees: need(c.masked) or S,
             weights=lambda c, A, number=number: np.where(c.sees, A, number))
    slip("mask-times-infinity", "", hide=lambda c, S, sees: need(c.masked) or S + ~sees * -np.inf)


# Queries, keys, values and scores.

def of_roles():
    def transposed(*names):
        def project(c, name):
            W = c.given[f"W_{name}"] if need(c.tokens) is None else None
            return c.X @ (W.T if name in names else W)
        return project

    for names in ("QK", "QV", "KV"):
        slip("projection-transposed", " and ".join(f"W_{name}" for name in names), project=transposed(*names))

    def taken(**sources):
        def projected(c):
            need(c.Q.shape == c.K.shape == c.V.shape)
            found = {name: c.X if source == "X" else getattr(c, source) for name, source in sources.items()}
            for name, rows in found.items():
                need(rows is not None and rows.shape == getattr(c, name).shape)
                setattr(c, name, rows)
        return projected

    slip("roles-exchanged", "Q is K, K is V, V is Q", projected=taken(Q="K", K="V", V="Q"))
    slip("roles-exchanged", "Q is V, K is Q, V is K", projected=taken(Q="V", K="Q", V="K"))
    slip("roles-unprojected", "queries", projected=taken(Q="X"))
    slip("roles-unprojected", "keys", projected=taken(K="X"))
    slip("roles-unprojected", "queries, keys and values", projected=taken(Q="X", K="X", V="X"))
    slip("keys-not-transposed", "", score=lambda c: c.q @ c.k)

    def without(*names):
        def start(c):
            need(all(f"b_{name}" in c.given for name in names))
            c.given = {name: value for name, value in c.given.items() if name.removeprefix("b_") not in names}
        return start

    for names in ("Q", "V", "QK", "QKV", "QKVO"):
        slip("biases-missing", " and ".join(f"b_{name}" for name in names), start=without(*names))

    def differences(c):
        return c.q[:, :, None] - c.k[:, None]

    slip("score-function", "minus the sum of |q − k|", score=lambda c: -np.abs(differences(c)).sum(axis=3))
    slip("score-function", "the sum of q + k", score=lambda c: (c.q[:, :, None] + c.k[:, None]).sum(axis=3))
    slip("scale-by-length", "T", scale=lambda c, S: S / c.T)
    slip("scale-by-heads", "H", scale=lambda c, S: need(c.H > 1) or S / c.H)

    def changed(names, function):
        def heads(c):
            for name in names:
                setattr(c, name, function(c, getattr(c, name)))
        return {"heads": heads}

    def unit(c, rows):
        return rows / np.linalg.norm(rows, axis=2, keepdims=True)

    def turned(c, rows):
        return rotated(c, rows, True, 0)

    slip("unit-rows", "queries", **changed("q", unit))
    slip("unit-rows", "values", **changed("v", unit))
    slip("rotary-positions", "queries alone", **changed("q", turned))
    slip("rotary-positions", "values too", **changed("qkv", turned))
    slip("positions-added", "to Q and K",
         **changed("qk", lambda c, rows: rows + sinusoids(*rows.shape[1:])))
    for digits in (0, 1):
        slip("inputs-rounded", f"Q and K, {digits}", **changed("qk", lambda c, rows, digits=digits: rows.round(digits)))


# The result.

def of_results():
    def add_and_norm(c, O):
        need(c.tokens and not c.options["residual"] and O.shape == c.given["X"].shape)
        return normed(O + c.given["X"])

    slip("layer-norm", "Add & Norm", final=add_and_norm)
    for name in "QV":
        slip("residual-of-another", name, residual=lambda c, O, name=name:
             O + (getattr(c, name) if need(O.shape == getattr(c, name).shape) is None else 0))
    slip("columns-reversed", "", final=lambda c, O: O[:, ::-1])
    slip("rows-pooled", "averaged", final=lambda c, O: O.mean(axis=0, keepdims=True))
    slip("rows-pooled", "added up one after the other", final=lambda c, O: O.cumsum(axis=0))
    slip("wrong-factor", "1.7", final=lambda c, O: 1.7 * O)

    def dropped(c, O):
        need(c.options["residual"])
        kept = np.random.default_rng(9).random(O.shape) >= 0.2
        return O * kept / 0.8 + c.given["X"]

    slip("dropout", "after W_O, before the residual", blame=False, residual=dropped)

    def first_rows(count):
        return lambda c, O: np.where(np.arange(len(O))[:, None] < count(len(O)), O, 0.0)

    slip("result-left-zero", "return in the loop", final=first_rows(lambda rows: 1))
    slip("result-left-zero", "the loop ends a row early", final=first_rows(lambda rows: rows - 1))

    def one_cell(change):
        def changed(c, O):
            need(O.size >= 6)
            O = O.copy()
            O[1, 1] = change(O[1, 1])
            return O
        return changed

    slip("one-number-wrong", "its sign", final=one_cell(lambda x: -x))
    slip("one-number-wrong", "one too much", final=one_cell(lambda x: x + 1))

    def headed(c, O):
        need(O.size >= 6)
        return np.vstack([np.arange(O.shape[1]), O])

    def indexed(c, O):
        need(O.size >= 6)
        return np.hstack([np.arange(len(O))[:, None], O])

    slip("result-surplus", "a header", final=headed)
    slip("result-surplus", "an index", final=indexed)


# Chains, and heads cut or joined in part.

def of_chains():
    def chained(*steps):
        def projected(c):
            need(c.tokens)
            for role, source in steps:
                rows, weights = getattr(c, source), c.given[f"W_{role}"]
                need(rows.shape[1] == len(weights))
                setattr(c, role, rows @ weights)
        return projected

    for steps in (("KQ",), ("VQ",), ("VK",), ("KQ", "VQ"), ("KQ", "VK")):
        said = " and ".join(f"{role} from {source}" for role, source in steps)
        slip("projections-chained", said, projected=chained(*steps))


def of_heads():
    several = {"when": lambda c: c.H > 1 and c.H == c.G}

    def reshaped(rows, count):
        return rows.reshape(count, len(rows), -1)

    def interleaved(rows, count):
        return np.stack([rows[:, h::count] for h in range(count)])

    def cut(names, function):
        def heads(c):
            for name in names:
                setattr(c, name.lower(), function(getattr(c, name), c.H))
        return heads

    for id_, function in (("heads-by-reshape", reshaped), ("heads-interleaved", interleaved)):
        for names, said in (("V", "values"), ("QK", "queries and keys"), ("K", "keys")):
            slip(id_, f"only the {said}", **several, heads=cut(names, function))

    def mean(c, blocks):
        return np.repeat(blocks.mean(axis=0, keepdims=True), c.H, axis=0)

    slip("heads-averaged", "each replaced by the mean", **several, mixed=mean)
    slip("heads-averaged", "their scores", **several, scores=mean)


def of_distances():
    def distances(c):
        return np.sqrt(np.square(c.q[:, :, None, :] - c.k[:, None, :, :]).sum(axis=3))

    slip("score-distance", "half the square", score=lambda c: -distances(c) ** 2 / 2)
    slip("score-distance", "its sign forgotten", score=distances)

    slip("scale-precedence", "", scale=lambda c, S: S / c.d_k ** 1/2)

    def inside_and_after(c, C):
        need(c.options["residual"] and "W_O" in c.given and C.shape == c.given["X"].shape)
        return (C + c.given["X"]) @ c.given["W_O"]

    slip("residual-inside", "and after it", out=inside_and_after)


def of_mixing():
    slip("weights-elementwise", mix=lambda c, A: need(A.shape == c.v.shape) or A * c.v)
    slip("weights-after-values", mix=lambda c, A: need(A.shape == c.v.shape) or c.v @ A)
    # 2 is also the factor of dropout with p = 0.5, which would not keep every number.
    slip("wrong-factor", "times 2", final=lambda c, O: 2 * O)
