//! `model.safetensors.index.json`: which tensor is in which of several files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use serde_json::Value;

use super::file::ModelFile;
use super::tensors::StoredTensors;
use crate::error::{Error, Result};
use crate::json_tree::tree;
use crate::text::{clip, grouped};
use crate::unique::check_names;

/// The name of the index in a folder.
pub(super) const INDEX: &str = "model.safetensors.index.json";

/// The longest index that is read, in bytes: as long as a header may be.
const LONGEST: u64 = 100_000_000;

/// The files of a model, and the tensors in each.
pub(super) struct Index {
    name: String,
    /// The file of each tensor.
    places: BTreeMap<String, String>,
}

impl Index {
    /// Reads the index.
    ///
    /// # Errors
    /// If it is no index, or names a file outside of the folder.
    pub(super) fn read(file: &ModelFile) -> Result<Index> {
        let name = file.name().to_string();
        let damaged =
            |what: String| Error::new(what).in_source(&*name).help("download or save the file again");
        let input = file.input()?;
        if input.length > LONGEST {
            let most = grouped(LONGEST);
            return Err(damaged(format!(
                "the index has {} bytes; at most {most} are read",
                grouped(input.length)
            )));
        }
        let text = input.text()?;
        let unread = |error: serde_json::Error| damaged(format!("the index cannot be read: {error}"));
        check_names(text.as_bytes()).map_err(unread)?;
        let mut index =
            tree(text.as_bytes(), &[&["weight_map"]], unread).map_err(|error| error.in_source(&*name))?;
        let Some(Value::Object(map)) = index.get_mut("weight_map").map(Value::take) else {
            return Err(damaged("the index has no `weight_map`".into()));
        };
        let mut places = BTreeMap::new();
        for (tensor, file) in map {
            let Value::String(file) = file else {
                return Err(damaged(format!("the index names no file for the tensor `{}`", clip(&tensor))));
            };
            if !is_inside(&file) {
                return Err(Error::new(format!(
                    "the index places the tensor `{}` in `{}`, outside of the folder, and such files are not opened",
                    clip(&tensor),
                    clip(&file)
                ))
                .in_source(&*name)
                .help("download the model again, from a source that you trust"));
            }
            places.insert(tensor, file);
        }
        if places.is_empty() {
            return Err(damaged("the index names no tensor".into()));
        }
        Ok(Index { name, places })
    }

    /// The files, each once.
    pub(super) fn files(&self) -> BTreeSet<&str> {
        self.places.values().map(String::as_str).collect()
    }

    /// The error for a file that is not in the folder.
    pub(super) fn missing(&self, file: &str) -> Error {
        Error::new(format!("the index names the file {}, which is not in the folder", clip(file)))
            .in_source(&*self.name)
            .help("the download was not finished: download this file too")
    }

    /// Checks that every tensor is where the index places it. The files may hold tensors that the index does not name.
    ///
    /// # Errors
    /// If one is nowhere, or in another file.
    pub(super) fn check(&self, tensors: &StoredTensors) -> Result<()> {
        for (tensor, file) in &self.places {
            let found = tensors.entry(tensor).map(|entry| &*entry.file);
            if found == Some(file) {
                continue;
            }
            let but = match found {
                Some(found) => format!("but it is in {}", clip(found)),
                None => "which does not have it".to_string(),
            };
            return Err(Error::new(format!(
                "the index places the tensor `{}` in {}, {but}",
                clip(tensor),
                clip(file)
            ))
            .in_source(&*self.name)
            .help("the index belongs to other files: download all of them again"));
        }
        Ok(())
    }
}

/// True if a name leads to a place within the folder, whatever the system.
fn is_inside(file: &str) -> bool {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    !file.is_empty() && !file.contains(['\\', ':', '\0']) && Path::new(file).components().all(is_plain)
}
