//! Numbers of about 106 bits: the unevaluated sum of two `f64`. They judge what `f64` computes.
//!
//! Sums and products without error: Dekker 1971, Knuth 1997 (volume 2, 4.2.2); the operations on pairs: Joldes, Muller &
//! Popescu 2017, “Tight and rigorous error bounds for basic building blocks of double-word arithmetic”. Every result is
//! good to a relative error of about 2^−100, which `tests/golden/double_double.py` confirms.
#![allow(dead_code, reason = "each test takes what it needs")]

/// `high + low`, where `low` is at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubleDouble {
    /// The nearest `f64`.
    pub high: f64,
    /// What is missing.
    pub low: f64,
}

/// a + b and what rounding it lost.
fn two_sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    let b_in_it = high - a;
    DoubleDouble { high, low: (a - (high - b_in_it)) + (b - b_in_it) }
}

/// The same where |a| ≥ |b|.
fn fast_two_sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    DoubleDouble { high, low: b - (high - a) }
}

/// a · b and what rounding it lost.
fn two_product(a: f64, b: f64) -> DoubleDouble {
    let high = a * b;
    DoubleDouble { high, low: a.mul_add(b, -high) }
}

impl DoubleDouble {
    /// 0.
    pub const ZERO: DoubleDouble = DoubleDouble { high: 0.0, low: 0.0 };
    /// 1.
    pub const ONE: DoubleDouble = DoubleDouble { high: 1.0, low: 0.0 };
    /// ln 2, rounded to 107 bits.
    pub const LN_2: DoubleDouble =
        DoubleDouble { high: std::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };

    /// The same number.
    pub fn from(x: f64) -> DoubleDouble {
        DoubleDouble { high: x, low: 0.0 }
    }

    /// Their sum.
    pub fn plus(self, other: DoubleDouble) -> DoubleDouble {
        let (high, low) = (two_sum(self.high, other.high), two_sum(self.low, other.low));
        let partly = fast_two_sum(high.high, high.low + low.high);
        fast_two_sum(partly.high, partly.low + low.low)
    }

    /// Their difference.
    pub fn minus(self, other: DoubleDouble) -> DoubleDouble {
        self.plus(DoubleDouble { high: -other.high, low: -other.low })
    }

    /// Their product.
    pub fn times(self, other: DoubleDouble) -> DoubleDouble {
        let product = two_product(self.high, other.high);
        let crossed = self.low.mul_add(other.high, self.high.mul_add(other.low, self.low * other.low));
        fast_two_sum(product.high, product.low + crossed)
    }

    /// Their quotient: a first guess and two corrections.
    pub fn over(self, other: DoubleDouble) -> DoubleDouble {
        let mut quotient = DoubleDouble::from(self.high / other.high);
        for _ in 0..2 {
            let rest = self.minus(other.times(quotient));
            quotient = quotient.plus(DoubleDouble::from(rest.high / other.high));
        }
        quotient
    }

    /// self · 2^exponent.
    pub fn times_two_to(self, exponent: i32) -> DoubleDouble {
        DoubleDouble { high: libm::scalbn(self.high, exponent), low: libm::scalbn(self.low, exponent) }
    }

    /// eˣ = 2^k · e^r, r = x − k · ln 2. The series gives e^s − 1 for s = r/256, and e^2s − 1 = 2(e^s − 1) + (e^s − 1)²
    /// eight times over the rest. 0 below −700, where the low part would be subnormal.
    pub fn exp(self) -> DoubleDouble {
        if self.high < -700.0 {
            return DoubleDouble::ZERO;
        }
        let k = (self.high / DoubleDouble::LN_2.high).round();
        let s = self.minus(DoubleDouble::LN_2.times(DoubleDouble::from(k))).times_two_to(-8);
        let mut less_one = DoubleDouble::ZERO;
        for n in (1..=13).rev() {
            // s + s²/2! + … = s(1 + s/2(1 + s/3(…)))
            less_one = s.times(DoubleDouble::ONE.plus(less_one)).over(DoubleDouble::from(f64::from(n)));
        }
        for _ in 0..8 {
            less_one = less_one.times_two_to(1).plus(less_one.times(less_one));
        }
        less_one.plus(DoubleDouble::ONE).times_two_to(k as i32)
    }

    /// The natural logarithm of a positive number: that of its high part, twice corrected by y + x·e^−y − 1.
    pub fn ln(self) -> DoubleDouble {
        let mut y = DoubleDouble::from(libm::log(self.high));
        for _ in 0..2 {
            let minus_y = DoubleDouble::ZERO.minus(y);
            y = y.plus(self.times(minus_y.exp()).minus(DoubleDouble::ONE));
        }
        y
    }

    /// tanh: (1 − e^−2|x|) / (1 + e^−2|x|), below 2^−18 the series x − x³/3 + 2x⁵/15, which lacks 17x⁷/315.
    pub fn tanh(self) -> DoubleDouble {
        let one = DoubleDouble::ONE;
        if self.high.abs() < 1.0 / 262_144.0 {
            let third = one.over(DoubleDouble::from(3.0));
            let square = self.times(self);
            let next = third.minus(square.times(DoubleDouble::from(2.0)).over(DoubleDouble::from(15.0)));
            return self.times(one.minus(square.times(next)));
        }
        let is_negative = self.high < 0.0;
        let power = if is_negative { self } else { DoubleDouble::ZERO.minus(self) }.times_two_to(1).exp();
        let tanh = one.minus(power).over(one.plus(power));
        if is_negative { DoubleDouble::ZERO.minus(tanh) } else { tanh }
    }

    /// |self − other|, rounded.
    pub fn distance(self, other: DoubleDouble) -> f64 {
        self.minus(other).high.abs()
    }
}
