//! All sizes with all sizes: the two proofs that take minutes. `tests/README.md` has the command.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::SimdLevel;

use super::bits::{HEADS, SIZES, assert_bits, problem};
use super::everywhere::judge_everywhere;
use super::families::Family;
use super::masking::Masking;
use super::oracle::Shares;
use super::problem::Shape;
use super::random::Random;
use super::say;

/// Calls `work` with every number of the grid and its queries, keys and columns, on two threads.
fn on_the_whole_grid<R: Send>(work: impl Fn(usize, [usize; 3]) -> R + Sync) -> Vec<R> {
    let (next, count) = (AtomicUsize::new(0), SIZES.len().pow(3));
    let help = || {
        let mut results = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return results;
            }
            let size = |power: u32| SIZES[number / SIZES.len().pow(power) % SIZES.len()];
            results.push(work(number, [size(2), size(1), size(0)]));
        }
    };
    thread::scope(|scope| {
        let threads = [scope.spawn(help), scope.spawn(help)];
        threads.into_iter().flat_map(|thread| thread.join().expect("what is claimed holds")).collect()
    })
}

/// Which family the grid's problem `number` is of. The numbers of problems of one width, or of one count of keys or queries,
/// leave all remainders of the families' count, as a test says.
fn family_of(number: usize) -> usize {
    (number + 5 * (number / SIZES.len())) % Family::all().count()
}

#[test]
fn every_family_meets_every_size_in_every_place() {
    let count = SIZES.len();
    let met = |place: u32| -> HashSet<(usize, usize)> {
        (0..count.pow(3)).map(|number| (family_of(number), number / count.pow(place) % count)).collect()
    };
    for place in 0..3 {
        assert_eq!(met(place).len(), Family::all().count() * count, "place {place}");
    }
}

/// The names of what was tested.
fn levels() -> String {
    SimdLevel::available().map(|level| level.to_string()).collect::<Vec<_>>().join(", ")
}

#[test]
#[ignore = "takes minutes: see tests/README.md"]
fn the_whole_grid_of_sizes_has_the_bits_of_the_plain_version() {
    let problems = on_the_whole_grid(|number, sizes| {
        for (turn, masking) in Masking::ALL.into_iter().enumerate() {
            let heads = HEADS[(number + turn) % HEADS.len()];
            let (seed, what) = ((number * Masking::ALL.len() + turn) as u64, format!("{masking:?}"));
            assert_bits(
                &problem::<f32>(sizes, heads, masking, seed),
                SimdLevel::available(),
                &[1, 2, 3],
                &what,
            );
            assert_bits(
                &problem::<f64>(sizes, heads, masking, seed),
                SimdLevel::available(),
                &[1, 2, 3],
                &what,
            );
        }
        2 * Masking::ALL.len()
    });
    let problems: usize = problems.into_iter().sum();
    say(&format!("the same bits in {problems} problems with 1, 2 and 3 threads: {}", levels()));
    assert_eq!(problems, 2 * Masking::ALL.len() * 26 * 26 * 26);
}

#[test]
#[ignore = "takes minutes: see tests/README.md"]
fn the_whole_grid_of_sizes_keeps_the_bound() {
    let families: Vec<Family> = Family::all().collect();
    let shares = on_the_whole_grid(|number, [queries, keys, width]| {
        let family = families[family_of(number)];
        let (heads, kv_heads) = HEADS[number % HEADS.len()];
        let (shape, seed) =
            (Shape { heads, kv_heads, queries, keys, width, value_width: width }, number as u64);
        let single = family.problem::<f32>(shape, &mut Random::new(seed));
        let double = family.problem::<f64>(shape, &mut Random::new(seed));
        (judge_everywhere(&single, &format!("{family:?}")), judge_everywhere(&double, &format!("{family:?}")))
    });
    let start = (Shares::default(), Shares::default());
    let (single, double) = shares.iter().fold(start, |(a, b), (c, d)| (a.max(*c), b.max(*d)));
    say(&format!("errors on the whole grid: f32 {single}, f64 {double}: {}", levels()));
    assert_eq!(shares.len(), 26 * 26 * 26);
}

/// Several parts of a cache that are merged, and long chains of blocks, for few queries and for tiles.
const LONG: [(usize, usize, usize); 6] =
    [(1, 1025, 5), (1, 9000, 3), (3, 2050, 17), (7, 4100, 2), (8, 3000, 4), (40, 1500, 7)];

#[test]
#[ignore = "takes minutes: see tests/README.md"]
fn long_rows_of_every_family_keep_the_bound() {
    let (mut single, mut double) = (Shares::default(), Shares::default());
    for family in Family::all() {
        for ((queries, keys, width), (heads, kv_heads)) in LONG.into_iter().zip(HEADS.into_iter().cycle()) {
            let shape = Shape { heads, kv_heads, queries, keys, width, value_width: width };
            let what = format!("{family:?}");
            single = single.max(judge_everywhere(&family.problem::<f32>(shape, &mut Random::new(9)), &what));
            double = double.max(judge_everywhere(&family.problem::<f64>(shape, &mut Random::new(9)), &what));
        }
    }
    say(&format!("errors of long rows: f32 {single}, f64 {double}: {}", levels()));
}
