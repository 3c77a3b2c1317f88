//! The exact results, computed the long way: all scores, all weights, then the weighted sum of the values. Shares no code with the kernel.
//!
//! `f32` is judged in `f64` with Neumaier's sums and libm's exp, `f64` in double-double. Both promises of
//! [`attend`](crate::attend) are tested as they stand there.

use std::fmt;

use crate::Kernels;

use super::double_double::DoubleDouble;
use super::problem::{Problem, Results};
use super::promise::Promise;

/// A more exact kind of numbers.
pub trait Exact: Copy {
    fn from(x: f64) -> Self;
    fn high(self) -> f64;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn tanh(self) -> Self;
    fn sum(terms: impl Iterator<Item = Self>) -> Self;
}

impl Exact for f64 {
    fn from(x: f64) -> f64 {
        x
    }
    fn high(self) -> f64 {
        self
    }
    fn plus(self, other: f64) -> f64 {
        self + other
    }
    fn minus(self, other: f64) -> f64 {
        self - other
    }
    fn times(self, other: f64) -> f64 {
        self * other
    }
    fn over(self, other: f64) -> f64 {
        self / other
    }
    fn exp(self) -> f64 {
        libm::exp(self)
    }
    fn ln(self) -> f64 {
        libm::log(self)
    }
    fn tanh(self) -> f64 {
        libm::tanh(self)
    }
    /// Neumaier 1974: what every addition loses is summed apart.
    fn sum(terms: impl Iterator<Item = f64>) -> f64 {
        let (mut sum, mut lost) = (0.0f64, 0.0);
        for term in terms {
            let next = sum + term;
            lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
            sum = next;
        }
        sum + lost
    }
}

impl Exact for DoubleDouble {
    fn from(x: f64) -> Self {
        DoubleDouble::from(x)
    }
    fn high(self) -> f64 {
        self.high
    }
    fn plus(self, other: Self) -> Self {
        DoubleDouble::plus(self, other)
    }
    fn minus(self, other: Self) -> Self {
        DoubleDouble::minus(self, other)
    }
    fn times(self, other: Self) -> Self {
        DoubleDouble::times(self, other)
    }
    fn over(self, other: Self) -> Self {
        DoubleDouble::over(self, other)
    }
    fn exp(self) -> Self {
        DoubleDouble::exp(self)
    }
    fn ln(self) -> Self {
        DoubleDouble::ln(self)
    }
    fn tanh(self) -> Self {
        DoubleDouble::tanh(self)
    }
    fn sum(terms: impl Iterator<Item = Self>) -> Self {
        terms.fold(DoubleDouble::ZERO, DoubleDouble::plus)
    }
}

/// A kind of numbers with its judge.
pub trait TestFloat: Kernels {
    type Exact: Exact;
    /// u, half a unit in the last place of 1.
    const UNIT: f64;
    /// The smallest number above 0 is 2 to this.
    const LEAST_EXPONENT: i32;
}

impl TestFloat for f32 {
    type Exact = f64;
    const UNIT: f64 = 1.0 / (1u64 << 24) as f64;
    const LEAST_EXPONENT: i32 = -149;
}

impl TestFloat for f64 {
    type Exact = DoubleDouble;
    const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
    const LEAST_EXPONENT: i32 = -1074;
}

/// The exact result of one query that sees something.
pub struct ExactRow<T: TestFloat> {
    /// The output, times 2^−exponent.
    pub output: Vec<T::Exact>,
    pub log_sum_exp: T::Exact,
    /// 2^exponent is about the largest |v| that the query sees: values may be subnormal, or close to overflow.
    pub exponent: i32,
    /// max |v| · 2^−exponent.
    pub max_value: f64,
    /// A of [`Promise`].
    pub max_score: f64,
}

/// The exact scores of a query: of each key that it sees, after bias and cap, and the A of [`Promise`].
fn exact_scores<T: TestFloat>(
    problem: &Problem<T>,
    h: usize,
    i: usize,
    seen: &[usize],
) -> (Vec<T::Exact>, f64) {
    let kv = problem.shape.kv_head(h);
    let number = |x: T| <T::Exact as Exact>::from(x.to_f64());
    let scale = problem.attention().scale;
    let columns = 0..problem.shape.width;
    let product = |j, c| number(problem.q.at(h, i, c)).times(number(problem.k.at(kv, j, c)));
    let biases = |j| {
        let bias = problem.bias.as_ref().map_or(T::ZERO, |bias| bias.at(h, i, j));
        [bias, problem.relative_at(h, i, j)]
    };
    let cap = |score: T::Exact| match problem.soft_cap.map(number) {
        Some(cap) => score.over(cap).tanh().times(cap),
        None => score,
    };
    let score = |&j: &usize| {
        let dot = T::Exact::sum(columns.clone().map(|c| product(j, c)));
        let [bias, relative] = biases(j).map(number);
        cap(dot.times(number(scale)).plus(bias).plus(relative))
    };
    let size = |&j: &usize| {
        let sum: f64 = columns.clone().map(|c| product(j, c).high().abs()).sum();
        sum * scale.to_f64().abs() + biases(j).map(|bias| bias.to_f64().abs()).iter().sum::<f64>()
    };
    (seen.iter().map(score).collect(), seen.iter().map(size).fold(0.0, f64::max))
}

