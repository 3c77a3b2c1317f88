//! The terms of a cell: the expression that each op computes it by.
//!
//! A new op needs an arm here, or this does not compile.
#![deny(clippy::wildcard_enum_match_arm)]

use std::cmp::Ordering;
use std::f64::consts::PI;

use crate::attention::{
    Axis, Base, GELU_CUBIC, HeadOf, HidingRule, Mask, MatrixRule, Order, Places, RopeScaling, Rotation,
    Visibility, WeightLayout, dynamic_ratio, is_hidden_by, range_factor,
};
use crate::matrix::same_number;

use super::op::{Factor, GeluForm, Op, Side, Statistic};
use super::{CellId, Graph, NodeId, Term};

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
            Op::MaskPattern(mask) => {
                self.unless_hidden(mask, (i, j), Term::Number(1.0), "no rule hides the key", 0.0)
            }
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
            Op::Concatenate => {
                let (input, j) = self.part(j, Self::width);
                self.cell(input, i, j)
            }
            Op::Stack(_) => {
                let (input, i) = self.part(i, Self::height);
                self.cell(input, i, j)
            }
            Op::Relu => self.by_sign(i, j, [self.cell(0, i, j), Term::Number(0.0)]),
            Op::EluPlusOne => {
                let more = Term::Sum(vec![self.cell(0, i, j), Term::Number(1.0)]);
                self.by_sign(i, j, [more, Term::Power(Base::E, Box::new(self.cell(0, i, j)))])
            }
            Op::Sigmoid => over(Term::Number(1.0), self.one_and_power(i, j)),
            Op::MinusMean => self.minus_mean(i, j),
            Op::Tanh => Term::Tanh(Box::new(self.cell(0, i, j))),
            Op::Silu => self.with_limit_0(i, j, || over(self.cell(0, i, j), self.one_and_power(i, j))),
            Op::Gelu(GeluForm::Erf) => self.gelu(i, j),
            Op::Gelu(GeluForm::Tanh) => self.gelu_tanh(i, j),
            Op::RmsNorm(epsilon) => self.rms_norm(*epsilon, i, j),
            Op::LayerNorm(epsilon) => self.layer_norm(*epsilon, i, j),
            Op::Cosine => self.cosine(i, j),
            Op::Euclidean => self.euclidean(i, j),
            Op::UnitRows => self.unit(i, j),
            Op::Sinusoidal { first, width, .. } => sinusoidal(*width, first + i, j),
            Op::Frequencies { width, base } => frequency(*width, *base, j),
            Op::ScaledFrequencies(scaling) => self.scaled_frequency(scaling, j),
            Op::Rotary(rotation) => self.rotary(rotation, i, j),
            Op::Alibi(head, places) => alibi(*head, *places, i, j),
            Op::BucketBias { column, buckets, places } => {
                let bucket = buckets.bucket(places.distance(i, j));
                chosen(self.cell(0, bucket, *column), "the distance is in this bucket")
            }
            Op::SingularVectors { side, rank } => {
                let side = if *side == Side::Left { "left" } else { "right" };
                self.leaf(format!("of the first {rank} {side} singular vectors; W = U Σ Vᵀ is checked"))
            }
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

    /// The input that has line `at` of all inputs one after the other, and its own line there.
    fn part(&self, mut at: usize, length: fn(&Self, usize) -> usize) -> (usize, usize) {
        for input in 0..self.inputs.len() {
            if at < length(self, input) {
                return (input, at);
            }
            at -= length(self, input);
        }
        unreachable!("what is put together is as long as its parts")
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

    fn diagonal(&self, i: usize, j: usize) -> Term {
        if i == j {
            chosen(self.cell(0, 0, j), "it is on the diagonal")
        } else {
            chosen(Term::Number(0.0), "it is not on the diagonal")
        }
    }

    fn summary(&self, statistic: Statistic) -> Term {
        let all = self.along(Axis::Whole, 0, 0);
        let count = Term::Number(all.len() as f64);
        match statistic {
            Statistic::Mean => over(Term::Sum(all), count),
            Statistic::RootMeanSquare => root(over(sum_of_squares(&all), count)),
            Statistic::Max => Term::Max(all),
            Statistic::MaxSize => Term::Max(all.into_iter().map(|cell| Term::Size(Box::new(cell))).collect()),
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

// The terms of masks and of the softmax.

impl InputReader<'_> {
    fn masked(&self, mask: &Mask, i: usize, j: usize) -> Term {
        if mask.matrix == Some(MatrixRule::Add) && !mask.inverted && self.inputs.len() > 1 {
            let sum = Term::Sum(vec![self.cell(0, i, j), self.cell(1, i, j)]);
            return self.unless_hidden(mask, (i, j), sum, "the mask is added", f64::NEG_INFINITY);
        }
        self.unless_hidden(mask, (i, j), self.cell(0, i, j), "no rule hides the key", f64::NEG_INFINITY)
    }

    /// The term where the mask shows the key, for this reason, and a number where it hides it.
    fn unless_hidden(
        &self,
        mask: &Mask,
        at: (usize, usize),
        term: Term,
        why: &'static str,
        hidden: f64,
    ) -> Term {
        let given = (self.inputs.len() > 1).then(|| self.value(1, at.0, at.1));
        match mask.visibility(at, (self.height(0), self.width(0)), given) {
            Visibility::Visible => chosen(term, why),
            Visibility::Hidden(rule) => chosen(Term::Number(hidden), why_hidden(rule)),
        }
    }

    fn minus_max(&self, axis: Axis, i: usize, j: usize) -> Term {
        let cell = self.cell(0, i, j);
        if self.value(0, i, j) == f64::NEG_INFINITY {
            return chosen(cell, "a hidden score stays −∞");
        }
        if self.is_alone(axis, i, j) {
            return chosen(Term::Number(0.0), "it is the only score that is not hidden");
        }
        minus(cell, Term::Max(self.along(axis, i, j)))
    }

    fn guarded(&self, i: usize, j: usize) -> Term {
        if (0..self.width(1)).all(|key| self.value(1, i, key) == f64::NEG_INFINITY) {
            chosen(Term::Number(0.0), "it may attend to nothing")
        } else {
            chosen(self.cell(0, i, j), "it may attend to something")
        }
    }

    fn single_range(&self, i: usize, j: usize) -> Term {
        let cell = self.cell(0, i, j);
        match self.value(0, i, j) {
            x if x > f64::from(f32::MAX) => {
                chosen(Term::Number(f64::INFINITY), "single precision ends at 3.4e38")
            }
            x if x < f64::from(f32::MIN) => {
                chosen(Term::Number(f64::NEG_INFINITY), "single precision ends at −3.4e38")
            }
            _ => cell,
        }
    }

    /// Returns true if a cell that has left the range is the only visible one of its row.
    fn is_alone(&self, axis: Axis, i: usize, j: usize) -> bool {
        let shown = |cell: &Term| cell.evaluate(self.graph) != f64::NEG_INFINITY;
        self.value(0, i, j) == f64::INFINITY
            && self.along(axis, i, j).iter().filter(|cell| shown(cell)).count() == 1
    }

    fn softmax(&self, axis: Axis, power: impl Fn(Term) -> Term, i: usize, j: usize) -> Term {
        let is_hidden = |cell: &Term| cell.evaluate(self.graph) == f64::NEG_INFINITY;
        if self.along(axis, i, j).iter().all(is_hidden) {
            return chosen(Term::Number(0.0), "it may attend to nothing");
        }
        let less_max = self.less_max(axis, i, j);
        self.softmax_over(axis, i, j, |cell| power(less_max(cell)))
    }

    /// What makes a cell that shares its row (or column) with (i, j) that cell minus the max m.
    fn less_max(&self, axis: Axis, i: usize, j: usize) -> impl Fn(Term) -> Term {
        let alone = self.places(axis, i, j).any(|(i, j)| self.is_alone(axis, i, j));
        move |cell| {
            if cell.evaluate(self.graph) == f64::NEG_INFINITY {
                chosen(cell, "a hidden score stays −∞")
            } else if alone {
                chosen(Term::Number(0.0), "it is the only score that is not hidden")
            } else {
                minus(cell, Term::Named("m"))
            }
        }
    }

    fn negative_log_softmax(&self, i: usize, j: usize) -> Term {
        if self.value(0, i, j) == f64::NEG_INFINITY {
            return chosen(Term::Number(f64::INFINITY), "a hidden score has no share");
        }
        let cells = self.along(Axis::Rows, i, j);
        let less_max = self.less_max(Axis::Rows, i, j);
        let power = |cell| Term::Power(Base::E, Box::new(less_max(cell)));
        let logarithm = Term::Logarithm(Box::new(Term::Sum(cells.iter().cloned().map(power).collect())));
        let within = minus(logarithm, less_max(self.cell(0, i, j)));
        Term::With { name: "m", is: Box::new(Term::Max(cells)), within: Box::new(within) }
    }

    fn softmax_with_sink(&self, head: usize, i: usize, j: usize) -> Term {
        let is_hidden = |cell: &Term| cell.evaluate(self.graph) == f64::NEG_INFINITY;
        let all = || self.along(Axis::Rows, i, j).into_iter().chain([self.cell(1, 0, head)]);
        if all().all(|cell| is_hidden(&cell)) {
            return chosen(Term::Number(0.0), "it may attend to nothing");
        }
        let power = |cell: Term| {
            let exponent = if is_hidden(&cell) {
                chosen(cell, "a hidden score stays −∞")
            } else if cell.evaluate(self.graph) == f64::INFINITY {
                chosen(Term::Number(0.0), "it has left the range, and is the max")
            } else {
                minus(cell, Term::Named("m"))
            };
            Term::Power(Base::E, Box::new(exponent))
        };
        let within = over(power(self.cell(0, i, j)), Term::Sum(all().map(power).collect()));
        Term::With { name: "m", is: Box::new(Term::Max(all().collect())), within: Box::new(within) }
    }

    fn unguarded_softmax(&self, axis: Axis, base: Base, i: usize, j: usize) -> Term {
        self.softmax_over(axis, i, j, |cell| Term::Power(base, Box::new(minus(cell, Term::Named("m")))))
    }

    /// The power of a cell over the sum of all powers, in which m is the max of the cells.
    fn softmax_over(&self, axis: Axis, i: usize, j: usize, power: impl Fn(Term) -> Term) -> Term {
        let sum = Term::Sum(self.along(axis, i, j).into_iter().map(&power).collect());
        let within = Box::new(over(power(self.cell(0, i, j)), sum));
        Term::With { name: "m", is: Box::new(Term::Max(self.along(axis, i, j))), within }
    }
}

fn why_hidden(rule: HidingRule) -> &'static str {
    match rule {
        HidingRule::Future => "the key comes after the query",
        HidingRule::OutsideWindow => "the key lies outside the window",
        HidingRule::ByMatrix => "the mask matrix hides it",
        HidingRule::Own => "a token may not see itself",
        HidingRule::Inverted => "the rules show the key, and the mask is inverted",
    }
}

// The terms of functions of one number.

impl InputReader<'_> {
    /// The first term where the cell is positive, and the other one where it is not.
    fn by_sign(&self, i: usize, j: usize, [positive, other]: [Term; 2]) -> Term {
        if self.value(0, i, j) > 0.0 {
            chosen(positive, "it is positive")
        } else {
            chosen(other, "it is not positive")
        }
    }

    /// 1 + e⁻ᵃ
    fn one_and_power(&self, i: usize, j: usize) -> Term {
        let negative = times(Term::Number(-1.0), self.cell(0, i, j));
        let power = Term::Power(Base::E, Box::new(negative));
        Term::Sum(vec![Term::Number(1.0), power])
    }

    fn soft_cap(&self, cap: f64, i: usize, j: usize) -> Term {
        let share = over(self.cell(0, i, j), Term::Number(cap));
        times(Term::Number(cap), Term::Tanh(Box::new(share)))
    }

    fn normal_share(&self, i: usize, j: usize) -> Term {
        let share = over(self.cell(0, i, j), root(Term::Number(2.0)));
        let sum = Term::Sum(vec![Term::Number(1.0), Term::Erf(Box::new(share))]);
        times(Term::Number(0.5), sum)
    }

    fn gelu(&self, i: usize, j: usize) -> Term {
        let share = over(self.cell(0, i, j), root(Term::Number(2.0)));
        self.half_times_one_and(Term::Erf(Box::new(share)), i, j)
    }

    fn gelu_tanh(&self, i: usize, j: usize) -> Term {
        let cell = || self.cell(0, i, j);
        let factor = root(over(Term::Number(2.0), Term::Number(std::f64::consts::PI)));
        let cubic = Term::Product(vec![Term::Number(GELU_CUBIC), cell(), cell(), cell()]);
        let angle = times(factor, Term::Sum(vec![cell(), cubic]));
        self.half_times_one_and(Term::Tanh(Box::new(angle)), i, j)
    }

    /// `½ · a · (1 + share)`
    fn half_times_one_and(&self, share: Term, i: usize, j: usize) -> Term {
        self.with_limit_0(i, j, || {
            let sum = Term::Sum(vec![Term::Number(1.0), share]);
            Term::Product(vec![Term::Number(0.5), self.cell(0, i, j), sum])
        })
    }

    /// The term, and 0 where the cell is −∞.
    fn with_limit_0(&self, i: usize, j: usize, term: impl FnOnce() -> Term) -> Term {
        if self.value(0, i, j) == f64::NEG_INFINITY {
            return chosen(Term::Number(0.0), "this is its limit at −∞");
        }
        term()
    }
}

