//! Models known by name: their published configurations, read like a user's own.

use crate::error::{Error, Result};
use crate::text::nearest;

use super::family::Family;
use super::model::{Biases, Model, Positions};

/// A model known by name.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its description.
    pub title: &'static str,
    /// Its `config.json`, without the fields that no count depends on.
    config: &'static str,
}

/// Every model known by name, for help and for errors.
pub const BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        name: "gpt3",
        title: "GPT-3 175B, counted in two ways",
        config: r#"{"model_type": "gpt2", "n_embd": 12288, "n_layer": 96, "n_head": 96, "n_positions": 2048,
            "vocab_size": 50257}"#,
    },
    BuiltIn {
        name: "gpt2",
        title: "GPT-2, 124M",
        config: r#"{"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
            "vocab_size": 50257}"#,
    },
    BuiltIn {
        name: "gpt2-medium",
        title: "GPT-2, 355M",
        config: r#"{"model_type": "gpt2", "n_embd": 1024, "n_layer": 24, "n_head": 16, "n_positions": 1024,
            "vocab_size": 50257}"#,
    },
    BuiltIn {
        name: "gpt2-large",
        title: "GPT-2, 774M",
        config: r#"{"model_type": "gpt2", "n_embd": 1280, "n_layer": 36, "n_head": 20, "n_positions": 1024,
            "vocab_size": 50257}"#,
    },
    BuiltIn {
        name: "gpt2-xl",
        title: "GPT-2, 1.5B",
        config: r#"{"model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": 25, "n_positions": 1024,
            "vocab_size": 50257}"#,
    },
    BuiltIn {
        name: "llama2-7b",
        title: "Llama 2 7B",
        config: r#"{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
            "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 11008,
            "vocab_size": 32000, "max_position_embeddings": 4096, "tie_word_embeddings": false}"#,
    },
    BuiltIn {
        name: "llama3-8b",
        title: "Llama 3 8B",
        config: r#"{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
            "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
            "vocab_size": 128256, "max_position_embeddings": 8192, "tie_word_embeddings": false}"#,
    },
    BuiltIn {
        name: "llama3-70b",
        title: "Llama 3 70B",
        config: r#"{"model_type": "llama", "hidden_size": 8192, "num_hidden_layers": 80,
            "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672,
            "vocab_size": 128256, "max_position_embeddings": 8192, "tie_word_embeddings": false}"#,
    },
    BuiltIn {
        name: "tinyllama-1.1b",
        title: "TinyLlama 1.1B",
        config: r#"{"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 22,
            "num_attention_heads": 32, "num_key_value_heads": 4, "intermediate_size": 5632,
            "vocab_size": 32000, "max_position_embeddings": 2048, "tie_word_embeddings": false}"#,
    },
    BuiltIn {
        name: "mistral-7b",
        title: "Mistral 7B v0.1, with its window of 4096 tokens",
        config: r#"{"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32,
            "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
            "vocab_size": 32000, "max_position_embeddings": 32768, "sliding_window": 4096,
            "tie_word_embeddings": false}"#,
    },
    BuiltIn {
        name: "qwen2-0.5b",
        title: "Qwen2 0.5B",
        config: r#"{"model_type": "qwen2", "hidden_size": 896, "num_hidden_layers": 24,
            "num_attention_heads": 14, "num_key_value_heads": 2, "intermediate_size": 4864,
            "vocab_size": 151936, "max_position_embeddings": 131072, "use_sliding_window": false,
            "tie_word_embeddings": true}"#,
    },
    BuiltIn {
        name: "qwen3-0.6b",
        title: "Qwen3 0.6B",
        config: r#"{"model_type": "qwen3", "hidden_size": 1024, "num_hidden_layers": 28,
            "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 3072,
            "vocab_size": 151936, "max_position_embeddings": 40960, "use_sliding_window": false,
            "attention_bias": false, "tie_word_embeddings": true}"#,
    },
    BuiltIn {
        name: "gemma-2b",
        title: "Gemma 2B",
        config: r#"{"model_type": "gemma", "hidden_size": 2048, "num_hidden_layers": 18,
            "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 16384,
            "vocab_size": 256000, "max_position_embeddings": 8192, "tie_word_embeddings": true}"#,
    },
    BuiltIn {
        name: "gemma2-2b",
        title: "Gemma 2 2B, every other layer with a window",
        config: r#"{"model_type": "gemma2", "hidden_size": 2304, "num_hidden_layers": 26,
            "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "intermediate_size": 9216,
            "vocab_size": 256000, "max_position_embeddings": 8192, "sliding_window": 4096,
            "tie_word_embeddings": true}"#,
    },
    BuiltIn {
        name: "gemma3-1b",
        title: "Gemma 3 1B, five layers of six with a window",
        config: r#"{"model_type": "gemma3_text", "hidden_size": 1152, "num_hidden_layers": 26,
            "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 6912,
            "vocab_size": 262144, "max_position_embeddings": 32768, "sliding_window": 512,
            "sliding_window_pattern": 6, "tie_word_embeddings": true}"#,
    },
    BuiltIn {
        name: "mixtral-8x7b",
        title: "Mixtral 8x7B: each token uses 2 of 8 experts",
        config: r#"{"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32,
            "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
            "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000,
            "max_position_embeddings": 32768, "sliding_window": null, "tie_word_embeddings": false}"#,
    },
    BuiltIn {
        name: "qwen1.5-moe-a2.7b",
        title: "Qwen1.5 MoE A2.7B: 4 of 60 experts, and one shared expert",
        config: r#"{"model_type": "qwen2_moe", "hidden_size": 2048, "num_hidden_layers": 24,
            "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 5632,
            "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632, "num_experts": 60,
            "num_experts_per_tok": 4, "decoder_sparse_step": 1, "vocab_size": 151936,
            "max_position_embeddings": 8192, "use_sliding_window": false, "tie_word_embeddings": false}"#,
    },
    BuiltIn {
        name: "qwen3-30b-a3b",
        title: "Qwen3 30B A3B: 8 of 128 experts",
        config: r#"{"model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48,
            "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 6144,
            "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8,
            "decoder_sparse_step": 1, "mlp_only_layers": [], "vocab_size": 151936,
            "max_position_embeddings": 40960, "attention_bias": false, "use_sliding_window": false,
            "tie_word_embeddings": false}"#,
    },
    BuiltIn {
        name: "deepseek-v2-lite",
        title: "DeepSeek V2 Lite: latent attention, 6 of 64 experts",
        config: r#"{"model_type": "deepseek_v2", "hidden_size": 2048, "num_hidden_layers": 27,
            "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 10944,
            "moe_intermediate_size": 1408, "n_routed_experts": 64, "n_shared_experts": 2,
            "num_experts_per_tok": 6, "first_k_dense_replace": 1, "moe_layer_freq": 1, "q_lora_rank": null,
            "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
            "vocab_size": 102400, "max_position_embeddings": 163840, "tie_word_embeddings": false}"#,
    },
    BuiltIn {
        name: "deepseek-v2",
        title: "DeepSeek V2: latent attention, 6 of 160 experts",
        config: r#"{"model_type": "deepseek_v2", "hidden_size": 5120, "num_hidden_layers": 60,
            "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 12288,
            "moe_intermediate_size": 1536, "n_routed_experts": 160, "n_shared_experts": 2,
            "num_experts_per_tok": 6, "first_k_dense_replace": 1, "moe_layer_freq": 1, "q_lora_rank": 1536,
            "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
            "vocab_size": 102400, "max_position_embeddings": 163840, "tie_word_embeddings": false}"#,
    },
    BuiltIn {
        name: "deepseek-v3",
        title: "DeepSeek V3 and R1: latent attention, 8 of 256 experts",
        config: r#"{"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61,
            "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 18432,
            "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1,
            "num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1, "q_lora_rank": 1536,
            "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
            "num_nextn_predict_layers": 1, "vocab_size": 129280, "max_position_embeddings": 163840,
            "tie_word_embeddings": false}"#,
    },
    BuiltIn {
        name: "phi3-mini",
        title: "Phi-3 mini, 3.8B",
        config: r#"{"model_type": "phi3", "hidden_size": 3072, "num_hidden_layers": 32,
            "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 8192,
            "vocab_size": 32064, "max_position_embeddings": 4096, "sliding_window": 2047,
            "tie_word_embeddings": false}"#,
    },
    BuiltIn {
        name: "gpt-neox-20b",
        title: "GPT-NeoX 20B",
        config: r#"{"model_type": "gpt_neox", "hidden_size": 6144, "num_hidden_layers": 44,
            "num_attention_heads": 64, "intermediate_size": 24576, "vocab_size": 50432,
            "max_position_embeddings": 2048, "tie_word_embeddings": false}"#,
    },
    BuiltIn {
        name: "pythia-70m",
        title: "Pythia 70M, built like GPT-NeoX",
        config: r#"{"model_type": "gpt_neox", "hidden_size": 512, "num_hidden_layers": 6,
            "num_attention_heads": 8, "intermediate_size": 2048, "vocab_size": 50304,
            "max_position_embeddings": 2048, "tie_word_embeddings": false}"#,
    },
    BuiltIn {
        name: "opt-125m",
        title: "OPT 125M",
        config: r#"{"model_type": "opt", "hidden_size": 768, "num_hidden_layers": 12,
            "num_attention_heads": 12, "ffn_dim": 3072, "vocab_size": 50272, "word_embed_proj_dim": 768,
            "max_position_embeddings": 2048, "do_layer_norm_before": true}"#,
    },
    BuiltIn {
        name: "bert-base",
        title: "BERT base, uncased: an encoder",
        config: r#"{"model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12,
            "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 30522,
            "max_position_embeddings": 512, "type_vocab_size": 2}"#,
    },
];

