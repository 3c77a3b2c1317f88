//! Arithmetic cell by cell, products, the similarity of rows, functions of each number, and norms of rows: their rules.

use std::f64::consts::PI;
use std::rc::Rc;

use super::Order;
use super::number::{Base, Function, Number};
use crate::matrix::same_number;

/// The dot product of two rows of this width: `Σ_k a[k] · b[k]`, from left to right.
pub(crate) fn dot<N: Number>(width: usize, a: impl Fn(usize) -> N, b: impl Fn(usize) -> N) -> N {
    N::sum((0..width).map(|k| a(k).times(b(k))))
}

/// `a + b + …`. Of two, −∞ in the second hides what it is added to: also a score that has left the range, where +∞ − ∞ would be
/// NaN.
pub(crate) fn add<N: Number>(count: usize, part: impl Fn(usize) -> N) -> N {
    if count == 2 {
        let (a, b) = (part(0), part(1));
        if a.value() == f64::INFINITY && b.value() == f64::NEG_INFINITY {
            return b.because("−∞ hides the score");
        }
        return N::sum([a, b]);
    }
    N::sum((0..count).map(part))
}

/// `b − a`, and exactly 0 where both are the same number, so that −∞ beside −∞, or NaN beside NaN, has not changed.
pub(crate) fn change<N: Number>(a: N, b: N) -> N {
    if same_number(a.value(), b.value()) {
        N::of(0.0).because("both are the same")
    } else {
        b.minus(a).because("it has moved")
    }
}

/// The square matrix with the numbers of a row down its diagonal, and 0 elsewhere.
pub(crate) fn diagonal<N: Number>(i: usize, j: usize, of_row: impl Fn(usize) -> N) -> N {
    if i == j {
        of_row(j).because("it is on the diagonal")
    } else {
        N::of(0.0).because("it is not on the diagonal")
    }
}

// The similarity of two rows: cosine, Euclidean distance, unit length. (The dot product is that of `Q Kᵀ`.)

/// A row whose direction is compared with others: brought into range, with its length.
#[derive(Clone)]
pub(crate) struct Direction<N> {
    row: Rc<[N]>,
    length: N,
}

impl<N: Number> Direction<N> {
    /// That of a row.
    pub(crate) fn of(row: Vec<N>) -> Direction<N> {
        let row: Rc<[N]> = in_range(row).into();
        Direction { length: sum_of_squares(&row).root(), row }
    }
}

/// Cosine similarity of two rows: `a · b / (|a| · |b|)`. A row of zeros has no direction: its cosines are 0. Rows of very large or
/// very small numbers are brought into range first, which changes no cosine.
///
/// # Source
/// “Mathematical details behind self-attention”, section Word Similarity.
pub(crate) fn cosine<N: Number>(a: &Direction<N>, b: &Direction<N>) -> N {
    if a.length.value() == 0.0 || b.length.value() == 0.0 {
        return N::of(0.0).because("a row of zeros has no direction");
    }
    let dot = dot(a.row.len(), |k| a.row[k].clone(), |k| b.row[k].clone());
    dot.over(a.length.clone().times(b.length.clone()))
}

/// Euclidean distance of two rows of this width: `√(Σ_k (a[k] − b[k])²)`.
pub(crate) fn euclidean<N: Number>(width: usize, a: impl Fn(usize) -> N, b: impl Fn(usize) -> N) -> N {
    let differences = || (0..width).map(|k| a(k).minus(b(k)));
    let factor = range_factor(differences().map(|difference| difference.value()));
    let length = N::sum(differences().map(|difference| {
        let difference = scaled(difference, factor);
        difference.clone().times(difference)
    }))
    .root();
    if factor == 1.0 { length } else { length.over(N::of(factor)) }
}

/// A row divided by its length: `a[j] / |a|`. A row of zeros stays as it is.
pub(crate) fn unit_row<N: Number>(row: Vec<N>) -> impl Fn(usize) -> N {
    let row = in_range(row);
    let length = sum_of_squares(&row).root();
    move |j| {
        if length.value() == 0.0 {
            N::of(0.0).because("a row of zeros has no direction")
        } else {
            row[j].clone().over(length.clone())
        }
    }
}

