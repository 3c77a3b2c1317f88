//! What asks the rule of an op: the value of every cell, the explanation of one, and the slopes follow from the same rule.

use crate::attention::Axis;
use crate::attention::number::Number;
use crate::matrix::Shape;

/// Who asks a rule: for all cells of the result, or for one.
pub trait Request {
    /// What the rule computes with.
    type Number: Number;
    /// What it gives.
    type Answer;

    /// Cell (i, j) of an input, all from 0.
    fn at(&self, input: usize, i: usize, j: usize) -> Self::Number;
    /// The number of inputs.
    fn inputs(&self) -> usize;
    /// The shape of an input.
    fn shape(&self, input: usize) -> Shape;
    /// The answer, where cells share nothing: each by its place.
    fn cells(&self, cell: impl Fn(usize, usize) -> Self::Number) -> Self::Answer;
    /// The answer for an op whose value is recorded and not computed by a rule; the phrase is its explanation.
    fn recorded(&self, phrase: impl FnOnce() -> String) -> Self::Answer;
    /// The answer, where the cells of a row (of a column, of the matrix) share something: each line by its number, each cell by its place
    /// in the line.
    fn lines<L: Fn(usize) -> Self::Number>(&self, axis: Axis, line: impl Fn(usize) -> L) -> Self::Answer;
    /// The answer, where each column mixes those of the first input: `Σ_k a[i,k] · share(k, j)`, from left to right.
    fn mixed(&self, share: impl Fn(usize, usize) -> Self::Number) -> Self::Answer {
        let width = self.shape(0).cols;
        self.cells(|i, j| dot(width, |k| self.at(0, i, k), |k| share(k, j)))
    }

    /// What is needed for several cells, by its number; made once where all are asked for.
    fn kept<'a, T: Clone + 'a>(
        &'a self,
        _count: usize,
        make: impl Fn(usize) -> T + 'a,
    ) -> impl Fn(usize) -> T + 'a {
        make
    }

    /// The places of a line of the first input, in the order in which they are summed.
    fn places(&self, axis: Axis, line: usize) -> impl Iterator<Item = (usize, usize)> {
        let Shape { rows, cols } = self.shape(0);
        let (rows, cols) = match axis {
            Axis::Rows => (line..line + 1, 0..cols),
            Axis::Columns => (0..rows, line..line + 1),
            Axis::Whole => (0..rows, 0..cols),
        };
        rows.flat_map(move |row| cols.clone().map(move |col| (row, col)))
    }

    /// A line of the first input.
    fn line(&self, axis: Axis, line: usize) -> Vec<Self::Number> {
        match axis {
            Axis::Rows => self.row(0, line),
            Axis::Columns | Axis::Whole => self.places(axis, line).map(|(i, j)| self.at(0, i, j)).collect(),
        }
    }

    /// A row of an input.
    fn row(&self, input: usize, i: usize) -> Vec<Self::Number> {
        (0..self.shape(input).cols).map(|k| self.at(input, i, k)).collect()
    }

    /// The answer from a rule for each line of the first input.
    fn each_line<L: Fn(usize) -> Self::Number>(
        &self,
        axis: Axis,
        rule: impl Fn(Vec<Self::Number>) -> L,
    ) -> Self::Answer {
        self.lines(axis, |line| rule(self.line(axis, line)))
    }

    /// The answer from a rule for each number of the first input.
    fn each(&self, rule: impl Fn(Self::Number) -> Self::Number) -> Self::Answer {
        self.cells(|i, j| rule(self.at(0, i, j)))
    }

    /// The answer from a rule for each pair of numbers of two inputs.
    fn pairs(&self, rule: impl Fn(Self::Number, Self::Number) -> Self::Number) -> Self::Answer {
        self.cells(|i, j| rule(self.at(0, i, j), self.at(1, i, j)))
    }
}

/// The number of a line among its like, and the place in it, of cell (i, j) in a matrix of this width.
pub fn line_of(axis: Axis, (i, j): (usize, usize), width: usize) -> (usize, usize) {
    match axis {
        Axis::Rows => (i, j),
        Axis::Columns => (j, i),
        Axis::Whole => (0, i * width + j),
    }
}

/// The dot product of two rows of this width: `Σ_k a[k] · b[k]`, from left to right.
pub fn dot<N: Number>(width: usize, a: impl Fn(usize) -> N, b: impl Fn(usize) -> N) -> N {
    N::sum((0..width).map(|k| a(k).times(b(k))))
}
