//! From scores to weights: masks, which decide which keys a query may attend to, and the softmax with the steps it is made of.

use std::ops::Range;

use attn_kernel::{Heads, Layout};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::matrix::{Matrix, Shape};
use crate::{elementary, json_number};

/// The rules that hide keys from queries. A pair is visible when every rule allows it.
///
/// T queries over N keys: query i stands at position `offset + i` among the keys, where `offset` is N − T when the
/// queries are the last tokens (as when decoding with a cache), and 0 when both are aligned to the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mask {
    /// No key after the query's own position.
    pub causal: bool,
    /// Only keys less than this many positions away.
    pub window: Option<usize>,
    /// The number of first keys that stay visible although they lie outside the window.
    pub keep_first: usize,
    /// Queries and keys are aligned at the first token, not at the last.
    pub from_start: bool,
    /// The meaning of a second input, a matrix of the scores' shape.
    pub matrix: Option<MatrixRule>,
    /// No token sees itself.
    pub hides_own: bool,
    /// Inverts the rules: visible cells are those that the rules hide.
    pub inverted: bool,
}

/// The meaning of the cells of a mask matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatrixRule {
    /// Not zero: may attend.
    Allow,
    /// Not zero: may not attend.
    Block,
    /// A number that is added to the score; −∞ hides the key.
    Add,
}

/// The visibility of a key to a query: visible, or hidden by a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// The score stays.
    Visible,
    /// The score becomes −∞.
    Hidden(HidingRule),
}

/// The rule that hides a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HidingRule {
    /// The key comes after the query.
    Future,
    /// The key is a window or more away.
    OutsideWindow,
    /// The mask matrix says so.
    ByMatrix,
    /// The key is the query's own token.
    Own,
    /// The rules let it through, and they are turned round.
    Inverted,
}

impl Mask {
    /// Returns true if any rule is set.
    pub fn is_some(&self) -> bool {
        self.causal || self.window.is_some() || self.matrix.is_some() || self.hides_own || self.inverted
    }

    /// The visibility of key `j` of `keys` to query `i` of `queries` (from 0); `cell` is the mask matrix at (i, j).
    pub fn visibility(&self, at: (usize, usize), size: (usize, usize), cell: Option<f64>) -> Visibility {
        match (self.hidden_by(at, size, cell), self.inverted) {
            (Some(rule), false) => Visibility::Hidden(rule),
            (None, true) => Visibility::Hidden(HidingRule::Inverted),
            _ => Visibility::Visible,
        }
    }

    /// Returns true if query `i` sees key `j`; see [`Mask::visibility`].
    pub fn is_visible(&self, at: (usize, usize), size: (usize, usize), cell: Option<f64>) -> bool {
        self.visibility(at, size, cell) == Visibility::Visible
    }

    /// The first rule that hides a key, before the rules are turned round.
    fn hidden_by(&self, at: (usize, usize), size: (usize, usize), cell: Option<f64>) -> Option<HidingRule> {
        let ((i, j), (queries, keys)) = (at, size);
        // The position of the query plus `queries`, so that it cannot go below zero where T > N.
        let (position, key) =
            if self.from_start { (i + queries, j + queries) } else { (keys + i, j + queries) };
        if self.causal && key > position {
            return Some(HidingRule::Future);
        }
        if j >= self.keep_first && self.window.is_some_and(|window| key.abs_diff(position) >= window) {
            return Some(HidingRule::OutsideWindow);
        }
        if self.hides_own && key == position {
            return Some(HidingRule::Own);
        }
        let allowed = match (self.matrix, cell) {
            (Some(MatrixRule::Allow), Some(cell)) => cell != 0.0,
            (Some(MatrixRule::Block), Some(cell)) => cell == 0.0,
            (Some(MatrixRule::Add), Some(cell)) => cell != f64::NEG_INFINITY,
            _ => true,
        };
        (!allowed).then_some(HidingRule::ByMatrix)
    }

    /// Returns true if each query sees keys next to each other: only the order of the tokens and the window hide some.
    pub(crate) fn is_range(&self) -> bool {
        self.matrix.is_none() && !self.inverted && !self.hides_own && self.keep_first == 0
    }

