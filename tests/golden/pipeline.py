"""Attention step by step, each step replaceable: what more_mistakes.py, operators.py and reviewed_slips.py make their slips with.
NumPy, written without a look at src/.

Steps, options and names are those of mistakes.py. A slip has hooks: functions in the place of steps, which read and change the
context `c` of a run.
"""

import math
from types import SimpleNamespace

import numpy as np

DEFAULTS = {
    "heads": 1, "kv_heads": 1, "score": "dot", "scale": "auto", "temperature": 1.0, "causal": False, "causal_from": "end",
    "window": None, "mask_kind": None, "residual": False,
}
random = np.random.default_rng(23)
slips = []


class DoesNotGoOn(Exception):
    """The shapes of this slip do not fit the rest of the pipeline."""


def need(condition):
    if not condition:
        raise DoesNotGoOn


# The pipeline: each step is a function of the context `c` that a slip may replace.

def keep(c, value=None):
    return value


def project(c, name):
    if "X" not in c.given:
        return c.given[name]
    return c.X @ c.given[f"W_{name}"] + c.given.get(f"b_{name}", 0)


def split(c, matrix, count):
    need(matrix.shape[1] % count == 0)
    return np.stack(np.split(matrix, count, axis=1))


def share(c):
    return [h * c.G // c.H for h in range(c.H)]


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def score(c):
    q, k = (unit(c.q), unit(c.k)) if c.options["score"] == "cosine" else (c.q, c.k)
    return q @ k.swapaxes(1, 2)


def scale(c, S):
    return S * c.S_factor


def visible(c, later=0, causal=None, window=0, start=None, mask=True):
    """What each query may read; the arguments say what differs from the options."""
    start = c.options["causal_from"] == "start" if start is None else start
    window = c.options["window"] if window == 0 else window
    p = np.arange(c.T)[:, None] + (0 if start else c.N - c.T)
    j = np.arange(c.N)[None, :]
    sees = np.ones((c.T, c.N), dtype=bool)
    if c.options["causal"] if causal is None else causal:
        sees &= j <= p + later
    if window is not None:
        sees &= abs(p - j) < window
    if mask and c.options["mask_kind"] is not None:
        sees &= c.mask
    return sees


def hide(c, S, sees):
    return np.where(sees, S, -np.inf)


def guarded(c, S, A, axis=2):
    return np.where(np.isneginf(S).all(axis=axis, keepdims=True), 0.0, A).astype(A.dtype) if c.guard else A


def softmax(c, S, axis=2):
    power = np.exp(S - S.max(axis=axis, keepdims=True))
    return guarded(c, S, power / power.sum(axis=axis, keepdims=True), axis)


def mix(c, A):
    return A @ c.v


def merge(c, mixed):
    return np.concatenate(list(mixed), axis=1)


def out(c, C):
    if "W_O" not in c.given:
        return C
    need(C.shape[1] == len(c.given["W_O"]))
    return C @ c.given["W_O"] + c.given.get("b_O", 0)


def residual(c, O):
    if not c.options["residual"]:
        return O
    need(O.shape == c.given["X"].shape)
    return O + c.given["X"]


STEPS = {
    "start": keep, "project": project, "projected": keep, "split": split, "share": share, "heads": keep, "score": score,
    "scale": scale, "bias": lambda c, S: S + c.given["bias"], "visible": visible, "hide": hide, "scores": keep,
    "softmax": softmax, "weights": keep, "mix": mix,
    "mixed": keep, "merge": merge, "out": out, "residual": residual, "final": keep,
}


def facts(options, inputs):
    """What a slip may need to know about the exercise."""
    given = {name: value for name, value in inputs.items() if name != "mask"}
    H, G = options["heads"], options["kv_heads"]
    q = given["W_Q"] if "X" in given else given["Q"]
    v = given["W_V"] if "X" in given else given["V"]
    mask = inputs.get("mask")
    if mask is not None and options["mask_kind"] == "block":
        mask = ~mask
    c = SimpleNamespace(
        options=options, given=given, mask=mask, H=H, G=G, d_k=q.shape[1] // H, d_v=v.shape[1] // G,
        T=len(given["X" if "X" in given else "Q"]), N=len(given["X" if "X" in given else "K"]),
        tokens="X" in given, E=given["X"].shape[1] if "X" in given else q.shape[1], X=given.get("X"),
        auto=options["scale"] == "auto", causal=options["causal"], guard=True, split_done=False)
    c.masked = options["causal"] or options["window"] is not None or mask is not None
    c.sees = visible(c)
    c.empty = not c.sees.any(axis=1).all()
    c.keys = mask[0] if mask is not None and (mask == mask[0]).all() else None
    return c


def run(options, inputs, hooks, guard=True):
    """Every step by name; the steps of several heads as one array with the heads in front."""
    step = {**STEPS, **hooks}
    c = facts(options, dict(inputs))
    c.guard = guard
    step["start"](c)
    c.Q, c.K, c.V = (step["project"](c, name) for name in "QKV")
    step["projected"](c)
    c.q, c.k, c.v = step["split"](c, c.Q, c.H), step["split"](c, c.K, c.G), step["split"](c, c.V, c.G)
    source = step["share"](c)
    c.k, c.v = c.k[source], c.v[source]
    step["heads"](c)
    c.S_factor = {"none": 1.0, "auto": 1 / math.sqrt(c.q.shape[2])}.get(options["scale"], options["scale"])
    steps = {}
    S = steps["S"] = step["score"](c)
    if options["scale"] != "none":
        S = steps["S_scaled"] = step["scale"](c, S)
    if "bias" in c.given:
        S = steps["S_biased"] = step["bias"](c, S)
    S = S / options["temperature"]
    c.unmasked = S
    c.sees = np.broadcast_to(step["visible"](c), S.shape)
    S = step["hide"](c, S, c.sees)
    S = step["scores"](c, S)
    if c.masked:
        steps["S_masked"] = S
    A = step["softmax"](c, S)
    A = steps["A"] = step["weights"](c, A)
    mixed = step["mix"](c, A)
    mixed = steps["O_h"] = step["mixed"](c, mixed)
    C = steps["C"] = step["merge"](c, mixed)
    O = step["out"](c, C)
    O = step["residual"](c, O)
    steps["O"] = np.atleast_2d(step["final"](c, O))
    need(steps["O"].ndim == 2)
    return steps


# The slips.

def slip(name, variant=None, when=lambda c: True, **more):
    """`sight`: about visibility; `blame`, `right`: see the head of more_mistakes.py; the rest replaces steps of the pipeline."""
    entry = {"name": name, "variant": variant, "when": when, "blame": True, "right": False, "sight": False}
    entry |= {key: more.pop(key) for key in ("blame", "right", "sight") if key in more}
    assert not set(more) - set(STEPS), more.keys()
    slips.append({**entry, "hooks": more})


def by_head(function):
    """A step written for one head, for each head."""
    return lambda c, S: np.stack([function(c, block) for block in S])


def times(factor):
    return lambda c, S: S * factor(c)


def change(name, function):
    """A start that replaces one of the inputs."""
    def start(c):
        need(name in c.given)
        c.given = {**c.given, name: function(c, c.given[name])}
    return start


def see(function):
    return lambda c: function(c)


def normed(rows, kind="layer"):
    centred = rows - rows.mean(axis=-1, keepdims=True) if kind == "layer" else rows
    return centred / np.sqrt((centred ** 2).mean(axis=-1, keepdims=True) + 1e-5)


def sinusoids(T, E):
    angle = np.arange(T)[:, None] / 10000 ** (2 * (np.arange(E) // 2) / E)
    return np.where(np.arange(E) % 2 == 0, np.sin(angle), np.cos(angle))


def rotated(c, rows, halves, offset):
    d = rows.shape[2]
    need(d % 2 == 0)
    angle = (np.arange(rows.shape[1]) + offset)[:, None] / 10000 ** (2 * np.arange(d // 2) / d)
    cos, sin = np.cos(angle), np.sin(angle)
    first, second = (slice(0, d // 2), slice(d // 2, d)) if halves else (slice(0, d, 2), slice(1, d, 2))
    turned = np.empty_like(rows)
    turned[:, :, first] = rows[:, :, first] * cos - rows[:, :, second] * sin
    turned[:, :, second] = rows[:, :, first] * sin + rows[:, :, second] * cos
    return turned


def constant(width, seed):
    return np.round(np.random.default_rng(seed).standard_normal(width) * 0.7, 2)


# Inputs, and how numbers are written down.

def normal(rows, cols, size=1.0, digits=3):
    return np.round(random.standard_normal((rows, cols)) * size, digits)


def qkv(T, N, d_k, d_v, H=1, G=1, size=1.2, digits=3, **more):
    return {"Q": normal(T, H * d_k, size, digits), "K": normal(N, G * d_k, size, digits),
            "V": normal(N, G * d_v, 1.0, digits), **more}


def tokens(T, E, d_k, d_v, H=1, G=1, out=None, size=0.75, **more):
    size = 2 * size / math.sqrt(E)
    given = {"X": normal(T, E), "W_Q": normal(E, H * d_k, size), "W_K": normal(E, G * d_k, size),
             "W_V": normal(E, G * d_v, size)}
    if out is not None:
        given["W_O"] = normal(H * d_v, out, 1 / math.sqrt(H * d_v))
    return {**given, **more}


def allowed(rows):
    return np.array([[mark == "1" for mark in row] for row in rows.split()])


def written(array):
    if array.dtype == bool:
        return array.tolist()
    return [[float(f"{value:.12g}") if np.isfinite(value) else str(value) for value in row]
            for row in array.astype(np.float64).tolist()]


def named(steps):
    """The steps under the names of attend.py."""
    several = len(steps["S"]) > 1
    names = {}
    for step, value in steps.items():
        if step in ("C", "O"):
            names[step] = written(value)
        elif several:
            names |= {f"{step.removesuffix('_h')}_{h}": written(block) for h, block in enumerate(value, start=1)}
        elif step != "O_h":
            names[step] = written(value[0])
    return names


def equal(left, right, tolerance=1e-9):
    return left.shape == right.shape and np.allclose(left, right, rtol=tolerance, atol=tolerance, equal_nan=True)
