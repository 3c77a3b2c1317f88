//! Tables in HTML: matrices with their labels, and tables of words.

use super::explained::ExplanationWriter;
use super::heat::Shade;
use super::html_page::escaped;
use super::html_sources::{SourceFinder, sum};
use super::view::{Cell, HATCH, View};
use super::viewer::OPEN;
use crate::graph::{CellId, Graph, NodeId, Op, Origin, address_of};
use crate::story::Table;

/// A matrix that is looked at, as an operand.
pub fn matrix(view: &View) -> String {
    grid(view, &mut |_| String::new())
}

/// A matrix whose cells carry references to their sources, and true if any cell does.
pub fn result(
    view: &View,
    graph: &Graph,
    writer: &ExplanationWriter<'_>,
    sources: &mut SourceFinder,
) -> (String, bool) {
    let size = view.rows.len() * view.cols.len();
    let mut any = false;
    let table = grid(view, &mut |cell| {
        let Some(of) = cell.of else { return String::new() };
        let Some(from) = sources.from(graph, of) else { return String::new() };
        any = true;
        let sum = sum(writer, graph, of, size).filter(|_| cell.text.trim() != OPEN);
        let sum = sum.map_or(String::new(), |sum| format!(" data-sum=\"{}\"", escaped(&sum)));
        format!(" data-from=\"{from}\"{sum}")
    });
    (table, any)
}

/// A matrix whose cells have their addresses as names; given ones are marked.
pub fn live(view: &View, graph: &Graph) -> String {
    grid(view, &mut |cell| {
        let Some(of) = cell.of else { return String::new() };
        let is_given = matches!(&graph[of.node].op, Op::Given(origin) if *origin != Origin::Removed);
        let given = if is_given { " data-given" } else { "" };
        let name = format!("{} = {}", address_of(graph, of), cell.text.trim().trim_start_matches(HATCH));
        format!(" aria-label=\"{}\"{given}", escaped(&name))
    })
}

fn grid(view: &View, more: &mut dyn FnMut(&Cell) -> String) -> String {
    let place = place(view);
    let name = if view.name.is_empty() {
        "<td></td>".to_string()
    } else {
        format!("<th scope=\"col\" class=\"name\">{}</th>", escaped(&view.name))
    };
    let heads: String =
        view.cols.iter().map(|label| format!("<th scope=\"col\">{}</th>", escaped(label))).collect();
    let mut out = format!(
        "<div class=\"scroll\"><table class=\"matrix\"{}>\n<thead><tr>{name}{heads}</tr></thead>\n<tbody>\n",
        place.attributes()
    );
    for (i, (label, cells)) in view.rows.iter().zip(&view.cells).enumerate() {
        let note = view.notes.get(i).filter(|note| !note.is_empty());
        let note = note.map_or(String::new(), |note| format!(" <small>{}</small>", escaped(note)));
        out.push_str(&format!("<tr><th scope=\"row\">{}{note}</th>", escaped(label)));
        for cell in cells {
            out.push_str(&format!(
                "<td{}{}{}>{}</td>",
                look(cell.shade),
                place.of(cell),
                more(cell),
                text(cell)
            ));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
    out
}

/// The cells of the graph that a table shows.
enum CellOrder {
    /// The rows and columns of a node.
    Upright(NodeId),
    /// Its columns and rows.
    Turned(NodeId),
    /// Each cell says it itself.
    Mixed,
}

fn place(view: &View) -> CellOrder {
    let Some(node) =
        view.cells.first().and_then(|row| row.first()).and_then(|cell| cell.of).map(|of| of.node)
    else {
        return CellOrder::Mixed;
    };
    let all = |at: &dyn Fn(usize, usize) -> CellId| {
        let mut rows = view.cells.iter().enumerate();
        rows.all(|(i, row)| row.iter().enumerate().all(|(j, cell)| cell.of == Some(at(i, j))))
    };
    if all(&|row, col| CellId { node, row, col }) {
        CellOrder::Upright(node)
    } else if all(&|col, row| CellId { node, row, col }) {
        CellOrder::Turned(node)
    } else {
        CellOrder::Mixed
    }
}

impl CellOrder {
    fn attributes(&self) -> String {
        match self {
            CellOrder::Upright(node) => format!(" data-node=\"{}\"", node.position()),
            CellOrder::Turned(node) => format!(" data-node=\"{}\" data-turned", node.position()),
            CellOrder::Mixed => String::new(),
        }
    }

    fn of(&self, cell: &Cell) -> String {
        match (self, cell.of) {
            (CellOrder::Mixed, Some(of)) => {
                format!(" data-at=\"{}:{},{}\"", of.node.position(), of.row + 1, of.col + 1)
            }
            _ => String::new(),
        }
    }
}

fn look(shade: Shade) -> String {
    match shade {
        Shade::Positive(0) | Shade::Negative(0) | Shade::None => String::new(),
        Shade::Positive(level) => format!(" class=\"more-{level}\""),
        Shade::Negative(level) => format!(" class=\"less-{level}\""),
        Shade::Masked => " class=\"masked\"".to_string(),
    }
}

/// The text with the spaces behind it, which keep points under each other; hatching is for the eye alone.
fn text(cell: &Cell) -> String {
    let text = cell.text.trim_start();
    let number = text.trim_start_matches(HATCH);
    match &text[..text.len() - number.len()] {
        "" => escaped(number),
        hatch => format!("<span aria-hidden=\"true\">{hatch}</span>{}", escaped(number)),
    }
}

/// A table of words; columns of numbers stand on the right.
pub fn words(table: &Table) -> String {
    let number = |j: usize| if table.numbers.contains(&j) { " class=\"number\"" } else { "" };
    let lines = |text: &str| escaped(text).replace('\n', "<br>");
    let heads = table.header.iter().enumerate();
    let heads: String =
        heads.map(|(j, head)| format!("<th scope=\"col\"{}>{}</th>", number(j), lines(head))).collect();
    let row = |cells: &Vec<String>| {
        let cells = cells.iter().enumerate().map(|(j, cell)| match j {
            0 => format!("<th scope=\"row\"{}>{}</th>", number(0), lines(cell)),
            _ => format!("<td{}>{}</td>", number(j), lines(cell)),
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let rows: String = table.rows.iter().map(row).collect();
    format!(
        "<div class=\"scroll\"><table class=\"words\">\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}