    /// The keys that query `i` sees, of a mask that [is a range](Mask::is_range).
    pub(crate) fn range_of(&self, i: usize, size: Shape) -> Range<usize> {
        let Shape { rows: queries, cols: keys } = size;
        // The position of the query plus `queries`, as above.
        let position = if self.from_start { i + queries } else { keys + i };
        let window = self.window.unwrap_or(usize::MAX);
        let start = (position + 1).saturating_sub(window.saturating_add(queries)).min(keys);
        let ahead = if self.causal { window.min(1) } else { window };
        let end = position.saturating_add(ahead).saturating_sub(queries).min(keys);
        start..end.max(start)
    }

    /// The pattern as a matrix of the given shape: 1 where query i may attend to key j, 0 elsewhere. `matrix` is the mask
    /// matrix, of that shape, where there is a rule for it.
    pub fn pattern(&self, queries: usize, keys: usize, matrix: Option<&Matrix>) -> Matrix {
        Matrix::from_fn(queries, keys, |i, j| {
            let cell = matrix.map(|matrix| matrix[(i, j)]);
            f64::from(u8::from(self.is_visible((i, j), (queries, keys), cell)))
        })
    }
}

/// Hides scores: `out[i,j] = s[i,j]` where query i may attend to key j (plus the matrix, for [`MatrixRule::Add`]), and
/// −∞ elsewhere, which the softmax turns into a weight of exactly 0.
///
/// # Shapes
/// `scores` is (T, N), and so is `matrix`, which is given where the mask has a rule for it.
/// # Errors
/// If the mask matrix has another shape than the scores.
/// # Source
/// “Understanding the attention mechanism”, section Masked attention; Vaswani et al. 2017, section 3.2.3.
pub fn mask(scores: &Matrix, matrix: Option<&Matrix>, mask: &Mask) -> Result<Matrix> {
    fits("mask", matrix.map(Matrix::shape), scores.shape())?;
    let size = (scores.rows(), scores.cols());
    let cell = |i, j| {
        let given = matrix.map(|matrix| matrix[(i, j)]);
        match (mask.visibility((i, j), size, given), mask.matrix, given) {
            (Visibility::Hidden(_), _, _) => f64::NEG_INFINITY,
            // Turned round, a matrix of 0 and −∞ says which keys are hidden, and is not added.
            (Visibility::Visible, Some(MatrixRule::Add), Some(added)) if !mask.inverted => {
                0.0 + scores[(i, j)] + added
            }
            (Visibility::Visible, _, _) => scores[(i, j)],
        }
    };
    Ok(Matrix::from_fn(size.0, size.1, cell).labelled_like(scores))
}

/// The mask as numbers: `out[i,j] = 1` where query i may attend to key j, 0 elsewhere, with the labels of the scores.
///
/// # Errors
/// If the mask matrix has another shape than the scores.
pub fn mask_pattern(scores: &Matrix, matrix: Option<&Matrix>, mask: &Mask) -> Result<Matrix> {
    fits("mask", matrix.map(Matrix::shape), scores.shape())?;
    Ok(mask.pattern(scores.rows(), scores.cols(), matrix).labelled_like(scores))
}

/// Checks that a matrix for all scores (`what` it is), if there is one, has their shape; `shape` is its own.
///
/// # Errors
/// If it has not.
pub(super) fn fits(what: &str, shape: Option<Shape>, scores: Shape) -> Result<()> {
    match shape {
        Some(shape) if shape != scores => {
            Err(Error::new(format!("a {shape} {what} does not fit {scores} scores"))
                .help(format!("make the {what} {scores}: a row for each query, and a column for each key")))
        }
        _ => Ok(()),
    }
}

/// (T, N) cells, the same for every head.
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'a, T> {
    cells: &'a [T],
    layout: Layout,
}

