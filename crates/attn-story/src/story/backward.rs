//! The story of the backward pass: what each number did to the loss, from the result back to the weights.

use super::look_at::look_at;
use super::model::{Step, StepItem, Story};
use super::sentence::{Facts, SENTENCES, in_convention, in_sentence};
use crate::graph::{
    self, CellId, Convention, Gradient, Gradients, Graph, NodeId, Op, Origin, Role, Stage, address_of,
};
use crate::matrix::Matrix;

/// Appends the steps from O to a loss; there may be none. The sentences are true for any numbers.
pub(super) fn tell_loss(story: &mut Story, loss: &[NodeId], convention: Convention) {
    let graph = &story.graph;
    let part = |names: &[&str], text: &str| {
        let named = loss.iter().filter(|id| names.contains(&graph[**id].name.as_str()));
        let shown: Vec<StepItem> = named.map(|id| StepItem::Node(*id)).collect();
        (!shown.is_empty()).then(|| Step::new(in_convention(text, convention), shown))
    };
    let steps = [
        part(
            &["Y", "Y_hat"],
            "The loss: each row of O is read as logits, and their softmax Y_hat has the probability of each column. Y has 1 at \
             the target of each row, and 0 elsewhere.",
        ),
        part(
            &["L_all", "L_target", "L_rows"],
            "How surprising is a target? −ln of its probability: 0 if it was certain, and the more the less probable it was. \
             L_all has it for each column, and L_rows for the target of each row; a row without a target has 0.",
        ),
        part(&["L_sum", "L"], "The loss L is the mean over the rows that have a target."),
    ];
    let steps: Vec<Step> = steps.into_iter().flatten().collect();
    story.steps.extend(steps);
}

/// Appends the backward pass to the story of the graph, which has these gradients; `of` are the given matrices, of which the one
/// with the largest influence is named last. The sentences are true for any numbers.
pub(super) fn tell_gradients(
    story: &mut Story,
    gradients: &Gradients,
    of: &[NodeId],
    convention: Convention,
) {
    let graph = &story.graph;
    let mut steps = vec![beginning(graph, gradients)];
    let mut told: Vec<(String, Step)> = Vec::new();
    let mut all: Vec<&Gradient> = gradients.all.iter().collect();
    all.sort_by_key(|gradient| place(graph, gradient.of));
    for gradient in all {
        let text = in_convention(&sentence(graph, gradient), convention);
        // Constants are named, all other matrices are shown.
        let shown = gradient.steps.iter().map(|&id| match graph[id].op {
            Op::Ones { .. } | Op::Diagonal => StepItem::Folded(vec![id]),
            _ => StepItem::Node(id),
        });
        match told.last_mut().filter(|(last, _)| *last == text) {
            Some((_, step)) => step.shown.extend(shown),
            None => told.push((text.clone(), Step::new(text, shown.collect()))),
        }
    }
    steps.extend(told.into_iter().map(|(_, step)| step));
    for step in &mut steps {
        step.notice = look_at(graph, step);
    }
    if let (Some(last), Some(largest)) = (steps.last_mut(), largest(graph, gradients, of)) {
        last.notice = Some(largest);
    }
    story.steps.extend(steps);
}

/// What the loss is, in words: `O[bat,x]`, “the sum of O”, “the loss”.
fn loss(graph: &Graph, gradients: &Gradients) -> String {
    let (start, name) = (&graph[gradients.start], &graph[gradients.loss].name);
    match (&start.op, start.matrix()) {
        (Op::Ones { rows: 1, cols: 1 }, _) => name.clone(),
        (Op::Ones { .. }, _) => format!("the sum of {name}"),
        (Op::Given(Origin::Stated), Some(matrix)) => {
            match matrix.shape().places().filter(|cell| matrix[*cell] != 0.0).collect::<Vec<_>>()[..] {
                [(row, col)] => address_of(graph, CellId { node: gradients.loss, row, col }),
                _ => format!("the sum of a row of {name}"),
            }
        }
        _ => "the loss".to_string(),
    }
}

