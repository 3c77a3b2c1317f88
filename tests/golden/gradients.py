"""Gradients of whole attention pipelines by PyTorch's autograd in float64; writes gradients.json.

    python gradients.py

Each case has the arguments of `attn attend` and the gradients that PyTorch finds for the same computation, written here anew:
projections, heads and groups, norms of queries and keys, rotary and sinusoidal positions, T5's buckets, scores, scale, bias,
temperature, soft-cap, mask, sink, softmax, mixture, gate, output projection, residual, cross-entropy. The blocks are layer norm,
a layer, GELU in both forms and a second layer. Nothing is differentiated by hand.
"""

import math

import torch
import torch.nn.functional as F

import layout

torch.set_default_dtype(torch.float64)
random = torch.Generator().manual_seed(19)
cases = []


def normal(rows, cols):
    return torch.randn(rows, cols, generator=random).requires_grad_()


def typed(matrix):
    """A matrix as it is typed in place, every digit."""
    return "; ".join(" ".join(repr(x) for x in row) for row in matrix.tolist())


def rotated(x, base, interleaved):
    T, d = x.shape
    frequencies = base ** (-2 * torch.arange(d // 2) / d)
    angle = torch.arange(T)[:, None] * frequencies
    cos, sin = angle.cos(), angle.sin()
    a, b = (x[:, 0::2], x[:, 1::2]) if interleaved else (x[:, : d // 2], x[:, d // 2 :])
    first, second = a * cos - b * sin, b * cos + a * sin
    if interleaved:
        return torch.stack([first, second], dim=2).reshape(T, d)
    return torch.cat([first, second], dim=1)


def sinusoidal(T, d):
    position = torch.arange(T)[:, None]
    pair = torch.arange(d) // 2
    angle = position / 10000 ** (2 * pair / d)
    return torch.where(torch.arange(d) % 2 == 0, angle.sin(), angle.cos())


def normed(x, gain, epsilon=1e-6):
    x = x / (x.square().mean(dim=1, keepdim=True) + epsilon).sqrt()
    return x if gain is None else x * gain


def t5_bucket(distance, buckets, longest, both_ways):
    """The bucket of a key this far after the query, as `T5Attention._relative_position_bucket` of transformers finds it."""
    bucket = 0
    if both_ways:
        buckets //= 2
        bucket = buckets if distance > 0 else 0
        distance = abs(distance)
    else:
        distance = max(-distance, 0)
    exact = buckets // 2
    if distance < exact:
        return bucket + distance
    far = exact + int(math.log(distance / exact) / math.log(longest / exact) * (buckets - exact))
    return bucket + min(far, buckets - 1)


def attention(m, heads=1, kv_heads=None, causal=False, window=None, scale=None, temperature=1.0, softcap=None, rope=None,
              interleaved=False, norm=False, cosine=False, visible=None, added=None, sinusoids=False, residual=False):
    """The result, and the steps whose cells may be a loss."""
    kv_heads = kv_heads or heads
    x = m.get("X")
    if sinusoids:
        x = x + sinusoidal(*x.shape)
    q, k, v = (m[name] if name in m else x @ m[f"W_{name}"] for name in "QKV")
    T, N = len(q), len(k)
    blocks = lambda matrix, count: matrix.split(matrix.shape[1] // count, dim=1)
    steps, mixes = {}, []
    p, j = torch.arange(T)[:, None] + N - T, torch.arange(N)[None, :]
    sees = torch.ones(T, N, dtype=torch.bool)
    if causal:
        sees = sees & (j <= p)
    if window:
        sees = sees & ((p - j).abs() < window)
    if visible is not None:
        sees = sees & visible
    for h in range(heads):
        group = h * kv_heads // heads
        qh, kh, vh = blocks(q, heads)[h], blocks(k, kv_heads)[group], blocks(v, kv_heads)[group]
        if norm:
            qh, kh = normed(qh, m.get("g_Q")), normed(kh, m.get("g_K"))
        if rope:
            qh, kh = rotated(qh, rope, interleaved), rotated(kh, rope, interleaved)
        if cosine:
            qh, kh = qh / qh.norm(dim=1, keepdim=True), kh / kh.norm(dim=1, keepdim=True)
        s = qh @ kh.T * (1 / math.sqrt(qh.shape[1]) if scale is None else scale)
        if "B" in m:
            s = s + m["B"]
        if "R" in m:
            bucket = [[t5_bucket(key - query, len(m["R"]), 128, not causal) for key in range(N)] for query in range(T)]
            s = s + m["R"][torch.tensor(bucket), h]
        s = s / temperature
        if softcap:
            s = softcap * torch.tanh(s / softcap)
        if added is not None:
            s = s + added
        s = s.masked_fill(~sees, -math.inf)
        if "sink" in m:
            s = torch.cat([s, m["sink"][:, h].expand(T, 1)], dim=1)
        a = s.softmax(dim=1)[:, :N]
        steps[f"A_{h + 1}" if heads > 1 else "A"] = a
        mixes.append(a @ vh)
    o = torch.cat(mixes, dim=1)
    if "W_g" in m:
        gate = torch.sigmoid(x @ m["W_g"])
        o = o * (gate if gate.shape == o.shape else gate.repeat_interleave(o.shape[1] // heads, dim=1))
    if "W_O" in m:
        o = o @ m["W_O"]
    if residual:
        o = o + x
    return {**steps, "O": o}


OPTIONS = {"X": "x", "W_Q": "wq", "W_K": "wk", "W_V": "wv", "W_O": "wo", "Q": "q", "K": "k", "V": "v", "B": "bias",
           "sink": "sink", "W_g": "gate", "R": "position-table"}


def case(name, matrices, args=(), at=None, start="dO", targets=None, **options):
    """One case: the loss is `at`, a cell of a step counted from 1, or the cross-entropy of O and targets, or the sum of dO ∘ O for
    a drawn dO, or the sum of O."""
    steps = attention(matrices, **options)
    typed_in = [part for key, option in OPTIONS.items() if key in matrices
                for part in (f"--{option}", typed(matrices[key]))]
    option, figures = "--gradient", {}
    if targets:
        option, gradient = "--loss", "cross-entropy"
        args = [*args, "--targets", ",".join("-" if target is None else str(target + 1) for target in targets)]
        wanted = torch.tensor([-100 if target is None else target for target in targets])
        loss = F.cross_entropy(steps["O"], wanted, ignore_index=-100)
        figures = {"L": [[loss.item()]], "dO": torch.autograd.grad(loss, steps["O"], retain_graph=True)[0].tolist()}
    elif at:
        step, row, col = at
        loss, gradient = steps[step][row - 1, col - 1], f"{step}[{row},{col}]"
    elif start == "ones":
        loss, gradient = steps["O"].sum(), "ones"
    else:
        d_o = normal(*steps["O"].shape).detach()
        loss, gradient = (d_o * steps["O"]).sum(), f"dO={typed(d_o)}"
    names = list(matrices)
    gradients = torch.autograd.grad(loss, [matrices[name] for name in names], allow_unused=True)
    expected = {f"d{name}": g.tolist() for name, g in zip(names, gradients) if g is not None}
    cases.append({"name": name, "args": ["attend", *typed_in, *args, option, gradient], "gradients": {**expected, **figures}})


def projected(T=5, width=6, q=8, kv=8, out=True):
    m = {"X": normal(T, width), "W_Q": normal(width, q), "W_K": normal(width, kv), "W_V": normal(width, kv)}
    return {**m, "W_O": normal(q, width)} if out else m


case("one head", projected(out=False), start="ones")
case("one head, causal, one cell", projected(out=False), ["--causal"], at=("O", 4, 2), causal=True)
case("groups, window, residual", projected(kv=4), ["--heads", "4", "--kv-heads", "2", "--causal", "--window", "3", "--residual"],
     heads=4, kv_heads=2, causal=True, window=3, residual=True)
case("a weight of one head", projected(), ["--heads", "4"], at=("A_3", 2, 5), heads=4)
case("a weight of one of four heads over one key/value head", projected(kv=2), ["--heads", "4", "--kv-heads", "1"],
     at=("A_2", 5, 1), heads=4, kv_heads=1)
case("rotary positions", projected(kv=4), ["--heads", "2", "--kv-heads", "1", "--position", "rope", "--rope-base", "100", "--causal"],
     heads=2, kv_heads=1, rope=100.0, causal=True)
gains = {"g_Q": normal(1, 4), "g_K": normal(1, 4)}
both = typed(torch.cat([gains["g_Q"], gains["g_K"]]))
case("norms with gains and interleaved rotary positions", {**projected(), **gains},
     ["--heads", "2", "--qk-norm", both, "--position", "rope-interleaved"], heads=2, norm=True, rope=10000.0, interleaved=True)
case("norms without gains", projected(), ["--heads", "2", "--qk-norm"], heads=2, norm=True)
case("a bias, a temperature and a soft-cap", {**projected(T=4), "B": normal(4, 4)},
     ["--temperature", "0.7", "--softcap", "2.5"], temperature=0.7, softcap=2.5)
case("a scale, sinusoidal positions", projected(), ["--scale", "0.3", "--position", "sinusoidal"], scale=0.3, sinusoids=True)
case("cosines", projected(), ["--score", "cosine", "--scale", "4", "--heads", "2"], cosine=True, scale=4.0, heads=2)
case("sinks and a gate for each head", {**projected(), "sink": normal(1, 2), "W_g": normal(6, 2)}, ["--heads", "2"], heads=2)
case("a gate for each column", {**projected(), "W_g": normal(6, 8)}, ["--heads", "2", "--causal"], heads=2, causal=True)
visible = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1], [1, 1, 1, 0, 0]], dtype=torch.bool)
qkv = lambda: {"Q": normal(3, 4), "K": normal(5, 4), "V": normal(5, 6)}
case("a mask, fewer queries than keys", qkv(), ["--mask", typed(visible.long()), "--mask-kind", "allow"], visible=visible)
added = torch.randn(3, 5, generator=random)
case("an added mask, causal, heads", qkv(), ["--mask", typed(added), "--mask-kind", "add", "--causal", "--heads", "2"],
     added=added, causal=True, heads=2)

case("cross-entropy, causal, a row that does not count", projected(), ["--heads", "2", "--causal"], targets=[3, 0, None, 5, 3],
     heads=2, causal=True)
case("cross-entropy behind a mask, of three classes", {"Q": normal(3, 4), "K": normal(5, 4), "V": normal(5, 3)},
     ["--mask", typed(visible.long()), "--mask-kind", "allow"], targets=[None, 2, 0], visible=visible)
case("T5's buckets, both ways", {**projected(T=7), "R": normal(8, 2)}, ["--heads", "2", "--position", "t5"], heads=2)
case("T5's buckets, causal, cross-entropy", {**projected(T=7), "R": normal(6, 2)}, ["--heads", "2", "--position", "t5", "--causal"],
     targets=[0, 1, 2, 3, 4, 5, 0], heads=2, causal=True)


def block(form):
    """A layer norm with gain and bias, a layer, GELU, a layer; the loss is the sum of dY ∘ Y for a drawn dY."""
    m = {"X": normal(5, 6), "gain": normal(1, 6), "shift": normal(1, 6), "W1": normal(6, 9), "b1": normal(1, 9),
         "W2": normal(9, 6), "b2": normal(1, 6)}
    x = F.layer_norm(m["X"], (6,), m["gain"][0], m["shift"][0], 1e-5)
    y = F.gelu(x @ m["W1"] + m["b1"], approximate=form) @ m["W2"] + m["b2"]
    d_y = normal(5, 6).detach()
    gradients = torch.autograd.grad((d_y * y).sum(), list(m.values()))
    return {"form": form, "given": {name: matrix.tolist() for name, matrix in m.items()}, "dY": d_y.tolist(), "Y": y.tolist(),
            "gradients": {f"d{name}": g.tolist() for name, g in zip(m, gradients)}}


blocks = [block("none"), block("tanh")]
about = "Gradients of attention pipelines by PyTorch's autograd in float64; made by gradients.py"
layout.write(__file__, {"about": about, **layout.versions(torch), "cases": cases, "blocks": blocks})
