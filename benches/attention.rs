//! The fused path on the shapes that it is judged by, for whoever changes it. Run with `cargo bench --bench attention`;
//! `cargo bench --bench attention -- f32 --max-time 1` takes a part of it. Items are useful flop, so that Gitem/s are GFLOP/s.
//!
//! Beside other libraries: `benches/peers.py`. Beside this machine's peak: `attn bench`.

use attn::bench::{Problem, Shape};
use attn::kernel::{Kernels, Machine};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

const fn shape(heads: usize, key_value_heads: usize, keys: usize, width: usize, causal: bool) -> Shape {
    Shape { heads, key_value_heads, queries: keys, keys, width, causal }
}

const SHAPES: [Shape; 11] = [
    shape(8, 8, 16, 64, false),
    shape(8, 8, 16, 64, true),
    shape(8, 8, 128, 64, false),
    shape(8, 8, 128, 64, true),
    shape(12, 12, 1024, 64, false),
    shape(12, 12, 1024, 64, true),
    shape(8, 8, 4096, 64, false),
    shape(8, 8, 4096, 64, true),
    shape(32, 8, 2048, 128, false),
    shape(32, 8, 2048, 128, true),
    Shape { queries: 1, ..shape(32, 8, 8192, 128, false) },
];

/// One shape on some threads.
fn attend<T: Kernels>(bencher: Bencher<'_, '_>, shape: Shape, threads: usize) {
    let machine = Machine { threads, ..Machine::here() };
    let mut problem = Problem::<T>::drawn(shape).expect("a shape of the list, and memory for it");
    bencher
        .counter(ItemsCount::new(shape.flop()))
        .bench_local(|| problem.attend(machine).expect("this machine"));
}

#[divan::bench(args = SHAPES, consts = [1, 2])]
fn f32<const THREADS: usize>(bencher: Bencher<'_, '_>, shape: Shape) {
    attend::<f32>(bencher, shape, THREADS);
}

#[divan::bench(args = SHAPES, consts = [1, 2])]
fn f64<const THREADS: usize>(bencher: Bencher<'_, '_>, shape: Shape) {
    attend::<f64>(bencher, shape, THREADS);
}
