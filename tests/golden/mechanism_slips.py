"""Slips with what today's models add to attention: rotary positions and their scalings, ALiBi, T5's biases, sinusoids,
norms of queries and keys, soft-caps, windows that keep the first keys, sinks and gates.

    python mechanism_slips.py

writes mechanism_slips.json next to itself. NumPy alone, from the formulas of the papers, without a look at src/. A case is
an exercise with its right steps; each record under `wrong` is a result with one slip in it, `in_steps` has the first wrong
step of some of them, and `unchanged` lists the slips that leave the result as it is:

    positions-start       Rotated queries and keys: scores depend on distances alone.
    rope-pairing          Two columns a head: neighbours and halves are the same pair.
    qk-norm-late          No gains: a rotation does not change the root mean square of a row.
    softcap-late          A large cap: e^(−c) is less than any digit.
    rope-scaling          A dynamic scaling of a short text is none.
    sink-missing          A sink of −∞ is none.
    positions-start, position-off-by-one
                          ALiBi with a causal mask: one number more in all of a row.
"""

import math

import layout
import numpy as np
import slips_of_mechanisms
from mechanism_steps import DEFAULTS, DoesNotGoOn, run
from slips_of_mechanisms import slips

random = np.random.default_rng(61)


# The exercises.

def normal(rows, cols, size=1.0):
    return np.round(random.standard_normal((rows, cols)) * size, 3)


def qkv(T, N, d, d_v, H=1, G=1, size=1.2, **more):
    return {"Q": normal(T, H * d, size), "K": normal(N, G * d, size), "V": normal(N, G * d_v)} | more


def tokens(T, E, d, d_v, H=1, G=1, out=None, **more):
    size = 1.5 / math.sqrt(E)
    given = {"X": normal(T, E), "W_Q": normal(E, H * d, size), "W_K": normal(E, G * d, size),
             "W_V": normal(E, G * d_v, size)}
    if out is not None:
        given["W_O"] = normal(H * d_v, out, 1 / math.sqrt(H * d_v))
    return given | more


def gains(d):
    return {"g_Q": 1 + normal(1, d, 0.4), "g_K": 1 + normal(1, d, 0.4)}


def llama3(factor, low, high, original):
    return {"kind": "llama3", "factor": factor, "low": low, "high": high, "original": original}


def equal(left, right, tolerance=1e-9):
    return left.shape == right.shape and np.allclose(left, right, rtol=tolerance, atol=tolerance, equal_nan=True)


def written(array, digits=13):
    return [[float(f"{x:.{digits}g}") if np.isfinite(x) else str(x) for x in row] for row in array.tolist()]


def named(steps, heads):
    """One matrix a head: `S_1`, `S_2` …, or `S` where there is one head."""
    names = {}
    for step, value in steps.items():
        parts = list(value) if value.ndim == 3 else [value]
        for h, part in enumerate(parts, 1):
            names[f"{step}_{h}" if len(parts) > 1 else step] = written(part)
    return names


def first_step(steps, right):
    """The first step, of the first head where there are several, that differs from the right one."""
    for step, value in right.items():
        if step not in ("S", "O") and step in steps and not equal(steps[step], value, 1e-6):
            several = value.ndim == 3 and len(value) > 1
            value = steps[step][0] if value.ndim == 3 else steps[step]
            return {"node": f"{step}_1" if several else step, "matrix": written(value, 10)}


def case(name, given, shows_steps=False, **options):
    right = run(options, given, {})
    wrong, unchanged, in_steps = [], [], []
    for id_, variant, hooks in slips:
        try:
            steps = run(options, given, hooks)
        except (DoesNotGoOn, ValueError):
            continue
        step = first_step(steps, right) if shows_steps else None
        if step is not None:
            in_steps.append({"mistakes": [id_], "variant": variant} | step)
        if equal(steps["O"], right["O"]):
            changes_a_step = not all(equal(steps[step], value) for step, value in right.items() if step in steps)
            if changes_a_step or is_made(id_, options, given):
                unchanged.append([id_, variant])
            continue
        wrong.append({"mistakes": [id_]} | ({"variant": variant} if variant else {}) | {"O": written(steps["O"], 10)})
    options = {**DEFAULTS, **options}
    return {"name": name, "options": options, "inputs": {key: written(value) for key, value in given.items()},
            "right": named(right, options["heads"]), "unchanged": unchanged, "wrong": wrong,
            "in_steps": in_steps}


def is_made(id_, options, given):
    """Whether a slip that changes no number is one that can be made in this exercise."""
    kind = options.get("position")
    return {
        "positions-missing": kind is not None, "position-off-by-one": kind in ("alibi", "t5"),
        "rope-pairing": kind in ("rope", "rope-interleaved"), "rope-scaling": options.get("rope_scaling") is not None,
        "qk-norm-late": "qk_norm" in options, "softcap-late": "softcap" in options,
        "softcap-missing": "softcap" in options, "sink-missing": "sink" in given,
    }.get(id_, False)


