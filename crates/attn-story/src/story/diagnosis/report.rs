//! The report on one submission.

use super::catalogue::sentences;
use super::evidence::{both_ways, caution, cells, clues, extent_and_match};
use super::mistakes::{
    alternatives, are_same_computation, first_cell, half_precision, near_enough, number, precision, sentence,
    size, worst_cell,
};
use crate::diagnose::{
    Answer, CloseNumbers, Diagnosis, JudgedNode, NamedMistake, Resemblance, Slip, Task, Verdict, cause,
};
use crate::graph::{self, Graph};
use crate::matrix::Matrix;
use crate::story::{Step, StepItem, Story, Table};
use crate::text::{all_of, uncapitalised};

/// The maximum number of equally good explanations with their own sentences; the headline names the others.
const MOST_EXPLAINED: usize = 6;

/// Of the causes of nothing but NaN this many are told.
const LIKELY: usize = 2;

/// Where a report is read, and more can be handed in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Desk {
    /// By options of the command.
    Terminal,
    /// In a box.
    Page,
}

/// The report on one submission as a page shows it: the same words as [`report`], the right numbers apart.
#[derive(Clone, Debug)]
pub struct PageReport {
    /// The first sentence.
    pub headline: String,
    /// What to do, and what speaks for it.
    pub lines: Vec<String>,
    /// Tables that have right numbers.
    pub tables: Vec<Table>,
}

/// As [`report`], for a page.
pub fn page_report(diagnosis: &Diagnosis, task: &Task, answers: &[Answer]) -> PageReport {
    let mut lines = Vec::new();
    let mut tables = Vec::new();
    for step in first_lines(diagnosis, task, answers, Desk::Page) {
        lines
            .extend([step.text, step.notice.unwrap_or_default()].into_iter().filter(|line| !line.is_empty()));
        tables.extend(step.shown.into_iter().filter_map(|item| match item {
            StepItem::Table(table) => Some(table),
            _ => None,
        }));
    }
    lines.extend(forms(&diagnosis.nodes));
    lines.extend(notes(diagnosis, answers, Desk::Page));
    if diagnosis.is_right() {
        lines.extend(cannot_show(diagnosis, task, Desk::Page));
    }
    PageReport { headline: headline(diagnosis, task.right(), answers), lines, tables }
}

/// The report on one submission: verdict, fix and evidence in a few lines.
///
/// `task` is the exercise, and `diagnosis` judges these `answers` to it.
pub fn report(diagnosis: &Diagnosis, task: &Task, answers: &[Answer]) -> Story {
    let wrong = all_wrong(diagnosis);
    let mut steps = first_lines(diagnosis, task, answers, Desk::Terminal);
    if diagnosis.nodes.len() > 1 {
        steps.push(side_by_side(diagnosis, task));
    } else {
        steps.extend(forms(&diagnosis.nodes).map(Step::remark));
    }
    let title = headline(diagnosis, task.right(), answers);
    let mut story = Story::of_steps(&title, task.right().clone(), steps);
    story.notes = notes(diagnosis, answers, Desk::Terminal);
    if diagnosis.is_right() {
        story.notes.extend(cannot_show(diagnosis, task, Desk::Terminal));
    }
    if wrong.first().is_some_and(|node| !node.mistakes.is_empty()) {
        story.notes.push("--details shows the first wrong cell computed both ways.".to_string());
    }
    story
}

