//! Attention through the kernel: the same mathematics, and no matrix of all queries and keys.

use super::mask::{Mask, MatrixRule, fits};
use crate::error::{Error, Result};
use crate::kernel::{self, Attention, Band, Heads, Layout, Machine, Real, Used};
use crate::matrix::{Matrix, Shape};

/// Queries, keys and values of many heads, and what is done to the scores before the softmax.
///
/// # Shapes
/// `q` is (H, T, d_k), `k` (G, N, d_k), `v` (G, N, d_v), each anywhere in memory; query head h reads key/value head
/// ⌈h·G/H⌉, both from 1. `bias` and `mask_matrix` are (T, N), the same for every head.
#[derive(Clone, Copy, Debug)]
pub struct FastAttention<'a, T> {
    /// The queries.
    pub q: Heads<'a, T>,
    /// The keys.
    pub k: Heads<'a, T>,
    /// The values.
    pub v: Heads<'a, T>,
    /// What scores are multiplied by.
    pub scale: f64,
    /// What is added to the scaled scores; −∞ hides.
    pub bias: Option<&'a Matrix>,
    /// What scaled and biased scores are divided by.
    pub temperature: f64,
    /// Who may attend to whom.
    pub mask: Mask,
    /// The mask matrix, where the mask has a rule for it.
    pub mask_matrix: Option<&'a Matrix>,
}

/// What [`attend_fast`] gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused<T> {
    /// The heads side by side, row by row: (T, H · d_v).
    pub output: Vec<T>,
    /// ln Σ exp of the scores that the softmax reads, head by head: (H, T). −∞ where a query sees nothing.
    pub lse: Vec<T>,
    /// Threads, and memory beside inputs and outputs.
    pub used: Used,
}

/// `O = softmax(mask((Q Kᵀ · scale + bias) / temperature)) V` for every head, by the fused kernel. The bits depend neither
/// on `machine` nor on where the inputs lie.
///
/// A row that may attend to nothing is 0, its log-sum-exp −∞. The error bound is that of [`kernel::attend`].
///
/// # Errors
/// If shapes do not fit, there is no memory for the result, a bias or an added mask holds a number that T has no room for, or this processor lacks the
/// instructions that `machine` names.
/// # Source
/// Vaswani et al. 2017, section 3.2; Dao et al. 2022, «FlashAttention», algorithm 1; grouped heads: Ainslie et al. 2023,
/// «GQA», section 2.2.
pub fn attend_fast<T: Real>(problem: &FastAttention<'_, T>, machine: Machine) -> Result<Fused<T>> {
    let (q, v) = (problem.q.layout(), problem.v.layout());
    let scores = Shape { rows: q.rows, cols: problem.k.layout().rows };
    fits("mask", problem.mask_matrix, scores)?;
    fits("bias", problem.bias, scores)?;
    let for_all_heads = Layout { head_stride: 0, ..Layout::stacked(q.heads, scores.rows, scores.cols) };
    let visible = problem.visible(scores);
    let added = problem.added(scores)?;
    let attention = Attention {
        scale: T::from_f64(problem.scale / problem.temperature),
        band: if problem.mask.is_band() { problem.mask.band(scores) } else { Band::default() },
        mask: visible.as_deref().map(|visible| Heads::new("mask", visible, for_all_heads)).transpose()?,
        bias: added.as_deref().map(|added| Heads::new("bias", added, for_all_heads)).transpose()?,
        ..Attention::new(problem.q, problem.k, problem.v)
    };
    let layout = Layout::side_by_side(q.heads, q.rows, v.columns);
    let mut output = zeros("an output", [q.heads, q.rows, v.columns])?;
    let mut lse = zeros("log-sum-exps", [q.heads, q.rows, 1])?;
    let used = kernel::attend(&attention, machine, (&mut output, layout), Some(&mut lse))?;
    Ok(Fused { output, lse, used })
}

/// Room for so many heads, rows and columns.
fn zeros<T: Real>(what: &str, sides: [usize; 3]) -> Result<Vec<T>> {
    let count = sides.into_iter().try_fold(1usize, usize::checked_mul);
    let mut numbers = Vec::new();
    match count.map(|count| numbers.try_reserve_exact(count).map(|()| count)) {
        Some(Ok(count)) => {
            numbers.resize(count, T::ZERO);
            Ok(numbers)
        }
        _ => {
            let [heads, rows, columns] = sides;
            Err(Error::new(format!(
                "there is no memory for {what} of {heads} heads of {rows}×{columns} numbers"
            )))
        }
    }
}

impl Mask {
    /// Whether what hides by position hides all but a band of neighbouring keys.
    fn is_band(&self) -> bool {
        !self.hides_own && !self.inverted
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
        }
    }
}

impl<T: Real> FastAttention<'_, T> {
    fn mask_cell(&self, i: usize, j: usize) -> Option<f64> {
        self.mask_matrix.map(|matrix| matrix[(i, j)])
    }

    /// What no band can say, as booleans.
    fn visible(&self, scores: Shape) -> Option<Vec<bool>> {
        let by_cells = matches!(self.mask.matrix, Some(MatrixRule::Allow | MatrixRule::Block));
        let rules = match self.mask.is_band() {
            true if by_cells => Mask { matrix: self.mask.matrix, ..Mask::default() },
            true => return None,
            false => self.mask,
        };
        let size = (scores.rows, scores.cols);
        Some(places(scores).map(|(i, j)| rules.is_visible((i, j), size, self.mask_cell(i, j))).collect())
    }

    /// What is added to the scaled scores: the bias, over the temperature as they are, and a mask that is added.
    fn added(&self, scores: Shape) -> Result<Option<Vec<T>>> {
        let mask_is_added = self.mask.matrix == Some(MatrixRule::Add) && !self.mask.inverted;
        if self.bias.is_none() && !mask_is_added {
            return Ok(None);
        }
        let cell = |(i, j): (usize, usize)| {
            let bias = self.bias.map_or(0.0, |bias| bias[(i, j)] / self.temperature);
            let added = bias + if mask_is_added { self.mask_cell(i, j).unwrap_or(0.0) } else { 0.0 };
            let number = T::from_f64(added);
            let fits = added == f64::NEG_INFINITY || number.to_f64().is_finite();
            fits.then_some(number).ok_or_else(|| {
                Error::new(format!(
                    "row {}, column {} of what is added to the scores is {added:e}, and {} has no such number",
                    i + 1,
                    j + 1,
                    T::NAME
                ))
                .help("write -inf to hide a key")
            })
        };
        places(scores).map(cell).collect::<Result<Vec<T>>>().map(Some)
    }
}

/// All places of a shape, row by row.
fn places(shape: Shape) -> impl Iterator<Item = (usize, usize)> {
    (0..shape.rows).flat_map(move |i| (0..shape.cols).map(move |j| (i, j)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_sees_what_the_rules_see() {
        for (rows, cols) in [(1, 1), (3, 3), (2, 5), (5, 2), (4, 9)] {
            let shape = Shape { rows, cols };
            for (causal, from_start) in [(false, false), (true, false), (true, true), (false, true)] {
                for window in [None, Some(1), Some(2), Some(4), Some(usize::MAX)] {
                    let mask = Mask { causal, from_start, window, ..Mask::default() };
                    let band = mask.band(shape);
                    for (i, j) in places(shape) {
                        let sees = mask.is_visible((i, j), (rows, cols), None);
                        assert_eq!(band.keys(i, cols).contains(&j), sees, "{mask:?} {shape} ({i}, {j})");
                    }
                }
            }
        }
    }
}
