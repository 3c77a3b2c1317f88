//! The exercise, and its right answer.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::attention::{Axis, MatrixRule};
use crate::elementary;
use crate::error::Result;
use crate::graph::detours::Detour;
use crate::graph::recipes::{
    Alter, Alteration, AttendInputs, Change, PositionKind, Recipe, attend, attend_as_far_as_possible, tree,
};
use crate::graph::{BackwardPass, Given, Graph, Node, Op, Role, Stage, Start, Step};
use crate::json_number;
use crate::matrix::{Matrix, Shape};

use super::catalogue::{Mistake, Way};

/// An exercise: a recipe, its inputs, and the graph of the right answer.
#[derive(Clone, Debug)]
pub struct Task {
    recipe: Recipe,
    inputs: AttendInputs,
    right: Graph,
    facts: Facts,
    backward: Option<BackwardPass>,
    results: Vec<String>,
    /// Mistakes of somebody's own, and the ways to make them here.
    own: Arc<[Arc<Mistake>]>,
    own_ways: Arc<[Way]>,
    names: OnceLock<Map<String, Value>>,
    /// The serde form of the recipe.
    tree: OnceLock<Value>,
}

/// The properties of an exercise that decide which mistakes can be made in it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Facts {
    /// The shape of X, where there is one.
    pub x: Option<Shape>,
    /// The shape of Q with all its heads.
    pub q: Shape,
    /// The number of keys.
    pub keys: usize,
    /// The shape of V with all its heads.
    pub v: Shape,
    /// The shape of the result.
    pub result: Shape,
    /// The width of a key.
    pub d_k: usize,
    /// The width of a value.
    pub d_v: usize,
    /// Whether a bias is added to the scores.
    pub has_bias: bool,
    /// Whether the result is projected.
    pub projects: bool,
    /// The number of T5's buckets; 0 without them.
    pub buckets: usize,
    /// Whether LongRoPE has divisors for short texts and for long ones.
    pub has_two_divisors: bool,
    /// Whether heads have sinks.
    pub has_sink: bool,
    /// Whether there are sinks, all of them finite.
    pub has_finite_sinks: bool,
    /// Whether the heads are gated.
    pub has_gate: bool,
    /// Whether Q, K and V all come from X.
    pub from_tokens: bool,
    /// For Q, K and V: whether they come from X and given square weights.
    pub square: [bool; 3],
    /// Whether a mask matrix hides the same keys from every query of every head.
    pub hides_keys: bool,
    /// Whether Q, K and V all come from X and given square weights.
    pub square_weights: bool,
    /// Whether W_O is square.
    pub square_output: bool,
    /// Whether the mask only hides, so that it can be written as ones and zeros.
    pub mask_only_hides: bool,
    /// The number of fully masked rows.
    pub empty_rows: usize,
    /// The max of all scores that a softmax reads.
    #[serde(with = "json_number")]
    pub max_score: f64,
    /// A number at most this, written into the hidden scores, hides them as well as −∞ does in every row that sees something.
    #[serde(with = "json_number")]
    pub hides_written: f64,
    /// The same for a number that is added to them.
    #[serde(with = "json_number")]
    pub hides_added: f64,
    /// The shape of the loss from which a backward pass goes back, where there is one: 1×1 if it is a single cell.
    pub loss: Option<Shape>,
    /// Whether Q, K and V are computed with given weights.
    pub projects_roles: bool,
}

impl Task {
    /// The exercise, solved.
    ///
    /// # Errors
    /// As [`attend`].
    pub fn new(mut recipe: Recipe, inputs: AttendInputs) -> Result<Task> {
        // A mistake in the mask does not change the buckets of distances.
        if matches!(recipe.positions.kind, PositionKind::Buckets { .. }) {
            recipe.positions.later_buckets.get_or_insert(!recipe.mask.causal);
        }
        let right = attend(&recipe, inputs.clone())?;
        let facts = Facts::of(&recipe, &inputs, &right)?;
        Ok(Task {
            recipe,
            inputs,
            right,
            facts,
            backward: None,
            results: vec![Stage::Output.name().to_string()],
            own: Arc::default(),
            own_ways: Arc::default(),
            names: OnceLock::new(),
            tree: OnceLock::new(),
        })
    }

