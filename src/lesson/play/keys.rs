//! The keys of a player and their effects, as it lists them.

/// The keys and their effects, in two columns.
pub const KEYS: [[(&str, &str); 2]; 9] = [
    [("space → PgDn", "go on (Enter too)"), ("A B C …", "answer a choice")],
    [("← PgUp", "go back (Backspace too)"), ("0.5 cat …", "type another answer")],
    [("n p", "next, previous step"), ("Enter Esc", "give it, drop it")],
    [("5G", "to step 5"), ("space", "shows the answer")],
    [("t", "contents"), ("v", "votes: A3 B14 C8, or 3 14 8")],
    [("/", "search; / Enter: next"), ("h", "a hint")],
    [("b .", "blank the screen"), ("!", "an attn command; ↑ the last")],
    [("r F5", "this again, run again"), ("?", "these keys")],
    [("q", "end (Ctrl-Z: pause)"), ("Esc", "drops what is typed")],
];

/// The keys of a played demo, which asks nothing.
pub const STORY_KEYS: [[(&str, &str); 2]; 5] = [
    [("space → PgDn", "go on (Enter too)"), ("5G", "to step 5")],
    [("← PgUp", "go back (Backspace too)"), ("t", "contents")],
    [("n p", "next, previous step"), ("/", "search; / Enter: next")],
    [("!", "an attn command; ↑ the last"), ("b .", "blank the screen")],
    [("q", "end (Ctrl-Z: pause)"), ("?", "these keys")],
];

/// The line on typed answers below the keys.
pub const WHERE_TYPED: [&str; 2] = [
    "Where an answer is typed, a digit or the first letter of a name begins it.",
    "All other keys work as always; where a name begins with h, press h Enter for the hint.",
];
