//! The player without a terminal, key by key.

mod answers;
mod moves;
mod overlay;
pub(in crate::lesson) mod sample;

use std::time::Duration;

use super::{Action, Effects, Key, Player, ScriptedAnswers, Window};
use crate::lesson::show::LessonView;
use crate::lesson::{Progress, Runner};
use crate::render::Screen;

/// Plays the sample on a screen of this many rows.
fn played(rows: usize, test: impl FnOnce(&mut Class<'_>)) {
    let lesson = sample::lesson();
    let window = Window { screen: Screen::plain(80), rows };
    let mut player = Player::new(&lesson, &sample::run, window, None);
    player.begin(&[], Duration::ZERO);
    test(&mut Class { player, now: Duration::ZERO });
}

struct Class<'a> {
    player: Player<'a>,
    now: Duration,
}

impl Class<'_> {
    fn key(&mut self, key: Key) -> String {
        self.press(key).lines.join("\n")
    }

    fn press(&mut self, key: Key) -> Effects {
        if matches!(key, Key::Char(' ') | Key::Right | Key::Down | Key::PageDown) {
            // Nobody presses twice within a moment.
            self.now += Duration::from_secs(1);
        }
        let effects = self.player.press(key, self.now);
        assert_eq!(effects.action, Action::Wait, "{key:?}");
        effects
    }

    /// Presses characters, and returns what the last one has shown.
    fn typed(&mut self, text: &str) -> String {
        text.chars()
            .map(|c| self.key(if c == '\n' { Key::Enter } else { Key::Char(c) }))
            .last()
            .unwrap_or_default()
    }

    fn bottom(&self) -> String {
        self.player.bottom(self.now).text
    }
}

#[track_caller]
fn assert_shows(text: &str, words: &str) {
    assert!(text.contains(words), "no `{words}` in:\n{text}");
}
