//! A pass of the model, right or with a mistake, against all tensors of a dump.

use crate::error::Result;
use crate::graph::Graph;
use crate::model::architecture::Architecture;
use crate::model::forward::{Forward, PassOptions, numbers};
use crate::model::run::{ModelRun, Text};
use crate::model::tensors::Tensors;
use crate::tensor::Tensor;

use super::Dumped;
use super::judge::{Difference, DumpPrecision, Judged, Judging};
use super::names::Naming;
use super::right_numbers::{Place, VALUE_BIASES, wanted};

/// A dumped tensor, and the step that it is.
#[derive(Clone, Debug)]
pub(super) struct Item<'d> {
    pub dumped: &'d Dumped,
    pub naming: Naming,
    pub place: Place,
}

/// A pass against all tensors.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    /// One for each tensor; none where no form of the step has its dimensions.
    pub judged: Vec<Option<Judged>>,
    /// The input of each layer, and last the output of the last one.
    pub streams: Vec<Tensor>,
    /// True if values may lack their biases.
    value_biases: bool,
}

/// What passes are made of.
#[derive(Clone, Debug)]
pub(super) struct Tracer<'d> {
    pub tensors: &'d Tensors,
    pub items: Vec<Item<'d>>,
    pub text: Text,
    pub options: PassOptions,
    pub precision: DumpPrecision,
}

