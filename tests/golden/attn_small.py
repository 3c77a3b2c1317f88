"""The logits of small models by transformers, from folders of the family attn-small; writes attn_small.json.

    python attn_small.py        (PyTorch, transformers, NumPy)

Each folder is built here, from np.random.seed and randn, with models/attn-small/modeling_attn_small.py of the project, and opened as a
user opens it: AutoModelForCausalLM.from_pretrained with trust_remote_code, without a network. The test builds the same folder with the
same numbers and compares its own logits.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
import transformers
from safetensors.numpy import save_file

import layout

MODELING = Path(__file__).parents[2] / "models/attn-small/modeling_attn_small.py"


def config(vocabulary, context, width, layers, heads, inside=0, norm="none", causal=True, dtype="float64"):
    return {
        "model_type": "attn-small", "architectures": ["AttnSmallForCausalLM"],
        "auto_map": {"AutoConfig": "modeling_attn_small.AttnSmallConfig",
                     "AutoModelForCausalLM": "modeling_attn_small.AttnSmallForCausalLM"},
        "vocab_size": vocabulary, "max_position_embeddings": context, "hidden_size": width,
        "num_hidden_layers": layers, "num_attention_heads": heads, "intermediate_size": inside, "norm": norm,
        "rms_norm_eps": 1e-5, "mlp": "relu" if inside else "none", "causal": causal,
        "tie_word_embeddings": False, "dtype": dtype}


CASES = {
    "two layers of one head, neither norm nor MLP": config(16, 24, 16, 2, 1),
    "one layer that sees the whole text": config(10, 12, 8, 1, 1, causal=False),
    "four heads, norms and an MLP, in f32": config(27, 16, 16, 1, 4, 64, "rms", dtype="float32"),
    "three heads, norms and an MLP, the whole text": config(12, 10, 12, 2, 3, 20, "rms", causal=False),
    "norms without an MLP, in f32": config(16, 24, 8, 2, 1, 0, "rms", dtype="float32"),
    "an MLP without norms": config(20, 9, 8, 2, 4, 24),
}


def tensors(c):
    """In the order of the family's documentation, each drawn row by row."""
    d, inside = c["hidden_size"], c["intermediate_size"]
    draw = lambda rows, columns: (0.4 * np.random.randn(rows, columns)).astype(c["dtype"])
    named = {"W_E": draw(c["vocab_size"], d), "W_P": draw(c["max_position_embeddings"], d)}
    for layer in range(c["num_hidden_layers"]):
        for name in ["W_Q", "W_K", "W_V", "W_O"]:
            named[f"layers.{layer}.{name}"] = draw(d, d)
        if inside:
            named[f"layers.{layer}.W_up"] = draw(d, inside)
            named[f"layers.{layer}.W_down"] = draw(inside, d)
    return named | {"W_U": draw(d, c["vocab_size"])}


def logits(c, seed):
    np.random.seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(MODELING, folder)
        (Path(folder) / "config.json").write_text(json.dumps(c))
        save_file(tensors(c), Path(folder) / "model.safetensors")
        open_in = lambda **dtype: transformers.AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True, **dtype)
        length = c["max_position_embeddings"] - 2
        ids = [int(id) for id in np.random.randint(0, c["vocab_size"], length)]
        own, exact = open_in(), open_in(dtype=torch.float64)
        assert own.dtype == getattr(torch, c["dtype"])
        with torch.no_grad():
            expected = exact(torch.tensor([ids])).logits[0]
            assert (own(torch.tensor([ids])).logits[0] - expected).abs().max() < 1e-4
    return {"config": c, "seed": seed, "ids": ids, "logits": expected.tolist()}


if __name__ == "__main__":
    layout.write(__file__, {name: logits(c, seed) for seed, (name, c) in enumerate(CASES.items())})
