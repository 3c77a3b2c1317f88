//! The one door through which user's files come in.

use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};
use crate::graph::{Dtype, Numbers, Typed};
use crate::matrix::Matrix;

use super::allow::Allow;
use super::array::Array;
use super::bundle::{self, Bundle};
use super::bundled::Bundled;
use super::container::{Content, Format};
use super::embeddings::{self, Stream, WordVectors};
use super::inline::inline;
use super::json_document::Nodes;
use super::mask::mask_of;
use super::npy;
use super::open::{Input, Limit, regular};
use super::reading::Reading;
use super::source::Source;
use crate::foreign::visible;

/// What errors call standard input.
const STANDARD_INPUT: &str = "standard input";

/// In which types the fast path reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typing {
    /// That of queries, keys, values and biases.
    pub dtype: Dtype,
    /// Whether the numbers of a mask say true and false: not 0 is true. Else only those of a boolean file do.
    pub mask_as_truth: bool,
}

/// What a name stands for, before its content is read.
enum Opened {
    /// A matrix typed in place.
    Inline(String),
    File(Input, Format),
}

/// Reads what a user named. It carries the reader behind `-`, so that nothing depends on the process's own.
pub struct Files<'a> {
    stdin: Option<&'a mut dyn Read>,
    reading: Reading,
}

impl<'a> Files<'a> {
    /// With what `-` stands for; it can be read once.
    pub fn new(stdin: &'a mut dyn Read) -> Files<'a> {
        Files { stdin: Some(stdin), reading: Reading::Anywhere }
    }

    /// The same, with the files that may be read.
    pub fn within(self, reading: Reading) -> Files<'a> {
        Files { reading, ..self }
    }

    /// What a name stands for, if it may be read.
    fn source(&self, name: &str) -> Result<Source> {
        self.reading.check(name)?;
        Source::of(name)
    }

    /// The one array that `source` stands for: a file, `-`, or a matrix typed in place.
    ///
    /// # Errors
    /// If it cannot be read, holds several arrays, or holds what `allow` does not let in.
    pub fn array(&mut self, source: &str, allow: Allow) -> Result<Array> {
        Ok(self.one(source, allow, Limit::ANY)?.row_by_row())
    }

    /// The one array that `source` stands for, read straight into numbers of this type, which may be as many as memory
    /// holds: queries, keys, values or a bias for the fast path.
    ///
    /// # Errors
    /// As [`Files::array`], if a number is beyond the type, or if the array is no matrix and no stack of heads.
    pub fn numbers(&mut self, source: &str, dtype: Dtype, allow: Allow) -> Result<Numbers> {
        let numbers = match dtype {
            Dtype::F32 => self.one::<f32>(source, allow, Limit::LARGE)?.into_numbers(),
            Dtype::F64 => self.one::<f64>(source, allow, Limit::LARGE)?.into_numbers(),
            Dtype::Bool => self.one::<bool>(source, allow, Limit::LARGE)?.into_numbers(),
        };
        numbers.map_err(|error| error.in_source(visible(source)))
    }

    /// The one matrix that `source` stands for, as a mask for the fast path: truth values where the file has them, or where
    /// `typing` asks for them, else numbers. It may be as large as memory.
    ///
    /// # Errors
    /// As [`Files::numbers`].
    pub fn mask(&mut self, source: &str, typing: Typing) -> Result<Numbers> {
        match typing.dtype {
            Dtype::F64 => self.mask_of::<f64>(source, typing.mask_as_truth),
            Dtype::F32 | Dtype::Bool => self.mask_of::<f32>(source, typing.mask_as_truth),
        }
    }

