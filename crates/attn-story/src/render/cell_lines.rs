//! Where one number came from, in a few lines: in symbols, with the numbers put in, and the value.

use super::Style;
use super::explained::{Derivation, ExplanationWriter, PlainTerms, Sign};
use super::viewer::Viewer;
use crate::explain::{Explanation, SHOWN, notes, shortened_to};
use crate::graph::{CellId, Graph, Symbols, Term, address_of};
use crate::story::Story;

/// The lines about one number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellLines {
    /// Its address: `A[cave,bat]`.
    pub address: String,
    /// The right side of its step's equation: `softmax(S)`; for a given number, where it was given.
    pub step: String,
    /// Its symbol: `a21`.
    pub symbol: String,
    /// The lines of its derivation, each with `=` or `≈` before it; none for a number that is not derived.
    pub lines: Vec<(&'static str, String)>,
    /// A name for a part of the formula, its definition, and its value.
    pub with: Option<(&'static str, String, String)>,
    /// Remarks: why it is 0, which rounding shows.
    pub notes: Vec<String>,
}

/// The lines about a cell of the story's graph.
pub fn cell_lines(story: &Story, style: &Style, cell: CellId) -> CellLines {
    cell_lines_to(story, style, cell, SHOWN)
}

/// The lines about a cell, in which long sums keep this many terms.
pub fn cell_lines_to(story: &Story, style: &Style, cell: CellId, kept: usize) -> CellLines {
    let viewer = Viewer { story, style };
    let graph = &story.graph;
    let writer = ExplanationWriter::of_nothing(&viewer, Symbols::of(graph, style.convention));
    let mut told = CellLines {
        address: address_of(graph, cell),
        step: writer.equation(cell).right,
        symbol: writer.symbols.cell(cell),
        ..CellLines::default()
    };
    if let Some((_, derivation)) = derivation_to(&writer, graph, cell, kept) {
        let Derivation { lines, with, notes } = derivation;
        told.lines = lines.into_iter().map(|(sign, line)| (sign.text(), line)).collect();
        told.with = with;
        told.notes = notes;
    }
    told
}

/// The derivation of a cell in symbols, with the numbers put in, and the value: the steps between are for `--explain`. `None` for a
/// number that is not derived.
pub fn short_derivation(
    writer: &ExplanationWriter<'_>,
    graph: &Graph,
    cell: CellId,
) -> Option<(Explanation, Derivation)> {
    derivation_to(writer, graph, cell, SHOWN)
}

fn derivation_to(
    writer: &ExplanationWriter<'_>,
    graph: &Graph,
    cell: CellId,
    kept: usize,
) -> Option<(Explanation, Derivation)> {
    let term = graph.terms(cell);
    if let Term::Leaf(..) = term {
        return None;
    }
    let shown = shortened_to(graph, &term, kept);
    let notes = notes(graph, cell, &shown);
    let value = Term::Cell(cell).evaluate(graph);
    let (address, operands) = (String::new(), Vec::new());
    let explanation = Explanation { cell, address, value, term, shown, kept, notes, operands };
    let mut derivation = writer
        .worked(&explanation, &PlainTerms::symbols(writer), |digits| PlainTerms::numbers(writer, digits));
    let lines = &mut derivation.lines;
    if lines.len() > 3 {
        let end = lines.len() - 1;
        let rounded = lines.drain(2..end).any(|(sign, _)| sign == Sign::Rounded);
        if let Some((sign, _)) = lines.last_mut().filter(|_| rounded) {
            *sign = Sign::Rounded;
        }
    }
    Some((explanation, derivation))
}
