//! Random inputs, the fused path on them, and the distance of its result from the exact one.

use std::fmt;
use std::time::{Duration, Instant};

use crate::attention::{Axis, Base, Mask, MatrixRule, Visibility};
use crate::error::{Error, Result};
use crate::graph::{Factor, Op};
use crate::input::system;
use crate::kernel::{Attention, Band, Heads, Kernels, Layout, Machine, Output, Resources, attend};
use crate::matrix::Matrix;
use crate::memory::{self, Remaining};
use crate::random::LegacyStream;
use crate::text::counted;

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
        let (bytes, limit) = (Self::bytes(shape), memory_limit());
        if bytes <= u128::from(limit) {
            return Ok(());
        }
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let enough = memory::enough(bytes);
        let help = format!(
            "give fewer heads or a shorter sequence, or, if this machine has the memory, allow it: --memory {enough}"
        );
        Err(memory::too_much(bytes, limit).in_source(shape.to_string()).help(help))
    }

    /// The memory of inputs, output and the comparison with the exact path.
    pub(super) fn bytes(shape: Shape) -> u128 {
        let [queries, keys, output] = shape.numbers();
        // Keys and values of a head in f64, each once more while it is converted, and four rows of keys for each compared one.
        let exact = 4 * shape.keys as u128 * (shape.width as u128 + COMPARED_ROWS as u128) * 8;
        (queries + 2 * keys + output) * size_of::<T>() as u128 + exact
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

// The sizes of a problem.

/// The sizes of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// H query heads.
    pub heads: usize,
    /// G key/value heads that they share.
    pub key_value_heads: usize,
    /// T queries.
    pub queries: usize,
    /// N keys and values.
    pub keys: usize,
    /// The width of a head, d_k and d_v.
    pub width: usize,
    /// True if no query sees a later key; the T queries are the last of N tokens.
    pub causal: bool,
}

impl Shape {
    /// The shape itself, if it makes a problem.
    ///
    /// # Errors
    /// If there is nothing to compute, heads cannot be shared, or a count has more digits than the machine.
    pub fn checked(self) -> Result<Shape> {
        let sizes = [
            ("--heads", self.heads),
            ("--kv-heads", self.key_value_heads),
            ("--n", self.keys),
            ("--n-q", self.queries),
            ("--dim", self.width),
        ];
        if let Some((option, _)) = sizes.into_iter().find(|(_, size)| *size == 0) {
            return Err(Error::new(format!("{option} 0 leaves nothing to compute")).help("give 1 or more"));
        }
        if !self.heads.is_multiple_of(self.key_value_heads) {
            let heads = counted(self.heads, "query head");
            let shared = counted(self.key_value_heads, "key/value head");
            return Err(Error::new(format!("{heads} cannot share {shared} equally"))
                .help("give a number of --heads that is a multiple of --kv-heads"));
        }
        let factors = [4, self.heads, self.width, self.queries, self.keys];
        match factors.into_iter().try_fold(1_u64, |product, size| product.checked_mul(size as u64)) {
            Some(_) => Ok(self),
            None => Err(Error::new(format!("{self}: more operations than can be counted"))
                .help("give fewer heads or a shorter sequence")),
        }
    }

    /// The visible (query, key) pairs of a head.
    pub fn pairs(&self) -> u64 {
        let (queries, keys) = (self.queries as u64, self.keys as u64);
        if !self.causal {
            return queries * keys;
        }
        // Of more queries than keys the first see nothing. Of the others, the last sees all keys, each before it one fewer.
        let seeing = queries.min(keys);
        seeing * (keys - seeing) + seeing * (seeing + 1) / 2
    }

    /// The useful floating-point operations: a multiplication and an addition for each column of a key, and of a value, of
    /// each visible pair.
    pub fn flop(&self) -> u64 {
        4 * self.heads as u64 * self.width as u64 * self.pairs()
    }

    /// The keys that each query sees.
    pub fn band(&self) -> Band {
        if self.causal { Band::causal(self.queries, self.keys) } else { Band::default() }
    }

