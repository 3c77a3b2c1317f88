//! The story of attention over the user's own words or matrices: the steps in the field's words.

use super::backward;
use super::look_at::look_at;
use super::model::{Plane, Step, StepItem, Story};
use super::sentence::{capitalised, in_convention, in_sentence};
use crate::attention::{Pairing, RopeScaling, Rotation};
use crate::graph::{self, BackwardSteps, Convention, Factor, Graph, Node, NodeId, Op, Origin, Role, Stage};
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
        let (part, text) = told(node, heads, projects);
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

/// What takes one sentence: some parts have several nodes.
#[derive(Debug, PartialEq)]
pub(super) enum PipelinePart {
    Projections,
    Split(Role),
    /// A step of one head, or of all.
    Step(Stage, Option<usize>),
    Output,
    Residual,
    NeverFormed,
    Fused,
    Altered,
}

/// The part of the pipeline that a computed node belongs to, and its sentence. Of `heads` that are never formed the first one is shown;
/// `projects` is true for the projection of what the heads found.
pub(super) fn told(node: &Node, heads: usize, projects: bool) -> (PipelinePart, String) {
    const FUSED: &str = "There is no softmax of a whole row. A running maximum, a running sum and a running mixture of the values replace \
                         it. LSE is the running maximum plus the logarithm of the running sum.";
    const SINK: &str =
        "the softmax over the keys and the sink. The sink keeps its share, so each row sums to less than 1.";
    if node.is_never_formed() {
        let text = "Scores and weights are computed for one block of keys at a time, used, and discarded.";
        let text = match heads {
            0 | 1 => text.to_string(),
            2 => format!("{text} Head 1 stands for both."),
            several => format!("{text} Head 1 stands for all {several}."),
        };
        return (PipelinePart::NeverFormed, text);
    }
    if node.step.is_none() && (node.name.ends_with("_altered") || node.name.contains("_part")) {
        return (PipelinePart::Altered, "A step that attention does not have.".into());
    }
    let (stage, head) = match (node.step, &node.op) {
        (Some(graph::Step { stage: Stage::Joined, head, .. }), op) if *op != Op::Concatenate => {
            // The mix of the only head needs no joining.
            (Stage::Mixed, head)
        }
        (Some(graph::Step { stage, head, .. }), _) => (stage, head),
        // These are no steps: the chosen row of LongRoPE's divisors, the gate of each column.
        (None, Op::Rows { .. }) => (Stage::FrequenciesScaled, None),
        (None, Op::RepeatColumns(_)) => (Stage::Gate, None),
        (None, _) => (Stage::Projected, None),
    };
    let text = match (stage, &node.op) {
        (_, Op::Fused(_)) | (Stage::Lse, _) => return (PipelinePart::Fused, FUSED.into()),
        (Stage::Role(role), _) if head.is_some() => {
            let name = role.name();
            let text = format!(
                "{name} is split into heads: each head takes the same number of neighbouring columns."
            );
            return (PipelinePart::Split(role), text);
        }
        (Stage::Role(_), _) => {
            return (PipelinePart::Projections, "Each token gets a query, a key and a value.".into());
        }
        (Stage::Output, Op::Add) if node.inputs.len() > 1 => {
            let text = "The input is added: attention computes a change to it.";
            return (PipelinePart::Residual, text.into());
        }
        (Stage::Scores, Op::Cosine) => "the cosine of every query with every key.".to_string(),
        (Stage::Scores, _) => "the dot product of every query with every key.".to_string(),
        (Stage::Scaled, op) => scaling(op),
        (Stage::Biased, _) => "the bias is added to the scores.".to_string(),
        (Stage::Tempered, _) => "the scores are divided by the temperature.".to_string(),
        (Stage::Masked, _) => "scores that the mask hides become −∞.".to_string(),
        (Stage::Weights, Op::SoftmaxWithSink { .. }) => SINK.to_string(),
        (Stage::Weights, _) => {
            "the softmax of each row: how much each query attends to each key.".to_string()
        }
        (Stage::Mixed, _) => "each row of weights mixes the values.".to_string(),
        (Stage::Joined, _) => "the results of the heads are concatenated.".to_string(),
        (stage, op) => match sentence_of_mechanism(stage, op) {
            Some(text) => text,
            None => {
                let text = match op {
                    Op::Product if projects => "The output projection: W_O mixes the results of the heads.",
                    _ => "The result, one row for each query.",
                };
                return (PipelinePart::Output, text.into());
            }
        },
    };
    let text = match head {
        None => capitalised(&text),
        Some(head) => format!("Head {head}: {text}"),
    };
    (PipelinePart::Step(stage, head), text)
}

