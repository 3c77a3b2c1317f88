//! The notes below a report: mistakes that this input cannot show, and suggestions for a better diagnosis.

use super::mistakes::are_same_computation;
use super::precision::{half_precision, near_enough};
use crate::diagnose::{Answer, Diagnosis, JudgedNode, Mistake, Task, Verdict};
use crate::graph;
use crate::story::{Step, StepItem, Table};
use crate::text::all_of;

pub(super) fn notes(diagnosis: &Diagnosis, answers: &[Answer]) -> Vec<String> {
    let mut notes = half_precision(diagnosis, answers);
    if let Some(wrong) = diagnosis.first_wrong() {
        if let Verdict::Close(close) = &wrong.verdict {
            return vec![near_enough(close)];
        }
        notes.extend(what_would_help(diagnosis, wrong, answers));
    }
    notes
}

/// The mistakes that this input, or its number of digits, cannot show.
pub(super) fn cannot_show(diagnosis: &Diagnosis, task: &Task) -> Vec<String> {
    let mut notes = Vec::new();
    let hidden: Vec<&str> = diagnosis.undetectable.iter().map(|mistake| mistake.id).collect();
    if !hidden.is_empty() {
        let it = if hidden.len() == 1 { "it is" } else { "they are" };
        let mut note = format!(
            "On this input {} would change nothing: {it} neither found nor ruled out.",
            all_of(&hidden)
        );
        if can_show_more(diagnosis, task) {
            note += &format!(" {} writes an input that may show more.", suggested_input());
        }
        notes.push(note);
    }
    if !diagnosis.too_coarse.is_empty() {
        let ids: Vec<&str> = diagnosis.too_coarse.iter().map(|mistake| mistake.id).collect();
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
    let row = |mistake: &&'static Mistake| vec![mistake.id.to_string(), mistake.slip.to_string()];
    let table = Table::new(&["mistake", "what it would be"], hidden.iter().map(row));
    Some(Step {
        text: "Some mistakes change nothing on this input. They are neither found nor ruled out.".into(),
        notice: can_show_more(diagnosis, task)
            .then(|| format!("{} writes an input that may show more.", suggested_input())),
        shown: vec![StepItem::Table(table)],
        ..Step::default()
    })
}

/// Whether another input can show one of the mistakes that this one hides.
fn can_show_more(diagnosis: &Diagnosis, task: &Task) -> bool {
    // Test inputs are made for the forward pass.
    let is_forward = task.facts().loss.is_none();
    is_forward && diagnosis.undetectable.iter().any(|mistake| !task.never_shows(mistake))
}

/// “--suggest-input FILE instead of --yours”.
fn suggested_input() -> String {
    "--suggest-input FILE instead of --yours".to_string()
}

/// Suggestions of what to hand in for a better diagnosis.
fn what_would_help(diagnosis: &Diagnosis, wrong: &JudgedNode, answers: &[Answer]) -> Vec<String> {
    let mut notes = Vec::new();
    let whole = answers.iter().any(|answer| answer.name == wrong.name && answer.decimals == Some(0));
    let missing = missing_steps(&wrong.name, diagnosis);
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
        if !missing.is_empty() {
            notes.push(format!("The steps before this one may tell them apart: {missing}."));
        } else if !is_gradient(&wrong.name) {
            notes.push(format!("{} writes another input, which may tell them apart.", suggested_input()));
        }
    }
    notes
}

/// The options that hand in the steps before a step, but for those that are handed in: “--yours S=FILE --yours A=FILE”.
pub(super) fn missing_steps(name: &str, diagnosis: &Diagnosis) -> String {
    let is_handed = |step: &str| diagnosis.nodes.iter().any(|node| node.name == step);
    let missing = steps_before(name).into_iter().filter(|step| !is_handed(step));
    missing.map(|step| format!("--yours {step}=FILE")).collect::<Vec<_>>().join(" ")
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
