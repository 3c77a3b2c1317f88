"""Makes params_more.json: the weights of models with experts, latent attention, fused matrices, and of encoders.

Plain arithmetic, written out from the architectures' papers and configurations, every rule here and now. It is compared
with the totals that the publishers state (Hugging Face's model pages and the papers), as exactly as they state them.

    python params_more.py        (Python alone)
"""

import layout


def gated(d, width):
    return 3 * d * width


def llama_attention(c, bias=False):
    d, heads = c["hidden_size"], c["num_attention_heads"]
    groups, width = c.get("num_key_value_heads", heads), c.get("head_dim", d // heads)
    q, kv = heads * width, groups * width
    return d * q + 2 * d * kv + q * d + (q + 2 * kv if bias else 0)


def mixtral(c):
    d, e = c["hidden_size"], c["num_local_experts"]
    layer = llama_attention(c) + d * e + 2 * d
    expert = gated(d, c["intermediate_size"])
    fixed = 2 * c["vocab_size"] * d + d + c["num_hidden_layers"] * layer
    return fixed + c["num_hidden_layers"] * e * expert, fixed + c["num_hidden_layers"] * c["num_experts_per_tok"] * expert


def qwen_moe(c):
    d, layers, e = c["hidden_size"], c["num_hidden_layers"], c["num_experts"]
    two = c["model_type"] == "qwen2_moe"
    each = llama_attention(c, bias=two) + 2 * d + (0 if two else 2 * c["head_dim"])
    sparse = [i for i in range(layers)
              if (i + 1) % c.get("decoder_sparse_step", 1) == 0 and i not in c.get("mlp_only_layers", [])]
    expert = gated(d, c["moe_intermediate_size"])
    shared = gated(d, c["shared_expert_intermediate_size"]) + d if two else 0
    fixed = 2 * c["vocab_size"] * d + d + layers * each
    fixed += (layers - len(sparse)) * gated(d, c["intermediate_size"]) + len(sparse) * (d * e + shared)
    return fixed + len(sparse) * e * expert, fixed + len(sparse) * c["num_experts_per_tok"] * expert


def deepseek(c):
    d, layers, heads, e = c["hidden_size"], c["num_hidden_layers"], c["num_attention_heads"], c["n_routed_experts"]
    nope, rope, v, latent = c["qk_nope_head_dim"], c["qk_rope_head_dim"], c["v_head_dim"], c["kv_lora_rank"]
    rank = c["q_lora_rank"]
    queries = d * heads * (nope + rope) if rank is None else d * rank + rank + rank * heads * (nope + rope)
    attention = queries + d * (latent + rope) + latent + latent * heads * (nope + v) + heads * v * d
    sparse = [i for i in range(layers) if i >= c["first_k_dense_replace"] and i % c.get("moe_layer_freq", 1) == 0]
    expert = gated(d, c["moe_intermediate_size"])
    router = d * e + (e if c["model_type"] == "deepseek_v3" else 0)
    fixed = 2 * c["vocab_size"] * d + d + layers * (attention + 2 * d)
    fixed += (layers - len(sparse)) * gated(d, c["intermediate_size"])
    fixed += len(sparse) * (router + c["n_shared_experts"] * expert)
    return fixed + len(sparse) * e * expert, fixed + len(sparse) * c["num_experts_per_tok"] * expert


def phi3(c):
    d = c["hidden_size"]
    total = 2 * c["vocab_size"] * d + d
    total += c["num_hidden_layers"] * (llama_attention(c) + gated(d, c["intermediate_size"]) + 2 * d)
    return total, total


def block(d, inner):
    """Four square matrices, two of an MLP, all with biases, and two layer norms."""
    return 4 * (d * d + d) + (d * inner + inner) + (inner * d + d) + 2 * 2 * d


def gpt_neox(c):
    d = c["hidden_size"]
    total = 2 * c["vocab_size"] * d + c["num_hidden_layers"] * block(d, c["intermediate_size"]) + 2 * d
    return total, total


def opt(c):
    d, e = c["hidden_size"], c.get("word_embed_proj_dim", c["hidden_size"])
    total = c["vocab_size"] * e + (c["max_position_embeddings"] + 2) * d
    total += c["num_hidden_layers"] * block(d, c["ffn_dim"])
    total += 2 * d if c.get("do_layer_norm_before", True) else 0
    total += 2 * e * d if e != d else 0
    return total, total


def bert(c):
    d = c["hidden_size"]
    total = (c["vocab_size"] + c["max_position_embeddings"] + c["type_vocab_size"]) * d + 2 * d
    total += c["num_hidden_layers"] * block(d, c["intermediate_size"]) + d * d + d
    return total, total


def attn_small(c):
    """Two tables, square matrices without biases, an MLP where there is one, a head; norms have no weights."""
    d = c["hidden_size"]
    inner = c["intermediate_size"] if c["mlp"] == "relu" else 0
    total = (c["vocab_size"] + c["max_position_embeddings"]) * d
    total += c["num_hidden_layers"] * (4 * d * d + 2 * d * inner) + d * c["vocab_size"]
    return total, total


COUNT = {"mixtral": mixtral, "qwen2_moe": qwen_moe, "qwen3_moe": qwen_moe, "deepseek_v2": deepseek,
         "deepseek_v3": deepseek, "phi3": phi3, "gpt_neox": gpt_neox, "opt": opt, "bert": bert,
         "attn-small": attn_small}

# Configurations as published, and what is stated of them: all weights, those that one token uses, and where.
MODELS = {
    "mixtral-8x7b": ({
        "model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "num_local_experts": 8, "num_experts_per_tok": 2,
        "vocab_size": 32000, "max_position_embeddings": 32768, "sliding_window": None, "tie_word_embeddings": False},
        46_702_792_704, "12.9B", "model page; arXiv 2401.04088: 47B, of which a token uses 13B"),
    "qwen1.5-moe-a2.7b": ({
        "model_type": "qwen2_moe", "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16,
        "num_key_value_heads": 16, "intermediate_size": 5632, "moe_intermediate_size": 1408,
        "shared_expert_intermediate_size": 5632, "num_experts": 60, "num_experts_per_tok": 4,
        "decoder_sparse_step": 1, "vocab_size": 151936, "max_position_embeddings": 8192,
        "use_sliding_window": False, "tie_word_embeddings": False},
        14_315_784_192, "2.7B", "model page: 14.3B, of which 2.7B work on a token"),
    "qwen3-30b-a3b": ({
        "model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 32,
        "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 6144, "moe_intermediate_size": 768,
        "num_experts": 128, "num_experts_per_tok": 8, "decoder_sparse_step": 1, "mlp_only_layers": [],
        "vocab_size": 151936, "max_position_embeddings": 40960, "attention_bias": False,
        "use_sliding_window": False, "tie_word_embeddings": False},
        30_532_122_624, "3.3B", "model page: 30.5B, of which 3.3B work on a token"),
    "deepseek-v2-lite": ({
        "model_type": "deepseek_v2", "hidden_size": 2048, "num_hidden_layers": 27, "num_attention_heads": 16,
        "num_key_value_heads": 16, "intermediate_size": 10944, "moe_intermediate_size": 1408,
        "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
        "moe_layer_freq": 1, "q_lora_rank": None, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 102400, "max_position_embeddings": 163840,
        "tie_word_embeddings": False},
        15_706_484_224, "2.4B", "model page: 15.7B, of which 2.4B work on a token"),
    "deepseek-v2": ({
        "model_type": "deepseek_v2", "hidden_size": 5120, "num_hidden_layers": 60, "num_attention_heads": 128,
        "num_key_value_heads": 128, "intermediate_size": 12288, "moe_intermediate_size": 1536,
        "n_routed_experts": 160, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
        "moe_layer_freq": 1, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 102400, "max_position_embeddings": 163840,
        "tie_word_embeddings": False},
        235_741_434_880, "21B", "arXiv 2405.04434: 236B, of which 21B work on a token"),
    "deepseek-v3": ({
        "model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128,
        "num_key_value_heads": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048,
        "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3,
        "moe_layer_freq": 1, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "num_nextn_predict_layers": 1, "vocab_size": 129280,
        "max_position_embeddings": 163840, "tie_word_embeddings": False},
        None, "37B", "arXiv 2412.19437: 671B, of which 37B work on a token"),
    "phi3-mini": ({
        "model_type": "phi3", "hidden_size": 3072, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 32, "intermediate_size": 8192, "vocab_size": 32064,
        "max_position_embeddings": 4096, "sliding_window": 2047, "tie_word_embeddings": False},
        3_821_079_552, None, "model page: 3.8B"),
    "gpt-neox-20b": ({
        "model_type": "gpt_neox", "hidden_size": 6144, "num_hidden_layers": 44, "num_attention_heads": 64,
        "intermediate_size": 24576, "vocab_size": 50432, "max_position_embeddings": 2048,
        "tie_word_embeddings": False},
        20_554_567_680, None, "model page, and arXiv 2204.06745: 20.6B"),
    "pythia-70m": ({
        "model_type": "gpt_neox", "hidden_size": 512, "num_hidden_layers": 6, "num_attention_heads": 8,
        "intermediate_size": 2048, "vocab_size": 50304, "max_position_embeddings": 2048,
        "tie_word_embeddings": False},
        70_426_624, None, "model page"),
    "opt-125m": ({
        "model_type": "opt", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
        "ffn_dim": 3072, "vocab_size": 50272, "word_embed_proj_dim": 768, "max_position_embeddings": 2048,
        "do_layer_norm_before": True},
        125_239_296, None, "model page"),
    "opt-350m": ({
        "model_type": "opt", "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
        "ffn_dim": 4096, "vocab_size": 50272, "word_embed_proj_dim": 512, "max_position_embeddings": 2048,
        "do_layer_norm_before": False},
        331_196_416, None, "model page"),
    "bert-base": ({
        "model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
        "intermediate_size": 3072, "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2},
        109_482_240, None, "arXiv 1810.04805: 110M"),
    "bert-large": ({
        "model_type": "bert", "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
        "intermediate_size": 4096, "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2},
        335_141_888, None, "arXiv 1810.04805: 340M"),
    "attn-small, induction": ({
        "model_type": "attn-small", "vocab_size": 16, "max_position_embeddings": 24, "hidden_size": 16,
        "num_hidden_layers": 2, "num_attention_heads": 1, "intermediate_size": 0, "norm": "none", "mlp": "none",
        "causal": True, "tie_word_embeddings": False},
        2_944, None, "arithmetic alone"),
    "attn-small, names": ({
        "model_type": "attn-small", "vocab_size": 27, "max_position_embeddings": 16, "hidden_size": 16,
        "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 64, "norm": "rms",
        "rms_norm_eps": 1e-5, "mlp": "relu", "causal": True, "tie_word_embeddings": False},
        4_192, None, "microGPT's count, github.com/karpathy gist 8627fe0"),
    "qwen2_moe with dense layers": ({
        "model_type": "qwen2_moe", "hidden_size": 64, "num_hidden_layers": 7, "num_attention_heads": 4,
        "num_key_value_heads": 2, "intermediate_size": 96, "moe_intermediate_size": 24,
        "shared_expert_intermediate_size": 40, "num_experts": 6, "num_experts_per_tok": 2,
        "decoder_sparse_step": 2, "mlp_only_layers": [0, 3], "vocab_size": 100, "tie_word_embeddings": False},
        None, None, "arithmetic alone"),
}


def main():
    golden = {}
    for name, (config, published, active_stated, origin) in MODELS.items():
        total, active = COUNT[config["model_type"]](config)
        if published is not None and total != published:
            raise SystemExit(f"{name}: {total}, published {published}")
        if name == "deepseek-v3" and round(total / 1e9) != 671:
            raise SystemExit(f"{name}: {total}")
        print(f"{name:30} {total:>18,} {active:>18,} {active_stated or ''}")
        golden[name] = {"config": config, "total": total, "active": active, "origin": origin}
    layout.write(__file__, golden)


if __name__ == "__main__":
    main()