/// The report with everything that was found: why each mistake is wrong, every node that was handed in, and the first wrong cell
/// computed both ways.
pub fn detailed_report(diagnosis: &Diagnosis, task: &Task, answers: &[Answer]) -> Story {
    let mut steps = first_lines(diagnosis, task, answers, Desk::Terminal);
    let told = all_wrong(diagnosis).into_iter().enumerate().filter(|(_, node)| !is_nothing_but_nan(node));
    for (at, node) in told {
        let is_alone = at == 0 && node.mistakes.len() == 1;
        steps
            .extend(node.mistakes.iter().take(MOST_EXPLAINED).flat_map(|named| explanation(named, is_alone)));
    }
    steps.push(side_by_side(diagnosis, task));
    let both = diagnosis.first_wrong().and_then(|wrong| {
        // If the computation is too large, the cell is left out; the mistake is named anyway.
        both_ways(task.right(), wrong, wrong.mistakes.first()?).ok()
    });
    let graph = match both {
        Some(both) => {
            steps.extend(both.steps);
            both.graph
        }
        None => task.right().clone(),
    };
    let mut story = Story::of_steps(&headline(diagnosis, task.right(), answers), graph, steps);
    story.steps.extend(undetectable(diagnosis, task));
    story.notes = notes(diagnosis, answers, Desk::Terminal);
    if !diagnosis.is_right() {
        story.notes.extend(cannot_show(diagnosis, task, Desk::Terminal));
    }
    story
}

/// The step with a row for every node.
fn side_by_side(diagnosis: &Diagnosis, task: &Task) -> Step {
    let table = StepItem::Table(nodes(diagnosis, task));
    Step { notice: forms(&diagnosis.nodes), ..Step::new("Your steps next to the right ones.", vec![table]) }
}

/// A step that is a sentence alone.
fn sentence_step(text: String) -> Step {
    Step::new(text, Vec::new())
}

/// The nodes that are not right, in the order of computing.
fn all_wrong(diagnosis: &Diagnosis) -> Vec<&JudgedNode> {
    diagnosis.nodes.iter().filter(|node| !node.verdict.is_right()).collect()
}

/// The beginning of every report: for each wrong node a caution if it has few digits, the fix, and the most telling cells.
fn first_lines(diagnosis: &Diagnosis, task: &Task, answers: &[Answer], desk: Desk) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (at, node) in all_wrong(diagnosis).into_iter().enumerate() {
        let answer = answers.iter().find(|answer| answer.name == node.name);
        if at > 0 {
            steps.push(further(node, task));
        }
        if is_nothing_but_nan(node) {
            steps.extend(nothing_but_nan(node, diagnosis, task, desk).into_iter().map(sentence_step));
            continue;
        }
        steps.extend(caution(node, answer).map(Step::remark));
        let fixes = fixes(node, at > 0);
        let has_fix = !fixes.is_empty();
        steps.extend(fixes.into_iter().chain(clues(node, task)).map(sentence_step));
        let shown = cells(node, task.right()).map(StepItem::Table).into_iter().collect();
        let notice = Some(extent_and_match(node, answer, task)).filter(|said| !said.is_empty());
        match steps.last_mut().filter(|last| has_fix || (last.shown.is_empty() && last.notice.is_none())) {
            Some(last) => (last.shown, last.notice) = (shown, notice),
            None => steps.push(Step { notice, ..Step::new("", shown) }),
        }
    }
    steps
}

/// Whether every cell is NaN, and known mistakes make it so.
fn is_nothing_but_nan(node: &JudgedNode) -> bool {
    !node.mistakes.is_empty() && node.resembles == Some(Resemblance::NotANumber)
}

/// What to do then.
fn nothing_but_nan(node: &JudgedNode, diagnosis: &Diagnosis, task: &Task, desk: Desk) -> Vec<String> {
    let before = missing_steps(&node.name, diagnosis, desk);
    let hand_in = match before.as_str() {
        "" => "Look at the numbers from which it is computed: the".to_string(),
        before => format!("Hand in the steps before it: {before}. The"),
    } + " first NaN among them shows where it begins.";
    let told = |named: &NamedMistake| named.slips.iter().map(sentence).collect::<Vec<_>>().join(" ");
    let all: Vec<String> = node.mistakes.iter().take(LIKELY).map(told).collect();
    let likely = if all.len() == 1 { "The likely cause" } else { "The two likely causes" };
    let named = format!("{likely}: {}", all.join(" "));
    let overflow =
        cause(task, node.resembles.as_ref(), &[]).filter(|cause| cause.starts_with("exp overflowed"));
    [hand_in].into_iter().chain(overflow).chain([named]).collect()
}

