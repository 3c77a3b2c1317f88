//! The number of inputs of each op.
#![deny(clippy::wildcard_enum_match_arm)]

use super::op::Op;
use super::op_parameters::Fusion;
use crate::attention::RopeScaling;
use crate::error::{Error, Result};
use crate::text::counted;

/// The range of the number of inputs of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity {
    /// At least this many.
    pub least: usize,
    /// At most this many; no limit where there is none.
    pub most: Option<usize>,
}

impl Arity {
    const fn exactly(count: usize) -> Arity {
        Arity { least: count, most: Some(count) }
    }

    const fn between(least: usize, most: usize) -> Arity {
        Arity { least, most: Some(most) }
    }

    const ANY: Arity = Arity { least: 1, most: None };

    /// # Errors
    /// If the op cannot read this many inputs.
    pub(super) fn check(self, op: &Op, inputs: usize) -> Result<()> {
        let Arity { least, most } = self;
        if inputs >= least && most.is_none_or(|most| inputs <= most) {
            return Ok(());
        }
        let takes = match most {
            Some(most) if most == least => matrices(least),
            Some(most) => format!("{least} to {}", matrices(most)),
            None => format!("at least {}", matrices(least)),
        };
        let are = if inputs == 1 { "is" } else { "are" };
        Err(Error::new(format!("`{}` takes {takes}, but {inputs} {are} given", op.name())))
    }
}

fn matrices(count: usize) -> String {
    if count == 1 { counted(1, "matrix") } else { format!("{count} matrices") }
}

impl Op {
    /// The number of inputs of the op.
    pub fn arity(&self) -> Arity {
        match self {
            Op::Given(_)
            | Op::Ones { .. }
            | Op::Sinusoidal { .. }
            | Op::Frequencies { .. }
            | Op::Alibi(..) => Arity::exactly(0),
            Op::Transpose
            | Op::Scale(_)
            | Op::Temperature(_)
            | Op::SoftCap(_)
            | Op::MinusMax(_)
            | Op::Exponential(_)
            | Op::Logarithm
            | Op::Root
            | Op::NormalShare
            | Op::SingleRange
            | Op::Sums(_)
            | Op::BlockSums { .. }
            | Op::Max(_)
            | Op::DivideBySum(_)
            | Op::Softmax(..)
            | Op::UnguardedSoftmax(..)
            | Op::NegativeLogSoftmax
            | Op::Columns { .. }
            | Op::EveryNthColumn { .. }
            | Op::RepeatColumns(_)
            | Op::TokenRows(_)
            | Op::OnePlus
            | Op::Rows { .. }
            | Op::ReverseRows
            | Op::SortRows(_)
            | Op::Reshape { .. }
            | Op::Relu
            | Op::EluPlusOne
            | Op::Sigmoid
            | Op::Tanh
            | Op::Silu
            | Op::Gelu(_)
            | Op::MinusMean
            | Op::UnitRows
            | Op::BucketBias { .. }
            | Op::SingularVectors { .. }
            | Op::SingularValues
            | Op::Diagonal
            | Op::Summary(_)
            | Op::Round(_)
            | Op::Truncate(_) => Arity::exactly(1),
            Op::Product
            | Op::ProductTransposed
            | Op::TransposedProduct
            | Op::Subtract
            | Op::Change
            | Op::Multiply
            | Op::Divide
            | Op::Times
            | Op::Quotient
            | Op::SoftmaxWithSink { .. }
            | Op::Guard
            | Op::Rotary(_)
            | Op::Cosine
            | Op::Euclidean => Arity::exactly(2),
            // The matrix of the mask, where its rule reads one.
            Op::Mask(rule) | Op::MaskPattern(rule) => Arity::exactly(1 + usize::from(rule.matrix.is_some())),
            Op::ScaledFrequencies(scaling) => {
                Arity::exactly(1 + usize::from(matches!(scaling, RopeScaling::LongRope { .. })))
            }
            Op::RmsNorm(_) => Arity::between(1, 2),
            Op::Linear(_) => Arity::between(2, 3),
            Op::LayerNorm(_) => Arity::between(1, 3),
            Op::Add | Op::Concatenate | Op::Stack(_) | Op::Fused(Fusion::LogSumExp) => Arity::ANY,
            // Q, K, V; sinks, a table of positions, a bias, a mask.
            Op::Fused(Fusion::Output(_)) => Arity::between(3, 7),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::{Mask, MatrixRule};
    use crate::matrix::Matrix;

    #[test]
    fn an_op_says_how_many_inputs_it_takes() {
        let a = Matrix::identity(2);
        let error = |op: &Op, inputs: usize| op.apply(&vec![&a; inputs]).unwrap_err().to_string();
        assert_eq!(error(&Op::Product, 1), "`product` takes 2 matrices, but 1 is given");
        assert_eq!(error(&Op::Tanh, 0), "`tanh` takes 1 matrix, but 0 are given");
        assert_eq!(error(&Op::LayerNorm(0.0), 4), "`layer-norm` takes 1 to 3 matrices, but 4 are given");
        assert_eq!(error(&Op::Add, 0), "`add` takes at least 1 matrix, but 0 are given");
        let rule = Mask { matrix: Some(MatrixRule::Allow), ..Mask::default() };
        assert_eq!(error(&Op::Mask(rule), 1), "`mask` takes 2 matrices, but 1 is given");
        assert_eq!(error(&Op::Mask(Mask::default()), 2), "`mask` takes 1 matrix, but 2 are given");
    }
}
