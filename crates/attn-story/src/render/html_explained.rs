//! Explanations in HTML: a cell's formula, worked out line by line, and its operands as a list that folds.

use super::explained::{Derivation, ExplanationWriter, PlainTerms, Sign};
use super::html_page::escaped;
use crate::explain::{Branch, Explanation};

/// All explanations; two of them stand next to each other where there is room.
pub fn explanations(writer: &ExplanationWriter<'_>) -> String {
    let class = if writer.side_by_side { "told beside" } else { "told" };
    let one = |one: &crate::story::ExplainedCell| {
        let caption = if one.caption.is_empty() {
            String::new()
        } else {
            format!("<p class=\"caption\">{}</p>\n", escaped(&one.caption))
        };
        format!("<section>\n{caption}{}</section>\n", root(writer, &one.explanation))
    };
    format!("<div class=\"{class}\">\n{}</div>\n", writer.of.iter().map(one).collect::<String>())
}

/// A cell that was asked for.
fn root(writer: &ExplanationWriter<'_>, explanation: &Explanation) -> String {
    format!(
        "<h3>{} <span class=\"dim\">{}</span></h3>\n{}{}",
        escaped(&explanation.address),
        escaped(&writer.equation(explanation.cell).to_string()),
        body(writer, explanation),
        operands(writer, &explanation.operands)
    )
}

/// The formula in symbols and in numbers, one line below the other, with its notes.
fn body(writer: &ExplanationWriter<'_>, explanation: &Explanation) -> String {
    let Derivation { lines, with, notes } =
        writer
            .worked(explanation, &PlainTerms::symbols(writer), |digits| PlainTerms::numbers(writer, digits));
    let symbol = escaped(&writer.symbols.cell(explanation.cell));
    let line = |(i, (sign, line)): (usize, &(Sign, String))| {
        let (left, last) = (if i == 0 { &symbol[..] } else { "" }, i + 1 == lines.len());
        let right = if last { format!("<b>{}</b>", escaped(line)) } else { escaped(line) };
        format!("<tr><td>{left}</td><td>{}</td><td>{right}</td></tr>\n", sign.text())
    };
    let rows: String = lines.iter().enumerate().map(line).collect();
    let with = with.map_or(String::new(), |(name, is, value)| {
        format!("<p class=\"with\">with {name} = {} = {}</p>\n", escaped(&is), escaped(&value))
    });
    let notes: String =
        notes.iter().map(|note| format!("<p class=\"dim\">{}</p>\n", escaped(note))).collect();
    format!("<table class=\"worked\" role=\"presentation\">\n{rows}</table>\n{with}{notes}")
}

fn operands(writer: &ExplanationWriter<'_>, branches: &[Branch]) -> String {
    if branches.is_empty() {
        return String::new();
    }
    let items: String =
        branches.iter().map(|branch| format!("<li>{}</li>\n", operand(writer, branch))).collect();
    format!("<ul class=\"operands\">\n{items}</ul>\n")
}

/// An operand: symbol, address, value, origin; one that is explained unfolds.
fn operand(writer: &ExplanationWriter<'_>, branch: &Branch) -> String {
    let row = writer.operand(branch);
    let head = format!(
        "<code>{}</code> {} = <b>{}</b> <span class=\"dim\">{}</span>",
        escaped(&writer.symbols.cell(row.cell)),
        escaped(&row.address),
        escaped(&row.value),
        escaped(&row.origin)
    );
    match branch {
        Branch::Explained(explanation) if !writer.is_leaf(explanation.cell) => format!(
            "<details open><summary>{head}</summary>\n{}{}</details>",
            body(writer, explanation),
            operands(writer, &explanation.operands)
        ),
        _ => head,
    }
}
