//! Keys, whatever terminal or clicker they come from.

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
}
