//! The known mistakes of ports, each as a changed architecture: entries of `data/porting.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::graph::recipes::{Change, NormPlace, PositionKind, Recipe, Scale};
use crate::language::{At, Lookup, Values, change, expression};
use crate::model::architecture::{Activation, Architecture, Block};
use crate::params::{Gain, NormKind, Positions};

use super::FILE;

/// A mistake of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortingMistake {
    /// Its short name: `rope-interleaved`.
    pub id: &'static str,
    /// What the numbers show.
    pub sentence: String,
    /// What to change in the code.
    pub change: String,
}

/// A mistake as the data file has it; its head says what each field means.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    id: &'static str,
    sentence: &'static str,
    change: &'static str,
    #[serde(rename = "if")]
    condition: Option<&'static str>,
    #[serde(default, rename = "for")]
    each: Each,
    #[serde(default)]
    make: Vec<&'static str>,
}

/// What a mistake is repeated for.
#[derive(Deserialize)]
#[serde(untagged)]
enum Each {
    /// A list among the facts.
    Named(String),
    Listed(Vec<BTreeMap<String, Value>>),
}

impl Default for Each {
    /// Once.
    fn default() -> Each {
        Each::Listed(vec![BTreeMap::new()])
    }
}

/// The place of an error within a text of an entry.
const HERE: At = At { line: 1, column: 1 };

impl PortingMistake {
    /// A mistake that is no other architecture, by its id in the data file, with what stands for the names in its braces.
    pub(super) fn of(id: &str, names: Lookup<'_>) -> Result<PortingMistake> {
        let entry = FILE.mistake.iter().find(|entry| entry.id == id);
        entry.ok_or_else(|| Error::new(format!("there is no mistake `{id}`")))?.told(names)
    }
}

/// A mistake, and the architecture that makes it.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub mistake: PortingMistake,
    pub architecture: Architecture,
}

/// The mistakes with these ids that change a model's numbers. Those that leave its architecture as it is are left out.
///
/// # Errors
/// If an entry of the data file cannot be read.
pub(super) fn candidates(right: &Architecture, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<Candidate>> {
    let facts = facts(right);
    let mut all = Vec::new();
    let is_tried = |entry: &&Entry| !entry.make.is_empty() && is_wanted(entry.name());
    for entry in FILE.mistake.iter().filter(is_tried) {
        let listed = match &entry.each {
            Each::Listed(records) => records.clone(),
            Each::Named(name) => Vec::deserialize(&facts[name]).unwrap_or_default(),
        };
        for record in listed {
            let names = |name: &str| {
                let fact = || facts.pointer(&format!("/{}", name.replace('.', "/"))).cloned();
                record.get(name).cloned().or_else(fact)
            };
            all.extend(entry.candidate(right, &names).map_err(|error| error.in_source(entry.id))?);
        }
    }
    Ok(all)
}

impl Entry {
    /// Its name on the screen: the part of the id after a colon says which of its sentences it gets.
    fn name(&self) -> &'static str {
        self.id.split_once(':').map_or(self.id, |(name, _)| name)
    }

    fn told(&self, names: Lookup<'_>) -> Result<PortingMistake> {
        let text = |text: &str| Values { file: self.id, names }.text(text, HERE);
        Ok(PortingMistake { id: self.name(), sentence: text(self.sentence)?, change: text(self.change)? })
    }

    /// The mistake with these names; none where it cannot be made, or changes nothing.
    fn candidate(&self, right: &Architecture, names: Lookup<'_>) -> Result<Option<Candidate>> {
        let values = Values { file: self.id, names };
        let of_record = names("if");
        for condition in self.condition.into_iter().chain(of_record.as_ref().and_then(Value::as_str)) {
            if !values.holds(&expression(self.id, condition, HERE)?)? {
                return Ok(None);
            }
        }
        let mut architecture = right.clone();
        for text in &self.make {
            match text.strip_prefix("model.").and_then(|text| text.split_once(" = ")) {
                Some((choice, is)) => {
                    set(&mut architecture, choice, values.value(&expression(self.id, is, HERE)?)?)?;
                }
                None => make(&mut architecture, right, values, text)?,
            }
        }
        let is_changed = architecture != *right;
        is_changed.then(|| Ok(Candidate { mistake: self.told(names)?, architecture })).transpose()
    }
}

