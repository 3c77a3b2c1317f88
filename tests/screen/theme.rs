//! `--theme`: what the shades stand out from, and how the terminal is asked for its ground.

use crate::common::attn;
use attn::cli::Env;
use attn::render::Theme;

const WEIGHTS: &str = "attend --words 'bat cave racket' --only A --color=always";

/// The shades of a screen, each with the escape for its ground first, then the one for the text, then the text.
fn shades(out: &str) -> Vec<(u8, u8, String)> {
    let cells = out.split("\x1b[48;5;").skip(1).map(|cell| {
        let (ground, rest) = cell.split_once("m\x1b[38;5;").unwrap_or_else(|| panic!("{cell:?}"));
        let (ink, rest) = rest.split_once('m').unwrap();
        (ground.parse().unwrap(), ink.parse().unwrap(), rest[..rest.find('\x1b').unwrap()].trim().to_string())
    });
    cells.collect()
}

#[test]
fn the_largest_weight_is_light_on_a_dark_screen_and_dark_on_a_light_one() {
    let own = |theme: &str| {
        let out = attn(WEIGHTS).arg(format!("--theme={theme}")).ok().out;
        shades(&out).into_iter().find(|(_, _, text)| text == "0.9992").unwrap_or_else(|| panic!("{out}"))
    };
    // White on navy, black on a light blue.
    assert_eq!(own("light"), (18, 231, "0.9992".to_string()));
    assert_eq!(own("dark"), (195, 16, "0.9992".to_string()));
    let unknown = attn(WEIGHTS).ok().out;
    assert!(unknown.contains("\x1b[1m\x1b[48;5;31m\x1b[38;5;16m 0.9992"), "{unknown:?}");
}

#[test]
fn an_option_comes_before_what_the_surroundings_say() {
    let env = |theme| Env { theme, colour: true, ..Env::default() };
    let shown = |line: &str, theme| shades(&attn(line).env(env(theme)).ok().out);
    let line = "attend --words 'bat cave racket' --only A";
    assert_eq!(shown(line, Theme::Dark), shown(&format!("{line} --theme dark"), Theme::Light));
    assert_eq!(shown(line, Theme::Light), shown(&format!("{line} --theme light"), Theme::Dark));
    assert_ne!(shown(line, Theme::Dark), shown(line, Theme::Light));
    let variable = |text: &'static str| {
        Env::from_variables(|name| (name == "COLORFGBG").then(|| text.into()), None, [true; 2])
    };
    assert_eq!(variable("15;0").theme, Theme::Dark);
    assert_eq!(variable("0;15").theme, Theme::Light);
    assert!(!Env::default().asks_terminal);
}

#[cfg(unix)]
mod asked {
    use std::io::{Read, Write};
    use std::path::Path;
    use std::process::Command;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::{Duration, Instant};

    use portable_pty::{CommandBuilder, PtySize, native_pty_system};

    const PROGRAM: &str = env!("CARGO_BIN_EXE_attn");
    const DARK: &str = "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\";
    const LIGHT: &str = "\x1b]11;rgb:fdfd/f6f6/e3e3\x07";
    const WHAT_IT_IS: &str = "\x1b[?62;22c";
    const PATIENCE: Duration = Duration::from_secs(60);

