//! A model's folder: its configuration, its tensors by name, its tokenizer. Nothing is computed here.
//!
//! ```text
//! FOLDER ──▶ Root (hub cache, links) ──▶ config.json ──▶ model.safetensors, or an index and its files ──▶ headers
//! ```
//!
//! Only headers are read; the numbers stay in their files until [`crate::model::Checkpoint::tensor`] is asked for one and its numbers
//! are read. Every file is opened once. A file that changes in the meantime is an error.

mod checkpoint;

use std::fs;
use std::path::{Path, PathBuf};

use checkpoint::{INDEX, Index, Root, add_file, names_in};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::json_tree::tree;
use crate::params::check_config_length;
use crate::text::listed_briefly;

use super::open::{examined, file_error};
use super::source::ReadPermission;

pub(in crate::input) use checkpoint::WEIGHTS;
pub use checkpoint::{ConfigFile, ModelFile, StoredEntry, StoredTensors, check_not_quantised};

/// A model's folder, opened.
#[derive(Clone, Debug, Default)]
pub struct ModelFolder {
    /// Its name in errors: as it was typed, or that of a model that travels with the program.
    pub name: String,
    /// The folder that holds the files, within a hub cache the snapshot; `None` for a model that travels with the program.
    pub path: Option<PathBuf>,
    /// The text of `config.json`.
    pub config: ConfigFile,
    /// The tensors by name, still in their files.
    pub tensors: StoredTensors,
    /// The steps of its training whose weights were kept, in order.
    pub steps: Vec<usize>,
    /// `tokenizer.json`, if it is there.
    pub tokenizer: Option<ModelFile>,
    /// Files of tokenizers that are not read, such as `tokenizer.model`.
    pub other_tokenizer_files: Vec<String>,
    /// A file of an adapter, which changes the weights and is not applied.
    pub adapter: Option<&'static str>,
    /// `tokenizer_config.json`, if it is there.
    pub tokenizer_config: Option<ModelFile>,
    /// `generation_config.json`, if it is there.
    pub generation_config: Option<ModelFile>,
}

impl ModelFolder {
    /// Opens a folder with `config.json` and `model.safetensors` (or an index and its files), a snapshot in a hub cache, or
    /// the folder `models--org--name` above it.
    ///
    /// # Errors
    /// If a file is missing, may not be read, is damaged, quantised, or outside of the folder, or if the index does not
    /// agree with the files. A missing tokenizer is no error here.
    pub fn open(path: &Path) -> Result<ModelFolder> {
        ModelFolder::within(path, None, &ReadPermission::Anywhere)
    }

    /// Opens a folder as [`ModelFolder::open`], if every file in it may be read. `step` takes the weights that a training kept after this
    /// step in place of the last ones.
    ///
    /// # Errors
    /// Those of [`ModelFolder::open`], and if a file may not be read, or the weights of the step were not kept.
    pub fn within(path: &Path, step: Option<usize>, reading: &ReadPermission) -> Result<ModelFolder> {
        let root = Root::find(path, reading)?;
        let name = step.map_or(root.name(), |step| format!("{}, step {step}", root.name()));
        let names = root.list()?;
        let config = config_of(&root, &names)?;
        check_not_quantised(&config)?;
        let tensors = match step {
            Some(step) => open_step(&root, step, &name)?,
            None => open_tensors(&root, &names)?,
        };
        Ok(ModelFolder {
            tensors,
            steps: steps_in(&root.path)?,
            tokenizer: root.file("tokenizer.json")?,
            other_tokenizer_files: checkpoint::other_tokenizer_files(&names),
            adapter: checkpoint::adapter(&names),
            tokenizer_config: root.file("tokenizer_config.json")?,
            generation_config: root.file("generation_config.json")?,
            path: Some(root.path),
            config,
            name,
        })
    }

    /// The tokenizer of a folder, found as [`ModelFolder::open`] finds it; its other files are not opened.
    ///
    /// # Errors
    /// If there is no such folder, no `tokenizer.json` in it, or it may not be read.
    pub fn tokenizer_within(path: &Path, reading: &ReadPermission) -> Result<ModelFile> {
        let root = Root::find(path, reading)?;
        match root.file("tokenizer.json")? {
            Some(file) => Ok(file),
            None => {
                let others = checkpoint::other_tokenizer_files(&root.list()?);
                Err(checkpoint::no_tokenizer(&root.name(), &others))
            }
        }
    }

