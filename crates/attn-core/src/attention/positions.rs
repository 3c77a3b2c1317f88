//! Positions: vectors to add to the tokens, rotations of queries and keys with their frequencies, biases by distance.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use crate::elementary::{cos, ln, pow, sin};
use crate::error::{Error, Result};
use crate::json_number;
use crate::matrix::{Labels, Matrix};
use crate::text::counted;

/// One cell of [`sinusoidal`]: the sine of the pair's angle in even columns, its cosine in odd ones (columns from 0).
pub fn sinusoid(position: usize, column: usize, width: usize) -> f64 {
    let angle = position as f64 / pow(10_000.0, 2.0 * (column / 2) as f64 / width as f64);
    if column.is_multiple_of(2) { sin(angle) } else { cos(angle) }
}

/// Position vectors to be added to the tokens: `P[t, 2p] = sin((first + t) / 10000^(2p/d))`, `P[t, 2p+1] = cos(…)`, with t, p
/// from 0. The result is (tokens, width).
///
/// # Source
/// Vaswani et al. 2017, section 3.5.
pub fn sinusoidal(first: usize, tokens: usize, width: usize) -> Matrix {
    Matrix::from_fn(tokens, width, |position, column| sinusoid(first + position, column, width))
}

/// The two columns that rotate together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pairing {
    /// p and p + w/2, for the pair p of a width w: the files of Llama, Qwen, Gemma and GPT-NeoX on the hub.
    #[default]
    Halves,
    /// 2p and 2p + 1: the paper, GPT-J, Cohere, and Meta's own files.
    Neighbours,
}

impl Pairing {
    /// The pair of a column in a width of `pairs` pairs, the column that it rotates with, and whether it is the pair's first.
    pub fn partner(self, column: usize, pairs: usize) -> (usize, usize, bool) {
        match self {
            Pairing::Halves if column < pairs => (column, column + pairs, true),
            Pairing::Halves => (column - pairs, column - pairs, false),
            Pairing::Neighbours if column.is_multiple_of(2) => (column / 2, column + 1, true),
            Pairing::Neighbours => (column / 2, column - 1, false),
        }
    }
}

/// A rotation of rows by their positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// The position of the first row.
    pub first: usize,
    /// The two columns that rotate together.
    pub pairing: Pairing,
    /// The factor of sines and cosines: 1, except with YaRN and LongRoPE.
    #[serde(with = "json_number")]
    pub magnitude: f64,
}

/// Rotates each pair of columns (a, b) of row t by the angle `θ = (first + t) · f[p]`, so that a dot product of two rotated rows
/// depends on the distance of their positions alone: `a' = a · cos θ − b · sin θ`, `b' = b · cos θ + a · sin θ`. Columns behind
/// the last pair stay as they are.
///
/// # Shapes
/// `x` is (T, d), `f` (1, w/2) with w ≤ d; the result is (T, d).
/// # Errors
/// If there are more frequencies than pairs of columns.
/// # Source
/// Su et al. 2021, “RoFormer”, section 3.2.2; the rotation of a part: Black et al. 2022, “GPT-NeoX-20B”, section 2.1.
pub fn rotary(x: &Matrix, f: &Matrix, rotation: &Rotation) -> Result<Matrix> {
    let pairs = f.cols();
    if f.rows() != 1 || 2 * pairs > x.cols() {
        return Err(Error::new(format!(
            "frequencies of {} cannot rotate {}",
            f.shape(),
            counted(x.cols(), "column")
        ))
        .help("give one row with a frequency for each pair of columns"));
    }
    let cell = |t, j| {
        if j >= 2 * pairs {
            return x[(t, j)];
        }
        let (pair, partner, is_first) = rotation.pairing.partner(j, pairs);
        let angle = (rotation.first + t) as f64 * f[(0, pair)];
        let (cosine, sine) = (cos(angle) * rotation.magnitude, sin(angle) * rotation.magnitude);
        let (own, other) = (x[(t, j)] * cosine, x[(t, partner)] * sine);
        if is_first { own - other } else { 0.0 + own + other }
    };
    Ok(Matrix::from_fn(x.rows(), x.cols(), cell).labelled_like(x))
}

// The frequencies of rotary positions, and what lets them reach beyond the context of training.

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

// Biases of the scores that depend on the distance between query and key alone.

