//! What a layer does between its products, to every number or every row: activations, the softmax of a pattern, norms.
//!
//! Of each there is the plain version, which defines the bits, and the same operations for registers. Sums over a row are sixteen
//! chains, whatever the registers hold.

use std::ops::Range;

use crate::activation::{exp, replace_all, replace_all_plain};
use crate::error::{Error, Result};
use crate::exp2::RegisterExp2;
use crate::layout::Layout;
use crate::linear::Rows;
use crate::output::{RowId, SharedRows};
use crate::plain::{VIRTUAL_LANES, fold};
use crate::pool::{Machine, Resources, each_task};
use crate::real::Real;
use crate::simd::{InstructionSet, Simd, SimdLevel, WithSet, Work};
use crate::visibility::Band;

pub use crate::activation::Activation;

/// The numbers of a task, about: some microseconds.
const TASK_NUMBERS: usize = 8192;

/// Applies the activation to every number, in place.
///
/// # Errors
/// If this processor lacks `machine.simd`.
pub fn activate(activation: Activation, numbers: &mut [f32], machine: Machine) -> Result<Resources> {
    machine.check()?;
    let kernel = kernel(machine.simd);
    let count = numbers.len();
    let shared = SharedRows::new(numbers, Layout::stacked(1, 1, count))?;
    Ok(each_task(machine, count.div_ceil(TASK_NUMBERS), &|task| {
        let (first, row) = (task * TASK_NUMBERS, RowId { head: 0, row: 0 });
        // SAFETY: every number is one task's.
        let numbers = unsafe { shared.row_mut(row, first, TASK_NUMBERS.min(count - first)) };
        // SAFETY: the level was found available.
        unsafe { kernel(RowTask::Activate(activation, numbers)) };
    }))
}

/// The softmax of every row of `scores`, T × N, in place: row i over the keys that query i sees. Hidden keys get the weight 0, all
/// keys of a fully masked row too.
///
/// The sum of a row is sixteen chains, key j in chain j mod 16, folded 16 → 8 → 4 → 2 → 1; then every exponential is divided by it.
/// # Accuracy
/// With u = 2⁻²⁴, D the largest difference of two visible scores of the row, and to first order in u, a weight is off by at most
/// u · (2D + N/16 + 10) of itself and 2⁻¹²⁵.
/// # Errors
/// If the scores are not rows of `columns` numbers, or this processor lacks `machine.simd`.
pub fn softmax_rows(scores: &mut [f32], columns: usize, band: Band, machine: Machine) -> Result<Resources> {
    machine.check()?;
    let count = scores.len();
    let Some(rows) = rows_of(count, columns) else {
        return Err(Error::Shape(format!("{count} scores are no rows of {columns} keys")));
    };
    let kernel = kernel(machine.simd);
    let shared = SharedRows::new(scores, Layout::stacked(1, rows, columns))?;
    Ok(each_row(machine, rows, columns, &|row| {
        // SAFETY: every row is one task's.
        let scores = unsafe { shared.row_mut(RowId { head: 0, row }, 0, columns) };
        // SAFETY: the level was found available.
        unsafe { kernel(RowTask::Softmax(scores, band.keys(row, columns))) };
    }))
}

/// The norm of every row of `input`, T × N, to `output`, row after row.
///
/// Both sums of a row, of the numbers and of the squared differences from their mean, are sixteen chains, column j in chain
/// j mod 16, folded 16 → 8 → 4 → 2 → 1.
/// # Accuracy
/// With u = 2⁻²⁴ and to first order in u, |out − exact| ≤ u · |w| · ((N/32 + 10) · |x − m| · r + (N/16 + 6) · r · mean |x|) + u · |out|,
/// for RMS without the term of the mean; r and m as in [`Norm`].
/// # Errors
/// If the shapes do not fit each other, or this processor lacks `machine.simd`.
pub fn normalize(
    norm: &Norm<'_>,
    input: Rows<'_, f32>,
    machine: Machine,
    output: &mut [f32],
) -> Result<Resources> {
    machine.check()?;
    let (rows, columns) = (input.rows(), input.columns());
    norm.check(columns)?;
    if rows.checked_mul(columns) != Some(output.len()) {
        return Err(Error::Shape(format!(
            "an output of {} numbers does not fit {rows} rows of {columns} columns",
            output.len()
        )));
    }
    let kernel = kernel(machine.simd);
    let shared = SharedRows::new(output, Layout::stacked(1, rows, columns))?;
    Ok(each_row(machine, rows, columns, &|row| {
        // SAFETY: every row is one task's.
        let output = unsafe { shared.row_mut(RowId { head: 0, row }, 0, columns) };
        // SAFETY: the level was found available.
        unsafe { kernel(RowTask::Normalize(norm, input.row(row), output)) };
    }))
}

