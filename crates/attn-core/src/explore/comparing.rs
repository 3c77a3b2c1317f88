//! What a change has moved: the numbers of a state beside those of the state before, or of one that is shown beside it.

use std::collections::{BTreeMap, BTreeSet};

use super::state::{Change, State, Version};
use crate::graph::{CellId, NodeId};
use crate::matrix::Shape;
use crate::tensor::Tensor;

impl State {
    /// The version that this one is compared with: that beside it, or the one before.
    fn compared(&self) -> Option<&Version> {
        self.beside.as_deref().or_else(|| Some(&*self.history[self.at.checked_sub(1)?]))
    }

    /// What the last change has made of a number, or how it differs from the state beside; `None` where it has not moved.
    pub fn change_at(&self, cell: CellId) -> Option<Change> {
        let [there, here] = self.moved_tensors(cell.node)?;
        let (before, now) = (there.number(cell.row, cell.col)?, here.number(cell.row, cell.col)?);
        (before.to_bits() != now.to_bits()).then_some(Change { before, now })
    }

    /// The cells of a node whose numbers have moved, by row and column.
    pub fn changed(&self, id: NodeId) -> BTreeMap<(usize, usize), Change> {
        let change = |(row, col)| Some(((row, col), self.change_at(CellId { node: id, row, col })?));
        match self.moved_tensors(id).filter(|_| self.moved.contains(&id)) {
            None => BTreeMap::new(),
            Some(tensors) if is_in_file(tensors) => self.edited(id).into_iter().filter_map(change).collect(),
            Some([_, new]) => {
                let Shape { rows, cols } = new.shape();
                (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))).filter_map(change).collect()
            }
        }
    }

    /// The number of cells of a node whose numbers have moved.
    pub fn changed_count(&self, id: NodeId) -> usize {
        match self.moved_tensors(id).filter(|_| self.moved.contains(&id)) {
            None => 0,
            Some(tensors) if is_in_file(tensors) => self.changed(id).len(),
            Some([old, new]) => {
                old.cells().zip(new.cells()).filter(|(a, b)| a.to_bits() != b.to_bits()).count()
            }
        }
    }

    /// The cells of a given node that are edited, here or in the state that this one is compared with.
    fn edited(&self, id: NodeId) -> BTreeSet<(usize, usize)> {
        let name = &self.graph()[id].name;
        let there = self.compared().map_or(&[][..], |before| &before.changes.numbers);
        let all = self.changes().numbers.iter().chain(there);
        all.filter(|number| number.node == *name).map(|number| (number.row, number.col)).collect()
    }

    /// The nodes in which numbers have moved.
    pub fn changed_nodes(&self) -> &[NodeId] {
        &self.moved
    }

    /// Finds the nodes in which numbers have moved, after the history or the state beside has changed.
    pub(super) fn find_moved(&mut self) {
        let has_moved = |id: &NodeId| match self.moved_tensors(*id) {
            None => false,
            Some(tensors) if is_in_file(tensors) => {
                let has_changed = |(row, col)| self.change_at(CellId { node: *id, row, col }).is_some();
                self.edited(*id).into_iter().any(has_changed)
            }
            Some([old, new]) => !old.same_bits(new),
        };
        self.moved = self.graph().nodes().map(|(id, _)| id).filter(has_moved).collect();
    }

    /// The numbers of a node in the state that this one is compared with and here, where both have them in the same shape, and they
    /// are not the very same.
    fn moved_tensors(&self, id: NodeId) -> Option<[&Tensor; 2]> {
        let (before, here) = (&self.compared()?.graph, self.graph());
        let there = before.find(&here[id].name)?;
        let (old, new) = (before[there].tensor()?, here[id].tensor()?);
        let both_in_file = old.is_stored() && new.is_stored();
        (!both_in_file && old.shape() == new.shape() && !old.shares_numbers(new)).then_some([old, new])
    }
}

/// Whether some of these numbers are in a file: of weights that were edited, the copy in memory has all others, too.
fn is_in_file(tensors: [&Tensor; 2]) -> bool {
    tensors.into_iter().any(Tensor::is_stored)
}
