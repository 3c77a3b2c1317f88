//! A diagnosis as a story.

use super::both_ways::both_ways;
use super::words;
use crate::demo::{Shown, Step, Story, Table};
use crate::diagnose::{Answer, Diagnosis, Judged, Mistake, Named, Task, Verdict};

/// So many explanations that fit equally are told one by one; the headline names the others.
const MOST_TOLD: usize = 6;

/// Right or wrong, what was done, the evidence, and every node that was handed in.
pub(super) fn story(diagnosis: &Diagnosis, task: &Task, answers: &[Answer]) -> Story {
    let mut steps = Vec::new();
    let wrong: Vec<&Judged> = diagnosis.nodes.iter().filter(|node| !node.verdict.is_right()).collect();
    for (at, node) in wrong.iter().enumerate() {
        let answer = answers.iter().find(|answer| answer.name == node.name);
        let told = node.mistakes.iter().take(MOST_TOLD);
        let is_alone = at == 0 && node.mistakes.len() == 1;
        if at > 0 {
            steps.push(further(node, task));
        }
        for named in told {
            steps.extend(explanation(named, node, answer, is_alone));
        }
    }
    steps.push(Step {
        text: "What was handed in, beside what belongs there.".into(),
        notice: words::forms(&diagnosis.nodes),
        shown: vec![Shown::Table(nodes(diagnosis, task))],
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
    story
}

/// A node that is wrong by itself, after another that was.
fn further(node: &Judged, task: &Task) -> Step {
    let nothing = match node.mistakes.is_empty() {
        true => " No classic mistake gives these numbers.",
        false => "",
    };
    let opening = words::opening(node, task.right());
    Step { text: format!("Also, taking your own numbers before it: {opening}{nothing}"), ..Step::default() }
}

/// Why it is wrong, what it looks like, and what speaks for it. The headline has said already what was done if there is
/// only one explanation.
fn explanation(named: &Named, node: &Judged, answer: Option<&Answer>, is_alone: bool) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for slip in &named.slips {
        let mistake = slip.mistake;
        let said = match (is_alone, named.slips.len()) {
            (true, 1) => String::new(),
            (true, _) => format!("[{}] ", mistake.id),
            (false, _) => format!("{} ", words::sentence(slip)),
        };
        let text = format!("{said}{} What it looks like: {}", mistake.why, lower(mistake.symptom));
        steps.push(Step { text, ..Step::default() });
    }
    if let Some(last) = steps.last_mut() {
        last.notice = Some(format!("{} {}", words::evidence(named, node, answer), words::demos(named)));
    }
    steps
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
            Verdict::Right(distance) | Verdict::Wrong(distance) => {
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
    let header = ["node", "verdict", "furthest off", "yours", "right", "by", "cells wrong"];
    let shown = if measured { header.len() } else { 2 };
    let table = Table::new(&header[..shown], rows.into_iter().map(|row| row[..shown].to_vec()));
    table.with_numbers(&["yours", "right", "by", "cells wrong"])
}

/// What a right answer does not prove.
fn undetectable(diagnosis: &Diagnosis) -> Option<Step> {
    if !diagnosis.is_right() || diagnosis.undetectable.is_empty() {
        return None;
    }
    let row = |mistake: &&'static Mistake| vec![mistake.id.to_string(), mistake.slip.to_string()];
    let table = Table::new(&["mistake", "what it would be"], diagnosis.undetectable.iter().map(row));
    Some(Step {
        text: "On this input some mistakes change nothing in what was handed in. They are neither found nor ruled out.".into(),
        notice: Some("--suggest-input FILE in place of --yours writes an input on which they would show.".into()),
        shown: vec![Shown::Table(table)],
    })
}

fn notes(diagnosis: &Diagnosis, answers: &[Answer]) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(wrong) = diagnosis.first_wrong() {
        notes.extend(what_would_help(diagnosis, wrong, answers));
        if !diagnosis.undetectable.is_empty() {
            let ids: Vec<&str> = diagnosis.undetectable.iter().map(|mistake| mistake.id).collect();
            let it = if ids.len() == 1 { "it is" } else { "they are" };
            notes.push(format!(
                "On this input {} would change nothing: {it} neither blamed nor ruled out.",
                words::listed(&ids)
            ));
        }
    }
    if !diagnosis.too_coarse.is_empty() {
        let ids: Vec<&str> = diagnosis.too_coarse.iter().map(|mistake| mistake.id).collect();
        notes.push(format!("More digits would show {} too; these do not.", words::listed(&ids)));
    }
    notes
}

/// What to hand in, so that more can be said.
fn what_would_help(diagnosis: &Diagnosis, wrong: &Judged, answers: &[Answer]) -> Vec<String> {
    let mut notes = Vec::new();
    let whole = answers.iter().any(|answer| answer.name == wrong.name && answer.decimals == Some(0));
    let handed = |step: &str| diagnosis.nodes.iter().any(|node| node.name == step);
    let steps: Vec<&str> = match wrong.name.as_str() {
        name if name.starts_with(['Q', 'K', 'V', 'S']) => Vec::new(),
        name if name.starts_with('A') => vec!["S"],
        _ => vec!["S", "A"],
    };
    let missing: Vec<String> =
        steps.into_iter().filter(|step| !handed(step)).map(|step| format!("--yours {step}=FILE")).collect();
    if wrong.mistakes.is_empty() && wrong.resembles.is_none() && whole {
        notes.push(
            "Whole numbers are taken as exact, unless they spread widely. Hand in some decimals.".into(),
        );
    } else if wrong.too_few_digits {
        notes.push("Hand in more digits, or a larger exercise.".into());
    } else if wrong.mistakes.is_empty() && wrong.resembles.is_none() && !missing.is_empty() {
        notes.push(format!(
            "Hand in the steps before this one to see where it begins: {}.",
            missing.join(" ")
        ));
    }
    if !diagnosis.pairs_tried {
        notes.push("On a smaller input, with fewer tokens, pairs of mistakes are tried too.".into());
    }
    if wrong.mistakes.len() > 1 && !words::are_one(&wrong.mistakes) {
        notes.push(
            "--suggest-input FILE in place of --yours writes an input that tells mistakes apart.".into(),
        );
    }
    notes
}