/// The step that shows the start.
fn beginning(graph: &Graph, gradients: &Gradients) -> Step {
    let (start, of) = (&graph[gradients.start].name, &graph[gradients.loss].name);
    let loss = loss(graph, gradients);
    let rates = match &graph[gradients.start].op {
        Op::Ones { rows: 1, cols: 1 } => "With itself at rate 1.".to_string(),
        Op::Ones { .. } => format!("With each number of {of} at rate 1."),
        _ => format!("{start} is the start: 1 there, and 0 elsewhere."),
    };
    let text = match loss.as_str() {
        "the loss" => {
            format!("Now backward. {start} is given: how fast the loss changes with each number of {of}.")
        }
        loss => format!("Now backward: how fast does {loss} change with every number before it? {rates}"),
    };
    Step::new(text, vec![StepItem::Together(vec![gradients.start])])
}

/// The order in which gradients are told: what all heads share, then head by head from the result to the scores, then queries, keys
/// and values, the weights that make them, the tokens, and what was given beside them. Within each it is the order of the walk.
fn place(graph: &Graph, of: NodeId) -> (usize, usize) {
    let Some(graph::Step { stage, head, .. }) = graph[of].step else { return (0, 0) };
    match stage {
        Stage::Role(role) if role.is_weights() => (6, 0),
        Stage::Role(Role::X) | Stage::Positioned => (7, 0),
        Stage::Role(role) if !role.has_heads() => (8, 0),
        Stage::Role(_) => (if head.is_some() { 4 } else { 5 }, 0),
        Stage::QueriesRotated | Stage::KeysRotated => (2, 0),
        Stage::QueriesNormed | Stage::KeysNormed => (3, 0),
        Stage::Weights | Stage::Mixed => (1, head.unwrap_or(0)),
        _ if stage.is_scores() => (1, head.unwrap_or(0)),
        _ => (0, 0),
    }
}

/// The sentence on a gradient.
fn sentence(graph: &Graph, gradient: &Gradient) -> String {
    let node = &graph[gradient.of];
    let (stage, head) = node.step.map_or((None, None), |step| (Some(step.stage), step.head));
    let mut facts = Facts::new(stage, head);
    let readers = || graph.nodes().map(|(_, node)| node).filter(|node| node.inputs.contains(&gradient.of));
    facts.op = readers().next().map_or("", |reader| reader.op.name());
    facts.add_those(&[
        ("to-loss", readers().any(|reader| reader.op == Op::NegativeLogSoftmax)),
        ("apart", stage.is_some_and(|stage| graph.at(stage.of_head(Some(1))).is_some())),
    ]);
    facts.add("node", &node.name);
    facts.add("gradient", &graph[gradient.id].name);
    facts.add("dO", head.map_or_else(|| "dO".to_string(), |head| format!("dO_{head}")));
    facts.said(&SENTENCES.backward).text
}

/// The sentence on the number with the largest influence: among the weight matrices, or, without any, among all given matrices.
fn largest(graph: &Graph, gradients: &Gradients, of: &[NodeId]) -> Option<String> {
    let is_weights = |id: &NodeId| {
        graph[*id].step.is_some_and(|step| matches!(step.stage, Stage::Role(role) if role.is_weights()))
    };
    let known: Vec<(NodeId, NodeId)> =
        of.iter().filter_map(|&node| Some((node, gradients.of(node)?))).collect();
    let weights: Vec<(NodeId, NodeId)> = known.iter().filter(|(node, _)| is_weights(node)).copied().collect();
    let candidates = if weights.is_empty() { known } else { weights };
    let cells = candidates.iter().flat_map(|&(node, gradient)| {
        let of = move |matrix: &'_ Matrix| {
            let matrix = matrix.clone();
            matrix.shape().places().map(move |(row, col)| (CellId { node, row, col }, matrix[(row, col)]))
        };
        graph[gradient].matrix().into_iter().flat_map(of)
    });
    let cells: Vec<(CellId, f64)> = cells.filter(|(_, slope)| slope.is_finite()).collect();
    let size = cells.iter().map(|(_, slope)| slope.abs()).fold(0.0, f64::max);
    let loss = loss(graph, gradients);
    if size == 0.0 {
        return Some(format!("Every gradient is 0: no given number changes {loss}."));
    }
    let largest: Vec<&(CellId, f64)> = cells.iter().filter(|(_, slope)| slope.abs() == size).collect();
    let (cell, slope) = largest.first()?;
    let (address, slope) = (address_of(graph, *cell), in_sentence(*slope, 4));
    Some(match largest.len() {
        1 => format!("{address} has the largest influence on {loss}: its gradient is {slope}."),
        _ => format!("No number has a larger influence on {loss} than {address}: its gradient is {slope}."),
    })
}