// The terms of positions: sinusoids, rotations, and biases by distance.

/// `sin` or `cos` of `position / 10000^(2p/width)`.
fn sinusoidal(width: usize, position: usize, j: usize) -> Term {
    let angle = Box::new(over(Term::Number(position as f64), power_of_pair(10_000.0, j / 2, width as f64)));
    if j.is_multiple_of(2) { Term::Sine(angle) } else { Term::Cosine(angle) }
}

/// `1 / base^(2p/width)`.
fn frequency(width: usize, base: f64, pair: usize) -> Term {
    over(Term::Number(1.0), power_of_pair(base, pair, width as f64))
}

/// `base^(2p/width)`.
fn power_of_pair(base: f64, pair: usize, width: f64) -> Term {
    let exponent = over(Term::Number(2.0 * pair as f64), Term::Number(width));
    Term::Power(Base::Number(base), Box::new(exponent))
}

/// `−m · distance`, with the slope m as a power of 2.
fn alibi(head: HeadOf, places: Places, i: usize, j: usize) -> Term {
    let distance = places.distance(i, j).unsigned_abs();
    if distance == 0 {
        return chosen(Term::Number(0.0), "the key is at the position of the query");
    }
    let (above, below) = head.slope_exponent();
    let exponent = over(Term::Number(-(above as f64)), Term::Number(below as f64));
    let slope = Term::Power(Base::Number(2.0), Box::new(exponent));
    Term::Product(vec![Term::Number(-1.0), slope, Term::Number(distance as f64)])
}