/// The fixes: a sentence for each mistake, with its id where there are several.
fn fixes(node: &JudgedNode, is_further: bool) -> Vec<String> {
    let count = if are_same_computation(&node.mistakes) { 1 } else { MOST_EXPLAINED };
    let explanations = node.mistakes.iter().take(count);
    let fix = |named: &NamedMistake| {
        let several = node.mistakes.len() > 1 || named.slips.len() > 1 || is_further;
        let one = |slip: &Slip| {
            let id = if several { format!(" [{}]", slip.mistake.id) } else { String::new() };
            format!("To fix it{id}: {}", slip.fix())
        };
        named.slips.iter().map(one).collect::<Vec<_>>()
    };
    explanations.flat_map(fix).collect()
}

/// The step that introduces a second wrong node, which does not follow from the first.
fn further(node: &JudgedNode, task: &Task) -> Step {
    let nothing = if node.mistakes.is_empty() { " No known mistake gives these numbers." } else { "" };
    let opening = opening(node, task.right());
    sentence_step(format!("Also, computed from your own earlier steps: {opening}{nothing}"))
}

/// Why it is wrong and its symptom. The headline has said already what was done if there is only one explanation.
fn explanation(named: &NamedMistake, is_alone: bool) -> Vec<Step> {
    let one = |slip: &Slip| {
        let mistake = &slip.mistake;
        let name = match (is_alone, named.slips.len()) {
            (true, 1) => String::new(),
            (true, _) => format!("[{}] ", mistake.id),
            (false, _) => format!("{} ", sentence(slip)),
        };
        sentence_step(format!("{name}{} Symptom: {}", mistake.why, uncapitalised(&mistake.symptom)))
    };
    named.slips.iter().map(one).collect()
}

// The first sentence of a report: the wrong node, its first wrong cell, and the mistake.

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
        (false, true) => "No known mistake gives these numbers, and no pair of the common ones does.".into(),
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

// The table of the steps that were handed in.

/// A row for every node.
pub(super) fn nodes(diagnosis: &Diagnosis, task: &Task) -> Table {
    let row = |(at, node): (usize, &JudgedNode)| {
        let mut row = vec![node.name.clone(), verdict(node, &diagnosis.nodes[..at])];
        row.extend(match &node.verdict {
            Verdict::Right(distance)
            | Verdict::Wrong(distance)
            | Verdict::Close(CloseNumbers { distance, .. }) => {
                let difference = &distance.difference;
                let place = match difference.max {
                    0.0 => String::new(),
                    _ => worst_cell(distance, task.right()),
                };
                let cells = format!("{} of {}", difference.cells, difference.of);
                let [yours, right] = [difference.yours, difference.expected].map(|x| number(x, 4));
                [place, yours, right, size(difference.max), cells]
            }
            _ => [const { String::new() }; 5],
        });
        row
    };
    let rows: Vec<Vec<String>> = diagnosis.nodes.iter().enumerate().map(row).collect();
    let measured = rows.iter().any(|row| row[2..].iter().any(|cell| !cell.is_empty()));
    let header = ["node", "verdict", "largest at", "yours", "right", "difference", "cells wrong"];
    let shown = if measured { header.len() } else { 2 };
    let table = Table::new(&header[..shown], rows.into_iter().map(|row| row[..shown].to_vec()));
    table.with_numbers(&["yours", "right", "difference", "cells wrong"])
}

/// The verdict on a node, for a cell of the table.
fn verdict(node: &JudgedNode, before: &[JudgedNode]) -> String {
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
            format!("right, given your own {}", all_of(&if wrong.is_empty() { names(true) } else { wrong }))
        }
        Verdict::Wrong(_) => "wrong".into(),
        Verdict::OtherShape(yours, expected) => format!("{yours} instead of {expected}"),
        Verdict::OtherCount(yours, expected) => other_count(*yours, *expected),
        Verdict::Unjudged => "does not follow from your own numbers".into(),
    }
}

