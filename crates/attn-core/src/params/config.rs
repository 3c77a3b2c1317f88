//! Reading a Hugging Face `config.json`.

use serde_json::{Map, Value};

use crate::error::{Error, Place, Result};
use crate::json_tree::tree;
use crate::text::clip;
use crate::unique::check_names;

use super::family::Family;
use super::family_defaults::{Architecture, FamilyDefaults};
use super::fields::{Fields, LONGEST_NAME, divided, shown};
use super::model::{Biases, Model, NormKind, NormPlaces, Norms, Positions, QueryKeyNorm};
use super::{config_attn_small, config_experts, config_other_families, layers_of};

impl Model {
    /// The model that a `config.json` of one of the families in [`Family`] describes. `text` is the file's content, `name` its
    /// name in errors. A missing field has the default of its family; [`Model::assumed`] lists those.
    ///
    /// # Errors
    /// If the text is no JSON object, the family is none of these, or a size is missing, not a positive whole
    /// number, or does not fit the others.
    pub fn from_config(text: &str, name: &str) -> Result<Model> {
        let value = parsed(text, name)?;
        let model = read(&value, name).map_err(|error| error.in_source(name))?;
        model.check()?;
        Ok(model)
    }
}

/// A configuration as JSON, without repeated names.
pub(crate) fn parsed(text: &str, name: &str) -> Result<Value> {
    check_length(text.len() as u64).map_err(|error| error.in_source(name))?;
    let text = text.trim_start_matches('\u{feff}');
    check_names(text.as_bytes()).map_err(|error| syntax_error(&error, name))?;
    tree(text.as_bytes(), &[], |error| syntax_error(&error, name)).map_err(|error| error.in_source(name))
}

/// The longest configuration that is read, in bytes; those with the names of many classes have a few million.
const LONGEST: u64 = 16 << 20;

/// # Errors
/// If a configuration is too long to be one.
pub fn check_length(bytes: u64) -> Result<()> {
    if bytes <= LONGEST {
        return Ok(());
    }
    Err(Error::new(format!("a configuration has at most {} MiB", LONGEST >> 20))
        .help("this is another file: put the model's config.json in its place"))
}

fn syntax_error(error: &serde_json::Error, name: &str) -> Error {
    let said = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = said.strip_suffix(&place).unwrap_or(&said);
    let (what, help) = if error.is_data() {
        (said.to_string(), "remove one of the two")
    } else {
        (format!("this is not JSON: {said}"), "give the `config.json` that comes with a model's weights")
    };
    Error::new(what).at(Place::Text(name.to_string(), error.line().max(1), error.column().max(1))).help(help)
}

/// The part of a configuration that describes a language model.
pub(crate) struct LanguagePart<'a> {
    pub family: Family,
    pub object: &'a Map<String, Value>,
    /// True if it stands inside the configuration of a larger model.
    pub inside: bool,
}

/// The part of a configuration that describes a language model.
///
/// # Errors
/// If it is no JSON object, or its family is not known.
pub(crate) fn language_part(value: &Value) -> Result<LanguagePart<'_>> {
    let Value::Object(object) = value else {
        return Err(Error::new("the configuration is not a JSON object")
            .help("give the `config.json` that comes with a model's weights"));
    };
    let family = family(object)?;
    Ok(match object.get("text_config") {
        Some(Value::Object(text)) if family == Family::Gemma3 => {
            LanguagePart { family, object: text, inside: true }
        }
        _ => LanguagePart { family, object, inside: false },
    })
}

fn read(value: &Value, name: &str) -> Result<Model> {
    let LanguagePart { family, object, inside } = language_part(value)?;
    let mut fields = Fields { object, assumed: Vec::new() };
    let mut model = match family.architecture() {
        Architecture::HeadByHead => unreachable!("no `model_type` leads to a count head by head"),
        Architecture::Gpt2 => gpt2(&mut fields, name)?,
        Architecture::Llama(defaults) => llama(&mut fields, family, defaults, name)?,
        Architecture::GptNeox => config_other_families::gpt_neox(&mut fields, name)?,
        Architecture::Opt => config_other_families::opt(&mut fields, name)?,
        Architecture::Bert => config_other_families::bert(&mut fields, name)?,
        Architecture::AttnSmall => config_attn_small::read(&mut fields, name)?,
    };
    if inside {
        model.notes.push(
            "only the language model is counted, without the vision tower; in the checkpoint its names begin with `language_model.`"
                .to_string(),
        );
    }
    model.assumed = fields.assumed;
    Ok(model)
}

