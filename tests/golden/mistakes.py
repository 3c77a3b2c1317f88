"""What a student gets who makes one of the classic mistakes of attention, or two: NumPy, confirmed by PyTorch.

    python mistakes.py                     writes mistakes.json and prints what it covers

The right pipeline, its options and the names of its steps are those of attend.py, which is run to check them:
scores, scale, bias, temperature, mask, softmax, mixture, concatenation, W_O, residual.
Numbers are rounded to 12 significant digits; NaN and the infinities are strings.

A mistake changes one field of the pipeline (FIELDS below); a pair changes two different ones. An entry of `wrong` is

    mistakes   the ids
    variant    the form, where a mistake has several; digits the same for the two that round (where both are made,
               `digits` is that of scores-rounded and `digits_2` that of weights-rounded)
    guard      true: a row (for softmax-axis a column) without any visible score has weights 0; absent: no such row
               exists, or its weights are NaN, as PyTorch's softmax gives them
    O          the wrong result; absent where qk-swapped has T ≠ N, whose only step is S
    steps      in some cases the steps on the way; S_masked is what the softmax would read before scores-rounded
               rounds it to S_rounded, A what is mixed (after weights-rounded and mask-late)

Query i stands at position p among the keys (attend.py). Where a choice had to be made:

    d_k                the width of a head after the split, so with heads-not-split the whole width
    no-scale           there is no S_scaled
    scale-model-width  the width of X, else of Q
    mask-missing       drops causal, window and the boolean mask alike; mask-inverted exchanges what they hide together
    mask-strict        hides j = p; variant `with itself` of mask-inverted (causal alone): j ≥ p is visible
    mask-late          multiplies nothing: a hidden weight is replaced by 0, whatever normalised it
    mask-zero, -added  at the place of the mask, after the temperature; they need a mask, if only that of self-excluded
    softmax-base-2     with no-softmax or sum-normalised there is no base, so the result is that of the other alone
    values-…           the other matrix is split and shared as V would be
    empty-row-nan      where the right mask leaves a row empty; every other mistake about that row keeps the guard,
                       except those of visibility, which are recorded both ways
    heads-summed       with W_O only where the widths fit
"""

import itertools
import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import layout

FIELDS = {
    "scale": ["no-scale", "scale-by-d", "scale-multiplied", "scale-model-width"],
    "compare": ["qk-swapped"],
    "score": ["cosine-scores"],
    "visibility": ["mask-missing", "mask-inverted", "mask-strict", "self-excluded"],
    "hiding": ["mask-late", "mask-zero", "mask-added"],
    "score rounding": ["scores-rounded"],
    "normalise": ["softmax-axis", "softmax-whole", "no-softmax", "sum-normalised"],
    "base": ["softmax-base-2"],
    "weight rounding": ["weights-rounded"],
    "split": ["heads-interleaved", "heads-not-split"],
    "groups": ["gqa-tiled"],
    "merge": ["heads-not-transposed", "heads-reversed", "heads-summed"],
    "projection": ["weights-transposed"],
    "values": ["values-unprojected", "values-are-keys"],
    "projection of the output": ["no-output-projection"],
    "residual": ["residual-added", "residual-missing"],
    "transposed": ["column-convention"],
    "empty rows": ["empty-row-nan"],
}
FIELD_OF = {name: field for field, names in FIELDS.items() for name in names}
FORMS = {
    "mask-inverted": [None, "with itself"],
    "mask-added": [None, "one hides"],
    "scores-rounded": [1, 0, 2, 3],
    "weights-rounded": [1, 0, 2, 3],
}
DEFAULTS = {
    "heads": 1, "kv_heads": 1, "score": "dot", "scale": "auto", "temperature": 1.0, "causal": False, "causal_from": "end",
    "window": None, "mask_kind": None, "residual": False,
}
random = np.random.default_rng(11)
cases = []


class DoesNotGoOn(Exception):
    """The shapes of this mistake do not fit the rest of the pipeline."""


