//! The sheets of an Excel workbook (`.xlsx`): the cells as they are shown to be stored, formulas by their last values.

use std::collections::HashMap;

use zip::ZipArchive;

use crate::error::{Error, Result};
use crate::read::{AllowedNumbers, Array, cells};
use crate::text::clip;

use super::open::{Input, ReadSeek};
use super::pickle::entry;

/// More empty cells than this in a row are no gap in a matrix.
const WIDEST_GAP: usize = 64;

/// The sheets with numbers, by name.
///
/// # Errors
/// If the file is no workbook, unpacks to more than its limit, or has a cell that is no number where one belongs.
pub(super) fn sheets(input: Input, allow: AllowedNumbers) -> Result<Vec<(String, Array)>> {
    let (place, most) = (input.name.clone(), input.limit.whole);
    let not_workbook =
        |_| Error::new("this is no .xlsx workbook").help("save it in Excel as a workbook (.xlsx), or as CSV");
    let mut archive = ZipArchive::new(input.reader).map_err(not_workbook)?;
    let mut left = most;
    let mut part = |archive: &mut ZipArchive<Box<dyn ReadSeek>>, name: &str| -> Result<String> {
        let bytes = entry(archive, name, left)?;
        left -= bytes.len() as u64;
        String::from_utf8(bytes)
            .map_err(|_| Error::new(format!("`{name}` is not UTF-8 text")).help("save the workbook again"))
    };
    let workbook = part(&mut archive, "xl/workbook.xml")?;
    let relations = part(&mut archive, "xl/_rels/workbook.xml.rels")?;
    let targets: HashMap<String, String> = elements(&relations)
        .filter(|element| element.name == "Relationship")
        .filter_map(|element| Some((element.attribute("Id")?, element.attribute("Target")?)))
        .collect();
    let has_texts = archive.file_names().any(|name| name.is_ok_and(|name| name == "xl/sharedStrings.xml"));
    let texts = if has_texts { texts(&part(&mut archive, "xl/sharedStrings.xml")?) } else { Vec::new() };
    let mut sheets = Vec::new();
    for sheet in elements(&workbook).filter(|element| element.name == "sheet") {
        let (Some(name), Some(id)) = (sheet.attribute("name"), sheet.attribute("r:id")) else { continue };
        let Some(target) = targets.get(&id) else { continue };
        let path = target.strip_prefix('/').map_or_else(|| format!("xl/{target}"), str::to_string);
        let rows = rows(&part(&mut archive, &path)?, &texts)?;
        if !rows.is_empty() {
            let mut array = cells(&format!("{place}, {}", clip(&name)), rows, allow)?;
            array.facts.told.insert(0, format!("the sheet {}", clip(&name)));
            sheets.push((name, array));
        }
    }
    if sheets.is_empty() {
        return Err(Error::new("the workbook has no numbers").help("put the matrix on its first sheet"));
    }
    Ok(sheets)
}

/// An opening or closing tag, and the text behind it.
struct Element<'x> {
    name: &'x str,
    attributes: &'x str,
    text: &'x str,
}

fn elements(xml: &str) -> impl Iterator<Item = Element<'_>> {
    xml.split('<').filter_map(|piece| {
        let (tag, text) = piece.split_once('>')?;
        let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
        // A prefix stands for a name space.
        let closing = name.starts_with('/');
        let local = name.rsplit(':').next().unwrap_or(name);
        Some(Element { name: if closing { "/" } else { local.trim_end_matches('/') }, attributes, text })
    })
}

impl Element<'_> {
    fn attribute(&self, name: &str) -> Option<String> {
        let mut rest = self.attributes;
        while let Some((before, behind)) = rest.split_once('=') {
            let mark = behind.trim_start().chars().next().filter(|mark| matches!(mark, '"' | '\''))?;
            let (value, next) = behind.trim_start()[1..].split_once(mark)?;
            if before.trim() == name {
                return Some(plain(value));
            }
            rest = next;
        }
        None
    }
}

/// A text without the references of XML.
fn plain(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
    text.replace("&amp;", "&")
}

/// The strings that cells share.
fn texts(xml: &str) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for element in elements(xml) {
        match (element.name, texts.last_mut()) {
            ("si", _) => texts.push(String::new()),
            ("t", Some(text)) => text.push_str(&plain(element.text)),
            _ => {}
        }
    }
    texts
}

/// The rows of a sheet that are not empty, all of the same length.
fn rows(xml: &str, texts: &[String]) -> Result<Vec<Vec<String>>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut kind = String::new();
    let mut has_formula = None;
    for element in elements(xml) {
        match element.name {
            "row" => rows.push(Vec::new()),
            "c" => {
                let place = element.attribute("r").unwrap_or_default();
                formula_without_value(&has_formula)?;
                kind = element.attribute("t").unwrap_or_default();
                let Some(row) = rows.last_mut() else { continue };
                let letters = place.bytes().take_while(u8::is_ascii_uppercase).take(4);
                let column =
                    letters.fold(0usize, |column, letter| 26 * column + usize::from(letter - b'A') + 1);
                let column = if column == 0 { row.len() } else { column - 1 };
                if column < row.len() || column > row.len() + WIDEST_GAP {
                    return Err(Error::new(format!("the cell {} stands far from the others", clip(&place)))
                        .help("put the matrix by itself on a sheet"));
                }
                row.resize(column + 1, String::new());
            }
            "f" => has_formula = Some(()),
            "v" | "t" => {
                has_formula = None;
                let Some(cell) = rows.last_mut().and_then(|row| row.last_mut()) else { continue };
                let text = plain(element.text);
                match kind.as_str() {
                    "s" => {
                        *cell = text
                            .trim()
                            .parse::<usize>()
                            .ok()
                            .and_then(|at| texts.get(at))
                            .cloned()
                            .unwrap_or_default()
                    }
                    "b" => *cell = if text.trim() == "1" { "true" } else { "false" }.to_string(),
                    _ => cell.push_str(&text),
                }
            }
            _ => {}
        }
    }
    formula_without_value(&has_formula)?;
    rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
    // Columns that are empty in all rows stand before the matrix.
    let first = rows.iter().filter_map(|row| row.iter().position(|cell| !cell.is_empty())).min().unwrap_or(0);
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    for row in &mut rows {
        row.resize(width, String::new());
        row.drain(..first);
    }
    Ok(rows)
}

fn formula_without_value(formula: &Option<()>) -> Result<()> {
    match formula {
        None => Ok(()),
        Some(()) => Err(Error::new("the workbook has a formula without its value")
            .help("open it in a spreadsheet and save it again, or save it as CSV")),
    }
}
