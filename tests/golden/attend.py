"""Whole attention pipelines, computed with NumPy and checked against PyTorch.

    python attend.py                       writes attend.json

Order: scores, times scale, plus bias, divided by temperature, mask, softmax along the row, mixture of the values.
Query i of T (from 1) stands at position p = N − T + i among the N keys (`causal_from` end) or at p = i (start):

    causal             sees the keys 1 … p
    window w           sees the keys with |p − j| < w; with causal those with p − w < j ≤ p
    mask_kind allow    sees where the mask is true; block: where it is false; add: the mask is added to the scores

A query that sees no key has weights 0 and output 0. Query head h of H (from 1) reads key/value head ⌈h·G/H⌉ of G; heads
are contiguous blocks of columns. `scale` is a number, `none` (no scaling) or `auto` (1/√d_k).

Expected are S (or S_1, S_2 …), S_scaled, S_biased and S_masked where those steps exist (S_masked is what the softmax
reads), A, per head O_1 …, the concatenation C of all heads' outputs, and the result O = C W_O + X, W_O and the residual X
only where they are given.

Each case says under `torch` which functions of PyTorch gave the same (to 1e-12, or 1e-9 where a score exceeds 100).
"""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.attention.bias import causal_lower_right

import layout

DEFAULTS = {
    "heads": 1, "kv_heads": 1, "score": "dot", "scale": "auto", "temperature": 1.0, "causal": False, "causal_from": "end",
    "window": None, "mask_kind": None, "residual": False,
}
random = np.random.default_rng(7)
cases = []


# The reference: NumPy, all heads at once.

def blocks(matrix, heads):
    """Contiguous blocks of columns, one a head: rows × (heads · d) becomes heads × rows × d."""
    return np.stack(np.split(matrix, heads, axis=1))


def visible(options, mask, T, N):
    """Which query may read which key."""
    p = np.arange(1, T + 1)[:, None] + (N - T if options["causal_from"] == "end" else 0)
    j = np.arange(1, N + 1)[None, :]
    sees = np.ones((T, N), dtype=bool)
    if options["causal"]:
        sees &= j <= p
    if options["window"] is not None:
        sees &= abs(p - j) < options["window"]
    if options["mask_kind"] == "allow":
        sees &= mask
    if options["mask_kind"] == "block":
        sees &= ~mask
    return sees


def attend(options, inputs):
    """Every step of one pipeline, by name; the steps of several heads as one array with the heads in front."""
    given = dict(inputs)
    if "X" in given:
        for name in "QKV":
            given[name] = given["X"] @ given[f"W_{name}"]
    H, G = options["heads"], options["kv_heads"]
    source = [math.ceil(h * G / H) - 1 for h in range(1, H + 1)]
    Q, K, V = blocks(given["Q"], H), blocks(given["K"], G)[source], blocks(given["V"], G)[source]

    steps = {}
    S = np.einsum("htd,hnd->htn", Q, K)
    if options["score"] == "cosine":
        S = S / np.linalg.norm(Q, axis=2)[:, :, None] / np.linalg.norm(K, axis=2)[:, None, :]
    steps["S"] = S
    if options["scale"] != "none":
        S = steps["S_scaled"] = S * factor(options, Q)
    if "bias" in given:
        S = steps["S_biased"] = S + given["bias"]
    S = S / options["temperature"]
    if options["mask_kind"] == "add":
        S = S + given["mask"]
    sees = visible(options, given.get("mask"), S.shape[1], S.shape[2])
    S = np.where(sees, S, -np.inf)
    if options["causal"] or options["window"] is not None or options["mask_kind"] is not None:
        steps["S_masked"] = S

    largest = S.max(axis=2, keepdims=True)
    exponentials = np.where(np.isneginf(S), 0.0, np.exp(S - np.where(np.isneginf(largest), 0.0, largest)))
    sums = exponentials.sum(axis=2, keepdims=True)
    A = steps["A"] = exponentials / np.where(sums == 0, 1, sums)
    mixed = steps["O_h"] = np.einsum("htn,hnv->htv", A, V)
    steps["C"] = np.concatenate(list(mixed), axis=1)
    O = steps["C"] @ given["W_O"] if "W_O" in given else steps["C"]
    steps["O"] = O + given["X"] if options["residual"] else O
    return steps, Q, K, V, sees


def factor(options, Q):
    """What the scores are multiplied by."""
    return {"none": 1.0, "auto": 1 / math.sqrt(Q.shape[2])}.get(options["scale"], options["scale"])


# The second opinion: PyTorch.

