//! What a step of a plan does.

use super::arrange::Arrange;
use super::cells::CellByCell;
use super::lines::AlongLines;
use super::read::{Read, Reads, Working};
use crate::error::{Error, Result};
use crate::kernel::{Operand, Products, multiply_examples};
use crate::learn::number::Number;

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
