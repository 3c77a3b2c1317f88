//! All sizes with all sizes: the two proofs that take minutes. `tests/README.md` has the command.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use attn::kernel::SimdLevel;

use crate::bits::{HEADS, SIZES, assert_bits, problem};
use crate::families::Family;
use crate::oracle::Shares;
use crate::problem::Shape;
use crate::random::Random;
use crate::sights::Sight;
use crate::{judge_everywhere, say};

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

/// The names of what was tested.
fn levels() -> String {
    SimdLevel::available().map(|level| level.to_string()).collect::<Vec<_>>().join(", ")
}

#[test]
#[ignore = "takes minutes: see tests/README.md"]
fn the_whole_grid_of_sizes_has_the_bits_of_the_plain_version() {
    let problems = on_the_whole_grid(|number, sizes| {
        for (turn, sight) in Sight::ALL.into_iter().enumerate() {
            let heads = HEADS[(number + turn) % HEADS.len()];
            let (seed, what) = ((number * Sight::ALL.len() + turn) as u64, format!("{sight:?}"));
            assert_bits(
                &problem::<f32>(sizes, heads, sight, seed),
                SimdLevel::available(),
                &[1, 2, 3],
                &what,
            );
            assert_bits(
                &problem::<f64>(sizes, heads, sight, seed),
                SimdLevel::available(),
                &[1, 2, 3],
                &what,
            );
        }
        2 * Sight::ALL.len()
    });
    let problems: usize = problems.into_iter().sum();
    say(&format!("the same bits in {problems} problems with 1, 2 and 3 threads: {}", levels()));
    assert_eq!(problems, 2 * Sight::ALL.len() * 26 * 26 * 26);
}

#[test]
#[ignore = "takes minutes: see tests/README.md"]
fn the_whole_grid_of_sizes_keeps_the_bound() {
    let families: Vec<Family> = Family::all().collect();
    let shares = on_the_whole_grid(|number, [queries, keys, width]| {
        // Their number has no divisor in common with the grid's: every family meets every size.
        let family = families[number % families.len()];
        let (shape, seed) = (Shape::one_head(queries, keys, width), number as u64);
        let single = family.problem::<f32>(shape, &mut Random::new(seed));
        let double = family.problem::<f64>(shape, &mut Random::new(seed));
        (judge_everywhere(&single, &format!("{family:?}")), judge_everywhere(&double, &format!("{family:?}")))
    });
    let start = (Shares::default(), Shares::default());
    let (single, double) = shares.iter().fold(start, |(a, b), (c, d)| (a.larger(*c), b.larger(*d)));
    say(&format!("errors on the whole grid: f32 {single}, f64 {double}: {}", levels()));
    assert_eq!(shares.len(), 26 * 26 * 26);
}
