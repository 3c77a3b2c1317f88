"""The result of attention layers with biases, as the libraries compute them: NumPy, without this program.

python3 biases.py writes biases.json. X is that of tests/input/layers.json.
"""
import json
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
X = np.array(json.loads((HERE / "../input/layers.json").read_text())["X"], dtype=float)
E, H = 4, 2
D = E // H
rng = np.random.default_rng(2026)


def draw(*shape):
    return np.round(rng.standard_normal(shape), 2)


def attention(q, k, v):
    heads = []
    for h in range(H):
        cut = slice(h * D, (h + 1) * D)
        scores = q[:, cut] @ k[:, cut].T / np.sqrt(D)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        heads.append(weights / weights.sum(axis=1, keepdims=True) @ v[:, cut])
    return np.concatenate(heads, axis=1)


def multihead_attention(use):
    """torch.nn.MultiheadAttention: x·Wᵀ + b, queries, keys and values below each other."""
    q, k, v = np.split(X @ PACKED.T + use * PACKED_BIAS, 3, axis=1)
    return attention(q, k, v) @ OUT.T + use * OUT_BIAS


def gpt2(use):
    """GPT-2's Conv1D: x·W + b, queries, keys and values side by side."""
    q, k, v = np.split(X @ CONV + use * CONV_BIAS, 3, axis=1)
    return attention(q, k, v) @ CONV_OUT + use * CONV_OUT_BIAS


def neox(use):
    """GPT-NeoX: x·Wᵀ + b, query, key and value of one head before those of the next."""
    together = (X @ BY_HEAD.T + use * BY_HEAD_BIAS).reshape(len(X), H, 3, D)
    q, k, v = (together[:, :, role].reshape(len(X), E) for role in range(3))
    return attention(q, k, v) @ DENSE.T + use * DENSE_BIAS


def transformer_lens(use):
    """TransformerLens: (H, E, d) weights and (H, d) biases."""
    q, k, v = (
        np.einsum("te,hed->thd", X, weights).reshape(len(X), E) + use * bias.reshape(E)
        for weights, bias in zip(W_OF_HEADS, B_OF_HEADS)
    )
    return np.einsum("thd,hde->te", attention(q, k, v).reshape(len(X), H, D), W_O) + use * B_O


PACKED, PACKED_BIAS, OUT, OUT_BIAS = draw(3 * E, E), draw(3 * E), draw(E, E), draw(E)
CONV, CONV_BIAS, CONV_OUT, CONV_OUT_BIAS = draw(E, 3 * E), draw(3 * E), draw(E, E), draw(E)
BY_HEAD, BY_HEAD_BIAS, DENSE, DENSE_BIAS = draw(3 * E, E), draw(3 * E), draw(E, E), draw(E)
W_OF_HEADS, B_OF_HEADS = draw(3, H, E, D), draw(3, H, D)
W_O, B_O = draw(H, D, E), draw(E)

CASES = [
    ("PyTorch's MultiheadAttention", multihead_attention, "--heads 2", "bias", {
        "self_attn.in_proj_weight": PACKED, "self_attn.in_proj_bias": PACKED_BIAS,
        "self_attn.out_proj.weight": OUT, "self_attn.out_proj.bias": OUT_BIAS,
    }),
    ("GPT-2 and nanoGPT", gpt2, "--heads 2", "bias", {
        "h.0.attn.c_attn.weight": CONV, "h.0.attn.c_attn.bias": CONV_BIAS,
        "h.0.attn.c_proj.weight": CONV_OUT, "h.0.attn.c_proj.bias": CONV_OUT_BIAS,
    }),
    ("GPT-NeoX and BLOOM", neox, "--heads 2", "bias", {
        "attention.query_key_value.weight": BY_HEAD, "attention.query_key_value.bias": BY_HEAD_BIAS,
        "attention.dense.weight": DENSE, "attention.dense.bias": DENSE_BIAS,
    }),
    ("TransformerLens", transformer_lens, "", "b_Q,b_K,b_V,b_O", {
        f"blocks.0.attn.{name}": array
        for name, array in zip(
            ["W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V", "W_O", "b_O"], [*W_OF_HEADS, *B_OF_HEADS, W_O, B_O]
        )
    }),
]


def entry(array):
    return {"shape": list(array.shape), "values": array.ravel().tolist()}


cases = [
    {
        "of": of,
        "options": options,
        "bias": bias,
        "entries": {name: entry(array) for name, array in entries.items()},
        "O": layer(1).tolist(),
        "O_without": layer(0).tolist(),
    }
    for of, layer, options, bias, entries in CASES
]
(HERE / "biases.json").write_text(json.dumps({"cases": cases}) + "\n")
