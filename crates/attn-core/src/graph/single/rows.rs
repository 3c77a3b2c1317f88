//! Ops on rows in single precision: parts, norms, masks, the softmax.

use std::ops::Range;

use super::super::op::Op;
use super::numbers::{named, singles};
use crate::attention::{Axis, Base, Mask};
use crate::error::Result;
use crate::kernel::{Band, Machine, softmax_rows};
use crate::matrix::Labels;
use crate::memory;
use crate::tensor::Tensor;

/// The value of an op on rows; none for other ops.
pub(super) fn apply(op: &Op, inputs: &[&Tensor], machine: Machine) -> Result<Option<Tensor>> {
    if inputs.is_empty() || inputs.iter().any(|input| input.is_exact()) {
        return Ok(None);
    }
    let a = inputs[0];
    match op {
        Op::Columns { start, count } if start.saturating_add(*count) <= a.shape().cols => {
            columns(a, *start, *count).map(Some)
        }
        Op::Concatenate if inputs.iter().all(|input| input.shape().rows == a.shape().rows) => {
            concatenated(inputs).map(Some)
        }
        Op::Stack(names) if inputs.iter().all(|input| input.shape().cols == a.shape().cols) => {
            stacked(inputs, names.clone()).map(Some)
        }
        Op::Mask(mask) if mask.is_range() => masked(a, mask).map(Some),
        Op::Softmax(Axis::Rows, Base::E) => softmax(a, machine).map(Some),
        Op::RmsNorm(epsilon) if fit(inputs) => normed(inputs, *epsilon, false).map(Some),
        Op::LayerNorm(epsilon) if fit(inputs) => normed(inputs, *epsilon, true).map(Some),
        _ => Ok(None),
    }
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

fn masked(scores: &Tensor, mask: &Mask) -> Result<Tensor> {
    let (shape, values) = (scores.shape(), singles(scores)?);
    let mut out = values.into_owned();
    for (i, row) in out.chunks_mut(shape.cols.max(1)).enumerate() {
        hide(row, mask.range_of(i, shape));
    }
    named(out, (shape.rows, shape.cols), scores.row_labels(), scores.col_labels())
}

/// Hides the scores outside a range.
pub(super) fn hide(scores: &mut [f32], visible: Range<usize>) {
    scores[..visible.start].fill(f32::NEG_INFINITY);
    scores[visible.end..].fill(f32::NEG_INFINITY);
}

fn each_row(a: &Tensor, change: impl Fn(&mut [f32])) -> Result<Tensor> {
    let shape = a.shape();
    let mut out = singles(a)?.into_owned();
    for row in out.chunks_mut(shape.cols.max(1)) {
        change(row);
    }
    named(out, (shape.rows, shape.cols), a.row_labels(), a.col_labels())
}

/// The softmax of each row; a hidden score of −∞ gets the weight 0.
fn softmax(scores: &Tensor, machine: Machine) -> Result<Tensor> {
    let shape = scores.shape();
    let mut out = singles(scores)?.into_owned();
    softmax_in_place(&mut out, shape.cols, machine)?;
    named(out, (shape.rows, shape.cols), scores.row_labels(), scores.col_labels())
}

/// The softmax of each row of `columns` numbers; a row of −∞ alone gets zeros.
pub(super) fn softmax_in_place(numbers: &mut [f32], columns: usize, machine: Machine) -> Result<()> {
    let is_masked = |row: &[f32]| row.iter().all(|x| *x == f32::NEG_INFINITY);
    let masked: Vec<bool> = numbers.chunks(columns.max(1)).map(is_masked).collect();
    softmax_rows(numbers, columns, Band::default(), machine)?;
    for (row, _) in numbers.chunks_mut(columns.max(1)).zip(&masked).filter(|(_, masked)| **masked) {
        row.fill(0.0);
    }
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
    each_row(inputs[0], |row| {
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
