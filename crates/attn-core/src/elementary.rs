//! Elementary functions with the same bits on every machine.
//!
//! The standard library's `exp`, `ln`, `sin` … are the platform's own, and one binary gives different last bits with
//! different variants of them. Everything that is printed or compared goes through these, from the crate `libm`;
//! a clippy list keeps the standard ones out. (The square root is exact by IEEE 754 and needs no stand-in.)

/// eˣ.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// The natural logarithm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// The sine of an angle in radians.
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// The cosine of an angle in radians.
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// The hyperbolic tangent.
pub fn tanh(x: f64) -> f64 {
    libm::tanh(x)
}

/// The error function: 2/√π times the integral of e^(−t²) from 0 to x.
pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

/// baseᵉ.
pub fn pow(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}

/// √(x² + y²) without overflow in between.
pub fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}
