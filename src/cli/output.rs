//! The options of every command that prints: format, digits and shades.

use colored::Colorize;
use serde::Deserialize;

use crate::error::{EXIT_DONE, Error, Result};
use crate::foreign::visible_lines;
use crate::graph::{Convention, Graph};
use crate::render::{Charset, Format, Heat, Page, Screen, Style, Theme};
use crate::story::Table;
use crate::text::{ScreenWidth, abridged};
use crate::{render, terminal};

use super::program::{Env, Outcome, Streams};

/// The format of the output, and the screen.
#[derive(Deserialize, Clone, Debug)]
pub(super) struct LookArgs {
    pub format: Format,
    #[serde(flatten)]
    pub screen: ScreenArgs,
}

/// The format of numbers, and the screen.
#[derive(Deserialize, Clone, Debug)]
pub(super) struct OutputArgs {
    #[serde(flatten)]
    pub look: LookArgs,
    #[serde(flatten)]
    pub digits: DigitsArgs,
    pub heat: Heat,
    #[serde(flatten)]
    theme: ThemeArgs,
}

/// The decimals of numbers.
#[derive(Deserialize, Clone, Debug)]
pub(super) struct DigitsArgs {
    pub precision: Option<u8>,
}

/// The page that computes, of commands whose numbers follow from a recipe.
#[derive(Deserialize, Clone, Debug)]
pub(super) struct LiveArgs {
    pub live: bool,
}

impl DigitsArgs {
    /// The style with these decimals.
    pub(super) fn style(&self, look: &LookArgs, env: &Env) -> Style {
        Style { places: self.precision.map(usize::from), ..look.style(env) }
    }
}

impl LiveArgs {
    /// # Errors
    /// If a page that computes is asked for in another format.
    pub(super) fn check(&self, output: &OutputArgs) -> Result<()> {
        if self.live && !output.is_page() {
            return Err(Error::new("--live makes a page").help("add --format html, or leave out --live"));
        }
        Ok(())
    }

    /// The style of these options, of a page that computes if it is asked for.
    pub(super) fn style(&self, output: &OutputArgs, env: &Env, convention: Convention) -> Style {
        let style = output.style(env, convention);
        if self.live { Style { format: Format::LiveHtml, ..style } } else { style }
    }
}

impl OutputArgs {
    /// The options of the screen.
    pub(super) fn screen(&self) -> (&ScreenArgs, &ThemeArgs) {
        (&self.look.screen, &self.theme)
    }

    /// Whether it is a page for a browser, which has room for everything.
    pub(super) fn is_page(&self) -> bool {
        self.look.format == Format::Html
    }

    /// The style under these options and surroundings.
    pub(super) fn style(&self, env: &Env, convention: Convention) -> Style {
        let mut style = self.digits.style(&self.look, env);
        if style.format == Format::Table && self.heat != Heat::Never {
            style.theme = self.theme.asked_of(self.look.screen.screen(env), env).theme;
        }
        Style { heat: self.heat, convention, ..style }
    }
}

impl LookArgs {
    /// The style under these options and surroundings.
    pub(super) fn style(&self, env: &Env) -> Style {
        Style::on(self.screen.screen(env), self.format)
    }

    /// Whether people read the format, or programs.
    pub(super) fn is_for_people(&self) -> bool {
        self.format.is_for_people()
    }

    /// Whether a spreadsheet is to read the format.
    pub(super) fn is_csv(&self) -> bool {
        self.format == Format::Csv
    }

    /// Writes tables of words.
    pub(super) fn tables(
        &self,
        command: &str,
        parts: &[(String, Table)],
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<()> {
        render::tables(parts, command, &self.style(env), streams.out)
    }
}

// The options of the screen: width, colours, characters, and its background where numbers have shades.

/// The screen that is written for.
#[derive(Deserialize, Clone, Debug)]
pub(super) struct ScreenArgs {
    pub width: Option<u16>,
    pub color: String,
    pub charset: String,
}

/// The background of the screen, for commands that shade numbers.
#[derive(Deserialize, Clone, Debug)]
pub(super) struct ThemeArgs {
    theme: Theme,
}

impl ScreenArgs {
    /// The screen under these options and surroundings.
    pub(super) fn screen(&self, env: &Env) -> Screen {
        Screen {
            width: self.width.map_or(env.width, usize::from).max(20),
            colour: match &*self.color {
                "always" => true,
                "never" => false,
                _ => env.colour,
            },
            theme: env.theme,
            charset: match &*self.charset {
                "utf8" => Charset::Utf8,
                "ascii" => Charset::Ascii,
                _ => env.charset,
            },
        }
    }
}

impl ThemeArgs {
    /// The screen with the background of the option, or else of the environment.
    pub(super) fn of(&self, screen: Screen) -> Screen {
        let theme = if self.theme == Theme::Unknown { screen.theme } else { self.theme };
        Screen { theme, ..screen }
    }

    /// The screen for shaded numbers: a terminal with colours is asked for its background if no option gives it.
    pub(super) fn asked_of(&self, screen: Screen, env: &Env) -> Screen {
        if self.theme == Theme::Unknown && screen.colour && env.asks_terminal {
            Screen { theme: terminal::ground().map_or(screen.theme, Theme::of_ground), ..screen }
        } else {
            self.of(screen)
        }
    }
}

// Lists of names, each with one line of words: demos, terms, examples, and what a search finds.

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
    if look.format != Format::Table {
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
    if env.has_screen
        && env.has_keys
        && terminal::size().is_some_and(|(_, rows)| text.split(|&b| b == b'\n').count() > rows.into())
    {
        return terminal::paged(&String::from_utf8_lossy(text), streams.out);
    }
    streams.out.write_all(text)?;
    Ok(EXIT_DONE)
}

/// Writes what `write` writes; on a terminal that has fewer rows, a text for people is paged.
pub(super) fn write_paged(
    look: &LookArgs,
    env: &Env,
    streams: &mut Streams<'_>,
    write: impl FnOnce(&mut Streams<'_>) -> Result<()>,
) -> Result<u8> {
    paged_text(look.format, env, streams, write)
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

// Writes pages to standard output, and warnings and notes to standard error.

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
    paged_text(style.format, env, streams, |streams| self::pages(pages, command, style, streams))
}

/// Writes one page as [`paged`] does.
pub(super) fn one_page(
    page: Page,
    command: &str,
    style: &Style,
    env: &Env,
    streams: &mut Streams<'_>,
) -> Result<Outcome> {
    let pages = vec![page];
    let code = paged(&pages, command, style, env, streams)?;
    Ok(Outcome::of_pages(code, pages))
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