    /// The same exercise with a backward pass after the forward one.
    ///
    /// # Errors
    /// As [`Graph::gradients`].
    pub fn with_backward(mut self, backward: BackwardPass) -> Result<Task> {
        let gradients = backward.add_with(&mut self.right, &[])?;
        self.facts.loss = Some(match &backward {
            BackwardPass::From(_, start) if matches!(**start, Start::Cell(..)) => Shape { rows: 1, cols: 1 },
            _ => self.right[gradients.loss].shape(),
        });
        let of_given = gradients.all.iter().filter(|gradient| self.right[gradient.of].op.is_given());
        self.results.extend(of_given.map(|gradient| self.right[gradient.id].name.clone()));
        Ok(Task { backward: Some(backward), names: OnceLock::new(), ..self })
    }

    /// The same exercise with mistakes of somebody's own, and the ways to make them in it.
    pub(super) fn with_ways(self, own: &[Arc<Mistake>], ways: Vec<Way>) -> Task {
        Task { own: own.into(), own_ways: ways.into(), ..self }
    }

    /// The mistakes of somebody's own.
    pub(super) fn own(&self) -> &[Arc<Mistake>] {
        &self.own
    }

    /// The ways to make the mistakes of somebody's own.
    pub fn own_ways(&self) -> &[Way] {
        &self.own_ways
    }

    /// The graph of the right answer.
    pub fn right(&self) -> &Graph {
        &self.right
    }

    /// The recipe of the right answer.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The inputs.
    pub fn inputs(&self) -> &AttendInputs {
        &self.inputs
    }

    /// The properties that decide which mistakes can be made.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What a name in the data of mistakes stands for: a property of the exercise, a setting of its recipe, or T, N, H, G, d_model.
    /// `rotary.base` leads into an object, and is nothing where that is something else. An object of one field is a choice with its
    /// parameters; one of several fields always has the same.
    pub(super) fn named(&self, name: &str) -> Option<Value> {
        let mut parts = name.split('.');
        let first = self.names().get(parts.next()?)?;
        parts.try_fold(first.clone(), |value, part| {
            let Some(fields) = value.as_object() else { return Some(Value::Null) };
            let field = fields.get(part).or_else(|| fields.get(&part.replace('_', "-")));
            field.cloned().or((fields.len() < 2).then_some(Value::Null))
        })
    }

    pub(super) fn names(&self) -> &Map<String, Value> {
        self.names.get_or_init(|| {
            let Task { recipe, facts, .. } = self;
            let [a, b] = [tree(recipe), serde_json::to_value(facts).unwrap_or_default()];
            let mut names: Map<String, Value> = Map::new();
            names.extend([a, b].into_iter().filter_map(|tree| tree.as_object().cloned()).flatten());
            let rotary = match &recipe.positions.kind {
                PositionKind::Rotary(rotary) => Some(rotary),
                _ => None,
            };
            let magnitude =
                rotary.and_then(|rotary| rotary.scaling).map_or(1.0, |scaling| scaling.magnitude());
            let has = |role| self.inputs.get(role).is_some();
            let biases = json!({
                "q": has(Role::BQ), "k": has(Role::BK), "v": has(Role::BV), "o": has(Role::BO),
            });
            let others = json!({
                "T": facts.q.rows,
                "N": facts.keys,
                "H": recipe.heads,
                "G": recipe.kv_heads,
                "d_model": facts.x.map_or(facts.q.cols, |x| x.cols),
                "has_mask": recipe.mask.is_some(),
                "factor": recipe.scale.factor(facts.d_k).map(|factor| json_number::value(factor.value())),
                "biases": biases,
                "square": { "q": facts.square[0], "k": facts.square[1], "v": facts.square[2] },
                "rotary": rotary,
                "magnitude": magnitude,
            });
            names.extend(others.as_object().cloned().into_iter().flatten());
            names
        })
    }

    /// The names of the last steps: the result, and, where there is a backward pass, the gradients of the given matrices.
    pub fn results(&self) -> &[String] {
        &self.results
    }

    /// The same exercise with some nodes taken as given instead of being computed, as far as it goes.
    pub fn given_instead(&self, instead: BTreeMap<String, Given>) -> Task {
        let inputs = AttendInputs { instead, ..self.inputs.clone() };
        let right = self.computed(&self.recipe, inputs.clone(), &[]);
        Task { inputs, right, ..self.clone() }
    }

