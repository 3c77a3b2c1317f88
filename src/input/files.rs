//! All reading of files that a user named goes through [`Files`].

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Read};

use crate::error::{Error, Result};
use crate::foreign::{from_path, to_path, visible};
use crate::graph::Role;
use crate::matrix::Matrix;
use crate::read::{AllowedNumbers, Array, Limit};
use crate::tensor::Tensor;

use super::bundle::Bundle;
use super::container::{Container, Format, Purpose, ReadOptions, allowed};
use super::layers::LayerOptions;
use super::open::{Input, examined, names_in, unreadable};
use super::source::{BundledFile, ReadPermission, Source, bundled_file, bundled_inside};
use super::words::{Stream, WordVectors};
use super::{bundle, words};

/// The name of standard input in errors.
const STANDARD_INPUT: &str = "standard input";

/// Reads what a user named. It carries the reader behind `-`, so that nothing depends on the process's own.
pub struct Files<'a> {
    stdin: Option<&'a mut dyn Read>,
    reading: ReadPermission,
    /// What a reader should know about how files were read.
    notes: Vec<String>,
}

impl<'a> Files<'a> {
    /// With the stream behind `-`, which can be read once.
    pub fn new(stdin: &'a mut dyn Read) -> Files<'a> {
        Files { stdin: Some(stdin), reading: ReadPermission::Anywhere, notes: Vec::new() }
    }

    /// The same, with the files that may be read.
    pub fn within(self, reading: ReadPermission) -> Files<'a> {
        Files { reading, ..self }
    }

    /// The source behind a name, if it may be read.
    fn source(&self, name: &str) -> Result<Source> {
        self.reading.check(name)?;
        let bundled = bundled_file(name).filter(|_| self.reading.bundled_first());
        let source = bundled.map_or_else(|| Source::of(name), |file| Ok(Source::Bundled(file)))?;
        if let Source::Path(path) = &source {
            // The path may differ from the name: a minus sign stands for a hyphen.
            self.reading.check(&from_path(path))?;
        }
        Ok(source)
    }

    /// What a reader should know about how the files so far were read; each note is given once.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// The one array that `source` stands for: a file, `-`, or a matrix typed in place.
    ///
    /// # Errors
    /// If it cannot be read, holds several arrays, or holds what `allow` does not let in.
    pub fn array(&mut self, source: &str, allow: AllowedNumbers) -> Result<Array> {
        let mut container = self.opened(source, Limit::ANY, Purpose::One(allow))?;
        container.check_single()?;
        container.array(0)?.checked(&container.place(0), allow)
    }

    /// The one matrix or stack of heads that `source` stands for, as it is wanted for a role in attention.
    ///
    /// # Errors
    /// As [`Files::array`], if a number is beyond the type that is wanted, or if the array is no matrix, and no stack of heads
    /// where there may be one.
    pub fn read(&mut self, source: &str, role: Role, want: ReadOptions) -> Result<Tensor> {
        let limit = if want.dtype_of(role).is_some() { Limit::LARGE } else { Limit::ANY };
        let mut container = self.opened(source, limit, Purpose::One(allowed(role)))?;
        let (entry, note) = container.entry_for(role)?;
        self.note(note);
        container.tensor(entry, role, want)
    }

    /// All arrays that `source` holds, each under its own name where the file gives names. Anything is let in that is a
    /// number, an infinity or NaN: this is for results that are to be judged.
    ///
    /// # Errors
    /// If it cannot be read, is larger than `limit`, or holds no arrays.
    pub fn named(&mut self, source: &str, limit: Limit) -> Result<Vec<(Option<String>, Array)>> {
        self.opened(source, limit, Purpose::Results)?.into_all()
    }

    /// The one matrix that `source` stands for.
    ///
    /// # Errors
    /// As [`Files::array`], and if it is a stack of heads.
    pub fn matrix(&mut self, source: &str, allow: AllowedNumbers) -> Result<Matrix> {
        let array = self.array(source, allow)?;
        array.into_matrix().map_err(|error| error.in_source(visible(source)))
    }

    /// The matrices of one attention layer that `source` holds under their names, as they are wanted.
    ///
    /// # Errors
    /// If the file holds a single matrix, unknown names, several layers with none chosen, biases of projections that
    /// are not 0, or anything but finite numbers outside masks and biases.
    pub fn bundle(&mut self, source: &str, options: LayerOptions<'_>, want: ReadOptions) -> Result<Bundle> {
        let limit = if want.dtype.is_some() { Limit::LARGE } else { Limit::ANY };
        bundle::read(self.opened(source, limit, Purpose::Layer)?, options, want)
    }

