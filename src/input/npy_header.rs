//! The header of a `.npy` file. Source: NEP 1 and `numpy.lib.format`, versions 1.0 to 3.0.
//!
//! The crate npyz interprets it, but only after it has been checked here: npyz itself overflows on the product of an
//! absurd shape and never ends on nested brackets.

use std::io::Read;

use npyz::{DType, Endianness, NpyHeader, Order, TypeChar};

use crate::error::{Error, Result};

use super::cell_type::CellType;
use super::dims::checked_cells;
use crate::foreign::clip;

/// How every `.npy` file starts.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy's headers have 64 to 128 bytes unless they describe records, which are not read.
const LONGEST_HEADER: usize = 4096;

/// What the header says.
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) dims: Vec<usize>,
    pub(super) big_endian: bool,
    pub(super) fortran: bool,
    /// Bytes before the first number.
    pub(super) length: u64,
}

/// What one element is.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Number(CellType),
    /// Text of at most so many UTF-32 characters.
    Unicode(usize),
    /// Text of at most so many bytes.
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

/// Reads the header, and nothing behind it.
///
/// # Errors
/// If there is none, or it describes anything but an array of numbers or words that fits.
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
            )));
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
    let text = start.get(text_at..).and_then(|text| std::str::from_utf8(text).ok()).ok_or_else(damaged)?;
    let dims = checked_shape(text)?;
    checked_cells(&dims, usize::MAX)?;
    let header = NpyHeader::from_reader(&start[..]).map_err(|_| damaged())?;
    let (kind, big_endian) = kind(&header.dtype())?;
    let fortran = header.order() == Order::Fortran;
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

/// The shape, from a header whose only brackets are those of the dictionary and of the shape.
fn checked_shape(text: &str) -> Result<Vec<usize>> {
    let count = |bracket: char| text.matches(bracket).count();
    if text.contains(['[', ']']) || count('(') > 1 {
        return Err(Error::new("this is an array of records").help(PLAIN_ARRAYS));
    }
    if [count('{'), count('}'), count('('), count(')')] != [1; 4] {
        return Err(damaged());
    }
    let (_, shape) = text.split_once('(').ok_or_else(damaged)?;
    let (shape, _) = shape.split_once(')').ok_or_else(damaged)?;
    let shape = shape.trim().trim_end_matches(',');
    if shape.is_empty() {
        return Ok(Vec::new());
    }
    shape.split(',').map(|side| side.trim().parse().map_err(|_| damaged())).collect()
}

fn kind(dtype: &DType) -> Result<(Kind, bool)> {
    let refused = || {
        Error::new(format!(
            "the elements have the type {}, not numbers that can be read",
            clip(&dtype.descr())
        ))
        .help(PLAIN_ARRAYS)
    };
    let DType::Plain(plain) = dtype else {
        return Err(refused());
    };
    let cell = match (plain.type_char(), plain.size_field()) {
        (TypeChar::Bool, 1) => CellType::Bool,
        (TypeChar::Int, 1) => CellType::I8,
        (TypeChar::Int, 2) => CellType::I16,
        (TypeChar::Int, 4) => CellType::I32,
        (TypeChar::Int, 8) => CellType::I64,
        (TypeChar::Uint, 1) => CellType::U8,
        (TypeChar::Uint, 2) => CellType::U16,
        (TypeChar::Uint, 4) => CellType::U32,
        (TypeChar::Uint, 8) => CellType::U64,
        (TypeChar::Float, 2) => CellType::F16,
        (TypeChar::Float, 4) => CellType::F32,
        (TypeChar::Float, 8) => CellType::F64,
        (text @ (TypeChar::UnicodeStr | TypeChar::ByteStr), size @ 1..=4096) => {
            let size = usize::try_from(size).map_err(|_| refused())?;
            let kind = if text == TypeChar::UnicodeStr { Kind::Unicode(size) } else { Kind::Bytes(size) };
            return Ok((kind, plain.endianness() == Endianness::Big));
        }
        _ => return Err(refused()),
    };
    Ok((Kind::Number(cell), plain.endianness() == Endianness::Big))
}
