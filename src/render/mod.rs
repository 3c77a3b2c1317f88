//! A story, or a table, to bytes: terminal, JSON, NumPy's text, Markdown, LaTeX, CSV, HTML.

mod base64;
mod block;
mod cell_lines;
mod charset;
mod csv;
mod digits;
mod document;
mod explained;
mod file_rows;
mod heat;
mod html;
mod html_explained;
mod html_heads;
mod html_heads_data;
mod html_operands;
pub mod html_page;
mod html_plane;
mod html_sources;
mod html_table;
mod json;
mod json_diagnosis;
mod json_explanation;
mod json_porting;
mod latex;
mod latex_escape;
mod latex_math;
mod latex_terms;
mod latex_width;
mod latex_words;
mod markdown;
mod names;
pub mod numpy;
mod palette;
mod picture;
mod plane;
mod plot;
mod rounding;
mod screen;
mod step_layout;
mod table;
mod terminal;
mod theme;
mod tree;
mod view;
mod viewer;
mod wide;
mod window;
mod wrap;

pub(crate) use base64::encoded as base64;
pub use cell_lines::{CellLines, cell_lines};
pub use charset::Charset;
pub use file_rows::{FileRows, wrapped_text};
pub use heat::Heat;
pub use html_heads::{ModelPage, PageToken, model_page};
pub use json_diagnosis::{diagnosis, unusable};
pub use json_porting::porting;
pub use plot::{Curve, Plot, plots};
pub use screen::Screen;
pub use theme::Theme;
pub(crate) use window::{Shading, WindowOfMatrix, number_alone, window_of_matrix};

use std::borrow::Cow;
use std::io::Write;

use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::{Convention, NodeId};
use crate::hint::Hint;
use crate::memory;
use crate::story::{Digits, StepItem, Story, Table};

/// The output formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Sentences, equations and tables for a terminal; rounded.
    #[default]
    Table,
    /// The graph, every digit.
    Json,
    /// Arrays as NumPy prints them.
    Numpy,
    /// Markdown; rounded.
    Markdown,
    /// LaTeX; rounded.
    Latex,
    /// Comma-separated values, every digit.
    Csv,
    /// An HTML page, whose cells show their sources; rounded.
    Html,
}

impl Format {
    /// Returns true for formats that people read; programs read the others.
    pub fn is_for_people(self) -> bool {
        matches!(self, Format::Table | Format::Markdown | Format::Latex | Format::Html)
    }
}

/// All settings of the appearance of a story.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// The output format.
    pub format: Format,
    /// The number of decimals, if the user sets it.
    pub places: Option<usize>,
    /// Columns of the screen.
    pub width: usize,
    /// True if escapes for colours may be written.
    pub colour: bool,
    /// The ground that colours stand on.
    pub theme: Theme,
    /// The characters that may be written.
    pub charset: Charset,
    /// The setting for shades of weights and scores.
    pub heat: Heat,
    /// The convention: tokens as rows or as columns.
    pub convention: Convention,
}

impl Style {
    /// A format on a screen, with the default digits, heat and convention.
    pub fn on(screen: Screen, format: Format) -> Style {
        let Screen { width, colour, theme, charset } = screen;
        let (heat, convention) = (Heat::Auto, Convention::Rows);
        Style { format, places: None, width, colour, theme, charset, heat, convention }
    }

    /// The digits of a story under this style.
    fn digits(&self, story: &Story) -> Digits {
        self.places.map_or(story.digits, Digits::Places)
    }

    /// Returns true if a matrix that is too wide may have fewer decimals.
    fn may_round_further(&self) -> bool {
        self.places.is_none() && self.format == Format::Table
    }

    /// This style for an HTML page, which has all characters, whatever the terminal has.
    fn of_a_browser(&self) -> Style {
        Style { charset: Charset::Utf8, ..*self }
    }
}

/// A story, and which of its nodes the data formats write.
#[derive(Clone, Debug)]
pub struct Page {
    /// The story.
    pub story: Story,
    /// The nodes that JSON, NumPy and CSV write, in this order.
    pub nodes: Vec<NodeId>,
    /// True if people are shown the headline.
    pub headed: bool,
    /// The number of numbered steps that are left out before the first one that is shown: each keeps its own number.
    pub skipped: usize,
    /// This many are left out after the last one.
    pub left: usize,
}

impl Page {
    /// The whole story.
    pub fn whole(story: Story) -> Page {
        let nodes = story.graph.nodes().map(|(id, _)| id).collect();
        Page { story, nodes, headed: true, skipped: 0, left: 0 }
    }

    /// A story of which people are shown no headline, and programs these nodes.
    pub fn headless(story: Story, nodes: Vec<NodeId>) -> Page {
        Page { story, nodes, headed: false, skipped: 0, left: 0 }
    }

