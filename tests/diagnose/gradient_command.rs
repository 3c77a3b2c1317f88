//! `attn diagnose --gradient`, typed as a user types it, with the gradients of tests/golden/gradient_slips.json.

use std::fs;

use serde_json::Value;

use crate::common::{Attn, attn};
use crate::golden;

/// A case of the golden file, by its place.
fn case(at: usize) -> Value {
    golden::list(&golden::json("gradient_slips.json"), "cases")[at].clone()
}

/// A matrix as it is typed in place.
fn typed(rows: &Value) -> String {
    let row =
        |row: &Value| row.as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>().join(" ");
    rows.as_array().unwrap().iter().map(row).collect::<Vec<_>>().join("; ")
}

/// `attn diagnose` with the inputs of a case, and the options that make it the same exercise.
fn diagnose(case: &Value, options: &str) -> Attn {
    let mut command = attn(&format!("diagnose {options}"));
    for (name, rows) in case["inputs"].as_object().unwrap() {
        let option = format!("--{}", name.to_lowercase().replace('_', ""));
        command = command.arg(&option).arg(typed(rows));
    }
    command
}

/// One wrong gradient of a case.
fn wrong(case: &Value, id: &str, node: &str) -> String {
    let all = golden::list(case, "wrong").iter();
    let mut one = all.filter(|wrong| wrong["mistakes"] == serde_json::json!([id]) && wrong["node"] == node);
    typed(&one.next().unwrap()["matrix"])
}

/// The second case: its loss is the sum of the result.
const OF_THE_SUM: &str = "--causal --scale 0.3 --temperature 0.6 --softcap 1.2 --gradient ones";
/// The third.
const GROUPED: &str = "--heads 4 --kv-heads 2 --causal --residual";

#[test]
fn gradients_of_the_sum_of_the_result_are_right_or_the_mistake_is_named() {
    let case = case(1);
    let handed =
        |gradient: &str| diagnose(&case, OF_THE_SUM).arg("--yours").arg(format!("dQ={gradient}")).run();
    let right = handed(&typed(&case["right"]["dQ"]));
    assert_eq!((right.code, right.out.trim_end(), &*right.err), (0, "dQ is right.", ""));
    let missing = handed(&wrong(&case, "gradient-cap-missing", "dQ"));
    let first = missing.out.split("\n\n").next().unwrap().replace('\n', " ");
    assert_eq!(missing.code, 1);
    assert!(
        first.starts_with("dQ is wrong, from dQ[")
            && first.ends_with("The soft-cap was forgotten on the way back. [gradient-cap-missing]"),
        "{first}"
    );
}

#[test]
fn from_a_start_in_a_file_every_gradient_can_be_judged() {
    let folder = tempfile::tempdir().unwrap();
    let start = folder.path().join("up.csv");
    let case = case(2);
    fs::write(&start, typed(&case["dO"]).replace("; ", "\n").replace(' ', ",")).unwrap();
    let options = format!("{GROUPED} --gradient dO={}", start.display());
    for (node, rows) in case["right"].as_object().unwrap() {
        let outcome = diagnose(&case, &options).arg("--yours").arg(format!("{node}={}", typed(rows))).run();
        let is_right = outcome.out.starts_with(&format!("{node} is right"));
        assert!(outcome.code == 0 && is_right, "{}{}", outcome.out, outcome.err);
    }
    let one_head = wrong(&case, "gradient-group-sum-missing", "dK");
    let outcome = diagnose(&case, &options).arg("--yours").arg(format!("dK={one_head}")).run();
    assert!(outcome.code == 1 && outcome.out.contains("[gradient-group-sum-missing]"), "{}", outcome.out);
    let said = outcome.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("The correct step: attn demo gqa."), "{said}");
}

#[test]
fn one_file_may_hold_all_gradients_under_their_usual_names() {
    let folder = tempfile::tempdir().unwrap();
    let mine = folder.path().join("mine.json");
    let case = case(2);
    let right = &case["right"];
    // What PyTorch calls them; the heads of dQ one by one.
    let heads = (0..4).map(|head| {
        let rows = right["dQ"].as_array().unwrap().iter();
        Value::from(
            rows.map(|row| Value::from(row.as_array().unwrap()[2 * head..2 * head + 2].to_vec()))
                .collect::<Vec<_>>(),
        )
    });
    let named = serde_json::json!({
        "dQ": heads.collect::<Vec<Value>>(), "grad_K": right["dK"], "dv": right["dV"], "W_Q.grad": right["dW_Q"], "dX": right["dX"],
    });
    fs::write(&mine, named.to_string()).unwrap();
    let options = format!("{GROUPED} --gradient 'dO={}'", typed(&case["dO"]));
    let outcome = diagnose(&case, &options).arg("--yours").arg(mine.display().to_string()).run();
    let is_right = outcome.out.starts_with("dQ, dV, dK, dW_Q and dX are right");
    assert!(outcome.code == 0 && is_right, "{}{}", outcome.out, outcome.err);
    let class = diagnose(&case, &options).arg("--batch").arg(folder.path().display().to_string()).run();
    assert!(class.code == 0 && class.out.contains("mine.json"), "{}{}", class.out, class.err);
}

#[test]
fn without_a_start_the_error_says_to_give_it() {
    let case = case(0);
    let outcome = diagnose(&case, "--yours 'dQ=1 2 3'").run();
    assert_eq!(outcome.code, 2);
    for said in [
        "dQ is the gradient of Q, and this exercise has no backward pass",
        "--gradient ones",
        "--gradient dO=FILE",
    ] {
        assert!(outcome.err.contains(said), "{}", outcome.err);
    }
    let outcome = diagnose(&case, "--gradient ones --yours 'dT=1 2 3'").run();
    assert_eq!(outcome.code, 2);
    assert!(outcome.err.contains("A O dA dS_scaled dS dV dK dQ"), "{}", outcome.err);
    let outcome = diagnose(&case, "--gradient 'dO=1 2' --yours 'dQ=1 2 3'").run();
    assert!(outcome.code == 2 && outcome.err.contains("dO is 1×2, but O is 4×4"), "{}", outcome.err);
    let outcome = diagnose(&case, "--gradient ones --suggest-input x.npz").run();
    assert!(outcome.code == 2 && outcome.err.contains("cannot be used with"), "{}", outcome.err);
}

#[test]
fn a_wrong_gradient_asks_for_the_gradients_before_it() {
    let outcome = diagnose(&case(0), "--gradient ones --yours 'dQ=1.5 2 3; 4 5 6; 7 8 9; 1 3 5'").run();
    assert!(outcome.out.contains("--yours dA=FILE --yours dS=FILE"), "{}", outcome.out);
    let outcome =
        diagnose(&case(0), "--gradient ones --yours 'dV=1.5 2 3 4; 4 5 6 4; 7 8 9 4; 1 3 5 4'").run();
    assert!(!outcome.out.contains("--yours"), "{}", outcome.out);
}
