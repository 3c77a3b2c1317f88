//! Saves progress and position while a lesson is played.

use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::lesson::Lesson;
use crate::lesson::progress::{Progress, Store};

use super::player::Player;
use super::position::{BEAT, Position, Positions};

/// Saves progress and position. A failure is reported once, and the lesson goes on.
pub struct ProgressSaver {
    places: Option<(Store, Positions)>,
    kept: Progress,
    /// When the position was written last.
    written_at: Duration,
    failed: Option<Error>,
    has_complained: bool,
}

impl ProgressSaver {
    /// Keeps in a folder, or nowhere; and returns what has been kept there of the lesson, and what the teacher is to know who
    /// begins at `first`, if that was asked for.
    pub fn new(
        state: Option<&Path>,
        lesson: &Lesson,
        first: Option<usize>,
    ) -> (ProgressSaver, Progress, Vec<String>) {
        let mut notices = Vec::new();
        let mut has_complained = false;
        let mut kept = Progress::default();
        let places = state.map(|state| (Store::new(state), Positions::new(state)));
        if let Some((store, positions)) = &places {
            match store.read(lesson) {
                Ok(read) => kept = read,
                Err(error) => {
                    notices.push(format!("warning: your progress cannot be read and starts again: {error}"))
                }
            }
            if let Err(error) = positions.begin(lesson) {
                notices.push(warning(&error));
                has_complained = true;
            }
        }
        notices.extend(left_at(&kept, lesson).filter(|_| first.is_none()));
        let saver = ProgressSaver {
            places,
            kept: Progress::default(),
            written_at: Duration::ZERO,
            failed: None,
            has_complained,
        };
        (saver, kept, notices)
    }

    /// Saves changes; returns a warning on the first failure.
    pub(super) fn keep(&mut self, player: &Player<'_>, now: Duration) -> Option<String> {
        let progress = player.progress();
        if let Some((store, _)) = &self.places
            && progress != self.kept
        {
            self.failed = store.write(player.course.lesson, &progress).err();
            self.kept = progress;
        }
        self.write_position(|_| {}, player, now);
        match self.failed.take() {
            Some(error) if !self.has_complained => {
                self.has_complained = true;
                Some(warning(&error))
            }
            _ => None,
        }
    }

    /// Writes from time to time that the player is still there.
    pub(super) fn tick(&mut self, player: &Player<'_>, now: Duration) {
        if now.saturating_sub(self.written_at) >= BEAT {
            self.write_position(|_| {}, player, now);
        }
    }

    /// Writes that the player has ended, and saves progress again, which another player may have overwritten.
    pub(super) fn leave(&mut self, player: &Player<'_>, now: Duration) {
        if let Some((store, _)) = &self.places {
            self.failed = store.write(player.course.lesson, &player.progress()).err();
        }
        self.write_position(|position| position.left = true, player, now);
    }

    fn write_position(&mut self, change: impl Fn(&mut Position), player: &Player<'_>, now: Duration) {
        let Some((_, positions)) = &self.places else { return };
        self.written_at = now;
        let mut position = Position::of(player, now);
        change(&mut position);
        let written: Result<()> = positions.write(&position);
        self.failed = self.failed.take().or(written.err());
    }
}

fn warning(error: &Error) -> String {
    let words = error.to_string().replace("\n  help: ", "; ");
    format!("warning: your progress in this lesson cannot be saved: {words}")
}

/// The step at which the class left the lesson the last time.
fn left_at(kept: &Progress, lesson: &Lesson) -> Option<String> {
    let position = lesson.step_of(kept.step.as_deref()?)?;
    let number = position + 1;
    (position > 0).then(|| {
        format!(
            "Last time you stopped at step {number}, “{}”. Press {number}G to go there.",
            lesson.steps[position].title
        )
    })
}
