//! A mask or a bias for each head, in every form in which it is handed over: `masks_per_head.json` has what NumPy computes.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Outcome, attn};
use crate::exercise::{doubles, npy, place};
use crate::golden::{self, list, matrix, string};

fn golden() -> Value {
    golden::json("masks_per_head.json")
}

fn case(of: &str) -> Value {
    let found = list(&golden(), "cases").iter().find(|case| case["of"] == of).cloned();
    found.unwrap_or_else(|| panic!("no case `{of}`"))
}

/// Queries, keys and values of a case, as options.
fn qkv(case: &Value) -> String {
    let (all, is_shared) = (golden(), string(case, "options").contains("kv-heads"));
    let names = if is_shared { ["Q", "K_shared", "V_shared"] } else { ["Q", "K", "V"] };
    let [q, k, v] = names.map(|name| rows(&all[name]));
    format!("--heads 2 --q '{q}' --k '{k}' --v '{v}' {}", string(case, "options"))
}

/// Rows of numbers as they are typed.
fn rows(of: &Value) -> String {
    let row = |row: &Value| {
        row.as_array().unwrap().iter().map(|x| x.to_string().replace('"', "")).collect::<Vec<_>>().join(" ")
    };
    of.as_array().unwrap().iter().map(row).collect::<Vec<_>>().join("; ")
}

fn shape(case: &Value) -> Vec<usize> {
    list(case, "shape").iter().map(|side| side.as_u64().unwrap() as usize).collect()
}

/// Values as lists within lists.
fn nested(shape: &[usize], values: &[Value]) -> Value {
    match shape {
        [_] => json!(values),
        [first, rest @ ..] => values.chunks(values.len() / first).map(|part| nested(rest, part)).collect(),
        [] => values[0].clone(),
    }
}

/// The mask or bias of a case as a file of this kind; none where it has no such form.
fn file(folder: &Path, kind: &str, case: &Value) -> Option<String> {
    let (shape, values) = (shape(case), list(case, "values"));
    let is_boolean = values[0].is_boolean();
    let number = |x: &Value| match x {
        Value::Bool(x) => f64::from(u8::from(*x)),
        Value::String(_) => f64::NEG_INFINITY,
        x => x.as_f64().unwrap(),
    };
    let path = folder.join(format!("m.{}", kind.rsplit(' ').next().unwrap()));
    let text = |rows: usize| rows_of(&nested(&[rows, values.len() / rows], values));
    match (kind, &shape[..]) {
        ("npy", _) if is_boolean => {
            npy(&path, "|b1", &shape, values.iter().map(|x| u8::from(x == &json!(true))).collect());
        }
        ("npy", _) => npy(&path, "<f8", &shape, doubles(values.iter().map(number))),
        ("json", _) => fs::write(&path, nested(&shape, values).to_string()).unwrap(),
        ("below csv", [2, 3, 4]) => fs::write(&path, text(6)).unwrap(),
        ("beside csv", [2, 3, 4]) => {
            let line = |i: usize| (0..8).map(move |j| values[j / 4 * 12 + i * 4 + j % 4].clone()).collect();
            fs::write(&path, rows_of(&(0..3).map(line).collect::<Vec<Value>>().into())).unwrap();
        }
        _ => return None,
    }
    Some(path.to_str().unwrap().to_string())
}

fn rows_of(of: &Value) -> String {
    rows(of).replace(' ', ",").replace(";,", "\n")
}

fn run(case: &Value, file: &str, options: &str) -> Outcome {
    let line = format!("attend {} --{} '{file}' {options}", qkv(case), string(case, "role"));
    let ran = attn(&line).run();
    Outcome { err: ran.err.split_whitespace().collect::<Vec<_>>().join(" "), ..ran }
}

