//! Every set of instructions has kernels of its own, and they are what runs. The bits cannot tell: they are the same.

use crate::dispatch::Width;
use crate::{Attention, Band, FEWEST_FOR_TILES, Heads, Layout, Machine, Real, SimdLevel, attend};

/// How many numbers a register of this level holds.
fn lanes<T: Real>(level: SimdLevel) -> Option<usize> {
    let bits = match level {
        SimdLevel::Portable => return None,
        SimdLevel::Neon => 128,
        SimdLevel::Avx2 => 256,
        SimdLevel::Avx512 => 512,
    };
    Some(bits / 8 / size_of::<T>())
}

/// The memory that attention on one head of width 24 has used on one thread, and what the level's tiles need for it.
fn used<T: Real>(level: SimdLevel, queries: usize, keys: usize, band: Band) -> (usize, Vec<usize>) {
    const WIDTH: usize = 24;
    let numbers: Vec<T> = (0..queries.max(keys) * WIDTH).map(|i| T::from_f64((i % 7) as f64)).collect();
    let heads = |rows| Heads::new("numbers", &numbers, Layout::stacked(1, rows, WIDTH)).expect("they fit");
    let attention = Attention { band, ..Attention::new(heads(queries), heads(keys), heads(keys)) };
    let mut output = vec![T::ZERO; queries * WIDTH];
    let layout = Layout::stacked(1, queries, WIDTH);
    let machine = Machine { simd: level, threads: 1 };
    let used = attend(&attention, machine, (&mut output, layout), None).expect("it fits");
    let head = attention.head(0);
    let tiles = Width::ALL.into_iter().filter_map(|width| T::tile(level, width));
    (used.extra_bytes, tiles.map(|kernel| (kernel.scratch_bytes)(&head)).collect())
}

#[test]
fn a_tile_has_a_whole_number_of_its_own_registers_of_queries() {
    fn check<T: Real>() {
        for level in super::levels(&format!("tiles, {}", T::NAME)) {
            for width in Width::ALL {
                let queries = T::tile(level, width).map(|kernel| kernel.queries);
                let what = format!("{level}, {width:?}, {}: {queries:?} queries", T::NAME);
                match (lanes::<T>(level), queries) {
                    (None, None) => {}
                    // A query is a bit of a u64.
                    (Some(lanes), Some(queries)) => {
                        assert!(queries > 0 && queries <= 64 && queries.is_multiple_of(lanes), "{what}");
                    }
                    _ => panic!("{what}"),
                }
            }
            let queries = Width::ALL.map(|width| T::tile(level, width).map(|kernel| kernel.queries));
            assert!(queries.is_sorted(), "{level}: a wider tile has fewer queries: {queries:?}");
            let few = T::decode(level).is_some();
            assert_eq!(few, level != SimdLevel::Portable, "{level}, few queries, {}", T::NAME);
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn no_two_sets_of_instructions_share_a_kernel() {
    fn check<T: Real>() {
        let levels: Vec<SimdLevel> =
            SimdLevel::available().filter(|level| *level != SimdLevel::Portable).collect();
        for (i, &a) in levels.iter().enumerate() {
            for &b in &levels[i + 1..] {
                for (of_a, of_b) in Width::ALL.into_iter().flat_map(|a| Width::ALL.map(|b| (a, b))) {
                    let (tile_a, tile_b) =
                        (T::tile(a, of_a).expect("a tile"), T::tile(b, of_b).expect("a tile"));
                    let differ = !std::ptr::fn_addr_eq(tile_a.attend, tile_b.attend);
                    assert!(differ, "{a} {of_a:?} and {b} {of_b:?} are one tile, {}", T::NAME);
                }
                let (few_a, few_b) = (T::decode(a).expect("a kernel"), T::decode(b).expect("a kernel"));
                let differ = !std::ptr::fn_addr_eq(few_a.attend_part, few_b.attend_part);
                assert!(differ, "{a} and {b} share what few queries run, {}", T::NAME);
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn the_instructions_asked_for_are_those_that_run() {
    fn check<T: Real>() {
        for (queries, keys) in [(FEWEST_FOR_TILES, 40), (100, 140), (1, 40), (3, 1100)] {
            let (plain, _) = used::<T>(SimdLevel::Portable, queries, keys, Band::default());
            for level in SimdLevel::available().filter(|level| *level != SimdLevel::Portable) {
                let (lanes, tiles) = used::<T>(level, queries, keys, Band::default());
                let what = format!("{level}, {}: {queries} queries, {keys} keys: {lanes} bytes", T::NAME);
                assert_ne!(lanes, plain, "{what}, like the plain version");
                let is_a_tile = queries >= FEWEST_FOR_TILES;
                assert!(!is_a_tile || tiles.contains(&lanes), "{what}, none of {tiles:?}");
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn the_tile_is_the_one_that_computes_least_for_nothing() {
    fn check<T: Real>() {
        for level in SimdLevel::available().filter(|level| *level != SimdLevel::Portable) {
            let register = lanes::<T>(level).expect("it has registers");
            let all = Band::default();
            let last_four = Band { from: Some(-3), until: Some(1) };
            for (why, queries, band, expected) in [
                ("a register of queries", register.max(FEWEST_FOR_TILES), all, Width::Narrow),
                ("many queries that see all", 960, all, Width::Wide),
                ("many queries that see what is before them", 960, Band::causal(960, 960), Width::Wide),
                ("many queries that see four keys", 960, last_four, Width::Narrow),
            ] {
                let (bytes, tiles) = used::<T>(level, queries, queries, band);
                let index = Width::ALL.iter().position(|width| *width == expected).expect("a width");
                assert_eq!(bytes, tiles[index], "{level}, {}, {why}: not {expected:?} of {tiles:?}", T::NAME);
            }
        }
    }
    check::<f32>();
    check::<f64>();
}