/// The places of queries and keys: T queries over N keys, with query i at `offset + i` among the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// T.
    pub queries: usize,
    /// N.
    pub keys: usize,
    /// The place of the first query among the keys, from 0.
    pub offset: isize,
}

impl Places {
    /// The distance from query i back to key j; negative where the key comes later.
    pub fn distance(&self, i: usize, j: usize) -> i64 {
        self.offset as i64 + i as i64 - j as i64
    }
}

/// One of several heads, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadOf {
    /// The head, from 1.
    pub head: usize,
    /// The number of heads.
    pub heads: usize,
}

impl HeadOf {
    /// The exponent of ALiBi's slope as a fraction: the slope is 2 to the power of minus it.
    ///
    /// With n heads, n a power of two, head h has 8h/n. Otherwise the first 2^⌊log₂ n⌋ heads have the slopes of that number of
    /// heads, and the others every second slope of twice the number.
    pub fn slope_exponent(&self) -> (usize, usize) {
        let power = 1 << self.heads.max(1).ilog2();
        if self.head <= power {
            (8 * self.head, power)
        } else {
            (8 * (2 * (self.head - power) - 1), 2 * power)
        }
    }

    /// ALiBi's slope of the head.
    ///
    /// # Source
    /// Press et al. 2021, “Train Short, Test Long”, section 3; other numbers of heads: its published code.
    pub fn slope(&self) -> f64 {
        let (above, below) = self.slope_exponent();
        pow(2.0, -(above as f64) / below as f64)
    }

    /// ALiBi's bias of a distance: `−m · |distance|`.
    pub fn bias(&self, distance: i64) -> f64 {
        match distance.unsigned_abs() {
            0 => 0.0,
            distance => -self.slope() * distance as f64,
        }
    }
}

/// A bias that grows with the distance: `out[i,j] = −m · |i + offset − j|`, with the head's slope m.
///
/// # Shapes
/// (T, N).
/// # Source
/// Press et al. 2021, “Train Short, Test Long: Attention with Linear Biases”, section 3, which has keys before the query only.
pub fn alibi(head: HeadOf, places: Places) -> Matrix {
    Matrix::from_fn(places.queries, places.keys, |i, j| head.bias(places.distance(i, j)))
}

/// T5's buckets of distances: near keys have a bucket each, those further away share one, and all from `furthest` on the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buckets {
    /// The number of buckets.
    pub count: usize,
    /// The distance from which on all keys are in the last bucket.
    pub furthest: usize,
    /// True if keys after the query have the second half of the buckets; else they are in bucket 0.
    pub both_ways: bool,
}

impl Buckets {
    /// The bucket of a distance, from 0.
    ///
    /// With n buckets for a direction, half of them, e = n/2, hold a distance each. Distance d ≥ e is in bucket
    /// `e + ⌊ln(d/e) / ln(furthest/e) · (n − e)⌋`, at most n − 1.
    ///
    /// # Source
    /// Raffel et al. 2020, “Exploring the Limits of Transfer Learning”, section 2.1, and its published code.
    pub fn bucket(&self, distance: i64) -> usize {
        let (count, start) = match (self.both_ways, distance < 0) {
            (true, true) => (self.count / 2, self.count / 2),
            (true, false) => (self.count / 2, 0),
            (false, true) => return 0,
            (false, false) => (self.count, 0),
        };
        let (far, exact) = (distance.unsigned_abs() as usize, count / 2);
        if far < exact {
            return start + far;
        }
        let share = ln(far as f64 / exact as f64) / ln(self.furthest as f64 / exact as f64);
        start + (exact + (share * (count - exact) as f64) as usize).min(count - 1)
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// If there are too few buckets for the directions, or the furthest distance has a bucket of its own.
    pub fn check(&self) -> Result<()> {
        let exact = self.count / if self.both_ways { 4 } else { 2 };
        if exact == 0 {
            return Err(Error::new(format!("{} cannot hold the distances", counted(self.count, "bucket"))).help(
                "give a table with a row for each bucket: at least 2, or 4 where queries see later keys too",
            ));
        }
        if self.furthest <= exact {
            return Err(Error::new(format!(
                "{} buckets are too many for distances below {}",
                self.count, self.furthest
            )));
        }
        Ok(())
    }
}

/// A bias from a table: `out[i,j] = table[bucket(i + offset − j), column]`.
///
/// # Shapes
/// `table` is (buckets, heads); the result is (T, N).
/// # Errors
/// If the table has not this column, or not a row for each bucket.
/// # Source
/// Raffel et al. 2020, “Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer”, section 2.1.
pub fn bucket_bias(table: &Matrix, column: usize, buckets: Buckets, places: Places) -> Result<Matrix> {
    buckets.check()?;
    if column >= table.cols() || table.rows() != buckets.count {
        return Err(Error::new(format!(
            "a {} table of positions has no row for each of {} buckets and a column {}",
            table.shape(),
            buckets.count,
            column + 1
        )));
    }
    let cell = |i, j| table[(buckets.bucket(places.distance(i, j)), column)];
    Ok(Matrix::from_fn(places.queries, places.keys, cell))
}

#[cfg(test)]
mod tests {
    use crate::attention::product_transposed;

