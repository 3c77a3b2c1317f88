//! The embedding and the head of a checkpoint, stored in several ways: the logits are those of `transformers` in
//! `tests/models/tied.safetensors`, and the notes say which tensor is used.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensors, serialize};
use tempfile::TempDir;

use crate::common::attn;
use crate::model::broken_folders::{WEIGHTS, changed, with_file};

const IDS: &str = "5,9,3,17,4,40";
const EMBEDDINGS: [&str; 4] =
    ["embed_tokens.weight", "wte.weight", "embed_in.weight", "word_embeddings.weight"];
const BIASES: [&str; 2] = ["cls.predictions.bias", "cls.predictions.decoder.bias"];

/// A tensor of its own: type, shape, bytes.
type Owned = (Dtype, Vec<usize>, Vec<u8>);

/// The numbers of `tied.py`, in the type and the shape of another tensor.
fn numbers((dtype, shape, _): &Owned) -> Owned {
    let (rows, cols) = if shape.len() == 2 { (shape[0], shape[1]) } else { (1, shape[0]) };
    let cell = |at: usize| ((7 * (at / cols) + 13 * (at % cols)) % 17) as f32 / 8.0 - 1.0;
    let bytes = |x: f32| match dtype {
        Dtype::F32 => x.to_le_bytes().to_vec(),
        Dtype::BF16 => half::bf16::from_f32(x).to_le_bytes().to_vec(),
        Dtype::F16 => half::f16::from_f32(x).to_le_bytes().to_vec(),
        other => panic!("{other:?}"),
    };
    (*dtype, shape.clone(), (0..rows * cols).flat_map(|at| bytes(cell(at))).collect())
}

/// A model whose embedding and head are stored in this way.
fn stored(model: &str, kind: &str) -> TempDir {
    let folder = changed(model, |config| config["tie_word_embeddings"] = true.into());
    let mut tensors: HashMap<String, Owned> = HashMap::new();
    let mut parts: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    parts.retain(|path| path.extension().is_some_and(|ending| ending == "safetensors"));
    for part in parts {
        let bytes = fs::read(&part).unwrap();
        for (name, view) in SafeTensors::deserialize(&bytes).unwrap().iter() {
            tensors.insert(name.to_string(), (view.dtype(), view.shape().to_vec(), view.data().to_vec()));
        }
        fs::remove_file(part).unwrap();
    }
    let embedding =
        tensors.keys().find(|key| EMBEDDINGS.iter().any(|end| key.ends_with(end))).unwrap().clone();
    let head = match model {
        "neox-a" => "embed_out.weight",
        _ if model.starts_with("bert") => "cls.predictions.decoder.weight",
        _ => "lm_head.weight",
    };
    let table = tensors[&embedding].clone();
    tensors.remove(head);
    match kind {
        "differs" => drop(tensors.insert(head.to_string(), numbers(&table))),
        "copy" => drop(tensors.insert(head.to_string(), table)),
        "swap" => {
            tensors.remove(&embedding);
            tensors.insert(head.to_string(), table);
        }
        _ => {
            let biases: Vec<Owned> = BIASES.iter().filter_map(|bias| tensors.remove(*bias)).collect();
            tensors.insert(BIASES[1].to_string(), numbers(&biases[0]));
            if kind == "bias" {
                tensors.insert(BIASES[0].to_string(), biases[0].clone());
            }
        }
    }
    let views = tensors.iter().map(|(name, (dtype, shape, bytes))| {
        (name.clone(), TensorView::new(*dtype, shape.clone(), bytes).unwrap())
    });
    let file = serialize(views, None).unwrap();
    with_file(folder, WEIGHTS, file)
}

fn shown(folder: &TempDir, more: &str) -> String {
    attn(&format!("model --width 300 {more}")).arg(folder.path().display().to_string()).ok().out
}

