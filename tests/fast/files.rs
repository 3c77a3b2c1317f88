//! `attn attend --fast` on files: read in any type and order straight into the kernel's numbers, written in their type, and
//! elided on the screen where they are many.

use std::path::{Path, PathBuf};

use crate::common::attn;
use attn::input::Files;
use attn::matrix::Matrix;
use attn::read::{AllowedNumbers, Array};
use serde_json::Value;
use tempfile::TempDir;

/// A `.npy` file of version 1.0.
fn npy(folder: &TempDir, name: &str, descr: &str, fortran: bool, shape: &[usize], data: Vec<u8>) -> String {
    let fortran = if fortran { "True" } else { "False" };
    let sides: String = shape.iter().map(|side| format!("{side}, ")).collect();
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({sides}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_string()
}

fn f32s(numbers: impl IntoIterator<Item = f64>) -> Vec<u8> {
    numbers.into_iter().flat_map(|x| (x as f32).to_le_bytes()).collect()
}

/// A number for a place, the same on every machine: a multiple of 1/32 in [−1, 1).
fn number(seed: usize, i: usize, j: usize) -> f64 {
    let mixed = (seed * 7919 + i * 104_729 + j * 1_299_709) % 64;
    mixed as f64 / 32.0 - 1.0
}

fn rows(seed: usize, rows: usize, cols: usize) -> Matrix {
    Matrix::from_fn(rows, cols, |i, j| number(seed, i, j))
}

fn read(path: &Path) -> Array {
    Files::new(&mut std::io::empty()).array(path.to_str().unwrap(), AllowedNumbers::FINITE).unwrap()
}

#[test]
fn every_type_and_order_of_a_file_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (t, d, heads) = (5, 3, 2);
    let q = rows(1, t, heads * d);
    let head = |h: usize, i: usize, c: usize| q[(i, h * d + c)];
    let places = || (0..heads).flat_map(|h| (0..t).flat_map(move |i| (0..d).map(move |c| (h, i, c))));
    let stacked: Vec<f64> = places().map(|(h, i, c)| head(h, i, c)).collect();
    let fortran_stacked: Vec<f64> = (0..d)
        .flat_map(|c| (0..t).flat_map(move |i| (0..heads).map(move |h| (h, i, c))))
        .map(|(h, i, c)| head(h, i, c))
        .collect();
    let shape = [t, heads * d];
    let big_endian = q.cells().flat_map(|x| (x as f32).to_be_bytes()).collect();
    let files = [
        npy(&folder, "c.npy", "<f4", false, &shape, f32s(q.cells())),
        npy(&folder, "fortran.npy", "<f4", true, &shape, f32s(q.transposed().cells())),
        npy(&folder, "stacked.npy", "<f4", false, &[heads, t, d], f32s(stacked)),
        npy(&folder, "fortran_stacked.npy", "<f4", true, &[heads, t, d], f32s(fortran_stacked)),
        npy(&folder, "double.npy", "<f8", false, &shape, q.cells().flat_map(f64::to_le_bytes).collect()),
        npy(&folder, "big.npy", ">f4", false, &shape, big_endian),
    ];
    let kv = "--k '1 0 2; 0 1 1; 2 2 0; 1 1 1' --v '1 2; 3 4; 5 6; 7 8' --kv-heads 1 --heads 2";
    let of = |file: &str| {
        let nodes = attn(&format!("attend --q {file} {kv} --fast --causal")).nodes();
        (nodes.matrix("Q"), nodes.matrix("O"))
    };
    let first = of(&files[0]);
    assert!(first.0.same_bits(&q));
    let mut files = files.to_vec();
    for ending in ["npz", "safetensors", "csv", "json"] {
        let file = folder.path().join(format!("q.{ending}"));
        attn(&format!("attend --q {} {kv} --fast --save Q={}", files[0], file.display())).ok();
        files.push(file.to_str().unwrap().to_string());
    }
    for file in &files[1..] {
        let (q, o) = of(file);
        assert!(q.same_bits(&first.0) && o.same_bits(&first.1), "{file}");
    }
}

#[test]
fn a_number_that_may_not_stand_there_is_named_with_its_cell_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let with_nan = |fortran: bool| {
        let mut numbers = vec![1.0; 6];
        // Row 2, column 1 of a 2×3 matrix.
        numbers[if fortran { 1 } else { 3 }] = f64::NAN;
        npy(&folder, "q.npy", "<f4", fortran, &[2, 3], f32s(numbers))
    };
    for fortran in [false, true] {
        let q = with_nan(fortran);
        let line = format!("attend --q {q} --k '1 1 1' --v '1' --fast");
        attn(&line).refused(&["q.npy, row 2, column 1: this is NaN"]);
    }
    let huge = [1.0, 2.0, 3.0, 4.0, 5.0, 1e39].iter().flat_map(|x: &f64| x.to_le_bytes()).collect();
    let q = npy(&folder, "q.npy", "<f8", false, &[2, 3], huge);
    attn(&format!("attend --q {q} --k '1 1 1' --v '1' --fast"))
        .refused(&["q.npy, row 2, column 3: 1e39 is too large for f32", "--dtype f64"]);
    let cut = npy(&folder, "q.npy", "<f4", false, &[100, 3], f32s([1.0; 6]));
    attn(&format!("attend --q {cut} --k '1 1 1' --v '1' --fast"))
        .refused(&["1200 bytes, but 24 bytes follow"]);
}

