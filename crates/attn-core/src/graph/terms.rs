//! The terms of a cell: the expression that each op computes it by.
//!
//! A new op needs an arm here, or this does not compile.
#![deny(clippy::wildcard_enum_match_arm)]

mod attention;
mod functions;
mod positions;
mod vectors;

use super::op::Op;
use super::op_parameters::{Factor, GeluForm, Side, Statistic};
use super::{CellId, Graph, NodeId, Term};
use crate::attention::{Axis, WeightLayout, is_hidden_by};
use crate::matrix::same_number;

/// Evaluating the terms gives the recorded bits, so they follow `attention` in the order of computing, but never call it.
impl Graph {
    /// The expression that a cell of a node came from, in cells of the nodes it reads.
    pub fn terms(&self, cell: CellId) -> Term {
        let node = &self[cell.node];
        InputReader { graph: self, inputs: &node.inputs, of: cell }.terms(&node.op, cell.row, cell.col)
    }
}

/// Reads cells of a node's inputs.
struct InputReader<'a> {
    graph: &'a Graph,
    inputs: &'a [NodeId],
    /// The cell whose terms are asked for.
    of: CellId,
}

impl InputReader<'_> {
    fn terms(&self, op: &Op, i: usize, j: usize) -> Term {
        match op {
            Op::Given(origin) => self.leaf(origin.to_string()),
            Op::Product => {
                Term::Sum((0..self.width(0)).map(|k| times(self.cell(0, i, k), self.cell(1, k, j))).collect())
            }
            Op::ProductTransposed => self.dot(i, j),
            Op::TransposedProduct => Term::Sum(
                (0..self.height(0)).map(|k| times(self.cell(0, k, i), self.cell(1, k, j))).collect(),
            ),
            Op::Linear(layout) => self.linear(*layout, i, j),
            Op::TokenRows(ids) => self.cell(0, ids[i], j),
            Op::Ones { .. } => Term::Number(1.0),
            Op::Transpose => self.cell(0, j, i),
            Op::Add => self.sum(i, j),
            Op::Subtract => minus(self.cell(0, i, j), self.cell(1, i, j)),
            Op::Change => self.change(i, j),
            Op::Multiply => times(self.cell(0, i, j), self.cell(1, i, j)),
            Op::Divide => over(self.cell(0, i, j), self.cell(1, 0, 0)),
            Op::Times => times(self.cell(0, i, j), self.cell(1, 0, 0)),
            Op::Quotient => over(self.cell(0, i, j), self.cell(1, i, j)),
            Op::OnePlus => Term::Sum(vec![Term::Number(1.0), self.cell(0, i, j)]),
            Op::Scale(factor) => times(self.cell(0, i, j), factor_term(*factor)),
            Op::Temperature(temperature) => over(self.cell(0, i, j), Term::Number(*temperature)),
            Op::SoftCap(cap) => self.soft_cap(*cap, i, j),
            Op::Mask(mask) => self.masked(mask, i, j),
            Op::MaskPattern(mask) => self.pattern(mask, i, j),
            Op::MinusMax(axis) => self.minus_max(*axis, i, j),
            Op::Exponential(base) => Term::Power(*base, Box::new(self.cell(0, i, j))),
            Op::Logarithm => Term::Logarithm(Box::new(self.cell(0, i, j))),
            Op::Root => root(self.cell(0, i, j)),
            Op::NormalShare => self.normal_share(i, j),
            Op::SingleRange => self.single_range(i, j),
            Op::Sums(axis) => Term::Sum(self.along(*axis, i, j)),
            Op::BlockSums { rows, cols } => self.block_sum([i, j], [*rows, *cols]),
            Op::Max(axis) => Term::Max(self.along(*axis, i, j)),
            Op::DivideBySum(axis) => over(self.cell(0, i, j), Term::Sum(self.along(*axis, i, j))),
            Op::Softmax(axis, base) => self.softmax(*axis, |term| Term::Power(*base, Box::new(term)), i, j),
            Op::UnguardedSoftmax(axis, base) => self.unguarded_softmax(*axis, *base, i, j),
            Op::NegativeLogSoftmax => self.negative_log_softmax(i, j),
            Op::SoftmaxWithSink { head } => self.softmax_with_sink(*head, i, j),
            Op::Guard => self.guarded(i, j),
            Op::EveryNthColumn { start, step } => self.cell(0, i, start + j * step),
            Op::Reshape { cols, .. } => {
                let place = i * cols + j;
                self.cell(0, place / self.width(0), place % self.width(0))
            }
            Op::Columns { start, .. } => self.cell(0, i, start + j),
            Op::RepeatColumns(times) => self.cell(0, i, j / times),
            Op::Rows { start, .. } => self.cell(0, start + i, j),
            Op::ReverseRows => self.cell(0, self.height(0) - 1 - i, j),
            Op::SortRows(order) => self.cell(0, i, self.column_of_rank(*order, i, j)),
            Op::Concatenate => self.concatenated(i, j),
            Op::Stack(_) => self.stacked(i, j),
            Op::Relu => self.relu(i, j),
            Op::EluPlusOne => self.elu_plus_one(i, j),
            Op::Sigmoid => over(Term::Number(1.0), self.one_and_power(i, j)),
            Op::MinusMean => self.minus_mean(i, j),
            Op::Tanh => Term::Tanh(Box::new(self.cell(0, i, j))),
            Op::Silu => self.silu(i, j),
            Op::Gelu(GeluForm::Erf) => self.gelu(i, j),
            Op::Gelu(GeluForm::Tanh) => self.gelu_tanh(i, j),
            Op::RmsNorm(epsilon) => self.rms_norm(*epsilon, i, j),
            Op::LayerNorm(epsilon) => self.layer_norm(*epsilon, i, j),
            Op::Cosine => self.cosine(i, j),
            Op::Euclidean => self.euclidean(i, j),
            Op::UnitRows => self.unit(i, j),
            Op::Sinusoidal { first, width, .. } => positions::sinusoidal(*width, first + i, j),
            Op::Frequencies { width, base } => positions::frequency(*width, *base, j),
            Op::ScaledFrequencies(scaling) => self.scaled_frequency(scaling, j),
            Op::Rotary(rotation) => self.rotary(rotation, i, j),
            Op::Alibi(head, places) => positions::alibi(*head, *places, i, j),
            Op::BucketBias { column, buckets, places } => {
                let bucket = buckets.bucket(places.distance(i, j));
                chosen(self.cell(0, bucket, *column), "the distance is in this bucket")
            }
            Op::SingularVectors { side, rank } => self.leaf(singular_vector(*side, *rank)),
            Op::SingularValues => self.leaf("a singular value; W = U Σ Vᵀ is checked".into()),
            Op::Diagonal => self.diagonal(i, j),
            Op::Summary(statistic) => self.summary(*statistic),
            Op::Round(decimals) => Term::Rounded(Box::new(self.cell(0, i, j)), *decimals),
            Op::Truncate(decimals) => Term::Truncated(Box::new(self.cell(0, i, j)), *decimals),
            Op::Fused(_) => self.leaf("computed block by block, without storing the steps".into()),
        }
    }

    /// The recorded value with a phrase, for a number that is not derived.
    fn leaf(&self, phrase: String) -> Term {
        Term::Leaf(Term::Cell(self.of).evaluate(self.graph), phrase)
    }

    fn cell(&self, input: usize, row: usize, col: usize) -> Term {
        Term::Cell(CellId { node: self.inputs[input], row, col })
    }

    fn value(&self, input: usize, row: usize, col: usize) -> f64 {
        self.cell(input, row, col).evaluate(self.graph)
    }

    fn width(&self, input: usize) -> usize {
        self.graph[self.inputs[input]].shape().cols
    }

    fn height(&self, input: usize) -> usize {
        self.graph[self.inputs[input]].shape().rows
    }

    fn sum(&self, i: usize, j: usize) -> Term {
        if self.inputs.len() == 2 && is_hidden_by(self.value(0, i, j), self.value(1, i, j)) {
            return chosen(self.cell(1, i, j), "−∞ hides the score");
        }
        Term::Sum((0..self.inputs.len()).map(|input| self.cell(input, i, j)).collect())
    }

    fn change(&self, i: usize, j: usize) -> Term {
        if same_number(self.value(0, i, j), self.value(1, i, j)) {
            chosen(Term::Number(0.0), "both are the same")
        } else {
            chosen(minus(self.cell(1, i, j), self.cell(0, i, j)), "it has moved")
        }
    }

    /// The cells that share a row (or a column, or the matrix) with (i, j).
    fn along(&self, axis: Axis, i: usize, j: usize) -> Vec<Term> {
        self.places(axis, i, j).map(|(row, col)| self.cell(0, row, col)).collect()
    }

    /// The places of those cells, in the order in which they are summed.
    fn places(&self, axis: Axis, i: usize, j: usize) -> impl Iterator<Item = (usize, usize)> {
        let (rows, cols) = match axis {
            Axis::Rows => (i..i + 1, 0..self.width(0)),
            Axis::Columns => (0..self.height(0), j..j + 1),
            Axis::Whole => (0..self.height(0), 0..self.width(0)),
        };
        rows.flat_map(move |row| cols.clone().map(move |col| (row, col)))
    }

    fn block_sum(&self, [i, j]: [usize; 2], [rows, cols]: [usize; 2]) -> Term {
        let rows = i * rows..(i + 1).saturating_mul(rows).min(self.height(0));
        let cols = j * cols..(j + 1).saturating_mul(cols).min(self.width(0));
        Term::Sum(rows.flat_map(|k| cols.clone().map(move |l| self.cell(0, k, l))).collect())
    }

    fn dot(&self, i: usize, j: usize) -> Term {
        Term::Sum((0..self.width(0)).map(|k| times(self.cell(0, i, k), self.cell(1, j, k))).collect())
    }

    fn concatenated(&self, i: usize, j: usize) -> Term {
        let mut left = j;
        for input in 0..self.inputs.len() {
            if left < self.width(input) {
                return self.cell(input, i, left);
            }
            left -= self.width(input);
        }
        unreachable!("a concatenation is as wide as its parts")
    }

    /// The products of a linear layer, and its bias last.
    fn linear(&self, layout: WeightLayout, i: usize, j: usize) -> Term {
        let product = |k: usize| {
            let (row, col) = match layout {
                WeightLayout::InOut => (k, j),
                WeightLayout::OutIn => (j, k),
            };
            times(self.cell(0, i, k), self.cell(1, row, col))
        };
        let bias = (self.inputs.len() > 2).then(|| self.cell(2, 0, j));
        Term::Sum((0..self.width(0)).map(product).chain(bias).collect())
    }

    fn stacked(&self, i: usize, j: usize) -> Term {
        let mut below = i;
        for input in 0..self.inputs.len() {
            if below < self.height(input) {
                return self.cell(input, below, j);
            }
            below -= self.height(input);
        }
        unreachable!("a stack is as high as its parts")
    }

    fn diagonal(&self, i: usize, j: usize) -> Term {
        if i == j {
            chosen(self.cell(0, 0, j), "it is on the diagonal")
        } else {
            chosen(Term::Number(0.0), "it is not on the diagonal")
        }
    }

    fn summary(&self, statistic: Statistic) -> Term {
        let (rows, cols) = (self.height(0), self.width(0));
        let all = || (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j)));
        let count = || Term::Number((rows * cols) as f64);
        match statistic {
            Statistic::Mean => over(Term::Sum(all().map(|(i, j)| self.cell(0, i, j)).collect()), count()),
            Statistic::RootMeanSquare => {
                let square = |(i, j)| times(self.cell(0, i, j), self.cell(0, i, j));
                root(over(Term::Sum(all().map(square).collect()), count()))
            }
            Statistic::Max => Term::Max(all().map(|(i, j)| self.cell(0, i, j)).collect()),
            Statistic::MaxSize => {
                Term::Max(all().map(|(i, j)| Term::Size(Box::new(self.cell(0, i, j)))).collect())
            }
        }
    }
}

fn times(a: Term, b: Term) -> Term {
    Term::Product(vec![a, b])
}

fn minus(a: Term, b: Term) -> Term {
    Term::Difference(Box::new(a), Box::new(b))
}

fn over(a: Term, b: Term) -> Term {
    Term::Quotient(Box::new(a), Box::new(b))
}

fn root(term: Term) -> Term {
    Term::Root(Box::new(term))
}

fn chosen(taken: Term, because: &'static str) -> Term {
    Term::Choice { taken: Box::new(taken), because }
}

fn factor_term(factor: Factor) -> Term {
    match factor {
        Factor::Number(number) => Term::Number(number),
        Factor::InverseRoot(width) => over(Term::Number(1.0), root(Term::Number(width as f64))),
        Factor::Inverse(width) => over(Term::Number(1.0), Term::Number(width as f64)),
        Factor::Root(width) => root(Term::Number(width as f64)),
    }
}

fn singular_vector(side: Side, rank: usize) -> String {
    let side = match side {
        Side::Left => "left",
        Side::Right => "right",
    };
    format!("of the first {rank} {side} singular vectors; W = U Σ Vᵀ is checked")
}
