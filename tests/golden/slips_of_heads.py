"""Slips of more_mistakes.py in the projections, heads and masks."""

import math

import numpy as np
from pipeline import change, keep, need, see, share, slip, visible


def of_projections():
    for name in "QKV":
        slip("projection-transposed", f"W_{name}", start=change(f"W_{name}", lambda c, W: W.T))

    def other_out(function):
        def step(c, C):
            need("W_O" in c.given and C.shape[1] == len(c.given["W_O"]))
            return function(c, C, c.given["W_O"])
        return step

    slip("output-projection-transposed", out=other_out(lambda c, C, W: C @ W.T))
    slip("output-projection-twice", out=other_out(lambda c, C, W: C @ W @ W))

    def diagonal(c, C, W):
        need(c.H > 1)
        return np.concatenate([part @ np.split(rows, c.H, axis=1)[h] for h, (part, rows) in
                               enumerate(zip(np.split(C, c.H, axis=1), np.split(W, c.H, axis=0)))], axis=1)

    slip("output-projection-per-head", out=other_out(diagonal))

    def taken(**instead):
        def projected(c):
            new = {name: getattr(c, other) for name, other in instead.items()}
            for name, value in new.items():
                need(len(value) == len(getattr(c, name)))
                if name == "Q" or name == "K":
                    need(value.shape[1] == getattr(c, name).shape[1])
                setattr(c, name, value)
        return projected

    slip("keys-are-queries", projected=taken(K="Q"))
    slip("queries-are-keys", projected=taken(Q="K"))
    slip("values-are-queries", projected=taken(V="Q"), when=lambda c: c.G == c.H)
    slip("keys-are-values", projected=taken(K="V"))
    slip("keys-values-exchanged", projected=taken(K="V", V="K"))


def of_heads():
    several = {"when": lambda c: c.H > 1}

    def reshaped(c, matrix, count):
        need(matrix.shape[1] % count == 0)
        return matrix.reshape(count, len(matrix), -1)

    slip("heads-by-reshape", "split", **several, split=reshaped)
    slip("heads-by-reshape", "split and join", **several, split=reshaped,
         merge=lambda c, mixed: mixed.reshape(c.T, -1))

    def every(c, matrix, count):
        need(matrix.shape[1] % count == 0)
        return np.stack([matrix[:, h::count] for h in range(count)])

    def by_column(c, mixed):
        return mixed.transpose(1, 2, 0).reshape(c.T, -1)

    slip("heads-interleaved-both", **several, split=every, merge=by_column)
    slip("columns-interleaved", **several, merge=by_column)

    def counts(H, G):
        def start(c):
            c.H, c.G = H, G
        return start

    slip("heads-full-width", when=lambda c: c.H > 1 and c.G == c.H, start=counts(1, 1),
         scale=lambda c, S: S / math.sqrt(c.d_k))

    def first(*names):
        def heads(c):
            for name in names:
                setattr(c, name, np.repeat(getattr(c, name)[:1], c.H, axis=0))
        return heads

    slip("heads-share-first", "all three", **several, heads=first("q", "k", "v"))
    slip("heads-share-first", "queries", **several, heads=first("q"))
    slip("heads-share-first", "keys", **several, heads=first("k"))
    slip("heads-share-first", "values", **several, heads=first("v"))
    slip("heads-share-first", "weights", **several, weights=lambda c, A: np.repeat(A[:1], c.H, axis=0))
    slip("heads-averaged", "results", **several, merge=lambda c, mixed: mixed.mean(axis=0))
    slip("heads-averaged", "weights", **several, weights=lambda c, A: np.repeat(A.mean(axis=0, keepdims=True), c.H, axis=0))
    for H in (1, 2, 3, 4, 6, 8):
        slip("heads-wrong-number", f"{H}", when=lambda c, H=H: c.H > 1 and c.H != H and c.G == c.H, start=counts(H, H))
    for H, G in ((2, 1), (4, 1), (4, 4), (2, 2), (8, 4)):
        slip("heads-wrong-number", f"{H} over {G}",
             when=lambda c, H=H, G=G: 1 <= c.G < c.H and (c.H, c.G) != (H, G), start=counts(H, G))

    unjoined = {"out": keep, "residual": keep}
    slip("heads-unjoined", "head by head", **several, **unjoined, merge=lambda c, mixed: np.concatenate(list(mixed)))
    slip("heads-unjoined", "token by token", **several, **unjoined,
         merge=lambda c, mixed: mixed.transpose(1, 0, 2).reshape(c.T * c.H, -1))
    slip("heads-unjoined", "head by head, transposed", **several, **unjoined,
         merge=lambda c, mixed: np.concatenate(list(mixed)).T)
    slip("result-flattened", "one row", final=lambda c, O: O.reshape(1, -1))
    slip("result-flattened", "one column", final=lambda c, O: O.reshape(-1, 1))
    grouped = {"when": lambda c: 1 < c.G < c.H}
    slip("kv-head-first-only", **grouped, share=lambda c: [0] * c.H)
    slip("kv-heads-reversed", **grouped, share=lambda c: share(c)[::-1])


