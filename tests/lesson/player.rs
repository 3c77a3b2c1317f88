//! The player on a real terminal: every key, every way out, and what is left behind.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::terminal::Terminal;
use rustix::process::Signal;
use tempfile::TempDir;

const LESSON: &str = "tests/lesson/player/mask.md";
const PAGE_DOWN: &str = "\x1b[6~";
const PAGE_UP: &str = "\x1b[5~";
const LEFT: &str = "\x1b[D";
const UP: &str = "\x1b[A";
const F5: &str = "\x1b[15~";
const ESCAPE: &str = "\x1b";
const CONTROL_C: &str = "\x03";
const CONTROL_Z: &str = "\x1a";

fn state() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The player of the lesson, on its first page.
fn player(state: &Path) -> Terminal {
    let terminal = Terminal::attn(state, &["play", LESSON]);
    terminal.wait_for("0/4");
    terminal
}

/// What `attn lesson …` prints where it has no terminal, and its exit code.
fn piped(state: &Path, args: &[&str]) -> (String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_attn"))
        .arg("lesson")
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("ATTN_STATE_DIR", state)
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    (text.concat(), output.status.code().expect("a code"))
}

#[test]
fn a_lesson_is_gone_through_and_back_and_stays_above() {
    let state = state();
    let mut terminal = player(state.path());
    let before = terminal.settings();
    terminal.shows(" ", "1/4");
    assert!(terminal.screen().contains("$ attn softmax 1 2 --only A"));
    terminal.shows("\r", "The rows again");
    terminal.shows("\x1b[C", "2/4");
    let again = terminal.shows(LEFT, "1/4");
    assert_eq!(again.matches("The rows again").count(), 1, "{again}");
    assert!(!again.contains("2/4") && !again.contains("behind the mask"), "a clean screen:\n{again}");
    terminal.shows("\x7f", "0.2689");
    terminal.shows("nn", "3/4");
    terminal.shows("p", "2/4");
    terminal.shows("nn", "4/4");
    terminal.shows(" ", "End: Why the mask?");
    assert_eq!(terminal.settings(), before, "settings do not change on the way");
    terminal.press(" ");
    assert_eq!(terminal.ended(), 0);
    let all = terminal.all();
    assert!(all.starts_with("Why the mask?"), "{all}");
    let end = all.rsplit("End: Why the mask?").next().unwrap_or_default();
    assert!(end.trim_start().starts_with("Next: attn lesson quiz "), "{all}");
    assert!(
        all.matches("Why the mask?").count() >= 2 && all.contains("Before the mask"),
        "all can be scrolled to:\n{all}"
    );
    assert!(!all.contains("space goes on"), "no status line is left behind:\n{all}");
}

#[test]
fn a_clicker_with_four_keys_is_enough() {
    let state = state();
    let mut terminal = player(state.path());
    terminal.shows(PAGE_DOWN, "1/4");
    terminal.shows(PAGE_UP, "0/4");
    terminal.press(PAGE_DOWN);
    terminal.wait_for("1/4");
    terminal.press(".");
    let blank = terminal.wait_for("any key");
    assert_eq!(blank.trim(), "any key goes back");
    terminal.shows(".", "Before the mask");
    terminal.press(".");
    terminal.wait_for("any key");
    terminal.shows(F5, "Before the mask");
    terminal.shows(F5, "1/4");
    // A terminal sends escape alone as the beginning of other keys: it is followed by another when it has been understood.
    terminal.shows("4", "to step 4");
    terminal.shows(ESCAPE, "1/4");
    terminal.shows(PAGE_DOWN, "The rows again");
    terminal.shows(&PAGE_DOWN.repeat(2), "behind the mask?");
    // The second press of a double press ends no vote; one that comes later shows the answer.
    std::thread::sleep(Duration::from_millis(1100));
    assert!(!terminal.screen().contains("Two tokens"), "{}", terminal.screen());
    terminal.shows(PAGE_DOWN, "Two tokens lie in the future.");
}

