//! What a diagnosis of a port found, as tables.

use super::Table;
use crate::model::Text;
use crate::model::porting::{Difference, DumpPrecision, Found, PortingReport};
use crate::text::{all_of, counted, listed_briefly};

/// More tensors that differ are only counted.
const MOST_OF_REST: usize = 12;

/// The tables of a report on the tensors of a port. `text` names the rows.
pub fn porting(report: &PortingReport, text: &Text) -> Vec<(String, Table)> {
    let mut parts = vec![("Your tensors".to_string(), about(report))];
    if let Some(mistake) = &report.of_text {
        let rows = vec![
            vec!["mistake".to_string(), mistake.id.to_string()],
            vec!["your numbers show".to_string(), mistake.sentence.clone()],
            vec!["change".to_string(), mistake.change.clone()],
        ];
        parts.push(("The text".to_string(), Table::new(&["text", "value"], rows)));
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
        let title = match (report.found.is_empty(), report.first.is_some()) {
            (false, _) => "Tensors that this does not explain",
            (true, _) => "Other tensors that differ",
        };
        parts.push((title.to_string(), rest(&report.rest)));
    }
    parts
}

fn about(report: &PortingReport) -> Table {
    let names: Vec<String> =
        report.namings.iter().map(|(naming, count)| format!("{count} by {}", naming.name())).collect();
    let mut rows = vec![
        vec!["compared".to_string(), format!("{}: {}", counted(report.compared(), "tensor"), all_of(&names))],
        vec!["result".to_string(), report.headline()],
        vec!["rounding".to_string(), rounding(report)],
    ];
    rows.extend(
        report.conventions.iter().map(|note| vec!["convention, no mistake".to_string(), note.to_string()]),
    );
    if report.first.is_some() && report.found.is_empty() {
        rows.push(vec!["mistake".to_string(), "no known mistake gives these numbers".to_string()]);
    }
    for (title, names) in [("not compared", &report.not_compared), ("unknown names", &report.unknown)] {
        if !names.is_empty() {
            rows.push(vec![title.to_string(), listed_briefly(names.iter().map(String::as_str))]);
        }
    }
    for (name, dims) in &report.other_shapes {
        rows.push(vec!["other shape".to_string(), format!("{name} {dims:?}")]);
    }
    Table::new(&["this dump", "value"], rows)
}

/// What rounding leaves, in words.
fn rounding(report: &PortingReport) -> String {
    let name = report.precision.name();
    let units = report.rounding / report.precision.unit();
    let power = match report.precision {
        DumpPrecision::Bf16 => "2⁻⁸",
        DumpPrecision::F16 => "2⁻¹¹",
        DumpPrecision::F32 => "2⁻²⁴",
    };
    format!("{name}: where they agree, the largest difference is {units:.1} × {power} of the largest number")
}

fn difference(first: &Difference, text: &Text) -> Table {
    let layer = format!("layer {}", first.layer);
    let (row, col) = first.at;
    let token = text.tokens.get(row - 1).map_or_else(String::new, |token| format!(" ({token})"));
    let mut rows = vec![
        vec!["tensor".to_string(), first.name.clone()],
        vec!["here".to_string(), format!("{}: {}, {layer}", first.node, first.step)],
    ];
    rows.extend(first.head.map(|head| vec!["head".to_string(), head.to_string()]));
    rows.extend([
        vec!["cell".to_string(), format!("row {row}{token}, column {col}")],
        vec!["yours".to_string(), short(first.yours)],
        vec!["right".to_string(), short(first.right)],
        vec![
            "largest difference".to_string(),
            format!("{} ({} of the largest number)", short(first.largest), short(first.relative)),
        ],
    ]);
    Table::new(&["first difference", "value"], rows)
}

fn mistake(found: &Found, has_second: bool) -> Table {
    let mut rows = Vec::new();
    for mistake in &found.mistakes {
        let title = if rows.is_empty() { "mistake" } else { "or, with the same numbers" };
        rows.push(vec![title.to_string(), mistake.id.to_string()]);
        rows.push(vec!["your numbers show".to_string(), mistake.sentence.clone()]);
        rows.push(vec!["change".to_string(), mistake.change.clone()]);
    }
    if has_second {
        rows.push(vec!["how sure".to_string(), "together with the next one".to_string()]);
        return Table::new(&["mistake", "value"], rows);
    }
    let with = if found.is_second { "with it and the mistake before it" } else { "with it" };
    rows.push(vec![
        "how sure".to_string(),
        format!(
            "{with}, {} is yours up to {} of the largest number, and {} more agree",
            found.difference.name,
            short(found.relative),
            counted(found.explained, "tensor")
        ),
    ]);
    Table::new(&["mistake", "value"], rows)
}

fn rest(rest: &[Difference]) -> Table {
    let row = |difference: &Difference| {
        vec![
            difference.name.clone(),
            difference.node.clone(),
            short(difference.largest),
            short(difference.relative),
        ]
    };
    let mut rows: Vec<Vec<String>> = rest.iter().take(MOST_OF_REST).map(row).collect();
    if let Some(more) = rest.len().checked_sub(MOST_OF_REST).filter(|more| *more > 0) {
        rows.push(vec![format!("and {more} more"), String::new(), String::new(), String::new()]);
    }
    Table::new(&["tensor", "here", "largest difference", "of the largest number"], rows)
}

/// A number in few digits.
fn short(x: f64) -> String {
    match x.abs() {
        size if x == 0.0 || (1e-3..1e6).contains(&size) || !x.is_finite() => format!("{x:.6}"),
        _ => format!("{x:.2e}"),
    }
}
