//! Work that was saved by an earlier program (tests/saved/make.py names its commit) opens, and gives the same numbers.

use std::fs;
use std::path::{Path, PathBuf};

use attn::cli::Env;
use attn::graph::Value as Numbers;
use attn::graph::saved::read;
use attn::matrix::same_number;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::attn;

fn path(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/saved").join(name).to_str().unwrap().to_string()
}

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(path(folder)).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.to_str().unwrap().ends_with(ending)).collect()
}

#[test]
fn graphs_open_and_computed_again_have_the_saved_numbers() {
    let mut compared = 0;
    for file in files("graphs", ".json") {
        let text = fs::read_to_string(&file).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        for saved in read(&document).unwrap_or_else(|error| panic!("{}: {error}", file.display())) {
            assert_eq!(saved.read_only, None, "{}", file.display());
            let again = saved.graph.run_again().unwrap();
            for ((_, a), (_, b)) in again.nodes().zip(saved.graph.nodes()) {
                let (Numbers::Formed(a), Numbers::Formed(b)) = (&a.value, &b.value) else {
                    panic!("{}: a node has no numbers", file.display());
                };
                let same = a.cells().zip(b.cells()).all(|(a, b)| same_number(a, b));
                assert!(same && a.shape() == b.shape(), "{}", file.display());
                compared += 1;
            }
        }
        attn("explore --plain").arg(file.to_str().unwrap()).input("Down\nq\n").ok();
    }
    assert!(compared > 200, "only {compared} matrices");
}

#[test]
fn recorded_keys_lead_to_the_same_numbers() {
    for (name, command) in [("mask", "demo mask"), ("words", "attend --words 'bat cave racket' --causal")] {
        let keys = path(&format!("recordings/{name}.keys.txt"));
        let said = attn(&format!("explore {command} --plain --play")).arg(keys).ok().out;
        let numbers = |text: &str| {
            let words = text.split(|c: char| !(c.is_ascii_digit() || ".-−".contains(c)));
            words.filter(|word| word.contains('.')).map(str::to_string).collect::<Vec<_>>()
        };
        let before = fs::read_to_string(path(&format!("recordings/{name}.said.txt"))).unwrap();
        assert!(numbers(&before).len() > 50);
        assert_eq!(numbers(&said), numbers(&before), "{name}");
    }
}

#[test]
fn a_model_in_training_opens_at_each_step_that_was_kept() {
    let folder = path("learned/reverse");
    for (name, at) in [("reverse", ""), ("reverse-at-10", "--at 10")] {
        let printed = attn("model --ids 1,2,3,4 --format json").arg(folder.clone());
        let printed = at.split_whitespace().fold(printed, |command, word| command.arg(word)).ok().out;
        let before = fs::read_to_string(path(&format!("learned/{name}.json"))).unwrap();
        // The title of the first table names the folder.
        let value =
            |text: &str| serde_json::from_str::<Value>(&text.replace(&folder, "learned/reverse")).unwrap();
        assert_eq!(value(&printed), value(&before), "{name}");
    }
}

#[test]
fn a_quiz_goes_on_where_it_was_stopped() {
    let state = TempDir::new().unwrap();
    fs::create_dir(state.path().join("progress")).unwrap();
    let kept = "progress/0-tour.json";
    fs::copy(path(&format!("state/{kept}")), state.path().join(kept)).unwrap();
    let env =
        Env { state: Some(state.path().to_path_buf()), has_keys: true, has_screen: true, ..Env::default() };
    let said = attn("lesson quiz 0-tour --seed 31").env(env).run().out;
    assert!(said.contains("You have answered 1 of 7 questions before"), "{said}");
}

#[test]
fn lessons_show_what_the_program_prints() {
    let lessons = files("", ".md");
    assert_eq!(lessons.len(), 2);
    for file in lessons {
        attn("lesson check").arg(file.to_str().unwrap()).ok();
    }
}
