//! The names of a model's nodes as people type them.

use std::ops::RangeInclusive;

use serde::Deserialize;

use crate::cli::options::first_given;
use crate::error::{Error, Result};
use crate::graph::{Graph, Node, Op, Origin, Role, Stage};
use crate::model::{Architecture, Edits, Removal, Sublayers};
use crate::text::clip;

/// The layers that some names are about, counted from 1: `L5.A_3` is about layer 5. Names without a layer are about the whole model.
pub(super) fn layers_of<'n>(names: impl Iterator<Item = &'n str>) -> Option<RangeInclusive<usize>> {
    let layers: Vec<usize> = names.filter_map(layer_of).collect();
    Some(*layers.iter().min()?..=*layers.iter().max()?)
}

fn layer_of(name: &str) -> Option<usize> {
    let name = name.trim();
    let own = name
        .strip_prefix('L')
        .and_then(|rest| rest.split_once('.'))
        .and_then(|(layer, _)| layer.parse().ok());
    own.or_else(|| layer_in_file(name))
}

/// The layer, counted from 1, of a name in a model's file: `h.4.attn.c_attn.weight` is about layer 5.
fn layer_in_file(name: &str) -> Option<usize> {
    let name = name.split('[').next().unwrap_or(name);
    let number = name.split('.').skip(1).find_map(|part| part.parse::<usize>().ok())?;
    number.checked_add(1)
}

/// The layer and the head that names without them belong to: those of `--layer` and `--head`.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cli) struct Within {
    /// The layer, from 1.
    pub layer: Option<usize>,
    /// The head, from 1.
    pub head: Option<usize>,
}

impl Within {
    /// The full names that a short one may stand for: in layer 2 and head 3, `A` is `L2.A_3`.
    fn full(self, name: &str) -> Vec<String> {
        let Some(layer) = self.layer else { return Vec::new() };
        let of_head = self.head.map(|head| format!("L{layer}.{name}_{head}"));
        of_head.into_iter().chain([format!("L{layer}.{name}")]).collect()
    }
}

/// The name of a node, where a short one or the name of its weights in the model's file was typed; a cell of a file counts
/// from 0.
pub(super) fn name_in(graph: &Graph, typed: &str, within: Within) -> String {
    let (name, inside) = typed.split_at(typed.find('[').unwrap_or(typed.len()));
    if graph.find(name).is_some() {
        return typed.to_string();
    }
    let is_there = |full: &String| match full.contains('*') {
        true => graph.all_named(full).is_ok(),
        false => graph.find(full).is_some(),
    };
    if let Some(full) = within.full(name).into_iter().find(is_there) {
        return format!("{full}{inside}");
    }
    // The only head of a layer has no number.
    if let Some(only) = name.strip_suffix("_1").filter(|only| graph.find(only).is_some()) {
        return format!("{only}{inside}");
    }
    let is_it = |node: &Node| matches!(&node.op, Op::Given(Origin::Weights(own)) if own == name);
    let Some((_, node)) = graph.nodes().find(|(_, node)| is_it(node)) else { return typed.to_string() };
    let from_one = |text: &str| {
        let number = text.trim().parse::<usize>().ok().and_then(|number| number.checked_add(1));
        number.map_or_else(|| text.to_string(), |number| number.to_string())
    };
    let inside = inside.strip_prefix('[').and_then(|inside| inside.strip_suffix(']'));
    match inside {
        Some(inside) => {
            let places: Vec<String> = inside.split(',').map(from_one).collect();
            // A vector of the file is one row here.
            let row = if places.len() == 1 && node.shape().rows == 1 { "1," } else { "" };
            format!("{}[{row}{}]", node.name, places.join(","))
        }
        None => node.name.clone(),
    }
}

/// The name of a node, from what was typed: the usual `L4H2` and `h.4.attn`, which count from 0, and `L1.X`, which is `E`.
///
/// # Errors
/// If a layer or a head is 0.
pub(super) fn node_name(typed: &str) -> Result<String> {
    let (name, inside) = typed.split_at(typed.find('[').unwrap_or(typed.len()));
    let name = name.trim();
    if name == "L1.X" {
        return Ok(format!("E{inside}"));
    }
    if let Some((layer, head)) = usual(name) {
        return Ok(format!("L{layer}.A_{head}{inside}"));
    }
    if layer_of(name) == Some(0) {
        return Err(Error::new(format!("`{name}`: layers count from 1"))
            .help("the first layer is L1; L0H0 is the usual name of its first head"));
    }
    Ok(format!("{name}{inside}"))
}

/// The usual name of the head that a node belongs to, which counts from 0: `L4H2` of `L5.A_3`. None for keys and values, which
/// several heads may share.
pub(super) fn usual_name(node: &Node) -> Option<String> {
    let step = node.step?;
    let is_shared = matches!(
        step.stage,
        Stage::Role(Role::K | Role::V) | Stage::KeysNormed | Stage::KeysRotated | Stage::Frequencies
    );
    let (layer, head) = (step.layer?.checked_sub(1)?, step.head?.checked_sub(1)?);
    (!is_shared).then(|| format!("L{layer}H{head}"))
}

/// Layer and head of `L4H2`, which counts from 0: 5 and 3.
pub(super) fn usual(name: &str) -> Option<(usize, usize)> {
    let (layer, head) = name.strip_prefix('L')?.split_once('H')?;
    let from_one = |number: &str| number.parse::<usize>().ok()?.checked_add(1);
    Some((from_one(layer)?, from_one(head)?))
}

