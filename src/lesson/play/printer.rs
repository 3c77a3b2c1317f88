//! Prints text that stays, and below it a status line that is rewritten in place.
//!
//! The cursor rests at the start of that line. Where the terminal is narrowed and breaks it into several, erasing from there
//! to the end of the screen still takes away all of it, whether the terminal lays its lines out again or cuts them.

use std::io::Write;

use crate::error::Result;
use crate::lesson::show::{Ink, Tone};
use crate::render::Screen;
use crate::terminal::ERASE;

use super::view::StatusLine;

/// To the upper left corner.
const HOME: &str = "\x1b[H";
/// Erases the line from the cursor on.
const ERASE_REST: &str = "\x1b[K";

/// Prints on a terminal in raw mode.
pub(super) struct Printer<'a> {
    out: &'a mut dyn Write,
    screen: Screen,
    bottom: Option<StatusLine>,
}

impl<'a> Printer<'a> {
    pub(super) fn new(out: &'a mut dyn Write, screen: Screen) -> Printer<'a> {
        Printer { out, screen, bottom: None }
    }

    /// The screen has another width: the bottom line is drawn again.
    pub(super) fn resize(&mut self, screen: Screen) -> Result<()> {
        self.screen = screen;
        self.erase()
    }

    /// Scrolls the text on a screen of this many rows out of sight. It can be scrolled back to, and the next line is at the
    /// top.
    pub(super) fn push(&mut self, rows: usize) -> Result<()> {
        self.bottom = None;
        self.write(&format!("{ERASE}{}{HOME}", "\r\n".repeat(rows)))
    }

    /// Prints lines above the bottom line, and that below them.
    pub(super) fn print(&mut self, lines: &[String], bottom: StatusLine) -> Result<()> {
        let mut text = String::from(ERASE);
        for line in lines {
            text.push_str(line);
            text.push_str("\r\n");
        }
        if !lines.is_empty() {
            text.push_str("\r\n");
        }
        text.push_str(&self.drawn(&bottom));
        self.bottom = Some(bottom);
        self.write(&text)
    }

    /// Rewrites the bottom line, if it is another.
    pub(super) fn rewrite(&mut self, bottom: StatusLine) -> Result<()> {
        if self.bottom.as_ref() == Some(&bottom) {
            return Ok(());
        }
        let text = format!("\r{}", self.drawn(&bottom));
        self.bottom = Some(bottom);
        self.write(&text)
    }

    /// Erases the bottom line; the cursor is then at its start.
    pub(super) fn erase(&mut self) -> Result<()> {
        self.bottom = None;
        self.write(ERASE)
    }

    /// Writes a line below which nothing more comes.
    pub(super) fn last_line(&mut self, line: &str) -> Result<()> {
        self.write(&format!("{line}\r\n"))
    }

    fn drawn(&self, bottom: &StatusLine) -> String {
        let ink = match bottom.cursor {
            Some(_) => Ink::default(),
            None if bottom.is_alert => Ink { bold: true, ..Ink::of(Tone::Asked) },
            None => Ink::of(Tone::Quiet),
        };
        let line = format!("{}{ERASE_REST}\r", ink.on(&bottom.text, self.screen));
        match bottom.cursor {
            Some(column) if column > 0 => format!("{line}\x1b[{column}C"),
            _ => line,
        }
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bottom(text: &str, cursor: Option<usize>) -> StatusLine {
        StatusLine { text: text.to_string(), cursor, is_alert: false }
    }

    fn number(count: u16) -> std::num::NonZero<u16> {
        std::num::NonZero::new(count).unwrap()
    }

    /// The screen of a terminal of 20 columns, and its cursor.
    fn shown(write: impl Fn(&mut Printer<'_>)) -> (String, (u16, u16)) {
        let mut out = Vec::new();
        write(&mut Printer::new(&mut out, Screen::plain(20)));
        let mut terminal = vt100::Parser::new(number(8), number(20), 100);
        terminal.process(&out);
        (terminal.screen().contents(), terminal.screen().cursor_position())
    }

    #[test]
    fn text_stays_and_the_bottom_line_is_taken_away_before_more_comes() {
        let (text, cursor) = shown(|printer| {
            printer.print(&["one".into(), "two".into()], bottom(" 1/2 · long", None)).unwrap();
            printer.rewrite(bottom(" 1/2", None)).unwrap();
            printer.print(&["three".into()], bottom(" 2/2", None)).unwrap();
        });
        assert_eq!(text, "one\ntwo\n\nthree\n\n 2/2");
        assert_eq!(cursor, (5, 0));
        let (text, _) = shown(|printer| {
            printer.print(&["one".into()], bottom(" 1/2", None)).unwrap();
            printer.erase().unwrap();
        });
        assert_eq!(text, "one");
    }

    #[test]
    fn what_is_pushed_up_can_be_scrolled_back_to_without_a_gap() {
        let mut out = Vec::new();
        let mut printer = Printer::new(&mut out, Screen::plain(20));
        let text = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
        printer.print(&text(&["one", "two"]), bottom(" 1/2", None)).unwrap();
        printer.push(8).unwrap();
        printer.print(&text(&["three"]), bottom(" 2/2", None)).unwrap();
        let mut terminal = vt100::Parser::new(number(8), number(20), 100);
        terminal.process(&out);
        assert_eq!(terminal.screen().contents(), "three\n\n 2/2");
        terminal.screen_mut().set_scrollback(4);
        assert!(
            terminal.screen().contents().starts_with("one\ntwo\n\n\nthree"),
            "{:?}",
            terminal.screen().contents()
        );
    }

    #[test]
    fn the_cursor_stands_where_something_is_typed() {
        let (text, cursor) = shown(|printer| {
            printer.print(&[], bottom(" 1/2", None)).unwrap();
            printer.rewrite(bottom(" $ attn", Some(5))).unwrap();
        });
        assert_eq!((text.as_str(), cursor), (" $ attn", (0, 5)));
    }

    #[test]
    fn a_line_that_has_not_changed_is_not_written_again() {
        let mut out = Vec::new();
        let mut printer = Printer::new(&mut out, Screen::plain(20));
        printer.rewrite(bottom(" 1/2", None)).unwrap();
        printer.rewrite(bottom(" 1/2", None)).unwrap();
        assert_eq!(String::from_utf8(out).unwrap().matches("1/2").count(), 1);
    }
}
