//! The options of every command that prints: what the bytes are and how they look.

use std::collections::HashSet;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use colored::Colorize;

use super::explain::ExplainArgs;
use super::{Env, Streams};
use crate::error::{Error, Result};
use crate::foreign::{to_path, visible_lines};
use crate::graph::{Convention, Graph};
use crate::render::{self, Charset, Format, Heat, Page, Screen, Style, Theme};
use crate::story::{Step, StepItem, Story, Table};
use crate::terminal;
use crate::text::abridged;

/// What the output is, and on what screen.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(super) struct LookArgs {
    /// Format: table, json, numpy, markdown, latex, csv, html
    #[arg(long, value_enum, default_value = "table")]
    pub format: FormatArg,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// What a table of words is written as, and on what screen.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(super) struct TablesArgs {
    /// Format: table, json, csv, markdown, latex, html
    #[arg(long, value_enum, default_value = "table")]
    format: TablesFormatArg,
    #[command(flatten)]
    screen: ScreenArgs,
}

/// On what screen.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(super) struct ScreenArgs {
    /// Columns of the screen [default: the terminal's, or 80]
    ///
    /// The variables ATTN_WIDTH and COLUMNS set it too.
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u16).range(20..=10_000))]
    pub width: Option<u16>,
    /// Colours: auto, always or never
    ///
    /// `auto` looks at NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR and the terminal.
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN", hide_short_help = true)]
    pub color: ColorArg,
    /// Ground of the terminal: auto, dark or light
    ///
    /// Shades stand out from its background. `auto` asks the terminal, or reads COLORFGBG.
    #[arg(long, value_enum, default_value = "auto", value_name = "GROUND", hide_short_help = true)]
    pub theme: ThemeArg,
    /// Characters: auto, utf8 or ascii
    #[arg(long, value_enum, default_value = "auto", value_name = "SET", hide_short_help = true)]
    pub charset: CharsetArg,
}

/// How numbers look, beside the screen.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    #[command(flatten)]
    pub look: LookArgs,
    /// Decimals in text [default: 4, or the document's]
    ///
    /// JSON and CSV always have every digit.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=17))]
    pub precision: Option<u8>,
    /// Shades behind weights and scores: auto, always, never
    ///
    /// `always` adds a bar to each number, for screens without colour.
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub heat: HeatArg,
}

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FormatArg {
    /// Tables for a terminal
    Table,
    /// The whole computation as data, with every digit
    Json,
    /// Arrays as NumPy prints them
    Numpy,
    /// Markdown
    Markdown,
    /// LaTeX
    Latex,
    /// Comma-separated values, with every digit
    Csv,
    /// A page for a browser: point at a number to see what made it
    Html,
}

/// `--format` of a table of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TablesFormatArg {
    /// Tables for a terminal
    Table,
    /// The rows as data
    Json,
    /// Comma-separated values
    Csv,
    /// Markdown
    Markdown,
    /// LaTeX
    Latex,
    /// A page for a browser
    Html,
}

/// `--color`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorArg {
    /// Detect automatically
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// `--theme`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ThemeArg {
    /// Dark
    Dark,
    /// Light
    Light,
    /// Detect automatically
    Auto,
}

/// `--charset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CharsetArg {
    /// Detect from the locale
    Auto,
    /// All characters
    Utf8,
    /// ASCII only
    Ascii,
}

/// `--heat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum HeatArg {
    /// Colour if available
    Auto,
    /// Colour and bars
    Always,
    /// Off
    Never,
}

impl FormatArg {
    fn format(self) -> Format {
        match self {
            FormatArg::Table => Format::Table,
            FormatArg::Json => Format::Json,
            FormatArg::Numpy => Format::Numpy,
            FormatArg::Markdown => Format::Markdown,
            FormatArg::Latex => Format::Latex,
            FormatArg::Csv => Format::Csv,
            FormatArg::Html => Format::Html,
        }
    }
}

impl OutputArgs {
    /// Whether it is a page for a browser, which has room for everything.
    pub(super) fn is_page(&self) -> bool {
        self.look.format == FormatArg::Html
    }

    /// The style under these options and surroundings.
    pub(super) fn style(&self, env: &Env, convention: Convention) -> Style {
        let mut style = self.look.style(env);
        if style.format == Format::Table && self.heat != HeatArg::Never {
            style.theme = self.look.screen.shaded_screen(env).theme;
        }
        Style {
            places: self.precision.map(usize::from),
            heat: match self.heat {
                HeatArg::Auto => Heat::Auto,
                HeatArg::Always => Heat::Always,
                HeatArg::Never => Heat::Never,
            },
            convention,
            ..style
        }
    }
}

impl ScreenArgs {
    /// The screen under these options and surroundings.
    pub(super) fn screen(&self, env: &Env) -> Screen {
        Screen {
            width: self.width.map_or(env.width, usize::from).max(20),
            colour: match self.color {
                ColorArg::Auto => env.colour,
                ColorArg::Always => true,
                ColorArg::Never => false,
            },
            theme: match self.theme {
                ThemeArg::Dark => Theme::Dark,
                ThemeArg::Light => Theme::Light,
                ThemeArg::Auto => env.theme,
            },
            charset: match self.charset {
                CharsetArg::Auto => env.charset,
                CharsetArg::Utf8 => Charset::Utf8,
                CharsetArg::Ascii => Charset::Ascii,
            },
        }
    }
}

