//! Matrices as boxes of lines: each by itself, or those of the same tokens in one frame.

use std::ops::Range;

use super::Style;
use super::block::{Block, rows};
use super::view::View;

mod bands;
mod frame;
mod grid;
mod words;

pub(super) use bands::only_box;
use bands::{apart, note_width};
pub(super) use words::words;

/// A matrix as boxes: one, or several bands of whole columns with the row labels repeated, none wider than `width`. Columns
/// move closer together where that saves a band.
pub(super) fn matrix(view: &View, width: usize, style: &Style) -> Vec<Block> {
    apart(&[view], width, style)
}

/// Several matrices as boxes to be set from left to right; those of the same tokens share a frame where that saves lines.
pub(super) fn matrices(views: &[&View], width: usize, style: &Style) -> Vec<Block> {
    if views.len() < 2 {
        return apart(views, width, style);
    }
    let height = |blocks: &[Block]| {
        let rows = rows(&blocks.iter().map(|block| block.width).collect::<Vec<_>>(), width);
        let tallest = |row: Range<usize>| blocks[row].iter().map(|block| block.lines.len()).max();
        rows.into_iter().filter_map(tallest).sum::<usize>()
    };
    let (apart, joint) = (apart(views, width, style), joint(views, width, style));
    let (lines_apart, lines_joint) = (height(&apart), height(&joint));
    // Names of tokens say that it is the same tokens; mere numbers do not.
    let are_tokens = !views.iter().any(|view| view.has_plain_rows());
    if lines_joint < lines_apart || (lines_joint == lines_apart && are_tokens) { joint } else { apart }
}

/// The columns of a view as rows of a frame without a head, the last row, their sums, in a part of its own; nothing if that
/// does not fit or is no shorter.
pub(super) fn rows_and_sum(view: &View, width: usize, style: &Style) -> Option<Block> {
    let (rows, sums) = view.as_rows();
    let parts: Vec<&View> = std::iter::once(&rows).chain(&sums).collect();
    let block = frame::frame_within(&parts, width, style)?;
    (block.lines.len() < view.rows.len() + 4).then_some(block)
}

/// The fewest columns in which a matrix is whole.
pub(super) fn least_width(view: &View) -> usize {
    let boxed = view.box_width(1) + note_width(view);
    if view.notes.is_empty() { boxed.min(frame::total(&[view], 1)) } else { boxed }
}

/// Blocks for matrices to be set from left to right: neighbours whose rows have the same names share a frame, as many as
/// there is room for.
fn joint(views: &[&View], width: usize, style: &Style) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut rest = views;
    while let Some(first) = rest.first() {
        let has_notes = |count: &usize| rest[..=*count].iter().any(|view| !view.notes.is_empty());
        let fits = |count: &usize| {
            rest[*count].rows == first.rows && !has_notes(count) && frame::total(&rest[..=*count], 1) <= width
        };
        let count = (1..rest.len()).take_while(fits).last().map_or(1, |last| last + 1);
        let (together, others) = rest.split_at(count);
        match together {
            [_] => blocks.extend(apart(together, width, style)),
            _ => blocks.push(frame::widest(together, width, style)),
        }
        rest = others;
    }
    blocks
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
        View::new(name.into(), owned(rows), owned(cols), cells)
    }

    #[test]
    fn matrices_of_the_same_tokens_share_a_frame_and_its_names() {
        let (s, a) = (view("S", &["the", "art"], &["the", "art"]), view("A_masked", &["the", "art"], &["1"]));
        let blocks = joint(&[&s, &a], 40, &style());
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
    fn a_table_keeps_its_heads_where_its_columns_move_together_or_stand_in_bands() {
        let heads: Vec<String> = (1..=12).map(|head| head.to_string()).collect();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let grid = View { keeps_heads: true, ..view("layer", &["1", "2"], &heads) };
        for width in [40, 60, 70, 80, 81, 200] {
            let blocks = matrix(&grid, width, &style());
            let lines: Vec<&String> = blocks.iter().flat_map(|block| &block.lines).collect();
            let mut shown: Vec<&str> = Vec::new();
            for line in lines.iter().filter(|line| line.starts_with("│ layer │")) {
                shown.extend(line.split([' ', '│']).filter(|head| !head.is_empty() && *head != "layer"));
            }
            assert_eq!(shown, heads, "{width}: {lines:#?}");
            assert!(blocks.iter().all(|block| block.width <= width), "{width}: {lines:#?}");
        }
    }

    #[test]
    fn columns_that_only_count_have_no_head_and_other_tokens_another_frame() {
        let views = [
            view("Q", &["the"], &["1", "2"]),
            view("K", &["the"], &["1", "2"]),
            view("V", &["of"], &["1", "2"]),
        ];
        let views: Vec<&View> = views.iter().collect();
        let blocks = joint(&views, 60, &style());
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