/// The number of rows of `columns` numbers that are `count` numbers.
fn rows_of(count: usize, columns: usize) -> Option<usize> {
    match columns {
        0 => (count == 0).then_some(0),
        _ => count.is_multiple_of(columns).then(|| count / columns),
    }
}

/// Calls `work` with every row, some rows a task.
fn each_row(machine: Machine, rows: usize, columns: usize, work: &(dyn Fn(usize) + Sync)) -> Resources {
    if columns == 0 {
        return Resources::default();
    }
    let together = TASK_NUMBERS.div_ceil(columns);
    each_task(machine, rows.div_ceil(together), &|task| {
        (task * together..((task + 1) * together).min(rows)).for_each(work);
    })
}

/// What is done to some numbers.
enum RowTask<'a> {
    Activate(Activation, &'a mut [f32]),
    /// A row of scores, and the keys that are visible.
    Softmax(&'a mut [f32], [Range<usize>; 2]),
    /// A row, and where the result goes.
    Normalize(&'a Norm<'a>, &'a [f32], &'a mut [f32]),
}

/// The function that does it at a level that this processor has; it is not safe at another.
fn kernel(level: SimdLevel) -> unsafe fn(RowTask<'_>) {
    level.with_set(RunTask).unwrap_or(run_plain)
}

/// The plain version.
fn run_plain(task: RowTask<'_>) {
    match task {
        RowTask::Activate(activation, numbers) => replace_all_plain(activation, numbers),
        RowTask::Softmax(row, visible) => softmax_plain(row, &visible),
        RowTask::Normalize(norm, row, out) => norm.row_plain(row, out),
    }
}

struct RunTask;

impl WithSet for RunTask {
    type Output = unsafe fn(RowTask<'_>);

    fn call<S: InstructionSet>(self) -> unsafe fn(RowTask<'_>) {
        S::run::<RunTask>
    }
}

impl<S: Simd<f32>> Work<S> for RunTask {
    type Input<'a> = RowTask<'a>;
    type Output = ();

    #[inline(always)]
    unsafe fn run(simd: S, task: RowTask<'_>) {
        match task {
            RowTask::Activate(activation, numbers) => replace_all(simd, activation, numbers),
            RowTask::Softmax(row, visible) => softmax_in_registers(simd, row, &visible),
            RowTask::Normalize(norm, row, out) => norm.row_in_registers(simd, row, out),
        }
    }
}

// The softmax of a row of scores, in place.

/// The plain version: scores become weights, 0 for hidden keys.
///
/// The sum is sixteen chains, key j in chain j mod 16.
fn softmax_plain(row: &mut [f32], visible: &[Range<usize>; 2]) {
    let exp_of_negative = exp();
    let keys = || visible.iter().flat_map(Clone::clone);
    let max = keys().fold(f32::NEG_INFINITY, |max, j| Real::max(row[j], max));
    let reference = reference(max);
    let mut lanes = [0.0; VIRTUAL_LANES];
    for j in keys() {
        row[j] = exp_of_negative.of(row[j] - reference);
        lanes[j % VIRTUAL_LANES] += row[j];
    }
    let sum = fold(lanes);
    for j in keys() {
        row[j] = if sum == 0.0 { 0.0 } else { row[j] / sum };
    }
    fill_hidden(row, visible, 0.0);
}

/// The number that is subtracted from the scores: the max, or 0 if it is −∞, since −∞ − −∞ is NaN.
#[inline(always)]
fn reference(max: f32) -> f32 {
    if max == f32::NEG_INFINITY { 0.0 } else { max }
}

/// Fills what no range has.
#[inline(always)]
fn fill_hidden(row: &mut [f32], [first, rest]: &[Range<usize>; 2], with: f32) {
    row[..first.start].fill(with);
    row[first.end..rest.start].fill(with);
    row[rest.end..].fill(with);
}

/// The same in registers: hidden scores are −∞ up to the end.
#[inline(always)]
fn softmax_in_registers<S: Simd<f32>>(simd: S, row: &mut [f32], visible: &[Range<usize>; 2]) {
    fill_hidden(row, visible, f32::NEG_INFINITY);
    let [first, rest] = visible;
    // From the sixteen with the first visible key to the last visible key.
    let start = if first.is_empty() { rest.start } else { first.start };
    let start = start.min(rest.end) / VIRTUAL_LANES * VIRTUAL_LANES;
    let keys = &mut row[start..rest.end.max(start)];
    let max = reference(max_in_registers(simd, keys));
    let exp_of_negative = RegisterExp2::new(simd, &exp());
    let max = simd.splat(max);
    let sum =
        replace_and_sum(simd, keys, f32::NEG_INFINITY, |scores| exp_of_negative.of(simd.sub(scores, max)));
    if sum == 0.0 {
        row.fill(0.0);
        return;
    }
    let sums = simd.splat(sum);
    let mut registers = keys.chunks_exact_mut(S::LANES);
    for weights in &mut registers {
        // SAFETY: a chunk is as long as a register.
        unsafe { simd.store(simd.div(simd.load(weights), sums), weights) };
    }
    for weight in registers.into_remainder() {
        *weight /= sum;
    }
    fill_hidden(row, visible, 0.0);
}

#[inline(always)]
fn max_in_registers<S: Simd<f32>>(simd: S, row: &[f32]) -> f32 {
    let mut max = simd.splat(f32::NEG_INFINITY);
    let mut registers = row.chunks_exact(S::LANES);
    for scores in &mut registers {
        // SAFETY: a chunk is as long as a register.
        max = simd.max(unsafe { simd.load(scores) }, max);
    }
    let lanes = simd.numbers(max);
    let all = lanes[..S::LANES].iter().chain(registers.remainder());
    all.fold(f32::NEG_INFINITY, |max, score| Real::max(*score, max))
}

// Norms.

/// What a row is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormKind {
    /// The root of the mean square; nothing is subtracted: Zhang & Sennrich 2019.
    Rms,
    /// The standard deviation (over N, not N − 1) around the mean, which is subtracted first: Ba et al. 2016.
    Layer,
}

/// `out[t,j] = (x[t,j] − m) · r · w[j] + b[j]`, with m = 0 (RMS) or the row's mean, and r = 1 / √(mean of (x − m)² + epsilon).
#[derive(Clone, Copy, Debug)]
pub struct Norm<'a> {
    /// Which of both.
    pub kind: NormKind,
    /// w, a number for each column; `None` is 1. Gemma's 1 + w is for the caller to add.
    pub weight: Option<&'a [f32]>,
    /// b, a number for each column; `None` is 0.
    pub bias: Option<&'a [f32]>,
    /// What is added to the mean square.
    pub epsilon: f32,
}

