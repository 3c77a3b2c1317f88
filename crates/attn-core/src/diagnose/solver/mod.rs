//! The solver beside the catalogue: what is a number, an order or a place in a mistake is solved for, and then put in words.
//!
//! The catalogue tries whole alternatives. A family here makes computations that differ from the right one in a quantity: the angles
//! of RoPE, the position of a cached key, the width of a mask, the pattern of dropout. Each is an [`Alternative`]: some steps of the
//! right answer with other numbers; everything after them is computed again by the recipe.

mod blocks;
mod cache;
mod dropout;
mod layout;
mod masks;
mod norms;
mod rotary;
mod score_bias;
mod sinusoid;
#[cfg(test)]
mod sweep;

use crate::graph::recipes::Change;
use crate::graph::{Graph, Op, Role};
use crate::matrix::Matrix;

use super::Task;
use super::answer::Part;
use super::catalogue::numbers::to_digits;
use super::catalogue::{Likelihood, Slip};
use super::search::{Fit, Search};
use super::task::standing_for;

/// The exercise with other numbers in some steps.
#[derive(Clone)]
pub(super) struct Alternative {
    /// What was done, in words.
    pub slip: Slip,
    /// The steps that have other numbers, by name.
    pub nodes: Vec<(String, Matrix)>,
    /// Settings of the recipe that go with them.
    pub changes: Vec<Change>,
    /// How many numbers were solved for.
    pub solved: usize,
}

impl Alternative {
    /// Steps with other numbers; nothing was solved for.
    fn new(slip: Slip, nodes: Vec<(String, Matrix)>) -> Alternative {
        Alternative { slip, nodes, changes: Vec::new(), solved: 0 }
    }

    /// The computation, with further changes of the recipe.
    fn graph(&self, task: &Task, further: &[Change]) -> Graph {
        task.replaced(&self.nodes, &self.changes.iter().chain(further).collect::<Vec<_>>())
    }
}

/// A mistake that was solved for, told in a sentence of its own.
fn slip(id: &str, detail: impl Into<String>, said: impl Into<String>) -> Slip {
    Slip::solved(id, detail).saying(said)
}

/// The same where there is nothing to tell it from.
fn only_slip(id: &str, said: &str) -> Slip {
    Slip { detail: None, ..slip(id, "", said) }
}

