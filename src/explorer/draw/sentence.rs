//! The sentence of the number under the cursor: in symbols, in numbers, and the result.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::{Board, put};
use crate::explain::SHOWN;
use crate::explore::Source;
use crate::graph::Op;
use crate::render::{CellLines, wrapped_text};
use crate::text::{CUT, ScreenWidth};
use attn_story::render::number_alone;

/// Of long sums the screen keeps this many terms: the first of these with which the result has room.
const KEPT: [usize; 5] = [SHOWN, 4, 3, 2, 1];
/// The columns that a line continues behind its formula's own.
const HANGING: usize = 4;

/// Draws the sentence. Its result is always there.
pub(super) fn draw(board: &Board<'_>, buffer: &mut Buffer, area: Rect) {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let lines = fitted(board, area.width.into(), area.height.into());
    for (number, line) in lines.iter().enumerate() {
        let style = if number == 0 { bold } else { Style::new() };
        put(board.look, buffer, area.x, area.y + number as u16, area.width, line, style);
    }
}

/// All lines of the sentence, wrapped to this width.
pub(in crate::explorer) fn lines(board: &Board<'_>, width: usize) -> Vec<String> {
    let Sentence { head, derived, with, notes, .. } = Sentence::of(board, width, SHOWN);
    let head = hanging("", HANGING, &head, width);
    [head, derived.concat(), with, notes.concat()].concat()
}

/// The lines of the sentence that this height has room for: of long sums fewer terms, and only the remarks that fit.
fn fitted(board: &Board<'_>, width: usize, height: usize) -> Vec<String> {
    let has_room = |sentence: &Sentence| sentence.height() <= height;
    let sentence = KEPT.iter().map(|&kept| Sentence::of(board, width, kept)).find(has_room);
    let Sentence { head, derived, with, notes, .. } =
        sentence.unwrap_or_else(|| Sentence::of(board, width, 1).cut_to(height));
    let mut all = [vec![head], derived.concat(), with].concat();
    for note in notes {
        if all.len() + note.len() <= height {
            all.extend(note);
        }
    }
    all.truncate(height);
    all
}

/// The parts of the sentence, in lines as wide as the screen.
struct Sentence {
    /// The number, its value, and its step.
    head: String,
    /// The formula in symbols, in numbers, and the result.
    derived: Vec<Vec<String>>,
    /// A name in the formula, its definition and its value.
    with: Vec<String>,
    /// The name and its value alone.
    short_with: Option<String>,
    notes: Vec<Vec<String>>,
    width: usize,
}

impl Sentence {
    fn of(board: &Board<'_>, width: usize, kept: usize) -> Sentence {
        let state = board.state;
        let decimals = state.decimals();
        let of_head = |head: String| Sentence {
            head: board.look.spelled(&head),
            derived: Vec::new(),
            with: Vec::new(),
            short_with: None,
            notes: Vec::new(),
            width,
        };
        let Some(value) = state.value() else {
            let name = &state.graph()[state.cursor().node].name;
            return of_head(match state.source() {
                Source::ReadOnly(graph, _)
                    if !graph.nodes().any(|(_, node)| matches!(node.op, Op::Fused(_))) =>
                {
                    format!("{name} is not in this file: it is too large for it, or was never formed.")
                }
                _ => format!("{name} is never formed: this path does not compute it."),
            });
        };
        let CellLines { address, step, symbol, lines, with, notes } =
            board.story.lines_of(state.cursor(), decimals, kept);
        // Of a matrix with changed numbers the others come from where they came from at the start.
        let step = state.origin_at_start(state.cursor()).map_or(step, ToString::to_string);
        let shown = if state.is_hidden() { "?".to_string() } else { number_alone(value, decimals) };
        let before = state.change_at(state.cursor()).map_or_else(String::new, |change| {
            format!("   (before: {})", number_alone(change.before, decimals))
        });
        let indent = board.look.spelled(&symbol).width() + 1;
        let hanging = |first: String, rest: usize, text: &str| {
            hanging(&board.look.spelled(&first), rest, &board.look.spelled(text), width)
        };
        let last = lines.len().saturating_sub(1);
        // The result of a guess is not told.
        let is_told = |number: &usize| *number != last || last == 0 || !state.is_hidden();
        let derived = (0..lines.len()).filter(is_told).map(|number| {
            let before = if number == 0 { format!("{symbol} ") } else { " ".repeat(indent) };
            let (sign, line) = &lines[number];
            hanging(format!("{before}{sign} "), indent + HANGING, line)
        });
        let indented = |text: &str| hanging(" ".repeat(indent), indent + HANGING, text);
        Sentence {
            derived: derived.collect(),
            with: with
                .iter()
                .flat_map(|(name, is, value)| indented(&format!("with {name} = {is} = {value}")))
                .collect(),
            short_with: with.map(|(name, _, value)| board.look.spelled(&format!("with {name} = {value}"))),
            notes: notes.iter().map(|note| indented(note)).collect(),
            ..of_head(format!("{address} = {shown}{before}   {step}"))
        }
    }

    /// The lines without remarks.
    fn height(&self) -> usize {
        1 + self.derived.iter().map(Vec::len).sum::<usize>() + self.with.len()
    }

    /// The sentence in this many lines: the name of a part stands behind the result, and what has no room of a formula is dots.
    fn cut_to(mut self, height: usize) -> Sentence {
        self.with.clear();
        if let (Some(result), Some(with)) =
            (self.derived.last_mut().and_then(|of| of.last_mut()), self.short_with.take())
            && result.width() + with.width() + 3 <= self.width
        {
            result.push_str(&format!("   {with}"));
        }
        while self.height() > height
            && let Some(longest) = self.derived.iter_mut().rev().max_by_key(|lines| lines.len())
            && longest.len() > 1
        {
            longest.pop();
            if let Some(end) = longest.last_mut() {
                *end = with_dots(end, self.width);
            }
        }
        // The value of a result that has no room stands in the first line.
        self.derived.truncate(height.saturating_sub(1));
        self
    }
}

/// A line that goes on where there is no room.
fn with_dots(line: &str, width: usize) -> String {
    let mut kept = line.trim_end_matches([' ', CUT]);
    while kept.width() + 2 > width {
        match kept.trim_end().rfind(' ') {
            Some(at) if !kept[..at].trim().is_empty() => kept = kept[..at].trim_end(),
            _ => break,
        }
    }
    format!("{kept} {CUT}")
}

/// A text behind `first`, in lines of this width; the others begin with this many blanks.
fn hanging(first: &str, blanks: usize, text: &str, width: usize) -> Vec<String> {
    let room = width.saturating_sub(blanks.max(first.width())).max(20);
    let with_start = |(number, line): (usize, String)| match number {
        0 => format!("{first}{line}"),
        _ => format!("{}{line}", " ".repeat(blanks)),
    };
    wrapped_text(text, room).into_iter().enumerate().map(with_start).collect()
}
