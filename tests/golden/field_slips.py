"""Slips that people made in public threads, one or a few lines each: what `attn diagnose` should name first.

    python field_slips.py

writes field_slips.json next to itself. NumPy alone, from the words of the threads, without a look at src/. An exercise has
its options and inputs; each record under `wrong` is a result with one slip in it, and the names that tell it rightly.
"""

import itertools
import math

import layout
import numpy as np
from mechanism_steps import (
    DEFAULTS, alibi, bias, cap, frequencies, positions, run, scale, sinusoids, softmax, turned, visible,
)
from mechanism_slips import written

random = np.random.default_rng(2026)
cases = []


def normal(rows, cols, size=1.0):
    return np.round(random.standard_normal((rows, cols)) * size, 3)


def qkv(T, N, d, d_v, H=1, G=1, **more):
    return {"Q": normal(T, H * d, 1.2), "K": normal(N, G * d, 1.2), "V": normal(N, G * d_v)} | more


def tokens(T, E, d, H=1, G=None, out=None, **more):
    G, size = G or H, 1.5 / math.sqrt(E)
    given = {"X": normal(T, E), "W_Q": normal(E, H * d, size), "W_K": normal(E, G * d, size),
             "W_V": normal(E, G * d, size)}
    if out is not None:
        given["W_O"] = normal(H * d, out, 1 / math.sqrt(H * d))
    return given | more


class Exercise:
    """Options and inputs; each call of `slip` adds a wrong result."""

    def __init__(self, name, given, **options):
        self.options, self.given, self.wrong = options, given, []
        self.right = self.run()
        cases.append({"name": name, "options": {**DEFAULTS, **options},
                      "inputs": {key: written(value) for key, value in given.items()}, "wrong": self.wrong,
                      "right": written(self.right["O"], 10)})

    def run(self, given=None, options=None, **hooks):
        own = {"visible": masked} if "mask" in self.given else {}
        return run({**self.options, **(options or {})}, {**self.given, **(given or {})}, {**own, **hooks})

    def slip(self, name, ids, steps=None, node="O", digits=10, **hooks):
        """A slip by its name in the review, the names that are right, and a result or the steps that are replaced."""
        result = (steps if isinstance(steps, np.ndarray) else (steps or self.run(**hooks))[node])
        assert result.shape != self.right["O"].shape or not np.allclose(result, self.right["O"], equal_nan=True), name
        self.wrong.append({"mistakes": ids.split(), "variant": name, "node": node, "matrix": written(result, digits)})


def masked(c):
    return visible(c) & (c.given["mask"] > 0)


def filled(value, before_scale=False):
    """Scores with a number in the place of −∞."""
    def hide(c, S):
        number = value / math.sqrt(c.d) if before_scale else value
        return np.where(c.step["visible"](c), S, number)
    return hide


def added(value):
    return lambda c, S: np.where(c.step["visible"](c), S, S + value)


# Rotary positions.

