//! Alterations: operations that attention does not have, at one site of it: a norm, a function, another order of rows.

mod chain;
mod kinds;
mod moves;
mod norms;
mod others;
mod place;
mod selections;

use super::recipe::Recipe;
use crate::error::Result;
use crate::graph::{Graph, NodeId};

pub use kinds::{Alter, Combine, Move, Norm, OtherMatrix, Slant};
pub use place::{Alteration, Site};

use chain::Chain;

/// The name of a node before the alteration at one of these sites; its own name where there is none.
pub(super) fn name_before(recipe: &Recipe, stages: &[Site], name: &str) -> String {
    match wanted(recipe, stages) {
        Some(_) => format!("{name}_before"),
        None => name.to_string(),
    }
}

/// The node after the recipe's alteration at one of these sites, under its own name where that is free. `first` is the position
/// of its first row.
///
/// # Errors
/// If the shapes do not allow it.
pub(super) fn altered(
    graph: &mut Graph,
    recipe: &Recipe,
    stages: &[Site],
    name: &str,
    (node, first): (NodeId, usize),
) -> Result<NodeId> {
    let Some(alter) = wanted(recipe, stages) else { return Ok(node) };
    let name = if graph.find(name).is_some() { format!("{name}_altered") } else { name.to_string() };
    let mut chain = Chain::new(graph, &name);
    let (op, inputs) = chain.last(alter, node, first)?;
    graph.add(&name, op, &inputs)
}

fn wanted(recipe: &Recipe, stages: &[Site]) -> Option<Alter> {
    recipe
        .alteration
        .filter(|alteration| stages.contains(&alteration.stage))
        .map(|alteration| alteration.alter)
}
