//! The estimated time that a shape will take, before it is run.

use std::time::{Duration, Instant};

use super::problem::Problem;
use super::shape::Shape;
use crate::error::Result;
use crate::kernel::{Kernels, Machine};

/// A shape of fewer operations and fewer numbers takes no time that would be worth an estimate.
const QUICK: (u64, u128) = (10_000_000_000, 10_000_000);

/// The sizes of the small problem that the large one is estimated by, at most: queries, keys, width.
const SAMPLE: (usize, usize, usize) = (64, 1024, 1024);

/// The approximate minimum time of [`super::ShapeMeasurement::measure`] on a shape: drawing its numbers, comparing some rows with the
/// exact path, and attending twice. Each is timed on a small problem and multiplied; `None` if it takes only seconds.
///
/// # Errors
/// If the shape is none, or this processor lacks `machine.simd`.
pub fn estimate<T: Kernels>(shape: Shape, machine: Machine) -> Result<Option<Duration>> {
    let shape = shape.checked()?;
    let numbers = |shape: Shape| shape.numbers().into_iter().sum::<u128>();
    if shape.flop() < QUICK.0 && numbers(shape) < QUICK.1 {
        return Ok(None);
    }
    let (queries, keys, width) = SAMPLE;
    let keys = keys.min(shape.keys);
    let small = Shape {
        heads: 1,
        key_value_heads: 1,
        queries: queries.min(shape.queries).min(keys),
        keys,
        width: width.min(shape.width),
        ..shape
    };
    let (drawn, mut problem) = timed(|| Problem::<T>::drawn(small))?;
    let one = Machine { threads: 1, ..machine };
    problem.attend(one)?;
    let (attended, _) = timed(|| problem.attend(one))?;
    let (compared, _) = timed(|| problem.max_error())?;
    let share = |large: f64, small: f64| large / small.max(1.0);
    let rows = |shape: Shape| Problem::<T>::compared(shape) as f64;
    let seconds = drawn * share(numbers(shape) as f64, numbers(small) as f64)
        + 2.0 * attended * share(shape.flop() as f64, small.flop() as f64) / machine.threads.max(1) as f64
        + compared * share(rows(shape), rows(small));
    Ok(Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)))
}

/// The seconds that `work` takes, and its result.
fn timed<R>(work: impl FnOnce() -> Result<R>) -> Result<(f64, R)> {
    let start = Instant::now();
    let result = work()?;
    Ok((start.elapsed().as_secs_f64(), result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_times_the_work_is_estimated_at_more_time_and_little_work_at_none() {
        let shape =
            |keys| Shape { heads: 8, key_value_heads: 8, queries: keys, keys, width: 64, causal: false };
        let machine = Machine { threads: 1, ..Machine::here() };
        let of = |keys| estimate::<f32>(shape(keys), machine).unwrap();
        assert_eq!(of(256), None);
        // 125² times the pairs.
        let (small, large) = (of(16_000).unwrap(), of(2_000_000).unwrap());
        assert!(large > 100 * small, "{small:?} and {large:?}");
    }
}
