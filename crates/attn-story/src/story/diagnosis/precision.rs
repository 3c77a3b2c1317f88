//! The precision of the agreement: with the right numbers, with those of a named mistake, and within the rounding of half precision.

use super::cells::{number, size, worst_cell};
use super::mistakes::are_same_computation;
use crate::diagnose::{
    Answer, CloseNumbers, Diagnosis, Difference, HalfPrecision, JudgedNode, MOST_DECIMALS, Verdict,
    decimals_of,
};
use crate::graph::Graph;
use crate::text::counted;

/// Differences up to this are rounding errors of the computation, and are not mentioned.
const ROUNDING: f64 = 1e-9;

/// The right node that is furthest off, with the answer to it.
fn least_exact<'a>(
    diagnosis: &'a Diagnosis,
    answers: &'a [Answer],
) -> Option<(&'a JudgedNode, &'a Answer, &'a Difference)> {
    let measured = diagnosis.nodes.iter().filter_map(|node| match &node.verdict {
        Verdict::Right(distance) => {
            let answer = answers.iter().find(|answer| answer.name == node.name)?;
            Some((node, answer, &distance.difference))
        }
        _ => None,
    });
    measured.max_by(|a, b| a.2.max.total_cmp(&b.2.max))
}

/// The precision of a right answer: the allowed half precision, if any, and the max difference. Empty where the numbers agree to
/// nine digits.
pub(super) fn precision(diagnosis: &Diagnosis, answers: &[Answer]) -> String {
    let inexact = least_exact(diagnosis, answers).filter(|(.., difference)| difference.max > ROUNDING);
    let Some((node, answer, difference)) = inexact else { return String::new() };
    let half = half_precision_of(node, answer, difference);
    let how = match (half, difference.right_to(answer)) {
        (Some(half), _) => format!("within half precision ({})", half.name),
        (None, Some(0)) => "to whole numbers".to_string(),
        (None, Some(decimals)) => format!("to {}", counted(decimals, "decimal")),
        (None, None) => format!("within the tolerance of {}", size(difference.allowed)),
    };
    format!("{how}: the largest difference is {}", size(difference.max))
}

/// The half precision that an answer was computed or stored in, unless it was rounded for a reader.
fn half_precision_of(
    node: &JudgedNode,
    answer: &Answer,
    difference: &Difference,
) -> Option<&'static HalfPrecision> {
    node.half.filter(|_| difference.max > ROUNDING && !difference.rounded_by_hand(answer))
}

/// The agreement with the right numbers or, where a mistake is named, with those of the mistake.
pub(super) fn confidence(diagnosis: &Diagnosis, answers: &[Answer]) -> String {
    let Some(wrong) = diagnosis.first_wrong() else {
        let furthest = least_exact(diagnosis, answers);
        return furthest.map_or(String::new(), |(node, answer, difference)| {
            match (half_precision_of(node, answer, difference), difference.right_to(answer)) {
                (Some(half), _) => format!("within {}", half.name),
                (None, Some(decimals)) if difference.max > ROUNDING => agreement_to(decimals),
                _ => agreement(difference.max),
            }
        });
    };
    match &wrong.mistakes[..] {
        [] => String::new(),
        [_] if wrong.may_be_chance => "may be chance".into(),
        [only] => agreement(only.residual),
        several if are_same_computation(several) => agreement(several[0].residual),
        several => format!("one of {}", several.len()),
    }
}

/// The number of decimals to which numbers with this max difference agree.
fn agreement(max: f64) -> String {
    match decimals_of(max) {
        Some(decimals) => agreement_to(decimals),
        None => format!("to {}", size(max)),
    }
}

fn agreement_to(decimals: usize) -> String {
    match decimals {
        MOST_DECIMALS => "to all digits".into(),
        0 => "to integers".into(),
        decimals => format!("to {}", counted(decimals, "decimal")),
    }
}

/// The tolerances with which close numbers count as right.
pub(super) fn near_enough(close: &CloseNumbers) -> String {
    let absolute = rounded_up(close.distance.difference.max);
    format!("If this is near enough for you, give --rtol {} --atol {absolute}.", close.half.unit)
}

/// A number of two digits that is not below `x`.
fn rounded_up(x: f64) -> String {
    let text = format!("{:.1e}", x * 1.05);
    text.parse().map_or(text, |x: f64| x.to_string())
}

/// The part of the difference that half precision explains, where the numbers are close: “O[2,1]: yours is …”.
pub(super) fn how_close(CloseNumbers { beyond, half, .. }: &CloseNumbers, right: &Graph) -> String {
    let Difference { cells, of, yours, expected, allowed, max, .. } = beyond.difference;
    let are = if cells == 1 { "is" } else { "are" };
    let name = half.name;
    format!(
        "{cells} of {of} cells {are} further off than {name} rounds. In {}, yours is {}, right is {}: the difference is {}, and \
         {name} explains at most {} there.",
        worst_cell(beyond, right),
        number(yours, 4),
        number(expected, 4),
        size(max),
        size(allowed)
    )
}

/// The notes on right answers in half precision.
pub(super) fn half_precision(diagnosis: &Diagnosis, answers: &[Answer]) -> Vec<String> {
    let notes = diagnosis.nodes.iter().filter_map(|node| {
        let half = node.half?;
        let answer = answers.iter().find(|answer| answer.name == node.name)?;
        let digits = if half.unit < 1e-3 { "three" } else { "two" };
        Some(if answer.roundoff == half.unit {
            format!("{} is stored in {}, which keeps about {digits} digits.", node.name, half.name)
        } else {
            format!(
                "Every number in {} is a {} number, so it was computed or stored in {}, which keeps about {digits} digits.",
                node.name, half.name, half.name
            )
        })
    });
    notes.collect()
}