#[test]
fn steps_are_jumped_to_found_and_listed() {
    let state = state();
    let mut terminal = player(state.path());
    terminal.shows("4", "to step 4: G");
    terminal.shows("G", "Try the mask on a sentence");
    terminal.shows("/", "search:");
    terminal.shows("RowS again\r", "1/4");
    terminal.shows("/what does\r", "3/4");
    terminal.shows("/nowhere\r", "was not found");
    let contents = terminal.shows("t", "2 min");
    assert!(contents.contains("▶   3  What is left?  2 min"), "{contents}");
    terminal.press(" ");
    terminal.shows("?", "blank the screen");
}

#[test]
fn answers_get_their_feedback_and_votes_stand_next_to_the_answer() {
    let state = state();
    let mut terminal = player(state.path());
    terminal.shows("2G", "think 0:");
    terminal.shows("h", "Who stands behind bat?");
    terminal.shows("v", "hands:");
    terminal.shows("A3 B14 C8\r", "25 hands");
    let wrong = terminal.shows("a", "So it is for finite scores.");
    assert!(!wrong.contains("Two tokens lie"), "{wrong}");
    let right = terminal.shows("c", "Two tokens lie in the future.");
    assert!(right.contains("Right: C") && right.contains("C  8 of 25 hands  ← right"), "{right}");
    terminal.shows(" ", "What does “bat” give");
    terminal.shows("0.52\r", "So it was without the mask.");
    terminal.shows("1\r", "All of its attention.");
}

