//! Products in single precision.

use half::{bf16, f16};

use super::numbers::{named, singles};
use crate::attention::WeightLayout;
use crate::error::{Error, Result};
use crate::kernel::{self, Linear, LinearWeight, Machine, Rows, WeightOrder};
use crate::memory;
use crate::tensor::{Dtype, Tensor};

/// `x W + b`, or `x Wᵀ + b`, with weights in their own type and order.
pub(super) fn linear(
    x: &Tensor,
    weights: &Tensor,
    layout: WeightLayout,
    bias: Option<&Tensor>,
    machine: Machine,
) -> Result<Tensor> {
    let weights = weights.in_memory()?;
    let weights = weights.as_ref();
    let (inputs, outputs) = layout.inputs_and_outputs(weights.shape());
    let (rows, width) = (x.shape().rows, x.shape().cols);
    if width != inputs {
        return Err(Error::new(format!(
            "a {} matrix cannot be multiplied by {} weights",
            x.shape(),
            weights.shape()
        )));
    }
    let x_numbers = singles(x)?;
    let bias = bias.map(singles).transpose()?;
    let order = match layout {
        WeightLayout::OutIn => WeightOrder::OutIn,
        WeightLayout::InOut => WeightOrder::InOut,
    };
    let mut out: Vec<f32> = memory::uncharged_zeros(rows.saturating_mul(outputs))?;
    let product = Product { x: &x_numbers, rows, inputs, weights, order, bias: bias.as_deref(), machine };
    match weights.dtype() {
        Dtype::F16 => product.run::<f16>(weights.slice::<f16>(), &mut out),
        Dtype::Bf16 => product.run::<bf16>(weights.slice::<bf16>(), &mut out),
        _ => product.run::<f32>(Some(&singles(weights)?), &mut out),
    }?;
    let col_labels = match layout {
        WeightLayout::InOut => weights.col_labels(),
        WeightLayout::OutIn => weights.row_labels(),
    };
    named(out, (rows, outputs), x.row_labels(), col_labels)
}

struct Product<'a> {
    x: &'a [f32],
    rows: usize,
    inputs: usize,
    weights: &'a Tensor,
    order: WeightOrder,
    bias: Option<&'a [f32]>,
    machine: Machine,
}

impl Product<'_> {
    fn run<W: LinearWeight>(&self, weights: Option<&[W]>, out: &mut [f32]) -> Result<()> {
        let shape = self.weights.shape();
        let weights = weights.ok_or_else(|| Error::new("the weights have another type"))?;
        let problem = Linear {
            input: Rows::new("x", self.x, self.rows, self.inputs)?,
            weights: Rows::new("the weights", weights, shape.rows, shape.cols)?,
            order: self.order,
            bias: self.bias,
        };
        kernel::linear(&problem, self.machine, out)?;
        Ok(())
    }
}
