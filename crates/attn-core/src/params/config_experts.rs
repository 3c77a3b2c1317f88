//! The fields of a configuration that only some families have: experts, and compressed keys and values.

use crate::error::{Error, Result};

use super::family::Family;
use super::fields::{Fields, shown};
use super::model::{Experts, Latent};

/// The experts of a family that has some.
pub(super) fn experts(
    fields: &mut Fields,
    family: Family,
    layers: u64,
    intermediate: u64,
) -> Result<Option<Experts>> {
    let plain = Experts {
        layers,
        number: 0,
        used: 0,
        width: intermediate,
        shared: None,
        shared_gate: false,
        correction: false,
    };
    Ok(Some(match family {
        Family::Mixtral => Experts {
            number: fields.size_or("num_local_experts", 8, "")?,
            used: fields.size_or("num_experts_per_tok", 2, "")?,
            ..plain
        },
        Family::Qwen2Moe => Experts {
            layers: sparse_layers(fields, layers)?,
            number: fields.size_or("num_experts", 60, "")?,
            used: fields.size_or("num_experts_per_tok", 4, "")?,
            width: fields.size_or("moe_intermediate_size", 1408, "")?,
            shared: Some(fields.size_or("shared_expert_intermediate_size", 5632, "")?),
            shared_gate: true,
            ..plain
        },
        Family::Qwen3Moe => Experts {
            layers: sparse_layers(fields, layers)?,
            number: fields.size_or("num_experts", 128, "")?,
            used: fields.size_or("num_experts_per_tok", 8, "")?,
            width: fields.size_or("moe_intermediate_size", 768, "")?,
            ..plain
        },
        Family::DeepseekV2 | Family::DeepseekV3 => return deepseek_experts(fields, family, plain),
        Family::HeadByHead
        | Family::Gpt2
        | Family::Llama
        | Family::Mistral
        | Family::Qwen2
        | Family::Qwen3
        | Family::Gemma
        | Family::Gemma2
        | Family::Gemma3
        | Family::Phi3
        | Family::GptNeox
        | Family::Olmo2
        | Family::SmolLm3
        | Family::Opt
        | Family::Bert
        | Family::AttnSmall => return Ok(None),
    }))
}

/// DeepSeek's: the first layers have one MLP, and the shared experts are one that is as wide as all of them.
fn deepseek_experts(fields: &mut Fields, family: Family, plain: Experts) -> Result<Option<Experts>> {
    let Some(number) = fields.stated_size("n_routed_experts")? else { return Ok(None) };
    let width = fields.size("moe_intermediate_size")?;
    let step = fields.optional_size("moe_layer_freq")?.unwrap_or(1);
    let dense = fields.whole_or("first_k_dense_replace", if family == Family::DeepseekV3 { 3 } else { 0 })?;
    let shared = match fields.stated_size("n_shared_experts")? {
        Some(shared) => Some(shared.checked_mul(width).ok_or_else(|| {
            Error::new("`n_shared_experts` and `moe_intermediate_size` are too large to be counted")
        })?),
        None => None,
    };
    Ok(Some(Experts {
        layers: plain.layers.div_ceil(step).saturating_sub(dense.div_ceil(step)),
        number,
        used: fields.size("num_experts_per_tok")?,
        width,
        shared,
        correction: family == Family::DeepseekV3,
        ..plain
    }))
}

/// Qwen's: every n-th layer has experts, except those of a list.
fn sparse_layers(fields: &mut Fields, layers: u64) -> Result<u64> {
    let step = fields.size_or("decoder_sparse_step", 1, "")?;
    let mut dense: Vec<u64> = match fields.object.get("mlp_only_layers") {
        None | Some(serde_json::Value::Null) => Vec::new(),
        Some(serde_json::Value::Array(listed)) => {
            let number = |entry: &serde_json::Value| {
                entry.as_u64().ok_or_else(|| {
                    Error::new(format!("an entry of `mlp_only_layers` is {}", shown(entry)))
                        .help("layers are whole numbers from 0")
                })
            };
            listed.iter().map(number).collect::<Result<_>>()?
        }
        Some(other) => return Err(Error::new(format!("`mlp_only_layers` is {}, not a list", shown(other)))),
    };
    dense.sort_unstable();
    dense.dedup();
    let taken = dense.iter().filter(|&&layer| layer < layers && (layer + 1).is_multiple_of(step)).count();
    Ok((layers / step).saturating_sub(taken as u64))
}

/// DeepSeek's compression of keys and values.
pub(super) fn latent(fields: &mut Fields, family: Family) -> Result<Option<Latent>> {
    if !matches!(family, Family::DeepseekV2 | Family::DeepseekV3) {
        return Ok(None);
    }
    if fields.flag("attention_bias", false)? {
        return Err(Error::new("`attention_bias` is set: biases in latent attention are not counted here")
            .help("published DeepSeek models have none"));
    }
    Ok(Some(Latent {
        query: fields.stated_size("q_lora_rank")?,
        key_value: fields.size("kv_lora_rank")?,
        rotary: fields.size("qk_rope_head_dim")?,
        plain: fields.size("qk_nope_head_dim")?,
        value: fields.size("v_head_dim")?,
    }))
}

/// The parts that a count leaves out, in words.
pub(super) fn left_out(fields: &mut Fields, family: Family) -> Result<Vec<String>> {
    let further = fields.whole_or_none("num_nextn_predict_layers")?.unwrap_or(0);
    Ok(match family {
        Family::DeepseekV3 if further > 0 => {
            vec![
                "the extra layer that predicts one token more (num_nextn_predict_layers) is not counted"
                    .into(),
            ]
        }
        _ => Vec::new(),
    })
}

impl Latent {
    /// d_N + d_R: the width of a key.
    pub(super) fn width(&self, name: &str) -> Result<u64> {
        let sum = self.plain.checked_add(self.rotary);
        sum.ok_or_else(|| Error::new("a key is too wide to be counted").in_source(name))
    }
}
