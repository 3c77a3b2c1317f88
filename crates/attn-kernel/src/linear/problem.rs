//! The problem: an input, the weights of a layer, their type, and which axis of them is which; and the plain version.

use std::fmt::Debug;

use half::{bf16, f16};

use crate::error::{Error, Result};
use crate::simd::{LoadWeights, MAX_LANES, Simd};

/// Which axis of a weight matrix counts inputs, and which outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightOrder {
    /// (N, K), a row for each output: PyTorch's `Linear`.
    OutIn,
    /// (K, N), a row for each input: GPT-2's `Conv1D`.
    InOut,
}

/// A linear layer of K inputs and N outputs, applied to T rows.
#[derive(Clone, Copy, Debug)]
pub struct Linear<'a, W> {
    /// x, (T, K).
    pub input: Rows<'a, f32>,
    /// W, (N, K) or (K, N).
    pub weights: Rows<'a, W>,
    /// Which of both.
    pub order: WeightOrder,
    /// b, (N).
    pub bias: Option<&'a [f32]>,
}

impl<W: Copy> Linear<'_, W> {
    /// K, as the weights have it.
    pub fn inputs(&self) -> usize {
        match self.order {
            WeightOrder::OutIn => self.weights.columns(),
            WeightOrder::InOut => self.weights.rows(),
        }
    }

    /// N.
    pub fn outputs(&self) -> usize {
        match self.order {
            WeightOrder::OutIn => self.weights.rows(),
            WeightOrder::InOut => self.weights.columns(),
        }
    }

    /// # Errors
    /// [`Error::Shape`] if the shapes do not fit each other, or an output of `numbers` numbers.
    pub(super) fn check(&self, numbers: usize) -> Result<()> {
        let (rows, inputs, outputs) = (self.input.rows(), self.inputs(), self.outputs());
        if self.input.columns() != inputs {
            return Err(Error::Shape(format!(
                "rows of width {} do not fit weights for {inputs} inputs",
                self.input.columns()
            )));
        }
        if let Some(bias) = self.bias.filter(|bias| bias.len() != outputs) {
            return Err(Error::Shape(format!(
                "a bias of {} numbers does not fit {outputs} outputs",
                bias.len()
            )));
        }
        if rows.checked_mul(outputs) != Some(numbers) {
            return Err(Error::Shape(format!(
                "an output of {numbers} numbers does not fit {rows} rows of {outputs} outputs"
            )));
        }
        Ok(())
    }
}

/// rows × columns numbers to read, row after row.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, T> {
    numbers: &'a [T],
    rows: usize,
    columns: usize,
}

impl<'a, T: Copy> Rows<'a, T> {
    /// `numbers` as rows × columns, row after row.
    ///
    /// # Errors
    /// [`Error::Shape`] if there are fewer numbers; the error calls them `name`.
    pub fn new(name: &str, numbers: &'a [T], rows: usize, columns: usize) -> Result<Rows<'a, T>> {
        if rows.checked_mul(columns).is_some_and(|count| count <= numbers.len()) {
            return Ok(Rows { numbers, rows, columns });
        }
        Err(Error::Shape(format!("{name}: {rows}×{columns} do not fit {} numbers", numbers.len())))
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Row i.
    #[inline(always)]
    pub(crate) fn row(&self, i: usize) -> &'a [T] {
        assert_in_tests!(i < self.rows);
        &self.numbers[i * self.columns..][..self.columns]
    }

    /// The address of the first number.
    #[inline(always)]
    pub(crate) fn start(&self) -> *const T {
        self.numbers.as_ptr()
    }

    /// The address of the number at row i, column j.
    ///
    /// # Safety
    /// i < rows and j < columns.
    #[inline(always)]
    pub(crate) unsafe fn place(&self, i: usize, j: usize) -> *const T {
        assert_in_tests!(i < self.rows && j < self.columns);
        // SAFETY: every cell lies inside the numbers.
        unsafe { self.numbers.as_ptr().add(i * self.columns + j) }
    }
}

/// A type of weights: `f32`, `f16` or `bf16`. All of their values are values of `f32` too, so widening is exact.
pub trait Weight: Copy + Debug + Default + Send + Sync + 'static {
    /// Its name: `f32`, `f16` or `bf16`.
    const NAME: &'static str;

    /// The same number as an `f32`.
    fn widen(self) -> f32;
}

/// The inputs of [`RegisterWeight::load_square`], a register for each: the second half is for those of a lane that holds two weights.
pub(super) type Square<S> = [[<S as Simd<f32>>::Register; MAX_LANES]; 2];

