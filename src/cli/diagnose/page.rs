//! A diagnosis as a story.

use super::both_ways::both_ways;
use super::{evidence, words};
use crate::diagnose::{Answer, Close, Diagnosis, Judged, Mistake, Named, Slip, Task, Verdict};
use crate::graph;
use crate::story::{Step, StepItem, Story, Table};

/// This many explanations that fit equally are told one by one; the headline names the others.
const MOST_TOLD: usize = 6;

/// The report: verdict, fix and evidence in a few lines, or with `details` everything that was found.
pub(super) fn story(diagnosis: &Diagnosis, task: &Task, answers: &[Answer], details: bool) -> Story {
    match details {
        true => detailed(diagnosis, task, answers),
        false => short(diagnosis, task, answers),
    }
}

/// Verdict, fix, and what speaks for it.
fn short(diagnosis: &Diagnosis, task: &Task, answers: &[Answer]) -> Story {
    let wrong = all_wrong(diagnosis);
    let mut steps = first_lines(diagnosis, task, answers);
    if diagnosis.nodes.len() > 1 {
        steps.push(Step {
            notice: words::forms(&diagnosis.nodes),
            shown: vec![StepItem::Table(nodes(diagnosis, task))],
            ..said("Your steps next to the right ones.".into())
        });
    } else if let Some(forms) = words::forms(&diagnosis.nodes) {
        steps.push(Step { notice: Some(forms), ..Step::default() });
    }
    let title = words::headline(diagnosis, task.right(), answers);
    let mut story = Story::of_steps(&title, task.right().clone(), steps);
    story.notes = notes(diagnosis, answers);
    if diagnosis.is_right() {
        story.notes.extend(cannot_show(diagnosis));
    }
    if wrong.first().is_some_and(|node| !node.mistakes.is_empty()) {
        story.notes.push("--details shows the first wrong cell computed both ways.".into());
    }
    story
}

/// The nodes that are not right, in the order of computing.
fn all_wrong(diagnosis: &Diagnosis) -> Vec<&Judged> {
    diagnosis.nodes.iter().filter(|node| !node.verdict.is_right()).collect()
}

/// What every report begins with: for each node that is wrong a caution where few digits ask for it, the fix, and the cells that
/// tell most.
fn first_lines(diagnosis: &Diagnosis, task: &Task, answers: &[Answer]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (at, node) in all_wrong(diagnosis).into_iter().enumerate() {
        let answer = answers.iter().find(|answer| answer.name == node.name);
        if at > 0 {
            steps.push(further(node, task));
        }
        steps.extend(words::caution(node, answer).map(noticed));
        let fixes = fixes(node, at > 0);
        let has_fix = !fixes.is_empty();
        steps.extend(fixes.into_iter().chain(evidence::clues(node, task)).map(said));
        let proof = Step {
            shown: evidence::cells(node, task.right()).map(StepItem::Table).into_iter().collect(),
            notice: Some(evidence::said(node, answer, task)).filter(|said| !said.is_empty()),
            ..Step::default()
        };
        match steps.last_mut().filter(|last| has_fix || (last.shown.is_empty() && last.notice.is_none())) {
            Some(last) => (last.shown, last.notice) = (proof.shown, proof.notice),
            None => steps.push(proof),
        }
    }
    steps
}

/// What to do about it, a sentence for each mistake; with its name where there are several.
fn fixes(node: &Judged, is_further: bool) -> Vec<String> {
    let told = if words::are_one(&node.mistakes) { 1 } else { MOST_TOLD };
    let told = node.mistakes.iter().take(told);
    let fix = |named: &Named| {
        let several = node.mistakes.len() > 1 || named.slips.len() > 1 || is_further;
        let one = |slip: &Slip| {
            let id = if several { format!(" [{}]", slip.mistake.id) } else { String::new() };
            format!("To fix it{id}: {}", slip.fix())
        };
        named.slips.iter().map(one).collect::<Vec<_>>()
    };
    told.flat_map(fix).collect()
}

/// A step that is a remark.
fn noticed(text: String) -> Step {
    Step { notice: Some(text), ..Step::default() }
}

/// A step that is a sentence.
fn said(text: String) -> Step {
    Step { text, ..Step::default() }
}

/// Right or wrong, what was done, the evidence, and every node that was handed in.
fn detailed(diagnosis: &Diagnosis, task: &Task, answers: &[Answer]) -> Story {
    let mut steps = first_lines(diagnosis, task, answers);
    for (at, node) in all_wrong(diagnosis).into_iter().enumerate() {
        let is_alone = at == 0 && node.mistakes.len() == 1;
        steps.extend(node.mistakes.iter().take(MOST_TOLD).flat_map(|named| explanation(named, is_alone)));
    }
    steps.push(Step {
        text: "Your steps next to the right ones.".into(),
        notice: words::forms(&diagnosis.nodes),
        shown: vec![StepItem::Table(nodes(diagnosis, task))],
        ..Step::default()
    });
    let both = diagnosis.first_wrong().and_then(|wrong| {
        // What is too large to be written out is left out: the mistake is named without it.
        both_ways(task.right(), wrong, wrong.mistakes.first()?).ok()
    });
    let graph = match both {
        Some(both) => {
            steps.extend(both.steps);
            both.graph
        }
        None => task.right().clone(),
    };
    let mut story = Story::of_steps(&words::headline(diagnosis, task.right(), answers), graph, steps);
    story.steps.extend(undetectable(diagnosis));
    story.notes = notes(diagnosis, answers);
    if !diagnosis.is_right() {
        story.notes.extend(cannot_show(diagnosis));
    }
    story
}

