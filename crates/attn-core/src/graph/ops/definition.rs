//! What an op is: its rule, its inputs, its shape and its names, its equation and its way back, and what most ops have in common.

pub use super::back::{Backward, WayBack, scale};
pub(super) use crate::attention::number::{Function, Number};
pub use crate::attention::{self, Axis, Base};
pub use crate::elementary;
pub use crate::error::{Error, Result};
pub use crate::graph::formula::{Convention, FormulaWriter, number_text};
pub use crate::graph::rule::{Request, dot, line_of};
pub use crate::graph::{Factor, NodeId, Op};
pub use crate::matrix::{Labels, Matrix, Shape, labels};
pub use crate::text::counted;

use std::marker::PhantomData;

use crate::error::ErrorKind;
use crate::graph::apply::AllCells;
use crate::tensor::Tensor;

/// The parts of a definition but for the rule, the number of inputs and the way back: what asks an op for each, and the answer where its
/// definition says nothing, which is that for a function of each number: the shape and the names of its input.
macro_rules! parts {
    ($($(#[$doc:meta])* $visibility:vis $part:ident($input:ident: $type:ty) -> $answer:ty { $otherwise:expr })+) => {
        /// Who asks an op for a part of its definition. An op tells all parts, each by a function, and only the one that is asked for is
        /// run.
        pub trait Ask<R: Request>: Sized {
            $($(#[$doc])*
            fn $part(self, _: impl for<'q> FnOnce($type) -> $answer) -> Self {
                self
            })+
            /// The value of its cells, which is also their explanation and their slope.
            fn rule(self, _: impl FnOnce(&R) -> R::Answer) -> Self {
                self
            }
            /// The least and the greatest number of inputs; 1 where nothing is said.
            fn inputs_from(self, _least: usize, _most: Option<usize>) -> Self {
                self
            }
            /// Adds what is handed on to an input: its gradient, from `dy`, that of the result `y`.
            fn back(self, _: impl FnOnce(&mut Backward<'_>, usize) -> Result<NodeId>) -> Self {
                self
            }

            /// The number of inputs.
            fn inputs(self, count: usize) -> Self {
                self.inputs_from(count, Some(count))
            }
            /// An equation of which only the names are filled in: `{a} / length of {each row}`; see [`FormulaWriter::filled`].
            fn written(self, equation: &str) -> Self {
                self.equation(|w| w.filled(equation))
            }
            /// A leaf of this shape: it reads nothing.
            fn leaf(self, rows: usize, cols: usize) -> Self {
                let leaf = self.inputs(0).shape(|_| Ok(Shape { rows, cols })).cells(|_| rows.saturating_mul(cols));
                leaf.way_back(|_| WayBack::Ends("it reads nothing"))
            }
            /// What is done to the cells at the same place of matrices of one shape, in words.
            fn cell_by_cell(self, done: &str) -> Self {
                self.shape(|inputs| same_shape(inputs, done))
                    .names(|inputs| (inputs.iter().find_map(|a| rows_of(a)), inputs.iter().find_map(|a| cols_of(a))))
            }
        }

        impl Op {
            $($(#[$doc])*
            $visibility fn $part<'q>(&self, $input: $type) -> $answer {
                struct Question<'q> {
                    input: $type,
                    answer: Option<$answer>,
                    of: PhantomData<&'q ()>,
                }
                impl<'q, R: Request> Ask<R> for Question<'q> {
                    fn $part(self, part: impl FnOnce($type) -> $answer) -> Self {
                        Question { answer: Some(part(self.input)), ..self }
                    }
                }
                let question = Question { input: $input, answer: None, of: PhantomData };
                self.ask::<AllCells<'_>, _>(question).answer.unwrap_or_else(|| $otherwise)
            })+
        }
    };
}

parts! {
    /// The value, where it is computed otherwise than by the rule, to the same bits.
    pub(in crate::graph) value(inputs: &'q [&'q Matrix]) -> Option<Result<Matrix>> { None }
    /// The value from weights that are read in place, wherever they are and whatever their type is; none where the rule is as good.
    pub(in crate::graph) in_place(inputs: &'q [&'q Tensor]) -> Option<Result<Matrix>> { None }
    /// Checks the parameters that no shape limits, from a file, a recipe or a page; the argument is the op's name.
    pub(in crate::graph) check(name: &'q str) -> Result<()> { Ok(()) }
    /// Checks what a shape does not say.
    pub(in crate::graph) check_numbers(inputs: &'q [&'q Matrix]) -> Result<()> { Ok(()) }
    /// The shape of the result.
    pub(in crate::graph) shape(inputs: &'q [Shape]) -> Fit { Ok(inputs[0]) }
    /// The number of cells of the result; for ops that cut, an upper bound.
    pub(in crate::graph) cells(inputs: &'q [Shape]) -> usize {
        inputs.iter().map(|a| a.rows.saturating_mul(a.cols)).fold(0, usize::saturating_add)
    }
    /// The names of the rows and columns of the result.
    pub(in crate::graph) names(inputs: &'q [&'q Matrix]) -> Names {
        inputs.first().map_or((None, None), |a| (rows_of(a), cols_of(a)))
    }
    /// The right-hand side of its equation.
    pub(in crate::graph) equation(w: &'q FormulaWriter<'q>) -> String { String::new() }
    /// The way back to an input, counted from 0.
    pub way_back(input: usize) -> WayBack { WayBack::Through }
}

impl Op {
    /// What the op's rule answers.
    pub(in crate::graph) fn rule<R: Request>(&self, of: &R) -> R::Answer {
        let Rule { answer, .. } = self.ask(Rule { of, answer: None });
        answer.expect("every op has a rule")
    }

    /// The number of inputs of the op.
    pub fn arity(&self) -> Arity {
        self.ask::<AllCells<'_>, _>(Arity { least: 1, most: Some(1) })
    }

    /// Adds what the op hands on to an input, where there is a [way back](Op::way_back).
    pub(in crate::graph) fn back(&self, step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
        let Back { answer, .. } = self.ask::<AllCells<'_>, _>(Back { step, input, answer: None });
        answer.expect("every op that hands a gradient on says how")
    }
}

struct Rule<'q, R: Request> {
    of: &'q R,
    answer: Option<R::Answer>,
}

