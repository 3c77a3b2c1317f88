//! The sentences of a diagnosis.

use crate::diagnose::{Answer, Diagnosis, Distance, Judged, Named, Resemblance, Slip, Verdict};
use crate::error::counted;
use crate::graph::{CellId, Graph, address_of};

/// The one sentence that a student needs.
pub(super) fn headline(diagnosis: &Diagnosis, right: &Graph, answers: &[Answer]) -> String {
    let Some(wrong) = diagnosis.first_wrong() else {
        let names: Vec<&str> = diagnosis.nodes.iter().map(|node| node.name.as_str()).collect();
        let another = diagnosis.nodes.iter().any(|node| matches!(node.verdict, Verdict::AnotherForm(_)));
        let is = if names.len() == 1 { "is" } else { "are" };
        let form = if another { ", in another form" } else { "" };
        return format!("{} {is} right{form}{}.", listed(&names), to_its_digits(diagnosis, answers));
    };
    let mistakes = match &wrong.mistakes[..] {
        [] => nothing_fits(diagnosis, wrong),
        [only] => match &only.slips[..] {
            [slip] => sentence(slip),
            slips => {
                let slips: Vec<String> = slips.iter().map(sentence).collect();
                format!("Two mistakes together give these numbers. {}", slips.join(" "))
            }
        },
        several if are_one(several) => {
            format!(
                "{} [{}, which are the same here]",
                several[0].slips[0].mistake.slip,
                alternatives(several)
            )
        }
        several => format!(
            "{} explanations fit equally, and this input cannot tell them apart: {}.",
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
        Verdict::OtherShape(yours, expected) => {
            format!("{name} has another shape: {yours}, where {expected} belongs.")
        }
        Verdict::OtherCount(yours, expected) => format!("{name} {}.", other_count(*yours, *expected)),
        _ => format!("{name} cannot be reached from what comes before it."),
    }
}

/// “comes as one matrix, where there is one for each of 2 heads”.
fn other_count(yours: usize, expected: usize) -> String {
    let handed_in = if yours == 1 { "one matrix".to_string() } else { format!("a stack of {yours}") };
    match expected {
        1 => format!("comes as {handed_in}, where one matrix belongs"),
        _ => format!("comes as {handed_in}, where each of {expected} heads has its own"),
    }
}

/// “, to the 2 decimals that it carries”, where more digits might say something else.
fn to_its_digits(diagnosis: &Diagnosis, answers: &[Answer]) -> String {
    let rounded = |node: &Judged| match &node.verdict {
        Verdict::Right(distance) if distance.difference.largest > 1e-9 => {
            let answer = answers.iter().find(|answer| answer.name == node.name)?;
            answer.decimals.filter(|&decimals| decimals <= 6)
        }
        _ => None,
    };
    let fewest = diagnosis.nodes.iter().filter_map(rounded).min();
    match fewest {
        Some(0) => ", rounded to whole numbers".into(),
        Some(decimals) => format!(", to {}", counted(decimals, "decimal")),
        None => String::new(),
    }
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
        Resemblance::Zeros => "All of its numbers are 0, which says nothing.".into(),
        Resemblance::NotANumber => "None of its cells is a number, which says nothing.".into(),
        Resemblance::Node(name) => format!("These are the numbers of {name}."),
        Resemblance::EvenWeights => {
            "Every query attends evenly to all that it sees: all scores count as the same.".into()
        }
    }
}

fn nothing_fits(diagnosis: &Diagnosis, wrong: &Judged) -> String {
    if let Some(resembles) = &wrong.resembles {
        return instead(resembles);
    }
    match (wrong.too_few_digits, diagnosis.pairs_tried) {
        (true, _) => "Mistakes were found that give these numbers, but numbers so few or so coarse prove nothing.".into(),
        (false, true) => "No classic mistake, and no pair of them, gives these numbers.".into(),
        (false, false) => {
            "No single classic mistake gives these numbers; pairs of them were not tried, which would take too long.".into()
        }
    }
}

/// What was done, with its detail and its name: “The scores were rounded … (to 2 decimals). [scores-rounded]”.
pub(super) fn sentence(slip: &Slip) -> String {
    let said = slip.mistake.slip;
    let said = match &slip.detail {
        Some(detail) => format!("{} ({detail}).", said.trim_end_matches('.')),
        None => said.to_string(),
    };
    format!("{said} [{}]", slip.mistake.id)
}

/// The ids of one explanation: `no-scale`, `no-scale + weights-rounded (to 2 decimals)`.
pub(super) fn together(named: &Named) -> String {
    let slip = |slip: &Slip| match &slip.detail {
        Some(detail) => format!("{} ({detail})", slip.mistake.id),
        None => slip.mistake.id.to_string(),
    };
    named.slips.iter().map(slip).collect::<Vec<_>>().join(" + ")
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
    let put_in = if named.slips.len() == 1 { "this mistake" } else { "both mistakes" };
    let remains = match named.residual {
        0.0 => "nothing differs any more".to_string(),
        residual => format!("the largest difference that remains is {}", size(residual)),
    };
    let without = match &wrong.verdict {
        Verdict::Wrong(distance) => format!(" (without: {})", size(distance.difference.largest)),
        _ => String::new(),
    };
    let carried = match answer.and_then(|answer| answer.decimals) {
        Some(decimals @ 1..=6) => format!("; your numbers carry {}", counted(decimals, "decimal")),
        _ => String::new(),
    };
    format!("With {put_in} put in, {remains}{without}{carried}.")
}

/// Where to see it.
pub(super) fn demos(named: &Named) -> String {
    let mut demos: Vec<&str> = named.slips.iter().map(|slip| slip.mistake.demo).collect();
    demos.dedup();
    let commands: Vec<String> = demos.iter().map(|demo| format!("attn demo {demo}")).collect();
    format!("To see the step done right: {}.", commands.join(", "))
}

/// What a node is, in a cell of a table.
pub(super) fn verdict(node: &Judged, before: &[Judged]) -> String {
    match &node.verdict {
        Verdict::Right(_) => "right".into(),
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
        Verdict::OtherShape(yours, expected) => format!("{yours}, where {expected} belongs"),
        Verdict::OtherCount(yours, expected) => other_count(*yours, *expected),
        Verdict::Unjudged => "no such step follows from your own numbers".into(),
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
        _ => crate::demo::in_sentence(x, 4),
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
