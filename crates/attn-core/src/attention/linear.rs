//! A linear layer with the weights of a model: they are read in the type and the order in which a file has them.

use std::ops::Range;
use std::thread;

use attn_kernel::Layout;
use half::{bf16, f16};
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::matrix::{Matrix, Shape};
use crate::memory;
use crate::tensor::{Dtype, Element, Tensor};

/// The order of the numbers of a weight matrix in memory and in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightLayout {
    /// A row for each input, a column for each output: `x W`, as GPT-2's `Conv1D` has it.
    InOut,
    /// A row for each output, a column for each input: `x Wᵀ`, as PyTorch's `Linear` has it.
    OutIn,
}

impl WeightLayout {
    /// The inputs and the outputs of weights of this shape.
    pub fn inputs_and_outputs(self, weights: Shape) -> (usize, usize) {
        match self {
            WeightLayout::InOut => (weights.rows, weights.cols),
            WeightLayout::OutIn => (weights.cols, weights.rows),
        }
    }
}

/// Rows of tokens that are computed together: the compiler makes registers of them.
const ROWS: usize = 8;
/// Outputs that are computed together.
const OUTPUTS: usize = 2;
/// Below this many multiplications a second thread costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 22;

/// `out[i,j] = Σ_k x[i,k] · W[k,j] + b[j]`: the sum from left to right starting at +0.0, then the bias. Numbers of the weights are
/// widened to `f64` one by one, which changes none; the weights are never copied.
///
/// # Shapes
/// x is (T, inputs), the result (T, outputs); the weights as their layout says; the bias is one row of all outputs.
/// # Errors
/// If the shapes do not fit, or the weights are in a file and cannot be read.
pub fn linear(x: &Matrix, weights: &Tensor, layout: WeightLayout, bias: Option<&Tensor>) -> Result<Matrix> {
    let (inputs, outputs) = fits(x.shape(), weights.shape(), layout, bias.map(Tensor::shape))?;
    let bias: Vec<f64> =
        bias.map(Tensor::matrix).transpose()?.map_or_else(Vec::new, |row| row.row(0).collect());
    let weights = weights.in_memory()?;
    let weights = weights.as_ref();
    let rows = x.rows();
    let mut values: Vec<f64> = memory::reserved(rows.saturating_mul(outputs))?;
    values.resize(rows * outputs, 0.0);
    let blocks = blocks_of_rows(x, inputs)?;
    let task = Task { blocks: &blocks, rows, inputs, layout, bias: &bias };
    match weights.dtype() {
        Dtype::F32 => task.run::<f32>(weights, &mut values),
        Dtype::F64 => task.run::<f64>(weights, &mut values),
        Dtype::F16 => task.run::<f16>(weights, &mut values),
        Dtype::Bf16 => task.run::<bf16>(weights, &mut values),
        Dtype::Bool => task.run::<bool>(weights, &mut values),
    }?;
    let labels = match layout {
        WeightLayout::InOut => weights.col_labels(),
        WeightLayout::OutIn => weights.row_labels(),
    };
    Ok(Matrix::from_columns(rows, outputs, values).labelled_by(x.row_labels(), labels))
}

/// The inputs and outputs of a linear layer.
fn fits(x: Shape, weights: Shape, layout: WeightLayout, bias: Option<Shape>) -> Result<(usize, usize)> {
    let (inputs, outputs) = layout.inputs_and_outputs(weights);
    if x.cols != inputs {
        let turned = if layout == WeightLayout::OutIn { ", transposed" } else { "" };
        return Err(Error::new(format!(
            "a {x} matrix cannot be multiplied by a {weights} matrix of weights{turned}"
        ))
        .of_kind(ErrorKind::Shape)
        .help(format!("the weights need {} inputs", x.cols)));
    }
    match bias {
        Some(bias) if bias.rows != 1 || bias.cols != outputs => {
            Err(Error::new(format!("a bias of {bias} does not fit {outputs} outputs"))
                .of_kind(ErrorKind::Shape)
                .help(format!("give one row of {outputs} numbers")))
        }
        _ => Ok((inputs, outputs)),
    }
}

/// x in blocks of [`ROWS`] rows, input by input, the last block filled up with zeros.
fn blocks_of_rows(x: &Matrix, inputs: usize) -> Result<Vec<[f64; ROWS]>> {
    let count = x.rows().div_ceil(ROWS);
    let mut blocks = memory::reserved(count.saturating_mul(inputs))?;
    for block in 0..count {
        for k in 0..inputs {
            let column = x.column(k);
            blocks.push(std::array::from_fn(|i| column.get(block * ROWS + i).copied().unwrap_or(0.0)));
        }
    }
    Ok(blocks)
}

struct Task<'a> {
    blocks: &'a [[f64; ROWS]],
    rows: usize,
    inputs: usize,
    layout: WeightLayout,
    bias: &'a [f64],
}

