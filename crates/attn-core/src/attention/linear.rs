//! A linear layer with the weights of a model: they are read in the type and the order in which a file has them.

use std::ops::Range;
use std::thread;

use half::{bf16, f16};
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::kernel::Layout;
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
    let bias: Vec<f64> = match bias {
        Some(bias) => bias.matrix()?.row(0).collect(),
        None => Vec::new(),
    };
    let weights = weights.in_memory()?;
    let weights = weights.as_ref();
    let rows = x.rows();
    let mut values: Vec<f64> = memory::reserved(rows.saturating_mul(outputs))?;
    values.resize(rows * outputs, 0.0);
    let blocks = blocks_of_rows(x, inputs)?;
    let task = Task { blocks: &blocks, rows, inputs, layout, bias: &bias };
    let in_place = (!weights.is_exact()).then_some(weights.dtype());
    match in_place {
        Some(Dtype::F32) => task.run::<f32>(weights, &mut values),
        Some(Dtype::F64) => task.run::<f64>(weights, &mut values),
        Some(Dtype::F16) => task.run::<f16>(weights, &mut values),
        Some(Dtype::Bf16) => task.run::<bf16>(weights, &mut values),
        Some(Dtype::Bool) => task.run::<bool>(weights, &mut values),
        None => task.run::<f64>(weights, &mut values),
    }?;
    let labels = weights_labels(weights, layout);
    Ok(Matrix::from_columns(rows, outputs, values).labelled_by(x.row_labels(), labels.as_ref()))
}

