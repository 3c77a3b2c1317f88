"""Slips of mechanism_slips.py: each replaces steps of the pipeline of mechanism_steps.py."""

import math

import numpy as np
from mechanism_steps import (
    STEPS, alibi, bias, cap, frequencies, gate, need, norm, positions, rotate, scale, softmax, turned, visible,
)

slips = []


def slip(name, variant="", **hooks):
    assert not set(hooks) - set(STEPS), hooks.keys()
    slips.append((name, variant, hooks))


def rotary(c):
    need(c.rotary)


def of_rotation():
    def other_pairs(c, rows, role):
        rotary(c)
        return rows if role == "v" else turned(rows, positions(c, role), *c.f, c.o["position"] != "rope")

    slip("rope-pairing", rotate=other_pairs)

    def other_direction(c, rows, role):
        rotary(c)
        return rotate(c, rows, role, -positions(c, role)) if role != "v" else rows

    slip("rope-direction", rotate=other_direction)

    def no_minus(c, rows, role):
        rotary(c)
        need(c.o["position"] == "rope")
        if role == "v":
            return rows
        f, factor = c.f
        angles, w = positions(c, role)[:, None] * f, 2 * len(f)
        own, swapped = rows[..., :w], np.roll(rows[..., :w], w // 2, axis=-1)
        cos, sin = (np.concatenate([part(angles)] * 2, axis=1) * factor for part in (np.cos, np.sin))
        return np.concatenate([own * cos + swapped * sin, rows[..., w:]], axis=-1)

    slip("rope-direction", "no minus", rotate=no_minus)

    def partial(c):
        rotary(c)
        need(c.rope_width < c.d)

    def last(c, rows, role):
        partial(c)
        if role == "v":
            return rows
        own, w = rows.copy(), c.rope_width
        own[..., -w:] = turned(rows[..., -w:], positions(c, role), *c.f, c.o["position"] == "rope")
        return own

    slip("rope-part", "the last columns", rotate=last)
    slip("rope-part", "all columns", frequencies=lambda c: partial(c) or frequencies(c, width=c.d))

    def of_whole_width(c):
        partial(c)
        f, factor = frequencies(c, width=c.d)
        return f[:c.rope_width // 2], factor

    slip("rope-part", "frequencies of the whole width",
         frequencies=lambda c: need(c.o["rope_scaling"] is None) or of_whole_width(c))
    slip("rope-part", "the first half",
         frequencies=lambda c: rotary(c) or need(c.rope_width == c.d and c.d % 4 == 0) or frequencies(c, width=c.d // 2))
    for base in (10000.0, 500000.0, 1000000.0):
        slip("rope-base", f"{base:.0f}", frequencies=lambda c, base=base:
             need(c.o["rope_base"] != base) or frequencies(c, base=base))

    def scaled(kind=None):
        def changed(c):
            scaling = c.o["rope_scaling"]
            need(scaling is not None and (kind is None or scaling["kind"] == kind))
            return scaling
        return changed

    slip("rope-scaling", "left out", frequencies=lambda c: frequencies(c, scaling=scaled()(c) and None))
    slip("rope-scaling-linear", "", frequencies=lambda c: need(scaled()(c)["kind"] != "linear") or
         frequencies(c, scaling={"kind": "linear", "factor": c.o["rope_scaling"]["factor"]}))
    slip("rope-scaling", "the other way round", frequencies=lambda c:
         frequencies(c, scaling={"kind": "linear", "factor": 1 / scaled("linear")(c)["factor"]}))

    def other_row(c):
        need(scaled("longrope")(c))
        c.given = {**c.given, "F_divisors": c.given["F_divisors"][::-1]}

    slip("rope-divisors", start=other_row)

    def factor(change):
        def changed(c):
            scaled()(c)
            f, m = frequencies(c)
            need(m != 1.0)
            return f, change(m)
        return changed

    slip("rope-magnitude", "left out", frequencies=factor(lambda m: 1.0))
    slip("rope-magnitude", "twice", frequencies=factor(lambda m: m * m))

    def alone(*roles):
        return lambda c, rows, role: rotary(c) or (rotate(c, rows, role) if role in roles else rows)

    slip("rope-one-side", "queries alone", rotate=alone("q"))
    slip("rope-one-side", "keys alone", rotate=alone("k"))

    def values_too(c, rows, role):
        rotary(c)
        need(c.rope_width <= c.d_v)
        return turned(rows, positions(c, "k"), *c.f, c.o["position"] == "rope") if role == "v" else rotate(c, rows, role)

    slip("rope-values", rotate=values_too)

    def twice(c, rows, role):
        rotary(c)
        need(c.o["rope_scaling"] is None)
        return rotate(c, rotate(c, rows, role), role)

    slip("rope-twice", rotate=twice)


def of_positions():
    slip("positions-missing", rotate=lambda c, rows, role: rotary(c) or rows)
    slip("positions-missing", bias=lambda c: need(c.o["position"] in ("alibi", "t5")) or 0.0)
    slip("positions-missing", start=lambda c: need(c.o["position"] == "sinusoidal"), sinusoids=lambda c: 0.0)

    def other_direction(c):
        need(c.o["position"] == "t5" and len(c.given["R"]) >= 4)
        c.both_ways = c.o["causal"]

    slip("t5-direction", start=other_direction)

    def moved(**shifts):
        def rotated(c, rows, role):
            rotary(c)
            return rows if role == "v" else rotate(c, rows, role, positions(c, role) + shifts.get(role, 0))

        def biased(c):
            need(c.o["position"] in ("alibi", "t5"))
            return bias(c, shifts.get("q", 0) - shifts.get("k", 0))
        return rotated, biased

    for variant, shifts in (("queries later", {"q": 1}), ("queries earlier", {"q": -1}), ("keys later", {"k": 1})):
        rotated, biased = moved(**shifts)
        slip("position-off-by-one", variant, rotate=rotated)
        slip("position-off-by-one", variant, bias=biased)

    def other_end(c):
        need(c.T < c.N)
        return (c.N - c.T) * (1 if c.o["causal_from"] == "start" else -1)

    slip("positions-misaligned", rotate=lambda c, rows, role: rotary(c) or (
        rotate(c, rows, role, positions(c, role) + other_end(c)) if role == "q" else rotate(c, rows, role)))
    slip("positions-misaligned", bias=lambda c: need(c.o["position"] in ("alibi", "t5")) or bias(c, other_end(c)))

    def later(c):
        need(c.o["position"] in ("rope", "rope-interleaved", "sinusoidal"))
        c.first += 1

    def from_zero(c):
        later(c)
        need(c.first > 2)
        c.first = 0

    slip("positions-start", "one later", start=later)
    slip("positions-start", "from 0", start=from_zero)


def of_alibi():
    def powers(n):
        return lambda c: 2.0 ** (-8 * np.arange(1, c.H + 1) / n(c))

    def below(c):
        return 2 ** int(math.log2(c.H))

    def is_power(c):
        return below(c) == c.H

    slip("alibi-slopes", "the next power", slopes=lambda c: powers(lambda c: 2 * below(c))(c))
    slip("alibi-slopes", "the power before", slopes=lambda c: need(c.H > 1) or
         powers(lambda c: below(c) // 2 if is_power(c) else below(c))(c))
    slip("alibi-slopes", "by the formula alone", slopes=lambda c: need(not is_power(c)) or powers(lambda c: c.H)(c))
    slip("alibi-slopes", "counted from 0", slopes=lambda c: 2.0 ** (-8 * np.arange(c.H) / c.H))
    slip("alibi-slopes", "for the key/value heads", slopes=lambda c: need(c.G < c.H) or np.repeat(alibi(c.G), c.H // c.G))
    slip("alibi-sign", bias=lambda c: need(c.o["position"] == "alibi") or -bias(c))


def of_norms():
    slip("qk-norm-missing", norm=lambda c, rows, role: need(c.o["qk_norm"]) or rows)
    for role, variant in (("q", "queries alone"), ("k", "keys alone")):
        slip("qk-norm-one-side", variant, norm=lambda c, rows, other, role=role:
             need(c.o["qk_norm"]) or (norm(c, rows, other) if other == role else rows))
    slip("qk-norm-late", prepare=lambda c, rows, role:
         rotary(c) or need(c.o["qk_norm"]) or norm(c, rotate(c, rows, role), role))


def of_scores():
    def capped(c):
        need(c.o["softcap"] is not None)

    slip("softcap-missing", bent=lambda c, S: capped(c) or scale(c, S) + bias(c))
    slip("softcap-before-scale",
         bent=lambda c, S: capped(c) or need(c.o["scale"] != "none") or scale(c, cap(c, S)) + bias(c))

    def after(c, S):
        capped(c)
        need(not visible(c).all())
        return cap(c, np.where(visible(c), scale(c, c.steps["S"]) + bias(c), -np.inf))

    slip("softcap-late", hide=after)
    slip("no-scale", bent=lambda c, S: need(c.o["scale"] != "none") or cap(c, S + bias(c)))


def of_masks():
    def windowed(**changed):
        def function(c):
            need(c.o["window"] is not None)
            return visible(c, **{key: change(c) for key, change in changed.items()})
        return function

    slip("window-off-by-one", "one wider", visible=windowed(window=lambda c: c.o["window"] + 1))
    slip("window-off-by-one", "one narrower", visible=windowed(window=lambda c: c.o["window"] - 1))
    slip("mask-part-missing", "without the window",
         visible=lambda c: need(c.o["causal"]) or windowed(window=lambda c: None)(c))
    slip("mask-missing", hide=lambda c, S: need(not visible(c).all()) or S)

    def kept(c, change):
        need(c.o["keep_first"] > 0)
        return change

    slip("first-keys-hidden", "none kept", visible=windowed(keep=lambda c: kept(c, 0)))
    slip("first-keys-hidden", "one more", visible=windowed(keep=lambda c: kept(c, c.o["keep_first"] + 1)))


def of_heads():
    slip("gqa-tiled", share=lambda c, rows: need(1 < c.G < c.H) or np.tile(rows, (c.H // c.G, 1, 1)))

    def without_sink(c, S):
        need("sink" in c.given)
        power = np.exp(S - S.max(axis=2, keepdims=True))
        return power / power.sum(axis=2, keepdims=True)

    def with_sinks(change):
        def function(c, S):
            need("sink" in c.given)
            own = c.given
            c.given = {**own, "sink": change(c, own["sink"])}
            A = softmax(c, S)
            c.given = own
            return A
        return function

    def of_head(h):
        return lambda c, sink: need(h <= c.H and c.H > 1) or np.full_like(sink, sink[0, h - 1])

    for h in (1, 2, 4):
        slip("sink-wrong", f"of head {h}", softmax=with_sinks(of_head(h)))
    slip("sink-wrong", "reversed", softmax=with_sinks(lambda c, sink: need(c.H > 2) or sink[:, ::-1]))
    slip("sink-wrong", "negated", softmax=with_sinks(lambda c, sink: need(np.isfinite(sink).all()) or -sink))
    slip("sink-wrong", "0", softmax=with_sinks(lambda c, sink: np.zeros_like(sink)))
    slip("sink-wrong", "1", softmax=with_sinks(lambda c, sink: np.ones_like(sink)))

    slip("rows-scaled", softmax=with_sinks(lambda c, sink: need(c.H <= 2 and not c.o["residual"]) or 0 * sink + 0.3
                                           if np.isfinite(sink).all() else need(False)))

    def undivided(divisor):
        def function(c, S):
            need("sink" in c.given)
            power = np.exp(S - S.max(axis=2, keepdims=True))
            return power / divisor(power)
        return function

    slip("softmax-unnormalised", softmax=undivided(lambda power: 1))
    slip("softmax-wrong-sum", "the sum and 1", softmax=undivided(lambda power: power.sum(axis=2, keepdims=True) + 1))

    def over_queries(c, S):
        need("sink" in c.given and np.isfinite(c.given["sink"]).all())
        power = np.exp(S - S.max(axis=1, keepdims=True))
        return power / power.sum(axis=1, keepdims=True)

    slip("sink-missing", softmax=without_sink)
    slip("softmax-axis", softmax=over_queries)
    slip("gate-missing", gate=lambda c, C: need("W_g" in c.given) or C)
    slip("gate-without-sigmoid", gate=lambda c, C: need("W_g" in c.given) or gate(c, C, lambda x: x))


def make_all():
    for group in (of_rotation, of_positions, of_alibi, of_norms, of_scores, of_masks, of_heads):
        group()
