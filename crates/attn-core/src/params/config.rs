//! Reading a Hugging Face `config.json`.

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::json_tree::{check_names, fault, tree};
use crate::text::clip;

use super::family::{
    ExpertFields, ExpertLayers, Family, FamilyEntry, MlpRule, NormPlaces, Norms, PositionRule, Refusal,
};
use super::fields::{Fields, LONGEST_NAME, as_written, divided, windows};
use super::model::{Biases, Experts, Latent, Model, Positions};

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
    let (said, place) = fault(error, name);
    match error.is_data() {
        true => Error::new(said).at(place).help("remove one of the two"),
        false => Error::new(format!("this is not JSON: {said}"))
            .at(place)
            .help("give the `config.json` that comes with a model's weights"),
    }
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
        Some(Value::Object(text)) if family.facts().text_config => {
            LanguagePart { family, object: text, inside: true }
        }
        _ => LanguagePart { family, object, inside: false },
    })
}

fn read(value: &Value, name: &str) -> Result<Model> {
    let LanguagePart { family, object, inside } = language_part(value)?;
    let mut reader = Reader { fields: Fields { object, assumed: Vec::new() }, family, of: family.facts() };
    let mut model = reader.model(name)?;
    if inside {
        model.notes.push(
            "only the language model is counted, without the vision tower; in the checkpoint its names begin with `language_model.`"
                .to_string(),
        );
    }
    model.assumed = reader.fields.assumed;
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

/// The reader of a configuration, by what the data file says of its family.
struct Reader<'a> {
    fields: Fields<'a>,
    family: Family,
    of: &'static FamilyEntry,
}

