//! A real terminal: keys, sizes, signals, and what is left behind.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;

use crate::common::one_in;
use crate::terminal::Terminal;

const ESCAPE: &str = "\x1b";
const DOWN: &str = "\x1b[B";
const RIGHT: &str = "\x1b[C";

/// The explorer on a small sentence, in a shell that tells its exit code.
fn explorer(more: &str, columns: u16, rows: u16) -> (tempfile::TempDir, Terminal) {
    let state = tempfile::tempdir().expect("a folder");
    let attn = env!("CARGO_BIN_EXE_attn");
    let command = format!(
        "echo before; {attn} attend -x --words 'bat cave racket' --causal {more}; echo code $?; read x"
    );
    let terminal = Terminal::start(state.path(), "/bin/sh", &["-c", &command], columns, rows);
    (state, terminal)
}

/// Matrices with which a change takes longer than a glance, and seconds in the sweep.
fn large() -> &'static str {
    if one_in(2) == 1 { "1200,256" } else { "800,160" }
}

/// The explorer on them.
fn slow_explorer(more: &str) -> (tempfile::TempDir, Terminal) {
    let state = tempfile::tempdir().expect("a folder");
    let attn = env!("CARGO_BIN_EXE_attn");
    let command = format!(
        "echo before; {attn} attend -x --random {} --cell 'X[1,1]' {more}; echo code $?; read x",
        large()
    );
    let terminal = Terminal::start(state.path(), "/bin/sh", &["-c", &command], 100, 24);
    (state, terminal)
}

const RECOMPUTING: &str = "Recomputing: step";
const STOPPED: &str = "Stopped: nothing is changed.";

#[test]
fn arrows_move_enter_opens_and_escape_returns() {
    let (_state, mut terminal) = explorer("--cell 'O[cave,animals]'", 80, 24);
    terminal.wait_for("o21 = a21·v11 + a22·v21");
    terminal.shows("\r", "O[cave,animals] ▸ A[cave,cave]");
    // The screen is drawn from above.
    terminal.wait_for("softmax(S_masked)");
    terminal.shows("\r", "▸ S_masked[cave,cave]");
    // A terminal sends escape alone as the beginning of other keys.
    terminal.press(ESCAPE);
    std::thread::sleep(Duration::from_millis(100));
    terminal.wait_until("one step back", |screen| !screen.contains("▸ S_masked"));
    terminal.shows(DOWN, "A[racket,cave]");
    terminal.shows(RIGHT, "A[racket,racket]");
    terminal.press("q");
    terminal.wait_for("code 0");
}

#[test]
fn a_changed_number_moves_all_that_follow_and_undo_takes_it_back() {
    let (_state, mut terminal) = explorer("--cell 'X[cave,animals]'", 120, 40);
    terminal.wait_for("X[cave,animals] = 4");
    terminal.shows("6", "X[cave,animals] = 6");
    terminal.shows("\r", "change 1 of 1");
    terminal.wait_until("all that follows", |screen| {
        screen.contains("(before: 4)") && screen.contains("S_masked*")
    });
    terminal.shows("u", "change 0 of 1");
    terminal.wait_until("all as it was", |screen| !screen.contains("S_masked*"));
    terminal.shows("t", "Temperature: 1 (no effect)");
    terminal.shows(RIGHT, "Temperature: 1.1");
    terminal.press("\rq");
    terminal.wait_for("code 0");
}

#[test]
fn every_way_out_restores_the_terminal() {
    for (keys, signal, code) in
        [("q", None, 0), ("\x03", None, 130), ("", Some(Signal::TERM), 143), ("", Some(Signal::HUP), 129)]
    {
        let state = tempfile::tempdir().expect("a folder");
        let args = ["attend", "-x", "--words", "bat cave", "--causal"];
        let mut terminal = Terminal::start(state.path(), env!("CARGO_BIN_EXE_attn"), &args, 80, 24);
        terminal.wait_for("a21 =");
        let raw = terminal.settings();
        terminal.press(keys);
        if let Some(signal) = signal {
            terminal.signal(signal);
        }
        assert_eq!(terminal.ended(), code);
        assert_ne!(terminal.settings(), raw, "raw mode is left");
        assert_eq!(terminal.all().trim(), "", "the screen is as it was");
    }
}