    /// The configuration of a folder, found as [`ModelFolder::open`] finds it; its other files are not opened.
    ///
    /// # Errors
    /// If there is no such folder, no `config.json` in it, or it may not be read.
    pub fn config_within(path: &Path, reading: &ReadPermission) -> Result<ConfigFile> {
        let root = Root::find(path, reading)?;
        config_of(&root, &root.list()?)
    }

    /// A model that travels with the program: the contents of its `config.json`, `model.safetensors` and `tokenizer.json`.
    ///
    /// # Errors
    /// If the header of the tensors is wrong, or the configuration is that of a quantised model.
    pub fn bundled(
        name: &str,
        config: &str,
        weights: &'static [u8],
        tokenizer: &'static [u8],
    ) -> Result<ModelFolder> {
        let file = |file: &str| format!("{name}, {file}");
        let config = ConfigFile { name: file("config.json"), text: config.to_string() };
        check_not_quantised(&config)?;
        let mut tensors = StoredTensors::new(name);
        checkpoint::add_bundled(&mut tensors, WEIGHTS, &file(WEIGHTS), weights)?;
        Ok(ModelFolder {
            name: name.to_string(),
            config,
            tensors,
            tokenizer: Some(ModelFile::bundled(file("tokenizer.json"), tokenizer)),
            ..ModelFolder::default()
        })
    }

    /// The steps of its training whose weights were kept, in words; none where there are none.
    pub fn kept_steps(&self) -> Option<String> {
        (!self.steps.is_empty()).then(|| listed(&self.steps))
    }

    /// The tokenizer, for a command that reads text.
    ///
    /// # Errors
    /// If there is no `tokenizer.json`; the error says which other files there are.
    pub fn required_tokenizer(&self) -> Result<&ModelFile> {
        let missing = || checkpoint::no_tokenizer(&self.name, &self.other_tokenizer_files);
        self.tokenizer.as_ref().ok_or_else(missing)
    }
}

/// The configuration of a folder with these files.
fn config_of(root: &Root, names: &[String]) -> Result<ConfigFile> {
    match root.file("config.json")? {
        Some(file) => read_config(&file),
        None if checkpoint::adapter(names).is_some() => Err(only_adapter(root)),
        None => Err(checkpoint::no_config(&root.name(), names, &root.models_below())),
    }
}

/// The error for a folder with an adapter alone, which names the model that the adapter belongs to.
fn only_adapter(root: &Root) -> Error {
    let settings =
        root.file(checkpoint::ADAPTER_CONFIG).ok().flatten().and_then(|file| read_config(&file).ok());
    let settings: Option<Value> = settings.and_then(|file| serde_json::from_str(&file.text).ok());
    let base = settings.as_ref().and_then(|settings| settings.get("base_model_name_or_path")?.as_str());
    checkpoint::only_adapter(&root.name(), base)
}

fn read_config(file: &ModelFile) -> Result<ConfigFile> {
    let input = file.input()?;
    check_config_length(input.length).map_err(|error| error.in_source(file.name()))?;
    Ok(ConfigFile { name: file.name().to_string(), text: input.text()? })
}

/// The headers of all files of tensors.
fn open_tensors(root: &Root, names: &[String]) -> Result<StoredTensors> {
    let mut tensors = StoredTensors::new(&root.name());
    if let Some(file) = root.file(WEIGHTS)? {
        checkpoint::add_file(&mut tensors, WEIGHTS, &file)?;
        return Ok(tensors);
    }
    let Some(file) = root.file(INDEX)? else {
        if checkpoint::adapter(names).is_some() {
            return Err(only_adapter(root));
        }
        return Err(checkpoint::no_weights(&root.name(), names));
    };
    let index = Index::read(&file)?;
    for shard in index.files() {
        let file = root.file(shard)?.ok_or_else(|| index.missing(shard))?;
        checkpoint::add_file(&mut tensors, shard, &file)?;
    }
    index.check(&tensors)?;
    Ok(tensors)
}

// The weights that a training kept after some of its steps.

