//! Steps in both types of numbers.
//!
//! A program that is compiled without optimisation, such as a test, shares the code of these functions, which has the optimisation of
//! this crate, instead of compiling [`Trainer`] again.

use super::number::Number;
use super::trainer::{Step, Trainer};
use crate::error::Result;

/// The next steps of a training in `f32`.
///
/// # Errors
/// As [`Trainer::step`].
pub fn steps_in_single(trainer: &mut Trainer<f32>, count: usize) -> Result<Vec<Step>> {
    steps(trainer, count)
}

/// The next steps of a training in `f64`.
///
/// # Errors
/// As [`Trainer::step`].
pub fn steps_in_double(trainer: &mut Trainer<f64>, count: usize) -> Result<Vec<Step>> {
    steps(trainer, count)
}

fn steps<T: Number>(trainer: &mut Trainer<T>, count: usize) -> Result<Vec<Step>> {
    (0..count).map(|_| trainer.step()).collect()
}
