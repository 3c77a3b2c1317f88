//! Dropout of weights or scores: a row has 2ⁿ patterns, and of few keys each is tried.

use crate::elementary::ln;
use crate::matrix::Matrix;

use super::super::answer::Part;
use super::super::catalogue::numbers::number;
use super::super::compare::CellTolerance;
use super::super::implied_weights::{Head, heads};
use super::super::search::{Fit, Search};
use super::super::task::standing_for;
use super::{Alternative, Steps, slip, softmax};

/// Usual rates of dropout on scores; that of weights is solved for.
const RATES: [f64; 9] = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6];
/// Rates have two decimals at most.
const ALL_RATES: f64 = 100.0;
/// A row with more weights has too many patterns.
const MOST: usize = 12;

/// What a part is that rows of weights give.
struct Unit<'a> {
    /// The heads whose weights it reads.
    heads: Vec<usize>,
    yours: &'a Matrix,
    allowed: CellTolerance,
    /// What each head adds to a result; none where the part is the weights themselves.
    added: Option<&'a [Head<'a>]>,
    residual: Option<&'a Matrix>,
}

/// Dropout of the weights or of the scores, if it gives a part.
pub(super) fn fits(search: &Search<'_>, part: &Part<'_>, steps: &Steps<'_>) -> Vec<Fit> {
    let task = search.task();
    let mixtures = heads(task);
    let residual = standing_for(task.right(), "X").filter(|_| task.recipe().output.residual);
    let unit = |(node, yours): &(String, &Matrix)| -> Option<(Vec<usize>, bool)> {
        let right = standing_for(task.right(), node).filter(|right| right.shape() == yours.shape())?;
        let head = (0..steps.heads()).find(|head| *node == steps.name("A", *head));
        let is_result = node == "O" && mixtures.as_ref().is_some_and(|all| all.len() == steps.heads());
        let heads = head.map(|head| vec![head]).or(is_result.then(|| (0..steps.heads()).collect()));
        heads
            .filter(|_| yours.cells().all(f64::is_finite) && right.rows() > 0)
            .map(|heads| (heads, is_result))
    };
    let found: Option<Vec<_>> = part.matrices.iter().map(unit).collect();
    let Some(found) = found else { return Vec::new() };
    let units: Vec<Unit<'_>> = part
        .matrices
        .iter()
        .zip(found)
        .map(|((_, yours), (heads, is_result))| {
            let added = mixtures.as_deref().filter(|_| is_result);
            Unit {
                heads,
                yours,
                allowed: search.allowed(part, yours),
                added,
                residual: residual.filter(|_| is_result),
            }
        })
        .collect();
    let of_weights = units.first().map_or(Vec::new(), |unit| rates(steps, unit));
    let found = [(of_weights, false), (RATES.to_vec(), true)].into_iter().filter_map(|(rates, on_scores)| {
        rates.into_iter().find_map(|rate| of_rate(search, part, steps, &units, rate, on_scores))
    });
    found.collect()
}

/// The rates at which some pattern of the weights gives the row that reads most of them.
fn rates(steps: &Steps<'_>, unit: &Unit<'_>) -> Vec<f64> {
    let read = |row: &usize| {
        unit.heads
            .iter()
            .filter_map(|&head| steps.of_head("A", head))
            .map(|weights| weights.row(*row).filter(|x| *x > 0.0).count())
            .sum::<usize>()
    };
    let mut found: Vec<f64> = Vec::new();
    let Some(row) = (0..unit.yours.rows()).max_by_key(read) else { return found };
    let _ = patterns(steps, unit, row, (0.0, false), |own| {
        let undivided = unit.row(own);
        let wanted: Vec<f64> =
            (0..undivided.len()).map(|c| unit.yours[(row, c)] - unit.base(row, c)).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let rate =
            (ALL_RATES * (1.0 - dot(&undivided, &undivided) / dot(&undivided, &wanted))).round() / ALL_RATES;
        if rate > 0.0 && rate < 1.0 && !found.contains(&rate) {
            let scaled: Vec<Vec<f64>> =
                own.iter().map(|own| own.iter().map(|x| x / (1.0 - rate)).collect()).collect();
            if unit.gives(row, &scaled) {
                found.push(rate);
            }
        }
        false
    });
    found
}

