"""Gradients with one or two of the classic mistakes of a backward pass in them: NumPy, by hand; the right ones by PyTorch.

    python gradient_slips.py

writes gradient_slips.json next to itself. The formulas are those of the backward pass of one head,

    dV = Aᵀ dO, dA = dO Vᵀ, dS = A ∘ (dA − row sums of A ∘ dA), dQ = s dS K, dK = s dSᵀ Q, dW = Xᵀ d(X W), dX = Σ d(X W) Wᵀ,

written here anew, without a look at src/; autograd in float64 confirms each right gradient to 1e-12. A case is an exercise with
its start and its right gradients. A record under `wrong` is one gradient, `node`, with the mistakes in it:

    mistakes   their ids, one or two
    variant    the form, where a mistake has several; a pair has the first form of each
    same_as    the ids of other mistakes, or pairs, that give the same numbers there
    form       true: dS is the gradient of the scaled, capped or masked scores, as many texts define it. That is no mistake

A single mistake has a record for each gradient that it changes. A pair has one, for the first gradient in which it differs from
the right one and from each of the two alone: there both can be seen. `from_rounded_weights` has A to two decimals, and gradients
that are computed from these numbers. Numbers are rounded to 10 significant digits.
"""

import itertools
import math

import layout
import numpy as np
import torch

random = np.random.default_rng(1905)
OPTIONS = {"heads": 1, "kv_heads": 1, "scale": "auto", "causal": False, "causal_from": "end", "window": None, "keep_first": 0,
           "residual": False, "position": None, "rope_base": 10000.0, "rope_width": None, "rope_scaling": None,
           "first_position": 0, "qk_norm": False, "qk_norm_eps": 1e-6, "softcap": None, "temperature": 1.0}


def normal(rows, cols, size=1.0):
    return np.round(random.standard_normal((rows, cols)) * size, 3)


def case(name, inputs, start="dO", **options):
    options = OPTIONS | options
    width = inputs["W_O"].shape[1] if "W_O" in inputs else (
        inputs["V"] if "V" in inputs else inputs["W_V"]).shape[1] // options["kv_heads"] * options["heads"]
    rows = len(inputs.get("Q", inputs.get("X")))
    return {"name": name, "options": options, "inputs": inputs,
            "dO": np.ones((rows, width)) if start == "ones" else normal(rows, width), "start": start}


CASES = [
    case("4 queries and keys, values as wide", {"Q": normal(4, 3), "K": normal(4, 3), "V": normal(4, 4)}),
    case("5 tokens, causal, with a scale, a temperature and a soft-cap, loss the sum",
         {"Q": normal(5, 3, 1.5), "K": normal(5, 3, 1.5), "V": normal(5, 2)}, "ones",
         causal=True, scale=0.3, temperature=0.6, softcap=1.2),
    case("5 tokens of width 6, 4 heads in 2 groups, projections, residual, causal",
         {"X": normal(5, 6), "W_Q": normal(6, 8), "W_K": normal(6, 4), "W_V": normal(6, 4), "W_O": normal(8, 6)},
         heads=4, kv_heads=2, causal=True, residual=True),
    case("4 tokens, square projections", {"X": normal(4, 3), "W_Q": normal(3, 3), "W_K": normal(3, 3), "W_V": normal(3, 3),
                                          "W_O": normal(3, 3)}),
    case("4 tokens, rotary positions", {"Q": normal(4, 4), "K": normal(4, 4), "V": normal(4, 3)}, position="rope"),
]


# The forward pass, and the backward pass with slips in it.

def blocks(matrix, count):
    return np.split(matrix, count, axis=1)


