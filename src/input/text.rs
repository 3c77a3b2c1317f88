//! Texts as they are: lessons, and what is kept beside them.

use crate::foreign::{from_path, to_path, visible};
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

use super::limit::Limit;
use super::open::{Input, unreadable};
use super::save::{is_for_a_file, not_written, replaced};

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
}
