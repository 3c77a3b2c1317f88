//! The answer keys, and the options next to them.

use crate::error::Error;
use crate::lesson::faults::{Fault, Faults};
use crate::lesson::key::{Expression, Key, Value};
use crate::lesson::model::{Choice, Lesson, Prose, Question};
use crate::lesson::question::Answer;

use super::context::{CheckContext, sides};
use super::digits::enough;
use super::finding::{Concern, Finding};
use super::options::{about_its_option, shown, shown_alike, worded_alike};
use super::proofs::{conditions_without_letters, one_right_option};

/// Checks every key, and every option against it.
pub(super) fn check(lesson: &Lesson, context: CheckContext<'_>, findings: &mut Vec<Finding>) {
    for question in lesson.questions() {
        let mut faults = Faults::default();
        if let Some(key) = question.key.as_ref().filter(|key| !context.fails(&key.expression)) {
            match question.kind.evaluate(key, context.values) {
                Ok(answer) => against(question, key, &answer, context, &mut faults),
                Err(error) => faults.push(in_key(question, error)),
            }
        }
        unheard(question, &mut faults);
        conditions_without_letters(question, &mut faults);
        findings.extend(faults.0.into_iter().map(|fault| Finding::new(Concern::Structure, fault)));
        if let Some(number) = question.number_that_prevents_drawing(lesson) {
            let what = format!("`{}` cannot be drawn again: `{number}` in it is not computed", question.id);
            let help = format!("check it: {number}<!-- = RUN:CELL -->; or leave the number out");
            findings.push(Finding::new(Concern::Remark, Fault::new(question.line, what).help(help)));
        }
    }
}

fn in_key(question: &Question, error: Error) -> Fault {
    let mut fault = Fault::of(question.key_line, error);
    fault.what = format!("the key of `{}`: {}", question.id, fault.what);
    fault
}

fn against(question: &Question, key: &Key, answer: &Answer, context: CheckContext<'_>, faults: &mut Faults) {
    if let Some(letter) = answer.value.letter() {
        return by_letter(question, key, letter, answer.holds, context, faults);
    }
    if let (true, Value::Order(order)) = (question.kind.options_are_columns(), &answer.value) {
        listed_in_order(question, &order.columns(), faults);
    }
    if let Some(number) = answer.untypable_number() {
        let what = format!("the answer of `{}` has too many digits to type: {number}", question.id);
        faults.add(question.key_line, what, "give the key a tolerance: … ± 0.005");
        return;
    }
    foreseen(question, answer, context, faults);
    enough(question, key, answer, context, faults);
}

/// A question whose options are chosen by their letters: one of them is right, and proven to be the only one.
fn by_letter(
    question: &Question,
    key: &Key,
    letter: char,
    holds: bool,
    context: CheckContext<'_>,
    faults: &mut Faults,
) {
    if !question.choices.iter().any(|choice| choice.letter == letter) {
        let letters: Vec<String> = question.choices.iter().map(|choice| choice.letter.to_string()).collect();
        let what = format!("the key of `{}` names option {letter}, which does not exist", question.id);
        faults.add(question.key_line, what, format!("the options are {}", letters.join(", ")));
    } else if !holds {
        faults.push(false_key(question, key, context));
    }
    worded_alike(question, faults);
    one_right_option(question, letter, holds, context, faults);
    let shown = shown(question, context, faults);
    shown_alike(&shown, letter, faults);
    about_its_option(question, key, letter, &shown, context, faults);
}

/// The key of a `choice` whose condition does not hold.
fn false_key(question: &Question, key: &Key, context: CheckContext<'_>) -> Fault {
    let condition = &key.expression;
    let because = match condition {
        Expression::Compare(left, _, right) => sides(left, right, context).unwrap_or_default(),
        _ => String::new(),
    };
    Fault::new(question.key_line, format!("the key of `{}` is false{because}", question.id)).help(format!(
        "`{condition}` must be true: check whether another option is right, or whether you meant another command"
    ))
}

/// Wrong answers foreseen that would pass for the right one, or for each other.
fn foreseen(question: &Question, answer: &Answer, context: CheckContext<'_>, faults: &mut Faults) {
    let mut seen: Vec<(char, Answer)> = Vec::new();
    for choice in &question.choices {
        let Some(expression) = choice.computed.as_ref().filter(|expression| !context.fails(expression))
        else {
            continue;
        };
        let value = match expression.evaluate(context.values) {
            Ok(value) => value,
            Err(error) => {
                faults.push(Fault::of(choice.line, error));
                continue;
            }
        };
        let letter = choice.letter;
        let Some(as_right) = answer.with_value(&value) else {
            let what = format!("option {letter}, `{expression}`, is {}, but the key is not", value.kind());
            faults.add(choice.line, what, "compute it like the key, but from another run");
            continue;
        };
        if answer.accepts(&value) {
            let what = format!("option {letter} ({value}) would count as the right answer, {answer}");
            let help = match answer.value {
                Value::Number(_) => "give the key a smaller tolerance, or use another mistake",
                _ => "use another mistake",
            };
            faults.add(choice.line, what, help);
        } else if let Some((other, _)) = seen.iter().find(|(_, other)| other.accepts(&value)) {
            let what = format!("option {letter} ({value}) would count as option {other}");
            faults.add(choice.line, what, "remove one of them, or use another mistake");
        }
        seen.push((letter, as_right));
    }
}

/// Options that list columns name these in their own order, in whatever words.
fn listed_in_order(question: &Question, columns: &[String], faults: &mut Faults) {
    let listed: Vec<(&Choice, &Prose)> = question.offered().collect();
    let Some((first, _)) = listed.first() else { return };
    let columns_of: Vec<Vec<String>> = columns.iter().map(|column| words(column)).collect();
    let is_own = |(at, (_, text)): (usize, &(&Choice, &Prose))| {
        let text = words(&text.markdown);
        let shared = |column: &Vec<String>| column.iter().filter(|word| text.contains(word)).count();
        columns_of.iter().map(shared).max() == columns_of.get(at).map(shared).filter(|&own| own > 0)
    };
    if listed.len() != columns.len() || !listed.iter().enumerate().all(is_own) {
        let what = format!("the options of `{}` are not the columns of its row", question.id);
        faults.add(first.line, what, format!("list them in this order: {}", columns.join(", ")));
    }
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Feedback that is never shown, because its answer cannot be given.
fn unheard(question: &Question, faults: &mut Faults) {
    for choice in &question.choices {
        let reachable =
            choice.computed.is_some() || (question.kind.is_chosen_by_letter() && choice.text.is_some());
        if choice.feedback.is_some() && !reachable {
            let letter = choice.letter;
            let what = format!("`if {letter}` is never shown: nothing computes the answer {letter}");
            faults.add(choice.line, what, format!("write <!-- opt {letter}: … --> next to it"));
        }
    }
}
