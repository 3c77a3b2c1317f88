//! Folders without a file that is needed, and what is no folder.

use std::path::Path;

use attn::input::ModelFolder;

use super::{CONFIG, Folder, ONE, pairs};

#[test]
fn a_path_that_is_no_folder_is_refused_with_the_way_to_one() {
    let name_a_folder =
        "help: name a model's folder: it has config.json, model.safetensors and, for text, tokenizer.json";
    let folder = Folder::new().with("model.safetensors", "x").with("x.gguf", "x").with("notes.txt", "x");
    for inner in ["config.json", "model.safetensors"] {
        let expected =
            format!("FOLDER/{inner}: this is not a folder\n  help: name the folder of the file: FOLDER");
        assert_eq!(folder.refusal_of(inner), expected);
    }
    assert_eq!(
        folder.refusal_of("notes.txt"),
        format!("FOLDER/notes.txt: this is not a folder\n  {name_a_folder}")
    );
    assert!(folder.refusal_of("x.gguf").contains("help: .gguf files are not read"));
    let get_one = "this one gets GPT-2 (0.5 GB): hf download openai-community/gpt2 config.json model.safetensors \
                   tokenizer.json --local-dir gpt2; `words` needs no download";
    assert_eq!(
        folder.refusal_of("none"),
        format!("FOLDER/none: no such folder\n  {name_a_folder}; {get_one}")
    );
    let said = |path: &str| ModelFolder::open(Path::new(path)).unwrap_err().to_string();
    assert_eq!(said(""), format!("the name of the folder is empty\n  {name_a_folder}"));
    assert_eq!(said("tests/none"), format!("tests/none: no such folder\n  {name_a_folder}; {get_one}"));
    assert_eq!(
        said("some-owner/some-model"),
        "some-owner/some-model: no such folder\n  help: attn downloads nothing: first `hf download some-owner/some-model`, \
         then name the folder that it prints"
    );
}

#[test]
fn a_folder_without_a_configuration_says_what_is_there_and_where_the_model_is() {
    Folder::empty().assert_refused(
        "FOLDER: this folder is empty\n  help: the download was not finished, or a model is in another folder",
    );
    Folder::empty().with("notes.txt", "").with("images/x.png", "").assert_refused(
        "FOLDER: there is no config.json and no model.safetensors in this folder\n  help: name the folder that has them; this \
         one has `images`, `notes.txt`",
    );
    Folder::empty().with("model.safetensors", "").assert_refused(
        "FOLDER: there is no config.json in this folder\n  help: download the config.json of the same model: the tensors alone \
         do not say how they are used",
    );
    Folder::empty().with("gpt2-q4.gguf", "").assert_refused(
        "FOLDER: there is no config.json in this folder, only a .gguf file\n  help: .gguf files are not read: download the \
         folder that the file was made from, with config.json and model.safetensors",
    );
    let one = Folder::empty().with("gpt2/config.json", CONFIG).with("other/notes.txt", "");
    one.assert_refused(
        "FOLDER: there is no config.json in this folder\n  help: name the folder below it: FOLDER/gpt2",
    );
    one.with("qwen/config.json", CONFIG).assert_refused(
        "FOLDER: there is no config.json in this folder\n  help: name one of the models below it: FOLDER/gpt2 FOLDER/qwen",
    );
    let hub = Folder::empty().with("models--a--b/snapshots/0a1b/config.json", CONFIG);
    assert!(
        hub.refusal().ends_with("help: name the folder below it: FOLDER/models--a--b"),
        "{}",
        hub.refusal()
    );
}

