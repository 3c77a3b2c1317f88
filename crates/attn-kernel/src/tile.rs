//! The lane version: a tile of queries, one a lane, against all the keys that any of them sees.
//!
//! Compare with [`plain`](crate::plain): the three numbered steps are the same, for all queries of the tile at once. With a
//! query in each lane no sum across a register is needed, keys and values are read in place, and every lane does, operation for
//! operation, the plain version's steps for its query.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;

use crate::exp2::Exp2;
use crate::layout::View;
use crate::memory::Scratch;
use crate::output::{Results, RowId, SharedRows};
use crate::plain::SoftmaxState;
use crate::problem::Head;
use crate::real::Real;
use crate::simd::{InstructionSet, MAX_LANES, Simd, Work};
use crate::visibility::{BLOCK, BlockVisibility, ReversedBias, blocks};

/// One task: queries of one head.
pub(crate) struct Tile<'a, T> {
    pub head: Head<'a, T>,
    /// The head's index, for the output.
    pub number: usize,
    /// At most R · LANES of them, and at least one.
    pub queries: Range<usize>,
    pub scratch: Scratch<'a>,
    pub results: &'a Results<'a, T>,
}

/// The scratch memory of a tile, in bytes.
pub(crate) fn scratch_bytes<T: Real, S: Simd<T>, const R: usize>(head: &Head<'_, T>) -> usize {
    let biases = if head.has_biases() { BLOCK } else { 0 };
    let lanes = [head.q.columns, BLOCK, head.v.columns, biases];
    let lanes: usize = lanes.into_iter().map(Scratch::bytes_of::<Lanes<T, S, R>>).sum();
    lanes + Scratch::bytes_of::<T>(head.copy_len())
}

/// A tile's memory. The first index counts columns, or keys; the second registers of queries.
struct Workspace<'s, T, P> {
    /// Qᵀ: the queries' columns.
    queries: &'s mut [P],
    /// Sᵀ of the block, then Aᵀ: a row for each key.
    scores: &'s mut [P],
    /// Oᵀ: the accumulator.
    accumulator: &'s mut [P],
    /// The sum of the biases of the block, transposed.
    biases: &'s mut [P],
    /// The block's keys, then its values, where their rows are not contiguous, as the inner loop needs them.
    copy: &'s mut [T],
}

/// Attends from the tile's queries, R registers of them, M keys (then M columns) at a time, and writes their rows and, if asked
/// for, their log-sum-exps.
///
/// # Safety
/// The tile's rows of the outputs exist, and no other thread reads or writes them meanwhile.
pub(crate) struct AttendTile<T, const R: usize, const M: usize>(PhantomData<T>);

impl<T: Real, S: InstructionSet + Simd<T>, const R: usize, const M: usize> Work<S> for AttendTile<T, R, M> {
    type Input<'a> = Tile<'a, T>;
    type Output = ();

    #[inline(always)]
    unsafe fn run(simd: S, Tile { head, number, queries, mut scratch, results }: Tile<'_, T>) {
        let head = &head;
        // Copied, so that the compiler knows that writing the output does not change it: else n = 16 takes a sixth longer.
        let Results { output, log_sum_exps } = *results;
        let mut space = Workspace {
            queries: scratch.take::<Lanes<T, S, R>>(head.q.columns),
            scores: scratch.take(BLOCK),
            accumulator: scratch.take(head.v.columns),
            biases: scratch.take(if head.has_biases() { BLOCK } else { 0 }),
            copy: scratch.take(head.copy_len()),
        };
        let registers = Registers::<T, S, R>::new(simd);
        registers.rows_to_lanes(head.q.rows(&queries), space.queries);
        let first = RowId { head: number, row: queries.start };
        let mut wanted = u64::MAX >> (64 - queries.len());
        for shift in [0, head.shift_against_overflow()] {
            let states = attend_lanes::<T, S, R, M>(simd, head, &queries, &mut space, shift);
            let finite = registers.divide(&states, space.accumulator);
            // The weighted sum of huge values may overflow although their mean does not: those rows again, with smaller weights.
            let overflowed = if shift == 0 { wanted & !finite } else { 0 };
            let finished = wanted & !overflowed;
            // SAFETY: the wanted lanes are the tile's rows.
            unsafe { registers.lanes_to_rows(space.accumulator, finished, &output, first) };
            if let Some(log_sum_exps) = log_sum_exps {
                let rows = queries.clone().enumerate();
                for (lane, row) in rows.filter(|(lane, _)| finished >> lane & 1 == 1) {
                    let log_sum_exp = registers.state(&states, lane).log_sum_exp(head, shift);
                    // SAFETY: the row is the tile's.
                    unsafe { log_sum_exps.set(RowId { row, ..first }, 0, log_sum_exp) };
                }
            }
            wanted = overflowed;
            if wanted == 0 {
                break;
            }
        }
    }
}