fn weights_labels(weights: &Tensor, layout: WeightLayout) -> Option<crate::matrix::Labels> {
    match layout {
        WeightLayout::InOut => weights.col_labels().cloned(),
        WeightLayout::OutIn => weights.row_labels().cloned(),
    }
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

// The singular value decomposition, for the best approximation of low rank.
//
// By rotating pairs of columns until all are at right angles (one-sided Jacobi). It is short, exact to the last digits
// and right for every rank; nalgebra's own decomposition gives wrong values for some matrices of low rank
// (nalgebra issue 1172, still open in version 0.35).

/// `w = left · diag(values) · rightᵀ`, the values falling.
#[derive(Clone, Debug, PartialEq)]
pub struct SingularValues {
    /// One column for each singular value; the largest entry (by size) of each column is positive.
    pub left: Matrix,
    /// The singular values, as one row.
    pub values: Matrix,
    /// One column for each singular value.
    pub right: Matrix,
}

/// The decomposition of `w` into singular vectors and values.
///
/// # Shapes
/// `w` is (n, m) and r = min(n, m); `left` is (n, r), `values` (1, r), `right` (m, r).
/// # Errors
/// If `w` is empty or not finite, or the rotations do not come to an end.
/// # Source
/// Eckart and Young 1936: cutting the sum after k terms gives the nearest matrix of rank k. Hestenes 1958: the rotations.
pub fn singular_values(w: &Matrix) -> Result<SingularValues> {
    if w.rows() == 0 || w.cols() == 0 {
        return Err(Error::new(format!("a {} matrix has no singular values", w.shape())));
    }
    if w.cells().any(|x| !x.is_finite()) {
        return Err(Error::new("singular values need finite numbers"));
    }
    let tall = w.rows() >= w.cols();
    let unit = unit_of_size(w);
    let columns = (0..w.rows().min(w.cols())).map(|k| {
        let column: Vec<f64> = if tall { w.col(k).collect() } else { w.row(k).collect() };
        column.into_iter().map(|x| x / unit).collect()
    });
    let OrthogonalColumns { mut stretched, mut turned } = rotate(columns.collect())?;
    let lengths: Vec<f64> = stretched.iter().map(|column| dot(column, column).sqrt()).collect();
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by(|&a, &b| lengths[b].total_cmp(&lengths[a]));
    make_units(&mut stretched, &lengths, &order);
    if !tall {
        std::mem::swap(&mut stretched, &mut turned);
    }
    let sign: Vec<f64> = stretched.iter().map(|column| sign_of_max_size(column)).collect();
    let vectors = |columns: &[Vec<f64>], rows| {
        Matrix::from_fn(rows, order.len(), |i, k| sign[order[k]] * columns[order[k]][i])
    };
    Ok(SingularValues {
        left: vectors(&stretched, w.rows()),
        values: Matrix::from_fn(1, order.len(), |_, k| unit * lengths[order[k]]),
        right: vectors(&turned, w.cols()),
    })
}

/// 1, or the max size where its square could leave the range of numbers.
fn unit_of_size(w: &Matrix) -> f64 {
    let max = super::max(w.cells().map(f64::abs));
    if max == 0.0 || (1e-100..1e100).contains(&max) { 1.0 } else { max }
}

/// Columns at right angles, and the turned unit vectors that take the original columns there.
struct OrthogonalColumns {
    stretched: Vec<Vec<f64>>,
    turned: Vec<Vec<f64>>,
}

/// Turns pairs of columns until each is at a right angle to every other, up to rounding.
fn rotate(mut columns: Vec<Vec<f64>>) -> Result<OrthogonalColumns> {
    const ENOUGH_SWEEPS: usize = 100;
    let count = columns.len();
    let mut turned: Vec<Vec<f64>> = (0..count).map(|k| unit_vector(count, k)).collect();
    let rounding = rounding(&columns);
    let nothing = size_of_nothing(&columns);
    for _ in 0..ENOUGH_SWEEPS {
        let mut at_rest = true;
        for p in 0..count {
            for q in p + 1..count {
                let (a, b) = (dot(&columns[p], &columns[p]), dot(&columns[q], &columns[q]));
                let between = dot(&columns[p], &columns[q]);
                let at_right_angle = between.abs() <= rounding * a.sqrt() * b.sqrt();
                if at_right_angle || a.min(b).sqrt() <= nothing {
                    continue;
                }
                at_rest = false;
                let slope = (b - a) / (2.0 * between);
                let tangent = 1.0_f64.copysign(slope) / (slope.abs() + (1.0 + slope * slope).sqrt());
                let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
                turn(&mut columns, p, q, cosine, cosine * tangent);
                turn(&mut turned, p, q, cosine, cosine * tangent);
            }
        }
        if at_rest {
            return Ok(OrthogonalColumns { stretched: columns, turned });
        }
    }
    Err(Error::new("the singular values of this matrix were not found"))
}

/// The error that rounding can cause in a dot product of two columns, relative to their lengths.
fn rounding(columns: &[Vec<f64>]) -> f64 {
    f64::EPSILON * columns.first().map_or(0, Vec::len) as f64
}

/// A column as short as this is nothing but the rounding of the others.
fn size_of_nothing(columns: &[Vec<f64>]) -> f64 {
    rounding(columns) * columns.iter().fold(0.0, |sum, column| sum + dot(column, column)).sqrt()
}

/// Turns columns p and q in their plane.
fn turn(columns: &mut [Vec<f64>], p: usize, q: usize, cosine: f64, sine: f64) {
    for i in 0..columns[p].len() {
        let (x, y) = (columns[p][i], columns[q][i]);
        columns[p][i] = cosine * x - sine * y;
        columns[q][i] = sine * x + cosine * y;
    }
}

/// Divides each column by its length, the longest first. A column that is nothing but rounding has no direction of its
/// own: it becomes a unit vector at a right angle to those before it.
fn make_units(columns: &mut [Vec<f64>], lengths: &[f64], order: &[usize]) {
    let nothing = size_of_nothing(columns);
    for (place, &k) in order.iter().enumerate() {
        let height = columns[k].len();
        if lengths[k] > nothing {
            columns[k].iter_mut().for_each(|x| *x /= lengths[k]);
            continue;
        }
        let candidates = (0..height).map(|i| {
            let mut free = unit_vector(height, i);
            // Twice, since the first pass leaves rounding errors.
            for &earlier in order[..place].iter().chain(&order[..place]) {
                let along = dot(&free, &columns[earlier]);
                free.iter_mut().zip(&columns[earlier]).for_each(|(x, y)| *x -= along * y);
            }
            free
        });
        let best = candidates.max_by(|a, b| dot(a, a).total_cmp(&dot(b, b))).unwrap_or_default();
        let length = dot(&best, &best).sqrt();
        columns[k] = best.into_iter().map(|x| x / length).collect();
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (x, y)| sum + x * y)
}

fn unit_vector(length: usize, at: usize) -> Vec<f64> {
    (0..length).map(|i| if i == at { 1.0 } else { 0.0 }).collect()
}

fn sign_of_max_size(column: &[f64]) -> f64 {
    let extreme = column.iter().fold(0.0_f64, |best, &x| if x.abs() > best.abs() { x } else { best });
    if extreme < 0.0 { -1.0 } else { 1.0 }
}

/// The square matrix with the numbers of a row down its diagonal: `out[i,i] = values[1,i]`, and 0 elsewhere.
///
/// # Shapes
/// `values` is (1, r); the result is (r, r), both its sides labelled by the columns of `values`.
/// # Errors
/// If `values` is not a single row.
pub fn diagonal(values: &Matrix) -> Result<Matrix> {
    if values.rows() != 1 {
        return Err(Error::new(format!(
            "a diagonal is written from one row of numbers, not from a {} matrix",
            values.shape()
        )));
    }
    let cell = |i, j| if i == j { values[(0, j)] } else { 0.0 };
    Ok(Matrix::from_fn(values.cols(), values.cols(), cell)
        .labelled_by(values.col_labels(), values.col_labels()))
}

#[cfg(test)]
mod tests {
    use crate::attention::{product, product_transposed};
    use crate::kernel::Layout;

    use super::*;

    fn ramp(rows: usize, cols: usize, step: f64) -> Matrix {
        Matrix::from_fn(rows, cols, |i, j| ((i * cols + j) as f64 * step) % 1.7 - 0.8)
    }

    #[test]
    fn both_layouts_give_the_bits_of_the_products() {
        for (rows, inputs, outputs) in [(1, 1, 1), (3, 5, 7), (8, 4, 2), (9, 16, 5), (17, 3, 1), (0, 2, 2)] {
            let (x, w) = (ramp(rows, inputs, 0.7), ramp(inputs, outputs, 0.3));
            let expected = product(&x, &w).unwrap();
            let plain = linear(&x, &w.clone().into(), WeightLayout::InOut, None).unwrap();
            assert!(plain.same_bits(&expected), "{rows} {inputs} {outputs}");
            let turned = linear(&x, &w.transposed().into(), WeightLayout::OutIn, None).unwrap();
            assert!(turned.same_bits(&product_transposed(&x, &w.transposed()).unwrap()));
            assert!(turned.same_bits(&expected));
        }
    }

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
    fn many_outputs_are_shared_out_between_threads_without_a_change() {
        let (x, w) = (ramp(9, 300, 0.7), ramp(300, 2001, 0.3));
        assert!(x.rows() * w.rows() * w.cols() > WORTH_A_THREAD);
        let out = linear(&x, &w.clone().into(), WeightLayout::InOut, None).unwrap();
        assert!(out.same_bits(&product(&x, &w).unwrap()));
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let (x, w) = (Matrix::identity(2), Tensor::from(Matrix::filled(3, 2, 1.0)));
        assert!(linear(&x, &w, WeightLayout::InOut, None).is_err());
        assert!(linear(&x, &w, WeightLayout::OutIn, Some(&Matrix::filled(1, 2, 0.0).into())).is_err());
        assert!(linear(&x, &w, WeightLayout::OutIn, Some(&Matrix::filled(1, 3, 0.0).into())).is_ok());
    }

    /// The max size of the cells of `left · diag(values) · rightᵀ − w`, and of `leftᵀ · left` and `rightᵀ · right` minus ones.
    fn misses(w: &Matrix) -> [f64; 3] {
        let SingularValues { left, values, right } = singular_values(w).unwrap();
        let max =
            |a: Matrix, b: &Matrix| a.cells().zip(b.cells()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        let product = |a: &Matrix, b: &Matrix| crate::attention::product_transposed(a, b).unwrap();
        let stretched = Matrix::from_fn(left.rows(), left.cols(), |i, k| left[(i, k)] * values[(0, k)]);
        let ones = Matrix::identity(values.cols());
        [
            max(product(&stretched, &right), w),
            max(product(&left.transposed(), &left.transposed()), &ones),
            max(product(&right.transposed(), &right.transposed()), &ones),
        ]
    }

    #[test]
    fn the_parts_multiply_back_to_the_whole_whatever_its_rank() {
        let numbers = |rows, cols, start: usize| {
            Matrix::from_fn(rows, cols, |i, j| {
                crate::elementary::sin((start + 7 * i + 11 * i * j + 3 * j) as f64)
            })
        };
        for (rows, cols) in [(1, 1), (2, 3), (5, 4), (6, 6), (12, 12)] {
            for rank in 0..=rows.min(cols) {
                let (a, b) = (numbers(rows, rank, 1), numbers(rank, cols, 2));
                let w = crate::attention::product(&a, &b).unwrap();
                let misses = misses(&w);
                assert!(misses.iter().all(|&miss| miss < 1e-12), "{rows}×{cols} of rank {rank}: {misses:?}");
            }
        }
    }

    #[test]
    fn the_values_fall_and_the_signs_are_fixed() {
        let w = Matrix::of([[3.0, 0.0, 1.0], [1.0, 2.0, -4.0]]);
        let SingularValues { left, values, .. } = singular_values(&w).unwrap();
        assert!(values[(0, 0)] >= values[(0, 1)] && values[(0, 1)] >= 0.0);
        for k in 0..2 {
            let extreme = left.col(k).fold(0.0_f64, |best, x| if x.abs() > best.abs() { x } else { best });
            assert!(extreme > 0.0);
        }
    }

    #[test]
    fn matrices_whose_values_are_known_have_them() {
        let values = |w: &Matrix| singular_values(w).unwrap().values.cells().collect::<Vec<_>>();
        // A matrix of ones has the one value √(rows · columns).
        let ones = values(&Matrix::filled(3, 5, 1.0));
        assert!(
            (ones[0] - 15.0_f64.sqrt()).abs() < 1e-14 && ones[1..].iter().all(|&x| x < 1e-14),
            "{ones:?}"
        );
        // The squares of the values sum to the squares of the cells: 21.
        let whole = values(&Matrix::of([[1.0, 2.0, 2.0], [2.0, -1.0, -1.0], [2.0, 1.0, -1.0]]));
        assert!((whole.iter().map(|x| x * x).sum::<f64>() - 21.0).abs() < 1e-13, "{whole:?}");
        assert_eq!(values(&Matrix::filled(2, 2, 0.0)), [0.0, 0.0]);
        for size in [1e200, 1e-200] {
            let stretched = values(&Matrix::of([[3.0 * size, 0.0], [0.0, 4.0 * size]]));
            assert_eq!(stretched.iter().map(|x| (x / size).round()).collect::<Vec<_>>(), [4.0, 3.0]);
        }
    }

    #[test]
    fn a_diagonal_is_made_of_one_row_and_of_nothing_else() {
        let square = diagonal(&Matrix::of([[3.0, f64::INFINITY]])).unwrap();
        assert_eq!(square.cells().collect::<Vec<_>>(), [3.0, 0.0, 0.0, f64::INFINITY]);
        let error = diagonal(&Matrix::identity(2)).unwrap_err().to_string();
        assert!(error.contains("2×2"), "{error}");
    }
}
