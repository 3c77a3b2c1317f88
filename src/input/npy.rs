//! NumPy's `.npy`, one array, and `.npz`, an archive of such files. Source: NEP 1 and `numpy.lib.format`, versions 1.0 to 3.0.

use std::collections::HashSet;
use std::io::{Read, SeekFrom};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::{Error, Result};
use crate::memory;
use crate::read::{Limit, checked_cells};
use crate::text::clip;

use super::cell_type::{ArrayFormat, CellType, Kind, StoredArray};
use super::open::{Input, ReadSeek, unread};

/// The array of a `.npy` stream that has `length` bytes. They are read only once they agree with the header, and memory grows
/// with what is really there.
///
/// # Errors
/// If the stream is no array of numbers (or words), or has more or fewer bytes than its header says, or more than `limit`.
pub(super) fn stored<'r>(mut reader: impl Read + 'r, length: u64, limit: Limit) -> Result<StoredArray<'r>> {
    let (format, read) = header(&mut reader)?;
    StoredArray { format, reader: Box::new(reader) }.checked(length.saturating_sub(read), limit)
}

// The type of the elements of a `.npy` file, as `numpy.dtype` reads its name on Linux.

/// The longest text that one element may be.
const LONGEST_TEXT: usize = 4096;

/// The type of a name such as `<f8`, `=i4`, `>d`, `float64` or `|S5`, and whether it is big-endian; `None` for a type that is
/// not read.
pub(super) fn kind(name: &str) -> Option<(Kind, bool)> {
    let listed = |list: &str, word: &str| list.split(' ').any(|known| known == word);
    if let Some((cell, ..)) = TYPES.iter().find(|(.., names)| listed(names, name)) {
        return Some((Kind::Number(*cell), false));
    }
    let (order, plain) = match name.chars().next()? {
        order @ ('<' | '>' | '=' | '|') => (order, &name[1..]),
        _ => ('=', name),
    };
    let native = cfg!(target_endian = "big");
    let big = order == '>' || native && order != '<';
    if let Some((cell, ..)) = TYPES.iter().find(|(_, _, letters, _)| listed(letters, plain)) {
        return Some((Kind::Number(*cell), big));
    }
    let letter = plain.chars().next()?;
    let digits = &plain[letter.len_utf8()..];
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let size: usize = digits.parse().ok()?;
    let text = (1..=LONGEST_TEXT).contains(&size);
    let kind = match letter {
        'U' if text => Kind::Unicode(size),
        'S' | 'a' if text => Kind::Bytes(size),
        _ => Kind::Number(TYPES.iter().find(|(_, sized, ..)| *sized == format!("{letter}{size}"))?.0),
    };
    Some((kind, big))
}

/// Types of numbers: with its size, the letters of C, which an order may stand before, and the names, which none stands before.
const TYPES: [(CellType, &str, &str, &str); 12] = [
    (CellType::BOOL, "b1", "?", "bool bool_"),
    (CellType::I8, "i1", "b", "int8 byte"),
    (CellType::I16, "i2", "h", "int16 short"),
    (CellType::I32, "i4", "i", "int32 intc"),
    (CellType::I64, "i8", "l q p n", "int64 int int_ long longlong intp"),
    (CellType::U8, "u1", "B", "uint8 ubyte"),
    (CellType::U16, "u2", "H", "uint16 ushort"),
    (CellType::U32, "u4", "I", "uint32 uintc"),
    (CellType::U64, "u8", "L Q P N", "uint64 uint ulong ulonglong uintp"),
    (CellType::F16, "f2", "e", "float16 half"),
    (CellType::F32, "f4", "f", "float32 single"),
    (CellType::F64, "f8", "d", "float64 float double"),
];

// The header of a `.npy` file as Python reads it, with comments and the spellings of Python 2: a literal of a dictionary.

/// A bracket within a bracket within …: headers of numbers have two.
const DEEPEST: usize = 8;

