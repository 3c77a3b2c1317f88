//! Ops in single precision: products in [`attn_kernel`], the frequent ops row by row, every other op in double precision, each
//! number then rounded. Each of them gives the same bits on every machine.

use std::borrow::Cow;
use std::ops::Range;

use attn_kernel as kernel;
use attn_kernel::{
    Activation, Layout, Linear, LinearWeight, Machine, Rows, WeightOrder, activate, softmax_rows,
};
use half::{bf16, f16};

use crate::attention::{Axis, Base, WeightLayout};
use crate::error::{Error, Result};
use crate::matrix::{Labels, Matrix, Shape};
use crate::memory;
use crate::tensor::{Dtype, Tensor};

use super::op::{GeluForm, Op};

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
            (Op::Linear(layout), [x, w, bias @ ..]) => linear(x, w, *layout, bias.first().copied(), machine),
            (Op::ProductTransposed, [a, b]) => linear(a, b, WeightLayout::OutIn, None, machine),
            (Op::Product, [a, b]) => linear(a, b, WeightLayout::InOut, None, machine),
            _ if self.reads_in_place() => rounded(&self.apply_in_place(inputs)?),
            _ if let Some(value) = apply_to_rows(self, inputs, machine)? => Ok(value),
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

// The numbers of a step: as they lie in memory, in single precision, or as a matrix in double precision.

/// The numbers as a matrix of `f64`, without keeping it.
fn as_matrix(tensor: &Tensor) -> Result<Cow<'_, Matrix>> {
    if let Some(matrix) = tensor.formed_matrix() {
        return Ok(Cow::Borrowed(matrix));
    }
    if tensor.is_stored() {
        return tensor.clone().into_matrix().map(Cow::Owned);
    }
    let shape = tensor.shape();
    let matrix = Matrix::from_fn(shape.rows, shape.cols, |i, j| tensor.at(i, j));
    let (rows, cols) = (tensor.row_labels().cloned(), tensor.col_labels().cloned());
    Ok(Cow::Owned(matrix.labelled_by(rows.as_ref(), cols.as_ref())))
}

/// A matrix in single precision. Numbers beyond its range become infinite, as they do in every program that computes in it.
fn rounded(matrix: &Matrix) -> Result<Tensor> {
    let mut values: Vec<f32> = memory::room_for(matrix.rows().saturating_mul(matrix.cols()))?;
    values.extend(matrix.cells().map(|x| x as f32));
    named(values, (matrix.rows(), matrix.cols()), matrix.row_labels(), matrix.col_labels())
}

/// Numbers row by row, with names for rows and columns.
pub(super) fn named(
    values: Vec<f32>,
    (rows, cols): (usize, usize),
    row_labels: Option<&Labels>,
    col_labels: Option<&Labels>,
) -> Result<Tensor> {
    let tensor = Tensor::new(values, Layout::stacked(1, rows, cols))?;
    Ok(tensor.labelled(row_labels.cloned(), col_labels.cloned()))
}

/// The numbers row by row in single precision: where they lie, or rounded.
pub(super) fn singles(tensor: &Tensor) -> Result<Cow<'_, [f32]>> {
    let Layout { heads, columns, row_stride, column_stride, .. } = tensor.layout();
    let in_place = heads == 1 && column_stride == 1 && row_stride == columns;
    if let (Some(values), true) = (tensor.slice::<f32>(), in_place) {
        return Ok(Cow::Borrowed(values));
    }
    let shape = tensor.shape();
    let mut values: Vec<f32> = memory::room_for(shape.rows.saturating_mul(shape.cols))?;
    values.extend(tensor.in_memory()?.cells().map(|x| x as f32));
    Ok(Cow::Owned(values))
}

// Products in single precision.

/// `x W + b`, or `x Wᵀ + b`, with weights in their own type and order.
fn linear(
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
        let (x, weights) = (x.shape(), weights.shape());
        return Err(Error::new(format!("a {x} matrix cannot be multiplied by {weights} weights")));
    }
    let x_numbers = singles(x)?;
    let bias = bias.map(singles).transpose()?;
    let order = match layout {
        WeightLayout::OutIn => WeightOrder::OutIn,
        WeightLayout::InOut => WeightOrder::InOut,
    };
    let mut out: Vec<f32> = memory::uncharged_zeros(rows.saturating_mul(outputs))?;
    let input = Rows::new("x", &x_numbers, rows, inputs)?;
    let (bias, shape) = (bias.as_deref(), weights.shape());
    match weights.dtype() {
        Dtype::F16 => multiply::<f16>(input, (weights.slice(), shape), (order, bias), machine, &mut out),
        Dtype::Bf16 => multiply::<bf16>(input, (weights.slice(), shape), (order, bias), machine, &mut out),
        _ => multiply::<f32>(input, (Some(&singles(weights)?), shape), (order, bias), machine, &mut out),
    }?;
    let col_labels = match layout {
        WeightLayout::InOut => weights.col_labels(),
        WeightLayout::OutIn => weights.row_labels(),
    };
    named(out, (rows, outputs), x.row_labels(), col_labels)
}

