//! A computation with mistakes in it, and the matrices that a student takes for each node.

use std::borrow::Cow;
use std::sync::Arc;

use crate::graph::recipes::{Change, Hiding, Qkv, QkvSource, Recipe, ScoreRows};
use crate::graph::{Graph, Role, Stage, Step};
use crate::matrix::Matrix;

use super::Task;
use super::catalogue::{Likelihood, Mistake};
use super::task::empty_rows;

/// The exercise with one mistake in it, or two, before it is computed.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    /// The mistakes.
    pub slips: Vec<Slip>,
    /// Their changes to the recipe.
    changes: Vec<Change>,
    places: NodePlaces,
}

/// The nodes of a computation that a student takes for those of the exercise.
#[derive(Clone, Debug, Default)]
pub(super) struct NodePlaces {
    /// Whether its matrices are handed in transposed.
    transposed: bool,
    /// Pairs of a step and the step that is taken for it: keys for values.
    standing_in: Vec<(Stage, Stage)>,
}

/// The exercise with mistakes in it, computed as far as it goes.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub variant: Variant,
    pub graph: Arc<Graph>,
}

impl Variant {
    /// The exercise of this recipe with these mistakes, which change this.
    pub(super) fn new(recipe: &Recipe, slips: Vec<Slip>, changes: Vec<Change>) -> Variant {
        let places = NodePlaces::of(recipe, &changes);
        Variant { slips, changes, places }
    }

    /// A mistake that was found by solving for a number, not by trying.
    pub(super) fn fitted(slip: Slip) -> Variant {
        Variant { slips: vec![slip], changes: Vec::new(), places: NodePlaces::default() }
    }

    /// Their changes to the recipe.
    pub(super) fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns true if its changes include all changes of another variant, and at least one more; the same thing done to the values
    /// alone is part of what is done to queries, keys and values.
    pub(super) fn goes_beyond(&self, other: &Variant) -> bool {
        if let ([Change::Alteration(own)], [Change::Alteration(part)]) =
            (&self.changes[..], &other.changes[..])
        {
            return own.alter == part.alter && own.stage.includes(part.stage);
        }
        let less = !other.changes.is_empty() && other.changes.len() < self.changes.len();
        less && other.changes.iter().all(|change| self.changes.contains(change))
    }

    /// The sort key of explanations that fit equally well: fewer mistakes first, then those in the backward pass, which fit
    /// gradients alone, then those without a rare mistake, then those with fewer details.
    pub(super) fn order(&self) -> (usize, bool, bool, usize, Likelihood) {
        let rarest = self.slips.iter().map(|slip| slip.mistake.likelihood).max();
        let rarest = rarest.unwrap_or(Likelihood::Rare);
        let details = self.slips.iter().filter(|slip| slip.detail.is_some()).count();
        (self.slips.len(), !self.is_backward(), rarest == Likelihood::Rare, details, rarest)
    }

    /// Whether it has a mistake in the backward pass.
    pub(super) fn is_backward(&self) -> bool {
        self.changes.iter().any(Change::is_backward)
    }

    /// Whether every class makes each of its mistakes.
    pub(super) fn is_classic(&self) -> bool {
        self.slips.iter().all(|slip| slip.mistake.likelihood == Likelihood::Classic)
    }

    /// The names of the mistakes, in their order.
    pub(super) fn ids(&self) -> Vec<&'static str> {
        self.slips.iter().map(|slip| slip.mistake.id).collect()
    }
}

impl NodePlaces {
    /// With these changes to a recipe.
    pub(super) fn of(recipe: &Recipe, changes: &[Change]) -> NodePlaces {
        let transposed = changes.contains(&Change::Transposed);
        NodePlaces { transposed, standing_in: standing_in(recipe, changes) }
    }

    /// The numbers of a graph that take a node's place.
    pub(super) fn matrix<'g>(&self, graph: &'g Graph, node: &str) -> Option<Cow<'g, Matrix>> {
        let matrix = self.upright(graph, node)?;
        Some(if self.transposed { Cow::Owned(matrix.transposed()) } else { Cow::Borrowed(matrix) })
    }

    /// The same with rows as rows.
    fn upright<'g>(&self, graph: &'g Graph, node: &str) -> Option<&'g Matrix> {
        if self.standing_in.is_empty() {
            return standing_for(graph, node);
        }
        let step = Step::parse(node);
        let other = self.standing_in.iter().find(|(taken, _)| step.is_some_and(|step| step.stage == *taken));
        match (other, step) {
            (Some((_, other)), Some(step)) => standing_for(graph, &other.of_head(step.head).to_string()),
            _ => standing_for(graph, node),
        }
    }
}

impl Candidate {
    /// The numbers that take a node's place.
    pub(super) fn matrix(&self, node: &str) -> Option<Cow<'_, Matrix>> {
        self.variant.places.matrix(&self.graph, node)
    }

    /// The same with rows as rows.
    pub(super) fn upright(&self, node: &str) -> Option<&Matrix> {
        self.variant.places.upright(&self.graph, node)
    }

    /// A node as it was before something was done to it that attention does not do, or after it.
    pub(super) fn beside(&self, node: &str) -> Option<&Matrix> {
        let other = |suffix: &str| self.graph[self.graph.find(&format!("{node}{suffix}"))?].matrix();
        other("_before").or_else(|| other("_altered"))
    }
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

