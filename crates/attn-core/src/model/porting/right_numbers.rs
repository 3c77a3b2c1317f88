//! The right numbers of a step, in each form that people dump.

use crate::graph::Graph;
use crate::graph::recipes::Groups;
use crate::model::architecture::Architecture;
use crate::params::NormKind;

/// Gains that a tool has moved into the next matrix.
pub(super) const FOLDED_GAINS: &str = "norms before their gains and biases (a hook of TransformerLens, or fold_ln, which moves them into the next weights)";
/// Scores that a later step scales.
const BEFORE_SCALE: &str = "scores before the scale";
/// Scores that a later step bounds.
const BEFORE_CAP: &str = "scores before the soft-cap";
/// The residual stream where `transformers` has its norm.
const BEFORE_NORM: &str = "the last hidden state before the final norm";
/// A mean that a tool takes away.
pub(super) const CENTRED: &str =
    "the residual stream, and what is added to it, without its mean (center_writing_weights)";
/// The same for logits.
pub(super) const CENTRED_LOGITS: &str = "logits without their mean (center_unembed)";
/// Biases that a tool has moved into the bias of the output.
pub(super) const VALUE_BIASES: &str =
    "values without their biases, which are folded into the bias of W_O (fold_value_biases)";
/// The order of columns in the weights that Meta published.
pub(super) const PAIRED: &str =
    "columns of queries and keys in the order of neighbouring pairs (weights in Meta's order)";
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
    fn forms(&self, step: Step, name: &str) -> Vec<Wanted> {
        match step.nodes {
            Nodes::Own => self.whole(name).into_iter().collect(),
            Nodes::Next => self.first(&[&format!("L{}.X", self.layer + 1), "X_final"]).into_iter().collect(),
            Nodes::First(names) => self.first(names).into_iter().collect(),
            Nodes::Each(names) => names.iter().filter_map(|name| self.whole(name)).collect(),
            Nodes::LastHidden => {
                let normed = self.whole("X_final_normed");
                let note = normed.as_ref().map(|_| BEFORE_NORM);
                let before = self.whole("X_final").map(|form| Wanted { note, ..form });
                normed.into_iter().chain(before).collect()
            }
            Nodes::Norm(names, streams) => self.with_plain(self.first(names), self.first(streams)),
            Nodes::Scores => self.scores(),
            Nodes::FirstOfHeads(names) => {
                self.and_repeated(names.iter().find_map(|name| self.of_heads(name)).into_iter().collect())
            }
            Nodes::EachOfHeads(names) => {
                self.and_repeated(names.iter().filter_map(|name| self.of_heads(name)).collect())
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

/// A step of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// What it is, in words; a node is called by its name.
    pub words: &'static str,
    nodes: Nodes,
    /// A convention that a dump of it may follow.
    pub convention: Option<&'static str>,
}

/// The nodes with the numbers of a step, by their names in the layer or their whole names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nodes {
    /// The node with the name of the dumped tensor.
    Own,
    /// The residual stream that the next layer reads, or the head of the model.
    Next,
    /// The first of these that the model has.
    First(&'static [&'static str]),
    /// Each of these, as a form of its own.
    Each(&'static [&'static str]),
    /// A norm, and the stream that it reads: the first of these that the model has.
    Norm(&'static [&'static str], &'static [&'static str]),
    /// The residual stream after the last layer, with and without its norm.
    LastHidden,
    /// The scores, before and after each of their steps.
    Scores,
    /// The first of these, a matrix for each head.
    FirstOfHeads(&'static [&'static str]),
    /// Each of these, a matrix for each head.
    EachOfHeads(&'static [&'static str]),
}

