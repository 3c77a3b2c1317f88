//! An op on its inputs: its value, by its rule; how many inputs it takes, and of which shapes.
//!
//! A new op needs an arm here, or this does not compile.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::attention::{self, Axis, Mask, Places, RopeScaling, block};
use crate::error::{Error, ErrorKind, Result};
use crate::matrix::{Labels, Matrix, Shape, labels};
use crate::tensor::Tensor;
use crate::text::{all_of, clip, counted};

use super::op::{Fusion, Op, Origin, Side, Statistic};
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
        // With the first one transposed, whole columns are summed at a time.
        if let (Op::TransposedProduct, [a, b]) = (self, inputs) {
            return Op::Product.apply(&[&a.transposed(), b]);
        }
        if let (Op::SingularValues, [a]) = (self, inputs) {
            return Ok(attention::singular_values(a)?.values);
        }
        if let (Op::SingularVectors { side, rank }, [a]) = (self, inputs) {
            let all = attention::singular_values(a)?;
            let (vectors, names) = match side {
                Side::Left => (all.left, a.row_labels()),
                Side::Right => (all.right, a.col_labels()),
            };
            let named = vectors.with_row_labels(names.cloned());
            return Op::Columns { start: 0, count: *rank }.apply(&[&named]);
        }
        let shapes: Vec<Shape> = inputs.iter().map(|input| input.shape()).collect();
        self.check_numbers(inputs)?;
        let none = Shape { rows: 0, cols: 0 };
        let result = self.result_shape(&shapes, none).ok_or_else(|| self.refusal(&shapes))?;
        let value = self.rule(&AllCells { inputs, result }).ok_or_else(|| {
            Error::new(format!("`{}` is recorded with its value and not computed from it", self.name()))
        })?;
        Ok(self.labelled(value, inputs))
    }

    /// Checks what a shape does not say.
    #[allow(clippy::wildcard_enum_match_arm, reason = "most ops take all numbers")]
    fn check_numbers(&self, inputs: &[&Matrix]) -> Result<()> {
        match (self, inputs) {
            (Op::ScaledFrequencies(scaling), [_, divisors @ ..]) => {
                scaling.check()?;
                let mut numbers = divisors.iter().flat_map(|row| row.cells());
                match numbers.find(|number| *number <= 0.0) {
                    None => Ok(()),
                    Some(number) => {
                        Err(Error::new(format!("a divisor of the rope scaling longrope is {number}"))
                            .help("give positive numbers: the frequencies are divided by them"))
                    }
                }
            }
            (Op::BucketBias { buckets, .. }, _) => buckets.check(),
            _ => Ok(()),
        }
    }

    /// The result with the names of its rows and columns.
    #[allow(clippy::wildcard_enum_match_arm, reason = "most ops keep the names of their first input")]
    fn labelled(&self, value: Matrix, inputs: &[&Matrix]) -> Matrix {
        let first = |of: fn(&Matrix) -> Option<&Labels>| inputs.iter().find_map(|input| of(input)).cloned();
        let a = inputs.first();
        let b = inputs.get(1);
        let rows = |of: Option<&&Matrix>| of.and_then(|of| of.row_labels()).cloned();
        let cols = |of: Option<&&Matrix>| of.and_then(|of| of.col_labels()).cloned();
        let slice = |names: Option<Labels>, start: usize, step: usize, count: usize| {
            names.map(|names| names.iter().skip(start).step_by(step).take(count).cloned().collect::<Labels>())
        };
        let joined = |of: fn(&Matrix) -> Option<&Labels>| {
            let all: Option<Vec<&Labels>> = inputs.iter().map(|input| of(input)).collect();
            all.map(|all| all.iter().flat_map(|names| names.iter().cloned()).collect::<Labels>())
        };
        let one = |name: &str| Some(labels(&[name]));
        let (names_of_rows, names_of_cols) = match self {
            Op::Product => (rows(a), cols(b)),
            Op::ProductTransposed | Op::Cosine | Op::Euclidean => (rows(a), rows(b)),
            Op::Transpose => (cols(a), rows(a)),
            Op::Add | Op::Subtract | Op::Change | Op::Multiply | Op::Quotient => {
                (first(Matrix::row_labels), first(Matrix::col_labels))
            }
            Op::Sums(axis) => along(*axis, a, "sum"),
            Op::Max(axis) => along(*axis, a, "largest"),
            Op::Summary(statistic) => {
                let name = match statistic {
                    Statistic::Mean => "mean",
                    Statistic::RootMeanSquare => "root mean square",
                    Statistic::Max => "largest",
                    Statistic::MaxSize => "largest by size",
                };
                (None, one(name))
            }
            Op::BlockSums { rows: height, cols: width } => {
                let spans = |of: fn(&Matrix) -> Option<&Labels>, size, length: fn(&Matrix) -> usize| {
                    a.map(|a| spans(of(a), size, length(a)))
                };
                let names = spans(Matrix::row_labels, *height, Matrix::rows);
                (names, spans(Matrix::col_labels, *width, Matrix::cols))
            }
            Op::Columns { start, count } => (rows(a), slice(cols(a), *start, 1, *count)),
            Op::EveryNthColumn { start, step } => (rows(a), slice(cols(a), *start, *step, usize::MAX)),
            Op::Rows { start, count } => (slice(rows(a), *start, 1, *count), cols(a)),
            Op::ReverseRows => (rows(a).map(|names| names.iter().rev().cloned().collect()), cols(a)),
            Op::RepeatColumns(_) | Op::SortRows(_) => (rows(a), None),
            Op::Concatenate => (rows(a), joined(Matrix::col_labels)),
            Op::Stack(names) => {
                let own = names.clone().filter(|names| names.len() == value.rows());
                (own.or_else(|| joined(Matrix::row_labels)), cols(a))
            }
            Op::Diagonal => (cols(a), cols(a)),
            Op::Frequencies { width, .. } => {
                (None, Some((1..=width / 2).map(|pair| format!("pair {pair}")).collect()))
            }
            Op::Reshape { .. } | Op::BucketBias { .. } => (None, None),
            _ => (rows(a), cols(a)),
        };
        value.with_row_labels(names_of_rows).with_col_labels(names_of_cols)
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
        match (self, inputs) {
            (Op::Linear(layout), [x, weights, bias @ ..]) => {
                attention::linear(x.matrix()?, weights, *layout, bias.first().copied())
            }
            (Op::TokenRows(ids), [table]) => attention::token_rows(table, ids),
            (Op::Rows { start, count }, [table]) if !table.is_exact() => {
                let rows: Vec<usize> = (*start..start.saturating_add(*count)).collect();
                attention::token_rows(table, &rows)
            }
            _ => self.apply(&inputs.iter().map(|tensor| tensor.matrix()).collect::<Result<Vec<_>>>()?),
        }
    }
}

