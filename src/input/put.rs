//! Writing several files into a folder, none over what a user has there.

use crate::foreign::{from_path, visible};
use crate::text::listed_briefly;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::error::{Error, Result};

use super::folder_draft::FolderDraft;
use super::open::examined;
use super::save::{WritePermission, not_written, replaced};

/// The outcome of writing one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    /// It is new.
    New,
    /// It has taken the place of another.
    Replaced,
    /// The same contents were there.
    WasThere,
}

/// Writes files, by name and contents, into a folder, which is made if it is missing, as are those that names such as
/// `answers/01.csv` lead to; each file is whole before it is seen. A
/// file with other contents is replaced only if `overwrite` says so.
///
/// # Errors
/// If nothing may be written, files with other contents are there, or one cannot be written. The first two leave everything as
/// it was.
pub fn put_files(
    folder: &Path,
    files: &[(&str, &[u8])],
    overwrite: bool,
    writing: WritePermission,
) -> Result<Vec<PutOutcome>> {
    writing.check(folder)?;
    let shown = visible(&from_path(folder)).into_owned();
    let put = |(name, bytes): &(&str, &[u8])| -> Result<PutOutcome> {
        let path = folder.join(name);
        let is_same = |path: &Path| {
            // Reading a pipe would block.
            fs::metadata(path).is_ok_and(|there| there.is_file() && there.len() == bytes.len() as u64)
                && fs::read(path).is_ok_and(|there| there == *bytes)
        };
        Ok(match examined(&path, fs::symlink_metadata(&path))? {
            Some(_) if is_same(&path) => PutOutcome::WasThere,
            Some(_) => PutOutcome::Replaced,
            None => PutOutcome::New,
        })
    };
    let puts: Vec<PutOutcome> = files.iter().map(put).collect::<Result<_>>()?;
    let others =
        files.iter().zip(&puts).filter(|(_, put)| **put == PutOutcome::Replaced).map(|((name, _), _)| *name);
    let others: Vec<&str> = others.collect();
    if !others.is_empty() && !overwrite {
        let verb = if others.len() == 1 { "exists" } else { "exist" };
        return Err(Error::new(format!("{} already {verb} with other contents", listed_briefly(others)))
            .in_source(shown)
            .help("name another folder, or replace them with --overwrite"));
    }
    if examined(folder, fs::metadata(folder))?.is_none() {
        // A new folder is there with all its files, or not at all.
        let draft = FolderDraft::beside(folder).map_err(|error| no_folder(&shown, &error))?;
        let written =
            files.iter().try_for_each(|(name, bytes)| draft.write(name, |file| Ok(file.write_all(bytes)?)));
        written.and_then(|()| Ok(draft.persist_new()?)).map_err(|error| not_written(folder, &*error))?;
        return Ok(puts);
    }
    for ((name, bytes), put) in files.iter().zip(&puts) {
        if *put != PutOutcome::WasThere {
            let path = folder.join(name);
            if let Some(inner) = path.parent() {
                fs::create_dir_all(inner).map_err(|error| no_folder(&shown, &error))?;
            }
            replaced(&path, |file| {
                file.write_all(bytes)?;
                Ok(())
            })?;
        }
    }
    Ok(puts)
}

/// Writes files that are not there yet, by name and contents, into a folder, which is made if it is missing; each file is whole
/// before it is seen.
///
/// # Errors
/// If nothing may be written, a name is none or taken, whatever has it, or a file cannot be written. The first two leave
/// everything as it was.
pub fn put_new_files(folder: &Path, files: &[(&str, &[u8])], writing: WritePermission) -> Result<()> {
    for (name, _) in files {
        let path = folder.join(name);
        writing.check(&path)?;
        let shown = visible(&from_path(&path)).into_owned();
        if name.is_empty() {
            return Err(Error::new("this is no name of a file")
                .in_source(shown)
                .help("type a name such as step.md"));
        }
        if examined(&path, fs::symlink_metadata(&path))?.is_some() {
            return Err(Error::new("this exists already").in_source(shown).help("choose another name"));
        }
    }
    put_files(folder, files, false, writing).map(|_| ())
}

/// Why a folder cannot be made, for its user.
pub(super) fn no_folder(name: &str, error: &std::io::Error) -> Error {
    let why = match error.kind() {
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => "a part of its path is a file".to_string(),
        ErrorKind::NotFound => "nothing can be made there".to_string(),
        kind => kind.to_string(),
    };
    Error::new(format!("the folder cannot be made: {why}"))
        .in_source(name)
        .help("name a folder that you may write to, such as a new one here: ./attn-files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_new_then_there_and_changed_ones_are_replaced_only_when_asked() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        let files: [(&str, &[u8]); 2] = [("x", b"1"), ("y", b"2")];
        let put = |overwrite| put_files(&deep, &files, overwrite, WritePermission::Allowed);
        assert_eq!(put(false).unwrap(), [PutOutcome::New, PutOutcome::New]);
        assert_eq!(put(false).unwrap(), [PutOutcome::WasThere, PutOutcome::WasThere]);
        fs::write(deep.join("y"), "3").unwrap();
        fs::remove_file(deep.join("x")).unwrap();
        let said = put(false).unwrap_err().to_string();
        assert!(said.contains("`y` already exists with") && !deep.join("x").exists(), "{said}");
        assert_eq!(put(true).unwrap(), [PutOutcome::New, PutOutcome::Replaced]);
        assert_eq!(fs::read(deep.join("y")).unwrap(), b"2");
        let refused = put_files(&folder.path().join("c"), &files, true, WritePermission::Refused);
        assert!(refused.is_err() && !folder.path().join("c").exists());
    }

    #[test]
    fn new_files_are_never_written_over_what_is_there_even_if_it_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let files: [(&str, &[u8]); 2] = [("x", b"1"), ("y", b"2")];
        let put = |files: &[(&str, &[u8])]| put_new_files(folder.path(), files, WritePermission::Allowed);
        put(&files[1..]).unwrap();
        let said = put(&files).unwrap_err().to_string();
        assert!(said.contains("y: this exists already") && !folder.path().join("x").exists(), "{said}");
        assert!(put(&[("", b"1")]).is_err());
        assert!(put_new_files(folder.path(), &files[..1], WritePermission::Refused).is_err());
    }
}
