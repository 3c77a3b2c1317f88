//! The fields of a JSON configuration, each read and checked as its type.

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::text::{clip, counted, nearest};

use super::family::{Bias, FamilyEntry, WindowRule};
use super::model::{AssumedValue, Windows};

/// The value of a missing `sliding_window`.
const USUAL_WINDOW: u64 = 4096;
/// The value of a missing `max_window_layers`.
const USUAL_FULL_LAYERS: u64 = 28;

/// Names beyond this length are not compared: the comparison takes memory by their length.
pub(super) const LONGEST_NAME: usize = 64;

/// Sizes that some family has: a field of this name means itself, and is never a misspelt other one.
const KNOWN: &str = "ffn_dim first_k_dense_replace head_dim hidden_size intermediate_size kv_lora_rank \
    max_position_embeddings max_window_layers moe_intermediate_size moe_layer_freq n_embd n_head n_inner \
    n_layer n_positions n_routed_experts n_shared_experts num_attention_heads num_experts \
    num_experts_per_tok num_hidden_layers num_key_value_heads num_local_experts num_nextn_predict_layers \
    q_lora_rank qk_nope_head_dim qk_rope_head_dim shared_expert_intermediate_size sliding_window \
    sliding_window_pattern type_vocab_size v_head_dim vocab_size word_embed_proj_dim";

/// The fields of a configuration, and a record of those that were not there.
pub(crate) struct Fields<'a> {
    pub object: &'a Map<String, Value>,
    pub assumed: Vec<AssumedValue>,
}

impl<'a> Fields<'a> {
    /// The value of a field, or nothing if it is missing or null.
    pub fn stated(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// The entries of a list, or nothing if it is missing or null.
    pub fn list(&self, key: &str) -> Result<Option<&'a [Value]>> {
        match self.stated(key) {
            None => Ok(None),
            Some(Value::Array(listed)) => Ok(Some(listed)),
            Some(other) => Err(Error::new(format!("`{key}` is {}, not a list", as_written(other)))),
        }
    }

    /// A size that must be there.
    pub fn size(&mut self, key: &str) -> Result<u64> {
        self.optional_size(key)?.ok_or_else(|| {
            let keys = self.object.keys().map(String::as_str);
            let near = nearest(key, keys.filter(|key| key.len() <= LONGEST_NAME));
            let help = match near {
                _ if self.object.get("text_config").is_some_and(Value::is_object) => {
                    "there is another configuration in `text_config`, which is read for Gemma 3 alone: give the config.json of the language model".to_string()
                }
                Some(near) if near != key && !KNOWN.split(' ').any(|known| known == near) => {
                    format!("it has `{}`: is that a misspelt `{key}`?", clip(near))
                }
                _ => "this family has no default for it: add it to the configuration".to_string(),
            };
            Error::new(format!("the configuration has no `{key}`")).help(help)
        })
    }

    /// A size, or its default with the reason.
    pub fn size_or(&mut self, key: &str, usual: u64, why: &str) -> Result<u64> {
        let stated = self.optional_size(key)?;
        Ok(stated.unwrap_or_else(|| self.assume(key, usual, format!("{usual}{why}"))))
    }

    /// A whole number that may be 0, or its default.
    pub fn whole_or(&mut self, key: &str, usual: u64) -> Result<u64> {
        let stated = self.whole_or_none(key)?;
        Ok(stated.unwrap_or_else(|| self.assume(key, usual, usual.to_string())))
    }

    /// A whole number that may be 0, or nothing if it is missing or null.
    pub fn whole_or_none(&self, key: &str) -> Result<Option<u64>> {
        match self.stated(key).and_then(Value::as_u64) {
            Some(0) => Ok(Some(0)),
            _ => self.optional_size(key),
        }
    }

