//! Pages that compute for themselves: the data of a story, the script, and the program as WebAssembly.

use super::html_page::HtmlPage;

const STYLE: &str = include_str!("html_live.css");
const SCRIPT: &str = include_str!("html_live.js");

/// The data of a story, as the script reads it.
pub(super) fn opening(json: &str) -> String {
    data(OPENING, json)
}

/// The class of the data of a story.
pub const OPENING: &str = "opening";

/// Data for the script, which finds them by their class.
pub fn data(class: &str, json: &str) -> String {
    // In an element of a script `<` could end it.
    let json = json.replace('<', "\\u003c");
    format!("{}{json}{CLOSES}\n", opens(class))
}

/// The data of a class in a page, or in a part of one.
pub fn data_in<'h>(html: &'h str, class: &str) -> Vec<&'h str> {
    html.split(&opens(class)).skip(1).filter_map(|rest| rest.split(CLOSES).next()).collect()
}

fn opens(class: &str) -> String {
    format!("<script type=\"application/json\" class=\"{class}\">")
}

const CLOSES: &str = "</script>";

/// A page with style, script and program: WebAssembly, compressed as zlib does, in base64.
pub fn page(page: HtmlPage<'_>, program: &str) -> String {
    let style = format!("{STYLE}{}", page.style);
    let script = format!("{}{SCRIPT}", page.script);
    let data = format!("<script type=\"text/plain\" id=\"program\">{program}</script>\n");
    HtmlPage { style: &style, script: &script, ..page }.computing(&data)
}
