//! One shape, measured thoroughly: the fused path beside the machine's limits, taken in the same seconds.

use std::time::Duration;

use super::problem::{Problem, memory_limit};
use super::shape::Shape;
use super::timing::{Timing, time};
use crate::error::Result;
use crate::kernel::{Kernels, MIN_QUERIES_FOR_TILES, Machine, Resources, multiply_add_rate, read_rate};

/// More bytes than any cache holds: reading them is reading from memory.
const BEYOND_CACHES: usize = 1 << 29;

/// The minimum time of reading from memory: several times over.
const READING: Duration = Duration::from_millis(250);

/// The measurement of one shape.
#[derive(Clone, Debug)]
pub struct ShapeMeasurement {
    /// The shape that was computed.
    pub shape: Shape,
    /// The machine that it was measured on.
    pub machine: Machine,
    /// Its numbers: `f32` or `f64`.
    pub dtype: &'static str,
    /// The time of a run.
    pub timing: Timing,
    /// The memory and the threads it takes.
    pub used: Resources,
    /// The largest |O − exact| over some rows, see [`Problem::max_error`].
    pub max_error: f64,
    /// The peak of multiply-adds on as many threads as were used, in flop/s: the larger of one before and one after.
    pub peak: f64,
    /// For few queries, where memory is the limit.
    pub reading: Option<ReadRates>,
}

/// The rate at which keys and values are read, in bytes a second.
#[derive(Clone, Copy, Debug)]
pub struct ReadRates {
    /// By the fused path: all keys and values once, in the median time.
    pub fused: f64,
    /// By reading the same keys and values and doing nothing with them.
    pub alone: f64,
    /// By reading more than fits any cache; `None` where there is too little memory.
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

impl ShapeMeasurement {
    /// Measures a shape for about `budget`, and the limits of the machine for about as long.
    ///
    /// # Errors
    /// If the shape is none, there is not the memory, or this processor lacks `machine.simd`.
    pub fn measure<T: Kernels>(shape: Shape, machine: Machine, budget: Duration) -> Result<ShapeMeasurement> {
        let mut problem = Problem::<T>::drawn(shape)?;
        let used = problem.attend(machine)?;
        let max_error = problem.max_error()?;
        let aside = (budget / 4).min(Duration::from_millis(250));
        let busy = Machine { threads: used.threads, ..machine };
        let before = multiply_add_rate::<T>(busy, aside)?;
        let timing = time(budget, || problem.attend(machine).map(drop))?;
        let peak = before.max(multiply_add_rate::<T>(busy, aside)?);
        let is_decode = shape.queries < MIN_QUERIES_FOR_TILES;
        let reading = if is_decode { Some(ReadRates::of(&problem, machine, &timing, aside)?) } else { None };
        Ok(ShapeMeasurement { shape, machine, dtype: T::NAME, timing, used, max_error, peak, reading })
    }

    /// The rates of the computation.
    pub fn rates(&self) -> Rates {
        let flop = self.shape.flop() as f64;
        Rates { median: flop / self.timing.median, best: flop / self.timing.least }
    }
}

impl ReadRates {
    fn of<T: Kernels>(
        problem: &Problem<T>,
        machine: Machine,
        timing: &Timing,
        aside: Duration,
    ) -> Result<ReadRates> {
        let arrays = problem.keys_and_values();
        let bytes = arrays.iter().map(|numbers| size_of_val(*numbers)).sum::<usize>();
        let alone = read_rate(machine, &arrays, aside)?;
        let memory = if memory_limit() > BEYOND_CACHES as u64 {
            let numbers = vec![T::ONE; BEYOND_CACHES / size_of::<T>()];
            Some(read_rate(machine, &[&numbers], aside.max(READING))?)
        } else {
            None
        };
        Ok(ReadRates { fused: bytes as f64 / timing.median, alone, memory })
    }
}
