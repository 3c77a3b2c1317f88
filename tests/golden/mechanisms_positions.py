"""Rotary positions, with every scaling and both pairings, and sinusoids: records for mechanisms.json.

The functions of transformers compute frequencies in float32. Here they run in float64 (`doubles`), and each record is checked
three times: against the same functions as they are, in float32; against the formulas of the papers with 40 digits (`formula`);
and the rotated vectors against the definition, a product of complex numbers.
"""

from unittest import mock

import mpmath
import torch
from transformers import CohereConfig, GlmConfig, GPTNeoXConfig, LlamaConfig
from transformers.models.cohere import modeling_cohere
from transformers.models.glm import modeling_glm
from transformers.models.gpt_neox import modeling_gpt_neox
from transformers.models.gptj import modeling_gptj
from transformers.models.llama import modeling_llama
from transformers.models.xlm.modeling_xlm import create_sinusoidal_embeddings

from mechanisms_common import doubles, inputs, joined, record, same, singles, split

mpmath.mp.dps = 40

# Which model pairs the columns how, by (interleaved, only a part rotates).
MODELS = {
    (False, False): (LlamaConfig, modeling_llama, "Llama"),
    (False, True): (GPTNeoXConfig, modeling_gpt_neox, "GPTNeoX"),
    (True, False): (CohereConfig, modeling_cohere, "Cohere"),
    (True, True): (GlmConfig, modeling_glm, "Glm"),
}


