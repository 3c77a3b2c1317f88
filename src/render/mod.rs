//! A story, or a table, to bytes: terminal, JSON, NumPy's text, Markdown, LaTeX, CSV, HTML.

mod attn;
mod json;
mod latex;
mod latex_math;
mod markdown;
mod plot;
mod table;
mod terminal;
mod tree;

use std::borrow::Cow;
use std::io::Write;

use attn_story::render::{digits, document, explanation, plane, style, view};

use self::document::Markup;
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::story::Table;
use crate::{input, memory};

pub use attn_story::render::{
    CellLines, Charset, Derivation, Format, Heat, ModelPage, Page, PageToken, Screen, Style, Theme, base64,
    cell_lines_to, html, html_page, model_page, number_alone, numpy,
};
pub(crate) use json::page_program;
pub use json::{diagnosis, porting, unusable};
pub use plot::{Curve, Plot, Scale, plots};
pub use table::{FileRows, wrapped_text};

/// The bytes of text that a format gathers before it writes: JSON is written piece by piece, and of large matrices people are
/// shown the edges.
fn gathered_bytes(pages: &[Page], format: Format) -> u64 {
    // A number has up to 24 characters; NumPy's text is laid out in columns, from pieces.
    let a_cell = match format {
        Format::Csv => 48,
        Format::Numpy => 96,
        _ => return 0,
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
    match style.format {
        Format::LiveHtml if explains => {
            Err(Error::new("a page that computes explains every number that is pointed at")
                .help("leave out --explain or --live"))
        }
        Format::Json if explains => json::finish(&json::explanations(pages, command, style), out),
        Format::Numpy | Format::Csv if explains => Err(Error::new("an explanation is a tree, not an array")
            .help("--format json has it as data; markdown and latex have it as text")),
        Format::Json => json::write(pages, command, out),
        Format::Attn => match pages {
            [page] => data(&attn::write(&page.story)?, out),
            _ => Err(Error::new("a file holds one demo").help("ask for one demo, or use another format")),
        },
        Format::Numpy => data(&numpy::pages(pages, style.places), out),
        Format::Csv => data(&csv_pages(pages)?, out),
        Format::LiveHtml => json::write_live(pages, command, style, out),
        // On a wide terminal steps stand side by side.
        Format::Table => style.write(&terminal::write_all(pages, style), out),
        Format::Markdown | Format::Latex | Format::Html => {
            let write = |markup: &mut dyn Markup| document::write_all(pages, style, markup);
            style.write(&written(pages, command, style, write), out)
        }
    }
}

/// What `write` writes in a format for people.
fn written(
    pages: &[Page],
    command: &str,
    style: &Style,
    write: impl FnOnce(&mut dyn Markup) -> String,
) -> String {
    match style.format {
        Format::Markdown => write(&mut markdown::Markdown::default()),
        Format::Latex => write(&mut latex::Latex::default()),
        Format::Html => {
            let mut html = html::Html::new(pages, style);
            let inside = write(&mut html);
            html.page(&inside, command, None)
        }
        _ => write(&mut terminal::Terminal::new(style)),
    }
}

/// Formats for people show text from outside with escapes for invisible characters; data stay as they are.
fn as_shown(pages: &[Page], format: Format) -> Cow<'_, [Page]> {
    if matches!(format, Format::Json | Format::Csv) {
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
    let parts: Cow<'_, [(String, Table)]> =
        if style.format.is_for_people() { parts.iter().map(shown).collect() } else { parts.into() };
    let parts = &*parts;
    match style.format {
        Format::Json => json::write_tables(parts, command, out),
        Format::Csv => data(&csv_tables(parts), out),
        Format::Attn => Err(Error::new("a table of words is no demo").help("use --format markdown or csv")),
        Format::Numpy => Err(Error::new("a table of words cannot be written as NumPy arrays")
            .help("use --format csv or --format json")),
        Format::LiveHtml => {
            Err(Error::new("a table of words has no numbers that could be changed").help("leave out --live"))
        }
        Format::Table | Format::Markdown | Format::Latex | Format::Html => {
            let write = |markup: &mut dyn Markup| document::tables(parts, markup);
            style.write(&written(&[], command, style, write), out)
        }
    }
}

/// Paragraphs with a blank line between them.
fn paragraphs(paragraphs: &[String]) -> String {
    paragraphs.iter().map(|paragraph| format!("{paragraph}\n")).collect::<Vec<_>>().join("\n")
}

/// Writes data for programs, which is the same on every screen.
fn data(text: &str, out: &mut dyn Write) -> Result<()> {
    out.write_all(text.as_bytes())?;
    Ok(())
}

// Matrices as comma-separated values, every digit. One node is a plain file that spreadsheets and `attn` read; several
// stand one below the other, each under a line `# name`.

fn csv_pages(pages: &[Page]) -> Result<String> {
    let count: usize = pages.iter().map(|page| page.nodes.len()).sum();
    let mut text = String::new();
    for page in pages {
        for &id in &page.nodes {
            let node = &page.story.graph[id];
            if count > 1 {
                let gap = if text.is_empty() { "" } else { "\n" };
                let comment = if node.is_never_formed() { ": never formed" } else { "" };
                text.push_str(&format!("{gap}# {}{comment}\n", node.name));
                if node.is_never_formed() {
                    continue;
                }
            }
            let table = input::table(&page.story.graph, id)?;
            // A named node is written with all its numbers; a whole computation leaves out nodes that are too large to look at.
            if page.headed {
                page.story.graph.matrix(id)?;
            }
            text.push_str(&input::delimited_text(b',', table)?);
        }
    }
    Ok(text)
}

fn csv_tables(parts: &[(String, Table)]) -> String {
    let mut text = String::new();
    let parts: Vec<_> = parts.iter().filter(|(_, table)| !table.header.is_empty()).collect();
    for (title, table) in &parts {
        if parts.len() > 1 {
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}# {}\n", visible(title)));
        }
        for record in std::iter::once(&table.header).chain(&table.rows) {
            let fields: Vec<Cow<'_, str>> =
                record.iter().map(|field| csv_field(field, record.len() == 1)).collect();
            text.push_str(&fields.join(","));
            text.push('\n');
        }
    }
    text
}

/// A field of a record (RFC 4180): in quotation marks where it holds a comma, a quotation mark or the end of a line, or is empty
/// and alone.
fn csv_field(field: &str, is_alone: bool) -> Cow<'_, str> {
    if field.contains([',', '"', '\n', '\r']) || is_alone && field.is_empty() {
        format!("\"{}\"", field.replace('"', "\"\"")).into()
    } else {
        field.into()
    }
}
