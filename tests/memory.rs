//! The memory that the fused path takes, counted by the allocator and not by the path itself.
//!
//! This is a test program of its own, because the allocator counts everything.

mod common;
#[path = "../crates/attn-kernel/src/tests/internals/counting.rs"]
mod counting;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use attn::kernel::{Attention, Band, Heads, Kernels, Layout, Machine, Output, Resources, SimdLevel, attend};
use common::{attn, one_in};
use counting::CountingAllocator;

#[global_allocator]
static MEMORY: CountingAllocator = CountingAllocator::new();

/// One test at a time: they count the same memory.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

const WIDTH: usize = 64;

/// What eight heads of 32 768 tokens may take, d = 64.
const ALLOWED: usize = 2 << 20;

/// Query heads, key/value heads, queries, keys.
#[derive(Clone, Copy, Debug)]
struct Shape {
    heads: usize,
    kv_heads: usize,
    queries: usize,
    keys: usize,
}

/// The bytes taken while attending, besides inputs and outputs.
#[derive(Clone, Copy, Debug)]
struct BytesTaken {
    /// By everything in this program, also by what was kept from earlier calls.
    in_all: usize,
    /// By this call.
    more: usize,
    used: Resources,
}

fn taken<T: Kernels>(shape: Shape, band: Band, machine: Machine) -> BytesTaken {
    let Shape { heads, kv_heads, queries, keys } = shape;
    let numbers = |rows| (0..rows * WIDTH).map(|i| T::from_f64((i % 17) as f64 * 0.1)).collect::<Vec<T>>();
    let (of_queries, of_keys) =
        (Layout::stacked(heads, queries, WIDTH), Layout::stacked(kv_heads, keys, WIDTH));
    let (q, k, v) = (numbers(heads * queries), numbers(kv_heads * keys), numbers(kv_heads * keys));
    let (mut output, mut lse) = (vec![T::ZERO; q.len()], vec![T::ZERO; heads * queries]);
    let own =
        size_of_val(&*q) + size_of_val(&*k) + size_of_val(&*v) + size_of_val(&*output) + size_of_val(&*lse);
    let attention = Attention {
        band,
        ..Attention::new(
            Heads::new("q", &q, of_queries).expect("they fit"),
            Heads::new("k", &k, of_keys).expect("they fit"),
            Heads::new("v", &v, of_keys).expect("they fit"),
        )
    };
    let before = MEMORY.taken();
    let (used, most) = MEMORY.most_during(|| {
        let to = Output::new(&mut output, of_queries).with_log_sum_exps(&mut lse);
        attend(&attention, machine, to).expect("it fits")
    });
    BytesTaken { in_all: most - own, more: most - before, used }
}

/// The levels with lanes; the plain version takes an hour.
fn levels() -> impl Iterator<Item = SimdLevel> {
    SimdLevel::available().filter(|level| *level != SimdLevel::Portable)
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn heads_of_32768_tokens_take_at_most_2_mb_beside_inputs_and_outputs() {
    fn check<T: Kernels>(shape: Shape, band: Band) {
        for simd in levels() {
            let taken = taken::<T>(shape, band, Machine { simd, threads: 2 });
            assert!(taken.in_all <= ALLOWED, "{simd}, {}, {shape:?}: {taken:?}", T::NAME);
        }
    }
    let _alone = alone();
    // A causal window: that each query sees few keys makes it quick.
    let window = Band { from: Some(-15), until: Some(1), keep_first: 0 };
    let eight = Shape { heads: 8, kv_heads: 8, queries: 32_768, keys: 32_768 };
    check::<f32>(eight, window);
    check::<f64>(Shape { heads: 2, kv_heads: 1, ..eight }, window);
    // Few queries over a long cache, which they all see.
    check::<f32>(Shape { queries: 1, ..eight }, Band::default());
    check::<f64>(Shape { queries: 7, kv_heads: 2, ..eight }, Band::default());
}

#[test]
fn a_whole_triangle_of_scores_takes_no_more() {
    let _alone = alone();
    let machine = Machine { simd: SimdLevel::detect(), threads: 2 };
    let n = if machine.simd == SimdLevel::Portable { 1024 } else { 16_384 / one_in(4) };
    let shape = Shape { heads: 1, kv_heads: 1, queries: n, keys: n };
    let taken = taken::<f32>(shape, Band::causal(n, n), machine);
    assert!(taken.in_all <= ALLOWED, "{shape:?}: {taken:?}");
}

#[test]
fn the_memory_that_is_stated_is_what_was_taken() {
    /// The list of the tasks, and what a thread begins with.
    const UNSAID: usize = 16 << 10;
    /// A thread of its own has kept nothing yet.
    fn check<T: Kernels>(shape: Shape, simd: SimdLevel) {
        let machine = Machine { simd, threads: 1 };
        let band = Band::causal(shape.queries, shape.keys);
        let fresh = thread::spawn(move || taken::<T>(shape, band, machine));
        let taken = fresh.join().expect("it fits");
        let stated = taken.used.extra_bytes;
        let what = format!("{simd}, {}, {shape:?}: {taken:?}", T::NAME);
        assert!(stated <= taken.more && taken.more <= stated + UNSAID, "{what}");
    }
    let _alone = alone();
    let sizes = [(300, 300), (8, 40), (1, 5000), (7, 100), (3000, 3000)];
    for (queries, keys) in sizes.into_iter().step_by(one_in(3)) {
        let shape = Shape { heads: 4, kv_heads: 2, queries, keys };
        for simd in levels() {
            check::<f32>(shape, simd);
            check::<f64>(shape, simd);
        }
    }
}

#[test]
fn files_are_read_into_the_numbers_that_the_kernel_uses_and_nowhere_else() {
    let _alone = alone();
    // A power of two: memory that doubles while a file is read has no room to spare.
    let (folder, tokens) = (tempfile::tempdir().expect("a folder"), 65_536);
    let path = |name: &str| folder.path().join(name).to_str().expect("a plain path").to_string();
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({tokens}, {WIDTH}), }}");
    let padded = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00v\x00".to_vec();
    bytes.extend(padded.as_bytes());
    bytes.extend((0..tokens * WIDTH).flat_map(|i| ((i % 17) as f32).to_le_bytes()));
    for name in ["q.npy", "k.npy", "v.npy"] {
        std::fs::write(path(name), &bytes).expect("a file");
    }
    drop(bytes);
    let [q, k, v] = ["q.npy", "k.npy", "v.npy"].map(path);
    let line =
        format!("attend --q {q} --k {k} --v {v} --fast --causal --window 9 --save O={}", path("o.npy"));
    // The definitions of the command line are made once in a program.
    attn("attend --words bat").ok();
    let before = MEMORY.taken();
    let (_, most) = MEMORY.most_during(|| attn(&line).ok());
    let matrix = tokens * WIDTH * size_of::<f32>();
    let log_sum_exps = tokens * size_of::<f32>();
    let beside = (most - before) - (4 * matrix + log_sum_exps);
    assert!(beside <= ALLOWED * 3 / 4, "{beside} bytes beside Q, K, V and O, of {matrix} each");
}
