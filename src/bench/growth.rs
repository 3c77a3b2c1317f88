//! The growth of time and memory with the length of the sequence, for each of three ways.

use std::time::Duration;

use super::problem::Problem;
use super::shape::Shape;
use super::steps::{loop_over_queries, step_by_step};
use super::timing::{Timing, time};
use crate::error::Result;
use crate::kernel::{Kernels, Machine};

/// The lengths of the sequence, each twice the one before.
pub const SIZES: [usize; 8] = [64, 128, 256, 512, 1024, 2048, 4096, 8192];

/// The maximum number of n×n matrices that the exact path holds at once, while it computes the weights.
const MAX_MATRICES: u128 = 6;

/// A way of computing attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// [`loop_over_queries`].
    Loop,
    /// [`step_by_step`].
    Steps,
    /// [`Problem::attend`].
    Fused,
}

/// The settings of a measurement of growth.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// The width of the head.
    pub width: usize,
    /// True if no query sees a later key.
    pub causal: bool,
    /// The machine of the fused path; the other ways have one thread and no SIMD of their own.
    pub machine: Machine,
    /// The time during which each size is repeated.
    pub each: Duration,
    /// The maximum time of one run; a size that would take longer is not measured.
    pub longest: Duration,
    /// The maximum memory in bytes; a size that would take more is not measured.
    pub most_bytes: u64,
}

/// One size on one way.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The length of the sequence.
    pub n: usize,
    /// The result.
    pub measured: Measurement,
}

/// The result of a measurement, or the reason why there is none.
#[derive(Clone, Copy, Debug)]
pub enum Measurement {
    /// Time and memory.
    Done {
        /// The time of a run.
        timing: Timing,
        /// Flop/s, by the useful ones.
        rate: f64,
        /// Bytes beside inputs and outputs.
        extra_bytes: usize,
        /// The threads it was worth.
        threads: usize,
        /// For the fused path, the largest |O − exact|.
        max_error: Option<f64>,
    },
    /// It would take this many seconds, as the last measured size predicts.
    TooLong(f64),
    /// It would take this many bytes.
    TooLarge(u64),
}

impl Growth {
    /// The point of one size. `shorter` are the points before it, on the same way.
    ///
    /// # Errors
    /// If this processor lacks `machine.simd`.
    pub fn point<T: Kernels>(&self, way: Method, n: usize, shorter: &[Point]) -> Result<Point> {
        let measured = match self.refused(way, n, shorter) {
            Some(refused) => refused,
            None => self.taken::<T>(way, self.shape(n))?,
        };
        Ok(Point { n, measured })
    }

    /// The problem of one size.
    pub fn shape(&self, n: usize) -> Shape {
        let Growth { width, causal, .. } = *self;
        Shape { heads: 1, key_value_heads: 1, queries: n, keys: n, width, causal }
    }

    fn refused(&self, way: Method, n: usize, shorter: &[Point]) -> Option<Measurement> {
        let matrices = if way == Method::Steps { MAX_MATRICES } else { 0 };
        let bytes = matrices * (n * n * size_of::<f64>()) as u128 + Problem::<f64>::bytes(self.shape(n));
        if bytes > u128::from(self.most_bytes) {
            return Some(Measurement::TooLarge(u64::try_from(bytes).unwrap_or(u64::MAX)));
        }
        let seconds = |point: &Point| match point.measured {
            Measurement::Done { timing, .. } => Some(timing.median * ((n / point.n) * (n / point.n)) as f64),
            _ => None,
        };
        let seconds = shorter.iter().rev().find_map(seconds)?;
        (seconds > self.longest.as_secs_f64()).then_some(Measurement::TooLong(seconds))
    }

    fn taken<T: Kernels>(&self, way: Method, shape: Shape) -> Result<Measurement> {
        let taken = |timing: Timing, extra_bytes, threads, max_error| {
            let rate = shape.flop() as f64 / timing.median;
            Measurement::Done { timing, rate, extra_bytes, threads, max_error }
        };
        if way == Method::Fused {
            let mut problem = Problem::<T>::drawn(shape)?;
            let used = problem.attend(self.machine)?;
            let max_error = Some(problem.max_error()?);
            let timing = time(self.each, || problem.attend(self.machine).map(drop))?;
            return Ok(taken(timing, used.extra_bytes, used.threads, max_error));
        }
        let [q, k, v] = Problem::<f64>::drawn(shape)?.exact(0)?;
        let mut extra_bytes = 0;
        let timing = time(self.each, || {
            let formed = match way {
                Method::Loop => loop_over_queries(&q, &k, &v, shape.causal)?,
                _ => step_by_step(&q, &k, &v, shape.causal)?,
            };
            extra_bytes = formed.extra_bytes;
            Ok(())
        })?;
        Ok(taken(timing, extra_bytes, 1, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth() -> Growth {
        Growth {
            width: 4,
            causal: false,
            machine: Machine { threads: 1, ..Machine::here() },
            each: Duration::from_micros(10),
            longest: Duration::from_secs(5),
            most_bytes: 1 << 30,
        }
    }

    fn bytes(measured: Measurement) -> usize {
        match measured {
            Measurement::Done { extra_bytes, .. } => extra_bytes,
            refused => panic!("{refused:?}"),
        }
    }

    #[test]
    fn memory_grows_quadratically_linearly_or_not_by_path() {
        let growth = growth();
        let both = |way| [64, 128].map(|n| bytes(growth.point::<f32>(way, n, &[]).unwrap().measured));
        assert_eq!(both(Method::Steps), [3 * 64 * 64 * 8, 3 * 128 * 128 * 8]);
        assert_eq!(both(Method::Loop), [3 * 64 * 8, 3 * 128 * 8]);
        let fused = both(Method::Fused);
        assert_eq!(fused[0], fused[1]);
    }

    #[test]
    fn what_would_take_too_long_or_too_much_says_so() {
        let mut growth = growth();
        let timing = Timing { median: 2.0, least: 2.0, runs: 1, other_busy: None };
        let taken = Measurement::Done { timing, rate: 1.0, extra_bytes: 0, threads: 1, max_error: None };
        let shorter =
            [Point { n: 64, measured: taken }, Point { n: 128, measured: Measurement::TooLong(8.0) }];
        let longer = growth.point::<f32>(Method::Loop, 256, &shorter).unwrap().measured;
        assert!(matches!(longer, Measurement::TooLong(32.0)), "{longer:?}");
        growth.most_bytes = 6 * 256 * 256 * 8;
        let larger = growth.point::<f32>(Method::Steps, 256, &[]).unwrap().measured;
        assert!(matches!(larger, Measurement::TooLarge(bytes) if bytes > growth.most_bytes), "{larger:?}");
        // The fused path forms no matrices.
        assert!(bytes(growth.point::<f32>(Method::Fused, 256, &[]).unwrap().measured) > 0);
        growth.width = usize::MAX;
        let wide = growth.point::<f32>(Method::Fused, 64, &[]).unwrap().measured;
        assert!(matches!(wide, Measurement::TooLarge(u64::MAX)), "{wide:?}");
    }
}