/// A value; numbers and truth values are words. What no header of numbers has (bytes, escapes in strings) is not read.
enum Literal<'t> {
    Text(String),
    Word(&'t str),
    Tuple(Vec<Literal<'t>>),
    List,
    Dictionary(Vec<(Literal<'t>, Literal<'t>)>),
}

/// The one literal that a text is, with blanks and comments around it; `long` lets integers end in `L`, as Python 2 wrote them.
fn literal(text: &str, long: bool) -> Option<Literal<'_>> {
    let mut reader = Reader { rest: text, long, depth: 0 };
    let value = reader.value()?;
    reader.skip();
    reader.rest.is_empty().then_some(value)
}

/// The text that has not been read yet.
struct Reader<'t> {
    rest: &'t str,
    long: bool,
    depth: usize,
}

impl<'t> Reader<'t> {
    /// Passes blanks, line ends and comments.
    fn skip(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
            match self.rest.strip_prefix('#') {
                Some(comment) => self.rest = comment.trim_start_matches(|c| !matches!(c, '\n' | '\r')),
                None => return,
            }
        }
    }

    /// Passes a mark, if it comes next.
    fn has(&mut self, mark: char) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(mark);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self) -> Option<Literal<'t>> {
        self.skip();
        self.depth += 1;
        let value = match self.rest.chars().next()? {
            _ if self.depth > DEEPEST => return None,
            // Brackets around one value without a comma are no tuple.
            '(' => match self.items(')', Reader::value)? {
                (mut items, false) if items.len() == 1 => items.pop()?,
                (items, _) => Literal::Tuple(items),
            },
            '[' => self.items(']', Reader::value).map(|_| Literal::List)?,
            '{' => Literal::Dictionary(self.items('}', Reader::entry)?.0),
            '\'' | '"' => self.text()?,
            _ => self.word()?,
        };
        self.depth -= 1;
        Some(value)
    }

    /// What stands up to a closing bracket, and whether a comma stands behind the last item.
    fn items<T>(&mut self, close: char, item: fn(&mut Self) -> Option<T>) -> Option<(Vec<T>, bool)> {
        self.rest = &self.rest[1..];
        let (mut items, mut comma) = (Vec::new(), true);
        while !self.has(close) {
            if !comma {
                return None;
            }
            items.push(item(self)?);
            comma = self.has(',');
        }
        Some((items, comma))
    }

    /// An entry of a dictionary.
    fn entry(&mut self) -> Option<(Literal<'t>, Literal<'t>)> {
        let key = self.value()?;
        self.has(':').then_some(())?;
        Some((key, self.value()?))
    }

    /// A string, or several that stand one behind the other.
    fn text(&mut self) -> Option<Literal<'t>> {
        let mut text = String::new();
        loop {
            self.skip();
            let mark = ["'''", "\"\"\"", "'", "\""].into_iter().find(|mark| self.rest.starts_with(mark));
            let Some(mark) = mark else { return Some(Literal::Text(text)) };
            let (inside, behind) = self.rest[mark.len()..].split_once(mark)?;
            if inside.contains('\\') || mark.len() == 1 && inside.contains(['\n', '\r']) {
                return None;
            }
            text.push_str(inside);
            self.rest = behind;
        }
    }

    /// A word; signs may stand before one that begins with a digit.
    fn word(&mut self) -> Option<Literal<'t>> {
        let signed = self.has('+');
        while self.has('+') {}
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        if matches!(word, "u" | "U" | "r" | "R") && rest.starts_with(['\'', '"']) && !signed {
            return self.text();
        }
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        if word.is_empty() || signed && !is_number {
            return None;
        }
        if !(is_number && self.long) {
            return Some(Literal::Word(word));
        }
        // The `L` may stand apart.
        let digits = word.strip_suffix('L').unwrap_or(word);
        let _apart = digits == word && self.has('L');
        Some(Literal::Word(digits))
    }
}

