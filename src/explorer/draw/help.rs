//! All keys, from the table that dispatches them.

use ratatui::buffer::Buffer;
use ratatui::style::{Modifier, Style};

use super::super::keys::{BINDINGS, Group};
use super::{Board, put};
use crate::text::ScreenWidth;

/// Draws the keys, in as many columns as fit.
pub(super) fn draw(board: &Board<'_>, buffer: &mut Buffer) {
    let lines = lines();
    let area = buffer.area;
    let height = usize::from(area.height) - 1;
    let columns = lines.len().div_ceil(height);
    let width = area.width / columns.max(1) as u16;
    for (number, (keys, says)) in lines.iter().enumerate() {
        let (x, y) = ((number / height) as u16 * width, (number % height) as u16);
        let room = width.saturating_sub(1);
        match says {
            None => put(
                buffer,
                x,
                y,
                room,
                keys,
                Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            ),
            Some(says) => {
                put(buffer, x, y, room, &board.look.spelled(keys), Style::new().add_modifier(Modifier::BOLD));
                put(buffer, x + KEYS, y, room.saturating_sub(KEYS), &board.look.spelled(says), Style::new());
            }
        }
    }
    put(buffer, 0, area.height - 1, area.width, "Any key goes on.", board.look.quiet());
}

/// The columns of the keys.
const KEYS: u16 = 10;

/// The lines: a heading, or keys with their meaning.
pub(in crate::explorer) fn lines() -> Vec<(&'static str, Option<&'static str>)> {
    let mut all = Vec::new();
    for group in Group::ALL {
        all.push((group.title(), None));
        let of_group = BINDINGS.iter().filter(|binding| binding.group == group);
        all.extend(of_group.map(|binding| (binding.shown, Some(binding.says))));
    }
    debug_assert!(all.iter().all(|(keys, _)| keys.width() < 20));
    all
}
