//! The graph of a whole model on a text, for walking through it.

use std::ops::RangeInclusive;

use serde::{Deserialize, Deserializer};

use crate::cli::options::{first_given, read_with};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{Graph, Node};
use crate::matrix::{Labels, Shape};
use crate::model::{Edits, Forward, ModelRun};
use crate::story::{Window, place_of};
use crate::text::{choices, clip, counted, grouped};

use super::folder::{NumbersArgs, OpenedModel, ReadText};
use super::logits::with_logits;

/// The most logits that are computed for it: a row for each token.
const MOST_LOGITS: usize = 4_000_000;

/// The option of the layers that are opened.
#[derive(Deserialize, Clone, Debug)]
pub(super) struct LayersArgs {
    #[serde(deserialize_with = "read_range")]
    pub layers: Option<RangeInclusive<usize>>,
}

/// All steps of the layers that are asked for, or of all; with the last one the logits, where there are not too many. And the row
/// of the prediction, from 0.
///
/// # Errors
/// If there are no such layers, or they have more numbers than the limit: the error says which layers have not.
pub(super) fn graph(
    model: &OpenedModel,
    text: &ReadText,
    layers: Option<RangeInclusive<usize>>,
    numbers: &NumbersArgs,
) -> Result<(Graph, usize)> {
    let tokens = text.text.ids.len();
    let mut options = numbers.chosen(model, tokens, Edits::default()).options;
    options.measured = false;
    let count = model.architecture.blocks.len();
    let layers = layers.unwrap_or(1..=count);
    if let Some(none) = [layers.start(), layers.end()].into_iter().find(|layer| **layer > count) {
        return Err(Error::new(format!("there is no layer {none}"))
            .help(format!("the model has {}, counted from 1", counted(count, "layer"))));
    }
    let wants_logits = model.tensors.has_head
        && *layers.end() == count
        && tokens.saturating_mul(model.architecture.model.vocabulary as usize) <= MOST_LOGITS;
    let run = model.run();
    let forward = run.forward(text.text.clone(), options)?;
    let mut graph = run
        .layers_again(&forward, layers.clone())
        .map_err(|error| with_fewer_layers(error, &run, &forward, &layers))?;
    if wants_logits {
        graph = with_logits(&run, &forward, graph)?;
    }
    model.name_words(&mut graph);
    let place =
        super::logits::places(model, text).first().map_or(tokens.saturating_sub(1), |place| place.row);
    Ok((graph, place))
}

/// An error about too many numbers, which says how many layers are not too many.
fn with_fewer_layers(
    error: Error,
    run: &ModelRun<'_>,
    forward: &Forward,
    layers: &RangeInclusive<usize>,
) -> Error {
    let last = *layers.end();
    if error.kind() != ErrorKind::TooLarge {
        return error;
    }
    let Ok(one) = run.layers_again(forward, last..=last) else { return error };
    let computed = one.nodes().filter(|(_, node)| !node.op.is_given()).map(|(_, node)| node.shape());
    let each: usize = computed.map(|shape| shape.rows * shape.cols).sum();
    let (asked, limit) = (last + 1 - layers.start(), forward.options.limit);
    let fitting = limit / each.max(1);
    let all = each.saturating_mul(asked);
    // Memory may be short instead.
    if fitting == 0 || fitting >= asked {
        return error;
    }
    let fewer = match last + 1 - fitting {
        first if first == last => first.to_string(),
        first => format!("{first}-{last}"),
    };
    // A little more: the embedding is recorded, too.
    let enough = all.saturating_add(each);
    let (layers, [all, limit]) = (counted(asked, "layer"), [all, limit].map(|count| grouped(count as u64)));
    Error::new(format!("{layers} record about {all} numbers, more than the limit of {limit}"))
        .of_kind(ErrorKind::TooLarge)
        .help(format!("open some of them: --layers {fewer}"))
        .and_help(&format!("or record more: --limit {enough}"))
}

// `--rows`, `--cols`, `--around`: which part of large matrices is shown.

/// The part of large matrices that is shown.
#[derive(Deserialize, Clone, Debug, Default)]
pub(in crate::cli) struct WindowArgs {
    #[serde(deserialize_with = "read_range")]
    rows: Option<RangeInclusive<usize>>,
    #[serde(deserialize_with = "read_range")]
    cols: Option<RangeInclusive<usize>>,
    around: Option<String>,
}

impl WindowArgs {
    /// The option that is used, if one is.
    pub fn given_option(&self) -> Option<&'static str> {
        first_given(&[
            ("--rows", self.rows.is_some()),
            ("--cols", self.cols.is_some()),
            ("--around", self.around.is_some()),
        ])
    }

    /// # Errors
    /// If rows and columns are chosen twice.
    pub fn check_options(&self) -> Result<()> {
        if self.rows.is_some() && self.cols.is_some() && self.around.is_some() {
            return Err(Error::new("--rows and --cols leave nothing for --around to choose")
                .help("leave out --around, or one of the others"));
        }
        Ok(())
    }

    /// # Errors
    /// If no node has these rows or columns, or no token of the text is the one that is named.
    pub fn check(&self, nodes: &[&Node], tokens: &Labels) -> Result<()> {
        let shapes: Vec<Shape> = nodes.iter().map(|node| node.shape()).collect();
        let largest = |size: fn(&Shape) -> usize| shapes.iter().map(size).max().unwrap_or(0);
        let lines = [
            ("--rows", &self.rows, largest(|shape| shape.rows)),
            ("--cols", &self.cols, largest(|shape| shape.cols)),
        ];
        for (option, range, most) in lines {
            if let Some(first) = range.as_ref().map(RangeInclusive::start).filter(|first| **first > most) {
                return Err(Error::new(format!("{option} begins at {first}, but there are {most}"))
                    .help(format!("they are numbered 1 to {most}")));
            }
        }
        // The columns of logits are tokens, too, and most of them are not in the text.
        let of_nodes = nodes.iter().flat_map(|node| [node.labels().0, node.labels().1]).flatten();
        let all: Vec<&Labels> = [tokens].into_iter().chain(of_nodes).collect();
        let is_there = |token: &String| all.iter().any(|labels| place_of(labels, token).is_some());
        match self.around.as_ref().filter(|token| !is_there(token)) {
            Some(token) => Err(Error::new(format!("no token of the text is `{}`", clip(token)))
                .help(format!("its tokens are {}", choices(tokens.iter().map(String::as_str))))),
            None => Ok(()),
        }
    }

    /// The part that is shown.
    pub fn window(&self) -> Window {
        Window { rows: self.rows.clone(), cols: self.cols.clone(), around: self.around.clone() }
    }
}

fn read_range<'de, D: Deserializer<'de>>(
    text: D,
) -> std::result::Result<Option<RangeInclusive<usize>>, D::Error> {
    read_with(text, range)
}

/// A range of numbers from 1: 3-9, or 5.
pub(crate) fn range(text: &str) -> std::result::Result<RangeInclusive<usize>, String> {
    let wrong = || "take a number from 1, or two with a hyphen: 3-9".to_string();
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| *number > 0);
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = (number(from).ok_or_else(wrong)?, number(to).ok_or_else(wrong)?);
    if from > to { Err(wrong()) } else { Ok(from..=to) }
}
