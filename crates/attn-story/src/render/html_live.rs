//! Pages that compute for themselves: the data of a story, the script, and the program as WebAssembly.

use super::html_page::HtmlPage;

const STYLE: &str = include_str!("html_live.css");
const SCRIPT: &str = include_str!("html_live.js");

/// The data of a story, as the script reads it. In an element of a script `<` could end it.
pub(super) fn opening(json: &str) -> String {
    let json = json.replace('<', "\\u003c");
    format!("<script type=\"application/json\" class=\"opening\">{json}</script>\n")
}

/// A page with style, script and program: WebAssembly, compressed as zlib does, in base64.
pub fn page(page: HtmlPage<'_>, program: &str) -> String {
    let style = format!("{STYLE}{}", page.style);
    let script = format!("{}{SCRIPT}", page.script);
    let data = format!("<script type=\"text/plain\" id=\"program\">{program}</script>\n");
    HtmlPage { style: &style, script: &script, ..page }.computing(&data)
}
