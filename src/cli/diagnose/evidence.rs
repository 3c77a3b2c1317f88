//! What speaks for a diagnosis: cells, how far the answer is off, and what stands out.

use super::words;
use crate::diagnose::{Answer, Clue, Diagnosis, Evidence, Judged, Resemblance, Task, Verdict, cause};
use crate::graph::Graph;
use crate::story::{Table, in_sentence};

/// The cells that tell most: yours, right, and what the mistake gives there. Nothing where no cell tells anything.
pub(super) fn cells(node: &Judged, right: &Graph) -> Option<Table> {
    if node.evidence.is_empty() || is_nothing(node) {
        return None;
    }
    let mistake = match &node.mistakes[..] {
        [first, _, ..] if !words::are_one(&node.mistakes) => format!("with {}", first.ids().join(" + ")),
        [first, ..] if first.slips.len() > 1 => "with both mistakes".into(),
        _ => "with this mistake".into(),
    };
    let has = |is: fn(&Evidence) -> bool| node.evidence.iter().any(is);
    let (has_right, has_mistake) = (has(|cell| cell.right.is_some()), has(|cell| cell.mistaken.is_some()));
    let places = node.evidence.iter().map(telling_places).max().unwrap_or(LEAST);
    let column = |of: fn(&Evidence) -> Option<f64>| in_column(node.evidence.iter().map(of).collect(), places);
    let mut columns =
        vec![node.evidence.iter().map(|cell| cell.address(right)).collect(), column(|cell| Some(cell.yours))];
    columns.extend(has_right.then(|| column(|cell| cell.right)));
    columns.extend(has_mistake.then(|| column(|cell| cell.mistaken)));
    let row = |at: usize| columns.iter().map(|column| column[at].clone()).collect();
    let mut header = vec!["cell", "yours"];
    header.extend(has_right.then_some("right"));
    header.extend(has_mistake.then_some(&*mistake));
    Some(Table::new(&header, (0..node.evidence.len()).map(row)).with_numbers(&header[1..]))
}

/// Numbers with one number of decimals: as many as the longest of them needs.
fn in_column(numbers: Vec<Option<f64>>, most: usize) -> Vec<String> {
    let needed = |x: &Option<f64>| {
        let text = x.map_or(String::new(), |x| number(x, most));
        text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
    };
    let places = numbers.iter().map(needed).max().unwrap_or(0);
    let one = |x: f64| match x.is_finite() && x.abs() < 1e9 {
        true if format!("{x:.places$}").trim_matches(['-', '0', '.']).is_empty() => {
            format!("{:.places$}", 0.0)
        }
        true => format!("{x:.places$}").replace('-', "−"),
        false => number(x, places),
    };
    numbers.into_iter().map(|x| x.map_or(String::new(), one)).collect()
}

/// Whether nothing is compared, because all cells are NaN or 0.
fn is_nothing(node: &Judged) -> bool {
    matches!(node.resembles, Some(Resemblance::NotANumber | Resemblance::Zeros))
}

/// Numbers in the table of evidence have at least so many decimals, and no more than the other.
const LEAST: usize = 4;
const MOST: usize = 12;

/// The decimals that show that two numbers differ.
fn telling_places(cell: &Evidence) -> usize {
    let Some(right) = cell.right else { return LEAST };
    (LEAST..MOST).find(|&places| number(cell.yours, places) != number(right, places)).unwrap_or(MOST)
}

fn number(x: f64, places: usize) -> String {
    match x {
        _ if x.is_nan() => "NaN".into(),
        _ if x.is_infinite() => if x > 0.0 { "∞" } else { "−∞" }.into(),
        _ => in_sentence(x, places),
    }
}

/// How far off it is, and what remains with the mistake; the demo of the step.
pub(super) fn said(node: &Judged, answer: Option<&Answer>, task: &Task) -> String {
    let extent = match &node.verdict {
        _ if is_nothing(node) => None,
        Verdict::Wrong(distance) => Some(words::extent(distance)),
        Verdict::Close(close) => Some(words::how_close(close, task.right())),
        _ => None,
    };
    let named = node.mistakes.first();
    let matches =
        named.map(|named| format!("{} {}", words::evidence(named, node, answer), words::demos(named)));
    extent.into_iter().chain(matches).collect::<Vec<_>>().join(" ")
}

/// What stands out in numbers that no mistake explains, and what usually makes it; `None` where nothing does.
pub(super) fn clues(node: &Judged, task: &Task) -> Option<String> {
    let cause = cause(task, node.resembles.as_ref(), &node.clues);
    if !node.mistakes.is_empty() {
        return None;
    }
    if node.resembles == Some(Resemblance::NotANumber) {
        return cause.map(|cause| format!("To fix it: {cause}"));
    }
    if node.clues.is_empty() || node.resembles == Some(Resemblance::Zeros) {
        return None;
    }
    let told: Vec<String> = node.clues.iter().map(Clue::sentence).chain(cause).collect();
    Some(format!("What stands out: {}", told.join(" ")))
}

/// What is to be said of an answer in half precision that is right.
pub(super) fn half_precision(diagnosis: &Diagnosis, answers: &[Answer]) -> Vec<String> {
    let told = diagnosis.nodes.iter().filter_map(|node| {
        let half = node.half?;
        let answer = answers.iter().find(|answer| answer.name == node.name)?;
        let digits = if half.unit < 1e-3 { "three" } else { "two" };
        Some(match answer.roundoff == half.unit {
            true => format!("{} is stored in {}, which keeps about {digits} digits.", node.name, half.name),
            false => format!(
                "Every number in {} is a {} number, so it was computed or stored in {}, which keeps about {digits} digits.",
                node.name, half.name, half.name
            ),
        })
    });
    told.collect()
}
