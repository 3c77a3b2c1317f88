//! The exact path beside plain loops over the same numbers, which add in the same order: `cargo bench --bench exact`. A ratio above 1
//! is a step of `attn` that takes longer than the loop.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use attn::attention::{Axis, Base};
use attn::elementary::exp;
use attn::graph::Op;
use attn::matrix::Matrix;

const TIMES: usize = 15;

fn main() {
    let side = matrix(256, 256);
    let scores = matrix(512, 512);
    let tokens = matrix(512, 768);
    let logits = matrix(1, 49_152);
    let mut report = std::io::stdout().lock();
    let _ = writeln!(report, "{:<34} {:>9} {:>9} {:>6}", "", "attn ms", "loop ms", "ratio");
    let mut row = |name: &str, op: Op, inputs: &[&Matrix], plain: &dyn Fn(&[Vec<f64>]) -> Vec<f64>| {
        let rows: Vec<Vec<f64>> = (0..inputs[0].rows()).map(|i| inputs[0].row(i).collect()).collect();
        let ours = op.apply(inputs).expect("inputs that fit");
        assert!(
            ours.cells().zip(plain(&rows)).all(|(a, b)| a.to_bits() == b.to_bits()),
            "{name}: other bits"
        );
        let (mut best, mut best_plain) = (f64::MAX, f64::MAX);
        for _ in 0..TIMES {
            best = best.min(seconds(|| drop(black_box(op.apply(black_box(inputs))))));
            best_plain = best_plain.min(seconds(|| drop(black_box(plain(black_box(&rows))))));
        }
        let (ms, plain_ms) = (best * 1e3, best_plain * 1e3);
        let _ = writeln!(report, "{name:<34} {ms:>9.3} {plain_ms:>9.3} {:>6.2}", ms / plain_ms);
    };
    row("product, 256×256×256", Op::Product, &[&side, &side], &product);
    row("softmax, 512×512", Op::Softmax(Axis::Rows, Base::E), &[&scores], &softmax);
    row("layer norm, 512×768", Op::LayerNorm(1e-5), &[&tokens], &layer_norm);
    row("softmax of 49,152 logits", Op::Softmax(Axis::Rows, Base::E), &[&logits], &softmax);
}

fn matrix(rows: usize, cols: usize) -> Matrix {
    Matrix::from_fn(rows, cols, |i, j| ((i * 31 + j * 17 + 1) % 1009) as f64 / 252.25 - 2.0)
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// A matrix times itself.
fn product(a: &[Vec<f64>]) -> Vec<f64> {
    let cell = |row: &Vec<f64>, j: usize| row.iter().zip(a).fold(0.0, |sum, (x, other)| sum + x * other[j]);
    a.iter().flat_map(|row| (0..row.len()).map(move |j| cell(row, j))).collect()
}

fn softmax(a: &[Vec<f64>]) -> Vec<f64> {
    let row = |row: &Vec<f64>| {
        let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let powers: Vec<f64> = row.iter().map(|x| exp(x - max)).collect();
        let sum = powers.iter().fold(0.0, |sum, x| sum + x);
        powers.into_iter().map(move |x| x / sum)
    };
    a.iter().flat_map(row).collect()
}

fn layer_norm(a: &[Vec<f64>]) -> Vec<f64> {
    let row = |row: &Vec<f64>| {
        let mean = row.iter().fold(0.0, |sum, x| sum + x) / row.len() as f64;
        let centred: Vec<f64> = row.iter().map(|x| x - mean).collect();
        let root = (centred.iter().fold(0.0, |sum, x| sum + x * x) / row.len() as f64 + 1e-5).sqrt();
        centred.into_iter().map(move |x| x / root)
    };
    a.iter().flat_map(row).collect()
}
