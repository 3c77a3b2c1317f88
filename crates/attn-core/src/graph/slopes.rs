//! How every cell of a step moves with one number of an input: the step's rule on dual numbers, a value and its slope.
//!
//! Gradients take the other way, from the result back. Neither knows the other's formulas, and tests hold them together.

use std::f64::consts::PI;

use crate::attention::Axis;
use crate::attention::number::{Base, Function, Number};
use crate::elementary;
use crate::matrix::{Matrix, Shape};

use super::op::Op;
use super::rule::{Request, line_of};

impl Op {
    /// The slope of every cell of the result by one number: that of the input `by`, in row and column `at` (from 0). `shape` is that of the
    /// result. `None` for an op without a rule.
    ///
    /// # Source
    /// Clifford 1873; Wengert 1964, “A simple automatic derivative evaluation program”.
    pub fn slopes(&self, inputs: &[&Matrix], by: usize, at: (usize, usize), shape: Shape) -> Option<Matrix> {
        self.rule(&Moved { inputs, by: (by, at.0, at.1), shape })
    }
}

/// One number of an input moves.
struct Moved<'a> {
    inputs: &'a [&'a Matrix],
    by: (usize, usize, usize),
    shape: Shape,
}

impl Request for Moved<'_> {
    type Number = Dual;
    type Answer = Option<Matrix>;

    fn at(&self, input: usize, i: usize, j: usize) -> Dual {
        let slope = if (input, i, j) == self.by { 1.0 } else { 0.0 };
        Dual { value: self.inputs[input][(i, j)], slope }
    }
    fn inputs(&self) -> usize {
        self.inputs.len()
    }
    fn shape(&self, input: usize) -> Shape {
        self.inputs[input].shape()
    }
    fn cells(&self, cell: impl Fn(usize, usize) -> Dual) -> Option<Matrix> {
        Some(Matrix::from_fn(self.shape.rows, self.shape.cols, |i, j| cell(i, j).slope))
    }
    fn recorded(&self, _: impl FnOnce() -> String) -> Option<Matrix> {
        None
    }
    fn lines<L: Fn(usize) -> Dual>(&self, axis: Axis, line: impl Fn(usize) -> L) -> Option<Matrix> {
        self.cells(|i, j| {
            let (number, place) = line_of(axis, (i, j), self.shape(0).cols);
            line(number)(place)
        })
    }
}

/// A value, and how fast it moves.
#[derive(Clone, Copy)]
struct Dual {
    value: f64,
    slope: f64,
}

impl Number for Dual {
    fn of(value: f64) -> Dual {
        Dual { value, slope: 0.0 }
    }
    fn value(&self) -> f64 {
        self.value
    }
    fn sum(parts: impl IntoIterator<Item = Dual>) -> Dual {
        let plus = |a: Dual, b: Dual| Dual { value: a.value + b.value, slope: a.slope + b.slope };
        parts.into_iter().fold(Dual::of(0.0), plus)
    }
    fn product(parts: impl IntoIterator<Item = Dual>) -> Dual {
        let times = |a: Dual, b: Dual| Dual {
            value: a.value * b.value,
            slope: a.slope * b.value + a.value * b.slope,
        };
        parts.into_iter().reduce(times).unwrap_or(Dual::of(1.0))
    }
    fn max(parts: impl IntoIterator<Item = Dual>) -> Dual {
        let larger = |max: Dual, x: Dual| if max.value.is_nan() || x.value <= max.value { max } else { x };
        parts.into_iter().fold(Dual::of(f64::NEG_INFINITY), larger)
    }
    fn minus(self, other: Dual) -> Dual {
        Dual { value: self.value - other.value, slope: self.slope - other.slope }
    }
    fn over(self, other: Dual) -> Dual {
        let value = self.value / other.value;
        Dual { value, slope: (self.slope - value * other.slope) / other.value }
    }
    fn function(self, function: Function) -> Dual {
        let (x, value) = (self.value, function.of(self.value));
        let derivative = match function {
            Function::Power(Base::E) => value,
            Function::Power(Base::Number(base)) => value * elementary::ln(base),
            Function::Logarithm => 1.0 / x,
            Function::Tanh => 1.0 - value * value,
            Function::Erf => 2.0 / PI.sqrt() * elementary::exp(-x * x),
            Function::Root => 0.5 / value,
            Function::Size => 1.0_f64.copysign(x),
            Function::Sine => elementary::cos(x),
            Function::Cosine => -elementary::sin(x),
            Function::Rounded(_) | Function::Truncated(_) => 0.0,
        };
        Dual { value, slope: derivative * self.slope }
    }
}
