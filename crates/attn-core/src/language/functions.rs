//! The functions of the language, and the ops that need no more than the function's name.

use std::sync::LazyLock;

use super::Sign;
use crate::attention::{Axis, Base};
use crate::elementary::pow;
use crate::graph::{GeluForm, Op, Statistic};

/// The functions that are an op without parameters, by their number of inputs.
const SIMPLE: [(&str, usize, Op); 31] = [
    ("softmax", 1, Op::Softmax(Axis::Rows, Base::E)),
    ("softmax", 2, Op::SoftmaxWithSink { head: 0 }),
    ("column_softmax", 1, Op::Softmax(Axis::Columns, Base::E)),
    ("minus_log_softmax", 1, Op::NegativeLogSoftmax),
    ("exp", 1, Op::Exponential(Base::E)),
    ("ln", 1, Op::Logarithm),
    ("sqrt", 1, Op::Root),
    ("tanh", 1, Op::Tanh),
    ("relu", 1, Op::Relu),
    ("silu", 1, Op::Silu),
    ("sigmoid", 1, Op::Sigmoid),
    ("gelu", 1, Op::Gelu(GeluForm::Erf)),
    ("sum", 1, Op::Sums(Axis::Whole)),
    ("row_sums", 1, Op::Sums(Axis::Rows)),
    ("column_sums", 1, Op::Sums(Axis::Columns)),
    ("diag", 1, Op::Diagonal),
    ("row_shares", 1, Op::DivideBySum(Axis::Rows)),
    ("row_maxima", 1, Op::Max(Axis::Rows)),
    ("minus_max", 1, Op::MinusMax(Axis::Rows)),
    ("largest", 1, Op::Summary(Statistic::Max)),
    ("mean", 1, Op::Summary(Statistic::Mean)),
    ("root_mean_square", 1, Op::Summary(Statistic::RootMeanSquare)),
    ("elu_plus_one", 1, Op::EluPlusOne),
    ("times", 2, Op::Times),
    ("quotient", 2, Op::Quotient),
    ("singular_values", 1, Op::SingularValues),
    ("minus_mean", 1, Op::MinusMean),
    ("unit_rows", 1, Op::UnitRows),
    ("change", 2, Op::Change),
    ("cosine", 2, Op::Cosine),
    ("distance", 2, Op::Euclidean),
];

/// The op of a function without parameters.
pub fn simple_op(function: &str, inputs: usize) -> Option<Op> {
    SIMPLE.into_iter().find(|(name, count, _)| (*name, *count) == (function, inputs)).map(|(_, _, op)| op)
}

/// The name of the function that is this op on this number of inputs; none where the op has parameters.
pub fn function_of(op: &Op, inputs: usize) -> Option<&'static str> {
    SIMPLE.iter().find(|(_, count, of)| of == op && *count == inputs).map(|(name, ..)| *name)
}

/// The functions of matrices that take numbers, words or settings besides.
const WITH_PARAMETERS: &str = "add again alibi attend beside block_sums frequencies gap layer_norm left_vectors lens linear_scaling mask \
    ones part reshape right_vectors rms_norm rotate round sinusoidal stack token visible weights";

/// The functions of matrices, by name.
pub fn functions() -> &'static [&'static str] {
    static FUNCTIONS: LazyLock<Vec<&str>> = LazyLock::new(|| {
        let mut all: Vec<&str> =
            SIMPLE.iter().map(|(name, ..)| *name).chain(WITH_PARAMETERS.split(' ')).collect();
        all.sort_unstable();
        all.dedup();
        all
    });
    &FUNCTIONS
}

// The functions of conditions and of lessons' keys.

/// What an expression gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// A number, or several.
    Number,
    /// The place of a cell.
    Cell,
    /// The order of a row.
    Order,
    /// True or false.
    Truth,
}

/// A function of a condition or a key.
#[derive(Clone, Copy, Debug)]
pub struct CellFunction {
    /// The name.
    pub name: &'static str,
    /// A call that shows its arguments.
    pub usage: &'static str,
    /// What it gives.
    pub gives: Gives,
    /// The first version of lessons that has it; 0 where only demos have it.
    pub version: u8,
}