def formula(width, base, length, maximum, scaling):
    """Frequencies and the factor of cosine and sine, by the papers' formulas with 40 digits."""
    base, width = mpmath.mpf(base), mpmath.mpf(width)
    kind, s = scaling.get("rope_type", "default"), mpmath.mpf(scaling.get("factor", 1))
    original = scaling.get("original_max_position_embeddings")
    if kind == "dynamic":
        base *= (s * max(length, maximum) / maximum - (s - 1)) ** (width / (width - 2))
    f = [base ** (-2 * i / width) for i in range(int(width) // 2)]
    if kind == "linear":
        return [x / s for x in f], 1
    if kind == "llama3":
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        share = [(original * x / (2 * mpmath.pi) - low) / (high - low) for x in f]
        share = [min(max(x, 0), 1) for x in share]
        return [(1 - g) * x / s + g * x for g, x in zip(share, f)], 1
    if kind == "longrope":
        factors = scaling["long_factor" if length > original else "short_factor"]
        return [x / mpmath.mpf(e) for x, e in zip(f, factors)], mpmath.sqrt(1 + mpmath.log(s) / mpmath.log(original))
    if kind == "yarn":
        return yarn(width, base, f, s, original, scaling)
    return f, 1


def yarn(width, base, f, s, original, scaling):
    low, high = (
        width * mpmath.log(original / (2 * mpmath.pi * scaling.get(name, usual))) / (2 * mpmath.log(base))
        for name, usual in [("beta_fast", 32), ("beta_slow", 1)]
    )
    if scaling.get("truncate", True):
        low, high = mpmath.floor(low), mpmath.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    high += mpmath.mpf("0.001") if low == high else 0
    ramp = [min(max((i - low) / (high - low), 0), 1) for i in range(len(f))]

    def magnitude(m):
        return m * mpmath.log(s) / 10 + 1

    factor = scaling.get("attention_factor")
    if factor is None:
        both = "mscale" in scaling and "mscale_all_dim" in scaling
        factor = magnitude(scaling["mscale"]) / magnitude(scaling["mscale_all_dim"]) if both else magnitude(1)
    return [x / s * r + x * (1 - r) for x, r in zip(f, ramp)], mpmath.mpf(factor)


def rotated(model, config, q, k, first):
    """Frequencies, factor, and the last queries and all keys after the rotation; the first key stands at `first`."""
    _, modeling, name = model
    rotary = getattr(modeling, f"{name}RotaryEmbedding")(config)
    T, N = q.shape[2], k.shape[2]
    cos, sin = rotary(k, first + torch.arange(N)[None])
    q_rotated, _ = modeling.apply_rotary_pos_emb(q, q, cos[:, N - T:], sin[:, N - T:])
    _, k_rotated = modeling.apply_rotary_pos_emb(k, k, cos, sin)
    return rotary.inv_freq, torch.tensor(float(rotary.attention_scaling)), q_rotated, k_rotated


def by_definition(x, frequencies, factor, first, interleaved):
    """Pairs as complex numbers, times factor · exp(i · position · frequency)."""
    width = 2 * len(frequencies)
    turning, rest = x[..., :width], x[..., width:]
    real, imaginary = (turning[..., 0::2], turning[..., 1::2]) if interleaved else turning.chunk(2, -1)
    angles = (first + torch.arange(x.shape[2]))[:, None] * frequencies
    turned = torch.complex(real, imaginary) * torch.polar(factor.expand_as(angles), angles)
    parts = [turned.real, turned.imag]
    return torch.cat([torch.stack(parts, -1).flatten(-2) if interleaved else torch.cat(parts, -1), rest], -1)


def by_gptj(x, frequencies, first):
    """GPT-J's `rotate_every_two`, which takes rows before heads and as many sines as there are pairs."""
    angles = ((first + torch.arange(x.shape[2]))[:, None] * frequencies)[None]
    turning, rest = x.transpose(1, 2).split([2 * len(frequencies), x.shape[3] - 2 * len(frequencies)], 3)
    turned = modeling_gptj.apply_rotary_pos_emb(turning, torch.sin(angles), torch.cos(angles))
    return torch.cat([turned, rest], 3).transpose(1, 2)


def rope(name, scaling, *, seed, T=3, N=None, heads=1, kv_heads=1, width=8, rope_width=None, base=10000.0, first=0,
         maximum=64, interleaved=False):
    """One record: `width` columns a head, of which the first `rope_width` turn."""
    N, rope_width = N or T, rope_width or width
    model = MODELS[interleaved, rope_width < width]
    parameters = {"rope_theta": base, "rope_type": "default", "partial_rotary_factor": rope_width / width, **scaling}
    config = model[0](
        head_dim=width, hidden_size=heads * width, num_attention_heads=heads, num_key_value_heads=kv_heads,
        max_position_embeddings=maximum, rope_parameters=parameters,
    )
    config.head_dim = width
    draw = inputs(seed)
    Q, K = draw(T, heads * width), draw(N, kv_heads * width)
    q, k = split(Q, heads), split(K, kv_heads)

    with doubles():
        frequencies, factor, q_rotated, k_rotated = rotated(model, config, q, k, first)
    expected, expected_factor = formula(rope_width, base, first + N, maximum, scaling)
    same(frequencies, torch.tensor([float(f) for f in expected]), 1e-14)
    same(factor, torch.tensor(float(expected_factor)), 1e-15)
    same(by_definition(q, frequencies, factor, first + N - T, interleaved), q_rotated)
    same(by_definition(k, frequencies, factor, first, interleaved), k_rotated)
    if interleaved:
        same(by_gptj(k, frequencies, first), k_rotated)
    with singles():
        single = rotated(model, config, q.to(torch.float32), k.to(torch.float32), first)
    same(single[0].double() / frequencies, torch.ones(len(frequencies)), 1e-6)
    same(single[2].double(), q_rotated, 1e-6 * (1 + first + N))

    given = {
        "heads": heads, "kv_heads": kv_heads, "position": "rope-interleaved" if interleaved else "rope", "rope_base": base,
        "rope_width": rope_width, "first_position": first, "rope_scaling": scaling or None,
    }
    if scaling.get("rope_type") == "dynamic":
        given["max_position_embeddings"] = maximum
    outputs = {
        "inv_freq": frequencies, "attention_scaling": factor, "Q_rotated": joined(q_rotated), "K_rotated": joined(k_rotated),
    }
    source = f"{model[2]}RotaryEmbedding and apply_rotary_pos_emb of {model[1].__name__}, in float64"
    return record(name, "rope", given, {"Q": Q, "K": K}, outputs, source)


def llama3(factor, low, high, original):
    return {"rope_type": "llama3", "factor": factor, "low_freq_factor": low, "high_freq_factor": high,
            "original_max_position_embeddings": original}


def yarn_of(factor, original, **more):
    return {"rope_type": "yarn", "factor": factor, "original_max_position_embeddings": original, **more}


LONG = {
    "rope_type": "longrope", "factor": 4.0, "original_max_position_embeddings": 16,
    "short_factor": [1.0, 1.05, 1.1, 1.3], "long_factor": [1.1, 1.9, 3.25, 4.0],
}


def rotary_records():
    dynamic = {"rope_type": "dynamic", "factor": 2.0}
    yield rope("rope-half-split", {}, seed=1, T=5, heads=4, kv_heads=2, width=6)
    yield rope("rope-half-split-of-another-base-from-position-3", {}, seed=2, width=6, heads=2, kv_heads=2, base=500.0, first=3)
    yield rope("rope-half-split-last-two-queries-of-six-keys", {}, seed=3, T=2, N=6, heads=2, width=4, base=100.0)
    yield rope("rope-half-split-last-query-of-a-cache-that-starts-at-1000", {}, seed=4, T=1, N=3, first=1000)
    yield rope("rope-interleaved", {}, seed=5, T=5, heads=2, width=6, base=10000.0, interleaved=True)
    yield rope("rope-interleaved-last-three-of-seven-from-2", {}, seed=6, N=7, heads=2, width=4, base=75.0, first=2, interleaved=True)
    yield rope("rope-half-split-of-the-first-4-of-10-columns", {}, seed=7, width=10, rope_width=4, first=1)
    yield rope("rope-interleaved-of-the-first-6-of-8-columns", {}, seed=8, rope_width=6, base=300.0, interleaved=True)
    yield rope("rope-linear-divides-every-frequency", {"rope_type": "linear", "factor": 4.0}, seed=9, width=6, first=5)
    for length in (5, 8, 9, 16, 33):
        yield rope(f"rope-dynamic-at-length-{length}-of-8", dynamic, seed=10 + length, maximum=8, first=length - 3)
    yield rope("rope-dynamic-counts-all-keys-not-the-queries", dynamic, seed=50, T=1, N=6, width=6, base=50.0, maximum=4)
    yield rope("rope-llama3-as-in-3.1", llama3(8.0, 1.0, 4.0, 8192), seed=51, base=500000.0, first=700)
    yield rope("rope-llama3-of-a-short-model", llama3(4.0, 1.0, 8.0, 32), seed=52, base=100.0, width=10, first=30)
    yield rope("rope-llama3-factor-1-changes-nothing", llama3(1.0, 1.0, 4.0, 8192), seed=53, base=500000.0)
    yield rope("rope-yarn", yarn_of(4.0, 4096), seed=54, first=50)
    yield rope("rope-yarn-without-truncation", yarn_of(32.0, 4096, truncate=False), seed=55, base=150000.0)
    yield rope("rope-yarn-its-own-betas", yarn_of(8.0, 1024, beta_fast=16.0, beta_slow=2.0), seed=56, base=100.0)
    yield rope("rope-yarn-range-cut-at-0", yarn_of(4.0, 64), seed=57)
    yield rope("rope-yarn-range-cut-at-the-width-less-1", yarn_of(4.0, 65536, beta_fast=4096.0), seed=58, base=100.0)
    equal = yarn_of(4.0, 4096, beta_fast=8.0, beta_slow=8.0, truncate=False)
    yield rope("rope-yarn-equal-ends-make-a-step", equal, seed=59)
    yield rope("rope-yarn-attention-factor-given", yarn_of(4.0, 4096, attention_factor=1.5), seed=60)
    both = yarn_of(40.0, 4096, mscale=1.0, mscale_all_dim=0.5)
    yield rope("rope-yarn-mscale-over-mscale-all-dim", both, seed=61)
    yield rope("rope-yarn-mscale-alone-is-ignored", yarn_of(40.0, 4096, mscale=0.707), seed=62)
    yield rope("rope-yarn-factor-1-changes-nothing", yarn_of(1.0, 4096), seed=63)
    yield rope("rope-yarn-partial", yarn_of(4.0, 4096), seed=64, width=12, rope_width=8)
    yield rope("rope-longrope-short-factors-at-the-original-length", LONG, seed=65, first=13)
    yield rope("rope-longrope-long-factors-one-token-later", LONG, seed=66, T=4, first=13)
    yield rope("rope-longrope-one-query-takes-the-length-of-the-keys", LONG, seed=67, T=1, N=3, first=15, base=50.0)


def sinusoids(length, width):
    """The table of the Transformer paper, sine and cosine in turn; transformers stores it in float32."""
    table = torch.empty(length, width)
    with mock.patch.object(torch, "FloatTensor", torch.DoubleTensor):
        create_sinusoidal_embeddings(length, width, table)
    columns = torch.arange(width)
    angles = torch.arange(length)[:, None] / 10000.0 ** (columns // 2 * 2 / width)
    same(table, torch.where(columns % 2 == 0, torch.sin(angles), torch.cos(angles)), 1e-14)
    return record(
        f"sinusoidal-{length}-by-{width}", "sinusoidal", {"tokens": length, "width": width}, {}, {"P": table},
        "create_sinusoidal_embeddings of transformers.models.xlm.modeling_xlm, in float64",
    )


def records():
    return [*rotary_records(), sinusoids(7, 6)]
