"""What happens to the scores: ALiBi, T5 buckets, learned sinks, the soft cap, windows. Records for mechanisms.json."""

from types import SimpleNamespace

import mpmath
import torch
import torch.nn.functional as F
from transformers import BloomConfig, T5Config
from transformers.masking_utils import (
    and_masks, causal_mask_function, or_masks, sliding_window_bidirectional_mask_function, sliding_window_overlay,
)
from transformers.models.bloom import modeling_bloom
from transformers.models.gemma2 import modeling_gemma2
from transformers.models.gpt_oss import modeling_gpt_oss
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from mechanisms_common import doubles, inputs, joined, record, same, singles, split, steps, visible


def slopes(heads):
    """The slopes by `build_alibi_tensor` of BLOOM: what key 2 is given."""
    with doubles():
        return modeling_bloom.build_alibi_tensor(torch.ones(1, 2), heads, torch.float64)[:, 0, 1]


def alibi_slopes():
    """Heads 1 … 16: BLOOM and MPT agree, and with the paper (the odd powers of the next power of two fill up)."""
    outputs = {}
    for heads in range(1, 17):
        outputs[f"slopes_{heads}"] = slopes(heads)
        whole = 2 ** (heads.bit_length() - 1)
        powers = [mpmath.mpf(8 * h) / whole for h in range(1, whole + 1)]
        powers += [mpmath.mpf(8 * h) / (2 * whole) for h in range(1, 2 * whole, 2)]
        same(slopes(heads), torch.tensor([float(2**-power) for power in powers[:heads]]), 1e-14)
        with doubles():
            same(slopes(heads), -build_mpt_alibi_tensor(heads, 2)[:, 0, 0], 1e-14)
        with singles():
            single = modeling_bloom.build_alibi_tensor(torch.ones(1, 2), heads, torch.float32)[:, 0, 1]
        same(slopes(heads), single.double(), 1e-6)
    source = "build_alibi_tensor of transformers.models.bloom.modeling_bloom, in float64; build_mpt_alibi_tensor agrees"
    return record("alibi-slopes-of-1-to-16-heads", "alibi", {}, {}, outputs, source)


def distances(T, N):
    """i − j, the last T queries against N keys."""
    return torch.arange(N - T, N)[:, None] - torch.arange(N)


def alibi_of_bloom(heads, T, width, seed):
    """A whole BLOOM layer without its biases. It adds m·j and not −m(i−j): other scores, the same weights."""
    draw, hidden = inputs(seed), heads * width
    config = BloomConfig(hidden_size=hidden, n_head=heads, attention_dropout=0.0, hidden_dropout=0.0)
    X, W_Q, W_K, W_V, W_O = draw(T, hidden), *(draw(hidden, hidden, spread=0.6) for _ in range(4))
    with doubles():
        layer = modeling_bloom.BloomAttention(config, 0).eval()
        fused = torch.stack([W.T.view(heads, width, hidden) for W in (W_Q, W_K, W_V)], 1)
        layer.query_key_value.weight.data, layer.dense.weight.data = fused.reshape(-1, hidden), W_O.T.contiguous()
        layer.query_key_value.bias.data.zero_(), layer.dense.bias.data.zero_()
        sees, mask = visible(T, T)
        alibi = modeling_bloom.build_alibi_tensor(torch.ones(1, T), heads, torch.float64)
        result, weights = layer(X[None], torch.zeros(1, T, hidden), alibi, mask)
    q, k, v = (split(X @ W, heads) for W in (W_Q, W_K, W_V))
    nodes = steps(q, k, v, weights, width**-0.5, -slopes(heads)[:, None, None] * distances(T, T), sees=sees)
    same(nodes["O"] @ W_O, result[0])
    given = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O}
    source = "BloomAttention of transformers.models.bloom.modeling_bloom, in float64"
    parameters = {"heads": heads, "kv_heads": heads, "position": "alibi", "causal": True}
    return record(f"alibi-layer-of-{heads}-heads", "alibi", parameters, given, nodes | {"C": nodes["O"], "O": result[0]}, source)


def alibi_of_last_queries(heads, groups, T, N, width, seed):
    """PyTorch's attention with MPT's bias row, which holds for the last query; one query back it is m less."""
    draw = inputs(seed)
    Q, K, V = draw(T, heads * width), draw(N, groups * width), draw(N, groups * width)
    q, k, v = split(Q, heads), split(K, groups), split(V, groups)
    with doubles():
        last = build_mpt_alibi_tensor(heads, N)
    bias = last + slopes(heads)[:, None, None] * torch.arange(T - 1, -1, -1)[:, None]
    same(bias, -slopes(heads)[:, None, None] * distances(T, N))
    sees, mask = visible(T, N)
    eye = torch.eye(N)[None, None].expand(1, groups, N, N)
    weights, mixed = (
        F.scaled_dot_product_attention(q, k, values, attn_mask=bias + mask, enable_gqa=True) for values in (eye, v)
    )
    nodes = steps(q, k, v, weights, width**-0.5, bias, sees=sees)
    same(nodes["O"], joined(mixed))
    source = "torch.nn.functional.scaled_dot_product_attention with build_mpt_alibi_tensor of transformers, in float64"
    parameters = {"heads": heads, "kv_heads": groups, "position": "alibi", "causal": True}
    return record(f"alibi-last-{T}-of-{N}", "alibi", parameters, {"Q": Q, "K": K, "V": V}, nodes, source)


