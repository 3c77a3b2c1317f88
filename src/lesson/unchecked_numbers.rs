//! The numbers of a text that nothing computes.

use pulldown_cmark::{Event, Parser};

use super::key::{WrittenNumber, numbers_in};
use super::model::Prose;
use super::pieces::OPTIONS;

/// A number that nothing holds to what the program computes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UncheckedNumber {
    /// The text as written.
    pub text: String,
    /// The lines of the text before it.
    pub lines: usize,
    /// Whether it is in backticks, and may be a name.
    pub in_code: bool,
}

/// The numbers with decimals, or of a hundred, that no claim of a text is about. Whole numbers often belong to names.
pub(super) fn unchecked_numbers(prose: &Prose) -> Vec<UncheckedNumber> {
    let mut found = in_markdown(&prose.markdown);
    found.retain(|(at, _)| !prose.claims.iter().any(|claim| claim.at.contains(at)));
    found.into_iter().map(|(_, loose)| loose).collect()
}

/// The first such number in a text that has no claims, as a hint or a heading.
pub(super) fn first_unchecked_number(markdown: &str) -> Option<String> {
    in_markdown(markdown).into_iter().next().map(|(_, loose)| loose.text)
}

/// The numbers with decimals, or of a hundred, each with the byte that it begins at.
fn in_markdown(markdown: &str) -> Vec<(usize, UncheckedNumber)> {
    let is_computed = |number: &WrittenNumber| number.decimals() > 0 || number.text().ends_with('%');
    let mut found = Vec::new();
    for (event, at) in Parser::new_ext(markdown, OPTIONS).into_offset_iter() {
        let in_code = matches!(event, Event::Code(_));
        if !in_code && !matches!(event, Event::Text(_)) {
            continue;
        }
        for (place, number) in
            numbers_in(&markdown[at.clone()]).into_iter().filter(|(_, number)| is_computed(number))
        {
            let begin = at.start + place.start;
            let lines = markdown[..begin].matches('\n').count();
            found.push((begin, UncheckedNumber { text: number.text().to_string(), lines, in_code }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_nothing_checks_is_found_and_whole_ones_are_left_alone() {
        let markdown = "Step 2 of GPT-3:\n`0.5` becomes **0.99**, or 30% of 4.".to_string();
        let found = unchecked_numbers(&Prose { markdown, line: 7, claims: Vec::new() });
        let found: Vec<_> = found.iter().map(|loose| (loose.lines, &*loose.text, loose.in_code)).collect();
        assert_eq!(found, [(1, "0.5", true), (1, "0.99", false), (1, "30%", false)]);
    }
}
