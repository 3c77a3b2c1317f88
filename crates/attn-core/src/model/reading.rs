//! Reading a model's weights and doing nothing with them: no token can be decoded faster.

use super::tensors::Tensors;
use crate::error::Result;
use crate::kernel::{Machine, read_once};
use crate::tensor::Tensor;

/// The weights that each new token reads once, in memory.
#[derive(Clone, Debug)]
pub struct WeightReading {
    weights: Vec<Tensor>,
}

impl WeightReading {
    /// All weights that a token is multiplied with.
    ///
    /// # Errors
    /// If one cannot be read from its file.
    pub fn of(tensors: &Tensors<'_>) -> Result<WeightReading> {
        Ok(WeightReading { weights: tensors.product_weights()? })
    }

    /// The number of bytes.
    pub fn bytes(&self) -> u64 {
        self.numbers().map(|numbers| size_of_val(numbers) as u64).sum()
    }

    /// Reads them once, on the threads of a machine.
    ///
    /// # Errors
    /// If this machine is none.
    pub fn read(&self, machine: Machine) -> Result<()> {
        read_once(machine, &self.numbers().collect::<Vec<_>>())?;
        Ok(())
    }

    /// The bytes of whole `f32` numbers, whatever they mean.
    fn numbers(&self) -> impl Iterator<Item = &[f32]> {
        self.weights.iter().filter_map(Tensor::bytes).map(|bytes| bytemuck::pod_align_to(bytes).1)
    }
}
