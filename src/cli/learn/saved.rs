//! `--save`: the model as a folder.

use std::path::Path;

use crate::cli::Env;
use crate::error::Result;
use crate::input::{
    ModelDraft, ModelFiles, NamedTensors, WritePermission, check_model_folder, holds_small_model,
};
use crate::kernel::Layout;
use crate::learn::{Learner, ModelSize, Trainer};
use crate::tensor::Tensor;

/// The folder of the model, which is begun with its first checkpoint.
pub(super) struct SavedModel<'a> {
    folder: &'a Path,
    writing: WritePermission,
    draft: Option<ModelDraft>,
}

impl<'a> SavedModel<'a> {
    /// # Errors
    /// If no model may be written into the folder.
    pub fn new(folder: &'a Path, env: &Env) -> Result<SavedModel<'a>> {
        check_model_folder(folder, env.writing)?;
        Ok(SavedModel { folder, writing: env.writing, draft: None })
    }

    fn draft(&mut self) -> Result<ModelDraft> {
        self.draft.take().map_or_else(|| ModelDraft::beside(self.folder, self.writing), Ok)
    }

    /// Keeps the weights of this step. If they cannot be written, none are kept: there is room for the model then.
    pub fn keep<T: Learner>(&mut self, trainer: &Trainer<T>) -> Result<()> {
        let draft = self.draft()?;
        draft.keep(trainer.steps(), &tensors(&trainer.settings().size, trainer.weights())?)?;
        self.draft = Some(draft);
        Ok(())
    }

    /// Writes the model. Returns whether it has taken the place of another.
    pub fn finish<T: Learner>(mut self, trainer: &Trainer<T>) -> Result<bool> {
        let size = trainer.settings().size;
        let symbols = trainer.examples().task().symbols();
        let files = ModelFiles {
            config: size.config(T::DTYPE),
            symbols: symbols.all().iter().map(char::to_string).collect(),
            tensors: tensors(&size, trainer.weights())?,
        };
        let replaces = holds_small_model(self.folder);
        self.draft()?.finish(&files)?;
        Ok(replaces)
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
