//! The types of half precision, and how they round.

use crate::matrix::Matrix;

use super::Answer;

/// A type of half precision.
#[derive(Debug)]
pub struct HalfPrecision {
    /// Its name, as NumPy or PyTorch has it.
    pub name: &'static str,
    /// Its unit roundoff: half the distance from 1 to the next number.
    pub unit: f64,
    /// The nearest number of the type, and the numbers before and after that.
    around: fn(f64) -> [f64; 3],
}

pub(super) static HALF_PRECISIONS: [HalfPrecision; 2] = [
    HalfPrecision {
        name: "float16",
        unit: 1.0 / 2048.0,
        around: |x| {
            let nearest = half::f16::from_f64(x);
            let [below, above] = beside(nearest.to_bits()).map(half::f16::from_bits);
            [below.to_f64(), nearest.to_f64(), above.to_f64()]
        },
    },
    HalfPrecision {
        name: "bfloat16",
        unit: 1.0 / 256.0,
        around: |x| {
            let nearest = half::bf16::from_f64(x);
            let [below, above] = beside(nearest.to_bits()).map(half::bf16::from_bits);
            [below.to_f64(), nearest.to_f64(), above.to_f64()]
        },
    },
];

/// The bits of the next number towards 0 and away from it, in either type.
fn beside(bits: u16) -> [u16; 2] {
    [if bits & 0x7fff == 0 { bits } else { bits - 1 }, bits + 1]
}

impl HalfPrecision {
    /// The type in which a file stores its numbers, if it is one of half precision.
    pub fn of(answer: &Answer) -> Option<&'static HalfPrecision> {
        HALF_PRECISIONS.iter().find(|half| half.unit == answer.roundoff)
    }

    /// Whether it has every number of a matrix.
    pub(super) fn has(&self, matrix: &Matrix) -> bool {
        matrix.cells().all(|x| x.is_nan() || (self.around)(x)[1] == x)
    }

    /// The number of the type before or after x, by chance: by the bits of x and the number of the run.
    pub(super) fn rounded(&self, x: f64, run: u64) -> f64 {
        let [below, nearest, above] = (self.around)(x);
        if nearest == x || !x.is_finite() {
            return x;
        }
        let other = if nearest.abs() < x.abs() { above } else { below };
        if mixed(x.to_bits() ^ mixed(run)) & 1 == 0 { nearest } else { other }
    }
}

/// A number whose bits depend on all bits of this one (SplitMix64).
fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
