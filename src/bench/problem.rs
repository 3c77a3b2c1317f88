//! Random inputs, the fused path on them, and the distance of its result from the exact one.

use super::shape::Shape;
use super::steps::steps;
use crate::attention::{Mask, MatrixRule, Visibility};
use crate::error::Result;
use crate::graph::Op;
use crate::input::system;
use crate::kernel::{Attention, Heads, Kernels, Layout, Machine, Output, Resources, attend};
use crate::matrix::Matrix;
use crate::memory::{self, Remaining};
use crate::random::LegacyStream;

/// The seed of the inputs.
const SEED: u32 = 1234;

/// Rows of a head that are compared with the exact path.
const COMPARED_ROWS: usize = 16;

/// The limit on systems that do not say how much memory there is.
const USUAL_LIMIT: u64 = 2 << 30;

/// The bytes that a measurement may take: the user's limit, else half of the free memory, which leaves room for other programs.
pub fn memory_limit() -> u64 {
    match memory::remaining() {
        Remaining::Asked(bytes) => bytes,
        Remaining::Free(bytes) => bytes / 2,
        Remaining::Unknown => system::memory_available().map_or(USUAL_LIMIT, |bytes| bytes / 2),
    }
}

/// Queries, keys and values drawn from N(0, 1), and memory for the result.
#[derive(Clone, Debug)]
pub struct Problem<T> {
    shape: Shape,
    q: Vec<T>,
    k: Vec<T>,
    v: Vec<T>,
    output: Vec<T>,
}

impl<T: Kernels> Problem<T> {
    /// A problem with numbers that are the same every time.
    ///
    /// # Errors
    /// If the shape is none, or takes more memory than [`memory_limit`] has.
    pub fn drawn(shape: Shape) -> Result<Problem<T>> {
        let shape = shape.checked()?;
        Self::check_memory(shape)?;
        let [queries, keys, _] = shape.numbers().map(|numbers| numbers as usize);
        let mut stream = LegacyStream::seeded(SEED);
        let mut drawn = |count: usize| -> Result<Vec<T>> {
            let mut numbers = memory::room_for(count)?;
            numbers.extend((0..count).map(|_| T::from_f64(stream.standard_normal())));
            Ok(numbers)
        };
        let (q, k, v) = (drawn(queries)?, drawn(keys)?, drawn(keys)?);
        let mut output = memory::room_for(queries)?;
        output.resize(queries, T::ZERO);
        Ok(Problem { shape, q, k, v, output })
    }

    /// # Errors
    /// If the shape takes more memory than [`memory_limit`] has.
    pub fn check_memory(shape: Shape) -> Result<()> {
        Self::fits(shape, memory_limit())
    }

    /// The memory of inputs, output and the comparison with the exact path.
    pub(super) fn bytes(shape: Shape) -> u128 {
        let [queries, keys, output] = shape.numbers();
        // Keys and values of a head in f64, each once more while it is converted, and four rows of keys for each compared one.
        let exact = 4 * shape.keys as u128 * (shape.width as u128 + COMPARED_ROWS as u128) * 8;
        (queries + 2 * keys + output) * size_of::<T>() as u128 + exact
    }

    /// Checks that they fit into `limit` bytes.
    fn fits(shape: Shape, limit: u64) -> Result<()> {
        let bytes = Self::bytes(shape);
        if bytes <= u128::from(limit) {
            return Ok(());
        }
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let help = format!(
            "give fewer heads or a shorter sequence, or, if this machine has the memory, allow it: --memory {}",
            memory::enough(bytes)
        );
        Err(memory::too_much(bytes, limit).in_source(shape.to_string()).help(help))
    }

    /// The number of multiplications of the comparison with the exact path.
    pub(super) fn compared(shape: Shape) -> u128 {
        let rows = shape.queries.min(COMPARED_ROWS) + 1;
        3.min(shape.heads) as u128 * rows as u128 * shape.keys as u128 * shape.width as u128
    }

    /// The shape of the problem.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Keys and values as they lie in memory.
    pub fn keys_and_values(&self) -> [&[T]; 2] {
        [&self.k, &self.v]
    }

    /// The fused path: [`crate::kernel::attend`].
    ///
    /// # Errors
    /// If this processor lacks `machine.simd`.
    pub fn attend(&mut self, machine: Machine) -> Result<Resources> {
        let Shape { heads, key_value_heads, queries, keys, width, .. } = self.shape;
        let (own, shared) =
            (Layout::stacked(heads, queries, width), Layout::stacked(key_value_heads, keys, width));
        let [k, v] = [("k", &self.k), ("v", &self.v)].map(|(name, x)| Heads::new(name, x, shared));
        let mut attention = Attention::new(Heads::new("q", &self.q, own)?, k?, v?);
        attention.band = self.shape.band();
        Ok(attend(&attention, machine, Output::new(&mut self.output, own))?)
    }

