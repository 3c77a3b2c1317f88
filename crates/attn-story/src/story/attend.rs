//! The story of attention over the user's own words or matrices: the steps in the field's words.

use super::backward;
use super::look_at::look_at;
use super::model::{Plane, Step, StepItem, Story};
use super::sentence::{in_convention, in_sentence};
use crate::attention::{Pairing, RopeScaling, Rotation};
use crate::graph::{self, BackwardSteps, Convention, Factor, Graph, Node, NodeId, Op, Origin, Role, Stage};
use crate::matrix::Matrix;

/// Attention, step by step. The sentences are true for any numbers.
pub fn attend(title: &str, graph: Graph, convention: Convention, remarks: Vec<String>) -> Story {
    let mut steps: Vec<Step> = Vec::new();
    let mut given: Vec<NodeId> = Vec::new();
    let mut last = PipelinePart::Given;
    let is_weights = |node: &Node| node.step.is_some_and(|step| step.stage == Stage::Weights);
    let heads = graph.nodes().filter(|(_, node)| node.is_never_formed() && is_weights(node)).count();
    let backward = graph.backward().cloned();
    let forward = backward.as_ref().map_or(usize::MAX, |backward| backward.first().position());
    for (id, node) in graph.nodes().take(forward) {
        let stage = PipelinePart::of(node, heads);
        if stage == PipelinePart::Given {
            given.push(id);
            continue;
        }
        let is_later_head = node.step.and_then(|step| step.head).is_some_and(|head| head > 1);
        if node.is_never_formed() && is_later_head {
            continue;
        }
        let projects = node.inputs.iter().any(|&input| graph[input].step == Some(Role::WO.into()));
        if stage != last {
            steps.push(Step::new(in_convention(&sentence(&stage, node, projects), convention), Vec::new()));
            last = stage;
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

/// A part of the pipeline that takes one sentence.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PipelinePart {
    Given,
    Projections,
    Split(Role),
    /// A step of today's models.
    Mechanism(Stage, Option<usize>),
    Scores(Option<usize>),
    Scale(Option<usize>),
    Bias(Option<usize>),
    Temperature(Option<usize>),
    Mask(Option<usize>),
    Weights(Option<usize>),
    Mix(Option<usize>),
    Concatenation,
    Output,
    Residual,
    /// The number of heads; the first one is shown.
    NeverFormed(usize),
    Fused,
}

impl PipelinePart {
    pub(super) fn of(node: &Node, heads: usize) -> PipelinePart {
        match &node.op {
            Op::Given(_) => return PipelinePart::Given,
            _ if node.is_never_formed() => return PipelinePart::NeverFormed(heads),
            Op::Fused(_) => return PipelinePart::Fused,
            _ => {}
        }
        let Some(graph::Step { stage, head, .. }) = node.step else { return PipelinePart::beside(node) };
        if is_one(stage) {
            return PipelinePart::Mechanism(stage, head);
        }
        match stage {
            Stage::Role(role) if head.is_some() => PipelinePart::Split(role),
            Stage::Role(_) => PipelinePart::Projections,
            Stage::Scores => PipelinePart::Scores(head),
            Stage::Scaled => PipelinePart::Scale(head),
            Stage::Biased => PipelinePart::Bias(head),
            Stage::Tempered => PipelinePart::Temperature(head),
            Stage::Masked => PipelinePart::Mask(head),
            Stage::Weights => PipelinePart::Weights(head),
            Stage::Joined if node.op == Op::Concatenate => PipelinePart::Concatenation,
            // The mix of the only head needs no joining.
            Stage::Mixed | Stage::Joined => PipelinePart::Mix(head),
            Stage::Output if node.op == Op::Add && node.inputs.len() > 1 => PipelinePart::Residual,
            Stage::Projected | Stage::Output => PipelinePart::Output,
            Stage::Lse => PipelinePart::Fused,
            _ => PipelinePart::Output,
        }
    }

    /// The part of a node that is no step: the chosen row of LongRoPE's divisors, the gate of each column.
    fn beside(node: &Node) -> PipelinePart {
        match node.op {
            Op::Rows { .. } => PipelinePart::Mechanism(Stage::FrequenciesScaled, None),
            Op::RepeatColumns(_) => PipelinePart::Mechanism(Stage::Gate, None),
            _ => PipelinePart::Output,
        }
    }
}

/// The sentence of a part.
pub(super) fn sentence(stage: &PipelinePart, node: &Node, projects: bool) -> String {
    let start = |head: &Option<usize>, text: &str| match head {
        None => {
            let mut letters = text.chars();
            letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        }
        Some(head) => format!("Head {head}: {text}"),
    };
    match stage {
        PipelinePart::Given => String::new(),
        PipelinePart::Projections => "Each token gets a query, a key and a value.".into(),
        PipelinePart::Split(role) => format!(
            "{} is split into heads: each head takes the same number of neighbouring columns.",
            role.name()
        ),
        PipelinePart::Mechanism(stage, head) => start(head, &sentence_of_mechanism(*stage, &node.op)),
        PipelinePart::Scores(head) => match node.op {
            Op::Cosine => start(head, "the cosine of every query with every key."),
            _ => start(head, "the dot product of every query with every key."),
        },
        PipelinePart::Scale(head) => start(head, &scaling(&node.op)),
        PipelinePart::Bias(head) => start(head, "the bias is added to the scores."),
        PipelinePart::Temperature(head) => start(head, "the scores are divided by the temperature."),
        PipelinePart::Mask(head) => start(head, "scores that the mask hides become −∞."),
        PipelinePart::Weights(head) if matches!(node.op, Op::SoftmaxWithSink { .. }) => {
            start(head, "the softmax over the keys and the sink. The sink keeps its share, so each row sums to less than 1.")
        }
        PipelinePart::Weights(head) => {
            start(head, "the softmax of each row: how much each query attends to each key.")
        }
        PipelinePart::Mix(head) => start(head, "each row of weights mixes the values."),
        PipelinePart::Concatenation => "The results of the heads are concatenated.".into(),
        PipelinePart::Output => match node.op {
            Op::Product if projects => "The output projection: W_O mixes the results of the heads.".into(),
            _ => "The result, one row for each query.".into(),
        },
        PipelinePart::NeverFormed(heads) => {
            let text = "Scores and weights are computed for one block of keys at a time, used, and discarded.";
            match heads {
                0 | 1 => text.to_string(),
                2 => format!("{text} Head 1 stands for both."),
                several => format!("{text} Head 1 stands for all {several}."),
            }
        }
        PipelinePart::Fused => "There is no softmax of a whole row. A running maximum, a running sum and a running mixture of the \
                         values replace it. LSE is the running maximum plus the logarithm of the running sum."
            .into(),
        PipelinePart::Residual => "The input is added: attention computes a change to it.".into(),
    }
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

/// Returns true for a step of positions, of a norm of queries and keys, of a soft-cap or of a gate.
pub(super) fn is_one(stage: Stage) -> bool {
    matches!(
        stage,
        Stage::PositionVectors
            | Stage::Positioned
            | Stage::QueriesNormed
            | Stage::KeysNormed
            | Stage::Frequencies
            | Stage::FrequenciesScaled
            | Stage::QueriesRotated
            | Stage::KeysRotated
            | Stage::PositionBias
            | Stage::Capped
            | Stage::GateInput
            | Stage::Gate
            | Stage::Gated
    )
}

/// The sentence on such a step, without a capital.
pub(super) fn sentence_of_mechanism(stage: Stage, op: &Op) -> String {
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
            return format!(
                "the angles by which the {} pairs of columns turn from one position to the next, in radians. The first pair turns \
                 fastest.",
                width / 2
            );
        }
        (Stage::FrequenciesScaled, Op::ScaledFrequencies(scaling)) => return scaled(scaling),
        (Stage::FrequenciesScaled, _) => {
            "LongRoPE has a row of divisors for short texts, and one for long ones."
        }
        (Stage::QueriesRotated, Op::Rotary(Rotation { pairing, first, .. })) => {
            let pairs = match pairing {
                Pairing::Halves => "column p together with column p + w/2, for each pair p of w columns",
                Pairing::Neighbours => "each two neighbouring columns together",
            };
            return format!(
                "each query is rotated by its position times F: {pairs}. Positions count from {first}."
            );
        }
        (Stage::KeysRotated, Op::Rotary(Rotation { first, .. })) => {
            return format!(
                "each key is rotated in the same way, from position {first} on. A score then depends on the distance of the two."
            );
        }
        (Stage::QueriesRotated | Stage::KeysRotated, _) => "the rotated heads, side by side.",
        (Stage::PositionBias, Op::Alibi(head, _)) => {
            let slope = in_sentence(head.slope(), 6);
            return format!("a bias that grows with the distance, by a slope of {slope} in this head.");
        }
        (Stage::PositionBias, _) => {
            "a bias for each distance, from the table. Distances that are far share a bucket."
        }
        (Stage::Capped, Op::SoftCap(cap)) => {
            let cap = in_sentence(*cap, 6);
            return format!(
                "the soft-cap keeps each score between −{cap} and {cap}. Small scores hardly change."
            );
        }
        (Stage::GateInput, _) => "the gate is computed from the tokens: X times W_g.",
        (Stage::Gate, _) => "the sigmoid makes it a number between 0 and 1.",
        (Stage::Gated, _) => "each number of the heads is multiplied by its gate.",
        _ => "a step of this model.",
    };
    text.to_string()
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