/// The names of one number for each row, for each column, or for all cells.
fn along(axis: Axis, a: Option<&&Matrix>, name: &str) -> (Option<Labels>, Option<Labels>) {
    let name = Some(labels(&[name]));
    match axis {
        Axis::Rows => (a.and_then(|a| a.row_labels()).cloned(), name),
        Axis::Columns => (name, a.and_then(|a| a.col_labels()).cloned()),
        Axis::Whole => (None, None),
    }
}

/// The names of the blocks along one side, from the first name to the last: `3…4`, or `3` alone.
fn spans(names: Option<&Labels>, size: usize, length: usize) -> Labels {
    let name = |at: usize| names.map_or_else(|| (at + 1).to_string(), |names| names[at].clone());
    let span = |index: usize| {
        let places = block(index, size, length);
        match places.len() {
            1 => name(places.start),
            _ => format!("{}…{}", name(places.start), name(places.end - 1)),
        }
    };
    (0..length.div_ceil(size)).map(span).collect()
}

/// This many rows are written together.
const TOGETHER: usize = 8;

/// All cells are asked for, and the inputs are matrices.
struct AllCells<'a> {
    inputs: &'a [&'a Matrix],
    result: Shape,
}

impl Request for AllCells<'_> {
    type Number = f64;
    type Answer = Matrix;

    fn at(&self, input: usize, i: usize, j: usize) -> f64 {
        self.inputs[input][(i, j)]
    }
    fn inputs(&self) -> usize {
        self.inputs.len()
    }
    fn shape(&self, input: usize) -> Shape {
        self.inputs[input].shape()
    }
    fn cells(&self, cell: impl Fn(usize, usize) -> f64) -> Matrix {
        Matrix::from_fn(self.result.rows, self.result.cols, cell)
    }
    fn kept<'a, T: Clone + 'a>(
        &'a self,
        count: usize,
        make: impl Fn(usize) -> T + 'a,
    ) -> impl Fn(usize) -> T + 'a {
        let all: Vec<T> = (0..count).map(make).collect();
        move |at| all[at].clone()
    }
    fn each(&self, rule: impl Fn(f64) -> f64) -> Matrix {
        self.inputs[0].map(rule)
    }
    fn lines<L: Fn(usize) -> f64>(&self, axis: Axis, line: impl Fn(usize) -> L) -> Matrix {
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
        Matrix::from_columns(rows, cols, values)
    }
    /// A whole column is summed at a time, so that the processor can work on several cells at once; the order in each cell, and so its
    /// bits, are those of a sum on its own.
    fn mixed(&self, share: impl Fn(usize, usize) -> f64) -> Matrix {
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
        Matrix::from_columns(rows, cols, values)
    }
}

