//! Ops that take each cell for itself, in single precision.

use super::super::op::Op;
use super::super::op_parameters::GeluForm;
use super::numbers::{named, singles};
use crate::error::Result;
use crate::kernel::{Activation, Machine, activate};
use crate::memory;
use crate::tensor::Tensor;

/// The value of an op on single cells; none for other ops, and where the inputs have different shapes.
pub(super) fn apply(op: &Op, inputs: &[&Tensor], machine: Machine) -> Result<Option<Tensor>> {
    let Some(first) = inputs.first() else { return Ok(None) };
    let (shape, same) = (first.shape(), inputs.iter().all(|input| input.shape() == first.shape()));
    if !same || inputs.iter().any(|input| input.is_exact()) {
        return Ok(None);
    }
    let a = singles(first)?;
    let mut out: Vec<f32> = memory::room_for(a.len())?;
    match op {
        Op::Add => {
            out.extend_from_slice(&a);
            for other in &inputs[1..] {
                for (sum, x) in out.iter_mut().zip(singles(other)?.iter()) {
                    *sum += x;
                }
            }
        }
        Op::Multiply => out.extend(a.iter().zip(singles(inputs[1])?.iter()).map(|(a, b)| a * b)),
        Op::Scale(factor) => {
            let factor = factor.value() as f32;
            out.extend(a.iter().map(|x| x * factor));
        }
        Op::OnePlus => out.extend(a.iter().map(|x| 1.0 + x)),
        Op::Relu => out.extend(a.iter().map(|x| if *x > 0.0 { *x } else { 0.0 })),
        Op::Silu | Op::Gelu(_) => {
            let activation = match op {
                Op::Gelu(GeluForm::Erf) => Activation::Gelu,
                Op::Gelu(GeluForm::Tanh) => Activation::GeluTanh,
                _ => Activation::Silu,
            };
            out.extend_from_slice(&a);
            activate(activation, &mut out, machine)?;
        }
        _ => return Ok(None),
    }
    named(out, (shape.rows, shape.cols), first.row_labels(), first.col_labels()).map(Some)
}
