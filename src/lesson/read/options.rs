//! The options of a question: the list that offers them, and the directives that compute them.

use std::ops::Range;

use crate::lesson::faults::{Fault, Faults};
use crate::lesson::key::Expression;
use crate::lesson::model::{Choice, Claim};
use crate::lesson::prose::only_number;

/// The fault of a condition of an option that is no comparison, or compares only numbers.
pub(super) fn no_condition(condition: &Expression, line: usize) -> Option<Fault> {
    let what = match condition {
        Expression::Compare(..) if condition.runs().is_empty() => {
            format!("`{condition}` is typed, not computed: it reads no run")
        }
        Expression::Compare(..) => return None,
        _ => format!("`{condition}` is not a comparison"),
    };
    Some(
        Fault::new(line, what)
            .help("write what would make the option right: opt B iff count(RUN:A[bat], == 0) == 1"),
    )
}

/// The number in an option's text is what the option is computed by.
pub(super) fn claim_its_number(choice: &mut Choice, faults: &mut Faults) {
    let (Some(text), Some(expression)) = (&mut choice.text, &choice.computed) else { return };
    if !text.claims.is_empty() {
        faults.add(
            choice.line,
            format!("option {} is computed twice, in its text and by its `opt`", choice.letter),
            "remove one of them: the `opt` checks the number",
        );
        return;
    }
    match only_number(&text.markdown) {
        Some(at) => text.claims.push(Claim { at, line: choice.line, expression: expression.clone() }),
        None => faults.add(
            choice.line,
            format!("option {} is computed, so it must contain exactly one number", choice.letter),
            "write one number in it, or remove its `opt`",
        ),
    }
}

/// The letter of `- A. none`, and where its text begins.
pub(super) fn option_letter(line: &str) -> Option<(char, usize)> {
    let rest = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?;
    let letter = rest.chars().next().filter(char::is_ascii_uppercase)?;
    rest[1..].strip_prefix(". ").map(|_| (letter, "- A. ".len()))
}

/// The position of the text of each option, and its letter.
pub(super) fn options(text: &str, at: Range<usize>) -> Vec<(Range<usize>, char)> {
    let mut found = Vec::new();
    let mut position = at.start;
    for line in text[at].split_inclusive('\n') {
        if let Some((letter, skipped)) = option_letter(line) {
            // An option may have no text behind its letter.
            let end = line.trim_end().len().max(skipped);
            found.push((position + skipped..position + end, letter));
        }
        position += line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_without_a_text_has_an_empty_one() {
        let text = "- A. none\n- B. \n- C. all\n";
        let found: Vec<(&str, char)> =
            options(text, 0..text.len()).into_iter().map(|(at, letter)| (&text[at], letter)).collect();
        assert_eq!(found, [("none", 'A'), ("", 'B'), ("all", 'C')]);
    }
}