fn family(object: &Map<String, Value>) -> Result<Family> {
    let known: Vec<&str> = Family::by_model_type().map(|(name, _)| name).collect();
    let list = format!("known are {}", known.join(", "));
    let stated = match object.get("model_type") {
        Some(Value::String(stated)) => stated,
        Some(other) => {
            return Err(Error::new(format!("`model_type` is {}, not a text", shown(other))).help(list));
        }
        None => return Err(Error::new("the configuration has no `model_type`").help(list)),
    };
    if let Some((_, family)) = Family::by_model_type().find(|(name, _)| name == stated) {
        return Ok(family);
    }
    // Another family with a similar name is built differently: only another spelling of a known name is a hint.
    let spelling = |name: &str| name.to_lowercase().replace(['-', '_', ' ', '.'], "");
    let same = known.iter().find(|name| stated.len() <= LONGEST_NAME && spelling(name) == spelling(stated));
    let hint = same.map(|name| format!("write `{name}`; ")).unwrap_or_default();
    Err(Error::new(format!("the `model_type` `{}` is not known", clip(stated))).help(format!("{hint}{list}")))
}

fn gpt2(fields: &mut Fields, name: &str) -> Result<Model> {
    if fields.flag("add_cross_attention", false)? {
        return Err(Error::new(
            "`add_cross_attention` is set: a decoder that reads an encoder is not counted here",
        )
        .help("only decoders that stand alone are counted"));
    }
    let hidden = fields.size("n_embd")?;
    let query_heads = fields.size("n_head")?;
    let four = hidden.checked_mul(4).ok_or_else(|| Error::new("`n_embd` is too large to be counted"))?;
    Ok(Model {
        name: name.to_string(),
        counting: None,
        family: Family::Gpt2,
        layers: fields.size("n_layer")?,
        hidden,
        query_heads,
        key_value_heads: query_heads,
        head_width: divided(("n_embd", hidden), ("n_head", query_heads))?,
        intermediate: fields.size_or("n_inner", four, " (4 · n_embd)")?,
        gated: false,
        vocabulary: fields.size("vocab_size")?,
        causal: true,
        positions: Positions::Learned(fields.size("n_positions")?),
        tied: fields.flag_stated("tie_word_embeddings", true)?,
        biases: Biases { query_key_value: true, output: true, mlp: true },
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

fn llama(fields: &mut Fields, family: Family, defaults: &FamilyDefaults, name: &str) -> Result<Model> {
    let size = |fields: &mut Fields, key| match defaults.sizes.iter().find(|(field, _)| *field == key) {
        Some((_, usual)) => fields.size_or(key, *usual, ""),
        None => fields.size(key),
    };
    let hidden = size(fields, "hidden_size")?;
    let layers = size(fields, "num_hidden_layers")?;
    let query_heads = size(fields, "num_attention_heads")?;
    let key_value_heads = match (fields.object.get("num_key_value_heads"), defaults.key_value_heads) {
        (None, Some(usual)) => fields.size_or("num_key_value_heads", usual, "")?,
        _ => fields.size_or("num_key_value_heads", query_heads, " (as many as query heads)")?,
    };
    let latent = config_experts::latent(fields, family)?;
    let head_width = match (fields.optional_size("head_dim")?, defaults.head_width) {
        _ if let Some(latent) = latent => latent.width(name)?,
        (Some(stated), _) => stated,
        (None, Some(usual)) => fields.size_or("head_dim", usual, "")?,
        (None, None) => {
            let width = divided(("hidden_size", hidden), ("num_attention_heads", query_heads))
                .map_err(|error| error.and_help("or add `head_dim`, which says how wide a head is"))?;
            fields.size_or("head_dim", width, " (hidden_size / num_attention_heads)")?
        }
    };
    let intermediate = size(fields, "intermediate_size")?;
    let experts = config_experts::experts(fields, family, layers, intermediate)?;
    Ok(Model {
        name: name.to_string(),
        counting: None,
        family,
        layers,
        hidden,
        query_heads,
        key_value_heads,
        head_width,
        intermediate,
        gated: true,
        vocabulary: size(fields, "vocab_size")?,
        causal: true,
        positions: Positions::Rotary(fields.optional_size("max_position_embeddings")?),
        tied: fields.flag_stated("tie_word_embeddings", defaults.tied)?,
        biases: Biases {
            query_key_value: fields.bias(defaults.query_key_value_bias)?,
            output: fields.bias(defaults.output_bias)?,
            mlp: fields.bias(defaults.mlp_bias)?,
        },
        norms: Some(defaults.norms),
        windows: layers_of::windows(fields, defaults.windows, layers)?,
        experts,
        latent,
        embedding_width: None,
        token_types: None,
        assumed: Vec::new(),
        notes: config_experts::left_out(fields, family)?,
    })
}
