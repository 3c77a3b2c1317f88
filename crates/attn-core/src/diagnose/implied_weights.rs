//! The weights that a result implies: where the values of the visible keys are independent, the rows of O have one solution.
//!
//! Biases of Q and dropout of the weights are no mistakes, and O does not show them. Its weights do: a bias of Q multiplies each
//! column of the weights by one number (before the rows are divided by their sums), dropout sets some to 0. A bias of V moves all
//! rows of O by the same row, so that the differences between them are still mixed from differences between values.

use crate::graph::recipes::PositionKind;
use crate::graph::{Graph, Op, Role};
use crate::matrix::Matrix;

use super::answer::Part;
use super::compare::{CellTolerance, Tolerance};
use super::linear::{contribution, least_squares, orthonormal, rest};
use super::task::standing_for;
use super::{Clue, Task};

/// Ratios of weights are equal if they differ by at most this share.
const NEAR: f64 = 1e-3;
/// Fewer numbers that agree may be chance.
const LEAST_AGREED: usize = 3;

/// A bias of Q in a clue.
pub(super) const BIAS_OF_QUERIES: &str =
    "a bias of the queries, which adds a number to each column of the scores";

/// A clue from the weights of a wrong result, if they can be solved for.
pub(super) fn clue(task: &Task, part: &Part<'_>, tolerance: &Tolerance) -> Option<Clue> {
    let [(node, yours)] = &part.matrices[..] else { return None };
    let has_decimals =
        |least| part.answer.roundoff < 1e-6 && part.answer.decimals.is_none_or(|decimals| decimals >= least);
    if node != "O" || !has_decimals(3) || !yours.cells().all(f64::is_finite) {
        return None;
    }
    // Weights beside a sink do not sum to 1, and a gate or positions in the residual stand between them and O.
    let facts = task.facts();
    let has_positions = task.recipe().positions.kind == PositionKind::Sinusoidal;
    if facts.has_sink || facts.has_gate || has_positions {
        return None;
    }
    let allowed = CellTolerance::between(part.answer, yours, tolerance);
    let mixture = Mixture::of(task, yours, allowed)?;
    if mixture.is_moved_by_one_row() == Some(true) {
        return Some(Clue::consistent_with(
            "biases in all projections, which nn.Linear adds where bias=False is not said",
        ));
    }
    let (ratios, agreed) = mixture.ratios()?;
    if has_decimals(6) && are_dropped(&ratios) {
        return Some(Clue::dropout());
    }
    if has_decimals(6) && are_of_one_bias(&ratios) {
        return Some(Clue::consistent_with(BIAS_OF_QUERIES));
    }
    (agreed >= LEAST_AGREED).then(Clue::other_weights)
}

/// The implied weights divided by the right ones: by head, row and key; nothing where the right weight is 0 or the row has
/// more than one solution.
type Ratios = Vec<Vec<Vec<Option<f64>>>>;

/// One head: its right weights, and for each key the row that a weight of 1 adds to the result.
pub(super) struct Head<'a> {
    weights: &'a Matrix,
    pub added: Matrix,
}

/// A result that was handed in, and what the right one is mixed from.
struct Mixture<'a> {
    heads: Vec<Head<'a>>,
    yours: &'a Matrix,
    allowed: CellTolerance,
    /// The result without what is added to the mixture: the residual.
    target: Matrix,
}

impl Head<'_> {
    /// The keys that are visible to one of two rows.
    fn visible(&self, rows: [usize; 2]) -> Vec<usize> {
        (0..self.added.rows()).filter(|&j| rows.iter().any(|&i| self.weights[(i, j)] != 0.0)).collect()
    }

    /// The rows that weights of 1 for these keys add.
    fn values(&self, keys: &[usize]) -> Vec<Vec<f64>> {
        keys.iter().map(|&key| self.added.row(key).collect()).collect()
    }

    /// The differences between the contribution of the first of these keys and those of the others.
    fn differences(&self, keys: &[usize]) -> Vec<Vec<f64>> {
        let Some((&first, others)) = keys.split_first() else { return Vec::new() };
        let difference =
            |&key: &usize| self.added.row(key).zip(self.added.row(first)).map(|(a, b)| a - b).collect();
        others.iter().map(difference).collect()
    }
}

