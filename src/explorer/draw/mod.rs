//! A state on a screen: the path, the matrices, the map of all steps, the sentence, the keys.

mod before;
mod help;
mod layout;
mod map;
mod marks;
mod matrix;
mod number;
mod said;
mod sentence;
mod wall;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};

use super::keys::{BINDINGS, Binding};
use super::steps_of_story::StepsOfStory;
use crate::explore::{Mode, Purpose, State};
use crate::graph::{CellId, address_of};
use crate::render::{Charset, Theme, wrapped_text};
use crate::text::{CUT, ScreenWidth};
use attn_story::live::sentences;
pub(super) use marks::{Mark, Marks};
pub(super) use sentence::lines as sentence_lines;

/// The smallest window that everything fits.
pub(super) const LEAST: (u16, u16) = (60, 16);
/// From this width on the map has room.
const WIDTH_WITH_MAP: u16 = 76;

/// The look of a screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub colour: bool,
    pub theme: Theme,
    pub charset: Charset,
}

impl Look {
    /// A style in a colour, where there are colours.
    pub fn coloured(self, style: Style, on_dark: Color, on_light: Color) -> Style {
        match (self.colour, self.theme) {
            (false, _) => style,
            (true, Theme::Light) => style.fg(on_light),
            (true, _) => style.fg(on_dark),
        }
    }

    /// Less important text.
    pub fn quiet(self) -> Style {
        self.coloured(Style::new(), Color::Indexed(245), Color::Indexed(242))
    }

    /// A text that fits the room; a cut one ends with dots.
    pub fn cut(self, text: &str, room: usize) -> String {
        if text.width() <= room {
            return text.to_string();
        }
        let dots = self.spelled(&CUT.to_string());
        // Two dots would be all that is left of a few letters.
        let dots = if dots.width() > 1 && room <= 4 { "" } else { &dots };
        let mut start = text.to_string();
        while start.width() + dots.width() > room && start.pop().is_some() {}
        format!("{}{dots}", start.trim_end())
    }

    /// The text in the characters that the screen has.
    pub fn spelled(self, text: &str) -> String {
        sentences::spelled(text, self.charset)
    }
}

/// What is drawn.
pub(super) struct Board<'a> {
    pub state: &'a State,
    /// The graph of the state with its sentences.
    pub story: &'a StepsOfStory,
    pub look: Look,
    /// What the last key says that is no event of the state.
    pub said: Option<&'a str>,
}

/// A cell of a matrix on the screen, for clicks.
pub(super) struct Hit {
    pub area: Rect,
    pub cell: CellId,
}

/// Draws the whole screen; returns where the cells of matrices are, and where the cursor of a text stands.
pub(super) fn draw(board: &Board<'_>, buffer: &mut Buffer) -> (Vec<Hit>, Option<Position>) {
    let area = buffer.area;
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let (width, height) = LEAST;
        let text = format!("Make the window larger: {width}x{height} are needed.");
        for (y, line) in wrapped_text(&text, area.width.into()).iter().enumerate() {
            put(board.look, buffer, 0, y as u16, area.width, line, Style::new());
        }
        return (Vec::new(), None);
    }
    if let Mode::Help { page } = *board.state.mode() {
        help::draw(board, buffer, page);
        return (Vec::new(), None);
    }
    let sentence_height = match area.height {
        ..20 => 4,
        20..30 => 6,
        _ => 8,
    };
    let bottom = area.height - sentence_height - 3;
    head(board, buffer);
    let map = if area.width >= WIDTH_WITH_MAP { map::width(board, area.width) } else { 0 };
    let marks = Marks::of(board.state);
    let height = bottom - 2;
    let room = layout::Room { width: area.width.into(), height: height.into(), map: map.into() };
    let wall = wall::Wall::new(board, &marks, room);
    let map = if wall.has_map() { map } else { 0 };
    if map > 0 {
        map::draw(board, &marks, buffer, Rect { x: 0, y: 2, width: map, height });
    }
    let hits = wall.draw(board, &marks, buffer, Rect { x: map, y: 2, width: area.width - map, height });
    let rule = if board.look.charset == Charset::Ascii { "-" } else { "─" };
    put(board.look, buffer, 0, bottom, area.width, &rule.repeat(area.width.into()), board.look.quiet());
    // A long message takes lines of the sentence.
    let said = said::lines(board, area.width.into());
    let more = said.len().saturating_sub(1) as u16;
    let height = sentence_height - more;
    sentence::draw(board, buffer, Rect { x: 0, y: bottom + 1, width: area.width, height });
    let y = area.height - 2 - more;
    let cursor = said::draw(board, buffer, &said, Rect { x: 0, y, width: area.width, height: 1 + more });
    hints(board, buffer, area.height - 1);
    (hits, cursor)
}

