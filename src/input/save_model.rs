//! Writing a small model's folder, as this program, `transformers` and `tokenizers` open it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind, Result};
use crate::foreign::from_path;
use crate::json_tree::tree;
use crate::model::Architecture;
use crate::params::Family;
use crate::tensor::Tensor;

use super::draft::{FolderDraft, folder_of, real};
use super::model_folder::{CHECKPOINTS, WEIGHTS, step_file};
use super::open::{examined, file_error, path_text};
use super::save::{Table, WritePermission, no_folder, not_written, read_text, safetensors, takes_files};

/// The longest `config.json` of such a folder, in bytes; a longer one belongs to another model.
const LONGEST_CONFIG: u64 = 1 << 20;

const CONFIG: &str = "config.json";
const TOKENIZER: &str = "tokenizer.json";

/// The steps of such a model in PyTorch, for `transformers`.
const MODELING: (&str, &str) =
    ("modeling_attn_small.py", include_str!("../../models/attn-small/modeling_attn_small.py"));

/// Tensors under their names in the file.
pub type NamedTensors = Vec<(String, Tensor)>;

/// What the folder of a small model holds, beside its checkpoints.
#[derive(Clone, Debug)]
pub struct ModelFiles {
    /// The settings, as `config.json` has them.
    pub config: Value,
    /// The characters that the model reads; the id of each is its place.
    pub symbols: Vec<String>,
    /// The weights.
    pub tensors: NamedTensors,
}

/// A small model's folder that is being written: `config.json`, `tokenizer.json`, `model.safetensors`, `modeling_attn_small.py`, and
/// `checkpoints/step-150.safetensors` for each kept step. It is there whole or not at all, and takes the place of another small model as
/// one thing; what else was in that folder moves into the new one.
pub struct ModelDraft {
    folder: PathBuf,
    draft: FolderDraft,
}

impl ModelDraft {
    /// # Errors
    /// If nothing may be written, the folder has something else in it, or the new one cannot be made.
    pub fn beside(folder: &Path, writing: WritePermission) -> Result<ModelDraft> {
        check_model_folder(folder, writing)?;
        let draft = FolderDraft::beside(folder).map_err(|error| no_folder(&path_text(folder), &error))?;
        Ok(ModelDraft { folder: folder.to_path_buf(), draft })
    }

    /// Keeps the weights after a step.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn keep(&self, step: usize, tensors: &NamedTensors) -> Result<()> {
        self.write(&step_file(step), &bytes(tensors)?)
    }

    /// Writes the model, and gives the folder its name.
    ///
    /// # Errors
    /// If the settings are not those of a small model, a symbol is not one character or stands twice, the folder has something else in
    /// it by now, or a file cannot be written. What was in the folder then is as it was.
    pub fn finish(self, files: &ModelFiles) -> Result<()> {
        let (config, tokenizer) = (files.text_of_config()?, files.tokenizer()?);
        self.write(CONFIG, config.as_bytes())?;
        self.write(TOKENIZER, tokenizer.as_bytes())?;
        self.write(WEIGHTS, &bytes(&files.tensors)?)?;
        self.write(MODELING.0, MODELING.1.as_bytes())?;
        let ModelDraft { folder, draft } = self;
        check_model_folder(&folder, WritePermission::Allowed)?;
        let target = real(&folder);
        draft.persist(Some(&|left: &Path| clean(left, &target))).map_err(|error| not_written(&folder, &error))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let written = self.draft.write(name, |file| Ok(file.write_all(bytes)?));
        written.map_err(|error| not_written(&self.folder.join(name), &*error).of_kind(ErrorKind::File))
    }
}