/// The cells of a mask matrix.
#[derive(Clone, Copy, Debug)]
pub enum MaskCells<'a, T> {
    /// For [`super::MatrixRule::Allow`] and [`super::MatrixRule::Block`].
    Truth(Pairs<'a, bool>),
    /// For [`super::MatrixRule::Add`].
    Added(Pairs<'a, T>),
}

impl<'a, T: Copy> Pairs<'a, T> {
    /// The first head of `cells`, read through `layout`.
    ///
    /// # Errors
    /// If the layout reaches past the cells.
    pub fn new(cells: &'a [T], layout: Layout) -> Result<Pairs<'a, T>> {
        let layout = Layout { heads: 1, ..layout };
        Heads::new("a matrix beside the scores", cells, layout)?;
        Ok(Pairs { cells, layout })
    }

    /// Rows times columns.
    pub fn shape(&self) -> Shape {
        Shape { rows: self.layout.rows, cols: self.layout.columns }
    }

    /// The cell of query i and key j.
    pub(super) fn at(&self, i: usize, j: usize) -> T {
        self.cells[i * self.layout.row_stride + j * self.layout.column_stride]
    }

    /// The cells as they are stored in memory, and the layout that reads them as the cells of this many heads.
    pub(super) fn for_heads(&self, heads: usize) -> (&'a [T], Layout) {
        (self.cells, Layout { heads, head_stride: 0, ..self.layout })
    }
}

impl<T: Copy> MaskCells<'_, T> {
    /// Rows times columns.
    pub fn shape(&self) -> Shape {
        match self {
            MaskCells::Truth(cells) => cells.shape(),
            MaskCells::Added(cells) => cells.shape(),
        }
    }
}

// The softmax and the steps it is made of.

/// The cells over which a softmax sums to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Each row on its own: over the keys of one query.
    Rows,
    /// Each column on its own.
    Columns,
    /// All cells of the matrix together.
    Whole,
}

/// The base of the power whose exponents are the scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// e, through `exp`.
    E,
    /// Another number above 1, through `pow`.
    Number(#[serde(with = "json_number")] f64),
}

impl Base {
    /// baseˣ.
    pub fn power(self, x: f64) -> f64 {
        match self {
            Base::E => elementary::exp(x),
            Base::Number(base) => elementary::pow(base, x),
        }
    }
}

/// Every cell minus the max of its row (or column): `out[i,j] = x[i,j] − max_k x[i,k]`.
///
/// The softmax of the result is the softmax of `x`, and for a base above 1 its max power is exactly 1, so none
/// overflows.
/// A cell of −∞ (a masked one) stays −∞, also where nothing but −∞ is in the row. The only other cell of a row is its own
/// maximum, and becomes 0 even where it has left the range.
pub fn minus_max(x: &Matrix, axis: Axis) -> Matrix {
    along_rows(x, axis, minus_max_of_row)
}

/// [`minus_max`] of one row, in place.
fn minus_max_of_row(row: &mut [f64]) {
    let max = max(row.iter().copied());
    let alone = row.iter().filter(|&&x| x != f64::NEG_INFINITY).nth(1).is_none();
    for x in row {
        *x = match *x {
            f64::NEG_INFINITY => f64::NEG_INFINITY,
            f64::INFINITY if alone => 0.0,
            other => other - max,
        };
    }
}

/// The max of some numbers, from left to right: the first of equals, NaN where one is, and −∞ where there are none.
/// (`f64::max` drops NaN, and may give either zero for +0 and −0.)
pub fn max(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(f64::NEG_INFINITY, |max, x| if max.is_nan() || x <= max { max } else { x })
}

/// baseˣ of every cell.
pub fn exponential(x: &Matrix, base: Base) -> Matrix {
    x.map(|x| base.power(x))
}

/// Scores kept between −c and c: `out = c · tanh(x / c)` of every cell. A score near 0 hardly changes; one of −∞ becomes −c, so
/// that a mask has to come after the cap.
///
/// # Source
/// Gemma Team 2024, “Gemma 2”, section 2, “Logit soft-capping”, with c = 50 for the scores; Bello et al. 2016 cap by 10.
pub fn soft_cap(x: &Matrix, cap: f64) -> Matrix {
    x.map(|x| cap * elementary::tanh(x / cap))
}

