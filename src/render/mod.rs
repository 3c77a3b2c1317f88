//! A story, or a table, to bytes: terminal, JSON, NumPy's text, Markdown, LaTeX, CSV, HTML.

mod block;
mod csv;
mod file_rows;
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
pub(crate) mod live;
mod markdown;
mod picture;
mod plot;
mod step_layout;
mod table;
mod terminal;
mod tree;
mod wide;
mod window;
mod wrap;

pub use attn_story::render::html_page;
pub use attn_story::render::numpy;
pub use attn_story::render::{
    CellLines, Charset, Format, Heat, ModelPage, Page, PageToken, Screen, Style, Theme, base64,
    cell_lines_to, model_page,
};
use attn_story::render::{digits, document, explained, heat, html, plane, style, view};
pub use file_rows::{FileRows, wrapped_text};
pub use json_diagnosis::{diagnosis, unusable};
pub use json_porting::porting;
pub use plot::{Curve, Plot, Scale, plots};
pub(crate) use window::{Shading, WindowOfMatrix, window_of_matrix};

use std::borrow::Cow;
use std::io::Write;

use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::memory;
use crate::story::Table;

/// The bytes of text that a format gathers before it writes: JSON is written piece by piece, and of large matrices people are
/// shown the edges.
fn gathered_bytes(pages: &[Page], format: Format) -> u64 {
    // A number has up to 24 characters; NumPy's text is laid out in columns, from pieces.
    let a_cell = match format {
        Format::Csv => 48,
        Format::Numpy => 96,
        Format::Json | Format::Table | Format::Markdown | Format::Latex | Format::Html | Format::LiveHtml => {
            return 0;
        }
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
    let style = &style.of_document();
    let pages = &*as_shown(pages, style.format);
    let explains = pages.iter().any(Page::explains);
    let text = match style.format {
        Format::LiveHtml if explains => {
            return Err(Error::new("a page that computes explains every number that is pointed at")
                .help("leave out --explain or --live"));
        }
        Format::Json if explains => {
            return json::finish(&json_explanation::value(pages, command, style), out);
        }
        Format::Numpy | Format::Csv if explains => {
            return Err(Error::new("an explanation is a tree, not an array")
                .help("--format json has it as data; markdown and latex have it as text"));
        }
        Format::Json => return json::write(pages, command, out),
        Format::Numpy => return data(&numpy::pages(pages, style.places), out),
        Format::Csv => return data(&csv::pages(pages)?, out),
        Format::Table => wide::write_all(pages, style),
        Format::Markdown => document::write_all(pages, style, &mut markdown::Markdown::default()),
        Format::Latex => document::write_all(pages, style, &mut latex::Latex::default()),
        Format::Html => document::write_all(pages, style, &mut html::Html::new(pages, command, style)),
        Format::LiveHtml => return live::write(pages, command, style, out),
    };
    style.write(&text, out)
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
    let style = &style.of_document();
    let shown = |(title, table): &(String, Table)| (visible(title).into_owned(), table.made_visible());
    let shown: Vec<(String, Table)> =
        if style.format.is_for_people() { parts.iter().map(shown).collect() } else { Vec::new() };
    let parts = if style.format.is_for_people() { &shown } else { parts };
    let text = match style.format {
        Format::Json => return json::write_tables(parts, command, out),
        Format::Csv => return data(&csv::tables(parts)?, out),
        Format::Numpy => {
            return Err(Error::new("a table of words cannot be written as NumPy arrays")
                .help("use --format csv or --format json"));
        }
        Format::Table => document::tables(parts, &mut terminal::Terminal::new(style)),
        Format::Markdown => document::tables(parts, &mut markdown::Markdown::default()),
        Format::Latex => document::tables(parts, &mut latex::Latex::default()),
        Format::LiveHtml => {
            return Err(
                Error::new("a table of words has no numbers that could be changed").help("leave out --live")
            );
        }
        Format::Html => document::tables(parts, &mut html::Html::new(&[], command, style)),
    };
    style.write(&text, out)
}

/// Writes data for programs, which is the same on every screen.
fn data(text: &str, out: &mut dyn Write) -> Result<()> {
    out.write_all(text.as_bytes())?;
    Ok(())
}
