//! The stops of a lesson: each key press shows one.

use std::ops::Range;

use crate::lesson::{Block, Lesson, Question};

/// The text up to the next pause, shown at once if the screen is tall enough.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop<'a> {
    /// The position of its step; `None` before the first step.
    pub step: Option<usize>,
    /// The heading that is shown with it, where it begins a part.
    pub heading: Option<Heading<'a>>,
    /// Its blocks.
    pub blocks: &'a [Block],
    /// Why it stops.
    pub kind: StopKind<'a>,
}

/// A heading: the title of the lesson, that of the step at a position, or that of a part after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heading<'a> {
    Lesson,
    Step(usize),
    Pause(&'a str),
}

/// Why a lesson stops.
#[derive(Clone, Copy, Debug)]
pub(super) enum StopKind<'a> {
    /// The text pauses.
    Text,
    /// The last block asks.
    Asked(&'a Question),
    /// The first block is the question that is answered; notes may follow it.
    Answer(&'a Question),
}

impl<'a> Stop<'a> {
    /// The question that it asks, or answers.
    pub(super) fn question(&self) -> Option<&'a Question> {
        match self.kind {
            StopKind::Text => None,
            StopKind::Asked(question) | StopKind::Answer(question) => Some(question),
        }
    }

    /// The question that it asks.
    pub(super) fn asked(&self) -> Option<&'a Question> {
        if let StopKind::Asked(question) = self.kind { Some(question) } else { None }
    }

    /// Whether it holds a text in lower case. Answers are not looked into, they would be given away.
    pub(super) fn holds(&self, text: &str, lesson: &Lesson) -> bool {
        let title = match self.heading {
            _ if self.step.is_none() => Some(&*lesson.title),
            Some(Heading::Step(step)) => Some(&*lesson.steps[step].title),
            Some(Heading::Pause(title)) => Some(title),
            _ => None,
        };
        let mut texts = title.into_iter().chain(self.blocks.iter().flat_map(texts));
        !matches!(self.kind, StopKind::Answer(_)) && texts.any(|shown| shown.to_lowercase().contains(text))
    }

    /// The commands that it shows.
    pub(super) fn commands(&self) -> impl Iterator<Item = &'a str> {
        let blocks = match self.kind {
            StopKind::Answer(question) => &question.reveal,
            _ => self.blocks,
        };
        let exchanges = blocks.iter().flat_map(seen).flat_map(Block::exchanges);
        exchanges.map(|exchange| exchange.command.typed.as_str())
    }
}

/// All stops of a lesson, in order. There is at least one for every step.
pub(super) fn stops(lesson: &Lesson) -> Vec<Stop<'_>> {
    let mut stops = Vec::new();
    // The output of a command has nothing before its first step.
    if lesson.story.is_none() || lesson.steps.is_empty() {
        within(&lesson.opening, None, Heading::Lesson, &mut stops);
    }
    for (at, step) in lesson.steps.iter().enumerate() {
        for part in &step.parts {
            let heading = part.title.as_deref().map_or(Heading::Step(at), Heading::Pause);
            within(&part.blocks, Some(at), heading, &mut stops);
        }
    }
    stops
}

fn within<'a>(blocks: &'a [Block], step: Option<usize>, heading: Heading<'a>, stops: &mut Vec<Stop<'a>>) {
    let (mut start, mut heading) = (0, Some(heading));
    for (position, block) in blocks.iter().enumerate() {
        let Some(question) = block.question() else { continue };
        let (asked, kind) = (&blocks[start..=position], StopKind::Asked(question));
        stops.push(Stop { step, heading: heading.take(), blocks: asked, kind });
        // Notes directly after a question are about its answer, and no pause of their own.
        let notes = blocks[position + 1..].iter().take_while(|block| block.note().is_some()).count();
        start = position + 1 + notes;
        let (answer, kind) = (&blocks[position..start], StopKind::Answer(question));
        stops.push(Stop { step, heading: None, blocks: answer, kind });
    }
    if start < blocks.len() || start == 0 {
        stops.push(Stop { step, heading, blocks: &blocks[start..], kind: StopKind::Text });
    }
}

/// A block, or those that a question shows before its answer.
fn seen(block: &Block) -> &[Block] {
    block.question().map_or(std::slice::from_ref(block), |question| &question.asked)
}

/// The texts of a block that a class may see.
fn texts(block: &Block) -> Vec<&str> {
    match block {
        Block::Prose(prose) => vec![&prose.markdown],
        Block::Console(exchanges) => {
            exchanges.iter().map(|exchange| exchange.command.typed.as_str()).collect()
        }
        Block::Literal(literal) => vec![&literal.text],
        Block::Note(_) => Vec::new(),
        Block::Question(question) => {
            let options = question.options().map(|text| text.markdown.as_str());
            question.asked.iter().flat_map(texts).chain(options).collect()
        }
    }
}

// Text in pages that the screen holds, so that nothing scrolls away unseen.

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
    use crate::lesson::play::tests::sample;

    use super::*;

    #[test]
    fn a_lesson_stops_at_pauses_at_questions_and_at_their_answers() {
        let lesson = sample::lesson();
        let kind = |stop: &Stop<'_>| match stop.kind {
            StopKind::Text => "text",
            StopKind::Asked(_) => "asked",
            StopKind::Answer(_) => "answer",
        };
        let stops = stops(&lesson);
        let headed = stops.iter().filter(|stop| stop.heading.is_some()).count();
        assert_eq!(headed, 7);
        let stops: Vec<(Option<usize>, &str)> = stops.iter().map(|stop| (stop.step, kind(stop))).collect();
        assert_eq!(
            stops,
            [
                (None, "text"),
                (Some(0), "text"),
                (Some(0), "text"),
                (Some(1), "asked"),
                (Some(1), "answer"),
                (Some(1), "text"),
                (Some(2), "asked"),
                (Some(2), "answer"),
                (Some(3), "asked"),
                (Some(3), "answer"),
                (Some(4), "text"),
            ]
        );
    }

    #[test]
    fn notes_behind_an_answer_stay_with_it() {
        let lesson = sample::lesson();
        let stops = stops(&lesson);
        let answer = stops.iter().find(|stop| matches!(stop.kind, StopKind::Answer(_))).unwrap();
        assert_eq!(answer.question().unwrap().id, "zeros");
        assert_eq!(answer.blocks.len(), 2);
    }

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
