//! Opening what a user named: only regular files and standard input, and never more of them than fits.

use std::borrow::Borrow;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, Read, Seek};
use std::path::Path;
use std::{fs, io};

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Place, Result};
use crate::foreign::{from_path, visible};
use crate::memory::ChargedBytes;
use crate::read::{Limit, line_and_column};
use crate::{error, memory};

/// The most memory in bytes that a byte of text takes beside the text: the parsed text and its numbers.
const BYTES_PER_BYTE: u64 = 11;

/// Bytes that can be read again from anywhere.
pub(super) trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// An opened file, or all of standard input.
pub(super) struct Input {
    /// Its name in errors.
    pub(super) name: String,
    /// The ending of its path, in small letters; a stream has none.
    pub(super) ending: Option<String>,
    /// Its size in bytes.
    pub(super) length: u64,
    /// The limit of the bytes read from it.
    pub(super) limit: Limit,
    /// At its start.
    pub(super) reader: Box<dyn ReadSeek>,
}

impl Input {
    /// Opens a regular file that is not empty.
    ///
    /// # Errors
    /// If it cannot be opened, or is a directory, a device, a pipe, or empty, or larger than what is expected.
    pub(super) fn open(name: &str, path: &Path, limit: Limit) -> Result<Input> {
        let (file, length) = regular(name, path)?;
        Ok(Input { ending: ending(path), ..Input::of_file(name, file, length, limit)? })
    }

    /// An open file that is not empty.
    ///
    /// # Errors
    /// If it is empty, or larger than what is expected.
    pub(super) fn of_file(name: &str, file: File, length: u64, limit: Limit) -> Result<Input> {
        if length == 0 {
            return Err(empty(name));
        }
        if limit.numbers.is_some() && length > limit.whole {
            return Err(limit.too_large(name));
        }
        let reader = Box::new(BufReader::new(file));
        Ok(Input { name: name.to_string(), ending: None, length, limit, reader })
    }

    /// Takes in all of a stream.
    ///
    /// # Errors
    /// If it fails, is empty, or has more than `limit`.
    pub(super) fn drain(name: &str, stream: &mut dyn Read, limit: Limit) -> Result<Input> {
        let mut gathered = ChargedBytes::new(u64::MAX);
        io::copy(&mut stream.take(limit.whole + 1), &mut gathered)
            .map_err(|error| unreadable(name, &error))?;
        let bytes = gathered.kept();
        let length = bytes.len() as u64;
        if length == 0 {
            return Err(empty(name));
        }
        if length > limit.whole {
            return Err(limit.too_large(name));
        }
        Ok(Input {
            name: name.to_string(),
            ending: None,
            length,
            limit,
            reader: Box::new(Cursor::new(bytes)),
        })
    }

    /// A file that travels with the program.
    pub(super) fn bundled(name: &str, bytes: &'static [u8], limit: Limit) -> Input {
        let (ending, length) = (ending(Path::new(name)), bytes.len() as u64);
        Input { name: name.to_string(), ending, length, limit, reader: Box::new(Cursor::new(bytes)) }
    }

    /// Charges the memory of the numbers of a text to the budget.
    ///
    /// # Errors
    /// If it is more than the budget has left.
    pub(super) fn charge_as_text(&self) -> Result<()> {
        // A longer file is refused by its limit.
        let length = self.length.min(self.limit.whole);
        memory::hold(length.saturating_mul(BYTES_PER_BYTE))
            .map_err(|error| error.in_source(&self.name))?
            .keep();
        Ok(())
    }

    /// The first bytes, without moving on.
    pub(super) fn peek(&mut self, count: usize) -> Result<Vec<u8>> {
        let mut start = Vec::new();
        let read = self.reader.by_ref().take(count as u64).read_to_end(&mut start);
        read.map_err(|error| unreadable(&self.name, &error))?;
        self.rewind()?;
        Ok(start)
    }

    /// Back to the start.
    pub(super) fn rewind(&mut self) -> Result<()> {
        self.reader.rewind().map_err(|error| unreadable(&self.name, &error))
    }

    /// The whole as text, which is charged to the budget until the command is over.
    ///
    /// # Errors
    /// If it is larger than its limit or than the budget has left, or is not UTF-8: at the line and column of the first wrong byte.
    pub(super) fn text(mut self) -> Result<String> {
        if self.length > self.limit.whole {
            return Err(self.limit.too_large(&self.name));
        }
        let mut bytes = Vec::new();
        memory::hold(self.length).map_err(|error| error.in_source(&self.name))?.keep();
        // As much as the file says that it has, not twice as much.
        let length = usize::try_from(self.length).unwrap_or(usize::MAX);
        let room = bytes.try_reserve_exact(length.saturating_add(1));
        room.map_err(|_| unreadable(&self.name, &ErrorKind::OutOfMemory.into()))?;
        let read = self.reader.by_ref().take(self.limit.whole + 1).read_to_end(&mut bytes);
        read.map_err(|error| unreadable(&self.name, &error))?;
        if bytes.len() as u64 > self.limit.whole {
            return Err(self.limit.too_large(&self.name));
        }
        decode(&self.name, bytes)
    }

