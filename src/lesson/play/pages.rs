//! Text in pages that the screen holds, so that nothing scrolls away unseen.

use std::ops::Range;

/// Lines that belong together, such as a paragraph or a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    /// The block that it comes from.
    pub block: usize,
    /// The empty lines before it, unless it is the first.
    pub gap: usize,
    /// Its lines, none of them empty.
    pub lines: Vec<String>,
}

/// The beginning of a page: a block of the stop, and the number of its pieces before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PageStart {
    /// The block.
    pub block: usize,
    /// The number of its pieces on earlier pages.
    pub piece: usize,
}

/// Cuts the lines of a block at empty lines; a group taller than the screen above its tables, or else at the height.
pub(super) fn chunks(block: usize, lines: &[String], height: usize) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut gap = 1;
    for group in lines.chunk_by(|a, b| is_empty(a) == is_empty(b)) {
        if is_empty(&group[0]) {
            gap = group.len() + usize::from(chunks.is_empty());
            continue;
        }
        let pieces = if group.len() > height { above_tables(group) } else { vec![group] };
        for piece in pieces.into_iter().flat_map(|piece| piece.chunks(height.max(1))) {
            chunks.push(Chunk { block, gap: std::mem::take(&mut gap), lines: piece.to_vec() });
        }
    }
    chunks
}

/// Makes one of the first two chunks, if the screen holds both: a heading stays with the text below it.
pub(super) fn keep_first_two_together(chunks: &mut Vec<Chunk>, height: usize) {
    let fits = |first: &Chunk, second: &Chunk| first.lines.len() + second.gap + second.lines.len() <= height;
    if chunks.len() < 2 || !fits(&chunks[0], &chunks[1]) {
        return;
    }
    let second = chunks.remove(1);
    chunks[0].lines.extend(std::iter::repeat_n(String::new(), second.gap));
    chunks[0].lines.extend(second.lines);
}

fn is_empty(line: &str) -> bool {
    line.trim().is_empty()
}

/// Lines cut above each box that follows another one.
fn above_tables(lines: &[String]) -> Vec<&[String]> {
    let begins_with = |line: &String, corners: &[char]| {
        let plain = line
            .trim_start()
            .trim_start_matches(|c: char| c.is_ascii_control() || "[0123456789;m".contains(c));
        plain.trim_start().starts_with(corners)
    };
    lines
        .chunk_by(|above, below| !(begins_with(above, &['╰', '+']) && begins_with(below, &['╭', '+'])))
        .collect()
}

/// The pages of chunks for a screen of this height.
pub(super) fn pages(chunks: &[Chunk], height: usize) -> Vec<Range<usize>> {
    let mut pages: Vec<Range<usize>> = Vec::new();
    let mut used = 0;
    for (position, chunk) in chunks.iter().enumerate() {
        let taller = used + chunk.gap + chunk.lines.len();
        match pages.last_mut() {
            Some(page) if taller <= height => {
                page.end = position + 1;
                used = taller;
            }
            _ => {
                pages.push(position..position + 1);
                used = chunk.lines.len();
            }
        }
    }
    pages
}

/// The lines of a page.
pub(super) fn lines(chunks: &[Chunk]) -> Vec<String> {
    let mut lines = Vec::new();
    for chunk in chunks {
        if !lines.is_empty() {
            lines.extend(std::iter::repeat_n(String::new(), chunk.gap));
        }
        lines.extend(chunk.lines.iter().cloned());
    }
    lines
}

/// The place of the chunk at a position.
pub(super) fn place(chunks: &[Chunk], position: usize) -> PageStart {
    let block = chunks.get(position).map_or(0, |chunk| chunk.block);
    PageStart { block, piece: chunks[..position].iter().filter(|chunk| chunk.block == block).count() }
}

/// The position of the chunk at a place, or of what comes nearest.
pub(super) fn position(chunks: &[Chunk], place: PageStart) -> usize {
    let start = chunks.iter().position(|chunk| chunk.block >= place.block).unwrap_or(0);
    let pieces = chunks[start..].iter().take_while(|chunk| chunk.block == place.block).count();
    start + place.piece.min(pieces.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| line.to_string()).collect()
    }

    #[test]
    fn pages_break_at_empty_lines_and_hold_every_line() {
        let all = text(&["a", "b", "", "c", "d", "", "", "e"]);
        let chunks = chunks(0, &all, 10);
        assert_eq!(lines(&chunks), all);
        assert_eq!(pages(&chunks, 10), vec![Range { start: 0, end: 3 }]);
        assert_eq!(pages(&chunks, 7), [0..2, 2..3]);
        assert_eq!(pages(&chunks, 4), [0..1, 1..2, 2..3]);
    }

    #[test]
    fn what_is_taller_than_the_screen_is_cut_above_a_table() {
        for [top, end] in [["╭─╮", "╰─╯"], ["+-+", "+-+"]] {
            let all = text(&["A = B", top, "│1│", end, top, "│2│", end, top, "│3│", end]);
            let cut = chunks(0, &all, 7);
            assert_eq!(cut.iter().map(|chunk| chunk.lines.len()).collect::<Vec<_>>(), [4, 3, 3], "{top}");
            assert_eq!(lines(&cut), all);
            assert_eq!(pages(&cut, 7), [0..2, 2..3]);
        }
    }

    #[test]
    fn a_heading_goes_to_the_next_page_with_what_it_stands_above() {
        let mut question = chunks(1, &text(&["Question", "", "How much?", "", "A", "B"]), 5);
        keep_first_two_together(&mut question, 5);
        let all = [chunks(0, &text(&["a", "b", "c"]), 5), question].concat();
        assert_eq!(pages(&all, 5), [0..1, 1..2, 2..3]);
        assert_eq!(lines(&all[1..]), text(&["Question", "", "How much?", "", "A", "B"]));
    }

    #[test]
    fn what_is_taller_than_the_screen_is_cut() {
        let all = text(&["a", "b", "c", "d", "e"]);
        let cut = chunks(0, &all, 2);
        assert_eq!(cut.iter().map(|chunk| chunk.lines.len()).collect::<Vec<_>>(), [2, 2, 1]);
        assert_eq!(lines(&cut), all);
        assert_eq!(pages(&cut, 2), [0..1, 1..2, 2..3]);
    }
}
