//! The right numbers of a step, in each form that people dump.

use serde::Deserialize;

use crate::graph::Graph;
use crate::graph::recipes::Groups;
use crate::model::architecture::Architecture;
use crate::params::NormKind;

use super::FILE;

/// Gains that a tool has moved into the next matrix.
const FOLDED_GAINS: &str = "norms before their gains and biases (a hook of TransformerLens, or fold_ln, which moves them into the next weights)";
/// Scores that a later step scales.
const BEFORE_SCALE: &str = "scores before the scale";
/// Scores that a later step bounds.
const BEFORE_CAP: &str = "scores before the soft-cap";
/// The residual stream where `transformers` has its norm.
const BEFORE_NORM: &str = "the last hidden state before the final norm";
/// Biases that a tool has moved into the bias of the output.
pub(super) const VALUE_BIASES: &str =
    "values without their biases, which are folded into the bias of W_O (fold_value_biases)";
/// A key/value head for each query head.
const REPEATED: &str = "key/value heads repeated for each query head";

/// The numbers of a step: (heads, rows, columns), the last axis first. NaN stands where nothing is compared.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// The node that it is, and how many heads beside it.
    pub node: String,
    /// Its place in the order of computing.
    pub position: usize,
    pub heads: usize,
    pub rows: usize,
    pub cols: usize,
    pub cells: Vec<f64>,
    /// What is special about this form.
    pub note: Option<&'static str>,
}

/// The forms of a tensor of this name in a graph that has its layer; none where the model has no such step.
pub(super) fn wanted(graph: &Graph, name: &str, place: Place, architecture: &Architecture) -> Vec<Wanted> {
    Reader { graph, architecture, layer: place.layer }.forms(place.step, name)
}

struct Reader<'a> {
    graph: &'a Graph,
    architecture: &'a Architecture,
    layer: usize,
}

impl Reader<'_> {
    fn forms(&self, step: &Step, name: &str) -> Vec<Wanted> {
        let (nodes, streams) = (&step.nodes[..], &step.streams[..]);
        match step.take {
            Take::Own => self.whole(name).into_iter().collect(),
            Take::Next => self.first(&[&format!("L{}.X", self.layer + 1), "X_final"]).into_iter().collect(),
            Take::First => self.with_plain(self.first(nodes), self.first(streams)),
            Take::Each => nodes.iter().filter_map(|name| self.whole(name)).collect(),
            Take::LastHidden => {
                let normed = self.whole("X_final_normed");
                let note = normed.as_ref().map(|_| BEFORE_NORM);
                let before = self.whole("X_final").map(|form| Wanted { note, ..form });
                normed.into_iter().chain(before).collect()
            }
            Take::Scores => self.scores(),
            Take::FirstOfHeads => {
                self.and_repeated(nodes.iter().find_map(|name| self.of_heads(name)).into_iter().collect())
            }
            Take::EachOfHeads => {
                self.and_repeated(nodes.iter().filter_map(|name| self.of_heads(name)).collect())
            }
        }
    }

    /// A node of the layer, or one with its whole name.
    fn node(&self, name: &str) -> Option<crate::graph::NodeId> {
        self.graph.find(&format!("L{}.{name}", self.layer)).or_else(|| self.graph.find(name))
    }

    fn whole(&self, name: &str) -> Option<Wanted> {
        let id = self.node(name)?;
        let tensor = self.graph[id].tensor()?;
        let shape = tensor.shape();
        Some(Wanted {
            node: self.graph[id].name.clone(),
            position: id.position(),
            heads: 1,
            rows: shape.rows,
            cols: shape.cols,
            cells: tensor.cells().collect(),
            note: None,
        })
    }

    fn first(&self, names: &[&str]) -> Option<Wanted> {
        names.iter().find_map(|name| self.whole(name))
    }

    /// A matrix for each head, in nodes of their own or side by side in one.
    fn of_heads(&self, name: &str) -> Option<Wanted> {
        let recipe = &self.architecture.blocks.get(self.layer.checked_sub(1)?)?.recipe;
        let count = if name.starts_with(['K', 'V']) { recipe.kv_heads } else { recipe.heads };
        let separate: Option<Vec<Wanted>> =
            (1..=count).map(|head| self.whole(&format!("{name}_{head}"))).collect();
        if let Some(mut heads) = separate.filter(|_| recipe.heads > 1) {
            let cells = heads.iter().flat_map(|head| head.cells.iter().copied()).collect();
            let first = heads.swap_remove(0);
            return Some(Wanted { heads: count, cells, ..first });
        }
        let whole = self.whole(name)?;
        let cols = whole.cols / count;
        let at = |h: usize, r: usize, c: usize| whole.cells[r * whole.cols + h * cols + c];
        let mut cells = Vec::with_capacity(whole.cells.len());
        for h in 0..count {
            for r in 0..whole.rows {
                cells.extend((0..cols).map(|c| at(h, r, c)));
            }
        }
        Some(Wanted { heads: count, cols, cells, ..whole })
    }

    /// The scores as they enter the softmax, and before their scale and their bound; only visible cells are compared.
    fn scores(&self) -> Vec<Wanted> {
        let masked = self.of_heads("S_masked");
        let is_capped = self.of_heads("S_capped").is_some();
        let notes = [
            ("S_masked", None),
            ("S_capped", None),
            ("S_scaled", is_capped.then_some(BEFORE_CAP)),
            ("S", Some(BEFORE_SCALE)),
        ];
        let form = |(name, note): (&str, Option<&'static str>)| {
            let mut form = self.of_heads(name)?;
            form.note = note;
            if let Some(masked) = &masked {
                let hidden = |(cell, masked): (&mut f64, &f64)| {
                    if *masked == f64::NEG_INFINITY {
                        *cell = f64::NAN;
                    }
                };
                form.cells.iter_mut().zip(&masked.cells).for_each(hidden);
            }
            Some(form)
        };
        notes.into_iter().filter_map(form).collect()
    }

    /// A norm, and the same without its gains and biases.
    fn with_plain(&self, own: Option<Wanted>, stream: Option<Wanted>) -> Vec<Wanted> {
        let (Some(normed), Some(stream)) = (&own, stream) else { return own.into_iter().collect() };
        let norm = self.architecture.norm;
        let mut cells = Vec::with_capacity(stream.cells.len());
        for row in stream.cells.chunks(stream.cols.max(1)) {
            let width = row.len() as f64;
            let mean = match norm.kind {
                NormKind::LayerNorm => row.iter().sum::<f64>() / width,
                NormKind::RmsNorm => 0.0,
            };
            let square = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / width;
            let root = (square + norm.epsilon).sqrt();
            cells.extend(row.iter().map(|x| (x - mean) / root));
        }
        let plain = Wanted { cells, note: Some(FOLDED_GAINS), ..normed.clone() };
        own.into_iter().chain([plain]).collect()
    }

    /// Some forms, and those of keys and values with a head for each query head.
    fn and_repeated(&self, mut forms: Vec<Wanted>) -> Vec<Wanted> {
        let repeated: Vec<Wanted> = forms.iter().filter_map(|form| self.repeated(form)).collect();
        forms.extend(repeated);
        forms
    }

    /// Keys or values with a head for each query head.
    fn repeated(&self, form: &Wanted) -> Option<Wanted> {
        let recipe = &self.architecture.blocks.get(self.layer.checked_sub(1)?)?.recipe;
        let (heads, groups) = (recipe.heads, recipe.kv_heads);
        if heads == groups || form.heads != groups {
            return None;
        }
        let size = form.rows * form.cols;
        let group =
            |head: usize| if recipe.groups == Groups::Tiled { head % groups } else { head * groups / heads };
        let cells = (0..heads).flat_map(|head| {
            let start = group(head) * size;
            form.cells[start..start + size].iter().copied()
        });
        Some(Wanted { heads, cells: cells.collect(), note: Some(REPEATED), ..form.clone() })
    }
}

