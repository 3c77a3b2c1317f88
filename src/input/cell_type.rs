//! The binary types of one number, and their bytes as `f64`.

use std::io::Read;

use half::{bf16, f16};

use crate::error::{Error, Result};
use crate::memory;
use crate::read::{Array, ArrayFacts, MOST_COUNTED, MOST_DECIMALS, checked_cells, decimals_of};
use crate::tensor::{Element, in_type};

use super::open::unreadable;

/// The storage format of one number.
pub(super) use ::safetensors::Dtype as CellType;

/// Bytes that are converted at a time: a multiple of the size of every type.
const PIECE: usize = 1 << 16;

/// The storage format of an array.
pub(super) struct ArrayFormat {
    pub(super) cell: CellType,
    pub(super) big_endian: bool,
    /// True if the first dimension runs fastest.
    pub(super) fortran: bool,
    pub(super) dims: Vec<usize>,
}

impl ArrayFormat {
    /// The array that the next bytes of `reader` are, its numbers in the type T. Beside a small piece of the bytes nothing
    /// but the numbers is held, and no more of them than are really there.
    ///
    /// # Errors
    /// If reading fails, a finite number is beyond the type T, or the file ends early: `cut_off` is told the bytes that are there.
    pub(super) fn read<T: Element>(
        self,
        name: &str,
        reader: &mut dyn Read,
        cut_off: impl FnOnce(u64) -> Error,
    ) -> Result<Array<T>> {
        let ArrayFormat { cell, big_endian, fortran, dims } = self;
        let count = checked_cells(&dims, usize::MAX).map_err(|error| error.in_source(name))?;
        let expected = (count as u64).saturating_mul(size_of_cell(cell) as u64);
        // A matrix whose first dimension runs fastest is turned by a second one.
        let bytes = memory::bytes_of::<T>(count).saturating_mul(1 + u64::from(fortran));
        memory::hold(bytes).map_err(|error| error.in_source(name))?.keep();
        let mut reader = reader.take(expected);
        let (mut values, mut losses) = (Vec::new(), Losses::default());
        let mut bytes = Vec::with_capacity(PIECE);
        let mut read = 0;
        loop {
            bytes.clear();
            let filled = reader.by_ref().take(PIECE as u64).read_to_end(&mut bytes);
            filled.map_err(|error| unreadable(name, &error))?;
            read += bytes.len() as u64;
            memory::grow(&mut values, bytes.len() / size_of_cell(cell), count)
                .map_err(|error| error.in_source(name))?;
            push(cell, &bytes, big_endian, &mut values, &mut losses);
            if bytes.len() < PIECE {
                break;
            }
        }
        if read < expected {
            return Err(cut_off(read));
        }
        let decimals = decimals(cell, &values);
        let (boolean, roundoff, inexact) = (cell == CellType::BOOL, roundoff(cell), losses.inexact);
        let facts = ArrayFacts { fortran, boolean, decimals, roundoff, inexact, ..ArrayFacts::default() };
        let array = Array::new(dims, values)?.with(facts);
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
        let stored = ArrayFormat { cell: kind, big_endian: big, fortran: false, dims };
        stored.read("x", &mut &bytes[..], |read| Error::new(format!("{read} bytes"))).unwrap()
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