/// An integer as Python writes it: `10`, `1_000`, `0x1F`, `00`, but not `01`.
fn integer(text: &str) -> Option<u64> {
    let (base, digits) = match text.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => (16, &text[2..]),
        Some("0o") => (8, &text[2..]),
        Some("0b") => (2, &text[2..]),
        _ => (10, text),
    };
    // An underscore stands between two digits, or behind the base.
    let between = if base == 10 { digits } else { digits.strip_prefix('_').unwrap_or(digits) };
    if between.starts_with('_') || between.ends_with('_') || between.contains("__") {
        return None;
    }
    let plain = between.replace('_', "");
    let padded = base == 10 && plain.len() > 1 && plain.starts_with('0') && plain.bytes().any(|b| b != b'0');
    let is_plain = plain.bytes().all(|b| b.is_ascii_alphanumeric());
    (is_plain && !padded).then(|| u64::from_str_radix(&plain, base).ok())?
}

/// The first bytes of every `.npy` file.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy reads no longer ones.
const LONGEST_HEADER: usize = 10_000;

/// Reads the header, and nothing behind it; with its length in bytes.
///
/// # Errors
/// If there is none, or it describes anything but an array of numbers or words that fits into memory.
fn header(reader: &mut dyn Read) -> Result<(ArrayFormat, u64)> {
    let mut start = Vec::new();
    read_to(reader, &mut start, 12)?;
    let first: [u8; 12] = *start.first_chunk().ok_or_else(not_npy)?;
    let Some([major, minor, length @ ..]) = first.strip_prefix(MAGIC) else { return Err(not_npy()) };
    let (length, text_at) = match (major, minor) {
        (1, 0) => (number(&length[..2]), 10),
        (2 | 3, 0) => (number(length), 12),
        _ => {
            let what = format!(
                "this is version {major}.{minor} of the .npy format, but only 1.0 to 3.0 are supported"
            );
            let help = "the file is damaged, or is no .npy file: save it again with numpy.save";
            return Err(Error::new(what).help(help));
        }
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > LONGEST_HEADER {
        let what = format!("the header has {length} bytes, but at most {LONGEST_HEADER} are allowed");
        return Err(Error::new(what).help(PLAIN_ARRAYS));
    }
    read_to(reader, &mut start, text_at + length)?;
    let text = start.get(text_at..).unwrap_or_default();
    // Up to version 2 a byte is a character, and Python 2 may have written it.
    let old = *major < 3;
    let text = if old {
        text.iter().copied().map(char::from).collect()
    } else {
        String::from_utf8(text.to_vec()).map_err(|_| damaged())?
    };
    let [elements, order, sides] = fields(literal(&text, old).ok_or_else(damaged)?)?;
    let (kind, big_endian) = descr(elements)?;
    let dims = shape(sides).ok_or_else(damaged)?;
    checked_cells(&dims, usize::MAX)?;
    let Literal::Word(fortran @ ("True" | "False")) = order else { return Err(damaged()) };
    Ok((ArrayFormat { kind, big_endian, fortran: fortran == "True", dims }, start.len() as u64))
}

const PLAIN_ARRAYS: &str = "save numbers, for example with array.astype(float)";

/// Reads on until `start` has `length` bytes.
fn read_to(reader: &mut dyn Read, start: &mut Vec<u8>, length: usize) -> Result<()> {
    let missing = length.saturating_sub(start.len()) as u64;
    reader.take(missing).read_to_end(start).map_err(unread)?;
    if start.len() >= length {
        return Ok(());
    }
    let known = start.len().min(MAGIC.len());
    if start[..known] != MAGIC[..known] {
        return Err(not_npy());
    }
    Err(Error::new("the file ends within its header")
        .help("the file was cut off: save it again with numpy.save"))
}

fn not_npy() -> Error {
    Error::new("this is not a .npy file").help("save it with numpy.save")
}

fn damaged() -> Error {
    Error::new("the header cannot be read").help("save it again with numpy.save")
}

/// The type, the order and the shape of the elements, as the header has them.
///
/// # Errors
/// If there are other fields than these three, or one of them twice.
fn fields(header: Literal<'_>) -> Result<[Literal<'_>; 3]> {
    let Literal::Dictionary(entries) = header else { return Err(damaged()) };
    let mut fields = [None, None, None];
    for (key, value) in entries {
        let Literal::Text(key) = key else { return Err(damaged()) };
        let names = ["descr", "fortran_order", "shape"];
        let Some(at) = names.iter().position(|name| *name == key) else {
            return Err(Error::new(format!("the header has an unknown field `{}`", clip(&key)))
                .help("save it again with numpy.save"));
        };
        if fields[at].replace(value).is_some() {
            return Err(Error::new(format!("the header has the field `{key}` twice"))
                .help("save it again with numpy.save"));
        }
    }
    match fields {
        [Some(descr), Some(fortran_order), Some(shape)] => Ok([descr, fortran_order, shape]),
        _ => Err(damaged()),
    }
}

fn shape(shape: Literal<'_>) -> Option<Vec<usize>> {
    let Literal::Tuple(sides) = shape else { return None };
    let side = |side: &Literal<'_>| match side {
        Literal::Word(word) => usize::try_from(integer(word)?).ok(),
        _ => None,
    };
    sides.iter().map(side).collect()
}

