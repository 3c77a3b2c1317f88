//! Several calls at a time: the pool serves one, the others compute alone, and all get the same bits.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use crate::{Kernels, Machine, Output, SimdLevel, attend};

use super::everywhere::assert_same_bits;
use super::masking::Masking;
use super::plain;
use super::problem::{Arrangement, Problem, Shape};
use super::random::Random;
use super::sweep::one_in;

/// Enough work for several threads: tiles, and a long cache.
const SHAPES: [Shape; 2] = [
    Shape { heads: 6, kv_heads: 3, queries: 90, keys: 120, width: 32, value_width: 32 },
    Shape { heads: 8, kv_heads: 4, queries: 1, keys: 4100, width: 64, value_width: 48 },
];

fn problem<T: Kernels>(shape: Shape) -> Problem<T> {
    let mut random = Random::new(11);
    let mut problem = Problem::normal(shape, [Arrangement::Stacked; 3], &mut random);
    Masking::Mixed.hide(&mut problem, &mut random);
    problem
}

#[test]
fn calls_from_several_threads_give_the_same_bits() {
    fn check<T: Kernels>(shape: Shape) {
        let problem = problem::<T>(shape);
        let expected = problem.run(plain(), Arrangement::Stacked);
        for simd in SimdLevel::available().filter(|level| *level != SimdLevel::Portable) {
            let together = Barrier::new(4);
            thread::scope(|scope| {
                for threads in 1..=4 {
                    let (together, problem, expected) = (&together, &problem, &expected);
                    scope.spawn(move || {
                        together.wait();
                        for turn in 0..12 / one_in(4) {
                            let found = problem.run(Machine { simd, threads }, Arrangement::Padded);
                            let what = format!("{simd}, {threads} threads, turn {turn}, {shape:?}");
                            assert_same_bits(expected, &found, &what);
                        }
                    });
                }
            });
        }
    }
    for shape in SHAPES {
        check::<f32>(shape);
        check::<f64>(shape);
    }
}

#[test]
fn several_threads_are_used_where_there_is_work_for_them() {
    for shape in SHAPES {
        let problem = problem::<f32>(shape);
        let mut numbers = vec![0.0; shape.heads * shape.queries * shape.value_width];
        let layout = crate::Layout::stacked(shape.heads, shape.queries, shape.value_width);
        let mut used = |threads| {
            let machine = Machine { simd: Machine::here().simd, threads };
            attend(&problem.attention(), machine, Output::new(&mut numbers, layout)).expect("it fits").threads
        };
        // The other tests of this program share the pool; who finds it at work stays alone.
        let mut soon = |threads| {
            let free = |_: &usize| {
                thread::sleep(Duration::from_millis(1));
                used(threads) == threads
            };
            (0..20_000).find(free).map(|_| threads)
        };
        assert_eq!([soon(1), soon(2), soon(3)], [Some(1), Some(2), Some(3)], "{shape:?}");
    }
}