/// The sum of each row (a column of sums), or of each column (a row of sums), from left to right.
pub fn sums(x: &Matrix, axis: Axis) -> Matrix {
    along(x, axis, "sum", |numbers| numbers.fold(0.0, |sum, x| sum + x))
}

/// The max of each row (a column), or of each column (a row); the first of equals.
pub fn max_along(x: &Matrix, axis: Axis) -> Matrix {
    along(x, axis, "largest", |numbers| max(numbers))
}

/// One number for each row, for each column, or for all cells.
fn along(x: &Matrix, axis: Axis, name: &str, of: impl Fn(&mut dyn Iterator<Item = f64>) -> f64) -> Matrix {
    match axis {
        Axis::Rows => Matrix::from_fn(x.rows(), 1, |i, _| of(&mut x.row(i)))
            .with_row_labels(x.row_labels().cloned())
            .cols_named(&[name]),
        Axis::Columns => along(&x.transposed(), Axis::Rows, name, of).transposed(),
        Axis::Whole => Matrix::filled(1, 1, of(&mut x.cells())),
    }
}

/// Every cell divided by the sum of its row (or column): `out[i,j] = x[i,j] / Σ_k x[i,k]`.
///
/// The division fails for numbers of both signs, whose sum may be 0 or negative: the result is infinite or NaN.
pub fn divide_by_sum(x: &Matrix, axis: Axis) -> Matrix {
    along_rows(x, axis, |row| {
        let sum = row.iter().fold(0.0, |sum, x| sum + x);
        row.iter_mut().for_each(|x| *x /= sum);
    })
}

/// Exponentials, divided by their sum: `out[i,j] = e^(x[i,j] − m_i) / Σ_k e^(x[i,k] − m_i)`, with m_i the maximum of
/// row i. A row of −∞ alone (a fully masked query) gives zeros.
///
/// # Source
/// Vaswani et al. 2017, section 3.2.1; the subtracted maximum: Goodfellow et al., “Deep Learning”, section 4.1.
pub fn softmax(x: &Matrix, axis: Axis, base: Base) -> Matrix {
    along_rows(x, axis, |row| softmax_of_row(row, base))
}

/// [`softmax`] of one row, in place.
pub fn softmax_of_row(row: &mut [f64], base: Base) {
    minus_max_of_row(row);
    row.iter_mut().for_each(|x| *x = base.power(*x));
    let sum = row.iter().fold(0.0, |sum, x| sum + x);
    row.iter_mut().for_each(|x| *x = if sum == 0.0 { 0.0 } else { *x / sum });
}

/// `−ln softmax` of each row, without the small numbers between: `out[i,j] = ln Σ_k e^(x[i,k] − m_i) − (x[i,j] − m_i)`, with m_i the
/// max of row i. It stays exact where a weight would round to 0 or to 1. A cell of −∞ has the weight 0, so its result is ∞.
///
/// # Source
/// Blanchard, Higham and Higham 2021, “Accurately computing the log-sum-exp and softmax functions”.
pub fn negative_log_softmax(x: &Matrix) -> Matrix {
    along_rows(x, Axis::Rows, negative_log_softmax_of_row)
}

/// [`negative_log_softmax`] of one row, in place.
pub fn negative_log_softmax_of_row(row: &mut [f64]) {
    minus_max_of_row(row);
    let logarithm = elementary::ln(row.iter().fold(0.0, |sum, x| sum + elementary::exp(*x)));
    for x in row {
        *x = if *x == f64::NEG_INFINITY { f64::INFINITY } else { logarithm - *x };
    }
}

