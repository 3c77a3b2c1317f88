//! The cursor moves: over a matrix, along the operands, from step to step.

use super::event::Way;
use super::message::Message;
use super::search::within;
use super::state::{LONGEST_PATH, State};
use crate::graph::{CellId, NodeId, Step};

impl State {
    pub(super) fn go(&mut self, way: Way) {
        let shape = self.graph()[self.cursor.node].shape();
        let CellId { row, col, .. } = &mut self.cursor;
        match way {
            Way::Left => *col = col.saturating_sub(1),
            Way::Right => *col += 1,
            Way::Up => *row = row.saturating_sub(1),
            Way::Down => *row += 1,
            Way::RowsUp(by) => *row = row.saturating_sub(by),
            Way::RowsDown(by) => *row = row.saturating_add(by),
            Way::RowStart => *col = 0,
            Way::RowEnd => *col = shape.cols,
            Way::Top => *row = 0,
            Way::Bottom => *row = shape.rows,
        }
        self.put(self.cursor);
    }

    /// Puts the cursor on the nearest cell that exists.
    pub(super) fn put(&mut self, cell: CellId) {
        if cell.node.position() < self.graph().nodes().count() {
            let cell = within(self.graph(), cell);
            if cell != self.cursor || self.guessed != Some(cell) {
                self.guessed = None;
            }
            self.cursor = cell;
            self.chosen = None;
        }
    }

    /// Goes to a cell in such a way that [`Event::Back`] returns.
    pub(super) fn visit(&mut self, cell: CellId) {
        if cell != self.cursor {
            if self.path.len() == LONGEST_PATH {
                self.path.remove(0);
            }
            self.path.push(self.cursor);
            self.put(cell);
        }
    }

    pub(super) fn choose(&mut self, by: isize) {
        let all = self.operands();
        let now = self.chosen_operand().and_then(|cell| all.iter().position(|other| *other == cell));
        match now {
            Some(now) => {
                let next = now as isize + by;
                self.chosen = Some(next.rem_euclid(all.len() as isize) as usize);
            }
            None => self.message = Some(Message::Given),
        }
    }

    pub(super) fn open(&mut self) {
        match self.chosen_operand() {
            Some(cell) => self.visit(cell),
            None => self.message = Some(Message::Given),
        }
    }

    pub(super) fn back(&mut self) {
        match self.path.pop() {
            Some(cell) => self.put(cell),
            None => {
                self.beside = None;
                self.find_moved();
            }
        }
    }

    /// Goes to the same step elsewhere: of another head or layer.
    pub(super) fn beside_step(&mut self, other: impl Fn(Step) -> Option<Step>) {
        let graph = self.graph();
        let here = self.cursor.node;
        match graph[here].step.and_then(other).and_then(|step| graph.like(here, step)) {
            Some(node) => self.put(CellId { node, ..self.cursor }),
            None => self.message = Some(Message::NoFurther),
        }
    }

    /// Goes to a step further on, or before.
    pub(super) fn step(&mut self, by: isize) {
        let nodes: Vec<NodeId> = self.graph().nodes().map(|(id, _)| id).collect();
        match self.cursor.node.position().checked_add_signed(by).and_then(|at| nodes.get(at)) {
            Some(&node) => self.put(CellId { node, ..self.cursor }),
            None => self.message = Some(Message::NoFurther),
        }
    }
}

/// A number counted from 1, moved.
pub(super) fn moved(number: usize, by: isize) -> Option<usize> {
    number.checked_add_signed(by).filter(|number| *number > 0)
}
