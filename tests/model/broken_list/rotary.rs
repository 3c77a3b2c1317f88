//! Rotary positions that are unclear: another base or scaling gives other scores without any other sign.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{assert_refused, case, run};
use crate::model::broken_folders::{with_fields, without_field};

const PLACE: &str = "FOLDER/config.json: ";

fn scaled(scaling: Value) -> TempDir {
    with_fields("mistral-a", json!({"rope_scaling": scaling}))
}

/// `llama-b` has the new keys: base 300, llama3 with factor 8.
fn with_old_keys(fields: Value) -> TempDir {
    with_fields("llama-b", fields)
}

#[test]
fn keys_that_contradict_each_other() {
    let contradict = "`rope_parameters` and the older keys contradict each other";
    let linear = json!({"rope_scaling": {"type": "linear", "factor": 8.0}});
    let factor = json!({"rope_scaling": {"type": "llama3", "factor": 2.0}});
    let both = json!({"type": "linear", "rope_type": "dynamic", "factor": 2.0});
    assert_refused(
        [
            case(
                "the base",
                with_old_keys(json!({"rope_theta": 500.0})),
                &[PLACE, contradict, "`rope_theta` is `300.0`, and `500.0`"],
            ),
            case(
                "the type",
                with_old_keys(linear),
                &[PLACE, contradict, "`rope_type` is llama3, and linear"],
            ),
            case("the factor", with_old_keys(factor), &[PLACE, contradict, "`factor` is `8.0`, and `2.0`"]),
            case(
                "both names of the type",
                scaled(both),
                &[PLACE, "`rope_type` is dynamic, but `type` is linear"],
            ),
        ],
        4,
    );
}

#[test]
fn keys_that_agree_are_no_error() {
    let agrees = with_old_keys(json!({"rope_theta": 300, "rope_scaling": {"type": "llama3", "factor": 8}}));
    let aliases = scaled(json!({"type": "ntk", "rope_type": "dynamic", "factor": 2}));
    for folder in [&agrees, &aliases] {
        let output = run(folder.path(), &["--ids".to_string(), "1,2,3".to_string()]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn keys_that_are_missing_unknown_or_out_of_their_range() {
    let base = |base: Value| with_fields("mistral-a", json!({"rope_theta": base}));
    let long = |divisors: Value| {
        let scaling = json!({"type": "longrope", "long_factor": divisors, "short_factor": [1, 2, 3]});
        with_fields("phi3-a", json!({"rope_scaling": scaling}))
    };
    let yarn = json!({"type": "yarn", "factor": 4, "original_max_position_embeddings": -5});
    let no_base = "no `rope_theta`";
    assert_refused(
        [
            case(
                "an unknown type",
                scaled(json!({"type": "spiral"})),
                &[PLACE, "the rope type `spiral` is not known", "longrope"],
            ),
            case(
                "a type that is a number",
                scaled(json!({"type": 3})),
                &[PLACE, "the rope type is `3`, not a text"],
            ),
            case(
                "a scaling that is a text",
                scaled(json!("linear")),
                &[PLACE, "`rope_scaling` is `\"linear\"`, not an object"],
            ),
            case("no base", without_field("mistral-a", "rope_theta"), &[PLACE, no_base]),
            case("no base of GPT-NeoX", without_field("neox-a", "rotary_emb_base"), &[PLACE, no_base]),
            case(
                "no base in the new keys",
                with_fields("mistral-a", json!({"rope_parameters": {}})),
                &[PLACE, no_base],
            ),
            case("a negative base", base(json!(-1)), &[PLACE, "the base of the rotary positions is -1"]),
            case(
                "a base as text",
                base(json!("10000")),
                &[PLACE, "`rope_theta` is `\"10000\"`, not a number"],
            ),
            case("no factor", scaled(json!({"type": "linear"})), &[PLACE, "linear has no `factor`"]),
            case(
                "a factor of 0",
                scaled(json!({"type": "linear", "factor": 0})),
                &[PLACE, "the factor of the rope scaling linear is 0"],
            ),
            case(
                "llama3 without its factors",
                scaled(json!({"type": "llama3", "factor": 8})),
                &[PLACE, "llama3 has no `low_freq_factor`"],
            ),
            case(
                "yarn of a negative length",
                scaled(yarn),
                &[PLACE, "the original length of the rope scaling yarn is -5"],
            ),
            case("too few divisors", long(json!([1, 2])), &[PLACE, "`long_factor` has 2 numbers"]),
            case("a divisor of 0", long(json!([0, 1, 2])), &[PLACE, "`long_factor` has the divisor 0"]),
            case(
                "a part of the head above 1",
                with_fields("neox-a", json!({"rotary_pct": 2})),
                &[PLACE, "2 of the 16 columns"],
            ),
        ],
        15,
    );
}