/// The plain version's `attend_keys`, for all lanes: leaves the accumulator, not yet divided, in the workspace.
#[inline(always)]
fn attend_lanes<T: Real, S: InstructionSet + Simd<T>, const R: usize, const M: usize>(
    simd: S,
    head: &Head<'_, T>,
    queries: &Range<usize>,
    space: &mut Workspace<'_, T, Lanes<T, S, R>>,
    shift: u32,
) -> SoftmaxLanes<<S as Simd<T>>::Register, R> {
    let exp2 = head.exp2(shift);
    let start = SoftmaxState::start(head, shift);
    let mut states = SoftmaxLanes { max: [simd.splat(start.max); R], sum: [simd.splat(start.sum); R] };
    let registers = Registers::new(simd);
    space.accumulator.fill([simd.splat(T::ZERO); R]);
    for keys in blocks(head.visibility.keys(queries)) {
        let visibility = head.visibility.of_block(queries, &keys);
        if matches!(visibility, BlockVisibility::None) {
            continue;
        }
        // 1. The scores, −∞ for a hidden key.
        let k = head.k.rows(&keys).contiguous(space.copy);
        let scores = &mut space.scores[..keys.len()];
        registers.products::<M>(k, space.queries, scores);
        if head.scale_first {
            let biases = &mut *space.biases;
            let task = ScoresTask { head, queries, keys: &keys, biases, scores: &mut *scores };
            // SAFETY: `simd` is the proof that this processor has the set.
            unsafe { S::run::<ChangeScores<T, R>>(task) };
        }
        registers.hide(&visibility, scores);
        // 2. The running max, the weights relative to it, and the running sum.
        let correction = registers.weigh(&exp2, &keys, scores, &mut states);
        // 3. The weighted values.
        let v = head.v.rows(&keys).contiguous(space.copy);
        let values = Values { simd, v, weights: scores, visibility: &visibility, correction };
        values.add::<M>(space.accumulator);
    }
    states
}

/// A number for each of R · LANES queries.
type Lanes<T, S, const R: usize> = [<S as Simd<T>>::Register; R];

/// The [`SoftmaxState`] of every query of a tile.
struct SoftmaxLanes<P, const R: usize> {
    pub max: [P; R],
    pub sum: [P; R],
}

/// What is done to all queries of a tile at once, R registers of them.
#[derive(Clone, Copy)]
struct Registers<T, S, const R: usize> {
    simd: S,
    number: PhantomData<T>,
}

impl<T: Real, P: Pod, S: Simd<T, Register = P>, const R: usize> Registers<T, S, R> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        Registers { simd, number: PhantomData }
    }

    /// The state of one query.
    #[inline(always)]
    fn state(self, states: &SoftmaxLanes<P, R>, lane: usize) -> SoftmaxState<T> {
        let of = |registers: &[P; R]| self.simd.numbers(registers[lane / S::LANES])[lane % S::LANES];
        SoftmaxState { max: of(&states.max), sum: of(&states.sum) }
    }
}

