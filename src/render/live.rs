//! Pages that compute for themselves: the data of each story, and the program as WebAssembly.

use std::io::Write;
use std::sync::OnceLock;

use super::{Page, Style, base64, document, html, json};
use crate::error::{Error, Result};
use attn_story::live::Opening;

/// The crate `attn-page` as WebAssembly, compressed as zlib does. The command that builds it is in `docs/formats.md`.
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/attn_page.zlib"));

/// The program as a page holds it: in base64.
pub(crate) fn program() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| base64(PROGRAM))
}

/// Writes pages that compute for themselves.
///
/// # Errors
/// If a story cannot be computed again, or `out` not be written.
pub(super) fn write(pages: &[Page], command: &str, style: &Style, out: &mut dyn Write) -> Result<()> {
    let openings: Vec<String> =
        pages.iter().map(|page| opening(page, command, style)).collect::<Result<_>>()?;
    let mut html = html::Html::new(pages, command, style).computing(&openings, program());
    let text = document::write_all(pages, style, &mut html);
    style.write(&text, out)
}

/// The data of a story, as JSON.
fn opening(page: &Page, command: &str, style: &Style) -> Result<String> {
    let without = || "leave out --live: the page then shows where each number came from".to_string();
    let page = &page
        .computing
        .as_ref()
        .map_or_else(|| page.clone(), |story| Page { story: (**story).clone(), ..page.clone() });
    // All of its numbers, whatever the page shows.
    let whole = Page { headed: false, ..Page::whole(page.story.clone()) };
    let mut graph = Vec::new();
    json::write(&[whole], command, &mut graph)?;
    let unreadable = |error: serde_json::Error| Error::new(format!("the page cannot be written: {error}"));
    let graph = serde_json::from_slice(&graph).map_err(unreadable)?;
    let opening = Opening::new(page, style, graph).map_err(|error| error.help(without()))?;
    serde_json::to_string(&opening).map_err(unreadable)
}