/// A row, times a power of two where its squares would leave the range of an `f64`.
fn in_range<N: Number>(row: Vec<N>) -> Vec<N> {
    let factor = range_factor(row.iter().map(N::value));
    if factor == 1.0 { row } else { row.into_iter().map(|x| scaled(x, factor)).collect() }
}

fn scaled<N: Number>(x: N, factor: f64) -> N {
    if factor == 1.0 { x } else { x.times(N::of(factor)) }
}

/// 1 where the squares of these numbers stay in range, else a power of two that brings them there.
fn range_factor(numbers: impl Iterator<Item = f64>) -> f64 {
    // 2⁴⁰⁰ and 2⁶⁰⁰, exactly.
    let (limit, power) = (f64::from_bits((1023 + 400) << 52), f64::from_bits((1023 + 600) << 52));
    match numbers.fold(0.0, |max, x: f64| if x.abs() > max { x.abs() } else { max }) {
        max if max > limit && max.is_finite() => 1.0 / power,
        max if max < 1.0 / limit && max > 0.0 => power,
        _ => 1.0,
    }
}

/// `Σ_k a[k]²`.
fn sum_of_squares<N: Number>(row: &[N]) -> N {
    dot(row.len(), |k| row[k].clone(), |k| row[k].clone())
}

// Functions of each number on its own, as in the perceptron of a block.

/// `max(0, x)`.
///
/// # Source
/// Nair and Hinton 2010; “Attention and Transformer Imagined”, section MLP or FFNN.
pub(crate) fn relu<N: Number>(x: N) -> N {
    by_sign(x, |x| x, |_| N::of(0.0))
}

/// `elu(x) + 1`: `x + 1` where x is positive, `e^x` elsewhere. It is never negative.
///
/// # Source
/// Katharopoulos et al. 2020, “Transformers are RNNs”, equation 7: the feature map of linear attention.
pub(crate) fn elu_plus_one<N: Number>(x: N) -> N {
    by_sign(x, |x| N::sum([x, N::of(1.0)]), |x| x.power_of(Base::E))
}

/// The first case where x is positive, and the other one where it is not.
fn by_sign<N: Number>(x: N, positive: impl Fn(N) -> N, other: impl Fn(N) -> N) -> N {
    if x.value() > 0.0 {
        positive(x).because("it is positive")
    } else {
        other(x).because("it is not positive")
    }
}

/// `1 / (1 + e^(−x))`, between 0 and 1.
pub(crate) fn sigmoid<N: Number>(x: N) -> N {
    N::of(1.0).over(one_and_power(x))
}

/// `x / (1 + e^(−x))`: x times its own sigmoid. At −∞ it is 0, its limit.
///
/// # Source
/// Elfwing et al. 2017; as the gate of a perceptron: Shazeer 2020, “GLU Variants Improve Transformer”.
pub(crate) fn silu<N: Number>(x: N) -> N {
    with_limit_0(x, |x| x.clone().over(one_and_power(x)))
}

/// `1 + e^(−x)`.
fn one_and_power<N: Number>(x: N) -> N {
    N::sum([N::of(1.0), N::of(-1.0).times(x).power_of(Base::E)])
}

/// `x/2 · (1 + erf(x/√2))`: x times the share of a standard normal distribution that lies below it. At −∞ it is 0, its limit.
///
/// # Source
/// Hendrycks and Gimpel 2016, “Gaussian Error Linear Units”, section 2; the MLP of BERT.
pub(crate) fn gelu<N: Number>(x: N) -> N {
    with_limit_0(x, |x| {
        let share = x.clone().over(N::of(2.0).root()).function(Function::Erf);
        N::product([N::of(0.5), x, N::sum([N::of(1.0), share])])
    })
}

/// `x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³)))`: [`gelu`] but for 5·10⁻⁴ at most. At −∞ it is 0, its limit.
///
/// # Source
/// Hendrycks and Gimpel 2016, section 2; the MLP of GPT-2.
pub(crate) fn gelu_tanh<N: Number>(x: N) -> N {
    with_limit_0(x, |x| {
        let factor = N::of(2.0).over(N::of(PI)).root();
        let cubic = N::product([N::of(GELU_CUBIC), x.clone(), x.clone(), x.clone()]);
        let share = factor.times(N::sum([x.clone(), cubic])).function(Function::Tanh);
        N::product([N::of(0.5), x, N::sum([N::of(1.0), share])])
    })
}

