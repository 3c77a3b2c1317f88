//! Matrices about the same tokens in one frame: the names of the rows are written once, the names of the matrices in the
//! frame's upper edge.

use crate::text::ScreenWidth;

use super::grid::{Column, boxed, left, right, shaded};
use crate::render::Style;
use crate::render::block::Block;
use crate::render::view::View;

/// All of them in one frame, if there is room.
pub(super) fn frame_within(views: &[&View], width: usize, style: &Style) -> Option<Block> {
    (total(views, 1) <= width).then(|| widest(views, width, style))
}

/// The width of a matrix within the frame, without the spaces on both sides: its name has to fit above it.
fn part(view: &View, gap: usize) -> usize {
    let name = if view.name.is_empty() { 0 } else { view.name_width() + 2 };
    view.columns_width(gap).max(name)
}

fn label(views: &[&View]) -> usize {
    views.first().map_or(0, |view| view.rows_width())
}

/// The width of the frame.
pub(super) fn total(views: &[&View], gap: usize) -> usize {
    label(views) + 4 + views.iter().map(|view| part(view, gap) + 3).sum::<usize>()
}

/// The frame, its columns as far apart as there is room for.
pub(super) fn widest(views: &[&View], width: usize, style: &Style) -> Block {
    let gap = [3, 2, 1].into_iter().find(|&gap| total(views, gap) <= width).unwrap_or(1);
    frame(views, gap, style)
}

/// The frame, the columns of each matrix this far apart.
pub(super) fn frame(views: &[&View], gap: usize, style: &Style) -> Block {
    let head = (!views.iter().all(|view| view.has_plain_columns())).then(|| {
        let names = views.iter().flat_map(|view| &view.cols).map(right);
        std::iter::once(left("")).chain(names).collect()
    });
    let names = views.first().map_or(&[][..], |view| &view.rows);
    let rows = names.iter().enumerate().map(|(i, name)| {
        let cells = views.iter().flat_map(|view| &view.cells[i]);
        std::iter::once(left(name)).chain(cells.map(|cell| shaded(&cell.text, cell.shade))).collect()
    });
    let first = Column { text: label(views), left: 1, right: 1, is_ruled: false };
    let columns = std::iter::once(first).chain(views.iter().flat_map(|view| columns(view, gap)));
    let mut block = boxed(&columns.collect::<Vec<_>>(), head, rows, style);
    if let Some(top) = block.lines.first_mut() {
        *top = upper_edge(views, gap);
    }
    block
}

/// The columns of a matrix in the frame; the first one is wider where the name of the matrix needs the room.
fn columns(view: &View, gap: usize) -> Vec<Column> {
    let spare = part(view, gap) - view.columns_width(gap);
    let last = view.cols.len().saturating_sub(1);
    let column = |(j, &text)| Column {
        text,
        left: if j == 0 { 1 + spare } else { gap.saturating_sub(2) },
        right: usize::from(gap > 1 || j == last),
        is_ruled: j == 0,
    };
    view.column_widths().iter().enumerate().map(column).collect()
}

/// `╭─────┬─ S ────┬─ A ────╮`.
fn upper_edge(views: &[&View], gap: usize) -> String {
    let mut line = format!("╭{}", "─".repeat(label(views) + 2));
    for view in views {
        let name = if view.name.is_empty() { String::new() } else { format!("─ {} ", view.name) };
        let rest = (part(view, gap) + 2).saturating_sub(name.width());
        line += &format!("┬{name}{}", "─".repeat(rest));
    }
    line + "╮"
}
