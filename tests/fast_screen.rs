//! `attn attend --fast` as its user sees it: large inputs and results, what is said of them, and what is refused.

mod common;

use std::path::Path;

use attn::graph::{Numbers, Typed};
use attn::input::{Allow, Files, Writing, save};
use attn::kernel::Layout;
use attn::matrix::Matrix;
use common::attn;
use tempfile::TempDir;

/// A number for a place, the same on every machine: a multiple of 1/32 in [−1, 1).
fn number(seed: usize, i: usize, j: usize) -> f64 {
    let mixed = (seed * 7919 + i * 104_729 + j * 1_299_709) % 64;
    mixed as f64 / 32.0 - 1.0
}

fn rows(seed: usize, rows: usize, cols: usize) -> Matrix {
    Matrix::from_fn(rows, cols, |i, j| number(seed, i, j))
}

/// A file of these numbers in the type T, and its name.
fn file<T: Typed>(folder: &TempDir, name: &str, matrix: &Matrix) -> String {
    let values = matrix.cells().map(|x| T::nearest(x)).collect::<Vec<T>>();
    let numbers = Numbers::new(values, Layout::stacked(1, matrix.rows(), matrix.cols())).unwrap();
    let path = folder.path().join(name);
    save(&path, "Q", &numbers, Writing::Allowed).unwrap();
    path.to_str().unwrap().to_string()
}

fn read(path: impl AsRef<Path>) -> Matrix {
    let mut nothing = std::io::empty();
    Files::new(&mut nothing).matrix(path.as_ref().to_str().unwrap(), Allow::ANYTHING).unwrap()
}

#[track_caller]
fn assert_close(ours: &Matrix, theirs: &Matrix, within: f64) {
    assert_eq!(ours.shape(), theirs.shape());
    let furthest = ours.cells().zip(theirs.cells()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(furthest <= within, "{furthest:e}");
}

#[test]
fn the_projection_and_the_residual_follow_on_however_many_heads_and_rows() {
    let folder = tempfile::tempdir().unwrap();
    // More numbers than are looked at cell by cell.
    let x = file::<f32>(&folder, "x.npy", &rows(1, 1700, 60));
    let k = file::<f32>(&folder, "k.npy", &rows(2, 3, 60));
    let v = file::<f32>(&folder, "v.npy", &rows(3, 3, 60));
    let wo = file::<f32>(&folder, "wo.npy", &rows(4, 60, 60));
    let (ours, theirs) = (folder.path().join("ours.npy"), folder.path().join("theirs.npy"));
    for options in [format!("--wo {wo}"), "--residual".into(), format!("--wo {wo} --residual")] {
        let line = format!("attend --x {x} --k {k} --v {v} --heads 3 {options} --only O");
        attn(&format!("{line} --fast --save O={}", ours.display())).ok();
        attn(&format!("{line} --save O={}", theirs.display())).ok();
        assert_close(&read(&ours), &read(&theirs), 1e-4);
    }
}

#[test]
fn more_than_a_projection_can_be_computed_from_is_refused_with_a_way_on() {
    let folder = tempfile::tempdir().unwrap();
    let q = file::<f32>(&folder, "q.npy", &Matrix::filled(5_000_001, 1, 0.5));
    let line = format!("attend --q {q} --k 1 --v '1 2 3 4' --fast");
    attn(&format!("{line} --wo '1; 1; 1; 1'")).refused(&["`C` is 5000001×4", "--save O=out.npy"]);
}