/// The functions of conditions and keys.
pub const CELL_FUNCTIONS: [CellFunction; 24] = {
    use Gives::{Cell, Number, Order, Truth};
    [
        of_cells("argmax", "argmax(A)", Cell, 1),
        of_cells("argmin", "argmin(A)", Cell, 1),
        of_cells("rank", "rank(A[bat])", Order, 1),
        of_cells("sum", "sum(A[bat])", Number, 1),
        of_cells("min", "min(A)", Number, 1),
        of_cells("max", "max(A)", Number, 1),
        of_cells("len", "len(A[bat])", Number, 1),
        of_cells("count", "count(A[bat], == 0)", Number, 1),
        of_cells("round", "round(A[bat,cave], 2)", Number, 1),
        of_cells("rows", "rows(A)", Number, 2),
        of_cells("cols", "cols(A)", Number, 2),
        of_cells("sqrt", "sqrt(2)", Number, 2),
        of_cells("floor", "floor(2.5)", Number, 2),
        of_cells("ceil", "ceil(2.5)", Number, 2),
        of_cells("even", "even(2)", Truth, 2),
        of_cells("top", "top(A[bat,cave])", Truth, 2),
        of_cells("identity", "identity(A)", Truth, 2),
        of_cells("symmetric", "symmetric(A)", Truth, 2),
        of_cells("lower_triangular", "lower_triangular(A)", Truth, 2),
        of_cells("whole", "whole(A)", Truth, 2),
        of_cells("nan", "nan(A)", Truth, 2),
        of_cells("all", "all(n > 0 for n in 1..3)", Truth, 2),
        of_cells("any", "any(n > 0 for n in 1..3)", Truth, 2),
        of_cells("own", "own(X)", Truth, 0),
    ]
};

const fn of_cells(name: &'static str, usage: &'static str, gives: Gives, version: u8) -> CellFunction {
    CellFunction { name, usage, gives, version }
}

impl CellFunction {
    /// The function of this name.
    pub fn named(name: &str) -> Option<CellFunction> {
        CELL_FUNCTIONS.into_iter().find(|function| function.name == name)
    }

    /// A call that shows its arguments, in a lesson of this version or, with 0, in a demo.
    pub fn usage(self, version: u8) -> String {
        if version > 0 { self.usage.replace("(A", "(RUN:A") } else { self.usage.to_string() }
    }
}

/// What a function makes of numbers; truth is 1 or 0. None where no function of this name takes this many numbers.
pub fn of_numbers(function: &str, numbers: &[f64]) -> Option<f64> {
    Some(match (function, numbers) {
        ("sqrt", [x]) => x.sqrt(),
        ("floor", [x]) => x.floor(),
        ("ceil", [x]) => x.ceil(),
        ("even", [x]) => f64::from(u8::from(x % 2.0 == 0.0)),
        ("min", _) => numbers.iter().copied().reduce(f64::min)?,
        ("max", _) => numbers.iter().copied().reduce(f64::max)?,
        ("sum", _) => numbers.iter().fold(0.0, |sum, x| sum + x),
        _ => return None,
    })
}

impl Sign {
    /// Whether it compares.
    pub fn is_comparison(self) -> bool {
        matches!(self, Sign::Equal | Sign::Differs | Sign::Less | Sign::AtMost | Sign::More | Sign::AtLeast)
    }

    /// Whether it gives truth: a comparison, `and`, `or`, `not`.
    pub fn gives_truth(self) -> bool {
        self.is_comparison() || matches!(self, Sign::And | Sign::Or | Sign::Not)
    }

    /// What it makes of two numbers; truth is 1 or 0.
    pub fn of(self, a: f64, b: f64) -> f64 {
        let truth = |holds: bool| f64::from(u8::from(holds));
        match self {
            Sign::Product | Sign::Multiply => a * b,
            Sign::Divide => a / b,
            Sign::Plus => a + b,
            Sign::Minus => a - b,
            Sign::Modulo => a.rem_euclid(b),
            Sign::Power => pow(a, b),
            Sign::Equal => truth(a == b),
            Sign::Differs => truth(a != b),
            Sign::Less => truth(a < b),
            Sign::AtMost => truth(a <= b),
            Sign::More => truth(a > b),
            Sign::AtLeast => truth(a >= b),
            Sign::And => truth(a != 0.0 && b != 0.0),
            Sign::Or => truth(a != 0.0 || b != 0.0),
            Sign::Not => truth(a == 0.0),
        }
    }
}
