//! Dumps of ports with one mistake each, made by `transformers` (`tests/models/porting.py`): the mistake is found by its name.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use safetensors::SafeTensors;
use serde_json::Value;

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models")
}

/// All dumps, in the order of their names.
fn dumps() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(models().join("ports")).unwrap();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

/// The model of a dump, and the mistakes that it was made with: `llama-b-rope-base`, `gpt2-b-gelu-form+norm-bias-missing`.
fn parts(dump: &Path) -> (String, Vec<String>) {
    let name = dump.file_stem().unwrap().to_str().unwrap();
    let at = name.match_indices('-').nth(1).unwrap().0;
    let mistakes = name[at + 1..].trim_end_matches("-bf16").split('+').map(str::to_string).collect();
    (name[..at].to_string(), mistakes)
}

fn ids(dump: &Path) -> String {
    let bytes = std::fs::read(dump).unwrap();
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    header.metadata().as_ref().unwrap()["ids"].clone()
}

fn attn(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_attn")).args(args).output().unwrap()
}

fn diagnosed(dump: &Path) -> (Option<i32>, Value) {
    let (model, _) = parts(dump);
    diagnosed_as(&model, dump, dump)
}

/// A file with the tensors of a dump, against a model.
fn diagnosed_as(model: &str, dump: &Path, file: &Path) -> (Option<i32>, Value) {
    let folder = models().join(model);
    let [folder, file] = [&folder, file].map(|path| path.to_str().unwrap());
    let output =
        attn(&["diagnose", "--model", folder, "--ids", &ids(dump), "--yours", file, "--format", "json"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let value = serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{}: {error}: {text}{}", dump.display(), String::from_utf8_lossy(&output.stderr))
    });
    (output.status.code(), value)
}

/// The names of the mistakes that were found, those with the same numbers together.
fn found(value: &Value) -> Vec<Vec<String>> {
    let id = |mistake: &Value| {
        for text in ["sentence", "change"].map(|key| mistake[key].as_str().unwrap()) {
            assert!(!text.is_empty() && !text.contains(['{', '}']), "{mistake}");
        }
        mistake["id"].as_str().unwrap().to_string()
    };
    let mut all: Vec<Vec<String>> = Vec::new();
    if !value["text"].is_null() {
        all.push(vec![id(&value["text"])]);
    }
    let any = |found: &Value| found["any_of"].as_array().unwrap().iter().map(id).collect();
    all.extend(value["mistakes"].as_array().unwrap().iter().map(any));
    all
}

#[test]
fn every_mistake_is_found_by_its_name_and_explains_everything() {
    // Without the tensors of the gate, both give the same numbers; in a model whose layers are all alike, so do these windows.
    let alike = [["gate-on-up", "gate-and-up-exchanged"], ["window-missing", "window-on-other-layers"]];
    let (mut wrong, mut count) = (Vec::new(), 0);
    for dump in dumps().into_iter().step_by(one_in(3)) {
        let (_, mistakes) = parts(&dump);
        if mistakes == ["right"] {
            continue;
        }
        count += 1;
        let (code, value) = diagnosed(&dump);
        let found = found(&value);
        let is_named = |(expected, found): (&String, &Vec<String>)| {
            let allowed = |id: &String| {
                id == expected || alike.iter().any(|pair| pair.iter().all(|one| one == id || one == expected))
            };
            found.contains(expected) && found.iter().all(allowed)
        };
        let mut expected = mistakes.clone();
        let order = |id: &String| found.iter().position(|found| found.contains(id)).unwrap_or(usize::MAX);
        expected.sort_by_key(order);
        let are_named = expected.len() == found.len() && expected.iter().zip(&found).all(is_named);
        let is_explained = value["unexplained"].as_array().unwrap().is_empty();
        if !are_named || !is_explained || code != Some(1) {
            wrong.push(format!("{}: {found:?}, exit code {code:?}", dump.display()));
        }
    }
    assert!(count > 65 / one_in(4), "{count}");
    assert!(wrong.is_empty(), "of {count}:\n{}", wrong.join("\n"));
}

#[test]
fn a_right_port_agrees_also_in_bf16() {
    let mut precisions = Vec::new();
    for dump in dumps().into_iter().filter(|dump| parts(dump).1 == ["right"]) {
        let (code, value) = diagnosed(&dump);
        assert_eq!(code, Some(0), "{value}");
        assert_eq!(value["verdict"], "right");
        assert_eq!(value["agreeing"], value["compared"]);
        precisions.push(value["precision"].as_str().unwrap().to_string());
    }
    assert_eq!(precisions, ["f32", "bf16"]);
}