// Step 1 of a tile: the scores of a block of keys.

impl<T: Real, P: Pod, S: Simd<T, Register = P>, const R: usize> Registers<T, S, R> {
    /// Sᵀ = K Qᵀ: `scores[j][r] = Σ_c k[j,c] · queries[c][r]`, M keys at a time, then 4, 2, and one.
    #[inline(always)]
    fn products<const M: usize>(self, k: View<'_, T>, queries: &[[P; R]], scores: &mut [[P; R]]) {
        assert!(k.rows == scores.len() && k.columns == queries.len() && k.has_contiguous_rows());
        // SAFETY: there is a key for every row of scores, and a column for every column of the queries.
        unsafe {
            let from = self.products_by::<M>(&k, queries, scores, 0);
            let from = self.products_by::<4>(&k, queries, scores, from);
            let from = self.products_by::<2>(&k, queries, scores, from);
            self.products_by::<1>(&k, queries, scores, from);
        }
    }

    /// M keys at a time from key `from` on; returns the first key that is left.
    ///
    /// # Safety
    /// There are as many keys as scores, with as many columns as queries, in contiguous rows.
    #[inline(always)]
    unsafe fn products_by<const M: usize>(
        self,
        k: &View<'_, T>,
        queries: &[[P; R]],
        scores: &mut [[P; R]],
        from: usize,
    ) -> usize {
        let simd = self.simd;
        let mut j = from;
        while j + M <= scores.len() {
            let zeros = [[simd.splat(T::ZERO); R]; M];
            // One address for each key, so that a column needs no other address arithmetic.
            let keys: [*const T; M] = std::array::from_fn(|i| k.row_start(j + i));
            // SAFETY: the caller has these keys and columns.
            let sums = accumulate(simd, zeros, |i, c| unsafe { *keys[i].add(c) }, queries);
            scores[j..j + M].copy_from_slice(&sums);
            j += M;
        }
        j
    }

    /// Adds the relative bias to `biases`, a row for each key of the block; overwrites them if nothing `is_there`.
    #[inline(always)]
    fn add_relative(self, reversed: &ReversedBias<T>, is_there: bool, biases: &mut [[P; R]]) {
        let simd = self.simd;
        let keys = biases.len();
        for (j, biases) in biases.iter_mut().enumerate() {
            for r in 0..R {
                // SAFETY: the array has room for a register behind the last key's index and all queries of a tile.
                let relative = unsafe { simd.load(&reversed[keys - 1 - j + r * S::LANES..]) };
                biases[r] = if is_there { simd.add(biases[r], relative) } else { relative };
            }
        }
    }

    /// Sets the scores of hidden keys to −∞.
    #[inline(always)]
    fn hide(self, visibility: &BlockVisibility, scores: &mut [[P; R]]) {
        let simd = self.simd;
        let BlockVisibility::Mixed { whole, visible_to } = visibility else { return };
        let hidden = simd.splat(T::NEG_INFINITY);
        for (scores, visible_to) in scores.iter_mut().zip(visible_to).skip(*whole) {
            for r in 0..R {
                scores[r] = simd.select(visible_to >> (r * S::LANES), scores[r], hidden);
            }
        }
    }
}

/// What is done to the scores of a block before their max is taken, where the head scales first. A function of its own, since
/// its code in the tile's made tiles without it slower (n = 16 by 7 %).
struct ChangeScores<T, const R: usize>(PhantomData<T>);

/// The arguments of [`ChangeScores`].
struct ScoresTask<'a, T, L> {
    pub head: &'a Head<'a, T>,
    pub queries: &'a Range<usize>,
    pub keys: &'a Range<usize>,
    /// Room for the biases.
    pub biases: &'a mut [L],
    pub scores: &'a mut [L],
}

