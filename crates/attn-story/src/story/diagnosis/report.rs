//! The report on one submission.

use super::evidence::{caution, cells, clues, extent_and_match};
use super::first_wrong_cell::both_ways;
use super::headline::{headline, opening};
use super::mistakes::{are_same_computation, sentence};
use super::notes::{cannot_show, missing_steps, notes, undetectable};
use super::table::{forms, nodes};
use crate::diagnose::{Answer, Diagnosis, JudgedNode, NamedMistake, Resemblance, Slip, Task, cause};
use crate::story::{Step, StepItem, Story};
use crate::text::all_of;

/// The maximum number of equally good explanations with their own sentences; the headline names the others.
const MOST_EXPLAINED: usize = 6;

/// The report on one submission: verdict, fix and evidence in a few lines.
///
/// `task` is the exercise, and `diagnosis` judges these `answers` to it.
pub fn report(diagnosis: &Diagnosis, task: &Task, answers: &[Answer]) -> Story {
    let wrong = all_wrong(diagnosis);
    let mut steps = first_lines(diagnosis, task, answers);
    if diagnosis.nodes.len() > 1 {
        steps.push(Step {
            notice: forms(&diagnosis.nodes),
            shown: vec![StepItem::Table(nodes(diagnosis, task))],
            ..sentence_step("Your steps next to the right ones.".into())
        });
    } else if let Some(forms) = forms(&diagnosis.nodes) {
        steps.push(Step { notice: Some(forms), ..Step::default() });
    }
    let title = headline(diagnosis, task.right(), answers);
    let mut story = Story::of_steps(&title, task.right().clone(), steps);
    story.notes = notes(diagnosis, answers);
    if diagnosis.is_right() {
        story.notes.extend(cannot_show(diagnosis, task));
    }
    if wrong.first().is_some_and(|node| !node.mistakes.is_empty()) {
        story.notes.push("--details shows the first wrong cell computed both ways.".to_string());
    }
    story
}

/// The report with everything that was found: why each mistake is wrong, every node that was handed in, and the first wrong cell
/// computed both ways.
pub fn detailed_report(diagnosis: &Diagnosis, task: &Task, answers: &[Answer]) -> Story {
    let mut steps = first_lines(diagnosis, task, answers);
    let told = all_wrong(diagnosis).into_iter().enumerate().filter(|(_, node)| !is_nothing_but_nan(node));
    for (at, node) in told {
        let is_alone = at == 0 && node.mistakes.len() == 1;
        steps
            .extend(node.mistakes.iter().take(MOST_EXPLAINED).flat_map(|named| explanation(named, is_alone)));
    }
    steps.push(Step {
        text: "Your steps next to the right ones.".into(),
        notice: forms(&diagnosis.nodes),
        shown: vec![StepItem::Table(nodes(diagnosis, task))],
        ..Step::default()
    });
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
    story.notes = notes(diagnosis, answers);
    if !diagnosis.is_right() {
        story.notes.extend(cannot_show(diagnosis, task));
    }
    story
}

/// The nodes that are not right, in the order of computing.
fn all_wrong(diagnosis: &Diagnosis) -> Vec<&JudgedNode> {
    diagnosis.nodes.iter().filter(|node| !node.verdict.is_right()).collect()
}

/// The beginning of every report: for each wrong node a caution if it has few digits, the fix, and the most telling cells.
fn first_lines(diagnosis: &Diagnosis, task: &Task, answers: &[Answer]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (at, node) in all_wrong(diagnosis).into_iter().enumerate() {
        let answer = answers.iter().find(|answer| answer.name == node.name);
        if at > 0 {
            steps.push(further(node, task));
        }
        if is_nothing_but_nan(node) {
            steps.extend(nothing_but_nan(node, diagnosis, task).into_iter().map(sentence_step));
            continue;
        }
        steps.extend(caution(node, answer).map(remark));
        let fixes = fixes(node, at > 0);
        let has_fix = !fixes.is_empty();
        steps.extend(fixes.into_iter().chain(clues(node, task)).map(sentence_step));
        let proof = Step {
            shown: cells(node, task.right()).map(StepItem::Table).into_iter().collect(),
            notice: Some(extent_and_match(node, answer, task)).filter(|said| !said.is_empty()),
            ..Step::default()
        };
        match steps.last_mut().filter(|last| has_fix || (last.shown.is_empty() && last.notice.is_none())) {
            Some(last) => (last.shown, last.notice) = (proof.shown, proof.notice),
            None => steps.push(proof),
        }
    }
    steps
}

/// Whether every cell is NaN, and known mistakes make it so.
fn is_nothing_but_nan(node: &JudgedNode) -> bool {
    !node.mistakes.is_empty() && node.resembles == Some(Resemblance::NotANumber)
}

/// What to do then.
fn nothing_but_nan(node: &JudgedNode, diagnosis: &Diagnosis, task: &Task) -> Vec<String> {
    let before = missing_steps(&node.name, diagnosis);
    let hand_in = match before.as_str() {
        "" => {
            "Look at the numbers from which it is computed: the first NaN among them shows where it begins."
                .into()
        }
        before => {
            format!("Hand in the steps before it: {before}. The first NaN among them shows where it begins.")
        }
    };
    let all: Vec<String> = node.mistakes.iter().map(|named| named.ids().join(" + ")).collect();
    let named = format!("What gives nothing but NaN here: {}.", all_of(&all));
    [hand_in].into_iter().chain(cause(task, node.resembles.as_ref(), &[])).chain([named]).collect()
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

/// A step that is a remark.
fn remark(text: String) -> Step {
    Step { notice: Some(text), ..Step::default() }
}

/// A step that is a sentence.
fn sentence_step(text: String) -> Step {
    Step { text, ..Step::default() }
}

/// The step that introduces a second wrong node, which does not follow from the first.
fn further(node: &JudgedNode, task: &Task) -> Step {
    let nothing = if node.mistakes.is_empty() { " No known mistake gives these numbers." } else { "" };
    let opening = opening(node, task.right());
    Step {
        text: format!("Also, computed from your own earlier steps: {opening}{nothing}"),
        ..Step::default()
    }
}

/// Why it is wrong and its symptom. The headline has said already what was done if there is only one explanation.
fn explanation(named: &NamedMistake, is_alone: bool) -> Vec<Step> {
    let one = |slip: &Slip| {
        let mistake = slip.mistake;
        let name = match (is_alone, named.slips.len()) {
            (true, 1) => String::new(),
            (true, _) => format!("[{}] ", mistake.id),
            (false, _) => format!("{} ", sentence(slip)),
        };
        sentence_step(format!("{name}{} Symptom: {}", mistake.why, lower(mistake.symptom)))
    };
    named.slips.iter().map(one).collect()
}

/// The sentence as a continuation; names such as `S` keep their letter.
fn lower(sentence: &str) -> String {
    let mut letters = sentence.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            format!("{}{}", first.to_lowercase(), letters.as_str())
        }
        _ => sentence.to_string(),
    }
}
