//! One shape, measured thoroughly: the fused path beside the machine's limits, taken in the same seconds.

use std::time::Duration;

use super::problem::{Problem, memory_limit};
use super::shape::Shape;
use super::timing::{Timing, time};
use crate::error::Result;
use crate::kernel::{Kernels, MIN_QUERIES_FOR_TILES, Machine, Used, multiply_add_rate, read_rate};

/// More than any processor keeps to itself: reading it is reading from memory.
const BEYOND_CACHES: usize = 1 << 29;

/// So long that is read at least: several times over.
const READING: Duration = Duration::from_millis(250);

/// What one shape has come to.
#[derive(Clone, Debug)]
pub struct Single {
    /// What was computed.
    pub shape: Shape,
    /// With what.
    pub machine: Machine,
    /// Its numbers: `f32` or `f64`.
    pub dtype: &'static str,
    /// How long it takes.
    pub timing: Timing,
    /// The memory and the threads it takes.
    pub used: Used,
    /// The largest |O − exact| over some rows, see [`Problem::largest_error`].
    pub largest_error: f64,
    /// The peak of multiply-adds on as many threads as were used, in flop/s: the larger of one before and one after.
    pub peak: f64,
    /// For few queries, where memory is the limit.
    pub reading: Option<Reading>,
}

/// How fast keys and values are read, in bytes a second.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// By the fused path: all keys and values once, in the median time.
    pub fused: f64,
    /// By reading the same keys and values and doing nothing with them.
    pub alone: f64,
    /// By reading more than fits any cache; `None` where there is not so much memory.
    pub memory: Option<f64>,
}

/// Flop in a second.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Useful flop over the median time.
    pub median: f64,
    /// Useful flop over the least time.
    pub best: f64,
}

impl Single {
    /// Measures a shape for about `budget`, and about as long what it is compared with.
    ///
    /// # Errors
    /// If the shape is none, there is not the memory, or this processor lacks `machine.simd`.
    pub fn measure<T: Kernels>(shape: Shape, machine: Machine, budget: Duration) -> Result<Single> {
        let mut problem = Problem::<T>::drawn(shape)?;
        let used = problem.attend(machine)?;
        let largest_error = problem.largest_error()?;
        let aside = (budget / 4).min(Duration::from_millis(250));
        let busy = Machine { threads: used.threads, ..machine };
        let before = multiply_add_rate::<T>(busy, aside)?;
        let timing = time(budget, || problem.attend(machine).map(drop))?;
        let peak = before.max(multiply_add_rate::<T>(busy, aside)?);
        let is_decode = shape.queries < MIN_QUERIES_FOR_TILES;
        let reading = if is_decode { Some(Reading::of(&problem, machine, &timing, aside)?) } else { None };
        Ok(Single { shape, machine, dtype: T::NAME, timing, used, largest_error, peak, reading })
    }

    /// How fast it was.
    pub fn rates(&self) -> Rates {
        let flop = self.shape.flop() as f64;
        Rates { median: flop / self.timing.median, best: flop / self.timing.least }
    }
}

impl Reading {
    fn of<T: Kernels>(
        problem: &Problem<T>,
        machine: Machine,
        timing: &Timing,
        aside: Duration,
    ) -> Result<Reading> {
        let arrays = problem.keys_and_values();
        let bytes = arrays.iter().map(|numbers| size_of_val(*numbers)).sum::<usize>();
        let alone = read_rate(machine, &arrays, aside)?;
        let memory = if memory_limit() > BEYOND_CACHES as u64 {
            let numbers = vec![T::ONE; BEYOND_CACHES / size_of::<T>()];
            Some(read_rate(machine, &[&numbers], aside.max(READING))?)
        } else {
            None
        };
        Ok(Reading { fused: bytes as f64 / timing.median, alone, memory })
    }
}
