//! Prose, and the numbers in it that are checked.

use std::ops::Range;

use pulldown_cmark::{Event, Parser};

use crate::error::{Error, Result};

use super::blocks::OPTIONS;
use super::key::{Expression, Values, WrittenNumber, numbers_in};
use super::model::{Claim, Prose};
use super::source::{Fault, Faults, Source};

/// The most bytes of a number in the text, and of what decides that it begins there.
const LONGEST_NUMBER: usize = 64;

/// The prose at `at` of a lesson of this version: its Markdown without comments, and its checked numbers
/// `0.30<!-- = RUN:CELL -->`.
pub(super) fn prose(source: &Source, at: Range<usize>, version: u8, faults: &mut Faults) -> Prose {
    let text = &source.text[at.clone()];
    let mut prose = Prose { markdown: String::new(), line: source.line(at.start), claims: Vec::new() };
    let mut taken = 0;
    for (event, comment) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
        let Event::InlineHtml(html) = event else { continue };
        let Some(inside) = html.strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->")) else {
            continue;
        };
        prose.markdown.push_str(&text[taken..comment.start]);
        taken = comment.end;
        let line = source.line(at.start + comment.start);
        match claim(&prose.markdown, inside.trim(), line, version) {
            Ok(claim) => prose.claims.push(claim),
            Err(fault) => faults.push(fault),
        }
    }
    prose.markdown.push_str(&text[taken..]);
    prose.markdown.truncate(prose.markdown.trim_end().len());
    prose
}

impl Prose {
    /// The number of a claim, as it is written.
    pub(super) fn number(&self, claim: &Claim) -> Option<WrittenNumber> {
        WrittenNumber::parse(&self.markdown[claim.at.clone()])
    }

    /// The same text with the current numbers of its claims, each in its own form.
    ///
    /// # Errors
    /// If a text is not a number, or its value cannot be computed.
    pub(super) fn refilled(&self, values: &dyn Values) -> Result<Prose> {
        let mut refilled = Prose { markdown: String::new(), line: self.line, claims: Vec::new() };
        let mut taken = 0;
        for claim in &self.claims {
            let no_number = || Error::new(format!("`{}` is not a number", &self.markdown[claim.at.clone()]));
            let written = self.number(claim).ok_or_else(no_number)?;
            refilled.markdown.push_str(&self.markdown[taken..claim.at.start]);
            taken = claim.at.end;
            let start = refilled.markdown.len();
            refilled.markdown.push_str(&written.refilled(claim.expression.number(values)?));
            refilled.claims.push(Claim { at: start..refilled.markdown.len(), ..claim.clone() });
        }
        refilled.markdown.push_str(&self.markdown[taken..]);
        Ok(refilled)
    }
}

/// The claim of a comment directly after `before`.
fn claim(before: &str, comment: &str, line: usize, version: u8) -> std::result::Result<Claim, Fault> {
    let Some(expression) = comment.strip_prefix('=') else {
        return Err(Fault::new(line, format!("`<!-- {comment} -->` stands inside a line of text"))
            .help("put the directive alone on its line; inside the text write only checked numbers: 0.30<!-- = RUN:CELL -->"));
    };
    // A number has no blank in it and is not long; the text before it may be.
    let mut from = before.len().saturating_sub(LONGEST_NUMBER);
    while !before.is_char_boundary(from) {
        from += 1;
    }
    let (at, _) = WrittenNumber::ending(&before[from..]).ok_or_else(|| {
        Fault::new(line, format!("there is no number directly before `<!-- {comment} -->`"))
            .help("write the number to check before it: 0.30<!-- = RUN:CELL -->")
    })?;
    let expression = expression.trim();
    let expression = Expression::parse(expression, version).map_err(|error| {
        Fault::in_key(line, expression, error).help("write one cell: 0.30<!-- = RUN:A[bat,cave] -->")
    })?;
    Ok(Claim { at: from + at.start..from + at.end, line, expression })
}

/// The one number of an option's text, for the value that the option is computed by.
pub(super) fn only_number(text: &str) -> Option<Range<usize>> {
    match &numbers_in(text)[..] {
        [(at, _)] => Some(at.clone()),
        _ => None,
    }
}

// The numbers of a text that nothing computes.

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

/// The numbers of a text with decimals, or of a hundred, that no claim is about. Whole numbers often belong to names.
pub(super) fn unchecked_numbers<'t>(
    markdown: &'t str,
    claims: &'t [Claim],
) -> impl Iterator<Item = UncheckedNumber> + 't {
    let is_computed = |number: &WrittenNumber| number.decimals() > 0 || number.text().ends_with('%');
    Parser::new_ext(markdown, OPTIONS).into_offset_iter().flat_map(move |(event, at)| {
        let in_code = matches!(event, Event::Code(_));
        let is_text = in_code || matches!(event, Event::Text(_));
        let numbers = if is_text { numbers_in(&markdown[at.clone()]) } else { Vec::new() };
        numbers.into_iter().filter_map(move |(place, number)| {
            let begin = at.start + place.start;
            let is_claimed = claims.iter().any(|claim| claim.at.contains(&begin));
            let lines = markdown[..begin].matches('\n').count();
            let text = number.text().to_string();
            (is_computed(&number) && !is_claimed).then_some(UncheckedNumber { text, lines, in_code })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (Prose, Faults) {
        let mut faults = Faults::default();
        let source = Source::new("x.md", text).unwrap();
        (prose(&source, 0..text.len(), 1, &mut faults), faults)
    }

    #[test]
    fn a_checked_number_is_found_and_its_comment_taken_out() {
        let (prose, faults) =
            of("one\n**−0.30**<!-- = plain:A[1,2] --> and 1,024<!-- = n:part[all,count] -->.\n");
        assert_eq!(faults, Faults::default());
        assert_eq!(prose.markdown, "one\n**−0.30** and 1,024.");
        let numbers: Vec<&str> = prose.claims.iter().map(|claim| &prose.markdown[claim.at.clone()]).collect();
        assert_eq!(numbers, ["−0.30", "1,024"]);
        assert_eq!(prose.claims[0].line, 2);
    }

    #[test]
    fn a_comment_behind_no_number_and_another_directive_in_a_line_are_refused() {
        for (text, words) in [
            ("word<!-- = a:A[1,1] -->\n", "no number directly before"),
            ("text <!-- note: x --> more\n", "inside a line of text"),
        ] {
            let (_, faults) = of(text);
            assert!(faults.0[0].what.contains(words), "{faults:?}");
        }
    }

    #[test]
    fn an_option_has_one_number_or_none_that_is_sure() {
        let of = |text: &'static str| only_number(text).map(|at| &text[at]);
        assert_eq!(of("about 0.52."), Some("0.52"));
        assert_eq!(of("−1.5 %"), Some("−1.5"));
        assert_eq!(of("1 or 2"), None);
        assert_eq!(of("none"), None);
    }

    #[test]
    fn a_number_that_nothing_checks_is_found_and_whole_ones_are_left_alone() {
        let markdown = "Step 2 of GPT-3:\n`0.5` becomes **0.99**, or 30% of 4.";
        let found: Vec<_> = unchecked_numbers(markdown, &[]).collect();
        let found: Vec<_> = found.iter().map(|loose| (loose.lines, &*loose.text, loose.in_code)).collect();
        assert_eq!(found, [(1, "0.5", true), (1, "0.99", false), (1, "30%", false)]);
    }
}
