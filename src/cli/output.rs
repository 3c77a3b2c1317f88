//! The options of every command that prints: format, digits and shades.

use clap::{Args, ValueEnum};

use super::screen::{ScreenArgs, ThemeArgs};
use super::{Env, Streams};
use crate::error::{Error, Result};
use crate::graph::Convention;
use crate::render::{self, Format, Heat, Style};
use crate::story::Table;

/// The format of the output, and the screen.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(super) struct LookArgs {
    /// Format: table, json, numpy, markdown, latex, csv, html
    #[arg(long, value_enum, default_value = "table")]
    pub format: FormatArg,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// The format of a table of words, and the screen.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(super) struct TablesArgs {
    /// Format: table, json, csv, markdown, latex, html
    #[arg(long, value_enum, default_value = "table")]
    format: TablesFormatArg,
    #[command(flatten)]
    screen: ScreenArgs,
}

/// The format of numbers, and the screen.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    #[command(flatten)]
    pub look: LookArgs,
    #[command(flatten)]
    pub digits: DigitsArgs,
    /// Shades behind weights and scores: auto, always, never
    ///
    /// `always` adds a bar to each number, for screens without colour.
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub heat: HeatArg,
    #[command(flatten)]
    theme: ThemeArgs,
}

/// The decimals of numbers.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(super) struct DigitsArgs {
    /// Decimals in text [default: 4, or the document's]
    ///
    /// JSON and CSV always have every digit.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=17))]
    pub precision: Option<u8>,
}

/// The page that computes, of commands whose numbers follow from a recipe.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(super) struct LiveArgs {
    /// With html: a page whose numbers can be changed
    #[arg(long)]
    pub live: bool,
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
    /// Whether it is a page for a browser, which has room for everything.
    pub(super) fn is_page(&self) -> bool {
        self.look.format == FormatArg::Html
    }

    /// The style under these options and surroundings.
    pub(super) fn style(&self, env: &Env, convention: Convention) -> Style {
        let mut style = self.digits.style(&self.look, env);
        if style.format == Format::Table && self.heat != HeatArg::Never {
            style.theme = self.theme.asked_of(self.look.screen.screen(env), env).theme;
        }
        Style {
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

impl LookArgs {
    /// The style under these options and surroundings.
    pub(super) fn style(&self, env: &Env) -> Style {
        Style::on(self.screen.screen(env), self.format.format())
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
    /// The format, as one of all formats.
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

    /// The same options as a `LookArgs`.
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
