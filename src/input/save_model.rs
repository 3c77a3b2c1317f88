//! Writing a small model's folder, as this program, `transformers` and `tokenizers` open it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind, Result};
use crate::foreign::{from_path, visible};
use crate::model::Architecture;
use crate::params::Family;
use crate::tensor::Tensor;

use super::model_folder::{CHECKPOINTS, WEIGHTS, step_file, steps_in};
use super::put::{no_folder, put_files};
use super::save::{WritePermission, not_written, takes_files};
use super::save_binary::safetensors;
use super::table::Table;
use super::text::read_text;

/// The longest `config.json` of such a folder, in bytes; a longer one belongs to another model.
const LONGEST_CONFIG: u64 = 1 << 20;

/// The steps of such a model in PyTorch, for `transformers`.
const MODELING: (&str, &str) =
    ("modeling_attn_small.py", include_str!("../../models/attn-small/modeling_attn_small.py"));

/// Tensors under their names in the file.
pub type NamedTensors = Vec<(String, Tensor)>;

/// What the folder of a small model holds.
#[derive(Clone, Debug)]
pub struct ModelFiles {
    /// The settings, as `config.json` has them.
    pub config: Value,
    /// The characters that the model reads; the id of each is its place.
    pub symbols: Vec<String>,
    /// The weights.
    pub tensors: NamedTensors,
    /// The weights after some steps of the training, each with the number of its step.
    pub checkpoints: Vec<(usize, NamedTensors)>,
}

/// Writes a small model's folder: `config.json`, `tokenizer.json`, `model.safetensors`, `modeling_attn_small.py`, and
/// `checkpoints/step-150.safetensors` for each kept step. The folder is made if it is missing. In a folder of another small model each
/// file is replaced once the new one is whole, and checkpoints of other steps are removed; what else is in it stays.
///
/// # Errors
/// If nothing may be written, the folder has something else in it, the settings are not those of a small model, a symbol is not one
/// character or stands twice, or a file cannot be written.
pub fn save_model_folder(folder: &Path, files: &ModelFiles, writing: WritePermission) -> Result<()> {
    check_model_folder(folder, writing)?;
    let config = files.text_of_config()?;
    let tokenizer = files.tokenizer()?;
    let weights = bytes(&files.tensors)?;
    let kept: Vec<(String, Vec<u8>)> = files
        .checkpoints
        .iter()
        .map(|(step, tensors)| Ok((step_file(*step), bytes(tensors)?)))
        .collect::<Result<_>>()?;
    let mut all: Vec<(&str, &[u8])> = vec![
        // A folder with this file in it can be written again, whatever happens in between.
        ("config.json", config.as_bytes()),
        ("tokenizer.json", tokenizer.as_bytes()),
        (WEIGHTS, &weights),
        (MODELING.0, MODELING.1.as_bytes()),
    ];
    all.extend(kept.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())));
    put_files(folder, &all, true, writing)?;
    remove_other_steps(folder, &files.checkpoints.iter().map(|(step, _)| *step).collect())
}

/// Checks, before anything is computed, that [`save_model_folder`] may write into a folder.
///
/// # Errors
/// If nothing may be written, or there is something of this name that is neither an empty folder nor that of a small model.
pub fn check_model_folder(folder: &Path, writing: WritePermission) -> Result<()> {
    writing.check(folder)?;
    let refused = |what: &str| {
        Error::new(what)
            .of_kind(ErrorKind::File)
            .in_source(visible(&from_path(folder)))
            .help("name a folder that is new, empty, or one that attn wrote a model into")
    };
    let Ok(metadata) = fs::metadata(folder) else {
        // The folder will be made in the nearest one that is there.
        let there = folder.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(Path::new("."));
        let shown = visible(&from_path(folder)).into_owned();
        return takes_files(there).map_err(|error| no_folder(&shown, &error));
    };
    if !metadata.is_dir() {
        return Err(refused("this is a file, not a folder"));
    }
    let mut entries =
        fs::read_dir(folder).map_err(|error| refused(&format!("the folder cannot be read: {error}")))?;
    let config = folder.join("config.json");
    if entries.next().is_none() || is_small_model(&config) {
        return takes_files(folder).map_err(|error| not_written(&config, &error));
    }
    Err(refused("this folder has other files in it, and attn does not write a model among them"))
}