impl InputReader<'_> {
    fn rotary(&self, rotation: &Rotation, i: usize, j: usize) -> Term {
        let pairs = self.width(1);
        if j >= 2 * pairs {
            return chosen(self.cell(0, i, j), "this column is not rotated");
        }
        let (pair, partner, is_first) = rotation.pairing.partner(j, pairs);
        let angle = Box::new(times(Term::Number((rotation.first + i) as f64), self.cell(1, 0, pair)));
        let of_size = |term: Term| match rotation.magnitude {
            1.0 => term,
            magnitude => times(term, Term::Number(magnitude)),
        };
        let own = times(self.cell(0, i, j), of_size(Term::Cosine(angle.clone())));
        let other = times(self.cell(0, i, partner), of_size(Term::Sine(angle)));
        if is_first { minus(own, other) } else { Term::Sum(vec![own, other]) }
    }

    fn scaled_frequency(&self, scaling: &RopeScaling, pair: usize) -> Term {
        let (own, width) = (|| self.cell(0, 0, pair), 2 * self.width(0));
        let divided = |factor: f64| over(own(), Term::Number(factor));
        match *scaling {
            RopeScaling::Linear { factor } => divided(factor),
            RopeScaling::Dynamic { original, length, .. } if length as f64 <= original => {
                chosen(own(), "the text is not longer than the original context")
            }
            RopeScaling::Dynamic { factor, original, length } => {
                let ratio = dynamic_ratio(factor, original, length);
                over(own(), power_of_pair(ratio, pair, width as f64 - 2.0))
            }
            RopeScaling::Llama3 { factor, low, high, original } => {
                let wavelength = 2.0 * PI / self.value(0, 0, pair);
                if wavelength < original / high {
                    chosen(own(), "its wavelength is short: it is kept")
                } else if wavelength > original / low {
                    chosen(divided(factor), "its wavelength is long: it is divided")
                } else {
                    let wavelength = over(Term::Number(2.0 * PI), own());
                    let turns = over(Term::Number(original), wavelength);
                    let share = minus(turns, Term::Number(low));
                    let share = over(share, minus(Term::Number(high), Term::Number(low)));
                    let rest = minus(Term::Number(1.0), Term::Named("s"));
                    let sum = vec![times(rest, divided(factor)), times(Term::Named("s"), own())];
                    Term::With { name: "s", is: Box::new(share), within: Box::new(Term::Sum(sum)) }
                }
            }
            RopeScaling::Yarn(yarn) => {
                let [low, high] = yarn.ramp(width);
                let ramp = (pair as f64 - low) / (high - low);
                if ramp <= 0.0 {
                    chosen(own(), "the pair is fast: it is kept")
                } else if ramp >= 1.0 {
                    chosen(divided(yarn.factor), "the pair is slow: it is divided")
                } else {
                    let above = minus(Term::Number(pair as f64), Term::Number(low));
                    let ramp = over(above, minus(Term::Number(high), Term::Number(low)));
                    let rest = minus(Term::Number(1.0), Term::Named("r"));
                    let sum = vec![times(divided(yarn.factor), Term::Named("r")), times(own(), rest)];
                    Term::With { name: "r", is: Box::new(ramp), within: Box::new(Term::Sum(sum)) }
                }
            }
            RopeScaling::LongRope { .. } => over(own(), self.cell(1, 0, pair)),
        }
    }
}

