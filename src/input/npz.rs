//! NumPy's `.npz`: a zip archive of `.npy` files, stored or deflated.

use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::{Error, Result};
use crate::tensor::Element;

use super::item::{Item, entry_name};
use super::limit::Limit;
use super::npy;
use super::npz_directory;
use super::open::{Input, ReadSeek};

/// The first bytes of a zip archive; an empty one starts with its end record.
pub(super) const MAGICS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// An opened archive; entries are unpacked one by one, when asked for.
pub(super) struct Npz {
    name: String,
    archive: ZipArchive<Box<dyn ReadSeek>>,
    /// The names of the arrays, in the order of the archive.
    names: Vec<String>,
    /// Bytes that may still be unpacked.
    left: u64,
    limit: Limit,
}

impl Npz {
    /// Reads the list of entries.
    ///
    /// # Errors
    /// If the file is no zip archive, or not all of one, or more than one, or a name stands in it twice.
    pub(super) fn open(mut input: Input) -> Result<Npz> {
        npz_directory::check(&input.name, &mut *input.reader, input.length)?;
        let archive = ZipArchive::new(input.reader).map_err(|error| bad_archive(&input.name, &error))?;
        let names: Result<Vec<String>> = archive.file_names_raw().map(npz_directory::array_name).collect();
        let names = names.map_err(|error| error.in_source(&input.name))?;
        Ok(Npz { name: input.name, archive, names, left: input.limit.unpacked(), limit: input.limit })
    }

    /// The names of the arrays, in the order of the archive.
    pub(super) fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// The name in errors of the array at a position of [`Npz::names`].
    fn entry_name(&self, position: usize) -> String {
        entry_name(&self.name, self.names.get(position).map(String::as_str).unwrap_or_default())
    }

    /// Unpacks the array at a position of [`Npz::names`].
    ///
    /// # Errors
    /// If the entry is damaged, is no array, or unpacks to anything but what its own header says.
    pub(super) fn read<T: Element>(&mut self, position: usize) -> Result<Item<T>> {
        let name = self.entry_name(position);
        let mut file = self.archive.by_index(position).map_err(|error| bad_archive(&name, &error))?;
        // The size here is only what the archive says; `npy::read` holds it against the array's header, then against
        // the bytes, of which it unpacks at most one too many.
        let length = file.size();
        self.left = self.left.checked_sub(length).ok_or_else(|| {
            Error::new(format!("the file unpacks to more than {} MiB", self.limit.unpacked() >> 20))
                .in_source(&name)
                .help("save the arrays that you need in a file of their own")
        })?;
        npy::read(&name, &mut file, length, self.limit)
    }

    /// True if the array at a position of [`Npz::names`] holds truth values, as far as its header says.
    ///
    /// # Errors
    /// If the entry is damaged, or is no array.
    pub(super) fn is_boolean(&mut self, position: usize) -> Result<bool> {
        let name = self.entry_name(position);
        let mut file = self.archive.by_index(position).map_err(|error| bad_archive(&name, &error))?;
        npy::is_boolean(&name, &mut file)
    }

    /// From now on no array may be larger than this.
    pub(super) fn keep_within(&mut self, limit: Limit) {
        self.limit = limit;
    }
}

fn bad_archive(name: &str, error: &ZipError) -> Error {
    let said = match error {
        ZipError::UnsupportedArchive(why) => {
            Error::new(format!("this kind of zip archive is not supported: {why}"))
                .help("save it with numpy.savez or numpy.savez_compressed")
        }
        _ => Error::new(format!("the zip archive is incomplete: {error}"))
            .help("the file was cut off or is damaged: save it again with numpy.savez"),
    };
    said.in_source(name)
}