/// Returns true if a folder has a small model in it, which [`save_model_folder`] would replace.
pub fn holds_small_model(folder: &Path) -> bool {
    is_small_model(&folder.join("config.json"))
}

/// Returns true if a `config.json` is that of a small model.
fn is_small_model(config: &Path) -> bool {
    let config = read_text(config, LONGEST_CONFIG).ok();
    let config: Option<Value> = config.and_then(|text| serde_json::from_str(&text).ok());
    let stated = config.as_ref().and_then(|config| config.get("model_type")?.as_str());
    stated == Some(Family::AttnSmall.name())
}

/// Removes the weights of steps that are not among those that were kept last.
fn remove_other_steps(folder: &Path, kept: &BTreeSet<usize>) -> Result<()> {
    let inside = folder.join(CHECKPOINTS);
    for step in steps_in(folder).into_iter().filter(|step| !kept.contains(step)) {
        let path: PathBuf = folder.join(step_file(step));
        fs::remove_file(&path).map_err(|error| {
            Error::new(format!("this checkpoint of an earlier training cannot be removed: {error}"))
                .in_source(visible(&from_path(&path)))
                .help("remove it yourself: it does not belong to the model that was written now")
        })?;
    }
    if kept.is_empty() {
        // It may be missing, or have other files in it, which stay.
        let _ = fs::remove_dir(inside);
    }
    Ok(())
}

impl ModelFiles {
    /// The settings as text, which are those of a small model with as many tokens as there are symbols.
    fn text_of_config(&self) -> Result<String> {
        let text = pretty(&self.config)?;
        let model = Architecture::from_config(&text, "config.json")?.model;
        if model.family != Family::AttnSmall || model.vocabulary != self.symbols.len() as u64 {
            return Err(Error::new(format!(
                "the settings are of the family {} with {} tokens, and not of a small model with {} symbols",
                model.family.name(),
                model.vocabulary,
                self.symbols.len()
            )));
        }
        Ok(text)
    }

    /// A tokenizer that splits a text into its characters, spaces and ends of lines among them. There is no symbol for others.
    fn tokenizer(&self) -> Result<String> {
        let mut vocabulary = Map::new();
        for (id, symbol) in self.symbols.iter().enumerate() {
            let is_new = vocabulary.insert(symbol.clone(), json!(id)).is_none();
            if symbol.chars().count() != 1 || !is_new {
                return Err(Error::new(format!(
                    "symbol {id} is {symbol:?}: each must be one character, once"
                )));
            }
        }
        pretty(&json!({
            "version": "1.0",
            "truncation": null,
            "padding": null,
            "added_tokens": [],
            "normalizer": null,
            "pre_tokenizer": {
                "type": "Split", "pattern": {"Regex": "[\\s\\S]"}, "behavior": "Isolated", "invert": false
            },
            "post_processor": null,
            "decoder": {"type": "Fuse"},
            "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": ""}
        }))
    }
}

fn pretty(value: &Value) -> Result<String> {
    let text = serde_json::to_string_pretty(value);
    text.map(|text| text + "\n").map_err(|error| Error::new(format!("this cannot be written: {error}")))
}

/// Tensors as a file has them, in their type.
fn bytes(tensors: &NamedTensors) -> Result<Vec<u8>> {
    let tables: Vec<(&str, &dyn Table)> =
        tensors.iter().map(|(name, tensor)| (name.as_str(), tensor as &dyn Table)).collect();
    let mut bytes = Vec::new();
    safetensors(&mut bytes, &tables)
        .map_err(|error| Error::new(format!("the weights cannot be written: {error}")))?;
    Ok(bytes)
}
