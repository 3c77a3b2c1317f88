//! The keys of the player: the one list from which they are dispatched and listed.

use Key::{Backspace, Char, Control, Down, End, Enter, F5, Home, Left, PageDown, PageUp, Right, Up};

use crate::terminal::Key;

use super::state::{Action, LinePurpose, Player, Topic};

/// Keys with one meaning.
pub(super) struct Binding {
    pub keys: &'static [Key],
    /// The column of the list, 0 or 1, in which they stand in a lesson and in a story; none where they are not listed.
    pub columns: [Option<usize>; 2],
    /// The keys as they are listed.
    pub shown: &'static str,
    /// What they do, as it is listed.
    pub says: &'static str,
    /// Does it, for the number that was typed before; returns the lines to be printed.
    pub run: fn(&mut Player<'_>, Option<usize>) -> Vec<String>,
}

macro_rules! bindings {
    ($($keys:expr, $columns:expr, $shown:literal, $says:literal, $run:expr;)+) => {
        &[$(Binding { keys: &$keys, columns: $columns, shown: $shown, says: $says, run: $run }),+]
    };
}

/// On the left side of the list, on the right side, and not in it.
const LEFT: Option<usize> = Some(0);
const RIGHT: Option<usize> = Some(1);
const NONE: Option<usize> = None;

/// Every key. Those of the lines in which an answer is typed are listed alone: `begin_answer` and `press_in_line` have them.
pub(super) const BINDINGS: &[Binding] = bindings! {
    [Char(' '), Right, Down, PageDown, Enter], [LEFT, LEFT], "space → PgDn", "go on (Enter too)",
        |player, _| player.forward();
    [Left, Up, PageUp, Backspace], [LEFT, LEFT], "← PgUp", "go back (Backspace too)",
        |player, _| player.go_back();
    [Char('n')], [LEFT, LEFT], "n p", "next, previous step", |player, _| player.next_step();
    [Char('p')], [NONE, NONE], "", "", |player, _| player.previous_step();
    [Home], [NONE, NONE], "", "", |player, _| player.go_to(0);
    [End], [NONE, NONE], "", "", |player, _| player.jump(None);
    [Char('G')], [LEFT, RIGHT], "5G", "to step 5", |player, count| player.jump(count);
    [Char('t')], [LEFT, RIGHT], "t", "contents",
        |player, _| player.show_overlay(player.contents(), Topic::Contents);
    [Char('/')], [LEFT, RIGHT], "/", "search; / Enter: next",
        |player, _| player.begin_line(LinePurpose::Search);
    [Char('b'), Char('.')], [LEFT, RIGHT], "b .", "blank the screen", |player, _| player.blank();
    [Char('r')], [LEFT, NONE], "r F5", "this again, run again", |player, _| player.run_again();
    [F5, Control('l')], [NONE, NONE], "", "", |player, _| player.show_again();
    [], [RIGHT, NONE], "A B C …", "answer a choice", |_, _| Vec::new();
    [], [RIGHT, NONE], "0.5 cat …", "type another answer", |_, _| Vec::new();
    [], [RIGHT, NONE], "Enter Esc", "give it, drop it", |_, _| Vec::new();
    [], [RIGHT, NONE], "space", "shows the answer", |_, _| Vec::new();
    [Char('v')], [RIGHT, NONE], "v", "votes: A3 B14 C8, or 3 14 8", |player, _| player.begin_hands();
    [Char('h')], [RIGHT, NONE], "h", "a hint; at the end: hand in", |player, _| player.hint();
    [Char('!')], [RIGHT, LEFT], "!", "an attn command; ↑ the last",
        |player, _| player.begin_line(LinePurpose::Command);
    [Char('q')], [LEFT, LEFT], "q", "end (Ctrl-Z: pause)", |player, _| player.act(Action::Leave);
    [Char('?')], [RIGHT, RIGHT], "?", "these keys",
        |player, _| player.show_overlay(player.help(), Topic::Keys);
    [], [RIGHT, NONE], "Esc", "drops what is typed", |_, _| Vec::new();
};

impl Player<'_> {
    /// Does what a key means in the lesson itself, for the number that was typed before it.
    pub(super) fn press_key(&mut self, key: Key, count: Option<usize>) -> Vec<String> {
        let binding = BINDINGS.iter().find(|binding| binding.keys.contains(&key));
        binding.map_or_else(Vec::new, |binding| (binding.run)(self, count))
    }
}

/// The key that can be typed as a line of one letter, for questions whose answers contain letters.
pub(super) fn typed_key(text: &str) -> Option<char> {
    let letter = text.parse::<char>().ok().filter(|letter| matches!(letter, 'a'..='z' | '?'))?;
    BINDINGS.iter().any(|binding| binding.keys.contains(&Char(letter))).then_some(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_has_two_meanings_and_none_is_listed_without_words() {
        let mut seen: Vec<Key> = Vec::new();
        for binding in BINDINGS {
            for key in binding.keys {
                assert!(!seen.contains(key), "{key:?} of “{}” has another meaning", binding.says);
                seen.push(*key);
            }
            let is_listed = binding.columns != [None, None];
            assert_eq!([binding.shown.is_empty(), binding.says.is_empty()], [!is_listed; 2]);
        }
    }
}