#[test]
fn what_if_is_run_and_the_lesson_goes_on_where_it_was() {
    let state = state();
    let mut terminal = player(state.path());
    terminal.shows(" ", "1/4");
    terminal.shows("!", "Esc back");
    terminal.shows(UP, "$ attn softmax 1 2 --only A");
    // Nine places to the left stands the 2: another number is one edit away.
    terminal.press(&LEFT.repeat(9));
    terminal.shows("\x7f7\r", "0.9975");
    terminal.shows("!lesson play x\r", "A lesson cannot be played inside a lesson. Press q first.");
    terminal.shows("!demo nothing\r", "error:");
    terminal.shows("!", "Esc back");
    terminal.shows(ESCAPE, "1/4");
    terminal.shows(" ", "The rows again, and slowly.");
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn after_a_resize_the_whole_page_is_laid_out_again_and_no_ruins_stand() {
    let state = state();
    let mut terminal = player(state.path());
    terminal.shows(" ", "1/4");
    for (columns, rows) in [(60, 24), (34, 24), (100, 30), (50, 24)] {
        terminal.resize(columns, rows);
        let head =
            format!("1  Before the mask{:>1$}", "1 of 4", usize::from(columns) - "1  Before the mask".len());
        let screen = terminal.wait_until("the heading across the screen", |screen| {
            screen.lines().any(|line| line == head) && screen.contains("1/4")
        });
        assert_eq!(screen.matches("1/4").count(), 1, "one status line at {columns}×{rows}:\n{screen}");
        assert!(screen.trim_end().lines().last().is_some_and(|line| line.contains("1/4")), "{screen}");
        assert_eq!(terminal.cursor().1, 0);
    }
}

/// A shell with job control, in which the player is called.
fn shell(state: &Path) -> Terminal {
    let shell = Terminal::start(state, "/bin/sh", &["-i"], 80, 24);
    shell.wait_for("shell>");
    shell
}

fn call(shell: &mut Terminal) {
    shell.press(&format!("{} lesson play {LESSON}\r", env!("CARGO_BIN_EXE_attn")));
    shell.wait_for("0/4");
}

#[test]
fn a_player_is_suspended_and_comes_back() {
    let state = state();
    let mut shell = shell(state.path());
    shell.press("stty -a > $ATTN_STATE_DIR/before\r");
    call(&mut shell);
    shell.shows(" ", "1/4");
    let in_player = shell.settings();
    shell.press(CONTROL_Z);
    let told = shell.wait_until("the shell", |screen| screen.trim_end().ends_with("shell>"));
    assert!(!told.contains("1/4"), "the status line is gone:\n{told}");
    shell.press("stty -a > $ATTN_STATE_DIR/stopped; jobs; echo ready\r");
    let told = shell.wait_until("the list of jobs", |screen| screen.matches("ready").count() == 2);
    assert!(told.contains("Stopped") || told.contains("Suspended"), "{told}");
    let settings = |name: &str| fs::read_to_string(state.path().join(name)).expect("settings");
    assert_eq!(settings("before"), settings("stopped"));

    shell.press("fg\r");
    shell.wait_until("the page once more", |screen| {
        screen.contains("1/4") && screen.matches("Before the mask").count() >= 1
    });
    assert_eq!(shell.settings(), in_player);
    shell.shows(" ", "The rows again");
    shell.press("q");
    shell.wait_until("the shell", |screen| screen.trim_end().ends_with("shell>"));
    assert!(shell.screen().contains("Stopped at step 1 of 4."), "{}", shell.screen());
    shell.press("stty -a > $ATTN_STATE_DIR/after; echo do''ne\r");
    shell.wait_for("done");
    assert_eq!(settings("before"), settings("after"));
}

#[test]
fn a_follower_is_suspended_and_comes_back() {
    let state = state();
    let mut shell = shell(state.path());
    shell.press(&format!("{} lesson follow\r", env!("CARGO_BIN_EXE_attn")));
    shell.wait_for("Nobody plays a lesson yet");
    let in_follower = shell.settings();
    shell.press(CONTROL_Z);
    shell.wait_until("the shell", |screen| screen.matches("shell>").count() == 2);
    assert_ne!(shell.settings(), in_follower);
    shell.press("fg\r");
    shell.wait_until("the page once more", |screen| screen.matches("Nobody plays a lesson yet").count() == 2);
    shell.wait_until("single keys", |_| shell.settings() == in_follower);
    shell.press("q");
    shell.wait_until("the shell", |screen| screen.trim_end().ends_with("shell>"));
}

/// Leaves a player at a question, after half an answer; returns the exit code. The terminal is as it was before.
fn left(out: impl Fn(&mut Terminal)) -> u32 {
    let state = state();
    let mut terminal = Terminal::start(
        state.path(),
        "/bin/sh",
        &["-c", "sleep 0; exec \"$@\"", "-", env!("CARGO_BIN_EXE_attn"), "lesson", "play", LESSON],
        80,
        24,
    );
    let before = Terminal::start(state.path(), "/bin/cat", &[], 80, 24).settings();
    terminal.wait_for("0/4");
    assert_ne!(terminal.settings(), before, "keys come one by one");
    terminal.shows("3G0.", "answer: 0.");
    out(&mut terminal);
    let code = terminal.ended();
    assert_eq!(terminal.settings(), before);
    let screen = terminal.screen();
    assert!(!screen.contains("answer: 0."), "the line is gone:\n{screen}");
    code
}

#[test]
fn the_terminal_is_as_it_was_on_every_way_out() {
    assert_eq!(left(|terminal| terminal.press("\x7f\x7fq")), 0);
    assert_eq!(left(|terminal| terminal.press(CONTROL_C)), 130);
    assert_eq!(left(|terminal| terminal.signal(Signal::TERM)), 143);
    assert_eq!(left(|terminal| terminal.signal(Signal::HUP)), 129);
    assert_eq!(left(|terminal| terminal.signal(Signal::INT)), 130);
    // What would end it by the system's default restores the terminal as well.
    assert_eq!(left(|terminal| terminal.signal(Signal::QUIT)), 131);
    assert_eq!(left(|terminal| terminal.signal(Signal::ALARM)), 142);
    assert_eq!(left(|terminal| terminal.signal(Signal::USR1)), 138);
    assert_eq!(left(|terminal| terminal.signal(Signal::ABORT)), 134);
}

#[test]
fn a_quiz_ends_at_a_signal_also_behind_half_a_line() {
    // Ctrl-D hands over what is typed so far; the rest of the line never comes.
    const CONTROL_D: &str = "\x04";
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let state = state();
        let mut terminal = Terminal::attn(state.path(), &["quiz", LESSON]);
        terminal.wait_for("> ");
        terminal.shows("ab", "> ab");
        terminal.press(CONTROL_D);
        // Whether it has been read cannot be seen: what is typed behind it is.
        terminal.shows("c", "> abc");
        terminal.signal(signal);
        assert_eq!(terminal.ended(), code);
        assert!(terminal.all().contains("Resume: attn lesson quiz"), "{}", terminal.all());
    }
}

