//! The effect of the mask on the scores of a head, correct or mistaken.

use super::alter::{self, name_before};
use super::choices::Hiding;
use super::weights::Head;
use crate::attention::Mask;
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op, Stage};

impl Head<'_> {
    /// The scores with the hidden ones replaced, rounded where the recipe rounds them.
    pub(super) fn masked(&mut self, mut read: NodeId) -> Result<NodeId> {
        let recipe = self.recipe;
        let given = read;
        let name = name_before(recipe, &[alter::Site::Masked], Stage::Masked.name());
        if recipe.mask.is_some() {
            read = match recipe.hiding {
                Hiding::MinusInfinity => {
                    let inputs = self.with_matrix(read);
                    self.add(&name, Op::Mask(recipe.mask), &inputs)?
                }
                Hiding::PlusInfinity => {
                    let negative = || Op::Scale(Factor::Number(-1.0));
                    let negated = self.add("S_negated", negative(), &[read])?;
                    let inputs = self.with_matrix(negated);
                    let hidden = self.add("S_negated_masked", Op::Mask(recipe.mask), &inputs)?;
                    self.add(&name, negative(), &[hidden])?
                }
                Hiding::Replaced(number) => {
                    let visible = self.visible(read)?;
                    let kept = self.add("S_visible", Op::Multiply, &[read, visible])?;
                    let filled = self.filled(read, number)?;
                    self.add(&name, Op::Add, &[kept, filled])?
                }
                Hiding::Zero => {
                    let visible = self.visible(read)?;
                    self.add(&name, Op::Multiply, &[read, visible])?
                }
                Hiding::OneAddedToVisible => {
                    let visible = self.visible(read)?;
                    self.add(&name, Op::Add, &[read, visible])?
                }
                Hiding::Added(number) => {
                    let filled = self.filled(read, number)?;
                    self.add(&name, Op::Add, &[read, filled])?
                }
                Hiding::AfterSoftmax | Hiding::WeightsReplaced(_) => read,
            };
        }
        // Where nothing is hidden before the softmax, there is no such step.
        if read != given {
            read = self.altered(alter::Site::Masked, Stage::Masked, read)?;
        }
        match recipe.score_decimals {
            Some(decimals) => self.add("S_rounded", Op::Round(decimals), &[read]),
            None => Ok(read),
        }
    }

    /// This number in hidden cells, 0 elsewhere.
    pub(super) fn filled(&mut self, like: NodeId, number: f64) -> Result<NodeId> {
        let hidden = self.hidden(like)?;
        self.add("S_hidden", Op::Scale(Factor::Number(number)), &[hidden])
    }

    /// A mask as ones and zeros.
    pub(super) fn pattern(&mut self, name: &str, like: NodeId, mask: Mask) -> Result<NodeId> {
        if let Some(known) = self.graph.find(&format!("{name}{}", self.suffix)) {
            return Ok(known);
        }
        let inputs = self.with_matrix(like);
        self.add(name, Op::MaskPattern(mask), &inputs)
    }

    pub(super) fn with_matrix(&self, scores: NodeId) -> Vec<NodeId> {
        let matrix = self.mask.filter(|_| self.recipe.mask.matrix.is_some());
        [Some(scores), matrix].into_iter().flatten().collect()
    }
}
