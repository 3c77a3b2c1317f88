//! Biases of the scores that depend on the distance between query and key alone.

use serde::{Deserialize, Serialize};

use crate::elementary::{ln, pow};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::text::counted;

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
