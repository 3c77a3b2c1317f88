//! A computation that can be made again with changes: of numbers, of settings, without some heads.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::attention::Mask;
use crate::error::{Error, Result};
use crate::graph::recipes::{AttendInputs, PositionKind, Recipe, Rotary, Scale, attend_in};
use crate::graph::{ChangedNumber, Factor, Given, Graph, Node, NodeId, Op, Origin, Stage, Step};
use crate::matrix::Matrix;
use crate::text::clip;

/// What is computed, and how it is computed again.
#[derive(Clone, Debug)]
pub enum Source {
    /// A pipeline of attention: a setting is a changed field of its recipe.
    Attend(Box<(Recipe, AttendInputs)>),
    /// The steps of a graph, each with its op: a demo, a layer of a model, a saved graph.
    Steps(Arc<Graph>),
    /// A graph that can be looked at alone, and why.
    ReadOnly(Arc<Graph>, String),
}

impl Source {
    /// A pipeline of attention.
    pub fn attend(recipe: Recipe, inputs: AttendInputs) -> Source {
        Source::Attend(Box::new((recipe, inputs)))
    }

    /// The steps of a graph.
    pub fn steps(graph: Graph) -> Source {
        Source::Steps(Arc::new(graph))
    }

    /// The reason why nothing can be changed, if there is one.
    pub fn read_only(&self) -> Option<&str> {
        match self {
            Source::ReadOnly(_, reason) => Some(reason),
            _ => None,
        }
    }

    /// The graph with these changes; what does not depend on them is taken from `before`.
    ///
    /// # Errors
    /// If the computation refuses them: a temperature of 0, rotary positions of an odd width.
    pub fn graph(&self, changes: &Changes, before: Option<&Arc<Graph>>) -> Result<Graph> {
        let graph = before.map_or_else(Graph::new, |before| Graph::new().after(Arc::clone(before)));
        self.graph_from(graph, changes, None)
    }

    /// The graph with these changes, made in a prepared one. `start` is the graph without changes, where it is known.
    ///
    /// # Errors
    /// Those of [`Source::graph`]; and if a [`Watch`](crate::graph::Watch) stops it.
    pub(super) fn graph_from(&self, graph: Graph, changes: &Changes, start: Option<&Graph>) -> Result<Graph> {
        let mut graph = graph.with_numbers(changes.numbers.clone());
        let made = match self {
            Source::ReadOnly(graph, _) => return Ok(Graph::clone(graph)),
            Source::Steps(steps) => {
                graph.take_instead(zeros_instead(steps, &changes.removed));
                steps.again(graph, |node| op_with(node, changes))?
            }
            Source::Attend(attend) => {
                let (recipe, mut inputs) = (**attend).clone();
                let recipe = recipe_with(recipe, changes);
                if !changes.removed.is_empty() {
                    // Another recipe may have other heads; no other change renames their outputs.
                    let zeros: BTreeMap<String, Given> = match start.filter(|_| changes.recipe.is_none()) {
                        Some(start) => zeros_instead(start, &changes.removed),
                        None => {
                            let recipe = changes.recipe.clone();
                            let start = self.graph(&Changes { recipe, ..Changes::default() }, None)?;
                            zeros_instead(&start, &changes.removed)
                        }
                    };
                    inputs.instead.extend(zeros);
                }
                attend_in(graph, &recipe, inputs)?
            }
        };
        Ok(made.completed())
    }

    /// The recipe with these changes; none where no recipe is followed.
    pub fn recipe(&self, changes: &Changes) -> Option<Recipe> {
        match self {
            Source::Attend(attend) => Some(recipe_with(attend.0, changes)),
            _ => None,
        }
    }

    /// Whether a setting can be adjusted.
    pub(super) fn has_knob(&self, knob: Knob, graph: &Graph) -> bool {
        match self {
            Source::Attend(_) => true,
            Source::Steps(_) => has(graph, knob),
            Source::ReadOnly(..) => false,
        }
    }
}

// The settings that are adjusted with two keys: temperature, scale, mask and positions.

