//! The frequencies of rotary positions, and what lets them reach beyond the context of training.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use crate::elementary::{ln, pow};
use crate::error::{Error, Result};
use crate::json_number;
use crate::matrix::{Labels, Matrix};
use crate::text::counted;

/// The frequencies of rotary positions, in radians per position: `f[p] = 1 / base^(2p/width)` for the pair p, from 0.
///
/// # Shapes
/// (1, width / 2).
/// # Source
/// Su et al. 2021, “RoFormer”, section 3.2.2, with base 10000.
pub fn frequencies(width: usize, base: f64) -> Matrix {
    let pairs: Labels = (1..=width / 2).map(|pair| format!("pair {pair}")).collect();
    Matrix::from_fn(1, width / 2, |_, p| 1.0 / pow(base, 2.0 * p as f64 / width as f64))
        .with_col_labels(Some(pairs))
}

/// A change of the frequencies, for texts longer than those of training. Lengths are numbers of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum RopeScaling {
    /// `f / factor`: positions are squeezed.
    Linear {
        /// The factor.
        #[serde(with = "json_number")]
        factor: f64,
    },
    /// A larger base where the text is longer than the original context: `f[p] / r^(2p/(d−2))` with
    /// `r = factor · length / original − (factor − 1)`.
    Dynamic {
        /// The factor.
        #[serde(with = "json_number")]
        factor: f64,
        /// The length of the original context.
        #[serde(with = "json_number")]
        original: f64,
        /// The length of the text.
        length: usize,
    },
    /// Slow pairs are divided by the factor, fast ones kept, those between are blended. Pairs are told apart by their wavelength
    /// λ = 2π/f: kept below original/high, divided above original/low.
    Llama3 {
        /// The factor.
        #[serde(with = "json_number")]
        factor: f64,
        /// Pairs with fewer turns than this in the original context are divided.
        #[serde(with = "json_number")]
        low: f64,
        /// Pairs with more turns than this in the original context are kept.
        #[serde(with = "json_number")]
        high: f64,
        /// The length of the original context.
        #[serde(with = "json_number")]
        original: f64,
    },
    /// The same by the number of the pair: `f/factor · r + f · (1 − r)` with a ramp r from 0 to 1.
    Yarn(Yarn),
    /// Every pair has a divisor of its own, which is given: the second input.
    LongRope {
        /// The length of the new context over that of the original one.
        #[serde(with = "json_number")]
        factor: f64,
        /// The length of the original context.
        #[serde(with = "json_number")]
        original: f64,
        /// The factor of sines and cosines; computed from the factor where there is none.
        #[serde(with = "json_number::optional")]
        attention: Option<f64>,
    },
}

/// The parameters of YaRN.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Yarn {
    /// The factor.
    #[serde(with = "json_number")]
    pub factor: f64,
    /// The length of the original context.
    #[serde(with = "json_number")]
    pub original: f64,
    /// The base of the frequencies.
    #[serde(with = "json_number")]
    pub base: f64,
    /// Pairs with more turns than this in the original context are kept.
    #[serde(with = "json_number")]
    pub fast: f64,
    /// Pairs with fewer turns than this in the original context are divided.
    #[serde(with = "json_number")]
    pub slow: f64,
    /// Whether the ends of the ramp are whole pairs.
    pub truncate: bool,
    /// The factor of sines and cosines; computed from the factor where there is none.
    #[serde(with = "json_number::optional")]
    pub attention: Option<f64>,
}

impl Yarn {
    /// The factor of sines and cosines for a scale m: `0.1 · m · ln factor + 1`, and 1 where nothing is stretched.
    pub fn scale(factor: f64, m: f64) -> f64 {
        if factor <= 1.0 { 1.0 } else { 0.1 * m * ln(factor) + 1.0 }
    }

    /// The ends of the ramp, in pairs: kept up to the first, divided from the second on.
    ///
    /// `d · ln(original / (2π · turns)) / (2 ln base)`, for both numbers of turns, rounded outwards, within 0 and d − 1.
    pub fn ramp(&self, width: usize) -> [f64; 2] {
        let end = |turns: f64| width as f64 * ln(self.original / (turns * 2.0 * PI)) / (2.0 * ln(self.base));
        let (mut low, mut high) = (end(self.fast), end(self.slow));
        if self.truncate {
            (low, high) = (low.floor(), high.ceil());
        }
        (low, high) = (low.max(0.0), high.min(width as f64 - 1.0));
        if low == high { [low, high + 0.001] } else { [low, high] }
    }
}