impl<T: Real, S: Simd<T>, const R: usize> Work<S> for ChangeScores<T, R> {
    type Input<'a> = ScoresTask<'a, T, Lanes<T, S, R>>;
    type Output = ();

    #[inline(always)]
    unsafe fn run(simd: S, task: ScoresTask<'_, T, Lanes<T, S, R>>) {
        let ScoresTask { head, queries, keys, biases, scores } = task;
        // scores · scale + (bias + relative bias)
        let registers = Registers::<T, S, R>::new(simd);
        let scale = simd.splat(head.scale);
        let zeros = [simd.splat(T::ZERO); R];
        if let Some(bias) = head.visibility.bias {
            registers.rows_to_lanes(bias.block(queries, keys), biases);
        }
        if let Some(relative) = head.visibility.relative_bias {
            let reversed = relative.reversed(queries, keys);
            registers.add_relative(&reversed, head.visibility.bias.is_some(), &mut biases[..keys.len()]);
        }
        for (j, scores) in scores.iter_mut().enumerate() {
            let bias = biases.get(j).unwrap_or(&zeros);
            for r in 0..R {
                scores[r] = simd.mul_add(scores[r], scale, bias[r]);
            }
        }
        if let Some(soft_cap) = &head.soft_cap {
            for score in scores.as_flattened_mut() {
                *score = soft_cap.of_lanes(simd, *score);
            }
        }
    }
}

// Step 2 of a tile: scores become weights.

impl<T: Real, P: Pod, S: Simd<T, Register = P>, const R: usize> Registers<T, S, R> {
    /// Updates the running max, replaces the scores by the weights relative to it, and updates the running sum. Returns the
    /// correction of older sums.
    #[inline(always)]
    fn weigh(
        self,
        exp2: &Exp2<T>,
        keys: &Range<usize>,
        scores: &mut [[P; R]],
        states: &mut SoftmaxLanes<P, R>,
    ) -> [P; R] {
        let simd = self.simd;
        let zero = simd.splat(T::ZERO);
        let mut correction = [zero; R];
        let max = self.max_of(&states.max, scores);
        // The plain version sums key j in the chain j mod 4: blocks begin at multiples of 4, but the keys may begin later.
        let before_four = (4 - keys.start % 4) % 4;
        for r in 0..R {
            let reference = simd.zero_below(max[r], max[r], simd.splat(T::MIN));
            let mut sums = [zero; 4];
            let (first, rest) = scores.split_at_mut(before_four.min(scores.len()));
            let (fours, last) = rest.as_chunks_mut::<4>();
            for (scores, sum) in first.iter_mut().zip(&mut sums[4 - before_four..]) {
                self.weigh_one(exp2, reference, &mut scores[r], sum);
            }
            for four in fours {
                for (scores, sum) in four.iter_mut().zip(&mut sums) {
                    self.weigh_one(exp2, reference, &mut scores[r], sum);
                }
            }
            for (scores, sum) in last.iter_mut().zip(&mut sums) {
                self.weigh_one(exp2, reference, &mut scores[r], sum);
            }
            let sum = simd.add(simd.add(sums[0], sums[1]), simd.add(sums[2], sums[3]));
            correction[r] = exp2.correction_lanes(simd, simd.sub(states.max[r], reference));
            states.sum[r] = simd.mul_add(states.sum[r], correction[r], sum);
            states.max[r] = max[r];
        }
        correction
    }

    /// Replaces a score by its weight and adds that to the sum.
    #[inline(always)]
    fn weigh_one(self, exp2: &Exp2<T>, reference: P, score: &mut P, sum: &mut P) {
        let simd = self.simd;
        *score = exp2.of_lanes(simd, simd.sub(*score, reference));
        *sum = simd.add(*sum, *score);
    }

