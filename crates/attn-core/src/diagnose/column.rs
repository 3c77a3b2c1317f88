//! The numbers of many computations at one node, stored for a fast comparison of one number with all of them.

use std::collections::HashMap;

use crate::matrix::Shape;

use super::answer::Part;
use super::numbers::NodeNumbers;
use super::tolerance::{AnswerTolerance, Tolerance};

/// The overhead of a matrix besides its numbers, counted in numbers.
pub(super) const EACH: usize = 16;

/// The numbers of each computation at one node.
#[derive(Default)]
pub(super) struct Column {
    /// For each computation the index of its numbers in `distinct`; `None` if it stops before this node.
    places: Vec<Option<usize>>,
    /// The numbers without repetitions: computations with equal numbers share an entry.
    distinct: Vec<Distinct>,
    /// The distinct numbers of each shape.
    blocks: Vec<Block>,
}

/// A column to which computations are appended.
#[derive(Default)]
pub(super) struct GrowingColumn {
    column: Column,
    /// The places of the distinct numbers by their bits.
    by_bits: HashMap<u64, Vec<usize>>,
}

/// Numbers, and the computations that have them, in their order.
struct Distinct {
    numbers: NodeNumbers,
    computations: Vec<usize>,
}

/// The first-compared numbers of all matrices of one shape.
struct Block {
    shape: Shape,
    /// Their places among the distinct ones.
    places: Vec<usize>,
    /// The max size of the finite numbers of each matrix.
    max_sizes: Vec<f64>,
    /// For each row the last number of it in each matrix.
    last_of_rows: Vec<Vec<f64>>,
}

/// One number of a submission. All computations are compared with it before any is compared with all numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe<'a> {
    /// The node that it is for.
    pub node: &'a str,
    /// The shape of the submission.
    pub shape: Shape,
    /// The number is the last one of this row.
    pub row: usize,
    pub number: f64,
    pub allowance: AnswerTolerance,
}

impl<'a> Probe<'a> {
    /// The last number in a row of the first matrix of a part; `None` where it has no matrix.
    pub(super) fn of(part: &'a Part<'_>, row: usize, tolerance: &Tolerance) -> Option<Probe<'a>> {
        let (node, matrix) = part.matrices.first()?;
        let last = (row < matrix.rows()).then(|| matrix.row(row).last()).flatten();
        let number = last.unwrap_or(f64::NAN);
        let allowance = AnswerTolerance::of(part.answer, tolerance);
        Some(Probe { node, shape: matrix.shape(), row, number, allowance })
    }

    /// The same in the last row in which that number is not NaN, or in the first row.
    pub(super) fn in_any_row(part: &'a Part<'_>, tolerance: &Tolerance) -> Option<Probe<'a>> {
        let (_, matrix) = part.matrices.first()?;
        let is_number = |row: &usize| matrix.row(*row).last().is_some_and(|x| !x.is_nan());
        let row = (0..matrix.rows()).rev().find(is_number).unwrap_or(0);
        Probe::of(part, row, tolerance)
    }
}

impl GrowingColumn {
    /// The column of all computations appended so far.
    pub(super) fn finished(self) -> Column {
        self.column
    }

    /// Appends the numbers of one more computation; returns the room that they take, in numbers.
    pub(super) fn push(&mut self, numbers: Option<NodeNumbers>) -> usize {
        let Column { places, distinct, blocks } = &mut self.column;
        let computation = places.len();
        let Some(numbers) = numbers else {
            places.push(None);
            return 0;
        };
        let alike = self.by_bits.entry(numbers.bits()).or_default();
        let same = |place: &&usize| distinct[**place].numbers.same_bits(&numbers);
        if let Some(&place) = alike.iter().find(same) {
            distinct[place].computations.push(computation);
            places.push(Some(place));
            return 0;
        }
        let place = distinct.len();
        let Shape { rows, cols } = numbers.matrix.shape();
        alike.push(place);
        places.push(Some(place));
        Block::of_shape(blocks, numbers.matrix.shape()).push(place, &numbers);
        distinct.push(Distinct { numbers, computations: vec![computation] });
        EACH + rows * (cols + 1)
    }
}

impl Column {
    /// The column of a single computation.
    pub(super) fn of_one(numbers: Option<NodeNumbers>) -> Column {
        let mut column = GrowingColumn::default();
        column.push(numbers);
        column.finished()
    }

    /// The numbers of a computation.
    pub(super) fn numbers(&self, computation: usize) -> Option<&NodeNumbers> {
        Some(&self.distinct[self.places[computation]?].numbers)
    }

    /// The computations of the shape of a probe that have a number near it; in no order.
    pub(super) fn near<'c>(&'c self, probe: &'c Probe<'_>) -> impl Iterator<Item = usize> + 'c {
        let blocks = self.blocks.iter().filter(|block| block.shape == probe.shape);
        let places = blocks.flat_map(|block| block.near(probe));
        places.flat_map(|place| self.distinct[place].computations.iter().copied())
    }
}

impl Block {
    fn of_shape(blocks: &mut Vec<Block>, shape: Shape) -> &mut Block {
        let known = blocks.iter().position(|block| block.shape == shape);
        let at = known.unwrap_or(blocks.len());
        if known.is_none() {
            let rows = if shape.cols == 0 { 0 } else { shape.rows };
            let last_of_rows = vec![Vec::new(); rows];
            blocks.push(Block { shape, places: Vec::new(), max_sizes: Vec::new(), last_of_rows });
        }
        &mut blocks[at]
    }

    fn push(&mut self, place: usize, numbers: &NodeNumbers) {
        self.places.push(place);
        self.max_sizes.push(numbers.max_size);
        for (row, cells) in self.last_of_rows.iter_mut().enumerate() {
            cells.push(numbers.matrix[(row, self.shape.cols - 1)]);
        }
    }

    /// The places of the matrices that have a number near a probe; all where a matrix has no cells.
    fn near<'c>(&'c self, probe: &'c Probe<'_>) -> impl Iterator<Item = usize> + 'c {
        let Probe { number, allowance, .. } = *probe;
        let cells = self.last_of_rows.get(probe.row);
        let is_near = move |at: usize| {
            let Some(&expected) = cells.and_then(|cells| cells.get(at)) else { return true };
            let distance = (number - expected).abs();
            // NaN is near NaN alone; a very negative number may stand for −∞.
            let is_other = if distance.is_nan() {
                number.is_nan() != expected.is_nan()
            } else {
                distance > allowance.at_most(self.max_sizes[at], expected)
            };
            !is_other || expected == f64::NEG_INFINITY
        };
        self.places.iter().enumerate().filter(move |&(at, _)| is_near(at)).map(|(_, &place)| place)
    }
}
