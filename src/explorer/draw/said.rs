//! The answer to the last key, or the text that is typed, in the lines above the hints.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};

use super::{Board, put};
use crate::explore::Mode;
use crate::render::wrapped_text;
use crate::text::{CUT, ScreenWidth};
use attn_story::live::sentences;

/// The most lines of a message.
const MOST_LINES: usize = 3;

/// What is said, in at most three lines of this width: of a message the beginning, of a text that is typed the end.
pub(super) fn lines(board: &Board<'_>, width: usize) -> Vec<String> {
    let said = board.said.map_or_else(|| sentences::bottom(board.state), str::to_string);
    let said = board.look.spelled(&said);
    if is_typed(board) {
        // Behind the last letter there is room for the cursor.
        let mut all = pieces(&said, width.saturating_sub(1));
        if let Some(left_out) = all.len().checked_sub(MOST_LINES + 1) {
            all.drain(..=left_out);
            all[0] = format!(
                "{}{}",
                board.look.spelled(&CUT.to_string()),
                all[0].chars().skip(2).collect::<String>()
            );
        }
        return all;
    }
    let mut all = wrapped_text(&said, width);
    if all.len() > MOST_LINES {
        let rest = all.split_off(MOST_LINES - 1).join(" ");
        all.push(board.look.cut(&rest, width));
    }
    all
}

/// Draws it; returns where the cursor of a text stands.
pub(super) fn draw(board: &Board<'_>, buffer: &mut Buffer, lines: &[String], area: Rect) -> Option<Position> {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    for (number, line) in lines.iter().enumerate() {
        put(board.look, buffer, 0, area.y + number as u16, area.width, line, bold);
    }
    let x = lines.last().map_or(0, |line| line.width() as u16).min(area.width.saturating_sub(1));
    is_typed(board).then_some(Position { x, y: area.y + area.height - 1 })
}

fn is_typed(board: &Board<'_>) -> bool {
    matches!(board.state.mode(), Mode::Typing { .. })
}

/// A text in pieces of at most this many columns.
fn pieces(text: &str, width: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    for letter in text.chars() {
        let mut piece = all.pop().unwrap_or_default();
        if format!("{piece}{letter}").width() > width {
            all.push(std::mem::take(&mut piece));
        }
        piece.push(letter);
        all.push(piece);
    }
    all
}
