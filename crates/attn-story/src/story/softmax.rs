//! The story of a softmax.

use super::model::{Step, StepItem, Story};
use crate::graph::Graph;

/// The softmax of one row of numbers as one table: a row for each number, a column for each step.
pub fn softmax(graph: Graph) -> Story {
    let sums = [("powers", "power_sum"), ("A", "A_sum")];
    let column = |name: &str| {
        let id = graph.find(name)?;
        let sum = sums.iter().find(|(of, _)| *of == name).and_then(|(_, sum)| graph.find(sum));
        Some((id, sum))
    };
    let columns = ["x", "x_tempered", "shifted", "powers", "A"].into_iter().filter_map(column).collect();
    let text = "Subtract the largest score: no weight changes, and no power overflows. Then take powers and divide by their sum.";
    let steps = vec![Step { text: text.into(), shown: vec![StepItem::Columns(columns)], ..Step::default() }];
    Story::of_steps("Softmax", graph, steps)
}
