//! Other products than the right one, on the way back through a product.

use crate::error::{Error, Result};
use crate::graph::gradients::backward::Backward;
use crate::graph::gradients::naming;
use crate::graph::{Graph, NodeId, Op, Role, Stage};

/// What a product of attention hands its gradient on to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub(super) fn of(graph: &Graph, step: NodeId, input: usize) -> Option<HandedTo> {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Which of them is transposed.
    pub kind: ProductKind,
    /// Both, in order.
    pub of: [Operand; 2],
}

/// Which matrix of a product is transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductKind {
    /// None: `a b`.
    Plain,
    /// The first: `aᵀ b`.
    FirstTransposed,
    /// The second: `a bᵀ`.
    SecondTransposed,
}

/// A matrix that a wrong product takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
            Operand::GradientOf(role) => return step.graph().require(&naming::gradient(role.name())),
            Operand::Own => step.input(input),
            Operand::Other => step.input(1 - input),
            Operand::Output => step.y,
        })
    }
}

/// What is handed on at this place; its shape must be that of the input, unless that is a weight matrix, which may come out
/// transposed.
pub(super) fn other(
    step: &mut Backward<'_>,
    input: usize,
    to: HandedTo,
    product: Product,
) -> Option<Result<NodeId>> {
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
