//! An array in binary: its numbers, or words, behind a header that has been read.

use std::io::{self, ErrorKind, Read};

use half::{bf16, f16};

use crate::error::{Error, Result};
use crate::memory;
use crate::read::{
    Array, ArrayFacts, Item, Limit, MOST_COUNTED, MOST_DECIMALS, checked_cells, decimals_of, shape_text,
};
use crate::tensor::{Element, in_type};
use crate::text::clip;

use super::open::unread;

/// The storage format of one number.
pub(super) use ::safetensors::Dtype as CellType;

/// Bytes that are converted at a time: a multiple of the size of every type.
const PIECE: usize = 1 << 16;

/// Bytes of memory of a word besides its characters.
const WORD: u64 = 64;

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
    fn size(self) -> usize {
        match self {
            Kind::Number(cell) => size_of_cell(cell),
            Kind::Unicode(characters) => characters.saturating_mul(4),
            Kind::Bytes(bytes) => bytes,
        }
    }
}

/// What a header says of an array.
#[derive(Clone, Debug)]
pub(super) struct ArrayFormat {
    pub(super) kind: Kind,
    pub(super) big_endian: bool,
    /// True if the first dimension runs fastest.
    pub(super) fortran: bool,
    pub(super) dims: Vec<usize>,
}

/// An array of a file, of which only the header has been read.
pub(super) struct StoredArray<'r> {
    pub(super) format: ArrayFormat,
    /// What follows the header: the array and nothing else.
    pub(super) reader: Box<dyn Read + 'r>,
}

impl StoredArray<'_> {
    /// True if its numbers are truth values.
    pub(super) fn is_boolean(&self) -> bool {
        self.format.kind == Kind::Number(CellType::BOOL)
    }

    /// Checks the header against a limit and against the number of bytes that follow it.
    ///
    /// # Errors
    /// If there are too many numbers, or another count of bytes.
    pub(super) fn checked(self, present: u64, limit: Limit) -> Result<Self> {
        let expected = checked_cells(&self.format.dims, limit.cells)?
            .checked_mul(self.format.kind.size())
            .map(|bytes| bytes as u64)
            .filter(|&bytes| bytes <= limit.unpacked())
            .ok_or_else(|| {
                let most = limit.unpacked() >> 20;
                Error::new(format!("more than {most} MiB, the most that is read of one array"))
                    .help("save a part of it, or save it in a shorter type: array.astype('float32')")
            })?;
        if present == expected { Ok(self) } else { Err(self.wrong_length(expected, present)) }
    }

    fn wrong_length(&self, expected: u64, present: u64) -> Error {
        let shape = shape_text(&self.format.dims);
        Error::new(format!("the header says {shape}, {expected} bytes, but {present} bytes follow"))
            .help("the file was cut off or is damaged: save it again with numpy.save")
    }

    /// Its numbers in the type T and in the order of the file, or its words. Beside a small piece of the bytes nothing but the
    /// numbers is held, and no more of them than are really there.
    ///
    /// # Errors
    /// If reading fails, a finite number is beyond the type T, a word is no text, or there are more or fewer bytes than the header says.
    pub(super) fn read<T: Element>(mut self, name: &str) -> Result<Item<T>> {
        let count = checked_cells(&self.format.dims, usize::MAX)?;
        let expected = (count as u64).saturating_mul(self.format.kind.size() as u64);
        let reader = &mut self.reader.by_ref().take(expected);
        let item = match self.format.kind {
            Kind::Number(cell) => Item::Array(self.format.numbers(name, cell, count, reader)?),
            Kind::Unicode(_) | Kind::Bytes(_) => {
                memory::hold(expected.saturating_mul(2).saturating_add(count as u64 * WORD))?.keep();
                let mut bytes = Vec::new();
                reader.read_to_end(&mut bytes).map_err(unread)?;
                if reader.limit() > 0 {
                    return Err(unread(io::Error::from(ErrorKind::UnexpectedEof)));
                }
                Item::Words(self.format.words(&bytes)?)
            }
        };
        // The array must end there, and an entry of a zip archive checks its sum at the end.
        match self.reader.by_ref().take(1).read_to_end(&mut Vec::new()).map_err(unread)? {
            0 => Ok(item),
            _ => Err(self.wrong_length(expected, expected + 1)),
        }
    }
}

