//! Every set of instructions and any number of threads give the bits of the plain version.

use crate::{Kernels, Machine, SimdLevel};

use super::everywhere::assert_same_bits;
use super::masking::Masking;
use super::problem::{Arrangement, Problem, Shape};
use super::random::Random;
use super::sweep::one_in;
use super::variants::Variant;
use super::{plain, say};

/// How many queries, keys and columns there are: every remainder of every register and tile, and the block's edges.
pub const SIZES: [usize; 26] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129];

/// Query heads over key/value heads: groups of one, two and three.
pub const HEADS: [(usize, usize); 5] = [(1, 1), (2, 2), (4, 2), (3, 1), (6, 2)];

/// A problem whose arrangements and heads follow from its seed.
pub fn problem<T: Kernels>(
    [queries, keys, width]: [usize; 3],
    (heads, kv_heads): (usize, usize),
    masking: Masking,
    seed: u64,
) -> Problem<T> {
    let mut random = Random::new(seed);
    let mut arrangement = || Arrangement::ALL[random.below(Arrangement::ALL.len())];
    let arrangements = [arrangement(), arrangement(), arrangement()];
    let value_width = if seed.is_multiple_of(2) { width } else { SIZES[random.below(SIZES.len())] };
    let shape = Shape { heads, kv_heads, queries, keys, width, value_width };
    let mut problem = Problem::normal(shape, arrangements, &mut random);
    masking.hide(&mut problem, &mut random);
    problem.scale = match random.below(8) {
        0 => Some(T::from_f64(-0.25)),
        1 => Some(T::ZERO),
        2 => Some(T::from_f64(8.0)),
        _ => None,
    };
    problem
}

/// The bits of the levels with these threads are those of the plain version.
pub fn assert_bits<T: Kernels>(
    problem: &Problem<T>,
    levels: impl IntoIterator<Item = SimdLevel>,
    threads: &[usize],
    what: &str,
) {
    let expected = problem.run(plain(), Arrangement::Stacked);
    for simd in levels {
        for &threads in threads {
            let arrangement = Arrangement::ALL[(problem.shape.keys + threads) % Arrangement::ALL.len()];
            let found = problem.run(Machine { simd, threads }, arrangement);
            let what = format!("{simd}, {threads} threads, {what}, {:?}, {arrangement:?}", problem.shape);
            assert_same_bits(&expected, &found, &what);
        }
    }
}

/// The same of a problem as it is, and with a variant.
fn assert_bits_with_variant<T: Kernels>(
    mut problem: Problem<T>,
    levels: impl IntoIterator<Item = SimdLevel> + Clone,
    threads: &[usize],
    (number, what): (usize, &str),
) {
    assert_bits(&problem, levels.clone(), threads, what);
    let variant = Variant::ALL[(number + number / Variant::ALL.len()) % Variant::ALL.len()];
    variant.add_to(&mut problem, &mut Random::new(number as u64));
    assert_bits(&problem, levels, threads, &format!("{variant:?}, {what}"));
}

/// Every pair of sizes in every two of the three places (a Latin square gives the third); masking, heads and variants in turn.
fn every_pair_of_sizes(level: SimdLevel) {
    if !level.is_available() {
        return say(&format!("bits: {level} is NOT AVAILABLE on this processor, not tested"));
    }
    for (a, &queries) in SIZES.iter().enumerate() {
        let step = one_in(8);
        for (b, &keys) in SIZES.iter().enumerate().skip(a % step).step_by(step) {
            let number = a * SIZES.len() + b;
            let sizes = [queries, keys, SIZES[(a + b) % SIZES.len()]];
            let (masking, heads) =
                (Masking::ALL[number % Masking::ALL.len()], HEADS[(number / 7) % HEADS.len()]);
            let what = format!("{masking:?}");
            let (single, double) = (
                problem::<f32>(sizes, heads, masking, number as u64),
                problem::<f64>(sizes, heads, masking, number as u64),
            );
            assert_bits_with_variant(single, [level], &[1, 2, 3], (number, &what));
            assert_bits_with_variant(double, [level], &[1, 2, 3], (number + 3, &what));
        }
    }
}

