//! Boxes of lines: columns of texts, a rule below the head, and rules between some of the columns.

use std::borrow::Cow;
use std::iter::repeat_n;

use unicode_segmentation::UnicodeSegmentation;

use crate::render::Style;
use crate::render::block::Block;
use crate::render::heat::Shade;
use crate::text::ScreenWidth;

/// A column: its text, the air on both sides of it, and what stands before it.
#[derive(Clone, Copy)]
pub(super) struct Column {
    /// The width of its texts; wider ones are broken.
    pub text: usize,
    /// The space before them.
    pub left: usize,
    /// The space after them.
    pub right: usize,
    /// True if a rule stands before it, in place of air.
    pub is_ruled: bool,
}

impl Column {
    fn width(&self) -> usize {
        self.left + self.text + self.right
    }
}

/// The text of a column in one row.
pub(super) struct GridCell<'a> {
    text: Cow<'a, str>,
    is_right: bool,
    shade: Shade,
}

/// A text on the left of its column.
pub(super) fn left<'a>(text: impl Into<Cow<'a, str>>) -> GridCell<'a> {
    GridCell { text: text.into(), is_right: false, shade: Shade::None }
}

/// A text on the right of its column.
pub(super) fn right<'a>(text: impl Into<Cow<'a, str>>) -> GridCell<'a> {
    GridCell { is_right: true, ..left(text) }
}

/// A number on the right of its column, shaded.
pub(super) fn shaded(text: &str, shade: Shade) -> GridCell<'_> {
    GridCell { shade, ..right(text) }
}

/// The box of a head, if there is one, and rows.
pub(super) fn boxed<'a>(
    columns: &[Column],
    head: Option<Vec<GridCell<'a>>>,
    rows: impl Iterator<Item = Vec<GridCell<'a>>>,
    style: &Style,
) -> Block {
    let edge = |first: char, rule: char, last: char| {
        let mut line = String::from(first);
        for (j, column) in columns.iter().enumerate() {
            if j > 0 {
                line.push(if column.is_ruled { rule } else { '─' });
            }
            line.extend(repeat_n('─', column.width()));
        }
        line + &String::from(last)
    };
    let mut lines = vec![edge('╭', '┬', '╮')];
    if let Some(head) = head {
        lines.extend(lines_of(&head, columns, style));
        lines.push(edge('├', '┼', '┤'));
    }
    rows.for_each(|row| lines.extend(lines_of(&row, columns, style)));
    lines.push(edge('╰', '┴', '╯'));
    Block { lines, width: columns.iter().map(|column| column.width() + 1).sum::<usize>() + 1 }
}

/// The lines of a row, as many as its tallest cell has.
fn lines_of(row: &[GridCell<'_>], columns: &[Column], style: &Style) -> Vec<String> {
    let texts = row.iter().zip(columns).map(|(cell, column)| folded(&cell.text, column.text));
    let texts: Vec<Vec<Cow<'_, str>>> = texts.collect();
    let line = |at: usize| {
        let mut line = String::from('│');
        for (j, ((cell, column), texts)) in row.iter().zip(columns).zip(&texts).enumerate() {
            if j > 0 {
                line.push(if column.is_ruled { '│' } else { ' ' });
            }
            let Some(text) = texts.get(at) else {
                line.extend(repeat_n(' ', column.width()));
                continue;
            };
            let missing = column.text.saturating_sub(text.width());
            let (before, after) = if cell.is_right { (missing, 0) } else { (0, missing) };
            let look = cell.shade.look(style.theme).filter(|_| style.colour);
            if let Some(look) = look {
                line.push_str(if look.bold { "\x1b[1m" } else { "" });
                line.push_str(&format!("\x1b[48;5;{}m\x1b[38;5;{}m", look.ground, look.ink));
            }
            line.extend(repeat_n(' ', column.left + before));
            line.push_str(text);
            line.extend(repeat_n(' ', after + column.right));
            if let Some(look) = look {
                line.push_str(if look.bold { "\x1b[0m" } else { "\x1b[49m\x1b[39m" });
            }
        }
        line.push('│');
        line
    };
    (0..texts.iter().map(Vec::len).max().unwrap_or(0)).map(line).collect()
}

/// A text in lines of at most this width.
fn folded(text: &str, width: usize) -> Vec<Cow<'_, str>> {
    let fold = |line| {
        if ScreenWidth::width(line) <= width { vec![Cow::Borrowed(line)] } else { broken(line, width) }
    };
    text.split('\n').flat_map(fold).collect()
}

/// A line that is too wide, broken between its words; a word that has no room in a line of its own begins behind the one before it,
/// where there is room for more than two columns.
fn broken(line: &str, width: usize) -> Vec<Cow<'_, str>> {
    const FEWEST: usize = 2;
    let mut lines = Vec::new();
    let (mut own, mut used) = (String::new(), 0);
    for mut word in line.split(' ') {
        loop {
            let gap = usize::from(!own.is_empty());
            let (wide, room) = (word.width(), width.saturating_sub(used + gap));
            let fits = used + gap + wide <= width;
            if !fits && gap > 0 && (room <= FEWEST || wide <= width) {
                lines.push(Cow::Owned(std::mem::take(&mut own)));
                used = 0;
                continue;
            }
            let (taken, rest) = if fits { (word, "") } else { word.split_at(first_part(word, room)) };
            own.push_str(&" "[..gap]);
            own.push_str(taken);
            used += gap + wide;
            if used + FEWEST > width {
                lines.push(Cow::Owned(std::mem::take(&mut own)));
                used = 0;
            }
            if rest.is_empty() {
                break;
            }
            word = rest;
        }
    }
    if !own.is_empty() {
        lines.push(Cow::Owned(own));
    }
    lines
}

/// The bytes of the characters, as a reader sees them, that begin a word and have room; at least one.
fn first_part(word: &str, room: usize) -> usize {
    let mut used = 0;
    let mut ends = word.grapheme_indices(true).map(|(at, character)| {
        used += character.width();
        (at + character.len(), used)
    });
    let first = ends.next().map_or(0, |(end, _)| end);
    ends.take_while(|(_, used)| *used <= room).last().map_or(first, |(end, _)| end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_broken_between_words_and_a_word_without_room_between_characters() {
        let lines = |text, width| folded(text, width).join("|");
        assert_eq!(lines("the bat sleeps", 20), "the bat sleeps");
        assert_eq!(lines("the bat sleeps", 7), "the bat|sleeps");
        assert_eq!(lines("a\nb", 7), "a|b");
        assert_eq!(lines("a b abcdefghijk", 8), "a b abcd|efghijk");
        assert_eq!(lines("abcde abcdefghijk", 8), "abcde|abcdefgh|ijk");
        assert_eq!(lines("洞穴洞穴", 4), "洞穴|洞穴");
        assert_eq!(lines("洞穴", 1), "洞|穴");
        assert_eq!(lines(&"e\u{301}".repeat(3), 2), "e\u{301}e\u{301}|e\u{301}");
    }
}
