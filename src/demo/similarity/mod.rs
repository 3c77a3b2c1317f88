//! Demos of “Mathematical details behind self-attention”.

mod context;
mod introduction;
mod lookup;
mod measures;
mod multihead;
mod stretch;

use super::Demo;
use super::builder::Builder;
use super::step_builder::StepBuilder;
use super::words::{self, Word};
use crate::attention::{Axis, Base};
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::matrix::Matrix;

/// In the order of the document's sections.
pub const DEMOS: &[Demo] = &[measures::DEMO, context::DEMO, stretch::DEMO, lookup::DEMO, multihead::DEMO];

const SOFTMAX: Op = Op::Softmax(Axis::Rows, Base::E);

/// The rows of the known words of these names.
fn word_rows(names: &[&str]) -> Matrix {
    let found: Vec<Word> = names.iter().filter_map(|name| words::find(name)).copied().collect();
    words::matrix(&found)
}

/// A picture for a step: points, and an arrow from each row of one node to the same row of another. None where the user
/// put in vectors that are not of width 2.
struct Picture {
    points: Vec<NodeId>,
    arrows: Vec<(NodeId, NodeId)>,
    drawn: bool,
}

impl Picture {
    fn of(demo: &Builder, points: &[NodeId], arrows: &[(NodeId, NodeId)]) -> Result<Picture> {
        let mut drawn = true;
        for node in points.iter().copied().chain(arrows.iter().flat_map(|&(from, to)| [from, to])) {
            drawn &= demo.matrix(node)?.cols() == 2;
        }
        Ok(Picture { points: points.to_vec(), arrows: arrows.to_vec(), drawn })
    }

    fn beside(&self, step: StepBuilder<'_>) {
        if self.drawn {
            step.plane(&self.points, &self.arrows);
        }
    }
}