/// The fit of one rate.
fn of_rate(
    search: &Search<'_>,
    part: &Part<'_>,
    steps: &Steps<'_>,
    units: &[Unit<'_>],
    rate: f64,
    on_scores: bool,
) -> Option<Fit> {
    let mut weights: Vec<Matrix> =
        (0..steps.heads()).map(|head| steps.of_head("A", head).cloned()).collect::<Option<_>>()?;
    let (mut dropped, mut bits) = (0, 0);
    for unit in units {
        for row in 0..unit.yours.rows() {
            let (found, zeros, tried) = pattern(steps, unit, row, rate, on_scores)?;
            for (head, own) in unit.heads.iter().zip(found) {
                let old = weights[*head].clone();
                weights[*head] =
                    Matrix::from_fn(
                        old.rows(),
                        old.cols(),
                        |i, j| if i == row { own[j] } else { old[(i, j)] },
                    );
            }
            dropped += zeros;
            bits += tried;
        }
    }
    if dropped == 0 {
        return None;
    }
    let (p, left) = (number(rate), number(1.0 - rate));
    let did = if on_scores {
        format!("Dropout was on the scores, before the softmax (p = {p}): it set {dropped} of them")
    } else {
        format!("Dropout was on (p = {p}): it set {dropped} of the weights")
    };
    let said = format!("{did} to 0 and divided the others by {left}.");
    let name = if on_scores { format!("p = {p}, on the scores") } else { format!("p = {p}") };
    let nodes = weights.into_iter().enumerate().map(|(head, own)| (steps.name("A", head), own)).collect();
    let mut fit = super::fit(
        search,
        part,
        &Alternative { solved: 1, ..Alternative::new(slip("dropout", name, said), nodes) },
        &[],
    )?;
    fit.log_chance += bits as f64 * ln(2.0) + ln(ALL_RATES);
    Some(fit)
}

/// The weights of a row, one list for each head, the number of dropped cells, and the number of cells that may be dropped.
type Found = (Vec<Vec<f64>>, usize, usize);

/// The first pattern of a row that gives it.
fn pattern(steps: &Steps<'_>, unit: &Unit<'_>, row: usize, rate: f64, on_scores: bool) -> Option<Found> {
    patterns(steps, unit, row, (rate, on_scores), |own| unit.gives(row, own))
}

/// The first pattern of a row, at a rate and on scores or weights, whose weights are what is looked for.
fn patterns(
    steps: &Steps<'_>,
    unit: &Unit<'_>,
    row: usize,
    (rate, on_scores): (f64, bool),
    mut is_it: impl FnMut(&[Vec<f64>]) -> bool,
) -> Option<Found> {
    let seen = |(at, &head): (usize, &usize)| -> Option<Vec<(usize, usize)>> {
        let (_, masked) = steps.scores(head)?;
        Some((0..masked.cols()).filter(|&j| masked[(row, j)] > f64::NEG_INFINITY).map(|j| (at, j)).collect())
    };
    let cells = unit.heads.iter().enumerate().map(seen).collect::<Option<Vec<_>>>()?.concat();
    if cells.len() > MOST {
        return None;
    }
    (0..1_usize << cells.len()).find_map(|bits| {
        let bit = |at: usize, key: usize| cells.iter().position(|cell| *cell == (at, key));
        let is_dropped = |at: usize, key: usize| bit(at, key).is_some_and(|bit| bits >> bit & 1 == 1);
        let of_head = |(at, &head): (usize, &usize)| {
            dropped_row(steps, head, row, rate, on_scores, |key| is_dropped(at, key))
        };
        let own: Vec<Vec<f64>> = unit.heads.iter().enumerate().map(of_head).collect::<Option<_>>()?;
        is_it(&own).then(|| (own, bits.count_ones() as usize, cells.len()))
    })
}

/// The weights of one head in a row, some of its weights or scores dropped.
fn dropped_row(
    steps: &Steps<'_>,
    head: usize,
    row: usize,
    rate: f64,
    on_scores: bool,
    is_dropped: impl Fn(usize) -> bool,
) -> Option<Vec<f64>> {
    let kept = |x: f64, key: usize| if is_dropped(key) { 0.0 } else { x / (1.0 - rate) };
    if !on_scores {
        let weights = steps.of_head("A", head)?;
        return Some((0..weights.cols()).map(|key| kept(weights[(row, key)], key)).collect());
    }
    let (_, masked) = steps.scores(head)?;
    let hidden = f64::NEG_INFINITY;
    let read = Matrix::from_fn(1, masked.cols(), |_, j| {
        if masked[(row, j)] > hidden { kept(masked[(row, j)], j) } else { hidden }
    });
    Some(softmax(&read).row(0).collect())
}

impl Unit<'_> {
    /// What is added to a cell without any weights.
    fn base(&self, row: usize, column: usize) -> f64 {
        self.residual.map_or(0.0, |x| x[(row, column)])
    }

    /// What these weights of a row give.
    fn row(&self, weights: &[Vec<f64>]) -> Vec<f64> {
        let cell = |c: usize| match self.added {
            None => weights[0][c],
            Some(added) => {
                let of_head = |(head, own): (&Head<'_>, &Vec<f64>)| -> f64 {
                    own.iter().enumerate().map(|(key, weight)| weight * head.added[(key, c)]).sum()
                };
                added.iter().zip(weights).map(of_head).sum()
            }
        };
        (0..self.yours.cols()).map(cell).collect()
    }

    /// Whether these weights give the row that was handed in.
    fn gives(&self, row: usize, weights: &[Vec<f64>]) -> bool {
        let own = self.row(weights);
        own.iter()
            .enumerate()
            .all(|(c, own)| self.allowed.allows(self.yours[(row, c)], self.base(row, c) + own))
    }
}