/// The folder within a model's folder that has them.
pub(in crate::input) const CHECKPOINTS: &str = "checkpoints";

/// The most steps that are all listed.
const MOST_LISTED: usize = 24;

/// The file of a step, within the model's folder.
pub(in crate::input) fn step_file(step: usize) -> String {
    format!("{CHECKPOINTS}/step-{step}.safetensors")
}

/// The steps that a folder has weights of, in order.
///
/// # Errors
/// If they cannot be read.
fn steps_in(folder: &Path) -> Result<Vec<usize>> {
    let folder = folder.join(CHECKPOINTS);
    if examined(&folder, fs::metadata(&folder))?.is_none_or(|metadata| !metadata.is_dir()) {
        return Ok(Vec::new());
    }
    let names = names_in(&folder, |_| true)?;
    let step = |name: &String| name.strip_prefix("step-")?.strip_suffix(".safetensors")?.parse().ok();
    let mut steps: Vec<usize> = names.iter().filter_map(step).collect();
    steps.sort_unstable();
    // `step-007` is no name that is written.
    steps.retain(|step| names.contains(&format!("step-{step}.safetensors")));
    steps.dedup();
    Ok(steps)
}

/// Steps in words: `50, 100, 150`, and of many the first ones.
fn listed(steps: &[usize]) -> String {
    let steps: Vec<String> = steps.iter().map(usize::to_string).collect();
    if steps.len() > MOST_LISTED {
        listed_briefly(steps.iter().map(String::as_str))
    } else {
        steps.join(", ")
    }
}

/// The tensors that were kept after a step.
fn open_step(root: &Root, step: usize, name: &str) -> Result<StoredTensors> {
    let kept = steps_in(&root.path)?;
    let file = step_file(step);
    let Some(found) = root.file(&file)? else {
        let error = |what: String| file_error(root.name(), what);
        return Err(match kept.as_slice() {
            [] => error("there are no checkpoints in this folder".to_string())
                .help(format!("it has no weights but those of {WEIGHTS}, which are opened without a step")),
            _ => error(format!("the weights of step {step} were not kept"))
                .help(format!("kept are {}", listed(&kept))),
        });
    };
    let mut tensors = StoredTensors::new(name);
    add_file(&mut tensors, &file, &found)?;
    Ok(tensors)
}

// The token that stands for a masked word, as a folder names it.

/// The token that stands for a masked word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MaskToken {
    /// Its id: `mask_token_id` in `config.json`.
    Id(u32),
    /// Its piece: `mask_token` in `tokenizer_config.json`.
    Piece(String),
}

impl ModelFolder {
    /// The token that stands for a masked word, where the folder names one.
    ///
    /// # Errors
    /// If `tokenizer_config.json` cannot be read.
    pub fn mask_token(&self) -> Result<Option<MaskToken>> {
        let id = self.config.tree().and_then(|config| config.get("mask_token_id")?.as_u64());
        if let Some(id) = id.and_then(|id| u32::try_from(id).ok()) {
            return Ok(Some(MaskToken::Id(id)));
        }
        let Some(file) = &self.tokenizer_config else { return Ok(None) };
        let text = read_config(file)?.text;
        let settings = tree(text.as_bytes(), &[&["mask_token"]], |error| {
            Error::new(format!("this is not JSON: {error}")).help("download or save the file again")
        });
        let settings = settings.map_err(|error| error.in_source(file.name()))?;
        // Older files have a text, newer ones an object with its text.
        let token = settings.get("mask_token");
        let piece = token.and_then(|token| token.as_str().or_else(|| token.get("content")?.as_str()));
        Ok(piece.map(|piece| MaskToken::Piece(piece.to_string())))
    }
}

// The small trained model that travels with the program.

/// Its name, which works wherever a folder does; `./words` is a folder.
pub const WORDS: &str = "words";

impl ModelFolder {
    /// The model `words`: two layers, trained on sentences of a small grammar by `models/words/train.py`.
    ///
    /// # Errors
    /// None, unless the files were changed.
    pub fn words() -> Result<ModelFolder> {
        ModelFolder::bundled(
            WORDS,
            include_str!("../../../models/words/config.json"),
            include_bytes!("../../../models/words/model.safetensors"),
            include_bytes!("../../../models/words/tokenizer.json"),
        )
    }
}
