//! One rule for each op: the value of every cell, and the explanation of one, follow from it.
//!
//! A new op needs an arm here, or this does not compile.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::attention::number::{Function, Number};
use crate::attention::{self as rules, Axis, WeightLayout, block};
use crate::matrix::Shape;

use super::op::{Factor, GeluForm, Op, Statistic};

/// Who asks a rule: for all cells of the result, or for one.
pub(super) trait Request {
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
    /// The answer, where the cells of a row (of a column, of the matrix) share something: each line by its number, each cell by its place
    /// in the line.
    fn lines<L: Fn(usize) -> Self::Number>(&self, axis: Axis, line: impl Fn(usize) -> L) -> Self::Answer;
    /// The answer, where each column mixes those of the first input: `Σ_k a[i,k] · share(k, j)`, from left to right.
    fn mixed(&self, share: impl Fn(usize, usize) -> Self::Number) -> Self::Answer {
        let width = self.shape(0).cols;
        self.cells(|i, j| rules::dot(width, |k| self.at(0, i, k), |k| share(k, j)))
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
pub(super) fn line_of(axis: Axis, (i, j): (usize, usize), width: usize) -> (usize, usize) {
    match axis {
        Axis::Rows => (i, j),
        Axis::Columns => (j, i),
        Axis::Whole => (0, i * width + j),
    }
}

impl Op {
    /// What the op's rule answers; `None` for an op that is recorded and has no rule.
    pub(super) fn rule<R: Request>(&self, of: &R) -> Option<R::Answer> {
        Some(match self {
            Op::Given(_) | Op::Fused(_) | Op::SingularVectors { .. } | Op::SingularValues => return None,

            // Products and arithmetic.
            Op::Product => of.mixed(|k, j| of.at(1, k, j)),
            Op::ProductTransposed => of.mixed(|k, j| of.at(1, j, k)),
            Op::TransposedProduct => {
                let height = of.shape(0).rows;
                of.cells(|i, j| rules::dot(height, |k| of.at(0, k, i), |k| of.at(1, k, j)))
            }
            Op::Linear(layout) => linear(of, *layout),
            Op::Ones { .. } => of.cells(|_, _| Number::of(1.0)),
            Op::Add => of.cells(|i, j| rules::add(of.inputs(), |input| of.at(input, i, j))),
            Op::Subtract => of.pairs(Number::minus),
            Op::Change => of.pairs(rules::change),
            Op::Multiply => of.pairs(Number::times),
            Op::Quotient => of.pairs(Number::over),
            Op::Divide => of.each(|x| x.over(of.at(1, 0, 0))),
            Op::Times => of.each(|x| x.times(of.at(1, 0, 0))),
            Op::OnePlus => of.each(|x| Number::sum([Number::of(1.0), x])),
            Op::Scale(factor) => {
                let factor: R::Number = factor.number();
                of.each(|x| x.times(factor.clone()))
            }
            Op::Temperature(temperature) => of.each(|x| x.over(Number::of(*temperature))),

            // From scores to weights.
            Op::SoftCap(cap) => of.each(|x| rules::soft_cap(x, *cap)),
            Op::Mask(mask) => {
                let Shape { rows, cols } = of.shape(0);
                let has_matrix = of.inputs() > 1;
                of.cells(|i, j| {
                    let matrix = has_matrix.then(|| of.at(1, i, j));
                    rules::masked(mask, (i, j), (rows, cols), of.at(0, i, j), matrix)
                })
            }
            Op::MaskPattern(mask) => {
                let Shape { rows, cols } = of.shape(0);
                of.cells(|i, j| {
                    rules::visible(mask, (i, j), (rows, cols), (of.inputs() > 1).then(|| of.at(1, i, j)))
                })
            }
            Op::MinusMax(axis) => of.each_line(*axis, rules::minus_max),
            Op::Softmax(axis, base) => of.each_line(*axis, |line| rules::softmax(line, *base)),
            Op::UnguardedSoftmax(axis, base) => {
                of.each_line(*axis, |line| rules::unguarded_softmax(line, *base))
            }
            Op::NegativeLogSoftmax => of.each_line(Axis::Rows, rules::negative_log_softmax),
            Op::SoftmaxWithSink { head } => {
                of.each_line(Axis::Rows, |line| rules::softmax_with_sink(line, of.at(1, 0, *head)))
            }
            Op::DivideBySum(axis) => of.each_line(*axis, rules::divide_by_sum),
            Op::Guard => {
                let keys = of.shape(1).cols;
                of.cells(|i, j| rules::guarded(of.at(0, i, j), (0..keys).map(|key| of.at(1, i, key).value())))
            }

            // Functions of each number.
            Op::Exponential(base) => of.each(|x| x.power_of(*base)),
            Op::Logarithm => of.each(|x| x.function(Function::Logarithm)),
            Op::Root => of.each(Number::root),
            Op::Tanh => of.each(|x| x.function(Function::Tanh)),
            Op::Round(decimals) => of.each(|x| x.function(Function::Rounded(*decimals))),
            Op::Truncate(decimals) => of.each(|x| x.function(Function::Truncated(*decimals))),
            Op::NormalShare => of.each(rules::normal_share),
            Op::SingleRange => of.each(rules::single_range),
            Op::Relu => of.each(rules::relu),
            Op::EluPlusOne => of.each(rules::elu_plus_one),
            Op::Sigmoid => of.each(rules::sigmoid),
            Op::Silu => of.each(rules::silu),
            Op::Gelu(GeluForm::Erf) => of.each(rules::gelu),
            Op::Gelu(GeluForm::Tanh) => of.each(rules::gelu_tanh),

            // One number about many.
            Op::Sums(axis) => of.cells(|i, j| {
                let (line, _) = line_of(*axis, (i, j), 0);
                Number::sum(of.places(*axis, line).map(|(i, j)| of.at(0, i, j)))
            }),
            Op::Max(axis) => of.cells(|i, j| {
                let (line, _) = line_of(*axis, (i, j), 0);
                Number::max(of.places(*axis, line).map(|(i, j)| of.at(0, i, j)))
            }),
            Op::BlockSums { rows, cols } => {
                let whole = of.shape(0);
                of.cells(|i, j| {
                    let columns = block(j, *cols, whole.cols);
                    let places =
                        block(i, *rows, whole.rows).flat_map(|k| columns.clone().map(move |l| (k, l)));
                    Number::sum(places.map(|(k, l)| of.at(0, k, l)))
                })
            }
            Op::Summary(statistic) => of.cells(|_, _| summary(*statistic, of.line(Axis::Whole, 0))),

            // The lengths and angles of rows, and their norms.
            Op::Cosine => {
                let b = of.kept(of.shape(1).rows, |j| rules::Direction::of(of.row(1, j)));
                of.lines(Axis::Rows, |i| {
                    let a = rules::Direction::of(of.row(0, i));
                    let b = &b;
                    move |j| rules::cosine(&a, &b(j))
                })
            }
            Op::Euclidean => {
                let width = of.shape(0).cols;
                of.cells(|i, j| rules::euclidean(width, |k| of.at(0, i, k), |k| of.at(1, j, k)))
            }
            Op::UnitRows => of.each_line(Axis::Rows, rules::unit_row),
            Op::MinusMean => of.each_line(Axis::Rows, rules::minus_mean),
            Op::RmsNorm(epsilon) => of.each_line(Axis::Rows, |row| {
                let normed = rules::rms_norm(row, *epsilon);
                move |j| gained(of, j, normed(j))
            }),
            Op::LayerNorm(epsilon) => of.each_line(Axis::Rows, |row| {
                rules::layer_norm(row, *epsilon, move |j, normed| gained(of, j, normed))
            }),

            // Positions.
            Op::Sinusoidal { first, width, .. } => of.cells(|i, j| rules::sinusoid(first + i, j, *width)),
            Op::Frequencies { width, base } => of.cells(|_, pair| rules::frequency(*width, *base, pair)),
            Op::ScaledFrequencies(scaling) => {
                let width = 2 * of.shape(0).cols;
                of.cells(|_, pair| {
                    rules::scaled_frequency(scaling, (pair, width), of.at(0, 0, pair), || of.at(1, 0, pair))
                })
            }
            Op::Rotary(rotation) => {
                let pairs = of.shape(1).cols;
                of.cells(|i, j| {
                    rules::rotated(rotation, pairs, (i, j), |j| of.at(0, i, j), |pair| of.at(1, 0, pair))
                })
            }
            Op::Alibi(head, places) => of.cells(|i, j| head.bias(places.distance(i, j))),
            Op::BucketBias { column, buckets, places } => of.cells(|i, j| {
                let bucket = buckets.bucket(places.distance(i, j));
                of.at(0, bucket, *column).because("the distance is in this bucket")
            }),

            // Cells in other places.
            Op::TokenRows(ids) => of.cells(|i, j| of.at(0, ids[i], j)),
            Op::Transpose => of.cells(|i, j| of.at(0, j, i)),
            Op::Columns { start, .. } => of.cells(|i, j| of.at(0, i, start + j)),
            Op::EveryNthColumn { start, step } => of.cells(|i, j| of.at(0, i, start + j * step)),
            Op::RepeatColumns(times) => of.cells(|i, j| of.at(0, i, j / times)),
            Op::Rows { start, .. } => of.cells(|i, j| of.at(0, start + i, j)),
            Op::ReverseRows => {
                let last = of.shape(0).rows.saturating_sub(1);
                of.cells(|i, j| of.at(0, last - i, j))
            }
            Op::SortRows(order) => of.each_line(Axis::Rows, |row| rules::sorted(row, *order)),
            Op::Concatenate => {
                let parts = Parts::new(of, |shape| shape.cols);
                of.cells(|i, j| {
                    let (input, j) = parts.place(j);
                    of.at(input, i, j)
                })
            }
            Op::Stack(_) => {
                let parts = Parts::new(of, |shape| shape.rows);
                of.cells(|i, j| {
                    let (input, i) = parts.place(i);
                    of.at(input, i, j)
                })
            }
            Op::Reshape { cols, .. } => {
                let width = of.shape(0).cols;
                of.cells(|i, j| {
                    let place = i * cols + j;
                    of.at(0, place / width, place % width)
                })
            }
            Op::Diagonal => of.cells(|i, j| rules::diagonal(i, j, |j| of.at(0, 0, j))),
        })
    }
}

impl Factor {
    /// The factor as a number of a rule: `1/√64`.
    fn number<N: Number>(self) -> N {
        let width = |width: usize| N::of(width as f64);
        match self {
            Factor::Number(number) => N::of(number),
            Factor::InverseRoot(d) => N::of(1.0).over(width(d).root()),
            Factor::Inverse(d) => N::of(1.0).over(width(d)),
            Factor::Root(d) => width(d).root(),
        }
    }

    /// The factor's value.
    pub fn value(self) -> f64 {
        self.number()
    }
}

/// A linear layer: the products from left to right, and the bias last.
fn linear<R: Request>(of: &R, layout: WeightLayout) -> R::Answer {
    let width = of.shape(0).cols;
    of.cells(|i, j| {
        let weight = |k: usize| match layout {
            WeightLayout::InOut => of.at(1, k, j),
            WeightLayout::OutIn => of.at(1, j, k),
        };
        let bias = (of.inputs() > 2).then(|| of.at(2, 0, j));
        Number::sum((0..width).map(|k| of.at(0, i, k).times(weight(k))).chain(bias))
    })
}

fn summary<N: Number>(statistic: Statistic, all: Vec<N>) -> N {
    match statistic {
        Statistic::Mean => rules::mean(&all),
        Statistic::RootMeanSquare => rules::root_mean_square(&all),
        Statistic::Max => N::max(all),
        Statistic::MaxSize => N::max(all.into_iter().map(|x| x.function(Function::Size))),
    }
}

/// A normed number times the gain of its column, plus its bias, where there are any.
fn gained<R: Request>(of: &R, j: usize, normed: R::Number) -> R::Number {
    let gained = if of.inputs() > 1 { normed.times(of.at(1, 0, j)) } else { normed };
    if of.inputs() > 2 { Number::sum([gained, of.at(2, 0, j)]) } else { gained }
}

/// Inputs one after the other.
struct Parts(Vec<usize>);

impl Parts {
    fn new<R: Request>(of: &R, length: fn(Shape) -> usize) -> Parts {
        Parts((0..of.inputs()).map(|input| length(of.shape(input))).collect())
    }

    /// The input that has line `at` of all of them, and its own line there.
    fn place(&self, mut at: usize) -> (usize, usize) {
        for (input, length) in self.0.iter().enumerate() {
            if at < *length {
                return (input, at);
            }
            at -= length;
        }
        unreachable!("what is put together is as long as its parts")
    }
}
