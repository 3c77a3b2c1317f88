//! The numbers before the last change, below the rows of the current matrix, where there are lines for them.

use std::collections::BTreeMap;
use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::number::MARKS;
use super::{Board, Marks, put};
use crate::graph::{CellId, NodeId};
use crate::text::{CUT, ScreenWidth};
use attn_story::render::number_alone;

/// What stands before the old numbers of a row: without colour, too, they can be told from those of today.
pub(super) const WAS: &str = "was";

/// The old numbers, by row and column.
#[derive(Debug, Default)]
pub(super) struct Before {
    rows: BTreeMap<usize, BTreeMap<usize, String>>,
}

/// Whether a matrix has numbers that moved, and no matrix beside it shows what they were.
pub(super) fn is_told(board: &Board<'_>, marks: &Marks, node: NodeId) -> bool {
    node == marks.cursor.node && marks.moved.contains(&node) && board.state.beside().is_none()
}

impl Before {
    /// The old numbers of these rows and columns, in at most as many rows as `spare` has lines: those around the cursor first.
    pub fn of(
        board: &Board<'_>,
        marks: &Marks,
        node: NodeId,
        (rows, cols): (Range<usize>, Range<usize>),
        spare: usize,
    ) -> Before {
        if spare == 0 || !is_told(board, marks, node) {
            return Before::default();
        }
        let old = |row: usize, col: usize| {
            let change = board.state.change_at(CellId { node, row, col })?;
            Some((col, board.look.spelled(&number_alone(change.before, board.state.decimals()))))
        };
        let of_row = |row: usize| (row, cols.clone().filter_map(|col| old(row, col)).collect());
        let mut found: Vec<(usize, BTreeMap<usize, String>)> = rows.map(of_row).collect();
        found.retain(|(_, old)| !old.is_empty());
        found.sort_by_key(|(row, _)| row.abs_diff(marks.cursor.row));
        found.truncate(spare);
        Before { rows: found.into_iter().collect() }
    }

    /// Draws the line below a row, if it has one; returns its height. `number` is the width of a number, `area` begins with the labels.
    pub fn draw(
        &self,
        board: &Board<'_>,
        buffer: &mut Buffer,
        (row, first): (usize, usize),
        (label, number): (usize, usize),
        area: Rect,
    ) -> u16 {
        let Some(old) = self.rows.get(&row) else { return 0 };
        let look = board.look;
        put(look, buffer, area.x, area.y, area.width, WAS, look.quiet());
        for (col, text) in old {
            // A number without some of its digits would be another one.
            let text = if text.width() > number + 1 { look.spelled(&CUT.to_string()) } else { text.clone() };
            let end = label + (col - first) * (number + MARKS) + number + 1;
            let x = area.x + (end - text.width()) as u16;
            put(look, buffer, x, area.y, text.width() as u16, &text, look.quiet());
        }
        1
    }
}
