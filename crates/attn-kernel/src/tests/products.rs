//! Products of many small matrices: every level has the bits of the definition.

use crate::{Kernels, Operand, Products, SimdLevel, multiply_examples};
use proptest::prelude::*;

/// A factor as it lies in memory.
#[derive(Clone, Debug)]
struct Factor {
    numbers: Vec<f64>,
    transposed: bool,
    shared: bool,
}

#[derive(Clone, Debug)]
struct Problem {
    a: Factor,
    b: Factor,
    examples: usize,
    rows: usize,
    inner: usize,
    cols: usize,
}

fn factor(count: usize, examples: usize) -> impl Strategy<Value = Factor> {
    (any::<bool>(), any::<bool>()).prop_flat_map(move |(transposed, shared)| {
        let count = count * if shared { 1 } else { examples };
        prop::collection::vec(-9.0..9.0_f64, count).prop_map(move |numbers| Factor {
            numbers,
            transposed,
            shared,
        })
    })
}

fn problem() -> impl Strategy<Value = Problem> {
    (1..4_usize, 0..11_usize, 0..20_usize, 0..40_usize).prop_flat_map(|(examples, rows, inner, cols)| {
        (factor(rows * inner, examples), factor(inner * cols, examples)).prop_map(move |(a, b)| Problem {
            a,
            b,
            examples,
            rows,
            inner,
            cols,
        })
    })
}

/// A cell of a factor of one example, in its own type.
fn cell<T: Kernels>(factor: &Factor, (rows, cols): (usize, usize), example: usize, i: usize, j: usize) -> T {
    let start = if factor.shared { 0 } else { example * rows * cols };
    let place = if factor.transposed { j * rows + i } else { i * cols + j };
    T::from_f64(factor.numbers[start + place])
}

/// The definition: each cell is one chain over the inner dimension.
fn defined<T: Kernels>(problem: &Problem, step: impl Fn(T, T, T) -> T) -> Vec<u64> {
    let Problem { a, b, examples, rows, inner, cols } = problem;
    let mut bits = Vec::new();
    for example in 0..*examples {
        for i in 0..*rows {
            for j in 0..*cols {
                let sum = (0..*inner).fold(T::ZERO, |sum, k| {
                    let x = cell(a, (*rows, *inner), example, i, k);
                    step(sum, x, cell(b, (*inner, *cols), example, k, j))
                });
                bits.push(sum.bits());
            }
        }
    }
    bits
}

fn computed<T: Kernels>(problem: &Problem, simd: SimdLevel) -> Vec<u64> {
    let [a, b] = [&problem.a, &problem.b]
        .map(|factor| factor.numbers.iter().map(|x| T::from_f64(*x)).collect::<Vec<T>>());
    let operand =
        |numbers, factor: &Factor| Operand { numbers, transposed: factor.transposed, shared: factor.shared };
    let Problem { examples, rows, inner, cols, .. } = *problem;
    let products =
        Products { a: operand(&a, &problem.a), b: operand(&b, &problem.b), examples, rows, inner, cols };
    // What stands there before is of no account.
    let mut out = vec![T::MIN; examples * rows * cols];
    let mut packed = vec![T::MIN; 3];
    multiply_examples(products, simd, &mut packed, &mut out).expect("they fit");
    out.iter().map(|x| x.bits()).collect()
}

proptest! {
    #[test]
    fn every_level_has_the_bits_of_the_definition(problem in problem()) {
        let single = defined::<f32>(&problem, |sum, a, b| a.mul_add(b, sum));
        let double = defined::<f64>(&problem, |sum, a, b| sum + a * b);
        for level in SimdLevel::available() {
            prop_assert_eq!(&computed::<f32>(&problem, level), &single, "{}", level);
            prop_assert_eq!(&computed::<f64>(&problem, level), &double, "{}", level);
        }
    }
}

#[test]
fn numbers_that_do_not_fit_their_shapes_are_refused() {
    let numbers = [1.0_f32; 12];
    let whole = Operand { numbers: &numbers[..6], transposed: false, shared: true };
    let fitting = Products { a: whole, b: whole, examples: 2, rows: 2, inner: 3, cols: 2 };
    let refused = |problem: Products<'_, f32>, out: usize| {
        let mut numbers = vec![0.0; out];
        multiply_examples(problem, SimdLevel::detect(), &mut Vec::new(), &mut numbers).is_err()
    };
    assert!(!refused(fitting, 8));
    assert!(refused(fitting, 7), "there is no room for the result");
    assert!(refused(Products { a: Operand { shared: false, ..whole }, ..fitting }, 8), "a is there once");
    assert!(refused(Products { inner: 2, ..fitting }, 8), "the sums are shorter");
    assert!(refused(Products { rows: usize::MAX, ..fitting }, 8), "the size has no number");
}