def need(condition):
    if not condition:
        raise DoesNotGoOn


# Where a mistake can be made.

def shape_of(options, inputs):
    if "X" in inputs:
        return len(inputs["X"]), len(inputs["X"])
    return len(inputs["Q"]), len(inputs["K"])


def positions(options, T, N):
    return np.arange(T)[:, None] + (N - T if options["causal_from"] == "end" else 0), np.arange(N)[None, :]


def rules(options, inputs):
    """What the right pipeline lets each query read."""
    T, N = shape_of(options, inputs)
    p, j = positions(options, T, N)
    sees = np.ones((T, N), dtype=bool)
    if options["causal"]:
        sees &= j <= p
    if options["window"] is not None:
        sees &= abs(p - j) < options["window"]
    if options["mask_kind"] is not None:
        sees &= inputs["mask"] if options["mask_kind"] == "allow" else ~inputs["mask"]
    return sees


def masked(options):
    return options["causal"] or options["window"] is not None or options["mask_kind"] is not None


def applies(name, form, options, inputs, others):
    """Whether there is something to get wrong (shapes that do not fit are found on the way)."""
    T, N = shape_of(options, inputs)
    H, G = options["heads"], options["kv_heads"]
    square = "X" in inputs and len({inputs[f"W_{which}"].shape for which in "QKV"} | {(inputs["X"].shape[1],) * 2}) == 1
    return {
        "no-scale": options["scale"] != "none",
        "scale-by-d": options["scale"] == "auto",
        "scale-multiplied": options["scale"] == "auto",
        "scale-model-width": options["scale"] == "auto" and (H > 1 or "X" in inputs),
        "cosine-scores": options["score"] == "dot",
        "mask-missing": masked(options),
        "mask-inverted": masked(options) and (
            form is None or options["causal"] and options["window"] is None and options["mask_kind"] is None),
        "mask-strict": options["causal"],
        "self-excluded": T == N,
        "heads-interleaved": H > 1,
        "heads-not-split": H > 1 and G == H,
        "gqa-tiled": 1 < G < H,
        "weights-transposed": square,
        "values-unprojected": "X" in inputs,
        "no-output-projection": "W_O" in inputs,
        "residual-added": "X" in inputs and not options["residual"],
        "residual-missing": options["residual"],
        "empty-row-nan": not rules(options, inputs).any(axis=1).all(),
        **{merge: H > 1 for merge in FIELDS["merge"]},
        **{hiding: masked(options) or "self-excluded" in others for hiding in FIELDS["hiding"]},
    }.get(name, True)


# The pipeline with mistakes in it: `edits` says by field which mistake is made, in which form.

def sight(options, inputs, edit):
    sees = rules(options, inputs)
    p, j = positions(options, *sees.shape)
    match edit:
        case ("mask-missing", _):
            return np.ones_like(sees)
        case ("mask-inverted", None):
            return ~sees
        case ("mask-inverted", _):
            return j >= p
        case ("mask-strict" | "self-excluded", _):
            return sees & (j != p)
    return sees


def scale_factor(name, options, d_k, d_model):
    usual = {"none": 1.0, "auto": 1 / math.sqrt(d_k)}.get(options["scale"], options["scale"])
    return {"no-scale": 1.0, "scale-by-d": 1 / d_k, "scale-multiplied": math.sqrt(d_k),
            "scale-model-width": 1 / math.sqrt(d_model)}.get(name, usual)


