//! The story of attention over the user's own words or matrices: the steps in the field's words.

use super::backward;
use super::look_at::look_at;
use super::model::{Plane, Step, StepItem, Story};
use super::sentence::{Facts, SENTENCES, Said, in_convention};
use crate::graph::{self, BackwardSteps, Convention, Graph, Node, NodeId, Op, Origin, Role, Stage};
use crate::matrix::Matrix;

/// Attention, step by step. The sentences are true for any numbers.
pub fn attend(title: &str, graph: Graph, convention: Convention, remarks: Vec<String>) -> Story {
    let mut steps: Vec<Step> = Vec::new();
    let mut given: Vec<NodeId> = Vec::new();
    let mut last = None;
    let is_weights = |node: &Node| node.step.is_some_and(|step| step.stage == Stage::Weights);
    let heads = graph.nodes().filter(|(_, node)| node.is_never_formed() && is_weights(node)).count();
    let backward = graph.backward().cloned();
    let forward = backward.as_ref().map_or(usize::MAX, |backward| backward.first().position());
    for (id, node) in graph.nodes().take(forward) {
        if node.op.is_given() {
            given.push(id);
            continue;
        }
        let is_later_head = node.step.and_then(|step| step.head).is_some_and(|head| head > 1);
        if node.is_never_formed() && is_later_head {
            continue;
        }
        let projects = node.inputs.iter().any(|&input| graph[input].step == Some(Role::WO.into()));
        let Said { text, part, .. } = told(node, heads, projects);
        if last.as_ref() != Some(&part) {
            steps.push(Step::new(in_convention(&text, convention), Vec::new()));
            last = Some(part);
        }
        if let Some(step) = steps.last_mut() {
            match (step.shown.last_mut(), is_unchanged(&graph, node)) {
                (Some(StepItem::Folded(same)), true) => same.push(id),
                (_, true) => step.shown.push(StepItem::Folded(vec![id])),
                (_, false) => step.shown.push(StepItem::Node(id)),
            }
        }
    }
    for step in &mut steps {
        step.text.extend(unchanged(&graph, step));
    }
    steps.extend(movement(&graph));
    for step in &mut steps {
        step.notice = look_at(&graph, step);
    }
    steps.insert(0, first(&graph, given));
    let mut story = Story { remarks, ..Story::of_steps(title, graph, steps) };
    if let Some(BackwardSteps { loss, gradients, of, .. }) = backward {
        backward::tell_loss(&mut story, &loss, convention);
        backward::tell_gradients(&mut story, &gradients, &of, convention);
    }
    story
}

/// The step that lists the given matrices. Default weights are named and not shown.
fn first(graph: &Graph, given: Vec<NodeId>) -> Step {
    let (folded, seen): (Vec<NodeId>, Vec<NodeId>) =
        given.into_iter().partition(|&id| graph[id].op == Op::Given(Origin::Identity));
    let in_brief = seen.first().map(|&id| StepItem::Together(vec![id]));
    let shown = [StepItem::Together(seen), StepItem::Folded(folded)];
    let shown = shown.into_iter().filter(|shown| !shown.nodes().is_empty()).collect();
    Step { in_brief, ..Step::new("The given matrices.", shown) }
}

/// Returns true if a node equals its first operand, because the weights are a default identity.
fn is_unchanged(graph: &Graph, node: &Node) -> bool {
    matches!(node.op, Op::Product)
        && node.inputs.last().is_some_and(|&weights| graph[weights].op == Op::Given(Origin::Identity))
}

/// The sentence for folded nodes: `Q = K = V = X`.
fn unchanged(graph: &Graph, step: &Step) -> Option<String> {
    let folded = step.shown.iter().find_map(|shown| match shown {
        StepItem::Folded(ids) => Some(ids),
        _ => None,
    })?;
    let from = *graph[*folded.first()?].inputs.first()?;
    let names = folded.iter().chain([&from]).map(|&id| graph[id].name.as_str());
    Some(format!(" Here {}.", names.collect::<Vec<_>>().join(" = ")))
}

/// No more tokens are drawn, where they have names and where they have none.
const MOST_DRAWN: [usize; 2] = [12, 8];

/// The movement of each token, if tokens of two coordinates become results of two coordinates.
fn movement(graph: &Graph) -> Option<Step> {
    let (x, o) = (graph.at(Role::X)?, graph.at(Stage::Output)?);
    let (from, to) = (graph.matrix(x).ok()?, graph.matrix(o).ok()?);
    let most = MOST_DRAWN[usize::from(from.row_labels().is_none())];
    let is_plane = from.cols() == 2 && from.shape() == to.shape() && from.rows() <= most;
    let is_finite = |matrix: &Matrix| matrix.cells().all(|x| x.is_finite());
    (is_plane && is_finite(from) && is_finite(to)).then(|| {
        let plane = StepItem::Plane(Plane::new(&[x], &[(x, o)]));
        Step::new("In the plane: each token moves from its place in X to its place in O.", vec![plane])
    })
}

/// The sentence on a computed node. Of `heads` that are never formed the first one is shown; `projects` is true for the projection of
/// what the heads found.
pub(super) fn told(node: &Node, heads: usize, projects: bool) -> Said {
    let (stage, head) = match (node.step, &node.op) {
        // The mix of the only head needs no joining.
        (Some(graph::Step { stage: Stage::Joined, head, .. }), op) if *op != Op::Concatenate => {
            (Stage::Mixed, head)
        }
        (Some(graph::Step { stage, head, .. }), _) => (stage, head),
        // These are no steps: the chosen row of LongRoPE's divisors, the gate of each column.
        (None, Op::Rows { .. }) => (Stage::FrequenciesScaled, None),
        (None, Op::RepeatColumns(_)) => (Stage::Gate, None),
        (None, _) => (Stage::Projected, None),
    };
    let mut facts = Facts::new(Some(stage), head);
    facts.add_op(node);
    let is_altered = node.step.is_none() && (node.name.ends_with("_altered") || node.name.contains("_part"));
    facts.add_those(&[
        ("never-formed", node.is_never_formed()),
        ("two-heads", heads == 2),
        ("several-heads", heads > 2),
        ("altered", is_altered),
        ("several", node.inputs.len() > 1),
        ("projects", projects),
    ]);
    facts.add("heads", heads.to_string());
    facts.said(&SENTENCES.attend)
}

// The story of words that are compared.

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
        steps.push(Step::new(text, shown));
    }
    Story { remarks, ..Story::of_steps("Similarity", graph, steps) }
}

// The story of a softmax.

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
    Story::of_steps("Softmax", graph, vec![Step::new(text, vec![StepItem::Columns(columns)])])
}
