//! An arbitrary temperature, solved for from the result.

use crate::elementary;
use crate::graph::{Stage, Step};
use crate::matrix::Matrix;

use super::Change;
use super::answer::Part;
use super::candidates::standing_for;
use super::catalogue::fitted;
use super::fitting::{fit, in_words, number, slip, to_digits};
use super::search::{Fit, Search};
use super::tolerance::CellTolerance;

/// A temperature is found after at most this many halvings.
const HALVINGS: usize = 60;

/// The numbers of a part at one temperature, in the order of its nodes.
struct NumbersAtTemperature {
    temperature: f64,
    numbers: Vec<Matrix>,
}

/// The scores divided by another number: looked for between neighbouring temperatures whose results the part lies between.
pub(super) fn temperature(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let step = Step::parse(&part.matrices.first()?.0)?;
    let numbers = part.matrices.iter().all(|(_, matrix)| matrix.cells().all(f64::is_finite));
    if step.stage < Stage::Weights || !numbers {
        return None;
    }
    let nodes: Vec<String> = part.matrices.iter().map(|(node, _)| node.clone()).collect();
    let mut between: Vec<(NumbersAtTemperature, NumbersAtTemperature)> = Vec::new();
    let mut before: Option<NumbersAtTemperature> = None;
    search.candidates.each_temperature(search.task, &nodes, |temperature, row| {
        let numbers = nodes.iter().map(|node| Some(row.numbers(node)?.matrix.clone())).collect();
        let here = Option::map(numbers, |numbers| NumbersAtTemperature { temperature, numbers });
        if let (Some(cold), Some(warm)) = (before.take(), here.as_ref())
            && are_between(search, part, &cold, warm)
        {
            let warm = NumbersAtTemperature { temperature, numbers: warm.numbers.clone() };
            between.push((cold, warm));
        }
        before = here;
    });
    between.iter().find_map(|(cold, warm)| solved(search, part, cold, warm))
}

/// Whether all numbers of a part lie between those at two temperatures, or near them.
fn are_between(
    search: &Search<'_>,
    part: &Part<'_>,
    cold: &NumbersAtTemperature,
    warm: &NumbersAtTemperature,
) -> bool {
    part.matrices.iter().zip(cold.numbers.iter().zip(&warm.numbers)).all(|((_, yours), (low, high))| {
        if low.shape() != yours.shape() || high.shape() != yours.shape() {
            return false;
        }
        let moved = low.cells().zip(high.cells()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let near = CellTolerance::between(part.answer, low, search.tolerance).around(0.0) + 0.3 * moved;
        let cells = yours.cells().zip(low.cells().zip(high.cells()));
        cells.into_iter().all(|(x, (a, b))| x >= a.min(b) - near && x <= a.max(b) + near)
    })
}

/// The temperature between two at which the numbers come nearest to those of the part.
fn solved(
    search: &Search<'_>,
    part: &Part<'_>,
    cold: &NumbersAtTemperature,
    warm: &NumbersAtTemperature,
) -> Option<Fit> {
    // The position between the two ends, from 0 to 1.
    let along = |numbers: &[Matrix]| -> f64 {
        let parts = numbers.iter().zip(&part.matrices).zip(cold.numbers.iter().zip(&warm.numbers));
        parts
            .map(|((numbers, (_, yours)), (low, high))| {
                let cells = numbers.cells().zip(yours.cells()).zip(low.cells().zip(high.cells()));
                cells.map(|((x, y), (a, b))| (x - y) * (b - a)).sum::<f64>()
            })
            .sum()
    };
    let at = |t: f64| -> Option<Vec<Matrix>> {
        let graph = search.task.with([&Change::Temperature(t)]);
        part.matrices.iter().map(|(node, _)| standing_for(&graph, node).cloned()).collect()
    };
    let (mut a, mut b) = (elementary::ln(cold.temperature), elementary::ln(warm.temperature));
    let (mut at_a, mut at_b) = (along(&cold.numbers), along(&warm.numbers));
    // A temperature of the grid itself is at one of the ends, up to its last digits.
    if at_a.abs() <= 1e-6 * at_b.abs() {
        return hot(search, part, cold.temperature);
    }
    if at_b.abs() <= 1e-6 * at_a.abs() {
        return hot(search, part, warm.temperature);
    }
    if at_a * at_b > 0.0 {
        return None;
    }
    let mut middle = a;
    for _ in 0..HALVINGS {
        // The chord, kept away from the ends; halves where that does not help.
        let chord = a - at_a * (b - a) / (at_b - at_a);
        middle = if chord > a && chord < b { chord } else { (a + b) / 2.0 };
        let value = along(&at(elementary::exp(middle))?);
        if value == 0.0 || (b - a).abs() < 1e-14 {
            break;
        }
        if (value > 0.0) == (at_a > 0.0) {
            (a, at_a, at_b) = (middle, value, at_b / 2.0);
        } else {
            (b, at_b, at_a) = (middle, value, at_a / 2.0);
        }
    }
    let t = elementary::exp(middle);
    plain_ones(search, part, t).into_iter().chain([t]).find_map(|t| hot(search, part, t))
}

/// Temperatures near this one that somebody chooses: with few digits, or the root of a whole number, as the divisor or beside it.
/// Empty where the numbers were not rounded, which show the temperature itself.
fn plain_ones(search: &Search<'_>, part: &Part<'_>, t: f64) -> Vec<f64> {
    let is_rounded = part
        .matrices
        .iter()
        .any(|(_, yours)| CellTolerance::between(part.answer, yours, search.tolerance).rounding() > 0.0);
    if !is_rounded {
        return Vec::new();
    }
    let (recipe, facts) = (search.task.recipe(), search.task.facts());
    let scale = recipe.scale.factor(facts.d_k).map_or(1.0, |factor| factor.value());
    let divisor = t / scale;
    let root = (divisor * divisor).round().max(1.0).sqrt();
    let by_digits = (1..=3).flat_map(|digits| [to_digits(divisor, digits) * scale, to_digits(t, digits)]);
    by_digits.chain([root * scale]).collect()
}

/// The exercise at this temperature.
fn hot(search: &Search<'_>, part: &Part<'_>, t: f64) -> Option<Fit> {
    let (recipe, facts) = (search.task.recipe(), search.task.facts());
    let scale = recipe.scale.factor(facts.d_k).map_or(1.0, |factor| factor.value());
    let right = recipe.temperature / scale;
    let divisor = t / scale;
    let is_root = scale == 1.0 / (facts.d_k as f64).sqrt() && recipe.temperature == 1.0;
    let instead = if is_root { format!("√{} = {}", facts.d_k, number(right)) } else { number(right) };
    let said = format!("The scores were divided by {} instead of {instead}.", in_words(divisor));
    let slip = slip(fitted::TEMPERATURE, Some(format!("by {}", in_words(divisor))))?.saying(said, None);
    let graph = search.task.with([&Change::Temperature(t)]);
    fit(search, part, slip, graph, 1)
}