#[test]
fn a_folder_without_weights_that_are_read_says_how_to_get_them() {
    let there_is = "FOLDER: there is no model.safetensors in this folder";
    for (name, help) in [
        (
            "pytorch_model.bin",
            "convert it to safetensors, in Python with transformers: \
             AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(FOLDER) (for BERT: AutoModelForMaskedLM)",
        ),
        (
            "model.onnx",
            "attn reads weights as safetensors alone: download the model.safetensors of the model that this file was made from",
        ),
        (
            "gpt2.gguf",
            ".gguf files are not read: download the folder that the file was made from, with config.json and \
             model.safetensors",
        ),
        ("consolidated.safetensors", "if this file holds the whole model, rename it to model.safetensors"),
    ] {
        let expected = format!("{there_is}, only {name}\n  help: {help}");
        Folder::new().with(name, "").assert_refused(&expected);
    }
    Folder::new().with(ONE, "").assert_refused(
        "FOLDER: there is no model.safetensors.index.json in this folder\n  help: model-00001-of-00002.safetensors is one part \
         of several; the index says which tensor is in which part: download it too",
    );
    Folder::new().assert_refused(
        "FOLDER: there is no model.safetensors in this folder, and no model.safetensors.index.json\n  help: download the \
         weights too; this folder has `config.json`",
    );
}

#[test]
fn an_adapter_names_its_base_model_and_the_way_to_merge_them() {
    let settings = r#"{"peft_type": "LORA", "base_model_name_or_path": "org/base"}"#;
    let alone = Folder::empty().with("adapter_model.safetensors", "").with("adapter_config.json", settings);
    let merge = "merge the two, in Python with peft: \
         AutoPeftModelForCausalLM.from_pretrained(FOLDER).merge_and_unload().save_pretrained(MERGED), and put the tokenizer.json \
         of the base model beside it";
    let there_is = "FOLDER: this folder has an adapter (LoRA), and no model.safetensors";
    alone
        .assert_refused(&format!("{there_is}\n  help: an adapter changes its base model, org/base: {merge}"));
    let nameless = Folder::new().with("adapter_model.safetensors", "");
    nameless.assert_refused(&format!("{there_is}\n  help: an adapter changes its base model: {merge}"));
    let beside =
        Folder::new().with("model.safetensors", pairs(&["a"], 0.0)).with("adapter_config.json", "{}");
    assert_eq!(beside.open().adapter, Some("adapter_config.json"));
}

#[test]
fn a_file_of_another_kind_is_known_whatever_its_name_says() {
    for (bytes, what) in [
        (&b"PK\x03\x04\0\0\x08\x08\0\0\0\0"[..], "a zip archive"),
        (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j", "a pickle"),
        (b"GGUF\x03\0\0\0\0\0\0\0", "a .gguf file"),
    ] {
        let said = Folder::new().with("model.safetensors", bytes).refusal();
        assert!(said.starts_with(&format!("FOLDER/model.safetensors: this is {what}")), "{said}");
        assert!(said.contains("whatever its name says\n  help: "), "{said}");
    }
}

#[test]
fn a_missing_tokenizer_is_an_error_only_where_text_is_read() {
    let folder = Folder::new().with("model.safetensors", pairs(&["a"], 0.0));
    let said = |folder: &Folder| {
        let model = folder.open();
        assert!(model.tokenizer.is_none());
        let said = model.required_tokenizer().unwrap_err().to_string();
        said.replace(folder.0.path().to_str().unwrap(), "FOLDER")
    };
    assert_eq!(
        said(&folder),
        "FOLDER: there is no tokenizer.json in this folder\n  help: give the ids of the tokens instead of text: --ids 464,3290, or \
         download the model's tokenizer.json"
    );
    let folder = folder.with("vocab.json", "{}").with("merges.txt", "");
    assert_eq!(
        said(&folder),
        "FOLDER: there is no tokenizer.json in this folder, only merges.txt and vocab.json\n  help: give the ids of the tokens \
         instead of text: --ids 464,3290, or make the file, in Python with transformers: \
         AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)"
    );
    for other in ["tokenizer.model", "vocab.txt"] {
        let folder = Folder::new().with("model.safetensors", pairs(&["a"], 0.0)).with(other, "");
        let said = said(&folder);
        assert!(said.contains(&format!("in this folder, only {other}\n")), "{said}");
    }
}