    /// The computation with other numbers in some steps, given or computed, and these changes of what follows the projections, as far
    /// as it goes.
    pub(super) fn replaced(&self, nodes: &[(String, Matrix)], changes: &[&Change]) -> Graph {
        let mut recipe = self.recipe;
        let tree = || self.tree.get_or_init(|| tree(&self.recipe)).clone();
        Change::put_into(tree, changes.iter().copied(), &mut recipe);
        let mut inputs = self.inputs.clone();
        if recipe.mask.matrix.is_none() {
            inputs.mask = None;
        }
        // What is projected as it should be is not computed again.
        if !nodes.iter().any(|(name, _)| name == Stage::Positioned.name()) {
            let roles = [Role::Q, Role::K, Role::V].into_iter().filter(|role| inputs.get(*role).is_none());
            let projected = roles
                .filter_map(|role| Some((role.name(), self.right[self.right.find(role.name())?].matrix()?)));
            inputs.instead.extend(
                projected.map(|(name, matrix)| (name.to_string(), matrix.clone().into())).collect::<Vec<_>>(),
            );
        }
        for (name, matrix) in nodes {
            match Role::all().find(|role| role.name() == name && inputs.get(*role).is_some()) {
                Some(role) => inputs.set(role, matrix.clone()),
                None => drop(inputs.instead.insert(name.clone(), matrix.clone().into())),
            }
        }
        self.computed(&recipe, inputs, &[])
    }

    /// The computation of a recipe and its gradients, as far as it goes.
    fn computed(&self, recipe: &Recipe, inputs: AttendInputs, detours: &[Detour]) -> Graph {
        let is_replaced = !inputs.instead.is_empty();
        let (graph, error) = attend_as_far_as_possible(recipe, inputs);
        let Some(backward) = self.backward.as_ref().filter(|_| error.is_none()) else { return graph };
        let mut graph = if is_replaced { graph.computed_as(&self.right) } else { graph };
        // Where a step cannot be gone back through, the gradients before it are there.
        match backward.add_with(&mut graph, detours) {
            Ok(_) | Err(_) => graph,
        }
    }

    /// The computation with these changes and a row of numbers for [`Alter::Biased`], as far as it goes.
    pub fn with_shift<'a>(&self, changes: impl IntoIterator<Item = &'a Change>, row: Matrix) -> Graph {
        let inputs = AttendInputs { shift: Some(row.into()), ..self.inputs.clone() };
        Task { inputs, ..self.clone() }.with(changes)
    }

    /// The computation with these changes, as far as it goes.
    pub fn with<'a>(&self, changes: impl IntoIterator<Item = &'a Change>) -> Graph {
        self.changed(&changes.into_iter().collect::<Vec<_>>()).1
    }

    /// The recipe with these changes, and the computation as far as it goes.
    pub(super) fn changed(&self, changes: &[&Change]) -> (Recipe, Graph) {
        let mut recipe = self.recipe;
        let tree = || self.tree.get_or_init(|| tree(&self.recipe)).clone();
        Change::put_into(tree, changes.iter().copied(), &mut recipe);
        let mut inputs = self.inputs.clone();
        let mut detours = Vec::new();
        for change in changes {
            if let Change::Gradient(detour) = change {
                detours.push(*detour);
            }
            if let Change::MaskPattern(pattern) = change {
                let matrix = self.inputs.mask.as_ref().and_then(|mask| mask.tensor.matrix().ok());
                let size = (self.facts.q.rows, self.facts.keys);
                inputs.mask = Some(pattern.pattern(&self.recipe.mask, matrix, size).into());
            }
        }
        let zeroes = |alteration: Alteration| matches!(alteration.alter, Alter::PaddingZeroed(_));
        if recipe.mask.matrix.is_none() && !recipe.alteration.is_some_and(zeroes) {
            inputs.mask = None;
        }
        (recipe, self.computed(&recipe, inputs, &detours))
    }

    /// The approximate number of multiplications of one run.
    pub fn work(&self) -> usize {
        let node = |(_, node): (_, &Node)| {
            let shape = node.shape();
            let inner = match (&node.op, node.inputs.first()) {
                (Op::Product | Op::ProductTransposed | Op::Cosine, Some(&a)) => self.right[a].shape().cols,
                (Op::TransposedProduct, Some(&a)) => self.right[a].shape().rows,
                // A power of e takes as long as some products.
                (Op::Softmax(..) | Op::SoftmaxWithSink { .. } | Op::SoftCap(_) | Op::Rotary(_), _) => 16,
                _ => 1,
            };
            shape.rows * shape.cols * inner
        };
        self.right.nodes().map(node).sum()
    }
}