/// The nodes that are right in another form: “S: these are the masked scores, S_masked.”
pub(super) fn forms(nodes: &[JudgedNode]) -> Option<String> {
    let form = |node: &JudgedNode| match &node.verdict {
        Verdict::AnotherForm(form) => Some(format!("{}: {}.", node.name, form.says)),
        _ => None,
    };
    let forms: Vec<String> = nodes.iter().filter_map(form).collect();
    (!forms.is_empty()).then(|| forms.join(" "))
}

// The notes below a report: mistakes that this input cannot show, and suggestions for a better diagnosis.

pub(super) fn notes(diagnosis: &Diagnosis, answers: &[Answer], desk: Desk) -> Vec<String> {
    let mut notes = half_precision(diagnosis, answers);
    if let Some(wrong) = diagnosis.first_wrong() {
        if let Verdict::Close(close) = &wrong.verdict {
            return vec![near_enough(close)];
        }
        notes.extend(what_would_help(diagnosis, wrong, answers, desk));
    }
    notes
}

/// The mistakes that this input, or its number of digits, cannot show.
pub(super) fn cannot_show(diagnosis: &Diagnosis, task: &Task, desk: Desk) -> Vec<String> {
    let mut notes = Vec::new();
    let hidden: Vec<&str> = diagnosis.undetectable.iter().map(|mistake| &*mistake.id).collect();
    if !hidden.is_empty() {
        let it = if hidden.len() == 1 { "it is" } else { "they are" };
        let mut note = format!(
            "On this input {} would change nothing: {it} neither found nor ruled out.",
            all_of(&hidden)
        );
        if desk == Desk::Terminal && can_show_more(diagnosis, task) {
            note += &format!(" {SHOWS_MORE}");
        }
        notes.push(note);
    }
    if !diagnosis.too_coarse.is_empty() {
        let ids: Vec<&str> = diagnosis.too_coarse.iter().map(|mistake| &*mistake.id).collect();
        notes.push(format!("More digits would also show {}.", all_of(&ids)));
    }
    notes
}

/// The mistakes that a right answer does not rule out.
pub(super) fn undetectable(diagnosis: &Diagnosis, task: &Task) -> Option<Step> {
    let hidden = &diagnosis.undetectable;
    if !diagnosis.is_right() || hidden.is_empty() {
        return None;
    }
    let table = sentences("mistake", "what it would be", hidden);
    let text = "Some mistakes change nothing on this input. They are neither found nor ruled out.";
    let notice = can_show_more(diagnosis, task).then(|| SHOWS_MORE.to_string());
    Some(Step { notice, ..Step::new(text, vec![StepItem::Table(table)]) })
}

/// Whether another input can show one of the mistakes that this one hides.
fn can_show_more(diagnosis: &Diagnosis, task: &Task) -> bool {
    // Test inputs are made for the forward pass.
    let is_forward = task.facts().loss.is_none();
    is_forward && diagnosis.undetectable.iter().any(|mistake| !task.never_shows(mistake))
}

/// How a better input is made.
const SHOWS_MORE: &str = "--suggest-input FILE instead of --yours writes an input that may show more.";

