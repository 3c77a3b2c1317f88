//! An op on its inputs: its value, by its rule, and whether it can have made one matrix from others.

use crate::attention::Axis;
use crate::error::{Error, ErrorKind, Result};
use crate::matrix::{Matrix, Shape};
use crate::tensor::Tensor;
use crate::text::{all_of, clip};

use super::op::{Op, Origin};
use super::rule::Request;

impl Op {
    /// The op's value on these inputs.
    ///
    /// # Errors
    /// If the number of inputs is not the op's [arity](Op::arity), their shapes do not fit, or the op is one that is recorded
    /// with its value and not computed here.
    pub fn apply(&self, inputs: &[&Matrix]) -> Result<Matrix> {
        self.arity().check(self, inputs.len())?;
        if let Op::Linear(_) | Op::TokenRows(_) = self {
            let tensors: Vec<Tensor> = inputs.iter().map(|&matrix| matrix.clone().into()).collect();
            return self.apply_in_place(&tensors.iter().collect::<Vec<_>>());
        }
        if let Some(value) = self.value(inputs) {
            return value;
        }
        let shapes: Vec<Shape> = inputs.iter().map(|input| input.shape()).collect();
        self.check_numbers(inputs)?;
        let result = self.shape_of(&shapes)?;
        let value = self.rule(&AllCells { inputs, result }).ok_or_else(|| {
            Error::new(format!("`{}` is recorded with its value and not computed from it", self.name()))
        })?;
        let (rows, cols) = self.names(inputs);
        Ok(value.with_row_labels(rows).with_col_labels(cols))
    }

    /// The shape of the result for inputs of these shapes.
    ///
    /// # Errors
    /// If they do not fit.
    pub(super) fn shape_of(&self, inputs: &[Shape]) -> Result<Shape> {
        self.shape(inputs).map_err(|why| why.unwrap_or_else(|| self.does_not_fit(inputs)))
    }

    /// Returns true if the op reads weights in place, wherever they are and whatever their type is.
    pub(super) fn reads_in_place(&self) -> bool {
        matches!(self, Op::Linear(_) | Op::TokenRows(_) | Op::Rows { .. })
    }

    /// The value of an op that reads weights in place.
    ///
    /// # Errors
    /// If the inputs do not fit, cannot be read, or the op is another one.
    pub(super) fn apply_in_place(&self, inputs: &[&Tensor]) -> Result<Matrix> {
        self.arity().check(self, inputs.len())?;
        match self.in_place(inputs) {
            Some(value) => value,
            None => self.apply(&inputs.iter().map(|tensor| tensor.matrix()).collect::<Result<Vec<_>>>()?),
        }
    }

    /// Checks that the op can have made a matrix of this shape from matrices of those shapes, and that its parameters are in
    /// their range. An op that passes can be [applied](Op::apply) to matrices of these shapes: it gives that shape, or an error.
    ///
    /// What a file says about a step is checked here before anything is allocated for it, so that no parameter of a file reaches a sum or a
    /// place that the mathematics does not have.
    ///
    /// # Errors
    /// If the op takes another number of inputs, they do not fit it or each other, its result has another shape, or a parameter
    /// is out of its range.
    pub fn check_fits(&self, inputs: &[Shape], result: Shape) -> Result<()> {
        self.arity().check(self, inputs.len())?;
        self.check(self.name())?;
        let given = match self {
            Op::Given(Origin::Rows(rows))
                if rows.len() != result.rows || rows.iter().any(|row| matches!(row, Origin::Rows(_))) =>
            {
                let why = "is out of its range: it has one origin for each row, and no list in it";
                return Err(Error::new(format!("the origin of `{}` {why}", self.name())));
            }
            Op::Given(_) => Some(result),
            // What the fused kernel makes has a row for each query.
            Op::Fused(_) => (inputs[0].rows == result.rows).then_some(result),
            _ => self.shape(inputs).ok(),
        };
        let given = given.ok_or_else(|| self.does_not_fit(inputs))?;
        if given == result {
            return Ok(());
        }
        Err(Error::new(format!("`{}`{} gives {given}, but the shape is {result}", self.name(), of(inputs)))
            .of_kind(ErrorKind::Shape))
    }

    /// The error where no more is to be said than that inputs of these shapes do not fit.
    fn does_not_fit(&self, inputs: &[Shape]) -> Error {
        let params = self.params();
        let has_none = params.as_object().is_some_and(|params| params.is_empty());
        let with = if has_none { String::new() } else { format!(" with {}", clip(&params.to_string())) };
        Error::new(format!("`{}`{with} cannot be computed{}", self.name(), of(inputs)))
            .of_kind(ErrorKind::Shape)
    }
}