#[track_caller]
fn is_close(ran: &Outcome, expected: &Value) {
    assert_eq!(ran.code, 0, "{}", ran.err);
    let row = |line: &str| line.split(',').map(|x| x.parse().unwrap()).collect();
    let found: Vec<Vec<f64>> = ran.out.lines().map(row).collect();
    let (found, expected) = (attn::matrix::Matrix::from_rows(&found).unwrap(), matrix(expected));
    let worst = found.cells().zip(expected.cells()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(found.shape() == expected.shape() && worst < 1e-12, "off by {worst}");
}

#[test]
fn every_form_gives_the_numbers_of_numpy_on_both_paths() {
    let folder = place();
    for case in list(&golden(), "cases") {
        for kind in ["npy", "json", "below csv", "beside csv"] {
            let Some(file) = file(folder.path(), kind, case) else { continue };
            let ran = |options: &str| run(case, &file, &format!("--format csv {options}"));
            for name in ["O", "A_1", "A_2"] {
                is_close(&ran(&format!("--only {name}")), &case[name]);
            }
            is_close(&ran("--only O --fast --dtype f64"), &case["O"]);
        }
    }
}

#[test]
fn each_way_of_reading_is_told() {
    let folder = place();
    let said = |of: &str, kind: &str, words: &str| {
        let case = case(of);
        let ran = run(&case, &file(folder.path(), kind, &case).unwrap(), "--only O --format csv");
        assert!(ran.code == 0 && ran.err.contains(words), "{of}, {kind}: no `{words}` in {}", ran.err);
    };
    let two = "The mask has a matrix for each of 2 heads";
    said("a mask that is added", "npy", &format!("{two}."));
    said("a mask that is added", "below csv", &format!("{two}, one below the other."));
    said("a mask that is added", "beside csv", &format!("{two}, side by side."));
    said("ALiBi", "npy", "The bias has a row for each of 2 heads, which holds for every query.");
    let turned = "PyTorch's MultiheadAttention has it the other way round: --mask-kind block.";
    said("scaled_dot_product_attention, True may attend", "npy", turned);
    said("MultiheadAttention, True may not attend", "json", &format!("{two}."));
    said("a query that may attend to nothing", "npy", "A_2: row 2 may attend to nothing");
}

#[test]
fn other_shapes_are_refused_with_those_that_fit() {
    let folder = place();
    let path = folder.path().join("m.npy");
    let refused = |shape: &[usize], options: &str, words: &[&str]| {
        npy(&path, "<f8", shape, doubles(vec![0.5; shape.iter().product()]));
        for option in ["--mask", "--bias", "--fast --mask"] {
            let words: Vec<&str> = words.iter().copied().chain(["m.npy"]).collect();
            attn(&format!("attend --x '1 2; 3 4; 5 6' {options} {option}"))
                .arg(path.to_str().unwrap())
                .refused(&words);
        }
    };
    refused(&[3, 3, 3], "--heads 2", &["is 3 matrices of 3×3, but", "for each of the 2 heads"]);
    refused(&[2, 3, 2], "--heads 2", &["is 2 matrices of 3×2, but the scores are 3×3"]);
    refused(&[2, 3, 3], "", &["is 2 matrices of 3×3, but", "--heads 2 gives each head its own"]);
    refused(&[4, 3], "--heads 2", &["is 4×3, but the scores are 3×3", "for each of the 2 heads"]);
    refused(&[6, 3], "", &["is 6×3, but the scores are 3×3"]);
    refused(&[2, 2, 3, 3], "--heads 2", &["this is a batch of 2 sequences"]);
}

#[test]
fn heads_have_their_numbers_in_files_and_a_saved_graph_is_read_back() {
    let folder = place();
    let case = case("a bias for each head");
    let numbers = nested(&[2, 12], list(&case, "values"));
    let head = |head: usize| nested(&[3, 4], numbers[head].as_array().unwrap());
    let path = folder.path().join("bias.json");
    let path = path.to_str().unwrap();
    fs::write(path, json!({"B_1": head(0), "B_2": head(1)}).to_string()).unwrap();
    let line = format!("attend {} {path}", qkv(&case));
    is_close(&attn(&format!("{line} --only O --format csv")).ok(), &case["O"]);
    let saved = attn(&format!("{line} --format json")).ok().out;
    fs::write(path, &saved).unwrap();
    is_close(&attn(&format!("attend {path} --heads 2 --only O --format csv")).ok(), &case["O"]);
    // True and false stay that, head by head.
    fs::write(path, r#"{"M_1": [[true, false], [true, true]], "M_2": [[true, true], [false, true]]}"#)
        .unwrap();
    let weights = attn(&format!("attend --x '1 2; 3 4' --heads 2 {path} --only A_2 --format csv")).ok().out;
    assert!(weights.lines().nth(1).unwrap().starts_with("0,1"), "{weights}");
}

#[test]
fn each_head_reads_its_own() {
    let folder = place();
    let case = case("a bias for each head");
    let file = file(folder.path(), "npy", &case).unwrap();
    let shown = |options: &str| run(&case, &file, options).out;
    let explained = shown("--explain 'S_biased_2[1,3]'");
    assert!(explained.contains("B_2"), "{explained}");
    let of_heads =
        ["dB_1", "dB_2", "dB"].map(|name| shown(&format!("--gradient 'O[2,3]' --only {name} --format csv")));
    let [first, second, both] = of_heads.each_ref().map(|text| text.lines().collect::<Vec<_>>());
    let joined: Vec<String> = first.iter().zip(second).map(|(a, b)| format!("{a},{b}")).collect();
    assert_eq!(both, joined);
    assert!(shown("--set 'B[1,5]=9' --only A_2,A_1") != shown("--only A_2,A_1"));
    let page = shown("--format html --live");
    assert!(page.contains("B_2") && page.contains("attn_answer"), "{}", &page[..200]);
}

#[test]
fn diagnosis_knows_mistakes_in_the_masks_of_heads() {
    let folder = place();
    let case = case("scaled_dot_product_attention, True may attend");
    let file = file(folder.path(), "npy", &case).unwrap();
    let judged = |yours: &str| {
        let line = format!("diagnose {} --mask {file} --format json --yours", qkv(&case));
        let ran = attn(&line).arg(yours).run();
        serde_json::from_str::<Value>(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err))
    };
    assert_eq!(judged(&rows(&case["O"]))["verdict"], "right");
    let named = |options: &str| {
        let line = format!("attend {} {options} --only O --format csv", qkv(&case));
        judged(&attn(&line).ok().out.trim().replace(',', " ").replace('\n', "; ")).to_string()
    };
    assert!(named("").contains("mask-missing"));
    assert!(named(&format!("--mask {file} --mask-kind block")).contains("mask-inverted"));
    // The first row of each head's mask for all its queries.
    let one_row = "1 1 0 0; 1 1 0 0; 1 1 0 0; 0 1 1 1; 0 1 1 1; 0 1 1 1";
    assert!(named(&format!("--mask '{one_row}' --mask-kind allow")).contains("mask-one-row"));
}
