//! The sources of lessons: built in, and files.

use crate::error::{Error, ErrorKind, Result};
use crate::foreign::{to_path, visible};
use crate::input::{exists, read_text};
use crate::text::{did_you_mean, nearest, quoted};

use super::command::Command;
use super::model::{Block, Exchange, Lesson, Part, Step, StoryPart};
use super::read::read;
use super::source::LONGEST;

/// The lessons that travel with the program: file name and text, in their order.
pub static BUILT_IN: &[(&str, &str)] = &[
    ("0-tour.md", include_str!("../../walkthroughs/0-tour.md")),
    ("1-interaction-matrices.md", include_str!("../../walkthroughs/1-interaction-matrices.md")),
    ("2-matrix-multiplication.md", include_str!("../../walkthroughs/2-matrix-multiplication.md")),
    ("3-self-attention.md", include_str!("../../walkthroughs/3-self-attention.md")),
    ("4-transformer-imagined.md", include_str!("../../walkthroughs/4-transformer-imagined.md")),
    ("5-one-third.md", include_str!("../../walkthroughs/5-one-third.md")),
    ("6-todays-models.md", include_str!("../../walkthroughs/6-todays-models.md")),
    ("7-a-trained-model.md", include_str!("../../walkthroughs/7-a-trained-model.md")),
    ("8-where-weights-come-from.md", include_str!("../../walkthroughs/8-where-weights-come-from.md")),
    ("9-one-layer-two-layers.md", include_str!("../../walkthroughs/9-one-layer-two-layers.md")),
];

/// Ways through the lessons of the program; `walkthroughs/README.md` says what each needs.
pub const ROUTES: &str = "One lecture of 45 minutes: 0, 5. A course of four: 2, 3, 5, 6, after 0";

/// The lesson in the program of this name, `0-tour`, or `tour`, or `0`: its file name and text.
pub fn built_in(asked: &str) -> Option<(&'static str, &'static str)> {
    let matches = |file: &str| {
        let name = file.trim_end_matches(".md");
        let (number, words) = name.split_once('-').unwrap_or(("", name));
        [name, file, number, words].contains(&asked)
    };
    BUILT_IN.iter().copied().find(|(file, _)| matches(file))
}

/// The lesson in the program whose name, with or without its number, is nearest to what was typed.
pub fn near_lesson(typed: &str) -> Option<&'static str> {
    let names = || BUILT_IN.iter().map(|(file, _)| file.trim_end_matches(".md"));
    let words = |name: &'static str| name.split_once('-').map_or(name, |(_, words)| words);
    nearest(typed, names()).or_else(|| {
        let near = nearest(typed, names().map(words))?;
        names().find(|name| words(name) == near)
    })
}

impl Lesson {
    /// The commands for after a lesson: the next built-in one, and a quiz if it has questions; none after a story.
    pub fn what_is_next(&self) -> Option<Vec<String>> {
        if self.story.is_some() {
            return None;
        }
        let at = BUILT_IN.iter().position(|(file, _)| *file == self.file);
        let next = at.filter(|at| at + 1 < BUILT_IN.len()).map(|at| format!("attn lesson play {}", at + 1));
        let name = if at.is_some() { self.name.clone() } else { quoted(&self.file).to_string() };
        let quiz = self.questions().next().map(|_| format!("attn lesson quiz {name}"));
        let commands: Vec<String> = next.into_iter().chain(quiz).collect();
        (!commands.is_empty()).then_some(commands)
    }
}

/// Opens the lesson that `NAME|FILE[#step]` names, and the position of the step it asks for.
///
/// # Errors
/// If there is no such lesson or step, or the file is not a lesson: its first fault, and the number of others.
pub fn open(asked: &str) -> Result<(Lesson, Option<usize>)> {
    let (name, step) = match asked.split_once('#') {
        Some((name, step)) if built_in(name).is_some() || !exists(asked) => (name, Some(step)),
        _ => (asked, None),
    };
    let (file, text) = text_of(name)?;
    let lesson = read(&file, &text).map_err(|faults| faults.error(&file))?;
    let find = |step| lesson.find_step(step).ok_or_else(|| no_step(&lesson, step));
    let position = step.map(find).transpose()?;
    Ok((lesson, position))
}

/// The name in messages, and the text, of a lesson. A built-in name means the same in every folder; with its ending, `0-tour.md`, it
/// is that of a file, where there is one.
///
/// # Errors
/// If there is neither such a file nor such a lesson, or the file cannot be read as text.
pub fn text_of(name: &str) -> Result<(String, String)> {
    match built_in(name) {
        // Not the name of the built-in lesson.
        Some((file, _)) if file == name && exists(name) => {
            Ok((format!("./{name}"), read_text(&to_path(name), LONGEST)?))
        }
        Some((file, text)) => Ok((file.to_string(), text.to_string())),
        None if exists(name) => Ok((name.to_string(), read_text(&to_path(name), LONGEST)?)),
        None => Err(unknown(name)),
    }
}

/// Returns true if [`text_of`] gives this name to a lesson in the program.
pub fn is_built_in(file: &str) -> bool {
    BUILT_IN.iter().any(|(own, _)| *own == file)
}

fn unknown(name: &str) -> Error {
    let shown = visible(name).into_owned();
    let error =
        Error::new(format!("there is no lesson `{shown}`, and no such file")).of_kind(ErrorKind::Unknown);
    match near_lesson(&shown) {
        Some(near) => error.help(format!("did you mean `{near}`? `attn lesson` lists the lessons")),
        None if exists(&format!("{name}.md")) => error.help(format!("did you mean `{shown}.md`?")),
        None => error.help("`attn lesson` lists the lessons"),
    }
}

fn no_step(lesson: &Lesson, step: &str) -> Error {
    let error =
        Error::new(format!("`{}` has no step `{}`", lesson.name, visible(step))).of_kind(ErrorKind::Unknown);
    let ids: Vec<&str> = lesson.steps.iter().map(|step| step.id.as_str()).collect();
    error.help(
        did_you_mean(step, ids.iter().copied()).unwrap_or_else(|| {
            format!("it has the steps 1 to {}, or by name: {}", ids.len(), ids.join(", "))
        }),
    )
}

// The output of a command as a lesson: the same player shows it step by step, under the same keys.

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
pub fn story_lesson(title: &str, scenes: Vec<StoryStep>, story: StoryPart) -> Lesson {
    let step = |(position, scene): (usize, StoryStep)| {
        let command = Command { typed: scene.typed, args: vec![position.to_string()] };
        // The command is not shown, only its output.
        let (typed, last_digit_may_differ) = (Vec::new(), false);
        let exchange = Exchange { line: 0, command, typed, code: 0, expected: 0..0, last_digit_may_differ };
        let parts = vec![Part { title: None, blocks: vec![Block::Console(vec![exchange])] }];
        let id = (story.before + position + 1).to_string();
        Step { id, title: scene.title, parts, ..Step::default() }
    };
    let steps = scenes.into_iter().enumerate().map(step).collect();
    let [name, file, title] = [title; 3].map(str::to_string);
    Lesson { name, file, title, steps, story: Some(story), ..Lesson::default() }
}
