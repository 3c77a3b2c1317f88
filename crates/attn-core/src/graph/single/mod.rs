//! Ops in single precision: products in [`crate::kernel`], the frequent ops row by row, every other op in double precision, each
//! number then rounded. Each of them gives the same bits on every machine.

mod cells;
mod heads;
mod numbers;
mod products;
mod rows;

use std::borrow::Cow;

use super::op::Op;
use crate::attention::WeightLayout;
use crate::error::Result;
use crate::kernel::Machine;
use crate::matrix::Matrix;
use crate::tensor::Tensor;
pub(in crate::graph) use heads::HeadSteps;
use numbers::{as_matrix, rounded};
use products::linear;

/// The numbers that the steps of a graph are computed in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Precision {
    /// Double precision in a fixed order: the exact path.
    #[default]
    Exact,
    /// Single precision, on this machine; the result does not depend on it.
    Single(Machine),
}

impl Op {
    /// The op's value in single precision.
    ///
    /// # Errors
    /// If the inputs do not fit, or cannot be read.
    pub(super) fn apply_in_single(&self, inputs: &[&Tensor], machine: Machine) -> Result<Tensor> {
        self.arity().check(self, inputs.len())?;
        match (self, inputs) {
            (Op::Linear(layout), [x, weights, bias @ ..]) => {
                linear(x, weights, *layout, bias.first().copied(), machine)
            }
            (Op::ProductTransposed, [a, b]) => linear(a, b, WeightLayout::OutIn, None, machine),
            (Op::Product, [a, b]) => linear(a, b, WeightLayout::InOut, None, machine),
            _ if self.reads_in_place() => rounded(&self.apply_in_place(inputs)?),
            _ if let Some(value) = cells::apply(self, inputs, machine)? => Ok(value),
            _ if let Some(value) = rows::apply(self, inputs, machine)? => Ok(value),
            _ => {
                let matrices: Vec<Cow<'_, Matrix>> =
                    inputs.iter().map(|tensor| as_matrix(tensor)).collect::<Result<_>>()?;
                let value = self.apply(&matrices.iter().map(Cow::as_ref).collect::<Vec<_>>())?;
                // The frequencies of rotary positions are the same in both precisions.
                if inputs.iter().all(|tensor| tensor.is_exact()) { Ok(value.into()) } else { rounded(&value) }
            }
        }
    }
}