impl ArrayFormat {
    /// Fixed-width text, padded with zeros.
    ///
    /// # Errors
    /// If a word is not Unicode text: as a label it would be another word.
    fn words(&self, bytes: &[u8]) -> Result<Vec<String>> {
        let pieces = bytes.chunks_exact(self.kind.size().max(1)).enumerate();
        pieces.map(|(at, piece)| self.word(at + 1, piece)).collect()
    }

    fn word(&self, number: usize, piece: &[u8]) -> Result<String> {
        let word = if matches!(self.kind, Kind::Unicode(_)) {
            let code =
                |&c: &[u8; 4]| if self.big_endian { u32::from_be_bytes(c) } else { u32::from_le_bytes(c) };
            let word: Option<String> = piece.as_chunks().0.iter().map(|c| char::from_u32(code(c))).collect();
            word.ok_or_else(|| {
                Error::new(format!("word {number} has a code point that is no character")).help(
                    "write the words again: a lone surrogate stands for a byte that could not be decoded",
                )
            })?
        } else {
            String::from_utf8(piece.to_vec()).map_err(|_| {
                let escaped = piece.escape_ascii().to_string();
                let shown = clip(escaped.trim_end_matches("\\x00"));
                Error::new(format!("word {number}, `{shown}`, is not UTF-8 text"))
                    .help("save the words as text: numpy.char.decode(words, 'latin-1')")
            })?
        };
        Ok(word.trim_end_matches('\0').to_string())
    }

    /// The numbers that a reader has, each as the nearest of the type T.
    ///
    /// # Errors
    /// If reading fails, or a finite number is beyond the type T.
    fn numbers<T: Element>(
        &self,
        name: &str,
        cell: CellType,
        count: usize,
        reader: &mut dyn Read,
    ) -> Result<Array<T>> {
        let ArrayFormat { big_endian, fortran, .. } = *self;
        // A matrix whose first dimension runs fastest is turned by a second one.
        memory::hold(memory::bytes_of::<T>(count).saturating_mul(1 + u64::from(fortran)))?.keep();
        let (mut values, mut losses) = (Vec::new(), Losses::default());
        let mut piece = Vec::with_capacity(PIECE);
        loop {
            piece.clear();
            reader.take(PIECE as u64).read_to_end(&mut piece).map_err(unread)?;
            memory::grow(&mut values, piece.len() / size_of_cell(cell), count)?;
            push(cell, &piece, big_endian, &mut values, &mut losses);
            if piece.len() < PIECE {
                break;
            }
        }
        if values.len() < count {
            return Err(unread(io::Error::from(ErrorKind::UnexpectedEof)));
        }
        let decimals = decimals(cell, &values);
        let (boolean, roundoff, inexact) = (cell == CellType::BOOL, roundoff(cell), losses.inexact);
        let facts = ArrayFacts { fortran, boolean, decimals, roundoff, inexact, ..ArrayFacts::default() };
        let array = Array::new(self.dims.clone(), values)?.with(facts);
        if let Some((at, x)) = losses.beyond {
            in_type::<T>(x).map_err(|error| error.at(array.place(name, at)))?;
        }
        Ok(array)
    }
}

/// Whether numbers of a type are read: not those of 4, 6 and 8 bits.
pub(super) fn is_read(cell: CellType) -> bool {
    use CellType::{F4, F6_E2M3, F6_E3M2, F8_E4M3, F8_E5M2, F8_E8M0};
    !matches!(cell, F4 | F6_E2M3 | F6_E3M2 | F8_E4M3 | F8_E5M2 | F8_E8M0)
}