    fn mask_of<T: Typed>(&mut self, source: &str, as_truth: bool) -> Result<Numbers> {
        let name = visible(source).into_owned();
        let (mut input, format) = match self.opened(source, Limit::LARGE)? {
            Opened::Inline(text) => return mask_of::<T>(&name, inline(&text, Allow::INFINITE)?, as_truth),
            Opened::File(input, format) => (input, format),
        };
        let name = input.name.clone();
        if format == Format::Npy {
            let is_truth = as_truth || npy::is_boolean(&name, &mut input.reader)?;
            input.rewind()?;
            let numbers = match is_truth {
                true => Content::<bool>::read(input, format, Allow::INFINITE)?
                    .into_one(&name)?
                    .into_matrix_numbers(),
                false => {
                    let array = Content::<T>::read(input, format, Allow::INFINITE)?.into_one(&name)?;
                    array.checked(&name, Allow::INFINITE)?.into_matrix_numbers()
                }
            };
            return numbers.map_err(|error| error.in_source(name));
        }
        match Content::<f64>::read(input, format, Allow::INFINITE)? {
            Content::One(array) => mask_of::<T>(&name, array, as_truth),
            Content::Many(mut container) => {
                container.check_single(&name)?;
                container.mask::<T>(&name, 0, as_truth)
            }
        }
    }

    /// The one array that `source` stands for, in the order of the file.
    fn one<T: Typed>(&mut self, source: &str, allow: Allow, limit: Limit) -> Result<Array<T>> {
        let name = visible(source).into_owned();
        let (input, format) = match self.opened(source, limit)? {
            Opened::Inline(text) => return inline(&text, allow)?.in_type(&name),
            Opened::File(input, format) => (input, format),
        };
        let name = input.name.clone();
        Content::read(input, format, allow)?.into_one(&name)?.checked(&name, allow)
    }

    /// All arrays that `source` holds, each under its own name where the file gives names. Anything is let in that is a
    /// number, an infinity or NaN: this is for results that are to be judged.
    ///
    /// # Errors
    /// If it cannot be read, is larger than `limit`, or holds no arrays.
    pub fn named(&mut self, source: &str, limit: Limit) -> Result<Vec<(Option<String>, Array)>> {
        match self.opened(source, limit)? {
            Opened::Inline(text) => Ok(vec![(None, inline(&text, Allow::ANYTHING)?)]),
            Opened::File(input, format) => all(input, format),
        }
    }

    /// The one matrix that `source` stands for.
    ///
    /// # Errors
    /// As [`Files::array`], and if it is a stack of heads.
    pub fn matrix(&mut self, source: &str, allow: Allow) -> Result<Matrix> {
        let array = self.array(source, allow)?;
        array.into_matrix().map_err(|error| error.in_source(visible(source)))
    }

    /// The matrices of one attention layer that `source` holds under their names. `layer` chooses among several: by
    /// number, or by the prefix of its names.
    ///
    /// # Errors
    /// If the file holds a single matrix, unknown names, several layers with none chosen, or anything but finite
    /// numbers outside masks and biases.
    pub fn bundle(&mut self, source: &str, layer: Option<&str>) -> Result<Bundle> {
        self.bundle_in(source, layer, None)
    }

    /// The same; whole Q, K, V, biases and masks straight in types of their own, if these are given, and as large as memory.
    ///
    /// # Errors
    /// As [`Files::bundle`].
    pub fn bundle_in(&mut self, source: &str, layer: Option<&str>, typing: Option<Typing>) -> Result<Bundle> {
        let limit = if typing.is_some() { Limit::LARGE } else { Limit::ANY };
        let (input, format) = match self.opened(source, limit)? {
            Opened::Inline(_) => return Err(bundle::nameless(&visible(source))),
            Opened::File(input, format) => (input, format),
        };
        let name = input.name.clone();
        if matches!(format, Format::Npy | Format::Delimited(_)) {
            return Err(bundle::nameless(&name));
        }
        match Content::<f64>::read(input, format, Allow::ANYTHING)? {
            Content::One(_) => Err(bundle::nameless(&name)),
            Content::Many(container) => bundle::read(&name, container, layer, typing),
        }
    }