// The terms of ops on the lengths and angles of rows.

impl InputReader<'_> {
    /// The column of the number that is the j-th of row i in this order; of equal numbers the left one is the smaller.
    fn column_of_rank(&self, order: Order, i: usize, j: usize) -> usize {
        let row: Vec<f64> = (0..self.width(0)).map(|k| self.value(0, i, k)).collect();
        let by_size = |a: &usize, b: &usize| {
            let numbers = row[*a].partial_cmp(&row[*b]).unwrap_or(Ordering::Equal);
            row[*a].is_nan().cmp(&row[*b].is_nan()).then(numbers).then(a.cmp(b))
        };
        let mut columns: Vec<usize> = (0..row.len()).collect();
        columns.sort_by(by_size);
        columns[if order == Order::Ascending { j } else { row.len() - 1 - j }]
    }

    fn minus_mean(&self, i: usize, j: usize) -> Term {
        let row = Term::Sum((0..self.width(0)).map(|k| self.cell(0, i, k)).collect());
        minus(self.cell(0, i, j), over(row, Term::Number(self.width(0) as f64)))
    }

    /// The cells of a row, brought into the range in which their squares are numbers.
    fn in_range(&self, input: usize, i: usize) -> Vec<Term> {
        let cells: Vec<Term> = (0..self.width(input)).map(|k| self.cell(input, i, k)).collect();
        let factor = range_factor(cells.iter().map(|cell| cell.evaluate(self.graph)));
        cells.into_iter().map(|cell| scaled(cell, factor)).collect()
    }

    fn rms_norm(&self, epsilon: f64, i: usize, j: usize) -> Term {
        let row = (0..self.width(0)).map(|k| self.cell(0, i, k)).collect();
        self.gained(self.over_root_mean_square(row, j, epsilon), j)
    }

    fn layer_norm(&self, epsilon: f64, i: usize, j: usize) -> Term {
        let row: Vec<Term> = (0..self.width(0)).map(|k| self.cell(0, i, k)).collect();
        let mean = over(Term::Sum(row.clone()), Term::Number(self.width(0) as f64));
        let centred = row.into_iter().map(|cell| minus(cell, Term::Named("m"))).collect();
        let normed = self.gained(self.over_root_mean_square(centred, j, epsilon), j);
        let within = match self.inputs.len() {
            3 => Term::Sum(vec![normed, self.cell(2, 0, j)]),
            _ => normed,
        };
        Term::With { name: "m", is: Box::new(mean), within: Box::new(within) }
    }

    /// Part j of a row over the root of the mean of all their squares.
    fn over_root_mean_square(&self, row: Vec<Term>, j: usize, epsilon: f64) -> Term {
        let mean = over(sum_of_squares(&row), Term::Number(row.len() as f64));
        over(row[j].clone(), root(Term::Sum(vec![mean, Term::Number(epsilon)])))
    }

    /// The term times the gain of column j, where there is one.
    fn gained(&self, term: Term, j: usize) -> Term {
        if self.inputs.len() > 1 { times(term, self.cell(1, 0, j)) } else { term }
    }

    fn cosine(&self, i: usize, j: usize) -> Term {
        let (a, b) = (self.in_range(0, i), self.in_range(1, j));
        let (length_a, length_b) = (sum_of_squares(&a), sum_of_squares(&b));
        if length_a.evaluate(self.graph) == 0.0 || length_b.evaluate(self.graph) == 0.0 {
            return chosen(Term::Number(0.0), "a row of zeros has no direction");
        }
        let dot = Term::Sum(a.into_iter().zip(b).map(|(a, b)| times(a, b)).collect());
        over(dot, times(root(length_a), root(length_b)))
    }

    fn euclidean(&self, i: usize, j: usize) -> Term {
        let difference = |k| minus(self.cell(0, i, k), self.cell(1, j, k));
        let differences: Vec<Term> = (0..self.width(0)).map(difference).collect();
        let factor = range_factor(differences.iter().map(|difference| difference.evaluate(self.graph)));
        let differences: Vec<Term> = differences.into_iter().map(|term| scaled(term, factor)).collect();
        let length = root(sum_of_squares(&differences));
        if factor == 1.0 { length } else { over(length, Term::Number(factor)) }
    }

    fn unit(&self, i: usize, j: usize) -> Term {
        let row = self.in_range(0, i);
        let length = sum_of_squares(&row);
        if length.evaluate(self.graph) == 0.0 {
            return chosen(Term::Number(0.0), "a row of zeros has no direction");
        }
        over(row[j].clone(), root(length))
    }
}

fn sum_of_squares(terms: &[Term]) -> Term {
    Term::Sum(terms.iter().map(|term| times(term.clone(), term.clone())).collect())
}

fn scaled(term: Term, factor: f64) -> Term {
    if factor == 1.0 { term } else { times(term, Term::Number(factor)) }
}
