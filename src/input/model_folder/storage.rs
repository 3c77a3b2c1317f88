//! Opening the files that hold a model's tensors.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::input::array::Limit;
use crate::input::open::{Input, regular, unreadable};
use crate::input::safetensors::{StoredFile, Tensors};
use crate::tensor::Storage;

use super::file::{ModelFile, check_regular};
use super::missing;
use super::tensors::StoredTensors;

/// The name of the tensors' file in a folder.
pub(in crate::input) const WEIGHTS: &str = "model.safetensors";

/// The beginning of a file that stands for another one, which Git LFS has not fetched.
const LFS_POINTER: &[u8] = b"version https://git-lfs";

/// Opens a file of tensors, reads its header, and adds what is in it. The file is opened once for all of them.
///
/// # Errors
/// If it cannot be opened, its header is wrong, or an earlier file has one of its tensors.
pub(super) fn add_file(tensors: &mut StoredTensors, label: &str, file: &ModelFile) -> Result<()> {
    let name = file.name();
    let Some(path) = file.path() else {
        return Err(Error::new("this file is not on disk").in_source(name));
    };
    check_regular(name, path)?;
    let (opened, length) = regular(name, path)?;
    let reader = opened.try_clone().map_err(|error| unreadable(name, &error))?;
    // Before the header is read, so that the header is that of the numbers read later.
    let storage = StoredFile::new(name.to_string(), opened)?;
    let mut input = Input::of_file(name, reader, length, Limit::LARGE)?;
    if input.peek(LFS_POINTER.len())? == LFS_POINTER {
        return Err(Error::new("this is only a pointer to the file: Git has not fetched the file itself")
            .in_source(name)
            .help("in the model's folder: git lfs pull"));
    }
    if let Some((what, help)) = in_disguise(&input.peek(9)?) {
        return Err(Error::new(format!("this is {what}, whatever its name says")).in_source(name).help(help));
    }
    tensors.add(label, &Tensors::open(input)?, Arc::new(storage))
}

/// What a file is by its first bytes, where it is of another kind: its name was changed. Where a header of tensors begins, byte 9 is
/// a brace.
fn in_disguise(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    if bytes.get(8) == Some(&b'{') {
        return None;
    }
    match bytes {
        [b'P', b'K', 3, 4, ..] => Some(("a zip archive, such as a .bin or .pt of PyTorch", missing::CONVERT)),
        [0x80, 2..=5, ..] => Some(("a pickle, such as an old .bin or .pt of PyTorch", missing::CONVERT)),
        [b'G', b'G', b'U', b'F', ..] => Some(("a .gguf file", missing::NO_GGUF)),
        _ => None,
    }
}

/// Adds the tensors of a file that travels with the program.
///
/// # Errors
/// If its header is wrong.
pub(super) fn add_bundled(
    tensors: &mut StoredTensors,
    label: &str,
    name: &str,
    bytes: &'static [u8],
) -> Result<()> {
    let header = Tensors::open(Input::bundled(name, bytes, Limit::LARGE))?;
    tensors.add(label, &header, Arc::new(BundledBytes { name: name.to_string(), bytes }))
}

/// Bytes that travel with the program.
#[derive(Debug)]
struct BundledBytes {
    name: String,
    bytes: &'static [u8],
}

impl Storage for BundledBytes {
    fn name(&self) -> &str {
        &self.name
    }

    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let start = usize::try_from(offset).ok();
        let stored = start.and_then(|start| self.bytes.get(start..)?.get(..buffer.len()));
        let Some(stored) = stored else {
            return Err(Error::new("the file ends too early").in_source(&*self.name));
        };
        buffer.copy_from_slice(stored);
        Ok(())
    }
}
