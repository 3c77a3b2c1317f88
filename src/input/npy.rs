//! NumPy's `.npy`: one array.

use std::io::Read;

use crate::error::{Error, Result};
use crate::memory;
use crate::tensor::Element;
use crate::text::clip;

use super::array::{Item, Limit, checked_cells, shape_text};
use super::cell_type::{ArrayFormat, CellType, Payload};
use super::open::unreadable;

/// Bytes of a word besides its characters.
const WORD: u64 = 64;

/// Reads the array of a `.npy` stream that has `length` bytes, its numbers in the type T and in the order of the file. Its
/// bytes are read only once they agree with the header, and memory grows with what is really there.
///
/// # Errors
/// If the stream is no array of numbers (or words), or has more or fewer bytes than its header says, or more than `limit`.
pub(super) fn read<T: Element>(
    name: &str,
    reader: &mut dyn Read,
    length: u64,
    limit: Limit,
) -> Result<Item<T>> {
    let header = header(reader).map_err(|error| error.in_source(name))?;
    let expected = checked_cells(&header.dims, limit.cells())
        .map_err(|error| error.in_source(name))?
        .checked_mul(header.kind.size())
        .map(|bytes| bytes as u64)
        .filter(|&bytes| bytes <= limit.unpacked())
        .ok_or_else(|| {
            Error::new(format!(
                "more than {} MiB, the most that is read of one array",
                limit.unpacked() >> 20
            ))
            .in_source(name)
            .help("save a part of it, or save it in a shorter type: array.astype('float32')")
        })?;
    let shape = shape_text(&header.dims);
    let wrong_length = |present: u64| {
        Error::new(format!("the header says {shape}, {expected} bytes, but {present} bytes follow"))
            .in_source(name)
            .help("the file was cut off or is damaged: save it again with numpy.save")
    };
    let present = length.saturating_sub(header.length);
    if present != expected {
        return Err(wrong_length(present));
    }
    let item = match header.kind {
        Kind::Number(cell) => {
            let Header { big_endian, fortran, dims, .. } = header;
            match (ArrayFormat { cell, big_endian, fortran, dims }).read(name, reader)? {
                Payload::Whole(array) => Item::Array(array),
                Payload::CutOff(read) => return Err(wrong_length(read)),
            }
        }
        Kind::Unicode(_) | Kind::Bytes(_) => {
            let words = expected / header.kind.size().max(1) as u64 * WORD;
            let room = memory::hold(expected.saturating_mul(2).saturating_add(words));
            room.map_err(|error| error.in_source(name))?.keep();
            let mut bytes = Vec::new();
            let read = reader.take(expected).read_to_end(&mut bytes);
            read.map_err(|error| unreadable(name, &error))?;
            if (bytes.len() as u64) < expected {
                return Err(wrong_length(bytes.len() as u64));
            }
            Item::Words(header.words(&bytes).map_err(|error| error.in_source(name))?)
        }
    };
    // The stream must end there, and a zip entry checks its sum at the end.
    match reader.take(1).read_to_end(&mut Vec::new()).map_err(|error| unreadable(name, &error))? {
        0 => Ok(item),
        _ => Err(wrong_length(expected + 1)),
    }
}

/// True if the array of a `.npy` stream holds truth values, as far as its header says.
pub(super) fn is_boolean(name: &str, reader: &mut dyn Read) -> Result<bool> {
    let header = header(reader).map_err(|error| error.in_source(name))?;
    Ok(matches!(header.kind, Kind::Number(CellType::Bool)))
}

impl Header {
    /// Fixed-width text, padded with zeros.
    ///
    /// # Errors
    /// If a word is not Unicode text: as a label it would be another word.
    fn words(&self, bytes: &[u8]) -> Result<Vec<String>> {
        let pieces = bytes.chunks_exact(self.kind.size().max(1)).enumerate();
        let word = |(at, piece): (usize, &[u8])| match self.word(piece) {
            Some(word) => Ok(word.trim_end_matches('\0').to_string()),
            None => Err(self.not_text(at + 1, piece)),
        };
        pieces.map(word).collect()
    }