/// The softmax of each row together with a sink, a score of no key: `out[i,j] = e^(x[i,j] − m_i) / (Σ_k e^(x[i,k] − m_i) + e^(σ − m_i))`,
/// with m_i the max of row i and σ. The sink's own share is dropped, so a row sums to less than 1. A row of −∞ alone gives
/// zeros, as does a row where σ is −∞ too.
///
/// # Source
/// OpenAI 2025, the published code of gpt-oss, with a learned σ for each head; with σ = 0 it is Miller 2023, “Attention Is Off By
/// One”.
pub fn softmax_with_sink(x: &Matrix, sink: f64) -> Matrix {
    along_rows(x, Axis::Rows, |row| {
        let max = max(row.iter().copied().chain([sink]));
        let power = |x: f64| match x {
            f64::NEG_INFINITY => 0.0,
            // It has left the range, and is the max.
            f64::INFINITY => 1.0,
            _ => elementary::exp(x - max),
        };
        let sum = row.iter().copied().chain([sink]).fold(0.0, |sum, x| sum + power(x));
        row.iter_mut().for_each(|x| *x = if sum == 0.0 { 0.0 } else { power(*x) / sum });
    })
}

/// The softmax as NumPy and PyTorch have it, without a guard for a row of nothing but −∞: −∞ − (−∞) makes that row NaN.
/// Everywhere else it is [`softmax`].
pub fn unguarded_softmax(x: &Matrix, axis: Axis, base: Base) -> Matrix {
    along_rows(x, axis, |row| {
        let max = max(row.iter().copied());
        row.iter_mut().for_each(|x| *x = base.power(*x - max));
        let sum = row.iter().fold(0.0, |sum, x| sum + x);
        row.iter_mut().for_each(|x| *x /= sum);
    })
}

/// The natural logarithm of every cell: −∞ at 0, NaN below.
pub fn logarithm(x: &Matrix) -> Matrix {
    x.map(elementary::ln)
}

/// The square root of every cell: NaN below 0.
pub fn root(x: &Matrix) -> Matrix {
    x.map(f64::sqrt)
}

/// ∞ (or −∞) for every cell that is larger than the largest number of single precision, 3.4e38; all others stay.
pub fn single_range(x: &Matrix) -> Matrix {
    x.map(|x| if x.abs() > f64::from(f32::MAX) { x * f64::INFINITY } else { x })
}

/// The guard for queries that see no key: `out[i,j] = a[i,j]`, but 0 where row i of the scores is nothing but −∞.
///
/// # Shapes
/// `a` and `scores` are both (T, N).
/// # Errors
/// If their shapes differ.
pub fn guard(a: &Matrix, scores: &Matrix) -> Result<Matrix> {
    fits("matrix of weights", Some(a.shape()), scores.shape())?;
    let masked: Vec<bool> = (0..a.rows()).map(|i| scores.row(i).all(|x| x == f64::NEG_INFINITY)).collect();
    Ok(Matrix::from_fn(a.rows(), a.cols(), |i, j| if masked[i] { 0.0 } else { a[(i, j)] }).labelled_like(a))
}

