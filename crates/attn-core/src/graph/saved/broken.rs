//! Broken documents: each is one error that says what is wrong, and where.

use serde_json::{Value, json};

use super::tests::{document, given, node, square};
use super::{SCHEMA, read};

/// The error of a document of two given matrices and one node that reads them.
#[track_caller]
fn fails(op: &str, params: Value, inputs: &[&str], values: Value, words: &str) {
    let nodes = vec![
        given("A", json!([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])),
        given("B", json!([[1.0, 2.0, 3.0]])),
        node("Z", op, params, inputs, values),
    ];
    let error = read(&document(2, nodes)).unwrap_err().to_string();
    assert!(error.starts_with("node `Z`: "), "{error}");
    assert!(error.contains(words), "no `{words}` in {error}");
}

#[test]
fn an_op_that_cannot_be_is_one_error_that_names_the_node() {
    let one = || json!([[1.0]]);
    let same = || json!([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let mask = |window: Value| {
        json!({ "causal": true, "window": window, "keep_first": 0, "from_start": false, "matrix": null,
            "hides_own": false, "inverted": false })
    };
    let places = |offset: i64| json!({ "queries": 1, "keys": 1, "offset": offset });
    let rotation = json!({ "first": 0, "pairing": "halves", "magnitude": 1.0 });
    fails("softmin", json!({}), &["A"], same(), "there is no op `softmin`, did you mean `softmax`?");
    fails("softmax", json!({}), &["A"], same(), "the params of `softmax` are missing");
    fails("softmax", json!({ "axis": "rows" }), &["A"], same(), "missing field `base`");
    fails(
        "softmax",
        json!({ "axis": "diagonal", "base": "e" }),
        &["A"],
        same(),
        "unknown variant `diagonal`",
    );
    fails("transpose", json!({ "axis": "rows" }), &["A"], same(), "the params of `transpose`");
    fails("scale", json!({ "factor": { "number": "much" } }), &["A"], same(), "is no number");
    fails("scale", json!({ "factor": 2 }), &["A"], same(), "the params of `scale`");
    fails("scale", json!({ "factor": { "root": -1 } }), &["A"], same(), "the params of `scale`");
    fails("transpose", json!({}), &["A", "B"], same(), "`transpose` takes 1 matrix, but 2 are given");
    fails("add", json!({}), &[], same(), "`add` takes at least 1 matrix, but 0 are given");
    fails("add", json!({}), &["A", "B"], same(), "`add` cannot be computed of 2×3 and 1×3");
    fails("product", json!({}), &["A", "B"], one(), "`product` cannot be computed of 2×3 and 1×3");
    fails("transpose", json!({}), &["A"], same(), "gives 3×2, but the shape is 2×3");
    fails(
        "ones",
        json!({ "rows": 1_000_000_000_000_000_000_u64, "cols": 1 }),
        &[],
        one(),
        "the shape is 1×1",
    );
    fails("ones", json!({ "rows": u64::MAX, "cols": u64::MAX }), &[], one(), "the shape is 1×1");
    fails("mask", mask(json!(0)), &["A"], same(), "the window of `mask` is out of its range");
    fails("token-rows", json!({ "ids": [0, 2] }), &["A"], same(), "cannot be computed of 2×3");
    fails("rotary", rotation, &["A", "B"], same(), "`rotary` with");
    fails("columns", json!({ "start": 1, "count": u64::MAX }), &["A"], one(), "`columns` with");
    fails("rows", json!({ "start": u64::MAX, "count": 2 }), &["A"], one(), "`rows` with");
    fails("every-nth-column", json!({ "start": 0, "step": 0 }), &["A"], one(), "`every-nth-column` with");
    fails("repeat-columns", json!({ "times": u64::MAX }), &["A"], one(), "`repeat-columns` with");
    fails("block-sums", json!({ "rows": 0, "cols": 1 }), &["A"], one(), "`block-sums` with");
    fails("reshape", json!({ "rows": 4, "cols": 2 }), &["A"], one(), "`reshape` with");
    fails("round", json!({ "decimals": 4_000_000_000_u32 }), &["A"], same(), "the decimals of `round`");
    fails("softmax-with-sink", json!({ "head": 3 }), &["A", "B"], same(), "`softmax-with-sink` with");
    fails("singular-vectors", json!({ "side": "left", "rank": 3 }), &["A"], same(), "`singular-vectors`");
    fails("diagonal", json!({}), &["A"], one(), "`diagonal` cannot be computed of 2×3");
    fails("sinusoidal", json!({ "first": u64::MAX, "tokens": 1, "width": 1 }), &[], one(), "the first of");
    let head =
        |head: u64, heads: u64| json!({ "head": { "head": head, "heads": heads }, "places": places(0) });
    fails("alibi", head(0, 8), &[], one(), "the head of `alibi`");
    fails("alibi", head(9, 8), &[], one(), "the head of `alibi`");
    fails("alibi", head(1, u64::MAX), &[], one(), "the head of `alibi`");
    let far = json!({ "head": { "head": 1, "heads": 8 }, "places": places(i64::MIN) });
    fails("alibi", far, &[], one(), "the offset of `alibi`");
    let buckets = |count: u64| {
        json!({ "column": 0, "buckets": { "count": count, "furthest": 9, "both_ways": false },
            "places": places(0) })
    };
    fails("bucket-bias", buckets(1), &["A"], one(), "1 bucket cannot hold the distances");
    fails("bucket-bias", buckets(4), &["A"], one(), "`bucket-bias` with");
    let scaling = json!({ "kind": "linear", "factor": 0.0 });
    fails(
        "scaled-frequencies",
        scaling,
        &["B"],
        json!([[1.0, 2.0, 3.0]]),
        "the factor of the rope scaling linear",
    );
    let origin = json!({ "origin": { "kind": "rows", "origins": [{ "kind": "stated" }] } });
    fails("given", origin, &[], same(), "it has one origin for each row");
    fails("given", json!({ "origin": { "kind": "heard" } }), &[], same(), "unknown variant `heard`");
}

#[test]
fn a_node_that_cannot_be_is_one_error_that_names_it() {
    let fails = |change: &dyn Fn(&mut Vec<Value>), words: &str| {
        let mut nodes = square();
        change(&mut nodes);
        let error = read(&document(2, nodes)).unwrap_err().to_string();
        assert!(error.contains(words), "no `{words}` in {error}");
    };
    fails(
        &|nodes| nodes[1]["shape"] = json!([2, 3]),
        "node `Y`: its shape is 2×3, but row 1 of its values has 2",
    );
    fails(
        &|nodes| nodes[1]["shape"] = json!([3, 2]),
        "node `Y`: its shape is 3×2, but its values have 2 rows",
    );
    fails(&|nodes| nodes[1]["shape"] = json!([u64::MAX, 2]), "node `Y`: its shape is");
    fails(&|nodes| nodes[1]["shape"] = json!([0, 2]), "node `Y`: a 0×2 matrix has no numbers");
    fails(&|nodes| nodes[1]["shape"] = json!([2]), "node `Y`: it cannot be read");
    fails(&|nodes| nodes[1]["values"][1] = json!(2), "node `Y`: row 2 of its values is no list");
    fails(&|nodes| nodes[1]["values"] = json!("x"), "node `Y`: `values` is no list of rows");
    fails(
        &|nodes| nodes[1]["values"][0][1] = json!("3"),
        "row 1, column 2 of its values is \"3\", which is no number",
    );
    fails(&|nodes| nodes[1]["values"][0][1] = Value::Null, "which is no number");
    fails(&|nodes| nodes[1]["rows"] = json!(["a"]), "node `Y`: it has 2 rows, but 1 name of a row");
    fails(&|nodes| nodes[1]["name"] = json!("X"), "two nodes of one graph are called `X`");
    fails(&|nodes| nodes[1]["name"] = Value::Null, "node `2 of the list`: it cannot be read");
    fails(&|nodes| nodes[1]["inputs"] = json!(["Y"]), "node `Y`: its input `Y` does not come before it");
    fails(&|nodes| nodes.swap(0, 1), "node `Y`: its input `X` does not come before it");
    fails(&|nodes| nodes[1]["inputs"] = json!([1]), "node `Y`: it cannot be read");
    fails(&|nodes| nodes[1]["dtype"] = json!("f8"), "node `Y`: there is no type `f8`");
    fails(&|nodes| nodes[0]["step"] = json!({ "role": "R_2" }), "there is no role `R_2`");
    fails(
        &|nodes| nodes[0]["step"] = json!({ "role": "Q", "head": u64::MAX }),
        "heads and layers count from 1",
    );
    for name in ["", "a\u{1b}[31m", &"x".repeat(201)] {
        fails(&|nodes| nodes[1]["name"] = json!(name), "this is no name of a node");
    }
    let huge = |nodes: &mut Vec<Value>| {
        nodes[1]["values"] = Value::Null;
        nodes[1]["shape"] = json!([u64::MAX, u64::MAX]);
    };
    fails(&huge, "is larger than any that can be");
    let beyond = |nodes: &mut Vec<Value>| {
        nodes[0]["values"][0][0] = json!(1e300);
        nodes[0]["dtype"] = json!("f32");
    };
    fails(&beyond, "node `X`: row 1, column 1: 1e300 is too large for f32");
    fails(&|nodes| nodes[1] = json!(3), "node `2 of the list`: it cannot be read");
}

#[test]
fn a_document_of_something_else_is_refused() {
    let fails = |document: Value, words: &str| {
        let error = read(&document).unwrap_err().to_string();
        assert!(error.contains(words), "no `{words}` in {error}");
    };
    fails(json!([[1, 2]]), "this is no saved computation");
    fails(json!({ "schema": "attn-table", "version": 1 }), "unknown schema `attn-table`");
    fails(
        document(3, square()),
        "version 3 of the schema `attn-graph` is not supported, only versions 1 to 2",
    );
    fails(json!({ "schema": SCHEMA }), "needs a `version`");
    fails(json!({ "schema": SCHEMA, "version": 2 }), "has no `graphs`");
    fails(json!({ "schema": SCHEMA, "version": 2, "graphs": [{}] }), "a graph has no `nodes`");
    let mut other = document(2, square());
    other["graphs"][0]["precision"] = json!("f8");
    fails(other, "there is no precision \"f8\"");
}