    /// Q, K and V of a query head for the exact path.
    pub(super) fn exact(&self, head: usize) -> Result<[Matrix; 3]> {
        let Shape { heads, key_value_heads, queries, keys, .. } = self.shape;
        let shared = head / (heads / key_value_heads);
        let matrix = |numbers: &[T], head: usize, rows: usize| {
            let numbers = &numbers[head * rows * self.shape.width..][..rows * self.shape.width];
            Matrix::from_row_major(
                rows,
                self.shape.width,
                &numbers.iter().map(|x| x.to_f64()).collect::<Vec<_>>(),
            )
        };
        Ok([matrix(&self.q, head, queries)?, matrix(&self.k, shared, keys)?, matrix(&self.v, shared, keys)?])
    }

    /// The largest |O − exact| over some rows of the first, the middle and the last head, after [`Problem::attend`].
    ///
    /// # Errors
    /// None for a shape that was found to be one.
    pub fn max_error(&self) -> Result<f64> {
        let Shape { heads, queries, keys, width, causal, .. } = self.shape;
        let rows = compared_rows(queries);
        // The rows are no longer the last ones of all, so a matrix says which keys they see.
        let causal_mask = Mask { causal, ..Mask::default() };
        let sees =
            |i: usize, j| causal_mask.visibility((rows[i], j), (queries, keys), None) == Visibility::Visible;
        let pattern =
            Matrix::from_fn(if causal { rows.len() } else { 0 }, keys, |i, j| f64::from(sees(i, j)));
        let allowed = Op::Mask(Mask { matrix: Some(MatrixRule::Allow), ..Mask::default() });
        let mut compared = vec![0, heads / 2, heads - 1];
        compared.dedup();
        let mut worst = 0.0_f64;
        for head in compared {
            let [q, k, v] = self.exact(head)?;
            let q = Matrix::from_fn(rows.len(), width, |i, c| q[(rows[i], c)]);
            let exact = steps([&q, &k, &v], causal.then(|| (allowed.clone(), Some(&pattern))))?.output;
            for (i, row) in rows.iter().enumerate() {
                let fused = &self.output[(head * queries + row) * width..][..width];
                for (x, exact) in fused.iter().zip(exact.row(i)) {
                    let error = (x.to_f64() - exact).abs();
                    worst = if error > worst || error.is_nan() { error } else { worst };
                }
            }
        }
        Ok(worst)
    }
}

/// All rows if they are few, else the first, the last, and some between.
fn compared_rows(queries: usize) -> Vec<usize> {
    if queries <= COMPARED_ROWS {
        return (0..queries).collect();
    }
    (0..COMPARED_ROWS)
        .map(|i| (i as u128 * (queries as u128 - 1) / (COMPARED_ROWS as u128 - 1)) as usize)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::SimdLevel;

    fn shape(heads: usize, queries: usize, keys: usize, causal: bool) -> Shape {
        Shape { heads, key_value_heads: heads.div_ceil(2), queries, keys, width: 16, causal }
    }

    #[test]
    fn an_error_is_found_in_whatever_row_is_compared() {
        for (queries, causal) in [(40, true), (40, false), (3, true), (50, true)] {
            let mut problem = Problem::<f32>::drawn(shape(2, queries, 40, causal)).unwrap();
            problem.attend(Machine { simd: SimdLevel::detect(), threads: 1 }).unwrap();
            let error = problem.max_error().unwrap();
            assert!(error > 0.0 && error < 2e-6, "{queries}, {causal}: {error}");
            // The last number belongs to the last row of the last head.
            *problem.output.last_mut().unwrap() += 0.5;
            assert!((problem.max_error().unwrap() - 0.5).abs() < 1e-5);
            *problem.output.last_mut().unwrap() = f32::NAN;
            assert!(problem.max_error().unwrap().is_nan());
        }
    }

    #[test]
    fn a_problem_beyond_the_memory_is_refused_before_anything_is_drawn() {
        let huge = shape(2, 1 << 20, 1 << 40, false);
        let error = Problem::<f64>::fits(huge, 1 << 30).unwrap_err().to_string();
        assert!(error.contains("GiB may be used here"), "{error}");
        assert!(Problem::<f64>::drawn(huge).is_err());
        assert!(Problem::<f64>::fits(shape(2, 100, 100, true), 1 << 30).is_ok());
    }

    #[test]
    fn compared_rows_are_spread_from_the_first_to_the_last() {
        assert_eq!(compared_rows(3), [0, 1, 2]);
        let rows = compared_rows(1000);
        assert_eq!((rows[0], rows[15], rows.len()), (0, 999, 16));
    }
}