    /// All bytes, charged to the budget until the command is over.
    ///
    /// # Errors
    /// If there are more than its limit, or than the budget has left.
    pub(super) fn bytes(self) -> Result<Vec<u8>> {
        let Input { name, limit, mut reader, .. } = self;
        let mut bytes = ChargedBytes::new(u64::MAX);
        io::copy(&mut reader.by_ref().take(limit.whole + 1), &mut bytes)
            .map_err(|error| unreadable(&name, &error))?;
        let bytes = bytes.kept();
        if bytes.len() as u64 > limit.whole { Err(limit.too_large(&name)) } else { Ok(bytes) }
    }

    /// What a gzip file holds, as a file of its own, with the ending that stands before `.gz`.
    ///
    /// # Errors
    /// If it is damaged, or unpacks to more than its limit.
    pub(super) fn unpacked(self) -> Result<Input> {
        let Input { name, limit, reader, .. } = self;
        let stem = Path::new(&name).file_stem().map(Path::new).and_then(ending);
        let mut inside = Input::drain(&name, &mut MultiGzDecoder::new(reader), limit)?;
        inside.ending = stem.filter(|_| name.to_lowercase().ends_with(".gz"));
        Ok(inside)
    }
}

/// Bytes as text, without a byte order mark: UTF-8, or UTF-16 as Windows and Excel write it.
fn decode(name: &str, bytes: Vec<u8>) -> Result<String> {
    if let Some(big) = is_utf_16(&bytes) {
        let (units, odd) = bytes.as_chunks::<2>();
        let units =
            units.iter().map(|&unit| if big { u16::from_be_bytes(unit) } else { u16::from_le_bytes(unit) });
        let text: std::result::Result<String, _> = char::decode_utf16(units).collect();
        return match text {
            Ok(text) if odd.is_empty() => Ok(text.trim_start_matches('\u{feff}').to_string()),
            _ => Err(Error::new("this is damaged UTF-16 text").in_source(name).help("save it as UTF-8")),
        };
    }
    match String::from_utf8(bytes) {
        Ok(mut text) if text.starts_with('\u{feff}') => {
            text.drain(..'\u{feff}'.len_utf8());
            Ok(text)
        }
        Ok(text) => Ok(text),
        Err(error) => {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let valid = String::from_utf8_lossy(valid);
            let (line, column) = line_and_column(&valid, valid.len());
            Err(Error::new("this is not UTF-8 text").at(Place::Text(name.to_string(), line, column)).help(
                "save it as UTF-8; if it holds arrays in binary, its name has to end in .npy, .npz or .safetensors",
            ))
        }
    }
}

/// Whether bytes are UTF-16 text, and if so whether the larger half of each unit comes first: by the mark at the start, or by the zeros
/// in every second byte.
fn is_utf_16(bytes: &[u8]) -> Option<bool> {
    let zeros =
        |first: usize| bytes.len() > 3 && bytes.iter().take(64).skip(first).step_by(2).all(|&byte| byte == 0);
    let others = |first: usize| bytes.iter().take(64).skip(first).step_by(2).all(|&byte| byte != 0);
    match bytes {
        [0xff, 0xfe, ..] => Some(false),
        [0xfe, 0xff, ..] => Some(true),
        _ if zeros(1) && others(0) => Some(false),
        _ if zeros(0) && others(1) => Some(true),
        _ => None,
    }
}

/// The ending of a path, in small letters.
pub(super) fn ending(path: &Path) -> Option<String> {
    Some(path.extension()?.to_string_lossy().to_ascii_lowercase())
}

/// The names of what is in a folder, sorted, without those that begin with a dot.
pub(super) fn names_in(folder: &Path) -> io::Result<Vec<OsString>> {
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name()));
    let mut names = names.collect::<io::Result<Vec<OsString>>>()?;
    names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
    names.sort();
    Ok(names)
}

/// A path as errors show it.
pub(super) fn path_text(path: &Path) -> String {
    visible(&from_path(path)).into_owned()
}

/// What has a path, as `fs::metadata` or `fs::symlink_metadata` `found` it; `None` where nothing has it. All questions of this kind are
/// asked here: what cannot be examined may well be there, and is never taken for nothing.
///
/// # Errors
/// If it cannot be found out.
pub(super) fn examined(path: &Path, found: io::Result<fs::Metadata>) -> Result<Option<fs::Metadata>> {
    // Beyond a file there is nothing, nor under a name that is too long or has a zero byte in it.
    let nothing =
        [ErrorKind::NotFound, ErrorKind::NotADirectory, ErrorKind::InvalidFilename, ErrorKind::InvalidInput];
    match found {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if nothing.contains(&error.kind()) => Ok(None),
        Err(error) => {
            let name = path_text(path);
            Err(match error.kind() {
                ErrorKind::PermissionDenied => file_error(name, "permission denied")
                    .help("you may not open one of the folders in this path"),
                _ => unreadable(&name, &error),
            })
        }
    }
}

