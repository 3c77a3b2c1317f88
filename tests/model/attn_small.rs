//! The small models that are written here: `transformers` opens them with the same numbers, and so does `attn model`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use attn::graph::{Graph, Precision};
use attn::input::{ModelDraft, ModelFiles, NamedTensors, WritePermission, check_model_folder};
use attn::kernel::{Layout, Machine};
use attn::model::Edits;
use attn::random::LegacyStream;
use attn::tensor::Tensor;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::attn;
use crate::model::fixtures::{Fixture, text};

/// The logits that `golden/attn_small.py` had from `transformers`.
static GOLDEN: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../golden/attn_small.json")).unwrap());

/// The symbols of these models: as many of them as there are tokens.
const SYMBOLS: &str = "abc \nd\"é€\\fghijklmnopqrstuv";

fn size(config: &Value, key: &str) -> usize {
    config[key].as_u64().unwrap() as usize
}

/// The weights that the script draws, in its order.
fn tensors(config: &Value, stream: &mut LegacyStream) -> NamedTensors {
    let is_single = config["dtype"] == "float32";
    let mut named = Vec::new();
    let mut draw = |name: String, rows: usize, columns: usize| {
        let numbers: Vec<f64> = (0..rows * columns).map(|_| 0.4 * stream.standard_normal()).collect();
        let layout = Layout::stacked(1, rows, columns);
        let tensor = if is_single {
            Tensor::new(numbers.iter().map(|x| *x as f32).collect(), layout)
        } else {
            Tensor::new(numbers, layout)
        };
        named.push((name, tensor.unwrap()));
    };
    let (d, inside) = (size(config, "hidden_size"), size(config, "intermediate_size"));
    draw("W_E".into(), size(config, "vocab_size"), d);
    draw("W_P".into(), size(config, "max_position_embeddings"), d);
    for layer in 0..size(config, "num_hidden_layers") {
        for name in ["W_Q", "W_K", "W_V", "W_O"] {
            draw(format!("layers.{layer}.{name}"), d, d);
        }
        if inside > 0 {
            draw(format!("layers.{layer}.W_up"), d, inside);
            draw(format!("layers.{layer}.W_down"), inside, d);
        }
    }
    draw("W_U".into(), d, size(config, "vocab_size"));
    named
}

/// The weights of a case that a seed gives.
fn seeded(case: &str, seed: usize) -> NamedTensors {
    tensors(&GOLDEN[case]["config"], &mut LegacyStream::seeded(seed as u32))
}

/// The folder of a case.
fn files(case: &str) -> ModelFiles {
    let config = GOLDEN[case]["config"].clone();
    ModelFiles {
        symbols: SYMBOLS.chars().take(size(&config, "vocab_size")).map(String::from).collect(),
        tensors: seeded(case, size(&GOLDEN[case], "seed")),
        config,
    }
}

fn saved(folder: &Path, files: &ModelFiles) -> attn::error::Result<()> {
    ModelDraft::beside(folder, WritePermission::Allowed)?.finish(files)
}

/// Saves a case with checkpoints of these steps, whose weights are those of other seeds.
fn save(folder: &Path, case: &str, steps: &[usize]) {
    let draft = ModelDraft::beside(folder, WritePermission::Allowed).unwrap();
    for step in steps {
        draft.keep(*step, &seeded(case, *step)).unwrap();
    }
    draft.finish(&files(case)).unwrap();
}

/// The first case, with checkpoints of two steps.
const FIRST: &str = "two layers of one head, neither norm nor MLP";

fn first() -> (TempDir, String) {
    let place = tempfile::tempdir().unwrap();
    save(place.path(), FIRST, &[50, 150]);
    let name = place.path().display().to_string();
    (place, name)
}

/// The logits that a model of a folder computes, row by row.
pub fn logits(folder: &Path, precision: Precision, ids: Vec<usize>) -> Vec<Vec<f64>> {
    Fixture::open(folder).with_run(|run| {
        let mut graph = Graph::new().in_precision(precision);
        let edits = Edits::default();
        let mut x = run.embed(&mut graph, &text(ids), 0).unwrap();
        for layer in 1..=run.layers() {
            x = run.layer(&mut graph, layer, x, &edits).unwrap();
        }
        let logits = run.logits(&mut graph, x).unwrap();
        let shape = graph[logits].shape();
        let tensor = graph[logits].tensor().unwrap();
        (0..shape.rows).map(|i| (0..shape.cols).map(|j| tensor.at(i, j)).collect()).collect()
    })
}