impl Reader<'_> {
    fn model(&mut self, name: &str) -> Result<Model> {
        self.of.refused.iter().try_for_each(|refusal| refuse(&self.fields, refusal))?;
        let hidden = self.size("hidden_size")?;
        let layers = self.size("num_hidden_layers")?;
        let query_heads = self.size("num_attention_heads")?;
        let key_value_heads = self.key_value_heads(query_heads)?;
        let latent = self.latent()?;
        let head_width = match latent {
            Some(latent) => latent.width(name)?,
            None => self.head_width(hidden, query_heads)?,
        };
        let norms = self.norms()?;
        let intermediate = self.intermediate(hidden)?;
        let experts = self.experts(layers, intermediate)?;
        let embedding_width =
            self.of.embedding_width.map(|key| self.fields.optional_size(key)).transpose()?;
        Ok(Model {
            name: name.to_string(),
            counting: None,
            family: self.family,
            layers,
            hidden,
            query_heads,
            key_value_heads,
            head_width,
            intermediate,
            gated: self.of.grouped,
            vocabulary: self.size("vocab_size")?,
            causal: self.causal()?,
            positions: self.positions()?,
            tied: self.tied()?,
            biases: Biases {
                query_key_value: self.fields.bias(self.of.biases.query_key_value)?,
                output: self.fields.bias(self.of.biases.output)?,
                mlp: self.fields.bias(self.of.biases.mlp)?,
            },
            norms,
            windows: windows(&mut self.fields, self.of, layers)?,
            experts,
            latent,
            embedding_width: embedding_width.flatten().filter(|width| *width != hidden),
            token_types: self.of.token_types.then(|| self.size("type_vocab_size")).transpose()?,
            assumed: Vec::new(),
            notes: self.notes()?,
        })
    }

    /// A size, under the name that it has in the family, or what it is there where it is not stated.
    fn size(&mut self, field: &'static str) -> Result<u64> {
        let key = self.of.key(field);
        match self.of.sizes.get(field) {
            Some(usual) => self.fields.size_or(key, *usual, ""),
            None => self.fields.size(key),
        }
    }

    fn key_value_heads(&mut self, query_heads: u64) -> Result<u64> {
        let key = "num_key_value_heads";
        match self.of.sizes.get(key) {
            _ if !self.of.grouped => Ok(query_heads),
            Some(usual) if !self.fields.object.contains_key(key) => self.fields.size_or(key, *usual, ""),
            _ => self.fields.size_or(key, query_heads, " (as many as query heads)"),
        }
    }

    fn head_width(&mut self, hidden: u64, query_heads: u64) -> Result<u64> {
        let [of_width, of_heads] = ["hidden_size", "num_attention_heads"].map(|field| self.of.key(field));
        let shared = || divided((of_width, hidden), (of_heads, query_heads));
        if !self.of.grouped {
            return shared();
        }
        match (self.fields.optional_size("head_dim")?, self.of.sizes.get("head_dim")) {
            (Some(stated), _) => Ok(stated),
            (None, Some(usual)) => self.fields.size_or("head_dim", *usual, ""),
            (None, None) => {
                let help = "or add `head_dim`, which says how wide a head is";
                let width = shared().map_err(|error| error.and_help(help))?;
                self.fields.size_or("head_dim", width, " (hidden_size / num_attention_heads)")
            }
        }
    }

    fn intermediate(&mut self, hidden: u64) -> Result<u64> {
        match self.of.mlp {
            MlpRule::Chosen if self.choice("mlp", ["none", "relu"])? == "none" => self.without_mlp(),
            MlpRule::Chosen | MlpRule::Stated => self.size("intermediate_size"),
            MlpRule::FourTimes => {
                let width = self.of.key("hidden_size");
                let four = hidden.checked_mul(4);
                let four = four.ok_or_else(|| Error::new(format!("`{width}` is too large to be counted")))?;
                self.fields.size_or(self.of.key("intermediate_size"), four, &format!(" (4 · {width})"))
            }
        }
    }

    fn causal(&mut self) -> Result<bool> {
        if self.family.is_small() { self.fields.flag_stated("causal", true) } else { Ok(!self.of.encoder) }
    }

    fn positions(&mut self) -> Result<Positions> {
        Ok(match self.of.positions {
            PositionRule::NotCounted => Positions::NotCounted,
            PositionRule::Learned => Positions::Learned(self.size("max_position_embeddings")?),
            PositionRule::Rotary => Positions::Rotary(self.fields.optional_size("max_position_embeddings")?),
        })
    }

    fn tied(&mut self) -> Result<bool> {
        let key = "tie_word_embeddings";
        if !self.family.is_small() && !self.of.tied_silently {
            return self.fields.flag_stated(key, self.of.tied);
        }
        match self.fields.flag(key, self.of.tied)? {
            true if self.family.is_small() => {
                Err(Error::new("`tie_word_embeddings` is true, but these models have a head of their own")
                    .help("write false: the file has a matrix `W_U` beside `W_E`"))
            }
            tied => Ok(tied),
        }
    }

    fn norms(&mut self) -> Result<Option<Norms>> {
        if self.family.is_small() && self.choice("norm", ["none", "rms"])? == "none" {
            return Ok(None);
        }
        let is_before = self.of.normed_before.map_or(Ok(true), |key| self.fields.flag(key, true))?;
        let after = |norms| Norms { places: NormPlaces::After, ..norms };
        Ok(if is_before { self.of.norms } else { self.of.norms.map(after) })
    }

    /// The experts of a family that has some.
    fn experts(&mut self, layers: u64, intermediate: u64) -> Result<Option<Experts>> {
        let Some(of) = self.of.experts else { return Ok(None) };
        let layers = match of.layers {
            ExpertLayers::All => layers,
            ExpertLayers::Sparse => sparse_layers(&mut self.fields, layers)?,
            ExpertLayers::AfterDense => return self.experts_after_dense(of, layers),
        };
        Ok(Some(Experts {
            layers,
            number: self.size(of.number)?,
            used: self.size("num_experts_per_tok")?,
            width: of.width.map_or(Ok(intermediate), |width| self.size(width))?,
            shared: of.shared.map(|shared| self.size(shared)).transpose()?,
            shared_gate: of.shared.is_some(),
            correction: of.correction,
        }))
    }

    /// DeepSeek's: the first layers have one MLP, and the shared experts are one that is as wide as all of them.
    fn experts_after_dense(&mut self, of: ExpertFields, layers: u64) -> Result<Option<Experts>> {
        let fields = &mut self.fields;
        let Some(number) = fields.stated_size(of.number)? else { return Ok(None) };
        let width = fields.size("moe_intermediate_size")?;
        let step = fields.optional_size("moe_layer_freq")?.unwrap_or(1);
        let usual = self.of.sizes.get("first_k_dense_replace").copied();
        let dense = fields.whole_or("first_k_dense_replace", usual.unwrap_or(0))?;
        let shared = match fields.stated_size("n_shared_experts")? {
            Some(shared) => Some(shared.checked_mul(width).ok_or_else(|| {
                Error::new("`n_shared_experts` and `moe_intermediate_size` are too large to be counted")
            })?),
            None => None,
        };
        Ok(Some(Experts {
            layers: layers.div_ceil(step).saturating_sub(dense.div_ceil(step)),
            number,
            used: fields.size("num_experts_per_tok")?,
            width,
            shared,
            shared_gate: false,
            correction: of.correction,
        }))
    }

    /// DeepSeek's compression of keys and values.
    fn latent(&mut self) -> Result<Option<Latent>> {
        if !self.of.latent {
            return Ok(None);
        }
        Ok(Some(Latent {
            query: self.fields.stated_size("q_lora_rank")?,
            key_value: self.fields.size("kv_lora_rank")?,
            rotary: self.fields.size("qk_rope_head_dim")?,
            plain: self.fields.size("qk_nope_head_dim")?,
            value: self.fields.size("v_head_dim")?,
        }))
    }

    /// The remark on the family's count, and the parts that a count leaves out.
    fn notes(&self) -> Result<Vec<String>> {
        let further = self.fields.whole_or_none("num_nextn_predict_layers")?.unwrap_or(0);
        let left_out =
            "the extra layer that predicts one token more (num_nextn_predict_layers) is not counted";
        let left_out = (self.of.latent && further > 0).then_some(left_out);
        Ok(self.of.note.into_iter().chain(left_out).map(str::to_string).collect())
    }

    /// The width inside an MLP that is not there: 0.
    fn without_mlp(&self) -> Result<u64> {
        match self.fields.whole_or_none("intermediate_size")? {
            None | Some(0) => Ok(0),
            Some(width) => Err(Error::new(format!("`mlp` is `none`, but `intermediate_size` is {width}"))
                .help("write \"relu\" for layers with an MLP, or the size 0 for layers without")),
        }
    }

    /// One of two words, which must be stated: models with and without a norm or an MLP compute different numbers.
    fn choice(&self, key: &str, words: [&'static str; 2]) -> Result<&'static str> {
        let [first, second] = words;
        let said = match self.fields.object.get(key) {
            Some(Value::String(stated)) => match words.into_iter().find(|word| word == stated) {
                Some(word) => return Ok(word),
                None => format!("`{key}` is `{}`, which is not known", clip(stated)),
            },
            None | Some(Value::Null) => format!("the configuration has no `{key}`"),
            Some(other) => format!("`{key}` is {}, not a text", as_written(other)),
        };
        Err(Error::new(said).help(format!("write \"{first}\" or \"{second}\"")))
    }
}

/// Checks that a field has not the value that is not counted.
fn refuse(fields: &Fields, refusal: &Refusal) -> Result<()> {
    if fields.flag(refusal.field, refusal.usual)? == refusal.usual {
        return Ok(());
    }
    Err(Error::new(refusal.what).help(refusal.help))
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

impl Latent {
    /// d_N + d_R: the width of a key.
    pub(super) fn width(&self, name: &str) -> Result<u64> {
        let sum = self.plain.checked_add(self.rotary);
        sum.ok_or_else(|| Error::new("a key is too wide to be counted").in_source(name))
    }
}
