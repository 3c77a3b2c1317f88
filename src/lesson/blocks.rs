//! A Markdown text as the blocks on its top level, in order, each with its place in the text.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::foreign::visible;

use super::source::{Fault, Faults, Source};

/// The Markdown that lessons are written in: CommonMark with tables.
pub(super) const OPTIONS: Options = Options::ENABLE_TABLES;

/// Lists and quotations within each other are taken this far.
const DEEPEST: usize = 8;

/// A block on the top level.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PieceKind {
    /// The lines between the `---` of the head.
    Head,
    /// `#`, `##` or `###` and deeper, and its text.
    Heading(usize, String),
    /// A fence: its label, and the byte range of its text.
    Fence(String, Range<usize>),
    /// The text of a `<!-- … -->`.
    Comment(String),
    /// `<details>`
    DetailsBegin,
    /// `<summary>…</summary>`
    Summary(String),
    /// `</details>`
    DetailsEnd,
    /// A list without numbers.
    Bullets,
    /// A paragraph, a numbered list, a table, a quotation, a rule.
    Prose,
}

/// A block and its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    pub kind: PieceKind,
    /// Its bytes in the text.
    pub at: Range<usize>,
    /// Its first line, from 1.
    pub line: usize,
}

/// The blocks of a text, and their faults as Markdown of a lesson.
pub(super) fn pieces(source: &Source, faults: &mut Faults) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let body = end_of_head(&source.text);
    if body > 0 {
        pieces.push(Piece { kind: PieceKind::Head, at: 0..body, line: 1 });
    }
    let within = |at: Range<usize>| body + at.start..body + at.end;
    let events = Parser::new_ext(&source.text[body..], OPTIONS).into_offset_iter();
    let mut events = events.map(|(event, at)| (event, within(at)));
    while let Some((event, at)) = events.next() {
        let line = source.line(at.start);
        let mut add = |kind: PieceKind| pieces.push(Piece { kind, at: at.clone(), line });
        let Event::Start(tag) = event else {
            add(PieceKind::Prose);
            continue;
        };
        let inside = inside(&mut events);
        match tag {
            Tag::Heading { level, .. } => add(PieceKind::Heading(level as usize, plain(&inside))),
            Tag::CodeBlock(CodeBlockKind::Fenced(label)) => match fence(&label, &at, source) {
                Ok(kind) => add(kind),
                Err(fault) => faults.push(fault),
            },
            Tag::CodeBlock(CodeBlockKind::Indented) => faults.add(
                line,
                "this block is indented",
                "put it between ```text and ```, at the start of the line",
            ),
            Tag::HtmlBlock => html(&at, source, &mut pieces, faults),
            tag => {
                if deepest(&inside) > DEEPEST {
                    let help = format!("use at most {DEEPEST} levels");
                    faults.add(line, "lists or quotations are nested too deep", help);
                    continue;
                }
                no_fence_within(&inside, source, faults);
                add(if matches!(tag, Tag::List(None)) { PieceKind::Bullets } else { PieceKind::Prose });
            }
        }
    }
    pieces
}

/// The position after the head, the lines between `---` at the start of the text; 0 without a head.
fn end_of_head(text: &str) -> usize {
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
fn deepest(events: &[(Event<'_>, Range<usize>)]) -> usize {
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
fn inside<'a>(
    events: &mut impl Iterator<Item = (Event<'a>, Range<usize>)>,
) -> Vec<(Event<'a>, Range<usize>)> {
    let mut depth = 1;
    let is_inside = |(event, _): &(Event<'_>, Range<usize>)| {
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
fn plain(events: &[(Event<'_>, Range<usize>)]) -> String {
    let text = |(event, _): &(Event<'_>, _)| match event {
        Event::Text(text) | Event::Code(text) => text.to_string(),
        Event::SoftBreak | Event::HardBreak => " ".to_string(),
        _ => String::new(),
    };
    let words: String = events.iter().map(text).collect();
    // A reference such as `&#27;` has become a character only now.
    visible(&words).into_owned()
}

/// A fence with its label and the range of its text.
///
/// # Errors
/// If it is none of a lesson.
fn fence(label: &str, at: &Range<usize>, source: &Source) -> Result<PieceKind, Fault> {
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
    Ok(PieceKind::Fence(label.trim().to_string(), at.start + body..at.start + last))
}

/// Fences within lists and quotations are neither run nor compared, so they may not be there.
fn no_fence_within(events: &[(Event<'_>, Range<usize>)], source: &Source, faults: &mut Faults) {
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

/// The pieces of a block of HTML: comments, and the tags of a folded answer.
fn html(at: &Range<usize>, source: &Source, pieces: &mut Vec<Piece>, faults: &mut Faults) {
    let mut position = at.start;
    while position < at.end {
        let rest = &source.text[position..at.end];
        let skipped = rest.len() - rest.trim_start().len();
        position += skipped;
        let rest = &rest[skipped..];
        if rest.is_empty() {
            return;
        }
        let line = source.line(position);
        if rest.starts_with("<!--") && !rest.contains("-->") {
            return faults.add(line, "a comment that is never closed", "end it with -->");
        }
        let Some((kind, length)) = mark(rest) else {
            let first = rest.lines().next().unwrap_or_default();
            if !rest.starts_with('<') {
                let what = format!("text directly below HTML: `{first}`");
                return faults.add(line, what, "leave an empty line above it");
            }
            faults.add(line, format!("HTML that a lesson does not support: `{first}`"), "write Markdown; the only HTML is <!-- directives -->, <details>, <summary>…</summary> and </details>, \
                     each alone on its line, with an empty line after it");
            return;
        };
        let end = position + length;
        let alone = source.text[source.start(line)..position].trim().is_empty()
            && source.text[end..].lines().next().is_none_or(|rest| rest.trim().is_empty());
        if !alone {
            faults.add(line, "a directive that is not alone on its line", "give it a line of its own");
        }
        if matches!(&kind, PieceKind::Comment(text) if text.contains("<!--")) {
            faults.add(line, "a comment that is not closed before another begins", "end it with -->");
        }
        pieces.push(Piece { kind, at: position..end, line });
        position = end;
    }
}

/// The first mark of a text, and its length.
fn mark(text: &str) -> Option<(PieceKind, usize)> {
    if let Some(rest) = text.strip_prefix("<!--") {
        let end = rest.find("-->")?;
        return Some((PieceKind::Comment(rest[..end].trim().to_string()), end + "<!---->".len()));
    }
    if let Some(rest) = text.strip_prefix("<summary>") {
        let end = rest.find("</summary>").filter(|&end| !rest[..end].contains('\n'))?;
        return Some((PieceKind::Summary(rest[..end].trim().to_string()), end + "<summary></summary>".len()));
    }
    [("<details>", PieceKind::DetailsBegin), ("</details>", PieceKind::DetailsEnd)]
        .into_iter()
        .find(|(tag, _)| text.starts_with(tag))
        .map(|(tag, kind)| (kind, tag.len()))
}

#[cfg(test)]
mod tests;
