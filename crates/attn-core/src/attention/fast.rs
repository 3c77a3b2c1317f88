//! Attention through the kernel: the same mathematics, and no matrix of all queries and keys.

use std::borrow::Cow;

use attn_kernel as kernel;
use attn_kernel::{Attention, Band, Heads, Kernels, Layout, Machine, Output, Real, Resources};

use crate::error::{Error, ErrorKind, Result};
use crate::matrix::Shape;
use crate::memory;
use crate::text::{counted, nearest};

use super::masks::{Mask, MatrixRule};

impl From<kernel::Error> for Error {
    /// The kernel's message, with help where there is any.
    fn from(error: kernel::Error) -> Error {
        let problem = Error::new(error.to_string());
        let here = || {
            let levels: Vec<&str> = kernel::SimdLevel::available().map(kernel::SimdLevel::name).collect();
            format!("this processor has {}", levels.join(", "))
        };
        match error {
            kernel::Error::UnknownSimd(name) => {
                let near = nearest(&name, kernel::SimdLevel::ALL.map(kernel::SimdLevel::name));
                let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
                problem.help(near + &here())
            }
            kernel::Error::MissingSimd(_) => problem.help(here()),
            kernel::Error::Threads(_) => problem.help("give fewer threads"),
            kernel::Error::Memory { .. } => memory::exhausted(),
            kernel::Error::Shape(_) => problem.of_kind(ErrorKind::Shape),
            _ => problem,
        }
    }
}

/// Queries, keys and values of many heads, and the steps on the scores before the softmax.
///
/// # Shapes
/// `q` is (H, T, d_k), `k` (G, N, d_k), `v` (G, N, d_v), each anywhere in memory; query head h reads key/value head
/// ⌈h·G/H⌉, both from 1. The bias and the mask matrix are (H, T, N); where all heads share one, their stride from head to head is 0.
#[derive(Clone, Copy, Debug)]
pub struct FastAttention<'a, T> {
    /// The queries.
    pub q: Heads<'a, T>,
    /// The keys.
    pub k: Heads<'a, T>,
    /// The values.
    pub v: Heads<'a, T>,
    /// The factor of the scores.
    pub scale: f64,
    /// Added to the scaled scores; −∞ hides the key.
    pub bias: Option<Heads<'a, T>>,
    /// Added to the scaled scores by head and distance alone, (H, 1, N + T − 1): the number for query i and key j is at
    /// j − i + T − 1.
    pub relative_bias: Option<Heads<'a, T>>,
    /// The divisor of the scaled and biased scores.
    pub temperature: f64,
    /// The bound of the scores, after the temperature.
    pub soft_cap: Option<f64>,
    /// A score for each head that belongs to no key.
    pub sinks: Option<&'a [T]>,
    /// The rules that hide keys.
    pub mask: Mask,
    /// The mask matrix for [`MatrixRule::Allow`] and [`MatrixRule::Block`].
    pub truth: Option<Heads<'a, bool>>,
    /// The mask matrix for [`MatrixRule::Add`].
    pub mask_added: Option<Heads<'a, T>>,
}

/// The result of [`attend_fast`].
#[derive(Clone, Debug, PartialEq)]
pub struct FusedOutput<T> {
    /// The heads side by side, row by row: (T, H · d_v).
    pub output: Vec<T>,
    /// ln Σ exp of the scores that the softmax reads, head by head: (H, T). −∞ for a fully masked row.
    pub lse: Vec<T>,
    /// Threads, and memory beside inputs and outputs.
    pub used: Resources,
}

/// `O = softmax(mask(cap((Q Kᵀ · scale + bias) / temperature))) V` for every head, by the fused kernel. The bits depend neither
/// on `machine` nor on where the inputs lie.
///
/// A fully masked row is 0, its log-sum-exp −∞. The error bound is that of [`kernel::attend`].
///
/// Everything is read in place, with two exceptions that need a (T, N) matrix, or one for each head: of T where a bias is divided
/// by a temperature or added to a mask, of booleans where the mask is more than a band or a boolean matrix ([`MatrixRule::Block`],
/// for example).
///
/// # Errors
/// If shapes do not fit, there is no memory for the result, what is added is +∞ or NaN, or this processor lacks the instructions
/// that `machine` names.
/// # Source
/// Vaswani et al. 2017, section 3.2; Dao et al. 2022, “FlashAttention”, algorithm 1; grouped heads: Ainslie et al. 2023,
/// “GQA”, section 2.2.
pub fn attend_fast<T: Kernels>(problem: &FastAttention<'_, T>, machine: Machine) -> Result<FusedOutput<T>> {
    let (q, v) = (problem.q.layout(), problem.v.layout());
    let scores = Shape { rows: q.rows, cols: problem.k.layout().rows };
    problem.check_range()?;
    let visible = problem.visible(scores)?;
    let added = problem.added(scores)?;
    let attention = Attention {
        scale: T::from_f64(problem.scale / problem.temperature),
        band: if problem.mask.is_band() { problem.mask.band(scores) } else { Band::default() },
        mask: visible.as_ref().map(|(cells, layout)| Heads::new("mask", cells, *layout)).transpose()?,
        bias: added.as_ref().map(|(cells, layout)| Heads::new("bias", cells, *layout)).transpose()?,
        relative_bias: problem.relative_bias,
        soft_cap: problem.soft_cap.map(T::from_f64),
        sinks: problem.sinks,
        ..Attention::new(problem.q, problem.k, problem.v)
    };
    let layout = Layout::side_by_side(q.heads, q.rows, v.columns);
    let mut output = zeros("an output", [q.heads, q.rows, v.columns])?;
    let mut lse = zeros("log-sum-exps", [q.heads, q.rows, 1])?;
    let used =
        kernel::attend(&attention, machine, Output::new(&mut output, layout).with_log_sum_exps(&mut lse))?;
    Ok(FusedOutput { output, lse, used })
}

