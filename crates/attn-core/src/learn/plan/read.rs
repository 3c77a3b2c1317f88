//! What a step reads, and the memory that it works in.

use crate::kernel::SimdLevel;
use crate::learn::batch::Batch;
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

/// What a step reads, and the shape of its result.
#[derive(Clone, Copy)]
pub(super) struct Reads<'a, T> {
    pub slots: &'a [Vec<T>],
    pub inputs: &'a [Place],
    /// The shape of the result of one example.
    pub shape: Shape,
    /// The number of results: that of the examples, or 1 where all of them share it.
    pub examples: usize,
    pub batch: &'a Batch,
}

impl<'a, T> Reads<'a, T> {
    /// An input.
    pub fn input(&self, at: usize) -> Read<'a, T> {
        let place = self.inputs[at];
        Read { numbers: &self.slots[place.slot], place }
    }

    /// All inputs.
    pub fn all(&self) -> impl Iterator<Item = Read<'a, T>> + '_ {
        (0..self.inputs.len()).map(|at| self.input(at))
    }
}

/// What the memory of one step is used for.
#[derive(Debug)]
pub(super) struct Working<T> {
    pub simd: SimdLevel,
    /// Room for a transposed factor.
    pub packed: Vec<T>,
}

impl<T> Working<T> {
    /// For registers of this level.
    pub fn new(simd: SimdLevel) -> Working<T> {
        Working { simd, packed: Vec::new() }
    }
}
