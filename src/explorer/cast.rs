//! Keys from a file as a recording of the screen, without a terminal and without waiting.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use super::display::Display;
use super::draw::{Board, Look, draw};
use super::keys::{Action, action_in};
use super::script::{Line, Script};
use super::session::Opened;
use super::steps_of_story::StepsOfStory;
use crate::error::Result;
use crate::explore::update;
use crate::terminal::Asciicast;

/// A screen has at most this many columns.
const MOST_COLUMNS: u16 = 1000;

/// What a terminal does before the first screen: another screen, no cursor.
const BEGIN: &str = "\x1b[?1049h\x1b[2J\x1b[H\x1b[?25l";

/// The recording of the keys of a script, on a screen of this many rows.
///
/// # Errors
/// If a screen cannot be drawn.
pub(crate) fn cast(opened: Opened, mut script: Script, rows: u16, title: &str) -> Result<String> {
    let Opened { mut state, told, screen, .. } = opened;
    let columns = u16::try_from(screen.width).unwrap_or(u16::MAX).clamp(1, MOST_COLUMNS);
    // The recording has its colours whatever this process prints to.
    crossterm::style::force_color_output(true);
    let mut camera = Camera::new(columns, rows, title);
    let mut story = StepsOfStory::of(&state, &told, screen);
    let look = Look { colour: screen.colour, theme: screen.theme, charset: screen.charset };
    camera.films(&Board { state: &state, story: &story, look, said: None })?;
    while let Some(line) = script.next() {
        let key = match line {
            Line::Wait(pause) => {
                camera.recording.wait(pause.as_millis() as u64);
                continue;
            }
            Line::Key(key) => key,
        };
        match action_in(state.mode(), key) {
            Some(Action::Do(event)) => {
                let before = state.clone();
                state = update(state, event);
                if !state.has_version_of(&before) {
                    story = StepsOfStory::of(&state, &told, screen);
                }
            }
            Some(Action::Quit | Action::Interrupt) => break,
            // What a key does to a terminal cannot be seen in a recording.
            _ => continue,
        }
        camera.films(&Board { state: &state, story: &story, look, said: None })?;
    }
    Ok(camera.recording.finish())
}

/// Draws screens into a recording: each only where it differs from the one before.
struct Camera {
    display: Display<Film>,
    film: Film,
    size: (u16, u16),
    recording: Asciicast,
}

impl Camera {
    fn new(columns: u16, rows: u16, title: &str) -> Camera {
        let film = Film::default();
        let size = (columns, rows);
        let display = Display::new(film.clone(), size);
        let mut recording = Asciicast::new(columns.into(), rows.into(), title);
        recording.writes(BEGIN);
        Camera { display, film, size, recording }
    }

    fn films(&mut self, board: &Board<'_>) -> Result<()> {
        self.display.show(self.size, |buffer| draw(board, buffer).1)?;
        let bytes = std::mem::take(&mut *self.film.0.borrow_mut());
        self.recording.writes(&String::from_utf8_lossy(&bytes));
        Ok(())
    }
}

/// What a display writes.
#[derive(Clone, Default)]
struct Film(Rc<RefCell<Vec<u8>>>);

impl Write for Film {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
