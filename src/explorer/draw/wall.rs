//! The matrices side by side: the operands, the current matrix, and what reads it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::matrix::Shown;
use super::{Board, Hit, Marks, put};
use crate::graph::{Graph, NodeId, Op};
use crate::text::ScreenWidth;

/// The columns between two matrices: a sign in the middle.
const GAP: u16 = 5;
/// The columns of an operand that are shown at least.
const FEWEST_COLUMNS: usize = 2;

/// A matrix, and the sign before it.
struct Place<'a> {
    sign: &'static str,
    shown: Shown<'a>,
}

/// Draws the matrices; returns where their cells are.
pub(super) fn draw(board: &Board<'_>, marks: &Marks, buffer: &mut Buffer, area: Rect) -> Vec<Hit> {
    let places = places(board, marks);
    let height = usize::from(area.height);
    let widths: Vec<_> = places.iter().map(|place| place.shown.widths(board, marks, height)).collect();
    let is_current = |place: &Place<'_>| !place.shown.is_beside && place.shown.node == marks.cursor.node;
    let current = places.iter().position(is_current).unwrap_or(0);
    // The current matrix comes first; then the operand that Enter opens, the others from the right to the left, and what reads it.
    let mut room = usize::from(area.width);
    let mut given = vec![0_usize; places.len()];
    let is_chosen = |place: &usize| marks.chosen.is_some_and(|cell| cell.node == places[*place].shown.node);
    let (first, others): (Vec<usize>, Vec<usize>) = (0..current).rev().partition(is_chosen);
    let operands: Vec<usize> = first.into_iter().chain(others).collect();
    let order = [current].into_iter().chain(operands.iter().copied()).chain(current + 1..places.len());
    for (number, place) in order.enumerate() {
        let gap = if number == 0 { 0 } else { usize::from(GAP) };
        let whole = widths[place].whole();
        let least = widths[place].with(FEWEST_COLUMNS);
        // Others get at least their narrowest form, as long as this one keeps its own.
        let others: usize = if number == 0 {
            operands.iter().take(1).map(|&other| widths[other].with(FEWEST_COLUMNS) + usize::from(GAP)).sum()
        } else {
            0
        };
        let wanted = whole.min(room.saturating_sub(gap + others).max(least));
        if wanted + gap > room || wanted < least && number > 0 {
            if number == 0 {
                given[place] = room;
                room = 0;
            }
            continue;
        }
        given[place] = wanted;
        room -= wanted + gap;
    }
    let mut x = area.x;
    let mut hits = Vec::new();
    let mut is_first = true;
    for (place, width) in places.iter().zip(given).filter(|(_, width)| *width > 0) {
        if !is_first {
            let y = area.y + 2 + (area.height.saturating_sub(3) / 2).min(2);
            let sign = board.look.spelled(place.sign);
            put(buffer, x + GAP / 2 - sign.width() as u16 / 2, y, GAP, &sign, Style::new());
            x += GAP;
        }
        is_first = false;
        let box_area = Rect { x, y: area.y, width: width as u16, height: area.height };
        hits.extend(place.shown.draw(board, marks, buffer, box_area));
        x += width as u16;
    }
    hits
}

/// The matrices in their order: `Q · Kᵀ = S`, `S → S_scaled`; beside an earlier state, the matrix as it was and as it is.
fn places<'a>(board: &'a Board<'_>, marks: &Marks) -> Vec<Place<'a>> {
    let state = board.state;
    let graph = state.graph();
    let node = state.cursor().node;
    let shown = |graph: &'a Graph, node: NodeId, turned: bool, more: &str| {
        let of = &graph[node];
        let transposed = if turned { "ᵀ" } else { "" };
        let shape = of.shape();
        let shape = if turned { format!("{}×{}", shape.cols, shape.rows) } else { shape.to_string() };
        let open = if of.tensor().is_none() { " (never formed)" } else { "" };
        let title = board.look.spelled(&format!("{}{transposed} {shape}{more}{open}", of.name));
        Shown { graph, node, turned, title, is_beside: !std::ptr::eq(graph, state.graph()) }
    };
    if let Some((before, changes)) = state.beside()
        && let Some(there) = before.find(&graph[node].name)
    {
        let said = if changes.is_nothing() { " at the start" } else { " before" };
        return vec![
            Place { sign: "", shown: shown(before, there, false, said) },
            Place { sign: "│", shown: shown(graph, node, false, " now") },
        ];
    }
    let op = &graph[node].op;
    let inputs = &graph[node].inputs;
    let sign = match op {
        Op::Product | Op::ProductTransposed | Op::Linear(_) | Op::Multiply | Op::Times => "·",
        Op::Add => "+",
        Op::Subtract => "−",
        Op::Divide | Op::Quotient => "/",
        _ => ",",
    };
    // Of many operands those that are read, and the one that is chosen.
    let is_read = |input: &&NodeId| inputs.len() <= 3 || marks.read.contains(input);
    let mut operands: Vec<NodeId> = inputs.iter().filter(is_read).copied().collect();
    operands.dedup();
    let mut all: Vec<Place<'a>> = Vec::new();
    for (number, input) in operands.iter().enumerate() {
        let turned = matches!(op, Op::ProductTransposed) && number > 0
            || matches!(op, Op::Linear(crate::attention::WeightLayout::OutIn)) && number == 1;
        all.push(Place {
            sign: if number == 0 { "" } else { sign },
            shown: shown(graph, *input, turned, ""),
        });
    }
    // A product of a matrix with itself has two places.
    if matches!(op, Op::ProductTransposed) && operands.len() == 1 {
        all.push(Place { sign, shown: shown(graph, operands[0], true, "") });
    }
    let equals = if all.len() > 1 { "=" } else { "→" };
    all.push(Place { sign: equals, shown: shown(graph, node, false, "") });
    if let Some(&reader) = marks.readers.first() {
        all.push(Place { sign: "→", shown: shown(graph, reader, false, "") });
    }
    all
}