impl Step {
    /// The rows of the embedding.
    pub const TOKEN_EMBEDDING: Step =
        Step::of("embedding of the tokens", Nodes::Each(&["E_tokens", "E"]), Some(CENTRED));
    /// The vectors of the positions.
    pub const POSITION_EMBEDDING: Step =
        Step::of("embedding of the positions", Nodes::First(&["E_positions"]), Some(CENTRED));
    /// The input of the first layer.
    pub const EMBEDDED: Step = Step::of("input of the first layer", Nodes::First(&["E"]), Some(CENTRED));
    /// What attention reads.
    pub const NORMED: Step = Step::of("norm before attention", Nodes::Norm(&["X_normed"], &["X", "E"]), None);
    /// Queries, keys and values in one matrix.
    pub const FUSED: Step = Step::of("queries, keys and values in one", Nodes::First(&["QKV"]), None);
    pub const QUERIES: Step = Step::of("queries", Nodes::EachOfHeads(&["Q", "Q_normed"]), Some(PAIRED));
    pub const KEYS: Step = Step::of("keys", Nodes::EachOfHeads(&["K", "K_normed"]), Some(PAIRED));
    pub const VALUES: Step = Step::of("values", Nodes::EachOfHeads(&["V"]), Some(VALUE_BIASES));
    pub const QUERIES_NORMED: Step =
        Step::of("queries, normed", Nodes::EachOfHeads(&["Q_normed"]), Some(PAIRED));
    pub const KEYS_NORMED: Step = Step::of("keys, normed", Nodes::EachOfHeads(&["K_normed"]), Some(PAIRED));
    pub const QUERIES_ROTATED: Step =
        Step::of("queries, rotated", Nodes::FirstOfHeads(&["Q_rotated", "Q_normed", "Q"]), Some(PAIRED));
    pub const KEYS_ROTATED: Step =
        Step::of("keys, rotated", Nodes::FirstOfHeads(&["K_rotated", "K_normed", "K"]), Some(PAIRED));
    pub const SCORES: Step = Step::of("scores", Nodes::Scores, None);
    pub const PATTERN: Step = Step::of("weights of attention", Nodes::EachOfHeads(&["A"]), None);
    /// The mixed values of the heads.
    pub const MIXED: Step =
        Step::of("mixed values of the heads", Nodes::EachOfHeads(&["C"]), Some(VALUE_BIASES));
    /// The result of attention, times W_O.
    pub const ATTENTION_PROJECTED: Step = Step::of("attention times W_O", Nodes::Each(&["O"]), Some(CENTRED));
    /// The same as it is added to the residual stream: after a norm, where there is one.
    pub const ATTENTION_ADDED: Step =
        Step::of("result of attention", Nodes::First(&["O_normed", "O"]), Some(CENTRED));
    pub const MIDDLE: Step = Step::of(
        "residual stream between attention and MLP",
        Nodes::First(&["X_mid", "X_mid_sum"]),
        Some(CENTRED),
    );
    /// What the MLP reads.
    pub const MIDDLE_NORMED: Step = Step::of(
        "norm before the MLP",
        Nodes::Norm(&["X_mid_normed", "X_normed_MLP"], &["X_mid", "X_mid_sum", "X", "E"]),
        None,
    );
    pub const UP: Step = Step::of("MLP, way up", Nodes::First(&["MLP_up"]), None);
    pub const GATE: Step = Step::of("MLP, gate", Nodes::First(&["MLP_gate"]), None);
    /// What the function of the MLP reads: the gate, or the way up where there is no gate.
    pub const BEFORE_ACTIVATION: Step =
        Step::of("MLP, before its function", Nodes::First(&["MLP_gate", "MLP_up"]), None);
    pub const GATE_AND_UP: Step = Step::of("MLP, gate and way up", Nodes::First(&["MLP_gate_up"]), None);
    /// The function of the gate; of the way up where there is no gate.
    pub const ACTIVE: Step =
        Step::of("MLP, after its function", Nodes::First(&["MLP_active", "MLP_hidden"]), None);
    /// What the last matrix of the MLP reads.
    pub const INSIDE: Step = Step::of("MLP, before the last matrix", Nodes::First(&["MLP_hidden"]), None);
    pub const MLP_PROJECTED: Step = Step::of("MLP times W_down", Nodes::First(&["MLP"]), Some(CENTRED));
    /// The same as it is added to the residual stream.
    pub const MLP_ADDED: Step =
        Step::of("result of the MLP", Nodes::First(&["MLP_normed", "MLP"]), Some(CENTRED));
    pub const LEAVING_LAYER: Step = Step::of("residual stream leaving the layer", Nodes::Next, Some(CENTRED));
    pub const FINAL_NORMED: Step =
        Step::of("final norm", Nodes::Norm(&["X_final_normed"], &["X_final"]), None);
    /// The residual stream after the last layer, as `hidden_states` ends with it: after the final norm in a decoder.
    pub const LAST_HIDDEN: Step = Step::of("last hidden state", Nodes::LastHidden, None);
    /// The scores of the vocabulary before their soft-cap.
    pub const UNCAPPED_LOGITS: Step = Step::of(
        "logits before the soft-cap",
        Nodes::First(&["logits_uncapped", "logits"]),
        Some(CENTRED_LOGITS),
    );
    pub const LOGITS: Step = Step::of("logits", Nodes::First(&["logits"]), Some(CENTRED_LOGITS));
    /// A node that is dumped under its own name.
    pub const NODE: Step = Step::of("", Nodes::Own, None);

    const fn of(words: &'static str, nodes: Nodes, convention: Option<&'static str>) -> Step {
        Step { words, nodes, convention }
    }
}

/// A step at its place: layers count from 1; the head of the model counts as one more layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub layer: usize,
    pub step: Step,
}