impl Task<'_> {
    /// Fills the values, column by column. Each output is a sum of its own, so that threads change nothing.
    fn run<T: Element + Sync>(&self, weights: &Tensor, values: &mut [f64]) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        let numbers = weights.slice::<T>().ok_or_else(|| Error::new("the weights have another type"))?;
        let Layout { row_stride, column_stride, .. } = weights.layout();
        let (input, output) = match self.layout {
            WeightLayout::InOut => (row_stride, column_stride),
            WeightLayout::OutIn => (column_stride, row_stride),
        };
        let weight = |k: usize, j: usize| numbers[k * input + j * output].exactly();
        let outputs = values.len() / self.rows;
        let threads = if values.len().saturating_mul(self.inputs) < WORTH_A_THREAD {
            1
        } else {
            thread::available_parallelism().map_or(1, usize::from).min(outputs)
        };
        let each = outputs.div_ceil(threads);
        thread::scope(|scope| {
            let mut parts = values.chunks_mut(each * self.rows).enumerate();
            let first = parts.next();
            for (at, part) in parts {
                scope.spawn(move || self.outputs(at * each, part, weight));
            }
            if let Some((_, part)) = first {
                self.outputs(0, part, weight);
            }
        });
        Ok(())
    }

    /// The outputs from `first` on, as many as there is room for.
    fn outputs(&self, first: usize, values: &mut [f64], weight: impl Fn(usize, usize) -> f64) {
        let outputs = values.len() / self.rows;
        for (at, columns) in values.chunks_mut(OUTPUTS * self.rows).enumerate() {
            let together = at * OUTPUTS..(at * OUTPUTS + OUTPUTS).min(outputs);
            for (block, x) in self.blocks.chunks(self.inputs.max(1)).enumerate() {
                let rows = block * ROWS..(block * ROWS + ROWS).min(self.rows);
                let sums = if together.len() == OUTPUTS {
                    sums::<OUTPUTS>(x, first + together.start, &weight)
                } else {
                    let [last] = sums::<1>(x, first + together.start, &weight);
                    [last; OUTPUTS]
                };
                self.store(columns, rows, first + together.start, &sums);
            }
            // Without inputs there are no blocks, and the sums are 0.
            if self.inputs == 0 {
                self.store(columns, 0..0, first + together.start, &[[0.0; ROWS]; OUTPUTS]);
            }
        }
    }

    fn store(&self, columns: &mut [f64], rows: Range<usize>, first: usize, sums: &[[f64; ROWS]; OUTPUTS]) {
        for (at, column) in columns.chunks_mut(self.rows).enumerate() {
            let bias = self.bias.get(first + at);
            for (i, row) in rows.clone().enumerate() {
                column[row] = bias.map_or(sums[at][i], |bias| sums[at][i] + bias);
            }
        }
    }
}

/// The sums of a block of rows for N neighbouring outputs.
#[inline]
fn sums<const N: usize>(
    x: &[[f64; ROWS]],
    first: usize,
    weight: &impl Fn(usize, usize) -> f64,
) -> [[f64; ROWS]; N] {
    let mut sums = [[0.0; ROWS]; N];
    for (k, x) in x.iter().enumerate() {
        for (at, sums) in sums.iter_mut().enumerate() {
            let weight = weight(k, first + at);
            for (sum, x) in sums.iter_mut().zip(x) {
                *sum += x * weight;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_every_type_are_widened_and_the_bias_comes_last() {
        let x = Matrix::of([[1.0, 2.0], [0.5, -1.0]]);
        let w = Matrix::of([[0.5, 0.25, 2.0], [1.5, -3.0, 0.125]]);
        let bias = Tensor::from(Matrix::of([[100.0, 0.0, -1.0]]));
        let expected = Matrix::of([[103.5, -5.75, 1.25], [98.75, 3.125, -0.125]]);
        let typed = [
            Tensor::rounded::<f32>(&w).unwrap(),
            Tensor::rounded::<f16>(&w).unwrap(),
            Tensor::rounded::<bf16>(&w).unwrap(),
            Tensor::new(w.cells().collect::<Vec<f64>>(), Layout::stacked(1, 2, 3)).unwrap(),
        ];
        for w in typed {
            assert_eq!(
                linear(&x, &w, WeightLayout::InOut, Some(&bias)).unwrap(),
                expected,
                "{:?}",
                w.dtype()
            );
        }
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let (x, w) = (Matrix::identity(2), Tensor::from(Matrix::filled(3, 2, 1.0)));
        assert!(linear(&x, &w, WeightLayout::InOut, None).is_err());
        assert!(linear(&x, &w, WeightLayout::OutIn, Some(&Matrix::filled(1, 2, 0.0).into())).is_err());
        assert!(linear(&x, &w, WeightLayout::OutIn, Some(&Matrix::filled(1, 3, 0.0).into())).is_ok());
    }
}