/// A family: its alternatives for an exercise and what was handed in.
type Family = fn(&Steps<'_>) -> Vec<Alternative>;

/// Every family, the more common mistakes first.
const FAMILIES: [Family; 18] = [
    layout::fused,
    layout::reshaped,
    layout::assigned,
    layout::pooled,
    layout::put_back,
    layout::exchanged,
    rotary::alternatives,
    sinusoid::forms,
    sinusoid::placed,
    score_bias::alternatives,
    cache::positions,
    cache::rows,
    cache::each_step,
    masks::bands,
    masks::keys,
    masks::padded,
    norms::alternatives,
    blocks::alternatives,
];

/// Larger exercises would take more than some seconds: the numbers of a run, and the products of the output projection.
const MOST_NUMBERS: usize = 30_000;
const MOST_PRODUCTS: usize = 10_000_000;

/// The alternatives that a part fits, and how many were tried.
pub(super) fn fits(search: &Search<'_>) -> (Vec<Fit>, usize) {
    let steps = Steps { task: search.task() };
    let Some(part) = search.readings.first().filter(|_| steps.are_few()) else { return (Vec::new(), 1) };
    let (mut found, mut tried) = (Vec::new(), 1);
    for family in FAMILIES {
        let all = family(&steps);
        tried += all.len();
        found.extend(all.iter().filter_map(|one| fit(search, part, one, &[])));
    }
    found.extend(dropout::fits(search, part, &steps));
    if found.is_empty() {
        found.extend(solved_for(search, part, &steps));
    }
    (found, tried)
}

/// The alternatives that a part fits with a classic mistake in the scores beside them, and how many were tried.
pub(super) fn fits_in_pairs(search: &Search<'_>) -> (Vec<Fit>, usize) {
    let steps = Steps { task: search.task() };
    let Some(part) = search.readings.first().filter(|_| steps.are_few()) else { return (Vec::new(), 1) };
    let classic = classic_changes(search.task());
    let (mut found, mut tried) = (Vec::new(), 1);
    for family in FAMILIES {
        let all = family(&steps);
        tried += all.len() * classic.len();
        for (one, (slip, changes)) in all.iter().flat_map(|one| classic.iter().map(move |other| (one, other)))
        {
            let Some(mut fit) = fit(search, part, one, changes) else { continue };
            fit.explanation.slips.insert(0, slip.clone());
            found.push(fit);
        }
    }
    (found, tried)
}

/// What has one number that may be any: the base of frequencies, for example.
fn solved_for(search: &Search<'_>, part: &Part<'_>, steps: &Steps<'_>) -> Vec<Fit> {
    let families = [
        rotary::of_base(steps),
        rotary::of_factor(steps),
        sinusoid::of_base(steps),
        sinusoid::of_factor(steps),
        score_bias::of_factor(steps),
    ];
    let found = families.into_iter().flatten().find_map(|one| {
        let number = solve(part, search.task(), &one)?;
        // Of the numbers that the digits allow, the one that somebody would choose.
        let plain = (1..=4).map(|digits| to_digits(number, digits));
        let found = plain.chain([number]).find_map(|number| fit(search, part, &(one.made)(number), &[]));
        // A number that is no quantity of the exercise is told as a number.
        found.map(|found| Fit { is_sure: false, ..found })
    });
    found.into_iter().collect()
}

/// Alternatives that differ in one number, and where it is looked for.
pub(super) struct OneNumber<'a> {
    /// The logarithms between which the number lies.
    pub range: [f64; 2],
    /// The alternative with a number.
    pub made: Box<dyn Fn(f64) -> Alternative + 'a>,
}

/// The number at which the alternatives come nearest to a part: looked for on a grid of logarithms, then by the golden section.
fn solve(part: &Part<'_>, task: &Task, one: &OneNumber<'_>) -> Option<f64> {
    use crate::elementary::exp;
    const STEPS: usize = 40;
    const ROUNDS: usize = 50;
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let off = |log: f64| -> f64 {
        let graph = (one.made)(exp(log)).graph(task, &[]);
        let all = part.matrices.iter().map(|(node, yours)| match standing_for(&graph, node) {
            Some(own) if own.shape() == yours.shape() => {
                yours.cells().zip(own.cells()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            }
            _ => f64::INFINITY,
        });
        all.fold(0.0, f64::max)
    };
    let [low, high] = one.range;
    let at = |step: usize| low + (high - low) * step as f64 / STEPS as f64;
    let grid: Vec<f64> = (0..=STEPS).map(|step| off(at(step))).collect();
    let nearest = (0..=STEPS).filter(|&step| grid[step].is_finite());
    let nearest = nearest.min_by(|a, b| grid[*a].total_cmp(&grid[*b]))?;
    let (mut a, mut b) = (at(nearest.saturating_sub(1)), at((nearest + 1).min(STEPS)));
    for _ in 0..ROUNDS {
        let (c, d) = (b - GOLDEN * (b - a), a + GOLDEN * (b - a));
        if off(c) < off(d) { b = d } else { a = c }
    }
    Some(exp((a + b) / 2.0))
}

/// The fit of a part to an alternative, if it fits.
fn fit(search: &Search<'_>, part: &Part<'_>, one: &Alternative, further: &[Change]) -> Option<Fit> {
    let graph = one.graph(search.task(), further);
    search.solved(part, one.slip.clone(), graph, one.solved)
}

/// The mistakes in the scores that every class makes, which may stand beside one that is solved for.
fn classic_changes(task: &Task) -> Vec<(Slip, Vec<Change>)> {
    let ids = ["no-scale", "scale-by-d", "mask-missing", "softmax-axis", "scale-multiplied"];
    let of = |id: &&str| {
        let mistake = super::catalogue::find(id).ok()?;
        mistake.ways(task).ok()?.into_iter().find(|way| way.alone).map(|way| (way.slip, way.changes))
    };
    let found: Vec<_> = ids.iter().filter_map(of).collect();
    debug_assert!(found.iter().all(|(slip, _)| slip.mistake.likelihood == Likelihood::Classic));
    found
}

// The steps of the right answer, by head.

/// The steps of an exercise that alternatives replace.
pub(super) struct Steps<'a> {
    pub task: &'a Task,
}

