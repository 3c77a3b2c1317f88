//! Arrays printed as NumPy prints them, against what NumPy printed.

use std::collections::BTreeMap;

use attn::matrix::Matrix;
use attn::render::numpy::{array_lines, cells, vector_lines};
use serde_json::Value;

/// One array of `array_printing.json`.
struct Case {
    rule: String,
    shape: Vec<usize>,
    values: Vec<f64>,
    text: String,
}

impl Case {
    fn matrix(&self) -> Option<Matrix> {
        match self.shape[..] {
            [rows, cols] => Some(Matrix::from_row_major(rows, cols, &self.values).expect("a full matrix")),
            _ => None,
        }
    }
}

fn cases() -> Vec<Case> {
    let golden = crate::golden::json("array_printing.json");
    let size = |size: &Value| size.as_u64().expect("a size") as usize;
    crate::golden::list(&golden, "arrays")
        .iter()
        .map(|case| Case {
            rule: crate::golden::string(case, "rule").to_owned(),
            shape: crate::golden::list(case, "shape").iter().map(size).collect(),
            values: crate::golden::numbers(&case["values"]),
            text: crate::golden::string(case, "text").to_owned(),
        })
        .collect()
}

#[test]
fn every_array_is_printed_byte_for_byte_as_numpy_prints_it() {
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let cases = cases();
    for case in &cases {
        let printed = match case.matrix() {
            Some(matrix) => array_lines(&matrix),
            None => vector_lines(&case.values),
        };
        if printed != case.text {
            let both = format!("{:?}\nNumPy:\n{}\nhere:\n{printed}", case.values, case.text);
            wrong.entry(case.rule.clone()).or_default().push(both);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.values().flatten().cloned().collect::<Vec<_>>().join("\n\n"));
    assert!(cases.len() > 300, "only {} arrays were read", cases.len());
}

#[test]
fn cells_are_the_words_of_the_printed_array_at_one_width() {
    for matrix in cases().iter().filter_map(Case::matrix) {
        let cells = cells(&matrix);
        assert_eq!(cells.len(), matrix.rows() * matrix.cols());
        assert!(cells.iter().all(|cell| cell.len() == cells[0].len()), "{cells:?}");
        let text = array_lines(&matrix);
        let words = text.split(['[', ']', ' ', '\n']).filter(|word| !word.is_empty());
        assert!(words.eq(cells.iter().map(|cell| cell.trim())), "{text}\n{cells:?}");
    }
}

#[test]
fn a_large_array_is_printed_whole() {
    let matrix = Matrix::from_fn(120, 30, |i, j| (4001 + i * 30 + j) as f64);
    let text = array_lines(&matrix);
    assert!(text.starts_with("[[4001. 4002. 4003.") && text.ends_with(" 7600.]]"), "{text}");
    assert_eq!(text.split_whitespace().count(), 3600);
}

#[test]
fn a_printed_array_reads_back_to_the_eighth_digit() {
    for matrix in cases().iter().filter_map(Case::matrix) {
        for (cell, value) in cells(&matrix).iter().zip(matrix.cells()) {
            let read: f64 = cell.trim().parse().expect("a number as Rust reads it");
            let unit = if cell.contains('e') { value.abs() * 1e-8 } else { 1e-8 };
            let same = read == value || (read.is_nan() && value.is_nan());
            assert!(same || (read - value).abs() <= 0.5001 * unit.max(5e-324), "{cell} for {value:e}");
        }
    }
}

#[test]
fn with_a_precision_an_array_is_what_numpy_prints_of_its_round() {
    let golden = crate::golden::json("array_printing.json");
    let cases = crate::golden::list(&golden, "rounded");
    for case in cases {
        let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
        let (values, cols) =
            (crate::golden::list(case, "values"), case["shape"][1].as_u64().unwrap() as usize);
        if values.iter().any(Value::is_string) {
            continue;
        }
        let rows: Vec<&[Value]> = values.chunks(cols).collect();
        std::fs::write(file.path(), serde_json::to_string(&rows).unwrap()).unwrap();
        let command = format!(
            "attend --x {} --only X --format numpy --precision {}",
            file.path().display(),
            case["decimals"]
        );
        assert_eq!(
            crate::common::attn(&command).ok().out.trim_end(),
            crate::golden::string(case, "text"),
            "{case}"
        );
    }
    assert!(cases.len() > 90, "only {} arrays were read", cases.len());
}

#[test]
fn the_demo_prints_the_second_documents_table_at_two_decimals() {
    // 002:52, without the commas and the blanks that the text has lost.
    let documents = "1. 0.71 0.71 0.71 1. 0. 0.71 0. 1.";
    let printed = crate::common::attn("demo similarity --only cosine --format numpy --precision 2").ok().out;
    assert_eq!(printed, "[[1.   0.71 0.71]\n [0.71 1.   0.  ]\n [0.71 0.   1.  ]]\n");
    let words: Vec<&str> = printed.split(['[', ']', ' ', '\n']).filter(|word| !word.is_empty()).collect();
    assert_eq!(words.join(" "), documents);
}