def with_numpy(options, inputs, edits, guard):
    """Every step, by name; the steps of several heads as one array with the heads in front."""
    chosen = {field: edits.get(field, (None, None))[0] for field in FIELDS}
    form = {field: edits.get(field, (None, None))[1] for field in FIELDS}
    given = dict(inputs)
    if "X" in given:
        for name in "QKV":
            weight = given[f"W_{name}"]
            given[name] = given["X"] @ (weight.T if chosen["projection"] else weight)
    H, G = options["heads"], options["kv_heads"]
    if chosen["split"] == "heads-not-split":
        H = G = 1
    tiled = chosen["groups"] == "gqa-tiled"
    source = [h % G if tiled else h * G // H for h in range(H)]

    def split(matrix, count):
        need(matrix.shape[1] % count == 0)
        if chosen["split"] == "heads-interleaved":
            return np.stack([matrix[:, h::count] for h in range(count)])
        return np.stack(np.split(matrix, count, axis=1))

    values = {"values-unprojected": "X", "values-are-keys": "K"}.get(chosen["values"], "V")
    Q, K, V = split(given["Q"], H), split(given["K"], G)[source], split(given[values], G)[source]

    steps = {}
    left, right = (K, Q) if chosen["compare"] else (Q, K)
    S = left @ right.swapaxes(1, 2)
    if options["score"] == "cosine" or chosen["score"]:
        S = S / np.linalg.norm(left, axis=2)[:, :, None] / np.linalg.norm(right, axis=2)[:, None, :]
    steps["S"] = S
    if S.shape[1] != Q.shape[1]:
        return steps
    if options["scale"] != "none" and chosen["scale"] != "no-scale":
        S = steps["S_scaled"] = S * scale_factor(
            chosen["scale"], options, Q.shape[2], given["X" if "X" in given else "Q"].shape[1])
    if "bias" in given:
        S = steps["S_biased"] = S + given["bias"]
    S = S / options["temperature"]

    sees = np.broadcast_to(sight(options, inputs, edits.get("visibility")), S.shape)
    late = chosen["hiding"] == "mask-late"
    if chosen["hiding"] == "mask-zero":
        S = np.where(sees, S, 0.0)
    elif chosen["hiding"] == "mask-added":
        S = S + (~sees if form["hiding"] == "one hides" else sees)
    elif not late:
        S = np.where(sees, S, -np.inf)
    if not late and (masked(options) or chosen["visibility"]):
        steps["S_masked"] = S
    if chosen["score rounding"]:
        S = steps["S_rounded"] = np.round(S, form["score rounding"])

    if chosen["normalise"] == "no-softmax":
        A = S
    elif chosen["normalise"] == "sum-normalised":
        A = S / S.sum(axis=2, keepdims=True)
    else:
        axis = {"softmax-axis": 1, "softmax-whole": (1, 2)}.get(chosen["normalise"], 2)
        power = (np.exp2 if chosen["base"] else np.exp)(S - S.max(axis=axis, keepdims=True))
        A = power / power.sum(axis=axis, keepdims=True)
        if guard:
            A = np.where(np.isneginf(S).all(axis=axis, keepdims=True), 0.0, A)
    if late:
        A = np.where(sees, A, 0.0)
    if chosen["weight rounding"]:
        A = np.round(A, form["weight rounding"])
    steps["A"] = A

    mixed = steps["O_h"] = np.einsum("htn,hnv->htv", A, V)
    heads = {"heads-reversed": mixed[::-1]}.get(chosen["merge"], mixed)
    C = np.concatenate(list(heads), axis=1)
    if chosen["merge"] == "heads-summed":
        C = mixed.sum(axis=0)
    if chosen["merge"] == "heads-not-transposed":
        C = mixed.reshape(C.shape)
    O = steps["C"] = C
    if "W_O" in given and not chosen["projection of the output"]:
        need(C.shape[1] == len(given["W_O"]))
        O = C @ given["W_O"]
    if chosen["residual"] == "residual-added" or options["residual"] and chosen["residual"] is None:
        need(O.shape == given["X"].shape)
        O = O + given["X"]
    steps["O"] = O.T if chosen["transposed"] else O
    return steps


# The second opinion: the way a user of PyTorch would slip.

def with_torch(options, inputs, edits):
    """The result without a guard, and whether scaled_dot_product_attention made it."""
    made = {name: form for name, form in edits.values()}
    given = {name: torch.from_numpy(value) for name, value in inputs.items()}
    x = given.get("X")
    if x is not None:
        for name in "QKV":
            weight = given[f"W_{name}"]
            given[name] = F.linear(x, weight if "weights-transposed" in made else weight.T)
    H, G = options["heads"], options["kv_heads"]
    if "heads-not-split" in made:
        H = G = 1
    v = x if "values-unprojected" in made else given["K"] if "values-are-keys" in made else given["V"]

    def split(matrix, count):
        rows = len(matrix)
        if "heads-interleaved" in made:
            return matrix.view(rows, -1, count).permute(2, 0, 1)
        return matrix.view(rows, count, -1).transpose(0, 1)

    q, k, v = split(given["Q"], H), split(given["K"], G), split(v, G)
    if "gqa-tiled" in made:
        k, v = k.repeat(H // G, 1, 1), v.repeat(H // G, 1, 1)
    else:
        k, v = k.repeat_interleave(H // G, 0), v.repeat_interleave(H // G, 0)
    d_model = (given["Q"] if x is None else x).shape[1]
    scale = scale_factor(edits.get("scale", (None,))[0], options, q.shape[-1], d_model)
    sees = torch.from_numpy(np.array(sight(options, inputs, edits.get("visibility"))))
    if "qk-swapped" in made:
        q, k = k, q

    own = {"score", "hiding", "score rounding", "normalise", "base", "weight rounding"} & set(edits)
    fits = not own and options["score"] == "dot" and bool(sees.any(1).all())
    if fits:
        added = torch.zeros_like(sees, dtype=torch.float64).masked_fill(~sees, -torch.inf)
        added = added + given.get("bias", torch.zeros(())) / options["temperature"]
        mixed = F.scaled_dot_product_attention(
            q[None], k[None], v[None], attn_mask=added, scale=scale / options["temperature"])[0]
    else:
        cosine = "cosine-scores" in made or options["score"] == "cosine"
        scores = F.cosine_similarity(q[:, :, None], k[:, None], dim=3) if cosine else torch.bmm(q, k.mT)
        scores = (scores * scale + given.get("bias", 0.0)) / options["temperature"]
        if "mask-zero" in made:
            scores = scores.masked_fill(~sees, 0.0)
        elif "mask-added" in made:
            scores = scores + (sees.logical_not() if made["mask-added"] else sees).double()
        elif "mask-late" not in made:
            scores = scores.masked_fill(~sees, -torch.inf)
        if "scores-rounded" in made:
            scores = torch.round(scores, decimals=made["scores-rounded"])
        exponents = scores * math.log(2) if "softmax-base-2" in made else scores
        if "no-softmax" in made:
            weights = scores
        elif "sum-normalised" in made:
            weights = scores / scores.sum(-1, keepdim=True)
        elif "softmax-axis" in made:
            weights = torch.softmax(exponents, dim=-2)
        elif "softmax-whole" in made:
            weights = torch.softmax(exponents.flatten(1), dim=-1).view_as(scores)
        else:
            weights = torch.softmax(exponents, dim=-1)
        if "mask-late" in made:
            weights = weights.masked_fill(~sees, 0.0)
        if "weights-rounded" in made:
            weights = torch.round(weights, decimals=made["weights-rounded"])
        mixed = torch.bmm(weights, v)

    rows = mixed.shape[1]
    if "heads-not-transposed" in made:
        out = mixed.reshape(rows, -1)
    elif "heads-summed" in made:
        out = mixed.sum(0)
    else:
        out = (mixed.flip(0) if "heads-reversed" in made else mixed).transpose(0, 1).reshape(rows, -1)
    if "W_O" in given and "no-output-projection" not in made:
        out = F.linear(out, given["W_O"].T)
    if "residual-added" in made or options["residual"] and "residual-missing" not in made:
        out = out + x
    return (out.T if "column-convention" in made else out).numpy(), fits


# Writing it down.

def written(array):
    if array.dtype == bool:
        return array.tolist()
    return [[float(f"{value:.12g}") if np.isfinite(value) else str(value) for value in row] for row in array.tolist()]


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


def records(options, inputs, mistakes, with_steps=False):
    """The entries for these mistakes ((id, form), …): none where they do not go together here."""
    ids = [name for name, _ in mistakes]
    edits = {FIELD_OF[name]: (name, form) for name, form in mistakes}
    if not all(applies(name, form, options, inputs, ids) for name, form in mistakes):
        return []
    entry = {"mistakes": ids}
    for name, form in mistakes:
        if form is not None:
            key = "digits" if isinstance(form, int) else "variant"
            entry[key if key not in entry else f"{key}_2"] = form
    try:
        bare = with_numpy(options, inputs, edits, guard=False)
        guarded = with_numpy(options, inputs, edits, guard=True)
    except DoesNotGoOn:
        return []
    if "O" not in bare:
        return [{**entry, "steps": named(bare)}] if len(ids) == 1 else []
    theirs, fused = with_torch(options, inputs, edits)
    assert bare["O"].shape == theirs.shape, mistakes
    assert np.allclose(bare["O"], theirs, rtol=1e-9, atol=1e-9, equal_nan=True), (mistakes, bare["O"], theirs)
    confirmed[fused] += 1

    def one(steps, **more):
        there = {**entry, **more, "O": written(steps["O"])}
        if with_steps:
            there["steps"] = {name: rows for name, rows in named(steps).items() if name[0] in "SA"}
        return there

    if np.array_equal(bare["A"], guarded["A"], equal_nan=True) or "empty-row-nan" in ids:
        return [one(bare)]
    both = [one(bare), one(guarded, guard=True)]
    empty_anyway = not rules(options, inputs).any(axis=1).all()
    return both if "visibility" in edits or not empty_anyway else both[1:]


def size(entries):
    return sum(len(json.dumps(entry)) for entry in entries)


# The cases.

def normal(rows, cols, size=1.0):
    return np.round(random.standard_normal((rows, cols)) * size, 3)


def qkv(T, N, d_k, d_v, H=1, G=1, size=1.2, **more):
    return {"Q": normal(T, H * d_k, size), "K": normal(N, G * d_k, size), "V": normal(N, G * d_v), **more}


def tokens(T, E, d_k, d_v, H=1, G=1, out=None, size=None, **more):
    size = size or 1.2 / math.sqrt(E)
    given = {"X": normal(T, E), "W_Q": normal(E, H * d_k, size), "W_K": normal(E, G * d_k, size),
             "W_V": normal(E, G * d_v, size)}
    if out is not None:
        given["W_O"] = normal(H * d_v, out, 1 / math.sqrt(H * d_v))
    return {**given, **more}


def allowed(rows):
    return np.array([[mark == "1" for mark in row] for row in rows.split()])


def case(name, inputs, steps=False, all_pairs=False, **changed):
    assert set(changed) <= set(DEFAULTS)
    options = {**DEFAULTS, **changed}
    right = with_numpy(options, inputs, {}, guard=True)
    entries = []
    for mistake in FIELD_OF:
        for form in FORMS.get(mistake, [None]):
            entries += records(options, inputs, [(mistake, form)], with_steps=steps)
    cases.append({"name": name, "options": options, "inputs": inputs, "right": right, "wrong": entries,
                  "all_pairs": all_pairs})


def all_cases():
    case("Q, K, V", qkv(5, 5, 3, 3), steps=True)
    case("fewer queries than keys, causal", qkv(4, 6, 3, 2), causal=True)
    case("causal", qkv(6, 6, 3, 3), causal=True, steps=True)
    case("window", qkv(6, 6, 2, 3), window=2)
    case("boolean mask, a number as scale",
         qkv(5, 6, 3, 3, mask=allowed("110101 011011 101110 111001 001111")), mask_kind="allow", scale=0.4)
    case("bias and temperature", qkv(5, 5, 3, 2, bias=normal(5, 5)), temperature=1.5)
    case("tokens, square weights", tokens(5, 4, 4, 4))
    case("tokens, other widths, window of the past", tokens(6, 4, 3, 2), causal=True, window=3)
    case("tokens, output of another width", tokens(5, 3, 2, 4, out=5), causal=True)
    case("2 heads from Q, K, V", qkv(5, 6, 2, 2, H=2, G=2), heads=2, kv_heads=2)
    case("3 heads, causal", tokens(5, 6, 2, 2, H=3, G=3, out=6), heads=3, kv_heads=3, causal=True)
    case("4 heads, 2 key/value heads, causal", tokens(5, 8, 2, 2, H=4, G=2), heads=4, kv_heads=2, causal=True)
    case("4 heads, 2 key/value heads, wide", tokens(5, 4, 2, 2, H=4, G=2, out=4), heads=4, kv_heads=2, causal=True)
    case("4 heads, 1 key/value head", tokens(5, 4, 2, 2, H=4, G=1), heads=4, kv_heads=1)
    case("residual, 2 heads, causal", tokens(5, 4, 2, 2, H=2, G=2, out=4), heads=2, kv_heads=2, causal=True, residual=True)
    case("a row that sees nothing", qkv(5, 5, 3, 3, mask=allowed("11011 01101 00000 10110 01011")), mask_kind="allow")
    hidden = "00010 01000 11111 00101 00010"
    case("a row that sees nothing, 2 heads, causal", tokens(5, 4, 2, 2, H=2, G=2, out=4, mask=allowed(hidden)),
         heads=2, kv_heads=2, causal=True, mask_kind="block")
    case("a row that sees nothing, 2 heads, causal, residual", tokens(5, 4, 2, 2, H=2, G=2, out=4, mask=allowed(hidden)),
         heads=2, kv_heads=2, causal=True, mask_kind="block", residual=True)
    case("a row that sees nothing, 4 heads, 2 key/value heads, residual",
         tokens(5, 4, 2, 2, H=4, G=2, out=4, mask=allowed(hidden)),
         heads=4, kv_heads=2, causal=True, mask_kind="block", residual=True)
    case("a row that sees nothing, 4 heads, 2 key/value heads",
         tokens(5, 4, 2, 2, H=4, G=2, out=4, mask=allowed(hidden)),
         heads=4, kv_heads=2, causal=True, mask_kind="block")
    case("residual, 4 heads, 2 key/value heads", tokens(5, 8, 2, 2, H=4, G=2),
         heads=4, kv_heads=2, causal=True, residual=True)
    case("6 tokens of width 8, 2 heads, causal", tokens(6, 8, 4, 4, H=2, G=2, out=8),
         heads=2, kv_heads=2, causal=True, steps=True, all_pairs=True)
    case("2 heads without output projection", tokens(5, 4, 2, 2, H=2, G=2), heads=2, kv_heads=2, causal=True)
    case("2 heads, causal, output projection", tokens(5, 4, 2, 2, H=2, G=2, out=4), heads=2, kv_heads=2, causal=True)
    case("3 heads, square weights, no output projection", tokens(5, 6, 2, 2, H=3, G=3), heads=3, kv_heads=3, causal=True)
    case("2 heads whose values are as wide as the model", tokens(5, 3, 2, 3, H=2, G=2), heads=2, kv_heads=2)
    case("2 heads whose values are as wide as the model, causal", tokens(5, 3, 2, 3, H=2, G=2),
         heads=2, kv_heads=2, causal=True)
    case("residual, 2 heads, no output projection", tokens(5, 4, 2, 2, H=2, G=2), heads=2, kv_heads=2, residual=True)
    case("a row that sees nothing, 4 heads, 2 key/value heads, from Q, K, V",
         qkv(5, 5, 2, 1, H=4, G=2, mask=allowed(hidden)), heads=4, kv_heads=2, causal=True, mask_kind="block")
    case("a row that sees nothing, 2 heads, no output projection", tokens(5, 4, 2, 2, H=2, G=2, mask=allowed(hidden)),
         heads=2, kv_heads=2, causal=True, mask_kind="block")
    case("saturated softmax", qkv(5, 5, 3, 3, size=25.0))
    case("width of the model is that of the head", tokens(5, 3, 3, 3, out=3), causal=True)


def add_pairs():
    """Every pair in the case that takes them all, and in others until it is in three; the emptiest of those first."""
    spent = [size(entry["wrong"]) if not entry["all_pairs"] else 0 for entry in cases]
    hides = [entry["name"] in ("saturated softmax", "width of the model is that of the head") for entry in cases]
    times = Counter()
    for first, second in itertools.combinations(FIELD_OF, 2):
        if FIELD_OF[first] == FIELD_OF[second]:
            continue
        mistakes = [(name, FORMS.get(name, [None])[0]) for name in (first, second)]
        order = sorted(range(len(cases)), key=lambda n: (not cases[n]["all_pairs"], hides[n], spent[n]))
        for n in order:
            if times[first, second] >= 3 and not cases[n]["all_pairs"]:
                break
            inputs, options = cases[n]["inputs"], cases[n]["options"]
            found = records(options, inputs, mistakes)
            cases[n]["wrong"] += found
            spent[n] += size(found)
            times[first, second] += bool(found)
    return times


def attend_agrees():
    """Runs attend.py's own function on every case; its checks against PyTorch come with it."""
    source = (Path(__file__).parent / "attend.py").read_text(encoding="utf-8").split("\nfor section in ")[0]
    module = {"__name__": "attend"}
    exec(compile(source, "attend.py", "exec"), module)
    for entry in cases:
        steps, *heads = module["attend"](entry["options"], entry["inputs"])
        assert module["check_with_torch"](entry["options"], entry["inputs"], steps, *heads)
        assert steps.keys() == entry["right"].keys(), entry["name"]
        for name, value in steps.items():
            assert np.allclose(value, entry["right"][name], rtol=1e-12, atol=1e-12), (entry["name"], name)


np.seterr(all="ignore")
confirmed = Counter()
all_cases()
attend_agrees()
times = add_pairs()

about = "Attention with classic mistakes by NumPy, confirmed by PyTorch; made by mistakes.py, which defines each"
for one in cases:
    one["inputs"] = {name: written(value) for name, value in one["inputs"].items()}
    one["right"] = named(one["right"])
records = [{key: one[key] for key in ("name", "options", "inputs", "right", "wrong")} for one in cases]
bytes_written = layout.write(__file__, {"about": about, **layout.versions(np, torch), "cases": records}, line=200_000)
assert bytes_written < 2_000_000, bytes_written

entries = [entry for one in cases for entry in one["wrong"]]
single = [entry for entry in entries if len(entry["mistakes"]) == 1]
print(f"{len(cases)} cases, {len(single)} singles, {len(entries) - len(single)} pairs, {bytes_written} bytes")
print(f"{confirmed.total()} results confirmed by PyTorch, {confirmed[True]} of them by scaled_dot_product_attention")
print(f"{sum(count > 1 for count in times.values())} pairs of ids in two cases or more")
for one in cases:
    alone = sum(len(entry["mistakes"]) == 1 for entry in one["wrong"])
    print(f"  {alone:3} singles {len(one['wrong']) - alone:4} pairs  {one['name']}")
for name in FIELD_OF:
    print(f"  {sum(entry['mistakes'] == [name] for entry in single):3} times {name}")
print("once:", *[" + ".join(pair) for pair, count in times.items() if count == 1], sep="\n  ")
never = [" + ".join(pair) for pair, count in times.items() if not count]
assert never == ["heads-not-split + gqa-tiled", "gqa-tiled + weights-transposed"], never
print(f"never, as the one needs G = H (for square W_K, W_V too) and the other G < H: {', '.join(never)}")
