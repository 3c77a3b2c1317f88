//! Stories on a wide terminal: two steps stand side by side where that makes the whole shorter.

use super::block::{Block, Level};
use super::document::{self, Numbered};
use super::terminal::Terminal;
use super::view::Viewer;
use super::{Page, Style};

/// From this width on two steps may stand side by side.
const WIDE: usize = 160;
/// How far apart they stand.
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

fn write_steps(page: &Page, style: &Style, terminal: &mut Terminal<'_>) {
    let half = Style { width: (style.width - BETWEEN) / 2, ..*style };
    let steps = document::numbered(page);
    let mut rest = &steps[..];
    while let [first, others @ ..] = rest {
        let pair = others.first().and_then(|second| beside(page, [first, second], [style, &half], terminal));
        match pair {
            Some(lines) => {
                terminal.lines(&lines);
                rest = &others[1..];
            }
            None => {
                document::write_numbered(first, &Viewer { story: &page.story, style }, terminal);
                rest = others;
            }
        }
    }
}

/// The lines of two steps side by side, in half of the screen each; nothing if one below the other they need no more.
fn beside(
    page: &Page,
    steps: [&Numbered<'_>; 2],
    [whole, half]: [&Style; 2],
    terminal: &mut Terminal<'_>,
) -> Option<Vec<String>> {
    // What has no number belongs to the step above it.
    if steps.iter().any(|step| step.number.is_none()) {
        return None;
    }
    let mut pointed = terminal.has_pointed();
    let mut written = |step: &Numbered<'_>, style: &Style| -> Vec<String> {
        let mut own = Terminal::new(style).having_pointed(pointed);
        document::write_numbered(step, &Viewer { story: &page.story, style }, &mut own);
        pointed |= own.has_pointed();
        document::finished(&mut own).lines().map(str::to_string).collect()
    };
    let halves = steps.map(|step| written(step, half));
    let wholes = steps.map(|step| written(step, whole).len());
    let height = halves.iter().map(Vec::len).max().unwrap_or(0);
    if height >= wholes.iter().sum() {
        return None;
    }
    terminal.point(pointed);
    let blocks = halves.map(|lines| Block::coloured(lines, half.width));
    Some(Block::beside(&blocks, BETWEEN, Level::Tops).lines)
}
