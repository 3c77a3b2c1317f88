//! Keys as crossterm reads them, where there is no Unix.

use std::time::Duration;

use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind, poll, read,
};

use super::keys::{Input, Key};

/// The timeout for another key; with a timeout of 0 none is found.
const LOOK: Duration = Duration::from_millis(1);

/// Everything that has come by now.
///
/// # Errors
/// If the terminal cannot be read.
pub(crate) fn inputs() -> std::io::Result<Vec<Input>> {
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