    /// The text of a file or of standard input, for what is not matrices: a model's configuration, a lesson.
    ///
    /// # Errors
    /// If it is no regular file, larger than 1 GiB, empty, or not UTF-8.
    pub fn text(&mut self, source: &str) -> Result<String> {
        let name = visible(source).into_owned();
        match self.source(source)? {
            Source::StandardInput => {
                Input::drain(STANDARD_INPUT, self.take_standard_input()?, Limit::ANY)?.text()
            }
            Source::Path(path) => Input::open(&name, &path, Limit::ANY)?.text(),
            Source::Bundled(file) => Input::bundled(&name, file.bytes, Limit::ANY).text(),
            Source::Inline(_) => Err(Error::new("no such file").in_source(name)),
        }
    }

    /// The vectors of some words, from a file with a word and its numbers on every line, plain or gzip. Each word is looked up
    /// as it is written, then in lower case. The file is streamed; of a word that is there twice the first counts.
    ///
    /// # Errors
    /// If the file has no vectors, or a line that is wanted is no vector of the common width.
    pub fn word_vectors(&mut self, source: &str, words: &[&str]) -> Result<WordVectors> {
        if source == "-" {
            let stdin = self.take_standard_input()?;
            return embeddings::find(STANDARD_INPUT, words, &mut Stream::Once(Some(stdin)));
        }
        let name = visible(source).into_owned();
        match self.source(source)? {
            Source::Path(path) => {
                regular(&name, &path)?;
                embeddings::find(&name, words, &mut Stream::File(&path))
            }
            Source::Bundled(file) => embeddings::find(&name, words, &mut Stream::Bytes(file.bytes)),
            _ => Err(Error::new("this is a matrix, not a file of word vectors").in_source(name)),
        }
    }

    fn take_standard_input(&mut self) -> Result<&'a mut dyn Read> {
        self.stdin.take().ok_or_else(|| {
            Error::new("standard input can be read only once")
                .in_source(STANDARD_INPUT)
                .help("write `-` for only one input, and name files for the others")
        })
    }

    fn opened(&mut self, source: &str, limit: Limit) -> Result<Opened> {
        let name = visible(source).into_owned();
        let (input, format) = match self.source(source)? {
            Source::Inline(text) => return Ok(Opened::Inline(text)),
            Source::StandardInput => self.standard_input(limit)?,
            Source::Path(path) => open(&name, &path, limit)?,
            Source::Bundled(file) => open_bundled(&name, file, limit)?,
        };
        Ok(Opened::File(input, format))
    }

    fn standard_input(&mut self, limit: Limit) -> Result<(Input, Format)> {
        let stdin = self.take_standard_input()?;
        let mut input = Input::drain(STANDARD_INPUT, stdin, limit)?;
        let format = Format::sniff(&mut input)?;
        Ok((input, format))
    }
}

/// All arrays of a file, called `name` in errors; as [`Files::named`].
pub(super) fn named_in(name: &str, path: &Path, limit: Limit) -> Result<Vec<(Option<String>, Array)>> {
    let (input, format) = open(name, path, limit)?;
    all(input, format)
}

/// All arrays of a file that travels with the program; as [`Files::named`].
pub(super) fn named_in_bundled(
    name: &str,
    file: &Bundled,
    limit: Limit,
) -> Result<Vec<(Option<String>, Array)>> {
    let (input, format) = open_bundled(name, file, limit)?;
    all(input, format)
}

fn all(input: Input, format: Format) -> Result<Vec<(Option<String>, Array)>> {
    let name = input.name.clone();
    Content::<f64>::nodes(input, format, Allow::ANYTHING, Nodes::Computed)?.into_all(&name)
}

fn open_bundled(name: &str, file: &Bundled, limit: Limit) -> Result<(Input, Format)> {
    let mut input = Input::bundled(name, file.bytes, limit);
    let format = Format::of(Path::new(file.name), &mut input)?;
    Ok((input, format))
}

fn open(name: &str, path: &Path, limit: Limit) -> Result<(Input, Format)> {
    let mut input = Input::open(name, path, limit)?;
    let format = Format::of(path, &mut input)?;
    Ok((input, format))
}
