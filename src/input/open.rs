//! Opening what a user named: only regular files and standard input, and never more of them than fits.

use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::{Error, Place, Result};

/// The most bytes that are read as a whole: text, JSON, standard input, one array.
pub(super) const MOST_BYTES: u64 = 1 << 30;

/// Bytes that can be read again from anywhere.
pub(super) trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// An opened file, or all of standard input.
pub(super) struct Input {
    /// What errors call it.
    pub(super) name: String,
    /// How many bytes it has.
    pub(super) length: u64,
    /// At its start.
    pub(super) reader: Box<dyn ReadSeek>,
}

impl Input {
    /// Opens a regular file that is not empty.
    ///
    /// # Errors
    /// If it cannot be opened, or is a directory, a device, a pipe, or empty.
    pub(super) fn open(name: &str, path: &Path) -> Result<Input> {
        let (file, length) = regular(name, path)?;
        if length == 0 {
            return Err(empty(name));
        }
        Ok(Input { name: name.to_string(), length, reader: Box::new(BufReader::new(file)) })
    }

    /// Takes in all of a stream.
    ///
    /// # Errors
    /// If it fails, is empty, or has more than [`MOST_BYTES`].
    pub(super) fn drain(name: &str, stream: &mut dyn Read) -> Result<Input> {
        Input::drain_at_most(MOST_BYTES, name, stream)
    }

    fn drain_at_most(most: u64, name: &str, stream: &mut dyn Read) -> Result<Input> {
        let mut bytes = Vec::new();
        stream.take(most + 1).read_to_end(&mut bytes).map_err(|error| unreadable(name, &error))?;
        let length = bytes.len() as u64;
        if length == 0 {
            return Err(empty(name));
        }
        if length > most {
            return Err(too_large(name));
        }
        Ok(Input { name: name.to_string(), length, reader: Box::new(Cursor::new(bytes)) })
    }

    /// The first bytes, without moving on.
    pub(super) fn peek(&mut self, count: usize) -> Result<Vec<u8>> {
        let mut start = Vec::new();
        let read = self.reader.by_ref().take(count as u64).read_to_end(&mut start);
        read.and_then(|_| self.reader.seek(SeekFrom::Start(0)))
            .map_err(|error| unreadable(&self.name, &error))?;
        Ok(start)
    }

    /// The whole as text.
    ///
    /// # Errors
    /// If it has more than [`MOST_BYTES`], or is not UTF-8: at the line and column of the first wrong byte.
    pub(super) fn text(mut self) -> Result<String> {
        if self.length > MOST_BYTES {
            return Err(too_large(&self.name));
        }
        let mut bytes = Vec::new();
        let read = self.reader.by_ref().take(MOST_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| unreadable(&self.name, &error))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(too_large(&self.name));
        }
        decode(&self.name, bytes)
    }
}

/// Bytes as text, without a byte order mark.
fn decode(name: &str, bytes: Vec<u8>) -> Result<String> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Error::new("UTF-16 text").in_source(name).help("save it as UTF-8"));
    }
    match String::from_utf8(bytes) {
        Ok(text) if text.starts_with('\u{feff}') => Ok(text['\u{feff}'.len_utf8()..].to_string()),
        Ok(text) => Ok(text),
        Err(error) => {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let valid = String::from_utf8_lossy(valid);
            let (line, column) = line_and_column(&valid, valid.len());
            Err(Error::new("not UTF-8 text").at(Place::Text(name.to_string(), line, column)).help(
                "save it as UTF-8; arrays in binary have an ending of their own: .npy, .npz or .safetensors",
            ))
        }
    }
}

/// The line and the column, in characters and both from 1, of a position in bytes.
pub(super) fn line_and_column(text: &str, position: usize) -> (usize, usize) {
    let before = text.get(..position).unwrap_or(text);
    let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before[start..].chars().count() + 1)
}

/// Opens a file after making sure that reading it will end, and gives its length.
pub(super) fn regular(name: &str, path: &Path) -> Result<(File, u64)> {
    // Before opening: a pipe that nobody writes to would hold us there.
    check_regular(name, &fs::metadata(path).map_err(|error| unreadable(name, &error))?)?;
    let file = File::open(path).map_err(|error| unreadable(name, &error))?;
    let metadata = file.metadata().map_err(|error| unreadable(name, &error))?;
    check_regular(name, &metadata)?;
    Ok((file, metadata.len()))
}

fn check_regular(name: &str, metadata: &fs::Metadata) -> Result<()> {
    if metadata.is_dir() {
        return Err(Error::new("is a directory").in_source(name).help("name a file in it"));
    }
    if !metadata.is_file() {
        return Err(Error::new("is not a regular file")
            .in_source(name)
            .help("pipe it into standard input and write `-`, or save it to a file first"));
    }
    Ok(())
}

/// Why a file cannot be opened or read, for its user.
pub(super) fn unreadable(name: &str, error: &io::Error) -> Error {
    let said = match error.kind() {
        ErrorKind::NotFound => Error::new("no such file"),
        ErrorKind::PermissionDenied => Error::new("permission denied").help("check who may read it"),
        ErrorKind::UnexpectedEof => {
            Error::new("ends too early").help("it was cut off: make or fetch it again")
        }
        _ => Error::new(format!("cannot be read: {error}")),
    };
    said.in_source(name)
}

fn empty(name: &str) -> Error {
    Error::new("nothing in it: 0 bytes").in_source(name)
}

fn too_large(name: &str) -> Error {
    Error::new(format!("larger than {} MiB, the most that is read at once", MOST_BYTES >> 20))
        .in_source(name)
        .help("attention is shown for small matrices: save a part of it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_permission_is_said_plainly() {
        let error = unreadable("secret.csv", &io::Error::from(ErrorKind::PermissionDenied));
        assert_eq!(error.to_string(), "secret.csv: permission denied\n  help: check who may read it");
    }

    #[test]
    fn bytes_that_are_no_text_are_named_with_their_place() {
        let said = decode("x.csv", b"1,2\n3,\xff".to_vec()).unwrap_err().to_string();
        assert!(said.starts_with("x.csv:2:3: not UTF-8 text"), "{said}");
        let said = decode("x.csv", b"\xff\xfe1\0".to_vec()).unwrap_err().to_string();
        assert!(said.contains("UTF-16"), "{said}");
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        assert_eq!(decode("x.csv", "\u{feff}1".into()).unwrap(), "1");
    }

    #[test]
    fn an_endless_stream_is_cut_off() {
        let said =
            Input::drain_at_most(1000, "standard input", &mut io::repeat(b'1')).err().unwrap().to_string();
        assert!(said.starts_with("standard input: larger than"), "{said}");
        assert!(Input::drain_at_most(1000, "standard input", &mut io::repeat(b'1').take(1000)).is_ok());
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(line_and_column("äö,x", "äö,".len()), (1, 4));
        assert_eq!(line_and_column("1\n22\n3", 5), (3, 1));
    }
}