    /// What a terminal does when it is asked: after some time it sends something. Once that is sent and the words have been
    /// written, it presses keys.
    struct Answers<'a> {
        after: Duration,
        with: &'a str,
        then: Option<(&'a str, &'a str)>,
    }

    fn answers(with: &str) -> Answers<'_> {
        Answers { after: Duration::ZERO, with, then: None }
    }

    /// A busy machine may deliver an answer later than it was meant to come. Runs that show this are repeated, at most so often.
    const RUNS: usize = 20;
    /// The answer was sent this much later than it was due: too late to tell an early one from a late one.
    const LATE: Duration = Duration::from_millis(40);

    /// Runs until the answer has come in time; what is written without it is told from what is written with it by `is_late`.
    #[track_caller]
    fn in_time(is_late: impl Fn(&str) -> bool, run: impl Fn() -> (String, usize)) -> (String, usize) {
        let mut last = run();
        for _ in 1..RUNS {
            if !is_late(&last.0) {
                break;
            }
            last = run();
        }
        assert!(!is_late(&last.0), "an answer sent at once never came in time: {:?}", last.0);
        last
    }

    /// Runs a script of the shell on a terminal until it ends: what it has written, and how often the terminal was asked. A run
    /// in which this process was too slow to answer when it was due is repeated.
    fn on_terminal(script: &str, terminal: &Answers<'_>, variables: &[(&str, &str)]) -> (String, usize) {
        let mut last = watch(script, terminal, variables, &mut |_| {});
        for _ in 1..RUNS {
            if last.delayed <= LATE {
                break;
            }
            last = watch(script, terminal, variables, &mut |_| {});
        }
        (last.out, last.asked)
    }

    /// What came of a script.
    struct ScriptResult {
        out: String,
        asked: usize,
        /// How much later than it was due an answer was sent.
        delayed: Duration,
    }

    /// Runs a script once; what is written is told as it comes.
    fn watch(
        script: &str,
        terminal: &Answers<'_>,
        variables: &[(&str, &str)],
        told: &mut dyn FnMut(&str),
    ) -> ScriptResult {
        let pair = native_pty_system()
            .openpty(PtySize { rows: 60, cols: 100, pixel_width: 0, pixel_height: 0 })
            .expect("a pseudo-terminal");
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", script]);
        for variable in ["COLUMNS", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLORFGBG", "ATTN_THEME"] {
            command.env_remove(variable);
        }
        command.env("TERM", "xterm-256color");
        command.env("LC_ALL", "C.UTF-8");
        command.env("ATTN", PROGRAM);
        for (name, value) in variables {
            command.env(name, value);
        }
        let mut child = pair.slave.spawn_command(command).expect("sh starts");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let mut keys = pair.master.take_writer().expect("keys");
        let (send, pieces) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count) = reader.read(&mut bytes) {
                if count == 0 || send.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let (mut out, mut asked, mut due) = (Vec::new(), 0, None);
        let (mut then, mut delayed) = (terminal.then, Duration::ZERO);
        let start = Instant::now();
        loop {
            let wait = due.map_or(PATIENCE, |at: Instant| at.saturating_duration_since(Instant::now()));
            match pieces.recv_timeout(wait) {
                Ok(piece) => {
                    told(&String::from_utf8_lossy(&piece));
                    out.extend(piece);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            assert!(start.elapsed() < PATIENCE, "{}", String::from_utf8_lossy(&out));
            let questions = String::from_utf8_lossy(&out).matches("\x1b]11;?").count();
            if questions > asked {
                (asked, due) = (questions, Some(Instant::now() + terminal.after));
            }
            if let Some(at) = due.filter(|at| *at <= Instant::now()) {
                due = None;
                delayed = delayed.max(at.elapsed());
                keys.write_all(terminal.with.as_bytes()).and_then(|()| keys.flush()).expect("it is answered");
            }
            let is_answered = asked > 0 && due.is_none();
            let shown = |words: &str| String::from_utf8_lossy(&out).contains(words);
            if let Some((_, press)) = then.filter(|(words, _)| is_answered && shown(words)) {
                then = None;
                keys.write_all(press.as_bytes()).and_then(|()| keys.flush()).expect("keys are pressed");
            }
        }
        child.wait().expect("sh ends");
        ScriptResult { out: String::from_utf8_lossy(&out).into_owned(), asked, delayed }
    }

    const WEIGHTS: &str = "\"$ATTN\" attend --words 'bat cave racket' --only A";
    /// The colours of the largest weight on a dark, a light and an unknown screen.
    const ON_DARK: &str = "\x1b[48;5;195m\x1b[38;5;16m";
    const ON_LIGHT: &str = "\x1b[48;5;18m\x1b[38;5;231m";
    const ON_EITHER: &str = "\x1b[1m\x1b[48;5;31m\x1b[38;5;16m";

    fn is_either(out: &str) -> bool {
        out.contains(ON_EITHER)
    }

    #[test]
    fn the_terminal_is_asked_once_and_its_ground_decides() {
        for (ground, colours) in [(DARK, ON_DARK), (LIGHT, ON_LIGHT)] {
            let answer = format!("{ground}{WHAT_IT_IS}");
            let (out, asked) = in_time(is_either, || on_terminal(WEIGHTS, &answers(&answer), &[]));
            assert_eq!(asked, 1, "{out:?}");
            assert!(out.contains(colours), "{ground:?}: {out:?}");
        }
        let (out, asked) = on_terminal(WEIGHTS, &answers(WHAT_IT_IS), &[]);
        assert!(asked == 1 && is_either(&out), "{out:?}");
        // What it does not say the surroundings may.
        let (out, _) = on_terminal(WEIGHTS, &answers(WHAT_IT_IS), &[("COLORFGBG", "0;15")]);
        assert!(out.contains(ON_LIGHT), "{out:?}");
        let answer = format!("{DARK}{WHAT_IT_IS}");
        let with = || on_terminal(WEIGHTS, &answers(&answer), &[("COLORFGBG", "0;15")]);
        let (out, _) = in_time(|out| out.contains(ON_LIGHT), with);
        assert!(out.contains(ON_DARK), "{out:?}");
    }

    #[test]
    fn nothing_is_asked_where_the_answer_is_known_or_of_no_use() {
        for (script, variables) in [
            (format!("{WEIGHTS} --theme dark"), vec![]),
            (format!("{WEIGHTS} --color never"), vec![]),
            (format!("{WEIGHTS} --heat never"), vec![]),
            (format!("{WEIGHTS} --format json"), vec![]),
            (format!("{WEIGHTS} </dev/null"), vec![]),
            (format!("{WEIGHTS} --color always | cat"), vec![]),
            (WEIGHTS.to_string(), vec![("NO_COLOR", "1")]),
            (WEIGHTS.to_string(), vec![("TERM", "dumb")]),
            (WEIGHTS.to_string(), vec![("TERM", "linux")]),
            ("\"$ATTN\" params --format csv; \"$ATTN\" glossary softmax; \"$ATTN\" --version; \"$ATTN\" demo".to_string(), vec![]),
        ] {
            let (out, asked) = on_terminal(&script, &answers(""), &variables);
            assert_eq!(asked, 0, "{script} {variables:?}: {out:?}");
            assert!(!out.is_empty());
        }
    }

    /// What the shell finds when the program is done: its terminal's modes, and how many bytes it could read.
    const LEFT: &str = "; stty -a | tr ' ;' '\\n\\n' | grep -x -e '-*icanon' -e '-*echo' -e '-*isig'; \
                        stty -icanon min 1; printf 'left '; timeout 0.8 head -c 1 | wc -c";

    #[test]
    #[ignore = "it waits for seconds: .ci/run runs it"]
    fn an_answer_that_comes_late_or_never_changes_nothing_and_never_reaches_the_shell() {
        let whole = format!("{DARK}{WHAT_IT_IS}");
        for (after, with) in [(0, &whole[..]), (120, &whole), (200, &whole), (0, DARK), (0, "")] {
            let terminal = Answers { after: Duration::from_millis(after), with, then: None };
            let run = || on_terminal(&format!("{WEIGHTS}{LEFT}"), &terminal, &[]);
            let is_early = after == 0 && !with.is_empty();
            let (out, _) = if is_early { in_time(is_either, run) } else { run() };
            let (screen, modes) = out.split_once("╯").expect("a table");
            assert!(screen.contains(if is_early { ON_DARK } else { ON_EITHER }), "{out:?}");
            for mode in ["icanon", "echo", "isig"] {
                assert!(modes.lines().any(|line| line == mode), "{after} {with:?}: {mode}: {out:?}");
            }
            assert!(modes.trim_end().ends_with("left 0"), "{after} {with:?}: {out:?}");
        }
    }

    #[test]
    fn a_terminal_that_does_not_answer_delays_what_is_written_by_no_more_than_a_moment() {
        let delay = || {
            let (mut out, mut asked, mut shown) = (String::new(), None, None);
            watch(WEIGHTS, &answers(""), &[], &mut |piece| {
                out.push_str(piece);
                let now = Instant::now();
                asked = asked.or(out.contains("]11;?").then_some(now));
                shown = shown.or(out.contains('╯').then_some(now));
            });
            shown.expect("a table").duration_since(asked.expect("a question"))
        };
        // 50 ms, and the rest of the work; a run that something else has held up tells nothing.
        let moment = Duration::from_millis(45)..Duration::from_millis(300);
        let delays: Vec<Duration> =
            (0..RUNS).map(|_| delay()).take_while(|delay| !moment.contains(delay)).collect();
        assert!(delays.len() < RUNS, "{delays:?}");
    }

    #[test]
    fn the_player_does_not_take_a_late_answer_for_keys() {
        // The screen when the player is left, without its clock.
        let played = |after| {
            let answer = format!("{DARK}{WHAT_IT_IS}");
            let then = Some(("?: keys", "q"));
            let terminal = Answers { after: Duration::from_millis(after), with: &answer, then };
            let state = tempfile::tempdir().expect("a folder");
            let state = state.path().display().to_string();
            let script = "\"$ATTN\" lesson play 0-tour; echo \"code $?\"";
            let (out, asked) = on_terminal(script, &terminal, &[("ATTN_STATE_DIR", &state)]);
            let size = |count| std::num::NonZero::new(count).expect("a size");
            let mut parser = vt100::Parser::new(size(50), size(100), 0);
            parser.process(out.as_bytes());
            (parser.screen().contents(), asked)
        };
        let ((prompt, asked), (late, asked_too)) = (played(0), played(150));
        assert_eq!((asked, asked_too), (1, 1), "{prompt:?}");
        assert_eq!(late, prompt);
        assert!(prompt.contains("From two words to many heads") && prompt.contains("code 0"), "{prompt:?}");
    }

    #[test]
    fn a_signal_while_it_is_asked_ends_the_program_and_leaves_the_terminal_as_it_was() {
        // The answer to the question is Ctrl-C: it reaches the program while it listens.
        let script = format!("trap : INT; {WEIGHTS}; echo \"code $?\"{LEFT}");
        let ends = |out: &str| out.contains("code 0");
        let (out, asked) = in_time(ends, || on_terminal(&script, &answers("\x03"), &[]));
        assert_eq!(asked, 1);
        assert!(out.contains("code 130"), "{out:?}");
        for mode in ["icanon", "echo", "isig"] {
            assert!(out.lines().any(|line| line == mode), "{mode}: {out:?}");
        }
        let script = format!("{WEIGHTS} & sleep 0; wait $!; echo \"code $?\"");
        let (out, asked) = on_terminal(&script, &answers(""), &[]);
        assert_eq!((asked, out.contains("code 0")), (0, true), "in the background nothing is asked: {out:?}");
    }

    #[test]
    fn color_always_comes_before_no_color_in_what_is_written_and_in_what_goes_wrong() {
        let run = |args: &[&str]| {
            let mut command = Command::new(PROGRAM);
            command.env("NO_COLOR", "1").current_dir(Path::new(env!("CARGO_MANIFEST_DIR"))).args(args);
            command.output().expect("it runs")
        };
        let words = ["attend", "--words", "bat cave", "--only", "A"];
        for always in [&["--color", "always"][..], &["--color=always"]] {
            let out = run(&[&words[..], always].concat()).stdout;
            assert!(String::from_utf8_lossy(&out).contains("\x1b[48;5;"), "{always:?}");
            for wrong in [&["demo", "no-such-demo"][..], &["softmax", "x"], &["params", "--no-such-option"]] {
                let err = run(&[wrong, always].concat()).stderr;
                assert!(err.contains(&b'\x1b'), "{wrong:?} {always:?}");
            }
            assert!(
                run(&[&["attend", "--help"][..], always].concat()).stdout.contains(&b'\x1b'),
                "{always:?}"
            );
        }
        assert!(!run(&words).stdout.contains(&b'\x1b'));
        assert!(!run(&["demo", "no-such-demo"]).stderr.contains(&b'\x1b'));
    }
}
