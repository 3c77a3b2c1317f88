"""GPT-2, GPT-NeoX, BERT and DistilBERT."""

import torch

from checkpoint import Checkpoint


def gpt2_hub_names(tensors):
    """As the first file on the hub: no prefix, mask buffers in f32."""
    out = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
    for layer in range(2):
        out[f"h.{layer}.attn.bias"] = torch.tril(torch.ones(19, 19)).view(1, 1, 19, 19)
    return out


def gpt2_old_buffers(tensors):
    """With the prefix, and both mask buffers as older versions wrote them: u8, and a scalar."""
    out = dict(tensors)
    for layer in range(4):
        out[f"transformer.h.{layer}.attn.bias"] = torch.tril(torch.ones(23, 23, dtype=torch.uint8)).view(1, 1, 23, 23)
        out[f"transformer.h.{layer}.attn.masked_bias"] = torch.tensor(-1e4)
    return out


def neox_old_buffers(tensors):
    """Output head under its old name, and the three buffers of a Pythia file."""
    out = {name.replace("lm_head.", "embed_out."): tensor for name, tensor in tensors.items()}
    for layer in range(3):
        place = f"gpt_neox.layers.{layer}.attention."
        out[place + "bias"] = torch.tril(torch.ones(32, 32, dtype=torch.bool)).view(1, 1, 32, 32)
        out[place + "masked_bias"] = torch.tensor(-1e9, dtype=torch.float16)
        out[place + "rotary_emb.inv_freq"] = (1 / 10000 ** (torch.arange(0, 4, 2) / 4)).half()
    return out


def bert_old_names(tensors):
    """`gamma` and `beta`, the pooler and the next-sentence head; the decoder is left out (tied)."""
    out = {}
    for name, tensor in tensors.items():
        name = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
        out[name] = tensor
    generator = torch.Generator().manual_seed(900)
    for name, shape in {"bert.pooler.dense.weight": (20, 20), "bert.pooler.dense.bias": (20,),
                        "cls.seq_relationship.weight": (2, 20), "cls.seq_relationship.bias": (2,)}.items():
        out[name] = torch.randn(shape, generator=generator)
    return out


def bert_plain(tensors):
    """No prefix, no head; the position ids that older versions stored."""
    return {**tensors, "embeddings.position_ids": torch.arange(21).view(1, 21)}


def gpt2(vocab, width, layers, heads, positions, **more):
    config = {
        "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
        "bos_token_id": 0, "embd_pdrop": 0.1, "eos_token_id": 0, "initializer_range": 0.02,
        "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": positions, "n_embd": width,
        "n_head": heads, "n_layer": layers, "n_positions": positions, "resid_pdrop": 0.1, "vocab_size": vocab,
    }
    config.update(more)
    return config


def bert(vocab, width, ff, layers, heads, positions, **more):
    config = {
        "attention_probs_dropout_prob": 0.1, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
        "hidden_size": width, "initializer_range": 0.02, "intermediate_size": ff, "layer_norm_eps": 1e-12,
        "max_position_embeddings": positions, "model_type": "bert", "num_attention_heads": heads,
        "num_hidden_layers": layers, "pad_token_id": 0, "type_vocab_size": 2, "vocab_size": vocab,
    }
    config.update(more)
    return config


def distilbert(vocab, width, ff, layers, heads, positions, **more):
    config = {
        "activation": "gelu", "attention_dropout": 0.1, "dim": width, "dropout": 0.1, "hidden_dim": ff,
        "initializer_range": 0.02, "max_position_embeddings": positions, "model_type": "distilbert", "n_heads": heads,
        "n_layers": layers, "pad_token_id": 0, "sinusoidal_pos_embds": False, "vocab_size": vocab,
    }
    config.update(more)
    return config


def neox(vocab, width, ff, layers, heads, **more):
    config = {
        "architectures": ["GPTNeoXForCausalLM"], "bos_token_id": 0, "eos_token_id": 0,
        "hidden_act": "gelu", "hidden_size": width, "initializer_range": 0.02, "intermediate_size": ff,
        "layer_norm_eps": 1e-05, "max_position_embeddings": 32, "model_type": "gpt_neox",
        "num_attention_heads": heads, "num_hidden_layers": layers, "use_cache": True, "vocab_size": vocab,
    }
    config.update(more)
    return config