// `--without`, `--mean`, `--without-first`: parts of the model that are taken out.

/// The parts of the model that are taken out.
#[derive(Deserialize, Clone, Debug, Default)]
pub(super) struct ChangeArgs {
    without: Option<String>,
    mean: bool,
    without_first: bool,
}

impl ChangeArgs {
    /// The option that is used, if one is.
    pub fn given_option(&self) -> Option<&'static str> {
        first_given(&[("--without", self.without.is_some()), ("--without-first", self.without_first)])
    }

    /// The parts that are taken out, as they were typed.
    pub fn parts(&self) -> Vec<String> {
        let parts = self.without.iter().flat_map(|parts| parts.split(','));
        parts.map(|part| part.trim().to_string()).collect()
    }

    /// The parts, checked against the model.
    ///
    /// # Errors
    /// If a part is not known, or the model has no such layer or head.
    pub fn edits(&self, architecture: &Architecture) -> Result<Edits> {
        let mut edits = Edits { without_first: self.without_first, ..Edits::default() };
        if self.mean {
            edits.removal = Removal::Mean;
        }
        for part in self.parts() {
            take_out(&part, architecture, &mut edits)?;
        }
        Ok(edits)
    }

    /// Why the first token gets so much, where it is hidden.
    pub fn about_first(&self) -> Option<String> {
        self.without_first.then(|| {
            "the weights of a row sum to 1, and every query sees the first token: a head without anything to look for \
             leaves its weights there (an attention sink). Here it is hidden, and the others share its weights"
                .to_string()
        })
    }

    /// The options in words.
    pub fn described(&self) -> Option<String> {
        let without = self.without.as_ref().map(|parts| format!("without {parts}"));
        let mean = self.mean.then(|| "its mean in its place".to_string());
        let first = self.without_first.then(|| "without the first token".to_string());
        let all: Vec<String> = [without, mean, first].into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

fn take_out(part: &str, architecture: &Architecture, edits: &mut Edits) -> Result<()> {
    let (layer, what) = parsed(part)?;
    let layers = architecture.blocks.len();
    let Some(block) = layer.checked_sub(1).and_then(|at| architecture.blocks.get(at)) else {
        return Err(Error::new(format!("`{}`: there is no layer {layer}", clip(part)))
            .help(format!("the model has {layers} layers, counted from 1")));
    };
    let edit = edits.layers.entry(layer).or_default();
    match what {
        Part::Layer => (edit.attention, edit.mlp) = (true, true),
        Part::Mlp if architecture.sublayers == Sublayers::AttentionAlone => {
            return Err(Error::new(format!("`{}`: the model has no MLP", clip(part)))
                .help(format!("take out a head or the whole layer: L{layer}")));
        }
        Part::Mlp => edit.mlp = true,
        Part::Head(head) => {
            let heads = block.recipe.heads;
            if !(1..=heads).contains(&head) {
                return Err(Error::new(format!("`{}`: there is no head {head}", clip(part)))
                    .help(format!("layer {layer} has {heads} heads, counted from 1")));
            }
            edit.heads.insert(head);
        }
        Part::OnlyHead if block.recipe.heads > 1 => {
            let (part, heads) = (clip(part), block.recipe.heads);
            return Err(Error::new(format!("`{part}`: layer {layer} has {heads} heads"))
                .help(format!("name one: L{layer}.A_1; or take out the whole layer: L{layer}")));
        }
        Part::OnlyHead => {
            edit.heads.insert(1);
        }
    }
    Ok(())
}

/// A part of a layer.
enum Part {
    Head(usize),
    /// The head of a layer that has one.
    OnlyHead,
    Layer,
    Mlp,
}

/// The layer, counted from 1, and its part.
fn parsed(part: &str) -> Result<(usize, Part)> {
    let number = |text: &str| text.parse::<usize>().ok();
    let read = || {
        if let Some(layer) = part.strip_prefix("mlp:") {
            return Some((number(layer)?, Part::Mlp));
        }
        let rest = part.strip_prefix('L')?;
        if let Some((layer, head)) = rest.split_once(".A_") {
            return Some((number(layer)?, Part::Head(number(head)?)));
        }
        if let Some((layer, head)) = usual(part) {
            return Some((layer, Part::Head(head)));
        }
        if let Some(layer) = rest.strip_suffix(".MLP") {
            return Some((number(layer)?, Part::Mlp));
        }
        match rest.strip_suffix(".A") {
            Some(layer) => Some((number(layer)?, Part::OnlyHead)),
            None => Some((number(rest)?, Part::Layer)),
        }
    };
    read().ok_or_else(|| {
        Error::new(format!("`{}` is no part of a model", clip(part)))
            .help("write a head as L5.A_3 or L4H2, a layer as L5, an MLP as mlp:5; several with commas")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_names_count_from_0_and_ours_from_1() {
        assert_eq!(node_name("L4H2[bat,cave]").unwrap(), "L5.A_3[bat,cave]");
        assert_eq!(node_name("L1.X").unwrap(), "E");
        assert_eq!(node_name("L5.A_3").unwrap(), "L5.A_3");
        assert!(node_name("L0.X").is_err());
        assert_eq!(layers_of(["L5.A_3", "logits", "L2.X[1,2]"].into_iter()), Some(2..=5));
        assert_eq!(layers_of(["logits"].into_iter()), None);
    }
}