def of_masks():
    sight = {"sight": True}
    causal = {"when": lambda c: c.causal, **sight}
    slip("causal-off-by-one", "one later key", **causal, visible=see(lambda c: visible(c, later=1)))
    slip("causal-off-by-one", "one key less", **causal, visible=see(lambda c: visible(c, later=-1)))
    slip("causal-misaligned", when=lambda c: c.causal and c.T != c.N, **sight,
         visible=see(lambda c: visible(c, start=c.options["causal_from"] == "end")))
    windowed = {"when": lambda c: c.options["window"] is not None, **sight}
    slip("window-off-by-one", "one wider", **windowed, visible=see(lambda c: visible(c, window=c.options["window"] + 1)))
    slip("window-off-by-one", "one narrower", **windowed, visible=see(lambda c: visible(c, window=c.options["window"] - 1)))

    masked = {"when": lambda c: c.masked}

    def put(value):
        return lambda c, S, sees: np.where(sees, S, value)

    def add(value):
        return lambda c, S, sees: np.where(sees, S, S + value)

    for value in (-1, -10):
        slip("mask-weak", f"{value} in place", **masked, hide=put(value))
        slip("mask-weak", f"{value} added", **masked, hide=add(value))
    slip("mask-positive", "1e9 in place", **masked, hide=put(1e9))
    slip("mask-positive", "1e9 added", **masked, hide=add(1e9))
    slip("mask-positive", "inf", **masked, hide=put(np.inf))
    empty = {"when": lambda c: c.empty}
    slip("mask-finite-empty-row", "in place", **empty, hide=put(-1e9))
    slip("mask-finite-empty-row", "added", **empty, hide=add(-1e9))

    padded = {"when": lambda c: c.keys is not None and c.T == c.N, **sight}
    slip("mask-on-queries", "queries", **padded, visible=see(lambda c: visible(c, mask=False) & c.keys[:, None]))
    slip("mask-on-queries", "queries and keys", **padded, visible=see(lambda c: visible(c) & c.keys[:, None]))
    slip("mask-on-queries", "queries, -1e9", **padded, visible=see(lambda c: visible(c, mask=False) & c.keys[:, None]),
         hide=put(-1e9))
    table = {"when": lambda c: c.mask is not None and c.keys is None, **sight}

    def instead(function):
        return lambda c: visible(c, mask=False) & function(c)

    slip("mask-one-row", "first row", **table, visible=instead(lambda c: c.mask[:1]))
    slip("mask-one-row", "last row", **table, visible=instead(lambda c: c.mask[-1:]))
    slip("mask-one-row", "any row", **table, visible=instead(lambda c: c.mask.any(axis=0, keepdims=True)))
    slip("mask-one-column", "first column", **table, visible=instead(lambda c: c.mask[:, :1]))
    slip("mask-one-column", "last column", **table, visible=instead(lambda c: c.mask[:, -1:]))
    slip("mask-one-column", "any column", **table, visible=instead(lambda c: c.mask.any(axis=1, keepdims=True)))
    again = {"weights": lambda c, A: np.where(c.sees, A, 0.0)}
    slip("mask-twice", "times 0, then weights", **masked, hide=put(0.0), **again)
    slip("mask-twice", "plus 0 or 1, then weights", **masked, hide=lambda c, S, sees: S + sees, **again)

    free = {"when": lambda c: not c.causal, **sight}
    slip("mask-unasked", "causal", **free, visible=see(lambda c: visible(c, causal=True)))
    slip("mask-unasked", "causal from the start", when=lambda c: not c.causal and c.T != c.N, **sight,
         visible=see(lambda c: visible(c, causal=True, start=True)))
    open_ = {"when": lambda c: c.options["window"] is None, **sight}
    for width in (2, 3):
        slip("mask-unasked", f"window {width}", **open_, visible=lambda c, width=width: visible(c, window=width))
    slip("mask-unasked", "causal, window 2", when=lambda c: c.options["window"] is None and not c.causal, **sight,
         visible=lambda c: visible(c, causal=True, window=2))

    unmasked = {"visible": see(lambda c: visible(c, mask=False))}

    def zeroed(rows, c):
        return np.where(c.keys[:, None], rows, 0.0)

    def zero_tokens(c):
        c.X = zeroed(c.X, c)

    def zero_rows(*names):
        def projected(c):
            for name in names:
                setattr(c, name, zeroed(getattr(c, name), c))
        return projected

    key_mask = {"when": lambda c: c.keys is not None, **sight}
    slip("padding-zeroed", "X", when=lambda c: c.keys is not None and c.tokens, **sight, start=zero_tokens, **unmasked)
    slip("padding-zeroed", "K", **key_mask, projected=zero_rows("K"), **unmasked)
    slip("padding-zeroed", "V", **key_mask, projected=zero_rows("V"), **unmasked)
    slip("padding-zeroed", "K and V", **key_mask, projected=zero_rows("K", "V"), **unmasked)
    slip("padded-outputs-zeroed", **padded, final=lambda c, O: np.where(c.keys[:, None], O, 0.0))
    slip("padded-outputs-zeroed", "without a mask", **padded, **unmasked,
         final=lambda c, O: np.where(c.keys[:, None], O, 0.0))
