//! The evidence for a diagnosis: cells, distances and clues.

use super::mistakes::{are_same_computation, demos, how_close, ids, number, size};
use crate::diagnose::{
    Answer, Distance, Evidence, HalfPrecision, JudgedNode, NamedMistake, Resemblance, Task, Verdict, cause,
};
use crate::error::Result;
use crate::explain::{Depth, LongSums, explain};
use crate::graph::{
    CellId, Convention, Difference, Graph, GraphPair, NodeId, Term, address_of, formula, side_by_side,
};
use crate::story::{ExplainedCell, Step, StepItem, Table};
use crate::text::counted;

/// Numbers in the table of evidence have at least this many decimals, and at most `MOST`.
const LEAST: usize = 4;
const MOST: usize = 12;

/// The most telling cells: yours, right, and what the mistake gives there. `None` where no cell is compared.
pub(super) fn cells(node: &JudgedNode, right: &Graph) -> Option<Table> {
    if node.evidence.is_empty() || compares_nothing(node) {
        return None;
    }
    let mistake = match &node.mistakes[..] {
        [first, _, ..] if !are_same_computation(&node.mistakes) => {
            format!("with {}", first.ids().join(" + "))
        }
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

/// Numbers with the same number of decimals: as many as the longest of them needs.
fn in_column(numbers: Vec<Option<f64>>, most: usize) -> Vec<String> {
    let needed = |x: &Option<f64>| {
        let text = x.map_or(String::new(), |x| number(x, most));
        text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
    };
    let places = numbers.iter().map(needed).max().unwrap_or(0);
    let one = |x: f64| {
        let rounded = format!("{x:.places$}");
        if !x.is_finite() || x.abs() >= 1e9 {
            number(x, places)
        } else if rounded.trim_matches(['-', '0', '.']).is_empty() {
            format!("{:.places$}", 0.0)
        } else {
            rounded.replace('-', "−")
        }
    };
    numbers.into_iter().map(|x| x.map_or(String::new(), one)).collect()
}

/// Whether no cell is compared, because all are NaN or 0.
fn compares_nothing(node: &JudgedNode) -> bool {
    matches!(node.resembles, Some(Resemblance::NotANumber | Resemblance::Zeros))
}

/// The decimals that show that two numbers differ.
fn telling_places(cell: &Evidence) -> usize {
    let Some(right) = cell.right else { return LEAST };
    (LEAST..MOST).find(|&places| number(cell.yours, places) != number(right, places)).unwrap_or(MOST)
}

/// The distance of the answer, the residual with the mistake, and the demo of the step.
pub(super) fn extent_and_match(node: &JudgedNode, answer: Option<&Answer>, task: &Task) -> String {
    let extent = match &node.verdict {
        Verdict::Wrong(distance) if !compares_nothing(node) => Some(extent(distance)),
        Verdict::Close(close) if !compares_nothing(node) => Some(how_close(close, task.right())),
        _ => None,
    };
    let matches = node.mistakes.first().map(|named| {
        let demos = demos(named).map_or(String::new(), |demos| format!(" {demos}"));
        format!("{}{demos}", match_of(named, node, answer))
    });
    extent.into_iter().chain(matches).collect::<Vec<_>>().join(" ")
}

/// “12 of 15 cells are wrong.”
fn extent(distance: &Distance) -> String {
    let difference = &distance.difference;
    let are = if difference.cells == 1 { "is" } else { "are" };
    format!("{} of {} {are} wrong.", difference.cells, counted(difference.of, "cell"))
}

/// “With this mistake we get your numbers (largest difference 0.004; without it 1.34).”
fn match_of(named: &NamedMistake, wrong: &JudgedNode, answer: Option<&Answer>) -> String {
    let (with, it) = if named.slips.len() == 1 { ("this mistake", "it") } else { ("both mistakes", "them") };
    let without = match &wrong.verdict {
        Verdict::Wrong(distance) => format!("; without {it} {}", size(distance.difference.max)),
        _ => String::new(),
    };
    let carried = match (answer.and_then(HalfPrecision::of), answer.and_then(|answer| answer.decimals)) {
        (Some(half), _) => format!(". Your numbers are stored in {}", half.name),
        (None, Some(decimals @ 1..=6)) => format!(". Your numbers have {}", counted(decimals, "decimal")),
        _ => String::new(),
    };
    let residual = size(named.residual);
    format!("With {with} we get your numbers (largest difference {residual}{without}){carried}.")
}

/// A warning that a few rounded numbers, or NaN alone, may fit by chance.
pub(super) fn caution(wrong: &JudgedNode, answer: Option<&Answer>) -> Option<String> {
    let answer = answer.filter(|_| wrong.may_be_chance)?;
    let all = || answer.matrices.iter().flat_map(|matrix| matrix.cells());
    if all().any(f64::is_nan) {
        let what = if all().all(f64::is_nan) { "nothing but NaN" } else { "NaN in these cells" };
        return Some(format!(
            "Be careful: other mistakes give {what} too, such as an exp that overflows. To be sure, hand in S and A: the first \
             NaN shows where it begins."
        ));
    }
    if !wrong.mistakes.first().is_none_or(NamedMistake::is_sure) {
        let careful = "Be careful: other mistakes may give the same numbers within these digits. To be sure, hand in the \
                       steps before, or use a larger exercise.";
        return Some(careful.into());
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

/// The clues in numbers that no mistake explains, and their usual cause.
pub(super) fn clues(node: &JudgedNode, task: &Task) -> Option<String> {
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
    let sentences: Vec<String> = node.clues.iter().map(|clue| clue.sentence.clone()).chain(cause).collect();
    Some(format!("What stands out: {}", sentences.join(" ")))
}

// The first wrong cell, computed both ways: correctly, and with the mistake.

/// Ends the names of the nodes of the mistaken computation.
const SUFFIX: &str = "_wrong";

/// Both computations in one graph, and the steps in which they differ.
pub(super) struct BothWays {
    /// The right one, and the nodes that differ from it.
    pub graph: Graph,
    /// The first wrong cell, and the first cell that differs where that is another.
    pub steps: Vec<Step>,
}

/// Explains the first cell in which a node differs from what is right.
///
/// # Errors
/// If both computations together are too large to be held, or a cell is made of too many numbers to be written out.
pub(super) fn both_ways(right: &Graph, wrong: &JudgedNode, named: &NamedMistake) -> Result<BothWays> {
    let both = side_by_side(right.clone(), named.graph().clone().without_warnings(), SUFFIX)?;
    let place = match &wrong.verdict {
        Verdict::Wrong(distance) => Some((&distance.node, distance.difference.first)),
        _ => None,
    };
    let row = place.map(|(_, (row, _))| row);
    let first = place.and_then(|(node, at)| Some((differing(&both).find(|pair| pair.name == *node)?, at)));
    let parting =
        differing(&both).next().filter(|pair| first.is_none_or(|(first, _)| first.name != pair.name));
    let mut steps = Vec::new();
    if let Some((pair, at)) = first {
        let address = |node| address_of(&both.graph, CellId { node, row: at.0, col: at.1 });
        let cell = pair.base.map_or(String::new(), address);
        let text = format!("The first wrong cell, {cell}, computed correctly and with the mistake.");
        steps.extend(step(&text, &both, pair, at, named)?);
    }
    if let Some((pair, at)) = parting.and_then(|pair| Some((pair, cell(&both, pair, row)?))) {
        let text = "The first step in which the two computations differ.";
        steps.extend(step(text, &both, pair, at, named)?);
    }
    if let Some(Step { text, .. }) = steps.last_mut() {
        text.push_str(&one_sided(&both));
    }
    Ok(BothWays { graph: both.graph, steps })
}

/// The steps that only one of the two computations has: “Only the correct computation has S_scaled = S · 1/√2.”
fn one_sided(both: &GraphPair) -> String {
    let of = |ids: Vec<NodeId>, who: &str| {
        let formulas: Vec<String> =
            ids.iter().take(2).map(|&id| formula(&both.graph, id, Convention::Rows, false)).collect();
        let all = formulas.join(" and ");
        if all.is_empty() { all } else { format!(" Only the {who} computation has {all}.") }
    };
    let pairs = || both.differences.iter();
    let base = pairs().filter(|pair| pair.other.is_none()).filter_map(|pair| pair.base).collect();
    let other = pairs().filter(|pair| pair.base.is_none()).filter_map(|pair| pair.other).collect();
    format!("{}{}", of(base, "correct"), of(other, "mistaken"))
}

/// The computed steps of both whose numbers differ.
fn differing(both: &GraphPair) -> impl Iterator<Item = &Difference> {
    let is_computed = |id: Option<NodeId>| id.is_some_and(|id| !both.graph[id].op.is_given());
    both.differences
        .iter()
        .filter(move |pair| is_computed(pair.base) && is_computed(pair.other) && pair.change.is_some())
}

/// A cell that differs: the first of this row, or else the one that differs most.
fn cell(both: &GraphPair, pair: &Difference, row: Option<usize>) -> Option<(usize, usize)> {
    let change = both.graph[pair.change?].matrix()?;
    let in_row = row.filter(|&i| i < change.rows());
    let found = in_row.and_then(|i| Some((i, change.row(i).position(|x| x != 0.0)?)));
    found.or_else(|| both.movement(pair).map(|movement| (movement.furthest.row, movement.furthest.col)))
}

fn step(
    text: &str,
    both: &GraphPair,
    pair: &Difference,
    (row, col): (usize, usize),
    named: &NamedMistake,
) -> Result<Option<Step>> {
    let (Some(base), Some(other)) = (pair.base, pair.other) else { return Ok(None) };
    let mut of = Vec::new();
    for (caption, node) in [("right".to_string(), base), (format!("with {}", ids(named)), other)] {
        of.extend(explained(&both.graph, caption, node, row, col)?);
    }
    let shown = vec![StepItem::Explained { of, side_by_side: true }];
    Ok(Some(Step::new(text, shown)))
}

/// The cell that a cell was copied from: one of a head, not of the concatenated heads.
fn computed(graph: &Graph, mut cell: CellId) -> CellId {
    loop {
        cell = match graph.terms(cell) {
            Term::Cell(earlier) => earlier,
            Term::Sum(terms) => match terms[..] {
                [Term::Cell(earlier)] => earlier,
                _ => return cell,
            },
            _ => return cell,
        };
    }
}

fn explained(
    graph: &Graph,
    caption: String,
    node: NodeId,
    row: usize,
    col: usize,
) -> Result<Vec<ExplainedCell>> {
    let cell = computed(graph, CellId { node, row, col });
    let explanations = explain(graph, &[cell], Depth::Levels(1), LongSums::Shortened)?;
    let captioned = |explanation| ExplainedCell { caption: caption.clone(), explanation };
    Ok(explanations.into_iter().map(captioned).collect())
}