    /// The max of `old` and the scores, in every lane. Four chains, since in one each operation would wait for the last.
    #[inline(always)]
    fn max_of(self, old: &[P; R], scores: &[[P; R]]) -> [P; R] {
        let simd = self.simd;
        let mut chains = [*old; 4];
        let (fours, last) = scores.as_chunks::<4>();
        for four in fours {
            for (chain, scores) in chains.iter_mut().zip(four) {
                for r in 0..R {
                    chain[r] = simd.max(chain[r], scores[r]);
                }
            }
        }
        for (chain, scores) in chains.iter_mut().zip(last) {
            for r in 0..R {
                chain[r] = simd.max(chain[r], scores[r]);
            }
        }
        let mut max = chains[0];
        for chain in &chains[1..] {
            for r in 0..R {
                max[r] = simd.max(max[r], chain[r]);
            }
        }
        max
    }
}

// Step 3 of a tile: the weighted values, and at the end the division by the sum of the weights.

/// The values of a block, their weights, a row of lanes for each key, which of them count, and the correction of older sums.
struct Values<'w, T: Real, S: Simd<T>, const R: usize> {
    simd: S,
    v: View<'w, T>,
    weights: &'w [Lanes<T, S, R>],
    visibility: &'w BlockVisibility,
    correction: Lanes<T, S, R>,
}

impl<T: Real, S: Simd<T>, const R: usize> Values<'_, T, S, R> {
    /// Oᵀ = Oᵀ · correction + Vᵀ Aᵀ: `accumulator[c][r]` gets `Σ_j v[j,c] · weights[j][r]`, M columns at a time, then 4, 2, and one.
    #[inline(always)]
    fn add<const M: usize>(&self, accumulator: &mut [Lanes<T, S, R>]) {
        let v = &self.v;
        assert!(v.rows == self.weights.len() && v.columns == accumulator.len() && v.has_contiguous_rows());
        // SAFETY: there is a value for every row of weights, and a column for every one of the accumulator.
        unsafe {
            let from = self.add_by::<M>(accumulator, 0);
            let from = self.add_by::<4>(accumulator, from);
            let from = self.add_by::<2>(accumulator, from);
            self.add_by::<1>(accumulator, from);
        }
    }

    /// M columns at a time from column `from` on; returns the first column that is left.
    ///
    /// # Safety
    /// There are as many values as weights, with as many columns as the accumulator, in contiguous rows.
    #[inline(always)]
    unsafe fn add_by<const M: usize>(&self, accumulator: &mut [Lanes<T, S, R>], from: usize) -> usize {
        let Values { simd, v, weights, visibility, correction } = self;
        let (simd, zeros) = (*simd, [[self.simd.splat(T::ZERO); R]; M]);
        // SAFETY: the caller has these values.
        let v = |c, j| unsafe { v.at_unchecked(j, c) };
        let (whole, visible_to) = match visibility {
            BlockVisibility::Mixed { whole, visible_to } => (*whole, &visible_to[*whole..]),
            _ => (weights.len(), &[][..]),
        };
        let (before, after) = weights.split_at(whole);
        let mut c = from;
        while c + M <= accumulator.len() {
            let mut sums = accumulate(simd, zeros, |i, j| v(c + i, j), before);
            if !after.is_empty() {
                sums = accumulate_visible(simd, sums, |i, j| v(c + i, whole + j), after, visible_to);
            }
            for (column, sums) in accumulator[c..c + M].iter_mut().zip(&sums) {
                for r in 0..R {
                    column[r] = simd.mul_add(column[r], correction[r], sums[r]);
                }
            }
            c += M;
        }
        c
    }
}

