//! What `w` writes: a command that prints the same numbers, files that hold them, and a lesson that passes its check.

use std::fs;
use std::path::Path;

use crate::common::one_in;
use attn::cli::{Env, Streams};
use proptest::prelude::*;
use serde_json::Value;

/// What the program prints for these words, and its exit code.
fn run(args: &[String]) -> (String, u8) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams { input: &mut std::io::empty(), out: &mut out, err: &mut err };
    let outcome = attn::cli::run(args, &Env::default(), &mut streams);
    out.extend(err);
    (String::from_utf8(out).expect("UTF-8"), outcome.code)
}

pub fn words(command: &str) -> Vec<String> {
    shlex::split(command).expect("a command")
}

/// A script of these keys, after which the command, the files and the lesson are written into the folder.
pub fn script(keys: &[String], folder: &Path) -> String {
    let ends = |form: &str, name: &str| {
        let name = folder.join(name);
        let typed = name
            .to_str()
            .expect("a name")
            .chars()
            .map(|c| if c == ' ' { "Space".into() } else { c.to_string() });
        let form = ["w".to_string(), form.to_string()];
        form.into_iter().chain(typed).chain(["Enter".to_string()]).collect::<Vec<_>>()
    };
    let escapes = vec!["Esc".to_string(); 3];
    let all =
        [keys, &escapes, &ends("c", "command.txt"), &ends("f", "all"), &ends("l", "step.md"), &["q".into()]];
    let script = folder.join("keys.txt");
    fs::write(&script, all.concat().join("\n")).expect("keys");
    script.to_str().expect("a name").to_string()
}

/// Explores line by line with these keys, after which everything is written into the folder; what was said.
pub fn written(command: &str, keys: &[String], folder: &Path) -> String {
    let more = ["--plain".to_string(), "--play".to_string(), script(keys, folder)];
    let (said, code) = run(&[words(command), more.to_vec()].concat());
    assert_eq!(code, 0, "{said}");
    said
}

/// The name and the numbers of every node.
fn nodes(text: &str) -> Vec<(String, Value)> {
    let document: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let nodes = document["graphs"][0]["nodes"].as_array().cloned().unwrap_or_default();
    nodes
        .iter()
        .map(|node| (node["name"].as_str().unwrap_or_default().to_string(), node["values"].clone()))
        .collect()
}

/// Runs the command that was written, and compares every node bit for bit; returns the command.
fn prints_the_same(folder: &Path) -> String {
    let command = fs::read_to_string(folder.join("command.txt")).expect("a command");
    let args = words(command.trim().strip_prefix("attn ").expect("a command of attn"));
    let text = if args.iter().any(|arg| arg == "--explore") || args[0] == "explore" {
        let again = folder.join("again");
        fs::create_dir(&again).expect("a folder");
        written(&shlex::try_join(args.iter().map(String::as_str)).expect("words"), &[], &again);
        fs::read_to_string(again.join("all/graph.json")).expect("a graph")
    } else {
        let (text, code) = run(&[args, words("--format json")].concat());
        assert_eq!(code, 0, "{command}{text}");
        text[..=text.rfind('}').expect("JSON")].to_string()
    };
    let state = fs::read_to_string(folder.join("all/graph.json")).expect("a graph");
    assert_eq!(nodes(&text), nodes(&state), "{command}");
    command
}

pub const COMPUTATIONS: [&str; 10] = [
    "explore attend --words 'bat cave racket' --causal --at 'X[cave,animals]'",
    "explore attend --words 'bat cave racket' --heads 2 --window 2 --temperature=0.5 --at W_Q",
    "explore attend --random 4,6 --heads 3 --position rope --rope-base 500 --scale 0.3 --causal",
    "explore attend examples/data/bat.json --causal --causal-from start --set 'X[1,1]=9'",
    "explore demo mask --at 'W_Q[1,1]'",
    "explore demo sum-heads --at X",
    "explore demo multihead --without A_1",
    "explore demo lookup --set temperature=2",
    "explore demo output",
    "explore attend --words 'bat cave racket' --causal --set 'comparison = keys-with-queries' --set 'negated(values)'",
];

/// A few keys.
pub fn key() -> impl Strategy<Value = Vec<String>> {
    let all = [
        "l",
        "j",
        "k",
        "h",
        "n",
        "b",
        "b b b",
        "]",
        "Enter",
        "Esc",
        "x",
        "u",
        "u",
        "C-r",
        "v",
        "m Left",
        "m Right",
        "m Right",
        "t Left",
        "t Right Right Enter",
        "s Right",
        "s Left Left",
        "p Right",
        "p Right Right Enter",
        "Backspace",
        "7 Enter",
        "- . 5 Enter",
        "3 e - 7 Enter",
        "/ X Enter",
        "/ W Enter",
        "w Esc",
        "? l",
        "? q j",
        "? Enter",
        "? Esc",
        "a",
        "> >",
        "Tab Enter",
    ];
    prop::sample::select(all.to_vec()).prop_map(|keys| keys.split(' ').map(str::to_string).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80 / one_in(4) as u32, ..ProptestConfig::default() })]

    #[test]
    fn the_command_that_is_written_prints_the_same_bits(
        at in 0..COMPUTATIONS.len(), keys in prop::collection::vec(key(), 0..14)
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        written(COMPUTATIONS[at], &keys.concat(), folder.path());
        prints_the_same(folder.path());
    }
}

fn typed(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_string).collect()
}