OTHER = [
    Checkpoint(
        "gpt2-a",
        ["names without prefix", "mask buffers in f32", "n_inner set", "gelu_new", "tied head absent",
         "file of the hub's first GPT-2"],
        gpt2(71, 24, 2, 3, 19, n_inner=58),
        "GPT2LMHeadModel",
        {"expected": [5, 17, 64, 8, 17, 64, 33, 2, 5, 17, 70]},
        seed=11, rename=gpt2_hub_names,
        matters=[{"activation_function": "gelu"}, {"layer_norm_epsilon": 0.1}],
    ),
    Checkpoint(
        "gpt2-b",
        ["prefix `transformer.`", "mask buffers in u8 and masked_bias (scalar)", "scale_attn_by_inverse_layer_idx",
         "reorder_and_upcast_attn (changes nothing in f64)", "gelu (erf)", "n_inner null: 4 x width",
         "untied head in the file"],
        gpt2(61, 15, 4, 3, 23, n_inner=None, scale_attn_by_inverse_layer_idx=True, reorder_and_upcast_attn=True,
             scale_attn_weights=True, activation_function="gelu", tie_word_embeddings=False),
        "GPT2LMHeadModel",
        {"expected": [3, 60, 41, 3, 60, 12, 12, 29, 41]},
        seed=12, rename=gpt2_old_buffers, scale={r"c_attn\.weight$": (0.0, 0.45)},
        matters=[{"scale_attn_by_inverse_layer_idx": False}, {"activation_function": "gelu_new"}],
    ),
    Checkpoint(
        "gpt2-c",
        ["scale_attn_weights false", "relu", "tied head also stored as lm_head.weight"],
        gpt2(59, 14, 3, 2, 17, scale_attn_weights=False, activation_function="relu"),
        "GPT2LMHeadModel",
        {"expected": [7, 9, 58, 7, 9, 30, 1, 30, 7, 9]},
        seed=13, scale={r"c_attn\.weight$": (0.0, 0.25)},
        rename=lambda tensors: {**tensors, "lm_head.weight": tensors["transformer.wte.weight"]},
        matters=[{"scale_attn_weights": True}],
    ),
    Checkpoint(
        "neox-a",
        ["Pythia's file: f16, embed_out, mask and inv_freq buffers", "parallel residual", "biases",
         "old keys rotary_pct and rotary_emb_base", "a quarter of the head rotates", "gelu (erf)", "untied head"],
        neox(61, 32, 38, 3, 2, rotary_pct=0.25, rotary_emb_base=10000, tie_word_embeddings=False,
             torch_dtype="float16", use_parallel_residual=True, hidden_dropout=0.0),
        "GPTNeoXForCausalLM",
        {"expected": [10, 44, 3, 10, 44, 3, 58, 21, 10, 44, 7, 19]},
        seed=21, dtype="f16", rename=neox_old_buffers,
        matters=[{"use_parallel_residual": False}, {"rotary_pct": 0.5}, {"rotary_emb_base": 100}],
    ),
    Checkpoint(
        "neox-b",
        ["sequential residual", "attention_bias false", "new key rope_parameters with type linear",
         "partial_rotary_factor 0.45 of 10 columns: 4 rotate", "gelu_fast", "tied head absent"],
        neox(67, 30, 44, 2, 3, attention_bias=False, dtype="float32", hidden_act="gelu_fast",
             rope_parameters={"factor": 2.5, "partial_rotary_factor": 0.45, "rope_theta": 500.0, "rope_type": "linear"},
             tie_word_embeddings=True, use_parallel_residual=False),
        "GPTNeoXForCausalLM",
        {"expected": [66, 2, 31, 31, 2, 50, 66, 2, 31]},
        seed=22, rename=lambda tensors: {k.replace("lm_head.", "embed_out."): v for k, v in tensors.items()},
        matters=[{"use_parallel_residual": True}, {"rope_parameters.factor": 1.0}, {"rope_parameters.rope_theta": 1e4},
                 {"rope_parameters.partial_rotary_factor": 0.25}, {"hidden_act": "gelu_fast", "layer_norm_eps": 0.1}],
    ),
    Checkpoint(
        "bert-a",
        ["BertForMaskedLM with prefix, names gamma and beta", "pooler and next-sentence head to ignore",
         "tied decoder absent", "gelu (erf)"],
        bert(71, 20, 34, 3, 4, 16, architectures=["BertForPreTraining"]),
        "BertForMaskedLM",
        {"expected": [2, 15, 40, 4, 15, 40, 61, 9, 3]},
        seed=31, rename=bert_old_names, scale={r"(query|key)\.weight$": (0.0, 0.4)},
        matters=[{"hidden_act": "gelu_new"}, {"layer_norm_eps": 0.1}],
    ),
    Checkpoint(
        "bert-b",
        ["BertModel without prefix and without head: no logits", "position_ids buffer in i64", "relu", "f64"],
        bert(59, 18, 26, 2, 3, 21, architectures=["BertModel"], hidden_act="relu", layer_norm_eps=1e-5,
             dtype="float64", type_vocab_size=3),
        "BertModel",
        {"expected": [2, 30, 58, 30, 7, 7, 45, 30, 58, 3]},
        seed=32, dtype="f64", rename=bert_plain,
        matters=[{"hidden_act": "gelu"}],
    ),
    Checkpoint(
        "bert-c",
        ["untied masked-word head with decoder.weight and decoder.bias", "both biases of the head stored, equal", "gelu_new"],
        bert(61, 18, 42, 2, 3, 13, architectures=["BertForMaskedLM"], hidden_act="gelu_new", tie_word_embeddings=False),
        "BertForMaskedLM",
        {"expected": [2, 11, 60, 11, 20, 35, 11, 60, 3]},
        seed=33, missing=(r"predictions\.bias$",), scale={r"(query|key)\.weight$": (0.0, 0.4)},
        rename=lambda tensors: {**tensors, "cls.predictions.bias": tensors["cls.predictions.decoder.bias"]},
        matters=[{"hidden_act": "gelu"}],
    ),
    Checkpoint(
        "distilbert-a",
        ["DistilBertForMaskedLM with prefix", "tied vocab_projector absent, its bias there", "no token types", "gelu (erf)"],
        distilbert(71, 20, 34, 3, 4, 16, architectures=["DistilBertForMaskedLM"]),
        "DistilBertForMaskedLM",
        {"expected": [2, 15, 40, 4, 15, 40, 61, 9, 3]},
        seed=34, missing=(r"vocab_projector\.weight$",), scale={r"[qk]_lin\.weight$": (0.0, 0.4)},
        matters=[{"activation": "relu"}],
    ),
]