impl<'a> Mixture<'a> {
    /// `None` where the shapes differ, or the right result is no mixture.
    fn of(task: &'a Task, yours: &'a Matrix, allowed: CellTolerance) -> Option<Mixture<'a>> {
        let heads = heads(task)?;
        let x = standing_for(task.right(), "X").filter(|_| task.recipe().output.residual);
        let fits = |head: &Head<'_>| head.added.cols() == yours.cols() && head.weights.rows() == yours.rows();
        let cell = |i, c| yours[(i, c)] - x.map_or(0.0, |x: &Matrix| x[(i, c)]);
        let is_mixture = heads.iter().all(fits) && x.is_none_or(|x| x.shape() == yours.shape());
        let target = is_mixture.then(|| Matrix::from_fn(yours.rows(), yours.cols(), cell))?;
        Some(Mixture { heads, yours, allowed, target })
    }

    /// The ratios, and how many numbers of O are more than solving for them takes. `None` unless the weights of at least two rows are
    /// known and give these rows.
    fn ratios(&self) -> Option<(Ratios, usize)> {
        let Mixture { heads, yours, allowed, target } = self;
        let mut ratios: Ratios =
            heads.iter().map(|head| vec![vec![None; head.added.rows()]; yours.rows()]).collect();
        let (mut solved, mut agreed) = (0, 0);
        for i in 0..yours.rows() {
            let visible: Vec<(usize, usize)> = (0..heads.len())
                .flat_map(|h| (0..heads[h].added.rows()).map(move |j| (h, j)))
                .filter(|&(h, j)| heads[h].weights[(i, j)] != 0.0)
                .collect();
            // One weight alone is 1, whatever is added to its score.
            if visible.len() <= heads.len() || visible.len() > yours.cols() {
                continue;
            }
            let columns: Vec<Vec<f64>> =
                visible.iter().map(|&(h, j)| heads[h].added.row(j).collect()).collect();
            let target: Vec<f64> = target.row(i).collect();
            let Some(weights) = least_squares(&columns, &target) else { continue };
            let gives = |c: usize| {
                let sum: f64 = columns.iter().zip(&weights).map(|(column, weight)| column[c] * weight).sum();
                (sum - target[c]).abs() <= 4.0 * allowed.around(yours[(i, c)])
            };
            if !(0..yours.cols()).all(gives) {
                return None;
            }
            for (&(h, j), weight) in visible.iter().zip(&weights) {
                ratios[h][i][j] = Some(weight / heads[h].weights[(i, j)]);
            }
            solved += 1;
            agreed += yours.cols() - visible.len();
        }
        (solved >= 2).then_some((ratios, agreed))
    }

    /// Whether all rows are one and the same row off from what some weights, which sum to 1, make of the values. `None` where that
    /// cannot be seen.
    fn is_moved_by_one_row(&self) -> Option<bool> {
        let Mixture { heads, yours, allowed, target } = self;
        let first: Vec<f64> = target.row(0).collect();
        let (mut agreed, mut all_tell) = (0, true);
        for i in 1..yours.rows() {
            let differences = heads.iter().flat_map(|head| head.differences(&head.visible([0, i])));
            let basis = orthonormal(differences);
            let row: Vec<f64> = target.row(i).zip(&first).map(|(a, b)| a - b).collect();
            if !is_zero(&rest(&basis, row), |c| 8.0 * allowed.around(yours[(i, c)])) {
                return Some(false);
            }
            all_tell &= basis.len() < yours.cols();
            agreed += yours.cols().saturating_sub(basis.len());
        }
        let near = |c: usize| 8.0 * allowed.around(yours[(0, c)]);
        // Weights that do not sum to 1, as those that dropout leaves, also move rows; but they add nothing that is no multiple of a value.
        let visible: Vec<Vec<usize>> = heads.iter().map(|head| head.visible([0, 0])).collect();
        let values = || heads.iter().zip(&visible).flat_map(|(head, keys)| head.values(keys));
        let basis = orthonormal(values());
        let is_more = !is_zero(&rest(&basis, first.clone()), near);
        // Where the values give every row, only their sums tell: equal ones in all rows are no accident.
        let may_be_more = all_tell && basis.len() == yours.cols() && {
            let differences = heads.iter().zip(&visible).flat_map(|(head, keys)| head.differences(keys));
            let mut added = first;
            for (head, keys) in heads.iter().zip(&visible) {
                for (number, value) in added.iter_mut().zip(head.added.row(*keys.first()?)) {
                    *number -= value;
                }
            }
            !is_zero(&rest(&orthonormal(differences), added), near)
        };
        Some(agreed >= LEAST_AGREED && (is_more || may_be_more))
    }
}