/// A setting of attention that can be adjusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Knob {
    /// The divisor of the scores.
    Temperature,
    /// The factor of the scores.
    Scale,
    /// The keys that are visible to each query.
    Mask,
    /// The way in which positions enter.
    Positions,
}

impl Knob {
    /// All of them.
    pub const ALL: [Knob; 4] = [Knob::Temperature, Knob::Scale, Knob::Mask, Knob::Positions];
}

/// A value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// The divisor of the scores.
    Temperature(f64),
    /// The factor of the scores.
    Scale(Scale),
    /// The keys that are visible to each query.
    Mask(Mask),
    /// The way in which positions enter.
    Positions(PositionKind),
}

impl Setting {
    /// The setting that it is a value of.
    pub fn knob(self) -> Knob {
        match self {
            Setting::Temperature(_) => Knob::Temperature,
            Setting::Scale(_) => Knob::Scale,
            Setting::Mask(_) => Knob::Mask,
            Setting::Positions(_) => Knob::Positions,
        }
    }

    /// The value that a recipe has.
    pub(super) fn of(knob: Knob, recipe: &Recipe) -> Setting {
        match knob {
            Knob::Temperature => Setting::Temperature(recipe.temperature),
            Knob::Scale => Setting::Scale(recipe.scale),
            Knob::Mask => Setting::Mask(recipe.mask),
            Knob::Positions => Setting::Positions(recipe.positions.kind),
        }
    }

    /// The path of the setting in a recipe, as [`crate::graph::recipes::Change`] spells it.
    pub fn path(self) -> &'static str {
        match self {
            Setting::Temperature(_) => "temperature",
            Setting::Scale(_) => "scale",
            Setting::Mask(_) => "mask",
            Setting::Positions(_) => "positions.kind",
        }
    }

    /// Puts it into a recipe.
    pub fn put(self, recipe: &mut Recipe) {
        match self {
            Setting::Temperature(temperature) => recipe.temperature = temperature,
            Setting::Scale(scale) => recipe.scale = scale,
            Setting::Mask(mask) => recipe.mask = mask,
            Setting::Positions(kind) => recipe.positions.kind = kind,
        }
    }
}

/// The least temperature.
const LEAST_TEMPERATURE: f64 = 0.1;

/// A recipe with the settings that are changed.
pub(super) fn recipe_with(start: Recipe, changes: &Changes) -> Recipe {
    let mut recipe = changes.recipe.as_deref().copied().unwrap_or(start);
    changes.settings.values().for_each(|setting| setting.put(&mut recipe));
    recipe
}

/// The changes that make `recipe` of the one at the start: its settings by themselves, and a whole recipe for anything else.
pub(super) fn following(changes: Changes, start: Recipe, recipe: Recipe) -> Changes {
    let mut rest = recipe;
    let mut settings = BTreeMap::new();
    for knob in Knob::ALL {
        let (before, now) = (Setting::of(knob, &start), Setting::of(knob, &recipe));
        before.put(&mut rest);
        if now != before {
            settings.insert(knob, now);
        }
    }
    let recipe = (rest != start).then(|| Box::new(rest));
    Changes { recipe, numbers: changes.numbers, settings, removed: BTreeSet::new() }
}

/// The op of a step, with the settings that are changed.
pub(super) fn op_with(node: &Node, changes: &Changes) -> Op {
    let changed = |knob| changes.settings.get(&knob).copied();
    match &node.op {
        Op::Temperature(_) if let Some(Setting::Temperature(changed)) = changed(Knob::Temperature) => {
            Op::Temperature(changed)
        }
        Op::Scale(factor)
            if is_scaling(node)
                && let Some(Setting::Scale(scale)) = changed(Knob::Scale)
                && let Some(factor) = factor_of(scale, *factor) =>
        {
            Op::Scale(factor)
        }
        Op::Mask(mask) if let Some(Setting::Mask(changed)) = changed(Knob::Mask) => {
            Op::Mask(Mask { matrix: mask.matrix, ..changed })
        }
        other => other.clone(),
    }
}

