//! Blocks of lines, and their arrangement next to each other.

use std::ops::Range;

use crate::text::ScreenWidth;

/// Lines of equal width on the screen.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The lines; escapes for colours have no width.
    pub lines: Vec<String>,
    /// Their width in columns of the screen.
    pub width: usize,
}

/// The lines at which blocks next to each other are aligned.
#[derive(Clone, Copy, Debug)]
pub(super) enum Level {
    /// The first lines, as of things in a row.
    Tops,
    /// The middles, as in an equation.
    Middles,
}

impl Block {
    /// A block of plain lines.
    pub(super) fn plain(lines: Vec<String>) -> Block {
        let width = lines.iter().map(|line| line.width()).max().unwrap_or(0);
        let pad = |line: String| format!("{line}{}", " ".repeat(width - line.width()));
        Block { lines: lines.into_iter().map(pad).collect(), width }
    }

    /// A block of lines that may hold escapes for colours, padded to this width.
    pub(super) fn coloured(lines: Vec<String>, width: usize) -> Block {
        let pad = |line: String| {
            let missing = width.saturating_sub(visible(&line));
            format!("{line}{}", " ".repeat(missing))
        };
        Block { lines: lines.into_iter().map(pad).collect(), width }
    }

    /// Blocks next to each other, their tops level, or the shorter ones centred.
    pub(super) fn beside(blocks: &[Block], gap: usize, level: Level) -> Block {
        let height = blocks.iter().map(|block| block.lines.len()).max().unwrap_or(0);
        let line_of = |block: &Block, line: usize| {
            let above = match level {
                Level::Tops => 0,
                Level::Middles => (height - block.lines.len()) / 2,
            };
            let own = line.checked_sub(above).and_then(|line| block.lines.get(line));
            own.cloned().unwrap_or_else(|| " ".repeat(block.width))
        };
        let gap_text = " ".repeat(gap);
        let lines = (0..height)
            .map(|line| blocks.iter().map(|block| line_of(block, line)).collect::<Vec<_>>().join(&gap_text))
            .collect();
        let width =
            blocks.iter().map(|block| block.width).sum::<usize>() + gap * blocks.len().saturating_sub(1);
        Block { lines, width }
    }
}

/// The width of a line on the screen, without its escapes.
pub(super) fn visible(line: &str) -> usize {
    if !line.contains('\x1b') {
        return line.width();
    }
    let mut inside = false;
    let shown = |c: &char| {
        let was = inside;
        inside = (inside && *c != 'm') || *c == '\x1b';
        !was && *c != '\x1b'
    };
    line.chars().filter(shown).collect::<String>().width()
}

/// The distance between boxes next to each other.
pub(super) const GAP: usize = 2;

/// Boxes of these widths from left to right, as many in a row as there is room for: the places of each row.
pub(super) fn rows(widths: &[usize], room: usize) -> Vec<Range<usize>> {
    rows_apart(widths, room, GAP)
}

/// Like [`rows`], for blocks at this distance.
pub(super) fn rows_apart(widths: &[usize], room: usize, gap: usize) -> Vec<Range<usize>> {
    let mut rows: Vec<Range<usize>> = Vec::new();
    let mut used = 0;
    for (i, width) in widths.iter().enumerate() {
        match rows.last_mut() {
            Some(row) if used + gap + width <= room => {
                row.end = i + 1;
                used += gap + width;
            }
            _ => {
                rows.push(i..i + 1);
                used = *width;
            }
        }
    }
    rows
}
