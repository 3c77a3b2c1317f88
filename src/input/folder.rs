//! A folder of files, each of which stands for itself.

use crate::foreign::{from_path, to_path, visible};
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use crate::error::{Error, Result};

use super::array::Array;
use super::bundled::{self, BundledFile};
use super::container::Format;
use super::files::{named_in, named_in_bundled};
use super::limit::Limit;
use super::open::{examined, unreadable};
use super::read_permission::ReadPermission;

/// One entry of a folder.
#[derive(Clone, Debug)]
pub struct FolderEntry {
    /// Its name.
    pub name: String,
    place: Place,
}

/// The location of a file.
#[derive(Clone, Debug)]
enum Place {
    Disk(PathBuf),
    Program(&'static BundledFile),
}

impl FolderEntry {
    /// True if this may be a file of numbers: no folder, no link, and no ending that is not read.
    pub fn is_readable(&self) -> bool {
        match &self.place {
            Place::Disk(path) => {
                fs::symlink_metadata(path).is_ok_and(|data| data.is_file()) && Format::reads(path)
            }
            Place::Program(_) => true,
        }
    }

    /// All arrays of the file, as [`super::Files::named`].
    ///
    /// # Errors
    /// If it is no regular file (links are not followed), cannot be read, is larger than `limit`, or holds no arrays.
    pub fn named(&self, limit: Limit) -> Result<Vec<(Option<String>, Array)>> {
        let path = match &self.place {
            Place::Disk(path) => path,
            Place::Program(file) => return named_in_bundled(&self.name, file, limit),
        };
        // A link may lead to a file of the reader's own, and an error quotes what it reads.
        if fs::symlink_metadata(path).is_ok_and(|data| data.is_symlink()) {
            return Err(Error::new("this is a link, and links are not followed").in_source(self.name.clone()));
        }
        named_in(&self.name, path, limit)
    }
}

/// The entries of a folder, sorted by name, without those whose name begins with a dot. Nothing is opened yet, and folders
/// within it are not entered. A folder that travels with the program is found where none on disk has its name.
///
/// # Errors
/// If it may not be read, is no folder, cannot be read, or there is nothing in it.
pub fn folder(path: &str, reading: &ReadPermission) -> Result<Vec<FolderEntry>> {
    reading.check(path)?;
    let shown = visible(path).into_owned();
    let bundled = bundled::inside(path);
    let path = &to_path(path);
    let failed = |error: &std::io::Error| match error.kind() {
        ErrorKind::NotFound => Error::new("no such folder")
            .in_source(shown.clone())
            .help("name the folder that contains the files"),
        _ => unreadable(&shown, error),
    };
    if !bundled.is_empty()
        && (reading.bundled_first() || examined(path, fs::symlink_metadata(path))?.is_none())
    {
        let entry = |file: &'static BundledFile| FolderEntry {
            name: file.place().1.to_string(),
            place: Place::Program(file),
        };
        return Ok(bundled.into_iter().map(entry).collect());
    }
    if !fs::metadata(path).map_err(|error| failed(&error))?.is_dir() {
        return Err(Error::new("this is not a folder")
            .in_source(shown)
            .help("name the folder that contains the files"));
    }
    let mut names: Vec<OsString> = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| failed(&error))? {
        names.push(entry.map_err(|error| failed(&error))?.file_name());
    }
    names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
    names.sort();
    if names.is_empty() {
        return Err(Error::new("a folder with no files in it").in_source(shown));
    }
    let entry =
        |name: OsString| FolderEntry { name: from_path(name.as_ref()), place: Place::Disk(path.join(&name)) };
    Ok(names.into_iter().map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_listed_in_order_without_hidden_files_and_without_entering_folders() {
        let place = tempfile::tempdir().unwrap();
        for name in ["b.csv", "a.csv", ".hidden", "C.csv"] {
            fs::write(place.path().join(name), "1").unwrap();
        }
        fs::create_dir(place.path().join("sub")).unwrap();
        fs::write(place.path().join("sub/d.csv"), "1").unwrap();
        let entries = folder(place.path().to_str().unwrap(), &ReadPermission::Anywhere).unwrap();
        let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["C.csv", "a.csv", "b.csv", "sub"]);
        assert!(entries[0].named(Limit::ANY).is_ok());
        assert!(entries[3].named(Limit::ANY).unwrap_err().to_string().starts_with("sub: this is a folder"));
    }

    #[test]
    fn a_file_a_missing_folder_and_an_empty_one_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().to_str().unwrap();
        assert!(folder(path, &ReadPermission::Anywhere).unwrap_err().to_string().contains("no files in it"));
        let missing = folder(&format!("{path}/none"), &ReadPermission::Anywhere).unwrap_err().to_string();
        assert!(missing.contains("none: no such folder\n"), "{missing}");
        fs::write(place.path().join("a"), "1").unwrap();
        assert!(
            folder(&format!("{path}/a"), &ReadPermission::Anywhere)
                .unwrap_err()
                .to_string()
                .contains("this is not a folder")
        );
    }
}
