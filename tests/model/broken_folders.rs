//! Copies of small models in which something is changed.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use safetensors::SafeTensors;
use safetensors::tensor::TensorView;
use serde_json::{Map, Value};
use tempfile::TempDir;

pub const WEIGHTS: &str = "model.safetensors";
pub const INDEX: &str = "model.safetensors.index.json";

/// A copy of one of the small random models, or of `words`.
pub fn copied(model: &str) -> TempDir {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let from =
        if model == "words" { here.join("models/words") } else { here.join("tests/models").join(model) };
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if !entry.file_name().to_string_lossy().starts_with("expected") {
            fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
    }
    folder
}

/// A copy with a changed configuration.
pub fn changed(model: &str, change: impl Fn(&mut Value)) -> TempDir {
    with_json(copied(model), "config.json", change)
}

/// A folder with a changed file of JSON.
pub fn with_json(folder: TempDir, file: &str, change: impl Fn(&mut Value)) -> TempDir {
    let path = folder.path().join(file);
    let mut value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut value);
    fs::write(path, value.to_string()).unwrap();
    folder
}

/// A copy whose configuration has these fields, too.
pub fn with_fields(model: &str, fields: Value) -> TempDir {
    changed(model, |config| {
        for (key, value) in fields.as_object().unwrap() {
            config[key] = value.clone();
        }
    })
}

/// A copy whose configuration lacks a field.
pub fn without_field(model: &str, field: &str) -> TempDir {
    changed(model, |config| drop(config.as_object_mut().unwrap().remove(field)))
}

/// A folder in which a file is written, or written anew.
pub fn with_file(folder: TempDir, file: &str, contents: impl AsRef<[u8]>) -> TempDir {
    fs::write(folder.path().join(file), contents).unwrap();
    folder
}

/// A folder without a file.
pub fn without_file(folder: TempDir, file: &str) -> TempDir {
    fs::remove_file(folder.path().join(file)).unwrap();
    folder
}

/// Writes the tensors of a file again, under other names or without some.
pub fn rewrite(folder: &TempDir, rename: impl Fn(&str) -> Option<String>) {
    let file = folder.path().join(WEIGHTS);
    let bytes = fs::read(&file).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let kept: HashMap<String, TensorView<'_>> =
        tensors.iter().filter_map(|(name, view)| Some((rename(name)?, view))).collect();
    fs::write(&file, safetensors::serialize(&kept, None).unwrap()).unwrap();
}

/// A file of tensors: the length of the header, the header, the numbers.
pub fn tensor_file(header: &[u8], numbers: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header, numbers].concat()
}

/// The header of a file of tensors, and its numbers.
pub fn parts(file: &[u8]) -> (Map<String, Value>, Vec<u8>) {
    let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&file[8..8 + length]).unwrap();
    (header.as_object().unwrap().clone(), file[8 + length..].to_vec())
}

/// A copy with another header of its tensors, and other numbers.
pub fn with_header(model: &str, change: impl Fn(&mut Map<String, Value>, &mut Vec<u8>)) -> TempDir {
    let folder = copied(model);
    let path = folder.path().join(WEIGHTS);
    let (mut header, mut numbers) = parts(&fs::read(&path).unwrap());
    change(&mut header, &mut numbers);
    fs::write(path, tensor_file(Value::Object(header).to_string().as_bytes(), &numbers)).unwrap();
    folder
}