#[test]
fn a_killed_player_loses_the_present_step_at_most() {
    let state = state();
    let mut terminal = player(state.path());
    terminal.shows("nn", "2/4");
    terminal.shows("c", "Two tokens lie");
    terminal.shows(" ", "3/4");
    // What is kept is written behind what is shown.
    let progress = state.path().join("progress/mask.json");
    let is_kept =
        || fs::read_to_string(&progress).is_ok_and(|kept| kept.contains("\"step\": \"what-is-left\""));
    terminal.wait_until("the kept step", |_| is_kept());
    terminal.signal(Signal::KILL);
    terminal.ended();
    let listed = piped(state.path(), &["list", "tests/lesson/player"]).0;
    assert!(listed.contains("1/4"), "{listed}");
    let mut next = player(state.path());
    next.wait_for("Last time you stopped at step 3, “What is left?”. Press 3G to go there.");
    next.shows("3G", "3/4");
}

#[test]
fn damaged_progress_is_a_warning_and_no_stop() {
    let state = state();
    let folder = state.path().join("progress");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("mask.json"), "{\"schema\": \"attn-pro").expect("a file");
    let mut terminal = player(state.path());
    assert!(terminal.screen().contains("warning: your progress cannot be read"), "{}", terminal.screen());
    terminal.shows("  ", "The rows again");
    terminal.press("q");
    assert_eq!(terminal.ended(), 0);
    assert!(piped(state.path(), &["list", "tests/lesson/player"]).0.contains("1/4"));
}

#[test]
fn where_nothing_can_be_kept_the_lesson_is_played_all_the_same() {
    let state = state();
    let file = state.path().join("file");
    fs::write(&file, "no folder").expect("a file");
    let mut terminal = player(&file);
    assert_eq!(terminal.all().matches("warning:").count(), 1, "{}", terminal.all());
    terminal.shows("nn", "2/4");
    assert_eq!(terminal.all().matches("warning:").count(), 1, "{}", terminal.all());
    terminal.press("q");
    assert_eq!(terminal.ended(), 0);
}

#[test]
fn two_players_at_once_do_not_harm_each_other() {
    let state = state();
    let (mut one, mut other) = (player(state.path()), player(state.path()));
    one.shows("  ", "The rows again");
    other.shows("4G", "Try the mask");
    for mut terminal in [one, other] {
        terminal.press("q");
        assert_eq!(terminal.ended(), 0);
    }
    let listed = piped(state.path(), &["list", "tests/lesson/player"]).0;
    assert!(listed.contains("2/4"), "{listed}");
}

