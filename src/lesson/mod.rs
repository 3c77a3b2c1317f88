//! Lessons: one Markdown file that reads well by itself, is played step by step in class, and is checked to the last digit.
//!
//! The way through: a file's text becomes [`pieces`](read) and these a [`Lesson`]; its commands run in process through a
//! [`Runner`], which is given the program's own `run`, so that a class sees what it can type. The player, the check, the
//! quiz and the exports read the same [`Lesson`].

mod blocks;
pub mod check;
pub mod class_report;
mod command;
mod directive;
mod draw;
pub mod export;
pub mod hand_in;
pub mod key;
mod library;
mod model;
pub mod play;
mod progress;
mod prose;
pub mod question;
pub mod quiz;
mod read;
mod run;
pub mod show;
mod source;
pub mod update;

pub use command::Command;
pub(crate) use command::as_live_page;
pub use directive::{FormatPart, directives, lesson_format};
pub use draw::{DrawResult, draw};
pub use library::{
    BUILT_IN, ROUTES, StoryStep, built_in, is_built_in, near_lesson, open, story_lesson, text_of,
};
pub use model::{
    Block, Choice, Claim, Exchange, Lesson, Literal, NamedRun, Part, Prose, Question, Size, Step, StoryPart,
};
pub use progress::{Progress, QuizProgress, Store};
pub use read::read;
pub use run::{CommandOutput, MOST_PRINTED, Run, RunValues, Runner};
pub use source::{Concern, Fault, Faults, LONGEST, Rewrite, is_lesson};
pub use update::new_lesson;
