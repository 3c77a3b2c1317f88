//! The types that numbers are read in, computed in and held in.

/// The type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// 32 bits: 24 of them are digits.
    F32,
    /// 64 bits: 53 of them are digits.
    F64,
    /// 16 bits: 11 of them are digits.
    F16,
    /// 16 bits with the range of F32: 8 of them are digits.
    Bf16,
    /// True and false, as a mask may be: 1 and 0.
    Bool,
}

impl Dtype {
    /// Its name, as NumPy calls it shortly.
    pub fn name(self) -> &'static str {
        match self {
            Dtype::F32 => "f32",
            Dtype::F64 => "f64",
            Dtype::F16 => "f16",
            Dtype::Bf16 => "bf16",
            Dtype::Bool => "bool",
        }
    }

    /// The bytes of one number.
    pub fn size(self) -> usize {
        match self {
            Dtype::F64 => 8,
            Dtype::F32 => 4,
            Dtype::F16 | Dtype::Bf16 => 2,
            Dtype::Bool => 1,
        }
    }
}