def buckets(number, maximum, causal):
    """The bucket of every distance j − i from −200 to 200; float32, as it is, and float64 agree."""
    relative = torch.arange(-200, 201)
    arguments = {"bidirectional": not causal, "num_buckets": number, "max_distance": maximum}
    found = T5Attention._relative_position_bucket(relative, **arguments)
    with doubles():
        same(found, T5Attention._relative_position_bucket(relative, **arguments), 0)
    name = f"t5-buckets-{number}-to-{maximum}-" + ("causal" if causal else "both-ways")
    parameters = {"buckets": number, "max_distance": maximum, "causal": causal, "from": -200, "to": 200}
    source = "T5Attention._relative_position_bucket of transformers.models.t5.modeling_t5"
    return record(name, "t5", parameters, {}, {"buckets": found}, source)


def t5_layer(causal, seed, T=6, heads=2, width=2, hidden=4, number=8, maximum=5):
    """A whole T5 layer: no scale, a table of one bias a bucket and head."""
    config = T5Config(
        d_model=hidden, d_kv=width, num_heads=heads, relative_attention_num_buckets=number,
        relative_attention_max_distance=maximum, dropout_rate=0.0, is_decoder=causal,
    )
    config._attn_implementation = "eager"
    draw = inputs(seed)
    X, W_Q, W_K, W_V = draw(T, hidden), *(draw(hidden, heads * width, spread=0.5) for _ in range(3))
    W_O, table = draw(heads * width, hidden), draw(number, heads)
    with doubles():
        layer = T5Attention(config, has_relative_attention_bias=True, layer_idx=0).eval()
        for linear, W in [(layer.q, W_Q), (layer.k, W_K), (layer.v, W_V), (layer.o, W_O)]:
            linear.weight.data = W.T.contiguous()
        layer.relative_attention_bias.weight.data = table
        sees, mask = visible(T, T) if causal else (None, None)
        result, bias, weights = layer(X[None], mask=mask)
    q, k, v = (split(X @ W, heads) for W in (W_Q, W_K, W_V))
    nodes = steps(q, k, v, weights, bias=bias[0], sees=sees)
    same(nodes["O"] @ W_O, result[0])
    given = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O, "table": table}
    parameters = {"heads": heads, "kv_heads": heads, "position": "t5", "buckets": number, "max_distance": maximum,
                  "scale": "none", "causal": causal}
    name = "t5-layer-" + ("causal" if causal else "both-ways")
    source = "T5Attention of transformers.models.t5.modeling_t5, in float64"
    return record(name, "t5", parameters, given, nodes | {"C": nodes["O"], "O": result[0]}, source)


def qkv(seed, heads, groups, T, N, width, spread=1.0):
    draw = inputs(seed)
    return draw, draw(T, heads * width, spread=spread), draw(N, groups * width, spread=spread), draw(N, groups * width)


