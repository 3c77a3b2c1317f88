//! The sentences of a diagnosis.

use crate::diagnose::{
    Answer, Close, Diagnosis, Difference, Distance, Judged, MOST_DECIMALS, Named, Resemblance, Slip, Verdict,
    decimals_of,
};
use crate::graph::{CellId, Graph, address_of};
use crate::text::counted;

/// The one sentence that a student needs.
pub(super) fn headline(diagnosis: &Diagnosis, right: &Graph, answers: &[Answer]) -> String {
    let Some(wrong) = diagnosis.first_wrong() else {
        let names: Vec<&str> = diagnosis.nodes.iter().map(|node| node.name.as_str()).collect();
        let another = diagnosis.nodes.iter().any(|node| matches!(node.verdict, Verdict::AnotherForm(_)));
        let is = if names.len() == 1 { "is" } else { "are" };
        let form = if another { ", in another form" } else { "" };
        let exactly = precision(diagnosis, answers);
        let exactly = if exactly.is_empty() { exactly } else { format!(" {exactly}") };
        return format!("{} {is} right{form}{exactly}.", listed(&names));
    };
    if matches!(wrong.verdict, Verdict::Close(_)) {
        return opening(wrong, right);
    }
    let mistakes = match &wrong.mistakes[..] {
        [] => nothing_fits(diagnosis, wrong),
        [only] => match &only.slips[..] {
            [slip] => sentence(slip),
            slips => {
                let slips: Vec<String> = slips.iter().map(sentence).collect();
                format!("Two mistakes together give these numbers: {}", slips.join(" "))
            }
        },
        several if are_one(several) => {
            format!(
                "{} [{}: on this exercise they are the same]",
                several[0].slips[0].sentence(),
                alternatives(several)
            )
        }
        several => format!(
            "{} explanations fit equally well, and this input cannot tell them apart: {}.",
            number_word(several.len()),
            alternatives(several)
        ),
    };
    format!("{} {mistakes}", opening(wrong, right))
}

/// Which node is wrong, and from where on.
pub(super) fn opening(wrong: &Judged, right: &Graph) -> String {
    let name = &wrong.name;
    match &wrong.verdict {
        Verdict::Wrong(distance) if distance.difference.cells == 1 => {
            format!("{name} is wrong in one cell, {}.", first_cell(distance, right))
        }
        Verdict::Wrong(distance) => {
            let read_as = wrong.read_as.as_ref().map_or(String::new(), |step| format!(", read as {step},"));
            format!("{name}{read_as} is wrong, from {} on.", first_cell(distance, right))
        }
        Verdict::Close(close) => {
            let largest = size(close.distance.difference.largest);
            format!("{name} is close, but not right in half precision: the largest difference is {largest}.")
        }
        Verdict::OtherShape(yours, expected) => {
            format!("{name} has the wrong shape: it is {yours}, but it should be {expected}.")
        }
        Verdict::OtherCount(yours, expected) => format!("{name} {}.", other_count(*yours, *expected)),
        _ => format!("{name} does not follow from the steps before it."),
    }
}

/// “is one matrix, but each of 2 heads has its own”.
fn other_count(yours: usize, expected: usize) -> String {
    let handed_in = if yours == 1 { "one matrix".to_string() } else { format!("a stack of {yours}") };
    match expected {
        1 => format!("is {handed_in}, but it should be one matrix"),
        _ => format!("is {handed_in}, but each of {expected} heads has its own"),
    }
}

/// How exactly it is right, where the numbers are not the same to nine digits: which precision was allowed for, and the largest
/// difference.
pub(super) fn precision(diagnosis: &Diagnosis, answers: &[Answer]) -> String {
    let measured = diagnosis.nodes.iter().filter_map(|node| match &node.verdict {
        Verdict::Right(distance) if distance.difference.largest > 1e-9 => {
            let answer = answers.iter().find(|answer| answer.name == node.name)?;
            Some((node, answer, &distance.difference))
        }
        _ => None,
    });
    let furthest = measured.max_by(|a, b| a.2.largest.total_cmp(&b.2.largest));
    let Some((node, answer, difference)) = furthest else { return String::new() };
    let half = node.half.filter(|_| !difference.rounded_by_hand(answer));
    let how = match (half, difference.right_to(answer)) {
        (Some(half), _) => format!("within half precision ({})", half.name),
        (None, Some(0)) => "to whole numbers".to_string(),
        (None, Some(decimals)) => format!("to {}", counted(decimals, "decimal")),
        (None, None) => format!("within the tolerance of {}", size(difference.allowed)),
    };
    format!("{how}: the largest difference is {}", size(difference.largest))
}

