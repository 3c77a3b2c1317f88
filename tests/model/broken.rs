//! Folders whose configuration and tensors do not fit: one clear error each.

use serde_json::Value;
use tempfile::TempDir;

use crate::common::attn;
use crate::model::broken_folders::{changed, rewrite};

#[track_caller]
fn refused(folder: &TempDir, words: &[&str]) {
    attn("model").arg(folder.path().display().to_string()).arg("--ids").arg("1,2,3").refused(words);
}

#[test]
fn another_family_is_refused_by_name_with_the_list_of_those_that_are_run() {
    let folder = changed("llama-a", |config| config["model_type"] = "mamba".into());
    refused(&folder, &["`mamba`", "gpt2", "smollm3"]);
    let counted_only = changed("llama-a", |config| config["model_type"] = "mixtral".into());
    refused(&counted_only, &["`mixtral`", "are not run here"]);
}

#[test]
fn rotary_positions_are_never_guessed() {
    let no_base = changed("mistral-a", |config| drop(config.as_object_mut().unwrap().remove("rope_theta")));
    refused(&no_base, &["no `rope_theta`"]);
    let unknown = changed("mistral-a", |config| {
        config["rope_scaling"] = serde_json::json!({"type": "spiral", "factor": 2.0})
    });
    refused(&unknown, &["rope type `spiral`", "longrope"]);
    let no_factor =
        changed("mistral-a", |config| config["rope_scaling"] = serde_json::json!({"type": "linear"}));
    refused(&no_factor, &["linear has no `factor`"]);
    // The class default of the first Llama is printed.
    let shown = attn("model tests/models/llama-a").ok().out;
    assert!(shown.contains("rope_theta is not stated; 10000 (class default"), "{shown}");
}

#[test]
fn a_configuration_of_another_model_is_found_out() {
    let wider = changed("gpt2-c", |config| config["n_embd"] = 28.into());
    refused(&wider, &["in the file, but the configuration makes it"]);
    let deeper = changed("llama-a", |config| config["num_hidden_layers"] = 9.into());
    refused(&deeper, &["missing", "model.layers."]);
    let shallower = changed("llama-a", |config| config["num_hidden_layers"] = 1.into());
    refused(&shallower, &["belong to no Llama model", "model.layers.1."]);
    let activation = changed("llama-a", |config| config["hidden_act"] = "cosine".into());
    refused(&activation, &["`hidden_act` is `cosine`"]);
}

#[test]
fn a_missing_and_a_surplus_tensor_are_named() {
    let same = |_: &mut Value| {};
    let missing = changed("qwen3-a", same);
    rewrite(&missing, |name| (!name.ends_with("layers.1.self_attn.q_norm.weight")).then(|| name.to_string()));
    refused(&missing, &["1 tensor of the model is missing", "model.layers.1.self_attn.q_norm.weight"]);
    let renamed = changed("qwen3-a", same);
    rewrite(&renamed, |name| Some(name.replace("layers.1.mlp.up_proj", "layers.1.mlp.upp_proj")));
    refused(&renamed, &["model.layers.1.mlp.up_proj.weight", "upp_proj"]);
}

#[test]
fn an_absent_head_is_tied_and_the_line_says_so() {
    let folder = changed("llama-a", |_| {});
    rewrite(&folder, |name| (name != "lm_head.weight").then(|| name.to_string()));
    let shown = attn("model").arg(folder.path().display().to_string()).ok().out;
    assert!(shown.contains("`lm_head.weight` is not in the file: the head is the embedding"), "{shown}");
}

#[test]
fn an_encoder_without_a_head_has_no_logits() {
    attn("model tests/models/bert-b --ids 1,2,3").ok();
    attn("model tests/models/bert-b --ids 1,2,3 --only logits").refused(&["no head"]);
    attn("model tests/models/bert-a --ids 1,2,3 --next 2").refused(&["does not write texts"]);
}
