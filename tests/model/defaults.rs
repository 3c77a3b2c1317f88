//! What a configuration leaves open is said.

use std::fs;
use std::path::Path;

use attn::model::Architecture;
use serde_json::{Value, json};

use crate::common::attn;

/// The defaults that are taken for the configuration of a small model with these fields changed; null takes one out.
fn assumed(model: &str, changes: Value) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(model).join("config.json");
    let mut config: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    for (key, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(config.as_object_mut().unwrap().remove(key)),
            value => config[key] = value.clone(),
        }
    }
    let read = Architecture::from_config(&config.to_string(), "config.json").unwrap();
    read.model.assumed.iter().map(|assumed| format!("{}: {}", assumed.field, assumed.value)).collect()
}

/// Expects these defaults among those that are said.
#[track_caller]
fn assert_said(said: &[String], wanted: &[&str]) {
    for want in wanted {
        assert!(said.iter().any(|said| said.contains(want)), "no {want} in {said:?}");
    }
}

#[test]
fn the_defaults_of_a_rope_scaling_are_said() {
    let scaling = json!({"rope_type": "yarn", "rope_theta": 10000.0, "original_max_position_embeddings": 8});
    let said = assumed(
        "llama-a",
        json!({"rope_parameters": scaling, "rope_theta": null, "rope_scaling": null, "max_position_embeddings": 32}),
    );
    assert_said(
        &said,
        &[
            "factor of the rope scaling yarn: 4 (32 / 8 positions)",
            "beta_fast of the rope scaling yarn: 32",
            "beta_slow of the rope scaling yarn: 1",
            "truncate of the rope scaling yarn: true",
        ],
    );
    let scaling = json!({
        "rope_type": "llama3", "rope_theta": 10000.0, "factor": 2.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    });
    let said = assumed(
        "llama-a",
        json!({"rope_parameters": scaling, "rope_theta": null, "rope_scaling": null, "max_position_embeddings": 32}),
    );
    assert_said(&said, &["original_max_position_embeddings of the rope scaling llama3: 32"]);
}

#[test]
fn the_layers_without_positions_and_the_form_of_gelu_are_said() {
    let said = assumed("smollm3-a", json!({"no_rope_layers": null, "no_rope_layer_interval": 2}));
    assert_said(&said, &["no_rope_layers: no position in every layer whose number 2 divides"]);
    let said = assumed("gemma-a", json!({"hidden_act": "gelu"}));
    assert_said(&said, &["hidden_activation: `gelu_pytorch_tanh`"]);
}

#[test]
fn the_overview_says_by_how_much_positions_are_scaled() {
    let mut kinds = 0;
    for folder in crate::model::fixtures::folders() {
        let config = fs::read_to_string(folder.join("config.json")).unwrap();
        for kind in ["linear", "dynamic", "llama3", "yarn", "longrope"] {
            if !config.contains(&format!("\"{kind}\"")) {
                continue;
            }
            kinds += 1;
            let out = attn(&format!("model {} --width 200", folder.display())).ok().out;
            let row = out.lines().find(|line| line.contains("rotary, base") && line.contains(" by "));
            assert!(row.is_some(), "{kind}: {out}");
        }
    }
    assert!(kinds >= 3, "{kinds}");
}

#[test]
fn a_folder_without_a_model_type_is_told_the_types_that_are_run() {
    let folder = tempfile::tempdir().unwrap();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/gpt2-a");
    fs::copy(model.join("model.safetensors"), folder.path().join("model.safetensors")).unwrap();
    let config = fs::read_to_string(model.join("config.json")).unwrap().replace("model_type", "kind");
    fs::write(folder.path().join("config.json"), config).unwrap();
    let refused = attn(&format!("model {}", folder.path().display())).run();
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("no `model_type`") && refused.err.contains("gpt2"), "{}", refused.err);
    for counted in ["mixtral", "deepseek", "qwen2_moe", "opt"] {
        assert!(!refused.err.contains(counted), "{}", refused.err);
    }
}

#[test]
fn a_line_break_among_the_tokens_is_shown_as_an_escape() {
    let folder = crate::model::addressed::byte_level();
    let place = folder.path().display().to_string();
    let out = attn("model").arg(place.clone()).arg("the\ncave the").arg("--all").ok().out;
    let tokens = &out[out.find("Tokens").unwrap()..out.find("The next token").unwrap()];
    let row = tokens.lines().find(|line| line.contains("   8   Ċ")).unwrap_or_else(|| panic!("{tokens}"));
    assert!(row.starts_with("│        2   \\n"), "{tokens}");
    let json = attn("model").arg(place).arg("the\ncave the").arg("--format").arg("json").ok().out;
    let value: Value = serde_json::from_str(&json).unwrap();
    let tables = value["tables"].as_array().unwrap();
    let tokens = tables.iter().find(|table| table["title"] == "Tokens").unwrap();
    assert_eq!(tokens["rows"][1]["token"], "\\n");
}

#[test]
fn a_screen_of_ascii_spells_bars_and_arrows() {
    let out = attn("model words 'the bat sleeps' --charset ascii").ok().out;
    assert!(out.is_ascii() && !out.contains('?'), "{out}");
    let latex = attn("model words 'the bat sleeps' --format latex").ok().out;
    assert!(!latex.contains(['█', '▏', '▌', '⁹']) && latex.contains("\\rule{"), "{latex}");
}

#[test]
fn an_explanation_in_single_precision_has_one_kind_of_minus() {
    let text = "model words 'the bat sleeps' --dtype f32";
    for cell in ["L1.QKV[2,5]", "L1.S_1[3,2]", "L1.X_normed[2,3]"] {
        let out = attn(&format!("{text} --explain {cell} --width 200")).ok().out;
        let note = out.lines().find(|line| line.contains("computed in f32: recorded")).unwrap();
        assert!(!note.contains('-') && !note.contains("0.0e0"), "{note}");
    }
}
