//! What the Markdown of a lesson consists of: its head, fences, and marks in HTML.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Tag, TagEnd};

use crate::foreign::visible;

use super::source::{Fault, Faults, Source};

/// The Markdown that lessons are written in: CommonMark with tables.
pub(super) const OPTIONS: Options = Options::ENABLE_TABLES;

/// Lists and quotations within each other are taken this far.
pub(super) const DEEPEST: usize = 8;

/// A mark in HTML, alone on its line.
pub(super) enum Mark<'a> {
    /// The text of a `<!-- … -->`.
    Comment(&'a str),
    /// `<details>`
    DetailsBegin,
    /// `<summary>…</summary>`
    Summary,
    /// `</details>`
    DetailsEnd,
}

/// An event of Markdown, and its bytes in the text.
type EventAt<'a> = (Event<'a>, Range<usize>);

/// The position after the head, the lines between `---` at the start of the text; 0 without a head.
pub(super) fn end_of_head(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("---\n") else { return 0 };
    let mut position = text.len() - rest.len();
    for line in rest.split_inclusive('\n') {
        position += line.len();
        if line.trim_end() == "---" {
            return position;
        }
    }
    0
}

/// The nesting depth of the events of a block.
pub(super) fn deepest(events: &[EventAt<'_>]) -> usize {
    let mut depth = 0_usize;
    let depths = events.iter().map(|(event, _)| {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth
    });
    depths.max().unwrap_or(0)
}

/// The events up to the end of the block that has just begun.
pub(super) fn inside<'a>(events: &mut impl Iterator<Item = EventAt<'a>>) -> Vec<EventAt<'a>> {
    let mut depth = 1;
    let is_inside = |(event, _): &EventAt<'_>| {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
        depth > 0
    };
    events.take_while(is_inside).collect()
}

/// The words of a heading without marks.
pub(super) fn plain(events: &[EventAt<'_>]) -> String {
    let text = |(event, _): &EventAt<'_>| match event {
        Event::Text(text) | Event::Code(text) => text.to_string(),
        Event::SoftBreak | Event::HardBreak => " ".to_string(),
        _ => String::new(),
    };
    let words: String = events.iter().map(text).collect();
    // A reference such as `&#27;` has become a character only now.
    visible(&words).into_owned()
}

/// The label of a fence and the range of its text.
///
/// # Errors
/// If it is none of a lesson.
pub(super) fn fence(
    label: &str,
    at: &Range<usize>,
    source: &Source,
) -> Result<(String, Range<usize>), Fault> {
    let line = source.line(at.start);
    let text = &source.text[at.clone()];
    let fault = |what: &str, help: &str| Err(Fault::new(line, what).help(help));
    let mark = text.chars().take_while(|c| *c == '`').count();
    if mark == 0 {
        return fault("a fence of `~`", "write backticks: ```text");
    }
    if at.start != source.start(line) {
        return fault("a fence that is indented", "begin it at the start of the line");
    }
    let close = "close it with ``` at the start of a line";
    let body = text.find('\n').map_or(text.len(), |end| end + 1);
    let trimmed = text.trim_end_matches('\n');
    let last = trimmed.rfind('\n').map_or(0, |newline| newline + 1);
    let closing = trimmed[last..].trim_end();
    if last < body || closing.len() < mark || !closing.chars().all(|c| c == '`') {
        return fault("a fence that is never closed", close);
    }
    // A line of backticks with a label cannot close a fence, so it was meant to begin one.
    let begins =
        |line: &str| line.strip_prefix("```").is_some_and(|label| label.starts_with(char::is_alphabetic));
    if let Some(row) = text[body..last].lines().position(begins).filter(|_| mark == 3) {
        let next = line + 1 + row;
        return fault(&format!("a fence that is not closed before another begins at line {next}"), close);
    }
    if label.trim().is_empty() {
        let help = "write ```console for commands, ```text for anything else";
        return fault("a fence without a label", help);
    }
    Ok((label.trim().to_string(), at.start + body..at.start + last))
}

/// Fences within lists and quotations are neither run nor compared, so they may not be there.
pub(super) fn no_fence_within(events: &[EventAt<'_>], source: &Source, faults: &mut Faults) {
    for (event, at) in events {
        let line = source.line(at.start);
        match event {
            Event::Start(Tag::CodeBlock(_)) => {
                faults.add(line, "a fence within a list or a quotation", "begin it at the start of the line")
            }
            Event::Start(Tag::HtmlBlock) => faults.add(
                line,
                "HTML inside a list or a quotation",
                "put the directive at the start of its own line, after an empty line",
            ),
            Event::InlineHtml(text) if !text.starts_with("<!--") => faults.add(
                line,
                format!("HTML in the text: `{text}`"),
                "a terminal cannot show it: write Markdown, or put it between backticks",
            ),
            _ => {}
        }
    }
}

/// The mark that a text begins with, and its length.
pub(super) fn mark(text: &str) -> Option<(Mark<'_>, usize)> {
    if let Some(rest) = text.strip_prefix("<!--") {
        let end = rest.find("-->")?;
        return Some((Mark::Comment(rest[..end].trim()), end + "<!---->".len()));
    }
    if let Some(rest) = text.strip_prefix("<summary>") {
        let end = rest.find("</summary>").filter(|&end| !rest[..end].contains('\n'))?;
        return Some((Mark::Summary, end + "<summary></summary>".len()));
    }
    [("<details>", Mark::DetailsBegin), ("</details>", Mark::DetailsEnd)]
        .into_iter()
        .find(|(tag, _)| text.starts_with(tag))
        .map(|(tag, mark)| (mark, tag.len()))
}