    /// One word with its padding; `None` if it is not Unicode text.
    fn word(&self, piece: &[u8]) -> Option<String> {
        if !matches!(self.kind, Kind::Unicode(_)) {
            return str::from_utf8(piece).ok().map(str::to_string);
        }
        let (characters, _) = piece.as_chunks::<4>();
        let code = |&c: &[u8; 4]| if self.big_endian { u32::from_be_bytes(c) } else { u32::from_le_bytes(c) };
        characters.iter().map(|c| char::from_u32(code(c))).collect()
    }

    fn not_text(&self, number: usize, piece: &[u8]) -> Error {
        match self.kind {
            Kind::Unicode(_) => Error::new(format!("word {number} has a code point that is no character"))
                .help("write the words anew: a lone surrogate stands for a byte that could not be decoded"),
            _ => {
                let escaped = piece.escape_ascii().to_string();
                let shown = clip(escaped.trim_end_matches("\\x00"));
                Error::new(format!("word {number}, `{shown}`, is not UTF-8 text"))
                    .help("save the words as text: numpy.char.decode(words, 'latin-1')")
            }
        }
    }
}

// The type of the elements of a `.npy` file, as `numpy.dtype` reads its name on Linux.

/// The longest text that one element may be.
const LONGEST_TEXT: usize = 4096;

/// The type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number(CellType),
    /// Text of at most this many UTF-32 characters.
    Unicode(usize),
    /// Text of at most this many bytes.
    Bytes(usize),
}

impl Kind {
    /// Bytes of one element.
    pub(super) fn size(self) -> usize {
        match self {
            Kind::Number(cell) => cell.size(),
            Kind::Unicode(characters) => characters.saturating_mul(4),
            Kind::Bytes(bytes) => bytes,
        }
    }
}

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
    (CellType::Bool, "b1", "?", "bool bool_"),
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

// The header of a `.npy` file as Python reads it: a literal of a dictionary.

/// A bracket within a bracket within …: headers of numbers have two.
const DEEPEST: usize = 8;

/// A value. What no header of numbers has (fractions, bytes, escapes in strings) is not read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Text(String),
    Truth(bool),
    Integer(u64),
    Nothing,
    Tuple(Vec<Literal>),
    List(Vec<Literal>),
    Dictionary(Vec<(Literal, Literal)>),
}