    /// A size, or nothing if it is missing or null.
    pub fn optional_size(&self, key: &str) -> Result<Option<u64>> {
        let Some(value) = self.stated(key) else { return Ok(None) };
        match value.as_u64() {
            Some(size) if size > 0 => Ok(Some(size)),
            _ => Err(Error::new(format!("`{key}` is {}, not a size", as_written(value)))
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
        match self.stated(key) {
            None => Ok(usual),
            Some(Value::Bool(stated)) => Ok(*stated),
            Some(other) => {
                Err(Error::new(format!("`{key}` is {}", as_written(other))).help("it must be true or false"))
            }
        }
    }

    /// Like [`Fields::flag`], and records the default if the field is missing.
    pub fn flag_stated(&mut self, key: &str, usual: bool) -> Result<bool> {
        let flag = self.flag(key, usual)?;
        Ok(if self.stated(key).is_none() { self.assume(key, flag, flag.to_string()) } else { flag })
    }

    /// A number, or nothing if it is missing or null.
    pub fn optional_number(&self, key: &str) -> Result<Option<f64>> {
        self.stated(key).map(|value| number(key, value)).transpose()
    }

    /// A number, or its default, which is recorded.
    pub fn number_or(&mut self, key: &str, usual: f64) -> Result<f64> {
        let stated = self.optional_number(key)?;
        Ok(stated.unwrap_or_else(|| self.assume(key, usual, usual.to_string())))
    }

    /// A text, or its default, which is recorded.
    pub fn text_or(&mut self, key: &str, usual: &str) -> Result<String> {
        match self.stated(key) {
            None => Ok(self.assume(key, usual.to_string(), format!("`{usual}`"))),
            Some(Value::String(stated)) => Ok(stated.clone()),
            Some(other) => Err(Error::new(format!("`{key}` is {}, not a text", as_written(other)))
                .help("write it in quotation marks, as the family's own files do")),
        }
    }

    pub fn bias(&self, bias: Bias) -> Result<bool> {
        match bias {
            Bias::Fixed(has_bias) => Ok(has_bias),
            Bias::Stated { field, usual } => self.flag(field, usual),
        }
    }

    /// Records that a field is missing, and gives the value that it has then.
    pub fn assume<T>(&mut self, key: &str, value: T, said: String) -> T {
        self.assumed.push(AssumedValue { field: key.to_string(), value: said });
        value
    }
}

/// A value as the file has it, for an error: at most a line's worth.
pub(crate) fn as_written(value: &Value) -> String {
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

/// The number that a field, or an entry of its list, holds.
pub(crate) fn number(key: &str, value: &Value) -> Result<f64> {
    value.as_f64().ok_or_else(|| {
        Error::new(format!("`{key}` is {}, not a number", as_written(value)))
            .help("write it as a number such as 10000.0, without quotes")
    })
}

// The layers that a configuration names: those with a sliding window, those with rotary positions.

/// Some layers of a model. They are counted by formula, never one by one: a configuration may claim any number of layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SomeLayers {
    /// None of them.
    None,
    /// All of them.
    All,
    /// All from this one on, counted from 0.
    From(u64),
    /// All but each n-th.
    AllButEach(u64),
    /// Each n-th.
    Each(u64),
    /// Those that a list marks.
    Listed(Vec<bool>),
}

impl SomeLayers {
    /// The number of these among the first `layers`.
    pub fn count(&self, layers: u64) -> u64 {
        match self {
            SomeLayers::None => 0,
            SomeLayers::All => layers,
            SomeLayers::From(first) => layers.saturating_sub(*first),
            SomeLayers::AllButEach(nth) => layers - layers / nth,
            SomeLayers::Each(nth) => layers / nth,
            SomeLayers::Listed(marks) => marks.iter().filter(|mark| **mark).count() as u64,
        }
    }

    /// Returns true if a layer, counted from 0, is one of them.
    pub fn has(&self, layer: u64) -> bool {
        match self {
            SomeLayers::None => false,
            SomeLayers::All => true,
            SomeLayers::From(first) => layer >= *first,
            SomeLayers::AllButEach(nth) => !(layer + 1).is_multiple_of(*nth),
            SomeLayers::Each(nth) => (layer + 1).is_multiple_of(*nth),
            SomeLayers::Listed(marks) => marks.get(layer as usize).copied().unwrap_or(false),
        }
    }

    /// All layers that are none of these.
    fn others(self) -> SomeLayers {
        match self {
            SomeLayers::None => SomeLayers::All,
            SomeLayers::All => SomeLayers::None,
            SomeLayers::AllButEach(nth) => SomeLayers::Each(nth),
            SomeLayers::Each(nth) => SomeLayers::AllButEach(nth),
            SomeLayers::Listed(marks) => SomeLayers::Listed(marks.into_iter().map(|mark| !mark).collect()),
            SomeLayers::From(_) => SomeLayers::None,
        }
    }
}

/// The sliding windows of a model, if it has any.
pub(super) fn windows(fields: &mut Fields, of: &FamilyEntry, layers: u64) -> Result<Option<Windows>> {
    let Some((window, windowed)) = windowed_layers(fields, of, layers)? else { return Ok(None) };
    Ok(Some(Windows { window, layers: windowed.count(layers) }).filter(|windows| windows.layers > 0))
}

/// The window, and the layers that have it.
pub(crate) fn windowed_layers(
    fields: &mut Fields,
    of: &FamilyEntry,
    layers: u64,
) -> Result<Option<(u64, SomeLayers)>> {
    let used = match of.windows {
        WindowRule::Never => false,
        WindowRule::UpperLayers => fields.flag("use_sliding_window", false)?,
        WindowRule::WithoutPositions => {
            fields.flag("use_sliding_window", false)? && fields.object.contains_key("sliding_window")
        }
        WindowRule::WhereStated => fields.object.contains_key("sliding_window"),
        WindowRule::EveryLayer | WindowRule::AllButEach => true,
    };
    // Unlike elsewhere, null says something here: there is no window.
    if !used || fields.object.get("sliding_window").is_some_and(Value::is_null) {
        return Ok(None);
    }
    let window = fields.size_or("sliding_window", USUAL_WINDOW, "")?;
    let windowed = match of.windows {
        WindowRule::Never => SomeLayers::None,
        WindowRule::EveryLayer | WindowRule::WhereStated => SomeLayers::All,
        _ if let Some(marks) = layer_types(fields, layers)? => SomeLayers::Listed(marks),
        WindowRule::UpperLayers => SomeLayers::From(fields.whole_or("max_window_layers", USUAL_FULL_LAYERS)?),
        WindowRule::AllButEach => SomeLayers::AllButEach(match of.nth_field {
            Some(field) => fields.size_or(field, of.nth, "")?,
            None => of.nth,
        }),
        WindowRule::WithoutPositions => rotated_layers(fields, layers)?.others(),
    };
    Ok(Some((window, windowed)))
}

/// The layers of SmolLM3 whose queries and keys are rotated: in `no_rope_layers` these have a 1.
pub(crate) fn rotated_layers(fields: &mut Fields, layers: u64) -> Result<SomeLayers> {
    let Some(listed) = fields.list("no_rope_layers")? else {
        let nth = fields.size_or("no_rope_layer_interval", 4, "")?;
        let said = format!("no position in every layer whose number {nth} divides");
        return Ok(fields.assume("no_rope_layers", SomeLayers::AllButEach(nth), said));
    };
    same_length("no_rope_layers", listed.len(), layers)?;
    let mark = |(i, entry): (usize, &Value)| match entry.as_u64() {
        Some(mark @ 0..=1) => Ok(mark == 1),
        _ => Err(Error::new(format!("entry {} of `no_rope_layers` is {}", i + 1, as_written(entry)))
            .help("write 1 for a layer with rotary positions and 0 for one without")),
    };
    Ok(SomeLayers::Listed(listed.iter().enumerate().map(mark).collect::<Result<_>>()?))
}

/// The layers with a window according to the list `layer_types`; `None` without such a list.
fn layer_types(fields: &Fields, layers: u64) -> Result<Option<Vec<bool>>> {
    let Some(listed) = fields.list("layer_types")? else { return Ok(None) };
    same_length("layer_types", listed.len(), layers)?;
    let is_windowed = |(i, entry): (usize, &Value)| match entry.as_str() {
        Some("sliding_attention") => Ok(true),
        Some("full_attention") => Ok(false),
        _ => Err(Error::new(format!("entry {} of `layer_types` is {}", i + 1, as_written(entry)))
            .help("known are `full_attention` and `sliding_attention`")),
    };
    listed.iter().enumerate().map(is_windowed).collect::<Result<_>>().map(Some)
}

fn same_length(field: &str, listed: usize, layers: u64) -> Result<()> {
    if listed as u64 == layers {
        return Ok(());
    }
    let what = format!("`{field}` lists {}, `num_hidden_layers` says {layers}", counted(listed, "layer"));
    Err(Error::new(what).help("write one entry for each layer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_counted_by_the_same_rule_that_picks_them() {
        let listed = SomeLayers::Listed(vec![true, false, true, true, false, false, true]);
        let all = [
            SomeLayers::None,
            SomeLayers::All,
            SomeLayers::From(3),
            SomeLayers::From(9),
            SomeLayers::AllButEach(2),
            SomeLayers::Each(3),
            SomeLayers::AllButEach(1),
            listed,
        ];
        for some in all {
            let picked = (0..7).filter(|layer| some.has(*layer)).count();
            assert_eq!(some.count(7), picked as u64, "{some:?}");
        }
    }
}
