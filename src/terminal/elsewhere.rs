//! What a terminal needs of the system, where there is no Unix: crossterm has it.

use std::io;
use std::time::Duration;

use crossterm::event::{
    DisableMouseCapture, EnableMouseCapture, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
    MouseButton, MouseEvent, MouseEventKind, poll, read,
};
use crossterm::{execute, terminal};
use signal_hook::consts;

use super::keys::{Input, Key, Readiness};

/// The signals that end a program.
pub(super) const ENDING: &[i32] = &[consts::SIGINT, consts::SIGTERM];
/// None stops a program, calls it back, or tells it of another size of the screen.
pub(super) const OF_SCREEN: &[i32] = &[];
pub(super) const STOPS: i32 = 0;
pub(super) const CONTINUES: i32 = 0;

/// Lets keys come one by one without an echo, or puts the terminal back to what it was.
pub(super) fn put_raw(raw: bool) -> io::Result<()> {
    // The question makes a console of Windows understand the codes that are written to it.
    #[cfg(windows)]
    crossterm::ansi_support::supports_ansi();
    if raw { terminal::enable_raw_mode() } else { terminal::disable_raw_mode() }
}

/// Has the terminal report clicks.
pub(super) fn read_clicks(reads: bool) -> io::Result<()> {
    if reads {
        execute!(io::stdout(), EnableMouseCapture)
    } else {
        execute!(io::stdout(), DisableMouseCapture)
    }
}

/// Waits for a key, no longer than this.
///
/// # Errors
/// If the terminal cannot be waited for.
pub(crate) fn wait(longest: Duration) -> io::Result<Readiness> {
    Ok(if poll(longest)? { Readiness::Ready } else { Readiness::Nothing })
}

/// There is nothing that could call the program back.
pub(super) fn suspend() -> io::Result<()> {
    Ok(())
}

/// Whether a process still runs: nobody can tell.
pub(crate) fn is_running(_: u32) -> bool {
    true
}

/// Only on Unix the terminal is asked for the colour of its ground.
pub(crate) fn ground() -> Option<[f64; 3]> {
    None
}

/// Nothing was asked.
pub(crate) fn settle() {}

/// The timeout for another key; with a timeout of 0 none is found.
const LOOK: Duration = Duration::from_millis(1);

/// Everything that has come by now.
///
/// # Errors
/// If the terminal cannot be read.
pub(super) fn inputs() -> io::Result<Vec<Input>> {
    let mut all = Vec::new();
    while poll(LOOK)? {
        match read()? {
            Event::Key(event) => all.extend(key(event).map(Input::Key)),
            Event::Mouse(MouseEvent {
                kind: MouseEventKind::Down(MouseButton::Left), column, row, ..
            }) => {
                all.push(Input::Click(column, row));
            }
            _ => {}
        }
    }
    Ok(all)
}

fn key(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    Some(match event.code {
        KeyCode::Char(c) if control => match c.to_ascii_lowercase() {
            'm' | 'j' => Key::Enter,
            'h' => Key::Backspace,
            letter => Key::Control(letter),
        },
        KeyCode::Char(_) if event.modifiers.contains(KeyModifiers::ALT) => return None,
        KeyCode::Char(c) if c.is_control() => return None,
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Esc => Key::Escape,
        KeyCode::F(5) => Key::F5,
        KeyCode::F(2) => Key::F2,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        _ => return None,
    })
}
