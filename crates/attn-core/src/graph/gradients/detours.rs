//! A backward pass with a mistake in it: some of its steps are done otherwise than they should be, and what follows from them is
//! computed as usual.

use serde::{Deserialize, Serialize};

use crate::attention::{Axis, Base};
use crate::error::{Error, Result};
use crate::graph::ops::back::Backward;
use crate::graph::ops::softmax::{back_through_softmax, centred};
use crate::graph::{Factor, Graph, NodeId, Op, Role, Stage};

use crate::graph::stage::{gradient_name, name_beside};

/// A step of the backward pass that is done otherwise than it should be. See [`Graph::gradients_with`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detour {
    /// The gradient of the loss is multiplied by a number before anything is computed from it.
    Start(f64),
    /// From the weights back to the scores.
    Softmax(SoftmaxBack),
    /// The same with the weights that the scores before the mask would give, in place of those of the forward pass.
    Unmasked,
    /// A step that changes each score by itself is gone back through this many times instead of once.
    Score(ScoreStep, u8),
    /// The way back through the rotation of queries and keys.
    Rotation(RotatedBack),
    /// What a product hands on is another product.
    Product(HandedTo, Product),
    /// What a product hands on is multiplied by a number.
    Times(HandedTo, f64),
    /// What the query heads of a group hand on to their key and value head.
    Group(GroupSum),
    /// The ways on which a gradient comes back to the tokens.
    Paths(Paths),
}

impl Detour {
    /// Whether both change the same step, so that they cannot be made together.
    pub fn same_step(&self, other: &Detour) -> bool {
        match (self, other) {
            (Detour::Product(a, _), Detour::Product(b, _)) | (Detour::Times(a, _), Detour::Times(b, _)) => {
                a == b
            }
            (Detour::Score(a, _), Detour::Score(b, _)) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// What is handed on to an input in place of the right gradient; none where this step is done as usual.
    fn handed_on(self, step: &mut Backward<'_>, input: usize) -> Option<Result<NodeId>> {
        match self {
            Detour::Softmax(back) => Some(softmax(step, axis(step, input)?, back)),
            Detour::Score(of, times) => score(step, input, of, times),
            Detour::Rotation(back) => rotated(step, input, back),
            Detour::Product(to, product) => other(step, input, to, product),
            Detour::Start(_) | Detour::Unmasked | Detour::Times(..) | Detour::Group(_) | Detour::Paths(_) => {
                None
            }
        }
    }
}

/// What is handed on by the first of these that changes this step.
pub(super) fn handed_on(detours: &[Detour], step: &mut Backward<'_>, input: usize) -> Option<Result<NodeId>> {
    let is_softmax = axis(step, input).is_some();
    if is_softmax && detours.contains(&Detour::Unmasked) {
        match unmasked(step) {
            Ok(weights) => step.y = weights,
            Err(error) => return Some(Err(error)),
        }
    }
    detours.iter().find_map(|detour| detour.handed_on(step, input))
}

/// The number by which what this step hands on is multiplied, if there is one.
pub(super) fn times(detours: &[Detour], graph: &Graph, reader: NodeId, input: usize) -> Option<f64> {
    let place = HandedTo::of(graph, reader, input)?;
    detours.iter().find_map(|detour| match detour {
        Detour::Times(to, number) if *to == place => Some(*number),
        _ => None,
    })
}

/// The gradient that the walk starts from.
pub(super) fn start(detours: &[Detour], graph: &mut Graph, start: NodeId) -> Result<NodeId> {
    let number = detours.iter().find_map(|detour| match detour {
        Detour::Start(number) => Some(*number),
        _ => None,
    });
    let Some(number) = number else { return Ok(start) };
    let name = name_beside(&graph[start].name, "changed");
    graph.add(&name, Op::Scale(Factor::Number(number)), &[start])
}

/// The parts that are added up, and the number by which their sum is divided.
pub(super) fn kept(detours: &[Detour], graph: &Graph, parts: Vec<Part>) -> (Vec<Part>, usize) {
    detours.iter().fold((parts, 1), |(parts, count), detour| match detour {
        Detour::Group(sum) => of_group(graph, parts, count, *sum),
        Detour::Paths(paths) => (on_paths(graph, parts, *paths), count),
        _ => (parts, count),
    })
}

// Other products than the right one, on the way back through a product.

/// What a product of attention hands its gradient on to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum HandedTo {
    /// `S = Q Kᵀ`, back to Q: `dQ = dS K`.
    Queries,
    /// `S = Q Kᵀ`, back to K: `dK = dSᵀ Q`.
    Keys,
    /// `O = A V`, back to A: `dA = dO Vᵀ`.
    Weights,
    /// `O = A V`, back to V: `dV = Aᵀ dO`.
    Values,
    /// `Q = X W_Q`, and likewise for each weight matrix, back to what it reads: `dX = dQ W_Qᵀ`.
    Input(Role),
    /// The same back to the weight matrix: `dW_Q = Xᵀ dQ`.
    Projection(Role),
}

impl HandedTo {
    /// Where this input of a step lies; none if the step is not such a product.
    fn of(graph: &Graph, step: NodeId, input: usize) -> Option<HandedTo> {
        let node = &graph[step];
        let stage = |id: NodeId| graph[id].step.map(|step| step.stage);
        let weights = || role(graph, *node.inputs.get(1)?).filter(|role| role.is_weights());
        match (&node.op, input) {
            (Op::ProductTransposed, 0) if stage(step) == Some(Stage::Scores) => Some(HandedTo::Queries),
            (Op::ProductTransposed, 1) if stage(step) == Some(Stage::Scores) => Some(HandedTo::Keys),
            (Op::Product, _) if stage(node.inputs[0]) == Some(Stage::Weights) => {
                Some(if input == 0 { HandedTo::Weights } else { HandedTo::Values })
            }
            (Op::Product | Op::ProductTransposed, 0) => weights().map(HandedTo::Input),
            (Op::Product | Op::ProductTransposed, 1) => weights().map(HandedTo::Projection),
            _ => None,
        }
    }
}

/// A product of two matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Product {
    /// Which of them is transposed.
    pub kind: ProductKind,
    /// Both, in order.
    pub of: [Operand; 2],
}