/// Whether a step multiplies scores by the scale.
fn is_scaling(node: &Node) -> bool {
    matches!(node.step, Some(Step { stage: Stage::Scaled, .. }))
}

/// The factor of a changed scale, where a step had this factor.
fn factor_of(scale: Scale, before: Factor) -> Option<Factor> {
    match (scale, before) {
        (Scale::None, _) => Some(Factor::Number(1.0)),
        (scale, Factor::InverseRoot(width) | Factor::Inverse(width) | Factor::Root(width)) => {
            scale.factor(width)
        }
        (Scale::Number(number), Factor::Number(_)) => Some(Factor::Number(number)),
        _ => None,
    }
}

/// Whether the steps of a graph have a setting. Where a backward pass repeats it in steps of its own, it cannot be changed step by
/// step.
pub(super) fn has(graph: &Graph, knob: Knob) -> bool {
    let is_backward = |node: &Node| matches!(node.step, Some(Step { stage: Stage::Backward, .. }));
    !graph.nodes().any(|(_, node)| is_backward(node))
        && graph.nodes().any(|(_, node)| match knob {
            Knob::Temperature => matches!(node.op, Op::Temperature(_)),
            Knob::Scale => is_scaling(node) && matches!(node.op, Op::Scale(_)),
            Knob::Mask => matches!(node.op, Op::Mask(_)),
            Knob::Positions => false,
        })
}

/// What the settings are now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settings {
    /// A recipe with these settings.
    pub recipe: Recipe,
    /// The number of keys.
    pub keys: usize,
    /// The value of the scale's factor.
    pub factor: f64,
}

/// The next value of a setting in a direction (1 or −1), as a change; `None` at the end of its range.
pub(super) fn adjusted(changes: Changes, now: Settings, knob: Knob, by: isize) -> Option<Changes> {
    let next = match Setting::of(knob, &now.recipe) {
        Setting::Temperature(temperature) => Setting::Temperature(next_temperature(temperature, by)?),
        Setting::Scale(scale) => Setting::Scale(next_scale(scale, now.factor, by)?),
        other => next_of(&now.choices(knob), other, by)?,
    };
    Some(changes.with(next))
}

impl Settings {
    /// The values that a setting can be chosen from; none for one that is any number.
    pub(super) fn choices(self, knob: Knob) -> Vec<Setting> {
        match knob {
            Knob::Temperature | Knob::Scale => Vec::new(),
            Knob::Mask => masks(self.recipe.mask, self.keys).into_iter().map(Setting::Mask).collect(),
            Knob::Positions => {
                kinds(self.recipe.positions.kind).into_iter().map(Setting::Positions).collect()
            }
        }
    }
}

/// A tenth more or less; from 2 on half, from 5 on one.
fn next_temperature(now: f64, by: isize) -> Option<f64> {
    let size = match now {
        now if now > 5.0 || now == 5.0 && by > 0 => 1.0,
        now if now > 2.0 || now == 2.0 && by > 0 => 0.5,
        _ => 0.1,
    };
    let next = ((now + by as f64 * size) * 10.0).round() / 10.0;
    (LEAST_TEMPERATURE..=100.0).contains(&next).then_some(next)
}

/// A tenth more or less. Beside 1/√d, which is where it starts, the tenths are 0, 0.1, 0.2, …
fn next_scale(now: Scale, factor: f64, by: isize) -> Option<Scale> {
    let tenths = factor * 10.0;
    let next = match (now, by > 0) {
        (Scale::Number(_), true) | (Scale::None, true) => tenths.round() + 1.0,
        (Scale::Number(_), false) | (Scale::None, false) => tenths.round() - 1.0,
        (_, true) => (tenths + 1e-9).floor() + 1.0,
        (_, false) => (tenths - 1e-9).ceil() - 1.0,
    };
    (0.0..=100.0).contains(&next).then_some(Scale::Number(next / 10.0))
}

