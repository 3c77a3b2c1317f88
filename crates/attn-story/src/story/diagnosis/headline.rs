//! The first sentence of a report: the wrong node, its first wrong cell, and the mistake.

use super::cells::{first_cell, size};
use super::mistakes::{alternatives, are_same_computation, sentence};
use super::precision::precision;
use crate::diagnose::{Answer, Diagnosis, JudgedNode, Resemblance, Verdict};
use crate::graph::Graph;
use crate::text::all_of;

/// The sentence that stands above the report.
pub(super) fn headline(diagnosis: &Diagnosis, right: &Graph, answers: &[Answer]) -> String {
    let Some(wrong) = diagnosis.first_wrong() else {
        let names: Vec<&str> = diagnosis.nodes.iter().map(|node| node.name.as_str()).collect();
        let another = diagnosis.nodes.iter().any(|node| matches!(node.verdict, Verdict::AnotherForm(_)));
        let is = if names.len() == 1 { "is" } else { "are" };
        let form = if another { ", in another form" } else { "" };
        let exactly = precision(diagnosis, answers);
        let exactly = if exactly.is_empty() { exactly } else { format!(" {exactly}") };
        return format!("{} {is} right{form}{exactly}.", all_of(&names));
    };
    if matches!(wrong.verdict, Verdict::Close(_)) {
        return opening(wrong, right);
    }
    let mistakes = match &wrong.mistakes[..] {
        [] => nothing_fits(diagnosis, wrong),
        [_] if wrong.resembles == Some(Resemblance::NotANumber) => {
            "Every cell is NaN. One known mistake makes it so on this input, but the result cannot tell that it was this one.".into()
        }
        several if wrong.resembles == Some(Resemblance::NotANumber) => format!(
            "Every cell is NaN. {} known mistakes make it so on this input, and the result cannot tell which.",
            number_word(several.len())
        ),
        [only] => match &only.slips[..] {
            [slip] => sentence(slip),
            slips => {
                let slips: Vec<String> = slips.iter().map(sentence).collect();
                format!("Two mistakes together give these numbers: {}", slips.join(" "))
            }
        },
        several if are_same_computation(several) => {
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

/// “O is wrong, from O[1,1] on.”
pub(super) fn opening(wrong: &JudgedNode, right: &Graph) -> String {
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
            let max = size(close.distance.difference.max);
            format!("{name} is close, but not right in half precision: the largest difference is {max}.")
        }
        Verdict::OtherShape(yours, expected) => {
            format!("{name} has the wrong shape: it is {yours}, but it should be {expected}.")
        }
        Verdict::OtherCount(yours, expected) => format!("{name} {}.", other_count(*yours, *expected)),
        _ => format!("{name} does not follow from the steps before it."),
    }
}

/// “is one matrix, but each of 2 heads has its own”.
pub(super) fn other_count(yours: usize, expected: usize) -> String {
    let handed_in = if yours == 1 { "one matrix".to_string() } else { format!("a stack of {yours}") };
    match expected {
        1 => format!("is {handed_in}, but it should be one matrix"),
        _ => format!("is {handed_in}, but each of {expected} heads has its own"),
    }
}

fn nothing_fits(diagnosis: &Diagnosis, wrong: &JudgedNode) -> String {
    if let Some(resembles) = &wrong.resembles {
        return resemblance(resembles);
    }
    match (wrong.too_few_digits, diagnosis.pairs_tried) {
        (true, _) => "Some mistakes give these numbers, but there are too few numbers or digits to tell.".into(),
        (false, true) => "No known mistake gives these numbers, and no pair of known mistakes does.".into(),
        (false, false) => {
            "No known mistake gives these numbers. Pairs of mistakes were not tried, because that would take too long.".into()
        }
    }
}

/// A description of numbers that no mistake explains.
fn resemblance(resembles: &Resemblance) -> String {
    match resembles {
        Resemblance::Zeros => "Every cell is 0, so nothing can be compared.".into(),
        Resemblance::NotANumber => "Every cell is NaN, so nothing can be compared.".into(),
        Resemblance::Node(name) => format!("These are the numbers of {name}."),
        Resemblance::EvenWeights => {
            "Every query attends equally to every visible key, as if all scores were equal.".into()
        }
    }
}

fn number_word(count: usize) -> String {
    const WORDS: [&str; 7] = ["No", "One", "Two", "Three", "Four", "Five", "Six"];
    WORDS.get(count).map_or_else(|| count.to_string(), |word| word.to_string())
}
