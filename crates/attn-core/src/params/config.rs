//! Reading a Hugging Face `config.json`.

use serde_json::{Map, Value};

use crate::error::{Error, Place, Result};
use crate::json_tree::tree;
use crate::text::clip;
use crate::unique::check_names;

use super::fields::{Fields, LONGEST_NAME, as_written, divided, windows};
use super::model::{
    Architecture, Biases, Experts, Family, FamilyDefaults, Latent, Model, NormKind, NormPlaces, Norms,
    Positions, QueryKeyNorm,
};

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
        Architecture::GptNeox => gpt_neox(&mut fields, name)?,
        Architecture::Opt => opt(&mut fields, name)?,
        Architecture::Bert => bert(&mut fields, name)?,
        Architecture::AttnSmall => attn_small(&mut fields, name)?,
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
            return Err(Error::new(format!("`model_type` is {}, not a text", as_written(other))).help(list));
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

/// LayerNorm before attention and before the MLP.
const LAYER_NORMS: Norms =
    Norms { kind: NormKind::LayerNorm, places: NormPlaces::Before, query_key: QueryKeyNorm::None };

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
        layers: fields.size("n_layer")?,
        hidden,
        query_heads,
        key_value_heads: query_heads,
        head_width: divided(("n_embd", hidden), ("n_head", query_heads))?,
        intermediate: fields.size_or("n_inner", four, " (4 · n_embd)")?,
        vocabulary: fields.size("vocab_size")?,
        positions: Positions::Learned(fields.size("n_positions")?),
        tied: fields.flag_stated("tie_word_embeddings", true)?,
        biases: Biases { query_key_value: true, output: true, mlp: true },
        ..plain(Family::Gpt2, name)
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
    let latent = latent(fields, family)?;
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
    let experts = experts(fields, family, layers, intermediate)?;
    Ok(Model {
        layers,
        hidden,
        query_heads,
        key_value_heads,
        head_width,
        intermediate,
        gated: true,
        vocabulary: size(fields, "vocab_size")?,
        positions: Positions::Rotary(fields.optional_size("max_position_embeddings")?),
        tied: fields.flag_stated("tie_word_embeddings", defaults.tied)?,
        biases: Biases {
            query_key_value: fields.bias(defaults.query_key_value_bias)?,
            output: fields.bias(defaults.output_bias)?,
            mlp: fields.bias(defaults.mlp_bias)?,
        },
        norms: Some(defaults.norms),
        windows: windows(fields, defaults.windows, layers)?,
        experts,
        latent,
        notes: left_out(fields, family)?,
        ..plain(family, name)
    })
}

// The configurations of families that are not built like GPT-2 or Llama.

/// GPT-NeoX and Pythia.
fn gpt_neox(fields: &mut Fields, name: &str) -> Result<Model> {
    let bias = fields.flag("attention_bias", true)?;
    Ok(Model {
        intermediate: fields.size("intermediate_size")?,
        positions: Positions::Rotary(fields.optional_size("max_position_embeddings")?),
        tied: fields.flag("tie_word_embeddings", false)?,
        biases: Biases { query_key_value: bias, output: bias, mlp: true },
        ..common(fields, Family::GptNeox, name)?
    })
}

/// OPT. Only the 350M model projects its embeddings and normalises after the sublayers.
fn opt(fields: &mut Fields, name: &str) -> Result<Model> {
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
        norms: Some(Norms { places, ..LAYER_NORMS }),
        embedding_width: (embedding != model.hidden).then_some(embedding),
        ..model
    })
}

/// BERT: the encoder with its pooler.
fn bert(fields: &mut Fields, name: &str) -> Result<Model> {
    let model = common(fields, Family::Bert, name)?;
    Ok(Model {
        causal: false,
        intermediate: fields.size("intermediate_size")?,
        positions: Positions::Learned(fields.size("max_position_embeddings")?),
        token_types: Some(fields.size_or("type_vocab_size", 2, "")?),
        tied: fields.flag("tie_word_embeddings", true)?,
        biases: Biases { query_key_value: true, output: true, mlp: true },
        norms: Some(Norms { places: NormPlaces::After, ..LAYER_NORMS }),
        notes: vec!["the encoder and its pooler are counted; what was added for pre-training is not".into()],
        ..model
    })
}

/// The fields that these families have in common: the same names for sizes, as many key/value heads as query heads, no gate.
fn common(fields: &mut Fields, family: Family, name: &str) -> Result<Model> {
    let hidden = fields.size("hidden_size")?;
    let query_heads = fields.size("num_attention_heads")?;
    Ok(Model {
        layers: fields.size("num_hidden_layers")?,
        hidden,
        query_heads,
        key_value_heads: query_heads,
        head_width: divided(("hidden_size", hidden), ("num_attention_heads", query_heads))?,
        vocabulary: fields.size("vocab_size")?,
        ..plain(family, name)
    })
}