/// Which matrix of a product is transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ProductKind {
    /// None: `a b`.
    Plain,
    /// The first: `aᵀ b`.
    FirstTransposed,
    /// The second: `a bᵀ`.
    SecondTransposed,
}

/// A matrix that a wrong product takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Operand {
    /// The gradient of the step.
    Gradient,
    /// The gradient of this role, where it is known.
    GradientOf(Role),
    /// The input whose gradient is computed.
    Own,
    /// The other input.
    Other,
    /// What the step makes of both.
    Output,
}

impl Operand {
    fn node(self, step: &Backward<'_>, input: usize) -> Result<NodeId> {
        Ok(match self {
            Operand::Gradient => step.dy,
            Operand::GradientOf(role) => return step.graph().require(&gradient_name(role.name())),
            Operand::Own => step.input(input),
            Operand::Other => step.input(1 - input),
            Operand::Output => step.y,
        })
    }
}

/// What is handed on at this place; its shape must be that of the input, unless that is a weight matrix, which may come out
/// transposed.
fn other(step: &mut Backward<'_>, input: usize, to: HandedTo, product: Product) -> Option<Result<NodeId>> {
    (HandedTo::of(step.graph(), step.y, input) == Some(to)).then(|| {
        let [a, b] = product.of;
        let inputs = [a.node(step, input)?, b.node(step, input)?];
        let op = match product.kind {
            ProductKind::Plain => Op::Product,
            ProductKind::FirstTransposed => Op::TransposedProduct,
            ProductKind::SecondTransposed => Op::ProductTransposed,
        };
        let made = step.finish(op, &inputs)?;
        let (right, shape) = (step.shape(step.input(input)), step.shape(made));
        let fits = shape == right
            || matches!(to, HandedTo::Projection(_)) && (shape.cols, shape.rows) == (right.rows, right.cols);
        if fits { Ok(made) } else { Err(Error::new(format!("the gradient is {shape}, not {right}"))) }
    })
}

/// The role that a node is; none if it is another step.
fn role(graph: &Graph, id: NodeId) -> Option<Role> {
    match graph[id].step?.stage {
        Stage::Role(role) => Some(role),
        _ => None,
    }
}

