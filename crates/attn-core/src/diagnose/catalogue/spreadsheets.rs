//! Mistakes in a spreadsheet: a range without a $ moves when its formula is filled down or to the right.

use super::{Likelihood, Mistake, Way, altered};
use crate::attention::Axis;
use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{Alter, Divisor, Hiding, Normalise, Recipe, Shift, Site, Slant};

pub(super) const MISTAKES: &[Mistake] = &[Mistake {
    id: "range-slides",
    likelihood: Likelihood::Common,
    slip: "A range moved when its formula was filled down or to the right: a $ is missing.",
    why: "In a spreadsheet a reference without $ moves with its formula; behind the table it reads empty cells, which count as 0.",
    fix: "Write $ before what must not move, as in SUM($B2:$F2), or compute the whole table with one formula: MMULT.",
    symptom: "The first row (or the first column) is right, and the others are not.",
    demo: Some("vectorize"),
    ways: |recipe, facts| {
        let mut ways = of_products(facts);
        if facts.keys > 1 {
            ways.extend(of_sums());
            ways.extend(of_maxima(recipe));
        }
        ways
    },
}];

/// Ranges of K, V and the weights of the projections, which move down.
fn of_products(facts: &Facts) -> Vec<Way> {
    let way = |stage, slant, detail: &str, said: &str| {
        let range = if stage == Site::Tokens { "ranges" } else { "range" };
        let said = format!("The {range} of {detail} moved down with the formula (a $ is missing): {said}");
        Way::detailed(altered(stage, Alter::Slanted(slant)), detail).saying(said)
    };
    let mut ways = Vec::new();
    if facts.q.rows > 1 && facts.keys > 1 {
        let said = "score (i, j) compares query i with key j + i − 1, and keys after the last count as 0.";
        ways.push(way(Site::Scores, Slant::Left, "K", said));
        let said = "weight (i, j) multiplies value j + i − 1, and values after the last count as 0.";
        ways.push(way(Site::Weights, Slant::Right, "V", said));
    }
    if facts.from_tokens && facts.x.is_some_and(|x| x.rows > 1 && x.cols > 1) {
        let said = "for token i the projections begin at their row i, and rows after the last count as 0.";
        ways.push(way(Site::Tokens, Slant::Right, "W_Q, W_K and W_V", said));
    }
    ways
}

/// Ranges of sums.
fn of_sums() -> Vec<Way> {
    let of = |axis, shift| Normalise { divisor: Divisor::SumFromHere(axis), shift, ..Normalise::default() };
    let ways = [
        (of(Axis::Rows, Shift::Max), "the sum of its row from its own column on", "right"),
        (of(Axis::Columns, Shift::Nothing), "the sum of its column from its own row on", "down"),
        (of(Axis::Whole, Shift::Nothing), "the sum of its own row and all rows below", "down"),
    ];
    ways.map(|(normalise, what, to)| {
        let way = if to == "right" { "to the right" } else { to };
        let said = format!(
            "The range of the sum moved {way} with the formula (a $ is missing): each exponential was divided by {what}."
        );
        Way::detailed(Change::Normalise(normalise), what).saying(said)
    })
    .to_vec()
}

/// The range of the maximum, alone and together with that of the sum.
fn of_maxima(recipe: &Recipe) -> Vec<Way> {
    let alone = Normalise { shift: Shift::MaxFromHere, ..Normalise::default() };
    let both = Normalise { divisor: Divisor::SumFromHere(Axis::Rows), ..alone };
    let way = |normalise, detail: &str, ranges: &str, and: &str| {
        let said = format!(
            "{ranges} moved to the right with the formula (a $ is missing): the largest score from its own column on was \
             subtracted from each score{and}."
        );
        Way::detailed(Change::Normalise(normalise), detail).saying(said)
    };
    let divided = ", and each exponential was divided by the sum from its own column on";
    let mut ways = vec![
        way(alone, "the maximum", "The range of the maximum", ""),
        way(both, "the maximum and the sum", "The ranges of the maximum and of the sum", divided),
    ];
    if recipe.mask.is_some() {
        // A spreadsheet has no −∞.
        let finite = way(alone, "the maximum, with −1e9 for −∞", "The range of the maximum", "");
        ways.push(finite.with(Change::Hiding(Hiding::Replaced(-1e9))));
    }
    ways
}
