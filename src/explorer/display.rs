//! A screen of cells, of which only those are written that have changed.

use std::io::{self, Write};

use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// The most columns and rows that are drawn: each cell takes memory, and a terminal may say that it has 65,535 of both.
const MOST: (u16, u16) = (1000, 500);

/// The screen of a terminal, or of a recording. Unlike that of ratatui it writes nothing when it is dropped: the terminal may be gone.
pub(super) struct Display<W: Write> {
    backend: CrosstermBackend<W>,
    /// What stands on the screen.
    shown: Buffer,
}

impl<W: Write> Display<W> {
    /// An empty screen of this size.
    pub fn new(out: W, size: (u16, u16)) -> Display<W> {
        Display { backend: CrosstermBackend::new(out), shown: Buffer::empty(area(size)) }
    }

    /// Shows what is drawn on a screen of this size; the cursor stands where the drawing says, or is hidden.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn show(
        &mut self,
        size: (u16, u16),
        draw: impl FnOnce(&mut Buffer) -> Option<Position>,
    ) -> io::Result<()> {
        let mut next = Buffer::empty(area(size));
        if next.area != self.shown.area {
            self.clear(size)?;
        }
        let cursor = draw(&mut next);
        self.backend.draw(self.shown.diff(&next).into_iter())?;
        match cursor {
            None => self.backend.hide_cursor()?,
            Some(position) => {
                self.backend.show_cursor()?;
                self.backend.set_cursor_position(position)?;
            }
        }
        self.shown = next;
        Backend::flush(&mut self.backend)
    }

    /// Clears the screen, whatever stands there.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn clear(&mut self, size: (u16, u16)) -> io::Result<()> {
        self.shown = Buffer::empty(area(size));
        self.backend.clear()
    }
}

/// The part of a screen that is drawn.
fn area((columns, rows): (u16, u16)) -> Rect {
    Rect { x: 0, y: 0, width: columns.min(MOST.0), height: rows.min(MOST.1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_screen_is_drawn_in_part_and_what_has_not_changed_is_not_written_again() {
        let mut out = Vec::new();
        let mut display = Display::new(&mut out, (u16::MAX, u16::MAX));
        assert_eq!((display.shown.area.width, display.shown.area.height), MOST);
        for _ in 0..2 {
            let draw = |buffer: &mut Buffer| {
                buffer[(3, 4)].set_symbol("x");
                None
            };
            display.show((u16::MAX, u16::MAX), draw).unwrap();
        }
        let text = String::from_utf8(out).unwrap();
        assert!(text.matches('x').count() == 1 && text.len() < 100, "{text:?}");
    }
}
