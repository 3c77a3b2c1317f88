//! Documents that are read as they should be.

use serde_json::{Value, json};

use super::*;
use crate::graph::{Op, Origin};
use crate::matrix::Matrix;

/// A node with these parameters, inputs and values.
pub(super) fn node(name: &str, op: &str, params: Value, inputs: &[&str], values: Value) -> Value {
    let rows = values.as_array().map_or(0, Vec::len);
    let cols = values[0].as_array().map_or(0, Vec::len);
    json!({ "name": name, "op": op, "params": params, "inputs": inputs, "formula": "", "shape": [rows, cols],
        "rows": null, "cols": null, "values": values })
}

pub(super) fn given(name: &str, values: Value) -> Value {
    node(name, "given", json!({ "origin": { "kind": "stated" } }), &[], values)
}

pub(super) fn document(version: u64, nodes: Vec<Value>) -> Value {
    json!({ "schema": SCHEMA, "version": version, "command": "attend",
        "graphs": [{ "title": "Attention", "precision": "f64", "nodes": nodes }] })
}

pub(super) fn one(nodes: Vec<Value>) -> SavedGraph {
    read(&document(2, nodes)).unwrap().remove(0)
}

/// X, and its product with itself.
pub(super) fn square() -> Vec<Value> {
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