/// Changes the recipes of layers: `windowed: mask.window = none`.
fn make(architecture: &mut Architecture, right: &Architecture, values: Values<'_>, text: &str) -> Result<()> {
    let (which, text) = text.split_once(": ").unwrap_or(("", text));
    let is_meant = |block: &Block| match which {
        "windowed" => block.recipe.mask.window.is_some(),
        "not windowed" => block.recipe.mask.window.is_none(),
        "rotated" => rotary(block).is_some(),
        "not rotated" => rotary(block).is_none(),
        _ => true,
    };
    // Most layers are alike.
    let mut last: Option<(Recipe, Recipe)> = None;
    for (block, _) in architecture.blocks.iter_mut().zip(&right.blocks).filter(|(_, right)| is_meant(right)) {
        let (before, mut after) = match last {
            Some(last) if last.0 == block.recipe => last,
            _ => (block.recipe, block.recipe),
        };
        if before == after {
            Change::put_all([&change(values, text, HERE, &before)?], &mut after);
        }
        block.recipe = after;
        last = Some((before, after));
    }
    Ok(())
}

/// Changes a choice of the architecture.
fn set(architecture: &mut Architecture, choice: &str, value: Value) -> Result<()> {
    let wrong = |error: serde_json::Error| Error::new(format!("`{choice}`: {error}"));
    if let Some(slip) = choice.strip_prefix("slips.") {
        let mut slips = serde_json::to_value(architecture.slips).map_err(wrong)?;
        slips[slip] = value;
        architecture.slips = serde_json::from_value(slips).map_err(wrong)?;
        return Ok(());
    }
    match choice {
        "embedding_scaled" => architecture.embedding_scaled = bool::deserialize(value).map_err(wrong)?,
        "logit_cap" => architecture.logit_cap = value.as_f64(),
        "norm.kind" => architecture.norm.kind = Deserialize::deserialize(value).map_err(wrong)?,
        "norm.gain" => architecture.norm.gain = Deserialize::deserialize(value).map_err(wrong)?,
        "norm.epsilon" => architecture.norm.epsilon = f64::deserialize(value).map_err(wrong)?,
        "after" => architecture.after = Deserialize::deserialize(value).map_err(wrong)?,
        "sublayers" => architecture.sublayers = Deserialize::deserialize(value).map_err(wrong)?,
        "activation" => architecture.activation = Deserialize::deserialize(value).map_err(wrong)?,
        "projections" => architecture.projections = Deserialize::deserialize(value).map_err(wrong)?,
        _ => return Err(Error::new(format!("the architecture has no choice `{choice}`"))),
    }
    Ok(())
}

/// The serde form of the positions of a layer that rotates.
fn rotary(block: &Block) -> Option<PositionKind> {
    let kind = block.recipe.positions.kind;
    matches!(kind, PositionKind::Rotary(_)).then_some(kind)
}