/// Zeros for these heads, rows and columns.
fn zeros<T: Real>(what: &str, sides: [usize; 3]) -> Result<Vec<T>> {
    let count = sides.into_iter().try_fold(1usize, usize::checked_mul).unwrap_or(usize::MAX);
    let [heads, rows, columns] = sides;
    let place = || format!("{what} of {} of {rows}×{columns} numbers", counted(heads, "head"));
    let mut numbers = memory::reserved(count).map_err(|error| error.in_source(place()))?;
    numbers.resize(count, T::ZERO);
    Ok(numbers)
}

impl Mask {
    /// Returns true if the keys that the rules of position leave visible are a band.
    fn is_band(&self) -> bool {
        // Without a causal mask, kept keys may lie behind the window, too.
        let keeps_before = self.keep_first == 0 || self.causal;
        !self.hides_own && !self.inverted && keeps_before
    }

    /// The keys that a query sees by its position p = i + N − T (or i, from the start): j ≤ p under a causal mask,
    /// |p − j| < w in a window.
    fn band(&self, scores: Shape) -> Band {
        let signed = |count: usize| isize::try_from(count).unwrap_or(isize::MAX);
        let offset = if self.from_start { 0 } else { signed(scores.cols) - signed(scores.rows) };
        let window = self.window.map(signed);
        let causal = self.causal.then(|| offset.saturating_add(1));
        let within = window.map(|window| offset.saturating_add(window));
        Band {
            from: window.map(|window| offset.saturating_sub(window).saturating_add(1)),
            until: causal.into_iter().chain(within).min(),
            keep_first: self.keep_first,
        }
    }
}

/// Cells for the kernel, borrowed or computed for it, and their layout.
type PairCells<'a, T> = (Cow<'a, [T]>, Layout);

impl<'a, T: Real> FastAttention<'a, T> {
    /// # Errors
    /// If the soft-cap or a sink is outside the range of the type.
    fn check_range(&self) -> Result<()> {
        let wider = match T::NAME {
            "f32" => "use --dtype f64, which has a wider range",
            _ => "give a number that is neither so small nor so large",
        };
        let is_lost = |sink: &T| *sink != T::NEG_INFINITY && !sink.to_f64().is_finite();
        let lost = self.sinks.unwrap_or_default().iter().position(is_lost);
        let what = match self.soft_cap.filter(|cap| !T::from_f64(*cap).to_f64().is_normal()) {
            Some(cap) => format!("the soft-cap {cap:?}"),
            None if let Some(head) = lost => format!("the sink of head {}", head + 1),
            None => return Ok(()),
        };
        Err(Error::new(format!("{what} is out of the range of {}", T::NAME)).help(wider))
    }

    fn mask_cell(&self, head: usize, (i, j): (usize, usize)) -> Option<f64> {
        let truth = self.truth.map(|cells| f64::from(u8::from(cells.at(head, i, j))));
        truth.or_else(|| self.mask_added.map(|cells| cells.at(head, i, j).to_f64()))
    }

    /// The number of heads that see different keys: 1 where all share one mask and one bias.
    pub fn own_heads(&self) -> usize {
        let numbers = [self.bias, self.mask_added].map(|cells| cells.map(|cells| cells.layout()));
        let layouts = numbers.into_iter().chain([self.truth.map(|cells| cells.layout())]);
        let is_shared = layouts.flatten().all(|layout| layout.head_stride == 0);
        if is_shared { 1 } else { self.q.layout().heads }
    }

    /// Returns true if query i of a head sees any key: one that no rule hides, and to whose score −∞ is not added.
    pub fn may_attend(&self, head: usize, i: usize) -> bool {
        let scores = Shape { rows: self.q.layout().rows, cols: self.k.layout().rows };
        let band = if self.mask.is_band() { self.mask.band(scores) } else { Band::default() };
        let size = (scores.rows, scores.cols);
        let is_reached = |j: usize| {
            self.mask.is_visible((i, j), size, self.mask_cell(head, (i, j)))
                && self.bias.is_none_or(|cells| cells.at(head, i, j) != T::NEG_INFINITY)
        };
        band.keys(i, scores.cols).into_iter().flatten().any(is_reached)
    }

