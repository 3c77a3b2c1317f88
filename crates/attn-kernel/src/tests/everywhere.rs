//! One problem with every instruction set: the same bits, and errors within what is promised.

use crate::{Kernels, Machine, SimdLevel};

use super::oracle::{Shares, TestFloat, judge};
use super::problem::{Arrangement, Problem, Results};
use super::{plain, same};

#[track_caller]
pub(super) fn assert_same_bits<T: Kernels>(expected: &Results<T>, found: &Results<T>, what: &str) {
    for row in 0..expected.rows.len() {
        for (c, (a, b)) in expected.row(row).zip(found.row(row)).enumerate() {
            assert!(same(a, b), "{what}: {} row {row}, column {c}: {a:?} became {b:?}", T::NAME);
        }
    }
}

/// The results of the plain version, which every other implementation gives to the bit.
#[track_caller]
pub(super) fn run_everywhere<T: Kernels>(problem: &Problem<T>, what: &str) -> Results<T> {
    let expected = problem.run(plain(), Arrangement::Stacked);
    for simd in SimdLevel::available().filter(|level| *level != SimdLevel::Portable) {
        let found = problem.run(Machine { simd, threads: 2 }, Arrangement::Padded);
        assert_same_bits(&expected, &found, &format!("{what}: {simd}"));
    }
    expected
}

/// The same, with errors within what is promised.
#[track_caller]
pub(super) fn judge_everywhere<T: TestFloat>(problem: &Problem<T>, what: &str) -> Shares {
    let what = format!("{what}, {}, {:?}", T::NAME, problem.shape);
    judge(problem, &run_everywhere(problem, &what), &what)
}
