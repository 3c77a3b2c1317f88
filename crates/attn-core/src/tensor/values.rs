//! The numbers of a tensor: in memory, shared by its clones, or in a file.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::dtype::Dtype;
use super::shared::Shared;
use super::storage::StoredNumbers;
use crate::matrix::Matrix;

/// Numbers of one type.
#[derive(Clone, Debug)]
pub enum Values {
    /// In single precision.
    F32(Shared<f32>),
    /// In double precision.
    F64(Shared<f64>),
    /// In half precision.
    F16(Shared<f16>),
    /// Numbers in bfloat16.
    Bf16(Shared<bf16>),
    /// Truth values.
    Bool(Shared<bool>),
    /// In double precision, as the exact path computes with them: the cells of a matrix, column by column.
    Matrix(Matrix),
    /// In a file, from which they are read when they are asked for.
    Stored(StoredNumbers),
}

impl Values {
    /// Their type.
    pub fn dtype(&self) -> Dtype {
        match self {
            Values::F32(_) => Dtype::F32,
            Values::F64(_) | Values::Matrix(_) => Dtype::F64,
            Values::F16(_) => Dtype::F16,
            Values::Bf16(_) => Dtype::Bf16,
            Values::Bool(_) => Dtype::Bool,
            Values::Stored(stored) => stored.dtype(),
        }
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        match self {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::F16(values) => values.len(),
            Values::Bf16(values) => values.len(),
            Values::Bool(values) => values.len(),
            Values::Matrix(matrix) => matrix.column_by_column().len(),
            Values::Stored(stored) => stored.count(),
        }
    }

    /// The bytes of floating-point numbers in memory, as the machine has them.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Values::F32(values) => Some(bytemuck::cast_slice(values)),
            Values::F64(values) => Some(bytemuck::cast_slice(values)),
            Values::F16(values) => Some(bytemuck::cast_slice::<u16, _>(values.reinterpret_cast())),
            Values::Bf16(values) => Some(bytemuck::cast_slice::<u16, _>(values.reinterpret_cast())),
            Values::Matrix(matrix) => Some(bytemuck::cast_slice(matrix.column_by_column())),
            Values::Bool(_) | Values::Stored(_) => None,
        }
    }

    /// The number at a place, in `f64`, which changes none.
    ///
    /// # Panics
    /// If there is no such place, or the numbers are in a file.
    pub fn at(&self, place: usize) -> f64 {
        match self {
            Values::F32(values) => f64::from(values[place]),
            Values::F64(values) => values[place],
            Values::F16(values) => f64::from(values[place]),
            Values::Bf16(values) => f64::from(values[place]),
            Values::Bool(values) => f64::from(u8::from(values[place])),
            Values::Matrix(matrix) => matrix.column_by_column()[place],
            Values::Stored(_) => panic!("these numbers are in a file: `Tensor::loaded` reads them"),
        }
    }

    /// Returns true if the condition holds for one of them; truth values are finite.
    pub(super) fn any(&self, is: fn(f64) -> bool) -> bool {
        match self {
            Values::F32(values) => values.iter().any(|x| is(f64::from(*x))),
            Values::F64(values) => values.iter().any(|x| is(*x)),
            Values::F16(values) => values.iter().any(|x| is(f64::from(*x))),
            Values::Bf16(values) => values.iter().any(|x| is(f64::from(*x))),
            Values::Matrix(matrix) => matrix.column_by_column().iter().any(|x| is(*x)),
            Values::Bool(_) | Values::Stored(_) => false,
        }
    }
}
