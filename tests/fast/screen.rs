//! `attn attend --fast` as its user sees it: large inputs and results, what is said of them, and what is refused.

use std::path::Path;

use crate::common::attn;
use attn::input::{Files, WritePermission, save};
use attn::kernel::Layout;
use attn::matrix::Matrix;
use attn::read::AllowedNumbers;
use attn::tensor::{Element, Tensor};
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
fn file<T: Element>(folder: &TempDir, name: &str, matrix: &Matrix) -> String {
    let values = matrix.cells().map(|x| T::nearest(x)).collect::<Vec<T>>();
    let numbers = Tensor::new(values, Layout::stacked(1, matrix.rows(), matrix.cols())).unwrap();
    let path = folder.path().join(name);
    save(&path, "Q", &numbers, WritePermission::Allowed).unwrap();
    path.to_str().unwrap().to_string()
}

fn read(path: impl AsRef<Path>) -> Matrix {
    let mut nothing = std::io::empty();
    Files::new(&mut nothing).matrix(path.as_ref().to_str().unwrap(), AllowedNumbers::ANYTHING).unwrap()
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

/// 60 tokens of width 5, and masks and a bias for them, each in several types and places.
struct MaskedTokens {
    folder: TempDir,
    line: String,
}

impl MaskedTokens {
    const N: usize = 60;

    fn new() -> MaskedTokens {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str, seed| file::<f32>(&folder, name, &rows(seed, Self::N, 5));
        let (q, k, v) = (of("q.npy", 1), of("k.npy", 2), of("v.npy", 3));
        MaskedTokens { folder, line: format!("attend --q {q} --k {k} --v {v} --only O") }
    }

    /// A file with what a cell says of query i and key j.
    fn pairs<T: Element>(&self, name: &str, cell: impl Fn(usize, usize) -> f64) -> String {
        file::<T>(&self.folder, name, &Matrix::from_fn(Self::N, Self::N, cell))
    }

    fn o(&self, options: &str) -> Matrix {
        attn(&format!("{} --heads 5 {options}", self.line)).nodes().matrix("O")
    }
}

/// Every query sees itself and about half of the other keys.
fn sees(i: usize, j: usize) -> bool {
    i == j || (i * 7 + j * 3) % 5 < 2
}

#[test]
fn a_mask_of_any_type_and_file_hides_the_same_pairs_as_on_the_exact_path() {
    let masked = MaskedTokens::new();
    let of = |i, j| f64::from(u8::from(sees(i, j)));
    let masks = [
        format!("--mask {}", masked.pairs::<bool>("m.npy", of)),
        format!("--mask {}", masked.pairs::<bool>("m.safetensors", of)),
        format!("--mask {}", masked.pairs::<bool>("m.npz", of)),
        format!("--mask {} --mask-kind allow", masked.pairs::<f64>("m64.npy", of)),
        format!("--mask {} --mask-kind allow", masked.pairs::<f64>("m.csv", of)),
        format!("--mask {} --mask-kind allow", masked.pairs::<f64>("m.json", of)),
        format!("--mask {} --mask-kind block", masked.pairs::<f32>("b.npy", |i, j| 1.0 - of(i, j))),
        format!("--mask {} --mask-kind block", masked.pairs::<bool>("bb.npy", |i, j| 1.0 - of(i, j))),
        format!(
            "--mask {}",
            masked.pairs::<f32>("a.npy", |i, j| if sees(i, j) { 0.0 } else { f64::NEG_INFINITY })
        ),
    ];
    let exact = masked.o(&masks[0]);
    for mask in &masks {
        assert_close(&masked.o(&format!("{mask} --fast")), &exact, 2e-6);
        assert_close(&masked.o(&format!("{mask} --fast --dtype f64")), &exact, 1e-14);
        assert!(masked.o(mask).same_bits(&exact), "{mask}");
    }
}

#[test]
fn a_bias_comes_before_the_temperature_and_a_mask_that_is_added_after_it() {
    let masked = MaskedTokens::new();
    let bias = masked.pairs::<f32>("bias.npy", |i, j| number(5, i, j));
    let added =
        masked.pairs::<f32>("added.npy", |i, j| if sees(i, j) { number(6, i, j) } else { f64::NEG_INFINITY });
    let mask = masked.pairs::<bool>("mask.npy", |i, j| f64::from(u8::from(sees(i, j))));
    for options in [
        format!("--bias {bias}"),
        format!("--bias {bias} --temperature 0.5"),
        format!("--mask {added} --temperature 0.5"),
        format!("--bias {bias} --mask {added} --temperature 2 --causal"),
        format!("--bias {bias} --mask {mask} --window 7"),
    ] {
        let (fast, exact) = (masked.o(&format!("{options} --fast --dtype f64")), masked.o(&options));
        assert_close(&fast, &exact, 1e-13);
    }
}

#[test]
fn a_file_of_several_matrices_gives_the_bits_of_single_files() {
    let masked = MaskedTokens::new();
    let json = masked.folder.path().join("all.json");
    let mask = masked.pairs::<bool>("mask.npy", |i, j| f64::from(u8::from(sees(i, j))));
    let bias = masked.pairs::<f32>("bias.npy", |i, j| number(5, i, j));
    let single = masked.o(&format!("--fast --mask {mask} --bias {bias}"));
    let text = |rows: &Matrix, cell: fn(f64) -> String| {
        let row = |i| format!("[{}]", rows.row(i).map(cell).collect::<Vec<_>>().join(","));
        format!("[{}]", (0..rows.rows()).map(row).collect::<Vec<_>>().join(","))
    };
    let truth = |x: f64| (x != 0.0).to_string();
    let number = |x: f64| x.to_string();
    let entries = [
        ("Q", text(&rows(1, MaskedTokens::N, 5), number)),
        ("K", text(&rows(2, MaskedTokens::N, 5), number)),
        ("V", text(&rows(3, MaskedTokens::N, 5), number)),
        ("M", text(&read(&mask), truth)),
        ("B", text(&read(&bias), number)),
    ];
    let entries = entries.map(|(name, values)| format!("\"{name}\": {values}"));
    std::fs::write(&json, format!("{{{}}}", entries.join(", "))).unwrap();
    let line = format!("attend {} --heads 5 --fast", json.display());
    let nodes = attn(&line).nodes();
    assert!(nodes.matrix("O").same_bits(&single));
    let dtypes: Vec<_> = nodes.0[..5].iter().map(|node| (&node["name"], &node["dtype"])).collect();
    let of = |name: &str, dtype: &str| (name.into(), dtype.into());
    let expected: Vec<(serde_json::Value, serde_json::Value)> =
        [of("Q", "f32"), of("K", "f32"), of("V", "f32"), of("B", "f32"), of("M", "bool")].to_vec();
    assert!(dtypes.into_iter().eq(expected.iter().map(|(name, dtype)| (name, dtype))));
}

#[test]
fn what_a_mask_may_not_hold_is_refused_on_the_fast_path_too() {
    let masked = MaskedTokens::new();
    let line = &masked.line;
    let refused = |options: &str, words: &[&str]| attn(&format!("{line} --fast {options}")).refused(words);
    let ones = masked.pairs::<f32>("ones.npy", |_, _| 1.0);
    refused(&format!("--mask {ones}"), &["a mask with only 0 and 1 can mean three things"]);
    let truth = masked.pairs::<bool>("truth.npy", |_, _| 1.0);
    refused(&format!("--mask {truth} --mask-kind add"), &["true and false cannot be added"]);
    for kind in ["", "--mask-kind allow", "--mask-kind block", "--mask-kind add"] {
        let nan = masked.pairs::<f64>("nan.npy", |i, j| if (i, j) == (2, 1) { f64::NAN } else { 0.5 });
        refused(&format!("--mask {nan} {kind}"), &["nan.npy, row 3, column 2: ", "NaN"]);
    }
    let inf = masked.pairs::<f32>("inf.npy", |i, _| if i == 7 { f64::INFINITY } else { 0.5 });
    refused(&format!("--mask {inf}"), &["`inf` in a mask", "inf.npy"]);
    refused(&format!("--bias {inf}"), &["`inf` in a bias", "inf.npy"]);
    let short = file::<bool>(&masked.folder, "short.npy", &Matrix::filled(3, 4, 1.0));
    refused(&format!("--mask {short}"), &["the mask is 3×4", "the scores are 60×60"]);
}

#[test]
fn rounding_is_told_where_a_number_has_changed_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let said = |line: &str| attn(&format!("attend {line} --fast --only O")).ok().err;
    let exact = file::<f64>(&folder, "exact.npy", &Matrix::of([[0.5, 3.0]]));
    let long = file::<f64>(&folder, "long.npy", &Matrix::of([[0.1, 3.0]]));
    let given = "--k '1 1' --v '1 2'";
    for quiet in ["--x '1 2; 3 4'".into(), format!("--q '1 2' {given}"), format!("--q {exact} {given}")] {
        assert_eq!(said(&quiet), "", "{quiet}");
    }
    let note = |names: &str| format!("note: The fused kernel reads {names} rounded to f32.\n");
    assert_eq!(said(&format!("--q '16777217 1' {given}")), note("Q"));
    assert_eq!(said(&format!("--q {long} {given}")), note("Q"));
    assert_eq!(said("--x '0.1 1'"), note("Q, K, V"));
    assert_eq!(said(&format!("--q '1 2' {given} --bias 0.1")), note("B"));
    assert_eq!(said(&format!("--q {long} {given} --dtype f64")), "");
}