impl<T: Real, P: Pod, S: Simd<T, Register = P>, const R: usize> Registers<T, S, R> {
    /// Oᵀ / sum, 0 for fully masked rows; returns the lanes whose results are all finite.
    #[inline(always)]
    fn divide(self, states: &SoftmaxLanes<P, R>, accumulator: &mut [[P; R]]) -> u64 {
        let simd = self.simd;
        let (zero, one) = (simd.splat(T::ZERO), simd.splat(T::ONE));
        let mut inverse = [zero; R];
        for r in 0..R {
            let (sum, min) = (states.sum[r], simd.splat(T::MIN_POSITIVE));
            inverse[r] = simd.zero_below(simd.div(one, sum), sum, min);
        }
        // Four chains, since in one each operation would wait for the last.
        let mut zeros = [[zero; R]; 4];
        let (fours, last) = accumulator.as_chunks_mut::<4>();
        for four in fours {
            for (column, zeros) in four.iter_mut().zip(&mut zeros) {
                self.divide_one(&inverse, column, zeros);
            }
        }
        for (column, zeros) in last.iter_mut().zip(&mut zeros) {
            self.divide_one(&inverse, column, zeros);
        }
        let mut finite = 0;
        for r in 0..R {
            let all = simd.add(simd.add(zeros[0][r], zeros[1][r]), simd.add(zeros[2][r], zeros[3][r]));
            for (lane, number) in simd.numbers(all)[..S::LANES].iter().enumerate() {
                finite |= u64::from(*number == T::ZERO) << (r * S::LANES + lane);
            }
        }
        finite
    }

    /// Divides one column; `zeros` stay 0 where it is finite, since 0 · ∞ and 0 · NaN are NaN.
    #[inline(always)]
    fn divide_one(self, inverse: &[P; R], column: &mut [P; R], zeros: &mut [P; R]) {
        let simd = self.simd;
        let zero = simd.splat(T::ZERO);
        for r in 0..R {
            column[r] = simd.mul_add(column[r], inverse[r], zero);
            zeros[r] = simd.mul_add(column[r], zero, zeros[r]);
        }
    }
}

// The inner loop, which takes nearly all of the time.

/// `sums[i][r] + Σ_t a[i,t] · b[t][r]`: M rows of numbers times a matrix whose rows are R registers, t from first to last.
///
/// Both products of attention are this one: for the scores, a is keys and b the queries' columns; for the output, a is columns
/// of values and b the weights. The M · R sums stay in registers throughout. For every t, R loads and M broadcasts feed M · R
/// multiply-adds; M · R must be about 8 or more, since each of the two multiply-add units has a latency of 4 cycles and a sum
/// waits for its last addition.
#[inline(always)]
pub(crate) fn accumulate<T: Real, S: Simd<T>, const R: usize, const M: usize>(
    simd: S,
    mut sums: [[S::Register; R]; M],
    a: impl Fn(usize, usize) -> T,
    b: &[[S::Register; R]],
) -> [[S::Register; R]; M] {
    // Unrolled, so that few of the instructions are counting and addressing: another thread on the same core takes half of the
    // instructions that the core can issue.
    let (eights, last) = b.as_chunks::<UNROLLED>();
    for (eight, b) in eights.iter().enumerate() {
        for (t, b) in b.iter().enumerate() {
            multiply_add(simd, &mut sums, |i| a(i, eight * UNROLLED + t), b);
        }
    }
    for (t, b) in last.iter().enumerate() {
        multiply_add(simd, &mut sums, |i| a(i, eights.len() * UNROLLED + t), b);
    }
    sums
}

/// The unroll factor of [`accumulate`].
const UNROLLED: usize = 8;

#[inline(always)]
fn multiply_add<T: Real, S: Simd<T>, const R: usize, const M: usize>(
    simd: S,
    sums: &mut [[S::Register; R]; M],
    a: impl Fn(usize) -> T,
    b: &[S::Register; R],
) {
    for i in 0..M {
        let a = simd.splat(a(i));
        for r in 0..R {
            sums[i][r] = simd.mul_add(a, b[r], sums[i][r]);
        }
    }
}

