//! The numbers in the text and in options, computed again.

use crate::lesson::key::WrittenNumber;
use crate::lesson::model::{Claim, Lesson, Prose};
use crate::lesson::prose::unchecked_numbers;
use crate::lesson::source::Fault;
use crate::text::counted;

use super::finding::{CheckContext, Concern, Finding};

/// Checks every number that has a claim.
pub(super) fn check(lesson: &Lesson, context: CheckContext<'_>, findings: &mut Vec<Finding>) {
    let mut not_checked = Vec::new();
    for prose in lesson.texts() {
        findings.extend(prose.claims.iter().filter_map(|claim| number(prose, claim, context)));
        not_checked.extend(unchecked(prose));
    }
    if let Some((line, first)) = not_checked.first() {
        let what = match not_checked.len() {
            1 => format!("`{first}` in the text is not checked"),
            many => {
                format!("{} in the text are not checked; the first is `{first}`", counted(many, "number"))
            }
        };
        let help =
            format!("check it: {first}<!-- = RUN:CELL -->; or put it between backticks if it is a name");
        findings.push(Finding::new(Concern::Remark, Fault::new(*line, what).help(help)));
    }
}

/// The numbers that are not compared with computed ones, with their lines. Numbers in backticks are names.
fn unchecked(prose: &Prose) -> impl Iterator<Item = (usize, String)> {
    let loose = unchecked_numbers(prose).into_iter().filter(|loose| !loose.in_code);
    loose.map(|loose| (prose.line + loose.lines, loose.text))
}

/// The fault of one number.
fn number(prose: &Prose, claim: &Claim, context: CheckContext<'_>) -> Option<Finding> {
    let expression = &claim.expression;
    if context.fails(expression) {
        return None;
    }
    let value = match expression.number(context.values) {
        Ok(value) => value,
        Err(error) => return Some(Finding::new(Concern::Structure, Fault::of(claim.line, error))),
    };
    let text = &prose.markdown[claim.at.clone()];
    let fault = match WrittenNumber::parse(text) {
        Some(written) if written.agrees(value) => return None,
        Some(written) => {
            let right = written.refilled(value);
            Fault::new(claim.line, format!("the text says `{text}`, but `{expression}` is {right}"))
                .help(format!("write {right}, and check that the sentence is still true"))
        }
        None => Fault::new(claim.line, format!("`{text}` is not a number"))
            .help("write it as 0.30, −1.5, 124,439,808 or 30%"),
    };
    Some(Finding::new(Concern::Text, fault))
}
