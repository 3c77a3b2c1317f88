//! The seeds of `fuzz/corpus/` through the functions that are fuzzed: nothing panics, every command ends with 0, 1 or 2, and nothing
//! drives the terminal. `tests/README.md` says how more inputs than these are tried.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

#[path = "../../fuzz/src/lib.rs"]
mod targets;

/// All seeds together have so many bytes at most.
const MOST_BYTES: u64 = 200_000;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

/// The seeds of a target, made by hand: those that libFuzzer adds have no ending.
fn seeds(target: &str) -> Vec<PathBuf> {
    let folder = fs::read_dir(fuzz().join("corpus").join(target)).expect("a folder of seeds");
    let mut seeds: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
    seeds.retain(|path| path.extension().is_some());
    seeds.sort();
    seeds
}

/// Runs every seed of a target, and names those at which `run` panics.
#[track_caller]
fn replay(target: &str, run: impl Fn(&Path) + std::panic::RefUnwindSafe) {
    let failed: Vec<PathBuf> =
        seeds(target).into_iter().filter(|path| catch_unwind(|| run(path)).is_err()).collect();
    assert!(failed.is_empty(), "{target}: {failed:#?}");
}

fn replay_in_process(target: &str) {
    let (_, function) = targets::TARGETS.iter().find(|(name, _)| *name == target).expect("a target");
    replay(target, |path| function(&fs::read(path).expect("a seed")));
}

macro_rules! replayed {
    ($($test:ident: $target:literal,)*) => {
        $(#[test]
        fn $test() {
            replay_in_process($target);
        })*

        const REPLAYED: &[&str] = &[$($target),*];
    };
}

replayed! {
    no_npy_file_breaks_the_reader: "npy",
    no_npz_file_breaks_the_reader: "npz",
    no_packed_file_breaks_the_reader: "packed",
    no_safetensors_file_breaks_the_reader: "safetensors",
    no_json_file_breaks_the_reader: "json",
    no_text_of_numbers_breaks_the_reader: "text",
    no_word_vectors_break_the_reader: "words",
    no_configuration_breaks_the_counts: "config",
    no_lesson_breaks_its_reading_check_or_pages: "lesson",
    no_demo_breaks_its_reading_or_telling: "demo",
    no_file_of_mistakes_breaks_its_reading_or_making: "mistakes",
    no_key_breaks_the_language_of_keys: "key",
    no_sentence_breaks_the_reading_of_numbers_and_votes: "prose",
    no_command_ends_otherwise_than_with_0_1_or_2: "cli",
    no_problem_gives_other_bits_on_other_instructions: "kernel",
    no_folder_of_a_model_breaks_its_run: "model",
    no_tokenizer_breaks_the_reading_of_texts: "tokenizer",
}

#[test]
fn hostile_files_leave_every_command_with_0_1_or_2() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for target in ["npy", "npz", "packed", "safetensors", "json", "text", "config"] {
        let ending = match target {
            "text" => "csv",
            "packed" => "dat",
            "config" => "json",
            other => other,
        };
        let file = folder.path().join(format!("x.{ending}"));
        replay(target, |path| {
            fs::copy(path, &file).expect("a copy");
            targets::through_the_program(file.to_str().expect("UTF-8"), target == "config");
        });
    }
}

#[test]
fn every_target_has_a_program_a_test_and_seeds_that_stay_small() {
    let names = |folder: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(fuzz().join(folder)).expect(folder);
        let stem = |path: PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
        entries.map(|entry| stem(entry.expect("an entry").path())).collect()
    };
    let targets: BTreeSet<String> = targets::TARGETS.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(targets, REPLAYED.iter().map(|name| name.to_string()).collect());
    assert_eq!(targets, names("fuzz_targets"));
    assert_eq!(targets, names("corpus"));
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).expect("a manifest");
    let mut bytes = 0;
    for target in &targets {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{target}.rs\"")), "{target}");
        let sizes =
            seeds(target).iter().map(|seed| fs::metadata(seed).expect("a seed").len()).collect::<Vec<_>>();
        assert!(sizes.len() >= 10, "{target} has {} seeds", sizes.len());
        bytes += sizes.iter().sum::<u64>();
    }
    assert!(bytes <= MOST_BYTES, "{bytes} bytes of seeds");
}

#[test]
fn a_function_that_panics_at_a_seed_is_told_from_one_that_does_not() {
    let caught = catch_unwind(|| replay("key", |path| assert!(!path.ends_with("00.txt"))));
    let said = *caught.expect_err("a panic is passed on").downcast::<String>().expect("a message");
    assert!(said.contains("00.txt") && !said.contains("01.txt"), "{said}");
}
