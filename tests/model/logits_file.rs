//! `--save logits=FILE`: rows that are computed while they are written are those of the whole pass.

use std::path::Path;

use serde_json::Value;

use crate::common::attn;

const TEXT: &str = "the bat sleeps in the cave . it is";

/// The numbers of a file that was saved as JSON.
fn numbers(file: &Path) -> Vec<Vec<f64>> {
    let value: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let rows = value["values"].as_array().expect("rows of numbers");
    let row = |row: &Value| row.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    rows.iter().map(row).collect()
}

#[test]
fn logits_that_are_only_saved_are_those_that_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    for dtype in ["f32", "f64"] {
        let file = |name: &str| folder.path().join(format!("{name}-{dtype}.json"));
        let save = |path: &Path, more: &[&str]| {
            let saving = format!("logits={}", path.display());
            let command = ["words", TEXT, "--dtype", dtype, "--save", &saving];
            let mut attn = attn("model");
            for word in command.iter().chain(more) {
                attn = attn.arg(*word);
            }
            attn.ok();
        };
        save(&file("alone"), &[]);
        // Where they are shown, all rows are one step of the graph.
        save(&file("shown"), &["--only", "logits"]);
        let alone = numbers(&file("alone"));
        assert_eq!((alone.len(), alone[0].len()), (9, 101));
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
        let shown = numbers(&file("shown"));
        assert!(alone.iter().zip(&shown).all(|(a, b)| same(a, b)), "{dtype}: the rows differ");
    }
}

#[test]
fn a_model_without_a_head_has_no_logits_to_save() {
    let folder = tempfile::tempdir().unwrap();
    let saving = format!("logits={}", folder.path().join("a.npy").display());
    let bert = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/bert-b");
    let result = attn("model").arg(bert).arg("--ids").arg("1,2").arg("--save").arg(&saving);
    result.refused(&["no head", "no logits"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}