def sink(name, seed, heads=2, groups=1, T=4, N=None, width=4, window=None, sinks=None, allowed=None):
    """gpt-oss: a learned logit a head joins the softmax and its weight is dropped; no mask reaches it."""
    N = N or T
    draw, Q, K, V = qkv(seed, heads, groups, T, N, width)
    sinks = draw(heads, about=0.5) if sinks is None else torch.tensor(sinks)
    sees, mask = visible(T, N, window)
    if allowed is not None:
        sees = torch.tensor(allowed, dtype=torch.bool)
        mask = torch.where(sees, 0.0, torch.finfo(torch.float64).min)
    module = SimpleNamespace(num_key_value_groups=heads // groups, sinks=sinks, training=False)
    q, k, v = split(Q, heads), split(K, groups), split(V, groups)
    mixed, weights = modeling_gpt_oss.eager_attention_forward(module, q, k, v, mask, width**-0.5)
    nodes = steps(q, k, v, weights, width**-0.5, sees=sees, sinks=sinks)
    same(nodes["O"], mixed[0].flatten(1))
    given = {"Q": Q, "K": K, "V": V, "sinks": sinks} | ({"mask": sees} if allowed is not None else {})
    parameters = {"heads": heads, "kv_heads": groups, "causal": allowed is None, "window": window}
    source = "eager_attention_forward of transformers.models.gpt_oss.modeling_gpt_oss"
    return record(name, "sink", parameters, given, nodes, source)


def soft_cap(name, seed, cap, scalar, heads=2, groups=1, T=5, N=None, width=4, window=None, causal=True):
    """Gemma 2: scale query_pre_attn_scalar^(−½), then c·tanh(s/c), then the mask."""
    N = N or T
    _, Q, K, V = qkv(seed, heads, groups, T, N, width, spread=1.5)
    sees, mask = visible(T, N, window) if causal else (None, None)
    module = SimpleNamespace(num_key_value_groups=heads // groups, head_dim=width, training=False)
    q, k, v = split(Q, heads), split(K, groups), split(V, groups)
    with doubles():
        mixed, weights = modeling_gemma2.eager_attention_forward(module, q, k, v, mask, scaling=scalar**-0.5, softcap=cap)
    nodes = steps(q, k, v, weights, scalar**-0.5, cap=cap, sees=sees)
    same(nodes["O"], mixed[0].flatten(1))
    parameters = {"heads": heads, "kv_heads": groups, "scale": scalar**-0.5, "softcap": cap, "causal": causal, "window": window}
    source = "eager_attention_forward of transformers.models.gemma2.modeling_gemma2, in float64"
    return record(name, "softcap", parameters, {"Q": Q, "K": K, "V": V}, nodes, source)


def window(W, T, N, keep_first=0, causal=True):
    """Who sees whom: 1 where the query may read the key. Without `causal` transformers counts W − 1 keys to each side."""
    function, called = and_masks(sliding_window_overlay(W), causal_mask_function), "sliding_window_causal_mask_function"
    if keep_first:
        kept = or_masks(sliding_window_overlay(W), lambda batch, head, query, key: key < keep_first)
        function, called = and_masks(kept, causal_mask_function), "or_masks and and_masks over sliding_window_overlay"
    elif not causal:
        function, called = sliding_window_bidirectional_mask_function(W - 1), "sliding_window_bidirectional_mask_function"
    else:
        same(visible(T, N, W)[0], visible(T, N, function=function)[0], 0)
    name = f"window-{W}-{T}-by-{N}" + (f"-keep-{keep_first}" if keep_first else "") + ("" if causal else "-both-ways")
    parameters = {"window": W, "keep_first": keep_first, "causal": causal, "queries": T, "keys": N}
    outputs = {"visible": visible(T, N, function=function)[0]}
    return record(name, "window", parameters, {}, outputs, f"sdpa_mask with {called} of transformers.masking_utils")


def records():
    yield alibi_slopes()
    yield alibi_of_bloom(3, 5, 2, seed=101)
    yield alibi_of_last_queries(6, 3, 2, 5, 2, seed=103)
    for number, maximum, causal in [(32, 128, True), (32, 128, False), (8, 16, True), (12, 50, False)]:
        yield buckets(number, maximum, causal)
    yield t5_layer(True, seed=111)
    yield t5_layer(False, seed=112)
    yield sink("sink-causal-of-grouped-heads", 121, T=4, heads=4, groups=2, width=3)
    yield sink("sink-with-a-window-of-3", 122, T=5, width=3, window=3)
    yield sink("sink-last-two-of-six-with-a-window-of-4", 123, heads=2, groups=2, T=2, N=6, width=3, window=4)
    yield sink("sink-of-0-is-the-softmax-with-one-more", 124, heads=1, sinks=[0.0])
    yield sink("sink-far-below-the-scores", 125, heads=1, sinks=[-60.0])
    yield sink("sink-alone-in-a-row-without-keys", 126, T=3, width=2, allowed=[[1, 0, 0], [0, 0, 0], [1, 0, 1]])
    yield soft_cap("softcap-of-2-with-a-window-of-3", 131, 2.0, 24, window=3)
    yield soft_cap("softcap-of-50-as-in-gemma-2", 132, 50.0, 256, T=4, width=8, heads=1)
    yield soft_cap("softcap-last-two-of-five", 133, 1.25, 4, heads=4, groups=2, T=2, N=5, width=3)
    yield soft_cap("softcap-without-a-mask", 134, 0.5, 9, heads=1, T=3, N=4, width=5, causal=False)
    for W in (1, 2, 3, 5, 9):
        yield window(W, 6, 6)
    for W, T, N in [(1, 3, 7), (3, 3, 7), (4, 1, 6), (5, 2, 5)]:
        yield window(W, T, N)
    for W, T, N, keep in [(3, 7, 7, 2), (2, 2, 7, 4), (2, 6, 6, 1)]:
        yield window(W, T, N, keep)
    for W in (1, 3):
        yield window(W, 5, 5, causal=False)
