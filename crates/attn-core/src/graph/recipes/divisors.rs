//! The divisors that turn scores or powers into weights, and ranges of a spreadsheet that move with the formula.

use super::choices_of_weights::Divisor;
use super::weights::Head;
use crate::attention::{Axis, Mask};
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op};

impl Head<'_> {
    /// The function values over their divisor.
    pub(super) fn divided(&mut self, name: &str, powers: NodeId, axis: Axis) -> Result<NodeId> {
        let how = self.recipe.normalise;
        let sum_axis = match how.divisor {
            Divisor::ColumnSum => Axis::Columns,
            Divisor::WholeSum => Axis::Whole,
            _ => axis,
        };
        match how.divisor {
            Divisor::Nothing => Ok(powers),
            Divisor::Sum | Divisor::ColumnSum | Divisor::WholeSum if !how.single => {
                self.add(name, Op::DivideBySum(sum_axis), &[powers])
            }
            Divisor::Length => {
                // Without a guard a row of zeros is 0/0, which a root mean square gives and a unit row does not.
                let width = self.graph[powers].shape().cols;
                let rows = self.add("E_rms", Op::RmsNorm(0.0), &[powers])?;
                self.add(name, Op::Scale(Factor::InverseRoot(width)), &[rows])
            }
            Divisor::Count => {
                let count = self.graph[powers].shape().cols;
                self.add(name, Op::Scale(Factor::Inverse(count)), &[powers])
            }
            Divisor::FirstSum => {
                let sums = self.add("E_sum", Op::Sums(Axis::Rows), &[powers])?;
                let first = self.add("E_sum_first", Op::Rows { start: 0, count: 1 }, &[sums])?;
                self.add(name, Op::Divide, &[powers, first])
            }
            _ => {
                let divisor = self.divisor(powers)?;
                self.add(name, Op::Quotient, &[powers, divisor])
            }
        }
    }

    /// The divisor of each cell.
    fn divisor(&mut self, powers: NodeId) -> Result<NodeId> {
        match self.recipe.normalise.divisor {
            Divisor::Max => {
                let max = self.add("E_largest", Op::Max(Axis::Rows), &[powers])?;
                self.down("E_largest", max, powers)
            }
            Divisor::MisplacedSum => {
                let sums = self.add("E_sum", Op::Sums(Axis::Rows), &[powers])?;
                self.across("E_sum", sums, powers)
            }
            Divisor::SizeSum => {
                let minus = self.add("E_negated", Op::Scale(Factor::Number(-1.0)), &[powers])?;
                let parts =
                    [self.add("E_above_0", Op::Relu, &[powers])?, self.add("E_below_0", Op::Relu, &[minus])?];
                let sizes = self.add("E_sizes", Op::Add, &parts)?;
                let sums = self.add("E_sum", Op::Sums(Axis::Rows), &[sizes])?;
                self.down("E_sum", sums, powers)
            }
            Divisor::SumAnd(number) => {
                let sums = self.add("E_sum", Op::Sums(Axis::Rows), &[powers])?;
                let spread = self.down("E_sum", sums, powers)?;
                let ones = self.ones(powers)?;
                let more = self.add("E_more", Op::Scale(Factor::Number(number)), &[ones])?;
                self.add("E_divisor", Op::Add, &[spread, more])
            }
            Divisor::SumFromHere(axis) => self.sum_from_here(powers, axis),
            _ => {
                let sums = self.add("E_sum_double", Op::Sums(Axis::Rows), &[powers])?;
                let sums = self.add("E_sum", Op::SingleRange, &[sums])?;
                self.down("E_sum", sums, powers)
            }
        }
    }

    /// The sums of each row from each column on, of each column from each row on, or of each row and all rows below it.
    fn sum_from_here(&mut self, powers: NodeId, axis: Axis) -> Result<NodeId> {
        if axis == Axis::Rows {
            let earlier = self.ones_up_to_here(self.graph[powers].shape().cols)?;
            return self.add("E_sums_from_here", Op::Product, &[powers, earlier]);
        }
        let earlier = self.ones_up_to_here(self.graph[powers].shape().rows)?;
        let later = self.add("later", Op::Transpose, &[earlier])?;
        if axis == Axis::Columns {
            return self.add("E_sums_from_here", Op::Product, &[later, powers]);
        }
        let sums = self.add("E_sum", Op::Sums(Axis::Rows), &[powers])?;
        let from_here = self.add("E_sum_from_here", Op::Product, &[later, sums])?;
        self.down("E_sum_from_here", from_here, powers)
    }

    /// A square with 1 in row i of columns 1 to i, and 0 elsewhere.
    fn ones_up_to_here(&mut self, size: usize) -> Result<NodeId> {
        let square = self.add("square_of_ones", Op::Ones { rows: size, cols: size }, &[])?;
        let lower = Mask { causal: true, ..Mask::default() };
        self.add("earlier", Op::MaskPattern(lower), &[square])
    }

    /// The max of each row of the scores from each column on.
    pub(super) fn max_from_here(&mut self, read: NodeId) -> Result<NodeId> {
        let cols = self.graph[read].shape().cols;
        let mut parts = Vec::new();
        for start in 0..cols {
            let rest = Op::Columns { start, count: cols - start };
            let rest = self.add(&format!("S_from_{}", start + 1), rest, &[read])?;
            parts.push(self.add(&format!("S_largest_from_{}", start + 1), Op::Max(Axis::Rows), &[rest])?);
        }
        self.add("S_largest_from_here", Op::Concatenate, &parts)
    }
}
