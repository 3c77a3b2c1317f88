//! `attn model FOLDER`: what a model consists of.

use super::folder::OpenedModel;
use crate::attention::RopeScaling;
use crate::cli::output::OutputArgs;
use crate::error::Result;
use crate::graph::recipes::{PositionKind, Recipe};
use crate::model::{AfterNorm, Architecture, Block, Gain, Sublayers};
use crate::params::{self, AssumedValue, Counts, NormKind, Positions};
use crate::story::Table;
use crate::text::{grouped, size};

/// The context whose cache is shown: one token.
const ONE_TOKEN: u64 = 1;

/// The tables of a model.
pub(super) fn tables(model: &OpenedModel, output: &OutputArgs) -> Result<Vec<(String, Table)>> {
    let for_people = output.look.is_for_people();
    let mut parts =
        vec![(model.folder.name.clone(), about(model)?), ("Layers".to_string(), layers(&model.architecture))];
    parts.push(("Parameters".to_string(), parameters(model, for_people)?));
    let notes = notes(model);
    if !notes.is_empty() {
        parts.push(("Notes".to_string(), Table::new(&["note"], notes.into_iter().map(|note| vec![note]))));
    }
    Ok(parts)
}

fn about(model: &OpenedModel) -> Result<Table> {
    let own = &model.architecture.model;
    let tensors = &model.folder.tensors;
    let mut rows = vec![
        ["family".to_string(), own.family.name().to_string()],
        ["layers".into(), own.layers.to_string()],
        ["width d".into(), own.hidden.to_string()],
        ["heads".into(), heads(&model.architecture)],
        ["MLP".into(), mlp(&model.architecture)],
        ["positions".into(), positions(own.positions)],
        ["vocabulary".into(), format!("{} tokens", grouped(own.vocabulary))],
        ["output head".into(), head(model).to_string()],
        ["tokenizer".into(), tokenizer(model)],
        ["files".into(), format!("{}, {}", tensors.files().join(", "), size(tensors.bytes()))],
    ];
    rows.extend(model.folder.kept_steps().map(|steps| ["kept steps, for --at".to_string(), steps]));
    if !own.is_encoder() {
        let bytes = params::cache(own, ONE_TOKEN, 2)?.bytes;
        rows.push(["key/value cache".into(), format!("{} per token, at 2 bytes a number", size(bytes))]);
    }
    Ok(Table::new(&["model", "value"], rows.into_iter().map(Vec::from)))
}

/// What makes logits of the last residual stream.
fn head(model: &OpenedModel) -> &'static str {
    match (model.tensors.has_head, model.tensors.tied) {
        (false, _) => "none: there are no logits",
        (true, true) => "W_U is the embedding W_E: both are tied",
        (true, false) => "W_U, weights of its own",
    }
}

fn heads(architecture: &Architecture) -> String {
    let own = &architecture.model;
    let groups = match own.key_value_heads {
        groups if groups == own.query_heads => String::new(),
        1 => ", one key/value head for all".to_string(),
        groups => format!(", {groups} key/value heads"),
    };
    format!("{} of width {}{groups}", own.query_heads, own.head_width)
}

fn mlp(architecture: &Architecture) -> String {
    let own = &architecture.model;
    if !own.has_mlp() {
        return "none".to_string();
    }
    let activation = architecture.activation.name();
    let gate = if own.gated { ", with a gate" } else { "" };
    format!("width {}, {activation}{gate}", own.intermediate)
}

fn positions(positions: Positions) -> String {
    match positions {
        Positions::Learned(count) => format!("a learned vector for each of {}", grouped(count)),
        Positions::Rotary(Some(context)) => format!("rotary, for {} tokens", grouped(context)),
        Positions::Rotary(None) => "rotary".to_string(),
        Positions::NotCounted => "none".to_string(),
    }
}

fn tokenizer(model: &OpenedModel) -> String {
    match &model.tokenizer {
        Some(tokenizer) => {
            format!("{}, {} tokens", tokenizer.kind().name(), grouped(tokenizer.vocabulary_size() as u64))
        }
        None if model.unusable_tokenizer.is_some() => "cannot be used: give --ids".to_string(),
        None => "none here: give --ids".to_string(),
    }
}

