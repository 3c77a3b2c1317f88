//! The functions of the language, and the ops that need no more than the function's name.

use crate::attention::{Axis, Base};
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

/// The functions of matrices.
pub const FUNCTIONS: [&str; 55] = [
    "add",
    "again",
    "alibi",
    "attend",
    "beside",
    "block_sums",
    "change",
    "column_softmax",
    "column_sums",
    "cosine",
    "diag",
    "distance",
    "elu_plus_one",
    "exp",
    "frequencies",
    "gap",
    "gelu",
    "largest",
    "layer_norm",
    "left_vectors",
    "lens",
    "linear_scaling",
    "ln",
    "mask",
    "mean",
    "minus_log_softmax",
    "minus_max",
    "minus_mean",
    "ones",
    "part",
    "quotient",
    "relu",
    "reshape",
    "right_vectors",
    "rms_norm",
    "root_mean_square",
    "rotate",
    "round",
    "row_maxima",
    "row_shares",
    "row_sums",
    "sigmoid",
    "silu",
    "singular_values",
    "sinusoidal",
    "softmax",
    "sqrt",
    "stack",
    "sum",
    "tanh",
    "times",
    "token",
    "unit_rows",
    "visible",
    "weights",
];
