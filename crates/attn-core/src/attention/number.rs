//! What a rule computes with.
//!
//! Each step of attention is one rule, generic over what a number is. With `f64` a rule gives the value; with a [term](crate::graph::Term)
//! beside its value it gives the explanation, in the same order of computing and so with the same bits; a dual number gives the slope, in tests.

use serde::{Deserialize, Serialize};

use crate::{elementary, json_number};

/// A number, as rules need it. Sums run from left to right and start at +0.0.
pub(crate) trait Number: Clone {
    /// A number that is part of the formula.
    fn of(x: f64) -> Self;
    /// The value. A formula of several cases chooses by it.
    fn value(&self) -> f64;
    /// The sum from left to right, starting at +0.0.
    fn sum(parts: impl IntoIterator<Item = Self>) -> Self;
    /// The product from left to right; of nothing it is 1.
    fn product(parts: impl IntoIterator<Item = Self>) -> Self;
    /// The max, the first of equals; NaN where one is, −∞ of nothing.
    fn max(parts: impl IntoIterator<Item = Self>) -> Self;
    /// `self − other`.
    fn minus(self, other: Self) -> Self;
    /// `self / other`.
    fn over(self, other: Self) -> Self;
    /// A function of one number.
    fn function(self, function: Function) -> Self;
    /// This case of a formula, and why it is the one that holds: “the key comes after the query”.
    fn because(self, _why: &'static str) -> Self {
        self
    }
    /// The name of a quantity that is needed several times, in the place of the quantity; see [`Number::with`].
    fn named(&self, _name: &'static str) -> Self {
        self.clone()
    }
    /// `self`, in which the name stands for the quantity.
    fn with(self, _name: &'static str, _quantity: &Self) -> Self {
        self
    }

    /// `self · other`.
    fn times(self, other: Self) -> Self {
        Self::product([self, other])
    }
    /// The base raised to `self`.
    fn power_of(self, base: Base) -> Self {
        self.function(Function::Power(base))
    }
    /// The square root.
    fn root(self) -> Self {
        self.function(Function::Root)
    }
}

/// The base of the power whose exponents are the scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// e, through `exp`.
    E,
    /// Another number above 1, through `pow`.
    Number(#[serde(with = "json_number")] f64),
}

impl Base {
    /// baseˣ.
    pub fn power(self, x: f64) -> f64 {
        match self {
            Base::E => elementary::exp(x),
            Base::Number(base) => elementary::pow(base, x),
        }
    }
}

/// The functions of one number that rules are made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Function {
    /// A power of the base.
    Power(Base),
    /// The natural logarithm.
    Logarithm,
    /// The hyperbolic tangent.
    Tanh,
    /// The error function.
    Erf,
    /// The square root.
    Root,
    /// The absolute value.
    Size,
    /// The sine of an angle in radians.
    Sine,
    /// The cosine of an angle in radians.
    Cosine,
    /// Rounded to this many decimals, ties to even.
    Rounded(u32),
    /// Cut off after this many decimals.
    Truncated(u32),
}

impl Function {
    /// Its value.
    pub fn of(self, x: f64) -> f64 {
        match self {
            Function::Power(base) => base.power(x),
            Function::Logarithm => elementary::ln(x),
            Function::Tanh => elementary::tanh(x),
            Function::Erf => elementary::erf(x),
            Function::Root => x.sqrt(),
            Function::Size => x.abs(),
            Function::Sine => elementary::sin(x),
            Function::Cosine => elementary::cos(x),
            Function::Rounded(decimals) => to_decimals(x, decimals, f64::round_ties_even),
            Function::Truncated(decimals) => to_decimals(x, decimals, f64::trunc),
        }
    }
}

/// `x` rounded to a number of decimals as NumPy's `round` does: scaled by a power of ten, to the nearest integer with ties to even, and
/// back.
pub fn rounded(x: f64, decimals: u32) -> f64 {
    Function::Rounded(decimals).of(x)
}

/// `x` scaled by a power of ten, made whole, and scaled back.
fn to_decimals(x: f64, decimals: u32, whole: fn(f64) -> f64) -> f64 {
    let power = (0..decimals).fold(1.0, |power, _| power * 10.0);
    let scaled = x * power;
    if scaled.is_finite() { whole(scaled) / power } else { x }
}

impl Number for f64 {
    fn of(x: f64) -> f64 {
        x
    }
    fn value(&self) -> f64 {
        *self
    }
    fn sum(parts: impl IntoIterator<Item = f64>) -> f64 {
        parts.into_iter().fold(0.0, |sum, x| sum + x)
    }
    fn product(parts: impl IntoIterator<Item = f64>) -> f64 {
        parts.into_iter().reduce(|product, x| product * x).unwrap_or(1.0)
    }
    fn max(parts: impl IntoIterator<Item = f64>) -> f64 {
        parts.into_iter().fold(f64::NEG_INFINITY, |max, x| if max.is_nan() || x <= max { max } else { x })
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
    fn function(self, function: Function) -> f64 {
        function.of(self)
    }
}