#[test]
fn the_logits_are_those_of_transformers_however_the_head_is_stored() {
    let file = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/tied.safetensors")).unwrap();
    let expected = SafeTensors::deserialize(&file).unwrap();
    for (case, view) in expected.iter() {
        let (model, kind) = case.split_once(' ').unwrap();
        let folder = stored(model, kind);
        let place = folder.path().join("logits.npy");
        let save = format!("logits={}", place.display());
        shown(&folder, &format!("--ids {IDS} --dtype f64 --save {save}"));
        let found = fs::read(place).unwrap();
        let number = |x: &[u8]| f64::from_le_bytes(x.try_into().unwrap());
        let wanted: Vec<f64> = view.data().chunks(8).map(number).collect();
        let found: Vec<f64> = found[found.len() - view.data().len()..].chunks(8).map(number).collect();
        let largest = wanted.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        let far = wanted.iter().zip(&found).fold(0.0, |far: f64, (a, b)| far.max((a - b).abs()));
        assert!(far <= 1e-9 * largest, "{case}: {far:e} of {largest}");
    }
    assert_eq!(expected.len(), 25);
}

#[test]
fn a_tensor_is_called_a_copy_only_if_its_numbers_are_the_same() {
    for model in ["llama-a", "gpt2-c", "gemma2-a", "qwen3-b", "neox-a", "bert-a"] {
        let copy = shown(&stored(model, "copy"), "");
        assert!(copy.contains("both are tied") && copy.contains("`, a copy of `"), "{model}: {copy}");
        let differs = shown(&stored(model, "differs"), "");
        assert!(differs.contains("W_U, weights of its own"), "{model}: {differs}");
        assert!(differs.contains("` is the head: its numbers differ from those of `"), "{model}: {differs}");
        assert!(!differs.contains("a copy of"), "{model}: {differs}");
        // With a text it is said as well.
        let read = shown(&stored(model, "differs"), &format!("--ids {IDS} --format json"));
        assert!(read.contains("is the head: its numbers differ"), "{model}: {read}");
        let swap = shown(&stored(model, "swap"), "");
        assert!(swap.contains("is not in the file: the embedding is the head, `"), "{model}: {swap}");
    }
    let bias = shown(&stored("bert-a", "bias"), "");
    assert!(bias.contains("`cls.predictions.bias` has other numbers, and no step reads it"), "{bias}");
    // One other number at the end of a large table is enough.
    let folder = stored("llama-a", "copy");
    let path = folder.path().join(WEIGHTS);
    let mut file = fs::read(&path).unwrap();
    let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&file[8..8 + length]).unwrap();
    let end = header["lm_head.weight"]["data_offsets"][1].as_u64().unwrap() as usize;
    file[8 + length + end - 4..8 + length + end].copy_from_slice(&7.5_f32.to_le_bytes());
    fs::write(&path, file).unwrap();
    let said = shown(&folder, "");
    assert!(said.contains("` is the head: its numbers differ"), "{said}");
}

#[test]
fn the_parameters_are_counted_as_the_head_was_found() {
    let count = |kind: &str| {
        let out = shown(&stored("llama-a", kind), "--format json");
        let value: serde_json::Value = serde_json::from_str(&out).unwrap();
        let tables = value["tables"].as_array().unwrap();
        let table = tables.iter().find(|table| table["title"] == "Parameters").unwrap();
        let row = table["rows"].as_array().unwrap().iter().find(|row| row["part"] == "all").unwrap();
        row["count"].as_u64().unwrap()
    };
    let config = fs::read_to_string("tests/models/llama-a/config.json").unwrap();
    let config: serde_json::Value = serde_json::from_str(&config).unwrap();
    let table = config["vocab_size"].as_u64().unwrap() * config["hidden_size"].as_u64().unwrap();
    assert_eq!(count("differs"), count("copy") + table);
    assert_eq!(count("swap"), count("copy"));
}

#[test]
fn the_rounded_factor_of_the_embedding_is_told() {
    // √20 = 4.472136; bfloat16 has 8 bits: 4.46875.
    let said = attn("model tests/models/gemma-a --width 300").ok().out;
    assert!(
        said.contains("E is the embedding times 4.46875: √d = √20 = 4.472136, rounded to bfloat16"),
        "{said}"
    );
    let json = attn("model tests/models/gemma-a --ids 1,2 --format json").ok().out;
    assert!(json.contains("4.46875"), "{json}");
    let single = attn("model tests/models/gemma-b --width 300").ok().out;
    assert!(!single.contains("E is the embedding times"), "{single}");
}
