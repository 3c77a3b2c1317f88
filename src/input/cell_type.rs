//! The binary types of one number, and their bytes as `f64`.

use half::{bf16, f16};

use crate::error::Result;

use super::array::Array;
use super::number::{MOST_DECIMALS, decimals_of};

/// In larger arrays decimals are not counted: nobody reads so many numbers.
const MOST_COUNTED: usize = 1 << 20;

/// How one number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellType {
    F64,
    F32,
    F16,
    Bf16,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
}

impl CellType {
    /// Bytes of one number.
    pub(super) fn size(self) -> usize {
        match self {
            CellType::I8 | CellType::U8 | CellType::Bool => 1,
            CellType::F16 | CellType::Bf16 | CellType::I16 | CellType::U16 => 2,
            CellType::F32 | CellType::I32 | CellType::U32 => 4,
            CellType::F64 | CellType::I64 | CellType::U64 => 8,
        }
    }

    /// The array whose numbers stand in `bytes`, row by row. Integers beyond 2⁵³ become the nearest `f64`.
    ///
    /// # Errors
    /// If the bytes do not fill the dimensions.
    pub(super) fn decode(self, bytes: &[u8], big_endian: bool, dims: Vec<usize>) -> Result<Array> {
        let values = self.values(bytes, big_endian);
        let decimals = self.decimals(&values);
        let array = Array::new(dims, values)?.with_boolean(self == CellType::Bool).with_decimals(decimals);
        Ok(array.with_roundoff(self.roundoff()))
    }

    /// Half the distance from 1 to the next number of the type; integers are exact.
    fn roundoff(self) -> f64 {
        let half_unit = |bits: u32| 1.0 / (1u64 << bits) as f64;
        match self {
            CellType::F64 => half_unit(f64::MANTISSA_DIGITS),
            CellType::F32 => half_unit(f32::MANTISSA_DIGITS),
            CellType::F16 => half_unit(f16::MANTISSA_DIGITS),
            CellType::Bf16 => half_unit(bf16::MANTISSA_DIGITS),
            _ => 0.0,
        }
    }

    fn values(self, bytes: &[u8], big: bool) -> Vec<f64> {
        match self {
            CellType::F64 => each(bytes, big, f64::from_le_bytes),
            CellType::F32 => each(bytes, big, |b| f64::from(f32::from_le_bytes(b))),
            CellType::F16 => each(bytes, big, |b| f16::from_le_bytes(b).to_f64()),
            CellType::Bf16 => each(bytes, big, |b| bf16::from_le_bytes(b).to_f64()),
            CellType::I8 => each(bytes, big, |b| f64::from(i8::from_le_bytes(b))),
            CellType::I16 => each(bytes, big, |b| f64::from(i16::from_le_bytes(b))),
            CellType::I32 => each(bytes, big, |b| f64::from(i32::from_le_bytes(b))),
            CellType::I64 => each(bytes, big, |b| i64::from_le_bytes(b) as f64),
            CellType::U8 => each(bytes, big, |b| f64::from(u8::from_le_bytes(b))),
            CellType::U16 => each(bytes, big, |b| f64::from(u16::from_le_bytes(b))),
            CellType::U32 => each(bytes, big, |b| f64::from(u32::from_le_bytes(b))),
            CellType::U64 => each(bytes, big, |b| u64::from_le_bytes(b) as f64),
            CellType::Bool => each(bytes, big, |[b]| f64::from(u8::from(b != 0))),
        }
    }

    /// The most decimals of any value, each in the shortest text that gives it back in this type.
    fn decimals(self, values: &[f64]) -> Option<usize> {
        if self == CellType::Bool || values.len() > MOST_COUNTED {
            return None;
        }
        let print = |value: f64| match self {
            CellType::F32 => format!("{:e}", value as f32),
            CellType::F16 => shortest(value, |v| f16::from_f64(v).to_f64()),
            CellType::Bf16 => shortest(value, |v| bf16::from_f64(v).to_f64()),
            _ => format!("{value:e}"),
        };
        let mut most = 0;
        for &value in values {
            most = most.max(decimals_of(value, print));
            if most == MOST_DECIMALS {
                break;
            }
        }
        Some(most)
    }
}

/// Every N bytes as one number.
fn each<const N: usize>(bytes: &[u8], big_endian: bool, read: impl Fn([u8; N]) -> f64) -> Vec<f64> {
    let (cells, _) = bytes.as_chunks::<N>();
    cells
        .iter()
        .map(|&cell| {
            let mut cell = cell;
            if big_endian {
                cell.reverse();
            }
            read(cell)
        })
        .collect()
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
        kind.decode(bytes, big, vec![bytes.len() / kind.size()]).unwrap()
    }

    #[test]
    fn an_f32_of_0_43_has_two_decimals() {
        let array = decode(CellType::F32, &0.43f32.to_le_bytes(), false);
        assert_eq!(array.values(), [f64::from(0.43f32)]);
        assert_eq!(array.decimals(), Some(2));
        let array = decode(CellType::F16, &f16::from_f64(0.43).to_le_bytes(), false);
        assert_eq!(array.decimals(), Some(2));
        let array = decode(CellType::Bf16, &bf16::from_f64(0.5).to_le_bytes(), false);
        assert_eq!(array.decimals(), Some(1));
    }

    #[test]
    fn integers_have_no_decimals_and_truth_values_none_to_count() {
        assert_eq!(decode(CellType::I8, &[1, 0xff], false).values(), [1.0, -1.0]);
        assert_eq!(decode(CellType::I8, &[1], false).decimals(), Some(0));
        let truth = decode(CellType::Bool, &[0, 1, 2], false);
        assert_eq!(
            (truth.values(), truth.is_boolean(), truth.decimals()),
            (&[0.0, 1.0, 1.0][..], true, None)
        );
    }

    #[test]
    fn a_type_carries_its_unit_roundoff_and_integers_are_exact() {
        for (kind, roundoff) in [
            (CellType::F64, 1.1102230246251565e-16),
            (CellType::F32, 5.960464477539063e-8),
            (CellType::F16, 0.00048828125),
            (CellType::Bf16, 0.00390625),
            (CellType::I64, 0.0),
            (CellType::Bool, 0.0),
        ] {
            assert_eq!(decode(kind, &[0; 8], false).roundoff(), roundoff, "{kind:?}");
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
        assert_eq!(array.decimals(), Some(MOST_DECIMALS));
    }
}
