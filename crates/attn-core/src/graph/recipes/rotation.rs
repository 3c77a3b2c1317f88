//! The rotation of one head by its positions.

use super::attend::Pipeline;
use super::mechanisms::{Rotary, RotatedPart, SineSigns};
use super::weights::suffix;
use crate::attention::Rotation;
use crate::error::{Error, Result};
use crate::graph::{Factor, NodeId, Op, Role, Stage};
use crate::text::counted;

impl Pipeline<'_> {
    /// One head of Q, K or V, rotated by its positions.
    pub fn rotated(
        &mut self,
        (role, first): (Role, usize),
        (node, head): (NodeId, Option<usize>),
        rotary: &Rotary,
        frequencies: NodeId,
    ) -> Result<NodeId> {
        let positions = self.recipe.positions;
        let (stage, shift) = match role {
            Role::Q => (Some(Stage::QueriesRotated), positions.query_shift),
            Role::K => (Some(Stage::KeysRotated), positions.key_shift),
            _ => (None, 0),
        };
        let first = first.checked_add_signed(shift).ok_or_else(|| Error::new("a position is below 0"))?;
        let magnitude = rotary.magnitude.of(rotary.scaling.map_or(1.0, |scaling| scaling.magnitude()));
        let rotation = Op::Rotary(Rotation { first, pairing: rotary.pairing, magnitude });
        let (width, rotated) = (self.shape(node).1, 2 * self.shape(frequencies).1);
        let (name, suffix) = (role.name(), suffix(head));
        let Some(stage) = stage else {
            return self.graph.add(&format!("{name}_rotated{suffix}"), rotation, &[node, frequencies]);
        };
        if rotary.signs == SineSigns::NoMinus {
            let halves = self.rotated_without_minus((role, head), node, rotation, frequencies)?;
            return self.stage(stage, head, Op::Concatenate, &halves);
        }
        if rotary.part == RotatedPart::First || rotated == width {
            return self.stage(stage, head, rotation, &[node, frequencies]);
        }
        let start = width - rotated;
        let kept = Op::Columns { start: 0, count: start };
        let kept = self.graph.add(&format!("{name}_first_columns{suffix}"), kept, &[node])?;
        let last = Op::Columns { start, count: rotated };
        let last = self.graph.add(&format!("{name}_last_columns{suffix}"), last, &[node])?;
        let last = self.graph.add(&format!("{name}_last_rotated{suffix}"), rotation, &[last, frequencies])?;
        self.stage(stage, head, Op::Concatenate, &[kept, last])
    }

    /// The first half of the columns of one head as the other direction has it, and the second half as it should be.
    fn rotated_without_minus(
        &mut self,
        (role, head): (Role, Option<usize>),
        node: NodeId,
        rotation: Op,
        frequencies: NodeId,
    ) -> Result<[NodeId; 2]> {
        let (width, rotated) = (self.shape(node).1, 2 * self.shape(frequencies).1);
        let (name, suffix) = (role.name(), suffix(head));
        let back = format!("F_negated_{name}{suffix}");
        let back = self.graph.add(&back, Op::Scale(Factor::Number(-1.0)), &[frequencies])?;
        let other = self.graph.add(&format!("{name}_reversed{suffix}"), rotation.clone(), &[node, back])?;
        let own = self.graph.add(&format!("{name}_forward{suffix}"), rotation, &[node, frequencies])?;
        let half = rotated / 2;
        let first = Op::Columns { start: 0, count: half };
        let first = self.graph.add(&format!("{name}_first_half{suffix}"), first, &[other])?;
        let second = Op::Columns { start: half, count: width - half };
        let second = self.graph.add(&format!("{name}_second_half{suffix}"), second, &[own])?;
        Ok([first, second])
    }
}

/// The number of columns of a head that are rotated.
///
/// # Errors
/// If it is odd, or the head has fewer.
pub(super) fn rotated_width(rotary: &Rotary, width: usize) -> Result<usize> {
    let rotated = rotary.width.unwrap_or(width);
    let even = width - width % 2;
    if rotated > width || rotated == 0 {
        return Err(Error::new(format!(
            "{} of a head cannot be rotated: it has {}",
            counted(rotated, "column"),
            counted(width, "column")
        ))
        .help(format!("give --rope-width an even number up to {even}")));
    }
    if !rotated.is_multiple_of(2) {
        let which = if rotary.width.is_some() { "the rotated width is" } else { "the width of a head is" };
        let error = Error::new(format!("{which} {rotated}, but rotary positions rotate pairs of columns"));
        let help = match rotated - 1 {
            0 => "give queries and keys of an even width, or leave out --position".to_string(),
            even => {
                format!("give an even width, or rotate the first columns alone: --rope-width {even}")
            }
        };
        return Err(error.help(help));
    }
    Ok(rotated)
}