fn multiply<W: LinearWeight>(
    input: Rows<'_, f32>,
    (weights, shape): (Option<&[W]>, Shape),
    (order, bias): (WeightOrder, Option<&[f32]>),
    machine: Machine,
    out: &mut [f32],
) -> Result<()> {
    let weights = weights.ok_or_else(|| Error::new("the weights have another type"))?;
    let weights = Rows::new("the weights", weights, shape.rows, shape.cols)?;
    kernel::linear(&Linear { input, weights, order, bias }, machine, out)?;
    Ok(())
}

// Ops on rows and on cells in single precision: parts, norms, masks, the softmax, sums, functions.

/// The value of an op on rows or on single cells; none for other ops, and where the inputs do not fit.
fn apply_to_rows(op: &Op, inputs: &[&Tensor], machine: Machine) -> Result<Option<Tensor>> {
    let Some(a) = inputs.first().filter(|_| !inputs.iter().any(|input| input.is_exact())) else {
        return Ok(None);
    };
    let have_one_shape = inputs.iter().all(|input| input.shape() == a.shape());
    let value = match op {
        Op::Columns { start, count } if start.saturating_add(*count) <= a.shape().cols => {
            columns(a, *start, *count)
        }
        Op::Concatenate if inputs.iter().all(|input| input.shape().rows == a.shape().rows) => {
            concatenated(inputs)
        }
        Op::Stack(names) if inputs.iter().all(|input| input.shape().cols == a.shape().cols) => {
            stacked(inputs, names.clone())
        }
        Op::Mask(mask) if mask.is_range() => {
            let shape = a.shape();
            each_row(a, |i, row| hide(row, mask.range_of(i, shape)))
        }
        // A hidden score of −∞ gets the weight 0.
        Op::Softmax(Axis::Rows, Base::E) => {
            let mut out = copied(a)?;
            softmax_in_place(&mut out, a.shape().cols, machine)?;
            like(out, a)
        }
        Op::RmsNorm(epsilon) if fit(inputs) => normed(inputs, *epsilon, false),
        Op::LayerNorm(epsilon) if fit(inputs) => normed(inputs, *epsilon, true),
        Op::Add if have_one_shape => folded(inputs, |sum, x| sum + x),
        Op::Multiply if have_one_shape => folded(inputs, |product, x| product * x),
        Op::Scale(factor) => {
            let factor = factor.value() as f32;
            each_cell(a, |x| x * factor)
        }
        Op::OnePlus => each_cell(a, |x| 1.0 + x),
        Op::Relu => each_cell(a, |x| if x > 0.0 { x } else { 0.0 }),
        Op::Silu => activated(a, Activation::Silu, machine),
        Op::Gelu(GeluForm::Erf) => activated(a, Activation::Gelu, machine),
        Op::Gelu(GeluForm::Tanh) => activated(a, Activation::GeluTanh, machine),
        _ => return Ok(None),
    };
    value.map(Some)
}

fn columns(a: &Tensor, start: usize, count: usize) -> Result<Tensor> {
    let (shape, values) = (a.shape(), singles(a)?);
    let mut out: Vec<f32> = memory::room_for(shape.rows.saturating_mul(count))?;
    for row in values.chunks(shape.cols.max(1)) {
        out.extend_from_slice(&row[start..start + count]);
    }
    let labels: Option<Labels> =
        a.col_labels().map(|labels| labels[start..start + count].iter().cloned().collect());
    named(out, (shape.rows, count), a.row_labels(), labels.as_ref())
}

fn concatenated(inputs: &[&Tensor]) -> Result<Tensor> {
    let rows = inputs[0].shape().rows;
    let cols: usize = inputs.iter().map(|input| input.shape().cols).sum();
    let mut out: Vec<f32> = memory::room_for(rows.saturating_mul(cols))?;
    let values = inputs.iter().map(|input| singles(input)).collect::<Result<Vec<_>>>()?;
    for i in 0..rows {
        for (input, values) in inputs.iter().zip(&values) {
            let width = input.shape().cols;
            out.extend_from_slice(&values[i * width..(i + 1) * width]);
        }
    }
    named(out, (rows, cols), inputs[0].row_labels(), None)
}