#[test]
fn a_dump_with_one_more_token_at_its_beginning_is_named() {
    let dump = models().join("ports/gpt2-a-bos-surplus.safetensors");
    let (code, value) = diagnosed(&dump);
    assert_eq!((code, found(&value)), (Some(1), vec![vec!["bos-surplus".to_string()]]), "{value}");
    // The file of the model names the token; no tokenizer puts it there.
    assert!(value["text"]["sentence"].as_str().unwrap().contains("an additional token, 0"), "{value}");
    assert_eq!(value["agreeing"], value["compared"]);
}

/// The dumps of `tests/models/lens.py`: right models with the weights as TransformerLens processes them.
#[test]
fn processed_weights_of_transformer_lens_are_conventions_and_no_mistakes() {
    let both = ["fold_ln", "center_unembed"];
    for (model, tensors, words) in [
        ("gpt2-a", 30, &[&both[..], &["center_writing_weights", "fold_value_biases"]].concat()),
        // An RMS norm has no mean, and so the stream is not centred.
        ("llama-b", 47, &both.to_vec()),
    ] {
        let dump = models().join(format!("lens/{model}.safetensors"));
        let (code, value) = diagnosed_as(model, &dump, &dump);
        assert_eq!((code, &value["verdict"]), (Some(0), &Value::from("right")), "{value}");
        assert_eq!((&value["compared"], &value["agreeing"]), (&tensors.into(), &tensors.into()), "{value}");
        let conventions: Vec<&str> =
            value["conventions"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect();
        assert_eq!(conventions.len(), words.len(), "{conventions:?}");
        for word in words {
            assert!(conventions.iter().any(|note| note.contains(word)), "{word}: {conventions:?}");
        }
    }
}

/// An array in NumPy's format.
fn npy(shape: &[usize], numbers: &[u8]) -> Vec<u8> {
    let sizes: String = shape.iter().map(|size| format!("{size},")).collect();
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({sizes}), }}");
    let header = format!("{header:<117}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), numbers].concat()
}

#[test]
fn a_dump_may_be_an_npz_file_or_a_file_for_each_tensor() {
    let dump = models().join("ports/llama-b-rope-interleaved.safetensors");
    let bytes = std::fs::read(&dump).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("dump.npz");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&place).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    let mut arguments = Vec::new();
    for (name, view) in tensors.iter() {
        let array = npy(view.shape(), view.data());
        zip.start_file(format!("{name}.npy"), options).unwrap();
        zip.write_all(&array).unwrap();
        let file = folder.path().join(format!("{}.npy", arguments.len()));
        std::fs::write(&file, array).unwrap();
        arguments.push(format!("{name}={}", file.display()));
    }
    zip.finish().unwrap();
    let expected = diagnosed(&dump).1;
    assert_eq!(diagnosed_as("llama-b", &dump, &place).1, expected);
    let (model, ids) = (models().join("llama-b"), ids(&dump));
    let mut args = vec!["diagnose", "--model", model.to_str().unwrap(), "--ids", &ids, "--format", "json"];
    arguments.iter().for_each(|argument| args.extend(["--yours", argument]));
    let value: Value = serde_json::from_slice(&attn(&args).stdout).unwrap();
    assert_eq!(found(&value), found(&expected), "{value}");
    assert_eq!(value["compared"], expected["compared"]);
}

#[test]
fn the_first_difference_says_where_and_what_to_change() {
    let folder = models().join("llama-b");
    let dump = models().join("ports/llama-b-rope-interleaved.safetensors");
    let [folder, file] = [&folder, &dump].map(|path| path.to_str().unwrap());
    let output = attn(&["diagnose", "--model", folder, "--ids", &ids(&dump), "--yours", file]);
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "blocks.0.attn.hook_pattern",
        "L1.A_",
        "rope-interleaved",
        "rotate_half",
        "TransformerLens",
        "yours",
        "right",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
}

#[test]
fn what_cannot_be_compared_is_an_error() {
    let folder = models().join("llama-b");
    let folder = folder.to_str().unwrap();
    let dump = models().join("ports/gpt2-c-conv1d-reshaped.safetensors");
    let file = dump.to_str().unwrap();
    for (args, error) in [
        (vec!["--ids", "1,5,6", "--yours", file], "no tensor of the file has the shape"),
        (
            vec!["--ids", "1,5,6", "--yours", "query=1 2; 3 4"],
            "no tensor of the file is a step of the model: `query`",
        ),
        (vec!["--yours", file], "there is no text"),
        (vec!["--ids", "1,5,6"], "--yours"),
        (vec!["--ids", "1,5,6", "--yours", file, "--x", "x.npy"], "cannot be used with"),
        (vec!["--ids", "1,5,6", "--yours", file, "--heads", "2"], "cannot be used with"),
        (vec!["--ids", "1,5,6", "--yours", "1 2; 3 4"], "the tensor has no name"),
    ] {
        let output = attn(&[&["diagnose", "--model", folder][..], &args].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains(error), "{args:?}: {text}");
    }
}
use crate::common::one_in;