/// Every mask that can be chosen, beside the matrix that is given: none, causal, and causal windows, the widest first.
fn masks(now: Mask, keys: usize) -> Vec<Mask> {
    let none = Mask { causal: false, window: None, keep_first: 0, ..now };
    let causal = Mask { causal: true, ..none };
    let windows = (1..keys).rev().map(|window| Mask { window: Some(window), ..causal });
    [none, causal].into_iter().chain(windows).collect()
}

/// The kinds of positions that need no further matrix.
fn kinds(now: PositionKind) -> Vec<PositionKind> {
    let is_rotary = matches!(now, PositionKind::Rotary(_));
    let rotary = if is_rotary { now } else { PositionKind::Rotary(Rotary::default()) };
    vec![PositionKind::None, PositionKind::Sinusoidal, rotary, PositionKind::Alibi { heads: None }]
}

/// The value after this one, or before it; from one that is not listed, the first.
fn next_of<T: Copy + PartialEq>(all: &[T], now: T, by: isize) -> Option<T> {
    match all.iter().position(|one| *one == now) {
        Some(at) => at.checked_add_signed(by).and_then(|at| all.get(at)).copied(),
        None => all.first().copied(),
    }
}

// What is otherwise than at the start.

/// What has been changed. The computation without changes is the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The recipe in place of that at the start, where something is otherwise that is none of the settings below.
    pub recipe: Option<Box<Recipe>>,
    /// Given numbers, in the order of editing: one for each cell.
    pub numbers: Vec<ChangedNumber>,
    /// The settings, each by its knob.
    pub settings: BTreeMap<Knob, Setting>,
    /// The heads that are taken out.
    pub removed: BTreeSet<HeadPlace>,
}

impl Changes {
    /// Returns true if nothing is changed.
    pub fn is_nothing(&self) -> bool {
        *self == Changes::default()
    }

    /// A setting, changed.
    pub(super) fn with(mut self, setting: Setting) -> Changes {
        self.settings.insert(setting.knob(), setting);
        self
    }

    /// A given number, changed.
    pub(super) fn with_number(mut self, number: ChangedNumber) -> Changes {
        self.numbers
            .retain(|other| (&other.node, other.row, other.col) != (&number.node, number.row, number.col));
        self.numbers.push(number);
        self
    }
}

// The heads of a graph, and a graph without some of them.

/// A head, counted from 1; the only one is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeadPlace {
    /// The layer of a model, from 1; none outside a model.
    pub layer: Option<usize>,
    /// The head.
    pub head: usize,
}

impl HeadPlace {
    /// The head of a step. `None` for one that belongs to no head.
    fn of(step: Step) -> Option<HeadPlace> {
        let is_of_the_only_one =
            step.stage.is_scores() || matches!(step.stage, Stage::Weights | Stage::Mixed);
        let head = step.head.or(is_of_the_only_one.then_some(1))?;
        Some(HeadPlace { layer: step.layer, head })
    }

    /// The head that a text names by its weights: `A_2`, `A` for the only one, `L1.A_3` in a layer.
    ///
    /// # Errors
    /// If it names none.
    pub fn parse(text: &str) -> Result<HeadPlace> {
        let wrong = || {
            Error::new(format!("`{}` names no head", clip(text)))
                .help("write A_2 for the second head, A for the only one, L1.A_3 in layer 1")
        };
        let counted = |digits: &str| digits.parse().ok().filter(|count: &usize| *count > 0).ok_or_else(wrong);
        let (layer, weights) = match text.trim().strip_prefix('L').and_then(|rest| rest.split_once('.')) {
            Some((layer, weights)) => (Some(counted(layer)?), weights),
            None => (None, text.trim()),
        };
        let head = match weights.strip_prefix('A').ok_or_else(wrong)? {
            "" => 1,
            number => counted(number.strip_prefix('_').ok_or_else(wrong)?)?,
        };
        Ok(HeadPlace { layer, head })
    }
}

impl fmt::Display for HeadPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.layer {
            Some(layer) => write!(f, "L{layer}.A_{}", self.head),
            None => write!(f, "A_{}", self.head),
        }
    }
}