impl Tracer<'_> {
    /// A whole pass of this architecture.
    pub fn trace(&self, architecture: &Architecture) -> Result<Verdict> {
        let verdict = self.trace_with(architecture, true)?;
        if self.lacks_value_biases_by_mistake(&verdict) {
            return self.trace_with(architecture, false);
        }
        Ok(verdict)
    }

    fn trace_with(&self, architecture: &Architecture, value_biases: bool) -> Result<Verdict> {
        let mut judged = vec![None; self.items.len()];
        let last = architecture.blocks.len() + 1;
        let mut see = |layer: usize, graph: &Graph| {
            for (at, item) in self.items.iter().enumerate().filter(|(_, item)| item.place.layer == layer) {
                judged[at] = self.judge(item, graph, architecture, value_biases);
            }
        };
        let streams = self.pass(architecture, (1, Vec::new()), last, &mut see)?;
        Ok(Verdict { judged, streams, value_biases })
    }

    /// The tensor `at` under a changed architecture, from the input of layer `start` on, as a pass has recorded it.
    pub fn trial(
        &self,
        architecture: &Architecture,
        verdict: &Verdict,
        start: usize,
        at: usize,
    ) -> Result<Option<Judged>> {
        let item = &self.items[at];
        let mut judged = None;
        let mut see = |layer: usize, graph: &Graph| {
            if layer == item.place.layer {
                judged = self.judge(item, graph, architecture, verdict.value_biases);
            }
        };
        let streams = verdict.streams[..start].to_vec();
        self.pass(architecture, (start, streams), item.place.layer, &mut see)?;
        Ok(judged)
    }

    /// Computes the layers from `start` to `end`, and shows each graph; the head of the model counts as one more layer.
    fn pass(
        &self,
        architecture: &Architecture,
        (start, streams): (usize, Vec<Tensor>),
        end: usize,
        see: &mut dyn FnMut(usize, &Graph),
    ) -> Result<Vec<Tensor>> {
        let run = ModelRun::new(architecture, self.tensors);
        let layers = run.layers();
        let mut forward = Forward {
            options: self.options.clone(),
            text: self.text.clone(),
            streams,
            caches: Vec::new(),
            heads: Vec::new(),
        };
        for layer in start..=end.min(layers) {
            let graph = run.layers_again(&forward, layer..=layer)?;
            if layer == 1 {
                let embedded = graph.find("E").map(|node| numbers(&graph, node)).transpose()?;
                forward.streams = embedded.into_iter().collect();
            }
            let leaving = graph.find(&format!("L{}.X", layer + 1)).or_else(|| graph.find("X_final"));
            forward.streams.extend(leaving.map(|node| numbers(&graph, node)).transpose()?);
            see(layer, &graph);
        }
        if end > layers && self.tensors.has_head && self.items.iter().any(|item| item.place.layer > layers) {
            let mut graph = self.options.graph();
            let x = run.final_stream(&forward, &mut graph)?;
            run.logits(&mut graph, x)?;
            see(layers + 1, &graph);
        }
        Ok(forward.streams)
    }

    fn judge(
        &self,
        item: &Item<'_>,
        graph: &Graph,
        architecture: &Architecture,
        value_biases: bool,
    ) -> Option<Judged> {
        let judging = Judging {
            dumped: item.dumped,
            step: item.place.step,
            naming: item.naming,
            tolerance: self.precision.tolerance(item.place.layer),
            value_biases,
        };
        judging.judge(&wanted(graph, &item.dumped.name, item.place, architecture))
    }

    /// Returns true if most of the tensors have the shapes of their steps.
    pub fn fits(&self, architecture: &Architecture) -> Result<bool> {
        let verdict = self.trace(architecture)?;
        let fitting = verdict.judged.iter().flatten().count();
        Ok(fitting > 0 && 2 * fitting >= self.items.len())
    }

    pub fn agrees(&self, at: usize, judged: &Judged) -> bool {
        judged.relative <= self.precision.tolerance(self.items[at].place.layer)
    }

    fn agrees_in(&self, verdict: &Verdict, at: usize) -> bool {
        verdict.judged[at].as_ref().is_some_and(|judged| self.agrees(at, judged))
    }

    /// The layer of a tensor, and the place of its node in the order of computing.
    fn place(&self, verdict: &Verdict, at: usize) -> Option<(usize, usize)> {
        verdict.judged[at].as_ref().map(|judged| (self.items[at].place.layer, judged.position))
    }

    /// The number of tensors that agree.
    pub fn agreeing(&self, verdict: &Verdict) -> usize {
        (0..self.items.len()).filter(|at| self.agrees_in(verdict, *at)).count()
    }

    /// The tensors that differ, in the order of computing.
    pub fn wrong(&self, verdict: &Verdict, rounded: &[usize]) -> Vec<usize> {
        let differs = |at: &usize| {
            verdict.judged[*at].is_some() && !self.agrees_in(verdict, *at) && !rounded.contains(at)
        };
        let mut wrong: Vec<usize> = (0..self.items.len()).filter(differs).collect();
        wrong.sort_by_key(|at| self.place(verdict, *at));
        wrong
    }

    /// The first tensor that differs.
    pub fn first_wrong(&self, verdict: &Verdict, rounded: &[usize]) -> Option<usize> {
        self.wrong(verdict, rounded).first().copied()
    }

    /// The layer from whose input a mistake is looked for: that of the last tensor that agrees before the tensor `at`.
    pub fn start(&self, verdict: &Verdict, at: usize) -> usize {
        let end = self.place(verdict, at);
        let agreeing = (0..self.items.len()).filter(|other| self.agrees_in(verdict, *other));
        let before =
            agreeing.filter_map(|other| self.place(verdict, other)).filter(|place| Some(*place) < end);
        let last = before.map(|(layer, _)| layer).max().unwrap_or(1);
        last.clamp(1, verdict.streams.len().saturating_sub(1).max(1))
    }

    /// Returns true if a tensor that agreed before the tensor `at` agrees no longer.
    pub fn breaks_earlier(&self, before: &Verdict, after: &Verdict, at: usize) -> bool {
        let end = self.place(before, at);
        let mut earlier = (0..self.items.len()).filter(|other| self.place(before, *other) < end);
        earlier.any(|other| self.agrees_in(before, other) && !self.agrees_in(after, other))
    }

    /// Where and how a tensor differs.
    pub fn difference(&self, at: usize, judged: &Judged) -> Difference {
        let item = &self.items[at];
        let (head, row, col) = judged.at;
        let of_head = judged.node.strip_suffix("_1").filter(|_| judged.heads > 1);
        let words = if item.place.step.is_node() { &item.dumped.name } else { item.place.step.words };
        Difference {
            name: item.dumped.name.clone(),
            node: of_head.map_or_else(|| judged.node.clone(), |stem| format!("{stem}_{}", head + 1)),
            step: words.to_string(),
            layer: item.place.layer,
            head: (judged.heads > 1).then_some(head + 1),
            at: (row + 1, col + 1),
            yours: judged.yours,
            right: judged.right,
            largest: judged.largest,
            relative: judged.relative,
        }
    }

    /// Returns true if values lack their biases, and what attention adds is wrong, too: then the biases are forgotten, and not folded.
    fn lacks_value_biases_by_mistake(&self, verdict: &Verdict) -> bool {
        let lacking =
            self.items.iter().zip(&verdict.judged).filter(|(_, judged)| {
                judged.as_ref().is_some_and(|judged| judged.notes.contains(&VALUE_BIASES))
            });
        let layers: Vec<usize> = lacking.map(|(item, _)| item.place.layer).collect();
        let first = self.items.iter().enumerate().find(|(_, Item { place, .. })| {
            place.step.result && layers.iter().any(|layer| place.layer >= *layer)
        });
        first.is_some_and(|(at, _)| verdict.judged[at].is_some() && !self.agrees_in(verdict, at))
    }
}