/// Opens a file after making sure that reading it will end, and gives its length.
pub(super) fn regular(name: &str, path: &Path) -> Result<(File, u64)> {
    // Checked before opening, because opening a pipe without a writer blocks.
    check_regular(name, &fs::metadata(path).map_err(|error| unreadable(name, &error))?)?;
    let file = File::open(path).map_err(|error| unreadable(name, &error))?;
    let metadata = file.metadata().map_err(|error| unreadable(name, &error))?;
    check_regular(name, &metadata)?;
    Ok((file, metadata.len()))
}

fn check_regular(name: &str, metadata: &fs::Metadata) -> Result<()> {
    if metadata.is_dir() {
        return Err(Error::new("this is a folder").in_source(name).help("name a file in it"));
    }
    if !metadata.is_file() {
        return Err(Error::new("this is not a regular file")
            .in_source(name)
            .help("save it to a file first, or pipe it in and write `-` for its name"));
    }
    Ok(())
}

/// An error about a file or a folder.
pub(super) fn file_error(name: impl Into<String>, what: impl Into<String>) -> Error {
    Error::new(what).of_kind(error::ErrorKind::File).in_source(name)
}

/// Why a file cannot be opened or read, for its user.
pub(super) fn unreadable(name: &str, error: &io::Error) -> Error {
    unread(error).in_source(name)
}

/// The same, as long as nobody has said which file it is.
pub(super) fn unread(error: impl Borrow<io::Error>) -> Error {
    let error = error.borrow();
    if let Some(own) = Error::carried_by(error) {
        return own;
    }
    let said = match error.kind() {
        ErrorKind::OutOfMemory => return memory::exhausted(),
        ErrorKind::NotFound => Error::new("no such file"),
        ErrorKind::PermissionDenied => {
            Error::new("permission denied").help("you may not read this file: check its permissions")
        }
        ErrorKind::UnexpectedEof => {
            Error::new("the file ends too early").help("it was cut off: save or download it again")
        }
        // Errors of decompression.
        ErrorKind::InvalidData | ErrorKind::InvalidInput => {
            Error::new(format!("the file cannot be read: {error}"))
                .help("it is damaged: save or download it again")
        }
        _ => Error::new(format!("the file cannot be read: {error}")),
    };
    said.of_kind(error::ErrorKind::File)
}

pub(super) fn empty(name: &str) -> Error {
    Error::new("the file is empty (0 bytes)")
        .in_source(name)
        .help("check how it was made: the program that wrote it may have failed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_permission_is_said_plainly() {
        let error = unreadable("secret.csv", &io::Error::from(ErrorKind::PermissionDenied));
        assert_eq!(
            error.to_string(),
            "secret.csv: permission denied\n  help: you may not read this file: check its permissions"
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_named_with_their_place() {
        let said = decode("x.csv", b"1,2\n3,\xff".to_vec()).unwrap_err().to_string();
        assert!(said.starts_with("x.csv:2:3: this is not UTF-8 text"), "{said}");
        let said = decode("x.csv", b"\xff\xfe1\0\0\xd8".to_vec()).unwrap_err().to_string();
        assert!(said.contains("UTF-16"), "{said}");
    }

    #[test]
    fn utf_16_is_text_in_either_order_and_without_a_mark() {
        for bytes in [&b"\xff\xfe1\0,\x002\0"[..], b"\xfe\xff\x001\0,\x002", b"1\0,\x002\0", b"\x001\0,\x002"]
        {
            assert_eq!(decode("x.csv", bytes.to_vec()).unwrap(), "1,2", "{bytes:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        assert_eq!(decode("x.csv", "\u{feff}1".into()).unwrap(), "1");
    }

    #[test]
    fn an_endless_stream_is_cut_off() {
        let limit = Limit::of_numbers(12);
        let drain = |stream: &mut dyn Read| Input::drain("standard input", stream, limit);
        let said = drain(&mut io::repeat(b'1')).err().unwrap().to_string();
        assert!(
            said.starts_with(
                "standard input: the file is larger than 1 MiB, but the exercise has only 12 numbers"
            ),
            "{said}"
        );
        assert!(drain(&mut io::repeat(b'1').take(1 << 20)).is_ok());
    }

    #[test]
    fn a_file_of_many_numbers_may_be_larger() {
        let sizes = [0, 1, 1 << 14, (1 << 14) + 1, usize::MAX].map(|n| Limit::of_numbers(n).whole >> 20);
        assert_eq!(sizes, [1, 1, 1, 2, 1024]);
    }
}