#[test]
fn every_kind_of_change_is_in_the_command() {
    for (command, keys, said) in [
        (
            COMPUTATIONS[0],
            "6 Enter",
            "attn attend --words 'bat cave racket' --causal --set 'X[cave,animals]=6'\n",
        ),
        (COMPUTATIONS[0], "/ A Enter x", "attn attend --words 'bat cave racket' --causal --without A_1\n"),
        (COMPUTATIONS[0], "t Right Enter s Left", "--causal --scale 0.7 --temperature 1.1\n"),
        (COMPUTATIONS[0], "m Right Right", "attn attend --words 'bat cave racket' --causal --window 1\n"),
        (COMPUTATIONS[0], "p Right", "--causal --position sinusoidal\n"),
        (COMPUTATIONS[4], "2 Enter", "attn demo mask --set 'W_Q[1,1]=2'\n"),
        ("explore demo update", "m Left", "attn demo update --set 'mask=none'\n"),
        ("explore demo update", "m Right Right", "attn demo update --set 'mask=6'\n"),
        ("explore demo lookup", "t Right", "--set 'temperature=0.2'\n"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        written(command, &typed(keys), folder.path());
        let written = prints_the_same(folder.path());
        assert!(written.ends_with(said), "{written}");
    }
}

#[test]
fn a_model_and_a_saved_graph_are_opened_again_with_their_changes() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = "explore model words 'the bat sleeps in the cave . it is' --at L1.A_3";
    written(model, &typed("x / E Enter 9 Enter"), folder.path());
    let command = prints_the_same(folder.path());
    assert!(command.contains("--without L1.A_3"), "{command}");
    let saved = folder.path().join("all/graph.json");
    let other = tempfile::tempdir().expect("a folder");
    written(&format!("explore {}", saved.display()), &typed("/ L 2 . A _ 4 Enter x"), other.path());
    let command = prints_the_same(other.path());
    assert!(command.contains("graph.json") && command.contains("--without L2.A_4"), "{command}");
}

#[test]
fn the_lesson_passes_its_check_and_the_matrices_are_read_back() {
    for (command, keys) in [
        (COMPUTATIONS[0], "- 6 Enter / S Enter"),
        (COMPUTATIONS[1], "/ A _ 2 Enter x"),
        (COMPUTATIONS[4], "2 Enter / A Enter j"),
        ("explore model words 'the bat sleeps' --at 'L1.A_3[sleeps,bat]'", "n"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let said = written(command, &typed(keys), folder.path());
        let file = folder.path().join("step.md").display().to_string();
        assert!(said.contains(&format!("attn lesson check {file}")), "{said}");
        let (text, code) = run(&["lesson".into(), "check".into(), file.clone()]);
        assert_eq!(code, 0, "{text}\n{}", fs::read_to_string(file).unwrap_or_default());
    }
    let folder = tempfile::tempdir().expect("a folder");
    written(COMPUTATIONS[0], &typed("0 . 1 Enter"), folder.path());
    let x = fs::read_to_string(folder.path().join("all/X.csv")).expect("X");
    assert_eq!(x, ",animals,sport\nbat,3,3\ncave,0.1,0\nracket,0,5\n");
}

#[test]
fn nothing_is_written_over_a_file_that_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, all) = (folder.path().join("command.txt"), folder.path().join("all"));
    fs::create_dir(&all).expect("a folder");
    fs::write(&file, "mine").expect("a file");
    fs::write(all.join("X.csv"), "mine").expect("a file");
    let said = written(COMPUTATIONS[0], &[], folder.path());
    assert!(said.contains("command.txt: this exists already; choose another name"), "{said}");
    assert_eq!(fs::read_to_string(&file).expect("the file"), "mine");
    assert_eq!(fs::read_to_string(all.join("X.csv")).expect("the file"), "mine");
    assert!(!all.join("graph.json").exists());
}

#[test]
fn a_change_that_cannot_be_made_is_an_error() {
    for (command, said) in [
        ("attend --words 'bat cave' --set 'S[1,1]=2'", "S is computed, not given"),
        ("attend --words 'bat cave' --set 'X[9,1]=2'", "X"),
        ("attend --words 'bat cave' --set X=1", "a matrix goes in --x"),
        ("attend --words 'bat cave' --set heat=2", "there is no setting `heat`"),
        ("attend --words 'bat cave' --set 'X[1,1]=two'", "`two` is no number"),
        ("attend --words 'bat cave' --without A_2", "there is no head A_2"),
        ("attend --words 'bat cave' --without head", "names no head"),
        ("attend --words 'bat cave' --fast --set 'X[1,1]=2'", "leave out --fast"),
        ("demo mask --set temperature=2", "there is no temperature in this computation"),
        ("demo mask --set mask=some", "`mask=some` sets nothing"),
        ("demo mask online --set 'X[1,1]=2'", "--set needs one demo"),
        ("demo mask online --without A", "--without needs one demo"),
    ] {
        let (text, code) = run(&words(command));
        assert!(code == 2 && text.contains(said), "{command}: {text}");
    }
}

#[test]
fn a_demo_says_nothing_about_the_numbers_before() {
    let (own, _) = run(&words("demo mask"));
    let (changed, code) = run(&words("demo mask --set 'W_Q[1,1]=5'"));
    assert_eq!(code, 0, "{changed}");
    // What is left of the demo's own notices is true of any numbers.
    assert_ne!(own, changed);
    let (twice, _) = run(&words("demo mask --versus \"--set 'W_Q[1,1]=5'\""));
    assert!(twice.contains("W_Q[1,1]=5"), "{twice}");
}

#[test]
fn no_demo_has_a_given_matrix_with_the_name_of_a_setting() {
    for demo in attn::demo::demos() {
        let graph = demo.story(&attn::demo::Settings::default()).expect(demo.name).graph;
        for setting in ["temperature", "scale", "mask"] {
            assert!(graph.find(setting).is_none(), "{}: {setting}", demo.name);
        }
    }
}
