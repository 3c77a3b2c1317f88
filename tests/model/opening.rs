//! What is said of how a model was opened: names that are built in, its beginning token, memory, the random sequence.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::attn;
use crate::model::broken_folders::{copied, with_fields, with_file};

/// Runs the program in a folder: exit code, standard output, standard error.
fn run_in(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_attn"))
        .current_dir(folder)
        .env("ATTN_STATE_DIR", folder.join("state"))
        .args(args)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code().unwrap(), text(&out.stdout), text(&out.stderr))
}

/// A folder that has files and folders of every built-in name that a lesson or a command may mean.
fn full_of_names() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in
        ["gpt2", "llama3-8b", "words", "5", "tour", "0-tour", "examples/data", "animals,sport", "state"]
    {
        fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    for file in ["bat.json", "creature.json"] {
        fs::write(folder.path().join("examples/data").join(file), r#"{"X": [[9, 9], [9, 9]]}"#).unwrap();
    }
    let config = fs::read("examples/data/llama3-8b-config.json").unwrap();
    fs::write(folder.path().join("gpt2/config.json"), config).unwrap();
    folder
}

#[test]
fn a_built_in_name_means_the_same_in_every_folder() {
    let (full, empty) = (full_of_names(), tempfile::tempdir().unwrap());
    for args in [
        &["params", "gpt2"][..],
        &["params", "llama3-8b"],
        &["model", "words", "the bat sleeps"],
        &["tokens", "words", "the bat"],
        &["lesson", "check", "5"],
        &["lesson", "check", "tour"],
        &["lesson", "play", "0-tour", "--no-input"],
        &[
            "attend",
            "--words",
            "bat cave",
            "--causal",
            "--targets",
            "animals,sport",
            "--loss",
            "cross-entropy",
        ],
    ] {
        let (here, there) = (run_in(full.path(), args), run_in(empty.path(), args));
        assert_eq!((here.0, &here.1), (there.0, &there.1), "{args:?}: {}", here.2);
    }
    let (code, out, err) = run_in(full.path(), &["params", "gpt2"]);
    let note = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, 0, "{err}");
    assert_eq!(
        note,
        "note: gpt2 is the built-in model; attn model ./gpt2 --params counts the one in this folder"
    );
    // The folder itself, by a path.
    let (code, own, err) = run_in(full.path(), &["params", "./gpt2"]);
    assert!(code == 0 && err.is_empty() && own != out && own.contains("8,030,261,248"), "{own}{err}");
    assert_eq!(run_in(full.path(), &["params", "gpt2/config.json"]).0, 0);
}

#[test]
fn the_list_of_counted_models_says_which_are_run() {
    let out = attn("params --format json").ok().out;
    let value: Value = serde_json::from_str(&out).unwrap();
    let is_run = |name: &str| {
        let rows = value["tables"][0]["rows"].as_array().unwrap();
        rows.iter().find(|row| row["model"] == name).unwrap()["attn model"].clone()
    };
    for name in ["gpt2", "llama3-8b", "gemma3-1b", "bert-base"] {
        assert_eq!(is_run(name), "yes", "{name}");
    }
    for name in ["mixtral-8x7b", "deepseek-v3", "qwen3-30b-a3b", "opt-125m"] {
        assert_eq!(is_run(name), "no", "{name}");
    }
}

#[test]
fn a_beginning_token_that_stands_twice_is_told() {
    let tokenizer = fs::read("tests/tokenizers/gemma.json").unwrap();
    let folder = with_fields("gemma-a", serde_json::json!({}));
    let folder = with_file(folder, "tokenizer.json", tokenizer);
    let added = |text: &str| {
        let out = attn("tokens --format json").arg(folder.path().display().to_string()).arg(text).ok().out;
        serde_json::from_str::<Value>(&out).unwrap()["tables"][0]["rows"][1]["piece"].clone()
    };
    assert_eq!(added("<bos>a"), "<bos>");
    let said = |text: &str| {
        let command = attn("model --width 300").arg(folder.path().display().to_string()).arg(text);
        let outcome = command.run();
        format!("{}{}", outcome.out, outcome.err).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let twice = "<bos> stands twice, as the text begins with it, too: leave it out there";
    let (with, without) = (said("<bos><bos>"), said("<pad>"));
    assert!(with.contains(twice), "{with}");
    assert!(!without.contains("stands twice"), "{without}");
}

#[test]
fn the_memory_that_an_error_names_is_enough() {
    // Of these small models only a long text takes more than the smallest memory that can be named.
    for model in ["llama-b", "gemma3-b"] {
        for more in ["--survey", "--survey --dtype f64"] {
            let line = format!("model tests/models/{model} {more} --memory 1M");
            let refused = attn(&line).run();
            assert!(
                refused.code == 2 && refused.err.contains("of memory, but at most"),
                "{line}: {}",
                refused.err
            );
            let enough = refused.err.split("--memory ").nth(1).unwrap().split_whitespace().next().unwrap();
            attn(&format!("model tests/models/{model} {more} --memory {enough}")).ok();
        }
    }
}

#[test]
fn an_adapter_beside_a_model_is_told_to_be_left_out() {
    let folder = with_file(copied("llama-a"), "adapter_model.safetensors", "");
    let said = attn("model --width 200 --ids 1,2").arg(folder.path().display().to_string()).ok().out;
    assert!(said.contains("adapter_model.safetensors is not applied"), "{said}");
}

#[test]
fn the_random_sequence_can_be_made_again_with_numpy() {
    // [int(u * 101) for u in np.random.RandomState(0).random_sample(15)], with NumPy 2.4.6.
    let ids = "55,72,60,55,42,65,44,90,97,38,79,53,57,93,7";
    let out = attn("model words --survey --format json").ok().out;
    assert!(out.contains("np.random.RandomState(0).random_sample(15); int(u · 101)"), "{out}");
    assert!(out.contains(&format!("\"{ids},{ids}\"")), "{out}");
    attn("model words").arg("--ids").arg(format!("{ids},{ids}")).ok();
}

#[test]
fn a_word_that_is_unknown_leads_to_the_whole_vocabulary() {
    attn("model words hello").refused(&["101 words", "attn model --tokens words lists the whole vocabulary"]);
    let out = attn("tokens words --format csv").ok().out;
    for word in ["racket", "sleeps", "australia"] {
        assert!(out.lines().any(|line| line.split(',').nth(2) == Some(word)), "{word}: {out}");
    }
    attn("model nowhere hello").refused(&["no such folder", "hf download openai-community/gpt2", "`words`"]);
    let bare = attn("model").ok().out;
    assert!(bare.starts_with("`attn model` needs an input. An example: attn model words"), "{bare}");
}