fn stacked(inputs: &[&Tensor], names: Option<Labels>) -> Result<Tensor> {
    let (first, rows) = (inputs[0], inputs.iter().map(|input| input.shape().rows).sum());
    let mut out: Vec<f32> = memory::room_for(usize::saturating_mul(rows, first.shape().cols))?;
    for input in inputs {
        out.extend_from_slice(&singles(input)?);
    }
    let own: Option<Vec<&Labels>> = inputs.iter().map(|input| input.row_labels()).collect();
    let own = own.map(|all| all.into_iter().flat_map(|labels| labels.iter().cloned()).collect());
    let names = names.filter(|names| names.len() == rows).or(own);
    named(out, (rows, first.shape().cols), names.as_ref(), first.col_labels())
}

/// Hides the scores outside a range.
pub(super) fn hide(scores: &mut [f32], visible: Range<usize>) {
    scores[..visible.start].fill(f32::NEG_INFINITY);
    scores[visible.end..].fill(f32::NEG_INFINITY);
}

/// The numbers of a tensor, to be changed.
fn copied(a: &Tensor) -> Result<Vec<f32>> {
    let numbers = singles(a)?;
    let mut out: Vec<f32> = memory::room_for(numbers.len())?;
    out.extend_from_slice(&numbers);
    Ok(out)
}

fn each_cell(a: &Tensor, change: impl Fn(f32) -> f32) -> Result<Tensor> {
    let mut out = copied(a)?;
    out.iter_mut().for_each(|x| *x = change(*x));
    like(out, a)
}

/// Inputs of one shape, folded cell by cell from the first to the last.
fn folded(inputs: &[&Tensor], fold: impl Fn(f32, f32) -> f32) -> Result<Tensor> {
    let mut out = copied(inputs[0])?;
    for other in &inputs[1..] {
        out.iter_mut().zip(singles(other)?.iter()).for_each(|(so_far, x)| *so_far = fold(*so_far, *x));
    }
    like(out, inputs[0])
}

fn activated(a: &Tensor, activation: Activation, machine: Machine) -> Result<Tensor> {
    let mut out = copied(a)?;
    activate(activation, &mut out, machine)?;
    like(out, a)
}

fn each_row(a: &Tensor, change: impl Fn(usize, &mut [f32])) -> Result<Tensor> {
    let mut out = copied(a)?;
    for (i, row) in out.chunks_mut(a.shape().cols.max(1)).enumerate() {
        change(i, row);
    }
    like(out, a)
}

/// Numbers in the shape of a tensor, with its names.
fn like(values: Vec<f32>, a: &Tensor) -> Result<Tensor> {
    named(values, (a.shape().rows, a.shape().cols), a.row_labels(), a.col_labels())
}

/// The softmax of each row of `columns` numbers; a row of −∞ alone gets zeros.
pub(super) fn softmax_in_place(numbers: &mut [f32], columns: usize, machine: Machine) -> Result<()> {
    softmax_rows(numbers, columns, machine)?;
    Ok(())
}

/// Returns true if gain and bias have a number for each column.
fn fit(inputs: &[&Tensor]) -> bool {
    let width = inputs[0].shape().cols;
    inputs[1..].iter().all(|learned| learned.shape().rows == 1 && learned.shape().cols == width)
}

/// Each row over its root mean square, or minus its mean and over its standard deviation; sums in double precision.
fn normed(inputs: &[&Tensor], epsilon: f64, centred: bool) -> Result<Tensor> {
    let learned = inputs[1..].iter().map(|learned| singles(learned)).collect::<Result<Vec<_>>>()?;
    let (gain, bias) = (learned.first(), learned.get(1));
    each_row(inputs[0], |_, row| {
        let count = row.len() as f64;
        let sum = row.iter().fold(0.0, |sum, x| sum + f64::from(*x));
        let mean = if centred { sum / count } else { 0.0 };
        let squares = row.iter().fold(0.0, |sum, x| sum + (f64::from(*x) - mean) * (f64::from(*x) - mean));
        let size = (squares / count + epsilon).sqrt();
        for (j, x) in row.iter_mut().enumerate() {
            let normed = (f64::from(*x) - mean) / size;
            let scaled = gain.map_or(normed, |gain| normed * f64::from(gain[j]));
            *x = bias.map_or(scaled, |bias| scaled + f64::from(bias[j])) as f32;
        }
    })
}