#[test]
fn transformers_computes_the_same_logits_from_every_folder() {
    for (case, golden) in GOLDEN.as_object().unwrap() {
        let place = tempfile::tempdir().unwrap();
        save(place.path(), case, &[]);
        let ids: Vec<usize> = serde_json::from_value(golden["ids"].clone()).unwrap();
        let expected: Vec<Vec<f64>> = serde_json::from_value(golden["logits"].clone()).unwrap();
        for (precision, tolerance) in [(Precision::Exact, 1e-9), (Precision::Single(Machine::here()), 1e-4)] {
            let ours = logits(place.path(), precision, ids.clone());
            assert_eq!((ours.len(), ours[0].len()), (expected.len(), expected[0].len()), "{case}");
            let far = ours.iter().flatten().zip(expected.iter().flatten()).map(|(a, b)| (a - b).abs());
            let far = far.fold(0.0, |far, x| if x.is_nan() { f64::INFINITY } else { f64::max(far, x) });
            assert!(far < tolerance, "{case}: {far:e}");
        }
    }
}

#[test]
fn a_small_model_has_no_nodes_for_norms_and_mlps_that_it_has_not() {
    let names = |case: &str| {
        let place = tempfile::tempdir().unwrap();
        save(place.path(), case, &[]);
        Fixture::open(place.path()).with_run(|run| {
            let forward = run.forward(text(vec![0, 1, 2]), Default::default()).unwrap();
            let graph = run.layers_again(&forward, 1..=run.layers()).unwrap();
            graph.nodes().map(|(_, node)| node.name.clone()).collect::<Vec<_>>()
        })
    };
    let has = |names: &[String], part: &str| names.iter().any(|name| name.contains(part));
    let bare = names(FIRST);
    assert!(has(&bare, "L1.O") && has(&bare, "L2.X"), "{bare:?}");
    assert!(!has(&bare, "normed") && !has(&bare, "MLP") && !has(&bare, "X_mid"), "{bare:?}");
    let normed = names("norms without an MLP, in f32");
    assert!(has(&normed, "L1.X_normed") && !has(&normed, "MLP") && !has(&normed, "g_"), "{normed:?}");
    let with_mlp = names("an MLP without norms");
    assert!(has(&with_mlp, "L2.MLP_hidden") && !has(&with_mlp, "normed"), "{with_mlp:?}");
}

#[test]
fn each_character_is_a_token_and_its_id_is_its_place() {
    let (_place, folder) = first();
    let said = attn(&format!("model {folder} --format json")).arg("b \na€").ok().out;
    let value: Value = serde_json::from_str(&said).unwrap();
    let ids: Vec<&Value> =
        value["tables"][1]["rows"].as_array().unwrap().iter().map(|row| &row["id"]).collect();
    assert_eq!(ids, [1, 3, 4, 0, 8], "{value:?}");
    attn(&format!("model {folder} abz")).refused(&["`z` in column 3"]);
    attn(&format!("model {folder} abca --next 3")).ok();
    attn(&format!("model {folder} abca --explain 'L2.A[4,2]' --depth 2")).ok();
    attn(&format!("model {folder} --ids {}", ["1"; 25].join(","))).refused(&["25 tokens", "for 24"]);
}

#[test]
fn a_model_that_sees_the_whole_text_is_shown_at_every_position() {
    let place = tempfile::tempdir().unwrap();
    save(place.path(), "one layer that sees the whole text", &[]);
    let command = format!("model {} abca", place.path().display());
    let said = attn(&command).ok().out;
    assert!(said.contains("What the model predicts at each position") && !said.contains("mask"), "{said}");
    let said = attn(&format!("{command} --versus '--without L1.A_1'")).ok().out;
    assert_eq!(said.matches("What the model predicts at each position").count(), 2, "{said}");
    attn(&format!("{command} --next 3")).refused(&["sees the whole text at once does not write"]);
    attn(&format!("{command} --without mlp:1")).refused(&["the model has no MLP"]);
}

#[test]
fn a_kept_step_is_opened_by_its_number() {
    let (_place, folder) = first();
    let command = |options: &str| attn(&format!("model {folder} abca {options}"));
    let numbers = |options: &str| command(&format!("{options} --only logits --format csv")).ok().out;
    assert_ne!(numbers(""), numbers("--at 50"));
    assert_ne!(numbers("--at 50"), numbers("--at 150"));
    let said = command("--at 150").ok().out;
    assert!(said.starts_with(&format!("{folder}, step 150: “abca”")), "{said}");
    let said = attn(&format!("model {folder} --at 50")).ok().out;
    assert!(said.contains("step-50.safetensors") && said.contains("50, 150"), "{said}");
    command("--at 151").refused(&["the weights of step 151 were not kept", "kept are 50, 150"]);
    let place = tempfile::tempdir().unwrap();
    save(place.path(), FIRST, &[]);
    let without = format!("model {} abca --at 50", place.path().display());
    attn(&without).refused(&["there are no checkpoints in this folder"]);
    attn("model words 'the bat' --at 50").refused(&["there are no checkpoints of this model"]);
}

