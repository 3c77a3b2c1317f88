//! NumPy's `.npz`: a zip archive of `.npy` files, stored or deflated.

use std::collections::HashSet;
use std::io;
use std::io::{Read, SeekFrom};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::{Error, Result};
use crate::tensor::Element;
use crate::text::clip;

use super::array::{Item, Limit, entry_name};
use super::npy;
use super::open::{Input, ReadSeek, unreadable};

/// The first bytes of a zip archive; an empty one starts with its end record.
pub(super) const MAGICS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// An opened archive; entries are unpacked one by one, when asked for.
pub(super) struct Npz {
    name: String,
    archive: ZipArchive<Box<dyn ReadSeek>>,
    /// The names of the arrays, in the order of the archive.
    names: Vec<String>,
    /// Bytes that may still be unpacked.
    left: u64,
    limit: Limit,
}

impl Npz {
    /// Reads the list of entries.
    ///
    /// # Errors
    /// If the file is no zip archive, or not all of one, or more than one, or a name stands in it twice.
    pub(super) fn open(mut input: Input) -> Result<Npz> {
        check(&input.name, &mut *input.reader, input.length)?;
        let archive = ZipArchive::new(input.reader).map_err(|error| bad_archive(&input.name, &error))?;
        let names: Result<Vec<String>> = archive.file_names_raw().map(array_name).collect();
        let names = names.map_err(|error| error.in_source(&input.name))?;
        Ok(Npz { name: input.name, archive, names, left: input.limit.unpacked(), limit: input.limit })
    }

    /// The names of the arrays, in the order of the archive.
    pub(super) fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// The name in errors of the array at a position of [`Npz::names`].
    fn entry_name(&self, position: usize) -> String {
        entry_name(&self.name, self.names.get(position).map(String::as_str).unwrap_or_default())
    }

    /// Unpacks the array at a position of [`Npz::names`].
    ///
    /// # Errors
    /// If the entry is damaged, is no array, or unpacks to anything but what its own header says.
    pub(super) fn read<T: Element>(&mut self, position: usize) -> Result<Item<T>> {
        let name = self.entry_name(position);
        let mut file = self.archive.by_index(position).map_err(|error| bad_archive(&name, &error))?;
        // The size here is only what the archive says; `npy::read` holds it against the array's header, then against
        // the bytes, of which it unpacks at most one too many.
        let length = file.size();
        self.left = self.left.checked_sub(length).ok_or_else(|| {
            Error::new(format!("the file unpacks to more than {} MiB", self.limit.unpacked() >> 20))
                .in_source(&name)
                .help("save the arrays that you need in a file of their own")
        })?;
        npy::read(&name, &mut file, length, self.limit)
    }

    /// True if the array at a position of [`Npz::names`] holds truth values, as far as its header says.
    ///
    /// # Errors
    /// If the entry is damaged, or is no array.
    pub(super) fn is_boolean(&mut self, position: usize) -> Result<bool> {
        let name = self.entry_name(position);
        let mut file = self.archive.by_index(position).map_err(|error| bad_archive(&name, &error))?;
        npy::is_boolean(&name, &mut file)
    }

    /// From now on no array may be larger than this.
    pub(super) fn keep_within(&mut self, limit: Limit) {
        self.limit = limit;
    }
}

fn bad_archive(name: &str, error: &ZipError) -> Error {
    let said = match error {
        ZipError::UnsupportedArchive(why) => {
            Error::new(format!("this kind of zip archive is not supported: {why}"))
                .help("save it with numpy.savez or numpy.savez_compressed")
        }
        _ => Error::new(format!("the zip archive is incomplete: {error}"))
            .help("the file was cut off or is damaged: save it again with numpy.savez"),
    };
    said.in_source(name)
}

// The end of a zip archive, looked at closely before it is unpacked: an archive fills its file, and no name stands in it twice.
// Readers of zip archives are lenient in this, and each takes another part of what is left over.

/// The last record without its comment, and the longest comment.
const END: u64 = 22;
const LONGEST_COMMENT: u64 = 0xffff;
/// The size of the record that locates the end of a large archive.
const LOCATOR: u64 = 20;
/// The end of a large archive, as far as it is read.
const LARGE_END: usize = 56;
/// One entry without its name.
const ENTRY: usize = 46;
/// The size of the header before an entry's bytes, without its name.
const LOCAL: usize = 30;
/// Marks a number that is in the extra field because it exceeds 32 bits.
const ELSEWHERE: u64 = 0xffff_ffff;
/// The extra field of large archives.
const LARGE: u64 = 1;

/// The position of the list of entries.
struct Directory {
    start: u64,
    size: u64,
    entries: u64,
    /// The byte at which the list must end.
    end: u64,
}

