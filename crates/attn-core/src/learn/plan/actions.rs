//! What a step of a plan reads and does.

use crate::attention::{Axis, Base, Mask, MatrixRule, WeightLayout};
use crate::error::{Error, Result};
use crate::graph::{Factor, Op};
use crate::kernel::{Operand, Products, multiply_examples};
use crate::learn::example::Batch;
use crate::learn::number::{Number, Working};
use crate::matrix::Shape;

/// Where the numbers of a node are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The number of the memory.
    pub slot: usize,
    /// The shape of one example.
    pub shape: Shape,
    /// True if each example has numbers of its own.
    pub per_example: bool,
}

/// An input of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<'a, T> {
    /// The numbers of all examples.
    pub numbers: &'a [T],
    pub place: Place,
}

impl<'a, T> Read<'a, T> {
    /// The number of numbers of one example.
    pub fn len(&self) -> usize {
        self.place.shape.rows * self.place.shape.cols
    }

    /// The numbers of one example.
    pub fn of(&self, example: usize) -> &'a [T] {
        if self.place.per_example {
            &self.numbers[example * self.len()..][..self.len()]
        } else {
            self.numbers
        }
    }

    /// All rows of all examples.
    pub fn rows(&self) -> std::slice::ChunksExact<'a, T> {
        self.numbers.chunks_exact(self.place.shape.cols.max(1))
    }
}

/// What a step reads, and the shape of its result.
#[derive(Clone, Copy)]
pub(super) struct Reads<'a, T> {
    pub slots: &'a [Vec<T>],
    pub inputs: &'a [Place],
    /// The shape of the result of one example.
    pub shape: Shape,
    /// The number of results: that of the examples, or 1 where all of them share it.
    pub examples: usize,
    pub batch: &'a Batch,
}

impl<'a, T> Reads<'a, T> {
    /// An input.
    pub fn input(&self, at: usize) -> Read<'a, T> {
        let place = self.inputs[at];
        Read { numbers: &self.slots[place.slot], place }
    }

    /// All inputs.
    pub fn all(&self) -> impl Iterator<Item = Read<'a, T>> + '_ {
        (0..self.inputs.len()).map(|at| self.input(at))
    }
}

/// What a step of a plan does.
#[derive(Debug)]
pub(super) enum Action {
    /// An op of the graph.
    Op(Op),
    /// 1 at the target of each row, and 0 elsewhere.
    OneHot,
    /// Every cell times 1 by the number of rows that count in the batch.
    ByCounted,
    /// The sum over all examples of a batch, as one matrix.
    SumOfExamples,
}

