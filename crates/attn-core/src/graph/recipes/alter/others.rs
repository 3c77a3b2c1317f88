//! Alterations with other numbers: another matrix of the computation, positions, a pattern of ones and zeros.

use super::chain::{Chain, Step};
use super::kinds::{Alter, Combine, OtherMatrix};
use crate::attention::{Mask, Pairing, Rotation};
use crate::error::{Error, Result};
use crate::graph::{Factor, NodeId, Op};

impl Chain<'_> {
    /// The combination with another matrix of the computation.
    pub(super) fn with(&mut self, how: Combine, other: OtherMatrix, a: NodeId) -> Result<Step> {
        let b = match other {
            OtherMatrix::Itself => a,
            OtherMatrix::ItselfTransposed => self.part(Op::Transpose, &[a])?,
            OtherMatrix::Node(name) => self.node(name)?,
        };
        let (own, of) = (self.graph[a].shape(), self.graph[b].shape());
        let is_product = matches!(how, Combine::Product | Combine::ProductTransposed);
        if !is_product && own != of {
            return Err(Error::new("the shapes do not fit"));
        }
        Ok(match how {
            Combine::Replaced => (Op::Add, vec![b]),
            Combine::Added => (Op::Add, vec![a, b]),
            Combine::Subtracted => (Op::Subtract, vec![a, b]),
            Combine::SubtractedFrom => (Op::Subtract, vec![b, a]),
            Combine::Multiplied => (Op::Multiply, vec![a, b]),
            Combine::Averaged => {
                let sum = self.part(Op::Add, &[a, b])?;
                (Op::Scale(Factor::Number(0.5)), vec![sum])
            }
            Combine::Product => (Op::Product, vec![a, b]),
            Combine::ProductTransposed => (Op::ProductTransposed, vec![a, b]),
        })
    }

    /// A node of the same head, or one that all heads share.
    fn node(&self, name: &str) -> Result<NodeId> {
        let of_head = self.graph.find(&format!("{name}{}", self.suffix()));
        of_head.or_else(|| self.graph.find(name)).ok_or_else(|| Error::new(format!("there is no {name}")))
    }

    /// The same cells in the same shape, read in another order.
    pub(super) fn scrambled(&mut self, alter: Alter, a: NodeId) -> Result<Step> {
        let shape = self.graph[a].shape();
        match alter {
            Alter::ReadByColumn => {
                let turned = self.part(Op::Transpose, &[a])?;
                Ok((Op::Reshape { rows: shape.rows, cols: shape.cols }, vec![turned]))
            }
            _ => {
                let other = self.part(Op::Reshape { rows: shape.cols, cols: shape.rows }, &[a])?;
                Ok((Op::Transpose, vec![other]))
            }
        }
    }

    /// Multiplied by a pattern of ones and zeros, or with one added.
    pub(super) fn patterned(&mut self, alter: Alter, a: NodeId) -> Result<Step> {
        let rows = self.graph[a].shape().rows;
        match alter {
            Alter::Kept(mask) => {
                let pattern = self.part(Op::MaskPattern(mask), &[a])?;
                Ok((Op::Multiply, vec![a, pattern]))
            }
            Alter::PaddingZeroed(mask) => {
                let matrix =
                    self.graph.find("M").ok_or_else(|| Error::new("there is no mask of the padding"))?;
                let visible = self.part(Op::MaskPattern(mask), &[matrix, matrix])?;
                let row = self.part(Op::Rows { start: 0, count: 1 }, &[visible])?;
                Ok((Op::Product, vec![self.part(Op::Diagonal, &[row])?, a]))
            }
            _ => {
                let own = Mask { window: Some(1), from_start: true, ..Mask::default() };
                let ones = self.filled_with(1.0, (rows, self.graph[a].shape().cols))?;
                Ok((Op::Add, vec![a, self.part(Op::MaskPattern(own), &[ones])?]))
            }
        }
    }

    /// With sinusoidal positions added.
    pub(super) fn positions(&mut self, alter: Alter, a: NodeId) -> Result<Step> {
        let shape = self.graph[a].shape();
        let (rows, width) = (shape.rows, shape.cols);
        let sines = |tokens| Op::Sinusoidal { first: 0, tokens, width };
        Ok(match alter {
            Alter::PositionsFromOne => {
                let all = self.part(sines(rows + 1), &[])?;
                (Op::Add, vec![a, self.part(Op::Rows { start: 1, count: rows }, &[all])?])
            }
            Alter::PositionsInHalves => {
                let all = self.part(sines(rows), &[])?;
                let sines = self.part(Op::EveryNthColumn { start: 0, step: 2 }, &[all])?;
                let cosines = self.part(Op::EveryNthColumn { start: 1, step: 2 }, &[all])?;
                (Op::Add, vec![a, self.part(Op::Concatenate, &[sines, cosines])?])
            }
            Alter::Positions(times) => {
                let positions = self.part(sines(rows), &[])?;
                (Op::Add, [vec![a], vec![positions; usize::from(times)]].concat())
            }
            _ => (Op::Add, vec![a]),
        })
    }

    /// Rotates all columns by their position, with the paper's frequencies.
    pub(super) fn rotary(&mut self, pairing: Pairing, a: NodeId, first: usize) -> Result<Step> {
        let width = self.graph[a].shape().cols;
        if !width.is_multiple_of(2) {
            return Err(Error::new(format!("a width of {width} cannot be rotated in pairs")));
        }
        let frequencies = self.part(Op::Frequencies { width, base: 10_000.0 }, &[])?;
        Ok((Op::Rotary(Rotation { first, pairing, magnitude: 1.0 }), vec![a, frequencies]))
    }
}
