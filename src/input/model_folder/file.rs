//! One file of a model's folder.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::input::array::Limit;
use crate::input::open::{Input, unreadable};
use crate::json_tree::tree;

/// A text of a model's folder, such as `tokenizer.json`, that is read when it is asked for.
#[derive(Clone, Debug)]
pub struct ModelFile {
    name: String,
    place: Place,
}

/// The text of a model's `config.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    /// Its name in errors.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl ConfigFile {
    /// The configuration as JSON; none where it is none, or has no room: reading the model says so.
    pub fn tree(&self) -> Option<Value> {
        tree(self.text.as_bytes(), &[], |error| Error::new(error.to_string())).ok()
    }
}

/// The location of a file.
#[derive(Clone, Debug)]
enum Place {
    /// Without links.
    Disk(PathBuf),
    Program(&'static [u8]),
}

impl ModelFile {
    /// A file on disk, whose path has no links.
    pub(super) fn on_disk(name: String, real: PathBuf) -> ModelFile {
        ModelFile { name, place: Place::Disk(real) }
    }

    /// A file that travels with the program.
    pub(super) fn bundled(name: String, bytes: &'static [u8]) -> ModelFile {
        ModelFile { name, place: Place::Program(bytes) }
    }

    /// Its name in errors: the path as it was typed, and the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its path without links; `None` for a file that travels with the program.
    pub fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::Disk(path) => Some(path),
            Place::Program(_) => None,
        }
    }

    /// The whole text.
    ///
    /// # Errors
    /// If it is no regular file, cannot be read, is empty, larger than 1 GiB, or is not UTF-8.
    pub fn text(&self) -> Result<String> {
        self.input()?.text()
    }

    /// The file, opened.
    pub(super) fn input(&self) -> Result<Input> {
        match &self.place {
            Place::Disk(path) => {
                check_regular(&self.name, path)?;
                Input::open(&self.name, path, Limit::LARGE)
            }
            Place::Program(bytes) => Ok(Input::bundled(&self.name, bytes, Limit::LARGE)),
        }
    }
}

/// Checks, before a file is opened, that reading it will end.
pub(super) fn check_regular(name: &str, path: &Path) -> Result<()> {
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::new("no such file").in_source(name),
        _ => unreadable(name, &error),
    })?;
    if metadata.is_file() {
        return Ok(());
    }
    let what = if metadata.is_dir() { "this is a folder, not a file" } else { "this is not a regular file" };
    Err(Error::new(what).in_source(name).help("put the model's own file in its place"))
}
