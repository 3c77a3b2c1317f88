//! What is otherwise than at the start.

use std::collections::BTreeSet;

use super::heads::HeadPlace;
use crate::attention::Mask;
use crate::graph::ChangedNumber;
use crate::graph::recipes::{PositionKind, Recipe, Scale};

/// What has been changed. The computation without changes is the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The recipe in place of that at the start, where something is otherwise that is none of the settings below.
    pub recipe: Option<Box<Recipe>>,
    /// Given numbers, in the order of editing: one for each cell.
    pub numbers: Vec<ChangedNumber>,
    /// The divisor of the scores.
    pub temperature: Option<f64>,
    /// The factor of the scores.
    pub scale: Option<Scale>,
    /// The keys that are visible to each query.
    pub mask: Option<Mask>,
    /// The way in which positions enter.
    pub positions: Option<PositionKind>,
    /// The heads that are taken out.
    pub removed: BTreeSet<HeadPlace>,
}

impl Changes {
    /// Returns true if nothing is changed.
    pub fn is_nothing(&self) -> bool {
        *self == Changes::default()
    }

    /// A given number, changed.
    pub(super) fn with_number(mut self, number: ChangedNumber) -> Changes {
        self.numbers
            .retain(|other| (&other.node, other.row, other.col) != (&number.node, number.row, number.col));
        self.numbers.push(number);
        self
    }
}