#[test]
fn a_second_terminal_follows_the_first() {
    let state = state();
    let mut follower = Terminal::attn(state.path(), &["follow"]);
    follower.wait_for("Nobody plays a lesson yet");
    let mut terminal = player(state.path());
    follower.wait_for("Slide a sheet of paper");
    terminal.press("2G");
    let page = follower.wait_for("Hold the sheet over them.");
    for words in ["2/4  How many zeros?", "Answer  C", "So it is for finite scores.", "What is left?"] {
        assert!(page.contains(words), "no `{words}` in\n{page}");
    }
    terminal.shows("v", "hands:");
    terminal.press("A1 C2\r");
    follower.wait_for("3 hands");
    let once = piped(state.path(), &["follow", LESSON]).0;
    assert!(once.contains("Hold the sheet over them.") && once.contains("of 6:00"), "{once}");
    terminal.press("q");
    follower.wait_for("The lesson was stopped.");
    terminal
        .wait_for("Stopped at step 2 of 4. Resume: attn lesson play tests/lesson/player/mask.md#zeros-step");
    let settings = Terminal::start(state.path(), "/bin/cat", &[], 80, 24).settings();
    follower.press("q");
    assert_eq!(follower.ended(), 0);
    assert_eq!(follower.settings(), settings);

    let terminal = player(state.path());
    let follower = Terminal::attn(state.path(), &["follow", LESSON]);
    follower.wait_for("Slide a sheet of paper");
    terminal.signal(Signal::KILL);
    drop(terminal);
    follower.wait_for("does not respond");
}

#[test]
#[ignore = "it waits for seconds: .ci/run runs it"]
fn a_lesson_goes_on_by_itself_and_answers_itself() {
    let state = state();
    let args =
        ["play", "tests/lesson/player/mask.md#3", "--auto", "--answer", "left=0.52", "--answer", "left=1"];
    let mut terminal = Terminal::attn(state.path(), &args);
    terminal.wait_for("3/4");
    // The question has twenty seconds: a key is quicker.
    terminal.shows(" ", "So it was without the mask.");
    terminal.wait_for("All of its attention.");
    terminal.wait_for("Try the mask on a sentence");
    terminal.wait_for("End: Why the mask?");
    assert_eq!(terminal.ended(), 0);
}

#[test]
fn without_a_terminal_the_whole_lesson_is_printed() {
    let state = state();
    let (whole, code) = piped(state.path(), &["play", LESSON]);
    assert_eq!(code, 0);
    for words in
        ["Why the mask?", "Answer: C", "Two tokens lie", "All of its attention.", "sentence of yours."]
    {
        assert!(whole.contains(words), "no `{words}` in\n{whole}");
    }
    assert!(!whole.contains("Hold the sheet") && !whole.contains('\x1b'), "{whole}");
    assert!(piped(state.path(), &["play", LESSON, "--notes"]).0.contains("Hold the sheet"));
    let (answered, code) =
        piped(state.path(), &["play", LESSON, "--answer", "zeros=A", "--answer", "left=0.52"]);
    assert!(
        code == 0 && answered.contains("Not quite: A") && answered.contains("So it was without"),
        "{answered}"
    );
    for (answer, words) in [("zero=C", "did you mean `zeros`?"), ("zeros=E", "A to C"), ("zeros", "no `=`")] {
        let (said, code) = piped(state.path(), &["play", LESSON, "--answer", answer]);
        assert!(code == 2 && said.contains(words), "{code}: {said}");
    }
    assert!(fs::read_dir(state.path()).expect("a folder").next().is_none(), "a transcript keeps nothing");
    let mut terminal = Terminal::attn(state.path(), &["play", LESSON, "--no-input"]);
    assert_eq!(terminal.ended(), 0);
    terminal.wait_for("sentence of yours.");
}

#[test]
fn help_fits_one_screen() {
    let state = state();
    let (help, code) = piped(state.path(), &["--help"]);
    assert_eq!(code, 0);
    assert!(help.lines().count() <= 24, "{} lines:\n{help}", help.lines().count());
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    let mut terminal = player(state.path());
    let keys = terminal.shows("?", "blank the screen");
    assert!(keys.contains("space → PgDn") && keys.contains("end (Ctrl-Z: pause)"), "{keys}");
}