/// 40 tokens of width 30: more numbers than a screen shows.
fn wide(folder: &TempDir, options: &str) -> String {
    let of = |name: &str, seed| file::<f32>(folder, name, &rows(seed, 40, 30));
    let (q, k, v) = (of("q.npy", 1), of("k.npy", 2), of("v.npy", 3));
    format!("attend --q {q} --k {k} --v {v} --fast {options}")
}

#[test]
fn a_screen_has_the_edges_of_more_than_a_thousand_numbers_and_says_where_all_are() {
    let folder = tempfile::tempdir().unwrap();
    let hint = "Only the edges of large matrices are shown. All of O: --save O=out.npy";
    let whole = attn(&wide(&folder, "")).ok().out;
    // Of Q, K, V and O the rows between are left out.
    assert!(whole.contains(hint) && whole.matches("│ …  │").count() == 4, "{whole}");
    let only = attn(&wide(&folder, "--only O")).ok();
    assert!(only.err.contains(hint) && only.out.lines().count() == 12, "{}{}", only.out, only.err);
    let saved = folder.path().join("o.npy");
    assert!(!attn(&wide(&folder, &format!("--save O={}", saved.display()))).ok().out.contains("edges"));
    assert!(!attn(&wide(&folder, "--only LSE")).ok().err.contains("edges"));
    // What programs read is not shortened, and not told of.
    let csv = attn(&wide(&folder, "--only O --format csv")).ok();
    assert_eq!((csv.out.lines().count(), csv.err.as_str()), (40, ""));
    // Step by step everything is shown.
    let exact = attn(&wide(&folder, "--only O").replace(" --fast", "")).ok();
    assert!(!exact.out.contains('…') && exact.err.is_empty());
}

