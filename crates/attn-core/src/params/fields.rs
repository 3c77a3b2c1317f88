//! The fields of a JSON configuration, each read and checked as its type.

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::text::{clip, nearest};

use super::family_defaults::Bias;
use super::model::AssumedValue;

/// Names beyond this length are not compared: the comparison takes memory by their length.
pub(super) const LONGEST_NAME: usize = 64;

/// Sizes that some family has: a field of this name means itself, and is never a misspelt other one.
const KNOWN: [&str; 34] = [
    "ffn_dim",
    "first_k_dense_replace",
    "head_dim",
    "hidden_size",
    "intermediate_size",
    "kv_lora_rank",
    "max_position_embeddings",
    "max_window_layers",
    "moe_intermediate_size",
    "moe_layer_freq",
    "n_embd",
    "n_head",
    "n_inner",
    "n_layer",
    "n_positions",
    "n_routed_experts",
    "n_shared_experts",
    "num_attention_heads",
    "num_experts",
    "num_experts_per_tok",
    "num_hidden_layers",
    "num_key_value_heads",
    "num_local_experts",
    "num_nextn_predict_layers",
    "q_lora_rank",
    "qk_nope_head_dim",
    "qk_rope_head_dim",
    "shared_expert_intermediate_size",
    "sliding_window",
    "sliding_window_pattern",
    "type_vocab_size",
    "v_head_dim",
    "vocab_size",
    "word_embed_proj_dim",
];

/// The fields of a configuration, and a record of those that were not there.
pub(crate) struct Fields<'a> {
    pub object: &'a Map<String, Value>,
    pub assumed: Vec<AssumedValue>,
}

impl Fields<'_> {
    /// A size that must be there.
    pub fn size(&mut self, key: &str) -> Result<u64> {
        self.optional_size(key)?.ok_or_else(|| {
            let keys = self.object.keys().map(String::as_str);
            let near = nearest(key, keys.filter(|key| key.len() <= LONGEST_NAME));
            let help = match near {
                _ if self.object.get("text_config").is_some_and(Value::is_object) => {
                    "there is another configuration in `text_config`, which is read for Gemma 3 alone: give the config.json of the language model".to_string()
                }
                Some(near) if near != key && !KNOWN.contains(&near) => {
                    format!("it has `{}`: is that a misspelt `{key}`?", clip(near))
                }
                _ => "this family has no default for it: add it to the configuration".to_string(),
            };
            Error::new(format!("the configuration has no `{key}`")).help(help)
        })
    }

    /// A size, or its default with the reason.
    pub fn size_or(&mut self, key: &str, usual: u64, why: &str) -> Result<u64> {
        Ok(match self.optional_size(key)? {
            Some(stated) => stated,
            None => self.assume(key, usual, format!("{usual}{why}")),
        })
    }

    /// A whole number that may be 0, or its default.
    pub fn whole_or(&mut self, key: &str, usual: u64) -> Result<u64> {
        match self.object.get(key) {
            Some(Value::Number(number)) if number.as_u64() == Some(0) => Ok(0),
            _ => self.size_or(key, usual, ""),
        }
    }

    /// A whole number that may be 0, or nothing if it is missing or null.
    pub fn whole_or_none(&self, key: &str) -> Result<Option<u64>> {
        match self.object.get(key) {
            Some(Value::Number(number)) if number.as_u64() == Some(0) => Ok(Some(0)),
            _ => self.optional_size(key),
        }
    }

    /// A size, or nothing if it is missing or null.
    pub fn optional_size(&self, key: &str) -> Result<Option<u64>> {
        let value = match self.object.get(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(value) => value,
        };
        match value.as_u64() {
            Some(size) if size > 0 => Ok(Some(size)),
            _ => Err(Error::new(format!("`{key}` is {}, not a size", shown(value)))
                .help("a size is a whole number from 1, without quotes or a decimal point")),
        }
    }

    /// A size, or null where there is none. It must be stated: the usual value differs between releases.
    pub fn stated_size(&self, key: &str) -> Result<Option<u64>> {
        if !self.object.contains_key(key) {
            return Err(Error::new(format!("the configuration has no `{key}`")).help(format!(
                "the count depends on it: add \"{key}\" with its number, or null if the model has none"
            )));
        }
        self.optional_size(key)
    }

    /// A truth value, or its default.
    pub fn flag(&self, key: &str, usual: bool) -> Result<bool> {
        match self.object.get(key) {
            None | Some(Value::Null) => Ok(usual),
            Some(Value::Bool(stated)) => Ok(*stated),
            Some(other) => {
                Err(Error::new(format!("`{key}` is {}", shown(other))).help("it must be true or false"))
            }
        }
    }

    /// Like [`Fields::flag`], and records the default if the field is missing.
    pub fn flag_stated(&mut self, key: &str, usual: bool) -> Result<bool> {
        let flag = self.flag(key, usual)?;
        Ok(match self.object.get(key) {
            None | Some(Value::Null) => self.assume(key, flag, flag.to_string()),
            Some(_) => flag,
        })
    }

    /// A number, or nothing if it is missing or null.
    pub fn optional_number(&self, key: &str) -> Result<Option<f64>> {
        match self.object.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or_else(|| not_a_number(key, value)),
        }
    }

    /// A number, or its default, which is recorded.
    pub fn number_or(&mut self, key: &str, usual: f64) -> Result<f64> {
        Ok(match self.optional_number(key)? {
            Some(stated) => stated,
            None => self.assume(key, usual, usual.to_string()),
        })
    }

    /// A text, or its default, which is recorded.
    pub fn text_or(&mut self, key: &str, usual: &str) -> Result<String> {
        match self.object.get(key) {
            None | Some(Value::Null) => Ok(self.assume(key, usual.to_string(), format!("`{usual}`"))),
            Some(Value::String(stated)) => Ok(stated.clone()),
            Some(other) => Err(Error::new(format!("`{key}` is {}, not a text", shown(other)))
                .help("write it in quotation marks, as the family's own files do")),
        }
    }

    pub fn bias(&self, bias: Bias) -> Result<bool> {
        match bias {
            Bias::Never => Ok(false),
            Bias::Always => Ok(true),
            Bias::Field(key) => self.flag(key, false),
        }
    }

    /// Records that a field is missing, and gives the value that it has then.
    pub fn assume<T>(&mut self, key: &str, value: T, said: String) -> T {
        self.assumed.push(AssumedValue { field: key.to_string(), value: said });
        value
    }
}

/// A value as the file has it, for an error: at most a line's worth.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_string(),
        Value::Object(_) => "an object".to_string(),
        other => format!("`{}`", clip(&other.to_string())),
    }
}

/// `width / heads`, each given with the name of its field.
///
/// # Errors
/// If `heads` does not divide `width`.
pub(super) fn divided((field, width): (&str, u64), (heads_field, heads): (&str, u64)) -> Result<u64> {
    if !width.is_multiple_of(heads) {
        return Err(Error::new(format!(
            "`{field}` {width} cannot be shared evenly by `{heads_field}` {heads}"
        ))
        .help(format!("`{heads_field}` must divide `{field}`")));
    }
    Ok(width / heads)
}

/// The error for a field that holds no number.
pub(crate) fn not_a_number(key: &str, value: &Value) -> Error {
    Error::new(format!("`{key}` is {}, not a number", shown(value)))
        .help("write it as a number such as 10000.0, without quotes")
}
