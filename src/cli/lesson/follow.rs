//! `attn lesson follow`.

use clap::Args;

use crate::cli::output::ScreenArgs;
use crate::cli::{Env, LESSON_OPTIONS, Streams};
use crate::error::{EXIT_DONE, Error, Result};
use crate::lesson::open;
use crate::lesson::play::{PlayOptions, follow, present};

/// Show notes, answers and the clock in a second terminal
///
/// Run it on a screen that only you see, before or after `attn lesson play`. q ends it. If not run in a terminal, it prints
/// the present state once.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  attn lesson follow")]
pub(super) struct FollowArgs {
    /// The lesson that is played [default: the one begun last]
    #[arg(value_name = "NAME|FILE")]
    lesson: Option<String>,
    #[command(flatten)]
    screen: ScreenArgs,
}

impl FollowArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let lesson = self
            .lesson
            .as_deref()
            .map(|asked| open(asked, LESSON_OPTIONS).map(|(lesson, _)| lesson))
            .transpose()?;
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