#[test]
fn a_screen_is_called_too_small_only_where_something_does_not_fit() {
    let state = state();
    let play = |columns, rows| {
        let terminal = Terminal::start(
            state.path(),
            env!("CARGO_BIN_EXE_attn"),
            &["lesson", "play", LESSON],
            columns,
            rows,
        );
        terminal.wait_for("0/4");
        terminal.all()
    };
    assert!(play(60, 8).contains("Best at 80×24; your terminal is 60×8."));
    for (columns, rows) in [(60, 20), (80, 24), (120, 40)] {
        let all = play(columns, rows);
        assert!(!all.contains("Best at"), "{columns}×{rows}: {all}");
    }
    let terminal = Terminal::attn(state.path(), &["play", "0-tour"]);
    terminal.wait_for("0/8");
    assert!(
        !terminal.all().contains("Best at"),
        "written for 100×30, and plays well at 80×24: {}",
        terminal.all()
    );
}

#[test]
fn votes_are_for_choices_and_what_is_typed_on_answers_nothing() {
    let state = state();
    let mut terminal = player(state.path());
    terminal.shows("3G", "What does “bat” give");
    let told = terminal.shows("vA3 B14 C8\r", "You can only vote on multiple-choice questions.");
    assert!(!told.contains("is not a number"), "{told}");
    let later = terminal.shows("h", "3/4");
    assert!(!later.contains("is not a number"), "{later}");
    terminal.shows("2G", "2/4");
    terminal.shows("vA3 C2\r", "5 hands");
    let progress = state.path().join("progress/mask.json");
    let is_kept = || fs::read_to_string(&progress).is_ok_and(|kept| kept.contains("\"votes\""));
    terminal.wait_until("the kept votes", |_| is_kept());
}

#[test]
fn what_is_talked_about_is_shown_again_after_an_aside_and_after_a_resize() {
    let state = state();
    let mut terminal = player(state.path());
    terminal.shows(" ", "1/4");
    let both = terminal.shows(" ", "The rows again");
    assert!(both.contains("0.2689"), "{both}");
    terminal.shows("!softmax 5\r", "any key goes back");
    terminal.press(" ");
    let again = terminal.wait_until("the page", |screen| screen.contains("space goes on"));
    assert!(again.contains("0.2689") && again.contains("1  Before the mask"), "{again}");
    terminal.resize(90, 24);
    let wider = terminal.wait_until("the page at the new width", |screen| {
        screen.lines().any(|line| line.starts_with("1  Before the mask") && line.len() == 90)
    });
    assert!(wider.contains("0.2689") && wider.contains("The rows again"), "{wider}");
}

/// A demo on a terminal of 80×24.
fn demo(state: &Path, args: &[&str]) -> Terminal {
    Terminal::start(state, env!("CARGO_BIN_EXE_attn"), args, 80, 24)
}

#[test]
fn a_demo_longer_than_the_screen_is_played_under_the_keys_of_a_lesson() {
    let state = state();
    let mut terminal = demo(state.path(), &["demo", "weights"]);
    let first = terminal.wait_for("1/");
    assert!(first.lines().any(|line| line.starts_with("1  ")), "{first}");
    assert!(!first.contains("\n2  "), "one step at a time:\n{first}");
    terminal.shows("2G", "\n 2/");
    let contents = terminal.shows("t", "any key goes back");
    assert!(contents.contains("▶   2"), "{contents}");
    terminal.shows(" ", "2/");
    terminal.shows(LEFT, " 1/");
    let keys = terminal.shows("?", "next, previous step");
    assert!(!keys.contains("hint") && !keys.contains("votes"), "{keys}");
    terminal.shows(" ", " 1/");
    terminal.shows("!", "Esc back");
    terminal.shows(UP, "$ attn demo weights --step 1");
    terminal.shows("\r", "any key goes back");
    terminal.shows(" ", " 1/");
    terminal.resize(60, 24);
    terminal.wait_until("the page at the new width", |screen| {
        screen.contains(" 1/")
            && screen.contains("1  ")
            && screen.lines().all(|line| line.chars().count() <= 60)
    });
    terminal.shows("3G", "\n 3/");
    terminal.press("q");
    assert_eq!(terminal.ended(), 0);
    assert!(terminal.all().contains("Resume: attn demo weights --steps 3-"), "{}", terminal.all());
    assert!(fs::read_dir(state.path()).expect("a folder").next().is_none(), "a demo keeps nothing");
}