    use super::*;

    fn at(first: usize, pairing: Pairing) -> Rotation {
        Rotation { first, pairing, magnitude: 1.0 }
    }

    #[test]
    fn rotation_keeps_lengths_and_makes_scores_depend_on_distance_alone() {
        let row = [0.3, -1.2, 0.7, 2.0, 0.25];
        let same = Matrix::from_fn(5, 5, |_, j| row[j]);
        for pairing in [Pairing::Halves, Pairing::Neighbours] {
            let rotated = rotary(&same, &frequencies(4, 100.0), &at(0, pairing)).unwrap();
            let scores = product_transposed(&rotated, &rotated).unwrap();
            for i in 0..4 {
                assert!((scores[(i, i)] - scores[(0, 0)]).abs() < 1e-12, "a row's length changed");
                assert!((scores[(i, i + 1)] - scores[(0, 1)]).abs() < 1e-12, "the distance is 1 in both");
                assert_eq!(rotated[(i, 4)], row[4], "the fifth column belongs to no pair");
            }
            assert!((scores[(0, 1)] - scores[(0, 2)]).abs() > 1e-3, "the distance has no effect");
        }
    }

    #[test]
    fn the_first_position_is_not_rotated_and_too_many_frequencies_are_refused() {
        let x = Matrix::of([[1.0, 2.0]]);
        assert!(rotary(&x, &frequencies(2, 10_000.0), &at(0, Pairing::Halves)).unwrap().same_bits(&x));
        assert!(rotary(&x, &frequencies(4, 10_000.0), &at(0, Pairing::Halves)).is_err());
    }

    #[test]
    fn the_sinusoids_of_position_one_are_those_of_the_paper() {
        let table = sinusoidal(0, 2, 4);
        // sin 1, cos 1, sin 0.01, cos 0.01
        let expected = [
            0.841_470_984_807_896_5,
            0.540_302_305_868_139_8,
            0.009_999_833_334_166_664,
            0.999_950_000_416_665_3,
        ];
        assert!(table.row(1).zip(expected).all(|(a, b)| (a - b).abs() < 1e-15));
        assert_eq!(table.row(0).collect::<Vec<_>>(), [0.0, 1.0, 0.0, 1.0]);
        assert!(sinusoidal(1, 1, 4).row(0).eq(table.row(1)));
    }

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

    #[test]
    fn slopes_of_eight_heads_halve_from_head_to_head() {
        let slopes: Vec<f64> = (1..=8).map(|head| HeadOf { head, heads: 8 }.slope()).collect();
        assert_eq!(slopes, [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625]);
    }

    #[test]
    fn six_heads_take_the_slopes_of_four_and_two_of_eight() {
        let slopes: Vec<f64> = (1..=6).map(|head| HeadOf { head, heads: 6 }.slope()).collect();
        assert_eq!(slopes, [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]);
    }

    #[test]
    fn near_distances_have_buckets_of_their_own_and_all_buckets_are_reached() {
        let causal = Buckets { count: 32, furthest: 128, both_ways: false };
        assert!((0..16).all(|distance| causal.bucket(distance) == distance as usize));
        assert_eq!([16, 127, 128, 5000].map(|distance| causal.bucket(distance)), [16, 31, 31, 31]);
        assert_eq!(causal.bucket(-3), 0);
        let both = Buckets { both_ways: true, ..causal };
        assert_eq!([0, 7, 8, -1, -7, -8].map(|distance| both.bucket(distance)), [0, 7, 8, 17, 23, 24]);
        let all: std::collections::BTreeSet<usize> =
            (-200..=200).map(|distance| both.bucket(distance)).collect();
        // Bucket 16 would hold a distance of 0 of keys after the query.
        assert_eq!(all.len(), 31);
    }
}