impl Facts {
    fn of(recipe: &Recipe, inputs: &AttendInputs, right: &Graph) -> Result<Facts> {
        let shape = |name| right.require(name).map(|id| right[id].shape());
        let is_square =
            |given: &Option<Given>| given.as_ref().is_some_and(|w| w.shape().rows == w.shape().cols);
        let mask = inputs.mask.as_ref().map(|mask| mask.tensor.matrix()).transpose()?;
        let rows = |given: &Option<Given>| given.as_ref().map_or(0, |given| given.shape().rows);
        let taken = [&inputs.q, &inputs.k, &inputs.v];
        let weights = [&inputs.w_q, &inputs.w_k, &inputs.w_v];
        let (hides_written, hides_added) = hiding_numbers(right);
        let keys = shape("K")?.rows;
        Ok(Facts {
            x: inputs.x.as_ref().map(Given::shape),
            q: shape("Q")?,
            v: shape("V")?,
            result: shape("O")?,
            d_k: shape("K")?.cols / recipe.kv_heads,
            d_v: shape("V")?.cols / recipe.kv_heads,
            from_tokens: taken.into_iter().all(Option::is_none),
            square: [0, 1, 2].map(|role| taken[role].is_none() && is_square(weights[role])),
            hides_keys: mask.is_some_and(|mask| mask.cols() == keys && same_rows(mask)),
            keys,
            has_bias: inputs.bias.is_some(),
            projects: inputs.w_o.is_some(),
            buckets: rows(&inputs.position_table),
            has_two_divisors: rows(&inputs.divisors) == 2,
            has_sink: inputs.sink.is_some(),
            has_finite_sinks: inputs.sink.as_ref().is_some_and(is_finite),
            has_gate: inputs.w_g.is_some(),
            square_weights: taken.into_iter().all(Option::is_none) && weights.into_iter().all(is_square),
            square_output: is_square(&inputs.w_o),
            mask_only_hides: mask.is_none_or(|mask| only_hides(mask, right)),
            empty_rows: empty_rows(right),
            max_score: max_score(right),
            hides_written,
            hides_added,
            loss: None,
            projects_roles: taken.into_iter().all(Option::is_none)
                && weights.into_iter().all(Option::is_some),
        })
    }
}

/// Whether an added mask has no numbers but 0 and −∞; the other kinds hide and do nothing else.
fn only_hides(mask: &Matrix, right: &Graph) -> bool {
    let added = right
        .nodes()
        .any(|(_, node)| matches!(&node.op, Op::Mask(rule) if rule.matrix == Some(MatrixRule::Add)));
    !added || mask.cells().all(|x| x == 0.0 || x == f64::NEG_INFINITY)
}

/// Whether every number is finite.
fn is_finite(given: &Given) -> bool {
    given.tensor.matrix().is_ok_and(|matrix| matrix.cells().all(f64::is_finite))
}

/// Whether every row of a mask is the same, and it hides something.
fn same_rows(mask: &Matrix) -> bool {
    let first = || mask.row(0);
    mask.rows() > 0
        && (1..mask.rows()).all(|i| mask.row(i).eq(first()))
        && first().any(|x| Some(x) != first().next())
}

/// The max of all numbers that a softmax of the graph reads.
fn max_score(graph: &Graph) -> f64 {
    let softmaxes = graph.nodes().filter(|(_, node)| matches!(node.op, Op::Softmax(..)));
    let read = softmaxes.filter_map(|(_, node)| graph[*node.inputs.first()?].matrix());
    read.flat_map(Matrix::cells).fold(f64::NEG_INFINITY, f64::max)
}

