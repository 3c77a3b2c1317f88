//! The tensors of a model, which stay in their files until they are asked for.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::foreign::visible;
use crate::input::array::{checked_cells, entry_name, shape_text};
use crate::input::safetensors::Tensors;
use crate::tensor::{Dtype, Storage, StoredNumbers, Tensor};
use crate::text::{clip, listed_briefly, nearest};

use super::quantised::REMEDY;

/// Where one tensor of a model is, and what it is.
#[derive(Clone, Debug)]
pub struct StoredEntry {
    /// The file within the folder, for people: `model-00001-of-00002.safetensors`.
    pub file: Arc<str>,
    /// The type as the header writes it: `BF16`.
    pub dtype: String,
    /// The dimensions as the header writes them.
    pub dims: Vec<usize>,
    /// The position of its first byte in the file.
    pub offset: u64,
    /// The number of its bytes.
    pub bytes: u64,
    storage: Arc<dyn Storage>,
}

impl StoredEntry {
    /// Its type, if it is one of those that models are computed in.
    pub fn number_type(&self) -> Option<Dtype> {
        match self.dtype.as_str() {
            "F32" => Some(Dtype::F32),
            "F16" => Some(Dtype::F16),
            "BF16" => Some(Dtype::Bf16),
            "F64" => Some(Dtype::F64),
            _ => None,
        }
    }

    /// The number of its elements.
    pub fn count(&self) -> usize {
        self.dims.iter().product()
    }
}

/// The tensors of a model by their names in its files.
#[derive(Clone, Debug, Default)]
pub struct StoredTensors {
    /// The folder in errors.
    pub(super) place: String,
    entries: BTreeMap<String, StoredEntry>,
    files: Vec<Arc<str>>,
}

impl StoredTensors {
    pub(super) fn new(place: &str) -> StoredTensors {
        StoredTensors { place: place.to_string(), ..StoredTensors::default() }
    }

    /// Adds what the header of a file says; the numbers are in `storage`.
    ///
    /// # Errors
    /// If an earlier file has a tensor of the same name.
    pub(super) fn add(&mut self, file: &str, header: &Tensors, storage: Arc<dyn Storage>) -> Result<()> {
        let file: Arc<str> = file.into();
        for entry in header.entries() {
            let Entry::Vacant(room) = self.entries.entry(entry.name.to_string()) else {
                let first = &self.entries[entry.name].file;
                return Err(Error::new(format!(
                    "two files have a tensor `{}`: {} and {}",
                    clip(entry.name),
                    clip(first),
                    clip(&file)
                ))
                .in_source(&*self.place)
                .help(
                    "files of two models are mixed up here: download the model again into an empty folder",
                ));
            };
            room.insert(StoredEntry {
                file: file.clone(),
                dtype: entry.dtype,
                dims: entry.dims.to_vec(),
                offset: entry.start,
                bytes: entry.bytes,
                storage: storage.clone(),
            });
        }
        self.files.push(file);
        Ok(())
    }

    /// The tensor of this name, still in its file; a vector is one row. It may be read by several threads at once.
    ///
    /// # Errors
    /// If there is none, it has more than three dimensions or none, or its numbers are not F32, F16, BF16 or F64.
    pub fn get(&self, name: &str) -> Result<Tensor> {
        let Some(entry) = self.entries.get(name) else { return Err(self.missing(name)) };
        let place = || entry_name(entry.storage.name(), name);
        let Some(dtype) = entry.number_type() else {
            return Err(refused_type(&entry.dtype).in_source(place()));
        };
        let count = checked_cells(&entry.dims, usize::MAX).map_err(|error| error.in_source(place()))?;
        if !(1..=3).contains(&entry.dims.len()) {
            return Err(Error::new(format!(
                "a tensor of shape {} is neither a vector, a matrix nor a stack of matrices",
                shape_text(&entry.dims)
            ))
            .in_source(place()));
        }
        let numbers = StoredNumbers::new(entry.storage.clone(), entry.offset, dtype, count)?;
        Tensor::stored(numbers, &entry.dims).map_err(|error| error.in_source(place()))
    }

    /// What the header says of a tensor.
    pub fn entry(&self, name: &str) -> Option<&StoredEntry> {
        self.entries.get(name)
    }

    /// All tensors by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &StoredEntry)> {
        self.entries.iter().map(|(name, entry)| (name.as_str(), entry))
    }

    /// All names in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The number of tensors.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The bytes of all tensors.
    pub fn bytes(&self) -> u64 {
        self.entries.values().map(|entry| entry.bytes).sum()
    }

    /// The files that hold them, within the folder.
    pub fn files(&self) -> &[Arc<str>] {
        &self.files
    }

    fn missing(&self, name: &str) -> Error {
        let error = Error::new(format!("there is no tensor `{}`", visible(name)))
            .of_kind(ErrorKind::Unknown)
            .in_source(&*self.place);
        match nearest(name, self.names()) {
            Some(near) => error.help(format!("did you mean `{}`?", visible(near))),
            None => error.help(format!("it has {}", listed_briefly(self.names()))),
        }
    }
}

/// The error for numbers of a type that models are not computed in.
fn refused_type(dtype: &str) -> Error {
    match dtype {
        "BOOL" | "I64" | "U64" | "C64" => Error::new(format!("numbers of type {dtype} are no weights"))
            .help("attn reads weights in F32, F16, BF16 and F64"),
        _ => Error::new(format!("this checkpoint is quantised: {dtype}")).help(REMEDY),
    }
}
