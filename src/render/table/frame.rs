//! Matrices about the same tokens in one frame: the names of the rows are written once, the names of the matrices in the
//! frame's upper edge.

use crate::text::ScreenWidth;

use super::grid::{ColumnWidth, fixed, new_grid, right, ruled, shaded, text};
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
    let mut grid = new_grid(style);
    if !views.iter().all(|view| view.has_plain_columns()) {
        let names = views.iter().flat_map(|view| &view.cols).map(|name| right(name));
        grid.set_header(std::iter::once(text("")).chain(names).collect::<Vec<_>>());
    }
    let rows = views.first().map_or(&[][..], |view| &view.rows);
    for (i, name) in rows.iter().enumerate() {
        let cells = views.iter().flat_map(|view| &view.cells[i]);
        let cells = cells.map(|cell| shaded(right(&cell.text), cell.shade, style));
        grid.add_row(std::iter::once(text(name)).chain(cells).collect::<Vec<_>>());
    }
    let widths: Vec<Vec<ColumnWidth>> = views.iter().map(|view| column_widths(view, gap)).collect();
    let first = ColumnWidth { text: label(views), left: 1, right: 1 };
    let all: Vec<ColumnWidth> = std::iter::once(first).chain(widths.iter().flatten().copied()).collect();
    let mut block = fixed(grid, &all);
    let mut places = vec![label(views) + 3];
    for view in views {
        let last = places.last().copied().unwrap_or(0);
        places.push(last + part(view, gap) + 3);
    }
    places.pop();
    block.lines = block.lines.iter().map(|line| ruled(line, &places)).collect();
    if let Some(top) = block.lines.first_mut() {
        *top = upper_edge(views, gap);
    }
    block
}

/// The columns of a matrix in the frame; the first one is wider where the name of the matrix needs the room.
fn column_widths(view: &View, gap: usize) -> Vec<ColumnWidth> {
    let spare = part(view, gap) - view.columns_width(gap);
    let last = view.cols.len().saturating_sub(1);
    let width = |j: usize| ColumnWidth {
        text: view.column_width(j),
        left: if j == 0 { 1 + spare } else { gap.saturating_sub(2) },
        right: usize::from(gap > 1 || j == last),
    };
    (0..view.cols.len()).map(width).collect()
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
