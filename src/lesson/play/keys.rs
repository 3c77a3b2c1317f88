//! The keys of a player, whatever terminal or clicker they come from.

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
}

/// What the keys do, in two columns of keys and words.
pub const KEYS: [[(&str, &str); 2]; 8] = [
    [("space → PgDn", "go on (Enter too)"), ("A B C …", "answer a choice")],
    [("← PgUp", "go back (Backspace too)"), ("words", "answer the others, with Enter")],
    [("n p", "next, previous step"), ("space", "shows the answer")],
    [("5G", "to step 5"), ("v", "votes: A3 B14 C8")],
    [("t", "contents"), ("h", "a hint")],
    [("/", "search; / Enter: next"), ("!", "an attn command; ↑ the last")],
    [("b .", "blank the screen"), ("r F5", "this again, run again")],
    [("?", "these keys"), ("q", "end (Ctrl-Z: pause)")],
];
