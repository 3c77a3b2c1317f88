//! Errors about files that are not there: what is there instead, and the way out.

use crate::error::{Error, ErrorKind};
use crate::text::{all_of, choices, clip, listed_briefly, quoted};

/// The remedy for a file in the format of llama.cpp.
pub(super) const NO_GGUF: &str = ".gguf files are not read: download the folder that the file was made from, \
     with config.json and model.safetensors";

/// The remedy for a file that PyTorch has written.
pub(super) const CONVERT: &str = "rename it to pytorch_model.bin, and convert it to safetensors, in Python with transformers: \
     AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(FOLDER) (for BERT: AutoModelForMaskedLM)";

/// The names of an adapter, which changes the weights of another model, and of its configuration.
const ADAPTERS: [&str; 3] = ["adapter_model.safetensors", "adapter_model.bin", ADAPTER_CONFIG];
pub(super) const ADAPTER_CONFIG: &str = "adapter_config.json";

/// The file that says that a folder has an adapter, if one does.
pub(super) fn adapter(names: &[String]) -> Option<&'static str> {
    ADAPTERS.into_iter().find(|adapter| names.iter().any(|name| name == adapter))
}

/// The error for a folder that has an adapter alone; `base` is the model that it belongs to, where it says so.
pub(super) fn only_adapter(folder: &str, base: Option<&str>) -> Error {
    let base = base.map_or("its base model".to_string(), |base| format!("its base model, {}", clip(base)));
    Error::new("this folder has an adapter (LoRA), and no model.safetensors").of_kind(ErrorKind::File).in_source(folder).help(format!(
        "an adapter changes {base}: merge the two, in Python with peft: \
         AutoPeftModelForCausalLM.from_pretrained(FOLDER).merge_and_unload().save_pretrained(MERGED), and put the \
         tokenizer.json of the base model beside it"
    ))
}

/// Files of tokenizers that are not read.
const OTHER_TOKENIZER_FILES: [&str; 7] = [
    "tokenizer.model",
    "vocab.json",
    "merges.txt",
    "vocab.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tekken.json",
];

/// The files of tokenizers in a folder, other than `tokenizer.json`.
pub(super) fn other_tokenizer_files(names: &[String]) -> Vec<String> {
    let known = |name: &&String| OTHER_TOKENIZER_FILES.contains(&name.as_str());
    names.iter().filter(known).cloned().collect()
}

/// The error for a folder without `config.json`; `below` are the models that are in folders below it.
pub(super) fn no_config(folder: &str, names: &[String], below: &[String]) -> Error {
    let error = |what: &str| Error::new(what).of_kind(ErrorKind::File).in_source(folder);
    let has = |ending: &str| names.iter().any(|name| name.ends_with(ending));
    match below {
        [] if names.is_empty() => error("this folder is empty")
            .help("the download was not finished, or a model is in another folder"),
        [] if has(".gguf") => {
            error("there is no config.json in this folder, only a .gguf file").help(NO_GGUF)
        }
        [] if has(".safetensors") => error("there is no config.json in this folder").help(
            "download the config.json of the same model: the tensors alone do not say how they are used",
        ),
        [] => error("there is no config.json and no model.safetensors in this folder").help(format!(
            "name the folder that has them; this one has {}",
            listed_briefly(names.iter().map(String::as_str))
        )),
        [only] => error("there is no config.json in this folder")
            .help(format!("name the folder below it: {}", quoted(only))),
        several => error("there is no config.json in this folder").help(format!(
            "name one of the models below it: {}",
            choices(several.iter().map(String::as_str))
        )),
    }
}

/// The error for a folder without `model.safetensors` and without its index.
pub(super) fn no_weights(folder: &str, names: &[String]) -> Error {
    let has = |is: fn(&str) -> bool| names.iter().map(String::as_str).find(|name| is(name));
    let error = |what: String| Error::new(what).of_kind(ErrorKind::File).in_source(folder);
    let only = |file: &str| error(format!("there is no model.safetensors in this folder, only {file}"));
    if let Some(shard) = has(is_shard) {
        return error("there is no model.safetensors.index.json in this folder".into()).help(format!(
            "{shard} is one part of several; the index says which tensor is in \
             which part: download it too"
        ));
    }
    if let Some(file) = has(|name| name.ends_with(".safetensors")) {
        return only(file).help("if this file holds the whole model, rename it to model.safetensors");
    }
    if let Some(file) = has(is_of_transformers) {
        return only(file).help(
            "convert it to safetensors, in Python with transformers: \
             AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(FOLDER) (for BERT: AutoModelForMaskedLM)",
        );
    }
    if let Some(file) = has(|name| name.ends_with(".gguf")) {
        return only(file).help(NO_GGUF);
    }
    if let Some(file) = has(is_of_another_program) {
        return only(file).help(
            "attn reads weights as safetensors alone: download the model.safetensors of the model that this file was made from",
        );
    }
    error("there is no model.safetensors in this folder, and no model.safetensors.index.json".into()).help(
        format!(
            "download the weights too; this folder has {}",
            listed_briefly(names.iter().map(String::as_str))
        ),
    )
}

/// One of several parts: `model-00001-of-00002.safetensors`.
fn is_shard(name: &str) -> bool {
    name.ends_with(".safetensors") && name.contains("-of-")
}

/// Weights that `transformers` opens, and saves again as they are read here.
fn is_of_transformers(name: &str) -> bool {
    name.starts_with("pytorch_model") && (name.ends_with(".bin") || name.ends_with(".bin.index.json"))
}

/// Weights or whole models that other programs write.
fn is_of_another_program(name: &str) -> bool {
    let endings = [".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx", ".tflite", ".npz"];
    endings.iter().any(|ending| name.ends_with(ending))
}

/// The error for a folder without `tokenizer.json`, where text is to be read.
pub(super) fn no_tokenizer(folder: &str, others: &[String]) -> Error {
    let error = match others {
        [] => Error::new("there is no tokenizer.json in this folder"),
        others => Error::new(format!("there is no tokenizer.json in this folder, only {}", all_of(others))),
    };
    let error = error.of_kind(ErrorKind::File).in_source(folder);
    let instead = if others.is_empty() {
        "download the model's tokenizer.json"
    } else {
        "make the file, in Python with transformers: \
         AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)"
    };
    error.help(format!("give the ids of the tokens instead of text: --ids 464,3290, or {instead}"))
}