/// “ of 2×3 and 3×2”, where there are inputs.
fn of(inputs: &[Shape]) -> String {
    if inputs.is_empty() {
        return String::new();
    }
    format!(" of {}", all_of(&inputs.iter().map(Shape::to_string).collect::<Vec<_>>()))
}

/// This many rows are written together.
const TOGETHER: usize = 8;

/// All cells are asked for, and the inputs are matrices.
pub(super) struct AllCells<'a> {
    inputs: &'a [&'a Matrix],
    result: Shape,
}

impl Request for AllCells<'_> {
    type Number = f64;
    type Answer = Option<Matrix>;

    fn at(&self, input: usize, i: usize, j: usize) -> f64 {
        self.inputs[input][(i, j)]
    }
    fn inputs(&self) -> usize {
        self.inputs.len()
    }
    fn shape(&self, input: usize) -> Shape {
        self.inputs[input].shape()
    }
    fn cells(&self, cell: impl Fn(usize, usize) -> f64) -> Option<Matrix> {
        Some(Matrix::from_fn(self.result.rows, self.result.cols, cell))
    }
    fn recorded(&self, _: impl FnOnce() -> String) -> Option<Matrix> {
        None
    }
    fn kept<'a, T: Clone + 'a>(
        &'a self,
        count: usize,
        make: impl Fn(usize) -> T + 'a,
    ) -> impl Fn(usize) -> T + 'a {
        let all: Vec<T> = (0..count).map(make).collect();
        move |at| all[at].clone()
    }
    fn each(&self, rule: impl Fn(f64) -> f64) -> Option<Matrix> {
        Some(self.inputs[0].map(rule))
    }
    fn lines<L: Fn(usize) -> f64>(&self, axis: Axis, line: impl Fn(usize) -> L) -> Option<Matrix> {
        let Shape { rows, cols } = self.result;
        let mut values = vec![0.0; rows * cols];
        match axis {
            Axis::Columns => {
                for (j, column) in values.chunks_exact_mut(rows.max(1)).enumerate() {
                    let cell = line(j);
                    column.iter_mut().enumerate().for_each(|(i, value)| *value = cell(i));
                }
            }
            // Several rows at a time: their cells are neighbours in memory.
            Axis::Rows => {
                for first in (0..rows).step_by(TOGETHER) {
                    let lines: Vec<L> = (first..rows.min(first + TOGETHER)).map(&line).collect();
                    if let [cell] = &lines[..] {
                        (0..cols).for_each(|j| values[j * rows + first] = cell(j));
                        continue;
                    }
                    for j in 0..cols {
                        let cells = &mut values[j * rows + first..][..lines.len()];
                        cells.iter_mut().zip(&lines).for_each(|(value, cell)| *value = cell(j));
                    }
                }
            }
            Axis::Whole => {
                let cell = line(0);
                for (place, (i, j)) in self.result.places().enumerate() {
                    values[j * rows + i] = cell(place);
                }
            }
        }
        Some(Matrix::from_columns(rows, cols, values))
    }
    /// A whole column is summed at a time, so that the processor can work on several cells at once; the order in each cell, and so its
    /// bits, are those of a sum on its own.
    fn mixed(&self, share: impl Fn(usize, usize) -> f64) -> Option<Matrix> {
        let Shape { rows, cols } = self.result;
        let mut values = vec![0.0; rows * cols];
        for (j, column) in values.chunks_exact_mut(rows.max(1)).enumerate() {
            for k in 0..self.inputs[0].cols() {
                let share = share(k, j);
                for (sum, x) in column.iter_mut().zip(self.inputs[0].column(k)) {
                    *sum += x * share;
                }
            }
        }
        Some(Matrix::from_columns(rows, cols, values))
    }
}

#[cfg(test)]
mod tests {
    use crate::attention::{Mask, MatrixRule};
    use crate::matrix::Matrix;

    use super::*;

    #[test]
    fn an_op_says_how_many_inputs_it_takes() {
        let a = Matrix::identity(2);
        let error = |op: &Op, inputs: usize| op.apply(&vec![&a; inputs]).unwrap_err().to_string();
        assert_eq!(error(&Op::Product, 1), "`product` takes 2 matrices, but 1 is given");
        assert_eq!(error(&Op::Tanh, 0), "`tanh` takes 1 matrix, but 0 are given");
        assert_eq!(error(&Op::LayerNorm(0.0), 4), "`layer-norm` takes 1 to 3 matrices, but 4 are given");
        assert_eq!(error(&Op::Add, 0), "`add` takes at least 1 matrix, but 0 are given");
        let rule = Mask { matrix: Some(MatrixRule::Allow), ..Mask::default() };
        assert_eq!(error(&Op::Mask(rule), 1), "`mask` takes 2 matrices, but 1 is given");
        assert_eq!(error(&Op::Mask(Mask::default()), 2), "`mask` takes 1 matrix, but 2 are given");
    }
}