/// Pairs of steps, for these changes: the first step reads the numbers of the second instead of its own.
fn standing_in(recipe: &Recipe, changes: &[Change]) -> Vec<(Stage, Stage)> {
    let mut recipe = *recipe;
    let decides = |change: &&Change| change.is_of("roles") || change.is_of("comparison");
    Change::put_all(changes.iter().filter(decides), &mut recipe);
    let stage = |role: Qkv| Stage::Role(role.into());
    let mut pairs = Vec::new();
    for role in [Qkv::Query, Qkv::Key, Qkv::Value] {
        match recipe.roles.of(role) {
            QkvSource::Of(other) => pairs.push((stage(role), stage(other))),
            QkvSource::Tokens => pairs.push((stage(role), Stage::Role(Role::X))),
            QkvSource::Own | QkvSource::Transposed | QkvSource::From(_) => {}
        }
    }
    if pairs.is_empty() && recipe.comparison == ScoreRows::KeysWithQueries {
        let [q, k] = [Qkv::Query, Qkv::Key].map(stage);
        pairs = vec![(q, k), (k, q)];
    }
    pairs
}

// Every way to make a mistake in an exercise, and the computation with it.

/// The plan of a computation: its mistakes, and a further change that goes with them.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub ways: [Option<usize>; 2],
    pub further: Option<Change>,
}

impl Plan {
    pub(super) fn of(ways: [Option<usize>; 2]) -> Plan {
        Plan { ways, further: None }
    }
}

/// A way to make a mistake.
pub(super) struct MistakeWay {
    pub slip: Slip,
    pub changes: Vec<Change>,
    /// Whether every class makes it.
    pub classic: bool,
}

/// Every way to make a mistake in an exercise.
pub(super) struct Ways {
    pub all: Vec<MistakeWay>,
    /// Whether their results are kept for the next submission.
    pub kept: bool,
}

impl Variant {
    /// Computes the variant.
    pub(super) fn computed(self, task: &Task) -> Candidate {
        let graph = Arc::new(task.with(self.changes()));
        Candidate { variant: self, graph }
    }
}

impl Ways {
    /// All changes of a plan.
    pub(super) fn changes(&self, plan: &Plan) -> Vec<Change> {
        let ways = plan.ways.iter().flatten().flat_map(|&way| &self.all[way].changes);
        ways.chain(&plan.further).cloned().collect()
    }

    /// The computation of a plan.
    pub(super) fn computed(&self, task: &Task, plan: &Plan) -> Graph {
        task.with(&self.changes(plan))
    }

    /// The computation of a plan. If its mistakes make further rows fully masked, also the computations without a guard for such
    /// rows, and with −1e9 in place of −∞ or added to the scores.
    pub(super) fn made(&self, task: &Task, plan: &Plan) -> Vec<(Plan, Graph)> {
        let changes = self.changes(plan);
        let graph = task.with(&changes);
        let is_emptied = empty_rows(&graph) > task.facts().empty_rows;
        let mut all = vec![(plan.clone(), graph)];
        if is_emptied {
            // Without a guard such a row is NaN; where −1e9 stands for −∞, all its keys weigh the same; where it is added to every
            // score of the row, the softmax cancels it.
            let hidings =
                [Hiding::Replaced(-1e9), Hiding::Added(-1e9)].map(|hiding| Change::setting("hiding", hiding));
            for other in [Change::setting("guarded", false)].into_iter().chain(hidings) {
                if !changes.iter().any(|change| change.same_field(&other)) {
                    let with_other = Plan { further: Some(other), ..plan.clone() };
                    let graph = self.computed(task, &with_other);
                    all.push((with_other, graph));
                }
            }
        }
        all
    }

    /// The nodes of a plan's computation that a student takes for those of the exercise.
    pub(super) fn places(&self, task: &Task, plan: &Plan) -> NodePlaces {
        NodePlaces::of(task.recipe(), &self.changes(plan))
    }
}

// A mistake as it was made.

/// A mistake, and the way in which it was made where there are several.
#[derive(Clone, Debug)]
pub struct Slip {
    /// The mistake.
    pub mistake: &'static Mistake,
    /// The detail that distinguishes this way from others: “to 2 decimals”.
    pub detail: Option<String>,
    /// The sentence of this way, where it says more than the mistake's own.
    pub(super) slip: Option<String>,
    /// The fix of this way, where it says more than the mistake's own.
    pub(super) fix: Option<String>,
}

impl Slip {
    /// A mistake made in some way that only a detail tells.
    pub(super) fn detailed(mistake: &'static Mistake, detail: Option<String>) -> Slip {
        Slip { mistake, detail, slip: None, fix: None }
    }

    /// The mistake as one sentence: “The scores were rounded before the softmax (to 2 decimals).”
    pub fn sentence(&self) -> String {
        match (&self.slip, &self.detail) {
            (Some(slip), _) => slip.clone(),
            (None, Some(detail)) => format!("{} ({detail}).", self.mistake.slip.trim_end_matches('.')),
            (None, None) => self.mistake.slip.to_string(),
        }
    }

    /// The same with other sentences.
    pub(super) fn saying(self, slip: String, fix: Option<String>) -> Slip {
        Slip { slip: Some(slip), fix, ..self }
    }

    /// The fix, in one line.
    pub fn fix(&self) -> &str {
        self.fix.as_deref().unwrap_or(self.mistake.fix)
    }
}
