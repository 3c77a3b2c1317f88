//! `attn attend` gives what NumPy and PyTorch give, step by step, for pipelines that combine its options.

mod common;
mod golden;

use common::attn;
use serde_json::Value;

/// The command line of a case whose matrices stand in `file`.
fn command(options: &Value, file: &str) -> String {
    format!("attend {file}{}", golden::attend_options(options))
}

#[test]
fn every_recorded_step_equals_that_of_numpy_and_pytorch() {
    let golden = golden::json("attend.json");
    let cases = golden::list(&golden, "cases");
    assert!(cases.len() >= 60);
    for case in cases {
        let file = golden::attend_bundle(&case["inputs"]);
        let line = command(&case["options"], file.path().to_str().expect("a plain path"));
        let nodes = attn(&line).nodes();
        let has_output_step = nodes.names().contains(&"C");
        for (name, values) in case["expected"].as_object().expect("expected") {
            // Without output projection and residual the concatenation is the result itself.
            let name = if name == "C" && !has_output_step { "O" } else { name };
            let what = format!("{} {name} ({line})", golden::string(case, "name"));
            golden::assert_close(&what, &nodes.matrix(name), &golden::matrix(values));
        }
    }
}

#[test]
fn the_result_is_the_last_node_with_and_without_an_output_projection() {
    for case in golden::list(&golden::json("attend.json"), "cases") {
        let file = golden::attend_bundle(&case["inputs"]);
        let line = command(&case["options"], file.path().to_str().expect("a plain path"));
        assert_eq!(attn(&line).nodes().names().last(), Some(&"O"), "{line}");
    }
}