impl RopeScaling {
    /// Its name, as in a model's configuration.
    pub const fn name(&self) -> &'static str {
        match self {
            RopeScaling::Linear { .. } => "linear",
            RopeScaling::Dynamic { .. } => "dynamic",
            RopeScaling::Llama3 { .. } => "llama3",
            RopeScaling::Yarn(_) => "yarn",
            RopeScaling::LongRope { .. } => "longrope",
        }
    }

    /// The factor of sines and cosines. Queries and keys both have it, so the scores have its square.
    pub fn magnitude(&self) -> f64 {
        match *self {
            RopeScaling::Linear { .. } | RopeScaling::Dynamic { .. } | RopeScaling::Llama3 { .. } => 1.0,
            RopeScaling::Yarn(Yarn { attention: Some(attention), .. }) => attention,
            RopeScaling::Yarn(Yarn { factor, .. }) => Yarn::scale(factor, 1.0),
            RopeScaling::LongRope { attention: Some(attention), .. } => attention,
            RopeScaling::LongRope { factor, .. } if factor <= 1.0 => 1.0,
            RopeScaling::LongRope { factor, original, .. } => (1.0 + ln(factor) / ln(original)).sqrt(),
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// If one of them is out of its range.
    pub fn check(&self) -> Result<()> {
        let above = |what: &str, number: f64, limit: f64| {
            if number > limit && number.is_finite() {
                Ok(())
            } else {
                Err(Error::new(format!(
                    "the {what} of the rope scaling {} is {number}, but it must be a number above {limit}",
                    self.name()
                )))
            }
        };
        match *self {
            RopeScaling::Linear { factor } => above("factor", factor, 0.0),
            RopeScaling::Dynamic { factor, original, .. } => {
                above("original length", original, 0.0)?;
                if factor >= 1.0 { above("factor", factor, 0.0) } else { above("factor", factor, 1.0) }
            }
            RopeScaling::Llama3 { factor, low, high, original } => {
                above("factor", factor, 0.0)?;
                above("low factor", low, 0.0)?;
                above("high factor", high, low)?;
                above("original length", original, 0.0)
            }
            RopeScaling::Yarn(Yarn { factor, original, fast, slow, attention, .. }) => {
                above("factor", factor, 0.0)?;
                above("slow number of turns", slow, 0.0)?;
                if fast != slow {
                    above("fast number of turns", fast, slow)?;
                }
                above("attention factor", attention.unwrap_or(1.0), 0.0)?;
                above("original length", original, 0.0)
            }
            RopeScaling::LongRope { factor, original, attention } => {
                above("factor", factor, 0.0)?;
                above("attention factor", attention.unwrap_or(1.0), 0.0)?;
                above("original length", original, 1.0)
            }
        }
    }
}

/// The r of a dynamic scaling: `factor · length / original − (factor − 1)`.
pub fn dynamic_ratio(factor: f64, original: f64, length: usize) -> f64 {
    factor * length as f64 / original - (factor - 1.0)
}

/// Frequencies after a scaling; see [`RopeScaling`] for the formulas.
///
/// # Shapes
/// `f` is (1, d/2), and so are the divisors, which [`RopeScaling::LongRope`] alone has; the result is (1, d/2).
/// # Errors
/// If parameters are out of range, the divisors are missing or have another shape, or a dynamic scaling has a single pair.
/// # Source
/// Linear: Chen et al. 2023, “Extending Context Window of Large Language Models via Positional Interpolation”. Dynamic and YaRN:
/// Peng et al. 2023, “YaRN”, sections 3.2 and 3.3. llama3: the published code of Llama 3.1. LongRoPE: Ding et al. 2024.
pub fn scaled_frequencies(f: &Matrix, divisors: Option<&Matrix>, scaling: &RopeScaling) -> Result<Matrix> {
    scaling.check()?;
    let width = 2 * f.cols();
    let divisor: Vec<f64> = match (scaling, divisors) {
        (RopeScaling::LongRope { .. }, Some(row)) if row.shape() == f.shape() => row.cells().collect(),
        (RopeScaling::LongRope { .. }, row) => {
            let given = row.map_or("none are given".to_string(), |row| format!("they are {}", row.shape()));
            return Err(Error::new(format!(
                "the rope scaling longrope needs a divisor for each pair, {}, but {given}",
                f.shape()
            ))
            .help(format!("give one row of {}", counted(f.cols(), "number"))));
        }
        _ => Vec::new(),
    };
    if let Some(number) = divisor.iter().find(|number| **number <= 0.0) {
        return Err(Error::new(format!("a divisor of the rope scaling longrope is {number}"))
            .help("give positive numbers: the frequencies are divided by them"));
    }
    if matches!(scaling, RopeScaling::Dynamic { .. }) && width < 4 {
        return Err(Error::new("the rope scaling dynamic needs at least two pairs of columns")
            .help("rotate four columns or more, or use another scaling: linear"));
    }
    Ok(Matrix::from_fn(1, f.cols(), |_, p| one(f[(0, p)], p, width, scaling, &divisor)).labelled_like(f))
}

/// One frequency after a scaling.
fn one(f: f64, p: usize, width: usize, scaling: &RopeScaling, divisor: &[f64]) -> f64 {
    match *scaling {
        RopeScaling::Linear { factor } => f / factor,
        RopeScaling::Dynamic { factor, original, length } => {
            if length as f64 <= original {
                return f;
            }
            let r = dynamic_ratio(factor, original, length);
            f / pow(r, 2.0 * p as f64 / (width as f64 - 2.0))
        }
        RopeScaling::Llama3 { factor, low, high, original } => {
            let wavelength = 2.0 * PI / f;
            if wavelength < original / high {
                f
            } else if wavelength > original / low {
                f / factor
            } else {
                let s = (original / wavelength - low) / (high - low);
                0.0 + (1.0 - s) * (f / factor) + s * f
            }
        }
        RopeScaling::Yarn(yarn) => {
            let [low, high] = yarn.ramp(width);
            let r = (p as f64 - low) / (high - low);
            if r <= 0.0 {
                f
            } else if r >= 1.0 {
                f / yarn.factor
            } else {
                0.0 + f / yarn.factor * r + f * (1.0 - r)
            }
        }
        RopeScaling::LongRope { .. } => f / divisor[p],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yarn(factor: f64) -> RopeScaling {
        let (fast, slow) = (32.0, 1.0);
        RopeScaling::Yarn(Yarn {
            factor,
            original: 64.0,
            base: 10_000.0,
            fast,
            slow,
            truncate: true,
            attention: None,
        })
    }

    #[test]
    fn a_factor_of_one_changes_nothing() {
        let f = frequencies(16, 10_000.0);
        for scaling in [
            RopeScaling::Linear { factor: 1.0 },
            RopeScaling::Dynamic { factor: 1.0, original: 8.0, length: 8 },
            RopeScaling::Llama3 { factor: 1.0, low: 1.0, high: 4.0, original: 64.0 },
            yarn(1.0),
        ] {
            let scaled = scaled_frequencies(&f, None, &scaling).unwrap();
            let close = scaled.cells().zip(f.cells()).all(|(a, b)| (a - b).abs() <= 1e-16 * b.abs().max(1.0));
            assert!(close, "{scaling:?}");
            assert_eq!(scaling.magnitude(), 1.0);
        }
    }

    #[test]
    fn fast_pairs_are_kept_and_slow_ones_divided() {
        let f = frequencies(32, 10_000.0);
        for scaling in [RopeScaling::Llama3 { factor: 8.0, low: 1.0, high: 4.0, original: 64.0 }, yarn(8.0)] {
            let scaled = scaled_frequencies(&f, None, &scaling).unwrap();
            assert_eq!(scaled[(0, 0)], f[(0, 0)]);
            assert_eq!(scaled[(0, 15)], f[(0, 15)] / 8.0);
            let is_between = |p: &usize| scaled[(0, *p)] < f[(0, *p)] && scaled[(0, *p)] > f[(0, *p)] / 8.0;
            assert!((0..16).any(|p| is_between(&p)), "no pair is blended: {scaling:?}");
        }
    }

    #[test]
    fn parameters_out_of_range_are_errors_that_name_them() {
        let error = |scaling: RopeScaling| scaling.check().unwrap_err().to_string();
        assert_eq!(
            error(RopeScaling::Linear { factor: 0.0 }),
            "the factor of the rope scaling linear is 0, but it must be a number above 0"
        );
        assert!(
            error(RopeScaling::Llama3 { factor: 8.0, low: 4.0, high: 4.0, original: 64.0 })
                .contains("high factor")
        );
        assert!(
            error(RopeScaling::LongRope { factor: 2.0, original: 1.0, attention: None })
                .contains("original length")
        );
        let f = frequencies(4, 10.0);
        let long = RopeScaling::LongRope { factor: 2.0, original: 16.0, attention: None };
        assert!(scaled_frequencies(&f, None, &long).is_err());
        assert!(scaled_frequencies(&f, Some(&Matrix::filled(1, 2, 0.0)), &long).is_err());
        assert!(scaled_frequencies(&f, Some(&frequencies(6, 10.0)), &long).is_err());
    }
}
