//! Rearranged rows and columns.

use super::chain::{Chain, Step};
use super::kinds::Move;
use crate::attention::{Axis, Mask};
use crate::error::{Error, Result};
use crate::graph::{Factor, NodeId, Op};

/// A block of rows of the rearranged matrix.
#[derive(Clone, Copy)]
enum Block {
    /// Rows of the original: the first, and their count.
    Own(usize, usize),
    /// This many rows of zeros.
    Zero(usize),
}

impl Chain<'_> {
    /// Rearranged rows; along columns, rearranged columns.
    pub(super) fn moved(&mut self, how: Move, axis: Axis, a: NodeId) -> Result<Step> {
        self.along(axis, a, |chain, rows| chain.moved_rows(how, rows))
    }

    fn moved_rows(&mut self, how: Move, a: NodeId) -> Result<Step> {
        let rows = self.graph[a].shape().rows;
        if rows < 2 {
            return Err(Error::new("one row alone has no other place"));
        }
        match how {
            Move::Reversed => Ok((Op::ReverseRows, vec![a])),
            Move::FirstForAll | Move::LastForAll => {
                let start = if how == Move::FirstForAll { 0 } else { rows - 1 };
                let row = self.part(Op::Rows { start, count: 1 }, &[a])?;
                let ones = self.part(Op::Ones { rows, cols: 1 }, &[])?;
                Ok((Op::Product, vec![ones, row]))
            }
            Move::SumForAll | Move::SumOnly => {
                let count = if how == Move::SumForAll { rows } else { 1 };
                Ok((Op::Product, vec![self.filled_with(1.0, (count, rows))?, a]))
            }
            Move::MeanForAll | Move::MeanOnly => {
                let count = if how == Move::MeanForAll { rows } else { 1 };
                let ones = self.filled_with(1.0, (count, rows))?;
                Ok((Op::Product, vec![self.part(Op::Scale(Factor::Inverse(rows)), &[ones])?, a]))
            }
            Move::MaxForAll | Move::MaxOnly => {
                let turned = self.part(Op::Transpose, &[a])?;
                let max = self.part(Op::Max(Axis::Rows), &[turned])?;
                if how == Move::MaxOnly {
                    return Ok((Op::Transpose, vec![max]));
                }
                let ones = self.filled_with(1.0, (rows, 1))?;
                Ok((Op::ProductTransposed, vec![ones, max]))
            }
            Move::Cumulative | Move::CumulativeFromEnd | Move::RunningMean => self.cumulative(how, a),
            Move::Differences => {
                let before = self.stacked(a, &[Block::Zero(1), Block::Own(0, rows - 1)])?;
                Ok((Op::Subtract, vec![a, self.made(before)?]))
            }
            _ => self.stacked(a, &blocks(how, rows)),
        }
    }

    /// Sums or means of all rows up to each, or from each on.
    fn cumulative(&mut self, how: Move, a: NodeId) -> Result<Step> {
        let rows = self.graph[a].shape().rows;
        let ones = self.part(Op::Ones { rows, cols: rows }, &[])?;
        let causal = self.part(Op::MaskPattern(Mask { causal: true, ..Mask::default() }), &[ones])?;
        let which = match how {
            Move::CumulativeFromEnd => self.part(Op::Transpose, &[causal])?,
            Move::RunningMean => self.part(Op::DivideBySum(Axis::Rows), &[causal])?,
            _ => causal,
        };
        Ok((Op::Product, vec![which, a]))
    }

    /// Blocks of rows on top of each other.
    fn stacked(&mut self, a: NodeId, blocks: &[Block]) -> Result<Step> {
        let cols = self.graph[a].shape().cols;
        let mut parts = Vec::new();
        for block in blocks {
            match *block {
                Block::Own(_, 0) | Block::Zero(0) => {}
                Block::Own(start, count) => parts.push(self.part(Op::Rows { start, count }, &[a])?),
                Block::Zero(count) => parts.push(self.filled_with(0.0, (count, cols))?),
            }
        }
        // Repeated rows cannot keep their labels.
        Ok((Op::Stack(None), parts))
    }
}

/// The blocks of rows after a move, from the first row on.
fn blocks(how: Move, rows: usize) -> Vec<Block> {
    use Block::{Own, Zero};
    let (last, half) = (rows - 1, rows / 2);
    match how {
        Move::Later => vec![Own(last, 1), Own(0, last)],
        Move::Earlier => vec![Own(1, last), Own(0, 1)],
        Move::LaterFromZero => vec![Zero(1), Own(0, last)],
        Move::EarlierToZero => vec![Own(1, last), Zero(1)],
        Move::FirstTwice => vec![Own(0, 1), Own(0, last)],
        Move::LastTwice => vec![Own(1, last), Own(last, 1)],
        Move::LastReplaced => vec![Own(0, last), Own(last - 1, 1)],
        Move::FirstGone => vec![Own(1, last)],
        Move::LastGone => vec![Own(0, last)],
        Move::FirstZero => vec![Zero(1), Own(1, last)],
        Move::LastZero => vec![Own(0, last), Zero(1)],
        Move::FirstHalfZero => vec![Zero(half), Own(half, rows - half)],
        Move::LastHalfZero => vec![Own(0, half), Zero(rows - half)],
        Move::EndsSwapped => vec![Own(last, 1), Own(1, last - 1), Own(0, 1)],
        Move::HalvesSwapped => vec![Own(half, rows - half), Own(0, half)],
        Move::NeighboursSwapped => {
            let pairs = (0..half).flat_map(|pair| [Own(2 * pair + 1, 1), Own(2 * pair, 1)]);
            pairs.chain([Own(2 * half, rows % 2)]).collect()
        }
        Move::Repeated => vec![Own(0, rows), Own(0, rows)],
        Move::FirstOnly => vec![Own(0, 1)],
        Move::LastOnly => vec![Own(last, 1)],
        // The other moves (sums, means …) do not copy blocks of rows.
        _ => vec![Own(0, rows)],
    }
}
