//! Reads JSON with figures: numbers, lists, and the strings that stand for what JSON has no number for.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::path::Path;

use serde_json::Value;

/// The text of a file in this folder.
pub fn text(name: &str) -> String {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let golden = above.map(|folder| folder.join("tests/golden")).find(|golden| golden.is_dir());
    let path = golden.expect("tests/golden is in the package or above it").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A JSON file in this folder.
pub fn json(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The list under a key.
pub fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("no list `{key}`"))
}

/// A string under a key.
pub fn string<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no string `{key}`"))
}

/// A number, or one of the strings `inf`, `-inf` and `nan`.
pub fn number(value: &Value) -> f64 {
    match value {
        Value::String(name) => name.parse().unwrap_or_else(|_| panic!("`{name}` is no number")),
        other => other.as_f64().unwrap_or_else(|| panic!("{other} is no number")),
    }
}

/// A list of numbers.
pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list of numbers").iter().map(number).collect()
}