#[test]
fn the_screen_follows_the_size_of_the_window() {
    let (_state, mut terminal) = explorer("--cell 'S[cave,bat]'", 80, 24);
    terminal.wait_for("s21 = q21·k11");
    terminal.resize(50, 10);
    terminal.wait_for("60x16 are needed");
    terminal.resize(60, 16);
    let small = terminal.wait_for("s21 = q21·k11");
    assert!(small.lines().all(|line| line.chars().count() <= 60), "{small}");
    terminal.resize(120, 40);
    terminal.wait_for("Kᵀ 2×3");
    terminal.press("q");
    terminal.wait_for("code 0");
}

#[test]
fn a_sequence_that_never_ends_keeps_no_signal_from_being_heard() {
    for begun in ["\x1b[200~abc", "\x1b[999999999999999999999;1R", "\x1b[1;", "\x1b]11;rgb:", "\x1b[M"] {
        let state = tempfile::tempdir().expect("a folder");
        let args = ["attend", "-x", "--words", "bat cave", "--causal"];
        let mut terminal = Terminal::start(state.path(), env!("CARGO_BIN_EXE_attn"), &args, 80, 24);
        terminal.wait_for("a21 =");
        let raw = terminal.settings();
        terminal.press(begun);
        std::thread::sleep(Duration::from_millis(100));
        terminal.signal(Signal::TERM);
        assert_eq!(terminal.ended(), 143, "{begun:?}");
        assert_ne!(terminal.settings(), raw, "raw mode is left");
    }
    // Nor does it take the keys behind it.
    let (_state, mut terminal) = explorer("--cell 'S[cave,bat]'", 80, 24);
    terminal.wait_for("S[cave,bat]");
    terminal.press_bytes(b"\xf0\x9f");
    std::thread::sleep(Duration::from_millis(100));
    terminal.press_bytes(b"\xff\xfe");
    terminal.shows("l", "S[cave,cave]");
    terminal.press("q");
    terminal.wait_for("code 0");
}

#[test]
fn a_huge_window_is_drawn_in_part() {
    let (_state, mut terminal) = explorer("--cell 'S[cave,bat]'", 80, 24);
    terminal.wait_for("S[cave,bat]");
    terminal.resize_program(u16::MAX, u16::MAX);
    std::thread::sleep(Duration::from_millis(100));
    terminal.press("\x03");
    terminal.wait_for("code 130");
}

#[test]
fn a_killed_program_has_recorded_its_keys() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("keys.txt");
    let record = file.to_string_lossy().into_owned();
    let args = ["demo", "mask", "-x", "--cell", "S[1,1]", "--record", &record];
    let mut terminal = Terminal::start(folder.path(), env!("CARGO_BIN_EXE_attn"), &args, 80, 24);
    terminal.wait_for("S[");
    terminal.press("jl");
    let begun = std::time::Instant::now();
    let keys = || {
        let text = fs::read_to_string(&file).unwrap_or_default();
        text.lines().filter(|line| !line.starts_with("wait ")).map(str::to_string).collect::<Vec<_>>()
    };
    while keys() != ["j", "l"] && begun.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
    terminal.signal(Signal::KILL);
    terminal.ended();
    assert_eq!(keys(), ["j", "l"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_stop_from_outside_gives_the_terminal_back() {
    let state = tempfile::tempdir().expect("a folder");
    let attn = env!("CARGO_BIN_EXE_attn");
    let mut terminal = Terminal::start(state.path(), "/bin/sh", &["-i"], 80, 24);
    terminal.wait_for("shell>");
    terminal.shows(&format!("{attn} attend -x --words 'bat cave' --causal\r"), "a21 =");
    let shell = terminal.process();
    let children = fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).expect("its children");
    let pid = children.trim().parse().ok().and_then(rustix::process::Pid::from_raw).expect("one child");
    rustix::process::kill_process(pid, Signal::TSTP).expect("the signal is sent");
    terminal.wait_until("the shell", |screen| screen.trim_end().ends_with("shell>"));
    terminal.shows("fg\r", "a21 =");
    terminal.press("q");
    terminal.wait_until("the shell again", |screen| screen.trim_end().ends_with("shell>"));
}

#[test]
fn it_pauses_and_comes_back() {
    let state = tempfile::tempdir().expect("a folder");
    let attn = env!("CARGO_BIN_EXE_attn");
    let mut terminal = Terminal::start(state.path(), "/bin/sh", &["-i"], 80, 24);
    terminal.wait_for("shell>");
    terminal.shows(&format!("{attn} attend -x --words 'bat cave' --causal\r"), "a21 =");
    terminal.press("\x1a");
    terminal.wait_until("the shell", |screen| screen.trim_end().ends_with("shell>"));
    terminal.shows("fg\r", "a21 =");
    terminal.press("q");
    terminal.wait_until("the shell again", |screen| screen.trim_end().ends_with("shell>"));
}

#[test]
fn keys_are_recorded_and_played_in_the_same_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("keys.txt");
    let (_state, mut terminal) =
        explorer(&format!("--cell 'S[cave,bat]' --record {}", file.display()), 80, 24);
    terminal.wait_for("S[cave,bat]");
    terminal.shows("l", "S[cave,cave]");
    terminal.shows("j", "S[racket,cave]");
    terminal.press("\x03");
    terminal.wait_for("code 130");
    let text = fs::read_to_string(&file).expect("a recording");
    let keys: Vec<&str> = text.lines().filter(|line| !line.starts_with("wait ")).collect();
    assert_eq!(keys, ["l", "j", "q"], "{text}");
    // Without the end, the user takes over.
    fs::write(&file, "l\nwait 50\nj\n").expect("keys");
    let (_state, mut terminal) = explorer(&format!("--cell 'S[cave,bat]' --play {}", file.display()), 80, 24);
    terminal.wait_for("S[racket,cave]");
    terminal.shows("k", "S[cave,cave]");
    terminal.press("q");
    terminal.wait_for("code 0");
}