/// Removes a model from a folder that has lost its name, and moves everything else to where the model is now.
fn clean(left: &Path, target: &Path) {
    let own = |name: &Path| {
        let is_step = |name: &str| name.starts_with("step-") && name.ends_with(".safetensors");
        match name.to_str() {
            Some(name) if name.starts_with(CHECKPOINTS) => {
                Path::new(name).file_name().is_some_and(|name| is_step(&name.to_string_lossy()))
            }
            Some(name) => [CONFIG, TOKENIZER, WEIGHTS, MODELING.0].contains(&name),
            None => false,
        }
    };
    for inner in [CHECKPOINTS, ""] {
        for entry in fs::read_dir(left.join(inner)).into_iter().flatten().flatten() {
            let name = Path::new(inner).join(entry.file_name());
            let (old, new) = (left.join(&name), target.join(&name));
            // What cannot be removed or moved stays where it is.
            if own(&name) {
                let _ = fs::remove_file(old);
            } else if fs::remove_dir(&old).is_err()
                && examined(&new, fs::symlink_metadata(&new)).is_ok_and(|new| new.is_none())
            {
                let _ = fs::create_dir_all(folder_of(&new)).and_then(|()| fs::rename(old, new));
            }
        }
    }
    let _ = fs::remove_dir(left);
}

/// Checks, before anything is computed, that a [`ModelDraft`] may take the place of a folder.
///
/// # Errors
/// If nothing may be written, the name is empty or cannot be examined, or there is something of this name that is neither an empty folder
/// nor that of a small model, or that no folder can take the place of.
pub fn check_model_folder(folder: &Path, writing: WritePermission) -> Result<()> {
    writing.check(folder)?;
    let refused = |what: &str| file_error(path_text(folder), what);
    let another = "name a folder that is new, empty, or one that attn wrote a model into";
    if from_path(folder).trim().is_empty() {
        return Err(refused("the name of the folder is blank").help(another));
    }
    let Some(metadata) = examined(folder, fs::metadata(folder))? else {
        // The folder will be made in the nearest one that is there.
        let there = folder.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(Path::new("."));
        return takes_files(there).map_err(|error| no_folder(&path_text(folder), &error));
    };
    if !metadata.is_dir() {
        return Err(refused("this is a file, not a folder").help(another));
    }
    let mut entries = fs::read_dir(folder)
        .map_err(|error| refused(&format!("the folder cannot be read: {error}")).help(another))?;
    if entries.next().is_some() && !holds_small_model(folder) {
        return Err(refused("this folder has other files in it, and attn does not write a model among them")
            .help(another));
    }
    let beside = "a model is a whole new folder that takes the place of the one of its name: name a new folder in it, such as model";
    let real = real(folder);
    if fs::canonicalize(".").is_ok_and(|current| current.starts_with(&real)) {
        return Err(refused("this is the folder that you are in, and cannot be replaced").help(beside));
    }
    if is_mounted(&metadata, folder_of(&real)) {
        return Err(refused("this is a file system of its own, and cannot be replaced").help(beside));
    }
    takes_files(folder_of(&real)).map_err(|error| not_written(folder, &error))
}

/// Whether a folder is on another file system than the one above it.
#[cfg(unix)]
fn is_mounted(folder: &fs::Metadata, above: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(above).is_ok_and(|above| above.dev() != folder.dev())
}

#[cfg(not(unix))]
fn is_mounted(_: &fs::Metadata, _: &Path) -> bool {
    false
}

/// Returns true if a folder has a small model in it, which a [`ModelDraft`] would replace.
pub fn holds_small_model(folder: &Path) -> bool {
    let config = read_text(&folder.join(CONFIG), LONGEST_CONFIG).ok();
    let config = config.and_then(|text| {
        tree(text.as_bytes(), &[&["model_type"]], |error| Error::new(error.to_string())).ok()
    });
    let stated = config.as_ref().and_then(|config| config.get("model_type")?.as_str());
    stated == Some(Family::SMALL)
}

impl ModelFiles {
    /// The settings as text, which are those of a small model with as many tokens as there are symbols.
    fn text_of_config(&self) -> Result<String> {
        let text = pretty(&self.config)?;
        let model = Architecture::from_config(&text, "config.json")?.model;
        let (family, tokens, symbols) = (model.family, model.vocabulary, self.symbols.len());
        if !family.is_small() || tokens != symbols as u64 {
            return Err(Error::new(format!(
                "the settings are of the family {} with {tokens} tokens, and not of a small model with {symbols} symbols",
                family.name()
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
