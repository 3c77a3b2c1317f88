//! Matrices in boxes of their own: as many bands of columns as the width of the screen needs.

use std::borrow::Cow;

use crate::text::ScreenWidth;

use super::frame;
use super::grid::{Column, boxed, left, right, shaded};
use crate::render::block::{Block, Level, rows};
use crate::render::view::{FRAME, View};
use crate::render::{Charset, Style};

/// Returns true if a matrix has no head: its rows have names, and its columns only numbers.
fn is_headless(view: &View) -> bool {
    view.has_plain_columns() && !view.has_plain_rows() && view.notes.is_empty() && !view.keeps_heads
}

/// Returns true if the name of a matrix stands in the upper edge, as in a frame of several: the name is so much longer than
/// those of the rows that the box would be too wide.
fn is_framed(view: &View, width: usize, gap: usize) -> bool {
    view.notes.is_empty()
        && !view.cols.is_empty()
        && !view.keeps_heads
        && view.box_width(gap) > width
        && frame::total(&[view], gap) <= width
}

/// Each matrix in its own boxes. Their columns move closer together where that saves a band, or lets more boxes stand in a row.
pub(super) fn apart(views: &[&View], width: usize, style: &Style) -> Vec<Block> {
    let views: Vec<Cow<'_, View>> =
        views.iter().map(|view| with_notes_that_fit(view, width, style.charset)).collect();
    let rows = |gap| {
        let widths = views.iter().flat_map(|view| bands(view, width, gap)).map(|band| band.width);
        rows(&widths.collect::<Vec<_>>(), width).len()
    };
    let fewest = rows(1);
    let gap = [3, 2, 1].into_iter().find(|&gap| rows(gap) == fewest).unwrap_or(1);
    let bands_of = |view: &View| {
        let is_framed = is_framed(view, width, gap);
        bands(view, width, gap)
            .into_iter()
            .map(|at| {
                if is_framed {
                    frame::frame(&[view], gap, style)
                } else {
                    band(view, at.from, at.to, gap, style)
                }
            })
            .collect::<Vec<_>>()
    };
    views.iter().flat_map(|view| bands_of(view)).collect()
}

/// The box of a matrix that needs no more than one.
pub(in crate::render) fn only_box(view: &View, width: usize, style: &Style) -> Option<Block> {
    let is_whole = bands(&with_notes_that_fit(view, width, style.charset), width, 1).len() == 1;
    is_whole.then(|| apart(&[view], width, style).pop()).flatten()
}

/// The columns of a band, from and up to, and its width.
struct ColumnBand {
    from: usize,
    to: usize,
    width: usize,
}

/// The bands of a matrix: as few as possible, and about equally many columns in each, so that none stands alone.
fn bands(view: &View, width: usize, gap: usize) -> Vec<ColumnBand> {
    if is_framed(view, width, gap) {
        return vec![ColumnBand { from: 0, to: view.cols.len(), width: frame::total(&[view], gap) }];
    }
    let widths = view.column_widths();
    let filled = |most: usize| filled(view, widths, width, gap, most);
    let fewest = filled(widths.len()).len();
    // If columns differ in width, equally many of them need not fit. The fewest that do are found by halving, since bands with
    // more columns are fewer.
    let (mut least, mut enough) = (widths.len().div_ceil(fewest.max(1)), widths.len());
    while least < enough {
        let most = least.midpoint(enough);
        if filled(most).len() == fewest { enough = most } else { least = most + 1 }
    }
    let mut bands = filled(enough);
    if let [whole] = &mut bands[..]
        && is_headless(view)
    {
        whole.width = frame::total(&[view], gap);
    }
    bands
}

/// The bands of a matrix with columns of these widths, each as wide as there is room for, with a limit on its columns.
fn filled(view: &View, widths: &[usize], width: usize, gap: usize, most: usize) -> Vec<ColumnBand> {
    let mut bands: Vec<ColumnBand> = Vec::new();
    let frame = view.label_width() + FRAME;
    let width = width.saturating_sub(note_width(view));
    let (mut start, mut used) = (0, frame);
    for (j, &wide) in widths.iter().enumerate() {
        if j > start && (used + gap + wide > width || j - start == most) {
            bands.push(ColumnBand { from: start, to: j, width: used });
            (start, used) = (j, frame);
        }
        used += if j > start { gap + wide } else { wide };
    }
    bands.push(ColumnBand { from: start, to: view.cols.len(), width: used });
    bands.into_iter().map(|band| ColumnBand { width: band.width + note_width(view), ..band }).collect()
}

/// The view, without its notes if not even one column has room next to them, and squeezed if a column has no room at all.
fn with_notes_that_fit(view: &View, width: usize, charset: Charset) -> Cow<'_, View> {
    let mut view = Cow::Borrowed(view);
    if !view.notes.is_empty() && view.least_box_width() + note_width(&view) > width {
        view.to_mut().notes.clear();
    }
    let is_framed = !view.cols.is_empty() && !view.keeps_heads && frame::total(&[&view], 1) <= width;
    if is_framed || view.least_box_width() <= width {
        view
    } else {
        Cow::Owned(view.into_owned().squeezed(width, charset))
    }
}

/// The width that notes beside the rows add to a box.
pub(super) fn note_width(view: &View) -> usize {
    view.notes.iter().map(|note| note.width() + 1).max().unwrap_or(0)
}

fn band(view: &View, from: usize, to: usize, gap: usize, style: &Style) -> Block {
    if to - from == view.cols.len() && is_headless(view) {
        return frame::frame(&[view], gap, style);
    }
    let label = Column { text: view.label_width(), left: 1, right: 1, is_ruled: false };
    let number = |j: usize| Column {
        text: view.column_widths()[j],
        left: if j == from { 1 } else { gap.saturating_sub(2) },
        right: usize::from(gap > 1 || j + 1 == to),
        is_ruled: j == from,
    };
    let columns: Vec<Column> = std::iter::once(label).chain((from..to).map(number)).collect();
    let heads = view.cols[from..to].iter().map(right);
    let head = std::iter::once(left(&view.name)).chain(heads).collect();
    let rows = view.rows.iter().zip(&view.cells).map(|(label, cells)| {
        let cells = cells[from..to].iter().map(|cell| shaded(&cell.text, cell.shade));
        std::iter::once(left(label)).chain(cells).collect()
    });
    let block = boxed(&columns, Some(head), rows, style);
    noted(block, &view.notes)
}

/// A box with notes to the right of its rows, which begin on the fourth line.
fn noted(block: Block, notes: &[String]) -> Block {
    const ABOVE: usize = 3;
    if notes.is_empty() {
        return block;
    }
    let note =
        |line: usize| line.checked_sub(ABOVE).and_then(|row| notes.get(row)).cloned().unwrap_or_default();
    let lines = (0..block.lines.len()).map(note).collect();
    Block::beside(&[block, Block::plain(lines)], 1, Level::Tops)
}
