//! A file of word vectors as bytes: where it is read from, and the parts of a line.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Result};

use super::open::unreadable;

/// The stream of a file of vectors.
pub(super) enum Stream<'s> {
    /// A file, which can be read again.
    File(&'s Path),
    /// The bytes of a file that travels with the program.
    Bytes(&'static [u8]),
    /// A stream that can be read once.
    Once(Option<&'s mut dyn Read>),
}

impl Stream<'_> {
    /// From the beginning, unpacked; `None` when that is not to be had again.
    pub(super) fn open(&mut self, name: &str) -> Result<Option<Box<dyn Read + '_>>> {
        let mut raw: Box<dyn Read + '_> = match self {
            Stream::File(path) => Box::new(File::open(path).map_err(|error| unreadable(name, &error))?),
            Stream::Bytes(bytes) => Box::new(*bytes),
            Stream::Once(stream) => match stream.take() {
                Some(stream) => Box::new(stream),
                None => return Ok(None),
            },
        };
        let mut start = Vec::new();
        raw.by_ref().take(2).read_to_end(&mut start).map_err(|error| unreadable(name, &error))?;
        if start.is_empty() {
            return Err(Error::new("the file is empty (0 bytes)")
                .in_source(name)
                .help("check how it was made: the program that wrote it may have failed"));
        }
        let packed = start == [0x1f, 0x8b];
        let whole = Cursor::new(start).chain(raw);
        Ok(Some(if packed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) }))
    }
}

/// The word at the start of a line, and the rest.
pub(super) fn split_word(line: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr2(b' ', b'\t', line) {
        Some(end) => line.split_at(end),
        None => (line.trim_ascii_end(), &[]),
    }
}

/// The width that word2vec's first line announces; `None` if this is another line.
pub(super) fn header_width(line: &[u8]) -> Option<usize> {
    let mut fields = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let _count: u64 = fields.next()?.parse().ok()?;
    let width = fields.next()?.parse().ok()?;
    fields.next().is_none().then_some(width)
}