def rope():
    e = Exercise("rope, 2 heads, causal", tokens(6, 16, 8, H=2, out=16), position="rope", causal=True, heads=2, kv_heads=2)

    def angles(c, exponent=None, unit=1.0, base=10000.0):
        w = c.rope_width
        return base ** -(exponent(np.arange(w // 2), w) if exponent else 2 * np.arange(w // 2) / w) * unit

    def of(**how):
        return {"frequencies": lambda c: (angles(c, **how), 1.0)}

    e.slip("rope-exponent-half", "rope-frequencies", **of(exponent=lambda p, w: p / w))
    e.slip("rope-d-model-freqs", "rope-frequencies", **of(exponent=lambda p, w: 2 * p / 16))
    e.slip("rope-degrees", "rope-degrees", **of(unit=180 / math.pi))
    e.slip("rope-angles-quarter", "rope-frequencies rope-scaling-linear", **of(unit=0.25))
    e.slip("rope-base-500", "rope-base", **of(base=500.0))
    e.slip("rope-base-77777", "rope-base", **of(base=77777.0))

    def mixed(angle_halves):
        def rotate(c, rows, role):
            if role == "v":
                return rows
            f = c.f[0]
            full = np.concatenate([f, f]) if angle_halves else np.repeat(f, 2)
            angle = positions(c, role)[:, None] * full
            if angle_halves:
                other = np.stack([-rows[..., 1::2], rows[..., ::2]], axis=-1).reshape(rows.shape)
            else:
                w = rows.shape[-1]
                other = np.concatenate([-rows[..., w // 2:], rows[..., :w // 2]], axis=-1)
            return rows * np.cos(angle) + other * np.sin(angle)
        return rotate

    e.slip("rope-mixed-layouts", "rope-layouts", rotate=mixed(False))
    e.slip("rope-mixed-layouts-2", "rope-layouts", rotate=mixed(True))

    def cosine(c, rows, role):
        if role == "v":
            return rows
        f = c.f[0]
        return rows * np.cos(positions(c, role)[:, None] * np.concatenate([f, f]))

    e.slip("rope-cos-only", "rope-sine", rotate=cosine)

    def permuted(c, rows, role):
        if role == "q":
            rows = rows.reshape(*rows.shape[:-1], 2, -1).swapaxes(-1, -2).reshape(rows.shape)
        return rows if role == "v" else turned(rows, positions(c, role), *c.f)

    e.slip("rope-qonly-permuted", "rope-permuted", rotate=permuted)

    def before(c, rows, role):
        if role == "v":
            return rows
        whole = np.concatenate(list(rows), axis=1)[None]
        whole = turned(whole, positions(c, role), *frequencies(c, width=whole.shape[-1]))
        return np.stack(np.split(whole[0], len(rows), axis=1))

    e.slip("rope-before-head-split", "rope-before-split", rotate=before)
    e.slip("rope-half-for-interleaved", "rope-pairing",
           rotate=lambda c, rows, role: rows if role == "v" else turned(rows, positions(c, role), *c.f, halves=False))
    e.slip("rope-reversed-positions", "rope-direction",
           rotate=lambda c, rows, role: rows if role == "v" else turned(rows, 5 - positions(c, role), *c.f))
    e.slip("rope-over-head-axis", "positions-missing", rotate=lambda c, rows, role: rows)
    for name, hooks in [("S-rope-mixed", {"rotate": mixed(False)}), ("S-rope-before", {"rotate": before}),
                        ("S-rope-half", of(exponent=lambda p, w: p / w)), ("S-rope-degrees", of(unit=180 / math.pi)),
                        ("S-rope-cosonly", {"rotate": cosine}), ("S-rope-dmodel", of(exponent=lambda p, w: 2 * p / 16)),
                        ("S-rope-qonlyperm", {"rotate": permuted})]:
        ids = {"mixed": "rope-layouts", "before": "rope-before-split", "half": "rope-frequencies", "degrees": "rope-degrees",
               "cosonly": "rope-sine", "dmodel": "rope-frequencies", "qonlyperm": "rope-permuted"}[name[7:]]
        e.slip(name, ids, e.run(**hooks)["S"][0], node="S_1")


# A cache of keys and values.

def cache():
    def at(query=None, new=None, cached=lambda p: p):
        def rotate(c, rows, role):
            own = positions(c, role).astype(float)
            if role == "q" and query is not None:
                own[:] = query
            if role == "k":
                own[:-1] = cached(own[:-1])
                if new is not None:
                    own[-1] = new
            return rows if role == "v" else turned(rows, own, *c.f)
        return rotate

    e = Exercise("one query of 7, rope, causal", qkv(1, 7, 4, 4), position="rope", causal=True)
    e.slip("cache-offset-0", "positions-misaligned rope-one-side cache-position", rotate=at(query=0))
    e.slip("cache-offset-doubled", "cache-position", rotate=at(12, 12))
    e.slip("cache-seen-plus-one", "cache-position", rotate=at(7, 7))
    e.slip("cache-offset-retained", "cache-position", rotate=at(4, 4))
    e.slip("cache-keys-pos0", "cache-position", rotate=at(0, 0))
    e.slip("cache-rope-again", "cache-rotation", rotate=at(cached=lambda p: 2 * p))
    e.slip("cache-keys-unrotated", "cache-rotation", rotate=at(cached=lambda p: 0 * p))
    for name, hooks, ids in [("S-cache-seen", at(7, 7), "cache-position"), ("S-cache-doubled", at(12, 12), "cache-position"),
                             ("S-cache-unrot", at(cached=lambda p: 0 * p), "cache-rotation")]:
        e.slip(name, ids, e.run(rotate=hooks)["S"][0], node="S")
    e = Exercise("one query of 6, causal", qkv(1, 6, 4, 4), causal=True)
    K, V = e.given["K"], e.given["V"]

    def rows(k, v=None):
        return e.run({"K": K[k], "V": V[k if v is None else v]})

    whole = list(range(6))
    e.slip("cache-last-twice", "cache-tokens", rows([0, 1, 2, 3, 4, 4, 5]))
    e.slip("cache-self-missing", "mask-strict self-excluded mask-shifted cache-tokens", rows(whole[:5]))
    e.slip("cache-third-missing", "cache-tokens", rows([0, 1, 3, 4, 5]))
    e.slip("kv-cache-value-missing", "values-altered cache-tokens", rows(whole, [0, 1, 2, 3, 4, 4]))
    e.slip("cache-prepended-K", "rows-shifted", rows([5, 0, 1, 2, 3, 4], whole))


# Sinusoidal positions.

def sinusoidal():
    e = Exercise("sinusoidal, 2 heads, causal", tokens(5, 8, 4, H=2, out=8), position="sinusoidal", causal=True, heads=2,
                 kv_heads=2)

    def vectors(exponent=lambda c, d: 2 * (c // 2) / d, base=10000.0, start=0, cosine=lambda c, d: c % 2 == 1):
        def made(c):
            column = np.arange(c.E)
            angle = (start + np.arange(c.T))[:, None] / base ** exponent(column, c.E)
            return np.where(cosine(column, c.E), np.cos(angle), np.sin(angle))
        return {"sinusoids": made}

    form = "positions-form"
    e.slip("sin-left-pad-start2", "positions-start", **vectors(start=2))
    e.slip("sin-start-1", "positions-start", **vectors(start=1))
    e.slip("sin-concat", form, **vectors(lambda c, d: 2 * (c % (d // 2)) / d, cosine=lambda c, d: c >= d // 2))
    e.slip("sin-cos-swapped", form, **vectors(cosine=lambda c, d: c % 2 == 0))
    e.slip("sin-exponent-i", form, **vectors(lambda c, d: (c // 2) / d))
    e.slip("sin-exponent-column", form, **vectors(lambda c, d: c / d))
    e.slip("sin-exponent-2column", form, **vectors(lambda c, d: 2 * c / d))
    e.slip("sin-base-1000", form, **vectors(base=1000.0))
    e.slip("sin-maxjcohen", form, **vectors(lambda c, d: c / d, base=1000.0))
    e.slip("sin-loftr", form, **vectors(lambda c, d: 2 * (c // 2), base=math.e))
    e.slip("sin-tensor2tensor", form,
           **vectors(lambda c, d: (c % (d // 2)) / (d // 2 - 1), cosine=lambda c, d: c >= d // 2))
    e.slip("sin-twice", "positions-added", sinusoids=lambda c: 2 * sinusoids(c))
    e.slip("sin-times-0.35", "positions-place", sinusoids=lambda c: 0.35 * sinusoids(c))
    e.slip("sin-missing", "positions-missing", sinusoids=lambda c: 0 * sinusoids(c))
    X, P = e.given["X"], sinusoids(type("C", (), {"first": 0, "T": 5, "E": 8}))
    W = [e.given[f"W_{name}"] for name in "QKV"]

    def of(q, k, v):
        options = {"position": None}
        given = {"Q": q, "K": k, "V": v, "W_O": e.given["W_O"]}
        return run({**e.options, **options}, given, {})["O"]

    e.slip("sin-not-in-values", "positions-place", of((X + P) @ W[0], (X + P) @ W[1], X @ W[2]))
    e.slip("sin-after-projection", "positions-place", of(X @ W[0] + P, X @ W[1] + P, X @ W[2]))
    e.slip("sin-scaled-after", "positions-place projections-altered queries-keys-values-altered",
           of(*(math.sqrt(8) * (X + P) @ w for w in W)))
    e.slip("sin-scaled-embeddings", "tokens-scaled", of(*((math.sqrt(8) * X + P) @ w for w in W)))
    swapped = e.run(**vectors(cosine=lambda c, d: c % 2 == 0))
    e.slip("Q-sin-swap", form, (X + vectors(cosine=lambda c, d: c % 2 == 0)["sinusoids"](type("C", (), {"T": 5, "E": 8}))) @ W[0],
           node="Q")
    assert swapped["O"].shape == (5, 8)


# Biases of the scores by distance.

def biases():
    e = Exercise("alibi, 6 heads, causal", tokens(5, 12, 2, H=6, out=12), position="alibi", causal=True, heads=6, kv_heads=6)
    def slopes(values):
        return {"slopes": lambda c: np.array(values)}

    e.slip("alibi-plain-geometric", "alibi-slopes", **slopes([2 ** (-8 * h / 6) for h in range(1, 7)]))
    e.slip("alibi-exponent-from-0", "alibi-slopes", **slopes([2 ** (-8 * h / 6) for h in range(6)]))
    e.slip("alibi-first-6-of-8", "alibi-slopes", **slopes(alibi(8)[:6]))
    e.slip("alibi-sorted", "alibi-slopes", **slopes(sorted(alibi(6), reverse=True)))
    e.slip("alibi-abs-sign", "alibi-sign", **slopes(-alibi(6)))

    def scaled(c, S):
        return cap(c, scale(c, S + bias(c)))

    e.slip("alibi-times-1.7", "position-bias-scaled", **slopes(1.7 * alibi(6)))
    e.slip("alibi-scaled", "position-bias-scaled", bent=scaled)
    e = Exercise("t5, 2 heads", tokens(6, 8, 4, H=2, out=8, R=normal(8, 2)), position="t5", scale="none", heads=2, kv_heads=2)
    e.slip("t5-sign", "t5-sign", bias=lambda c: bias(c).swapaxes(1, 2))
    e.slip("t5-heads-exchanged", "t5-heads", bias=lambda c: bias(c)[::-1])
    e.slip("t5-scaled", "scale-unasked", bent=lambda c, S: S / 2 + bias(c))
    e.slip("t5-bias-scaled", "temperature", bent=lambda c, S: (S + bias(c)) / 2)

    def one_way(c):
        c.both_ways = False
        return bias(c)

    e.slip("t5-unidirectional", "t5-direction", bias=one_way)


# Heads, fused projections, groups.

def heads():
    e = Exercise("3 heads", tokens(6, 12, 4, H=3, out=12), heads=3, kv_heads=3)
    fused = np.concatenate([e.given[f"W_{name}"] for name in "QKV"], axis=1)

    def read(order, sizes):
        """The fused columns, [3, h, d], read as another order of the axes."""
        own = fused.reshape(12, *(sizes[axis] for axis in order))
        own = own.transpose(0, *(1 + order.index(axis) for axis in "3hd")).reshape(12, 3, 12)
        return {f"W_{name}": own[:, at] for at, name in enumerate("QKV")}

    sizes = {"3": 3, "h": 3, "d": 4}
    for order in ["h3d", "hd3", "d3h", "dh3"]:
        e.slip(f"fused-qkv-{order}", "fused-qkv", e.run(read(order, sizes)))
    e.slip("S-fused-h3d", "fused-qkv", e.run(read("h3d", sizes))["S"][0], node="S_1")
    e.slip("Q-fused-h3d", "fused-qkv", e.given["X"] @ read("h3d", sizes)["W_Q"], node="Q")
    unscaled = {"bent": lambda c, S: S}
    e.slip("pair-qkv-h3d-noscale", "no-scale+fused-qkv", e.run(read("h3d", sizes), **unscaled))

    def split(shape, order):
        def prepare(c, rows, role):
            whole = np.concatenate(list(rows), axis=1)
            own = whole.reshape([{"h": 3, "T": 6, "d": 4}[axis] for axis in shape], order=order)
            return own.transpose([shape.index(axis) for axis in "hTd"])
        return {"prepare": prepare, "rotate": lambda c, rows, role: prepare(c, rows, role)}

    e.slip("heads-view", "heads-by-reshape", **split("hTd", "C"))
    e.slip("heads-forder-htd", "heads-by-reshape", **split("hTd", "F"))
    e.slip("heads-forder-wrong", "heads-interleaved", **split("Thd", "F"))
    A, V = e.right["A"], np.stack(np.split(e.given["X"] @ e.given["W_V"], 3, axis=1))
    e.slip("mean-A-times-X", "values-unprojected heads-averaged+values-unprojected",
           A.mean(axis=0) @ e.given["X"] @ e.given["W_O"])
    e.slip("mean-A-times-V", "heads-averaged", np.concatenate(list(A.mean(axis=0) @ V), axis=1) @ e.given["W_O"])
    e.slip("heads-join-view", "heads-not-transposed", (A @ V).reshape(6, 12) @ e.given["W_O"])
    e.slip("scale-layer-number", "temperature scale-by-length", bent=lambda c, S: S / 2 / 3)
    e.slip("scale-sqrt-heads", "scale-by-heads", bent=lambda c, S: S / math.sqrt(3))
    e.slip("scale-layer-7", "temperature", bent=lambda c, S: S / 2 / 7)

    g = Exercise("4 heads on 2, causal", tokens(6, 16, 4, H=4, G=2, out=16), heads=4, kv_heads=2, causal=True)

    def shared(k, v):
        made = iter([k, v])
        return {"share": lambda c, rows: next(made)(rows)}

    right, tile = (lambda rows: np.repeat(rows, 2, axis=0)), (lambda rows: np.tile(rows, (2, 1, 1)))
    mean = lambda rows: np.repeat(rows.mean(axis=0, keepdims=True), 4, axis=0)  # noqa: E731
    late = lambda rows: rows[[min((h + 1) // 2, 1) for h in range(4)]]  # noqa: E731

    def features(rows):
        return np.stack(np.split(np.repeat(np.concatenate(list(rows), axis=1), 2, axis=1), 4, axis=1))

    g.slip("gqa-tile", "gqa-tiled", **shared(tile, tile))
    g.slip("gqa-tile-K-only", "gqa-assignment", **shared(tile, right))
    g.slip("gqa-tile-V-only", "gqa-assignment", **shared(right, tile))
    g.slip("gqa-repeat-features", "gqa-features", **shared(features, features))
    g.slip("gqa-kv-mean", "gqa-mean", **shared(mean, mean))
    g.slip("gqa-kv-heads-1-of", "gqa-assignment", **shared(late, late))
    mixed = g.right["A"] @ right(np.stack(np.split(g.given["X"] @ g.given["W_V"], 2, axis=1)))
    g.slip("gqa-group-order", "heads-order", np.concatenate(list(mixed[[0, 2, 1, 3]]), axis=1) @ g.given["W_O"])
    g.slip("polarity-1e9-mh", "mask-inverted mask-positive",
           hide=lambda c, S: np.where(c.step["visible"](c), S - 1e9, S))

    def other_order(c, rows, role):
        return rows[[0, 2, 1, 3]] if role == "q" else rows

    g.slip("gqa-query-order", "gqa-assignment heads-order gqa-tiled", prepare=other_order)


# Masks.

def masks():
    e = Exercise("window of 3, 2 heads, causal", tokens(6, 8, 4, H=2, out=8), heads=2, kv_heads=2, causal=True, window=3)

    def seen(sees):
        return {"visible": lambda c: sees(np.arange(c.T)[:, None], np.arange(c.N)[None, :])}

    e.slip("window-both-sides", "mask-part-missing mask-band", **seen(lambda i, j: abs(i - j) < 3))
    e.slip("window-diagonal-sign", "mask-band", **seen(lambda i, j: (j <= i) | (j > i + 3)))
    e.slip("window-plus-one", "window-off-by-one", **seen(lambda i, j: (j <= i) & (i - j < 4)))
    e.slip("window-minus-one", "window-off-by-one", **seen(lambda i, j: (j <= i) & (i - j < 2)))
    e.slip("window-2-to-1", "mask-band causal-off-by-one", **seen(lambda i, j: (i - j <= 2) & (j - i <= 1)))
    p = Exercise("padding, 2 heads", tokens(6, 8, 4, H=2, out=8, mask=np.tile([[1, 1, 1, 1, 0, 0]], (6, 1))), heads=2,
                 kv_heads=2)
    p.slip("mask-pad-first-two", "mask-reversed mask-keys rows-shifted", **seen(lambda i, j: (j >= 2) | (i < 0)))
    p.slip("mask-pad-one-more", "mask-shifted mask-keys", **seen(lambda i, j: (j < 5) | (i < 0)))
    p.slip("mask-fliplr", "mask-reversed rows-shifted mask-keys", **seen(lambda i, j: (j >= 2) | (i < 0)))
    p.slip("mask-pad-2-5", "mask-keys", **seen(lambda i, j: ((j != 1) & (j != 4)) | (i < 0)))
    p.slip("mask-minus-e", "mask-weak", hide=filled(-2.718))
    p.slip("mask-minus-e-before-scale", "mask-weak", hide=filled(-2.718, True))
    p.slip("mask-1e9-times-f16", "mask-weak", hide=filled(-6.5))
    p.slip("mask-added-3.3", "mask-weak", hide=added(-3.3))
    p.slip("mask-1e-12", "mask-zero", hide=filled(-1e-12))
    p.slip("polarity-pad", "mask-inverted", visible=lambda c: ~masked(c))
    p.slip("mask-bool-times-1e9", "mask-inverted mask-positive",
           hide=lambda c, S: np.where(c.step["visible"](c), S - 1e9, S))
    n = Exercise("2 heads", tokens(5, 8, 4, H=2, out=8), heads=2, kv_heads=2)

    def padded(count):
        def padding(c, S):
            more = softmax_with(c, np.concatenate([S, np.zeros((c.H, c.T, count))], axis=2))
            return more[:, :, :c.N]
        return {"softmax": padding}

    n.slip("softmax1", "softmax-wrong-sum", **padded(1))
    n.slip("padded-keys-3", "rows-scaled", **padded(3))
    n.slip("padded-keys-11", "rows-scaled", **padded(11))
    n.slip("batch-two-mixed", "mask-unasked", **seen(lambda i, j: (i < 3) == (j < 3)))
    n.slip("mask-pad-causal-added", "mask-unasked", **seen(lambda i, j: j <= i))


def softmax_with(c, S):
    power = np.exp(S - S.max(axis=2, keepdims=True))
    return power / power.sum(axis=2, keepdims=True)


# Norms, softmax by blocks, dropout.

def norms():
    e = Exercise("norm of queries and keys, 2 heads, causal", tokens(5, 8, 4, H=2, out=8), heads=2, kv_heads=2, causal=True,
                 qk_norm=True)

    def over_all(c, rows, role):
        if role == "v":
            return rows
        whole = np.concatenate(list(rows), axis=1)
        whole = whole / np.sqrt((whole ** 2).mean(axis=1, keepdims=True) + 1e-6)
        return np.stack(np.split(whole, len(rows), axis=1))

    def root(rows, centred=False, length=False):
        rows = rows - rows.mean(axis=-1, keepdims=True) if centred else rows
        if length:
            return rows / np.sqrt((rows ** 2).sum(axis=-1, keepdims=True))
        return rows / np.sqrt((rows ** 2).mean(axis=-1, keepdims=True) + 1e-6)

    e.slip("qknorm-full-width", "qk-norm-whole", norm=over_all)
    e.slip("S-qknorm-full", "qk-norm-whole", e.run(norm=over_all)["S"][0], node="S_1")
    e.slip("qknorm-layernorm", "queries-keys-altered layer-norm",
           norm=lambda c, rows, role: rows if role == "v" else root(rows, centred=True))
    e.slip("qknorm-l2", "cosine-scores queries-keys-altered",
           norm=lambda c, rows, role: rows if role == "v" else root(rows, length=True))
    e.slip("qknorm-v-too", "values-altered rms-norm", rotate=lambda c, rows, role: root(rows) if role == "v" else rows)


def blocks():
    e = Exercise("one head of 5", tokens(5, 4, 4))

    def by_blocks(size, of_old, of_sum):
        def made(c, S):
            out = np.zeros_like(S)
            for h, i in itertools.product(range(c.H), range(c.T)):
                top, total, mixed = -np.inf, 0.0, np.zeros(c.N)
                for start in range(0, c.N, size):
                    block = S[h, i, start:start + size]
                    new = max(top, block.max())
                    if start:
                        mixed, total = mixed * of_old(top, new), total * of_sum(top, new)
                    mixed[start:start + size] = np.exp(block - new)
                    total, top = total + np.exp(block - new).sum(), new
                out[h, i] = mixed / total
            return out
        return {"softmax": made}

    right, inverse, none = (lambda a, b: np.exp(a - b)), (lambda a, b: np.exp(b - a)), (lambda a, b: 1.0)
    e.slip("flash-no-rescale", "softmax-blocks", **by_blocks(2, none, none))
    e.slip("flash-inverse-rescale", "softmax-blocks", **by_blocks(2, inverse, right))
    e.slip("flash-inverse-rescale-both", "softmax-blocks", **by_blocks(3, inverse, inverse))
    e.slip("flash-local-causal", "mask-in-blocks",
           visible=lambda c: np.arange(c.N)[None, :] % 2 <= np.arange(c.T)[:, None] % 2)
    e.slip("flash-no-final-division", "softmax-unnormalised",
           softmax=lambda c, S: np.exp(S - S.max(axis=2, keepdims=True)))
    e.slip("exp-then-scale", "no-scale", bent=lambda c, S: S)

    def dropped(S, p):
        kept = random.random(S.shape) >= p
        return np.where(kept, S / (1 - p), 0.0)

    e.slip("dropout-p5-O", "dropout", softmax=lambda c, S: dropped(softmax(c, S), 0.5))
    e.slip("dropout-on-A", "dropout", e.run(softmax=lambda c, S: dropped(softmax(c, S), 0.1))["A"][0], node="A")
    e.slip("dropout-on-A-half", "dropout", e.run(softmax=lambda c, S: dropped(softmax(c, S), 0.5))["A"][0], node="A")
    e.slip("dropout-on-scores", "dropout", e.run(bent=lambda c, S: dropped(S / 2, 0.3))["A"][0], node="A")
    e.slip("dropout-on-scores-O", "dropout", e.run(bent=lambda c, S: dropped(S / 2, 0.3))["O"])
    two = Exercise("2 heads, causal", tokens(5, 8, 4, H=2, out=8), heads=2, kv_heads=2, causal=True)
    two.slip("dropout-on-O", "dropout", softmax=lambda c, S: dropped(softmax(c, S), 0.2))
    swapped = two.right["O"].copy()
    swapped[1, [2, 5]] = swapped[1, [5, 2]]
    two.slip("two-cells-swapped", "numbers-exchanged", swapped)
    q = Exercise("3 queries, 5 keys", qkv(3, 5, 4, 3))
    q.slip("cross-self", "cross-exchanged", softmax_of(q.given["K"], q.given["Q"]) @ q.given["Q"])


# Of these every one is named first.

def loops():
    e = Exercise("all named: 3 queries of 7, causal", qkv(3, 7, 4, 4), causal=True)
    Q, K, V = (e.given[name] for name in "QKV")

    def loop(keys, values=None):
        made = [softmax_of(Q[t:t + 1], K[keys(t)]) @ V[(values or keys)(t)] for t in range(3)]
        return np.concatenate(made)

    late, own = (lambda t: [*range(4 + t), 3 + t]), (lambda t: [*range(5 + t)])
    e.slip("loop-stale-key", "cache-tokens", loop(late, own))
    e.slip("loop-stale-token", "cache-tokens", loop(late))
    e.slip("loop-newest-twice", "cache-tokens", loop(lambda t: [*range(5 + t), 4 + t]))
    e.slip("loop-overwritten", "cache-tokens", loop(lambda t: [0, 1, 2, 3, 4 + t]))
    b = Exercise("all named: one head of 6", qkv(5, 6, 4, 4))
    Q, K, V = (b.given[name] for name in "QKV")
    for size in [2, 3, 4]:
        starts = range(0, 6, size)
        b.slip(f"blocks-mean-{size}", "softmax-blocks",
               np.mean([softmax_of(Q, K[a:a + size]) @ V[a:a + size] for a in starts], axis=0))


def in_pairs():
    e = Exercise("all named: pairs, 2 heads, causal", tokens(5, 8, 4, H=2, out=8), heads=2, kv_heads=2, causal=True)
    turned_output, queries = {"W_O": e.given["W_O"].T}, {"W_K": e.given["W_Q"]}
    unscaled, unmasked = {"bent": lambda c, S: S}, {"visible": lambda c: np.ones((5, 5), bool)}
    down = {"softmax": lambda c, S: np.exp(S) / np.exp(S).sum(axis=1, keepdims=True)}
    later = {"visible": lambda c: np.tri(5, k=1) > 0}
    for name, how in [("no-scale", unscaled), ("mask-missing", unmasked), ("softmax-axis", down)]:
        e.slip(f"W_O-turned, {name}", f"{name}+output-projection-transposed", e.run(turned_output, **how))
        e.slip(f"keys-are-queries, {name}", f"{name}+keys-are-queries", e.run(queries, **how))
    for name, how in [("no-scale", unscaled), ("softmax-axis", down)]:
        e.slip(f"late mask, {name}", f"{name}+causal-off-by-one", e.run(**how, **later))


def copies():
    e = Exercise("all named: copied, one head of 4", qkv(4, 4, 3, 3))
    for node in ["S", "A"]:
        right = e.right[node][0]
        one, two, rows = right.copy(), right.copy(), right[[0, 3, 2, 1]]
        one[2, 1] += 0.7
        two[2, 1], two[0, 2] = right[0, 2], right[2, 1]
        e.slip(f"{node}-one", "one-number-wrong", one, node=node)
        e.slip(f"{node}-two", "numbers-exchanged", two, node=node)
        e.slip(f"{node}-rows", "rows-reordered", rows, node=node)


def half_precision():
    e = Exercise("all named: float16, 2 heads, causal", tokens(5, 8, 4, H=2, out=8), heads=2, kv_heads=2, causal=True)

    def in_half(causal=True, scale=True):
        half = {name: value.astype(np.float16) for name, value in e.given.items()}
        q, k, v = (np.stack(np.split(half["X"] @ half[f"W_{name}"], 2, axis=1)) for name in "QKV")
        S = q @ k.swapaxes(1, 2) / np.float16(2 if scale else 1)
        S = np.where(np.tri(5, k=0 if causal else 5) > 0, S, np.float16(-np.inf)).astype(np.float16)
        power = np.exp(S - S.max(axis=2, keepdims=True))
        A = power / power.sum(axis=2, keepdims=True)
        O = np.concatenate(list(A @ v), axis=1) @ half["W_O"]  # noqa: E741
        assert O.dtype == np.float16
        return O.astype(float)

    for name, how in [("no-scale", {"scale": False}), ("mask-missing", {"causal": False})]:
        e.slip(f"{name} in float16", name, in_half(**how), digits=24)


def softmax_of(q, k):
    S = q @ k.T / math.sqrt(q.shape[1])
    power = np.exp(S - S.max(axis=1, keepdims=True))
    return power / power.sum(axis=1, keepdims=True)


def main():
    made = [rope, cache, sinusoidal, biases, heads, masks, norms, blocks, loops, in_pairs, copies, half_precision]
    for make in made:
        make()
    about = {"about": "Slips of public threads, by NumPy; made by field_slips.py"}
    size = layout.write(__file__, about | layout.versions(np) | {"cases": cases}, line=40_000)
    print(sum(len(one["wrong"]) for one in cases), "results,", size, "bytes")


if __name__ == "__main__":
    main()
