//! The options of a computation, as a recipe with its inputs.

use clap::Args;

use super::inputs::InputArgs;
use super::mechanisms::MechanismArgs;
use super::options::AttentionArgs;
use crate::error::Result;
use crate::graph::recipes::{AttendInputs, Recipe, Scale, Score};
use crate::input::Files;
use crate::tensor::Dtype;

/// The inputs, and the options of attention.
#[derive(Args, Debug)]
pub(crate) struct ComputationArgs {
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    options: AttentionArgs,
    #[command(flatten)]
    mechanisms: MechanismArgs,
}

impl ComputationArgs {
    /// Words that are defined again by later options replace the earlier ones: `self` was parsed from both.
    pub(crate) fn replace_earlier(&mut self, earlier: &ComputationArgs) {
        self.inputs.replace_earlier(&earlier.inputs);
    }

    /// The recipe and the inputs of the options. With `dtype`, --q, --k, --v, --bias and --mask are read in that type of the
    /// fast path.
    pub(crate) fn computation(&self, dtype: Option<Dtype>, files: &mut Files<'_>) -> Result<Computation> {
        let mut loaded = self.inputs.load(files, dtype, self.options.heads, &self.mechanisms)?;
        let recipe = self.mechanisms.applied(self.options.recipe(&loaded)?, &loaded)?;
        MechanismArgs::spread_sink(&mut loaded, recipe.heads)?;
        let of_mechanisms = MechanismArgs::notes(&recipe, &loaded);
        let mut notes = loaded.notes;
        notes.extend(of_mechanisms);
        if recipe.score == Score::Cosine && recipe.scale == Scale::Auto {
            notes.push("Cosines are at most 1 and do not need 1/√d_k; --scale none leaves it out.".into());
        }
        notes.extend(self.options.note_on_stacks(&loaded.stacks, recipe.heads));
        notes.extend(files.take_notes());
        let of_words = loaded.of_words;
        Ok(Computation { recipe, inputs: loaded.inputs, notes, of_words })
    }
}

/// A recipe with its inputs.
pub(crate) struct Computation {
    pub recipe: Recipe,
    pub inputs: AttendInputs,
    /// Notes on how the inputs were read.
    pub notes: Vec<String>,
    /// The notes on words, which are shown next to X.
    pub of_words: Vec<String>,
}