fn descr(descr: Literal<'_>) -> Result<(Kind, bool)> {
    match descr {
        Literal::Text(name) => kind(&name).ok_or_else(|| {
            Error::new(format!("the elements have the type {}, not numbers that can be read", clip(&name)))
                .help(PLAIN_ARRAYS)
        }),
        Literal::List | Literal::Tuple(_) => {
            Err(Error::new("this is an array of records").help(PLAIN_ARRAYS))
        }
        _ => Err(damaged()),
    }
}

// NumPy's `.npz`: a zip archive of `.npy` files, stored or deflated.

/// The first bytes of a zip archive; an empty one starts with its end record.
pub(super) const MAGICS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// An opened archive; entries are unpacked one by one, when asked for.
pub(super) struct Npz {
    archive: ZipArchive<Box<dyn ReadSeek>>,
    /// The names of the arrays, in the order of the archive.
    pub(super) names: Vec<String>,
    /// Bytes that may still be unpacked.
    left: u64,
}

impl Npz {
    /// Reads the list of entries.
    ///
    /// # Errors
    /// If the file is no zip archive, or not all of one, or more than one, or a name stands in it twice.
    pub(super) fn open(mut input: Input) -> Result<Npz> {
        let names = listed(&mut *input.reader, input.length)?;
        let archive = ZipArchive::new(input.reader).map_err(bad_archive)?;
        Ok(Npz { archive, names, left: input.limit.unpacked() })
    }

    /// The array at a position of `names`.
    ///
    /// # Errors
    /// If the entry is damaged, is no array, or unpacks to anything but what its own header says.
    pub(super) fn stored(&mut self, position: usize, limit: Limit) -> Result<StoredArray<'_>> {
        let file = self.archive.by_index(position).map_err(bad_archive)?;
        // The size here is only what the archive says; it is held against the array's header, then against the bytes, of which
        // at most one too many is unpacked.
        let length = file.size();
        self.left = self.left.checked_sub(length).ok_or_else(|| {
            Error::new(format!("the file unpacks to more than {} MiB", limit.unpacked() >> 20))
                .help("save the arrays that you need in a file of their own")
        })?;
        stored(file, length, limit)
    }
}

fn bad_archive(error: ZipError) -> Error {
    match error {
        ZipError::UnsupportedArchive(why) => {
            Error::new(format!("this kind of zip archive is not supported: {why}"))
                .help("save it with numpy.savez or numpy.savez_compressed")
        }
        _ => Error::new(format!("the zip archive is incomplete: {error}"))
            .help("the file was cut off or is damaged: save it again with numpy.savez"),
    }
}

// The end of a zip archive, looked at closely before it is unpacked: an archive fills its file, and no name stands in it twice.
// Readers of zip archives are lenient in this, and each takes another part of what is left over.

