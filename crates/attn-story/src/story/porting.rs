//! What a diagnosis of a port found, as tables.

use super::Table;
use crate::model::Text;
use crate::model::porting::{Difference, DumpPrecision, Found, PortingMistake, PortingReport};
use crate::text::{all_of, counted, listed_briefly};

/// More tensors that differ are only counted.
const MOST_OF_REST: usize = 12;

/// The tables of a report on the tensors of a port. `text` names the rows.
pub fn porting(report: &PortingReport, text: &Text) -> Vec<(String, Table)> {
    let mut parts = vec![("Your tensors".to_string(), about(report))];
    if let Some(mistake) = &report.of_text {
        parts.push(("The text".to_string(), Table::new(&["text", "value"], lines("mistake", mistake))));
    }
    if let Some(first) = &report.first {
        parts.push(("The first tensor that differs".to_string(), difference(first, text)));
    }
    for (at, found) in report.found.iter().enumerate() {
        let next = report.found.get(at + 1).filter(|next| next.is_second);
        let title = match (at, next) {
            (0, None) => "The mistake in it".to_string(),
            _ => format!("Mistake {}", at + 1),
        };
        parts.push((title, mistake(found, next.is_some())));
    }
    if !report.rest.is_empty() {
        let title = match report.found[..] {
            [] => "Other tensors that differ",
            _ => "Tensors that this does not explain",
        };
        parts.push((title.to_string(), rest(&report.rest)));
    }
    parts
}

fn about(report: &PortingReport) -> Table {
    let names: Vec<String> =
        report.namings.iter().map(|(naming, count)| format!("{count} by {}", naming.name())).collect();
    let mut rows = vec![
        line("compared", format!("{}: {}", counted(report.compared(), "tensor"), all_of(&names))),
        line("result", report.headline()),
        line("rounding", rounding(report)),
    ];
    rows.extend(report.conventions.iter().map(|note| line("convention, no mistake", *note)));
    if report.first.is_some() && report.found.is_empty() {
        rows.push(line("mistake", "no known mistake gives these numbers"));
    }
    for (title, names) in [("not compared", &report.not_compared), ("unknown names", &report.unknown)] {
        if !names.is_empty() {
            rows.push(line(title, listed_briefly(names.iter().map(String::as_str))));
        }
    }
    for (name, dims) in &report.other_shapes {
        rows.push(line("other shape", format!("{name} {dims:?}")));
    }
    Table::new(&["this dump", "value"], rows)
}

/// What rounding leaves, in words.
fn rounding(report: &PortingReport) -> String {
    let DumpPrecision { name, unit, power, .. } = report.precision;
    let units = report.rounding / unit;
    format!("{name}: where they agree, the largest difference is {units:.1} × {power} of the largest number")
}

fn difference(first: &Difference, text: &Text) -> Table {
    let layer = format!("layer {}", first.layer);
    let (row, col) = first.at;
    let token = text.tokens.get(row - 1).map_or_else(String::new, |token| format!(" ({token})"));
    let mut rows = vec![
        line("tensor", first.name.clone()),
        line("here", format!("{}: {}, {layer}", first.node, first.step)),
    ];
    rows.extend(first.head.map(|head| line("head", head.to_string())));
    rows.extend([
        line("cell", format!("row {row}{token}, column {col}")),
        line("yours", short(first.yours)),
        line("right", short(first.right)),
        line(
            "largest difference",
            format!("{} ({} of the largest number)", short(first.largest), short(first.relative)),
        ),
    ]);
    Table::new(&["first difference", "value"], rows)
}

fn mistake(found: &Found, has_second: bool) -> Table {
    let mut rows = Vec::new();
    for mistake in &found.mistakes {
        let title = if rows.is_empty() { "mistake" } else { "or, with the same numbers" };
        rows.extend(lines(title, mistake));
    }
    if has_second {
        rows.push(line("how sure", "together with the next one"));
        return Table::new(&["mistake", "value"], rows);
    }
    let with = if found.is_second { "with it and the mistake before it" } else { "with it" };
    rows.push(line(
        "how sure",
        format!(
            "{with}, {} is yours up to {} of the largest number, and {} more agree",
            found.difference.name,
            short(found.relative),
            counted(found.explained, "tensor")
        ),
    ));
    Table::new(&["mistake", "value"], rows)
}

fn rest(rest: &[Difference]) -> Table {
    let row = |Difference { name, node, largest, relative, .. }: &Difference| {
        vec![name.clone(), node.clone(), short(*largest), short(*relative)]
    };
    let mut rows: Vec<Vec<String>> = rest.iter().take(MOST_OF_REST).map(row).collect();
    if let Some(more) = rest.len().checked_sub(MOST_OF_REST).filter(|more| *more > 0) {
        rows.push(vec![format!("and {more} more"), String::new(), String::new(), String::new()]);
    }
    Table::new(&["tensor", "here", "largest difference", "of the largest number"], rows)
}

/// The id of a mistake, what shows it, and what to change.
fn lines(title: &str, PortingMistake { id, sentence, change, .. }: &PortingMistake) -> [Vec<String>; 3] {
    [line(title, *id), line("your numbers show", sentence), line("change", change)]
}

/// A row of a title and a text.
fn line(title: &str, text: impl Into<String>) -> Vec<String> {
    vec![title.to_string(), text.into()]
}

/// A number in few digits.
fn short(x: f64) -> String {
    match x.abs() {
        size if x == 0.0 || (1e-3..1e6).contains(&size) || !x.is_finite() => format!("{x:.6}"),
        _ => format!("{x:.2e}"),
    }
}