#[test]
fn a_demo_played_to_its_end_has_shown_all_of_it_and_leaves() {
    let state = state();
    let mut terminal = demo(state.path(), &["demo", "mask"]);
    terminal.wait_for("1/");
    for _ in 0..200 {
        if terminal.screen().contains("space leaves") {
            break;
        }
        let before = terminal.screen();
        terminal.press(" ");
        terminal.wait_until("another page", |screen| screen != before && screen.contains("space"));
    }
    terminal.press(" ");
    assert_eq!(terminal.ended(), 0);
    let all = terminal.all();
    assert!(!all.contains("Resume:") && !all.contains("space"), "{all}");
    let printed =
        Command::new(env!("CARGO_BIN_EXE_attn")).args(["demo", "mask"]).output().expect("it runs").stdout;
    let printed = String::from_utf8(printed).expect("UTF-8");
    // Where a step stands alone it says once more that given matrices are folded.
    let words = |text: &str| {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        ["them", "it"].iter().fold(words, |words, what| words.replace(&format!("; --full shows {what}"), ""))
    };
    assert_eq!(words(&all), words(&printed));
}

#[test]
fn what_fits_is_printed_and_so_is_all_of_it_without_pauses_and_in_a_pipe() {
    let state = state();
    let ways: [&[&str]; 3] = [
        &["demo", "mask", "--no-pause"],
        &["attend", "--words", "bat cave", "--step", "2"],
        &["demo", "mask", "--format", "json"],
    ];
    for args in ways {
        let mut terminal = demo(state.path(), args);
        assert_eq!(terminal.ended(), 0, "{args:?}");
        assert!(!terminal.all().contains("?: keys"), "{args:?}");
    }
    let mut terminal = demo(state.path(), &["attend", "--words", "bat cave racket", "--steps", "2-4"]);
    terminal.wait_for(" 2/");
    terminal.shows("4G", " 4/");
    terminal.shows("9G", "the steps are 2 to 4");
    terminal.press(CONTROL_C);
    assert_eq!(terminal.ended(), 130);
}

#[test]
fn a_quiz_stopped_by_control_c_tells_the_score_and_goes_on_there() {
    let state = state();
    let mut terminal = Terminal::attn(state.path(), &["quiz", "tests/lessons/mask.md"]);
    terminal.wait_for("Question 1 of 3");
    terminal.shows("A\r", "Not quite: A. Try again.");
    terminal.shows("C\r", "Press Enter to go on.");
    terminal.shows("\r", "Question 2 of 3");
    terminal.shows(".31\r", "Try again, or h for a hint.");
    terminal.press(CONTROL_C);
    assert_eq!(terminal.ended(), 130);
    let told = terminal.all();
    assert!(told.contains("Stopped after 1 of 3 questions.") && told.contains("0.5 of 2 points"), "{told}");
    assert!(told.contains("Resume: attn lesson quiz tests/lessons/mask.md"), "{told}");

    let mut next = Terminal::attn(state.path(), &["quiz", "tests/lessons/mask.md"]);
    let asked = next.wait_for("Question 2 of 3");
    assert!(
        !asked.contains("Question 1 of 3") && next.all().contains("You have answered 1 of 3 questions"),
        "{asked}"
    );
    next.shows("0.41\r", "Press Enter to go on.");
    next.shows("\r", "Question 3 of 3");
    next.press("It would cheat.\r");
    assert_eq!(next.ended(), 0);
    assert!(next.all().contains("2 of 2 right, 1 of them at the second try"), "{}", next.all());

    let again = Terminal::attn(state.path(), &["quiz", "tests/lessons/mask.md"]);
    again.wait_for("Question 1 of 3");
}

