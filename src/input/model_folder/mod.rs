//! A model's folder: its configuration, its tensors by name, its tokenizer. Nothing is computed here.
//!
//! ```text
//! FOLDER ──▶ Root (hub cache, links) ──▶ config.json ──▶ model.safetensors, or an index and its files ──▶ headers
//! ```
//!
//! Only headers are read; the numbers stay in their files until [`StoredTensors::get`] is asked for a tensor and its numbers
//! are read. Every file is opened once. A file that changes in the meantime is an error.

mod checkpoint;
mod file;
mod index;
mod mask;
mod missing;
mod quantised;
mod root;
mod steps;
mod storage;
mod tensors;
mod words;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::params::check_config_length;

use super::source::ReadPermission;
use index::{INDEX, Index};
use root::Root;
use steps::steps_in;

pub use checkpoint::FolderCheckpoint;
pub use file::{ConfigFile, ModelFile};
pub use mask::MaskToken;
pub use quantised::check_not_quantised;
pub(in crate::input) use steps::{CHECKPOINTS, step_file};
pub(in crate::input) use storage::WEIGHTS;
pub use tensors::{StoredEntry, StoredTensors};
pub use words::WORDS;

/// A model's folder, opened.
#[derive(Clone, Debug)]
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
        let name = root.name();
        let names = root.list()?;
        let config = config_of(&root, &names)?;
        check_not_quantised(&config)?;
        let tensors = match step {
            Some(step) => steps::open_step(&root, step)?,
            None => open_tensors(&root, &names)?,
        };
        Ok(ModelFolder {
            tensors,
            steps: steps_in(&root.path)?,
            tokenizer: root.file("tokenizer.json")?,
            other_tokenizer_files: missing::other_tokenizer_files(&names),
            adapter: missing::adapter(&names),
            tokenizer_config: root.file("tokenizer_config.json")?,
            generation_config: root.file("generation_config.json")?,
            path: Some(root.path),
            config,
            name: step.map_or(name.clone(), |step| format!("{name}, step {step}")),
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
                let others = missing::other_tokenizer_files(&root.list()?);
                Err(missing::no_tokenizer(&root.name(), &others))
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
        storage::add_bundled(&mut tensors, WEIGHTS, &file(WEIGHTS), weights)?;
        Ok(ModelFolder {
            name: name.to_string(),
            path: None,
            config,
            tensors,
            steps: Vec::new(),
            tokenizer: Some(ModelFile::bundled(file("tokenizer.json"), tokenizer)),
            other_tokenizer_files: Vec::new(),
            adapter: None,
            tokenizer_config: None,
            generation_config: None,
        })
    }

    /// The steps of its training whose weights were kept, in words; none where there are none.
    pub fn kept_steps(&self) -> Option<String> {
        (!self.steps.is_empty()).then(|| steps::listed(&self.steps))
    }

    /// The tokenizer, for a command that reads text.
    ///
    /// # Errors
    /// If there is no `tokenizer.json`; the error says which other files there are.
    pub fn required_tokenizer(&self) -> Result<&ModelFile> {
        let missing = || missing::no_tokenizer(&self.name, &self.other_tokenizer_files);
        self.tokenizer.as_ref().ok_or_else(missing)
    }
}

/// The configuration of a folder with these files.
fn config_of(root: &Root, names: &[String]) -> Result<ConfigFile> {
    match root.file("config.json")? {
        Some(file) => read_config(&file),
        None if missing::adapter(names).is_some() => Err(only_adapter(root)),
        None => Err(missing::no_config(&root.name(), names, &root.models_below())),
    }
}

/// The error for a folder with an adapter alone, which names the model that the adapter belongs to.
fn only_adapter(root: &Root) -> Error {
    let settings = root.file(missing::ADAPTER_CONFIG).ok().flatten().and_then(|file| read_config(&file).ok());
    let settings: Option<Value> = settings.and_then(|file| serde_json::from_str(&file.text).ok());
    let base = settings.as_ref().and_then(|settings| settings.get("base_model_name_or_path")?.as_str());
    missing::only_adapter(&root.name(), base)
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
        storage::add_file(&mut tensors, WEIGHTS, &file)?;
        return Ok(tensors);
    }
    let Some(file) = root.file(INDEX)? else {
        if missing::adapter(names).is_some() {
            return Err(only_adapter(root));
        }
        return Err(missing::no_weights(&root.name(), names));
    };
    let index = Index::read(&file)?;
    for shard in index.files() {
        let file = root.file(shard)?.ok_or_else(|| index.missing(shard))?;
        storage::add_file(&mut tensors, shard, &file)?;
    }
    index.check(&tensors)?;
    Ok(tensors)
}
