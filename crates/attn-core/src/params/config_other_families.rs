//! The configurations of families that are not built like GPT-2 or Llama.

use crate::error::{Error, Result};

use super::family::Family;
use super::fields::{Fields, divided};
use super::model::{Biases, Model, NormKind, NormPlaces, Norms, Positions, QueryKeyNorm};

/// GPT-NeoX and Pythia.
pub(super) fn gpt_neox(fields: &mut Fields, name: &str) -> Result<Model> {
    let bias = fields.flag("attention_bias", true)?;
    let model = Model {
        intermediate: fields.size("intermediate_size")?,
        positions: Positions::Rotary(fields.optional_size("max_position_embeddings")?),
        tied: fields.flag("tie_word_embeddings", false)?,
        biases: Biases { query_key_value: bias, output: bias, mlp: true },
        ..common(fields, Family::GptNeox, name)?
    };
    Ok(model)
}

/// OPT. Only the 350M model projects its embeddings and normalises after the sublayers.
pub(super) fn opt(fields: &mut Fields, name: &str) -> Result<Model> {
    let bias = fields.flag("enable_bias", true)?;
    let before = fields.flag("do_layer_norm_before", true)?;
    let model = common(fields, Family::Opt, name)?;
    let embedding = fields.optional_size("word_embed_proj_dim")?.unwrap_or(model.hidden);
    if !fields.flag("layer_norm_elementwise_affine", true)?
        || fields.flag("_remove_final_layer_norm", false)?
    {
        return Err(Error::new("this OPT leaves out gains of its norms, which is not counted here")
            .help("the published models from opt-125m to opt-66b are"));
    }
    let places = if before { NormPlaces::Before } else { NormPlaces::After };
    Ok(Model {
        intermediate: fields.size("ffn_dim")?,
        positions: Positions::Learned(fields.size("max_position_embeddings")?),
        tied: fields.flag("tie_word_embeddings", true)?,
        biases: Biases { query_key_value: bias, output: bias, mlp: bias },
        norms: Some(Norms { kind: NormKind::LayerNorm, places, query_key: QueryKeyNorm::None }),
        embedding_width: (embedding != model.hidden).then_some(embedding),
        ..model
    })
}

/// BERT: the encoder with its pooler.
pub(super) fn bert(fields: &mut Fields, name: &str) -> Result<Model> {
    let model = common(fields, Family::Bert, name)?;
    Ok(Model {
        causal: false,
        intermediate: fields.size("intermediate_size")?,
        positions: Positions::Learned(fields.size("max_position_embeddings")?),
        token_types: Some(fields.size_or("type_vocab_size", 2, "")?),
        tied: fields.flag("tie_word_embeddings", true)?,
        biases: Biases { query_key_value: true, output: true, mlp: true },
        norms: Some(Norms {
            kind: NormKind::LayerNorm,
            places: NormPlaces::After,
            query_key: QueryKeyNorm::None,
        }),
        notes: vec!["the encoder and its pooler are counted; what was added for pre-training is not".into()],
        ..model
    })
}

/// The fields that these families have in common: the same names for sizes, as many key/value heads as query heads, no gate.
pub(super) fn common(fields: &mut Fields, family: Family, name: &str) -> Result<Model> {
    let hidden = fields.size("hidden_size")?;
    let query_heads = fields.size("num_attention_heads")?;
    Ok(Model {
        name: name.to_string(),
        counting: None,
        family,
        layers: fields.size("num_hidden_layers")?,
        hidden,
        query_heads,
        key_value_heads: query_heads,
        head_width: divided(("hidden_size", hidden), ("num_attention_heads", query_heads))?,
        intermediate: 0,
        gated: false,
        vocabulary: fields.size("vocab_size")?,
        causal: true,
        positions: Positions::NotCounted,
        tied: false,
        biases: Biases::default(),
        norms: Some(Norms {
            kind: NormKind::LayerNorm,
            places: NormPlaces::Before,
            query_key: QueryKeyNorm::None,
        }),
        windows: None,
        experts: None,
        latent: None,
        embedding_width: None,
        token_types: None,
        assumed: Vec::new(),
        notes: Vec::new(),
    })
}