impl<R: Request> Ask<R> for Rule<'_, R> {
    fn rule(self, rule: impl FnOnce(&R) -> R::Answer) -> Self {
        Rule { answer: Some(rule(self.of)), ..self }
    }
}

impl<R: Request> Ask<R> for Arity {
    fn inputs_from(self, least: usize, most: Option<usize>) -> Arity {
        Arity { least, most }
    }
}

struct Back<'q, 'g> {
    step: &'q mut Backward<'g>,
    input: usize,
    answer: Option<Result<NodeId>>,
}

impl<R: Request> Ask<R> for Back<'_, '_> {
    fn back(self, back: impl FnOnce(&mut Backward<'_>, usize) -> Result<NodeId>) -> Self {
        Back { answer: Some(back(self.step, self.input)), ..self }
    }
}

// The number of inputs.

/// The range of the number of inputs of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity {
    /// At least this many.
    pub least: usize,
    /// At most this many; no limit where there is none.
    pub most: Option<usize>,
}

impl Arity {
    /// # Errors
    /// If the op cannot read this many inputs.
    pub(in crate::graph) fn check(self, op: &Op, inputs: usize) -> Result<()> {
        let Arity { least, most } = self;
        if inputs >= least && most.is_none_or(|most| inputs <= most) {
            return Ok(());
        }
        let takes = match most {
            Some(most) if most == least => counted(least, "matrix"),
            Some(most) => format!("{least} to {}", counted(most, "matrix")),
            None => format!("at least {}", counted(least, "matrix")),
        };
        let are = if inputs == 1 { "is" } else { "are" };
        Err(Error::new(format!("`{}` takes {takes}, but {inputs} {are} given", op.name())))
    }
}

// Shapes and parameters.

/// The shape of a result, or the error that says which rule the inputs break; none where there is no more to say than that they do not
/// fit.
pub type Fit = std::result::Result<Shape, Option<Error>>;

/// The shape, if the inputs fit, and otherwise this error.
macro_rules! fit {
    ($fits:expr, $shape:expr, $($error:tt)+) => {
        if $fits { Ok($shape) } else { Err(Some(misfit(format!($($error)+)))) }
    };
}
pub(super) use fit;

/// The error of inputs that do not fit.
pub fn misfit(why: String) -> Error {
    Error::new(why).of_kind(ErrorKind::Shape)
}

/// The shape that all inputs have.
fn same_shape(inputs: &[Shape], done: &str) -> Fit {
    let a = inputs[0];
    let other = inputs.iter().find(|other| **other != a).unwrap_or(&a);
    fit!(*other == a, a, "a {a} matrix and a {other} one cannot be {done}: the shapes must be the same")
}

/// Beyond this, not every whole number is an `f64`: no position and no width is larger.
pub const MOST: u64 = 1 << 53;

/// # Errors
/// If a parameter is out of its range.
pub fn in_range(op: &str, is_in: bool, what: &str, range: &str) -> Result<()> {
    if is_in { Ok(()) } else { Err(Error::new(format!("the {what} of `{op}` is out of its range: {range}"))) }
}

// The names of rows and columns.

/// The names of rows and of columns.
pub type Names = (Option<Labels>, Option<Labels>);

/// The names of the rows of a matrix.
pub fn rows_of(matrix: &Matrix) -> Option<Labels> {
    matrix.row_labels().cloned()
}

/// The names of the columns of a matrix.
pub fn cols_of(matrix: &Matrix) -> Option<Labels> {
    matrix.col_labels().cloned()
}
