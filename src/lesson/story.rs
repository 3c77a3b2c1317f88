//! The output of a command as a lesson: the same player shows it step by step, under the same keys.

use super::command::Command;
use super::model::{Block, Console, Exchange, Lesson, Part, Size, Step, StoryPart};
use super::option_names::OptionNames;

/// One step of a story.
#[derive(Clone, Debug)]
pub struct StoryStep {
    /// Its title in the contents.
    pub title: String,
    /// The command that prints it alone, as one would type it.
    pub typed: String,
}

/// A lesson whose steps are these scenes, in order. What plays it is given a run that prints the scene at a position, which
/// is its only argument.
pub fn story_lesson(
    title: &str,
    scenes: Vec<StoryStep>,
    story: StoryPart,
    options: &'static OptionNames,
) -> Lesson {
    let steps =
        scenes.into_iter().enumerate().map(|(position, scene)| step(position, scene, story.before)).collect();
    let size = Size { columns: 80, rows: 24 };
    Lesson {
        name: title.to_string(),
        title: title.to_string(),
        steps,
        story: Some(story),
        ..Lesson::empty(title, size, options)
    }
}

fn step(position: usize, scene: StoryStep, before: usize) -> Step {
    let command = Command { typed: scene.typed, args: vec![position.to_string()] };
    // The command is not shown, only its output.
    let exchange = Exchange { line: 0, command, typed: Vec::new(), code: 0, expected: 0..0 };
    let console = Console { line: 0, exchanges: vec![exchange], last_digit_may_differ: false };
    let part = Part { title: None, blocks: vec![Block::Console(console)] };
    Step {
        id: (before + position + 1).to_string(),
        title: scene.title,
        line: 0,
        minutes: None,
        parts: vec![part],
    }
}
