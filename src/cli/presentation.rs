//! A story that is longer than the terminal is played step by step, by the player of the lessons.

use std::ffi::OsString;

use crate::error::{EXIT_DONE, Result};
use crate::explorer::command_line;
use crate::foreign::from_os;
use crate::lesson::play::{PlayOptions, Player, ProgressSaver, play};
use crate::lesson::{CommandOutput, Lesson, StoryPart, StoryStep, story_lesson};
use crate::render::{self, Format, Page, Screen, Style};

use super::lesson::{full_screen_commands, typed_commands};
use super::output::{self, OutputArgs};
use super::program::{Env, Program, Streams};
use super::registry::takes_value;
use super::selection::StepArgs;

/// The pages of a command, and how they are shown.
pub(super) struct Presentation<'a> {
    program: &'a Program<'a>,
    /// The name of the command.
    command: &'a str,
    /// For each page the command that shows all of it.
    pub wholes: Vec<String>,
    steps: &'a StepArgs,
    output: &'a OutputArgs,
    style: Style,
}

impl<'a> Presentation<'a> {
    /// The pages of a command line that shows all of one story.
    pub(super) fn of(
        command: &'a str,
        program: &'a Program<'a>,
        (steps, output): (&'a StepArgs, &'a OutputArgs),
        style: Style,
    ) -> Presentation<'a> {
        Presentation { program, command, wholes: vec![whole(program.typed)], steps, output, style }
    }

    /// Shows the pages: step by step on a terminal that they are too long for, else all at once. Returns the exit code.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(super) fn show(&self, pages: &[Page], env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let lesson = self.lesson(pages).filter(|_| self.may_pause(env));
        let Some(lesson) = lesson else { return self.print(pages, env, streams) };
        let Style { width, colour, theme, charset, .. } = self.style;
        let asked = self.output.look.screen.width.map(usize::from);
        let options = PlayOptions {
            screen: Screen { width, colour, theme, charset },
            width: asked,
            auto: false,
            keys: true,
        };
        let window = options.window();
        let mut whole = Vec::new();
        render::stories(
            pages,
            self.command,
            &Style { width: window.screen.width, ..self.style },
            &mut whole,
        )?;
        if String::from_utf8_lossy(&whole).lines().count() < window.rows {
            return self.print(pages, env, streams);
        }
        let warnings = pages.iter().flat_map(|page| page.story.graph.warnings());
        let warnings: Vec<String> = warnings.map(|warning| format!("warning: {warning}")).collect();
        let run = |args: &[String], screen: Screen| self.output_of_step(pages, args, screen);
        let typed = typed_commands(self.program);
        let full_screen = full_screen_commands(self.program);
        let mut player = Player::new(&lesson, &run, window, None);
        player.by_hand = &typed;
        player.full_screen = Some(&full_screen);
        play(&mut player, "", &warnings, options, ProgressSaver::default(), streams.out)
    }

    fn print(&self, pages: &[Page], env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        if self.steps.no_pause {
            output::pages(pages, self.command, &self.style, streams)?;
            return Ok(EXIT_DONE);
        }
        output::paged(pages, self.command, &self.style, env, streams)
    }

    fn may_pause(&self, env: &Env) -> bool {
        env.has_keys && env.has_screen && !self.steps.no_pause && self.style.format == Format::Table
    }

    /// The steps of all pages as a lesson; `None` if there are fewer than two.
    fn lesson(&self, pages: &[Page]) -> Option<Lesson> {
        let mut scenes = Vec::new();
        for (page, whole) in pages.iter().zip(&self.wholes) {
            for (at, title) in page.story.step_titles().into_iter().enumerate() {
                scenes.push(StoryStep { title, typed: format!("{whole} --step {}", page.skipped + at + 1) });
            }
        }
        let [page, ..] = pages else { return None };
        if scenes.len() < 2 {
            return None;
        }
        let (title, of) = match pages {
            [page] => (page.story.title.clone(), page.skipped + scenes.len() + page.left),
            _ => (format!("{} demos", pages.len()), scenes.len()),
        };
        let whole = self.wholes.first().filter(|_| pages.len() == 1).cloned();
        Some(story_lesson(&title, scenes, StoryPart { before: page.skipped, last: of, whole }))
    }

    /// The output of the step at a position.
    fn output_of_step(&self, pages: &[Page], args: &[String], screen: Screen) -> CommandOutput {
        let position = args.first().and_then(|arg| arg.parse().ok()).unwrap_or_default();
        let Screen { width, colour, theme, charset } = screen;
        let style = Style { width, colour, theme, charset, ..self.style };
        let mut out = Vec::new();
        let said = match scene(pages, position) {
            Some(page) => render::stories(&[page], self.command, &style, &mut out),
            None => Ok(()),
        };
        let err = said.map_err(|error| error.to_string()).err().unwrap_or_default();
        CommandOutput::of_text(EXIT_DONE, String::from_utf8_lossy(&out).into_owned(), err)
    }
}

/// The page of the step at a position among the steps of all pages. The first step of a page has its headline, the last one its
/// notes.
fn scene(pages: &[Page], position: usize) -> Option<Page> {
    let mut before = 0;
    for page in pages {
        let steps = page.story.step_count();
        if position < before + steps {
            let at = position - before;
            let mut story = page.story.clone().only_steps(&(at + 1..=at + 1));
            if at + 1 == steps && page.headed && !story.points_to_notes() {
                story.notes_told_by = None;
                story.notes.append(&mut story.remarks);
            }
            story.remarks.clear();
            return Some(Page {
                headed: page.headed && at == 0,
                skipped: page.skipped + at,
                left: 0,
                computing: None,
                story,
                nodes: Vec::new(),
            });
        }
        before += steps;
    }
    None
}

/// The command as it was typed, without the options that choose among its steps.
pub(super) fn whole(typed: &[OsString]) -> String {
    typed_without(typed, &["--step", "--steps"])
}

/// The command as it was typed, without some options and their values.
pub(super) fn typed_without(typed: &[OsString], options: &[&str]) -> String {
    command_line(&without(typed, options, |_| true))
}

/// The words of a command without some options; of `--set` those stay that the predicate keeps.
pub(super) fn without(typed: &[OsString], options: &[&str], keeps_set: impl Fn(&str) -> bool) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = typed.iter().map(|word| from_os(word).into_owned());
    while let Some(word) = words.next() {
        let (option, joined) = match word.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value.to_string())),
            _ => (word.as_str(), None),
        };
        if word == "--" {
            kept.push(word);
            kept.extend(words);
            break;
        } else if options.contains(&option) {
            if joined.is_none() && takes_value(option) {
                words.next();
            }
        } else if option == "--set" {
            let set = joined.or_else(|| words.next()).unwrap_or_default();
            if keeps_set(&set) {
                kept.extend(["--set".to_string(), set]);
            }
        } else {
            kept.push(word);
        }
    }
    kept
}
