"""Makes params.json: the weights of models, as two independent sources count them.

1. Plain arithmetic from the definitions of the architectures, below.
2. The model classes of Hugging Face's `transformers`, built on PyTorch's meta device, which has shapes and no memory.

Both must agree, with each other and with the published totals, or nothing is written.

    python params.py        (Python with torch and transformers; the versions used are in params.json)
"""

import re
import sys

import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM

import layout

CONTEXTS = [1, 7, 1024, 5000, 32768]


def gpt2(n_embd, n_layer, n_head, n_positions=1024, **more):
    return {"model_type": "gpt2", "n_embd": n_embd, "n_layer": n_layer, "n_head": n_head,
            "n_positions": n_positions, "vocab_size": 50257, **more}


def like_llama(model_type, hidden, layers, heads, intermediate, vocabulary, **more):
    return {"model_type": model_type, "hidden_size": hidden, "num_hidden_layers": layers,
            "num_attention_heads": heads, "intermediate_size": intermediate, "vocab_size": vocabulary, **more}


# Models with a name of their own, their configurations, and the totals that their publishers state.
BUILT_IN = {
    "gpt3": (gpt2(12288, 96, 96, 2048), 174_604_259_328),
    "gpt2": (gpt2(768, 12, 12), 124_439_808),
    "gpt2-medium": (gpt2(1024, 24, 16), 354_823_168),
    "gpt2-large": (gpt2(1280, 36, 20), 774_030_080),
    "gpt2-xl": (gpt2(1600, 48, 25), 1_557_611_200),
    "llama2-7b": (like_llama("llama", 4096, 32, 32, 11008, 32000), 6_738_415_616),
    "llama3-8b": (like_llama("llama", 4096, 32, 32, 14336, 128256, num_key_value_heads=8), 8_030_261_248),
    "llama3-70b": (like_llama("llama", 8192, 80, 64, 28672, 128256, num_key_value_heads=8), 70_553_706_496),
    "tinyllama-1.1b": (like_llama("llama", 2048, 22, 32, 5632, 32000, num_key_value_heads=4), 1_100_048_384),
    "mistral-7b": (like_llama("mistral", 4096, 32, 32, 14336, 32000, num_key_value_heads=8, sliding_window=4096),
                   7_241_732_096),
    "qwen2-0.5b": (like_llama("qwen2", 896, 24, 14, 4864, 151936, num_key_value_heads=2,
                              tie_word_embeddings=True), 494_032_768),
    "qwen3-0.6b": (like_llama("qwen3", 1024, 28, 16, 3072, 151936, num_key_value_heads=8, head_dim=128,
                              tie_word_embeddings=True), 596_049_920),
    "gemma-2b": (like_llama("gemma", 2048, 18, 8, 16384, 256000, num_key_value_heads=1, head_dim=256),
                 2_506_172_416),
    "gemma2-2b": (like_llama("gemma2", 2304, 26, 8, 9216, 256000, num_key_value_heads=4, head_dim=256,
                             sliding_window=4096), 2_614_341_888),
    "gemma3-1b": (like_llama("gemma3_text", 1152, 26, 4, 6912, 262144, num_key_value_heads=1, head_dim=256,
                             sliding_window=512, sliding_window_pattern=6), 999_885_952),
}

# What configurations leave out, set to null, or set otherwise than usual.
CASES = {
    "gpt2 with an inner width, untied": gpt2(48, 3, 4, n_inner=100, tie_word_embeddings=False),
    "gpt2 with n_inner null": gpt2(48, 3, 4, n_inner=None),
    "llama with biases, tied, heads wider than d": like_llama(
        "llama", 160, 3, 5, 96, 1000, attention_bias=True, mlp_bias=True, tie_word_embeddings=True, head_dim=48),
    "llama with nulls": like_llama(
        "llama", 64, 3, 4, 96, 1000, num_key_value_heads=None, head_dim=None, max_position_embeddings=512),
    "mistral with nothing stated": like_llama("mistral", 160, 5, 16, 96, 1000),
    "mistral without window": like_llama(
        "mistral", 160, 5, 16, 96, 1000, sliding_window=None, num_key_value_heads=4, head_dim=24),
    "qwen2 with nothing stated": like_llama("qwen2", 160, 5, 32, 96, 1000),
    "qwen2 with windows above": like_llama(
        "qwen2", 160, 5, 8, 96, 1000, num_key_value_heads=2, use_sliding_window=True, sliding_window=6,
        max_window_layers=3),
    "qwen2 with windows everywhere": like_llama(
        "qwen2", 160, 5, 8, 96, 1000, num_key_value_heads=2, use_sliding_window=True, max_window_layers=0),
    "qwen2 with windows above the usual layer": like_llama("qwen2", 160, 31, 32, 96, 1000, use_sliding_window=True),
    "qwen2 with heads of another width": like_llama("qwen2", 160, 5, 8, 96, 1000, num_key_value_heads=2, head_dim=32),
    "qwen3 with nothing stated": like_llama("qwen3", 160, 5, 32, 96, 1000),
    "qwen3 with biases and listed layers": like_llama(
        "qwen3", 160, 3, 8, 96, 1000, num_key_value_heads=4, attention_bias=True, use_sliding_window=True,
        sliding_window=6, layer_types=["full_attention", "sliding_attention", "sliding_attention"]),
    "gemma with nothing stated": like_llama("gemma", 160, 3, 16, 96, 1000),
    "gemma with biases, untied": like_llama(
        "gemma", 160, 3, 8, 96, 1000, num_key_value_heads=4, attention_bias=True, tie_word_embeddings=False),
    "gemma2 with nothing stated": like_llama("gemma2", 160, 5, 8, 96, 1000),
    "gemma2 with biases and listed layers": like_llama(
        "gemma2", 160, 3, 8, 96, 1000, attention_bias=True, sliding_window=6,
        layer_types=["full_attention", "full_attention", "sliding_attention"]),
    "gemma3 with nothing stated": {
        "model_type": "gemma3_text", "hidden_size": 160, "num_hidden_layers": 13, "intermediate_size": 96},
    "gemma3 with another pattern": like_llama(
        "gemma3_text", 160, 7, 4, 96, 1000, num_key_value_heads=2, head_dim=32, sliding_window=6,
        sliding_window_pattern=3),
    "gemma3 inside a vision model": {
        "model_type": "gemma3",
        "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
                        "num_hidden_layers": 34, "sliding_window": 1024},
        "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152}},
}


