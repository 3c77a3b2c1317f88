//! The story of words that are compared.

use super::model::{Step, StepItem, Story};
use super::plane::Plane;
use crate::graph::Graph;

/// The words as vectors, and a table for each measure; `remarks` are remarks on the vectors.
pub fn similarity(graph: Graph, remarks: Vec<String>) -> Story {
    let sentences = [
        ("X", "The words as vectors, a row each."),
        ("dot", "Dot products: large where vectors are long and point the same way."),
        ("scaled", "The same, divided by the root of the width."),
        ("cosine", "Cosines: the angle alone, 1 for the same direction, 0 for a right angle."),
        ("euclidean", "Distances: here small means alike."),
    ];
    let mut steps = Vec::new();
    for (name, text) in sentences {
        let Some(id) = graph.find(name) else { continue };
        let mut shown = vec![StepItem::Node(id)];
        if name == "X" && graph[id].shape().cols == 2 {
            shown = vec![StepItem::Together(vec![id]), StepItem::Plane(Plane::new(&[id], &[]))];
        }
        steps.push(Step { text: text.into(), shown, ..Step::default() });
    }
    Story { remarks, ..Story::of_steps("Similarity", graph, steps) }
}