/// How sure a batch is of one file: how far the numbers agree with the right ones, or with what the named mistake gives.
pub(super) fn how_sure(diagnosis: &Diagnosis, answers: &[Answer]) -> String {
    let Some(wrong) = diagnosis.first_wrong() else {
        let measured = diagnosis.nodes.iter().filter_map(|node| match &node.verdict {
            Verdict::Right(distance) => {
                let answer = answers.iter().find(|answer| answer.name == node.name)?;
                Some((distance.difference, answer))
            }
            _ => None,
        });
        let furthest = measured.max_by(|a, b| a.0.largest.total_cmp(&b.0.largest));
        return furthest.map_or(String::new(), |(difference, answer)| match difference.right_to(answer) {
            Some(decimals) if difference.largest > 1e-9 => agreement_to(decimals),
            _ => agreement(difference.largest),
        });
    };
    match &wrong.mistakes[..] {
        [] => String::new(),
        [_] if wrong.may_be_chance => "may be chance".into(),
        [only] => agreement(only.residual),
        several if are_one(several) => agreement(several[0].residual),
        several => format!("one of {}", several.len()),
    }
}

/// To how many decimals numbers agree that differ by at most this.
fn agreement(largest: f64) -> String {
    match decimals_of(largest) {
        Some(decimals) => agreement_to(decimals),
        None => format!("to {}", size(largest)),
    }
}

fn agreement_to(decimals: usize) -> String {
    match decimals {
        MOST_DECIMALS => "to all digits".into(),
        0 => "to integers".into(),
        decimals => format!("to {}", counted(decimals, "decimal")),
    }
}

/// A number of two digits that is not less.
fn rounded_up(x: f64) -> String {
    let text = format!("{:.1e}", x * 1.05);
    text.parse().map_or(text, |x: f64| x.to_string())
}

/// The options that call numbers right which are only close.
pub(super) fn near_enough(close: &Close) -> String {
    let absolute = rounded_up(close.distance.difference.largest);
    format!("If this is near enough for you, give --rtol {} --atol {absolute}.", close.half.unit)
}

/// How much half precision explains where the numbers are only close: “O[2,1]: yours is …”.
pub(super) fn how_close(Close { beyond, half, .. }: &Close, right: &Graph) -> String {
    let Difference { cells, of, yours, expected, allowed, largest, .. } = beyond.difference;
    let are = if cells == 1 { "is" } else { "are" };
    let name = half.name;
    format!(
        "{cells} of {of} cells {are} further off than {name} rounds. In {}, yours is {}, right is {}: the difference is {}, and \
         {name} explains at most {} there.",
        worst_cell(beyond, right),
        number(yours),
        number(expected),
        size(largest),
        size(allowed)
    )
}

/// A word of caution, where a handful of coarse numbers, or NaN alone, may fit by chance.
pub(super) fn caution(wrong: &Judged, answer: Option<&Answer>) -> Option<String> {
    let answer = answer.filter(|_| wrong.may_be_chance)?;
    if answer.matrices.iter().all(|matrix| matrix.cells().all(f64::is_nan)) {
        return Some(
            "Be careful: other mistakes give nothing but NaN too, such as an exp that overflows. To be sure, hand in S and A: \
             the first NaN shows where it begins."
                .into(),
        );
    }
    let cells = answer.matrices.iter().map(|matrix| matrix.rows() * matrix.cols()).sum();
    let digits = match answer.decimals.unwrap_or(0) {
        0 => "no decimals".to_string(),
        decimals => counted(decimals, "decimal"),
    };
    let what = match wrong.mistakes.first().map_or(1, |named| named.slips.len()) {
        1 => "a mistake",
        _ => "two mistakes",
    };
    Some(format!(
        "Be careful: {} with {digits} can fit {what} by chance. To be sure, hand in more digits or use a larger exercise.",
        counted(cells, "number"),
    ))
}

/// Whether several explanations are one and the same computation, whatever the input.
pub(super) fn are_one(several: &[Named]) -> bool {
    let steps = |named: &Named| -> Vec<_> {
        named
            .graph
            .nodes()
            .map(|(_, node)| (node.name.clone(), node.op.clone(), node.inputs.clone()))
            .collect()
    };
    several.len() > 1
        && several.iter().all(|named| named.slips.len() == 1 && steps(named) == steps(&several[0]))
}

/// What the numbers are instead.
fn instead(resembles: &Resemblance) -> String {
    match resembles {
        Resemblance::Zeros => "Every cell is 0, so nothing can be compared.".into(),
        Resemblance::NotANumber => "Every cell is NaN, so nothing can be compared.".into(),
        Resemblance::Node(name) => format!("These are the numbers of {name}."),
        Resemblance::EvenWeights => {
            "Every query attends equally to every visible key, as if all scores were equal.".into()
        }
    }
}

fn nothing_fits(diagnosis: &Diagnosis, wrong: &Judged) -> String {
    if let Some(resembles) = &wrong.resembles {
        return instead(resembles);
    }
    match (wrong.too_few_digits, diagnosis.pairs_tried) {
        (true, _) => "Some mistakes give these numbers, but there are too few numbers or digits to tell.".into(),
        (false, true) => "No known mistake gives these numbers, and no pair of known mistakes does.".into(),
        (false, false) => {
            "No known mistake gives these numbers. Pairs of mistakes were not tried, because that would take too long.".into()
        }
    }
}

