//! The types that numbers are read in, computed in and held in.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::hint::Hint;

/// The type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// 32 bits: 24 of them are digits.
    F32,
    /// 64 bits: 53 of them are digits.
    F64,
    /// True and false, as a mask may be: 1 and 0.
    Bool,
}

impl Dtype {
    /// Its name, as NumPy calls it shortly.
    pub fn name(self) -> &'static str {
        match self {
            Dtype::F32 => "f32",
            Dtype::F64 => "f64",
            Dtype::Bool => "bool",
        }
    }
}

/// As they lie in memory.
#[derive(Clone, Debug)]
pub enum Values {
    /// In single precision.
    F32(Arc<Vec<f32>>),
    /// In double precision.
    F64(Arc<Vec<f64>>),
    /// As truth values.
    Bool(Arc<Vec<bool>>),
}

/// A type that [`super::Numbers`] may have.
pub trait Typed: Copy + std::fmt::Debug + 'static {
    /// Its name among the types.
    const DTYPE: Dtype;
    /// Numbers of this type as they are held.
    fn held(values: Vec<Self>) -> Values;
    /// The numbers, if they are of this type.
    fn of(values: &Values) -> Option<&Arc<Vec<Self>>>;
    /// The nearest value of this type; of truth values, whether x is not 0.
    fn nearest(x: f64) -> Self;
    /// The same number.
    fn exactly(self) -> f64;
    /// Whether x has a value of this type, if perhaps not an exact one.
    fn holds(x: f64) -> bool;
}

impl Typed for f32 {
    const DTYPE: Dtype = Dtype::F32;

    fn held(values: Vec<f32>) -> Values {
        Values::F32(Arc::new(values))
    }

    fn of(values: &Values) -> Option<&Arc<Vec<f32>>> {
        if let Values::F32(values) = values { Some(values) } else { None }
    }

    fn nearest(x: f64) -> f32 {
        x as f32
    }

    fn exactly(self) -> f64 {
        f64::from(self)
    }

    fn holds(x: f64) -> bool {
        !x.is_finite() || (x as f32).is_finite()
    }
}

impl Typed for f64 {
    const DTYPE: Dtype = Dtype::F64;

    fn held(values: Vec<f64>) -> Values {
        Values::F64(Arc::new(values))
    }

    fn of(values: &Values) -> Option<&Arc<Vec<f64>>> {
        if let Values::F64(values) = values { Some(values) } else { None }
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
}

impl Typed for bool {
    const DTYPE: Dtype = Dtype::Bool;

    fn held(values: Vec<bool>) -> Values {
        Values::Bool(Arc::new(values))
    }

    fn of(values: &Values) -> Option<&Arc<Vec<bool>>> {
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
}

/// A number in this type.
///
/// # Errors
/// If the type has none for it.
pub fn in_type<T: Typed>(x: f64) -> Result<T> {
    match (T::holds(x), T::DTYPE) {
        (true, _) => Ok(T::nearest(x)),
        (false, Dtype::Bool) => {
            Err(Error::new(format!("{x} is neither true nor false")).help("write 1 for true and 0 for false"))
        }
        (false, dtype) => Err(Error::new(format!("{x:e} is too large for {}", dtype.name()))
            .help(format!("give {} f64, or scale the numbers down", Hint::Dtype))),
    }
}