def turned(x, base, sign=1.0):
    """Each pair (p, p + d/2) of columns of row i by the angle i / base^(2p/d)."""
    d = x.shape[1]
    angle = sign * np.arange(len(x))[:, None] * base ** (-2.0 * np.arange(d // 2) / d)
    a, b = x[:, : d // 2], x[:, d // 2 :]
    return np.hstack([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)])


def softmax(s):
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def rows(m):
    return m.sum(axis=1, keepdims=True)


SOFTMAX = {
    "right": lambda a, g: a * (g - rows(a * g)),
    "copied": lambda a, g: g,
    "no sums": lambda a, g: a * g,
    "diagonal": lambda a, g: a * (1 - a) * g,
    "columns": lambda a, g: a * (g - (a * g).sum(axis=0, keepdims=True)),
    "plain sums": lambda a, g: a * (g - rows(g)),
    "unweighted": lambda a, g: g - rows(a * g),
    "sums unweighted": lambda a, g: a * g - rows(a * g),
    "negated": lambda a, g: a * (rows(a * g) - g),
}


def gradients(of, slips=None):
    """All gradients of a case, with these slips; a slip that does not fit makes no gradient."""
    slips, m, o = slips or {}, of["inputs"], of["options"]
    H, G = o["heads"], o["kv_heads"]
    x = m.get("X")
    q, k, v = (m[n] if n in m else x @ m[f"W_{n}"] for n in "QKV")
    n, keys = len(q), len(k)
    scale = 1 / math.sqrt(k.shape[1] // G) if o["scale"] == "auto" else o["scale"]
    visible = np.tril(np.ones((n, keys), bool), keys - n) if o["causal"] else np.ones((n, keys), bool)
    heads, rope = [], o["position"] == "rope"
    for h in range(H):
        g = h * G // H
        qh, kh, vh = blocks(q, H)[h], blocks(k, G)[g], blocks(v, G)[g]
        if rope:
            qh, kh = turned(qh, o["rope_base"]), turned(kh, o["rope_base"])
        s = qh @ kh.T * scale / o["temperature"]
        capped = o["softcap"] * np.tanh(s / o["softcap"]) if o["softcap"] else s
        a = softmax(np.where(visible, capped, -np.inf))
        if "decimals of weights" in slips:
            a = np.round(a, slips["decimals of weights"])
        heads.append((g, qh, kh, vh, capped, a, a @ vh))
    c = np.hstack([head[-1] for head in heads])
    p = c @ m["W_O"] if "W_O" in m else c
    do = of["dO"] * slips.get("start", 1.0)
    d = {}
    weights = slips.get("projections", {})

    def projection(name, read, made, gradient):
        how = weights.get(name, weights.get("all"))
        if how == "transposed":
            return gradient.T @ read
        if how == "output":
            return made.T @ gradient
        if how in ("K", "V"):
            return read.T @ d[f"d{how}"]
        return read.T @ gradient

    def back(name, gradient):
        plain = slips.get("inputs", {})
        return gradient @ (m[name] if plain.get(name, plain.get("all")) else m[name].T)

    dc = do
    if "W_O" in m:
        d["dW_O"] = projection("W_O", c, p, do)
        dc = back("W_O", do)
    dq, dks, dvs, per_head = [], [[] for _ in range(G)], [[] for _ in range(G)], []
    for h, (g, qh, kh, vh, capped, a, mix) in enumerate(heads):
        doh = blocks(dc, H)[h]
        da = {"right": lambda: doh @ vh.T, "values": lambda: doh @ vh, "result": lambda: doh @ mix.T}[slips.get("da", "right")]()
        dvs[g].append((a @ doh if slips.get("dv") == "untransposed" else a.T @ doh) * slips.get("sign dv", 1.0))
        on_the_way = softmax(capped) if slips.get("unmasked") else a
        ds = masked = SOFTMAX[slips.get("softmax", "right")](on_the_way, da)
        later = [ds]
        if not slips.get("leak"):
            ds = np.where(visible, ds, 0.0)
        later.append(ds)
        if o["softcap"] and not slips.get("cap"):
            ds = ds * (1 - (capped / o["softcap"]) ** 2)
        later.append(ds)
        if not slips.get("temperature"):
            ds = ds / o["temperature"]
        later.append(ds)
        ds = ds * scale ** slips.get("scale", 1)
        dqh = {"right": lambda: ds @ kh, "transposed": lambda: ds.T @ kh, "operand": lambda: ds @ qh}[slips.get("dq", "right")]()
        dkh = {"right": lambda: ds.T @ qh, "untransposed": lambda: ds @ qh, "operand": lambda: ds.T @ kh}[
            slips.get("dk", "right")]()
        dqh, dkh = dqh * slips.get("sign dq", 1.0), dkh * slips.get("sign dk", 1.0)
        dqh, dkh = dqh * scale ** slips.get("scale dq", 0), dkh * scale ** slips.get("scale dk", 0)
        if rope and slips.get("rope") != "never":
            sign = 1.0 if slips.get("rope") == "forward" else -1.0
            dqh, dkh = turned(dqh, o["rope_base"], sign), turned(dkh, o["rope_base"], sign)
        dq.append(dqh)
        dks[g].append(dkh)
        per_head.append((da, ds, later))
    group = {None: sum, "first": lambda parts: parts[0], "last": lambda parts: parts[-1],
             "mean": lambda parts: sum(parts) / len(parts)}[slips.get("group")]
    if H == 1:
        d["dA"], d["dS"], d["later"] = per_head[0]
        d["A"] = heads[0][5]
    d["dQ"], d["dK"], d["dV"] = np.hstack(dq), np.hstack([group(x) for x in dks]), np.hstack([group(x) for x in dvs])
    if x is not None:
        made = {"Q": q, "K": k, "V": v}
        for name in "QKV":
            d[f"dW_{name}"] = projection(f"W_{name}", x, made[name], d[f"d{name}"])
        parts = {name: back(f"W_{name}", d[f"d{name}"]) for name in "QKV"}
        if o["residual"]:
            parts["residual"] = do
        kept = slips.get("paths", parts.keys())
        d["dX"] = sum(parts[name] for name in parts if name in kept)
    return d


def by_autograd(of):
    """The right gradients of the given matrices, by PyTorch."""
    m = {name: torch.tensor(x, dtype=torch.float64, requires_grad=True) for name, x in of["inputs"].items()}
    o = of["options"]
    H, G, x = o["heads"], o["kv_heads"], m.get("X")
    q, k, v = (m[n] if n in m else x @ m[f"W_{n}"] for n in "QKV")
    split = lambda y, count: y.reshape(len(y), count, -1).transpose(0, 1)
    q, k, v = split(q, H), split(k, G).repeat_interleave(H // G, 0), split(v, G).repeat_interleave(H // G, 0)
    if o["position"] == "rope":
        half = q.shape[2] // 2
        angle = torch.arange(q.shape[1])[:, None] * o["rope_base"] ** (-torch.arange(half, dtype=torch.float64) / half)
        cos, sin = (torch.cat([f(angle)] * 2, dim=1) for f in (torch.cos, torch.sin))
        rotate = lambda y: y * cos + torch.cat([-y[..., half:], y[..., :half]], dim=-1) * sin
        q, k = rotate(q), rotate(k)
    s = q @ k.transpose(1, 2) * (q.shape[2] ** -0.5 if o["scale"] == "auto" else o["scale"]) / o["temperature"]
    if o["softcap"]:
        s = o["softcap"] * torch.tanh(s / o["softcap"])
    if o["causal"]:
        s = s.masked_fill(torch.ones(s.shape[1:], dtype=torch.bool).triu(1), -math.inf)
    result = (s.softmax(dim=-1) @ v).transpose(0, 1).reshape(s.shape[1], -1)
    if "W_O" in m:
        result = result @ m["W_O"]
    if o["residual"]:
        result = result + x
    (result * torch.tensor(of["dO"])).sum().backward()
    return {f"d{name}": y.grad.numpy() for name, y in m.items()}


# The slips.

def slips(of):
    """(id, variant, what is done otherwise) for each way of making a mistake; the first way of each is used in pairs."""
    o, m = of["options"], of["inputs"]
    n, keys = (len(m["X"]),) * 2 if "X" in m else (len(m["Q"]), len(m["K"]))
    cells = of["dO"].shape
    yield "gradient-loss-mean", "cells", {"start": 1 / (cells[0] * cells[1])}
    yield "gradient-loss-mean", "rows", {"start": 1 / cells[0]}
    yield "gradient-loss-mean", "columns", {"start": 1 / cells[1]}
    yield "gradient-sign", "all", {"start": -1.0}
    yield "gradient-sign", "softmax", {"softmax": "negated"}
    for node in ("dq", "dk", "dv"):
        yield "gradient-sign", node, {f"sign {node}": -1.0}
    for name in ("copied", "no sums", "diagonal", "columns", "plain sums"):
        yield f"gradient-softmax-{name.replace(' ', '-')}", "", {"softmax": name}
    for name in ("unweighted", "sums unweighted"):
        yield "gradient-softmax-unweighted", name, {"softmax": name}
    yield "gradient-softmax-copied", "and through the scale", {"softmax": "copied", "scale": 0}
    if o["causal"]:
        yield "gradient-of-unmasked", "leaking", {"unmasked": True, "leak": True}
        yield "gradient-of-unmasked", "zeroed", {"unmasked": True}
        yield "gradient-mask-leak", "", {"leak": True}
    yield "gradient-scale-missing", "", {"scale": 0}
    yield "gradient-scale-twice", "", {"scale": 2}
    for node in ("dq", "dk"):
        yield "gradient-scale-missing", node, {f"scale {node}": -1}
        yield "gradient-scale-twice", node, {f"scale {node}": 1}
    if o["temperature"] != 1:
        yield "gradient-temperature-missing", "", {"temperature": True}
    if o["softcap"]:
        yield "gradient-cap-missing", "", {"cap": True}
    if o["position"]:
        yield "gradient-rotation", "never", {"rope": "never"}
        yield "gradient-rotation", "forward", {"rope": "forward"}
    if n == keys:
        yield "gradient-keys-untransposed", "", {"dk": "untransposed"}
        yield "gradient-queries-transposed", "", {"dq": "transposed"}
        yield "gradient-queries-operand", "", {"dq": "operand"}
        yield "gradient-keys-operand", "", {"dk": "operand"}
        yield "gradient-values-untransposed", "", {"dv": "untransposed"}
        yield "gradient-weights-product", "result", {"da": "result"}
    if "V" in m and m["V"].shape[1] == keys:
        yield "gradient-weights-product", "values", {"da": "values"}
    if "X" in m:
        names = ["W_Q", "W_K", "W_V", "W_O"]
        yield "gradient-projection-transposed", "all", {"projections": {"all": "transposed"}}
        for name in names:
            yield "gradient-projection-transposed", name, {"projections": {name: "transposed"}}
        for name in names:
            if m[name].shape[0] == m[name].shape[1]:
                yield "gradient-projection-input", name, {"projections": {name: "output"}}
        for name, other in (("W_Q", "K"), ("W_Q", "V"), ("W_K", "V")):
            yield "gradient-projection-input", f"{name} {other}", {"projections": {name: other}}
        if all(m[name].shape[0] == m[name].shape[1] for name in names):
            yield "gradient-input-untransposed", "all", {"inputs": {"all": True}}
            for name in names:
                yield "gradient-input-untransposed", name, {"inputs": {name: True}}
        paths = ["Q", "K", "V"] + ["residual"] * o["residual"]
        for path in paths:
            yield "gradient-path-missing", f"only {path}", {"paths": [path]}
        for path in paths:
            yield "gradient-path-missing", f"without {path}", {"paths": [other for other in paths if other != path]}
    if o["kv_heads"] < o["heads"]:
        yield "gradient-group-sum-missing", "first", {"group": "first"}
        yield "gradient-group-sum-missing", "last", {"group": "last"}
        yield "gradient-group-mean", "", {"group": "mean"}


# What is written.

def number(x):
    return float(f"{x:.10g}")


def listed(matrix):
    return [[number(x) for x in row] for row in np.asarray(matrix)]


def near(a, b):
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-9, atol=1e-11)


def record(of):
    right = gradients(of)
    later, _ = right.pop("later", []), right.pop("A", None)
    for name, gradient in by_autograd(of).items():
        assert np.abs(gradient - right[name]).max() < 1e-12, (of["name"], name)
    # (ids, variant, gradients), alone and in pairs.
    made_with = lambda slip: {name: x for name, x in gradients(of, slip).items() if name not in ("later", "A")}
    is_form = lambda name, matrix: name == "dS" and any(near(matrix, x) for x in later)
    singles = [([id], variant, made_with(slip), slip) for id, variant, slip in slips(of)]
    first = {}
    for ids, _, made, slip in singles:
        first.setdefault(ids[0], (made, slip))
    pairs = []
    for (a, (made_a, slip_a)), (b, (made_b, slip_b)) in itertools.combinations(first.items(), 2):
        if slip_a.keys() & slip_b.keys():
            continue
        both = made_with(slip_a | slip_b)
        for name in both:
            shown = not any(near(both[name], other[name]) for other in (right, made_a, made_b))
            if shown and not is_form(name, both[name]):
                pairs.append(([a, b], name, both[name]))
                break
    everything = [(ids, made) for ids, _, made, _ in singles]

    def same(ids, name, matrix):
        alike = [other for other, made in everything if other != ids and near(made[name], matrix)]
        alike += [other for other, node, made in pairs if other != ids and node == name and near(made, matrix)]
        return [list(ids) for ids in sorted({tuple(ids) for ids in alike})]

    wrong = []
    for ids, variant, made, _ in singles:
        for name, matrix in made.items():
            if not near(matrix, right[name]):
                form = {"form": True} if is_form(name, matrix) else {}
                wrong.append({"mistakes": ids, "variant": variant, "node": name, **form,
                              "same_as": same(ids, name, matrix), "matrix": listed(matrix)})
    for ids, name, matrix in pairs:
        wrong.append({"mistakes": ids, "variant": "", "node": name, "same_as": same(ids, name, matrix),
                      "matrix": listed(matrix)})
    # Weights that a student rounded and went on with: what follows from them is not wrong.
    follows = gradients(of, {"decimals of weights": 2}) if of["options"]["heads"] == 1 else {}
    follows = {"from_rounded_weights": {name: listed(follows[name]) for name in ("A", "dV", "dQ")}} if follows else {}
    start = {} if of["start"] == "ones" else {"dO": listed(of["dO"])}
    print(f"{of['name']}: {len(singles)} ways, {len(pairs)} pairs, {len(wrong)} records")
    return {"name": of["name"], "options": of["options"], "inputs": {name: listed(x) for name, x in of["inputs"].items()},
            **start, **follows, "right": {name: listed(x) for name, x in right.items()}, "wrong": wrong}


layout.write(__file__, {"about": "Gradients with mistakes in them, by NumPy; made by gradient_slips.py",
                        "numpy": np.__version__, "torch": torch.__version__, "cases": [record(of) for of in CASES]})