impl ScreenArgs {
    /// The same for what is shaded: a terminal with colours is asked for its ground, where no option says what it is.
    pub(super) fn shaded_screen(&self, env: &Env) -> Screen {
        let screen = self.screen(env);
        match (self.theme, screen.colour && env.asks_terminal) {
            (ThemeArg::Auto, true) => {
                Screen { theme: terminal::ground().map_or(screen.theme, Theme::of_ground), ..screen }
            }
            _ => screen,
        }
    }
}

impl LookArgs {
    /// The style under these options and surroundings.
    pub(super) fn style(&self, env: &Env) -> Style {
        let Screen { width, colour, theme, charset } = self.screen.screen(env);
        Style {
            format: self.format.format(),
            places: None,
            width,
            colour,
            theme,
            charset,
            heat: Heat::Auto,
            convention: Convention::Rows,
        }
    }

    /// Whether people read the format, or programs.
    pub(super) fn is_for_people(&self) -> bool {
        self.format.format().is_for_people()
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

impl TablesArgs {
    /// The same format among all that there are.
    pub(super) fn format(&self) -> FormatArg {
        match self.format {
            TablesFormatArg::Table => FormatArg::Table,
            TablesFormatArg::Json => FormatArg::Json,
            TablesFormatArg::Csv => FormatArg::Csv,
            TablesFormatArg::Markdown => FormatArg::Markdown,
            TablesFormatArg::Latex => FormatArg::Latex,
            TablesFormatArg::Html => FormatArg::Html,
        }
    }

    /// The same options as those of every command.
    pub(super) fn look(&self) -> LookArgs {
        LookArgs { format: self.format(), screen: self.screen.clone() }
    }

    /// The style under these options and surroundings.
    pub(super) fn style(&self, env: &Env) -> Style {
        self.look().style(env)
    }

    /// Writes tables of words.
    pub(super) fn tables(
        &self,
        command: &str,
        parts: &[(String, Table)],
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<()> {
        self.look().tables(command, parts, env, streams)
    }
}

/// Which nodes of a graph are written, or which of its cells explained.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(super) struct NodeArgs {
    /// Show only these nodes or pictures: S,A,O or plane
    #[arg(long, value_name = "NODE,…", value_delimiter = ',')]
    pub only: Vec<String>,
    #[command(flatten)]
    pub explain: ExplainArgs,
}

impl NodeArgs {
    /// The page of a story: all of it, only the nodes asked for, or the explanation of some cells.
    pub(super) fn page(&self, story: Story, output: &OutputArgs) -> Result<Page> {
        let page = self.of_nodes(story)?;
        match self.explain.used() {
            Some(_) => self.explain.page(page, output),
            None => Ok(page),
        }
    }

    /// The nodes and pictures asked for, each once, in the order in which they are first named.
    pub(super) fn names(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        let names = self.only.iter().map(|name| name.trim());
        names.filter(|name| seen.insert(*name)).map(str::to_string).collect()
    }

    /// All of a story, or only the nodes asked for.
    fn of_nodes(&self, story: Story) -> Result<Page> {
        if self.only.is_empty() {
            return Ok(Page::whole(story));
        }
        let shown = self.names().iter().map(|name| story.named(name)).collect::<Result<Vec<StepItem>>>()?;
        let nodes = shown.iter().flat_map(StepItem::nodes).collect();
        let steps = shown.into_iter().map(|shown| Step { shown: vec![shown], ..Step::default() }).collect();
        let story = Story { steps, notes: Vec::new(), ..story };
        Ok(Page::headless(story, nodes))
    }
}

/// An argument that names a file, of whatever bytes.
pub(super) fn path(text: &str) -> std::result::Result<PathBuf, std::convert::Infallible> {
    Ok(to_path(text))
}

/// Writes pages, and their warnings to standard error.
pub(super) fn pages(pages: &[Page], command: &str, style: &Style, streams: &mut Streams<'_>) -> Result<()> {
    render::stories(pages, command, style, streams.out)?;
    let told = style.format.is_for_people();
    for page in pages {
        let remarks = if told && page.headed { &[] } else { &page.story.remarks[..] };
        aside(&page.story.graph, remarks, style, streams);
    }
    Ok(())
}

/// Says the warnings of a graph, and remarks that are not told with it, on standard error.
pub(super) fn aside(graph: &Graph, remarks: &[String], style: &Style, streams: &mut Streams<'_>) {
    for warning in graph.warnings() {
        say("warning", warning, style, streams);
    }
    for remark in remarks {
        say("note", remark, style, streams);
    }
}

/// The columns that sentences on standard error take, however wide the screen is.
const WIDEST_ASIDE: usize = 100;

/// Says on standard error what does not stop the command.
fn say(kind: &str, text: &str, style: &Style, streams: &mut Streams<'_>) {
    // What cannot be written there is no reason to stop.
    let (first, rest) = (format!("{kind}: "), " ".repeat(kind.len() + 2));
    let lines = textwrap::Options::new(style.width.clamp(20, WIDEST_ASIDE))
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

/// Says on standard error, softly, what only this machine has to do with: standard output is the same on every one.
pub(super) fn whisper(text: &str, style: &Style, env: &Env, streams: &mut Streams<'_>) {
    let text = style.charset.spelled(text);
    let text = if env.colour_err { text.dimmed().to_string() } else { text.into_owned() };
    let _ = writeln!(streams.err, "{text}");
}

/// An option that is about the nodes of one demo.
pub(super) fn wants_one(option: &str, count: usize) -> Error {
    let named = if count == 0 { "named none".to_string() } else { format!("asked for {count}") };
    Error::new(format!("{option} needs one demo, but you {named}"))
        .help(format!("name one demo: attn demo mask {option} …"))
}
