//! What a step of a plan does.

use super::{Batch, Place, cells, lines, places};
use crate::error::Result;
use crate::kernel::{Operand, Products, SimdLevel, multiply_examples};
use crate::learn::number::Number;

/// What the memory of one step is used for.
#[derive(Debug)]
pub(super) struct Working<T> {
    pub simd: SimdLevel,
    /// Room for a transposed factor.
    pub packed: Vec<T>,
}

/// An op of the graph, ready for a batch: numbers that it carries are in the type of the plan.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action<T> {
    /// `a b`, where either may be read as its transpose.
    Product {
        a_transposed: bool,
        b_transposed: bool,
    },
    /// The rows of a table at the ids of each example.
    LookUp,
    /// 1 at the target of each row, and 0 elsewhere.
    OneHot,
    /// Every cell divided by the number of rows that count in the batch, as a factor.
    ByCounted,
    /// A block of neighbouring rows from here.
    Rows(usize),
    /// A block of neighbouring columns from here.
    Columns(usize),
    /// All inputs side by side.
    Concatenate,
    /// All inputs on top of each other.
    Stack,
    /// `aᵀ`.
    Transpose,
    /// The sum of all inputs.
    Add,
    Subtract,
    Multiply,
    Quotient,
    /// Every cell times the single number b.
    Times,
    /// Every cell divided by the single number b.
    Divide,
    Scale(T),
    /// Every cell divided by this number.
    Temperature(T),
    OnePlus,
    Relu,
    Root,
    Logarithm,
    /// Cells become −∞ where this pattern is true.
    Hide(Vec<bool>),
    /// 1 where b is 0 (or is not), and 0 elsewhere.
    WhereZero(bool),
    Softmax,
    NegativeLogSoftmax,
    SumOfRows,
    SumOfColumns,
    SumOfAll,
    RepeatColumns,
    /// Each row divided by its root mean square, with this ε.
    RmsNorm(T),
    /// The sum over all examples of a batch, as one matrix.
    SumOfExamples,
}

/// The numbers that a step reads: those of one input, for one example or for all.
pub(super) fn numbers<'s, T>(slots: &'s [Vec<T>], place: &Place) -> &'s [T] {
    &slots[place.slot]
}

impl<T: Number> Action<T> {
    /// Computes a step for all examples.
    ///
    /// # Errors
    /// If an id is outside of its table, or ids are missing.
    pub fn run(
        &self,
        slots: &[Vec<T>],
        (inputs, out, examples): (&[Place], &Place, usize),
        batch: &Batch,
        (working, numbers): (&mut Working<T>, &mut [T]),
    ) -> Result<()> {
        let examples = if out.per_example { examples } else { 1 };
        let read = |at: usize| cells::Read { numbers: self::numbers(slots, &inputs[at]), place: inputs[at] };
        let cols = out.shape.cols;
        match self {
            Action::Product { a_transposed, b_transposed } => {
                let factor = |at: usize, transposed: bool| Operand {
                    numbers: self::numbers(slots, &inputs[at]),
                    transposed,
                    shared: !inputs[at].per_example,
                };
                let a = inputs[0].shape;
                let inner = if *a_transposed { a.rows } else { a.cols };
                let problem = Products {
                    a: factor(0, *a_transposed),
                    b: factor(1, *b_transposed),
                    examples,
                    rows: out.shape.rows,
                    inner,
                    cols,
                };
                return multiply_examples(problem, working.simd, &mut working.packed, numbers)
                    .map_err(|error| crate::error::Error::new(error.to_string()));
            }
            Action::LookUp => return places::look_up(read(0), &batch.tokens, cols, numbers),
            Action::OneHot => return places::one_hot(&batch.targets, cols, numbers),
            Action::ByCounted => {
                let share = T::from_f64(1.0 / batch.counted() as f64);
                cells::one(read(0), numbers, |x| x * share);
            }
            Action::Rows(start) => places::rows(read(0), *start, (out.shape, examples), numbers),
            Action::Columns(start) => places::columns(read(0), *start, cols, numbers),
            Action::Concatenate => {
                let mut start = 0;
                for at in 0..inputs.len() {
                    places::side_by_side(read(at), start, (out.shape, examples), numbers);
                    start += inputs[at].shape.cols;
                }
            }
            Action::Stack => {
                let mut start = 0;
                for at in 0..inputs.len() {
                    places::on_top(read(at), start, (out.shape, examples), numbers);
                    start += inputs[at].shape.rows;
                }
            }
            Action::Transpose => places::transpose(read(0), examples, numbers),
            Action::Add => {
                let (first, more) = (read(0), (1..inputs.len()).map(read));
                cells::one(first, numbers, |x| T::ZERO + x);
                more.for_each(|next| cells::onto(next, numbers, |sum, x| sum + x));
            }
            Action::Subtract => cells::two(read(0), read(1), numbers, |a, b| a - b),
            Action::Multiply => cells::two(read(0), read(1), numbers, |a, b| a * b),
            Action::Quotient => cells::two(read(0), read(1), numbers, |a, b| a / b),
            Action::Times => {
                cells::with_number(read(0), read(1), (out.shape, examples), numbers, |a, b| a * b)
            }
            Action::Divide => {
                cells::with_number(read(0), read(1), (out.shape, examples), numbers, |a, b| a / b)
            }
            Action::Scale(factor) => cells::one(read(0), numbers, |x| x * *factor),
            Action::Temperature(by) => cells::one(read(0), numbers, |x| x / *by),
            Action::OnePlus => cells::one(read(0), numbers, |x| T::ONE + x),
            Action::Relu => cells::one(read(0), numbers, |x| if x > T::ZERO { x } else { T::ZERO }),
            Action::Root => cells::one(read(0), numbers, Number::root),
            Action::Logarithm => cells::one(read(0), numbers, crate::learn::number::logarithm),
            Action::Hide(pattern) => cells::hide(read(0), pattern, numbers),
            Action::WhereZero(wanted) => {
                let is = |zero: bool| if zero { T::ONE } else { T::ZERO };
                cells::one(read(1), numbers, |x| is((x == T::ZERO) == *wanted));
            }
            Action::Softmax => {
                cells::one(read(0), numbers, |x| x);
                return T::softmax(numbers, cols, working.simd);
            }
            Action::NegativeLogSoftmax => {
                cells::one(read(0), numbers, |x| x);
                return T::negative_log_softmax(numbers, cols, (working.simd, &mut working.packed));
            }
            Action::SumOfRows => lines::sums_of_rows(read(0), numbers),
            Action::SumOfColumns => lines::sums_of_columns(read(0), examples, numbers),
            Action::SumOfAll => lines::sums_of_all(read(0), examples, numbers),
            Action::RepeatColumns => lines::repeat(read(0), (out.shape, examples), numbers),
            Action::RmsNorm(epsilon) => lines::rms_norm(read(0), *epsilon, numbers),
            Action::SumOfExamples => lines::sums_of_examples(read(0), numbers),
        }
        Ok(())
    }
}