#[test]
fn what_only_asks_for_is_written_whole_however_large_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let q = file::<f32>(&folder, "q.npy", &rows(1, 30_000, 4));
    let saved = folder.path().join("o.npy");
    let line = format!("attend --q {q} --k '1 0 1 0' --v '1 2 3 4' --fast --only Q");
    let csv = attn(&format!("{line} --format csv")).ok().out;
    assert_eq!(csv.lines().count(), 30_000);
    let json = attn(&format!("{line} --save Q={}", saved.display())).nodes();
    assert!(json.matrix("Q").same_bits(&read(&saved)));
    assert!(json.0[0]["left_out"].is_null());
    let all = attn(&line.replace(" --only Q", "")).nodes();
    assert!(all.0[0]["left_out"].as_str().unwrap().contains("--only Q") && all.0[0]["values"].is_null());
}

#[test]
fn single_precision_is_written_in_its_own_digits() {
    let line = "attend --q '1 1' --k '1 1' --v '0.1 16777216 1e-7 -1e30' --fast --only O";
    let csv = |options: &str| attn(&format!("{line} --format csv {options}")).ok().out;
    assert_eq!(csv(""), "0.1,16777216,1e-7,-1e30\n");
    assert_eq!(csv("--dtype f64"), "0.1,16777216,1e-7,-1e30\n");
    let json = attn(&format!("{line} --format json")).ok().out;
    assert!(json.contains(r#""values":[[0.1,16777216.0,1e-7,-1e+30]]"#), "{json}");
}

#[test]
fn the_equation_of_o_names_what_is_done_to_the_scores() {
    let line = "attend --q '1 0; 0 1' --k '1 0; 0 1' --v '1 2; 3 4' --fast --only O";
    let out = |options: &str| attn(&format!("{line} {options}")).ok().out.lines().next().unwrap().to_string();
    let plain = "O (2×2) = attention(Q (2×2), K (2×2), V (2×2)), fused";
    assert_eq!(out(""), plain);
    assert_eq!(out("--causal"), format!("{plain}, causal"));
    assert_eq!(out("--window 3"), format!("{plain}, window 3"));
    assert_eq!(out("--scale none"), format!("{plain}, not scaled"));
    assert_eq!(out("--scale 0.5"), format!("{plain}, scale 0.5"));
    assert_eq!(out("--temperature 2"), format!("{plain}, temperature 2"));
}

#[test]
fn versus_tells_other_options_from_other_numbers_and_other_types() {
    let line = "attend --words 'bat cave racket' --fast";
    let versus = |options: &str| attn(&format!("{line} --versus '{options}'")).ok().out;
    assert!(versus("--causal").contains("O: computed in another way."));
    let wider = versus("--dtype f64");
    assert!(wider.contains("O: computed in f32 here, and in f64 with --dtype f64."), "{wider}");
    // What is never formed is not the same.
    assert!(wider.contains("The same in both: X, W_Q, Q, W_K, K, W_V, V.\n"), "{wider}");
}

#[test]
fn a_cell_of_what_is_never_formed_is_refused_for_that_whatever_its_address() {
    let line = "attend --words 'bat cave racket' --fast --explain";
    for address in ["A[bat,cave]", "A[1,1]", "A[nobody,7]", "A[99]"] {
        attn(line).arg(address).refused(&["`A` is never formed", "leave out --fast"]);
    }
    attn(&format!("{line} 'A[bat,cave]' --heads 2")).refused(&["`A_1` is never formed"]);
}

#[test]
fn every_matrix_of_the_kernel_that_holds_nan_is_named_with_a_way_on() {
    let line = "attend --q '1e30 1' --k '1e30 1' --v '1 2' --fast";
    let warning = "warning: LSE holds NaN, and so does O: an intermediate number is too large for a 32-bit float; --dtype f64";
    assert!(attn(line).ok().err.replace("\n         ", " ").contains(warning));
    assert!(!attn(&format!("{line} --dtype f64")).ok().err.contains("NaN"));
}

#[test]
fn the_heads_of_the_log_sum_exp_are_named_and_how_it_ran_is_said_aside() {
    let line = "attend --q '1 0; 0 1' --k '1 0; 0 1' --v '1 2; 3 4' --heads 2 --fast";
    let lse = attn(&format!("{line} --only LSE")).nodes();
    assert_eq!(lse.0[0]["cols"], serde_json::json!(["head 1", "head 2"]));
    let ran = attn(&format!("{line} --simd portable --threads 1")).ok();
    assert_eq!(ran.err, "computed with portable, on 1 thread\n");
    // Where a program reads, or some matrices alone are asked for, it is nobody's business.
    assert_eq!(attn(&format!("{line} --format json")).ok().err, "");
    assert_eq!(attn(&format!("{line} --only O")).ok().err, "");
}

#[test]
fn the_exact_path_says_that_the_fast_one_takes_more() {
    let folder = tempfile::tempdir().unwrap();
    let q = file::<f32>(&folder, "q.npy", &rows(1, 3000, 1));
    attn(&format!("attend --x {q}")).refused(&[
        "recording every step",
        "of 1 head over",
        "--fast, which does not store",
    ]);
    let k = folder.path().join("huge.npy");
    let header = "{'descr': '|b1', 'fortran_order': False, 'shape': (5000, 5000), }\n";
    let bytes = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    std::fs::write(&k, bytes).unwrap();
    attn(&format!("attend --q {} --k 1 --v 1", k.display()))
        .refused(&["more than 20000000 numbers", "--fast"]);
}