impl Norm<'_> {
    /// # Errors
    /// [`Error::Shape`] if the weights or biases are not `columns` numbers.
    fn check(&self, columns: usize) -> Result<()> {
        for (name, numbers) in [("weights", self.weight), ("biases", self.bias)] {
            if let Some(numbers) = numbers.filter(|numbers| numbers.len() != columns) {
                return Err(Error::Shape(format!(
                    "{} {name} do not fit a norm over {columns} columns",
                    numbers.len()
                )));
            }
        }
        Ok(())
    }

    /// The plain version: one row.
    fn row_plain(&self, x: &[f32], out: &mut [f32]) {
        let total = sum(x, |sum, x| sum + x);
        let mean = self.mean(total, x.len());
        let squares = sum(x, |sum, x| (x - mean).mul_add(x - mean, sum));
        let scale = self.scale(squares, x.len());
        self.finish_plain(x, 0, mean, scale, out);
    }

    /// The columns from `from` on.
    #[inline(always)]
    fn finish_plain(&self, x: &[f32], from: usize, mean: f32, scale: f32, out: &mut [f32]) {
        for j in from..x.len() {
            let weight = self.weight.map_or(1.0, |weight| weight[j]);
            let bias = self.bias.map_or(0.0, |bias| bias[j]);
            out[j] = (x[j] - mean).mul_add(scale, 0.0).mul_add(weight, bias);
        }
    }

    /// What is subtracted.
    #[inline(always)]
    fn mean(&self, total: f32, columns: usize) -> f32 {
        match self.kind {
            NormKind::Rms => 0.0,
            NormKind::Layer => total / columns as f32,
        }
    }

    /// r.
    #[inline(always)]
    fn scale(&self, squares: f32, columns: usize) -> f32 {
        1.0 / (squares / columns as f32 + self.epsilon).sqrt()
    }

    /// One row, in registers.
    #[inline(always)]
    fn row_in_registers<S: Simd<f32>>(&self, simd: S, x: &[f32], out: &mut [f32]) {
        assert_eq!(x.len(), out.len());
        let total = match self.kind {
            NormKind::Rms => 0.0,
            NormKind::Layer => sum_in_registers(simd, x, |sum, x| simd.add(sum, x), |sum, x| sum + x),
        };
        let mean = self.mean(total, x.len());
        let means = simd.splat(mean);
        let squares = sum_in_registers(
            simd,
            x,
            |sum, x| simd.mul_add(simd.sub(x, means), simd.sub(x, means), sum),
            |sum, x| (x - mean).mul_add(x - mean, sum),
        );
        let scale = self.scale(squares, x.len());
        let (scales, zero, one) = (simd.splat(scale), simd.splat(0.0), simd.splat(1.0));
        let whole = x.len() - x.len() % S::LANES;
        for j in (0..whole).step_by(S::LANES) {
            // SAFETY: a register is left from column j on, in each of these.
            unsafe {
                let weight = self.weight.map_or(one, |weight| simd.load(&weight[j..]));
                let bias = self.bias.map_or(zero, |bias| simd.load(&bias[j..]));
                let scaled = simd.mul_add(simd.sub(simd.load(&x[j..]), means), scales, zero);
                simd.store(simd.mul_add(scaled, weight, bias), &mut out[j..]);
            }
        }
        self.finish_plain(x, whole, mean, scale, out);
    }
}

