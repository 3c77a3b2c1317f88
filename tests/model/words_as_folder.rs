//! The name `words` wherever a folder is named; `./words` is a folder.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::model::broken_folders::copied;

/// A place with a folder `words`, which is another model with another tokenizer.
fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let model = copied("bert-a");
    fs::create_dir(place.path().join("words")).unwrap();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let tokenizer = fs::read(tests.join("models/masked/tokenizer.json")).unwrap();
    fs::write(place.path().join("words/tokenizer.json"), tokenizer).unwrap();
    for file in ["config.json", "model.safetensors"] {
        fs::copy(model.path().join(file), place.path().join("words").join(file)).unwrap();
    }
    place
}

fn run(place: &TempDir, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_attn")).current_dir(place.path()).args(args).output().unwrap()
}

#[track_caller]
fn said(place: &TempDir, args: &[&str]) -> String {
    let output = run(place, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_command_that_takes_a_folder_takes_the_name() {
    let (place, text) = (place(), "the bat sleeps");
    for (folder, model, id) in [("words", "GPT-2", "86"), ("./words", "BERT", "5"), ("words/", "BERT", "5")] {
        assert!(said(&place, &["model", folder]).contains(model), "{folder}");
        let out = said(&place, &["model", folder, text]);
        assert!(out.starts_with(&format!("{folder}: “{text}”\n→ {model}")), "{folder}: {out}");
        let tokens = said(&place, &["tokens", folder, text, "--format", "csv"]);
        assert!(
            tokens.contains(&format!(",the,{id},")) || tokens.contains(&format!(",{id},the,")),
            "{folder}: {tokens}"
        );
        assert!(said(&place, &["tokens", folder, "--ids", id]).contains("the"), "{folder}");
        // What the model itself gives is right.
        said(&place, &["model", folder, text, "--save", "L1.A_1=L1.A_1.npy"]);
        let yours = "L1.A_1=L1.A_1.npy";
        let out = said(&place, &["diagnose", "--model", folder, "--text", text, "--yours", yours]);
        assert!(out.contains("agree"), "{folder}: {out}");
    }
}

#[test]
fn the_built_in_model_needs_no_folder_and_another_name_is_not_it() {
    let empty = tempfile::tempdir().unwrap();
    said(&empty, &["model", "words", "the bat", "--next", "2"]);
    said(&empty, &["tokens", "words", "the bat", "--merges"]);
    for folder in ["./words", "words/", "Words"] {
        for args in [
            &["model", folder][..],
            &["tokens", folder, "the"],
            &["diagnose", "--model", folder, "--ids", "1", "--yours", "L1.X=1 2"],
        ] {
            let output = run(&empty, args);
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
            assert!(error.contains("no such folder"), "{args:?}: {error}");
        }
    }
}