#[test]
fn the_explorer_opens_a_kept_step_and_points_to_the_same_one() {
    let (_place, folder) = first();
    let command = |step: &str| attn(&format!("explore model {folder} abca --checkpoint {step}"));
    command("50").refused(&[&format!("attn model {folder} abca --at 50, or add --plain")]);
    command("7").refused(&["the weights of step 7 were not kept", "kept are 50, 150"]);
    let cell = "--at 'L2.A[4,2]' --plain";
    let shown = |step: &str| attn(&format!("explore model {folder} abca {step} {cell}")).ok().out;
    assert_ne!(shown("--checkpoint 50"), shown("--checkpoint 150"));
}

#[test]
fn two_kept_steps_are_compared() {
    let (_place, folder) = first();
    let weights = |options: &str| {
        let value = attn(&format!("model {folder} abca --only L2.A --format json {options}")).ok().out;
        serde_json::from_str::<Value>(&value).unwrap()
    };
    let said = attn(&format!("model {folder} abca --at 50 --versus '--at 150'")).ok().out;
    assert!(said.contains("The next token, --at 150"), "{said}");
    let node = |value: &Value| {
        let nodes = value["graphs"][0]["nodes"].as_array().unwrap().iter();
        nodes.clone().find(|node| node["name"] == "L2.A").unwrap()["values"].clone()
    };
    let both = attn(&format!("model {folder} abca --only L2.A --at 50 --versus '--at 150' --format json"));
    let both: Value = serde_json::from_str(&both.ok().out).unwrap();
    let (first, second) = (node(&weights("--at 50")), node(&weights("--at 150")));
    assert_ne!(first, second);
    let said = both.to_string();
    assert!(said.contains(&first.to_string()) && said.contains(&second.to_string()), "{said}");
}

#[test]
fn a_folder_of_something_else_is_left_alone() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("model");
    let files = files(FIRST);
    fs::create_dir(&folder).unwrap();
    for (name, contents) in [("notes.txt", "mine"), ("config.json", "{\"model_type\": \"gpt2\"}")] {
        fs::write(folder.join(name), contents).unwrap();
        let error = saved(&folder, &files).unwrap_err().to_string();
        assert!(error.contains("this folder has other files in it") && error.contains("help"), "{error}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_file(folder.join(name)).unwrap();
    }
    saved(&folder, &files).unwrap();
    let file = folder.join("config.json");
    let error = saved(&file, &files).unwrap_err().to_string();
    assert!(error.contains("this is a file, not a folder"), "{error}");
    let refused = check_model_folder(&folder, WritePermission::Refused).unwrap_err().to_string();
    assert!(refused.contains("a lesson cannot write files"), "{refused}");
}

#[test]
fn a_model_takes_the_place_of_an_earlier_one_with_its_checkpoints() {
    let place = tempfile::tempdir().unwrap();
    save(place.path(), FIRST, &[50, 150]);
    fs::write(place.path().join("notes.txt"), "mine").unwrap();
    save(place.path(), "an MLP without norms", &[150, 300]);
    let names = |folder: &Path| {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    let all = [
        "checkpoints",
        "config.json",
        "model.safetensors",
        "modeling_attn_small.py",
        "notes.txt",
        "tokenizer.json",
    ];
    assert_eq!(names(place.path()), all);
    assert_eq!(names(&place.path().join("checkpoints")), ["step-150.safetensors", "step-300.safetensors"]);
    attn(&format!("model {} abc --at 300", place.path().display())).ok();
    save(place.path(), FIRST, &[]);
    assert!(!place.path().join("checkpoints").exists());
}

#[test]
fn settings_and_symbols_that_make_no_model_are_refused_before_anything_is_written() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("model");
    let refused = |change: fn(&mut ModelFiles)| {
        let mut files = files(FIRST);
        change(&mut files);
        let error = saved(&folder, &files).unwrap_err().to_string();
        assert!(!folder.exists());
        error
    };
    assert!(refused(|files| files.config["norm"] = json!("layer")).contains("`norm` is `layer`"));
    assert!(refused(|files| files.symbols.truncate(3)).contains("3 symbols"));
    assert!(refused(|files| files.symbols[2] = "a".into()).contains("symbol 2"));
    assert!(refused(|files| files.symbols[2] = "ab".into()).contains("symbol 2"));
}