/// The head that a node belongs to; `None` for a node that belongs to no head.
pub(super) fn head_of(graph: &Graph, id: NodeId) -> Option<HeadPlace> {
    HeadPlace::of(graph[id].step?)
}

/// The outputs of the heads that are taken out, as zeros that are recorded instead of being computed, by their names.
pub(super) fn zeros_instead(graph: &Graph, removed: &BTreeSet<HeadPlace>) -> BTreeMap<String, Given> {
    let outputs = removed.iter().flat_map(|&head| outputs(graph, head));
    let zeros = |id: NodeId| {
        let node = &graph[id];
        let (rows, cols) = node.labels();
        let shape = node.shape();
        let zeros = Matrix::filled(shape.rows, shape.cols, 0.0).labelled_by(rows, cols);
        (node.name.clone(), Given::new(zeros, Origin::Removed))
    };
    outputs.map(zeros).collect()
}

/// The outputs of a head: the nodes that mix values by its weights.
pub(super) fn outputs(graph: &Graph, head: HeadPlace) -> Vec<NodeId> {
    let is_of_head = |step: Step| HeadPlace::of(step) == Some(head);
    let is_output = |id: NodeId| {
        let node = &graph[id];
        let is_marked = |step: Step| step.stage == Stage::Mixed && is_of_head(step);
        let weights = node.inputs.first().and_then(|&input| graph[input].step);
        let mixes = weights.is_some_and(|step| step.stage == Stage::Weights && is_of_head(step));
        node.step.is_some_and(is_marked) || mixes && node.op == Op::Product
    };
    // A model may have taken a head out already.
    let is_kept = |id: NodeId| graph[id].op != Op::Scale(Factor::Number(0.0));
    graph.nodes().map(|(id, _)| id).filter(|&id| is_output(id) && is_kept(id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temperature_goes_up_and_down_the_same_steps_and_never_to_zero() {
        let mut up = vec![0.1];
        while let Some(next) = next_temperature(*up.last().unwrap(), 1).filter(|next| *next <= 7.0) {
            up.push(next);
        }
        assert_eq!(up[..3], [0.1, 0.2, 0.3]);
        assert_eq!(up[up.len() - 4..], [4.5, 5.0, 6.0, 7.0]);
        for pair in up.windows(2) {
            assert_eq!(next_temperature(pair[1], -1), Some(pair[0]));
        }
        assert_eq!(next_temperature(0.1, -1), None);
    }

    #[test]
    fn a_scale_leaves_one_over_root_d_for_the_next_tenth() {
        let auto = 1.0 / 2.0_f64.sqrt();
        assert_eq!(next_scale(Scale::Auto, auto, 1), Some(Scale::Number(0.8)));
        assert_eq!(next_scale(Scale::Auto, auto, -1), Some(Scale::Number(0.7)));
        assert_eq!(next_scale(Scale::Auto, 0.5, 1), Some(Scale::Number(0.6)));
        assert_eq!(next_scale(Scale::Number(0.0), 0.0, -1), None);
    }

    #[test]
    fn masks_go_from_none_over_causal_to_the_own_token() {
        let all = masks(Mask::default(), 3);
        let said: Vec<(bool, Option<usize>)> = all.iter().map(|mask| (mask.causal, mask.window)).collect();
        assert_eq!(said, [(false, None), (true, None), (true, Some(2)), (true, Some(1))]);
        assert_eq!(next_of(&all, all[3], 1), None);
    }

    #[test]
    fn a_head_is_named_by_its_weights_and_read_back() {
        for place in [HeadPlace { layer: None, head: 2 }, HeadPlace { layer: Some(1), head: 3 }] {
            assert_eq!(HeadPlace::parse(&place.to_string()).unwrap(), place);
        }
        assert_eq!(HeadPlace::parse("A").unwrap(), HeadPlace { layer: None, head: 1 });
        for wrong in ["", "2", "A_0", "L.A_1", "A_x", "S_2", "L0.A_1"] {
            assert!(HeadPlace::parse(wrong).is_err(), "{wrong}");
        }
    }
}
