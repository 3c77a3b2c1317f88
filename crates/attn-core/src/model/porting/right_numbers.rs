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

/// The forms of a step in a graph that has its layer; none where the model has no such step.
pub(super) fn wanted(graph: &Graph, place: &Place, architecture: &Architecture) -> Vec<Wanted> {
    let reader = Reader { graph, architecture, layer: place.layer };
    let mut all = reader.forms(&place.step);
    if matches!(place.step, Step::Keys | Step::Values | Step::KeysNormed | Step::KeysRotated) {
        let repeated: Vec<Wanted> = all.iter().filter_map(|form| reader.repeated(form)).collect();
        all.extend(repeated);
    }
    all
}

struct Reader<'a> {
    graph: &'a Graph,
    architecture: &'a Architecture,
    layer: usize,
}

impl Reader<'_> {
    fn forms(&self, step: &Step) -> Vec<Wanted> {
        let first = |names: &[&str]| self.first_whole(names).into_iter().collect::<Vec<_>>();
        match step {
            Step::TokenEmbedding => self.each_whole(&["E_tokens", "E"]),
            Step::PositionEmbedding => first(&["E_positions"]),
            Step::Embedded => first(&["E"]),
            Step::Normed => {
                let stream = self.first_whole(&[&format!("L{}.X", self.layer), "E"]);
                self.with_plain(first(&["X_normed"]), stream)
            }
            Step::Fused => first(&["QKV"]),
            Step::Queries => self.each_of_heads(&["Q", "Q_normed"]),
            Step::Keys => self.each_of_heads(&["K", "K_normed"]),
            Step::Values => self.each_of_heads(&["V"]),
            Step::QueriesNormed => self.each_of_heads(&["Q_normed"]),
            Step::KeysNormed => self.each_of_heads(&["K_normed"]),
            Step::QueriesRotated => self.first_of_heads(&["Q_rotated", "Q_normed", "Q"]),
            Step::KeysRotated => self.first_of_heads(&["K_rotated", "K_normed", "K"]),
            Step::Scores => self.scores(),
            Step::Pattern => self.each_of_heads(&["A"]),
            Step::Mixed => self.each_of_heads(&["C"]),
            Step::AttentionProjected => self.each_whole(&["O"]),
            Step::AttentionAdded => first(&["O_normed", "O"]),
            Step::Middle => first(&["X_mid", "X_mid_sum"]),
            Step::MiddleNormed => {
                let stream = self.first_whole(&["X_mid", "X_mid_sum", &format!("L{}.X", self.layer), "E"]);
                self.with_plain(first(&["X_mid_normed", "X_normed_MLP"]), stream)
            }
            Step::Up => first(&["MLP_up"]),
            Step::Gate => first(&["MLP_gate"]),
            Step::BeforeActivation => first(&["MLP_gate", "MLP_up"]),
            Step::GateAndUp => first(&["MLP_gate_up"]),
            Step::Active => first(&["MLP_active", "MLP_hidden"]),
            Step::Inside => first(&["MLP_hidden"]),
            Step::MlpProjected => first(&["MLP"]),
            Step::MlpAdded => first(&["MLP_normed", "MLP"]),
            Step::LeavingLayer => first(&[&format!("L{}.X", self.layer + 1), "X_final"]),
            Step::FinalNormed => {
                let stream = self.first_whole(&["X_final"]);
                self.with_plain(first(&["X_final_normed"]), stream)
            }
            Step::LastHidden => {
                let mut forms = self.each_whole(&["X_final_normed", "X_final"]);
                forms.iter_mut().skip(1).for_each(|form| form.note = Some(BEFORE_NORM));
                forms
            }
            Step::UncappedLogits => first(&["logits_uncapped", "logits"]),
            Step::Logits => first(&["logits"]),
            Step::Node(name) => first(&[name]),
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

    fn each_whole(&self, names: &[&str]) -> Vec<Wanted> {
        names.iter().filter_map(|name| self.whole(name)).collect()
    }

    fn first_whole(&self, names: &[&str]) -> Option<Wanted> {
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

    fn each_of_heads(&self, names: &[&str]) -> Vec<Wanted> {
        names.iter().filter_map(|name| self.of_heads(name)).collect()
    }

    fn first_of_heads(&self, names: &[&str]) -> Vec<Wanted> {
        names.iter().find_map(|name| self.of_heads(name)).into_iter().collect()
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
    fn with_plain(&self, mut own: Vec<Wanted>, stream: Option<Wanted>) -> Vec<Wanted> {
        let (Some(normed), Some(stream)) = (own.first(), stream) else { return own };
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
        own.push(plain);
        own
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The rows of the embedding.
    TokenEmbedding,
    /// The vectors of the positions.
    PositionEmbedding,
    /// The input of the first layer.
    Embedded,
    /// What attention reads.
    Normed,
    /// Queries, keys and values in one matrix.
    Fused,
    Queries,
    Keys,
    Values,
    QueriesNormed,
    KeysNormed,
    QueriesRotated,
    KeysRotated,
    Scores,
    Pattern,
    /// The mixed values of the heads.
    Mixed,
    /// The result of attention, times W_O.
    AttentionProjected,
    /// The same as it is added to the residual stream: after a norm, where there is one.
    AttentionAdded,
    /// The residual stream between attention and MLP.
    Middle,
    /// What the MLP reads.
    MiddleNormed,
    Up,
    Gate,
    /// What the function of the MLP reads: the gate, or the way up where there is no gate.
    BeforeActivation,
    GateAndUp,
    /// The function of the gate; of the way up where there is no gate.
    Active,
    /// What the last matrix of the MLP reads.
    Inside,
    MlpProjected,
    /// The same as it is added to the residual stream.
    MlpAdded,
    /// The residual stream that leaves the layer.
    LeavingLayer,
    FinalNormed,
    /// The residual stream after the last layer, as `hidden_states` ends with it: after the final norm in a decoder.
    LastHidden,
    /// The scores of the vocabulary before their soft-cap.
    UncappedLogits,
    Logits,
    /// A node by its own name.
    Node(String),
}

impl Step {
    /// What it is, in words.
    pub fn words(&self) -> &str {
        match self {
            Step::TokenEmbedding => "embedding of the tokens",
            Step::PositionEmbedding => "embedding of the positions",
            Step::Embedded => "input of the first layer",
            Step::Normed => "norm before attention",
            Step::Fused => "queries, keys and values in one",
            Step::Queries => "queries",
            Step::Keys => "keys",
            Step::Values => "values",
            Step::QueriesNormed => "queries, normed",
            Step::KeysNormed => "keys, normed",
            Step::QueriesRotated => "queries, rotated",
            Step::KeysRotated => "keys, rotated",
            Step::Scores => "scores",
            Step::Pattern => "weights of attention",
            Step::Mixed => "mixed values of the heads",
            Step::AttentionProjected => "attention times W_O",
            Step::AttentionAdded => "result of attention",
            Step::Middle => "residual stream between attention and MLP",
            Step::MiddleNormed => "norm before the MLP",
            Step::Up => "MLP, way up",
            Step::Gate => "MLP, gate",
            Step::BeforeActivation => "MLP, before its function",
            Step::GateAndUp => "MLP, gate and way up",
            Step::Active => "MLP, after its function",
            Step::Inside => "MLP, before the last matrix",
            Step::MlpProjected => "MLP times W_down",
            Step::MlpAdded => "result of the MLP",
            Step::LeavingLayer => "residual stream leaving the layer",
            Step::FinalNormed => "final norm",
            Step::LastHidden => "last hidden state",
            Step::UncappedLogits => "logits before the soft-cap",
            Step::Logits => "logits",
            Step::Node(name) => name,
        }
    }

    /// Returns true if a mean over its columns may be taken away: the residual stream and what is added to it, and logits.
    pub fn may_be_centred(&self) -> bool {
        matches!(
            self,
            Step::TokenEmbedding
                | Step::PositionEmbedding
                | Step::Embedded
                | Step::AttentionProjected
                | Step::AttentionAdded
                | Step::Middle
                | Step::MlpProjected
                | Step::MlpAdded
                | Step::LeavingLayer
                | Step::UncappedLogits
                | Step::Logits
        )
    }

    /// Returns true if biases of values may be taken away from it.
    pub fn may_lack_value_biases(&self) -> bool {
        matches!(self, Step::Values | Step::Mixed)
    }

    /// Returns true if the order of columns within a head may be that of neighbouring pairs.
    pub fn is_of_queries_or_keys(&self) -> bool {
        matches!(
            self,
            Step::Queries
                | Step::Keys
                | Step::QueriesNormed
                | Step::KeysNormed
                | Step::QueriesRotated
                | Step::KeysRotated
        )
    }
}

/// A step at its place: layers count from 1; the head of the model counts as one more layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub layer: usize,
    pub step: Step,
}
