//! A computation with mistakes in it, and what it has in the place of each node.

use std::borrow::Cow;
use std::sync::Arc;

use crate::graph::Graph;
use crate::graph::build::{Comparison, Recipe, Role, Source};
use crate::matrix::Matrix;

use super::catalogue::Likelihood;
use super::{Change, Slip};

/// The exercise with one mistake in it, or two, before it is computed.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    /// What was done.
    pub slips: Vec<Slip>,
    /// What was changed.
    changes: Vec<Change>,
    places: Places,
}

/// Where a computation has what a student takes for a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// Whether its matrices are handed in with their rows as columns.
    transposed: bool,
    /// What is taken for what: keys for values.
    standing_in: Vec<(&'static str, &'static str)>,
}

/// The exercise with mistakes in it, computed as far as it goes.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub planned: Planned,
    pub graph: Arc<Graph>,
}

impl Planned {
    /// The exercise of this recipe with these mistakes, which change this.
    pub(super) fn new(recipe: &Recipe, slips: Vec<Slip>, changes: Vec<Change>) -> Planned {
        let places = Places::of(recipe, &changes);
        Planned { slips, changes, places }
    }

    /// A mistake that was found by solving for a number, not by trying.
    pub(super) fn fitted(slip: Slip) -> Planned {
        Planned { slips: vec![slip], changes: Vec::new(), places: Places::default() }
    }

    /// What was changed.
    pub(super) fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether it changes all that another one changes, and something more.
    pub(super) fn goes_beyond(&self, other: &Planned) -> bool {
        let less = !other.changes.is_empty() && other.changes.len() < self.changes.len();
        less && other.changes.iter().all(|change| self.changes.contains(change))
    }

    /// How likely the mistakes are, the likeliest first.
    pub(super) fn likelihood(&self) -> (usize, Likelihood) {
        let rarest = self.slips.iter().map(|slip| slip.mistake.likelihood).max();
        (self.slips.len(), rarest.unwrap_or(Likelihood::Rare))
    }

    /// The names of the mistakes, in their order.
    pub(super) fn ids(&self) -> Vec<&'static str> {
        self.slips.iter().map(|slip| slip.mistake.id).collect()
    }
}

impl Places {
    /// With these changes to a recipe.
    pub(super) fn of(recipe: &Recipe, changes: &[Change]) -> Places {
        let transposed = changes.contains(&Change::Transposed);
        Places { transposed, standing_in: standing_in(recipe, changes) }
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
        let (step, head) = step_and_head(node);
        match self.standing_in.iter().find(|(taken, _)| *taken == step) {
            Some((_, other)) => standing_for(graph, &format!("{other}{head}")),
            None => standing_for(graph, node),
        }
    }
}

impl Candidate {
    /// The numbers that take a node's place.
    pub(super) fn matrix(&self, node: &str) -> Option<Cow<'_, Matrix>> {
        self.planned.places.matrix(&self.graph, node)
    }

    /// The same with rows as rows.
    pub(super) fn upright(&self, node: &str) -> Option<&Matrix> {
        self.planned.places.upright(&self.graph, node)
    }

    /// A node as it was before something was done to it that attention does not do, or after it.
    pub(super) fn beside(&self, node: &str) -> Option<&Matrix> {
        let other = |suffix: &str| self.graph[self.graph.find(&format!("{node}{suffix}"))?].matrix();
        other("_before").or_else(|| other("_altered"))
    }
}

/// The matrix of a node, or of the step before it where the computation leaves the node out.
pub(super) fn standing_for<'a>(graph: &'a Graph, node: &str) -> Option<&'a Matrix> {
    const STEPS: [&str; 5] = ["S_masked", "S_tempered", "S_biased", "S_scaled", "S"];
    if node == "O" {
        return graph[graph.find(node)?].matrix();
    }
    let (step, head) = step_and_head(node);
    // Weights that are rounded before they mix are what a student takes for the weights.
    let rounded = (step == "A").then(|| graph.find(&format!("A_rounded{head}"))).flatten();
    let own = rounded.or_else(|| graph.find(node));
    let place = STEPS.iter().position(|known| *known == step);
    let earlier =
        || place.and_then(|at| STEPS[at + 1..].iter().find_map(|step| graph.find(&format!("{step}{head}"))));
    let result = || matches!(node, "C" | "P").then(|| graph.find("O")).flatten();
    graph[own.or_else(earlier).or_else(result)?].matrix()
}

/// `S_scaled` and `_2` for `S_scaled_2`.
pub(super) fn step_and_head(node: &str) -> (&str, &str) {
    let head_at = node.rfind('_').filter(|&at| node[at + 1..].bytes().all(|b| b.is_ascii_digit()));
    node.split_at(head_at.unwrap_or(node.len()))
}

/// What is taken for what with these changes.
fn standing_in(recipe: &Recipe, changes: &[Change]) -> Vec<(&'static str, &'static str)> {
    let mut recipe = *recipe;
    changes.iter().for_each(|change| change.put_into(&mut recipe));
    let name = |role: Role| match role {
        Role::Query => "Q",
        Role::Key => "K",
        Role::Value => "V",
    };
    let mut pairs = Vec::new();
    for role in [Role::Query, Role::Key, Role::Value] {
        match recipe.roles.of(role) {
            Source::Of(other) => pairs.push((name(role), name(other))),
            Source::Tokens => pairs.push((name(role), "X")),
            Source::Own | Source::Transposed => {}
        }
    }
    if pairs.is_empty() && recipe.comparison == Comparison::KeysWithQueries {
        pairs = vec![("Q", "K"), ("K", "Q")];
    }
    pairs
}
