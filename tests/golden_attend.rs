//! `attn attend` gives what NumPy and PyTorch give, step by step, for pipelines that combine its options.

mod common;
mod golden;

use std::io::Write;

use attn::matrix::Matrix;
use common::attn;
use serde_json::Value;

/// The command line of a case whose matrices stand in `file`.
fn command(options: &Value, file: &str) -> String {
    let mut line = format!("attend {file}");
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
fn bundle(inputs: &Value) -> tempfile::NamedTempFile {
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

fn assert_close(name: &str, ours: &Matrix, theirs: &Matrix) {
    assert_eq!(ours.shape(), theirs.shape(), "{name}");
    for (i, (a, b)) in ours.cells().zip(theirs.cells()).enumerate() {
        let close = a == b || (a - b).abs() <= 1e-12 * (1.0 + b.abs());
        assert!(close, "{name}, cell {i}: {a:e} is not {b:e}");
    }
}

#[test]
fn every_recorded_step_equals_that_of_numpy_and_pytorch() {
    let golden = golden::json("attend.json");
    let cases = golden::list(&golden, "cases");
    assert!(cases.len() >= 60);
    for case in cases {
        let file = bundle(&case["inputs"]);
        let line = command(&case["options"], file.path().to_str().expect("a plain path"));
        let nodes = attn(&line).nodes();
        let has_output_step = nodes.names().contains(&"C");
        for (name, values) in case["expected"].as_object().expect("expected") {
            // Without output projection and residual the concatenation is the result itself.
            let name = if name == "C" && !has_output_step { "O" } else { name };
            let what = format!("{} {name} ({line})", golden::string(case, "name"));
            assert_close(&what, &nodes.matrix(name), &golden::matrix(values));
        }
    }
}

#[test]
fn the_result_is_the_last_node_with_and_without_an_output_projection() {
    for case in golden::list(&golden::json("attend.json"), "cases") {
        let file = bundle(&case["inputs"]);
        let line = command(&case["options"], file.path().to_str().expect("a plain path"));
        assert_eq!(attn(&line).nodes().names().last(), Some(&"O"), "{line}");
    }
}