/// A lesson at its first step.
fn lesson(state: &std::path::Path) -> Terminal {
    let mut terminal = Terminal::attn(state, &["play", "0-tour"]);
    terminal.wait_for("0/8");
    terminal.shows(" ", "1/8");
    terminal.wait_for("similarity bat cave");
    terminal
}

const FROM_A_LESSON: &str = "!attend -x --words 'bat cave' --causal --cell 'X[cave,animals]'\r";

#[test]
fn a_lesson_opens_the_explorer_and_goes_on_where_it_was() {
    let state = tempfile::tempdir().expect("a folder");
    let mut terminal = lesson(state.path());
    let raw = terminal.settings();
    terminal.shows(FROM_A_LESSON, "X[cave,animals] = 4");
    // Keys, numbers and a pause are the explorer's.
    terminal.shows("7", "X[cave,animals] = 7");
    let changed = terminal.shows("\r", "change 1 of 1");
    assert!(!changed.contains("similarity bat cave"), "it fills the screen: {changed}");
    terminal.press("q");
    let back = terminal.wait_for("any key goes back");
    assert!(back.contains("similarity bat cave") && back.contains("$ attn attend -x"), "{back}");
    assert_eq!(terminal.settings(), raw, "the lesson still reads keys one by one");
    // What cannot be opened is an error in the lesson.
    terminal.shows("!demo mosk -x\r", "did you mean");
    terminal.shows(" ", "similarity bat cave");
    terminal.shows("n", "2/8");
    terminal.press("q");
    assert_eq!(terminal.ended(), 0);
}

#[test]
fn a_signal_ends_the_lesson_in_the_explorer_and_after_it() {
    for goes_back in [false, true] {
        let state = tempfile::tempdir().expect("a folder");
        let mut terminal = lesson(state.path());
        let raw = terminal.settings();
        terminal.shows(FROM_A_LESSON, "X[cave,animals] = 4");
        if goes_back {
            // Ctrl-C ends the explorer alone.
            terminal.shows("\x03", "any key goes back");
        }
        terminal.signal(Signal::TERM);
        assert_eq!(terminal.ended(), 143);
        assert_ne!(terminal.settings(), raw, "raw mode is left");
    }
}