// Sums over a row: sixteen chains, column j in chain j mod 16, folded 16 → 8 → 4 → 2 → 1.

/// The most registers that sixteen `f32` fill.
const MAX_REGISTERS: usize = 4;

/// The plain version: `add(sum, x)` for every number of the row.
fn sum(row: &[f32], add: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [0.0; VIRTUAL_LANES];
    for (j, x) in row.iter().enumerate() {
        lanes[j % VIRTUAL_LANES] = add(lanes[j % VIRTUAL_LANES], *x);
    }
    fold(lanes)
}

/// The same sum in registers; `replace` also makes a new number of each, which is not negative, and 0 of `none`.
#[inline(always)]
fn replace_and_sum<S: Simd<f32>>(
    simd: S,
    row: &mut [f32],
    none: f32,
    replace: impl Fn(S::Register) -> S::Register + Copy,
) -> f32 {
    let mut sums = [simd.splat(0.0); MAX_REGISTERS];
    let (sixteens, last) = row.as_chunks_mut::<VIRTUAL_LANES>();
    for sixteen in sixteens {
        replace_sixteen(simd, sixteen, &mut sums, replace);
    }
    if !last.is_empty() {
        // What fills up the last sixteen adds 0.
        let mut sixteen = [none; VIRTUAL_LANES];
        sixteen[..last.len()].copy_from_slice(last);
        replace_sixteen(simd, &mut sixteen, &mut sums, replace);
        last.copy_from_slice(&sixteen[..last.len()]);
    }
    fold(lanes_of(simd, &sums))
}

#[inline(always)]
fn replace_sixteen<S: Simd<f32>>(
    simd: S,
    sixteen: &mut [f32; VIRTUAL_LANES],
    sums: &mut [S::Register; MAX_REGISTERS],
    replace: impl Fn(S::Register) -> S::Register + Copy,
) {
    for at in 0..VIRTUAL_LANES / S::LANES {
        let numbers = &mut sixteen[at * S::LANES..][..S::LANES];
        // SAFETY: this part is as long as a register.
        let x = replace(unsafe { simd.load(numbers) });
        // SAFETY: as above.
        unsafe { simd.store(x, numbers) };
        sums[at] = simd.add(sums[at], x);
    }
}

/// The same sum in registers: `add(sum, x)` for every number of the row.
#[inline(always)]
fn sum_in_registers<S: Simd<f32>>(
    simd: S,
    row: &[f32],
    add: impl Fn(S::Register, S::Register) -> S::Register,
    add_one: impl Fn(f32, f32) -> f32,
) -> f32 {
    let mut sums = [simd.splat(0.0); MAX_REGISTERS];
    let (sixteens, last) = row.as_chunks::<VIRTUAL_LANES>();
    for sixteen in sixteens {
        for (numbers, sum) in sixteen.chunks_exact(S::LANES).zip(&mut sums) {
            // SAFETY: a chunk is as long as a register.
            *sum = add(*sum, unsafe { simd.load(numbers) });
        }
    }
    let mut lanes = lanes_of(simd, &sums);
    for (x, lane) in last.iter().zip(&mut lanes) {
        *lane = add_one(*lane, *x);
    }
    fold(lanes)
}

/// The sixteen lanes of the first registers.
#[inline(always)]
fn lanes_of<S: Simd<f32>>(simd: S, sums: &[S::Register; MAX_REGISTERS]) -> [f32; VIRTUAL_LANES] {
    let mut lanes = [0.0; VIRTUAL_LANES];
    for at in 0..VIRTUAL_LANES / S::LANES {
        // SAFETY: this part is as long as a register.
        unsafe { simd.store(sums[at], &mut lanes[at * S::LANES..][..S::LANES]) };
    }
    lanes
}