    /// Returns true if it explains cells.
    pub fn explains(&self) -> bool {
        let explains = |shown: &StepItem| matches!(shown, StepItem::Explained { .. } | StepItem::Symbolic(_));
        self.story.steps.iter().flat_map(|step| &step.shown).any(explains)
    }
}

/// The bytes of text that a format gathers before it writes: JSON is written piece by piece, and of large matrices people are
/// shown the edges.
fn gathered_bytes(pages: &[Page], format: Format) -> u64 {
    // A number has up to 24 characters; NumPy's text is laid out in columns, from pieces.
    let a_cell = match format {
        Format::Csv => 48,
        Format::Numpy => 96,
        Format::Json | Format::Table | Format::Markdown | Format::Latex | Format::Html => return 0,
    };
    // A node that is not recorded cell by cell is refused by the format itself, or shown by its edges.
    let recorded = |page: &Page| -> u64 {
        let matrices = page.nodes.iter().filter_map(|&id| page.story.graph[id].matrix());
        matrices.map(|matrix| (matrix.rows() * matrix.cols()) as u64).sum()
    };
    pages.iter().map(recorded).sum::<u64>().saturating_mul(a_cell)
}

/// Writes stories in the style's format. `command` is the name of the command, for JSON.
///
/// # Errors
/// If `out` cannot be written.
pub fn stories(pages: &[Page], command: &str, style: &Style, out: &mut dyn Write) -> Result<()> {
    memory::room(gathered_bytes(pages, style.format))?;
    let pages = &*as_shown(pages, style.format);
    let explains = pages.iter().any(Page::explains);
    let text = match style.format {
        Format::Json if explains => {
            return json::finish(&json_explanation::value(pages, command, style), out);
        }
        Format::Numpy | Format::Csv if explains => {
            return Err(Error::new("an explanation is a tree, not an array")
                .help(format!("{} json has it as data; markdown and latex have it as text", Hint::Format)));
        }
        Format::Json => return json::write(pages, command, out),
        Format::Numpy => return data(&numpy::pages(pages, style.places), out),
        Format::Csv => return data(&csv::pages(pages)?, out),
        Format::Table => wide::write_all(pages, style),
        Format::Markdown => document::write_all(pages, style, &mut markdown::Markdown::default()),
        Format::Latex => document::write_all(pages, style, &mut latex::Latex::default()),
        Format::Html => {
            let style = &style.of_a_browser();
            let text = document::write_all(pages, style, &mut html::Html::new(pages, command, style));
            return write_text(&text, style, out);
        }
    };
    write_text(&text, style, out)
}

/// Formats for people show text from outside with escapes for invisible characters; data stay as they are.
fn as_shown(pages: &[Page], format: Format) -> Cow<'_, [Page]> {
    let is_data = matches!(format, Format::Json | Format::Csv);
    if is_data || pages.iter().all(|page| page.story.is_visible()) {
        return Cow::Borrowed(pages);
    }
    let shown = |page: &Page| Page { story: page.story.clone().made_visible(), ..page.clone() };
    Cow::Owned(pages.iter().map(shown).collect())
}

/// Writes a table of words under a title in the style's format.
///
/// # Errors
/// If `out` cannot be written.
pub fn tables(parts: &[(String, Table)], command: &str, style: &Style, out: &mut dyn Write) -> Result<()> {
    let shown = |(title, table): &(String, Table)| (visible(title).into_owned(), table.made_visible());
    let shown: Vec<(String, Table)> =
        if style.format.is_for_people() { parts.iter().map(shown).collect() } else { Vec::new() };
    let parts = if style.format.is_for_people() { &shown } else { parts };
    let text = match style.format {
        Format::Json => return json::write_tables(parts, command, out),
        Format::Csv => return data(&csv::tables(parts)?, out),
        Format::Numpy => {
            return Err(Error::new("a table of words is no array")
                .help(format!("{0} csv or {0} json has it as data", Hint::Format)));
        }
        Format::Table => document::tables(parts, &mut terminal::Terminal::new(style)),
        Format::Markdown => document::tables(parts, &mut markdown::Markdown::default()),
        Format::Latex => document::tables(parts, &mut latex::Latex::default()),
        Format::Html => {
            let style = &style.of_a_browser();
            let text = document::tables(parts, &mut html::Html::new(&[], command, style));
            return write_text(&text, style, out);
        }
    };
    write_text(&text, style, out)
}

/// Writes data for programs, which is the same on every screen.
fn data(text: &str, out: &mut dyn Write) -> Result<()> {
    out.write_all(text.as_bytes())?;
    Ok(())
}

fn write_text(text: &str, style: &Style, out: &mut dyn Write) -> Result<()> {
    // Spaces that no line was to be broken at have done their work.
    let text = text.replace('\u{a0}', " ");
    out.write_all(style.charset.spelled(&text).as_bytes())?;
    Ok(())
}