/// Each row, each column, or all cells as one row, changed by `f`.
fn along_rows(x: &Matrix, axis: Axis, f: impl Fn(&mut [f64])) -> Matrix {
    if axis == Axis::Columns {
        return along_rows(&x.transposed(), Axis::Rows, f).transposed();
    }
    let mut cells: Vec<f64> = x.cells().collect();
    match axis {
        Axis::Whole => f(&mut cells),
        _ => cells.chunks_mut(x.cols().max(1)).for_each(f),
    }
    Matrix::from_fn(x.rows(), x.cols(), |i, j| cells[i * x.cols() + j]).labelled_like(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(mask: Mask, queries: usize, keys: usize) -> Vec<String> {
        let matrix = mask.pattern(queries, keys, None);
        (0..queries).map(|i| matrix.row(i).map(|x| if x == 1.0 { '1' } else { '0' }).collect()).collect()
    }

    #[test]
    fn a_causal_mask_over_as_many_keys_as_queries_is_lower_triangular() {
        let causal = Mask { causal: true, ..Mask::default() };
        assert_eq!(pattern(causal, 3, 3), ["100", "110", "111"]);
    }

    #[test]
    fn fewer_queries_than_keys_are_the_last_ones_unless_aligned_to_the_start() {
        let causal = Mask { causal: true, ..Mask::default() };
        assert_eq!(pattern(causal, 2, 4), ["1110", "1111"]);
        assert_eq!(pattern(Mask { from_start: true, ..causal }, 2, 4), ["1000", "1100"]);
    }

    #[test]
    fn more_queries_than_keys_leave_the_first_queries_with_nothing() {
        let causal = Mask { causal: true, ..Mask::default() };
        assert_eq!(pattern(causal, 4, 2), ["00", "00", "10", "11"]);
    }

    #[test]
    fn the_keys_that_a_query_sees_are_those_of_the_rules() {
        let masks =
            [None, Some(0), Some(1), Some(3), Some(50)].into_iter().flat_map(|window| {
                [(false, false), (false, true), (true, false), (true, true)]
                    .map(|(causal, from_start)| Mask { causal, window, from_start, ..Mask::default() })
            });
        for mask in masks {
            for (queries, keys) in [(1, 1), (5, 5), (2, 6), (6, 2), (1, 7), (4, 0)] {
                for i in 0..queries {
                    let seen: Vec<usize> =
                        (0..keys).filter(|j| mask.is_visible((i, *j), (queries, keys), None)).collect();
                    let range = mask.range_of(i, Shape { rows: queries, cols: keys });
                    assert_eq!(
                        range.collect::<Vec<_>>(),
                        seen,
                        "{mask:?}, {queries} queries, {keys} keys, {i}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_window_of_two_sees_itself_and_its_neighbours() {
        let window = Mask { window: Some(2), ..Mask::default() };
        assert_eq!(pattern(window, 4, 4), ["1100", "1110", "0111", "0011"]);
        assert_eq!(pattern(Mask { causal: true, ..window }, 4, 4), ["1000", "1100", "0110", "0011"]);
    }

    #[test]
    fn kept_keys_stay_visible_outside_the_window_and_hidden_in_the_future() {
        let kept = Mask { causal: true, window: Some(2), keep_first: 1, ..Mask::default() };
        assert_eq!(pattern(kept, 4, 4), ["1000", "1100", "1110", "1011"]);
        assert_eq!(pattern(kept, 2, 4), ["1110", "1011"]);
        let all = Mask { keep_first: 9, ..kept };
        assert_eq!(pattern(all, 3, 3), pattern(Mask { causal: true, ..Mask::default() }, 3, 3));
    }

    #[test]
    fn a_token_that_may_not_see_itself_sees_the_others() {
        let strict = Mask { causal: true, hides_own: true, ..Mask::default() };
        assert_eq!(pattern(strict, 3, 3), ["000", "100", "110"]);
        assert_eq!(pattern(strict, 2, 4), ["1100", "1110"]);
        assert_eq!(pattern(Mask { causal: false, ..strict }, 3, 3), ["011", "101", "110"]);
    }

    #[test]
    fn turned_round_the_causal_mask_shows_the_future_alone() {
        let inverted = Mask { causal: true, inverted: true, ..Mask::default() };
        assert_eq!(pattern(inverted, 3, 3), ["011", "001", "000"]);
        assert_eq!(pattern(Mask { hides_own: true, ..inverted }, 3, 3), ["111", "011", "001"]);
    }

    #[test]
    fn an_added_mask_of_minus_infinity_hides() {
        let rule = Mask { matrix: Some(MatrixRule::Add), ..Mask::default() };
        let added = Matrix::of([[0.5, f64::NEG_INFINITY]]);
        let masked = mask(&Matrix::of([[1.0, 2.0]]), Some(&added), &rule).unwrap();
        assert_eq!(masked.cells().collect::<Vec<_>>(), [1.5, f64::NEG_INFINITY]);
    }

    #[test]
    fn a_fully_masked_row_has_weights_zero_and_never_nan() {
        let hidden = f64::NEG_INFINITY;
        let weights = softmax(&Matrix::of([[hidden, hidden], [1.0, hidden]]), Axis::Rows, Base::E);
        assert_eq!(weights.cells().collect::<Vec<_>>(), [0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn the_only_score_that_is_not_hidden_has_weight_1_however_large() {
        let (hidden, inf) = (f64::NEG_INFINITY, f64::INFINITY);
        let weights = softmax(&Matrix::of([[hidden, inf], [inf, 1.0]]), Axis::Rows, Base::E);
        assert_eq!(weights.row(0).collect::<Vec<_>>(), [0.0, 1.0]);
        assert!(weights[(1, 0)].is_nan());
    }

    #[test]
    fn large_scores_do_not_overflow_because_the_maximum_is_subtracted() {
        let weights = softmax(&Matrix::of([[1000.0, 1001.0]]), Axis::Rows, Base::E);
        // 1/(1+e) and e/(1+e)
        assert!((weights[(0, 0)] - 0.268_941_421_369_995_1).abs() < 1e-15);
        assert!((weights[(0, 1)] - 0.731_058_578_630_004_9).abs() < 1e-15);
    }

    #[test]
    fn the_softmax_down_the_columns_is_the_transpose_of_the_one_along_the_rows() {
        let x = Matrix::of([[1.0, -2.0], [0.5, 3.0], [2.0, 2.0]]);
        let down = softmax(&x, Axis::Columns, Base::E);
        assert!(down.same_bits(&softmax(&x.transposed(), Axis::Rows, Base::E).transposed()));
    }

    #[test]
    fn the_largest_of_each_row_and_of_each_column() {
        let x = Matrix::of([[1.0, -2.0], [-5.0, -3.0]]);
        assert_eq!(max_along(&x, Axis::Rows).cells().collect::<Vec<_>>(), [1.0, -3.0]);
        assert_eq!(max_along(&x, Axis::Columns).cells().collect::<Vec<_>>(), [1.0, -2.0]);
    }

    #[test]
    fn over_the_whole_matrix_all_cells_together_sum_to_1() {
        // Powers 1, 1/2, 1/4, 1/4 of base 2 from the largest on: halves and quarters of 2.
        let x = Matrix::of([[3.0, 2.0], [1.0, 1.0]]);
        let weights = softmax(&x, Axis::Whole, Base::Number(2.0));
        assert_eq!(weights.cells().collect::<Vec<_>>(), [0.5, 0.25, 0.125, 0.125]);
        assert_eq!(sums(&weights, Axis::Whole)[(0, 0)], 1.0);
    }

    #[test]
    fn without_its_guard_only_a_fully_masked_row_differs_and_is_nan() {
        let hidden = f64::NEG_INFINITY;
        let x = Matrix::of([[hidden, hidden], [1.0, hidden], [0.5, 2.0]]);
        let (with, without) = (softmax(&x, Axis::Rows, Base::E), unguarded_softmax(&x, Axis::Rows, Base::E));
        assert!(without.row(0).all(f64::is_nan));
        assert!((1..3).all(|i| with.row(i).eq(without.row(i))));
    }

    #[test]
    fn the_guard_takes_the_rows_without_a_visible_score_and_no_others() {
        let hidden = f64::NEG_INFINITY;
        let scores = Matrix::of([[hidden, hidden], [1.0, hidden]]);
        let weights = exponential(&scores, Base::E).map(|x| x / 0.0);
        let guarded = guard(&weights, &scores).unwrap();
        assert_eq!(guarded.row(0).collect::<Vec<_>>(), [0.0, 0.0]);
        assert!(guarded[(1, 0)] == f64::INFINITY && guarded[(1, 1)].is_nan());
    }

    #[test]
    fn single_precision_ends_at_3_4e38() {
        let x = Matrix::of([[3.4e38, 3.5e38, -1e39, f64::NAN]]);
        let out = single_range(&x);
        assert_eq!(out.row(0).take(3).collect::<Vec<_>>(), [3.4e38, f64::INFINITY, f64::NEG_INFINITY]);
        assert!(out[(0, 3)].is_nan());
    }

    #[test]
    fn base_2_halves_the_weight_for_each_point_of_score() {
        let weights = softmax(&Matrix::of([[3.0, 2.0, 2.0]]), Axis::Rows, Base::Number(2.0));
        assert_eq!(weights.cells().collect::<Vec<_>>(), [0.5, 0.25, 0.25]);
    }
}
