//! `--without`, `--mean`, `--without-first`: parts of the model that are taken out.

use clap::Args;

use super::address::usual;
use super::used::first;
use crate::error::{Error, Result};
use crate::model::{Architecture, Edits, Removal, Sublayers};
use crate::text::clip;

/// The parts of the model that are taken out.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "What is computed")]
pub(super) struct ChangeArgs {
    /// Take parts out: L5.A_3 (a head), L5 (a layer), mlp:5
    ///
    /// The output of a head, of both parts of a layer, or of an MLP becomes 0. L4H2 is the usual name of L5.A_3. Several parts
    /// stand side by side: L5.A_3,mlp:2.
    #[arg(long, value_name = "PARTS")]
    without: Option<String>,
    /// Put the mean over the text in place of 0
    #[arg(long, requires = "without", hide_short_help = true)]
    mean: bool,
    /// Hide the first token: others get its weight
    ///
    /// The weights of a row sum to 1. A head without anything to look for leaves most of them at the first token, which every query
    /// sees (an attention sink). Without it, the other weights show what is left.
    #[arg(long)]
    without_first: bool,
}

impl ChangeArgs {
    /// The option that is used, if one is.
    pub fn used(&self) -> Option<&'static str> {
        first(&[("--without", self.without.is_some()), ("--without-first", self.without_first)])
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
        for part in self.without.iter().flat_map(|parts| parts.split(',')).map(str::trim) {
            take_out(part, architecture, &mut edits)?;
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
        Part::Mlp if block.sublayers == Sublayers::AttentionAlone => {
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
            return Err(Error::new(format!(
                "`{}`: layer {layer} has {} heads",
                clip(part),
                block.recipe.heads
            ))
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
