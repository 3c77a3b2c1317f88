//! Mistakes in words: their ids, what was done, and the demos that show the correct step.

use crate::diagnose::{
    Answer, CloseNumbers, Diagnosis, Difference, Distance, HalfPrecision, JudgedNode, MOST_DECIMALS,
    NamedMistake, Slip, Verdict, decimals_of,
};
use crate::graph::{CellId, Factor, Graph, Op, address_of};
use crate::story::in_sentence;
use crate::text::{counted, one_of};

/// The sentence of a mistake, with its detail and id: “The scores were rounded … (to 2 decimals). [scores-rounded]”.
pub(super) fn sentence(slip: &Slip) -> String {
    format!("{} [{}]", slip.sentence(), slip.mistake.id)
}

/// The id of a mistake with its detail: `weights-rounded (to 2 decimals)`.
pub(super) fn id(slip: &Slip) -> String {
    match &slip.detail {
        Some(detail) => format!("{} ({detail})", slip.mistake.id),
        None => slip.mistake.id.to_string(),
    }
}

/// The ids of one explanation: `no-scale`, `no-scale + weights-rounded (to 2 decimals)`.
pub(super) fn ids(named: &NamedMistake) -> String {
    named.slips.iter().map(id).collect::<Vec<_>>().join(" + ")
}

/// The ids of explanations that fit equally.
pub(super) fn alternatives(several: &[NamedMistake]) -> String {
    const MOST: usize = 6;
    let mut ids: Vec<String> = several.iter().take(MOST).map(ids).collect();
    if several.len() > MOST {
        ids.push(format!("{} more", several.len() - MOST));
    }
    one_of(&ids)
}

/// Whether several explanations are the same computation on every input.
pub(super) fn are_same_computation(several: &[NamedMistake]) -> bool {
    // A factor is the number that it is, whatever it was computed from.
    let op = |op: &Op| match op {
        Op::Scale(factor) => Op::Scale(Factor::Number(to_digits(factor.value()))),
        op => op.clone(),
    };
    let steps = |named: &NamedMistake| -> Vec<_> {
        let nodes = named.graph().nodes();
        nodes.map(|(_, node)| (node.name.clone(), op(&node.op), node.inputs.clone())).collect()
    };
    several.len() > 1
        && several.iter().all(|named| named.slips.len() == 1 && steps(named) == steps(&several[0]))
}

/// Twelve digits of a number.
fn to_digits(x: f64) -> f64 {
    format!("{x:.11e}").parse().unwrap_or(x)
}

/// “The correct step: attn demo scale.” None where no demo shows it.
pub(super) fn demos(named: &NamedMistake) -> Option<String> {
    let demos = named.slips.iter().filter_map(|slip| slip.mistake.demo.as_ref());
    let mut commands: Vec<String> = demos.map(|demo| format!("attn demo {demo}")).collect();
    commands.dedup();
    (!commands.is_empty()).then(|| format!("The correct step: {}.", commands.join(", ")))
}

// Addresses and numbers of cells, as sentences and tables write them.

/// The address of the first cell that is wrong.
pub(super) fn first_cell(distance: &Distance, right: &Graph) -> String {
    address(distance, distance.difference.first, right)
}

/// The address of the cell that is furthest off.
pub(super) fn worst_cell(distance: &Distance, right: &Graph) -> String {
    address(distance, distance.difference.at, right)
}

fn address(distance: &Distance, (row, col): (usize, usize), right: &Graph) -> String {
    match right.find(&distance.node) {
        Some(node) => address_of(right, CellId { node, row, col }),
        None => format!("{}[{},{}]", distance.node, row + 1, col + 1),
    }
}

/// A number with at most this many decimals: −0.1234, NaN, −∞.
pub(super) fn number(x: f64, places: usize) -> String {
    match x {
        f64::INFINITY => "∞".into(),
        f64::NEG_INFINITY => "−∞".into(),
        _ if x.is_nan() => "NaN".into(),
        _ => in_sentence(x, places),
    }
}

/// A difference with three digits: 0.00412, 2.1e−16, ∞.
pub(super) fn size(x: f64) -> String {
    let text = match x {
        _ if x.is_infinite() => "∞".to_string(),
        0.0 => "0".into(),
        _ if (1e-4..1e6).contains(&x) => {
            format!("{x:.2e}").parse().map_or(String::new(), |x: f64| x.to_string())
        }
        _ => format!("{x:.1e}"),
    };
    text.replace('-', "−")
}

// The precision of the agreement: with the right numbers, with those of a named mistake, and within the rounding of half precision.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_short_whatever_their_size() {
        for (x, text) in [
            (0.0, "0"),
            (0.004_123_4, "0.00412"),
            (0.5, "0.5"),
            (12.3456, "12.3"),
            (2.1e-16, "2.1e−16"),
            (1e-4, "0.0001"),
            (123_456.0, "123000"),
            (1e9, "1.0e9"),
            (f64::INFINITY, "∞"),
        ] {
            assert_eq!(size(x), text);
        }
    }
}