/// A weight that a register of `f32` can be filled with.
pub(super) trait RegisterWeight: Weight {
    /// The weights of a row in a lane of a square that is transposed.
    const PER_LANE: usize = 1;

    /// The first LANES weights, widened.
    ///
    /// # Safety
    /// There are that many.
    unsafe fn load<S: LoadWeights>(simd: S, weights: *const Self) -> S::Register;

    /// PER_LANE · LANES weights of each row, from the k-th on, transposed and widened: a register for each of these inputs, in
    /// which lane i has the weight of row i. The caller's square is used again and again: a new one would be cleared each time.
    ///
    /// # Safety
    /// Each of LANES rows has this many weights there.
    #[inline(always)]
    unsafe fn load_square<S: LoadWeights>(
        simd: S,
        rows: &[*const Self; MAX_LANES],
        k: usize,
        [square, _]: &mut Square<S>,
    ) {
        for lane in 0..S::LANES {
            // SAFETY: the caller has these weights.
            square[lane] = unsafe { Self::load(simd, rows[lane].add(k)) };
        }
        simd.transpose(square);
    }
}

macro_rules! impl_weight {
    ($($weight:ty: $name:literal, $widen:expr;)+) => {$(
        impl Weight for $weight {
            const NAME: &'static str = $name;

            #[inline(always)]
            fn widen(self) -> f32 {
                $widen(self)
            }
        }
    )+};
}

impl_weight! {
    f32: "f32", std::convert::identity;
    f16: "f16", f16::to_f32;
    bf16: "bf16", bf16::to_f32;
}

impl RegisterWeight for f32 {
    #[inline(always)]
    unsafe fn load<S: LoadWeights>(simd: S, weights: *const f32) -> S::Register {
        // SAFETY: the caller has these weights.
        unsafe { simd.load(std::slice::from_raw_parts(weights, S::LANES)) }
    }

    #[inline(always)]
    unsafe fn load_square<S: LoadWeights>(
        simd: S,
        rows: &[*const f32; MAX_LANES],
        k: usize,
        [square, _]: &mut Square<S>,
    ) {
        // SAFETY: the caller has these weights.
        unsafe { simd.load_square(&rows.map(|row| row.wrapping_add(k)), square) };
    }
}

impl RegisterWeight for f16 {
    #[inline(always)]
    unsafe fn load<S: LoadWeights>(simd: S, weights: *const f16) -> S::Register {
        // SAFETY: the caller has these weights.
        unsafe { simd.load_f16(std::slice::from_raw_parts(weights, S::LANES)) }
    }
}

impl RegisterWeight for bf16 {
    const PER_LANE: usize = 2;

    #[inline(always)]
    unsafe fn load<S: LoadWeights>(simd: S, weights: *const bf16) -> S::Register {
        // SAFETY: the caller has these weights.
        unsafe { simd.load_bf16(std::slice::from_raw_parts(weights, S::LANES)) }
    }

    /// Pairs are transposed as if they were one number, and then split: half of the instructions.
    #[inline(always)]
    unsafe fn load_square<S: LoadWeights>(
        simd: S,
        rows: &[*const bf16; MAX_LANES],
        k: usize,
        square: &mut Square<S>,
    ) {
        let [pairs, _] = &mut *square;
        // SAFETY: the caller has LANES pairs in each row.
        unsafe { simd.load_square(&rows.map(|row| row.wrapping_add(k).cast()), pairs) };
        // From the last on, so that no pair is overwritten before it is split.
        let inputs = square.as_flattened_mut();
        for lane in (0..S::LANES).rev() {
            [inputs[2 * lane], inputs[2 * lane + 1]] = simd.split_bf16_pairs(inputs[lane]);
        }
    }
}

/// The plain version, one output and one weight at a time, which is the definition: every faster version gives its bits.
///
/// `Σ_k x[t,k] · w[k,n] + b[n]`: a chain of fused multiply-adds over k, from the first to the last, then the bias.
pub(super) fn output<W: Weight>(linear: &Linear<'_, W>, t: usize, n: usize) -> f32 {
    let weight = |k: usize| match linear.order {
        WeightOrder::OutIn => linear.weights.row(n)[k],
        WeightOrder::InOut => linear.weights.row(k)[n],
    };
    let mut sum = 0.0;
    for (k, x) in linear.input.row(t).iter().enumerate() {
        sum = x.mul_add(weight(k).widen(), sum);
    }
    linear.bias.map_or(sum, |bias| sum + bias[n])
}
