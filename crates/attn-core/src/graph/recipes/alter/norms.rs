//! Normalisations along rows, columns or all cells.

use super::chain::{Chain, Step};
use super::kinds::Norm;
use crate::attention::{Axis, Base};
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op};

impl Chain<'_> {
    /// A norm along an axis.
    pub(super) fn normed(&mut self, norm: Norm, axis: Axis, a: NodeId) -> Result<Step> {
        let whole = match norm {
            Norm::Softmax => Op::Softmax(axis, Base::E),
            Norm::Sum => Op::DivideBySum(axis),
            Norm::MinusMax => Op::MinusMax(axis),
            _ => return self.along(axis, a, |chain, rows| chain.normed_rows(norm, rows)),
        };
        Ok((whole, vec![a]))
    }

    fn normed_rows(&mut self, norm: Norm, a: NodeId) -> Result<Step> {
        let count = self.graph[a].shape().cols as f64;
        Ok(match norm {
            Norm::Length => (Op::UnitRows, vec![a]),
            Norm::Centred => (Op::MinusMean, vec![a]),
            Norm::RootMeanSquare(epsilon) => (Op::RmsNorm(epsilon), vec![a]),
            Norm::Standard { epsilon, sample: false } => (Op::LayerNorm(epsilon), vec![a]),
            // The sum of the squares over n − 1 instead of n.
            Norm::Standard { epsilon, sample: true } => {
                let share = (count - 1.0) / count;
                let normed = self.part(Op::LayerNorm(epsilon * share), &[a])?;
                (Op::Scale(Factor::Number(share.sqrt())), vec![normed])
            }
            Norm::Range => {
                let negative = self.times(-1.0, a)?;
                let (high, minus_low) =
                    (self.part(Op::Max(Axis::Rows), &[a])?, self.part(Op::Max(Axis::Rows), &[negative])?);
                let range = self.part(Op::Add, &[high, minus_low])?;
                let (range, minus_low) = (self.across(range, a)?, self.across(minus_low, a)?);
                (Op::Quotient, vec![self.part(Op::Add, &[a, minus_low])?, range])
            }
            Norm::Max => {
                let max = self.part(Op::Max(Axis::Rows), &[a])?;
                (Op::Quotient, vec![a, self.across(max, a)?])
            }
            Norm::MaxSize | Norm::SizeSum => {
                let size = self.size(a)?;
                let size = self.made(size)?;
                let of = if norm == Norm::SizeSum { Op::Sums(Axis::Rows) } else { Op::Max(Axis::Rows) };
                let divisor = self.part(of, &[size])?;
                (Op::Quotient, vec![a, self.across(divisor, a)?])
            }
            // These are steps of their own for every axis.
            Norm::Softmax | Norm::Sum | Norm::MinusMax => return self.normed(norm, Axis::Rows, a),
        })
    }
}
