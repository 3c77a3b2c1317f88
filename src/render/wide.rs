//! Stories on a wide terminal: two steps stand side by side where that makes the whole shorter.

use super::block::{Block, Level};
use super::document::{self, NumberedStep};
use super::terminal::Terminal;
use super::view::Viewer;
use super::{Page, Style};
use crate::story::StepItem;

/// From this width on two steps may stand side by side.
const WIDE: usize = 160;
/// The distance between them.
const BETWEEN: usize = 4;

/// All stories, one after the other.
pub(super) fn write_all(pages: &[Page], style: &Style) -> String {
    let mut terminal = Terminal::new(style);
    if style.width < WIDE {
        return document::write_all(pages, style, &mut terminal);
    }
    for page in pages {
        document::write_head(page, &mut terminal);
        write_steps(page, style, &mut terminal);
        document::write_end(page, &mut terminal);
    }
    document::finished(&mut terminal)
}

/// The steps, one or two in a row, so that there are as few lines as possible.
fn write_steps(page: &Page, style: &Style, terminal: &mut Terminal<'_>) {
    let half = Style { width: (style.width - BETWEEN) / 2, ..*style };
    let steps = document::numbered(page);
    let pointed = pointed_before(&steps, terminal.has_pointed());
    let first = steps.iter().position(|step| step.number.is_some()).unwrap_or(steps.len());
    let lines_of = |at: usize, style: &Style| -> Vec<String> {
        let begun = first < at;
        let mut own = Terminal::new(style).having_pointed(pointed[at]).having_begun(begun);
        document::write_numbered(&steps[at], &Viewer { story: &page.story, style }, &mut own);
        document::finished(&mut own).lines().map(str::to_string).collect()
    };
    let pair = |at: usize| -> Option<Vec<String>> {
        // A step without a number belongs to the step above it.
        let numbered = steps.get(at..at + 2)?.iter().all(|step| step.number.is_some());
        let blocks = |at| Block::coloured(lines_of(at, &half), half.width);
        numbered.then(|| Block::beside(&[blocks(at), blocks(at + 1)], BETWEEN, Level::Tops).lines)
    };
    // The fewest lines for the steps from each one on, with a blank line after each row, and the number of steps in its first
    // row.
    let mut best: Vec<(usize, Vec<String>, usize)> = vec![(0, Vec::new(), 0); steps.len() + 1];
    for at in (0..steps.len()).rev() {
        let alone = lines_of(at, style);
        best[at] = (alone.len() + 1 + best[at + 1].0, alone, at + 1);
        if let Some(both) = pair(at)
            && both.len() + 1 + best[at + 2].0 < best[at].0
        {
            best[at] = (both.len() + 1 + best[at + 2].0, both, at + 2);
        }
    }
    let mut at = 0;
    while at < steps.len() {
        let (_, lines, next) = &best[at];
        terminal.lines(lines);
        at = *next;
    }
    terminal.point(pointed.last().copied().unwrap_or_default());
}

/// For each step, and for the end: true if the option that shows folded matrices has been named before it.
fn pointed_before(steps: &[NumberedStep<'_>], mut pointed: bool) -> Vec<bool> {
    let mut before = vec![pointed];
    for step in steps {
        pointed |= step.step.shown.iter().any(|shown| matches!(shown, StepItem::Folded(_)));
        before.push(pointed);
    }
    before
}