def main():
    slips_of_mechanisms.make_all()
    gate_of = {"W_g": normal(6, 8, 0.8)}
    cases = [
        case("rope, one head, causal", tokens(5, 4, 8, 4), True, position="rope", causal=True),
        case("rope of neighbours, 4 heads on 2, causal window", tokens(6, 6, 4, 4, H=4, G=2, out=6),
             position="rope-interleaved", heads=4, kv_heads=2, causal=True, window=3),
        case("rope of 4 of 8 columns, base 500000, from position 7, last queries", qkv(3, 6, 8, 4), True, position="rope",
             rope_width=4, rope_base=500000.0, first_position=7),
        case("rope of two columns", qkv(4, 4, 2, 3), position="rope"),
        case("rope, linear", tokens(5, 6, 4, 4, H=2, G=2), position="rope", heads=2, kv_heads=2,
             rope_scaling={"kind": "linear", "factor": 4.0}),
        case("rope, dynamic", qkv(6, 6, 8, 4), position="rope", causal=True,
             rope_scaling={"kind": "dynamic", "factor": 2.0, "original": 4.0}),
        case("rope, dynamic, short text", qkv(4, 4, 8, 4), position="rope",
             rope_scaling={"kind": "dynamic", "factor": 2.0, "original": 16.0}),
        case("rope, llama3, base 500000", qkv(5, 5, 8, 4), position="rope", rope_base=500000.0, first_position=3,
             rope_scaling=llama3(8.0, 1.0, 4.0, 64.0)),
        case("rope, yarn", qkv(6, 6, 8, 4), True, position="rope", causal=True,
             rope_scaling={"kind": "yarn", "factor": 4.0, "original": 128.0}),
        case("rope of neighbours, longrope", qkv(5, 5, 8, 4, F_divisors=np.array([[1, 1.1, 1.3, 2], [1.2, 2, 3.5, 6]])),
             position="rope-interleaved", rope_scaling={"kind": "longrope", "factor": 4.0, "original": 4.0}),
        case("alibi, 4 heads on 2, causal", tokens(5, 6, 3, 3, H=4, G=2, out=6), position="alibi", heads=4, kv_heads=2,
             causal=True),
        case("alibi, 6 heads, no mask", tokens(5, 6, 2, 2, H=6, G=6, out=6), position="alibi", heads=6, kv_heads=6),
        case("alibi, 2 heads, last queries", qkv(3, 6, 3, 3, H=2, G=2), position="alibi", heads=2, kv_heads=2),
        case("t5, 2 heads, causal", qkv(6, 6, 3, 3, H=2, G=2, R=normal(8, 2)), position="t5", heads=2, kv_heads=2,
             causal=True, scale="none"),
        case("t5, both ways", qkv(4, 6, 3, 3, R=normal(8, 1)), position="t5"),
        case("sinusoidal, residual", tokens(5, 6, 4, 6), position="sinusoidal", residual=True),
        case("norm with gains, rope, 2 heads, causal", tokens(5, 6, 4, 4, H=2, G=2, out=6, **gains(4)), True,
             position="rope", heads=2, kv_heads=2, causal=True, qk_norm=True),
        case("norm without gains, rope", qkv(5, 5, 4, 4), position="rope", qk_norm=True, qk_norm_eps=1e-5),
        case("soft-cap of 2, causal", qkv(5, 5, 4, 4, size=2.0), True, causal=True, softcap=2.0),
        case("soft-cap of 50, causal", qkv(5, 5, 4, 4, size=3.0), causal=True, softcap=50.0),
        case("window that keeps the first two keys, causal", qkv(7, 7, 4, 4), causal=True, window=2, keep_first=2),
        case("window of both sides that keeps the first key", tokens(6, 5, 4, 4, out=5), window=2, keep_first=1),
        case("sinks of 2 heads, causal", tokens(5, 6, 4, 4, H=2, G=2, out=6, sink=np.array([[0.5, -0.7]])), heads=2,
             kv_heads=2, causal=True),
        case("a sink of −∞", qkv(4, 4, 3, 3, sink=np.array([[-np.inf]]))),
        case("gate of each column, 2 heads", tokens(5, 6, 4, 4, H=2, G=2, out=6, **gate_of), True, heads=2,
             kv_heads=2),
        case("gate of each head, 2 heads, no projection", tokens(5, 6, 4, 4, H=2, G=2, W_g=normal(6, 2)), heads=2,
             kv_heads=2),
        case("everything", tokens(6, 6, 4, 4, H=4, G=2, out=6, sink=normal(1, 4), W_g=normal(6, 16, 0.8), **gains(4)),
             position="rope", rope_base=50000.0, heads=4, kv_heads=2, causal=True, window=3, keep_first=1, qk_norm=True,
             softcap=3.0, residual=True),
    ]
    about = {"about": "Slips with positions, norms, soft-caps, sinks and gates, by NumPy; made by mechanism_slips.py"}
    size = layout.write(__file__, about | layout.versions(np) | {"cases": cases}, line=40_000)
    for one in cases:
        unchanged = ", ".join(sorted({id_ for id_, _ in one["unchanged"]}))
        print(f"{len(one['wrong']):4} {one['name']}; unchanged: {unchanged or '-'}")
    shown = {entry["mistakes"][0] for one in cases for entry in one["wrong"] + one["in_steps"]}
    missing = {name for name, *_ in slips} - shown
    assert not missing, missing
    print(sum(len(one["wrong"]) for one in cases), "results,", size, "bytes")


if __name__ == "__main__":
    main()