/// A decoder with LayerNorm before its sublayers, without sizes: what readers of configurations begin with.
fn plain(family: Family, name: &str) -> Model {
    Model {
        name: name.to_string(),
        counting: None,
        family,
        layers: 0,
        hidden: 0,
        query_heads: 0,
        key_value_heads: 0,
        head_width: 0,
        intermediate: 0,
        gated: false,
        vocabulary: 0,
        causal: true,
        positions: Positions::NotCounted,
        tied: false,
        biases: Biases::default(),
        norms: Some(LAYER_NORMS),
        windows: None,
        experts: None,
        latent: None,
        embedding_width: None,
        token_types: None,
        assumed: Vec::new(),
        notes: Vec::new(),
    }
}

// The fields of a configuration that only some families have: experts, and compressed keys and values.

/// The experts of a family that has some.
fn experts(fields: &mut Fields, family: Family, layers: u64, intermediate: u64) -> Result<Option<Experts>> {
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
        _ => return Ok(None),
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
    let number = |entry: &Value| {
        entry.as_u64().ok_or_else(|| {
            Error::new(format!("an entry of `mlp_only_layers` is {}", as_written(entry)))
                .help("layers are whole numbers from 0")
        })
    };
    let listed = fields.list("mlp_only_layers")?.unwrap_or_default();
    let mut dense: Vec<u64> = listed.iter().map(number).collect::<Result<_>>()?;
    dense.sort_unstable();
    dense.dedup();
    let taken = dense.iter().filter(|&&layer| layer < layers && (layer + 1).is_multiple_of(step)).count();
    Ok((layers / step).saturating_sub(taken as u64))
}

/// DeepSeek's compression of keys and values.
fn latent(fields: &mut Fields, family: Family) -> Result<Option<Latent>> {
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
fn left_out(fields: &mut Fields, family: Family) -> Result<Vec<String>> {
    let further = fields.whole_or_none("num_nextn_predict_layers")?.unwrap_or(0);
    let note = "the extra layer that predicts one token more (num_nextn_predict_layers) is not counted";
    let is_left_out = family == Family::DeepseekV3 && further > 0;
    Ok(is_left_out.then(|| note.to_string()).into_iter().collect())
}

impl Latent {
    /// d_N + d_R: the width of a key.
    pub(super) fn width(&self, name: &str) -> Result<u64> {
        let sum = self.plain.checked_add(self.rotary);
        sum.ok_or_else(|| Error::new("a key is too wide to be counted").in_source(name))
    }
}

// The configurations of the small models that this program trains.

/// Learned positions, a head of its own, no biases; a norm without gains, an MLP and a causal mask where the configuration has them.
fn attn_small(fields: &mut Fields, name: &str) -> Result<Model> {
    let model = common(fields, Family::AttnSmall, name)?;
    let norms = match choice(fields, "norm", ["none", "rms"])? {
        "none" => None,
        _ => Some(Norms { kind: NormKind::RmsNorm, ..LAYER_NORMS }),
    };
    let intermediate = match choice(fields, "mlp", ["none", "relu"])? {
        "none" => without_mlp(fields)?,
        _ => fields.size("intermediate_size")?,
    };
    if fields.flag("tie_word_embeddings", false)? {
        return Err(Error::new("`tie_word_embeddings` is true, but these models have a head of their own")
            .help("write false: the file has a matrix `W_U` beside `W_E`"));
    }
    Ok(Model {
        intermediate,
        causal: fields.flag_stated("causal", true)?,
        positions: Positions::Learned(fields.size("max_position_embeddings")?),
        norms,
        ..model
    })
}

/// The width inside an MLP that is not there: 0.
fn without_mlp(fields: &Fields) -> Result<u64> {
    match fields.whole_or_none("intermediate_size")? {
        None | Some(0) => Ok(0),
        Some(width) => Err(Error::new(format!("`mlp` is `none`, but `intermediate_size` is {width}"))
            .help("write \"relu\" for layers with an MLP, or the size 0 for layers without")),
    }
}

/// One of two words, which must be stated: models with and without a norm or an MLP compute different numbers.
fn choice(fields: &Fields, key: &str, words: [&'static str; 2]) -> Result<&'static str> {
    let [first, second] = words;
    let said = match fields.object.get(key) {
        Some(Value::String(stated)) => match words.into_iter().find(|word| word == stated) {
            Some(word) => return Ok(word),
            None => format!("`{key}` is `{}`, which is not known", clip(stated)),
        },
        None | Some(Value::Null) => format!("the configuration has no `{key}`"),
        Some(other) => format!("`{key}` is {}, not a text", as_written(other)),
    };
    Err(Error::new(said).help(format!("write \"{first}\" or \"{second}\"")))
}
