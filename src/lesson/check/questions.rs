//! The answer keys, and the options next to them.

use crate::error::Error;
use crate::lesson::key::{Expression, Key, Value, WrittenNumber, numbers_in};
use crate::lesson::model::{Block, Choice, Lesson, Prose, Question};
use crate::lesson::question::Answer;
use crate::lesson::run::ShownOperands;
use crate::lesson::show::LessonView;
use crate::lesson::source::{Concern, Fault, Faults};
use crate::render::Screen;
use crate::text::counted;

use super::finding::{CheckContext, sides};

/// Checks every key, and every option against it.
pub(super) fn check(lesson: &Lesson, context: CheckContext<'_>, findings: &mut Faults) {
    for question in lesson.questions() {
        if let Some(key) = question.key.as_ref().filter(|key| !context.fails(&key.expression)) {
            match question.kind.evaluate(key, context.values) {
                Ok(answer) => against(question, key, &answer, context, findings),
                Err(error) => findings.push(in_key(question, error)),
            }
        }
        unheard(question, findings);
        conditions_without_letters(question, findings);
        if let Some(number) = question.number_that_prevents_drawing(lesson) {
            let what = format!("`{}` cannot be drawn again: `{number}` in it is not computed", question.id);
            let help = format!("check it: {number}<!-- = RUN:CELL -->; or leave the number out");
            findings.report(Concern::Remark, question.line, what, help);
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
    if question.kind.is_numbers() {
        return numbers(question, context, faults);
    }
    foreseen(question, answer, context, faults);
    enough(question, key, answer, context, faults);
}

/// A question whose answer is all numbers of a step: they can be judged, and no wrong answer is foreseen.
fn numbers(question: &Question, context: CheckContext<'_>, faults: &mut Faults) {
    let show = LessonView::new(context.lesson, context.values.runner, Screen::plain(80));
    if let Err(error) = show.exercise(question) {
        faults.push(in_key(question, error));
    }
    if let Some(choice) = question.choices.first() {
        let what = format!("`{}` foresees a wrong answer", question.id);
        faults.add(choice.line, what, "remove it: mistakes in numbers are found and explained without it");
    }
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
    let shown = numbered_options(question, context, faults);
    shown_alike(&shown, letter, faults);
    about_its_option(question, key, letter, &shown, context, faults);
}

/// The key of a `choice` whose condition does not hold.
fn false_key(question: &Question, key: &Key, context: CheckContext<'_>) -> Fault {
    let condition = &key.expression;
    let because = sides(condition, context).unwrap_or_default();
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

// Whether a number can be answered from the digits that the question shows.

/// Decimals of a table where `--precision` says nothing else.
const USUAL_DECIMALS: usize = 4;

/// An answer computed from the numbers as the question shows them must be right; and a key that counts on a number of decimals
/// must have them on the screen.
pub(super) fn enough(
    question: &Question,
    key: &Key,
    answer: &Answer,
    context: CheckContext<'_>,
    faults: &mut Faults,
) {
    let Some((run, address)) = key.expression.reference() else { return };
    let (shown, tolerance) = (key.shown, answer.tolerance);
    // A cell that is given, or that is not a sum of products, has nothing to be held against.
    let Ok(cell) = context.values.operands(run, address) else { return };
    let on_screen = decimals_on_screen(question, &cell);
    if let Some(decimals) = shown.filter(|decimals| !on_screen.contains(decimals)) {
        let what = format!(
            "the key of `{}` expects numbers shown at {}, but the question shows none of its operands that way",
            question.id,
            counted(decimals, "decimal")
        );
        let help = format!(
            "its operands are {}: show them with --only and --precision {decimals}",
            cell.operands().join(" and ")
        );
        faults.add(question.key_line, what, help);
        return;
    }
    let Some((decimals, slack)) =
        on_screen.into_iter().filter_map(|decimals| Some((decimals, cell.slack(decimals).ok()?))).next()
    else {
        return;
    };
    if slack > tolerance * (1.0 + 1e-9) {
        let what = format!(
            "`{}` shows its numbers at {}, from which an answer can be off by {slack:.4}, and the key allows {tolerance}",
            question.id,
            counted(decimals, "decimal")
        );
        let help = format!(
            "accept what these digits allow: {expression} ± … from {}",
            counted(decimals, "decimal"),
            expression = key.expression
        );
        faults.add(question.key_line, what, help);
    }
}

/// The decimals at which the question shows operands of a cell: in its tables, and in its text. The fewest first.
fn decimals_on_screen(question: &Question, cell: &ShownOperands) -> Vec<usize> {
    let operands = cell.operands();
    let is_operand = |address: &str| {
        let node = address.split('[').next().unwrap_or_default().trim();
        operands.contains(&node)
    };
    let mut decimals: Vec<usize> = Vec::new();
    for block in &question.asked {
        match block {
            Block::Console(console) => {
                for exchange in &console.exchanges {
                    let command = &exchange.command;
                    if command.value("--only").is_some_and(|only| only.split(',').any(is_operand)) {
                        let precision = command.value("--precision").and_then(|text| text.parse().ok());
                        decimals.push(precision.unwrap_or(USUAL_DECIMALS));
                    }
                }
            }
            Block::Prose(prose) => {
                for claim in &prose.claims {
                    if let Some((_, address)) = claim.expression.reference()
                        && is_operand(address)
                        && let Some(written) = WrittenNumber::parse(&prose.markdown[claim.at.clone()])
                    {
                        decimals.push(written.decimals());
                    }
                }
            }
            _ => {}
        }
    }
    decimals.sort_unstable();
    decimals
}

// The options of a question, compared with each other and with the key.

/// Options that say the same: if one of them is right, so is the other.
pub(super) fn worded_alike(question: &Question, faults: &mut Faults) {
    let words = |choice: &Choice| choice.text.as_ref().map(|text| text.markdown.trim().to_lowercase());
    for (at, choice) in question.choices.iter().enumerate() {
        let first = question.choices[..at].iter().find(|other| words(other) == words(choice));
        if let (Some(first), Some(text), None) = (first, words(choice), &choice.computed) {
            let what = format!("options {} and {} are the same, `{text}`", first.letter, choice.letter);
            faults.add(choice.line, what, "remove one of them, or use another mistake");
        }
    }
}

/// An option with a number: as it is shown, and as it is computed.
pub(super) struct NumberedOption<'a> {
    choice: &'a Choice,
    shown: WrittenNumber,
    value: f64,
}

/// The options with numbers. One whose number is not computed, where others are, is a fault.
pub(super) fn numbered_options<'a>(
    question: &'a Question,
    context: CheckContext<'_>,
    faults: &mut Faults,
) -> Vec<NumberedOption<'a>> {
    let computed = question.choices.iter().any(|choice| choice.computed.is_some());
    let mut offered = Vec::new();
    for choice in &question.choices {
        match (&choice.computed, &choice.text) {
            (Some(expression), Some(text)) => {
                let claim = text.claims.first();
                let shown = claim.and_then(|claim| WrittenNumber::parse(&text.markdown[claim.at.clone()]));
                if let (Some(shown), Ok(value)) = (shown, expression.number(context.values)) {
                    offered.push(NumberedOption { choice, shown, value });
                }
            }
            (None, Some(text))
                if computed && text.claims.is_empty() && !numbers_in(&text.markdown).is_empty() =>
            {
                let what = format!("the number of option {} is not computed, but others are", choice.letter);
                let help = format!("compute it: <!-- opt {}: RUN:CELL -->", choice.letter);
                faults.add(choice.line, what, help);
            }
            _ => {}
        }
    }
    offered
}

