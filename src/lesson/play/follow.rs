//! The teacher's view in a second terminal: notes, the answer, the next step and the clock.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use crate::error::{EXIT_DONE, Error, Result};
use crate::lesson::Lesson;
use crate::lesson::show::{Ink, Text, Tone, inline};
use crate::render::Screen;
use crate::terminal::{Guard, HUNG_UP, INTERRUPTED, Key, OwnTerminal, Readiness, Signals, pressed, wait};

use super::bars;
use super::position::{CurrentQuestion, Position, Positions};
use super::session::PlayOptions;

/// The interval at which the position of the player is read.
const LOOK: Duration = Duration::from_millis(200);

/// The present state of the player of a lesson, or of the one that began last, as lines.
pub fn present(state: &Path, lesson: Option<&Lesson>, screen: Screen) -> Vec<String> {
    match Positions::new(state).read(lesson) {
        Some(position) => page(&position, screen),
        None => {
            let what = lesson.map_or_else(|| "a lesson".to_string(), |lesson| lesson.name.clone());
            Text::of(
                &format!("Nobody plays {what} yet. Start with attn lesson play in another terminal."),
                Ink::default(),
                screen,
            )
            .wrapped(screen.width.saturating_sub(1), ["", ""], screen)
        }
    }
}

/// Follows a player on the terminal of this process up to `q`; returns the exit code.
///
/// # Errors
/// If the terminal cannot be read or written.
pub fn follow(
    state: &Path,
    lesson: Option<&Lesson>,
    options: PlayOptions,
    out: &mut dyn Write,
) -> Result<u8> {
    let unreadable = |error: std::io::Error| Error::new(format!("the terminal cannot be used: {error}"));
    let signals = Signals::of_screen().map_err(unreadable)?;
    let guard = Guard::new(OwnTerminal).map_err(unreadable)?;
    let mut page = RedrawnLines { out, lines: Vec::new(), columns: 0 };
    loop {
        let window = options.window();
        let mut lines = present(state, lesson, window.screen);
        lines.truncate(window.rows.saturating_sub(1).max(1));
        page.show(lines, window.screen.width)?;
        if let Some(code) = signals.ending() {
            return Ok(code);
        }
        let keys = match wait(LOOK).map_err(unreadable)? {
            Readiness::Gone => return Ok(HUNG_UP),
            Readiness::Nothing => Vec::new(),
            Readiness::Ready => pressed().map_err(unreadable)?,
        };
        for key in keys {
            match key {
                Key::Char('q') | Key::Escape => return Ok(EXIT_DONE),
                Key::Control('c') => return Ok(INTERRUPTED),
                Key::Control('z') => {
                    guard.suspend().map_err(unreadable)?;
                    page.lines.clear();
                }
                _ => {}
            }
        }
        if signals.stopped() {
            guard.suspend().map_err(unreadable)?;
        }
        if signals.continued() {
            guard.renew().map_err(unreadable)?;
            // The shell has written below what stood there.
            page.lines.clear();
        }
    }
}

/// Lines that are redrawn in place.
struct RedrawnLines<'a> {
    out: &'a mut dyn Write,
    lines: Vec<String>,
    columns: usize,
}

impl RedrawnLines<'_> {
    fn show(&mut self, lines: Vec<String>, columns: usize) -> Result<()> {
        if self.lines == lines && self.columns == columns {
            return Ok(());
        }
        let mut text = match self.lines.len() {
            0 => String::new(),
            // After a change of width the rows of the lines are unknown.
            _ if self.columns != columns => "\x1b[H\x1b[J".to_string(),
            above => format!("\x1b[{above}A\r\x1b[J"),
        };
        for line in &lines {
            text.push_str(line);
            text.push_str("\r\n");
        }
        (self.lines, self.columns) = (lines, columns);
        self.out.write_all(text.as_bytes())?;
        self.out.flush()?;
        Ok(())
    }
}

fn page(position: &Position, screen: Screen) -> Vec<String> {
    let formatter = PositionFormatter { screen };
    let mut lines = vec![formatter.head(position)];
    let Position { step, steps, step_title, .. } = position;
    lines.extend(formatter.line(&format!("{step}/{steps}  {step_title}"), Ink::bold()));
    let notice = match position {
        _ if position.is_alive() => None,
        Position { left: true, .. } => Some("The lesson was stopped."),
        _ => Some("The player does not respond: it is paused or has ended."),
    };
    lines.extend(notice.into_iter().flat_map(|notice| formatter.line(notice, Ink::of(Tone::Note))));
    if !position.notes.is_empty() {
        lines.push(String::new());
    }
    lines.extend(position.notes.iter().flat_map(|note| formatter.item("Note", note, Tone::Note)));
    if let Some(question) = &position.question {
        lines.push(String::new());
        lines.extend(formatter.question(question));
    }
    if let Some(next) = &position.next {
        lines.push(String::new());
        lines.extend(formatter.item("Next", next, Tone::Quiet));
    }
    lines
}

/// Formats lines that are narrower than the screen.
struct PositionFormatter {
    screen: Screen,
}

impl PositionFormatter {
    fn head(&self, position: &Position) -> String {
        let words = format!("{} · {}", position.title, position.pace().in_words());
        let ink = Ink::of(if position.pace().behind.is_some_and(|behind| behind > 0) {
            Tone::Note
        } else {
            Tone::Quiet
        });
        self.line(&words, ink).into_iter().next().unwrap_or_default()
    }

    fn line(&self, text: &str, ink: Ink) -> Vec<String> {
        Text::of(text, ink, self.screen).wrapped(self.screen.width.saturating_sub(1), ["", "  "], self.screen)
    }

    fn item(&self, mark: &str, text: &str, tone: Tone) -> Vec<String> {
        let mut whole = Text::of(&format!("{mark:6}  "), Ink { bold: true, ..Ink::of(tone) }, self.screen);
        whole.extend(&inline(text, self.screen));
        whole.wrapped(self.screen.width.saturating_sub(1), ["", "        "], self.screen)
    }

    fn question(&self, question: &CurrentQuestion) -> Vec<String> {
        let mut lines = self.item("Asked", &question.text, Tone::Quiet);
        if let Some(answer) = &question.answer {
            lines.extend(self.item("Answer", answer, Tone::Right));
        }
        for (wrong, feedback) in &question.feedback {
            lines.extend(self.item(&format!("  {wrong}"), feedback, Tone::Asked));
        }
        lines.extend(question.hints.iter().flat_map(|hint| self.item("Hint", hint, Tone::Quiet)));
        if let Some(hands) = &question.hands {
            let right = question.answer.as_ref().and_then(|answer| answer.chars().next());
            let before = question.hands_before.as_deref();
            lines.extend(bars::bars(hands, before, right, self.screen));
        }
        lines
    }
}
