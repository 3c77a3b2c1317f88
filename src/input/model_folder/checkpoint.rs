//! A model's folder as the core reads it: tensors by name.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::{ModelFolder, StoredEntry, StoredTensors};
use crate::error::Result;
use crate::model::{Checkpoint, Entry, same_numbers};
use crate::tensor::Tensor;

/// The tensors of a folder, described once.
#[derive(Debug)]
pub struct FolderCheckpoint {
    name: String,
    entries: BTreeMap<String, Entry>,
    tensors: StoredTensors,
    /// Pairs of tensors that were compared, and whether their numbers are the same.
    compared: Mutex<BTreeMap<[String; 2], bool>>,
}

impl ModelFolder {
    /// The folder's tensors, for [`crate::model::Tensors`].
    pub fn checkpoint(&self) -> FolderCheckpoint {
        let described = |entry: &StoredEntry| Entry {
            dims: entry.dims.clone(),
            type_name: entry.dtype.clone(),
            dtype: entry.number_type(),
        };
        let entries = self.tensors.iter().map(|(name, entry)| (name.to_string(), described(entry))).collect();
        FolderCheckpoint {
            name: self.name.clone(),
            entries,
            tensors: self.tensors.clone(),
            compared: Mutex::default(),
        }
    }
}

impl Checkpoint for FolderCheckpoint {
    fn name(&self) -> &str {
        &self.name
    }

    fn entries(&self) -> &BTreeMap<String, Entry> {
        &self.entries
    }

    fn tensor(&self, name: &str) -> Result<Tensor> {
        self.tensors.get(name)
    }

    fn same_numbers(&self, name: &str, other: &str) -> Result<bool> {
        let pair = [name.to_string(), other.to_string()];
        let compared = || self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = compared().get(&pair) {
            return Ok(*known);
        }
        let is_same = same_numbers(self, name, other)?;
        compared().insert(pair, is_same);
        Ok(is_same)
    }
}