def check_with_torch(options, inputs, steps, Q, K, V, sees):
    """Computes the case again with every function of PyTorch that fits it; the names of those functions."""
    tolerance = 1e-9 if np.abs(steps["S"]).max() > 100 else 1e-12
    names = []

    def agree(name, ours, theirs):
        theirs = np.asarray(theirs)
        assert ours.shape == theirs.shape, (name, ours.shape, theirs.shape)
        assert np.allclose(ours, theirs, rtol=tolerance, atol=tolerance), (name, ours, theirs)
        if name not in names:
            names.append(name)

    q, k, v = (torch.from_numpy(block) for block in (Q, K, V))
    scale, temperature = factor(options, Q), options["temperature"]
    added = np.where(sees, 0.0, -np.inf) + inputs.get("bias", 0.0) / temperature
    if options["mask_kind"] == "add":
        added = added + inputs["mask"]
    added = torch.from_numpy(added)
    everything = torch.eye(V.shape[1], dtype=torch.float64).expand(len(Q), -1, -1)

    if options["score"] == "cosine":
        cosine = F.cosine_similarity(q[:, :, None, :], k[:, None, :, :], dim=3)
        agree("cosine_similarity", steps["S"], cosine)
        weights = torch.nan_to_num(torch.softmax(cosine * scale / temperature + added, dim=2))
        agree("softmax", steps["A"], weights)
        agree("softmax", steps["O_h"], weights @ v)
        return names

    def attention(value, **more):
        return F.scaled_dot_product_attention(q[None], k[None], value[None], scale=scale / temperature, **more)[0]

    name = "scaled_dot_product_attention"
    agree(name, steps["O_h"], attention(v, attn_mask=added))
    agree(name, steps["A"], attention(everything, attn_mask=added))
    plain = "bias" not in inputs and temperature == 1 and options["mask_kind"] is None and options["window"] is None
    if plain and options["causal"] and options["causal_from"] == "start":
        agree(f"{name} is_causal", steps["O_h"], attention(v, is_causal=True))
    if plain and options["causal"] and options["causal_from"] == "end" and Q.shape[1] <= K.shape[1]:
        lower_right = causal_lower_right(Q.shape[1], K.shape[1])
        agree(f"{name} causal_lower_right", steps["O_h"], attention(v, attn_mask=lower_right))
    if options["mask_kind"] == "allow" and "bias" not in inputs:
        agree(f"{name} boolean mask", steps["O_h"], attention(v, attn_mask=torch.from_numpy(sees)))
    if options["kv_heads"] < options["heads"]:
        once = np.arange(options["kv_heads"]) * (options["heads"] // options["kv_heads"])
        grouped = F.scaled_dot_product_attention(
            q[None], k[once][None], v[once][None], attn_mask=added, scale=scale / temperature, enable_gqa=True)[0]
        agree(f"{name} enable_gqa", steps["O_h"], grouped)

    if "W_O" in inputs and options["heads"] == options["kv_heads"] and options["scale"] == "auto" and temperature == 1:
        weights = [inputs[f"W_{name}"] for name in "QKVO"]
        E = inputs["X"].shape[1]
        if all(weight.shape == (E, E) for weight in weights) and sees.any(axis=1).all():
            module = torch.nn.MultiheadAttention(E, options["heads"], bias=False, batch_first=True, dtype=torch.float64)
            with torch.no_grad():
                module.in_proj_weight.copy_(torch.from_numpy(np.concatenate([weight.T for weight in weights[:3]])))
                module.out_proj.weight.copy_(torch.from_numpy(weights[3].T.copy()))
                x = torch.from_numpy(inputs["X"])[None]
                out, attended = module(x, x, x, attn_mask=added, average_attn_weights=False)
            agree("MultiheadAttention", steps["A"], attended[0])
            agree("MultiheadAttention", steps["O"], out[0].numpy() + (inputs["X"] if options["residual"] else 0))
    return names


# The cases.

def normal(rows, cols, size=1.0):
    return np.round(random.standard_normal((rows, cols)) * size, 3)


def qkv(T, N, d_k, d_v, H=1, G=1, size=1.0, **more):
    return {"Q": normal(T, H * d_k, size), "K": normal(N, G * d_k, size), "V": normal(N, G * d_v), **more}


def tokens(T, E, d_k, d_v, H=1, G=1, out=None, **more):
    given = {"X": normal(T, E), "W_Q": normal(E, H * d_k), "W_K": normal(E, G * d_k), "W_V": normal(E, G * d_v)}
    if out is not None:
        given["W_O"] = normal(H * d_v, out)
    return {**given, **more}


def written(array):
    if array.dtype == bool:
        return array.tolist()
    return [[value if np.isfinite(value) else str(value) for value in row] for row in array.tolist()]


def case(name, inputs, **changed):
    """Adds a case, on the options that differ from the defaults."""
    assert set(changed) <= set(DEFAULTS) and name not in [known["name"] for known in cases]
    options = {**DEFAULTS, **changed}
    steps, *heads = attend(options, inputs)
    confirmed = check_with_torch(options, inputs, steps, *heads)
    expected = {}
    for step, value in steps.items():
        if step in ("C", "O"):
            expected[step] = written(value)
        elif options["heads"] == 1 and step != "O_h":
            expected[step] = written(value[0])
        elif options["heads"] > 1:
            for h, block in enumerate(value, start=1):
                expected[f"{step.removesuffix('_h')}_{h}"] = written(block)
    cases.append({
        "name": name,
        "options": options,
        "inputs": {key: written(value) for key, value in inputs.items()},
        "expected": expected,
        "torch": confirmed,
    })


def allowed(rows):
    return np.array([[mark == "1" for mark in row] for row in rows.split()])


def added(rows):
    return np.array([[float(number) for number in row.split()] for row in rows.split(";")])


def distance(T, N, slope):
    """A penalty that grows with the distance of query and key."""
    return -slope * abs(np.arange(T)[:, None] + (N - T) - np.arange(N)[None, :])


def one_head():
    case("square", qkv(4, 4, 3, 3))
    case("fewer queries than keys", qkv(3, 5, 2, 4))
    case("more queries than keys", qkv(5, 2, 3, 2))
    case("one query, one key", qkv(1, 1, 2, 3))
    case("width one", qkv(3, 4, 1, 1))
    case("no scale", qkv(4, 4, 3, 2), scale="none")
    case("scale 0.25", qkv(3, 4, 4, 2), scale=0.25)
    case("scale 0", qkv(3, 4, 2, 2), scale=0.0)
    case("negative scale", qkv(3, 4, 2, 2), scale=-1.5)
    case("temperature 0.5", qkv(3, 4, 4, 3), temperature=0.5)
    case("temperature 4, no scale", qkv(3, 4, 4, 3), temperature=4.0, scale="none")
    case("scores in the thousands", qkv(4, 4, 3, 2, size=40.0), scale="none")
    case("scores in the thousands, causal", qkv(4, 4, 3, 2, size=40.0), causal=True)
    case("bias", qkv(4, 4, 3, 2, bias=normal(4, 4)))
    case("bias by distance, causal", qkv(4, 5, 3, 2, bias=distance(4, 5, 0.5)), causal=True)
    case("bias and temperature", qkv(3, 4, 2, 2, bias=normal(3, 4)), temperature=2.0, scale=0.5)
    case("cosine", qkv(4, 5, 3, 2), score="cosine", scale="none")
    case("cosine, scale 10", qkv(3, 4, 3, 2), score="cosine", scale=10.0)
    case("cosine, scale auto, causal", qkv(4, 4, 4, 2), score="cosine", causal=True)
    case("cosine, bias, temperature, mask", qkv(3, 4, 2, 2, bias=normal(3, 4), mask=allowed("1101 0110 1111")),
         score="cosine", scale="none", temperature=0.25, mask_kind="allow")


def masks():
    case("causal", qkv(5, 5, 3, 2), causal=True)
    case("causal, a last query over a cache", qkv(1, 6, 3, 2), causal=True)
    case("causal, last queries of more keys", qkv(3, 6, 2, 2), causal=True)
    case("causal from the start, fewer queries", qkv(3, 6, 2, 2), causal=True, causal_from="start")
    case("causal, more queries than keys", qkv(5, 3, 2, 2), causal=True)
    case("causal from the start, more queries", qkv(5, 3, 2, 2), causal=True, causal_from="start")
    case("window 2, causal", qkv(5, 5, 2, 2), causal=True, window=2)
    case("window 3, both sides", qkv(6, 6, 2, 2), window=3)
    case("window 1, both sides", qkv(4, 4, 2, 3), window=1)
    case("window 2, causal, last queries", qkv(3, 6, 2, 2), causal=True, window=2)
    case("window 2, causal from the start", qkv(3, 6, 2, 2), causal=True, causal_from="start", window=2)
    case("window 2, both sides, last queries", qkv(3, 6, 2, 2), window=2)
    case("window wider than the keys", qkv(3, 4, 2, 2), causal=True, window=9)
    case("allow", qkv(3, 4, 3, 2, mask=allowed("1101 0110 0001")), mask_kind="allow")
    case("block", qkv(3, 4, 3, 2, mask=allowed("1101 0110 0001")), mask_kind="block")
    case("add, finite", qkv(3, 4, 2, 2, mask=normal(3, 4)), mask_kind="add")
    case("add, with -inf", qkv(3, 4, 2, 2, mask=added("0 -inf 1.5 0; -inf -inf -inf 2; 0 0 -0.5 -inf")), mask_kind="add")
    case("add after the temperature", qkv(3, 3, 2, 2, mask=added("0 -1 1; 2 0 -inf; 0.5 0.5 -3")), mask_kind="add", temperature=4.0)
    case("a row that sees nothing, allow", qkv(3, 4, 2, 2, mask=allowed("1101 0000 0011")), mask_kind="allow")
    case("a row that sees nothing, add", qkv(3, 3, 2, 2, mask=added("0 0 0; -inf -inf -inf; 0 -inf 0")), mask_kind="add")
    case("a row that sees nothing, causal and block", qkv(3, 3, 2, 2, mask=allowed("100 010 000")), causal=True, mask_kind="block")
    case("no row sees anything", qkv(2, 3, 2, 2, mask=allowed("000 000")), mask_kind="allow")
    case("causal, window, mask, bias, scale, temperature",
         qkv(4, 6, 3, 2, bias=normal(4, 6), mask=allowed("111111 101111 111101 011110")),
         causal=True, window=3, mask_kind="allow", scale=0.7, temperature=1.5)


def from_tokens():
    case("tokens", tokens(4, 3, 2, 2))
    case("tokens, values of another width", tokens(4, 5, 3, 2))
    case("tokens, output projection", tokens(4, 3, 3, 3, out=3), causal=True)
    case("tokens, output of another width", tokens(3, 4, 2, 3, out=5))
    case("tokens, residual", tokens(4, 3, 2, 3), residual=True)
    case("tokens, output projection, residual, causal", tokens(4, 4, 2, 3, out=4), residual=True, causal=True)
    case("residual of a row that sees nothing", tokens(3, 3, 2, 3, out=3, mask=allowed("111 000 010")),
         residual=True, mask_kind="allow")


def several_heads():
    case("2 heads", tokens(4, 4, 2, 2, H=2, G=2, out=4), heads=2, kv_heads=2)
    case("3 heads, causal, residual", tokens(3, 6, 2, 2, H=3, G=3, out=6), heads=3, kv_heads=3, causal=True, residual=True)
    case("4 heads, no output projection", tokens(3, 4, 1, 2, H=4, G=4), heads=4, kv_heads=4)
    case("2 heads, values of another width", tokens(3, 4, 2, 3, H=2, G=2, out=4), heads=2, kv_heads=2)
    case("2 heads from Q, K, V", qkv(3, 4, 2, 3, H=2, G=2), heads=2, kv_heads=2, scale=0.5)
    case("2 heads, bias, window", qkv(4, 4, 2, 2, H=2, G=2, bias=normal(4, 4)), heads=2, kv_heads=2, window=2)
    case("4 heads, 2 key/value heads", tokens(3, 4, 2, 1, H=4, G=2, out=4), heads=4, kv_heads=2)
    case("4 heads, 1 key/value head", tokens(3, 4, 1, 2, H=4, G=1, out=4), heads=4, kv_heads=1, causal=True)
    case("3 heads, 1 key/value head", qkv(2, 3, 2, 2, H=3, G=1), heads=3, kv_heads=1)
    case("2 heads, 1 key/value head, residual", tokens(3, 4, 2, 2, H=2, G=1, out=4), heads=2, kv_heads=1, residual=True)
    case("4 heads, 2 key/value heads, causal, window, mask, last queries",
         qkv(3, 5, 2, 2, H=4, G=2, mask=allowed("11111 10111 00001")), heads=4, kv_heads=2, causal=True, window=3, mask_kind="allow")
    case("2 heads, cosine, 1 key/value head", qkv(3, 3, 3, 2, H=2, G=1), heads=2, kv_heads=1, score="cosine", scale=4.0, causal=True)
    case("2 heads, a row that sees nothing", tokens(3, 4, 2, 2, H=2, G=2, out=4, mask=allowed("101 000 110")),
         heads=2, kv_heads=2, mask_kind="allow")


for section in [one_head, masks, from_tokens, several_heads]:
    section()

about = "Attention pipelines by NumPy, checked against PyTorch; made by attend.py, which says what each option means"
size = layout.write(__file__, {"about": about, **layout.versions(np, torch), "cases": cases}, line=10_000)
print(f"{len(cases)} cases, {size} bytes")
used = sorted({name for entry in cases for name in entry["torch"]})
for name in used:
    print(f"  {sum(name in entry['torch'] for entry in cases):3} {name}")