#[test]
fn a_result_is_saved_in_its_own_type() {
    let folder = tempfile::tempdir().unwrap();
    let small = "attend --words 'bat cave racket' --fast";
    for (dtype, descr, roundoff) in
        [("f32", "<f4", f64::from(f32::EPSILON) / 2.0), ("f64", "<f8", f64::EPSILON / 2.0)]
    {
        // Text has the digits of the type: only in the type they are the same number again.
        let in_type = |x: Matrix| if dtype == "f32" { x.map(|x| f64::from(x as f32)) } else { x };
        let o = in_type(attn(&format!("{small} --dtype {dtype}")).nodes().matrix("O"));
        for ending in ["npy", "npz", "safetensors", "csv", "json"] {
            let file = folder.path().join(format!("o.{ending}"));
            attn(&format!("{small} --dtype {dtype} --save O={}", file.display())).ok();
            let array = read(&file);
            assert_eq!(array.facts.roundoff, if ["csv", "json"].contains(&ending) { 0.0 } else { roundoff });
            assert!(in_type(array.into_matrix().unwrap()).same_bits(&o), "{ending} {dtype}");
        }
        let bytes = std::fs::read(folder.path().join("o.npy")).unwrap();
        let header = String::from_utf8_lossy(&bytes[..128]).into_owned();
        assert!(
            header.contains(descr) && bytes.len() == 128 + 6 * descr[2..].parse::<usize>().unwrap(),
            "{header}"
        );
    }
}

/// 15000 tokens of width 8: more numbers than are looked at.
struct LargeFiles {
    folder: TempDir,
    line: String,
    tokens: usize,
}

impl LargeFiles {
    fn new() -> LargeFiles {
        let (folder, tokens) = (tempfile::tempdir().unwrap(), 15_000);
        let file = |name: &str, seed| {
            npy(&folder, name, "<f4", false, &[tokens, 8], f32s(rows(seed, tokens, 8).cells()))
        };
        let (q, k, v) = (file("q.npy", 1), file("k.npy", 2), file("v.npy", 3));
        let line = format!("attend --q {q} --k {k} --v {v} --fast --causal --window 5");
        LargeFiles { folder, line, tokens }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

#[test]
fn of_many_numbers_the_screen_shows_the_edges_and_a_file_has_all() {
    let large = LargeFiles::new();
    let o = large.path("o.npy");
    let outcome = attn(&format!("{} --save O={}", large.line, o.display())).ok();
    assert!(outcome.out.contains("O (15000×8) = attention(Q (15000×8), K (15000×8), V (15000×8)), fused"));
    assert!(outcome.out.contains("S (15000×15000) = Q (15000×8) · Kᵀ (8×15000): never formed"));
    assert!(outcome.out.contains("│ 14998 │") && outcome.out.contains("│ …     │"), "{}", outcome.out);
    assert!(outcome.out.lines().count() < 80, "{}", outcome.out);
    let saved = read(&o).into_matrix().unwrap();
    assert_eq!((saved.rows(), saved.cols()), (large.tokens, 8));

    // The last queries see no more than the last keys.
    let last = |seed: usize, count: usize| {
        let rows = (large.tokens - count..large.tokens)
            .map(|i| (0..8).map(|j| number(seed, i, j).to_string()).collect::<Vec<_>>().join(" "));
        rows.collect::<Vec<_>>().join("; ")
    };
    let (q, k, v) = (last(1, 4), last(2, 8), last(3, 8));
    let exact =
        attn(&format!("attend --q '{q}' --k '{k}' --v '{v}' --causal --window 5")).nodes().matrix("O");
    for (i, j) in (0..4).flat_map(|i| (0..8).map(move |j| (i, j))) {
        let (ours, theirs) = (saved[(large.tokens - 4 + i, j)], exact[(i, j)]);
        assert!((ours - theirs).abs() < 1e-5, "row {i}, column {j}: {ours} and {theirs}");
    }
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn data_formats_say_that_many_numbers_are_left_out() {
    let large = LargeFiles::new();
    let nodes = attn(&large.line).nodes();
    let o: &Value = nodes.0.last().unwrap();
    assert!(o["values"].is_null() && o["never_formed"].is_null() && o["dtype"] == "f32");
    assert_eq!(o["shape"], serde_json::json!([15_000, 8]));
    assert!(o["left_out"].as_str().unwrap().contains("--save"));
    let numpy = attn(&format!("{} --only O --format numpy", large.line)).ok().out;
    assert!(numpy.lines().count() < 20 && numpy.contains("\n ...\n"), "{numpy}");
    attn(&format!("{} --format csv", large.line)).refused(&["`Q` is 15000×8", "--save Q=out.npy"]);
    attn(&format!("{} --explain 'Q[1,1]'", large.line)).refused(&["`Q` is 15000×8"]);
}

#[test]
fn the_exact_path_still_refuses_what_it_cannot_record() {
    let large = LargeFiles::new();
    attn(&large.line.replace(" --fast", ""))
        .refused(&["recording every step", "more than the limit of 20000000"]);
}

#[test]
fn a_result_that_no_memory_holds_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let many = 16_000_000;
    let ones = |name: &str, shape: [usize; 2]| npy(&folder, name, "|u1", false, &shape, vec![1; many]);
    let (q, v) = (ones("q.npy", [many, 1]), ones("v.npy", [1, many]));
    attn(&format!("attend --q {q} --k 1 --v {v} --fast")).refused(&[
        "an output of 1 head of 16000000×16000000 numbers",
        "of memory, but at most",
        "--memory ",
    ]);
}
