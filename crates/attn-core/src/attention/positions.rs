//! Positions: rotations of queries and keys, what changes their frequencies, the distances that biases depend on.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use super::number::{Base, Number};
use crate::elementary::ln;
use crate::error::{Error, Result};
use crate::json_number;
use crate::text::counted;

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
        // Each number, and the limit that it must be above.
        let limits: &[(&str, f64, f64)] = match *self {
            RopeScaling::Linear { factor } => &[("factor", factor, 0.0)],
            RopeScaling::Dynamic { factor, original, .. } => &[
                ("original length", original, 0.0),
                ("factor", factor, if factor >= 1.0 { 0.0 } else { 1.0 }),
            ],
            RopeScaling::Llama3 { factor, low, high, original } => &[
                ("factor", factor, 0.0),
                ("low factor", low, 0.0),
                ("high factor", high, low),
                ("original length", original, 0.0),
            ],
            RopeScaling::Yarn(Yarn { factor, original, fast, slow, attention, .. }) => &[
                ("factor", factor, 0.0),
                ("slow number of turns", slow, 0.0),
                ("fast number of turns", fast, if fast == slow { 0.0 } else { slow }),
                ("attention factor", attention.unwrap_or(1.0), 0.0),
                ("original length", original, 0.0),
            ],
            RopeScaling::LongRope { factor, original, attention } => &[
                ("factor", factor, 0.0),
                ("attention factor", attention.unwrap_or(1.0), 0.0),
                ("original length", original, 1.0),
            ],
        };
        let is_wrong = |(_, number, limit): &&(&str, f64, f64)| !(number > limit && number.is_finite());
        let Some((what, number, limit)) = limits.iter().find(is_wrong) else { return Ok(()) };
        let name = self.name();
        Err(Error::new(format!(
            "the {what} of the rope scaling {name} is {number}, but it must be a number above {limit}"
        )))
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
    pub fn slope(&self) -> f64 {
        self.slope_of()
    }

    /// The same as a number of a rule.
    pub(crate) fn slope_of<N: Number>(&self) -> N {
        let (above, below) = self.slope_exponent();
        N::of(-(above as f64)).over(N::of(below as f64)).power_of(Base::Number(2.0))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

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