/// Suggestions of what to hand in for a better diagnosis.
fn what_would_help(diagnosis: &Diagnosis, wrong: &JudgedNode, answers: &[Answer], desk: Desk) -> Vec<String> {
    let mut notes = Vec::new();
    let whole = answers.iter().any(|answer| answer.name == wrong.name && answer.decimals == Some(0));
    let missing = missing_steps(&wrong.name, diagnosis, desk);
    if wrong.mistakes.is_empty() && wrong.resembles.is_none() && whole {
        notes.push("Whole numbers count as exact unless they are large. Hand in some decimals.".into());
    } else if wrong.too_few_digits {
        notes.push("Hand in more digits, or use a larger exercise.".into());
    } else if wrong.mistakes.is_empty() && wrong.resembles.is_none() && !missing.is_empty() {
        notes.push(format!(
            "Hand in the steps before this one too, to see where the error begins: {missing}."
        ));
    }
    if !diagnosis.pairs_tried {
        notes.push("With fewer tokens, pairs of mistakes are tried too.".into());
    }
    let is_told = wrong.resembles.is_some();
    if wrong.mistakes.len() > 1 && !is_told && !are_same_computation(&wrong.mistakes) {
        let deciding =
            missing_steps_that(&wrong.name, diagnosis, desk, |step| decides(step, &wrong.mistakes));
        let missing = if is_gradient(&wrong.name) { missing } else { deciding };
        if !missing.is_empty() {
            notes.push(format!("The steps before this one may tell them apart: {missing}."));
        } else if desk == Desk::Terminal && !is_gradient(&wrong.name) {
            let other =
                "--suggest-input FILE instead of --yours writes another input, which may tell them apart.";
            notes.push(other.to_string());
        }
    }
    notes
}

/// The steps before a step, but for those that are handed in: “--yours S=FILE --yours A=FILE”, or “S and A” where there are no options.
pub(super) fn missing_steps(name: &str, diagnosis: &Diagnosis, desk: Desk) -> String {
    missing_steps_that(name, diagnosis, desk, |_| true)
}

/// Whether explanations give different numbers in a step of some head.
fn decides(step: &str, several: &[NamedMistake]) -> bool {
    let numbers = |named: &NamedMistake| -> Vec<f64> {
        let of_step = |name: &str| graph::Step::parse(name).is_some_and(|own| own.stage.name() == step);
        let nodes = named.graph().nodes().filter(|(_, node)| of_step(&node.name));
        nodes.filter_map(|(_, node)| node.matrix()).flat_map(Matrix::cells).collect()
    };
    let near =
        |a: f64, b: f64| a == b || (a - b).abs() <= 1e-6 * a.abs().max(1.0) || (a.is_nan() && b.is_nan());
    let first = numbers(&several[0]);
    several[1..]
        .iter()
        .map(numbers)
        .any(|own| own.len() != first.len() || first.iter().zip(&own).any(|(a, b)| !near(*a, *b)))
}

/// Those of the missing steps that a condition holds for.
fn missing_steps_that(name: &str, diagnosis: &Diagnosis, desk: Desk, holds: impl Fn(&str) -> bool) -> String {
    let is_handed = |step: &str| diagnosis.nodes.iter().any(|node| node.name == step);
    let missing = steps_before(name).into_iter().filter(|step| !is_handed(step) && holds(step));
    match desk {
        Desk::Terminal => missing.map(|step| format!("--yours {step}=FILE")).collect::<Vec<_>>().join(" "),
        Desk::Page => all_of(&missing.collect::<Vec<_>>()),
    }
}

/// Whether a step is a gradient: `dQ`.
fn is_gradient(name: &str) -> bool {
    graph::Step::parse(name).is_none() && name.starts_with('d')
}

/// The steps before a step that are worth handing in: scores and weights, or their gradients on the way back.
fn steps_before(name: &str) -> Vec<&'static str> {
    let stage = |name| graph::Step::parse(name).map(|step| step.stage);
    if is_gradient(name) {
        return match stage(&name[1..]) {
            Some(graph::Stage::Role(graph::Role::V | graph::Role::WO)) => Vec::new(),
            Some(stage) if stage >= graph::Stage::Weights => Vec::new(),
            Some(stage) if stage.is_scores() => vec!["dA"],
            _ => vec!["dA", "dS"],
        };
    }
    let [scores, weights] = [graph::Stage::Scores, graph::Stage::Weights].map(graph::Stage::name);
    match stage(name) {
        Some(stage) if stage < graph::Stage::Weights => Vec::new(),
        Some(graph::Stage::Weights) => vec![scores],
        _ => vec![scores, weights],
    }
}
