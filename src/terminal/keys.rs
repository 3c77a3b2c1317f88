//! Keys, whatever terminal or clicker they come from.

use std::time::Duration;

use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind, poll, read,
};

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character, as it is typed.
    Char(char),
    /// A letter together with the control key, in lower case.
    Control(char),
    /// Enter.
    Enter,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// The arrow to the left.
    Left,
    /// The arrow to the right.
    Right,
    /// The arrow upwards.
    Up,
    /// The arrow downwards.
    Down,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up: what a clicker sends to go back.
    PageUp,
    /// Page down: what a clicker sends to go on.
    PageDown,
    /// Escape: what a clicker sends to leave a presentation.
    Escape,
    /// F5, with or without shift: what a clicker sends to begin a presentation.
    F5,
    /// Tab.
    Tab,
    /// Tab with shift.
    BackTab,
    /// F2.
    F2,
}

/// What comes from a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key.
    Key(Key),
    /// A click with the first button, at this column and row from 0.
    Click(u16, u16),
    /// The window has another size.
    Resized,
}

/// The timeout for another key; with a timeout of 0 none is found.
const LOOK: Duration = Duration::from_millis(1);

/// The keys that have been pressed by now.
///
/// # Errors
/// If the terminal cannot be read.
pub(crate) fn pressed() -> std::io::Result<Vec<Key>> {
    let keys = inputs()?.into_iter().filter_map(|input| match input {
        Input::Key(key) => Some(key),
        Input::Click(..) | Input::Resized => None,
    });
    Ok(keys.collect())
}

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
            Event::Resize(..) => all.push(Input::Resized),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_call_differently_is_one_key() {
        let with = |code, modifiers| key(KeyEvent::new(code, modifiers));
        assert_eq!(with(KeyCode::Char('C'), KeyModifiers::CONTROL), Some(Key::Control('c')));
        assert_eq!(with(KeyCode::Char('j'), KeyModifiers::CONTROL), Some(Key::Enter));
        assert_eq!(with(KeyCode::F(5), KeyModifiers::SHIFT), Some(Key::F5));
        assert_eq!(with(KeyCode::Char('G'), KeyModifiers::SHIFT), Some(Key::Char('G')));
        assert_eq!(with(KeyCode::Char('x'), KeyModifiers::ALT), None);
        let mut release = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        release.kind = KeyEventKind::Release;
        assert_eq!(key(release), None);
    }
}