    /// A cell for each head and place, row by row; once for all heads that see the same keys.
    fn gathered<C: Clone>(
        &self,
        scores: Shape,
        cell: impl Fn(usize, (usize, usize)) -> C,
    ) -> Result<PairCells<'a, C>> {
        let (own, Shape { rows, cols }) = (self.own_heads(), scores);
        let mut cells = memory::reserved(own.saturating_mul(rows).saturating_mul(cols))?;
        for head in 0..own {
            cells.extend(scores.places().map(|place| cell(head, place)));
        }
        let layout = Layout::stacked(self.q.layout().heads, rows, cols);
        let head_stride = if own == 1 { 0 } else { layout.head_stride };
        Ok((cells.into(), Layout { head_stride, ..layout }))
    }

    /// The visible pairs as booleans, where a band does not say it all.
    fn visible(&self, scores: Shape) -> Result<Option<PairCells<'a, bool>>> {
        let rules = match (self.mask.is_band(), self.mask.matrix, self.truth) {
            (true, Some(MatrixRule::Allow), Some(cells)) => {
                return Ok(Some((cells.numbers().into(), cells.layout())));
            }
            (true, Some(MatrixRule::Allow | MatrixRule::Block), _) => {
                Mask { matrix: self.mask.matrix, ..Mask::default() }
            }
            (true, Some(MatrixRule::Add), _) if self.soft_cap.is_some() => {
                check_hides(self.mask_added)?;
                Mask { matrix: self.mask.matrix, ..Mask::default() }
            }
            (true, ..) => return Ok(None),
            (false, ..) => self.mask,
        };
        let size = (scores.rows, scores.cols);
        let cell = |head, place| rules.is_visible(place, size, self.mask_cell(head, place));
        self.gathered(scores, cell).map(Some)
    }

    /// The sum of the terms that are added to the scaled scores: the bias, divided by the temperature as they are, and an
    /// additive mask.
    fn added(&self, scores: Shape) -> Result<Option<PairCells<'a, T>>> {
        // With a soft-cap its numbers only hide keys.
        let is_added =
            self.mask.matrix == Some(MatrixRule::Add) && !self.mask.inverted && self.soft_cap.is_none();
        let mask = self.mask_added.filter(|_| is_added);
        let added = match (self.bias, mask) {
            (None, None) => return Ok(None),
            (Some(cells), None) if self.temperature == 1.0 => (cells.numbers().into(), cells.layout()),
            (None, Some(cells)) => (cells.numbers().into(), cells.layout()),
            (Some(own), mask) => {
                let mask = |head, i, j| mask.map_or(0.0, |cells| cells.at(head, i, j).to_f64());
                self.gathered(scores, |head, (i, j)| {
                    T::from_f64(own.at(head, i, j).to_f64() / self.temperature + mask(head, i, j))
                })?
            }
        };
        check_added(&added.0)?;
        Ok(Some(added))
    }
}

/// # Errors
/// If a mask has other numbers than 0 and −∞: the kernel adds them before the soft-cap, and they belong after it.
fn check_hides<T: Real>(cells: Option<Heads<'_, T>>) -> Result<()> {
    let mut numbers = cells.iter().flat_map(Heads::numbers);
    if numbers.all(|x| matches!(x.to_f64(), 0.0 | f64::NEG_INFINITY)) {
        return Ok(());
    }
    Err(Error::new("the fast path cannot add the numbers of a mask after a soft-cap")
        .help("give a mask of 0 and -inf, or leave out --softcap or --fast"))
}

/// # Errors
/// If a cell is neither finite nor −∞.
fn check_added<T: Real>(cells: &[T]) -> Result<()> {
    match cells.iter().find(|x| **x != T::NEG_INFINITY && !x.to_f64().is_finite()) {
        None => Ok(()),
        Some(x) => Err(added_out_of_range(x.to_f64(), T::NAME)),
    }
}

/// The error where the bias over the temperature, plus an additive mask, is neither finite nor −∞ in a type.
pub(crate) fn added_out_of_range(number: f64, dtype: &str) -> Error {
    let help = match dtype {
        "f32" => "write -inf to hide a key; numbers that are too large for f32 fit --dtype f64",
        _ => "write -inf to hide a key, and give a smaller bias or a higher temperature",
    };
    Error::new(format!("what is added to the scores comes to {number:?} in {dtype}")).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_holds_the_keys_that_the_rules_leave_visible() {
        for (rows, cols) in [(1, 1), (3, 3), (2, 5), (5, 2), (4, 9)] {
            let shape = Shape { rows, cols };
            for (causal, from_start) in [(false, false), (true, false), (true, true), (false, true)] {
                for window in [None, Some(1), Some(2), Some(4), Some(usize::MAX)] {
                    let mask = Mask { causal, from_start, window, ..Mask::default() };
                    let band = mask.band(shape);
                    for (i, j) in shape.places() {
                        let sees = mask.is_visible((i, j), (rows, cols), None);
                        assert_eq!(band.sees(i, j, cols), sees, "{mask:?} {shape} ({i}, {j})");
                    }
                }
            }
        }
    }
}