/// The numbers that leave hidden keys less than 2⁻⁵² of the weight of a visible one: written into their scores, and added to them.
/// Only rows count that see something and hide something. Where others see nothing, which shows any such number, a millionth part is
/// nothing.
fn hiding_numbers(graph: &Graph) -> (f64, f64) {
    let log_nothing = if empty_rows(graph) > 0 { elementary::ln(1e-6) } else { elementary::ln(f64::EPSILON) };
    let max = |cells: &mut dyn Iterator<Item = f64>| cells.fold(f64::NEG_INFINITY, f64::max);
    let (mut written, mut added) = (f64::INFINITY, f64::INFINITY);
    for (_, node) in graph.nodes().filter(|(_, node)| matches!(node.op, Op::Mask(_))) {
        let open = node.inputs.first().and_then(|&id| graph[id].matrix());
        let (Some(open), Some(masked)) = (open, node.matrix()) else { continue };
        for i in 0..masked.rows() {
            let hidden = |j: &usize| masked[(i, *j)] == f64::NEG_INFINITY;
            let seen = max(&mut masked.row(i));
            let unseen = max(&mut (0..masked.cols()).filter(hidden).map(|j| open[(i, j)]));
            if seen > f64::NEG_INFINITY && unseen > f64::NEG_INFINITY {
                written = written.min(seen + log_nothing);
                added = added.min(seen - unseen + log_nothing);
            }
        }
    }
    (written, added)
}

/// The number of fully masked rows (or columns, along the axis of a softmax of the graph).
pub(super) fn empty_rows(graph: &Graph) -> usize {
    let hidden = |x: f64| x == f64::NEG_INFINITY;
    let of_node = |node: &Node| {
        let read = node.inputs.first().and_then(|&id| graph[id].matrix());
        match (&node.op, read) {
            (Op::Softmax(Axis::Rows, _), Some(read)) => {
                (0..read.rows()).filter(|&i| read.row(i).all(hidden)).count()
            }
            (Op::Softmax(Axis::Columns, _), Some(read)) => {
                (0..read.cols()).filter(|&j| read.col(j).all(hidden)).count()
            }
            (Op::Softmax(Axis::Whole, _), Some(read)) => usize::from(read.cells().all(hidden)),
            _ => 0,
        }
    };
    graph.nodes().map(|(_, node)| of_node(node)).sum()
}

/// The matrix of a node, or of the step before it where the computation leaves the node out.
pub(super) fn standing_for<'a>(graph: &'a Graph, node: &str) -> Option<&'a Matrix> {
    let own = || graph.find(node);
    let Some(Step { stage, head, .. }) = Step::parse(node) else { return graph[own()?].matrix() };
    let earlier = |stage: Stage| {
        let mut steps: Vec<Stage> = Stage::all().filter(|step| step.is_scores() && *step < stage).collect();
        steps.reverse();
        steps.into_iter().find_map(|step| graph.find(&step.of_head(head).to_string()))
    };
    let found = match stage {
        // Weights that are rounded before they mix are what a student takes for the weights.
        Stage::Weights => graph.find(&rounded_weights(head)).or_else(own),
        Stage::Joined | Stage::Projected => own().or_else(|| graph.find(Stage::Output.name())),
        stage if stage.is_scores() => own().or_else(|| earlier(stage)),
        _ => before_mechanism(stage)
            .iter()
            .fold(own(), |found, earlier| found.or_else(|| graph.find(&earlier.of_head(head).to_string()))),
    };
    graph[found?].matrix()
}

/// The steps that stand for a step of positions, norms or gates where the computation leaves it out, the next before it first.
fn before_mechanism(stage: Stage) -> &'static [Stage] {
    match stage {
        Stage::Positioned => &[Stage::Role(Role::X)],
        Stage::QueriesNormed => &[Stage::Role(Role::Q)],
        Stage::KeysNormed => &[Stage::Role(Role::K)],
        Stage::QueriesRotated => &[Stage::QueriesNormed, Stage::Role(Role::Q)],
        Stage::KeysRotated => &[Stage::KeysNormed, Stage::Role(Role::K)],
        Stage::FrequenciesScaled => &[Stage::Frequencies],
        Stage::Gate => &[Stage::GateInput],
        Stage::Gated => &[Stage::Joined, Stage::Output],
        _ => &[],
    }
}

/// The name of weights that are rounded before they mix.
fn rounded_weights(head: Option<usize>) -> String {
    head.map_or_else(|| "A_rounded".to_string(), |head| format!("A_rounded_{head}"))
}