#[test]
fn a_list_longer_than_the_screen_is_shown_a_screen_at_a_time() {
    let state = tempfile::tempdir().expect("a folder");
    let program = env!("CARGO_BIN_EXE_attn");
    let mut terminal = Terminal::start(state.path(), program, &["demo"], 80, 24);
    let first = terminal.wait_for("q: end");
    assert!(first.starts_with("Start here") && !first.contains("lowrank"), "{first}");
    terminal.press(" ");
    terminal.wait_until("the second page", |screen| {
        screen.contains("Several heads") && screen.contains("q: end")
    });
    let last = terminal.shows(" ", "`attn demo NAME` shows one.");
    assert!(last.contains("blocks") && !last.contains("q: end"), "{last}");
    assert_eq!(terminal.ended(), 0);

    let mut terminal = Terminal::start(state.path(), program, &["demo"], 80, 24);
    terminal.wait_for("q: end");
    terminal.press("\r");
    terminal.wait_until("one more line", |screen| {
        screen.starts_with("  similarity") && screen.contains("q: end")
    });
    terminal.press("q");
    assert_eq!(terminal.ended(), 0);

    let mut terminal = Terminal::start(state.path(), program, &["demo"], 80, 60);
    terminal.wait_for("`attn demo NAME` shows one.");
    assert_eq!(terminal.ended(), 0);
}

#[test]
fn long_tables_are_paged_on_a_screen_and_whole_for_programs() {
    let state = state();
    for args in [&["errata"][..], &["notation"], &["params", "gpt2"]] {
        let mut terminal = demo(state.path(), args);
        terminal.wait_for("space: go on");
        terminal.press(CONTROL_C);
        assert_eq!(terminal.ended(), 130, "{args:?}");
        let mut terminal = demo(state.path(), &[args, &["--format", "json"]].concat());
        assert_eq!(terminal.ended(), 0, "{args:?}");
    }
}

#[test]
fn a_pager_reads_all_keys_that_come_together() {
    let state = state();
    let mut shell = shell(state.path());
    shell.press(&format!("{} find --errata\r", env!("CARGO_BIN_EXE_attn")));
    shell.wait_for("space: go on");
    shell.press(" x q");
    shell.wait_until("the shell again", |screen| screen.trim_end().ends_with("shell>"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_pager_that_was_stopped_from_outside_reads_keys_one_by_one_again() {
    let state = state();
    let mut shell = shell(state.path());
    shell.press(&format!("{} find --errata\r", env!("CARGO_BIN_EXE_attn")));
    let first = shell.wait_for("space: go on");
    let id = shell.process();
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).expect("its children");
    let pager = children.trim().parse().ok().and_then(rustix::process::Pid::from_raw).expect("one child");
    rustix::process::kill_process(pager, Signal::STOP).expect("the signal is sent");
    shell.wait_until("the shell", |screen| screen.trim_end().ends_with("shell>"));
    // The terminal is still raw: Enter ends no line.
    shell.shows("stty sane; echo sa''ne\n", "sane");
    shell.shows("fg\r", "space: go on");
    // Without Enter.
    shell.press(" ");
    let percent =
        |screen: &str| screen.lines().rev().find(|line| line.starts_with("-- ")).map(str::to_string);
    shell.wait_until("the next screen", |screen| {
        percent(screen).is_some_and(|now| Some(now) != percent(&first))
    });
    shell.press("q");
    shell.wait_until("the shell again", |screen| screen.trim_end().ends_with("shell>"));
}