/// The path of the cursor, and the number of changes; below it the sentence of the step.
fn head(board: &Board<'_>, buffer: &mut Buffer) {
    let (state, look) = (board.state, board.look);
    let graph = state.graph();
    let [done, undone] = state.undoable();
    let mut right: Vec<String> = Vec::new();
    if !state.source().is_changeable() {
        right.push("read-only".to_string());
    }
    if state.predicts() {
        right.push("guessing".to_string());
    }
    if done + undone > 0 {
        right.push(format!("change {done} of {}", done + undone));
    }
    let right = look.spelled(&right.join(" · "));
    let (arrow, more) = match look.charset {
        Charset::Utf8 => (" ▸ ", "…"),
        Charset::Ascii => (" > ", ".."),
    };
    let mut places: Vec<String> = state.path().iter().map(|&cell| address_of(graph, cell)).collect();
    places.push(address_of(graph, state.cursor()));
    let room = (buffer.area.width as usize).saturating_sub(right.width() + 2);
    // The last places matter most.
    let mut path = look.spelled(&places.join(arrow));
    while path.width() > room && places.len() > 1 {
        places.remove(0);
        path = look.spelled(&format!("{more}{arrow}{}", places.join(arrow)));
    }
    put(board.look, buffer, 0, 0, room as u16, &path, Style::new().add_modifier(Modifier::BOLD));
    let start = buffer.area.width.saturating_sub(right.width() as u16);
    put(board.look, buffer, start, 0, right.width() as u16, &right, look.quiet());
    let text = board.story.sentence(state.cursor().node);
    put(board.look, buffer, 0, 1, buffer.area.width, &look.spelled(text), look.quiet());
}

/// The keys that are needed most, as many as there is room for; the list of all keys and the end are always there.
fn hints(board: &Board<'_>, buffer: &mut Buffer, y: u16) {
    let look = board.look;
    let mut all: Vec<(u8, &str, &'static str)> = match board.state.mode() {
        Mode::Typing { purpose: Purpose::Search, .. } => vec![(1, "Enter", "find"), (2, "Esc", "drop")],
        Mode::Typing { purpose: Purpose::File(_), .. } => vec![(1, "Enter", "write"), (2, "Esc", "drop")],
        Mode::Write => {
            vec![(1, "c", "command"), (2, "f", "files"), (3, "l", "lesson step"), (4, "Esc", "drop")]
        }
        Mode::Typing { .. } => vec![(1, "Enter", "take it"), (2, "Esc", "drop it")],
        Mode::Adjust(_) => {
            vec![(1, "← →", "change"), (2, "Backspace", "as at the start"), (3, "Enter", "done")]
        }
        _ => {
            let of = |binding: &'static Binding| binding.hint.map(|(rank, hint)| (rank, binding.shown, hint));
            BINDINGS.iter().filter_map(of).collect()
        }
    };
    all.sort_unstable();
    let spelled = |(_, keys, says): (u8, &str, &'static str)| {
        // In ASCII the letters take less room than arrows.
        let arrows = if look.charset == Charset::Ascii { "hjkl" } else { "←↑↓→" };
        (look.spelled(if says == "move" { arrows } else { keys }), says)
    };
    let all: Vec<(String, &str)> = all.into_iter().map(spelled).collect();
    let width = |(keys, says): &(String, &str)| keys.width() + says.width() + 3;
    let kept: usize = all.iter().rev().take(2).map(width).sum();
    let mut room = (usize::from(buffer.area.width) + 2).saturating_sub(kept);
    let last = all.len().saturating_sub(2);
    let mut x = 0;
    for (place, hint) in all.iter().enumerate() {
        if place < last {
            if width(hint) > room {
                continue;
            }
            room -= width(hint);
        }
        let (keys, says) = hint;
        put(board.look, buffer, x, y, buffer.area.width, keys, Style::new().add_modifier(Modifier::BOLD));
        put(board.look, buffer, x + keys.width() as u16 + 1, y, buffer.area.width, says, look.quiet());
        x += width(hint) as u16;
    }
}

/// Writes a text, cut where the room ends.
pub(super) fn put(look: Look, buffer: &mut Buffer, x: u16, y: u16, room: u16, text: &str, style: Style) {
    if y < buffer.area.height && x < buffer.area.width {
        let room = usize::from(room.min(buffer.area.width - x));
        buffer.set_stringn(x, y, look.cut(&look.spelled(text), room), room, style);
    }
}
