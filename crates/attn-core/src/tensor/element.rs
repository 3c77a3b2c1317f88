//! One number of a tensor, in each type.

use std::convert::identity;

use bytemuck::Pod;
use half::vec::HalfBitsVecExt;
use half::{bf16, f16};

use super::dtype::Dtype;
use super::shared::Shared;
use super::values::Values;
use crate::error::{Error, Result};

/// A type that the numbers of a [`super::Tensor`] may have.
pub trait Element: Copy + std::fmt::Debug + 'static {
    /// Its name among the types.
    const DTYPE: Dtype;
    /// The type of its bits, with the size that [`Dtype::size`] says: all bits are a value of it.
    type Bits: Pod;
    /// Numbers of this type as a tensor holds them.
    fn held(values: Shared<Self>) -> Values;
    /// The numbers, if they are in memory and of this type.
    fn of(values: &Values) -> Option<&[Self]>;
    /// The nearest value of this type; as a truth value, true unless x is 0.
    fn nearest(x: f64) -> Self;
    /// This number as an `f64`, without rounding.
    fn exactly(self) -> f64;
    /// Returns true if x has a value of this type, exact or rounded.
    fn holds(x: f64) -> bool;
    /// The numbers with these bits, without a copy of them; as a truth value, true unless they are 0.
    fn of_bits(bits: Vec<Self::Bits>) -> Vec<Self>;
}

/// The methods that all floating-point types share.
macro_rules! floating {
    ($type:ty, $dtype:ident, $nearest:expr, $exactly:expr, $bits:ty, $of_bits:expr) => {
        impl Element for $type {
            const DTYPE: Dtype = Dtype::$dtype;
            type Bits = $bits;

            fn held(values: Shared<$type>) -> Values {
                Values::$dtype(values)
            }

            fn of(values: &Values) -> Option<&[$type]> {
                if let Values::$dtype(values) = values { Some(values) } else { None }
            }

            fn nearest(x: f64) -> $type {
                $nearest(x)
            }

            fn exactly(self) -> f64 {
                $exactly(self)
            }

            fn holds(x: f64) -> bool {
                !x.is_finite() || $nearest(x).is_finite()
            }

            fn of_bits(bits: Vec<$bits>) -> Vec<$type> {
                $of_bits(bits)
            }
        }
    };
}

floating!(f32, F32, |x: f64| x as f32, f64::from, f32, identity);
floating!(f16, F16, f16::from_f64, f64::from, u16, HalfBitsVecExt::reinterpret_into);
floating!(bf16, Bf16, bf16::from_f64, f64::from, u16, HalfBitsVecExt::reinterpret_into);

impl Element for f64 {
    const DTYPE: Dtype = Dtype::F64;
    type Bits = f64;

    fn held(values: Shared<f64>) -> Values {
        Values::F64(values)
    }

    fn of(values: &Values) -> Option<&[f64]> {
        match values {
            Values::F64(values) => Some(values),
            Values::Matrix(matrix) => Some(matrix.column_by_column()),
            _ => None,
        }
    }

    fn nearest(x: f64) -> f64 {
        x
    }

    fn exactly(self) -> f64 {
        self
    }

    fn holds(_: f64) -> bool {
        true
    }

    fn of_bits(bits: Vec<f64>) -> Vec<f64> {
        bits
    }
}

impl Element for bool {
    const DTYPE: Dtype = Dtype::Bool;
    type Bits = u8;

    fn held(values: Shared<bool>) -> Values {
        Values::Bool(values)
    }

    fn of(values: &Values) -> Option<&[bool]> {
        if let Values::Bool(values) = values { Some(values) } else { None }
    }

    fn nearest(x: f64) -> bool {
        x != 0.0
    }

    fn exactly(self) -> f64 {
        f64::from(u8::from(self))
    }

    fn holds(x: f64) -> bool {
        !x.is_nan() && x != f64::INFINITY
    }

    fn of_bits(bits: Vec<u8>) -> Vec<bool> {
        bits.into_iter().map(|byte| byte != 0).collect()
    }
}

/// A number in this type.
///
/// # Errors
/// If the type has none for it.
pub fn in_type<T: Element>(x: f64) -> Result<T> {
    match (T::holds(x), T::DTYPE) {
        (true, _) => Ok(T::nearest(x)),
        (false, Dtype::Bool) => {
            Err(Error::new(format!("{x} is neither true nor false")).help("write 1 for true and 0 for false"))
        }
        (false, dtype) => Err(Error::new(format!("{x:e} is too large for {}", dtype.name()))
            .help("give --dtype f64, or scale the numbers down")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_rounds_to_its_nearest_number_and_says_what_it_cannot_hold() {
        assert_eq!(f16::nearest(0.43).exactly(), 0.429_931_640_625);
        assert_eq!(bf16::nearest(0.43).exactly(), 0.429_687_5);
        assert!(in_type::<f16>(65_504.0).is_ok());
        assert_eq!(
            in_type::<f16>(1e5).unwrap_err().to_string().lines().next(),
            Some("1e5 is too large for f16")
        );
        assert!(
            in_type::<bf16>(1e38).is_ok() && in_type::<f32>(1e39).is_err() && in_type::<f64>(1e300).is_ok()
        );
    }

    #[test]
    fn bits_are_the_numbers_that_a_file_has() {
        fn of<T: Element>(bits: Vec<T::Bits>) -> Vec<f64> {
            assert_eq!(size_of::<T::Bits>(), T::DTYPE.size());
            T::of_bits(bits).into_iter().map(T::exactly).collect()
        }
        assert_eq!(of::<f16>(vec![0x3e00, 0xc000]), [1.5, -2.0]);
        assert_eq!(of::<bf16>(vec![0x3fc0, 0xc000]), [1.5, -2.0]);
        assert_eq!(of::<f32>(vec![1.5, -2.0]), [1.5, -2.0]);
        assert_eq!(of::<f64>(vec![1.5, -2.0]), [1.5, -2.0]);
        assert_eq!(of::<bool>(vec![0, 1, 2]), [0.0, 1.0, 1.0]);
    }
}