/// A sentence on the scaling of the scores, with the reason for the usual factor.
fn scaling(op: &Op) -> String {
    match op {
        Op::Scale(Factor::InverseRoot(width)) => format!(
            "divide by √{width}, the root of the width. The wider the vectors are, the larger the dot products get."
        ),
        Op::Scale(Factor::Number(number)) => format!("multiply the scores by {}.", in_sentence(*number, 6)),
        _ => "the scores are scaled.".to_string(),
    }
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

// The sentences on the steps that today's models add.

/// The sentence on a step of positions, of a norm of queries and keys, of a soft-cap or of a gate, without a capital; `None` for another
/// step.
fn sentence_of_mechanism(stage: Stage, op: &Op) -> Option<String> {
    let text = match (stage, op) {
        (Stage::PositionVectors, _) => "a vector for each position, of sines and cosines.",
        (Stage::Positioned, _) => "the vectors of the positions are added to the tokens.",
        (Stage::QueriesNormed, _) => {
            "each query is divided by its root mean square, so that its length no longer counts."
        }
        (Stage::KeysNormed, _) => "each key is divided by its root mean square.",
        (Stage::Frequencies, Op::Frequencies { width: 2, .. }) => {
            "the angle by which the pair of columns turns from one position to the next, in radians."
        }
        (Stage::Frequencies, Op::Frequencies { width, .. }) => {
            return Some(format!(
                "the angles by which the {} pairs of columns turn from one position to the next, in radians. The first pair turns \
                 fastest.",
                width / 2
            ));
        }
        (Stage::FrequenciesScaled, Op::ScaledFrequencies(scaling)) => return Some(scaled(scaling)),
        (Stage::FrequenciesScaled, _) => {
            "LongRoPE has a row of divisors for short texts, and one for long ones."
        }
        (Stage::QueriesRotated, Op::Rotary(Rotation { pairing, first, .. })) => {
            let pairs = match pairing {
                Pairing::Halves => "column p together with column p + w/2, for each pair p of w columns",
                Pairing::Neighbours => "each two neighbouring columns together",
            };
            return Some(format!(
                "each query is rotated by its position times F: {pairs}. Positions count from {first}."
            ));
        }
        (Stage::KeysRotated, Op::Rotary(Rotation { first, .. })) => {
            return Some(format!(
                "each key is rotated in the same way, from position {first} on. A score then depends on the distance of the two."
            ));
        }
        (Stage::QueriesRotated | Stage::KeysRotated, _) => "the rotated heads, side by side.",
        (Stage::PositionBias, Op::Alibi(head, _)) => {
            let slope = in_sentence(head.slope(), 6);
            return Some(format!("a bias that grows with the distance, by a slope of {slope} in this head."));
        }
        (Stage::PositionBias, _) => {
            "a bias for each distance, from the table. Distances that are far share a bucket."
        }
        (Stage::Capped, Op::SoftCap(cap)) => {
            let cap = in_sentence(*cap, 6);
            return Some(format!(
                "the soft-cap keeps each score between −{cap} and {cap}. Small scores hardly change."
            ));
        }
        (Stage::GateInput, _) => "the gate is computed from the tokens: X times W_g.",
        (Stage::Gate, _) => "the sigmoid makes it a number between 0 and 1.",
        (Stage::Gated, _) => "each number of the heads is multiplied by its gate.",
        (Stage::Frequencies | Stage::Capped, _) => "a step of this model.",
        _ => return None,
    };
    Some(text.to_string())
}

/// The sentence on a change of the frequencies.
fn scaled(scaling: &RopeScaling) -> String {
    match scaling {
        RopeScaling::Linear { factor } => {
            format!("every frequency is divided by {}: positions are squeezed.", in_sentence(*factor, 6))
        }
        RopeScaling::Dynamic { original, length, .. } if *length as f64 <= *original => {
            "the text is not longer than the original context, so nothing changes.".into()
        }
        RopeScaling::Dynamic { .. } => {
            "the text is longer than the original context. Slow pairs turn even more slowly, the first stays."
                .into()
        }
        RopeScaling::Llama3 { .. } => {
            "fast pairs are kept, slow ones divided by the factor, those between are blended.".into()
        }
        RopeScaling::Yarn(_) => format!(
            "fast pairs are kept, slow ones divided by the factor, those between are blended. Sines and cosines are \
             multiplied by {}.",
            in_sentence(scaling.magnitude(), 6)
        ),
        RopeScaling::LongRope { .. } => format!(
            "each pair has a divisor of its own. Sines and cosines are multiplied by {}.",
            in_sentence(scaling.magnitude(), 6)
        ),
    }
}