/// The names that stand in the data file for what a model has.
fn facts(right: &Architecture) -> Value {
    let (model, norm) = (&right.model, right.norm);
    let of = model.family.facts();
    let Some(first) = right.blocks.first() else { return Value::Null };
    let mut kinds: Vec<PositionKind> = Vec::new();
    for kind in right.blocks.iter().filter_map(rotary) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let rotaries = kinds.iter().filter_map(|kind| match kind {
        PositionKind::Rotary(rotary) => Some(*rotary),
        _ => None,
    });
    let scaling = rotaries.clone().find_map(|rotary| rotary.scaling);
    let magnitude = scaling.map(|scaling| scaling.magnitude()).filter(|magnitude| *magnitude != 1.0);
    let of_kind =
        rotaries.clone().zip(&kinds).map(|(rotary, kind)| json!({"wrong": rotary.base, "kind": kind}));
    let windowed = (1..).zip(&right.blocks).filter(|(_, block)| block.recipe.mask.window.is_some());
    let layers: Vec<String> = windowed.map(|(layer, _)| layer.to_string()).collect();
    let (divisor, said) = match first.recipe.scale {
        Scale::InverseRootOf(n) => (n as u64, " (query_pre_attn_scalar)"),
        _ => (model.head_width, ""),
    };
    json!({
        "d": model.hidden, "d_k": model.head_width, "H": first.recipe.heads, "G": first.recipe.kv_heads,
        "embedding_scaled": right.embedding_scaled,
        "learned": matches!(model.positions, Positions::Learned(_)),
        "normed": model.norms.is_some(),
        "layer_norm": norm.kind == NormKind::LayerNorm,
        "epsilon": format!("{:e}", norm.epsilon),
        "from_one": norm.gain == Gain::FromOne,
        "places": model.norms.map(|norms| norms.places),
        "norms_of_sums": of.norms_of_sums,
        "side_by_side": of.parallel.is_some(),
        "has_mlp": model.has_mlp(),
        "activation": right.activation.name(),
        "has_gelu": matches!(right.activation, Activation::Gelu(_)),
        "gated": model.gated,
        "conv1d": model.family.layout().in_out && !model.family.is_small(),
        "projections": right.projections,
        "equal_heads": right.blocks.iter().all(|block| block.recipe.heads == block.recipe.kv_heads),
        "has_qkv_bias": model.biases.query_key_value,
        "is_tied": model.tied,
        "has_qk_norm": first.recipe.qk_norm.place != NormPlace::Nowhere,
        "divisor": divisor, "factor": format!("1/√{divisor}{said}"),
        "cap": first.recipe.soft_cap,
        "window": right.blocks.iter().find_map(|block| block.recipe.mask.window), "layers": layers.join(", "),
        "rotary": rotaries.clone().next(), "kind": kinds.first(), "rotaries": of_kind.collect::<Vec<_>>(),
        "some_unrotated": right.blocks.iter().any(|block| block.recipe.positions.kind == PositionKind::None),
        "scaling": scaling.map(|scaling| scaling.name()),
        "magnitude": magnitude.map(|magnitude| format!("{magnitude:.6}")),
        "has_divisors": right.blocks.iter().any(|block| block.divisors.is_some()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_of_the_data_file_can_be_made_in_some_model() {
        let mut left: Vec<&str> = FILE.mistake.iter().map(|entry| entry.id).collect();
        left.retain(|id| !id.starts_with("bos-"));
        let sizes = r#""hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
            "intermediate_size": 64, "vocab_size": 10, "max_position_embeddings": 64, "sliding_window": 4"#;
        let scaled = |kind: &str| {
            format!(
                r#""rope_scaling": {{"type": "{kind}", "factor": 4.0, "attention_factor": 1.5,
            "short_factor": [1, 1, 1, 1, 1, 1, 1, 1], "long_factor": [2, 2, 2, 2, 2, 2, 2, 2]}}, "original_max_position_embeddings": 16"#
            )
        };
        for (family, more) in [
            ("gpt2", r#""n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 16"#.to_string()),
            ("llama", scaled("yarn")),
            ("phi3", format!("{}, \"rope_theta\": 10000.0", scaled("longrope"))),
            ("smollm3", r#""rope_theta": 5000.0"#.to_string()),
            ("gpt_neox", r#""rope_theta": 10000.0"#.to_string()),
            ("gemma2", r#""rope_theta": 10000.0"#.to_string()),
            ("gemma3_text", r#""rope_theta": 1000000.0, "sliding_window_pattern": 2"#.to_string()),
            ("olmo2", r#""rope_theta": 10000.0"#.to_string()),
            ("bert", r#""type_vocab_size": 2"#.to_string()),
        ] {
            let config = format!(r#"{{"model_type": "{family}", {sizes}, {more}}}"#);
            let right = Architecture::from_config(&config, family).unwrap();
            let facts = facts(&right);
            for candidate in candidates(&right, &|_| true).unwrap() {
                let PortingMistake { id, sentence, change } = candidate.mistake;
                assert!(
                    !sentence.contains(['{', '}']) && !change.contains(['{', '}']),
                    "{id}: {sentence}, {facts}"
                );
                left.retain(|known| known.split(':').next() != Some(id));
            }
        }
        assert!(left.is_empty(), "{left:?}");
    }
}