/// Numbers that a type cannot hold exactly.
#[derive(Default)]
struct Losses {
    /// At least one number was rounded.
    inexact: bool,
    /// The first finite number beyond the range of the type, and its position.
    beyond: Option<(usize, f64)>,
}

/// Bytes of one number.
pub(super) fn size_of_cell(cell: CellType) -> usize {
    cell.bitsize() / 8
}

/// Half the distance from 1 to the next number of the type; integers are exact.
fn roundoff(cell: CellType) -> f64 {
    let digits = match cell {
        CellType::F64 => f64::MANTISSA_DIGITS,
        CellType::F32 => f32::MANTISSA_DIGITS,
        CellType::F16 => f16::MANTISSA_DIGITS,
        CellType::BF16 => bf16::MANTISSA_DIGITS,
        _ => return 0.0,
    };
    1.0 / (1u64 << digits) as f64
}

/// Adds the numbers that stand in `bytes`, each as the nearest of the type T. Integers beyond 2⁵³ become the nearest `f64`
/// on the way. Nothing is added of a type that is not [`is_read`].
fn push<T: Element>(cell: CellType, bytes: &[u8], big: bool, to: &mut Vec<T>, losses: &mut Losses) {
    let mut at = to.len();
    // True if an f64 holds every integer exactly.
    let mut whole = true;
    let mut of = |x: f64| {
        let number = T::nearest(x);
        if number.exactly() != x {
            losses.inexact = true;
            if !T::holds(x) {
                losses.beyond.get_or_insert((at, x));
            }
        }
        at += 1;
        number
    };
    let mut of_integer = |integer: i128| {
        whole &= integer as f64 as i128 == integer;
        of(integer as f64)
    };
    match cell {
        CellType::F64 => each(bytes, big, to, |b| of(f64::from_le_bytes(b))),
        CellType::F32 => each(bytes, big, to, |b| of(f64::from(f32::from_le_bytes(b)))),
        CellType::F16 => each(bytes, big, to, |b| of(f16::from_le_bytes(b).to_f64())),
        CellType::BF16 => each(bytes, big, to, |b| of(bf16::from_le_bytes(b).to_f64())),
        CellType::I8 => each(bytes, big, to, |b| of(f64::from(i8::from_le_bytes(b)))),
        CellType::I16 => each(bytes, big, to, |b| of(f64::from(i16::from_le_bytes(b)))),
        CellType::I32 => each(bytes, big, to, |b| of(f64::from(i32::from_le_bytes(b)))),
        CellType::I64 => each(bytes, big, to, |b| of_integer(i64::from_le_bytes(b).into())),
        CellType::U8 => each(bytes, big, to, |b| of(f64::from(u8::from_le_bytes(b)))),
        CellType::U16 => each(bytes, big, to, |b| of(f64::from(u16::from_le_bytes(b)))),
        CellType::U32 => each(bytes, big, to, |b| of(f64::from(u32::from_le_bytes(b)))),
        CellType::U64 => each(bytes, big, to, |b| of_integer(u64::from_le_bytes(b).into())),
        CellType::BOOL => each(bytes, big, to, |[b]| of(f64::from(u8::from(b != 0)))),
        _ => {}
    }
    losses.inexact |= !whole;
}

/// The most decimals of any value, each in the shortest text that gives it back in this type.
fn decimals<T: Element>(cell: CellType, values: &[T]) -> Option<usize> {
    if cell == CellType::BOOL || values.len() > MOST_COUNTED {
        return None;
    }
    let print = |value: f64| match cell {
        CellType::F32 => format!("{:e}", value as f32),
        CellType::F16 => shortest(value, |v| f16::from_f64(v).to_f64()),
        CellType::BF16 => shortest(value, |v| bf16::from_f64(v).to_f64()),
        _ => format!("{value:e}"),
    };
    let mut most = 0;
    for value in values {
        most = most.max(decimals_of(value.exactly(), print));
        if most == MOST_DECIMALS {
            break;
        }
    }
    Some(most)
}