/// The last record without its comment, and the longest comment.
const END: u64 = 22;
const LONGEST_COMMENT: u64 = 0xffff;
/// The size of the record that locates the end of a large archive.
const LOCATOR: u64 = 20;
/// The end of a large archive, as far as it is read.
const LARGE_END: u64 = 56;
/// One entry without its name.
const ENTRY: usize = 46;
/// The size of the header before an entry's bytes, without its name.
const LOCAL: usize = 30;
/// Marks a number that is in the extra field because it exceeds 32 bits.
const ELSEWHERE: u64 = 0xffff_ffff;
/// The extra field of large archives.
const LARGE: u64 = 1;

/// The names of the arrays in an archive that begins with the file and ends with it, lists every name once, and has each entry
/// under that name.
///
/// # Errors
/// If it does not.
fn listed(reader: &mut dyn ReadSeek, length: u64) -> Result<Vec<String>> {
    let damaged = |what: &str| {
        Error::new(format!("the zip archive {what}"))
            .help("the file was cut off, changed or joined to another: save it again with numpy.savez")
    };
    let Some(Directory { start, size, entries, end }) = directory(reader, length)? else {
        return Err(damaged("is incomplete, or other bytes stand behind it"));
    };
    if start.checked_add(size) != Some(end) {
        return Err(damaged("does not have its list of entries where it says"));
    }
    let _list = memory::hold(size)?;
    let list = piece(reader, start, size)?;
    let (mut rest, mut names, mut seen, mut first) = (&list[..], Vec::new(), HashSet::new(), None);
    while let Some((entry, behind)) = rest.split_at_checked(ENTRY)
        && entry.starts_with(b"PK\x01\x02")
    {
        let [length, extra, comment] = [28, 30, 32].map(|at| number(&entry[at..at + 2]) as usize);
        let Some((fields, others)) = behind.split_at_checked(length + extra + comment) else { break };
        let (raw, extra) = (&fields[..length], &fields[length..length + extra]);
        let text = array_name(raw)?;
        let begin = start_of(entry, extra);
        if !is_there(reader, begin, raw)? {
            let listed = clip(&String::from_utf8_lossy(raw));
            return Err(damaged(&format!("has another entry where it lists `{listed}`")));
        }
        if !seen.insert(text.clone()) {
            return Err(Error::new(format!("`{}` appears twice", clip(&text)))
                .help("save every array under a name of its own"));
        }
        names.push(text);
        first = Some(first.map_or(begin, |first: u64| first.min(begin)));
        rest = others;
    }
    if !rest.is_empty() || names.len() as u64 != entries {
        return Err(damaged("does not list as many entries as it says"));
    }
    if first.unwrap_or(start) != 0 {
        return Err(damaged("does not begin with the file"));
    }
    Ok(names)
}

/// The name of an entry without its ending.
///
/// # Errors
/// If it is not UTF-8: then its characters are unknown.
fn array_name(raw: &[u8]) -> Result<String> {
    let Ok(name) = str::from_utf8(raw) else {
        let shown = clip(&raw.escape_ascii().to_string());
        return Err(Error::new(format!("the name `{shown}` is not UTF-8 text"))
            .help("save the arrays under names in ASCII: numpy.savez(file, X=x, W_Q=w_q)"));
    };
    Ok(name.strip_suffix(".npy").unwrap_or(name).to_string())
}

/// The byte at which an entry of the list begins: in the entry, or in the extra field after the sizes.
fn start_of(entry: &[u8], extra: &[u8]) -> u64 {
    let [size, packed, start] = [24, 20, 42].map(|at| number(&entry[at..at + 4]));
    if start != ELSEWHERE {
        return start;
    }
    let before = [size, packed].into_iter().filter(|&size| size == ELSEWHERE).count();
    let mut rest = extra;
    while let Some((head, fields)) = rest.split_at_checked(4)
        && let Some((field, others)) = fields.split_at_checked(number(&head[2..]) as usize)
    {
        if number(&head[..2]) == LARGE {
            return field.get(8 * before..8 * before + 8).map_or(start, number);
        }
        rest = others;
    }
    start
}

/// True if an entry of this name begins there.
fn is_there(reader: &mut dyn ReadSeek, start: u64, name: &[u8]) -> Result<bool> {
    let head = piece(reader, start, (LOCAL + name.len()) as u64)?;
    Ok(head.starts_with(b"PK\x03\x04")
        && head.get(26..28).map(number) == Some(name.len() as u64)
        && head.get(LOCAL..) == Some(name))
}