// Sums of which a part is forgotten: over the query heads of a group, and over the ways back to the tokens.

/// A part of a gradient: the step that hands it on, and to which of its inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    pub reader: NodeId,
    pub input: usize,
}

/// What a key and value head gets from the query heads that share it, instead of the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum GroupSum {
    /// The gradient of the first of them.
    First,
    /// That of the last of them.
    Last,
    /// Their mean.
    Mean,
}

/// A way on which the tokens had an influence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Path {
    /// Through the queries.
    Queries,
    /// Through the keys.
    Keys,
    /// Through the values.
    Values,
    /// Beside the heads: the residual.
    Residual,
}

/// The ways whose gradients are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Paths {
    /// This one alone.
    Only(Path),
    /// All but this one.
    Without(Path),
}

impl Path {
    /// The way that a part of a gradient comes on; none where it is no gradient of the tokens.
    fn of(graph: &Graph, part: &Part) -> Option<Path> {
        match HandedTo::of(graph, part.reader, part.input) {
            Some(HandedTo::Queries | HandedTo::Input(Role::WQ)) => Some(Path::Queries),
            Some(HandedTo::Keys | HandedTo::Input(Role::WK)) => Some(Path::Keys),
            Some(HandedTo::Values | HandedTo::Input(Role::WV)) => Some(Path::Values),
            Some(_) => None,
            None => graph[part.reader].inputs.len().gt(&1).then_some(Path::Residual),
        }
    }
}

/// The parts of a gradient of tokens that come on these ways; all parts of another gradient.
fn on_paths(graph: &Graph, parts: Vec<Part>, paths: Paths) -> Vec<Part> {
    let ways: Vec<Option<Path>> = parts.iter().map(|part| Path::of(graph, part)).collect();
    let several = ways.iter().flatten().any(|way| ways.iter().flatten().any(|other| way != other));
    let is_kept = |way: Option<Path>| match paths {
        Paths::Only(path) => way == Some(path),
        Paths::Without(path) => way != Some(path),
    };
    if !several || !ways.iter().any(|way| is_kept(*way)) {
        return parts;
    }
    parts.into_iter().zip(ways).filter(|(_, way)| is_kept(*way)).map(|(part, _)| part).collect()
}

/// The parts that the heads of a group hand on, and the number by which their sum is divided.
fn of_group(graph: &Graph, parts: Vec<Part>, count: usize, sum: GroupSum) -> (Vec<Part>, usize) {
    let heads: Vec<usize> =
        parts.iter().filter_map(|part| graph[part.reader].step.and_then(|step| step.head)).collect();
    let differ = heads.windows(2).all(|pair| pair[0] < pair[1]);
    let is_group = heads.len() == parts.len() && parts.len() > 1 && differ;
    match sum {
        _ if !is_group => (parts, count),
        GroupSum::First => (parts[..1].to_vec(), count),
        GroupSum::Last => (parts[parts.len() - 1..].to_vec(), count),
        GroupSum::Mean => (parts, count * heads.len()),
    }
}

// Other ways back from the weights through the scores.

/// Another way back through `A = softmax(S)` than `dS = A ∘ (dA − row sums of A ∘ dA)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SoftmaxBack {
    /// `dA`.
    Copied,
    /// `A ∘ dA`.
    WithoutSums,
    /// `A ∘ (1 − A) ∘ dA`.
    DiagonalOnly,
    /// With the sums of columns.
    AlongColumns,
    /// `A ∘ (dA − row sums of dA)`.
    SumsOfGradient,
    /// `A ∘ dA − row sums of A ∘ dA`.
    SumsUnweighted,
    /// `dA − row sums of A ∘ dA`.
    Unweighted,
    /// `A ∘ (row sums of A ∘ dA − dA)`.
    Negated,
}

/// A step that changes each score by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ScoreStep {
    /// The scale.
    Scale,
    /// The temperature.
    Temperature,
    /// The soft-cap.
    SoftCap,
    /// The mask.
    Mask,
}

/// Another way back through a rotation than by the negative angle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RotatedBack {
    /// Not at all.
    Never,
    /// By the same angle once more.
    Forward,
}

