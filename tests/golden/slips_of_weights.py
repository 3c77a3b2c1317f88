"""Slips of more_mistakes.py between the scores and the mixed values."""

import math

import numpy as np
from pipeline import by_head, guarded, keep, need, score, slip, softmax, times


def of_softmax():
    def naive(c, S, kind=np.float64):
        power = np.exp(S.astype(kind))
        return guarded(c, S, power / power.sum(axis=2, keepdims=True))

    slip("softmax-overflow", "float64", softmax=naive)
    slip("softmax-overflow", "float32", softmax=lambda c, S: naive(c, S, np.float32))

    def spread(sums, maxima):
        def function(c, S):
            need(S.shape[0] == S.shape[1])
            shift = {"right": S.max(axis=1, keepdims=True), "spread": S.max(axis=1), "none": 0.0}[maxima]
            power = np.exp(S - shift)
            return power / (power.sum(axis=1) if sums else power.sum(axis=1, keepdims=True))
        return by_head(function)

    slip("softmax-keepdims", "sum", softmax=spread(True, "right"))
    slip("softmax-keepdims", "sum, without maximum", softmax=spread(True, "none"))
    slip("softmax-keepdims", "maximum", softmax=spread(False, "spread"))
    slip("softmax-keepdims", "both", softmax=spread(True, "spread"))
    slip("softmax-unnormalised", "without maximum", softmax=lambda c, S: np.exp(S))
    slip("softmax-unnormalised", "after the maximum",
         softmax=lambda c, S: guarded(c, S, np.exp(S - S.max(axis=2, keepdims=True))))
    slip("softmax-heads", when=lambda c: c.H > 1, softmax=lambda c, S: softmax(c, S, axis=0))
    slip("softmax-twice", softmax=lambda c, S: softmax(c, softmax(c, S)))
    slip("softmax-twice", "masked again", when=lambda c: c.masked,
         softmax=lambda c, S: softmax(c, np.where(c.sees, softmax(c, S), -np.inf)))

    def logs(c, S):
        shifted = S - S.max(axis=2, keepdims=True)
        return guarded(c, S, shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True)))

    slip("log-softmax", softmax=logs)
    slip("log-softmax", "hidden as 0", when=lambda c: c.masked,
         softmax=lambda c, S: np.where(c.sees, logs(c, S), 0.0))

    def of_features(rows):
        power = np.exp(rows - rows.max(axis=-1, keepdims=True))
        return power / power.sum(axis=-1, keepdims=True)

    def soft_values(c):
        c.v = of_features(c.v)

    slip("softmax-features", "of the values", heads=soft_values)
    slip("softmax-features", "of the result", final=lambda c, O: of_features(O))
    slip("softmax-features", "of the result, in place of the weights",
         softmax=lambda c, S: np.where(c.sees, S, 0.0), final=lambda c, O: of_features(O))

    def plain(name, variant, function):
        """In place of the softmax, with −∞ in hidden places as they stand or, if the student saw the NaN, with 0."""
        slip(name, variant, softmax=lambda c, S: function(c, S))
        slip(name, f"{variant}, hidden as 0" if variant else "hidden as 0", when=lambda c: c.masked,
             softmax=lambda c, S: function(c, np.where(c.sees, S, 0.0)))

    def sigmoid(c, S):
        return 1 / (1 + np.exp(-S))

    slip("sigmoid-weights", softmax=sigmoid)
    slip("sigmoid-weights", "over its sum",
         softmax=lambda c, S: guarded(c, S, sigmoid(c, S) / sigmoid(c, S).sum(axis=2, keepdims=True)))
    slip("relu-weights", "over its sum",
         softmax=lambda c, S: np.maximum(S, 0) / np.maximum(S, 0).sum(axis=2, keepdims=True))
    slip("relu-weights", "over its sum plus 1e-9",
         softmax=lambda c, S: np.maximum(S, 0) / (np.maximum(S, 0).sum(axis=2, keepdims=True) + 1e-9))
    slip("relu-weights", "not divided", softmax=lambda c, S: np.maximum(S, 0))
    plain("l2-normalised", "scores", lambda c, S: S / np.sqrt((S ** 2).sum(axis=2, keepdims=True)))

    def length(c, S):
        power = np.exp(S - S.max(axis=2, keepdims=True))
        return guarded(c, S, power / np.sqrt((power ** 2).sum(axis=2, keepdims=True)))

    slip("l2-normalised", "exponentials", softmax=length)
    plain("absolute-normalised", "absolute values", lambda c, S: np.abs(S) / np.abs(S).sum(axis=2, keepdims=True))
    plain("absolute-normalised", "scores", lambda c, S: S / np.abs(S).sum(axis=2, keepdims=True))
    slip("hard-maximum",
         softmax=lambda c, S: guarded(c, S, np.eye(c.N)[S.argmax(axis=2)]))
    slip("uniform-weights", sight=True, softmax=lambda c, S: guarded(c, S, c.sees / c.sees.sum(axis=2, keepdims=True)))
    slip("uniform-weights", "over hidden keys too", when=lambda c: c.masked,
         softmax=lambda c, S: np.full(S.shape, 1 / c.N))

    def columns(c, S):
        power = np.exp(S - S.max(axis=1, keepdims=True))
        return guarded(c, S, power / power.sum(axis=2, keepdims=True))

    slip("column-maximum", softmax=columns)
    for value in (0.5, 2, 0.1, 0.73):
        slip("temperature", str(value), scores=lambda c, S, value=value: S / value)