/// The position of the list of entries.
struct Directory {
    start: u64,
    size: u64,
    entries: u64,
    /// The byte at which the list must end.
    end: u64,
}

/// The position of the list according to the last record of the file; `None` if the file does not end with such a record.
fn directory(reader: &mut dyn ReadSeek, length: u64) -> Result<Option<Directory>> {
    let from = length.saturating_sub(END + LONGEST_COMMENT);
    let tail = piece(reader, from, length - from)?;
    let is_end = |&at: &usize| {
        let comment = tail[at..].strip_prefix(b"PK\x05\x06").and_then(|record| record.get(16..18));
        comment.is_some_and(|comment| END + number(comment) == (tail.len() - at) as u64)
    };
    let Some(at) = (0..tail.len()).rev().find(is_end) else { return Ok(None) };
    let (record, place) = (&tail[at..], from + at as u64);
    let locator = piece(reader, place.saturating_sub(LOCATOR), LOCATOR)?;
    let Some(end) = locator.strip_prefix(b"PK\x06\x07").and_then(|locator| locator.get(4..12)) else {
        let [entries, size, start] = [10..12, 12..16, 16..20].map(|field| number(&record[field]));
        return Ok(Some(Directory { start, size, entries, end: place }));
    };
    let end = number(end);
    let large = piece(reader, end, LARGE_END)?;
    if !large.starts_with(b"PK\x06\x06") || (large.len() as u64) < LARGE_END {
        return Ok(None);
    }
    let [record, entries, size, start] = [4, 32, 40, 48].map(|at| number(&large[at..at + 8]));
    let fits = end.checked_add(record).and_then(|sum| sum.checked_add(12 + LOCATOR)) == Some(place);
    Ok(fits.then_some(Directory { start, size, entries, end }))
}

/// `count` bytes from a place of a file on, or fewer where it ends.
fn piece(reader: &mut dyn ReadSeek, from: u64, count: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.seek(SeekFrom::Start(from)).map_err(unread)?;
    reader.take(count).read_to_end(&mut bytes).map_err(unread)?;
    Ok(bytes)
}