/// The axis of the softmax that makes the weights, if the step is that.
fn axis(step: &Backward<'_>, input: usize) -> Option<Axis> {
    let axis = match step.op() {
        Op::Softmax(axis, _) | Op::UnguardedSoftmax(axis, _) if input == 0 => axis,
        Op::SoftmaxWithSink { .. } if input == 0 => Axis::Rows,
        _ => return None,
    };
    step.is_weights().then_some(axis)
}

/// The weights of the scores before the mask.
fn unmasked(step: &mut Backward<'_>) -> Result<NodeId> {
    let mut inputs = step.graph()[step.y].inputs.clone();
    if let Op::Mask(_) = step.graph()[inputs[0]].op {
        inputs[0] = step.graph()[inputs[0]].inputs[0];
    }
    step.of_step("unmasked", step.op(), &inputs)
}

/// The way back through that softmax.
fn softmax(step: &mut Backward<'_>, axis: Axis, back: SoftmaxBack) -> Result<NodeId> {
    let (a, da) = (step.y, step.dy);
    match back {
        SoftmaxBack::Copied => step.same(),
        SoftmaxBack::WithoutSums => step.sloped(a),
        SoftmaxBack::DiagonalOnly => {
            let square = step.of_step("squared", Op::Multiply, &[a, a])?;
            let slope = step.of_step("slope", Op::Subtract, &[a, square])?;
            step.sloped(slope)
        }
        SoftmaxBack::AlongColumns => {
            let other = if axis == Axis::Rows { Axis::Columns } else { Axis::Rows };
            back_through_softmax(step, other, Base::E)
        }
        SoftmaxBack::SumsOfGradient => {
            let sums = step.part("sum", Op::Sums(axis), &[da])?;
            let sums = step.spread("sum_repeated", axis, sums, da)?;
            let rest = step.part("rest", Op::Subtract, &[da, sums])?;
            step.finish(Op::Multiply, &[a, rest])
        }
        SoftmaxBack::SumsUnweighted => {
            let weighted = step.part("weighted", Op::Multiply, &[a, da])?;
            let sums = step.part("mean", Op::Sums(axis), &[weighted])?;
            let sums = step.spread("mean_repeated", axis, sums, da)?;
            step.finish(Op::Subtract, &[weighted, sums])
        }
        SoftmaxBack::Unweighted => {
            let centred = centred(step, axis)?;
            step.finish(Op::Add, &[centred])
        }
        SoftmaxBack::Negated => {
            let centred = centred(step, axis)?;
            let negative = step.part("negative", Op::Scale(Factor::Number(-1.0)), &[centred])?;
            step.finish(Op::Multiply, &[a, negative])
        }
    }
}

/// The way back through a step of single scores, taken this many times. Only a scale and a temperature can be taken twice.
fn score(step: &mut Backward<'_>, input: usize, of: ScoreStep, times: u8) -> Option<Result<NodeId>> {
    let (op, stage) = (step.op(), step.graph()[step.y].step?.stage);
    let is_there = input == 0
        && match (of, &op) {
            (ScoreStep::Scale, Op::Scale(_)) => stage == Stage::Scaled,
            (ScoreStep::Temperature, Op::Temperature(_)) => stage == Stage::Tempered,
            (ScoreStep::SoftCap, Op::SoftCap(_)) | (ScoreStep::Mask, Op::Mask(_)) => true,
            _ => false,
        };
    is_there.then(|| {
        let mut gradient = step.dy;
        for time in 1..times {
            gradient = step.part(&format!("times_{time}"), op.clone(), &[gradient])?;
        }
        step.finish(if times == 0 { Op::Add } else { op }, &[gradient])
    })
}

/// The way back through the rotation of queries and keys.
fn rotated(step: &mut Backward<'_>, input: usize, back: RotatedBack) -> Option<Result<NodeId>> {
    let op = step.op();
    (input == 0 && matches!(op, Op::Rotary(_))).then(|| match back {
        RotatedBack::Never => step.same(),
        RotatedBack::Forward => {
            let (dy, frequencies) = (step.dy, step.input(1));
            step.finish(op, &[dy, frequencies])
        }
    })
}
