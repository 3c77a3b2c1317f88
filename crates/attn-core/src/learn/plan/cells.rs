//! Steps that go cell by cell.

use super::read::{Read, Reads};
use crate::learn::number::{Number, logarithm};

/// A step whose cells are each computed from the cells at the same place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CellByCell<T> {
    /// The sum of all inputs.
    Add,
    Subtract,
    Multiply,
    Quotient,
    /// Every cell times the single number b.
    Times,
    /// Every cell divided by the single number b.
    Divide,
    /// Every cell times this number.
    Scale(T),
    /// Every cell divided by this number.
    Temperature(T),
    /// Every cell times 1 by the number of rows that count in the batch.
    ByCounted,
    OnePlus,
    Relu,
    Root,
    Logarithm,
    /// Cells become −∞ where this pattern is true.
    Hide(Vec<bool>),
    /// 1 where b is 0 (or is not), and 0 elsewhere.
    WhereZero(bool),
}

impl<T: Number> CellByCell<T> {
    /// Computes the step for all examples.
    pub fn run(&self, reads: Reads<'_, T>, out: &mut [T]) {
        let a = reads.input(0);
        match self {
            CellByCell::Add => {
                one(a, out, |x| T::ZERO + x);
                reads.all().skip(1).for_each(|next| onto(next, out, |sum, x| sum + x));
            }
            CellByCell::Subtract => two(a, reads.input(1), out, |a, b| a - b),
            CellByCell::Multiply => two(a, reads.input(1), out, |a, b| a * b),
            CellByCell::Quotient => two(a, reads.input(1), out, |a, b| a / b),
            CellByCell::Times => with_number(a, reads.input(1), out, |a, b| a * b),
            CellByCell::Divide => with_number(a, reads.input(1), out, |a, b| a / b),
            CellByCell::Scale(factor) => one(a, out, |x| x * *factor),
            CellByCell::Temperature(by) => one(a, out, |x| x / *by),
            CellByCell::ByCounted => {
                let share = T::from_f64(1.0 / reads.batch.counted() as f64);
                one(a, out, |x| x * share);
            }
            CellByCell::OnePlus => one(a, out, |x| T::ONE + x),
            CellByCell::Relu => one(a, out, |x| if x > T::ZERO { x } else { T::ZERO }),
            CellByCell::Root => one(a, out, Number::root),
            CellByCell::Logarithm => one(a, out, logarithm),
            CellByCell::Hide(pattern) => hide(a, pattern, out),
            CellByCell::WhereZero(wanted) => {
                let one_or_zero = |is: bool| if is { T::ONE } else { T::ZERO };
                one(reads.input(1), out, |x| one_or_zero((x == T::ZERO) == *wanted));
            }
        }
    }
}

/// `out = f(a)`, also where all examples share `a` and each has its own result.
#[inline(always)]
fn one<T: Number>(a: Read<'_, T>, out: &mut [T], f: impl Fn(T) -> T) {
    for part in out.chunks_exact_mut(a.numbers.len().max(1)) {
        for (out, x) in part.iter_mut().zip(a.numbers) {
            *out = f(*x);
        }
    }
}

/// `out = f(out, a)`.
#[inline(always)]
fn onto<T: Number>(a: Read<'_, T>, out: &mut [T], f: impl Fn(T, T) -> T) {
    for part in out.chunks_exact_mut(a.numbers.len().max(1)) {
        for (out, x) in part.iter_mut().zip(a.numbers) {
            *out = f(*out, *x);
        }
    }
}

/// `out = f(a, b)`.
#[inline(always)]
fn two<T: Number>(a: Read<'_, T>, b: Read<'_, T>, out: &mut [T], f: impl Fn(T, T) -> T) {
    if a.numbers.len() == b.numbers.len() {
        for (out, (x, y)) in out.iter_mut().zip(a.numbers.iter().zip(b.numbers)) {
            *out = f(*x, *y);
        }
        return;
    }
    for (example, part) in out.chunks_exact_mut(a.len().max(1)).enumerate() {
        for (out, (x, y)) in part.iter_mut().zip(a.of(example).iter().zip(b.of(example))) {
            *out = f(*x, *y);
        }
    }
}

/// `out = f(a, b)` with the single number b.
#[inline(always)]
fn with_number<T: Number>(a: Read<'_, T>, b: Read<'_, T>, out: &mut [T], f: impl Fn(T, T) -> T) {
    for (example, part) in out.chunks_exact_mut(a.len().max(1)).enumerate() {
        let by = b.of(example)[0];
        for (out, x) in part.iter_mut().zip(a.of(example)) {
            *out = f(*x, by);
        }
    }
}

/// −∞ where the pattern of one example is true.
fn hide<T: Number>(a: Read<'_, T>, pattern: &[bool], out: &mut [T]) {
    let count = pattern.len().max(1);
    for (out, x) in out.chunks_exact_mut(count).zip(a.numbers.chunks_exact(count)) {
        for ((out, x), is_hidden) in out.iter_mut().zip(x).zip(pattern) {
            *out = if *is_hidden { T::NEG_INFINITY } else { *x };
        }
    }
}
