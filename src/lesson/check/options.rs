//! The options of a question, compared with each other and with the key.

use crate::lesson::faults::Faults;
use crate::lesson::key::{Expression, Key, WrittenNumber, numbers_in};
use crate::lesson::model::{Choice, Question};

use super::context::CheckContext;

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
pub(super) fn shown<'a>(
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
    let of = match &key.expression {
        Expression::Compare(left, ..) => left,
        whole => whole,
    };
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
