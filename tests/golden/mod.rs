//! Reads the figures that the Python scripts in this folder wrote.
#![allow(dead_code, reason = "each test takes what it needs")]

mod figures;

use std::io::Write;

use attn::matrix::Matrix;
use serde_json::Value;

#[allow(unused_imports, reason = "each test takes what it needs")]
pub use figures::{json, list, number, numbers, string, text};

/// A list of rows.
pub fn matrix(value: &Value) -> Matrix {
    let rows: Vec<Vec<f64>> = value.as_array().expect("a list of rows").iter().map(numbers).collect();
    Matrix::from_rows(&rows).expect("rows of one length")
}

/// The options of a case of `attend.json` as a user types them, each after a space.
pub fn attend_options(options: &Value) -> String {
    let mut line = String::new();
    let mut option = |name: &str, value: &Value| {
        line.push_str(&match value {
            Value::String(text) => format!(" {name}={text}"),
            other => format!(" {name}={other}"),
        });
    };
    option("--heads", &options["heads"]);
    option("--kv-heads", &options["kv_heads"]);
    option("--score", &options["score"]);
    option("--scale", &options["scale"]);
    option("--temperature", &options["temperature"]);
    option("--causal-from", &options["causal_from"]);
    for (name, key) in [("--window", "window"), ("--mask-kind", "mask_kind")] {
        if !options[key].is_null() {
            option(name, &options[key]);
        }
    }
    for (flag, key) in [(" --causal", "causal"), (" --residual", "residual")] {
        if options[key] == true {
            line.push_str(flag);
        }
    }
    line
}

/// Writes the inputs of a case as the bundle that a user would write.
pub fn attend_bundle(inputs: &Value) -> tempfile::NamedTempFile {
    let renamed = |(name, value): (&String, &Value)| {
        let name = match name.as_str() {
            "mask" => "M",
            "bias" => "B",
            other => other,
        };
        (name.to_string(), value.clone())
    };
    let map: serde_json::Map<String, Value> =
        inputs.as_object().expect("inputs").iter().map(renamed).collect();
    let mut file = tempfile::Builder::new().suffix(".json").tempfile().expect("a temporary file");
    file.write_all(Value::Object(map).to_string().as_bytes()).expect("written");
    file
}

/// Asserts that every number is theirs but for rounding.
#[track_caller]
pub fn assert_close(name: &str, ours: &Matrix, theirs: &Matrix) {
    assert_eq!(ours.shape(), theirs.shape(), "{name}");
    for (i, (a, b)) in ours.cells().zip(theirs.cells()).enumerate() {
        let close = a == b || (a - b).abs() <= 1e-12 * (1.0 + b.abs());
        assert!(close, "{name}, cell {i}: {a:e} is not {b:e}");
    }
}