/// What was done, with its detail and its name: “The scores were rounded … (to 2 decimals). [scores-rounded]”.
pub(super) fn sentence(slip: &Slip) -> String {
    format!("{} [{}]", slip.sentence(), slip.mistake.id)
}

/// The ids of one explanation: `no-scale`, `no-scale + weights-rounded (to 2 decimals)`.
pub(super) fn together(named: &Named) -> String {
    named.slips.iter().map(id).collect::<Vec<_>>().join(" + ")
}

/// The id of a mistake with its detail: `weights-rounded (to 2 decimals)`.
pub(super) fn id(slip: &Slip) -> String {
    match &slip.detail {
        Some(detail) => format!("{} ({detail})", slip.mistake.id),
        None => slip.mistake.id.to_string(),
    }
}

/// The ids of explanations that fit equally.
pub(super) fn alternatives(several: &[Named]) -> String {
    const MOST: usize = 6;
    let mut ids: Vec<String> = several.iter().take(MOST).map(together).collect();
    if several.len() > MOST {
        ids.push(format!("{} more", several.len() - MOST));
    }
    let last = ids.pop().unwrap_or_default();
    if ids.is_empty() { last } else { format!("{} or {last}", ids.join(", ")) }
}

/// What speaks for an explanation: how little remains with it, and how much without.
pub(super) fn evidence(named: &Named, wrong: &Judged, answer: Option<&Answer>) -> String {
    let same = if named.slips.len() == 1 { "the same mistake" } else { "both mistakes" };
    let remains = match named.residual {
        0.0 => "our result is exactly yours".to_string(),
        residual => format!("our result matches yours to {}", size(residual)),
    };
    let without = match &wrong.verdict {
        Verdict::Wrong(distance) => {
            format!(" (otherwise it differs by {})", size(distance.difference.largest))
        }
        _ => String::new(),
    };
    let carried = match answer.and_then(|answer| answer.decimals) {
        Some(decimals @ 1..=6) => format!(". Your numbers have {}", counted(decimals, "decimal")),
        _ => String::new(),
    };
    format!("If we make {same}, {remains}{without}{carried}.")
}

/// How far off the answer is: “12 of 15 cells are wrong.”
pub(super) fn extent(distance: &Distance) -> String {
    let difference = &distance.difference;
    let are = if difference.cells == 1 { "is" } else { "are" };
    format!("{} of {} {are} wrong.", difference.cells, counted(difference.of, "cell"))
}

/// Where to see it.
pub(super) fn demos(named: &Named) -> String {
    let mut demos: Vec<&str> = named.slips.iter().map(|slip| slip.mistake.demo).collect();
    demos.dedup();
    let commands: Vec<String> = demos.iter().map(|demo| format!("attn demo {demo}")).collect();
    format!("The correct step: {}.", commands.join(", "))
}

/// What a node is, in a cell of a table.
pub(super) fn verdict(node: &Judged, before: &[Judged]) -> String {
    match &node.verdict {
        Verdict::Right(_) => "right".into(),
        Verdict::Close(_) => "close".into(),
        Verdict::AnotherForm(_) => "right in another form".into(),
        Verdict::Follows => {
            let names = |all: bool| -> Vec<&str> {
                let wanted = before.iter().filter(|node| all || !node.verdict.is_right());
                wanted.map(|node| node.name.as_str()).collect()
            };
            let wrong = names(false);
            format!("right, given your own {}", listed(&if wrong.is_empty() { names(true) } else { wrong }))
        }
        Verdict::Wrong(_) => "wrong".into(),
        Verdict::OtherShape(yours, expected) => format!("{yours} instead of {expected}"),
        Verdict::OtherCount(yours, expected) => other_count(*yours, *expected),
        Verdict::Unjudged => "does not follow from your own numbers".into(),
    }
}

/// What was done where a node is right in another form: “S: these are the masked scores, S_masked.”
pub(super) fn forms(nodes: &[Judged]) -> Option<String> {
    let form = |node: &Judged| match &node.verdict {
        Verdict::AnotherForm(form) => Some(format!("{}: {}.", node.name, form.says)),
        _ => None,
    };
    let forms: Vec<String> = nodes.iter().filter_map(form).collect();
    (!forms.is_empty()).then(|| forms.join(" "))
}

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

/// A number with four digits, as a table shows it: −0.1234, NaN, −∞.
pub(super) fn number(x: f64) -> String {
    match x {
        _ if x.is_nan() => "NaN".into(),
        _ if x.is_infinite() => if x > 0.0 { "∞" } else { "−∞" }.into(),
        _ => crate::story::in_sentence(x, 4),
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

/// “S”, “S and A”, “S, A and O”.
pub(super) fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => only.to_string(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn number_word(count: usize) -> String {
    const WORDS: [&str; 7] = ["No", "One", "Two", "Three", "Four", "Five", "Six"];
    WORDS.get(count).map_or_else(|| count.to_string(), |word| word.to_string())
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