/// Checks that the archive begins with the file and ends with it, lists every name once, and has each entry under that name.
///
/// # Errors
/// If it does not.
pub(super) fn check(name: &str, reader: &mut dyn ReadSeek, length: u64) -> Result<()> {
    let failed = |error: io::Error| unreadable(name, &error);
    let damaged = |what: &str| {
        Error::new(format!("the zip archive {what}"))
            .in_source(name)
            .help("the file was cut off, changed or joined to another: save it again with numpy.savez")
    };
    let Some(directory) = directory(reader, length).map_err(failed)? else {
        return Err(damaged("is incomplete, or other bytes stand behind it"));
    };
    if directory.start.checked_add(directory.size) != Some(directory.end) {
        return Err(damaged("does not have its list of entries where it says"));
    }
    reader.seek(SeekFrom::Start(directory.start)).map_err(failed)?;
    let mut list = io::BufReader::new(reader.take(directory.size));
    let (mut names, mut listed, mut read) = (HashSet::new(), Vec::new(), 0);
    while read < directory.size {
        let mut entry = [0; ENTRY];
        list.read_exact(&mut entry).map_err(failed)?;
        let [name_length, extra, comment] = [28, 30, 32].map(|at| number(&entry[at..at + 2]));
        let raw = bytes(&mut list, name_length).map_err(failed)?;
        let more = bytes(&mut list, extra).map_err(failed)?;
        io::copy(&mut list.by_ref().take(comment), &mut io::sink()).map_err(failed)?;
        if !entry.starts_with(b"PK\x01\x02") {
            return Err(damaged("has no entry where its list says"));
        }
        listed.push((start_of(&entry, &more), raw.clone()));
        read += ENTRY as u64 + name_length + extra + comment;
        let text = array_name(&raw).map_err(|error| error.in_source(name))?;
        if names.contains(&text) {
            return Err(Error::new(format!("`{}` appears twice", clip(&text)))
                .in_source(name)
                .help("save every array under a name of its own"));
        }
        names.insert(text);
    }
    if read != directory.size || names.len() as u64 != directory.entries {
        return Err(damaged("does not list as many entries as it says"));
    }
    if listed.iter().map(|(start, _)| *start).min().unwrap_or(directory.start) != 0 {
        return Err(damaged("does not begin with the file"));
    }
    for (start, raw) in listed {
        if !is_there(reader, start, &raw).map_err(failed)? {
            return Err(damaged(&format!(
                "has another entry where it lists `{}`",
                clip(str::from_utf8(&raw).unwrap_or_default())
            )));
        }
    }
    Ok(())
}

/// The name of an entry without its ending.
///
/// # Errors
/// If it is not UTF-8: then its characters are unknown.
pub(super) fn array_name(raw: &[u8]) -> Result<String> {
    let Ok(name) = str::from_utf8(raw) else {
        let shown = clip(&raw.escape_ascii().to_string());
        return Err(Error::new(format!("the name `{shown}` is not UTF-8 text"))
            .help("save the arrays under names in ASCII: numpy.savez(file, X=x, W_Q=w_q)"));
    };
    Ok(name.strip_suffix(".npy").unwrap_or(name).to_string())
}

/// The next `count` bytes.
fn bytes(reader: &mut dyn Read, count: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(count).unwrap_or(usize::MAX)];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The byte at which an entry of the list begins: in the entry, or in the extra field after the sizes.
fn start_of(entry: &[u8; ENTRY], extra: &[u8]) -> u64 {
    let [size, packed, start] = [24, 20, 42].map(|at| number(&entry[at..at + 4]));
    if start != ELSEWHERE {
        return start;
    }
    let before = [size, packed].into_iter().filter(|&size| size == ELSEWHERE).count();
    let mut rest = extra;
    while let Some((head, fields)) = rest.split_at_checked(4) {
        let length = usize::try_from(number(&head[2..])).unwrap_or(usize::MAX);
        let Some((field, others)) = fields.split_at_checked(length) else { break };
        if number(&head[..2]) == LARGE {
            return field.get(8 * before..8 * before + 8).map_or(start, number);
        }
        rest = others;
    }
    start
}

/// True if an entry of this name begins there.
fn is_there(reader: &mut dyn ReadSeek, start: u64, name: &[u8]) -> io::Result<bool> {
    reader.seek(SeekFrom::Start(start))?;
    let mut head = Vec::new();
    reader.take((LOCAL + name.len()) as u64).read_to_end(&mut head)?;
    Ok(head.starts_with(b"PK\x03\x04")
        && head.get(26..28).map(number) == Some(name.len() as u64)
        && head.get(LOCAL..) == Some(name))
}

/// The position of the list according to the last record of the file; `None` if the file does not end with such a record.
fn directory(reader: &mut dyn ReadSeek, length: u64) -> io::Result<Option<Directory>> {
    let from = length.saturating_sub(END + LONGEST_COMMENT + LOCATOR);
    let mut tail = Vec::new();
    reader.seek(SeekFrom::Start(from))?;
    reader.take(length - from).read_to_end(&mut tail)?;
    let is_end = |at: &usize| {
        let record = &tail[*at..];
        record.starts_with(b"PK\x05\x06") && END + number(&record[20..22]) == record.len() as u64
    };
    let Some(at) = (0..=tail.len().saturating_sub(END as usize))
        .rev()
        .find(|at| tail.len() >= END as usize && is_end(at))
    else {
        return Ok(None);
    };
    let record = &tail[at..];
    let place = from + at as u64;
    let locator = at.checked_sub(LOCATOR as usize).map(|start| &tail[start..at]);
    let Some(locator) = locator.filter(|locator| locator.starts_with(b"PK\x06\x07")) else {
        return Ok(Some(Directory {
            entries: number(&record[10..12]),
            size: number(&record[12..16]),
            start: number(&record[16..20]),
            end: place,
        }));
    };
    let end = number(&locator[8..16]);
    let mut large = [0; LARGE_END];
    if end.checked_add(LARGE_END as u64 + LOCATOR).is_none_or(|least| least > place) {
        return Ok(None);
    }
    reader.seek(SeekFrom::Start(end))?;
    reader.read_exact(&mut large)?;
    let size = number(&large[4..12]);
    let fits = end.checked_add(size).and_then(|sum| sum.checked_add(12 + LOCATOR)) == Some(place);
    Ok((large.starts_with(b"PK\x06\x06") && fits).then(|| Directory {
        entries: number(&large[32..40]),
        size: number(&large[40..48]),
        start: number(&large[48..56]),
        end,
    }))
}

/// A number of at most eight bytes, little-endian.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