def of_scale():
    def instead(name, variant, size, when=lambda c: True):
        slip(name, variant, when=lambda c: c.auto and when(c), scale=lambda c, S: S / size(c))

    instead("scale-by-length", "sqrt(T)", lambda c: math.sqrt(c.T))
    instead("scale-by-length", "sqrt(N)", lambda c: math.sqrt(c.N), lambda c: c.T != c.N)
    instead("scale-by-heads", "sqrt(H)", lambda c: math.sqrt(c.H), lambda c: c.H > 1)
    instead("scale-by-model-width", "d_model", lambda c: c.E, lambda c: c.tokens or c.H > 1)
    instead("scale-by-model-width", "sqrt(d_model)", lambda c: math.sqrt(c.E), lambda c: c.tokens or c.H > 1)
    instead("scale-by-value-width", "sqrt(d_v)", lambda c: math.sqrt(c.d_v))
    instead("scale-by-value-width", "d_v", lambda c: c.d_v)
    slip("scale-late", "in place of the scores", when=lambda c: c.auto, scale=keep, weights=times(lambda c: c.S_factor))
    slip("scale-late", "as well", when=lambda c: c.auto, weights=times(lambda c: c.S_factor))

    def both(c):
        c.q, c.k = c.q / math.sqrt(c.q.shape[2]), c.k / math.sqrt(c.k.shape[2])

    slip("scale-twice", "Q and K", when=lambda c: c.auto, heads=both, scale=keep)
    slip("scale-twice", "Q, K and the scores", when=lambda c: c.auto, heads=both)

    def values(c):
        c.v = c.v / math.sqrt(c.q.shape[2])

    slip("values-scaled", "in place of the scores", when=lambda c: c.auto, heads=values, scale=keep)
    slip("values-scaled", "as well", when=lambda c: c.auto, heads=values)


def of_scores():
    def equal_rows(c):
        need(c.T == c.N)
        return (c.q * c.k).sum(axis=2)

    slip("score-elementwise", "as a column", score=lambda c: np.repeat(equal_rows(c)[:, :, None], c.N, axis=2))
    slip("score-elementwise", "as a row", score=lambda c: np.repeat(equal_rows(c)[:, None, :], c.T, axis=1))

    def squares(c):
        return ((c.q[:, :, None] - c.k[:, None]) ** 2).sum(axis=3)

    slip("score-distance", "squared", score=lambda c: -squares(c))
    slip("score-distance", "distance", score=lambda c: -np.sqrt(squares(c)))
    slip("scores-negated", score=lambda c: -score(c))
    slip("output-negated", final=lambda c, O: -O)

    def turned(c, A):
        need(c.T == c.N)
        return A.swapaxes(1, 2) @ c.v

    slip("weights-turned", mix=turned)