impl Action {
    /// Computes a step for all examples, in the type of the plan. Sums run from left to right, or from top to bottom, from +0.
    ///
    /// # Errors
    /// If an op is not computed for a batch, an id is outside of its table, ids are missing, or rows do not fit.
    pub fn run<T: Number>(&self, reads: Reads<'_, T>, working: &mut Working<T>, out: &mut [T]) -> Result<()> {
        let (a, b, shape) = (|| reads.input(0), || reads.input(1), reads.shape);
        let op = match self {
            Action::Op(op) => op,
            Action::OneHot => return one_hot(&reads.batch.targets, shape.cols, out),
            Action::ByCounted => &Op::Scale(Factor::Inverse(reads.batch.counted())),
            Action::SumOfExamples => {
                sum_of_rows(a().numbers, out);
                return Ok(());
            }
        };
        match op {
            Op::Product => return product(&reads, [false, false], working, out),
            Op::ProductTransposed => return product(&reads, [false, true], working, out),
            Op::TransposedProduct => return product(&reads, [true, false], working, out),
            Op::Linear(layout) if reads.inputs.len() == 2 => {
                return product(&reads, [false, *layout == WeightLayout::OutIn], working, out);
            }
            Op::TokenRows(_) => return look_up(a(), &reads.batch.tokens, shape.cols, out),
            Op::Rows { start, .. } => copy(a(), (*start, 0), shape, 0, out),
            Op::Columns { start, .. } => copy(a(), (0, *start), shape, 0, out),
            Op::Concatenate => {
                reads.all().fold(0, |start, input| {
                    copy(input, (0, 0), shape, start, out);
                    start + input.place.shape.cols
                });
            }
            Op::Add => {
                one(a(), out, |x| T::ZERO + x);
                reads.all().skip(1).for_each(|next| onto(next, out, |sum, x| sum + x));
            }
            Op::Subtract => two(a(), b(), out, |a, b| a - b),
            Op::Multiply => two(a(), b(), out, |a, b| a * b),
            Op::Quotient => two(a(), b(), out, |a, b| a / b),
            Op::Times => times(a(), b(), out),
            Op::Scale(factor) => {
                let factor = T::from_f64(factor.value());
                one(a(), out, |x| x * factor);
            }
            Op::Relu => one(a(), out, |x| if x > T::ZERO { x } else { T::ZERO }),
            Op::Root => one(a(), out, Number::root),
            Op::Mask(mask) if mask.is_range() => hide(a(), mask, out),
            Op::MaskPattern(Mask {
                matrix: Some(rule @ (MatrixRule::Block | MatrixRule::Allow)), ..
            }) => {
                let is_visible = |x: T| (x == T::ZERO) == (*rule == MatrixRule::Block);
                one(b(), out, |x| if is_visible(x) { T::ONE } else { T::ZERO });
            }
            Op::Softmax(Axis::Rows, Base::E) => {
                out.copy_from_slice(a().numbers);
                return T::softmax(out, shape.cols, working.simd);
            }
            Op::NegativeLogSoftmax => {
                out.copy_from_slice(a().numbers);
                return T::negative_log_softmax(out, shape.cols, working);
            }
            Op::Sums(Axis::Rows) => out.iter_mut().zip(a().rows()).for_each(|(out, row)| *out = sum(row)),
            Op::Sums(Axis::Whole) => out.iter_mut().enumerate().for_each(|(at, out)| *out = sum(a().of(at))),
            Op::RepeatColumns(_) => repeat(a(), shape.cols, out),
            Op::RmsNorm(epsilon) if reads.inputs.len() == 1 => rms_norm(a(), T::from_f64(*epsilon), out),
            other => return Err(Error::new(format!("`{}` is not computed for a batch", other.name()))),
        }
        Ok(())
    }
}

/// The products of all examples.
fn product<T: Number>(
    reads: &Reads<'_, T>,
    transposed: [bool; 2],
    working: &mut Working<T>,
    out: &mut [T],
) -> Result<()> {
    let factor = |at: usize| {
        let Read { numbers, place } = reads.input(at);
        Operand { numbers, transposed: transposed[at], shared: !place.per_example }
    };
    let a = reads.inputs[0].shape;
    let inner = if transposed[0] { a.rows } else { a.cols };
    let Shape { rows, cols } = reads.shape;
    let products = Products { a: factor(0), b: factor(1), examples: reads.examples, rows, inner, cols };
    multiply_examples(products, working.simd, &mut working.packed, out)
        .map_err(|error| Error::new(error.to_string()))
}

/// The rows of a table at these ids.
///
/// # Errors
/// If there are too few ids, or one is outside of the table.
fn look_up<T: Number>(table: Read<'_, T>, ids: &[usize], cols: usize, out: &mut [T]) -> Result<()> {
    fits("tokens", ids.len(), cols, out.len())?;
    for (out, id) in out.chunks_exact_mut(cols.max(1)).zip(ids) {
        let row = table.numbers.get(id * cols..(id + 1) * cols).ok_or_else(|| {
            Error::new(format!("there is no token {id}: the table has {}", table.place.shape.rows))
        })?;
        out.copy_from_slice(row);
    }
    Ok(())
}

/// 1 at the target of each row, and 0 elsewhere.
///
/// # Errors
/// If there are too few targets, or one is outside of the vocabulary.
fn one_hot<T: Number>(targets: &[Option<usize>], cols: usize, out: &mut [T]) -> Result<()> {
    fits("targets", targets.len(), cols, out.len())?;
    out.fill(T::ZERO);
    for (row, target) in out.chunks_exact_mut(cols.max(1)).zip(targets) {
        let Some(target) = *target else { continue };
        let cell = row.get_mut(target);
        *cell.ok_or_else(|| Error::new(format!("there is no token {target}: there are {cols}")))? = T::ONE;
    }
    Ok(())
}

fn fits(what: &str, given: usize, cols: usize, numbers: usize) -> Result<()> {
    if given * cols == numbers {
        return Ok(());
    }
    Err(Error::new(format!("{given} {what} are given, but the plan reads {}", numbers / cols.max(1))))
}