/// The same sums, but lanes whose bit in `visible_to[t]` is not set keep their sums, whatever a(i, t) is.
#[inline(always)]
fn accumulate_visible<T: Real, S: Simd<T>, const R: usize, const M: usize>(
    simd: S,
    mut sums: [[S::Register; R]; M],
    a: impl Fn(usize, usize) -> T,
    b: &[[S::Register; R]],
    visible_to: &[u64],
) -> [[S::Register; R]; M] {
    for (t, (b, visible_to)) in b.iter().zip(visible_to).enumerate() {
        for i in 0..M {
            let a = simd.splat(a(i, t));
            for r in 0..R {
                let more = simd.mul_add(a, b[r], sums[i][r]);
                sums[i][r] = simd.select(visible_to >> (r * S::LANES), more, sums[i][r]);
            }
        }
    }
    sums
}

// Rows of memory to lanes of registers and back.
//
// Queries lie row by row in memory; the tile wants one query a lane. Blocks of LANES × LANES numbers are transposed in
// registers, in log₂ LANES rounds of exchanges: groups of one lane between adjacent rows, groups of two between rows
// two apart, and so on. What does not fill a block is moved number by number.

impl<T: Real, P: Pod, S: Simd<T, Register = P>, const R: usize> Registers<T, S, R> {
    /// Makes `lanes[c][r]` column c of the rows from r·LANES on, one a lane; 0 past the last row.
    #[inline(always)]
    fn rows_to_lanes(self, rows: View<'_, T>, lanes: &mut [[P; R]]) {
        let simd = self.simd;
        for r in 0..R {
            let first = (r * S::LANES).min(rows.rows);
            let count = (rows.rows - first).min(S::LANES);
            let mut column = 0;
            while column + S::LANES <= rows.columns && rows.has_contiguous_rows() {
                let mut block = [simd.splat(T::ZERO); MAX_LANES];
                for i in 0..S::LANES {
                    if i < count {
                        // SAFETY: `column + LANES` columns are there.
                        block[i] = unsafe { simd.load(rows.row(first + i, column)) };
                    }
                }
                simd.transpose(&mut block);
                for i in 0..S::LANES {
                    lanes[column + i][r] = block[i];
                }
                column += S::LANES;
            }
            for column in column..rows.columns {
                let mut numbers = [T::ZERO; MAX_LANES];
                for i in 0..count {
                    numbers[i] = rows.at(first + i, column);
                }
                // SAFETY: there are as many as any register holds.
                lanes[column][r] = unsafe { simd.load(&numbers) };
            }
        }
    }

    /// Writes `lanes[c][r]` back to the rows from `start` on, those whose bit is set in `wanted`.
    ///
    /// # Safety
    /// The wanted rows exist, and no other thread reads or writes them meanwhile.
    #[inline(always)]
    unsafe fn lanes_to_rows(self, lanes: &[[P; R]], wanted: u64, output: &SharedRows<'_, T>, start: RowId) {
        let simd = self.simd;
        for r in 0..R {
            let first = r * S::LANES;
            let mut column = 0;
            while column + S::LANES <= lanes.len() && output.has_contiguous_rows() {
                let mut block = [simd.splat(T::ZERO); MAX_LANES];
                for i in 0..S::LANES {
                    block[i] = lanes[column + i][r];
                }
                simd.transpose(&mut block);
                for i in 0..S::LANES {
                    if wanted >> (first + i) & 1 == 1 {
                        // SAFETY: the row is wanted, its numbers are contiguous, and `column + LANES` columns are there.
                        unsafe {
                            let numbers = output.row_mut(
                                RowId { row: start.row + first + i, ..start },
                                column,
                                S::LANES,
                            );
                            simd.store(block[i], numbers);
                        }
                    }
                }
                column += S::LANES;
            }
            for column in column..lanes.len() {
                let numbers = simd.numbers(lanes[column][r]);
                for i in 0..S::LANES {
                    if wanted >> (first + i) & 1 == 1 {
                        // SAFETY: the row is wanted.
                        unsafe {
                            output.set(RowId { row: start.row + first + i, ..start }, column, numbers[i])
                        };
                    }
                }
            }
        }
    }
}
