//! A computation that can be made again with changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::changes::Changes;
use super::heads;
use super::knobs::{self, Knob};
use crate::error::Result;
use crate::graph::recipes::{AttendInputs, Recipe, attend_in};
use crate::graph::{Given, Graph};

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
                graph.take_instead(heads::zeros_instead(steps, &changes.removed));
                steps.again(graph, |node| knobs::op_with(node, changes))?
            }
            Source::Attend(attend) => {
                let (recipe, mut inputs) = (**attend).clone();
                let recipe = knobs::recipe_with(recipe, changes);
                if !changes.removed.is_empty() {
                    // Another recipe may have other heads; no other change renames their outputs.
                    let zeros: BTreeMap<String, Given> = match start.filter(|_| changes.recipe.is_none()) {
                        Some(start) => heads::zeros_instead(start, &changes.removed),
                        None => {
                            let recipe = changes.recipe.clone();
                            let start = self.graph(&Changes { recipe, ..Changes::default() }, None)?;
                            heads::zeros_instead(&start, &changes.removed)
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
    pub(super) fn recipe(&self, changes: &Changes) -> Option<Recipe> {
        match self {
            Source::Attend(attend) => Some(knobs::recipe_with(attend.0, changes)),
            _ => None,
        }
    }

    /// Whether a setting can be adjusted.
    pub(super) fn has_knob(&self, knob: Knob, graph: &Graph) -> bool {
        match self {
            Source::Attend(_) => true,
            Source::Steps(_) => knobs::has(graph, knob),
            Source::ReadOnly(..) => false,
        }
    }
}
