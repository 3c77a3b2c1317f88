"""Attention with what today's models add to it, step by step, each step replaceable: what mechanism_slips.py makes its
slips with. NumPy, from the formulas of the papers, written without a look at src/.
"""

import math
from types import SimpleNamespace

import numpy as np

DEFAULTS = {
    "heads": 1, "kv_heads": 1, "scale": "auto", "causal": False, "causal_from": "end", "window": None, "keep_first": 0,
    "residual": False, "position": None, "rope_base": 10000.0, "rope_width": None, "rope_scaling": None,
    "first_position": 0, "qk_norm": False, "qk_norm_eps": 1e-6, "softcap": None,
}


class DoesNotGoOn(Exception):
    """The exercise has not what this slip is about."""


def need(condition):
    if not condition:
        raise DoesNotGoOn


# Positions.

def frequencies(c, width=None, base=None, scaling="own"):
    """An angle for each pair and step of a position, and the factor of sines and cosines."""
    width, base = width or c.rope_width, base or c.o["rope_base"]
    scaling = c.o["rope_scaling"] if scaling == "own" else scaling
    f = base ** (-2.0 * np.arange(width // 2) / width)
    if scaling is None:
        return f, 1.0
    s, L0 = scaling["factor"], scaling.get("original")
    length = c.first + max(c.T, c.N)
    match scaling["kind"]:
        case "linear":
            return f / s, 1.0
        case "dynamic":
            if length > L0:
                base = base * (s * length / L0 - (s - 1)) ** (width / (width - 2))
            return base ** (-2.0 * np.arange(width // 2) / width), 1.0
        case "llama3":
            turns = L0 * f / (2 * np.pi)
            share = np.clip((turns - scaling["low"]) / (scaling["high"] - scaling["low"]), 0, 1)
            return f / s * (1 - share) + f * share, 1.0
        case "yarn":
            def pair(turns):
                return width * math.log(L0 / (2 * math.pi * turns)) / (2 * math.log(base))
            low, high = max(math.floor(pair(32)), 0), min(math.ceil(pair(1)), width - 1)
            ramp = np.clip((np.arange(width // 2) - low) / max(high - low, 0.001), 0, 1)
            return f / s * ramp + f * (1 - ramp), 0.1 * math.log(s) + 1
        case "longrope":
            divisors = c.given["F_divisors"][1 if length > L0 else 0]
            return f / divisors, math.sqrt(1 + math.log(s) / math.log(L0))


def turned(rows, positions, f, factor=1.0, halves=True):
    """The first columns of (heads, rows, d) as complex numbers, each turned by its angle."""
    w = 2 * len(f)
    first, second = (slice(0, w // 2), slice(w // 2, w)) if halves else (slice(0, w, 2), slice(1, w, 2))
    pairs = rows[..., first] + 1j * rows[..., second]
    pairs = pairs * factor * np.exp(1j * positions[:, None] * f)
    result = rows.copy()
    result[..., first], result[..., second] = pairs.real, pairs.imag
    return result


def positions(c, role):
    queries, keys = (0, 0) if c.o["causal_from"] == "start" else (max(c.N - c.T, 0), max(c.T - c.N, 0))
    return c.first + (queries + np.arange(c.T) if role == "q" else keys + np.arange(c.N))


def rotate(c, rows, role, at=None):
    if not c.rotary or role == "v":
        return rows
    return turned(rows, positions(c, role) if at is None else at, *c.f, c.o["position"] == "rope")


def slopes(c):
    """ALiBi's slopes: of a power of two, or of the powers of two beside the number of heads."""
    return alibi(c.H)


def alibi(n):
    power = 2 ** int(math.log2(n))
    own = [2.0 ** (-8 * h / power) for h in range(1, power + 1)]
    between = [2.0 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1)][::2]
    return np.array((own + between)[:n])


def bucket(c, distance):
    """T5's bucket of a distance, which is negative for later keys."""
    count, start = len(c.given["R"]), 0
    if c.both_ways:
        count //= 2
        start = count if distance < 0 else 0
    elif distance < 0:
        return 0
    d, exact = abs(distance), count // 2
    if d < exact:
        return start + d
    return start + min(count - 1, exact + int(math.log(d / exact) / math.log(128 / exact) * (count - exact)))


def bias(c, shift=0):
    """What each distance adds to the scores of each head."""
    distance = (positions(c, "q") + shift)[:, None] - positions(c, "k")[None, :]
    if c.o["position"] == "alibi":
        return -c.slopes[:, None, None] * abs(distance)
    if c.o["position"] == "t5":
        rows = np.vectorize(lambda d: bucket(c, int(d)))(distance)
        return np.stack([c.given["R"][rows, h] for h in range(c.H)])
    return 0.0


def sinusoids(c):
    angle = (c.first + np.arange(c.T))[:, None] / 10000 ** (2 * (np.arange(c.E) // 2) / c.E)
    return np.where(np.arange(c.E) % 2 == 0, np.sin(angle), np.cos(angle))


# The steps, each replaceable.

def norm(c, rows, role):
    if not c.o["qk_norm"] or role == "v":
        return rows
    rows = rows / np.sqrt((rows ** 2).mean(axis=-1, keepdims=True) + c.o["qk_norm_eps"])
    gains = c.given.get(f"g_{role.upper()}")
    return rows if gains is None else rows * gains[0]


def prepare(c, rows, role):
    normed = c.step["norm"](c, rows, role)
    rotated = c.step["rotate"](c, normed, role)
    if role != "v":
        if c.o["qk_norm"]:
            c.steps[f"{role.upper()}_normed"] = normed
        if c.rotary:
            c.steps[f"{role.upper()}_rotated"] = rotated
    return rotated


def share(c, rows):
    return np.repeat(rows, c.H // c.G, axis=0)


def scale(c, S):
    return S if c.o["scale"] == "none" else S / math.sqrt(c.d)


def cap(c, S):
    return S if c.o["softcap"] is None else c.o["softcap"] * np.tanh(S / c.o["softcap"])


def bent(c, S):
    """Scale, bias of positions and soft-cap, in this order."""
    S = cap(c, scale(c, S) + c.step["bias"](c))
    if c.o["softcap"] is not None:
        c.steps["S_capped"] = S
    return S


def visible(c, window="own", keep="own", causal="own"):
    own = {"window": window, "keep_first": keep, "causal": causal}
    window, keep, causal = (c.o[key] if value == "own" else value for key, value in own.items())
    p = np.arange(c.T)[:, None] + (0 if c.o["causal_from"] == "start" else c.N - c.T)
    j = np.arange(c.N)[None, :]
    near = np.ones((c.T, c.N), bool) if window is None else (abs(p - j) < window) | (j < keep)
    return near & (j <= p) if causal else near


def hide(c, S):
    return np.where(c.step["visible"](c), S, -np.inf)


def softmax(c, S):
    sink = c.given["sink"][0][:, None, None] if "sink" in c.given else np.full((c.H, 1, 1), -np.inf)
    S = np.concatenate([S, np.broadcast_to(sink, (c.H, c.T, 1))], axis=2)
    power = np.exp(S - S.max(axis=2, keepdims=True))
    return (power / power.sum(axis=2, keepdims=True))[:, :, :-1]


def gate(c, C, function=lambda x: 1 / (1 + np.exp(-x))):
    if "W_g" not in c.given:
        return C
    gates = function(c.X @ c.given["W_g"])
    return C * np.repeat(gates, C.shape[1] // gates.shape[1], axis=1)


STEPS = {
    "start": lambda c: None, "sinusoids": sinusoids, "frequencies": frequencies, "slopes": slopes, "prepare": prepare,
    "norm": norm, "rotate": rotate, "bias": bias, "share": share, "bent": bent, "visible": visible, "hide": hide,
    "softmax": softmax, "gate": gate,
}


def run(options, given, hooks):
    """Every step by name; those of heads have the heads in front."""
    o = {**DEFAULTS, **options}
    c = SimpleNamespace(o=o, given=given, H=o["heads"], G=o["kv_heads"], first=o["first_position"], step={**STEPS, **hooks})
    c.both_ways = not o["causal"]
    c.rotary = o["position"] in ("rope", "rope-interleaved")
    c.steps = {}
    if "X" in given:
        X = given["X"]
        c.T, c.N, c.E = len(X), len(X), X.shape[1]
        c.step["start"](c)
        c.X = X + c.step["sinusoids"](c) if o["position"] == "sinusoidal" else X
        Q, K, V = (c.X @ given[f"W_{name}"] for name in "QKV")
    else:
        Q, K, V = (given[name] for name in "QKV")
        c.T, c.N, c.E, c.X = len(Q), len(K), None, None
        c.step["start"](c)
    c.d, c.d_v = Q.shape[1] // c.H, V.shape[1] // c.G
    c.rope_width = o["rope_width"] or c.d
    c.f = c.step["frequencies"](c) if c.rotary else None
    c.slopes = c.step["slopes"](c) if o["position"] == "alibi" else None

    def heads(rows, count):
        return np.stack(np.split(rows, count, axis=1))

    q, k = c.step["prepare"](c, heads(Q, c.H), "q"), c.step["prepare"](c, heads(K, c.G), "k")
    v = c.step["rotate"](c, heads(V, c.G), "v")
    k, v = c.step["share"](c, k), c.step["share"](c, v)
    S = c.steps["S"] = q @ k.swapaxes(1, 2)
    S = c.step["bent"](c, S)
    A = c.steps["A"] = c.step["softmax"](c, c.step["hide"](c, S))
    O = c.step["gate"](c, np.concatenate(list(A @ v), axis=1))
    if "W_g" in given:
        c.steps["O_gated"] = O
    if "W_O" in given:
        O = O @ given["W_O"]
    c.steps["O"] = O + c.X if o["residual"] else O
    return c.steps
