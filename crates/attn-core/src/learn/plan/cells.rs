//! Steps that go cell by cell.

use super::Place;
use crate::learn::number::Number;
use crate::matrix::Shape;

/// An input of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<'a, T> {
    pub numbers: &'a [T],
    pub place: Place,
}

impl<'a, T> Read<'a, T> {
    /// The number of numbers of one example.
    pub fn len(&self) -> usize {
        self.place.shape.rows * self.place.shape.cols
    }

    /// The numbers of one example.
    pub fn of(&self, example: usize) -> &'a [T] {
        if self.place.per_example {
            &self.numbers[example * self.len()..][..self.len()]
        } else {
            self.numbers
        }
    }
}

/// `out = f(a)`, also where all examples share `a` and each has its own result.
#[inline(always)]
pub(super) fn one<T: Number>(a: Read<'_, T>, out: &mut [T], f: impl Fn(T) -> T) {
    for part in out.chunks_exact_mut(a.numbers.len().max(1)) {
        for (out, x) in part.iter_mut().zip(a.numbers) {
            *out = f(*x);
        }
    }
}

/// `out = f(out, a)`.
#[inline(always)]
pub(super) fn onto<T: Number>(a: Read<'_, T>, out: &mut [T], f: impl Fn(T, T) -> T) {
    for part in out.chunks_exact_mut(a.numbers.len().max(1)) {
        for (out, x) in part.iter_mut().zip(a.numbers) {
            *out = f(*out, *x);
        }
    }
}

/// `out = f(a, b)`.
#[inline(always)]
pub(super) fn two<T: Number>(a: Read<'_, T>, b: Read<'_, T>, out: &mut [T], f: impl Fn(T, T) -> T) {
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
pub(super) fn with_number<T: Number>(
    a: Read<'_, T>,
    b: Read<'_, T>,
    (shape, examples): (Shape, usize),
    out: &mut [T],
    f: impl Fn(T, T) -> T,
) {
    let count = (shape.rows * shape.cols).max(1);
    for (example, part) in out.chunks_exact_mut(count).enumerate().take(examples) {
        let by = b.of(example)[0];
        for (out, x) in part.iter_mut().zip(a.of(example)) {
            *out = f(*x, by);
        }
    }
}

/// −∞ where the pattern of one example is true.
pub(super) fn hide<T: Number>(a: Read<'_, T>, pattern: &[bool], out: &mut [T]) {
    let count = pattern.len().max(1);
    for (out, x) in out.chunks_exact_mut(count).zip(a.numbers.chunks_exact(count)) {
        for ((out, x), is_hidden) in out.iter_mut().zip(x).zip(pattern) {
            *out = if *is_hidden { T::NEG_INFINITY } else { *x };
        }
    }
}
