//! What a cell is to the number under the cursor.

use std::collections::{HashMap, HashSet};

use crate::explore::State;
use crate::graph::{CellId, NodeId};

/// What a cell is to the number under the cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::explorer) enum Mark {
    /// Nothing.
    #[default]
    None,
    /// It stands under the cursor.
    Cursor,
    /// It is a part of its first operand.
    First,
    /// It is a part of its second operand, or of a later one.
    Second,
    /// It reads the number.
    Fed,
}

/// The marks of all cells.
pub(in crate::explorer) struct Marks {
    /// The cell under the cursor.
    pub cursor: CellId,
    /// The cell that Enter opens.
    pub chosen: Option<CellId>,
    operands: HashMap<CellId, Mark>,
    /// The nodes that are read, in the order of writing.
    pub read: Vec<NodeId>,
    fed: HashSet<CellId>,
    /// The nodes that read the number.
    pub readers: Vec<NodeId>,
    /// The nodes in which the last change has moved a number.
    pub moved: HashSet<NodeId>,
    /// The cell that is to be guessed.
    pub hidden: Option<CellId>,
}

impl Marks {
    /// The marks of a state.
    pub fn of(state: &State) -> Marks {
        let sources = state.sources();
        let mut operands = HashMap::new();
        for (number, (node, places)) in sources.cells.iter().enumerate() {
            let mark = if number == 0 { Mark::First } else { Mark::Second };
            operands.extend(places.iter().map(|&(row, col)| (CellId { node: *node, row, col }, mark)));
        }
        let feeds = state.feeds();
        let cells = |(node, places): &(NodeId, Vec<(usize, usize)>)| {
            let node = *node;
            places.iter().map(move |&(row, col)| CellId { node, row, col }).collect::<Vec<_>>()
        };
        Marks {
            cursor: state.cursor(),
            chosen: state.chosen_operand(),
            read: sources.cells.iter().map(|(node, _)| *node).collect(),
            operands,
            fed: feeds.iter().flat_map(cells).collect(),
            readers: feeds.iter().map(|(node, _)| *node).collect(),
            moved: state.changed_nodes().iter().copied().collect(),
            hidden: state.is_hidden().then(|| state.cursor()),
        }
    }

    /// The mark of a cell.
    pub fn mark(&self, cell: CellId) -> Mark {
        if cell == self.cursor {
            Mark::Cursor
        } else if let Some(mark) = self.operands.get(&cell) {
            *mark
        } else if self.fed.contains(&cell) {
            Mark::Fed
        } else {
            Mark::None
        }
    }

    /// The first marked place of a node, which its window has to show.
    pub fn focus(&self, node: NodeId) -> Option<CellId> {
        if node == self.cursor.node {
            return Some(self.cursor);
        }
        if let Some(chosen) = self.chosen.filter(|cell| cell.node == node) {
            return Some(chosen);
        }
        let in_node = |cells: &mut dyn Iterator<Item = &CellId>| {
            cells.filter(|cell| cell.node == node).min_by_key(|cell| (cell.row, cell.col)).copied()
        };
        in_node(&mut self.operands.keys()).or_else(|| in_node(&mut self.fed.iter()))
    }
}
