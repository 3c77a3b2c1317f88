//! Proves the letter of a key: its condition holds, and that of no other option does.

use crate::lesson::faults::{Fault, Faults};
use crate::lesson::key::{Expression, Value};
use crate::lesson::model::{Choice, Question};

use super::context::{CheckContext, sides};

/// The form of a proof, for the help of a fault.
const FORM: &str = "write a condition that would make it right, but is false: <!-- opt B iff count(RUN:A[bat], == 0) == 1 -->";

/// Every option but the right one has to be proven wrong: by a condition that does not hold, or, where the right option
/// shows a computed number, by a computed number that differs from it.
pub(super) fn one_right_option(
    question: &Question,
    letter: char,
    holds: bool,
    context: CheckContext<'_>,
    faults: &mut Faults,
) {
    let has_number =
        question.choices.iter().any(|choice| choice.letter == letter && choice.computed.is_some());
    for choice in &question.choices {
        let other = choice.letter;
        match (&choice.condition, &choice.computed) {
            (Some(_), _) if other == letter => faults.add(
                choice.line,
                format!("option {other} is the right one, but has its own condition"),
                "remove its `opt`: the key has its condition",
            ),
            _ if other == letter => {}
            (Some(condition), _) if context.fails(condition) => {}
            (Some(condition), _) => faults.0.extend(wrong(question, choice, condition, holds, context)),
            (None, Some(_)) if has_number => {}
            (None, _) => {
                let what = format!("nothing proves that option {other} of `{}` is wrong", question.id);
                faults.add(choice.line, what, FORM.replace("opt B", &format!("opt {other}")));
            }
        }
    }
}

/// The fault of a condition of a wrong option.
fn wrong(
    question: &Question,
    choice: &Choice,
    condition: &Expression,
    holds: bool,
    context: CheckContext<'_>,
) -> Option<Fault> {
    let letter = choice.letter;
    match condition.evaluate(context.values) {
        Ok(Value::Truth(false)) => None,
        Ok(_) => {
            let because = match condition {
                Expression::Compare(left, _, right) => sides(left, right, context).unwrap_or_default(),
                _ => String::new(),
            };
            let right = if holds { "right too" } else { "the right one" };
            let what = format!("option {letter} of `{}` is {right}{because}", question.id);
            let help = format!("`{condition}` is true: ask for something else, or correct the condition");
            Some(Fault::new(choice.line, what).help(help))
        }
        Err(error) => Some(Fault::of(choice.line, error)),
    }
}

/// Conditions where there is no letter to be proven.
pub(super) fn conditions_without_letters(question: &Question, faults: &mut Faults) {
    if question.kind.is_chosen_by_letter() {
        return;
    }
    for choice in question.choices.iter().filter(|choice| choice.condition.is_some()) {
        let what = format!("`opt {} iff` in a question of kind {}", choice.letter, question.kind.word());
        let help = "compute the wrong answer: opt A: RUN:A[1,2]; only options of a choice have conditions";
        faults.add(choice.line, what, help);
    }
}