impl<'a> Steps<'a> {
    /// Whether trying all alternatives takes no more than some seconds.
    fn are_few(&self) -> bool {
        let facts = self.task.facts();
        let (queries, width) = (facts.q.rows, facts.q.cols);
        let numbers =
            self.heads() * queries * facts.keys + queries * width + facts.keys * (width + facts.v.cols);
        let products = if facts.projects { queries * facts.result.cols * width } else { 0 };
        numbers <= MOST_NUMBERS && products <= MOST_PRODUCTS
    }

    /// The number of query heads.
    fn heads(&self) -> usize {
        self.task.recipe().heads
    }

    /// The number of key/value heads.
    fn groups(&self) -> usize {
        self.task.recipe().kv_heads
    }

    /// The number of heads of a role.
    fn count(&self, role: Role) -> usize {
        if role == Role::Q { self.heads() } else { self.groups() }
    }

    /// The name of a step of a head, from 0: `A_2` for the second of several.
    fn name(&self, step: &str, head: usize) -> String {
        if self.heads() > 1 { format!("{step}_{}", head + 1) } else { step.to_string() }
    }

    /// The matrix of a node.
    fn matrix(&self, node: &str) -> Option<&'a Matrix> {
        let right = self.task.right();
        right[right.find(node)?].matrix()
    }

    /// The matrix of a step of a head, from 0.
    fn of_head(&self, step: &str, head: usize) -> Option<&'a Matrix> {
        self.matrix(&self.name(step, head))
    }

    /// What the softmax of a head reads: the scores before the mask, scaled and biased, and whether a key is visible.
    fn scores(&self, head: usize) -> Option<(&'a Matrix, &'a Matrix)> {
        let right = self.task.right();
        let weights = &right[right.find(&self.name("A", head))?];
        let read = &right[*weights.inputs.first()?];
        if !matches!(weights.op, Op::Softmax(..)) {
            return None;
        }
        let open = match (&read.op, read.inputs.first()) {
            (Op::Mask(_), Some(&open)) => &right[open],
            _ => read,
        };
        Some((open.matrix()?, read.matrix()?))
    }

    /// The weights of all heads, each made from the scores before the mask and after it.
    fn weights(&self, made: impl Fn(usize, &Matrix, &Matrix) -> Matrix) -> Option<Vec<(String, Matrix)>> {
        let of = |head| {
            let (open, masked) = self.scores(head)?;
            Some((self.name("A", head), made(head, open, masked)))
        };
        (0..self.heads()).map(of).collect()
    }
}

/// A softmax of each row, 0 where nothing is visible.
fn softmax(scores: &Matrix) -> Matrix {
    let top: Vec<f64> = (0..scores.rows()).map(|i| scores.row(i).fold(f64::NEG_INFINITY, f64::max)).collect();
    let power = |i: usize, j: usize| match top[i] {
        f64::NEG_INFINITY => 0.0,
        top => crate::elementary::exp(scores[(i, j)] - top),
    };
    let sums: Vec<f64> =
        (0..scores.rows()).map(|i| (0..scores.cols()).map(|j| power(i, j)).sum::<f64>()).collect();
    Matrix::from_fn(
        scores.rows(),
        scores.cols(),
        |i, j| if sums[i] > 0.0 { power(i, j) / sums[i] } else { 0.0 },
    )
}