    /// The numbers of (Q, K or V, O).
    pub(super) fn numbers(&self) -> [u128; 3] {
        let numbers = |heads: usize, rows: usize| heads as u128 * rows as u128 * self.width as u128;
        let queries = numbers(self.heads, self.queries);
        [queries, numbers(self.key_value_heads, self.keys), queries]
    }
}

impl fmt::Display for Shape {
    /// The format that `benches/peers.py` writes and reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { heads, key_value_heads, queries, keys, width, causal } = self;
        let mask = if *causal { "causal" } else { "full" };
        write!(f, "h={heads},kv={key_value_heads},q={queries},n={keys},d={width},{mask}")
    }
}

impl Shape {
    /// The shape in words: “12 heads of 64, 1024 queries × 1024 keys, causal”.
    pub fn in_words(&self) -> String {
        let Shape { heads, key_value_heads, queries, keys, width, causal } = *self;
        let shared = if key_value_heads == heads {
            String::new()
        } else {
            format!(" over {}", counted(key_value_heads, "key/value head"))
        };
        let queries = match queries {
            1 => "1 query".to_string(),
            several => format!("{several} queries"),
        };
        let mask = if causal { ", causal" } else { "" };
        format!("{} of {width}{shared}, {queries} × {}{mask}", counted(heads, "head"), counted(keys, "key"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::recipes::{AttendInputs, Recipe, attend};
    use crate::kernel::SimdLevel;
    use crate::random::LegacyStream;

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
        let huge = shape(2, 1 << 20, 1 << 34, false);
        let error = Problem::<f64>::drawn(huge).unwrap_err().to_string();
        assert!(error.contains("may be used here"), "{error}");
        assert!(Problem::<f64>::check_memory(shape(2, 100, 100, true)).is_ok());
    }

    #[test]
    fn compared_rows_are_spread_from_the_first_to_the_last() {
        assert_eq!(compared_rows(3), [0, 1, 2]);
        let rows = compared_rows(1000);
        assert_eq!((rows[0], rows[15], rows.len()), (0, 999, 16));
    }

    fn one_head(queries: usize, keys: usize, causal: bool) -> Shape {
        Shape { heads: 1, key_value_heads: 1, queries, keys, width: 64, causal }
    }

    #[test]
    fn visible_pairs_are_those_of_the_mask() {
        use crate::attention::Mask;
        for causal in [false, true] {
            let mask = Mask { causal, ..Mask::default() };
            for (queries, keys) in [(1, 1), (1, 7), (3, 7), (7, 7), (7, 3)] {
                let counted: f64 = mask.pattern(queries, keys, None).cells().sum();
                assert_eq!(one_head(queries, keys, causal).pairs(), counted as u64, "{queries} of {keys}");
            }
        }
    }

    #[test]
    fn a_shape_without_numbers_or_with_too_many_is_refused() {
        let refused = |shape: Shape| shape.checked().unwrap_err().to_string();
        assert!(refused(one_head(1, 0, true)).contains("--n 0"));
        assert!(refused(one_head(usize::MAX / 2, usize::MAX / 2, false)).contains("can be counted"));
        let odd = Shape { heads: 8, key_value_heads: 3, ..one_head(4, 4, false) };
        assert!(refused(odd).contains("8 query heads cannot share 3"));
    }

    #[test]
    fn a_shape_in_words_says_what_is_not_the_usual() {
        let usual = Shape { heads: 12, key_value_heads: 12, ..one_head(1024, 1024, false) };
        assert_eq!(usual.in_words(), "12 heads of 64, 1024 queries × 1024 keys");
        let decode = Shape { heads: 32, key_value_heads: 8, causal: true, ..one_head(1, 8192, false) };
        assert_eq!(decode.in_words(), "32 heads of 64 over 8 key/value heads, 1 query × 8192 keys, causal");
    }

    fn inputs() -> [Matrix; 3] {
        let mut stream = LegacyStream::seeded(5);
        [(9, 4), (11, 4), (11, 3)].map(|(rows, cols)| stream.standard_normal_matrix(rows, cols))
    }

    #[test]
    fn the_loop_and_the_matrices_give_the_same_bits() {
        let [q, k, v] = inputs();
        for causal in [false, true] {
            let (all, each) =
                (step_by_step(&q, &k, &v, causal).unwrap(), loop_over_queries(&q, &k, &v, causal).unwrap());
            assert!(all.output.same_bits(&each.output), "causal: {causal}");
            // Scores, scaled and masked ones, weights; of the loop a row of each, and of the mask.
            let (matrices, of_a_row) = if causal { (4, 5) } else { (3, 3) };
            assert_eq!(all.extra_bytes, matrices * 9 * 11 * 8);
            assert_eq!(each.extra_bytes, of_a_row * 11 * 8);
        }
    }

    #[test]
    fn it_is_what_attend_computes_and_records() {
        let given = |matrix: &Matrix| Some(matrix.clone().into());
        let [q, k, v] = inputs();
        for causal in [false, true] {
            let recipe = Recipe { mask: Mask { causal, ..Mask::default() }, ..Recipe::default() };
            let inputs = AttendInputs { q: given(&q), k: given(&k), v: given(&v), ..AttendInputs::default() };
            let graph = attend(&recipe, inputs).unwrap();
            let formed = step_by_step(&q, &k, &v, causal).unwrap();
            assert!(graph.matrix(graph.require("O").unwrap()).unwrap().same_bits(&formed.output));
            let between = |name: &str| !["Q", "K", "V", "O"].contains(&name);
            let recorded =
                graph.nodes().filter(|(_, node)| between(&node.name)).filter_map(|(_, n)| n.matrix());
            assert_eq!(recorded.map(bytes).sum::<usize>(), formed.extra_bytes, "causal: {causal}");
        }
    }

    #[test]
    fn four_times_the_work_is_estimated_at_more_time_and_little_work_at_none() {
        let one_head =
            |keys| Shape { heads: 8, key_value_heads: 8, queries: keys, keys, width: 64, causal: false };
        let machine = Machine { threads: 1, ..Machine::here() };
        let of = |keys| estimate::<f32>(one_head(keys), machine).unwrap();
        assert_eq!(of(256), None);
        // 125² times the pairs.
        let (small, large) = (of(16_000).unwrap(), of(2_000_000).unwrap());
        assert!(large > 100 * small, "{small:?} and {large:?}");
    }
}

// The exact path, in two forms: whole matrices, and the loop over queries that they replace.

/// The matrices that the exact path forms.
#[derive(Clone, Debug)]
pub struct ExactResult {
    /// O, (T, d_v).
    pub output: Matrix,
    /// The bytes of the matrices between the inputs and O, all of which are kept: scores, scaled scores, masked scores where
    /// there is a mask, weights.
    pub extra_bytes: usize,
}

/// One head as `attn attend` computes and records it: `S = Q Kᵀ`, scaled by 1/√d_k, masked, `A = softmax`, `O = A V`, each a
/// whole matrix, by the ops of a graph (`ProductTransposed`, `Mask`,
/// `Softmax`, `Product`).
///
/// # Errors
/// If the shapes do not fit each other.
pub fn step_by_step(q: &Matrix, k: &Matrix, v: &Matrix, causal: bool) -> Result<ExactResult> {
    let mask = causal.then(|| (Op::Mask(Mask { causal, ..Mask::default() }), None));
    steps([q, k, v], mask)
}

/// The steps under a mask, which may want a matrix.
pub(super) fn steps([q, k, v]: [&Matrix; 3], mask: Option<(Op, Option<&Matrix>)>) -> Result<ExactResult> {
    let scores = Op::ProductTransposed.apply(&[q, k])?;
    let mut formed = vec![Op::Scale(Factor::InverseRoot(q.cols())).apply(&[&scores])?];
    if let Some((mask, matrix)) = mask {
        let inputs: Vec<&Matrix> = formed.last().into_iter().chain(matrix).collect();
        formed.push(mask.apply(&inputs)?);
    }
    let weights = Op::Softmax(Axis::Rows, Base::E).apply(&formed.last().into_iter().collect::<Vec<_>>())?;
    let output = Op::Product.apply(&[&weights, v])?;
    let extra_bytes = formed.iter().chain([&scores, &weights]).map(bytes).sum();
    Ok(ExactResult { output, extra_bytes })
}

/// Attention one query after the other, by the same functions: a vector times a matrix gives its scores, a vector times a
/// matrix its row of O. Nothing larger than a row is formed; under the causal mask the row of the mask is one more. The bits of
/// the result are the same; but the processor never works on two rows at a time, and every query reads all keys and values
/// again.
///
/// # Errors
/// If the shapes do not fit each other.
pub fn loop_over_queries(q: &Matrix, k: &Matrix, v: &Matrix, causal: bool) -> Result<ExactResult> {
    let mask = Mask { causal, ..Mask::default() };
    let allowed = Op::Mask(Mask { matrix: Some(MatrixRule::Allow), ..Mask::default() });
    let sees = |i, j| mask.visibility((i, j), (q.rows(), k.rows()), None) == Visibility::Visible;
    let mut rows = Vec::with_capacity(q.rows());
    let mut extra_bytes = 0;
    for i in 0..q.rows() {
        let query = Matrix::from_fn(1, q.cols(), |_, c| q[(i, c)]);
        // A row by itself is no longer the i-th of all, so a matrix says which keys it sees.
        let visible = causal.then(|| Matrix::from_fn(1, k.rows(), |_, j| f64::from(u8::from(sees(i, j)))));
        let row = steps([&query, k, v], visible.as_ref().map(|visible| (allowed.clone(), Some(visible))))?;
        extra_bytes = extra_bytes.max(row.extra_bytes + visible.as_ref().map_or(0, bytes));
        rows.push(row.output.row(0).collect());
    }
    Ok(ExactResult { output: Matrix::from_rows(&rows)?, extra_bytes })
}

fn bytes(matrix: &Matrix) -> usize {
    matrix.rows() * matrix.cols() * size_of::<f64>()
}

// The estimated time that a shape will take, before it is run.

/// A shape of fewer operations and fewer numbers takes no time that would be worth an estimate.
const QUICK: (u64, u128) = (10_000_000_000, 10_000_000);

/// The sizes of the small problem that the large one is estimated by, at most: queries, keys, width.
const SAMPLE: (usize, usize, usize) = (64, 1024, 1024);

/// The approximate minimum time of [`super::ShapeMeasurement::measure`] on a shape: drawing its numbers, comparing some rows with the
/// exact path, and attending twice. Each is timed on a small problem and multiplied; `None` if it takes only seconds.
///
/// # Errors
/// If the shape is none, or this processor lacks `machine.simd`.
pub fn estimate<T: Kernels>(shape: Shape, machine: Machine) -> Result<Option<Duration>> {
    let shape = shape.checked()?;
    let numbers = |shape: Shape| shape.numbers().into_iter().sum::<u128>();
    if shape.flop() < QUICK.0 && numbers(shape) < QUICK.1 {
        return Ok(None);
    }
    let (queries, keys, width) = SAMPLE;
    let keys = keys.min(shape.keys);
    let small = Shape {
        heads: 1,
        key_value_heads: 1,
        queries: queries.min(shape.queries).min(keys),
        keys,
        width: width.min(shape.width),
        ..shape
    };
    let (drawn, mut problem) = timed(|| Problem::<T>::drawn(small))?;
    let one = Machine { threads: 1, ..machine };
    problem.attend(one)?;
    let (attended, _) = timed(|| problem.attend(one))?;
    let (compared, _) = timed(|| problem.max_error())?;
    let share = |large: f64, small: f64| large / small.max(1.0);
    // The multiplications of the comparison with the exact path.
    let products = |shape: Shape| {
        let rows = shape.queries.min(COMPARED_ROWS) + 1;
        3.min(shape.heads) as f64 * rows as f64 * shape.keys as f64 * shape.width as f64
    };
    let seconds = drawn * share(numbers(shape) as f64, numbers(small) as f64)
        + 2.0 * attended * share(shape.flop() as f64, small.flop() as f64) / machine.threads.max(1) as f64
        + compared * share(products(shape), products(small));
    Ok(Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)))
}

/// The seconds that `work` takes, and its result.
fn timed<R>(work: impl FnOnce() -> Result<R>) -> Result<(f64, R)> {
    let start = Instant::now();
    let result = work()?;
    Ok((start.elapsed().as_secs_f64(), result))
}