#[test]
fn a_state_is_written_from_the_full_screen() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a b.txt");
    let (_state, mut terminal) = explorer("--cell 'X[cave,animals]'", 120, 40);
    terminal.wait_for("X[cave,animals] = 4");
    terminal.shows("6\r", "change 1 of 1");
    terminal.shows("w", "Write this state: c the command, f files, l a lesson step");
    terminal.shows("c", "New file for the command:");
    terminal.press(&file.display().to_string());
    terminal.shows("\r", "--set 'X[cave,animals]=6'");
    let text = fs::read_to_string(&file).expect("the command");
    assert_eq!(text, "attn attend --words 'bat cave racket' --causal --set 'X[cave,animals]=6'\n");
    terminal.press("wc");
    terminal.press(&file.display().to_string());
    terminal.shows("\r", "this exists already");
    terminal.press("q");
    terminal.wait_for("code 0");
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn a_slow_change_tells_how_far_it_is_and_arrives() {
    let (_state, mut terminal) = slow_explorer("");
    terminal.wait_for("X[1,1] = ");
    let computing = terminal.shows("7\r", RECOMPUTING);
    assert!(computing.contains("Any key stops it.") && !computing.contains("change 1 of 1"), "{computing}");
    // The screen follows the window, and Ctrl-L draws it, without an end of the computation.
    terminal.resize(90, 30);
    terminal.press("\x0c");
    // The screen is drawn from above.
    terminal.wait_until("the change", |screen| {
        screen.contains("change 1 of 1")
            && screen.contains("X[1,1] = 7   (before: ")
            && !screen.contains(RECOMPUTING)
    });
    terminal.press("q");
    terminal.wait_for("code 0");
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn a_key_stops_a_slow_change_and_does_what_it_always_does() {
    let (_state, mut terminal) = slow_explorer("");
    terminal.wait_for("X[1,1] = ");
    terminal.shows("7\r", RECOMPUTING);
    let moved = terminal.shows("j", "X[2,1] = ");
    assert!(moved.contains(STOPPED) && !moved.contains("change 1 of 1"), "{moved}");
    // Escape and undo only stop it.
    for key in [ESCAPE, "u"] {
        terminal.shows("8\r", RECOMPUTING);
        let stopped = terminal.shows(key, STOPPED);
        assert!(stopped.contains("X[2,1] = ") && !stopped.contains("= 8"), "{stopped}");
        terminal.shows("k", "X[1,1] = ");
        terminal.shows("j", "X[2,1] = ");
    }
    // A change after one that was stopped arrives.
    terminal.shows("9\r", "change 1 of 1");
    terminal.press("q");
    terminal.wait_for("code 0");
}

#[test]
#[ignore = "it waits for seconds: .ci/run runs it"]
fn the_program_ends_and_pauses_while_it_computes() {
    let (_state, mut terminal) = slow_explorer("");
    terminal.wait_for("X[1,1] = ");
    terminal.shows("7\r", RECOMPUTING);
    let left = terminal.shows("\x03", "code 130");
    assert_eq!(left.trim(), "before\ncode 130", "the screen is as it was");
    let state = tempfile::tempdir().expect("a folder");
    let attn = env!("CARGO_BIN_EXE_attn");
    let mut terminal = Terminal::start(state.path(), "/bin/sh", &["-i"], 100, 24);
    terminal.wait_for("shell>");
    terminal.shows(&format!("{attn} attend -x --random {} --cell 'X[1,1]'\r", large()), "X[1,1] = ");
    terminal.shows("7\r", RECOMPUTING);
    terminal.press("\x1a");
    terminal.wait_until("the shell", |screen| screen.trim_end().ends_with("shell>"));
    terminal.shows("fg\r", "change 1 of 1");
    terminal.press("q");
    terminal.wait_until("the shell again", |screen| screen.trim_end().ends_with("shell>"));
}

#[test]
#[ignore = "it waits for seconds: .ci/run runs it"]
fn played_keys_wait_for_a_change_and_a_stopped_one_is_not_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("keys.txt");
    let (_state, mut terminal) = slow_explorer(&format!("--record {}", file.display()));
    terminal.wait_for("X[1,1] = ");
    terminal.shows("7\r", RECOMPUTING);
    terminal.shows("j", STOPPED);
    terminal.shows("8\r", "change 1 of 1");
    terminal.press("q");
    terminal.wait_for("code 0");
    let text = fs::read_to_string(&file).expect("a recording");
    let keys: Vec<&str> = text.lines().filter(|line| !line.starts_with("wait ")).collect();
    assert_eq!(keys, ["7", "Esc", "j", "8", "Enter", "q"], "{text}");
    fs::write(&file, "8\nEnter\nj\n").expect("keys");
    let (_state, mut terminal) = slow_explorer(&format!("--play {}", file.display()));
    let played = terminal.wait_for("X[2,1] = ");
    assert!(played.contains("change 1 of 1"), "{played}");
    terminal.press("q");
    terminal.wait_for("code 0");
}