fn is_zero(numbers: &[f64], allowed: impl Fn(usize) -> f64) -> bool {
    numbers.iter().enumerate().all(|(c, number)| number.abs() <= allowed(c))
}

/// The heads, with the part of W_O that is theirs already applied to their values.
pub(super) fn heads(task: &Task) -> Option<Vec<Head<'_>>> {
    let right = task.right();
    // What a bias adds is not mixed by any weights.
    if right.at(Role::BO).is_some() {
        return None;
    }
    let width = standing_for(right, "O")?.cols();
    let w_o = right.find("W_O").and_then(|id| right[id].matrix());
    let mut start = 0;
    (1..=task.recipe().heads)
        .map(|number| {
            let (weights, values) = mixed(right, number, task.recipe().heads)?;
            let columns = start..start + values.cols();
            start = columns.end;
            let added = |i: usize, j: usize| contribution(|k| values[(i, k)], &columns, w_o, j);
            Some(Head { weights, added: Matrix::from_fn(values.rows(), width, added) })
        })
        .collect()
}

/// The weights and the values of a head (from 1).
fn mixed(right: &Graph, number: usize, heads: usize) -> Option<(&Matrix, &Matrix)> {
    let id = match heads {
        1 => right.find("C").or_else(|| right.find("O")),
        _ => right.find(&format!("O_{number}")),
    }?;
    match (&right[id].op, &right[id].inputs[..]) {
        (Op::Product, [weights, values]) => Some((right[*weights].matrix()?, right[*values].matrix()?)),
        _ => None,
    }
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= NEAR * b.abs()
}

/// Whether some ratios are 0 and all others 1 / (1 − p), for one p.
fn are_dropped(ratios: &Ratios) -> bool {
    let known = || ratios.iter().flatten().flatten().flatten().copied();
    let Some(kept) = known().find(|ratio| ratio.abs() > NEAR) else { return false };
    let zeros = known().filter(|ratio| ratio.abs() <= NEAR).count();
    zeros > 0 && kept > 1.0 && known().all(|ratio| ratio.abs() <= NEAR || is_near(ratio, kept))
}

/// Whether the ratios of each head are a number of the row times a number of the column, and not all of a row the same.
fn are_of_one_bias(ratios: &Ratios) -> bool {
    /// Fewer agreements may be chance.
    const LEAST: usize = 3;
    let (mut agreed, mut differ) = (0, false);
    for head in ratios {
        // Each column relative to the first, by the first row that knows both.
        let mut columns: Vec<Option<f64>> = vec![None; head.first().map_or(0, Vec::len)];
        for row in head {
            let Some(first) = row.first().copied().flatten() else { continue };
            if row.iter().flatten().any(|ratio| *ratio <= 0.0) {
                return false;
            }
            for (ratio, column) in row.iter().zip(&mut columns).skip(1) {
                let Some(relative) = ratio.map(|ratio| ratio / first) else { continue };
                differ |= !is_near(relative, 1.0);
                match column {
                    Some(known) if !is_near(relative, *known) => return false,
                    Some(_) => agreed += 1,
                    None => *column = Some(relative),
                }
            }
        }
    }
    differ && agreed >= LEAST
}
