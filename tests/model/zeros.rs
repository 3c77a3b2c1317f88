//! A model that computes for a while.

use std::fs;

use serde_json::{Map, json};
use tempfile::TempDir;

use crate::model::broken_folders::{WEIGHTS, tensor_file};

const WIDTH: usize = 128;
const LAYERS: usize = 40;
const VOCABULARY: usize = 7;

/// A GPT-2 of zeros, whose layers take a while; most of its file takes no room on the disk.
pub fn zeros(positions: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let config = json!({
        "model_type": "gpt2", "n_embd": WIDTH, "n_layer": LAYERS, "n_head": 8, "n_positions": positions,
        "vocab_size": VOCABULARY, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
    });
    fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    let mut header = Map::new();
    let mut end = 0;
    let mut add = |name: String, shape: &[usize]| {
        let start = end;
        end += 4 * shape.iter().product::<usize>();
        header.insert(name, json!({"dtype": "F32", "shape": shape, "data_offsets": [start, end]}));
    };
    add("wte.weight".into(), &[VOCABULARY, WIDTH]);
    add("wpe.weight".into(), &[positions, WIDTH]);
    for layer in 0..LAYERS {
        for (part, [rows, cols]) in [
            ("attn.c_attn", [WIDTH, 3 * WIDTH]),
            ("attn.c_proj", [WIDTH, WIDTH]),
            ("mlp.c_fc", [WIDTH, 4 * WIDTH]),
            ("mlp.c_proj", [4 * WIDTH, WIDTH]),
        ] {
            add(format!("h.{layer}.{part}.weight"), &[rows, cols]);
            add(format!("h.{layer}.{part}.bias"), &[cols]);
        }
        for norm in ["ln_1", "ln_2"] {
            add(format!("h.{layer}.{norm}.weight"), &[WIDTH]);
            add(format!("h.{layer}.{norm}.bias"), &[WIDTH]);
        }
    }
    add("ln_f.weight".into(), &[WIDTH]);
    add("ln_f.bias".into(), &[WIDTH]);
    let beginning = tensor_file(json!(header).to_string().as_bytes(), b"");
    let path = folder.path().join(WEIGHTS);
    fs::write(&path, &beginning).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len((beginning.len() + end) as u64).unwrap();
    folder
}

/// The weights that a token is multiplied with.
pub const WEIGHTS_PER_TOKEN: usize = LAYERS * 12 * WIDTH * WIDTH + VOCABULARY * WIDTH;