/// The model of this name, once for each way in which it is counted: GPT-3 first as the lecture that document 004
/// follows counts it, then as it is built; every other model once. Case does not matter.
///
/// # Errors
/// If no model has this name; the nearest one is named, and all of them.
pub fn named(name: &str) -> Result<Vec<Model>> {
    let Some(known) = BUILT_IN.iter().find(|known| known.name.eq_ignore_ascii_case(name)) else {
        return Err(unknown(name));
    };
    let mut model = Model::from_config(known.config, known.name)?;
    // Defaults that a published configuration leaves to its family are not our assumptions.
    model.assumed.clear();
    Ok(match known.name {
        "gpt3" => vec![lecture(&model), built(model)],
        _ => vec![model],
    })
}

/// GPT-3 as it is built.
fn built(model: Model) -> Model {
    let notes = vec![
        "its checkpoint was never published: the names are those of GPT-2, which has the same architecture"
            .to_string(),
        "every other layer attends within a band of unpublished width; the cache is that of full attention"
            .to_string(),
    ];
    Model { counting: Some("as it is built"), notes, ..model }
}

/// GPT-3 as the lecture counts it: the matrices alone, and the unembedding apart from the embedding.
fn lecture(model: &Model) -> Model {
    Model {
        counting: Some("matrices alone, as the lecture behind document 004 counts"),
        family: Family::HeadByHead,
        positions: Positions::NotCounted,
        tied: false,
        biases: Biases::default(),
        norms: None,
        notes: vec![
            "left out: positions, biases and norms; W_U, which is W_E transposed, is counted a second time"
                .into(),
        ],
        ..model.clone()
    }
}

fn unknown(name: &str) -> Error {
    let names: Vec<&str> = BUILT_IN.iter().map(|known| known.name).collect();
    // A name with other digits is another model, whose count would be wrong for the one that is meant.
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let with_its_digits = names.iter().copied().filter(|known| digits(known) == digits(name));
    let hint = match nearest(name, with_its_digits) {
        Some(near) => format!("did you mean `{near}`? "),
        // The name of a family, or a name without its size.
        None => {
            let start = name.to_lowercase();
            let longer = names.iter().filter(|known| start.len() > 1 && known.starts_with(&start));
            let longer: Vec<String> = longer.map(|known| format!("`{known}`")).collect();
            if longer.is_empty() {
                String::new()
            } else {
                format!("built-in names that begin with `{name}`: {}; ", longer.join(", "))
            }
        }
    };
    let help = format!(
        "{hint}`attn params` lists the {} built-in models; for another give its config.json",
        names.len()
    );
    Error::new(format!("there is no built-in model `{name}`")).help(help)
}
