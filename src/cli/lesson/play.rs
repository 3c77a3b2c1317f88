//! `attn lesson play` and `attn lesson follow`.

use serde::Deserialize;

use crate::cli::output::{ScreenArgs, ThemeArgs};
use crate::cli::program::Program;
use crate::cli::{Env, Streams};
use crate::error::{EXIT_DONE, Error, Result};
use crate::lesson::play::{
    PlayOptions, Player, ProgressSaver, ScriptedAnswers, Window, follow, play, present, transcript,
};
use crate::lesson::show::LessonView;
use crate::lesson::{Lesson, Runner, open};
use crate::render::Screen;
use crate::text::{ScreenWidth, counted, quoted};

use super::trust::{TrustArgs, full_screen_commands, typed_commands};

/// On fewer rows than this not even a question with its options fits.
const FEW_ROWS: usize = 14;

/// The options of `attn lesson play`.
#[derive(Deserialize, Debug)]
pub(crate) struct PlayArgs {
    lesson: String,
    auto: bool,
    no_input: bool,
    notes: bool,
    answer: Vec<String>,
    #[serde(flatten)]
    trust: TrustArgs,
    #[serde(flatten)]
    screen: ScreenArgs,
    #[serde(flatten)]
    theme: ThemeArgs,
}

impl PlayArgs {
    pub(crate) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let (lesson, first) = open(&self.lesson)?;
        let screen = self.theme.asked_of(self.screen.screen(env), env);
        let run = self.trust.commands(program).of(&lesson.file);
        let runner = Runner::new(&run);
        let mut show = LessonView::new(&lesson, &runner, screen);
        show.notes = self.notes;
        let scripted = ScriptedAnswers::read(&self.answer, &show)?;
        if self.no_input || !env.has_screen || !(env.has_keys || self.auto) {
            streams.out.write_all(transcript(&show, first, scripted).as_bytes())?;
            return Ok(EXIT_DONE);
        }
        let options = PlayOptions {
            screen,
            width: self.screen.width.map(usize::from),
            auto: self.auto,
            keys: env.has_keys,
        };
        let window = options.window();
        let state = env.state.as_deref();
        let (saver, progress, mut notices) =
            state.map(|state| ProgressSaver::new(state, &lesson, first)).unwrap_or_default();
        notices.extend(too_small(&lesson, &runner, window));
        notices.extend(faulty(&lesson, &self.lesson));
        let typed = typed_commands(program);
        let full_screen = full_screen_commands(program);
        let mut player = Player::new(&lesson, &run, window, first);
        player.by_hand = &typed;
        player.full_screen = Some(&full_screen);
        player.notes = self.notes;
        player.scripted = scripted;
        player.restore(&progress);
        play(&mut player, asked_for(&self.lesson, first), &notices, options, saver, streams.out)
    }
}

/// A warning if the screen is too small for a line or a paragraph of the lesson.
fn too_small(lesson: &Lesson, runner: &Runner<'_>, window: Window) -> Option<String> {
    let (size, Window { screen, rows }) = (lesson.size, window);
    let show = LessonView::new(lesson, runner, Screen { colour: false, ..screen });
    let is_cut =
        || lesson.every_block().any(|block| show.block(block).iter().any(|line| line.width() > screen.width));
    let fits = rows >= size.rows.min(FEW_ROWS) && (screen.width >= size.columns || !is_cut());
    (!fits).then(|| {
        format!(
            "Best at {}×{}; your terminal is {}×{rows}. Enlarge it or reduce the font size.",
            size.columns, size.rows, screen.width
        )
    })
}

/// The name or file of the lesson as it was typed, without the step.
fn asked_for(asked: &str, first: Option<usize>) -> &str {
    match asked.split_once('#') {
        Some((name, _)) if first.is_some() => name,
        _ => asked,
    }
}

/// A warning if the lesson has faults.
fn faulty(lesson: &Lesson, asked: &str) -> Option<String> {
    let name = asked.split('#').next().unwrap_or(asked);
    let faults = counted(lesson.faults.len(), "error");
    (!lesson.faults.is_empty())
        .then(|| format!("warning: {faults} in the lesson: attn lesson check {}", quoted(name)))
}

// `attn lesson follow`.

/// The options of `attn lesson follow`.
#[derive(Deserialize, Debug)]
pub(crate) struct FollowArgs {
    lesson: Option<String>,
    #[serde(flatten)]
    screen: ScreenArgs,
}

impl FollowArgs {
    pub(crate) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let lesson = self.lesson.as_deref().map(|asked| open(asked).map(|(lesson, _)| lesson)).transpose()?;
        let Some(state) = env.state.as_deref() else {
            return Err(Error::new("there is no folder in which the player can record its position")
                .help("set ATTN_STATE_DIR to a folder of your own, in both terminals"));
        };
        let screen = self.screen.screen(env);
        if env.has_screen && env.has_keys {
            let options =
                PlayOptions { screen, width: self.screen.width.map(usize::from), auto: false, keys: true };
            return follow(state, lesson.as_ref(), options, streams.out);
        }
        for line in present(state, lesson.as_ref(), screen) {
            writeln!(streams.out, "{line}")?;
        }
        Ok(EXIT_DONE)
    }
}
