//! Texts as they are: lessons, and what is kept beside them.

use crate::foreign::{from_path, to_path, visible};
use std::fs;
use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};

use super::limit::Limit;
use super::open::{Input, unreadable};
use super::save::replaced;

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
