//! Writes pages to standard output, and warnings and notes to standard error.

use colored::Colorize;

use super::env::Env;
use super::listing;
use super::streams::Streams;
use crate::error::Result;
use crate::foreign::visible_lines;
use crate::graph::Graph;
use crate::render::{self, Page, Style};
use crate::text::abridged;

/// Writes pages, and their warnings to standard error.
pub(super) fn pages(pages: &[Page], command: &str, style: &Style, streams: &mut Streams<'_>) -> Result<()> {
    render::stories(pages, command, style, streams.out)?;
    let for_people = style.format.is_for_people();
    for page in pages {
        let remarks = if for_people && page.headed { &[] } else { &page.story.remarks[..] };
        warnings(&page.story.graph, remarks, style, streams);
    }
    Ok(())
}

/// Writes pages as [`pages`] does; on a terminal that has fewer rows, tables for people are paged. Returns the exit code.
pub(super) fn paged(
    pages: &[Page],
    command: &str,
    style: &Style,
    env: &Env,
    streams: &mut Streams<'_>,
) -> Result<u8> {
    listing::paged_text(style.format, env, streams, |streams| self::pages(pages, command, style, streams))
}

/// Writes the warnings of a graph, and remarks that are not part of the output, to standard error.
pub(super) fn warnings(graph: &Graph, remarks: &[String], style: &Style, streams: &mut Streams<'_>) {
    for warning in graph.warnings() {
        message("warning", warning, style, streams);
    }
    for remark in remarks {
        message("note", remark, style, streams);
    }
}

/// The maximum width of sentences on standard error.
const MOST_COLUMNS: usize = 100;

/// Writes a note to standard error.
pub(super) fn note(text: &str, style: &Style, streams: &mut Streams<'_>) {
    message("note", text, style, streams);
}

/// Writes a warning or a note to standard error. An error of writing there is ignored: it is no reason to stop.
fn message(kind: &str, text: &str, style: &Style, streams: &mut Streams<'_>) {
    let (first, rest) = (format!("{kind}: "), " ".repeat(kind.len() + 2));
    let lines = textwrap::Options::new(style.width.clamp(20, MOST_COLUMNS))
        .initial_indent(&first)
        .subsequent_indent(&rest)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let _ = writeln!(
        streams.err,
        "{}",
        textwrap::fill(&style.charset.spelled(&abridged(&visible_lines(text))), lines)
    );
}

/// Writes a dimmed note about this machine to standard error; standard output is the same on every machine.
pub(super) fn machine_note(text: &str, style: &Style, env: &Env, streams: &mut Streams<'_>) {
    let text = style.charset.spelled(text);
    let text = if env.colour_err { text.dimmed().to_string() } else { text.into_owned() };
    let _ = writeln!(streams.err, "{text}");
}
