//! The number types that a model learns in.

use crate::attention::Base;
use crate::elementary;
use crate::error::{Error, Result};
use crate::graph;
use crate::kernel::{Kernels, Machine, SimdLevel, softmax_rows};
use crate::tensor::Element;

/// `f64`, the exact path, or `f32`, which is what models are trained in. Neither depends on the machine.
pub trait Number: Kernels + Element + 'static {
    /// The softmax of each row of some scores, in place, with 0 where a score is −∞.
    ///
    /// # Errors
    /// If the scores are not rows of this many columns.
    fn softmax(scores: &mut [Self], cols: usize, simd: SimdLevel) -> Result<()>;

    /// `−ln softmax` of each row of some scores, in place.
    ///
    /// # Errors
    /// If the scores are not rows of this many columns.
    fn negative_log_softmax(scores: &mut [Self], cols: usize, working: &mut Working<Self>) -> Result<()>;

    /// The square root.
    fn root(self) -> Self;
}

/// What a step computes in.
#[derive(Debug)]
pub struct Working<T> {
    /// The level of the registers.
    pub simd: SimdLevel,
    /// Room for a transposed factor, or for weights.
    pub packed: Vec<T>,
}

impl Number for f64 {
    fn softmax(scores: &mut [f64], cols: usize, _: SimdLevel) -> Result<()> {
        for row in scores.chunks_exact_mut(cols.max(1)) {
            let weight = graph::softmax_of(row.to_vec(), Base::E);
            row.iter_mut().enumerate().for_each(|(k, x)| *x = weight(k));
        }
        Ok(())
    }

    fn negative_log_softmax(scores: &mut [f64], cols: usize, _: &mut Working<f64>) -> Result<()> {
        for row in scores.chunks_exact_mut(cols.max(1)) {
            let loss = graph::negative_log_softmax_of(row.to_vec());
            row.iter_mut().enumerate().for_each(|(k, x)| *x = loss(k));
        }
        Ok(())
    }

    fn root(self) -> f64 {
        self.sqrt()
    }
}

impl Number for f32 {
    fn softmax(scores: &mut [f32], cols: usize, simd: SimdLevel) -> Result<()> {
        softmax_rows(scores, cols, Machine { simd, threads: 1 })
            .map(|_| ())
            .map_err(|error| Error::new(error.to_string()))
    }

    /// The largest weight of a row is 1 by the sum of its exponentials.
    fn negative_log_softmax(scores: &mut [f32], cols: usize, working: &mut Working<f32>) -> Result<()> {
        let weights = &mut working.packed;
        weights.clear();
        weights.extend_from_slice(scores);
        f32::softmax(weights, cols, working.simd)?;
        let cols = cols.max(1);
        for (row, weights) in scores.chunks_exact_mut(cols).zip(weights.chunks_exact(cols)) {
            let max = row.iter().fold(f32::NEG_INFINITY, |max, x| max.max(*x));
            let largest = weights.iter().fold(0.0_f32, |max, x| max.max(*x));
            // Through `f64`, so that it is the same everywhere.
            let logarithm = -(elementary::ln(f64::from(largest)) as f32);
            row.iter_mut().for_each(|x| *x = logarithm - (*x - max));
        }
        Ok(())
    }

    fn root(self) -> f32 {
        self.sqrt()
    }
}