#[test]
fn avx512_gives_the_bits_of_the_plain_version() {
    every_pair_of_sizes(SimdLevel::Avx512);
}

#[test]
fn avx2_gives_the_bits_of_the_plain_version() {
    every_pair_of_sizes(SimdLevel::Avx2);
}

#[test]
fn neon_gives_the_bits_of_the_plain_version() {
    every_pair_of_sizes(SimdLevel::Neon);
}

/// Larger problems: several threads at work, wide tiles, several parts of a long cache. Heads, queries, keys, columns.
const LARGE: [((usize, usize), [usize; 3]); 11] = [
    ((8, 8), [129, 300, 32]),
    ((2, 1), [100, 257, 64]),
    ((1, 1), [65, 1100, 129]),
    ((1, 1), [70, 100, 1025]),
    ((1, 1), [70, 1060, 128]),
    ((8, 2), [1, 3000, 128]),
    ((8, 2), [3, 2049, 67]),
    ((15, 1), [1, 1025, 80]),
    ((2, 2), [7, 1025, 40]),
    ((1, 1), [8, 1025, 40]),
    ((1, 1), [2, 70_000, 3]),
];

#[test]
fn large_problems_have_the_bits_of_the_plain_version_with_any_number_of_threads() {
    for (number, (heads, sizes)) in LARGE.into_iter().enumerate().step_by(one_in(4)) {
        let hidden = [Masking::Causal, Masking::Mixed, Masking::Window, Masking::Bias][number % 4];
        let lanes = || SimdLevel::available().filter(|level| *level != SimdLevel::Portable);
        // The value's width is the key's where the seed is even.
        let seed = 2 * number as u64;
        assert_bits(&problem::<f32>(sizes, heads, Masking::Full, seed), lanes(), &[1, 2, 3], "Full");
        assert_bits(&problem::<f64>(sizes, heads, hidden, seed), lanes(), &[1, 2, 3], &format!("{hidden:?}"));
    }
}

#[test]
fn large_problems_of_every_variant_have_the_bits_of_the_plain_version_with_any_number_of_threads() {
    let problems = LARGE.into_iter().filter(|(_, sizes)| sizes[1] <= 3000).enumerate();
    for (number, (heads, sizes)) in problems.step_by(one_in(8)) {
        let lanes = || SimdLevel::available().filter(|level| *level != SimdLevel::Portable);
        for (turn, variant) in
            Variant::ALL.into_iter().enumerate().filter(|(turn, _)| (turn + number) % 3 != 0)
        {
            let seed = (2 * number + turn) as u64;
            let mut problem = problem::<f32>(sizes, heads, Masking::Full, seed);
            variant.add_to(&mut problem, &mut Random::new(seed));
            assert_bits(&problem, lanes(), &[1, 2, 3], &format!("{variant:?}"));
        }
    }
}

#[test]
fn the_plain_version_gives_its_bits_with_any_number_of_threads() {
    for (heads, sizes) in [((4, 4), [70, 128, 32]), ((8, 2), [1, 1100, 64])] {
        let portable = [SimdLevel::Portable];
        assert_bits(&problem::<f32>(sizes, heads, Masking::Causal, 1), portable, &[2, 3], "Causal");
        assert_bits(&problem::<f64>(sizes, heads, Masking::Bias, 1), portable, &[2, 3], "Bias");
    }
}

#[test]
fn few_queries_whose_last_keys_lie_in_two_parts_have_the_bits_of_the_plain_version() {
    for (queries, keys) in [(2, 1025), (3, 2049), (7, 1026), (7, 1031)] {
        let lanes = || SimdLevel::available().filter(|level| *level != SimdLevel::Portable);
        for (seed, masking) in [Masking::Causal, Masking::Window, Masking::Mixed].into_iter().enumerate() {
            let sizes = [queries, keys, 5];
            assert_bits(&problem::<f32>(sizes, (2, 1), masking, seed as u64), lanes(), &[1], "two parts");
            assert_bits(&problem::<f64>(sizes, (2, 2), masking, seed as u64), lanes(), &[1], "two parts");
        }
    }
}