// The steps of a model that people dump.

/// A step of a model: an entry of `data/porting.toml`, whose head says what each field means.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Step {
    id: &'static str,
    /// What it is, in words; a node is called by its name.
    pub words: &'static str,
    nodes: Vec<&'static str>,
    take: Take,
    streams: Vec<&'static str>,
    pub place: Where,
    pub convention: Option<Convention>,
    pub result: bool,
    pub gives: Vec<&'static str>,
    pub reads: Vec<&'static str>,
    pub outside: Vec<&'static str>,
    pub reads_outside: Vec<&'static str>,
    pub lists: Vec<&'static str>,
    pub hooks: Vec<&'static str>,
    pub hooks_outside: Vec<&'static str>,
}

/// Which of its nodes have the numbers of a step.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Take {
    /// The first that the model has.
    #[default]
    First,
    /// Each, as a form of its own.
    Each,
    /// The first, a matrix for each head.
    FirstOfHeads,
    /// Each, a matrix for each head.
    EachOfHeads,
    /// The node with the name of the dumped tensor.
    Own,
    /// The residual stream that the next layer reads, or the head of the model.
    Next,
    /// The residual stream after the last layer, with and without its norm.
    LastHidden,
    /// The scores, before and after each of their steps.
    Scores,
}

/// The place of a step in a model.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Where {
    #[default]
    Layer,
    /// Before the layers.
    First,
    /// After them.
    Head,
}

/// A convention that a dump may follow.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Convention {
    /// A mean that a tool takes away.
    Centred,
    /// The same for logits.
    CentredLogits,
    /// Biases that a tool has moved into the bias of the output.
    ValueBiases,
    /// The order of columns in the weights that Meta published.
    Paired,
}

impl Convention {
    /// It in words.
    pub fn note(self) -> &'static str {
        match self {
            Convention::Centred => {
                "the residual stream, and what is added to it, without its mean (center_writing_weights)"
            }
            Convention::CentredLogits => "logits without their mean (center_unembed)",
            Convention::ValueBiases => VALUE_BIASES,
            Convention::Paired => {
                "columns of queries and keys in the order of neighbouring pairs (weights in Meta's order)"
            }
        }
    }
}

impl Step {
    /// All of them.
    pub fn all() -> &'static [Step] {
        &FILE.step
    }

    /// The step of this id in the data file.
    pub fn named(id: &str) -> &'static Step {
        Step::all().iter().find(|step| step.id == id).expect("a test finds every step")
    }

    /// Returns true for a node that is dumped under its own name.
    pub fn is_node(&self) -> bool {
        self.words.is_empty()
    }
}

/// A step at its place: layers count from 1; the head of the model counts as one more layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub layer: usize,
    pub step: &'static Step,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_that_rust_names_are_in_the_data_file() {
        for id in ["embedded", "leaving-layer", "last-hidden", "node"] {
            assert_eq!(Step::named(id).id, id);
        }
    }
}
