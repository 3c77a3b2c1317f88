//! Lists of names, each with one line of words: demos, terms, examples, and what a search finds.

use crate::text::ScreenWidth;
use colored::Colorize;

use super::output::{FormatArg, LookArgs, TablesArgs};
use super::{Env, Streams};
use crate::error::{EXIT_DONE, Result};
use crate::render::{Format, Style};
use crate::story::Table;
use crate::terminal;

/// Names and their lines under a heading.
pub(super) struct Group {
    /// The heading.
    pub title: String,
    /// The headers of the two columns of a table.
    pub head: [&'static str; 2],
    /// Each name with its line.
    pub rows: Vec<(String, String)>,
}

/// The groups as plain lines on a screen, paged on a terminal that is too small, and as tables in every other format. `closing`
/// is what people read below them.
pub(super) fn write(
    groups: &[Group],
    closing: &str,
    command: &str,
    look: &LookArgs,
    env: &Env,
    streams: &mut Streams<'_>,
) -> Result<u8> {
    if look.format != FormatArg::Table {
        let table = |group: &Group| {
            let rows = group.rows.iter().map(|(name, line)| vec![name.clone(), line.clone()]);
            (group.title.clone(), Table::new(&group.head, rows))
        };
        look.tables(command, &groups.iter().map(table).collect::<Vec<_>>(), env, streams)?;
        return Ok(EXIT_DONE);
    }
    let style = look.style(env);
    let mut text = lines(groups, &style);
    if !closing.is_empty() {
        text.push_str(&format!("\n{}\n", wrapped(&style.charset.spelled(closing), "", style.width)));
    }
    show(&text, &style, env, streams)
}

/// Writes a text; on a terminal that has fewer rows it is paged.
pub(super) fn show(text: &str, style: &Style, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
    paged_if_long(style.charset.spelled(text).as_bytes(), env, streams)
}

/// Writes a text; on a terminal that has fewer rows it is paged. The one rule for the texts of all commands.
pub(super) fn paged_if_long(text: &[u8], env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
    if env.has_screen && env.has_keys && terminal::rows().is_some_and(|rows| text.split(|&b| b == b'\n').count() > rows)
    {
        return terminal::paged(&String::from_utf8_lossy(text), streams.out);
    }
    streams.out.write_all(text)?;
    Ok(EXIT_DONE)
}

/// Writes what `write` writes; on a terminal that has fewer rows, a text for people is paged.
pub(super) fn shown(
    look: &TablesArgs,
    env: &Env,
    streams: &mut Streams<'_>,
    write: impl FnOnce(&mut Streams<'_>) -> Result<()>,
) -> Result<u8> {
    paged_text(look.style(env).format, env, streams, write)
}

/// Writes what `write` writes in a format, which is paged if it is for a terminal, and the terminal has fewer rows. Returns the exit
/// code. What has been written before an error is shown as it is.
pub(super) fn paged_text(
    format: Format,
    env: &Env,
    streams: &mut Streams<'_>,
    write: impl FnOnce(&mut Streams<'_>) -> Result<()>,
) -> Result<u8> {
    if format != Format::Table || !env.has_screen || !env.has_keys {
        write(streams)?;
        return Ok(EXIT_DONE);
    }
    let mut text = Vec::new();
    let written = write(&mut Streams { input: &mut *streams.input, out: &mut text, err: &mut *streams.err });
    if written.is_err() {
        streams.out.write_all(&text)?;
    }
    written?;
    paged_if_long(&text, env, streams)
}

fn lines(groups: &[Group], style: &Style) -> String {
    // Some characters are longer in ASCII.
    let spelled = |text: &str| style.charset.spelled(text).into_owned();
    let names = groups.iter().flat_map(|group| &group.rows).map(|(name, _)| name.width());
    // A long name leaves its words the line below.
    let column = names.filter(|&width| width <= style.width * 2 / 5).max().unwrap_or(0) + 4;
    let mut text = String::new();
    for (at, group) in groups.iter().enumerate() {
        let gap = if at > 0 { "\n" } else { "" };
        let title = if style.colour { group.title.bold().to_string() } else { group.title.clone() };
        text.push_str(&format!("{gap}{title}\n"));
        for (name, line) in &group.rows {
            let shown = if style.colour { name.cyan().to_string() } else { name.clone() };
            let blank = " ".repeat(column);
            let words = wrapped(&spelled(line), &blank, style.width);
            let words = words.trim_start();
            if name.width() + 4 <= column {
                let rest = " ".repeat(column - 2 - name.width());
                text.push_str(format!("  {shown}{rest}{words}").trim_end());
            } else {
                text.push_str(&format!("  {shown}\n{blank}{words}"))
            }
            text.push('\n');
        }
    }
    text
}

/// Words broken at the width, each line after this indent.
pub(super) fn wrapped(words: &str, indent: &str, width: usize) -> String {
    let options = textwrap::Options::new(width.max(indent.len() + 20))
        .initial_indent(indent)
        .subsequent_indent(indent)
        .break_words(false);
    textwrap::fill(words, options)
}
