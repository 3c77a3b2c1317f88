//! Lessons: one Markdown file that reads well by itself, is played step by step in class, and is checked to the last digit.
//!
//! The way through: a file's text becomes [`pieces`](read) and these a [`Lesson`]; its commands run in process through a
//! [`Runner`], which is given the program's own `run`, so that a class sees what it can type. The player, the check, the
//! quiz and the exports read the same [`Lesson`].

pub mod check;
mod command;
mod content;
mod directive;
mod draw;
mod exchanges;
pub mod export;
mod faults;
mod head;
pub mod key;
mod library;
mod model;
mod names;
mod new;
mod option_names;
mod pieces;
pub mod play;
mod progress;
mod prose;
pub mod question;
pub mod quiz;
mod read;
mod run;
pub mod show;
mod shown_digits;
mod source;
mod story;
mod unchecked_numbers;
pub mod update;
mod values;
mod verdict;

pub use command::Command;
pub use directive::{DIRECTIVES, Directive};
pub use draw::{DrawResult, draw};
pub use faults::{Fault, Faults};
pub use library::{BUILT_IN, built_in, is_built_in, near_lesson, open, text_of};
pub use model::{
    Block, Choice, Claim, Console, Exchange, Lesson, Literal, NamedRun, Note, Part, Prose, Question, Size,
    Step, StoryPart,
};
pub use new::new_lesson;
pub use option_names::OptionNames;
pub use progress::{Progress, QuizProgress, Store};
pub use read::read;
pub use run::{CommandOutput, MOST_PRINTED, Run, Runner};
pub use source::{LONGEST, is_lesson};
pub use story::{StoryStep, story_lesson};
pub use values::RunValues;
