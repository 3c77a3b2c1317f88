//! The weights of a model in memory, as its steps read them.

use std::collections::BTreeMap;

use super::number::Number;
use super::size::{ModelSize, WeightName};
use crate::error::{Error, Result};
use crate::kernel::Layout;
use crate::model::{Checkpoint, Entry};
use crate::tensor::Tensor;

/// The weights of a small model.
#[derive(Debug)]
pub struct WeightsInMemory {
    entries: BTreeMap<String, Entry>,
    tensors: BTreeMap<String, Tensor>,
}

impl WeightsInMemory {
    /// These numbers, one list for each of [`ModelSize::weights`].
    ///
    /// # Errors
    /// If a list has another length.
    pub fn new<T: Number>(size: &ModelSize, numbers: &[Vec<T>]) -> Result<WeightsInMemory> {
        let mut weights = WeightsInMemory { entries: BTreeMap::new(), tensors: BTreeMap::new() };
        for (WeightName { name, shape }, numbers) in size.weights().into_iter().zip(numbers) {
            let layout = Layout::stacked(1, shape.rows, shape.cols);
            let tensor = Tensor::new(numbers.clone(), layout)?;
            let type_name = T::DTYPE.name().to_uppercase();
            let dims = vec![shape.rows, shape.cols];
            weights.entries.insert(name.clone(), Entry { dims, type_name, dtype: Some(T::DTYPE) });
            weights.tensors.insert(name, tensor);
        }
        Ok(weights)
    }
}

impl Checkpoint for WeightsInMemory {
    fn name(&self) -> &str {
        "the model that is trained"
    }

    fn entries(&self) -> &BTreeMap<String, Entry> {
        &self.entries
    }

    fn tensor(&self, name: &str) -> Result<Tensor> {
        self.tensors.get(name).cloned().ok_or_else(|| Error::new(format!("there is no weight {name}")))
    }
}
