//! When a lesson that goes on by itself goes on.

use std::time::Duration;

use super::player::Player;

/// A page is looked at for so long at least.
const LEAST: Duration = Duration::from_millis(1500);
/// And for so long at most, if nothing is asked.
const MOST: Duration = Duration::from_secs(30);
/// Letters and digits that are read in a second, on a projector.
const LETTERS_A_SECOND: f64 = 18.0;
/// The time to think about a question that has none of its own.
const USUAL_THINK: Duration = Duration::from_secs(15);

impl Player<'_> {
    /// When it is time to go on: the text has been read, and there was time to think. Never while something is typed.
    pub fn due(&self) -> Option<Duration> {
        if self.entry.is_some() || self.is_blank || self.count.is_some() {
            return None;
        }
        let read = Duration::from_secs_f64(self.shown_letters as f64 / LETTERS_A_SECOND);
        let due = self.shown_at + read.clamp(LEAST, MOST);
        let think = |question: &crate::lesson::Question| question.think.unwrap_or(USUAL_THINK);
        let has_tried = |question: &crate::lesson::Question| {
            self.records.get(&question.id).is_some_and(|record| !record.given.is_empty())
        };
        match self.asking() {
            Some(question) if !has_tried(question) => Some(due.max(self.asked_at() + think(question))),
            _ => Some(due),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::Screen;
    use crate::lesson::play::{Key, Window, sample};

    #[test]
    fn a_lesson_goes_on_when_it_has_been_read_and_thought_about() {
        let lesson = sample::lesson();
        let window = Window { screen: Screen::plain(80), rows: 40 };
        let mut player = Player::new(&lesson, &sample::run, window, Some(1));
        player.begin(&[], Duration::from_secs(7));
        assert_eq!(player.due(), Some(Duration::from_secs(37)));
        player.press(Key::Char('a'), Duration::from_secs(10));
        let feedback = player.due().unwrap();
        assert!(feedback > Duration::from_secs(11) && feedback < Duration::from_secs(14), "{feedback:?}");
        player.press(Key::Char('v'), Duration::from_secs(11));
        assert_eq!(player.due(), None);
        player.press(Key::Escape, Duration::from_secs(12));
        assert!(player.due().is_some());
    }
}
