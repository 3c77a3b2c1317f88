//! Every set of instructions has kernels of its own, and these run. The bits cannot show it: they are the same.

use crate::kernels::TileKernel;
use crate::simd::TileWidth;
use crate::{
    Attention, Band, Heads, Kernels, Layout, MIN_QUERIES_FOR_TILES, Machine, Output, Real, SimdLevel, attend,
};

/// The lanes of a level's registers.
fn lanes<T: Real>(level: SimdLevel) -> Option<usize> {
    let bits = match level {
        SimdLevel::Portable => return None,
        SimdLevel::Neon => 128,
        SimdLevel::Avx2 => 256,
        SimdLevel::Avx512 => 512,
    };
    Some(bits / 8 / size_of::<T>())
}

/// The tiles of a level, by width; none for the plain version.
fn tiles<T: Kernels>(level: SimdLevel) -> Option<[TileKernel<T>; 3]> {
    T::kernels(level).map(|kernels| kernels.tiles)
}

/// The memory that attention on one head of width 24 used on one thread, and the memory that each of the level's tiles needs
/// for it.
fn used<T: Kernels>(level: SimdLevel, queries: usize, keys: usize, band: Band) -> (usize, Vec<usize>) {
    const WIDTH: usize = 24;
    let numbers: Vec<T> = (0..queries.max(keys) * WIDTH).map(|i| T::from_f64((i % 7) as f64)).collect();
    let heads = |rows| Heads::new("numbers", &numbers, Layout::stacked(1, rows, WIDTH)).expect("they fit");
    let attention = Attention { band, ..Attention::new(heads(queries), heads(keys), heads(keys)) };
    let mut output = vec![T::ZERO; queries * WIDTH];
    let layout = Layout::stacked(1, queries, WIDTH);
    let machine = Machine { simd: level, threads: 1 };
    let used = attend(&attention, machine, Output::new(&mut output, layout)).expect("it fits");
    let head = attention.head(0);
    let tiles = tiles::<T>(level).into_iter().flatten();
    (used.extra_bytes, tiles.map(|kernel| (kernel.scratch_bytes)(&head)).collect())
}

#[test]
fn a_tile_has_a_whole_number_of_its_own_registers_of_queries() {
    fn check<T: Kernels>() {
        for level in super::levels(&format!("tiles, {}", T::NAME)) {
            let kernels = tiles::<T>(level);
            let what = format!("{level}, {}", T::NAME);
            assert_eq!(kernels.is_some(), level != SimdLevel::Portable, "{what}");
            let Some((kernels, lanes)) = kernels.zip(lanes::<T>(level)) else { continue };
            let queries = kernels.map(|kernel| kernel.queries);
            for queries in queries {
                // A query is a bit of a u64.
                let fits = queries > 0 && queries <= 64 && queries.is_multiple_of(lanes);
                assert!(fits, "{what}: {queries} queries");
            }
            assert_eq!(kernels.map(|kernel| kernel.width), TileWidth::ALL, "{what}");
            assert!(queries.is_sorted(), "{what}: a wider tile has fewer queries: {queries:?}");
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn no_two_sets_of_instructions_share_a_kernel() {
    fn check<T: Kernels>() {
        let levels: Vec<SimdLevel> =
            SimdLevel::available().filter(|level| *level != SimdLevel::Portable).collect();
        for (i, &a) in levels.iter().enumerate() {
            for &b in &levels[i + 1..] {
                let of_both = [T::kernels(a).expect("kernels"), T::kernels(b).expect("kernels")];
                let [tiles_a, tiles_b] = of_both.each_ref().map(|kernels| kernels.tiles);
                for (tile_a, tile_b) in tiles_a.iter().flat_map(|a| tiles_b.iter().map(move |b| (a, b))) {
                    let differ = !std::ptr::fn_addr_eq(tile_a.attend, tile_b.attend);
                    let widths = (tile_a.width, tile_b.width);
                    assert!(differ, "{a} and {b} share a tile, {widths:?}, {}", T::NAME);
                }
                let [decode_a, decode_b] = of_both.map(|kernels| kernels.decode.attend_part);
                let differ = !std::ptr::fn_addr_eq(decode_a, decode_b);
                assert!(differ, "{a} and {b} share what a few queries run, {}", T::NAME);
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn the_instructions_asked_for_are_those_that_run() {
    fn check<T: Kernels>() {
        for (queries, keys) in [(MIN_QUERIES_FOR_TILES, 40), (100, 140), (1, 40), (3, 1100)] {
            let (plain, _) = used::<T>(SimdLevel::Portable, queries, keys, Band::default());
            for level in SimdLevel::available().filter(|level| *level != SimdLevel::Portable) {
                let (lanes, tiles) = used::<T>(level, queries, keys, Band::default());
                let what = format!("{level}, {}: {queries} queries, {keys} keys: {lanes} bytes", T::NAME);
                assert_ne!(lanes, plain, "{what}, like the plain version");
                let is_a_tile = queries >= MIN_QUERIES_FOR_TILES;
                assert!(!is_a_tile || tiles.contains(&lanes), "{what}, none of {tiles:?}");
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn the_tile_is_the_one_that_computes_least_for_nothing() {
    fn check<T: Kernels>() {
        for level in SimdLevel::available().filter(|level| *level != SimdLevel::Portable) {
            let register = lanes::<T>(level).expect("it has registers");
            let all = Band::default();
            let last_four = Band { from: Some(-3), until: Some(1), keep_first: 0 };
            for (why, queries, band, expected) in [
                ("a register of queries", register.max(MIN_QUERIES_FOR_TILES), all, TileWidth::Narrow),
                ("many queries that see all", 960, all, TileWidth::Wide),
                ("many queries that see what is before them", 960, Band::causal(960, 960), TileWidth::Wide),
                ("many queries that see four keys", 960, last_four, TileWidth::Narrow),
            ] {
                let (bytes, tiles) = used::<T>(level, queries, queries, band);
                let index = TileWidth::ALL.iter().position(|width| *width == expected).expect("a width");
                assert_eq!(bytes, tiles[index], "{level}, {}, {why}: not {expected:?} of {tiles:?}", T::NAME);
            }
        }
    }
    check::<f32>();
    check::<f64>();
}
