//! The sentence of the number under the cursor: in symbols, in numbers, and the result.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::{Board, put};
use crate::text::ScreenWidth;
use attn_story::render::number_alone;

/// Draws the sentence, as many lines of it as there is room for.
pub(super) fn draw(board: &Board<'_>, buffer: &mut Buffer, area: Rect) {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    for (number, line) in lines(board, usize::from(area.width)).iter().take(area.height.into()).enumerate() {
        let style = if number == 0 { bold } else { Style::new() };
        put(buffer, area.x, area.y + number as u16, area.width, &board.look.spelled(line), style);
    }
}

/// The lines of the sentence, wrapped to this width.
pub(in crate::explorer) fn lines(board: &Board<'_>, width: usize) -> Vec<String> {
    let state = board.state;
    let decimals = state.decimals();
    let Some(value) = state.value() else {
        let name = &state.graph()[state.cursor().node].name;
        return vec![format!("{name} is never formed: this path does not compute it.")];
    };
    let told = board.story.lines_of(state.cursor(), decimals);
    let shown = if state.is_hidden() { "?".to_string() } else { number_alone(value, decimals) };
    let mut head = format!("{} = {shown}", told.address);
    if let Some(change) = state.change_at(state.cursor()) {
        head.push_str(&format!("   (before: {})", number_alone(change.before, decimals)));
    }
    let mut all = vec![format!("{head}   {}", told.step)];
    let indent = told.symbol.width() + 1;
    let last = told.lines.len().saturating_sub(1);
    for (number, (sign, line)) in told.lines.iter().enumerate() {
        // The result of a guess is not told.
        if number == last && last > 0 && state.is_hidden() {
            continue;
        }
        let before = if number == 0 { format!("{} ", told.symbol) } else { " ".repeat(indent) };
        let room = width.saturating_sub(indent + 2).max(20);
        for (part, text) in wrapped(line, room).into_iter().enumerate() {
            let start = if part == 0 { format!("{before}{sign} ") } else { " ".repeat(indent + 4) };
            all.push(format!("{start}{text}"));
        }
    }
    if let Some((name, is, value)) = told.with {
        all.push(format!("{}with {name} = {is} = {value}", " ".repeat(indent)));
    }
    all.extend(told.notes.into_iter().map(|note| format!("{}{note}", " ".repeat(indent))));
    all
}

/// A long line in pieces, cut at spaces.
fn wrapped(line: &str, room: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while rest.width() > room {
        let fits = |(at, c): &(usize, char)| *c == ' ' && rest[..*at].width() <= room;
        let Some((at, _)) = rest.char_indices().rfind(fits).filter(|(at, _)| *at > 0) else { break };
        pieces.push(rest[..at].to_string());
        rest = &rest[at + 1..];
    }
    pieces.push(rest.to_string());
    pieces
}
