//! All keys, from the table that dispatches them.

use ratatui::buffer::Buffer;
use ratatui::style::{Modifier, Style};

use super::super::keys::{BINDINGS, Binding, Group};
use super::{Board, put};
use crate::terminal::Key;
use crate::text::ScreenWidth;

/// Draws a page of the keys, in as many columns as fit.
pub(super) fn draw(board: &Board<'_>, buffer: &mut Buffer, page: usize) {
    let area = buffer.area;
    let height = usize::from(area.height) - 1;
    let columns = usize::from((area.width / COLUMN).max(1));
    let width = area.width / columns as u16;
    let lines = lines();
    let pages: Vec<_> = lines.chunks(height * columns).collect();
    let page = page % pages.len().max(1);
    for (number, (keys, says)) in pages.get(page).copied().unwrap_or_default().iter().enumerate() {
        let (x, y) = ((number / height) as u16 * width, (number % height) as u16);
        let room = width.saturating_sub(1);
        let bold = Style::new().add_modifier(Modifier::BOLD);
        match says {
            None => put(board.look, buffer, x, y, room, keys, bold.add_modifier(Modifier::UNDERLINED)),
            Some(says) => {
                put(board.look, buffer, x, y, room, &board.look.spelled(keys), bold);
                put(
                    board.look,
                    buffer,
                    x + KEYS,
                    y,
                    room.saturating_sub(KEYS),
                    &board.look.spelled(says),
                    Style::new(),
                );
            }
        }
    }
    let said = match pages.len() {
        0 | 1 => "Esc goes on.".to_string(),
        count => format!("Page {} of {count}: Space shows the next one, Esc goes on.", page + 1),
    };
    put(board.look, buffer, 0, area.height - 1, area.width, &said, board.look.quiet());
}

/// The columns of a key with its meaning.
const COLUMN: u16 = 40;
/// The columns of the keys.
const KEYS: u16 = 10;

/// The first key of two that are opposites, which share a line.
const PAIRED: [Key; 3] = [Key::PageUp, Key::Char('g'), Key::Char('<')];

/// The lines: a heading, or keys with their meaning.
fn lines() -> Vec<(String, Option<String>)> {
    let mut all = Vec::new();
    for group in Group::ALL {
        all.push((group.title().to_string(), None));
        let mut of_group = BINDINGS.iter().filter(|binding| binding.group == group);
        while let Some(binding) = of_group.next() {
            let other =
                binding.keys.iter().any(|key| PAIRED.contains(key)).then(|| of_group.next()).flatten();
            let both: Vec<_> = [Some(binding), other].into_iter().flatten().collect();
            let joined = |of: fn(&Binding) -> &str, sign: &str| {
                both.iter().map(|binding| of(binding)).collect::<Vec<_>>().join(sign)
            };
            all.push((joined(|binding| binding.shown, " "), Some(joined(|binding| binding.says, "; "))));
        }
    }
    debug_assert!(all.iter().all(|(keys, _)| keys.width() < 20));
    all
}
