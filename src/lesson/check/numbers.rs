//! The numbers in the text and in options, computed again.

use pulldown_cmark::{Event, Parser};

use crate::error::counted;
use crate::lesson::faults::Fault;
use crate::lesson::key::{WrittenNumber, numbers_in};
use crate::lesson::model::{Block, Claim, Lesson, Prose};
use crate::lesson::pieces::OPTIONS;

use super::finding::{Concern, Finding};
use super::questions::Known;

/// Checks every number that says what it must be.
pub(super) fn check(lesson: &Lesson, known: Known<'_>, findings: &mut Vec<Finding>) {
    let in_text = lesson.every_block().filter_map(|block| match block {
        Block::Prose(prose) => Some(prose),
        _ => None,
    });
    let choices = lesson.questions().flat_map(|question| &question.choices);
    let mut rotting = Vec::new();
    for prose in in_text.chain(choices.filter_map(|choice| choice.text.as_ref())) {
        findings.extend(prose.claims.iter().filter_map(|claim| number(prose, claim, known)));
        rotting.extend(unchecked(prose));
    }
    if let Some((line, first)) = rotting.first() {
        let what = match rotting.len() {
            1 => format!("`{first}` in the text is checked against nothing"),
            many => format!(
                "{} in the text are checked against nothing, `{first}` the first",
                counted(many, "number")
            ),
        };
        let help = format!("say what it is: {first}<!-- = RUN:CELL -->; between backticks it is a name");
        findings.push(Finding::new(Concern::Remark, Fault::new(*line, what).help(help)));
    }
}

/// The numbers with decimals, or of a hundred, that nothing holds to what the program computes, with their lines. Whole numbers
/// often belong to names.
fn unchecked(prose: &Prose) -> Vec<(usize, String)> {
    let is_computed = |number: &WrittenNumber| number.decimals() > 0 || number.text().ends_with('%');
    let mut found = Vec::new();
    for (event, at) in Parser::new_ext(&prose.markdown, OPTIONS).into_offset_iter() {
        if !matches!(event, Event::Text(_)) {
            continue;
        }
        for (place, number) in numbers_in(&prose.markdown[at.clone()]) {
            let begin = at.start + place.start;
            if is_computed(&number) && !prose.claims.iter().any(|claim| claim.at.contains(&begin)) {
                let line = prose.line + prose.markdown[..begin].matches('\n').count();
                found.push((line, number.text().to_string()));
            }
        }
    }
    found
}

/// What is wrong with one number.
fn number(prose: &Prose, claim: &Claim, known: Known<'_>) -> Option<Finding> {
    let expression = &claim.expression;
    if known.fails(expression) {
        return None;
    }
    let value = match expression.number(known.values) {
        Ok(value) => value,
        Err(error) => return Some(Finding::new(Concern::Structure, Fault::of(claim.line, error))),
    };
    let text = &prose.markdown[claim.at.clone()];
    let fault = match WrittenNumber::parse(text) {
        Some(written) if written.agrees(value) => return None,
        Some(written) => {
            let right = written.refilled(value);
            Fault::new(claim.line, format!("`{text}` in the text, and `{expression}` is {right}"))
                .help(format!("write {right}, and read the sentence again"))
        }
        None => Fault::new(claim.line, format!("`{text}` is no number"))
            .help("write it as 0.30, −1.5, 124,439,808 or 30%"),
    };
    Some(Finding::new(Concern::Text, fault))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_nothing_checks_is_found_and_names_are_left_alone() {
        let markdown = "Step 2 of GPT-3:\n`0.5` becomes **0.99**, or 30% of 4.".to_string();
        let found = unchecked(&Prose { markdown, line: 7, claims: Vec::new() });
        assert_eq!(found, [(8, "0.99".to_string()), (8, "30%".to_string())]);
    }
}