/// Copies what lies from this row and column on into columns of each example, as far as both shapes reach.
fn copy<T: Number>(from: Read<'_, T>, (row, col): (usize, usize), to: Shape, to_col: usize, out: &mut [T]) {
    let shape = from.place.shape;
    let cols = (shape.cols - col).min(to.cols - to_col);
    for (example, part) in out.chunks_exact_mut((to.rows * to.cols).max(1)).enumerate() {
        let rows = from.of(example)[row * shape.cols..].chunks_exact(shape.cols.max(1));
        for (out, row) in part.chunks_exact_mut(to.cols.max(1)).zip(rows) {
            out[to_col..][..cols].copy_from_slice(&row[col..][..cols]);
        }
    }
}

/// `out = f(a)`, also where all examples share `a` and each has its own result.
#[inline(always)]
fn one<T: Number>(a: Read<'_, T>, out: &mut [T], f: impl Fn(T) -> T) {
    onto(a, out, |_, x| f(x));
}

/// `out = f(out, a)`.
#[inline(always)]
fn onto<T: Number>(a: Read<'_, T>, out: &mut [T], f: impl Fn(T, T) -> T) {
    for part in out.chunks_exact_mut(a.numbers.len().max(1)) {
        for (out, x) in part.iter_mut().zip(a.numbers) {
            *out = f(*out, *x);
        }
    }
}

/// `out = f(a, b)`.
#[inline(always)]
fn two<T: Number>(a: Read<'_, T>, b: Read<'_, T>, out: &mut [T], f: impl Fn(T, T) -> T) {
    if a.numbers.len() == b.numbers.len() {
        for (out, (x, y)) in out.iter_mut().zip(a.numbers.iter().zip(b.numbers)) {
            *out = f(*x, *y);
        }
        return;
    }
    for (example, part) in out.chunks_exact_mut(a.len().max(1)).enumerate() {
        for (out, (x, y)) in part.iter_mut().zip(a.of(example).iter().zip(b.of(example))) {
            *out = f(*x, *y);
        }
    }
}

/// `out = a · b` with the single number b.
fn times<T: Number>(a: Read<'_, T>, b: Read<'_, T>, out: &mut [T]) {
    for (example, part) in out.chunks_exact_mut(a.len().max(1)).enumerate() {
        let by = b.of(example)[0];
        for (out, x) in part.iter_mut().zip(a.of(example)) {
            *out = *x * by;
        }
    }
}

/// −∞ where a mask, which is a range in each row, hides a score.
fn hide<T: Number>(a: Read<'_, T>, mask: &Mask, out: &mut [T]) {
    let shape = a.place.shape;
    one(a, out, |x| x);
    for (i, row) in out.chunks_exact_mut(shape.cols.max(1)).enumerate() {
        let visible = mask.range_of(i % shape.rows, shape);
        row[..visible.start].fill(T::NEG_INFINITY);
        row[visible.end..].fill(T::NEG_INFINITY);
    }
}

fn sum<T: Number>(numbers: &[T]) -> T {
    numbers.iter().fold(T::ZERO, |sum, x| sum + *x)
}

/// The sum of some rows, which are as long as `out`.
fn sum_of_rows<T: Number>(numbers: &[T], out: &mut [T]) {
    out.fill(T::ZERO);
    for row in numbers.chunks_exact(out.len().max(1)) {
        out.iter_mut().zip(row).for_each(|(sum, x)| *sum = *sum + *x);
    }
}

/// Every column repeated until there are `cols` of them.
fn repeat<T: Number>(a: Read<'_, T>, cols: usize, out: &mut [T]) {
    let times = (cols / a.place.shape.cols.max(1)).max(1);
    for (out, x) in out.chunks_exact_mut(times).zip(a.numbers) {
        out.fill(*x);
    }
}

/// Each row divided by its root mean square.
fn rms_norm<T: Number>(a: Read<'_, T>, epsilon: T, out: &mut [T]) {
    let cols = a.place.shape.cols.max(1);
    let width = T::from_f64(cols as f64);
    for (out, row) in out.chunks_exact_mut(cols).zip(a.rows()) {
        let squares = row.iter().fold(T::ZERO, |sum, x| sum + *x * *x);
        let root = (squares / width + epsilon).root();
        out.iter_mut().zip(row).for_each(|(out, x)| *out = *x / root);
    }
}
