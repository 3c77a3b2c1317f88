//! The header of a `.npy` file. Source: NEP 1 and `numpy.lib.format`, versions 1.0 to 3.0.
//!
//! It is read as NumPy reads it, with comments and the spellings of Python 2; only a field given twice is refused.

use std::io::Read;

use crate::error::{Error, Result};

use super::dims::checked_cells;
use super::npy_literal::{Literal, literal};
use super::npy_type::{Kind, kind};
use crate::text::clip;

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
