//! Texts as they are: lessons, and what is kept beside them.

use std::fs;
use std::fs::File;
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::foreign::{from_path, to_path, visible};
use crate::text::listed_briefly;

use super::array::Limit;
use super::draft::FolderDraft;
use super::open::{Input, examined, unreadable};
use super::save::{WritePermission, is_for_a_file, not_written, replaced};

/// The text of a regular file of at most `most` bytes.
///
/// # Errors
/// If it cannot be read, is empty, larger, or is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> Result<String> {
    let name = visible(&from_path(path)).into_owned();
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        return Err(Error::new("this is not a regular file")
            .in_source(name)
            .help("save its text to a file first"));
    }
    let input = Input::open(&name, path, Limit::ANY)?;
    if input.length > most {
        return Err(Error::new(format!("the file has {} bytes, but at most {most} are read", input.length))
            .in_source(name));
    }
    input.text()
}

/// Writes a text; a file that is there is replaced once the new one is whole.
///
/// # Errors
/// If it cannot be written; then nothing has changed.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    replaced(path, |file| {
        file.write_all(text.as_bytes())?;
        Ok(())
    })
}

/// A text that grows while a program runs: each piece is in the file at once, however the program ends. A file that is there is
/// replaced by the first piece.
#[derive(Debug)]
pub struct GrowingText {
    path: PathBuf,
    file: File,
    /// The text in the file, once there is any.
    text: Option<String>,
    failed: Option<Error>,
}

impl GrowingText {
    /// An empty text; nothing is in the file yet.
    ///
    /// # Errors
    /// If nothing can be written to the file.
    pub fn new(path: PathBuf) -> Result<GrowingText> {
        is_for_a_file(&path)?;
        let file = File::options().write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|error| not_written(&path, &error))?;
        Ok(GrowingText { path, file, text: None, failed: None })
    }

    /// The text so far.
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Adds a piece. The first failure is told by [`GrowingText::finish`].
    pub fn push(&mut self, piece: &str) {
        let cleared = if self.text.is_none() { self.file.set_len(0) } else { Ok(()) };
        self.text.get_or_insert_default().push_str(piece);
        let written = cleared.and_then(|()| self.file.write_all(piece.as_bytes()));
        self.note(written);
    }

    /// Takes back what comes after this many bytes.
    pub fn cut(&mut self, length: usize) {
        if let Some(text) = self.text.as_mut().filter(|text| length < text.len()) {
            text.truncate(length);
            let cut = self.file.set_len(length as u64);
            let cut = cut.and_then(|()| self.file.seek(SeekFrom::Start(length as u64)).map(|_| ()));
            self.note(cut);
        }
    }

    fn note(&mut self, outcome: std::io::Result<()>) {
        if let Err(error) = outcome {
            self.failed.get_or_insert_with(|| not_written(&self.path, &error));
        }
    }

    /// # Errors
    /// If a piece could not be written.
    pub fn finish(self) -> Result<()> {
        self.failed.map_or(Ok(()), Err)
    }
}

/// Makes a folder and those above it, readable by its owner alone where the system knows owners.
///
/// # Errors
/// If it cannot be made.
pub fn make_folder(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| unreadable(&visible(&from_path(path)), &error))
}

/// The Markdown files of a folder, sorted by name; what begins with a point is left aside, and folders are not entered.
///
/// # Errors
/// If it is no folder, or cannot be read.
pub fn markdown_files(folder: &str) -> Result<Vec<String>> {
    let (shown, path) = (visible(folder).into_owned(), to_path(folder));
    let failed = |error: &std::io::Error| unreadable(&shown, error);
    let mut files = Vec::new();
    for entry in fs::read_dir(&path).map_err(|error| failed(&error))? {
        let name = entry.map_err(|error| failed(&error))?.file_name();
        let text = name.to_string_lossy();
        if text.ends_with(".md") && !text.starts_with('.') {
            files.push(from_path(&path.join(&name)));
        }
    }
    files.sort();
    Ok(files)
}

/// True if there is a folder of this name.
pub fn is_folder(name: &str) -> bool {
    fs::metadata(to_path(name)).is_ok_and(|metadata| metadata.is_dir())
}

// Writing several files into a folder, none over what a user has there.

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
    fn a_text_is_written_whole_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        make_folder(&deep).unwrap();
        let path = deep.join("x.md");
        write_text(&path, "one\ntwo\n").unwrap();
        assert_eq!(read_text(&path, 8).unwrap(), "one\ntwo\n");
        assert!(read_text(&path, 7).unwrap_err().to_string().contains("at most 7"));
        let deep = deep.to_str().unwrap();
        assert_eq!(markdown_files(deep).unwrap(), [path.to_str().unwrap()]);
        assert!(is_folder(deep));
    }

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