/// A node that is wrong by itself, after another that was.
fn further(node: &Judged, task: &Task) -> Step {
    let nothing = match node.mistakes.is_empty() {
        true => " No known mistake gives these numbers.",
        false => "",
    };
    let opening = words::opening(node, task.right());
    Step {
        text: format!("Also, computed from your own earlier steps: {opening}{nothing}"),
        ..Step::default()
    }
}

/// Why it is wrong and its symptom. The headline has said already what was done if there is only one explanation.
fn explanation(named: &Named, is_alone: bool) -> Vec<Step> {
    let one = |slip: &Slip| {
        let mistake = slip.mistake;
        let name = match (is_alone, named.slips.len()) {
            (true, 1) => String::new(),
            (true, _) => format!("[{}] ", mistake.id),
            (false, _) => format!("{} ", words::sentence(slip)),
        };
        said(format!("{name}{} Symptom: {}", mistake.why, lower(mistake.symptom)))
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

/// A line for every node.
fn nodes(diagnosis: &Diagnosis, task: &Task) -> Table {
    let row = |(at, node): (usize, &Judged)| {
        let mut row = vec![node.name.clone(), words::verdict(node, &diagnosis.nodes[..at])];
        row.extend(match &node.verdict {
            Verdict::Right(distance) | Verdict::Wrong(distance) | Verdict::Close(Close { distance, .. }) => {
                let difference = &distance.difference;
                let place = match difference.largest {
                    0.0 => String::new(),
                    _ => words::worst_cell(distance, task.right()),
                };
                let cells = format!("{} of {}", difference.cells, difference.of);
                let [yours, right] = [difference.yours, difference.expected].map(words::number);
                [place, yours, right, words::size(difference.largest), cells]
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

/// What a right answer does not prove.
fn undetectable(diagnosis: &Diagnosis) -> Option<Step> {
    let hidden = &diagnosis.undetectable;
    if !diagnosis.is_right() || hidden.is_empty() {
        return None;
    }
    let row = |mistake: &&'static Mistake| vec![mistake.id.to_string(), mistake.slip.to_string()];
    let table = Table::new(&["mistake", "what it would be"], hidden.iter().map(row));
    Some(Step {
        text: "Some mistakes change nothing on this input. They are neither found nor ruled out.".into(),
        notice: Some("--suggest-input FILE instead of --yours writes an input that shows them.".into()),
        shown: vec![StepItem::Table(table)],
        ..Step::default()
    })
}

fn notes(diagnosis: &Diagnosis, answers: &[Answer]) -> Vec<String> {
    let mut notes = evidence::half_precision(diagnosis, answers);
    if let Some(wrong) = diagnosis.first_wrong() {
        if let Verdict::Close(close) = &wrong.verdict {
            return vec![words::near_enough(close)];
        }
        notes.extend(what_would_help(diagnosis, wrong, answers));
    }
    notes
}

/// What this input says nothing about.
fn cannot_show(diagnosis: &Diagnosis) -> Vec<String> {
    let mut notes = Vec::new();
    let hidden: Vec<&str> = diagnosis.undetectable.iter().map(|mistake| mistake.id).collect();
    if !hidden.is_empty() {
        let it = if hidden.len() == 1 { "it is" } else { "they are" };
        notes.push(format!(
            "On this input {} would change nothing: {it} neither found nor ruled out. --suggest-input FILE instead of --yours \
             writes an input that shows more.",
            words::listed(&hidden)
        ));
    }
    if !diagnosis.too_coarse.is_empty() {
        let ids: Vec<&str> = diagnosis.too_coarse.iter().map(|mistake| mistake.id).collect();
        notes.push(format!("More digits would also show {}.", words::listed(&ids)));
    }
    notes
}

/// What to hand in, so that more can be said.
fn what_would_help(diagnosis: &Diagnosis, wrong: &Judged, answers: &[Answer]) -> Vec<String> {
    let mut notes = Vec::new();
    let whole = answers.iter().any(|answer| answer.name == wrong.name && answer.decimals == Some(0));
    let handed = |step: &str| diagnosis.nodes.iter().any(|node| node.name == step);
    let [scores, weights] = [graph::Stage::Scores, graph::Stage::Weights].map(graph::Stage::name);
    let steps: Vec<&str> = match graph::Step::parse(&wrong.name).map(|step| step.stage) {
        Some(stage) if stage < graph::Stage::Weights => Vec::new(),
        Some(graph::Stage::Weights) => vec![scores],
        _ => vec![scores, weights],
    };
    let missing: Vec<String> =
        steps.into_iter().filter(|step| !handed(step)).map(|step| format!("--yours {step}=FILE")).collect();
    if wrong.mistakes.is_empty() && wrong.resembles.is_none() && whole {
        notes.push("Whole numbers count as exact unless they are large. Hand in some decimals.".into());
    } else if wrong.too_few_digits {
        notes.push("Hand in more digits, or use a larger exercise.".into());
    } else if wrong.mistakes.is_empty() && wrong.resembles.is_none() && !missing.is_empty() {
        notes.push(format!(
            "Hand in the steps before this one too, to see where the error begins: {}.",
            missing.join(" ")
        ));
    }
    if !diagnosis.pairs_tried {
        notes.push("With fewer tokens, pairs of mistakes are tried too.".into());
    }
    if wrong.mistakes.len() > 1 && !words::are_one(&wrong.mistakes) {
        notes.push("--suggest-input FILE instead of --yours writes an input that tells them apart.".into());
    }
    notes
}
