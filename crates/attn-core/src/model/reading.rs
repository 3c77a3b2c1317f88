//! How fast a model's weights can be read: no token can be decoded faster.

use std::time::Duration;

use super::tensors::Tensors;
use crate::error::Result;
use crate::kernel::{Machine, read_rate};
use crate::tensor::Tensor;

/// The rate at which weights are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightReading {
    /// The bytes of the weights that a token is multiplied with: each new token reads them once.
    pub bytes: u64,
    /// Bytes a second, where nothing is done with them.
    pub rate: f64,
}

impl WeightReading {
    /// Reads all weights that a token is multiplied with, over and over, for about `budget`.
    ///
    /// # Errors
    /// If a weight cannot be read, or this machine is none.
    pub fn measure(tensors: &Tensors<'_>, machine: Machine, budget: Duration) -> Result<WeightReading> {
        let weights = tensors.product_weights()?;
        let bytes: Vec<&[u8]> = weights.iter().filter_map(Tensor::bytes).collect();
        // The bytes of whole `f32` numbers, whatever they mean.
        let numbers: Vec<&[f32]> = bytes.iter().map(|bytes| bytemuck::pod_align_to(bytes).1).collect();
        let bytes = numbers.iter().map(|numbers| size_of_val(*numbers) as u64).sum();
        Ok(WeightReading { bytes, rate: read_rate(machine, &numbers, budget)? })
    }
}