/// Options whose numbers are equal at the digits shown.
pub(super) fn shown_alike(offered: &[NumberedOption<'_>], key: char, faults: &mut Faults) {
    for (at, one) in offered.iter().enumerate() {
        let is_alike = |other: &&NumberedOption<'_>| {
            // A wrong option must also differ from the right one at the digits that it shows.
            let passes = (other.choice.letter == key && one.shown.agrees(other.value))
                || (one.choice.letter == key && other.shown.agrees(one.value));
            other.shown.value() == one.shown.value() || passes
        };
        if let Some(other) = offered[..at].iter().find(is_alike) {
            let (first, second) = (other.choice.letter, one.choice.letter);
            let what = format!("options {first} and {second} show the same number, {}", one.shown.text());
            let help = "use another mistake for one of them, or show more digits";
            faults.add(one.choice.line, what, help);
        }
    }
}

/// If options are computed, the condition of the key must begin with the number of the right one: a condition about anything
/// else would allow any letter.
pub(super) fn about_its_option(
    question: &Question,
    key: &Key,
    letter: char,
    offered: &[NumberedOption<'_>],
    context: CheckContext<'_>,
    faults: &mut Faults,
) {
    let Some(right) = offered.iter().find(|one| one.choice.letter == letter) else { return };
    let of = key.expression.sides().map_or_else(|| key.expression.clone(), |[left, _]| left);
    let value = of.number(context.values);
    if value.as_ref().is_ok_and(|&value| right.shown.agrees(value)) {
        return;
    }
    let what = format!(
        "the key of `{}` is {letter}, which shows {}, but its condition is about another number, `{of}`",
        question.id,
        right.shown.text()
    );
    let computed = right.choice.computed.as_ref().map(Expression::to_string).unwrap_or_default();
    faults.add(
        question.key_line,
        what,
        format!("say what makes that option right: {letter} iff {computed} …"),
    );
}

// Proves the letter of a key: its condition holds, and that of no other option does.

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
            let because = sides(condition, context).unwrap_or_default();
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
