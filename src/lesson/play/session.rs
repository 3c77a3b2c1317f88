//! The player on a terminal.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::error::{EXIT_DONE, Error, Result};
use crate::lesson::progress::{Progress, Store};
use crate::lesson::show::{Ink, Tone};
use crate::lesson::{Command, Lesson};
use crate::render::Screen;
use crate::terminal::{ERASE, INTERRUPTED, Input, Key, Session, Turn, unless_gone};

use super::follow::{BEAT, Position, Positions};
use super::state::{Action, Effects, PlayOptions, Player};
use super::view::StatusLine;

/// The bottom line shows seconds.
const TICK: Duration = Duration::from_secs(1);
/// A window that has not changed for this long has been let go.
const QUIET: Duration = Duration::from_millis(100);

/// Plays a lesson on the terminal of this process, which is left as it was found; returns the exit code. `asked` is the name or
/// path that the lesson was opened by.
///
/// # Errors
/// If the terminal cannot be read or written.
pub fn play(
    player: &mut Player<'_>,
    asked: &str,
    notices: &[String],
    options: PlayOptions,
    saver: ProgressSaver,
    out: &mut dyn Write,
) -> Result<u8> {
    let session = Session::inline(options.keys, "print the whole lesson instead, with --no-input")?;
    let printer = Printer::new(out, player.window.screen);
    let mut playing =
        Playing { player, options, saver, printer, session, began: Instant::now(), widened: None };
    let outcome = playing.run(notices);
    let farewell = playing.player.farewell(asked).filter(|_| matches!(outcome, Ok(EXIT_DONE | INTERRUPTED)));
    let printer = &mut playing.printer;
    let cleaned = printer.erase().and_then(|()| farewell.map_or(Ok(()), |line| printer.last_line(&line)));
    playing.saver.leave(playing.player, playing.began.elapsed());
    let outcome = outcome.and_then(|code| cleaned.map(|()| code));
    if options.keys { unless_gone(outcome) } else { outcome }
}

/// A lesson that is played to a class.
struct Playing<'a, 'p> {
    player: &'a mut Player<'p>,
    options: PlayOptions,
    saver: ProgressSaver,
    printer: Printer<'a>,
    session: Session,
    began: Instant,
    /// When the window was made wider or narrower, if the page has not been laid out for it yet.
    widened: Option<Duration>,
}

impl Playing<'_, '_> {
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Plays up to the end; returns the exit code.
    fn run(&mut self, notices: &[String]) -> Result<u8> {
        let effects = self.player.begin(notices, Duration::ZERO);
        self.show(&effects)?;
        loop {
            let keys: Vec<Key> = match self.session.next(self.pause())? {
                Turn::End(code) => return Ok(code),
                Turn::Stop => vec![Key::Control('z')],
                Turn::DrawAgain => {
                    self.come_back()?;
                    continue;
                }
                Turn::GoOn => self.due_keys(),
                Turn::Take(inputs) => inputs.into_iter().filter_map(Input::key).collect(),
            };
            // The size is read before anything is written, because a key may arrive together with a new size.
            self.heed_size()?;
            self.redraw(!keys.is_empty())?;
            for key in keys {
                if let Some(code) = self.press(key)? {
                    return Ok(code);
                }
            }
            self.printer.rewrite(self.player.bottom(self.now()))?;
            self.saver.tick(self.player, self.now());
        }
    }

    /// The time to wait for keys: up to the next second, or until it goes on by itself.
    fn pause(&self) -> Duration {
        let now = self.now();
        let second = TICK - Duration::from_nanos(u64::from(now.subsec_nanos()));
        let due = self.due().map_or(second, |due| due.saturating_sub(now).min(second));
        self.widened.map_or(due, |since| due.min((since + QUIET).saturating_sub(now)))
    }

    fn due(&self) -> Option<Duration> {
        if self.options.auto { self.player.due() } else { None }
    }

    /// The key that is taken as pressed when it is time to go on.
    fn due_keys(&self) -> Vec<Key> {
        let is_due = self.due().is_some_and(|due| self.now() >= due);
        if is_due { vec![Key::PageDown] } else { Vec::new() }
    }

    /// Handles a key; returns the exit code if it ends the lesson.
    fn press(&mut self, key: Key) -> Result<Option<u8>> {
        let effects = self.player.press(key, self.now());
        match effects.action {
            Action::Leave => return Ok(Some(EXIT_DONE)),
            Action::Interrupt => return Ok(Some(INTERRUPTED)),
            Action::Suspend => self.stop()?,
            Action::Open(command) => self.open(&command)?,
            Action::Wait => self.show(&effects)?,
        }
        Ok(None)
    }

    /// Shows the effects, then saves progress, then prepares the next stop.
    fn show(&mut self, effects: &Effects) -> Result<()> {
        let bottom = self.player.bottom(self.now());
        if effects.lines.is_empty() {
            return self.printer.rewrite(bottom);
        }
        if effects.clears {
            self.printer.push(self.player.window.rows)?;
        }
        self.printer.print(&effects.lines, bottom)?;
        let complaint = self.saver.keep(self.player, self.now());
        self.player.prepare();
        self.player.ready(self.began.elapsed());
        let Some(complaint) = complaint else { return Ok(()) };
        self.printer.print(&self.player.sentence(&complaint), self.player.bottom(self.now()))
    }

