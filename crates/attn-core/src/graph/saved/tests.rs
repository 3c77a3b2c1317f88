//! Documents that are read as they should be, and broken ones.

use serde_json::{Value, json};

use super::*;
use crate::graph::{Op, Origin};
use crate::matrix::Matrix;

/// A node with these parameters, inputs and values.
fn node(name: &str, op: &str, params: Value, inputs: &[&str], values: Value) -> Value {
    let rows = values.as_array().map_or(0, Vec::len);
    let cols = values[0].as_array().map_or(0, Vec::len);
    json!({ "name": name, "op": op, "params": params, "inputs": inputs, "formula": "", "shape": [rows, cols],
        "rows": null, "cols": null, "values": values })
}

fn given(name: &str, values: Value) -> Value {
    node(name, "given", json!({ "origin": { "kind": "stated" } }), &[], values)
}

fn document(version: u64, nodes: Vec<Value>) -> Value {
    json!({ "schema": SCHEMA, "version": version, "command": "attend",
        "graphs": [{ "title": "Attention", "precision": "f64", "nodes": nodes }] })
}

fn one(nodes: Vec<Value>) -> SavedGraph {
    read(&document(2, nodes)).unwrap().remove(0)
}

/// X, and its product with itself.
fn square() -> Vec<Value> {
    vec![
        given("X", json!([[1.0, 2.0], [3.0, "-inf"]])),
        node("Y", "transpose", json!({}), &["X"], json!([[1.0, 3.0], [2.0, "-inf"]])),
    ]
}

#[test]
fn a_document_of_all_nodes_is_the_graph_that_wrote_it() {
    let SavedGraph { title, graph, read_only } = one(square());
    assert_eq!((title.as_str(), read_only), ("Attention", None));
    let mut expected = Graph::new();
    let x = Matrix::of([[1.0, 2.0], [3.0, f64::NEG_INFINITY]]);
    let x = expected.given("X", x, Origin::Stated).unwrap();
    expected.add("Y", Op::Transpose, &[x]).unwrap();
    assert_eq!(graph, expected);
    assert_eq!(graph.run_again().unwrap(), expected);
}

#[test]
fn recorded_numbers_are_kept_even_where_the_op_gives_others_and_running_again_corrects_them() {
    let mut nodes = square();
    nodes[1]["values"][0][0] = json!(7.5);
    let graph = one(nodes).graph;
    let y = graph.require("Y").unwrap();
    assert_eq!(graph.matrix(y).unwrap()[(0, 0)], 7.5);
    assert_eq!(graph.run_again().unwrap().matrix(y).unwrap()[(0, 0)], 1.0);
}

#[test]
fn labels_steps_and_names_of_rows_survive() {
    let mut nodes = square();
    nodes[1]["label"] = json!("X, turned");
    nodes[1]["collects"] = json!("runs");
    nodes[1]["step"] = json!({ "stage": "scaled", "head": 2 });
    nodes[1]["rows"] = json!(["bat", "cave"]);
    for graph in [one(nodes.clone()).graph, one(nodes).graph.run_again().unwrap()] {
        let y = &graph[graph.require("Y").unwrap()];
        assert_eq!((y.label.as_deref(), y.collects.as_deref()), (Some("X, turned"), Some("runs")));
        assert_eq!(y.step.unwrap().to_string(), "S_scaled_2");
        assert_eq!(graph.at(y.step.unwrap()), graph.find("Y"));
        assert_eq!(y.labels().0.unwrap()[..], ["bat", "cave"]);
    }
}

#[test]
fn version_1_opens_read_only_with_the_ops_that_need_no_parameters() {
    let mut nodes = square();
    nodes.push(node("Z", "softmax", Value::Null, &["Y"], json!([[0.5, 0.5], [1.0, 0.0]])));
    let saved = read(&document(1, nodes)).unwrap().remove(0);
    assert_eq!(saved.read_only, Some(Reason::OldVersion));
    let op = |name: &str| saved.graph[saved.graph.require(name).unwrap()].op.clone();
    assert_eq!([op("X"), op("Z")], [Op::Given(Origin::Saved), Op::Given(Origin::Saved)]);
    assert_eq!(op("Y"), Op::Transpose);
}

#[test]
fn a_missing_step_makes_what_reads_it_given_numbers_in_any_order() {
    let mut nodes = square();
    nodes.swap(0, 1);
    nodes.push(node("Z", "add", json!({}), &["X", "W"], json!([[1.0, 2.0]])));
    let saved = one(nodes);
    let reason = saved.read_only.unwrap();
    assert_eq!(reason, Reason::MissingInput { node: "Z".into(), input: "W".into() });
    let sentence = "the file has Z, but not W, which it is computed from; write all nodes, without only";
    assert_eq!(reason.to_string(), sentence);
    assert!(saved.graph.nodes().all(|(_, node)| node.op.is_given() && node.inputs.is_empty()));
}

#[test]
fn numbers_that_are_not_in_the_file_make_it_read_only() {
    let mut left_out = square();
    left_out[1]["values"] = Value::Null;
    left_out[1]["left_out"] = json!("4 numbers");
    let mut never = left_out.clone();
    never[1]["never_formed"] = json!(true);
    for (nodes, expected) in
        [(left_out, Reason::LeftOut("Y".into())), (never, Reason::NeverFormed("Y".into()))]
    {
        let saved = one(nodes);
        assert_eq!(saved.read_only, Some(expected));
        let error = saved.graph.run_again().unwrap_err().to_string();
        assert_eq!(error, "node `Y`: its numbers are not recorded, so it cannot be run again");
    }
}

#[test]
fn numbers_keep_their_type() {
    for (dtype, number) in [("f32", 0.1), ("bf16", 0.5), ("f16", -0.25), ("bool", 1.0), ("f64", 0.1)] {
        let mut nodes = vec![given("X", json!([[number, 0.0]]))];
        nodes[0]["dtype"] = json!(dtype);
        let graph = one(nodes).graph;
        let tensor = graph[graph.last().unwrap()].typed().unwrap().clone();
        assert_eq!((tensor.dtype().name(), tensor.at(0, 1)), (dtype, 0.0));
    }
}

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
    fails(
        "softmax",
        json!({}),
        &["A"],
        same(),
        "the params of `softmax` cannot be used: missing field `params`",
    );
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
fn words_of_a_file_are_made_visible() {
    let mut nodes = square();
    nodes[0]["params"] = json!({ "origin": { "kind": "user", "source": "a\u{1b}[31m" } });
    nodes[1]["label"] = json!("b\u{202e}");
    let graph = one(nodes).graph;
    let [x, y] = ["X", "Y"].map(|name| graph[graph.require(name).unwrap()].clone());
    assert_eq!(x.op, Op::Given(Origin::User("a\\u{1B}[31m".into())));
    assert_eq!(y.label.as_deref(), Some("b\\u{202E}"));
}

#[test]
fn a_long_chain_of_steps_that_hide_a_key_is_looked_at_once() {
    let mut nodes = vec![given("X0", json!([["-inf", "-inf"]]))];
    for i in 1..20_000 {
        let before = format!("X{}", i - 1);
        let same = json!([["-inf", "-inf"]]);
        nodes.push(node(&format!("X{i}"), "add", json!({}), &[&before, &before], same));
    }
    let params = json!({ "axis": "rows", "base": "e" });
    nodes.push(node("A", "softmax", params, &["X19999"], json!([[0.0, 0.0]])));
    let graph = one(nodes).graph;
    assert_eq!(graph.warnings().len(), 1);
    assert_eq!(graph.run_again().unwrap().warnings(), graph.warnings());
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