/// The number before x³ in the tanh form of GELU.
pub(crate) const GELU_CUBIC: f64 = 0.044_715;

/// `(1 + erf(x/√2)) / 2`: the share of a standard normal distribution that lies below x.
pub(crate) fn normal_share<N: Number>(x: N) -> N {
    let share = x.over(N::of(2.0).root()).function(Function::Erf);
    N::of(0.5).times(N::sum([N::of(1.0), share]))
}

/// The formula, and 0 at −∞, where it would be −∞ · 0.
fn with_limit_0<N: Number>(x: N, formula: impl Fn(N) -> N) -> N {
    if x.value() == f64::NEG_INFINITY {
        return N::of(0.0).because("this is its limit at −∞");
    }
    formula(x)
}

/// ∞ (or −∞) for a number that is larger than the largest one of single precision, 3.4e38; all others stay.
pub(crate) fn single_range<N: Number>(x: N) -> N {
    if x.value() > f64::from(f32::MAX) {
        N::of(f64::INFINITY).because("single precision ends at 3.4e38")
    } else if x.value() < f64::from(f32::MIN) {
        N::of(f64::NEG_INFINITY).because("single precision ends at −3.4e38")
    } else {
        x
    }
}

// Normalisation of each token's vector.

/// A row divided by its root mean square: `x[j] / √(Σ_k x[k]² / d + ε)`, with ε in the units of x².
///
/// # Source
/// Zhang and Sennrich 2019, “Root Mean Square Layer Normalization”; the norm of Llama 3.
pub(crate) fn rms_norm<N: Number>(row: Vec<N>, epsilon: f64) -> impl Fn(usize) -> N {
    let mean = sum_of_squares(&row).over(N::of(row.len() as f64));
    let root = N::sum([mean, N::of(epsilon)]).root();
    move |j| row[j].clone().over(root.clone())
}

/// A row minus its mean m, divided by its standard deviation: `(x[j] − m) / √(Σ_k (x[k] − m)² / d + ε)`, with ε in the units of x²; then
/// what `gained` makes of it, with a gain and a bias where there are any.
///
/// # Source
/// Ba et al. 2016, “Layer Normalization”, equation 4; the norm of GPT-2.
pub(crate) fn layer_norm<N: Number>(
    row: Vec<N>,
    epsilon: f64,
    gained: impl Fn(usize, N) -> N,
) -> impl Fn(usize) -> N {
    let mean = mean(&row);
    let m = mean.named("m");
    let normed = rms_norm(row.into_iter().map(|x| x.minus(m.clone())).collect(), epsilon);
    move |j| gained(j, normed(j)).with("m", &mean)
}

/// A row minus its mean: `x[j] − Σ_k x[k] / d`.
///
/// # Source
/// Ba et al. 2016, “Layer Normalization”.
pub(crate) fn minus_mean<N: Number>(row: Vec<N>) -> impl Fn(usize) -> N {
    let mean = mean(&row);
    move |j| row[j].clone().minus(mean.clone())
}

/// The mean of some numbers.
pub(crate) fn mean<N: Number>(row: &[N]) -> N {
    N::sum(row.iter().cloned()).over(N::of(row.len() as f64))
}

/// The root of the mean of the squares of all numbers.
pub(crate) fn root_mean_square<N: Number>(all: &[N]) -> N {
    sum_of_squares(all).over(N::of(all.len() as f64)).root()
}

/// The numbers of a row in the order of their size; NaN is the largest of all, as in NumPy, and of equal numbers the left one is the
/// smaller.
pub(crate) fn sorted<N: Number>(mut row: Vec<N>, order: Order) -> impl Fn(usize) -> N {
    row.sort_by(|a, b| {
        let (a, b) = (a.value(), b.value());
        a.is_nan().cmp(&b.is_nan()).then(a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal))
    });
    if order == Order::Descending {
        row.reverse();
    }
    move |j| row[j].clone()
}
