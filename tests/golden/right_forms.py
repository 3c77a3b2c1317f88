"""Right implementations for more_mistakes.py: none of them may be called wrong."""

import math

import numpy as np
from pipeline import guarded, keep, slip, softmax


def all_as(kind):
    """A start that casts the inputs, so that every step is rounded to that type."""
    def start(c):
        c.given = {name: value.astype(kind) for name, value in c.given.items()}
        c.X = c.given.get("X")
    return {"start": start, "scale": lambda c, S: S * kind(c.S_factor)}


def brain(O):
    """To the nearest bfloat16."""
    bits = O.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)


def of_right():
    def right(name, variant=None, when=lambda c: True, **hooks):
        slip(name, variant, when=when, blame=False, right=True, **hooks)

    small = lambda c: small_scores(c)
    right("half-precision", "float16 at every step", small, **all_as(np.float16))
    right("half-precision", "float16 result", final=lambda c, O: O.astype(np.float16).astype(np.float64))
    right("half-precision", "bfloat16 result", final=lambda c, O: brain(O))
    for digits in (1, 2, 3, 4):
        right("result-rounded", digits, final=lambda c, O, digits=digits: np.round(O, digits))
    right("right-float32", None, small, **all_as(np.float32))
    right("right-order", mix=lambda c, A: (c.v.swapaxes(1, 2) @ A.swapaxes(1, 2)).swapaxes(1, 2),
          score=lambda c: (c.k @ c.q.swapaxes(1, 2)).swapaxes(1, 2))

    def finite(value):
        return lambda c, S, sees: np.where(sees, S, value)

    masked = lambda c: c.masked and not c.empty
    right("right-minus-1e9", None, masked, hide=finite(-1e9))
    right("right-minus-1e9", "added", masked, hide=lambda c, S, sees: np.where(sees, S, S - 1e9))
    right("right-minus-1e4", None, lambda c: masked(c) and small(c), hide=finite(-1e4))

    def renormalised(c, A):
        A = A * c.sees
        return A / A.sum(axis=2, keepdims=True)

    right("right-late-renormalised", None, lambda c: masked(c) and small(c),
          hide=lambda c, S, sees: S, weights=renormalised)
    right("right-mask-twice", None, lambda c: c.masked, weights=lambda c, A: A * c.sees)

    def powers(shift, base=np.exp):
        def function(c, S):
            power = base(S - shift(S))
            return guarded(c, S, power / power.sum(axis=2, keepdims=True))
        return function

    right("right-no-maximum", None, small, softmax=powers(lambda S: 0.0))
    right("right-global-maximum", None, small, softmax=powers(lambda S: S.max()))
    right("right-base-2", None, softmax=lambda c, S: powers(lambda S: S.max(axis=2, keepdims=True), np.exp2)(
        c, S * math.log2(math.e)))

    def scaled(power, keys):
        def heads(c):
            c.q = c.q * c.q.shape[2] ** -power
            c.k = c.k * c.k.shape[2] ** -power if keys else c.k
        return heads

    right("right-scaled-queries", "Q", lambda c: c.auto, heads=scaled(0.5, False), scale=keep)
    right("right-scaled-queries", "Q and K by the fourth root", lambda c: c.auto, heads=scaled(0.25, True), scale=keep)

    def blocks(c, S):
        """Two keys at a time; the weights, so that the mixture can be checked, from the final maximum and sum."""
        c.blocks = np.zeros((len(S), c.T, c.v.shape[2]))
        largest = np.full(S.shape[:2] + (1,), -np.inf)
        total = np.zeros_like(largest)
        for start in range(0, c.N, 2):
            part = S[:, :, start:start + 2]
            grown = np.maximum(largest, part.max(axis=2, keepdims=True))
            base = np.where(np.isneginf(grown), 0.0, grown)
            power = np.exp(part - base)
            shrink = np.exp(np.where(np.isneginf(largest), -np.inf, largest - base))
            total = total * shrink + power.sum(axis=2, keepdims=True)
            c.blocks = c.blocks * shrink + power @ c.v[:, start:start + 2]
            largest = grown
        c.blocks = c.blocks / np.where(total == 0, 1, total)
        return softmax(c, S)

    right("right-blocks", softmax=blocks, mix=lambda c, A: c.blocks)

    def reshaped(c, matrix, count):
        return matrix.reshape(len(matrix), count, -1).transpose(1, 0, 2)

    right("right-einsum", split=reshaped, score=lambda c: np.einsum("htd,hnd->htn", c.q, c.k),
          mix=lambda c, A: np.einsum("htn,hnv->htv", A, c.v),
          merge=lambda c, mixed: mixed.transpose(1, 0, 2).reshape(c.T, -1))

    def looped(c, S):
        rows = []
        for head in S.tolist():
            for row in head:
                top = max(row)
                power = [0.0 if x == -math.inf else math.exp(x - top) for x in row]
                rows.append([x / (math.fsum(power) or 1.0) for x in power])
        return np.array(rows).reshape(S.shape)

    def sums(left, right_):
        return np.array([[[math.fsum(a * b for a, b in zip(row, column)) for column in zip(*y)] for row in x]
                         for x, y in zip(left.tolist(), right_.tolist())])

    right("right-loops", score=lambda c: sums(c.q, c.k.swapaxes(1, 2)), softmax=looped, mix=lambda c, A: sums(A, c.v))

    def log_sum(c, S):
        top = S.max(axis=2, keepdims=True)
        return guarded(c, S, np.exp(S - (top + np.log(np.exp(S - top).sum(axis=2, keepdims=True)))))

    right("right-log-sum-exp", softmax=log_sum)

    def divided(c, A):
        top = np.where(np.isneginf(c.last.max(axis=2, keepdims=True)), 0.0, c.last.max(axis=2, keepdims=True))
        power = np.exp(c.last - top)
        total = power.sum(axis=2, keepdims=True)
        return (power @ c.v) / np.where(total == 0, 1, total)

    def remember(c, S):
        c.last = S
        return S

    right("right-divided-late", scores=remember, mix=divided)

    def summed(c, C):
        return sum(part @ rows for part, rows in zip(np.split(C, c.H, axis=1), np.split(c.given["W_O"], c.H)))

    right("right-heads-summed", None, lambda c: c.H > 1 and "W_O" in c.given, out=summed)

    def folded(c):
        return (c.X @ (c.given["W_Q"] @ c.given["W_K"].T) @ c.X.T)[None]

    right("right-folded", None, lambda c: c.tokens and c.H == 1 and "W_O" in c.given, score=folded,
          mix=lambda c, A: (A @ (c.X @ (c.given["W_V"] @ c.given["W_O"]))), out=keep)


def small_scores(c):
    """Whether no score of the exercise exceeds 20."""
    return c.largest < 20
