//! Top-k of each row, and slanted rows.

use super::chain::{Chain, Step};
use super::kinds::Slant;
use crate::attention::{Axis, Mask, MatrixRule, Order};
use crate::error::{Error, Result};
use crate::graph::{NodeId, Op};

impl Chain<'_> {
    /// Top-k: the k largest numbers of each row, 0 in the other cells, divided by their sum if `divided`.
    pub(super) fn top_k(&mut self, (count, divided): (usize, bool), a: NodeId) -> Result<Step> {
        if count == 0 || count >= self.graph[a].shape().cols {
            return Err(Error::new("nothing is left out"));
        }
        let sorted = self.part(Op::SortRows(Order::Descending), &[a])?;
        let least = self.part(Op::Columns { start: count - 1, count: 1 }, &[sorted])?;
        let least = self.across(least, a)?;
        // The distance of each number below the smallest kept one: 0 for kept numbers.
        let below = self.part(Op::Subtract, &[least, a])?;
        let below = self.part(Op::Relu, &[below])?;
        let rule = Mask { matrix: Some(MatrixRule::Block), ..Mask::default() };
        let pattern = self.part(Op::MaskPattern(rule), &[a, below])?;
        if !divided {
            return Ok((Op::Multiply, vec![a, pattern]));
        }
        let kept = self.part(Op::Multiply, &[a, pattern])?;
        Ok((Op::DivideBySum(Axis::Rows), vec![kept]))
    }

    /// Row i moved i columns to the side. The matrix with a square of zeros beside it is read as rows that are one cell longer
    /// (or shorter): each row then begins one cell later (or earlier) than the one above it.
    pub(super) fn slanted(&mut self, side: Slant, a: NodeId) -> Result<Step> {
        let (rows, cols) = (self.graph[a].shape().rows, self.graph[a].shape().cols);
        let zeros = self.filled_with(0.0, (rows, rows))?;
        let width = cols + rows;
        let beside = match side {
            Slant::Left => [a, zeros],
            Slant::Right => [zeros, a],
        };
        let wide = self.part(Op::Concatenate, &beside)?;
        let line = self.part(Op::Reshape { rows: 1, cols: rows * width }, &[wide])?;
        let (line, width) = match side {
            Slant::Left => {
                let end = self.filled_with(0.0, (1, rows))?;
                (self.part(Op::Concatenate, &[line, end])?, width + 1)
            }
            Slant::Right => {
                (self.part(Op::Columns { start: rows, count: rows * (width - 1) }, &[line])?, width - 1)
            }
        };
        let slanted = self.part(Op::Reshape { rows, cols: width }, &[line])?;
        Ok((Op::Columns { start: 0, count: cols }, vec![slanted]))
    }
}
