//! One number of a matrix, with the marks before and behind it.

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

use super::{Board, Mark, put};
use crate::render::Shading;
use crate::text::ScreenWidth;

/// The columns of the marks.
pub(super) const MARKS: usize = 2;

/// A number with its marks.
pub(super) struct Number<'a> {
    pub text: &'a str,
    pub shading: Shading,
    pub width: usize,
    pub mark: Mark,
    pub is_chosen: bool,
    pub has_moved: bool,
}

impl Number<'_> {
    /// Draws it, where its first mark stands.
    pub fn draw(&self, board: &Board<'_>, buffer: &mut Buffer, (x, y): (u16, u16)) {
        let look = board.look;
        let is_masked = self.shading.is_masked && self.text != "?";
        let hatch = look.spelled(if is_masked { "░" } else { " " });
        let pad = self.width.saturating_sub(self.text.width());
        let padded = format!("{}{}", hatch.repeat(pad), self.text);
        let (before, behind) = match self.mark {
            Mark::Cursor => ('>', '<'),
            Mark::First => ('[', ']'),
            Mark::Second => ('(', ')'),
            Mark::Fed => (' ', '\''),
            Mark::None => (' ', ' '),
        };
        // What a number is to the cursor is still told by the mark before it, or by its line below.
        let behind = if self.has_moved { '*' } else { behind };
        let shade = match self.shading.colours.filter(|_| look.colour) {
            // On a shade a reversed number would be the one that is seen least.
            _ if self.mark == Mark::Cursor => Style::new(),
            Some((ink, ground)) => Style::new().fg(Color::Indexed(ink)).bg(Color::Indexed(ground)),
            None if is_masked => look.quiet(),
            None => Style::new(),
        };
        let mark = style_of(board, self.mark);
        // On a shade only its own ink can be read: there the brackets and the weight of the letters are the mark.
        let mut style =
            if shade.bg.is_some() { shade.add_modifier(mark.add_modifier) } else { shade.patch(mark) };
        if self.is_chosen {
            style = style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        }
        if self.has_moved {
            style = style.add_modifier(Modifier::BOLD);
        }
        put(look, buffer, x, y, (self.width + MARKS) as u16, &format!("{before}{padded}{behind}"), style);
    }
}

/// The style of a mark: without colour it can be told by brackets, reversal and underlining.
fn style_of(board: &Board<'_>, mark: Mark) -> Style {
    let look = board.look;
    match mark {
        Mark::Cursor => Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD),
        Mark::First => {
            look.coloured(Style::new(), Color::Indexed(81), Color::Indexed(25)).add_modifier(Modifier::BOLD)
        }
        Mark::Second => {
            look.coloured(Style::new(), Color::Indexed(221), Color::Indexed(94)).add_modifier(Modifier::BOLD)
        }
        Mark::Fed => Style::new().add_modifier(Modifier::UNDERLINED),
        Mark::None => Style::new(),
    }
}