def from_definition(c):
    """The total by arithmetic, written out from the architectures' papers, every rule here and now."""
    kind = c["model_type"]
    if kind == "gpt2":
        d, inner = c["n_embd"], c.get("n_inner") or 4 * c["n_embd"]
        layer = (d * 3 * d + 3 * d) + (d * d + d) + (d * inner + inner) + (inner * d + d) + 2 * (d + d)
        out = 0 if c.get("tie_word_embeddings", True) else c["vocab_size"] * d
        return c["vocab_size"] * d + c["n_positions"] * d + c["n_layer"] * layer + 2 * d + out
    gemma = kind.startswith("gemma")
    d, i, layers = c["hidden_size"], c["intermediate_size"], c["num_hidden_layers"]
    heads = c.get("num_attention_heads", 8)
    vocabulary = c.get("vocab_size", 262_208)
    usual = {"llama": heads, "mistral": 8, "qwen2": 32, "qwen3": 32, "gemma": 16, "gemma2": 4, "gemma3_text": 4}
    groups = c.get("num_key_value_heads", usual[kind]) or heads
    width = c.get("head_dim") or (256 if gemma else 128 if kind == "qwen3" else d // heads)
    q, kv = heads * width, groups * width
    layer = d * q + 2 * d * kv + q * d + 3 * d * i
    if kind == "qwen2" or c.get("attention_bias"):
        layer += q + 2 * kv
    if c.get("attention_bias"):
        layer += d
    if c.get("mlp_bias"):
        layer += 2 * i + d
    layer += (4 if kind in ("gemma2", "gemma3_text") else 2) * d
    layer += 2 * width if kind in ("qwen3", "gemma3_text") else 0
    tied = c.get("tie_word_embeddings", gemma)
    return vocabulary * d * (1 if tied else 2) + layers * layer + d


def part(name):
    if re.search(r"wte|wpe|embed_tokens", name):
        return "embedding"
    if "lm_head" in name:
        return "unembedding"
    if re.search(r"norm|ln_", name):
        return "norms"
    return "MLP" if "mlp" in name else "attention"


def from_transformers(c):
    """The weights that the reference implementation makes of a configuration, layers taken together."""
    c = c.get("text_config", c)
    config = AutoConfig.for_model(c["model_type"], **{key: c[key] for key in c if key != "model_type"})
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    weights = {}
    for name, weight in model.named_parameters():
        pattern = re.sub(r"\.\d+\.", ".*.", name)
        shape = list(weight.shape)
        known = weights.setdefault(pattern, {"name": pattern, "shape": shape, "copies": 0, "part": part(pattern)})
        assert known["shape"] == shape, name
        known["copies"] += 1
    total = sum(weight.numel() for weight in model.parameters())
    parts = {}
    for name, weight in model.named_parameters():
        parts[part(name)] = parts.get(part(name), 0) + weight.numel()
    assert total == from_definition(c), (c, total, from_definition(c))

    window = getattr(config, "sliding_window", None)
    layers = config.num_hidden_layers
    kinds = getattr(config, "layer_types", None) or ["sliding_attention" if window else "full_attention"] * layers
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    longest = config.n_positions if c["model_type"] == "gpt2" else max(CONTEXTS)
    caches = []
    for context in (context for context in CONTEXTS if context <= longest):
        kept = [min(context, window) if kind == "sliding_attention" else context for kind in kinds]
        caches.append({"context": context, "bytes": sum(2 * heads * width * tokens * 2 for tokens in kept)})
    return {"total": total, "parts": parts, "weights": list(weights.values()), "caches": caches}


def lecture():
    """GPT-3 as the lecture behind document 004 counts: each head's matrices, the MLP, the two embeddings."""
    d, head, heads, layers, vocabulary = 12288, 128, 96, 96, 50257
    each = d * head * heads * layers
    weights = {"embedding": vocabulary * d, "query": each, "key": each, "value (V_d)": each, "output (V_u)": each,
               "up-projection": 4 * d * d * layers, "down-projection": 4 * d * d * layers,
               "unembedding": vocabulary * d}
    total, attention = sum(weights.values()), 4 * each
    assert (total, attention) == (175_181_291_520, 57_982_058_496)
    return {"total": total, "attention": attention, "weights": weights}


def main():
    transformers.logging.set_verbosity_error()
    built_in, cases = {}, {}
    for name, (config, published) in BUILT_IN.items():
        built_in[name] = {"config": config, **from_transformers(config)}
        assert built_in[name]["total"] == published, name
    for name, config in CASES.items():
        cases[name] = {"config": config, **from_transformers(config)}
    golden = {
        "made_by": "params.py",
        "versions": {"python": sys.version.split()[0], "torch": torch.__version__,
                     "transformers": transformers.__version__},
        "lecture": lecture(),
        "built_in": built_in,
        "cases": cases,
    }
    layout.write(__file__, golden)


if __name__ == "__main__":
    main()