/// What each layer does; neighbouring layers that do the same share a row.
fn layers(architecture: &Architecture) -> Table {
    let described: Vec<[String; 3]> =
        architecture.blocks.iter().map(|block| described(architecture, block)).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut start = 0;
    for at in 0..described.len() {
        if described.get(at + 1) == Some(&described[at]) {
            continue;
        }
        let numbers = if start == at { format!("{}", at + 1) } else { format!("{}–{}", start + 1, at + 1) };
        rows.push(std::iter::once(numbers).chain(described[at].clone()).collect());
        start = at + 1;
    }
    Table::new(&["layers", "sees", "positions", "norms"], rows)
}

fn described(architecture: &Architecture, block: &Block) -> [String; 3] {
    let recipe = &block.recipe;
    let sees = match (recipe.mask.causal, recipe.mask.window) {
        (true, None) => "all earlier tokens".to_string(),
        (true, Some(window)) => format!("the last {window} tokens"),
        (false, None) => "all tokens".to_string(),
        (false, Some(window)) => format!("{window} tokens"),
    };
    [sees, rotary(recipe), norms(architecture)]
}

fn rotary(recipe: &Recipe) -> String {
    let PositionKind::Rotary(rotary) = recipe.positions.kind else { return "none in the layer".to_string() };
    let scaling = rotary.scaling.map_or(String::new(), |scaling| format!(", {}", scaled(scaling)));
    format!("rotary, base {}{scaling}", rotary.base)
}

/// A scaling of rotary positions with its factor, and the context that it starts from.
fn scaled(scaling: RopeScaling) -> String {
    let (factor, original) = match scaling {
        RopeScaling::Linear { factor } => (factor, None),
        RopeScaling::Dynamic { factor, original, .. }
        | RopeScaling::Llama3 { factor, original, .. }
        | RopeScaling::LongRope { factor, original, .. } => (factor, Some(original)),
        RopeScaling::Yarn(yarn) => (yarn.factor, Some(yarn.original)),
    };
    let from =
        original.map_or(String::new(), |original| format!(" from {} tokens", grouped(original as u64)));
    format!("{} by {factor}{from}", scaling.name())
}

fn norms(architecture: &Architecture) -> String {
    let Some(norms) = architecture.model.norms else { return "none".to_string() };
    let name = match architecture.norm.kind {
        NormKind::LayerNorm => "LayerNorm",
        NormKind::RmsNorm => "RMSNorm",
    };
    let places = match norms.places {
        params::NormPlaces::Before => "before each part",
        params::NormPlaces::After if architecture.after == AfterNorm::Sum => "after each sum",
        params::NormPlaces::After => "after each part",
        params::NormPlaces::BeforeAndAfter => "before and after each part",
    };
    let gains = if architecture.norm.gain == Gain::Nothing { ", without weights" } else { "" };
    let side =
        if architecture.sublayers == Sublayers::Parallel { "; attention and MLP side by side" } else { "" };
    format!("{name} {places}{gains}{side}")
}

fn parameters(model: &OpenedModel, for_people: bool) -> Result<Table> {
    let counts = Counts::of(&params::weights(&model.architecture.model)?)?;
    let count = |count: u64| if for_people { grouped(count) } else { count.to_string() };
    let row = |name: &str, number: u64| vec![name.to_string(), count(number)];
    let parts =
        counts.by_part.iter().filter(|(_, count)| *count > 0).map(|&(part, count)| row(part.name(), count));
    let per_token = model.tensors.weights_per_token();
    let rows = parts.chain([row("all", counts.total), row("multiplied with each token", per_token)]);
    Ok(Table::new(&["part", "count"], rows).with_numbers(&["count"]))
}

/// What is not in the configuration, what is not read, what was found.
pub(super) fn notes(model: &OpenedModel) -> Vec<String> {
    let assumed = model.architecture.model.assumed.iter().map(AssumedValue::note);
    let ignored = &model.tensors.ignored;
    let ignored = (!ignored.is_empty()).then(|| format!("not read: {}", ignored.join("; ")));
    let tokenizer = model
        .unusable_tokenizer
        .as_ref()
        .map(|error| format!("the tokenizer is not used: {}", error.lines().next().unwrap_or_default()));
    assumed.chain(model.notes.iter().cloned()).chain(ignored).chain(tokenizer).collect()
}
