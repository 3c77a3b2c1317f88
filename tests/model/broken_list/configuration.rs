//! Configurations that contradict themselves or the tensors.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{assert_refused, case};
use crate::model::broken_folders::{changed, copied, with_fields, with_file};

const PLACE: &str = "FOLDER/config.json: ";

fn mistral(fields: Value) -> TempDir {
    with_fields("mistral-a", fields)
}

/// `mistral-a` with a part of the configuration's text replaced, which need not be JSON.
fn with_text(from: &str, to: &str) -> TempDir {
    let folder = copied("mistral-a");
    let text = fs::read_to_string(folder.path().join("config.json")).unwrap();
    assert!(text.contains(from), "{text}");
    with_file(folder, "config.json", text.replacen(from, to, 1))
}

#[test]
fn sizes_that_do_not_fit_together() {
    let by_heads = with_fields("gpt2-c", json!({"n_head": 3}));
    let by_groups = |groups: u32| with_fields("llama-b", json!({"num_key_value_heads": groups}));
    let layers = |layers: u64| mistral(json!({"num_hidden_layers": layers}));
    let few_kinds = with_fields("gemma3-a", json!({"layer_types": ["full_attention"]}));
    let no_kinds = with_fields("gemma3-a", json!({"layer_types": vec!["round"; 7]}));
    let words_of_more = ["FOLDER: 9 tensors of the model are missing", "model.layers.3."];
    let words_of_fewer = ["FOLDER: 9 tensors of the file belong to no Mistral model", "model.layers.2."];
    let words_of_vocabulary = ["FOLDER: `model.embed_tokens.weight` is 67×20", "68×20"];
    assert_refused(
        [
            case("heads that do not divide the width", by_heads, &[PLACE, "`n_embd` 14", "`n_head` 3"]),
            case(
                "groups that do not divide the heads",
                by_groups(3),
                &[PLACE, "4 query heads cannot share 3"],
            ),
            case("more groups than heads", by_groups(8), &[PLACE, "4 query heads cannot share 8"]),
            case(
                "an odd head",
                mistral(json!({"head_dim": 9})),
                &[PLACE, "a head has 9 columns", "pairs of columns"],
            ),
            case("another vocabulary", mistral(json!({"vocab_size": 68})), &words_of_vocabulary),
            case("more layers than tensors", layers(4), &words_of_more),
            case("fewer layers than tensors", layers(2), &words_of_fewer),
            case("2^60 layers", layers(1 << 60), &[PLACE, "more than 10000"]),
            case("too few kinds of layers", few_kinds, &[PLACE, "`layer_types` lists 1 layer"]),
            case("unknown kinds of layers", no_kinds, &[PLACE, "entry 1 of `layer_types` is `\"round\"`"]),
        ],
        10,
    );
}

#[test]
fn sizes_that_are_none() {
    let sizes = [
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "vocab_size",
        "head_dim",
    ];
    let mut cases = Vec::new();
    for key in sizes {
        for (kind, value) in [
            ("a negative size", json!(-1)),
            ("a size of 0", json!(0)),
            ("a size beyond 64 bits", json!(1e300)),
            ("a size as text", json!("24")),
            ("a size with a fraction", json!(2.5)),
            ("a size that is a list", json!([1])),
        ] {
            cases.push(case(
                kind,
                mistral(json!({key: value})),
                &[PLACE, &format!("`{key}` is "), "not a size"],
            ));
        }
        if key != "num_hidden_layers" {
            let words = ["FOLDER: `model.", " in the file, but the configuration makes it"];
            cases.push(case("a huge size", mistral(json!({key: 1u64 << 53})), &words));
            let words = [PLACE, "more than can be counted in 64 bits"];
            cases.push(case("a size of 2^63", mistral(json!({key: 1u64 << 63})), &words));
        }
    }
    assert_refused(cases, 46);
}

#[test]
fn texts_that_are_no_configuration_and_fields_that_are_no_numbers() {
    let written = |text: &str| with_file(copied("mistral-a"), "config.json", text);
    let nested = |family: &str| {
        changed("llama-a", |config| *config = json!({"model_type": family, "text_config": config.clone()}))
    };
    let epsilon = |value: Value| mistral(json!({"rms_norm_eps": value}));
    let not_json = "this is not JSON";
    assert_refused(
        [
            case("empty", written(""), &[PLACE, "the file is empty"]),
            case("a list", written("[1]"), &[PLACE, "not a JSON object"]),
            case("deep", written(&"[".repeat(100_000)), &["FOLDER/config.json:", "recursion limit exceeded"]),
            case("a field twice", with_text("{", "{\"vocab_size\": 67, "), &["`vocab_size` appears twice"]),
            case("a NaN epsilon", with_text("1e-05", "NaN"), &["FOLDER/config.json:", not_json]),
            case("an infinite epsilon", with_text("1e-05", "1e999"), &[not_json, "number out of range"]),
            case(
                "an epsilon in words",
                epsilon(json!("nan")),
                &[PLACE, "`rms_norm_eps` is `\"nan\"`, not a number"],
            ),
            case(
                "a negative epsilon",
                epsilon(json!(-1e-5)),
                &[PLACE, "is -0.00001, but it must not be negative"],
            ),
            case(
                "an unknown activation",
                mistral(json!({"hidden_act": "cosine"})),
                &[PLACE, "`hidden_act` is `cosine`"],
            ),
            case(
                "a decoder that reads an encoder",
                with_fields("gpt2-c", json!({"add_cross_attention": true})),
                &[PLACE, "`add_cross_attention`"],
            ),
            case("nested", nested("llama"), &[PLACE, "no `hidden_size`", "`text_config`"]),
            case("nested in another family", nested("llava"), &[PLACE, "`llava`"]),
        ],
        12,
    );
}