/// The files of a folder with their contents.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            all.extend(contents(&entry.path()));
        } else {
            all.insert(entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap());
        }
    }
    all
}

/// The names beside a folder that begin with a dot.
fn hidden(place: &Path) -> usize {
    let names = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.as_encoded_bytes().starts_with(b".")).count()
}

#[test]
fn models_that_are_saved_at_once_into_one_folder_leave_one_of_them() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("model");
    let kinds = [(FIRST, 50), ("an MLP without norms", 150), ("one layer that sees the whole text", 300)];
    let alone: Vec<_> = kinds
        .iter()
        .map(|(case, step)| {
            save(&folder, case, &[*step]);
            contents(&folder)
        })
        .collect();
    std::thread::scope(|scope| {
        for (case, step) in kinds {
            let folder = &folder;
            scope.spawn(move || (0..20).for_each(|_| save(folder, case, &[step])));
        }
    });
    assert!(alone.contains(&contents(&folder)));
    assert_eq!(hidden(place.path()), 0);
}

#[test]
fn a_model_that_cannot_be_saved_leaves_the_older_one_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("model");
    save(&folder, FIRST, &[50]);
    let before = contents(&folder);
    let draft = ModelDraft::beside(&folder, WritePermission::Allowed).unwrap();
    draft.keep(5, &seeded(FIRST, 5)).unwrap();
    let mut wrong = files("an MLP without norms");
    wrong.symbols.truncate(2);
    assert!(draft.finish(&wrong).is_err());
    assert_eq!(contents(&folder), before);
    assert_eq!(hidden(place.path()), 0);
}

#[test]
fn a_draft_of_a_killed_program_is_no_model_and_is_removed_by_the_next_one() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("model");
    // A killed program holds no lock.
    let left = place.path().join(".attn-model-a1B2c3");
    fs::create_dir_all(left.join("checkpoints")).unwrap();
    for name in ["config.json", "checkpoints/step-5.safetensors", "notes.txt"] {
        fs::write(left.join(name), "half").unwrap();
    }
    // One that is being written is locked, and another name is another target.
    let written = ModelDraft::beside(&folder, WritePermission::Allowed).unwrap();
    fs::create_dir(place.path().join(".attn-model-of-mine-a1B2c3")).unwrap();
    save(&folder, FIRST, &[]);
    assert_eq!(hidden(place.path()), 2);
    // What was not of the model has moved into it.
    assert_eq!(fs::read_to_string(folder.join("notes.txt")).unwrap(), "half");
    written.finish(&files(FIRST)).unwrap();
    assert_eq!(hidden(place.path()), 1);
    assert!(folder.join("notes.txt").exists());
}

#[test]
fn the_folder_that_one_is_in_is_not_replaced() {
    let place = tempfile::tempdir().unwrap();
    save(place.path(), FIRST, &[]);
    let before = contents(place.path());
    let mut command = Command::new(env!("CARGO_BIN_EXE_attn"));
    command.args(["learn", "reverse", "--steps", "2", "--save", "."]).current_dir(place.path());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("this is the folder that you are in") && said.contains("such as model"), "{said}");
    assert_eq!(contents(place.path()), before);
}

#[cfg(unix)]
#[test]
fn a_saving_program_that_is_killed_leaves_a_whole_model_or_none() {
    let place = tempfile::tempdir().unwrap();
    let (folder, reference) = (place.path().join("model"), place.path().join("reference"));
    let start = |folder: &Path, width: &str| {
        let args = ["learn", "reverse", "--steps", "40", "--every", "2", "--width", width, "--save"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_attn"));
        command.args(args).arg(folder).stdout(Stdio::null()).spawn().unwrap()
    };
    let ended = |folder: &Path, width: &str| assert!(start(folder, width).wait().unwrap().success());
    ended(&reference, "16");
    let new = contents(&reference);
    ended(&folder, "8");
    let old = contents(&folder);
    for after in [0, 1, 2, 4, 8, 16] {
        let mut program = start(&folder, "16");
        while hidden(place.path()) == 0 && program.try_wait().unwrap().is_none() {}
        std::thread::sleep(Duration::from_millis(after));
        program.kill().unwrap();
        program.wait().unwrap();
        let left = contents(&folder);
        assert!(left == old || left == new, "killed after {after} ms: {:?}", left.keys());
        // The next one removes what was left.
        ended(&folder, "8");
        assert_eq!(hidden(place.path()), 0);
    }
}
