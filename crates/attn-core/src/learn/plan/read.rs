//! What a step reads.

use crate::matrix::Shape;

/// Where the numbers of a node are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The number of the memory.
    pub slot: usize,
    /// The shape of one example.
    pub shape: Shape,
    /// True if each example has numbers of its own.
    pub per_example: bool,
}

/// An input of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<'a, T> {
    /// The numbers of all examples.
    pub numbers: &'a [T],
    pub place: Place,
}

impl<'a, T> Read<'a, T> {
    /// The number of numbers of one example.
    pub fn len(&self) -> usize {
        self.place.shape.rows * self.place.shape.cols
    }

    /// The numbers of one example.
    pub fn of(&self, example: usize) -> &'a [T] {
        if self.place.per_example {
            &self.numbers[example * self.len()..][..self.len()]
        } else {
            self.numbers
        }
    }

    /// All rows of all examples.
    pub fn rows(&self) -> std::slice::ChunksExact<'a, T> {
        self.numbers.chunks_exact(self.place.shape.cols.max(1))
    }
}
