//! What the commands of a lesson may read and write.

use std::rc::Rc;

use clap::Args;

use crate::cli::{Env, Outcome, Streams, run};
use crate::input::{Reading, Writing};
use crate::lesson::{CommandOutput, MOST_PRINTED};
use crate::memory::ChargedBytes;
use crate::render::Screen;

/// Whether a lesson is trusted.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct TrustArgs {
    /// Let the lesson's commands read any file
    ///
    /// Otherwise they read only files below the lesson's own folder and the working directory.
    #[arg(long)]
    trust: bool,
}

impl TrustArgs {
    /// The program's own `run`, in process: what the commands of a lesson are run by. They write no files.
    pub(super) fn run(self, lesson: &str) -> impl Fn(&[String], Screen) -> CommandOutput + use<> {
        let reading = if self.trust { Reading::Anywhere } else { Reading::of_lesson(lesson) };
        move |args, screen| ran(args, screen, Writing::Refused, reading)
    }
}

/// The same for a command that a teacher types.
pub(in crate::cli) fn by_hand(args: &[String], screen: Screen) -> CommandOutput {
    ran(args, screen, Writing::Allowed, Reading::Anywhere)
}

fn ran(args: &[String], screen: Screen, writing: Writing, reading: Reading) -> CommandOutput {
    let env = Env {
        writing,
        reading,
        width: screen.width,
        colour: screen.colour,
        colour_err: screen.colour,
        theme: screen.theme,
        charset: screen.charset,
        ..Env::default()
    };
    let (mut out, mut err) = (ChargedBytes::new(MOST_PRINTED), ChargedBytes::new(MOST_PRINTED));
    let mut streams = Streams { input: &mut std::io::empty(), out: &mut out, err: &mut err };
    let Outcome { code, graphs } = run(args, &env, &mut streams);
    let text = |gathered: ChargedBytes| {
        String::from_utf8(gathered.into_bytes())
            .unwrap_or_else(|bytes| String::from_utf8_lossy(bytes.as_bytes()).into_owned())
    };
    CommandOutput { code, out: text(out), err: text(err), graphs: graphs.into_iter().map(Rc::new).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::exists;

    #[test]
    fn a_lesson_writes_no_files_whatever_its_commands_ask_for_and_a_teacher_does() {
        let folder = tempfile::tempdir().unwrap();
        let made = |name: &str| folder.path().join(name).display().to_string();
        let data = "examples/data/bat.json";
        let (saved, suggested) = (made("o.npy"), made("made.npz"));
        for (command, file) in [
            (format!("attend {data} --save O={saved}"), &saved),
            (format!("diagnose {data} --suggest-input {suggested}"), &suggested),
        ] {
            let args: Vec<String> = command.split(' ').map(str::to_string).collect();
            let refused = TrustArgs { trust: true }.run("x.md")(&args, Screen::plain(80));
            assert_eq!(refused.code, 2, "{command}");
            assert!(refused.err.contains("a lesson cannot write files"), "{command}: {}", refused.err);
            assert!(!exists(file), "{command}");
            assert_eq!(by_hand(&args, Screen::plain(80)).code, 0, "{command}");
            assert!(exists(file), "{command}");
        }
    }
}
