//! Tensors that stay in their file until their numbers are asked for.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::error::{Error, ErrorKind, Result};
use crate::foreign::{from_path, visible};
use crate::tensor::{Storage, StoredNumbers, Tensor};
use crate::text::{listed_briefly, nearest};

use super::item::entry_name;
use super::limit::Limit;
use super::open::{Input, regular, unreadable};
use super::safetensors::Tensors;

/// A tensor of a `.safetensors` file, by its name in it. Only the header is read here; the numbers are read when they are asked
/// for, so that a file may be larger than memory.
///
/// # Errors
/// If the file cannot be opened, is no such file, has no tensor of this name, or its type or its dimensions are not those of
/// numbers that attention computes with.
pub fn stored(path: &Path, entry: &str) -> Result<Tensor> {
    let name = visible(&from_path(path)).into_owned();
    let tensors = Tensors::open(Input::open(&name, path, Limit::LARGE)?)?;
    let Some(place) = tensors.place(entry)? else {
        let names = tensors.names();
        let error = Error::new(format!("there is no tensor `{}`", visible(entry))).in_source(name);
        let known = || names.iter().map(String::as_str);
        return Err(match nearest(entry, known()) {
            Some(near) => error.help(format!("did you mean `{}`?", visible(near))),
            None => error.help(format!("it has {}", listed_briefly(known()))),
        });
    };
    let (file, _) = regular(&name, path)?;
    let storage = StoredFile::new(entry_name(&name, entry), file)?;
    let count = place.dims.iter().product();
    let numbers = StoredNumbers::new(Arc::new(storage), place.start, place.dtype, count)?;
    Tensor::stored(numbers, &place.dims).map_err(|error| error.in_source(entry_name(&name, entry)))
}

/// An open file that is read from anywhere, as long as nobody changes it.
#[derive(Debug)]
pub(super) struct StoredFile {
    name: String,
    opened: FileState,
    file: SharedFile,
}

/// What shows that a file was changed. A change that keeps the length is not seen within one tick of the file system's clock, a
/// few milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    length: u64,
    /// The time of its last change, where the system knows it.
    modified: Option<SystemTime>,
}

impl FileState {
    fn of(metadata: &fs::Metadata) -> FileState {
        FileState { length: metadata.len(), modified: metadata.modified().ok() }
    }
}

impl StoredFile {
    /// A file that is open; from now on a change of it is an error.
    ///
    /// # Errors
    /// If the system does not tell its length.
    pub(super) fn new(name: String, file: File) -> Result<StoredFile> {
        let metadata = file.metadata().map_err(|error| unreadable(&name, &error))?;
        Ok(StoredFile { name, opened: FileState::of(&metadata), file: SharedFile::new(file) })
    }

    /// # Errors
    /// If the file is not as it was when it was opened.
    fn check_unchanged(&self) -> Result<()> {
        let now = self.file.metadata().map_err(|error| unreadable(&self.name, &error))?;
        if FileState::of(&now) == self.opened { Ok(()) } else { Err(changed(&self.name)) }
    }
}

impl Storage for StoredFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn length(&self) -> u64 {
        self.opened.length
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.check_unchanged()?;
        match self.file.fill(offset, buffer) {
            // Its length was right before: it was cut off in between.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(changed(&self.name)),
            Err(error) => Err(unreadable(&self.name, &error)),
            Ok(()) => self.check_unchanged(),
        }
    }
}

fn changed(name: &str) -> Error {
    Error::new("the file changed while it was in use")
        .of_kind(ErrorKind::File)
        .in_source(name)
        .help("wait until nothing writes to it, then run the command again")
}

/// A file whose readers do not disturb each other.
#[cfg(unix)]
#[derive(Debug)]
struct SharedFile(File);

#[cfg(unix)]
impl SharedFile {
    fn new(file: File) -> SharedFile {
        SharedFile(file)
    }

    fn metadata(&self) -> io::Result<fs::Metadata> {
        self.0.metadata()
    }

    fn fill(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, buffer, offset)
    }
}

/// A file that one reader has at a time, because where it is read next belongs to all of them.
#[cfg(not(unix))]
#[derive(Debug)]
struct SharedFile(std::sync::Mutex<File>);

#[cfg(not(unix))]
impl SharedFile {
    fn new(file: File) -> SharedFile {
        SharedFile(std::sync::Mutex::new(file))
    }

    fn metadata(&self) -> io::Result<fs::Metadata> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).metadata()
    }

    fn fill(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buffer)
    }
}
