//! The matrices side by side: the operands, the current matrix, and what reads it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::layout::{Equation, Line, Plan, Room, Size};
use super::matrix::Shown;
use super::{Board, Hit, Marks, put};
use crate::graph::{Graph, NodeId, Op};
use crate::text::ScreenWidth;

/// The columns of a matrix that are shown at least.
const FEWEST_COLUMNS: usize = 2;

/// A matrix, and the sign before it.
struct Place<'a> {
    sign: &'static str,
    shown: Shown<'a>,
}

/// The matrices of a step, and where they stand.
pub(super) struct Wall<'a> {
    places: Vec<Place<'a>>,
    plan: Plan,
}

impl<'a> Wall<'a> {
    /// The matrices around the cursor in this room.
    pub fn new(board: &'a Board<'_>, marks: &Marks, room: Room) -> Wall<'a> {
        let places = places(board, marks);
        let is_current = |place: &Place<'_>| !place.shown.is_beside && place.shown.node == marks.cursor.node;
        let current = places.iter().position(is_current).unwrap_or(0);
        let is_chosen =
            |place: &usize| marks.chosen.is_some_and(|cell| cell.node == places[*place].shown.node);
        let (first, others): (Vec<usize>, Vec<usize>) = (0..current).rev().partition(is_chosen);
        let size = |place: &Place<'_>| {
            let widths = place.shown.widths(board, marks, room.height);
            let below = place.shown.moved_rows(board, marks, room.height);
            let rows = place.shown.size().0;
            Size { whole: widths.whole(), least: widths.with(FEWEST_COLUMNS), rows, below }
        };
        let sizes = places.iter().map(size).collect();
        let operands = first.into_iter().chain(others).collect();
        let is_even = board.state.beside().is_some();
        let plan = Equation { sizes, current, operands, is_even }.plan(room);
        Wall { places, plan }
    }

    /// Whether there is room for the map too.
    pub fn has_map(&self) -> bool {
        self.plan.has_map
    }

    /// Draws the matrices; returns where their cells are.
    pub fn draw(&self, board: &Board<'_>, marks: &Marks, buffer: &mut Buffer, area: Rect) -> Vec<Hit> {
        let mut hits = Vec::new();
        let mut y = area.y;
        for (number, line) in self.plan.lines.iter().enumerate() {
            let mut x = area.x;
            let height = line.height as u16;
            let middles = line.places.iter().map(|(place, _)| self.places[*place].shown.middle(line.height));
            let middle = y + middles.max().unwrap_or(0) as u16;
            let most = self.same_columns(board, marks, line);
            for (at, &(place, width)) in line.places.iter().enumerate() {
                let Place { sign, shown } = &self.places[place];
                // The second line begins with its sign.
                if at + number > 0 {
                    let gap = self.plan.gap as u16;
                    let sign = board.look.spelled(sign);
                    put(
                        board.look,
                        buffer,
                        x + gap / 2 - sign.width() as u16 / 2,
                        middle,
                        gap,
                        &sign,
                        Style::new(),
                    );
                    x += gap;
                }
                let place = Rect { x, y, width: width as u16, height };
                hits.extend(shown.draw(board, marks, buffer, (place, most)));
                x += width as u16;
            }
            y += height;
        }
        hits
    }

    /// The most columns that each matrix shows: beside an earlier state both show the same ones.
    fn same_columns(&self, board: &Board<'_>, marks: &Marks, line: &Line) -> usize {
        if board.state.beside().is_none() {
            return usize::MAX;
        }
        let columns = |&(place, width): &(usize, usize)| {
            self.places[place].shown.columns_in(board, marks, (width, line.height))
        };
        line.places.iter().map(columns).min().unwrap_or(usize::MAX)
    }
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
        Op::Product
        | Op::ProductTransposed
        | Op::TransposedProduct
        | Op::Linear(_)
        | Op::Multiply
        | Op::Times => "·",
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
            || matches!(op, Op::TransposedProduct) && number == 0
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
