//! `attn attend` gives what NumPy and PyTorch give, step by step, for pipelines that combine its options.

use crate::common::attn;
use serde_json::Value;

/// The command line of a case whose matrices stand in `file`.
fn command(options: &Value, file: &str) -> String {
    format!("attend {file}{}", crate::golden::attend_options(options))
}

#[test]
fn every_recorded_step_equals_that_of_numpy_and_pytorch() {
    let golden = crate::golden::json("attend.json");
    let cases = crate::golden::list(&golden, "cases");
    assert!(cases.len() >= 60);
    for case in cases {
        let file = crate::golden::attend_bundle(&case["inputs"]);
        let line = command(&case["options"], file.path().to_str().expect("a plain path"));
        let nodes = attn(&line).nodes();
        let has_output_step = nodes.names().contains(&"C");
        for (name, values) in case["expected"].as_object().expect("expected") {
            // Without output projection and residual the concatenation is the result itself.
            let name = if name == "C" && !has_output_step { "O" } else { name };
            let what = format!("{} {name} ({line})", crate::golden::string(case, "name"));
            crate::golden::assert_close(&what, &nodes.matrix(name), &crate::golden::matrix(values));
        }
    }
}

#[test]
fn the_result_is_the_last_node_with_and_without_an_output_projection() {
    for case in crate::golden::list(&crate::golden::json("attend.json"), "cases") {
        let file = crate::golden::attend_bundle(&case["inputs"]);
        let line = command(&case["options"], file.path().to_str().expect("a plain path"));
        assert_eq!(attn(&line).nodes().names().last(), Some(&"O"), "{line}");
    }
}