/// The exact result of query i of head h; `None` if it sees nothing.
pub fn exact_row<T: TestFloat>(problem: &Problem<T>, h: usize, i: usize) -> Option<ExactRow<T>> {
    let shape = problem.shape;
    let kv = shape.kv_head(h);
    let seen: Vec<usize> = (0..shape.keys).filter(|&j| problem.sees(h, i, j)).collect();
    let (scores, max_score) = exact_scores(problem, h, i, &seen);
    let sink =
        problem.sinks.as_ref().map(|sinks| sinks[h].to_f64()).filter(|sink| *sink != f64::NEG_INFINITY);
    let exact_sink = sink.map(<T::Exact as Exact>::from);
    let max = scores.iter().copied().reduce(|a, b| if a.high() >= b.high() { a } else { b })?;
    let max = exact_sink.filter(|sink| sink.high() > max.high()).unwrap_or(max);
    let weights: Vec<T::Exact> = scores.iter().map(|score| score.minus(max).exp()).collect();
    let dropped = exact_sink.map(|sink| sink.minus(max).exp());
    let sum = T::Exact::sum(weights.iter().copied().chain(dropped));
    let value = |j: usize, c| problem.v.at(kv, j, c).to_f64();
    let values = seen.iter().flat_map(|&j| (0..shape.value_width).map(move |c| value(j, c).abs()));
    let max_value = values.fold(0.0, f64::max);
    let exponent = if max_value == 0.0 { 0 } else { libm::ilogb(max_value) };
    let mix = |c| {
        let term = |(&j, weight): (&usize, &T::Exact)| {
            weight.times(<T::Exact as Exact>::from(libm::scalbn(value(j, c), -exponent)))
        };
        T::Exact::sum(seen.iter().zip(&weights).map(term)).over(sum)
    };
    Some(ExactRow {
        output: (0..shape.value_width).map(mix).collect(),
        log_sum_exp: max.plus(sum.ln()),
        exponent,
        max_value: libm::scalbn(max_value, -exponent),
        max_score: max_score.max(sink.map_or(0.0, f64::abs)),
    })
}

/// Errors as shares of what is promised.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shares {
    /// Of O.
    pub output: f64,
    /// Of the log-sum-exp.
    pub log_sum_exp: f64,
}

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (output, log_sum_exp) = (100.0 * self.output, 100.0 * self.log_sum_exp);
        write!(f, "at most {output:.2} % of what is promised (log-sum-exp {log_sum_exp:.1} %)")
    }
}

impl Shares {
    /// The max of each.
    pub fn max(self, other: Shares) -> Shares {
        let output = self.output.max(other.output);
        Shares { output, log_sum_exp: self.log_sum_exp.max(other.log_sum_exp) }
    }
}

impl<T: TestFloat> ExactRow<T> {
    /// What is promised of the row, in units of 2^exponent.
    fn promise(&self, problem: &Problem<T>) -> Promise {
        Promise {
            unit: T::UNIT,
            least: libm::scalbn(1.0, T::LEAST_EXPONENT - self.exponent),
            width: problem.shape.width,
            keys: problem.shape.keys,
            max_score: self.max_score,
            soft_cap: problem.soft_cap.map(T::to_f64),
        }
    }

    /// What is promised of the row's output, in units of 2^exponent.
    pub fn bound(&self, problem: &Problem<T>) -> f64 {
        self.promise(problem).output(self.max_value)
    }

    /// The errors of a row as shares of the promise.
    pub fn judge(&self, problem: &Problem<T>, row: &[T], log_sum_exp: T) -> Shares {
        let share = |error: f64, bound: f64| match (error.is_nan(), error == 0.0) {
            (true, _) => f64::INFINITY,
            (_, true) => 0.0,
            _ => error / bound,
        };
        let error = |(x, exact): (&T, &T::Exact)| {
            let x = <T::Exact as Exact>::from(libm::scalbn(x.to_f64(), -self.exponent));
            share(x.minus(*exact).high().abs(), self.bound(problem))
        };
        let output = row.iter().zip(&self.output).map(error).fold(0.0, f64::max);
        let error = <T::Exact as Exact>::from(log_sum_exp.to_f64()).minus(self.log_sum_exp).high().abs();
        Shares { output, log_sum_exp: share(error, self.promise(problem).log_sum_exp()) }
    }
}

/// The largest errors of all rows as shares of the promise. A row that sees nothing is exactly +0, its log-sum-exp the head's
/// sink, −∞ without one.
#[track_caller]
pub fn judge<T: TestFloat>(problem: &Problem<T>, results: &Results<T>, what: &str) -> Shares {
    let mut worst = Shares::default();
    for (r, row) in results.rows.iter().enumerate() {
        let (h, i) = (r / problem.shape.queries, r % problem.shape.queries);
        match exact_row(problem, h, i) {
            Some(exact) => {
                let shares = exact.judge(problem, row, results.log_sum_exps[r]);
                let kept = shares.output <= 1.0 && shares.log_sum_exp <= 1.0;
                assert!(kept, "{what}: head {h}, query {i}: {shares:?} of the promised error");
                worst = worst.max(shares);
            }
            None => {
                let zeros = row.iter().all(|x| x.bits() == T::ZERO.bits());
                assert!(zeros, "{what}: head {h}, query {i} sees nothing: {row:?}");
                let sink = problem.sinks.as_ref().map_or(T::NEG_INFINITY, |sinks| sinks[h]);
                assert!(results.log_sum_exps[r] == sink, "{what}: head {h}, query {i}");
            }
        }
    }
    worst
}
