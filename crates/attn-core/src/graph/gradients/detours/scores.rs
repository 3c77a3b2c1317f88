//! Other ways back from the weights through the scores.

use crate::attention::{Axis, Base};
use crate::error::Result;
use crate::graph::gradients::{backward::Backward, rows};
use crate::graph::{Factor, NodeId, Op, Stage};

/// Another way back through `A = softmax(S)` than `dS = A ∘ (dA − row sums of A ∘ dA)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotatedBack {
    /// Not at all.
    Never,
    /// By the same angle once more.
    Forward,
}

/// The axis of the softmax that makes the weights, if the step is that.
pub(super) fn axis(step: &Backward<'_>, input: usize) -> Option<Axis> {
    let axis = match step.op() {
        Op::Softmax(axis, _) | Op::UnguardedSoftmax(axis, _) if input == 0 => axis,
        Op::SoftmaxWithSink { .. } if input == 0 => Axis::Rows,
        _ => return None,
    };
    step.is_weights().then_some(axis)
}

/// The weights of the scores before the mask.
pub(super) fn unmasked(step: &mut Backward<'_>) -> Result<NodeId> {
    let mut inputs = step.graph()[step.y].inputs.clone();
    if let Op::Mask(_) = step.graph()[inputs[0]].op {
        inputs[0] = step.graph()[inputs[0]].inputs[0];
    }
    step.of_step("unmasked", step.op(), &inputs)
}

/// The way back through that softmax.
pub(super) fn softmax(step: &mut Backward<'_>, axis: Axis, back: SoftmaxBack) -> Result<NodeId> {
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
            rows::softmax(step, other, Base::E)
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
            let centred = rows::centred(step, axis)?;
            step.finish(Op::Add, &[centred])
        }
        SoftmaxBack::Negated => {
            let centred = rows::centred(step, axis)?;
            let negative = step.part("negative", Op::Scale(Factor::Number(-1.0)), &[centred])?;
            step.finish(Op::Multiply, &[a, negative])
        }
    }
}

/// The way back through a step of single scores, taken this many times. Only a scale and a temperature can be taken twice.
pub(super) fn score(
    step: &mut Backward<'_>,
    input: usize,
    of: ScoreStep,
    times: u8,
) -> Option<Result<NodeId>> {
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
pub(super) fn rotated(step: &mut Backward<'_>, input: usize, back: RotatedBack) -> Option<Result<NodeId>> {
    let op = step.op();
    (input == 0 && matches!(op, Op::Rotary(_))).then(|| match back {
        RotatedBack::Never => step.same(),
        RotatedBack::Forward => {
            let (dy, frequencies) = (step.dy, step.input(1));
            step.finish(op, &[dy, frequencies])
        }
    })
}
