//! `--save`: the model as a folder.

use std::path::Path;

use super::LearnArgs;
use crate::cli::Env;
use crate::error::Result;
use crate::input::{ModelFiles, NamedTensors, save_model_folder};
use crate::kernel::Layout;
use crate::learn::{Learner, ModelSize, Trainer};
use crate::tensor::Tensor;

impl LearnArgs {
    /// Writes the model, with the weights of the steps that were kept.
    pub(super) fn write_folder<T: Learner>(
        &self,
        folder: &Path,
        trainer: &Trainer<T>,
        kept: Vec<(usize, Vec<Vec<T>>)>,
        env: &Env,
    ) -> Result<()> {
        let size = trainer.settings().size;
        let symbols = trainer.examples().task().symbols();
        let checkpoints = kept.iter().map(|(step, weights)| Ok((*step, tensors(&size, weights)?)));
        let files = ModelFiles {
            config: size.config(T::DTYPE),
            symbols: symbols.all().iter().map(char::to_string).collect(),
            tensors: tensors(&size, trainer.weights())?,
            checkpoints: checkpoints.collect::<Result<_>>()?,
        };
        save_model_folder(folder, &files, env.writing)
    }
}

/// The weights under their names in the file.
fn tensors<T: Learner>(size: &ModelSize, weights: &[Vec<T>]) -> Result<NamedTensors> {
    let named = size.weights().into_iter().zip(weights);
    named
        .map(|(weight, numbers)| {
            let layout = Layout::stacked(1, weight.shape.rows, weight.shape.cols);
            Ok((weight.name, Tensor::new(numbers.clone(), layout)?))
        })
        .collect()
}
