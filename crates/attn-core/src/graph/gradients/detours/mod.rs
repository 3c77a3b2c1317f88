//! A backward pass with a mistake in it: some of its steps are done otherwise than they should be, and what follows from them is
//! computed as usual.

mod products;
mod scores;
mod sums;

use super::backward::Backward;
use super::naming;
use crate::error::Result;
use crate::graph::{Factor, Graph, NodeId, Op};
pub use products::{HandedTo, Operand, Product, ProductKind};
pub use scores::{RotatedBack, ScoreStep, SoftmaxBack};
pub(super) use sums::Part;
pub use sums::{GroupSum, Path, Paths};

/// A step of the backward pass that is done otherwise than it should be. See [`Graph::gradients_with`].
#[derive(Clone, Copy, Debug, PartialEq)]
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
            Detour::Softmax(back) => Some(scores::softmax(step, scores::axis(step, input)?, back)),
            Detour::Score(of, times) => scores::score(step, input, of, times),
            Detour::Rotation(back) => scores::rotated(step, input, back),
            Detour::Product(to, product) => products::other(step, input, to, product),
            Detour::Start(_) | Detour::Unmasked | Detour::Times(..) | Detour::Group(_) | Detour::Paths(_) => {
                None
            }
        }
    }
}

/// What is handed on by the first of these that changes this step.
pub(super) fn handed_on(detours: &[Detour], step: &mut Backward<'_>, input: usize) -> Option<Result<NodeId>> {
    let is_softmax = scores::axis(step, input).is_some();
    if is_softmax && detours.contains(&Detour::Unmasked) {
        match scores::unmasked(step) {
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
    let name = naming::beside(&graph[start].name, "changed");
    graph.add(&name, Op::Scale(Factor::Number(number)), &[start])
}

/// The parts that are added up, and the number by which their sum is divided.
pub(super) fn kept(detours: &[Detour], graph: &Graph, parts: Vec<Part>) -> (Vec<Part>, usize) {
    detours.iter().fold((parts, 1), |(parts, count), detour| match detour {
        Detour::Group(sum) => sums::of_group(graph, parts, count, *sum),
        Detour::Paths(paths) => (sums::on_paths(graph, parts, *paths), count),
        _ => (parts, count),
    })
}