    /// The text of a file or of standard input, for what is not matrices: a model's configuration, a lesson.
    ///
    /// # Errors
    /// If it is no regular file, larger than 1 GiB, empty, or not UTF-8.
    pub fn text(&mut self, source: &str) -> Result<String> {
        let found = self.source(source)?;
        self.input(source, &found, Limit::ANY)?.text()
    }

    /// The vectors of some words, from a file with a word and its numbers on every line, plain or gzip. Each word is looked up
    /// as it is written, then in lower case. The file is streamed; of a word that is there twice the first counts.
    ///
    /// # Errors
    /// If the file has no vectors, or a line that is wanted is no vector of the common width.
    pub fn word_vectors(&mut self, source: &str, words: &[&str]) -> Result<WordVectors> {
        let name = visible(source).into_owned();
        match self.source(source)? {
            Source::StandardInput => {
                let stdin = self.take_standard_input()?;
                words::find(STANDARD_INPUT, words, &mut Stream::Once(Some(stdin)))
            }
            Source::Inline(_) => {
                Err(Error::new("this is a matrix, not a file of word vectors").in_source(name))
            }
            file => words::find(&name, words, &mut Stream::File(file.open(&name, Limit::ANY)?)),
        }
    }

    fn take_standard_input(&mut self) -> Result<&'a mut dyn Read> {
        self.stdin.take().ok_or_else(|| {
            Error::new("standard input can be read only once")
                .in_source(STANDARD_INPUT)
                .help("write `-` for only one input, and name files for the others")
        })
    }

    /// All of standard input, or a file.
    fn input(&mut self, name: &str, source: &Source, limit: Limit) -> Result<Input> {
        match source {
            Source::StandardInput => Input::drain(STANDARD_INPUT, self.take_standard_input()?, limit),
            file => file.open(&visible(name), limit),
        }
    }

    /// What stands behind a name, with notes on what had to be guessed.
    fn opened(&mut self, source: &str, limit: Limit, purpose: Purpose) -> Result<Container> {
        let container = match self.source(source)? {
            Source::Inline(text) => Container::typed_in_place(visible(source).into_owned(), &text, purpose)?,
            found => Container::open(self.input(source, &found, limit)?, purpose)?,
        };
        self.note(container.notes());
        Ok(container)
    }

    /// Keeps notes, each once.
    fn note(&mut self, notes: impl IntoIterator<Item = String>) {
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}

// A folder of files, each of which stands for itself.

/// One entry of a folder.
#[derive(Clone, Debug)]
pub struct FolderEntry {
    /// Its name.
    pub name: String,
    source: Source,
}

impl FolderEntry {
    /// True if this may be a file of numbers: no folder, no link, and no ending that is not read.
    pub fn is_readable(&self) -> bool {
        match &self.source {
            Source::Path(path) => {
                fs::symlink_metadata(path).is_ok_and(|data| data.is_file()) && Format::reads(path)
            }
            _ => true,
        }
    }

    /// All arrays of the file, as [`super::Files::named`].
    ///
    /// # Errors
    /// If it is no regular file (links are not followed), cannot be read, is larger than `limit`, or holds no arrays.
    pub fn named(&self, limit: Limit) -> Result<Vec<(Option<String>, Array)>> {
        // A link may lead to a file of the reader's own, and an error quotes what it reads.
        if let Source::Path(path) = &self.source
            && fs::symlink_metadata(path).is_ok_and(|data| data.is_symlink())
        {
            return Err(Error::new("this is a link, and links are not followed").in_source(&*self.name));
        }
        Container::open(self.source.open(&self.name, limit)?, Purpose::Results)?.into_all()
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
    let bundled = bundled_inside(path);
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
            source: Source::Bundled(file),
        };
        return Ok(bundled.into_iter().map(entry).collect());
    }
    if !fs::metadata(path).map_err(|error| failed(&error))?.is_dir() {
        return Err(Error::new("this is not a folder")
            .in_source(shown)
            .help("name the folder that contains the files"));
    }
    let names = names_in(path).map_err(|error| failed(&error))?;
    if names.is_empty() {
        return Err(Error::new("a folder with no files in it").in_source(shown));
    }
    let entry = |name: OsString| FolderEntry {
        name: from_path(name.as_ref()),
        source: Source::Path(path.join(&name)),
    };
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
