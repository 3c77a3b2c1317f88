//! The player on a real terminal: every key, every way out, and what is left behind.
#![cfg(unix)]

#[path = "lesson_player/terminal.rs"]
mod terminal;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;
use terminal::Terminal;

const LESSON: &str = "tests/lesson_player/mask.md";
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
    assert!(all.starts_with("Why the mask?") && all.trim_end().ends_with("End: Why the mask?"), "{all}");
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
    assert_eq!(blank.trim(), "any key shows the lesson again");
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
    terminal.shows("/nowhere\r", "is nowhere");
    let contents = terminal.shows("t", "2 min");
    assert!(contents.contains("▶   3  What is left?  2 min"), "{contents}");
    terminal.press(" ");
    terminal.shows("?", "blank the screen");
}

#[test]
fn answers_get_their_feedback_and_votes_stand_beside_the_answer() {
    let state = state();
    let mut terminal = player(state.path());
    terminal.shows("2G", "think 0:");
    terminal.shows("h", "Who stands behind bat?");
    terminal.shows("v", "hands:");
    terminal.shows("A3 B14 C8\r", "25 hands");
    let wrong = terminal.shows("a", "So it is for finite scores.");
    assert!(!wrong.contains("Two tokens lie"), "{wrong}");
    let right = terminal.shows("c", "Two tokens lie in the future.");
    assert!(right.contains("Right: C") && right.contains("8  ← right"), "{right}");
    terminal.shows(" ", "What does `bat` give");
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
    terminal.shows("!lesson play x\r", "a lesson within a lesson");
    terminal.shows("!demo nothing\r", "error:");
    terminal.shows("!", "Esc back");
    terminal.shows(ESCAPE, "1/4");
    terminal.shows(" ", "The rows again, and slowly.");
}

#[test]
fn after_a_resize_all_is_laid_out_anew_and_no_ruins_stand() {
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
    let told = shell.wait_until("the shell", |screen| screen.matches("shell>").count() == 2);
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
    assert!(shell.screen().contains("left at step 1 of 4;"), "{}", shell.screen());
    shell.press("stty -a > $ATTN_STATE_DIR/after; echo do''ne\r");
    shell.wait_for("done");
    assert_eq!(settings("before"), settings("after"));
}

#[test]
fn a_follower_is_suspended_and_comes_back() {
    let state = state();
    let mut shell = shell(state.path());
    shell.press(&format!("{} lesson follow\r", env!("CARGO_BIN_EXE_attn")));
    shell.wait_for("Nobody plays yet");
    let in_follower = shell.settings();
    shell.press(CONTROL_Z);
    shell.wait_until("the shell", |screen| screen.matches("shell>").count() == 2);
    assert_ne!(shell.settings(), in_follower);
    shell.press("fg\r");
    shell.wait_until("the page once more", |screen| screen.matches("Nobody plays yet").count() == 2);
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
    let listed = piped(state.path(), &["list", "tests/lesson_player"]).0;
    assert!(listed.contains("1/4"), "{listed}");
    let mut next = player(state.path());
    next.wait_for("Left at step 3, What is left?: 3G goes there.");
    next.shows("3G", "3/4");
}

#[test]
fn damaged_progress_is_a_warning_and_no_stop() {
    let state = state();
    let folder = state.path().join("progress");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("mask.json"), "{\"schema\": \"attn-pro").expect("a file");
    let mut terminal = player(state.path());
    assert!(terminal.screen().contains("warning: progress begins anew"), "{}", terminal.screen());
    terminal.shows("  ", "The rows again");
    terminal.press("q");
    assert_eq!(terminal.ended(), 0);
    assert!(piped(state.path(), &["list", "tests/lesson_player"]).0.contains("1/4"));
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
    let listed = piped(state.path(), &["list", "tests/lesson_player"]).0;
    assert!(listed.contains("2/4"), "{listed}");
}

#[test]
fn a_second_terminal_follows_the_first() {
    let state = state();
    let mut follower = Terminal::attn(state.path(), &["follow"]);
    follower.wait_for("Nobody plays yet");
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
    follower.wait_for("The lesson has been left.");
    terminal.wait_for(
        "left at step 2 of 4; attn lesson play tests/lesson_player/mask.md#zeros-step goes on there",
    );
    let settings = Terminal::start(state.path(), "/bin/cat", &[], 80, 24).settings();
    follower.press("q");
    assert_eq!(follower.ended(), 0);
    assert_eq!(follower.settings(), settings);

    let terminal = player(state.path());
    let follower = Terminal::attn(state.path(), &["follow", LESSON]);
    follower.wait_for("Slide a sheet of paper");
    terminal.signal(Signal::KILL);
    drop(terminal);
    follower.wait_for("does not answer");
}

#[test]
fn a_lesson_goes_on_by_itself_and_answers_itself() {
    let state = state();
    let args =
        ["play", "tests/lesson_player/mask.md#3", "--auto", "--answer", "left=0.52", "--answer", "left=1"];
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
        code == 0 && answered.contains("Not that: A") && answered.contains("So it was without"),
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
fn a_screen_smaller_than_the_lesson_wants_is_told() {
    let state = state();
    let terminal =
        Terminal::start(state.path(), env!("CARGO_BIN_EXE_attn"), &["lesson", "play", LESSON], 60, 20);
    terminal.wait_for("written for 80×24, and this screen has 60×20");
    let large = player(state.path());
    assert!(!large.screen().contains("written for"));
}