    /// Adapts to the current size of the screen.
    fn heed_size(&mut self) -> Result<()> {
        let window = self.options.window();
        if window != self.player.window {
            if window.screen.width != self.player.window.screen.width {
                self.widened = Some(self.now());
            }
            self.player.resize(window);
            self.printer.resize(window.screen)?;
            self.printer.rewrite(self.player.bottom(self.now()))?;
        }
        Ok(())
    }

    /// Shows the page at the new width, as soon as the window has been let go, or a key is pressed.
    fn redraw(&mut self, has_keys: bool) -> Result<()> {
        let is_let_go = |since: &Duration| has_keys || self.now().saturating_sub(*since) >= QUIET;
        if self.widened.filter(is_let_go).is_some() { self.show_again() } else { Ok(()) }
    }

    fn show_again(&mut self) -> Result<()> {
        self.widened = None;
        let effects = self.player.again(self.now());
        self.show(&effects)
    }

    /// Gives the screen to a command that reads keys itself; what it prints at its end stands in the lesson.
    fn open(&mut self, command: &Command) -> Result<()> {
        self.printer.erase()?;
        self.session.pause()?;
        let printed = self.player.run_full_screen(command);
        let effects = self.player.opened(command, &printed, self.now());
        self.session.resume()?;
        // The window may have another size.
        self.show(&effects)?;
        self.heed_size()
    }

    /// Stops until the shell calls back.
    fn stop(&mut self) -> Result<()> {
        self.printer.erase()?;
        self.session.suspend()?;
        self.come_back()
    }

    /// The program runs again; the shell may have written below what stood there.
    fn come_back(&mut self) -> Result<()> {
        self.heed_size()?;
        self.show_again()
    }
}

// Prints text that stays, and below it a status line that is rewritten in place.
//
// The cursor rests at the start of that line. Where the terminal is narrowed and breaks it into several, erasing from there
// to the end of the screen still takes away all of it, whether the terminal lays its lines out again or cuts them.

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
        let below = if lines.is_empty() { "" } else { "\r\n\r\n" };
        let text = format!("{ERASE}{}{below}{}", lines.join("\r\n"), self.drawn(&bottom));
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
        let to_cursor = bottom.cursor.filter(|&column| column > 0).map(|column| format!("\x1b[{column}C"));
        line + &to_cursor.unwrap_or_default()
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()?;
        Ok(())
    }
}

// Saves progress and position while a lesson is played.

/// Saves progress and position. A failure is reported once, and the lesson goes on.
#[derive(Default)]
pub struct ProgressSaver {
    places: Option<(Store, Positions)>,
    kept: Progress,
    /// When the position was written last.
    written_at: Duration,
    has_complained: bool,
}

impl ProgressSaver {
    /// Keeps in a folder; and returns what has been kept there of the lesson, and what the teacher is to know who begins at
    /// `first`, if that was asked for. The default keeps nowhere.
    pub fn new(
        state: &Path,
        lesson: &Lesson,
        first: Option<usize>,
    ) -> (ProgressSaver, Progress, Vec<String>) {
        let (store, positions) = (Store::new(state), Positions::new(state));
        let mut notices = Vec::new();
        let kept = store.read(lesson).unwrap_or_else(|error| {
            notices.push(format!("warning: your progress cannot be read and starts again: {error}"));
            Progress::default()
        });
        let begun = positions.begin(lesson);
        notices.extend(begun.as_ref().err().map(warning));
        notices.extend(left_at(&kept, lesson).filter(|_| first.is_none()));
        let places = Some((store, positions));
        let saver = ProgressSaver { places, has_complained: begun.is_err(), ..ProgressSaver::default() };
        (saver, kept, notices)
    }

    /// Saves changes; returns a warning on the first failure.
    pub(super) fn keep(&mut self, player: &Player<'_>, now: Duration) -> Option<String> {
        let error = self.write(player, now, player.progress() != self.kept, false).err();
        let error = error.filter(|_| !self.has_complained)?;
        self.has_complained = true;
        Some(warning(&error))
    }

    /// Writes from time to time that the player is still there. What fails now fails again when something changes.
    pub(super) fn tick(&mut self, player: &Player<'_>, now: Duration) {
        if now.saturating_sub(self.written_at) >= BEAT {
            let _ = self.write(player, now, false, false);
        }
    }

    /// Writes that the player has ended, and saves progress again, which another player may have overwritten.
    pub(super) fn leave(&mut self, player: &Player<'_>, now: Duration) {
        // Nobody can be told any more.
        let _ = self.write(player, now, true, true);
    }

    /// Writes the position, and the progress if it has changed.
    fn write(&mut self, player: &Player<'_>, now: Duration, has_changed: bool, left: bool) -> Result<()> {
        let Some((store, positions)) = &self.places else { return Ok(()) };
        self.written_at = now;
        let mut saved = Ok(());
        if has_changed {
            self.kept = player.progress();
            saved = store.write(player.lesson, &self.kept);
        }
        let mut position = Position::of(player, now);
        position.left = left;
        saved.and(positions.write(&position))
    }
}

fn warning(error: &Error) -> String {
    format!("warning: your progress in this lesson cannot be saved: {}", error.in_one_line())
}

/// The step at which the class left the lesson the last time.
fn left_at(kept: &Progress, lesson: &Lesson) -> Option<String> {
    let position = lesson.step_of(kept.step.as_deref()?)?;
    let number = position + 1;
    (position > 0).then(|| {
        format!(
            "Last time you stopped at step {number}, “{}”. Press {number}G to go there.",
            lesson.steps[position].title
        )
    })
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
