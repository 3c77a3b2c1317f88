//! MATLAB's files of version 4 and 5: the numbers of each variable, column by column. Source: “MAT-File Format”, The MathWorks.

use std::io::Read;

use flate2::read::ZlibDecoder;

use crate::error::{Error, Result};
use crate::memory::ChargedBytes;
use crate::read::Limit;
use crate::text::clip;

use super::cell_type::{ArrayFormat, CellType, Kind, size_of_cell};
use super::open::unread;
use super::pickle::Numbers;

/// The text with which a file of version 5 begins.
pub(super) const MAGIC: &[u8] = b"MATLAB 5.0 MAT-file";
/// The bytes before the first variable.
const HEADER: usize = 128;
/// The kinds of elements that are more than numbers.
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;

/// The types of stored numbers by their codes; the code 0 is none.
const TYPES: [Option<CellType>; 14] = [
    None,
    Some(CellType::I8),
    Some(CellType::U8),
    Some(CellType::I16),
    Some(CellType::U16),
    Some(CellType::I32),
    Some(CellType::U32),
    Some(CellType::F32),
    None,
    Some(CellType::F64),
    None,
    None,
    Some(CellType::I64),
    Some(CellType::U64),
];

fn damaged() -> Error {
    Error::new("the .mat file is cut off or damaged").help("save it again: save(\"q.mat\", \"Q\", \"-v7\")")
}

/// The variables with numbers, by name. Text, cells, structures and sparse matrices are left aside.
///
/// # Errors
/// If the file is damaged, unpacks to more than the limit, or has no such variable.
pub(super) fn variables(bytes: &[u8], limit: Limit) -> Result<Vec<(String, Numbers)>> {
    let mut found = Vec::new();
    if bytes.starts_with(MAGIC) || bytes.get(124..128).is_some_and(|end| matches!(&end[2..], b"IM" | b"MI")) {
        let reader = Elements { big: bytes.get(126..128) == Some(b"MI") };
        let mut rest = bytes.get(HEADER..).unwrap_or_default();
        let mut left = limit.whole;
        while rest.len() >= 8 {
            let (kind, data, behind) = reader.element(rest)?;
            if kind == COMPRESSED {
                let mut unpacked = ChargedBytes::new(u64::MAX);
                std::io::copy(&mut ZlibDecoder::new(data).take(left + 1), &mut unpacked).map_err(unread)?;
                let unpacked = unpacked.kept();
                left = left.checked_sub(unpacked.len() as u64).ok_or_else(|| {
                    Error::new(format!("the file unpacks to more than {} MiB", limit.whole >> 20))
                        .help("save fewer variables")
                })?;
                let (kind, data, _) = reader.element(&unpacked)?;
                found.extend(if kind == MATRIX { reader.variable(data)? } else { None });
            } else if kind == MATRIX {
                found.extend(reader.variable(data)?);
            }
            rest = behind;
        }
    } else {
        version_4(bytes, &mut found)?;
    }
    if found.is_empty() {
        return Err(Error::new("the .mat file has no matrix of real numbers")
            .help("save it again: save(\"q.mat\", \"Q\", \"-v7\")"));
    }
    Ok(found)
}

/// The elements of version 5 in one order of bytes.
struct Elements {
    big: bool,
}

impl Elements {
    fn number(&self, bytes: &[u8]) -> Result<u32> {
        let bytes: [u8; 4] = *bytes.first_chunk().ok_or_else(damaged)?;
        Ok(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// The kind and the data of the element at the start, and what stands behind it.
    fn element<'b>(&self, bytes: &'b [u8]) -> Result<(u32, &'b [u8], &'b [u8])> {
        let first = self.number(bytes)?;
        if first >> 16 != 0 {
            // Up to four bytes stand in the header itself.
            let (kind, length) = (first & 0xffff, (first >> 16) as usize);
            let data = bytes.get(4..8).and_then(|data| data.get(..length)).ok_or_else(damaged)?;
            return Ok((kind, data, &bytes[8..]));
        }
        let length = self.number(bytes.get(4..).unwrap_or_default())? as usize;
        let data = bytes.get(8..).and_then(|rest| rest.get(..length)).ok_or_else(damaged)?;
        let padded = if first == COMPRESSED { length } else { length.next_multiple_of(8) };
        Ok((first, data, bytes.get(8 + padded..).unwrap_or_default()))
    }

    /// A variable with numbers; `None` for another.
    fn variable(&self, bytes: &[u8]) -> Result<Option<(String, Numbers)>> {
        let (_, flags, rest) = self.element(bytes)?;
        let flags = self.number(flags)?;
        let (_, dims, rest) = self.element(rest)?;
        let (_, name, rest) = self.element(rest)?;
        let name = String::from_utf8_lossy(name).into_owned();
        // Double, single and the integers.
        if !(6..=15).contains(&(flags & 0xff)) {
            return Ok(None);
        }
        if flags & 0x800 != 0 {
            return Err(Error::new(format!("`{}` has complex numbers", clip(&name)))
                .help("save its real part: Q = real(Q)"));
        }
        let (kind, data, _) = self.element(rest)?;
        let cell = TYPES.get(kind as usize).copied().flatten().ok_or_else(damaged)?;
        let dims = dims
            .chunks(4)
            .map(|side| self.number(side).map(|side| side as usize))
            .collect::<Result<Vec<_>>>()?;
        let is_truth = flags & 0x200 != 0 && size_of_cell(cell) == 1;
        let kind = Kind::Number(if is_truth { CellType::BOOL } else { cell });
        let format = ArrayFormat { kind, big_endian: self.big, fortran: true, dims };
        Ok(Some((name, Numbers::Held(format, data.to_vec()))))
    }
}

/// The matrices of a file of version 4: five integers, a name, and the numbers.
fn version_4(bytes: &[u8], found: &mut Vec<(String, Numbers)>) -> Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let word = |at: usize| {
            rest.get(4 * at..4 * at + 4).and_then(|word| word.first_chunk().copied()).ok_or_else(damaged)
        };
        let kind = word(0)?;
        // The first is below 5000 in the order of bytes of the file.
        let big = u32::from_le_bytes(kind) > 5000;
        let number = |at: usize| {
            word(at)
                .map(|word| if big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) } as usize)
        };
        let [kind, rows, cols, imaginary, name] =
            [number(0)?, number(1)?, number(2)?, number(3)?, number(4)?];
        let cell = match (kind / 1000, kind / 100 % 10, kind / 10 % 10, kind % 10) {
            (0 | 1, 0, precision, 0) => {
                [CellType::F64, CellType::F32, CellType::I32, CellType::I16, CellType::U16, CellType::U8]
                    .get(precision)
                    .copied()
            }
            _ => None,
        };
        let (Some(cell), 0) = (cell, imaginary) else {
            return Err(Error::new("this variable is text, sparse or complex, or the file is no .mat file")
                .help("save it again: save(\"q.mat\", \"Q\", \"-v7\")"));
        };
        let behind = rest.get(20..).unwrap_or_default();
        let (label, data) = behind.split_at_checked(name).ok_or_else(damaged)?;
        let length = rows.checked_mul(cols).and_then(|cells| cells.checked_mul(size_of_cell(cell)));
        let (data, next) = length.and_then(|length| data.split_at_checked(length)).ok_or_else(damaged)?;
        let label = String::from_utf8_lossy(label).trim_end_matches('\0').to_string();
        let format =
            ArrayFormat { kind: Kind::Number(cell), big_endian: big, fortran: true, dims: vec![rows, cols] };
        found.push((label, Numbers::Held(format, data.to_vec())));
        rest = next;
    }
    Ok(())
}
