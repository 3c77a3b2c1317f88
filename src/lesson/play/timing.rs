//! When the present text was shown, and its question asked.

use std::time::Duration;

use crate::lesson::Question;

/// A second press of the same finger comes within this.
const DOUBLE_PRESS: Duration = Duration::from_secs(1);
/// The shortest time for a page of a lesson that goes on by itself.
const LEAST: Duration = Duration::from_millis(1500);
/// And the longest, if nothing is asked.
const MOST: Duration = Duration::from_secs(30);
/// Letters and digits that are read in a second, on a projector.
const LETTERS_A_SECOND: f64 = 18.0;
/// The time to think about a question that has none of its own.
const USUAL_THINK: Duration = Duration::from_secs(15);

/// Times since the beginning of the class.
#[derive(Clone, Debug, Default)]
pub(super) struct Timing {
    /// When the present text was shown, and how many letters and digits it has.
    shown_at: Duration,
    letters: usize,
    /// The stop whose question was asked last, and when.
    asked: Option<(usize, Duration)>,
    /// Whether a key that came too early for its answer has been passed over.
    has_passed: bool,
}

impl Timing {
    /// Lines are shown; `asking` is the stop whose question waits for an answer.
    pub(super) fn show(&mut self, lines: &[String], asking: Option<usize>, now: Duration) {
        if !lines.is_empty() {
            self.shown_at = now;
            self.letters = lines.iter().flat_map(|line| line.chars()).filter(|c| c.is_alphanumeric()).count();
        }
        match asking {
            None => self.asked = None,
            Some(stop) if self.asked.is_none_or(|(asked, _)| asked != stop) => {
                self.asked = Some((stop, now));
                self.has_passed = false;
            }
            Some(_) => {}
        }
    }

    /// Keys are taken again, after what comes next has been prepared: a question that was just shown is asked from now on.
    pub(super) fn ready(&mut self, now: Duration) {
        if let Some((_, asked)) = &mut self.asked
            && *asked == self.shown_at
        {
            (*asked, self.shown_at) = (now, now);
        }
    }

    /// When the question was asked.
    pub(super) fn asked_at(&self) -> Duration {
        self.asked.map_or(self.shown_at, |(_, asked)| asked)
    }

    /// Whether a key that would answer the question is the second of a double press: it comes within a moment of the
    /// question. Only one key is passed over.
    pub(super) fn passes_over(&mut self, now: Duration) -> bool {
        let is_early = now.saturating_sub(self.asked_at()) < DOUBLE_PRESS;
        is_early && !std::mem::replace(&mut self.has_passed, true)
    }

    /// When it is time to go on: the text has been read, and there was time to think about a question without an answer.
    pub(super) fn due(&self, unanswered: Option<&Question>) -> Duration {
        let read = Duration::from_secs_f64(self.letters as f64 / LETTERS_A_SECOND);
        let due = self.shown_at + read.clamp(LEAST, MOST);
        let think = |question: &Question| self.asked_at() + question.think.unwrap_or(USUAL_THINK);
        unanswered.map_or(due, |question| due.max(think(question)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::play::{Key, Player, Window, sample};
    use crate::render::Screen;

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
