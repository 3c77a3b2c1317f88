//! What a step of a plan does.

use super::arrange::Arrange;
use super::cells::CellByCell;
use super::lines::AlongLines;
use super::read::{Place, Read};
use crate::error::{Error, Result};
use crate::kernel::{Operand, Products, SimdLevel, multiply_examples};
use crate::learn::batch::Batch;
use crate::learn::number::Number;
use crate::matrix::Shape;

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

/// An op of the graph, ready for a batch: numbers that it carries are in the type of the plan.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action<T> {
    /// `a b`, where either may be read as its transpose.
    Product { a_transposed: bool, b_transposed: bool },
    /// Numbers are chosen, joined or put elsewhere.
    Arrange(Arrange),
    /// Each cell on its own.
    Cells(CellByCell<T>),
    /// Along rows or columns, or over all examples.
    Lines(AlongLines<T>),
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

impl<T: Number> Action<T> {
    /// Computes a step for all examples.
    ///
    /// # Errors
    /// If an id is outside of its table, or ids are missing.
    pub fn run(&self, reads: Reads<'_, T>, working: &mut Working<T>, out: &mut [T]) -> Result<()> {
        match self {
            Action::Product { a_transposed, b_transposed } => {
                let problem = product(&reads, [*a_transposed, *b_transposed]);
                multiply_examples(problem, working.simd, &mut working.packed, out)
                    .map_err(|error| Error::new(error.to_string()))
            }
            Action::Arrange(arrange) => arrange.run(reads, out),
            Action::Cells(cells) => {
                cells.run(reads, out);
                Ok(())
            }
            Action::Lines(lines) => lines.run(reads, working, out),
        }
    }
}

/// The products of all examples.
fn product<'a, T: Number>(reads: &Reads<'a, T>, transposed: [bool; 2]) -> Products<'a, T> {
    let factor = |at: usize| {
        let Read { numbers, place } = reads.input(at);
        Operand { numbers, transposed: transposed[at], shared: !place.per_example }
    };
    let a = reads.inputs[0].shape;
    Products {
        a: factor(0),
        b: factor(1),
        examples: reads.examples,
        rows: reads.shape.rows,
        inner: if transposed[0] { a.rows } else { a.cols },
        cols: reads.shape.cols,
    }
}