/// Every N bytes as one number.
fn each<const N: usize, T>(
    bytes: &[u8],
    big_endian: bool,
    to: &mut Vec<T>,
    mut read: impl FnMut([u8; N]) -> T,
) {
    let (cells, _) = bytes.as_chunks::<N>();
    to.extend(cells.iter().map(|&cell| {
        let mut cell = cell;
        if big_endian {
            cell.reverse();
        }
        read(cell)
    }));
}

/// The fewest digits that `round` takes back to `value`: a half-precision 0.43 is 4.3e-1, not 4.2993e-1.
fn shortest(value: f64, round: impl Fn(f64) -> f64) -> String {
    (0..MOST_DECIMALS)
        .map(|digits| format!("{value:.digits$e}"))
        .find(|text| text.parse::<f64>().is_ok_and(|read| round(read) == value))
        .unwrap_or_else(|| format!("{value:e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(kind: CellType, bytes: &[u8], big: bool) -> Array {
        let dims = vec![bytes.len() / size_of_cell(kind)];
        let format = ArrayFormat { kind: Kind::Number(kind), big_endian: big, fortran: false, dims };
        let stored = StoredArray { format, reader: Box::new(bytes) };
        stored.read("x").unwrap().into_array().unwrap()
    }

    #[test]
    fn an_f32_of_0_43_has_two_decimals() {
        let array = decode(CellType::F32, &0.43f32.to_le_bytes(), false);
        assert_eq!(array.values(), [f64::from(0.43f32)]);
        assert_eq!(array.facts.decimals, Some(2));
        let array = decode(CellType::F16, &f16::from_f64(0.43).to_le_bytes(), false);
        assert_eq!(array.facts.decimals, Some(2));
        let array = decode(CellType::BF16, &bf16::from_f64(0.5).to_le_bytes(), false);
        assert_eq!(array.facts.decimals, Some(1));
    }

    #[test]
    fn integers_have_no_decimals_and_truth_values_none_to_count() {
        assert_eq!(decode(CellType::I8, &[1, 0xff], false).values(), [1.0, -1.0]);
        assert_eq!(decode(CellType::I8, &[1], false).facts.decimals, Some(0));
        let truth = decode(CellType::BOOL, &[0, 1, 2], false);
        assert_eq!(
            (truth.values(), truth.facts.boolean, truth.facts.decimals),
            (&[0.0, 1.0, 1.0][..], true, None)
        );
    }

    #[test]
    fn a_type_carries_its_unit_roundoff_and_integers_are_exact() {
        for (kind, roundoff) in [
            (CellType::F64, 1.1102230246251565e-16),
            (CellType::F32, 5.960464477539063e-8),
            (CellType::F16, 0.00048828125),
            (CellType::BF16, 0.00390625),
            (CellType::I64, 0.0),
            (CellType::BOOL, 0.0),
        ] {
            assert_eq!(decode(kind, &[0; 8], false).facts.roundoff, roundoff, "{kind:?}");
        }
    }

    #[test]
    fn both_byte_orders_are_read() {
        assert_eq!(decode(CellType::U16, &[1, 2], false).values(), [513.0]);
        assert_eq!(decode(CellType::U16, &[1, 2], true).values(), [258.0]);
        assert_eq!(decode(CellType::F64, &(-0.1f64).to_be_bytes(), true).values(), [-0.1]);
    }

    #[test]
    fn tiny_numbers_are_counted_up_to_the_cap() {
        let array = decode(CellType::F64, &5e-324f64.to_le_bytes(), false);
        assert_eq!(array.facts.decimals, Some(MOST_DECIMALS));
    }
}
