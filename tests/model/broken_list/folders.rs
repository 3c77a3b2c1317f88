//! Shards, links, and folders without a model that is run.

use std::fs;

use serde_json::{Value, json};

use super::{assert_refused, case};
use crate::model::broken_folders::{
    INDEX, WEIGHTS, copied, with_fields, with_file, with_json, without_field, without_file,
};

const SHARD: &str = "model-00002-of-00003.safetensors";

#[test]
fn shards_and_their_index() {
    let place = "FOLDER/model.safetensors.index.json: ";
    let index = |change: &dyn Fn(&mut Value)| with_json(copied("llama-b"), INDEX, change);
    let first = |value: &str| {
        index(&|index| {
            let map = index["weight_map"].as_object_mut().unwrap();
            *map.values_mut().next().unwrap() = value.into();
        })
    };
    let outside = "outside of the folder, and such files are not opened";
    let whole = fs::read(copied("llama-b").path().join(SHARD)).unwrap();
    let cut_off = with_file(copied("llama-b"), SHARD, &whole[..whole.len() - 5]);
    let lacking = index(&|index| index["weight_map"]["model.extra.weight"] = SHARD.into());
    assert_refused(
        [
            case(
                "a missing shard",
                without_file(copied("llama-b"), SHARD),
                &[place, SHARD, "download this file too"],
            ),
            case(
                "a shard above the folder",
                first("../x.safetensors"),
                &[place, "`../x.safetensors`", outside],
            ),
            case("a shard that goes up inside", first("sub/../../x"), &[place, outside]),
            case("a shard by its absolute path", first("/etc/passwd"), &[place, "`/etc/passwd`", outside]),
            case("a shard with a drive", first("C:x"), &[place, outside]),
            case("a shard without a name", first(""), &[place, outside]),
            case(
                "a tensor that its shard lacks",
                lacking,
                &[place, "`model.extra.weight`", "does not have it"],
            ),
            case("a shard that is cut off", cut_off, &[SHARD, "bytes of tensors, but"]),
            case(
                "no index",
                without_file(copied("llama-b"), INDEX),
                &["FOLDER: there is no model.safetensors.index.json"],
            ),
            case(
                "an index that is not JSON",
                with_file(copied("llama-b"), INDEX, "{"),
                &[place, "cannot be read"],
            ),
            case("an index without a map", index(&|index| *index = json!({})), &[place, "no `weight_map`"]),
        ],
        11,
    );
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_named() {
    let dangling = without_file(copied("llama-b"), SHARD);
    std::os::unix::fs::symlink("nowhere", dangling.path().join(SHARD)).unwrap();
    assert_refused(
        [case("a link to nothing", dangling, &[SHARD, "this is a link to a file that is not there"])],
        1,
    );
}

#[test]
fn folders_that_hold_no_model_that_is_run() {
    let only = |file: &str| with_file(without_file(copied("mistral-a"), WEIGHTS), file, "x");
    let empty = || tempfile::tempdir().unwrap();
    let of_type = |name: Value| with_fields("mistral-a", json!({"model_type": name}));
    let run = "help: the types that are run: gpt2, llama, mistral";
    let method = json!({"quantization_config": {"quant_method": "gptq"}});
    let no_gguf = ".gguf files are not read";
    assert_refused(
        [
            case(
                "quantised",
                with_fields("mistral-a", method),
                &["FOLDER/config.json: this checkpoint is quantised: gptq"],
            ),
            case(
                "pickled",
                only("pytorch_model.bin"),
                &["FOLDER: ", "only pytorch_model.bin", "convert it to safetensors"],
            ),
            case(
                "of another program",
                only("model.pth"),
                &["FOLDER: ", "only model.pth", "download the model.safetensors"],
            ),
            case("gguf", only("model.gguf"), &["FOLDER: ", "only model.gguf", no_gguf]),
            case("the path of a gguf file", only("model.gguf"), &["this is not a folder", no_gguf])
                .at("model.gguf"),
            case(
                "the path of a file",
                copied("mistral-a"),
                &["this is not a folder", "name the folder of the file: FOLDER"],
            )
            .at("config.json"),
            case("another family", of_type(json!("mamba")), &["FOLDER/config.json: ", "`mamba`", run]),
            case(
                "a family that is only counted",
                of_type(json!("mixtral")),
                &["FOLDER/config.json: ", "`mixtral`", run],
            ),
            case(
                "a family that is a number",
                of_type(json!(5)),
                &["FOLDER/config.json: `model_type` is `5`"],
            ),
            case(
                "no family",
                without_field("mistral-a", "model_type"),
                &["FOLDER/config.json: ", "no `model_type`"],
            ),
            case("an empty folder", empty(), &["FOLDER: this folder is empty"]),
            case("no such folder", empty(), &["nowhere: no such folder"]).at("nowhere"),
            case(
                "no configuration",
                without_file(copied("mistral-a"), "config.json"),
                &["FOLDER: there is no config.json"],
            ),
        ],
        13,
    );
}

#[cfg(unix)]
#[test]
fn files_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let cases = ["config.json", WEIGHTS, "tokenizer.json"].map(|file| {
        let folder = copied("words");
        fs::set_permissions(folder.path().join(file), fs::Permissions::from_mode(0o000)).unwrap();
        let words = [&format!("FOLDER/{file}: permission denied"), "check its permissions"];
        case("no permission", folder, &words).of_text("the bat")
    });
    if fs::read(cases[0].folder.path().join("config.json")).is_ok() {
        // The superuser reads every file.
        return;
    }
    assert_refused(cases, 3);
}