/// The one literal that a text is, with blanks and comments around it; `long` lets integers end in `L`, as Python 2 wrote them.
pub(super) fn literal(text: &str, long: bool) -> Option<Literal> {
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

impl Reader<'_> {
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

    fn value(&mut self) -> Option<Literal> {
        self.skip();
        self.depth += 1;
        let value = match self.rest.chars().next()? {
            _ if self.depth > DEEPEST => None,
            '(' => self.tuple(),
            '[' => self.items(']').map(|(items, _)| Literal::List(items)),
            '{' => self.dictionary(),
            '\'' | '"' => self.text(),
            '0'..='9' | '+' => self.integer(),
            _ => self.word(),
        };
        self.depth -= 1;
        value
    }

    /// The values up to a closing bracket, and whether a comma stands behind one of them.
    fn items(&mut self, close: char) -> Option<(Vec<Literal>, bool)> {
        self.rest = &self.rest[1..];
        let (mut items, mut comma) = (Vec::new(), false);
        while !self.has(close) {
            if !items.is_empty() && !std::mem::take(&mut comma) {
                return None;
            }
            items.push(self.value()?);
            comma = self.has(',');
        }
        let comma = comma || items.len() > 1;
        Some((items, comma))
    }

    /// A tuple; brackets around one value without a comma are no tuple.
    fn tuple(&mut self) -> Option<Literal> {
        match self.items(')')? {
            (mut items, false) if items.len() == 1 => items.pop(),
            (items, _) => Some(Literal::Tuple(items)),
        }
    }

    fn dictionary(&mut self) -> Option<Literal> {
        self.rest = &self.rest[1..];
        let mut entries = Vec::new();
        let mut comma = true;
        while !self.has('}') {
            if !std::mem::take(&mut comma) {
                return None;
            }
            let key = self.value()?;
            if !self.has(':') {
                return None;
            }
            entries.push((key, self.value()?));
            comma = self.has(',');
        }
        Some(Literal::Dictionary(entries))
    }

    /// A string, or several that stand one behind the other.
    fn text(&mut self) -> Option<Literal> {
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

    fn integer(&mut self) -> Option<Literal> {
        while self.has('+') {}
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let word = &self.rest[..end.unwrap_or(self.rest.len())];
        self.rest = &self.rest[word.len()..];
        let digits = if self.long { word.strip_suffix('L').unwrap_or(word) } else { word };
        let value = integer(digits)?;
        self.skip();
        if self.long && self.rest.starts_with('L') && digits == word {
            self.rest = &self.rest[1..];
        }
        Some(Literal::Integer(value))
    }

    fn word(&mut self) -> Option<Literal> {
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let word = &self.rest[..end.unwrap_or(self.rest.len())];
        let rest = &self.rest[word.len()..];
        if matches!(word, "u" | "U" | "r" | "R") && rest.starts_with(['\'', '"']) {
            self.rest = rest;
            return self.text();
        }
        self.rest = rest;
        Some(match word {
            "True" => Literal::Truth(true),
            "False" => Literal::Truth(false),
            "None" => Literal::Nothing,
            _ => return None,
        })
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

// The header of a `.npy` file. Source: NEP 1 and `numpy.lib.format`, versions 1.0 to 3.0.
//
// It is read as NumPy reads it, with comments and the spellings of Python 2; only a field given twice is refused.

/// The first bytes of every `.npy` file.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy reads no longer ones.
const LONGEST_HEADER: usize = 10_000;

/// The contents of a header.
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) dims: Vec<usize>,
    pub(super) big_endian: bool,
    pub(super) fortran: bool,
    /// Bytes before the first number.
    pub(super) length: u64,
}

/// Reads the header, and nothing behind it.
///
/// # Errors
/// If there is none, or it describes anything but an array of numbers or words that fits into memory.
pub(super) fn header(reader: &mut dyn Read) -> Result<Header> {
    let mut start = Vec::new();
    read_to(reader, &mut start, 12)?;
    let first: [u8; 12] = *start.first_chunk().ok_or_else(not_npy)?;
    let (length, text_at) = match first[..8] {
        [0x93, b'N', b'U', b'M', b'P', b'Y', 1, 0] => {
            (usize::from(u16::from_le_bytes([first[8], first[9]])), 10)
        }
        [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, 0] => {
            let length = u32::from_le_bytes([first[8], first[9], first[10], first[11]]);
            (usize::try_from(length).unwrap_or(usize::MAX), 12)
        }
        [0x93, b'N', b'U', b'M', b'P', b'Y', major, minor] => {
            return Err(Error::new(format!(
                "this is version {major}.{minor} of the .npy format, but only 1.0 to 3.0 are supported"
            ))
            .help("the file is damaged, or is no .npy file: save it again with numpy.save"));
        }
        _ => return Err(not_npy()),
    };
    if length > LONGEST_HEADER {
        return Err(Error::new(format!(
            "the header has {length} bytes, but at most {LONGEST_HEADER} are allowed"
        ))
        .help(PLAIN_ARRAYS));
    }
    read_to(reader, &mut start, text_at + length)?;
    let text = start.get(text_at..).unwrap_or_default();
    // Up to version 2 a byte is a character, and Python 2 may have written it.
    let old = first[6] < 3;
    let text = if old {
        text.iter().copied().map(char::from).collect()
    } else {
        String::from_utf8(text.to_vec()).map_err(|_| damaged())?
    };
    let fields = fields(literal(&text, old).ok_or_else(damaged)?)?;
    let (kind, big_endian) = descr(fields.descr)?;
    let dims = shape(fields.shape)?;
    checked_cells(&dims, usize::MAX)?;
    let Literal::Truth(fortran) = fields.fortran_order else { return Err(damaged()) };
    Ok(Header { kind, dims, big_endian, fortran, length: start.len() as u64 })
}

const PLAIN_ARRAYS: &str = "save numbers, for example with array.astype(float)";

/// Reads on until `start` has `length` bytes.
fn read_to(reader: &mut dyn Read, start: &mut Vec<u8>, length: usize) -> Result<()> {
    let missing = length.saturating_sub(start.len()) as u64;
    reader
        .take(missing)
        .read_to_end(start)
        .map_err(|error| Error::new(format!("the file cannot be read: {error}")))?;
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

/// The three fields of a header.
struct Fields {
    descr: Literal,
    fortran_order: Literal,
    shape: Literal,
}

/// # Errors
/// If there are other fields than these three, or one of them twice.
fn fields(header: Literal) -> Result<Fields> {
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
        [Some(descr), Some(fortran_order), Some(shape)] => Ok(Fields { descr, fortran_order, shape }),
        _ => Err(damaged()),
    }
}

fn shape(shape: Literal) -> Result<Vec<usize>> {
    let Literal::Tuple(sides) = shape else { return Err(damaged()) };
    let side = |side| match side {
        Literal::Integer(side) => usize::try_from(side).map_err(|_| damaged()),
        _ => Err(damaged()),
    };
    sides.into_iter().map(side).collect()
}

fn descr(descr: Literal) -> Result<(Kind, bool)> {
    match descr {
        Literal::Text(name) => kind(&name).ok_or_else(|| {
            Error::new(format!("the elements have the type {}, not numbers that can be read", clip(&name)))
                .help(PLAIN_ARRAYS)
        }),
        Literal::List(_) | Literal::Tuple(_) => {
            Err(Error::new("this is an array of records").help(PLAIN_ARRAYS))
        }
        _ => Err(damaged()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::array::Array;
    use super::{MAGIC, *};

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
        read("x.npy", &mut &bytes[..], bytes.len() as u64, Limit::ANY)
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
        let text = |text: &str| Literal::Text(text.into());
        let sides =
            |sides: &[u64]| Literal::Tuple(sides.iter().map(|&side| Literal::Integer(side)).collect());
        let expected = Literal::Dictionary(vec![
            (text("descr"), text("<f8")),
            (text("fortran_order"), Literal::Truth(false)),
            (text("shape"), sides(&[1, 2])),
        ]);
        for header in [
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }    \n",
            "{\"descr\":'<''f8',u'fortran_order':False,'shape':(0x1,+2,)}",
            "\t{'descr': '<f8', # a comment }\n 'fortran_order': False, 'shape': ((1), 2)} # and another",
        ] {
            assert_eq!(literal(header, false).as_ref(), Some(&expected), "{header}");
        }
        let old = "{'descr': '<f8', 'fortran_order': False, 'shape': (1L, 2 L)}";
        assert_eq!((literal(old, true), literal(old, false)), (Some(expected), None));
    }

    #[test]
    fn what_python_does_not_read_is_not_read() {
        for text in [
            "",
            "{",
            "(01, 2)",
            "(1,, 2)",
            "(,)",
            "{1: 2 3: 4}",
            "{1: 2,, }",
            "1_",
            "1__0",
            "0x",
            "_1",
            "(1 2)",
            "f(1)",
            "{} {}",
            "'a",
            "'a\n'",
            "[1",
            "-1",
            "1.5",
            "b'a'",
            "(1L,)",
        ] {
            assert_eq!(literal(text, false), None, "{text}");
        }
        assert_eq!(literal(&"[".repeat(10_000), false), None);
    }
}
