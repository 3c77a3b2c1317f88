//! One number of the exercise that is not the right one, solved for from the result: the temperature, or what stands for −∞.

use crate::elementary;
use crate::graph::{Stage, Step};
use crate::matrix::Matrix;

use super::answer::Part;
use super::candidates::standing_for;
use super::catalogue::fitted;
use super::catalogue::scales::coincidence;
use super::digits::{in_words, number, to_digits};
use super::fitting::{fit, slip};
use super::number::Number;
use super::search::{Fit, Search};
use super::tolerance::CellTolerance;
use super::{Slip, Task};

/// A number is found after at most this many halvings.
const HALVINGS: usize = 60;

/// The numbers of a part at one value, in the order of its nodes.
struct NumbersAt {
    value: f64,
    numbers: Vec<Matrix>,
}

/// The scores divided by another number.
pub(super) fn temperature(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    one_number(search, part, Number::Temperature)
}

/// Another number in the place of −∞. What it does may be as small as noise.
pub(super) fn hiding_number(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    if !search.task.recipe().mask.is_some() || !search.task.facts().mask_only_hides {
        return None;
    }
    let search = Search { near: true, ..*search };
    [Number::Written, Number::Added].into_iter().find_map(|of| one_number(&search, part, of))
}

/// A number: looked for between neighbouring values whose results the part lies between.
fn one_number(search: &Search<'_>, part: &Part<'_>, of: Number) -> Option<Fit> {
    let step = Step::parse(&part.matrices.first()?.0)?;
    let numbers = part.matrices.iter().all(|(_, matrix)| matrix.cells().all(f64::is_finite));
    if step.stage < Stage::Weights || !numbers {
        return None;
    }
    let nodes: Vec<String> = part.matrices.iter().map(|(node, _)| node.clone()).collect();
    let mut between: Vec<(NumbersAt, NumbersAt)> = Vec::new();
    let mut before: Option<NumbersAt> = None;
    search.candidates.each_number(of, search.task, &nodes, |value, row| {
        let numbers = nodes.iter().map(|node| Some(row.numbers(node)?.matrix.clone())).collect();
        let here = Option::map(numbers, |numbers| NumbersAt { value, numbers });
        if let (Some(cold), Some(warm)) = (before.take(), here.as_ref())
            && are_between(search, part, &cold, warm)
        {
            let warm = NumbersAt { value, numbers: warm.numbers.clone() };
            between.push((cold, warm));
        }
        before = here;
    });
    between.iter().find_map(|(cold, warm)| solved(search, part, of, (cold, warm)))
}

/// Whether all numbers of a part lie between those at two values, or near them.
fn are_between(search: &Search<'_>, part: &Part<'_>, cold: &NumbersAt, warm: &NumbersAt) -> bool {
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

/// The value between two at which the numbers come nearest to those of the part.
fn solved(
    search: &Search<'_>,
    part: &Part<'_>,
    of: Number,
    (cold, warm): (&NumbersAt, &NumbersAt),
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
    let at = |value: f64| -> Option<Vec<Matrix>> {
        let graph = search.task.with([&of.change(value)]);
        part.matrices.iter().map(|(node, _)| standing_for(&graph, node).cloned()).collect()
    };
    let (mut a, mut b) = (cold.value, warm.value);
    let (mut at_a, mut at_b) = (along(&cold.numbers), along(&warm.numbers));
    // A value of the grid itself is at one of the ends, up to its last digits.
    if at_a.abs() <= 1e-6 * at_b.abs() {
        return with_number(search, part, of, cold.value);
    }
    if at_b.abs() <= 1e-6 * at_a.abs() {
        return with_number(search, part, of, warm.value);
    }
    if at_a * at_b > 0.0 {
        return None;
    }
    let mut middle = a;
    for _ in 0..HALVINGS {
        // The chord, kept away from the ends; halves where that does not help.
        let chord = a - at_a * (b - a) / (at_b - at_a);
        middle = if chord > a.min(b) && chord < a.max(b) { chord } else { (a + b) / 2.0 };
        let value = along(&at(middle)?);
        if value == 0.0 || (b - a).abs() < 1e-14 {
            break;
        }
        if (value > 0.0) == (at_a > 0.0) {
            (a, at_a, at_b) = (middle, value, at_b / 2.0);
        } else {
            (b, at_b, at_a) = (middle, value, at_a / 2.0);
        }
    }
    let plain = plain_ones(search, part, of, middle).into_iter();
    plain.chain([middle]).find_map(|value| with_number(search, part, of, value))
}

/// Values near this one that somebody chooses: with few digits, or the root of a whole number, as the divisor or beside it.
/// Empty where the numbers were not rounded, which show the value itself.
fn plain_ones(search: &Search<'_>, part: &Part<'_>, of: Number, value: f64) -> Vec<f64> {
    let is_rounded = part
        .matrices
        .iter()
        .any(|(_, yours)| CellTolerance::between(part.answer, yours, search.tolerance).rounding() > 0.0);
    if !is_rounded {
        return Vec::new();
    }
    if of != Number::Temperature {
        return (1..=4).map(|digits| to_digits(value, digits)).collect();
    }
    let (recipe, facts) = (search.task.recipe(), search.task.facts());
    let scale = recipe.scale.factor(facts.d_k).map_or(1.0, |factor| factor.value());
    let t = elementary::exp(value);
    let divisor = t / scale;
    let root = (divisor * divisor).round().max(1.0).sqrt();
    let by_digits = (1..=3).flat_map(|digits| [to_digits(divisor, digits) * scale, to_digits(t, digits)]);
    by_digits.chain([root * scale]).map(elementary::ln).collect()
}

/// The exercise with this value.
fn with_number(search: &Search<'_>, part: &Part<'_>, of: Number, value: f64) -> Option<Fit> {
    let slip = match of {
        Number::Temperature => divided(search.task, elementary::exp(value))?,
        Number::Written | Number::Added => {
            let how = if of == Number::Written { "in their place" } else { "added" };
            slip(fitted::WEAK_MASK, Some(format!("{} {how}", number(value))))?
        }
    };
    fit(search, part, slip, search.task.with([&of.change(value)]), 1)
}

/// A wrong temperature in words: the number that the scores were divided by.
fn divided(task: &Task, t: f64) -> Option<Slip> {
    let (recipe, facts) = (task.recipe(), task.facts());
    let scale = recipe.scale.factor(facts.d_k).map_or(1.0, |factor| factor.value());
    let right = recipe.temperature / scale;
    let divisor = t / scale;
    let is_root = scale == 1.0 / (facts.d_k as f64).sqrt() && recipe.temperature == 1.0;
    let instead = if is_root { format!("√{} = {}", facts.d_k, number(right)) } else { number(right) };
    let also = coincidence(1.0 / divisor, 1, recipe, facts).map_or(String::new(), |also| format!(" {also}"));
    let said = format!("The scores were divided by {} instead of {instead}.{also}", in_words(divisor));
    Some(slip(fitted::TEMPERATURE, Some(format!("by {}", in_words(divisor))))?.saying(said, None))
}