/// A number of at most eight bytes, little-endian.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::{MAGIC, *};
    use crate::read::{Array, Item};

    /// A `.npy` file with any header.
    fn npy(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        match version {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn header_of(descr: &str, fortran: &str, shape: &str) -> String {
        format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
    }

    fn read_bytes(bytes: &[u8]) -> Result<Item> {
        let read = stored(bytes, bytes.len() as u64, Limit::ANY).and_then(|array| array.read("x.npy"));
        read.map_err(|error| error.in_source("x.npy"))
    }

    fn fails(bytes: &[u8]) -> String {
        read_bytes(bytes).err().unwrap().to_string()
    }

    fn array(bytes: &[u8]) -> Array {
        match read_bytes(bytes).unwrap() {
            Item::Array(array) => array.row_by_row(),
            Item::Words(words) => panic!("{words:?}"),
        }
    }

    #[test]
    fn all_three_versions_are_read() {
        for version in [1, 2, 3] {
            let read = array(&npy(version, &header_of("'|u1'", "False", "(2, 3)"), &[1, 2, 3, 4, 5, 6]));
            assert_eq!((read.dims(), read.values()), (&[2, 3][..], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0][..]));
        }
        assert!(fails(&npy(9, "", b"")).contains("version 9.0"));
    }

    #[test]
    fn column_order_is_turned_into_row_order() {
        let read = array(&npy(1, &header_of("'|u1'", "True", "(2, 3)"), &[1, 4, 2, 5, 3, 6]));
        assert_eq!(read.values(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn absurd_shapes_are_refused_whatever_follows() {
        for shape in [
            "(4611686018427387904,)",
            "(4611686018427387904, 4611686018427387904)",
            "(99999999999999999999,)",
        ] {
            for dtype in ["'<f8'", "'|b1'", "'<U7'"] {
                let said = fails(&npy(1, &header_of(dtype, "False", shape), &[0; 64]));
                assert!(said.starts_with("x.npy: "), "{said}");
            }
        }
        let said = fails(&npy(1, &header_of("'<f8'", "False", "(100, 100)"), &[0; 64]));
        assert!(said.contains("the header says (100, 100), 80000 bytes, but 64 bytes follow"), "{said}");
        assert!(fails(&npy(1, &header_of("'<f8'", "False", "(0, 4)"), b"")).contains("no numbers"));
        assert!(
            fails(&npy(1, &header_of("'<f8'", "False", "(-1, 4)"), b"")).contains("header cannot be read")
        );
    }

    #[test]
    fn headers_that_would_keep_a_parser_busy_are_refused_at_once() {
        for (open, close) in [("[", "]"), ("(", ")"), ("{1: ", "}")] {
            let nested = format!("{{'descr': {}'<f8'{}}}", open.repeat(900), close.repeat(900));
            assert!(fails(&npy(1, &nested, b"")).contains("cannot be read"));
        }
        let nested = format!("{}'shape': (1,){}", "{1: ".repeat(20), "}".repeat(20));
        assert!(fails(&npy(1, &nested, b"")).contains("cannot be read"));
        assert!(fails(&npy(2, &" ".repeat(10_001), b"")).contains("the header has 10001 bytes"));
        let mut lie = npy(2, "", b"");
        lie[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(fails(&lie).contains("the header has 4294967295 bytes"));
        let long = format!("{{'descr': {}, 'fortran_order': False, 'shape': (1,)}}", "-+1j".repeat(900));
        assert!(fails(&npy(2, &long, b"")).contains("cannot be read"));
    }

    #[test]
    fn a_cut_off_file_is_refused_wherever_it_is_cut() {
        let whole = npy(1, &header_of("'<f8'", "False", "(2,)"), &[0; 16]);
        assert!(read_bytes(&whole).is_ok());
        for length in 0..whole.len() {
            assert!(read_bytes(&whole[..length]).is_err(), "{length} of {}", whole.len());
        }
        let longer = [whole, vec![0]].concat();
        assert!(fails(&longer).contains("but 17 bytes follow"));
    }

    #[test]
    fn types_that_are_no_numbers_are_named() {
        for (descr, named) in
            [("'|O'", "|O"), ("'<c16'", "<c16"), ("'<M8[ns]'", "<M8[ns]"), ("'<f16'", "<f16")]
        {
            let said = fails(&npy(1, &header_of(descr, "False", "(1,)"), &[0; 16]));
            assert!(said.contains(named) && said.contains("astype(float)"), "{said}");
        }
        let record = "[('a', '<f8')]";
        assert!(fails(&npy(1, &header_of(record, "False", "(1,)"), &[0; 8])).contains("records"));
    }

    #[test]
    fn a_header_is_taken_as_numpy_takes_it() {
        let data = [1.5f64.to_le_bytes(), 2.5f64.to_le_bytes()].concat();
        for (descr, order, shape) in [
            ("'f8'", "False", "(2,)"),
            ("'=f8'", "False", "(2,)"),
            ("'float64'", "False", "(2,)"),
            ("'<d'", "False", "(2,)"),
            ("'<f8'", "False", "(1L, 2L)"),
            ("'<f8'", "False", "(0x1, 2,) # one row\n"),
        ] {
            let read = array(&npy(1, &header_of(descr, order, shape), &data));
            assert_eq!(read.values(), [1.5, 2.5], "{descr} {shape}");
        }
        for (descr, order, shape) in [
            ("'<f8'", "False", "(01, 2)"),
            ("'<f8'", "0", "(2,)"),
            ("'<f8'", "False", "(2)"),
            ("'<f8'", "False", "[2]"),
            ("'<f8'", "False, 'x': 1", "(2,)"),
            ("'<f8', 'descr': '<f8'", "False", "(2,)"),
        ] {
            fails(&npy(1, &header_of(descr, order, shape), &data));
        }
        // Python 3 alone wrote version 3.
        fails(&npy(3, &header_of("'<f8'", "False", "(1L, 2L)"), &data));
    }

    #[test]
    fn words_are_read_for_tokens() {
        let data: Vec<u8> = "bat\0höh".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        let item =
            read_bytes(&npy(1, &header_of("'<U4'", "False", "(2,)"), &[data, vec![0; 4]].concat())).unwrap();
        assert!(matches!(item, Item::Words(words) if words == ["bat", "höh"]));
    }

    #[test]
    fn words_that_are_no_text_are_refused_and_not_changed() {
        let header = header_of("'|S4'", "False", "(2,)");
        let said = fails(&npy(1, &header, b"bat\0h\xf6h\0"));
        assert!(said.starts_with("x.npy: word 2, `h\\xf6h`, is not UTF-8 text\n  help: save"), "{said}");
        let header = header_of("'<U1'", "False", "(1,)");
        for code in [0xdcf6_u32, 0x11_0000] {
            let said = fails(&npy(1, &header, &code.to_le_bytes()));
            assert!(said.starts_with("x.npy: word 1 has a code point that is no character"), "{said}");
        }
        let kept = npy(1, &header_of("'|S4'", "False", "(1,)"), "höh".as_bytes());
        assert!(matches!(read_bytes(&kept).unwrap(), Item::Words(words) if words == ["höh"]));
    }

    #[test]
    fn what_is_no_npy_file_is_said_so() {
        assert!(fails(b"1,2,3\n4,5,6\n").contains("not a .npy file"));
        assert!(fails(b"").contains("ends within its header"));
    }

    #[test]
    fn orders_stand_before_letters_and_sizes_but_not_before_names() {
        let f64 = Kind::Number(CellType::F64);
        for name in ["<f8", "=f8", "f8", "|f8", "d", "<d", "float64", "double", "f08"] {
            assert_eq!(kind(name), Some((f64, false)), "{name}");
        }
        assert_eq!(kind(">f8"), Some((f64, true)));
        assert_eq!(kind(">d"), Some((f64, true)));
        assert_eq!(kind("|S5"), Some((Kind::Bytes(5), false)));
        for name in
            ["", "<", "<float64", "f8 ", "f16", "g", "c16", "O", "2f8", "f8,f8", "<i3", "U0", "é", "<é", "M8"]
        {
            assert_eq!(kind(name), None, "{name}");
        }
    }

    #[test]
    fn a_header_is_read_as_python_reads_it() {
        let dims = |text: &str, old| {
            let [_, _, sides] = fields(literal(text, old)?).ok()?;
            shape(sides)
        };
        for header in [
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }    \n",
            "{\"descr\":'<''f8',u'fortran_order':False,'shape':(0x1,+2,)}",
            "\t{'descr': '<f8', # a comment }\n 'fortran_order': False, 'shape': ((1), 2)} # and another",
        ] {
            assert_eq!(dims(header, false), Some(vec![1, 2]), "{header}");
        }
        let old = "{'descr': '<f8', 'fortran_order': False, 'shape': (1L, 2 L)}";
        assert_eq!((dims(old, true), dims(old, false)), (Some(vec![1, 2]), None));
    }

    #[test]
    fn what_python_does_not_read_is_not_read() {
        let dims = |text| literal(text, false).and_then(shape);
        assert_eq!(dims("(1, 0x2)"), Some(vec![1, 2]));
        for text in [
            "",
            "{",
            "(01, 2)",
            "(1,, 2)",
            "(,)",
            "{1: 2 3: 4}",
            "{1: 2,, }",
            "(1_,)",
            "(1__0,)",
            "(0x,)",
            "(_1,)",
            "(1 2)",
            "(f(1),)",
            "{} {}",
            "('a,)",
            "('a\n',)",
            "[1",
            "(-1,)",
            "(+True,)",
            "(1.5,)",
            "(b'a',)",
            "(1L,)",
        ] {
            assert_eq!(dims(text), None, "{text}");
        }
        assert!(literal(&"[".repeat(10_000), false).is_none());
    }
}