// The number of inputs of each op.

/// The range of the number of inputs of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity {
    /// At least this many.
    pub least: usize,
    /// At most this many; no limit where there is none.
    pub most: Option<usize>,
}

impl Arity {
    const fn exactly(count: usize) -> Arity {
        Arity { least: count, most: Some(count) }
    }

    const fn between(least: usize, most: usize) -> Arity {
        Arity { least, most: Some(most) }
    }

    const ANY: Arity = Arity { least: 1, most: None };

    /// # Errors
    /// If the op cannot read this many inputs.
    pub(super) fn check(self, op: &Op, inputs: usize) -> Result<()> {
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

impl Op {
    /// The number of inputs of the op: one, unless it has an arm here.
    #[allow(clippy::wildcard_enum_match_arm, reason = "most ops read one matrix")]
    pub fn arity(&self) -> Arity {
        match self {
            Op::Given(_)
            | Op::Ones { .. }
            | Op::Sinusoidal { .. }
            | Op::Frequencies { .. }
            | Op::Alibi(..) => Arity::exactly(0),
            Op::Product
            | Op::ProductTransposed
            | Op::TransposedProduct
            | Op::Subtract
            | Op::Change
            | Op::Multiply
            | Op::Divide
            | Op::Times
            | Op::Quotient
            | Op::SoftmaxWithSink { .. }
            | Op::Guard
            | Op::Rotary(_)
            | Op::Cosine
            | Op::Euclidean => Arity::exactly(2),
            // The matrix of the mask, where its rule reads one.
            Op::Mask(rule) | Op::MaskPattern(rule) => Arity::exactly(1 + usize::from(rule.matrix.is_some())),
            Op::ScaledFrequencies(scaling) => {
                Arity::exactly(1 + usize::from(matches!(scaling, RopeScaling::LongRope { .. })))
            }
            Op::RmsNorm(_) => Arity::between(1, 2),
            Op::Linear(_) => Arity::between(2, 3),
            Op::LayerNorm(_) => Arity::between(1, 3),
            Op::Add | Op::Concatenate | Op::Stack(_) | Op::Fused(Fusion::LogSumExp) => Arity::ANY,
            // Q, K, V; sinks, a table of positions, a bias, a mask.
            Op::Fused(Fusion::Output(_)) => Arity::between(3, 7),
            _ => Arity::exactly(1),
        }
    }
}

// Whether an op can have made a matrix of one shape from matrices of others: known without computing it.
//
// What a file says about a step is checked here before anything is allocated for it, so that no parameter of a file reaches a
// sum or a place that the mathematics does not have.

/// Beyond this, not every whole number is an `f64`: no position and no width is larger.
const MOST: u64 = 1 << 53;
/// `f64` has no more decimals than this, 10³⁰⁸ being its largest power of ten.
const MOST_DECIMALS: u32 = 308;
/// More heads than any layer has: powers of this number are still whole numbers.
const MOST_HEADS: usize = 1 << 24;

impl Op {
    /// Checks that the op can have made a matrix of this shape from matrices of those shapes, and that its parameters are in
    /// their range. An op that passes can be [applied](Op::apply) to matrices of these shapes: it gives that shape, or an error.
    ///
    /// # Errors
    /// If the op takes another number of inputs, they do not fit it or each other, its result has another shape, or a parameter
    /// is out of its range.
    pub fn check_fits(&self, inputs: &[Shape], result: Shape) -> Result<()> {
        self.arity().check(self, inputs.len())?;
        if let Op::Given(Origin::Rows(rows)) = self
            && (rows.len() != result.rows || rows.iter().any(|row| matches!(row, Origin::Rows(_))))
        {
            return self.out_of_range("origin", "it has one origin for each row, and no list in it");
        }
        self.check_parameters()?;
        let given = self.result_shape(inputs, result).ok_or_else(|| self.misfit(inputs))?;
        if given == result {
            return Ok(());
        }
        Err(Error::new(format!("`{}`{} gives {given}, but the shape is {result}", self.name(), of(inputs)))
            .of_kind(ErrorKind::Shape))
    }

    /// Why inputs of these shapes do not fit: the rule that they break.
    #[allow(clippy::wildcard_enum_match_arm, reason = "most ops take all shapes")]
    fn refusal(&self, inputs: &[Shape]) -> Error {
        let none = Shape { rows: 0, cols: 0 };
        let [a, b] = [0, 1].map(|at| inputs.get(at).copied().unwrap_or(none));
        let other = |is_like: fn(Shape, Shape) -> bool| {
            inputs.iter().copied().find(|input| !is_like(*input, a)).unwrap_or(b)
        };
        let each = |done: &str| {
            let other = other(|a, b| a == b);
            format!("a {a} matrix and a {other} one cannot be {done}: the shapes must be the same")
        };
        let lines = |what: &str, start: &usize, count: &usize| {
            let (first, last) = (start.saturating_add(1), start.saturating_add(*count));
            format!("{what} {first} to {last} are asked of a {a} matrix")
        };
        let for_scores = |what: &str, of: Shape, scores: Shape| attention::does_not_fit(what, of, scores);
        let what = match self {
            Op::Product => format!(
                "a {a} matrix cannot be multiplied by a {b} one: the columns of the first ({}) must equal the rows of \
                 the second ({})",
                a.cols, b.rows
            ),
            Op::ProductTransposed | Op::Cosine | Op::Euclidean => format!(
                "rows of width {} cannot be compared with rows of width {} (the shapes are {a} and {b})",
                a.cols, b.cols
            ),
            Op::Add => each("added"),
            Op::Subtract => each("subtracted"),
            Op::Change => each("compared cell by cell"),
            Op::Multiply => each("multiplied cell by cell"),
            Op::Quotient => each("divided cell by cell"),
            Op::Divide => format!("a divisor is one number, not a {b} matrix"),
            Op::Times => format!("a factor is one number, not a {b} matrix"),
            Op::Mask(_) | Op::MaskPattern(_) => return for_scores("mask", b, a),
            Op::Guard => return for_scores("matrix of weights", a, b),
            Op::SoftmaxWithSink { head } => {
                return Error::new(format!("there is no sink for head {} in {b}", head + 1))
                    .help("give one row with a sink for each head");
            }
            Op::Columns { start, count } => lines("columns", start, count),
            Op::Rows { start, count } => lines("rows", start, count),
            Op::EveryNthColumn { start, step } => format!(
                "every column {step} from column {} on is asked of a {a} matrix",
                start.saturating_add(1)
            ),
            Op::RepeatColumns(_) => "columns cannot be repeated 0 times".into(),
            Op::Reshape { rows, cols } => format!("a {a} matrix cannot be read as a {rows}×{cols} one"),
            Op::BlockSums { rows, cols } => format!("a block of {rows}×{cols} cells holds nothing"),
            Op::Concatenate => format!(
                "a {} matrix and a {a} matrix cannot stand side by side: they have different numbers of rows",
                other(|a, b| a.rows == b.rows)
            ),
            Op::Stack(_) => format!(
                "a {} matrix cannot stand below a {a} one: the numbers of columns differ",
                other(|a, b| a.cols == b.cols)
            ),
            Op::RmsNorm(_) | Op::LayerNorm(_) => {
                let wanted = Shape { rows: 1, cols: a.cols };
                let (what, given) = if b == wanted { ("bias", inputs[2]) } else { ("gain", b) };
                let error = format!("the {what} is {given}, but a matrix of {a} needs {wanted}");
                return Error::new(error)
                    .help(format!("give the {what} one row with a number for each column"));
            }
            Op::Rotary(_) => {
                return Error::new(format!("frequencies of {b} cannot rotate {}", counted(a.cols, "column")))
                    .help("give one row with a frequency for each pair of columns");
            }
            Op::ScaledFrequencies(RopeScaling::Dynamic { .. }) => {
                return Error::new("the rope scaling dynamic needs at least two pairs of columns")
                    .help("rotate four columns or more, or use another scaling: linear");
            }
            Op::ScaledFrequencies(_) => {
                return Error::new(format!(
                    "the rope scaling longrope needs a divisor for each pair, {a}, but they are {b}"
                ))
                .help(format!("give one row of {}", counted(a.cols, "number")));
            }
            Op::BucketBias { column, buckets, .. } => format!(
                "a {a} table of positions has no row for each of {} buckets and a column {}",
                buckets.count,
                column + 1
            ),
            Op::Diagonal => format!("a diagonal is written from one row of numbers, not from a {a} matrix"),
            _ => return self.misfit(inputs),
        };
        Error::new(what).of_kind(ErrorKind::Shape)
    }

    fn misfit(&self, inputs: &[Shape]) -> Error {
        let params = self.params();
        let has_none = params.as_object().is_some_and(|params| params.is_empty());
        let with = if has_none { String::new() } else { format!(" with {}", clip(&params.to_string())) };
        Error::new(format!("`{}`{with} cannot be computed{}", self.name(), of(inputs)))
            .of_kind(ErrorKind::Shape)
    }

    /// The shape of the result; `None` where the inputs do not fit. What follows from no input is taken as it stands.
    fn result_shape(&self, inputs: &[Shape], result: Shape) -> Option<Shape> {
        let shape = |rows, cols| Some(Shape { rows, cols });
        // Ops without inputs never ask for them.
        let a = inputs.first().copied().unwrap_or(result);
        let b = inputs.get(1).copied();
        let row_of_a = Shape { rows: 1, cols: a.cols };
        let all = |wanted: Shape| inputs.iter().all(|input| *input == wanted);
        match self {
            Op::Given(_) => Some(result),
            // What the fused kernel makes has a row for each query.
            Op::Fused(_) => (a.rows == result.rows).then_some(result),
            Op::Product => b.filter(|b| a.cols == b.rows).and_then(|b| shape(a.rows, b.cols)),
            Op::TransposedProduct => b.filter(|b| a.rows == b.rows).and_then(|b| shape(a.cols, b.cols)),
            Op::ProductTransposed | Op::Cosine | Op::Euclidean => {
                b.filter(|b| a.cols == b.cols).and_then(|b| shape(a.rows, b.rows))
            }
            Op::Linear(layout) => {
                let (width, outputs) = layout.inputs_and_outputs(b?);
                let bias = inputs.get(2).copied();
                let fits = bias.is_none_or(|bias| bias == Shape { rows: 1, cols: outputs });
                (fits && a.cols == width).then_some(Shape { rows: a.rows, cols: outputs })
            }
            Op::TokenRows(ids) => ids.iter().all(|id| *id < a.rows).then_some(Shape { rows: ids.len(), ..a }),
            Op::Ones { rows, cols } => shape(*rows, *cols),
            Op::Transpose => shape(a.cols, a.rows),
            Op::Add | Op::Subtract | Op::Change | Op::Multiply | Op::Quotient => all(a).then_some(a),
            Op::Guard | Op::Mask(_) | Op::MaskPattern(_) => all(a).then_some(a),
            Op::Divide | Op::Times => b.filter(|b| *b == Shape { rows: 1, cols: 1 }).map(|_| a),
            Op::OnePlus
            | Op::Scale(_)
            | Op::Temperature(_)
            | Op::SoftCap(_)
            | Op::MinusMax(_)
            | Op::Exponential(_)
            | Op::Logarithm
            | Op::Root
            | Op::NormalShare
            | Op::SingleRange
            | Op::DivideBySum(_)
            | Op::Softmax(..)
            | Op::UnguardedSoftmax(..)
            | Op::NegativeLogSoftmax
            | Op::ReverseRows
            | Op::SortRows(_)
            | Op::Relu
            | Op::EluPlusOne
            | Op::Sigmoid
            | Op::Tanh
            | Op::Silu
            | Op::Gelu(_)
            | Op::MinusMean
            | Op::UnitRows
            | Op::Round(_)
            | Op::Truncate(_) => Some(a),
            Op::Sums(axis) | Op::Max(axis) => match axis {
                Axis::Rows => shape(a.rows, 1),
                Axis::Columns => shape(1, a.cols),
                Axis::Whole => shape(1, 1),
            },
            Op::BlockSums { rows, cols } => {
                let blocks = |length: usize, size: usize| (size > 0).then(|| length.div_ceil(size));
                shape(blocks(a.rows, *rows)?, blocks(a.cols, *cols)?)
            }
            Op::SoftmaxWithSink { head } => b.filter(|b| b.rows == 1 && *head < b.cols).map(|_| a),
            Op::Columns { start, count } => {
                start.checked_add(*count).filter(|end| *end <= a.cols).map(|_| Shape { cols: *count, ..a })
            }
            Op::Rows { start, count } => {
                start.checked_add(*count).filter(|end| *end <= a.rows).map(|_| Shape { rows: *count, ..a })
            }
            Op::EveryNthColumn { start, step } => {
                let taken = (*step > 0).then(|| a.cols.checked_sub(*start)).flatten()?;
                (taken > 0).then(|| Shape { cols: taken.div_ceil(*step), ..a })
            }
            Op::RepeatColumns(times) => {
                let cols = a.cols.checked_mul(*times).filter(|_| *times > 0)?;
                Some(Shape { cols, ..a })
            }
            Op::Concatenate => {
                let fits = inputs.iter().all(|input| input.rows == a.rows);
                fits.then(|| Shape { cols: inputs.iter().map(|input| input.cols).sum(), ..a })
            }
            Op::Stack(_) => {
                let fits = inputs.iter().all(|input| input.cols == a.cols);
                fits.then(|| Shape { rows: inputs.iter().map(|input| input.rows).sum(), ..a })
            }
            Op::Reshape { rows, cols } => {
                let same = rows.checked_mul(*cols) == a.rows.checked_mul(a.cols);
                (same && *cols > 0).then_some(Shape { rows: *rows, cols: *cols })
            }
            Op::RmsNorm(_) | Op::LayerNorm(_) => {
                inputs.iter().skip(1).all(|row| *row == row_of_a).then_some(a)
            }
            Op::Sinusoidal { tokens, width, .. } => shape(*tokens, *width),
            Op::Frequencies { width, .. } => shape(1, width / 2),
            Op::ScaledFrequencies(scaling) => {
                let is_wide = !matches!(scaling, RopeScaling::Dynamic { .. }) || a.cols > 1;
                (all(row_of_a) && is_wide).then_some(a)
            }
            Op::Rotary(_) => {
                b.filter(|f| f.rows == 1 && f.cols.checked_mul(2).is_some_and(|w| w <= a.cols)).map(|_| a)
            }
            Op::Alibi(_, Places { queries, keys, .. }) => shape(*queries, *keys),
            Op::BucketBias { column, buckets, places } => {
                let fits = *column < a.cols && buckets.count == a.rows;
                fits.then_some(Shape { rows: places.queries, cols: places.keys })
            }
            Op::SingularVectors { side, rank } => {
                let rows = if *side == Side::Left { a.rows } else { a.cols };
                (*rank <= a.rows.min(a.cols)).then_some(Shape { rows, cols: *rank })
            }
            Op::SingularValues => shape(1, a.rows.min(a.cols)),
            Op::Diagonal => (a.rows == 1).then_some(Shape { rows: a.cols, cols: a.cols }),
            Op::Summary(_) => shape(1, 1),
        }
    }

    fn out_of_range(&self, what: &str, range: &str) -> Result<()> {
        Err(Error::new(format!("the {what} of `{}` is out of its range: {range}", self.name())))
    }

    /// Checks the parameters that no shape limits, from a file, a recipe or a page.
    ///
    /// # Errors
    /// If one is out of its range.
    #[allow(clippy::wildcard_enum_match_arm, reason = "most ops have no such parameter")]
    pub(super) fn check_parameters(&self) -> Result<()> {
        let out_of_range = |what: &str, range: &str| self.out_of_range(what, range);
        let is_position = |first: usize| (first as u64) < MOST;
        match self {
            Op::Mask(Mask { window: Some(0), .. }) | Op::MaskPattern(Mask { window: Some(0), .. }) => {
                out_of_range("window", "a window of 1 shows the query's own position, and none is smaller")
            }
            Op::EveryNthColumn { step, .. } if !is_position(*step) => out_of_range("step", "at most 2⁵³"),
            Op::Sinusoidal { first, .. } if !is_position(*first) => out_of_range("first", "at most 2⁵³"),
            Op::Rotary(rotation) if !is_position(rotation.first) => out_of_range("first", "at most 2⁵³"),
            Op::ScaledFrequencies(scaling) => scaling.check(),
            Op::Alibi(head, _) if head.head == 0 || head.head > head.heads || head.heads > MOST_HEADS => {
                out_of_range("head", "it counts from 1 to the number of heads")
            }
            Op::Alibi(_, places) | Op::BucketBias { places, .. }
                if places.offset.unsigned_abs() as u64 > MOST =>
            {
                out_of_range("offset", "at most 2⁵³ to either side")
            }
            Op::BucketBias { buckets, .. } => buckets.check(),
            Op::Round(decimals) | Op::Truncate(decimals) if *decimals > MOST_DECIMALS => {
                out_of_range("decimals", "from 0 to 308")
            }
            _ => Ok(()),
        }
    }
}

/// “ of 2×3 and 3×2”, where there are inputs.
fn of(inputs: &[Shape]) -> String {
    if inputs.is_empty() {
        return String::new();
    }
    format!(" of {}", all_of(&inputs.iter().map(Shape::to_string).collect::<Vec<_>>()))
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
