//! Matrices about the same tokens in one frame: the names of the rows are written once, the names of the matrices in the
//! frame's upper edge.

use unicode_width::UnicodeWidthStr;

use super::grid::{ColumnWidth, fixed, new_grid, right, ruled, shaded, text};
use crate::render::Style;
use crate::render::block::Block;
use crate::render::view::View;

/// Blocks for matrices to be set from left to right: neighbours whose rows have the same names share a frame, as many as
/// there is room for.
pub(super) fn blocks(views: &[&View], width: usize, style: &Style) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut rest = views;
    while let Some(first) = rest.first() {
        let has_notes = |count: &usize| rest[..=*count].iter().any(|view| !view.notes.is_empty());
        let fits = |count: &usize| {
            rest[*count].rows == first.rows && !has_notes(count) && total(&rest[..=*count], 1) <= width
        };
        let count = (1..rest.len()).take_while(fits).last().map_or(1, |last| last + 1);
        let (together, others) = rest.split_at(count);
        match together {
            [_] => blocks.extend(super::apart(together, width, style)),
            _ => blocks.push(widest(together, width, style)),
        }
        rest = others;
    }
    blocks
}

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
fn widest(views: &[&View], width: usize, style: &Style) -> Block {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::view::Cell;
    use crate::render::{Charset, Format, Heat};

    fn style() -> Style {
        Style {
            format: Format::Table,
            places: None,
            width: 80,
            colour: false,
            charset: Charset::Utf8,
            heat: Heat::Never,
            theme: crate::render::Theme::Light,
            convention: crate::graph::Convention::Rows,
        }
    }

    fn view(name: &str, rows: &[&str], cols: &[&str]) -> View {
        let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<String>>();
        let cell =
            |i: usize, j: usize| Cell { text: format!("{i}.{j}"), shade: Default::default(), of: None };
        let cells = (0..rows.len()).map(|i| (0..cols.len()).map(|j| cell(i, j)).collect()).collect();
        View { name: name.into(), rows: owned(rows), cols: owned(cols), cells, notes: Vec::new() }
    }

    #[test]
    fn matrices_of_the_same_tokens_share_a_frame_and_its_names() {
        let (s, a) = (view("S", &["the", "art"], &["the", "art"]), view("A_masked", &["the", "art"], &["1"]));
        let blocks = blocks(&[&s, &a], 40, &style());
        assert_eq!(blocks.len(), 1);
        let lines: Vec<&str> = blocks[0].lines.iter().map(String::as_str).collect();
        assert_eq!(
            lines,
            [
                "╭─────┬─ S ───────┬─ A_masked ─╮",
                "│     │ the   art │          1 │",
                "├─────┼───────────┼────────────┤",
                "│ the │ 0.0   0.1 │        0.0 │",
                "│ art │ 1.0   1.1 │        1.0 │",
                "╰─────┴───────────┴────────────╯",
            ]
        );
        assert_eq!(blocks[0].width, 32);
    }

    #[test]
    fn columns_that_only_count_have_no_head_and_other_tokens_another_frame() {
        let views = [
            view("Q", &["the"], &["1", "2"]),
            view("K", &["the"], &["1", "2"]),
            view("V", &["of"], &["1", "2"]),
        ];
        let views: Vec<&View> = views.iter().collect();
        let blocks = blocks(&views, 60, &style());
        assert_eq!(blocks.len(), 2);
        assert_eq!(
            blocks[0].lines,
            [
                "╭─────┬─ Q ───────┬─ K ───────╮",
                "│ the │ 0.0   0.1 │ 0.0   0.1 │",
                "╰─────┴───────────┴───────────╯"
            ]
        );
        assert!(blocks[1].lines[0].starts_with("╭────┬"), "{:?}", blocks[1].lines);
    }
}
