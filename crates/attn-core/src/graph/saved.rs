//! Graphs that were written as JSON, read back.
//!
//! Version 2 of the schema `attn-graph` has the parameters of every op, so that a file of all steps is the graph that wrote it:
//! its cells can be explained, and it can be [run again](super::Graph::run_again). A file that lacks something opens
//! [read-only](Reason). Nothing in a file is trusted: its nodes are checked as [`super::Graph::restore`] does.

use std::collections::HashMap;
use std::fmt;

use attn_kernel::{Layout, Machine};
use half::{bf16, f16};
use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::foreign::visible;
use crate::json_tree::bytes;
use crate::matrix::{Labels, Matrix, Shape};
use crate::tensor::{Element, Tensor, in_type};
use crate::text::{clip, counted};
use crate::{json_number, memory};

use super::rerun::of_node;
use super::{Graph, Node, NodeId, Op, OpKind, Origin, Precision, Step, Value as NodeValue};

/// The value of `schema` in a computation written as JSON.
pub const SCHEMA: &str = "attn-graph";
/// The value of `version` in it: 2 since ops have their parameters.
pub const VERSION: u64 = 2;

/// The names that are read in a document, in its graphs and in their nodes.
pub const NAMES: [&[&str]; 3] = [
    &["schema", "version", "graphs"],
    &["title", "precision", "of_model", "nodes"],
    &[
        "name",
        "label",
        "step",
        "op",
        "params",
        "inputs",
        "collects",
        "shape",
        "rows",
        "cols",
        "dtype",
        "values",
        "never_formed",
    ],
];

/// A graph that was read from a file.
#[derive(Clone, Debug)]
pub struct SavedGraph {
    /// The title of the computation.
    pub title: String,
    /// The graph, with the numbers that the file has.
    pub graph: Graph,
    /// Why it cannot be run again, where it cannot.
    pub read_only: Option<Reason>,
}

/// The graphs of a JSON document.
///
/// # Errors
/// If the document has another schema or version, or a graph cannot have been written so: names that are used twice, unknown
/// ops, numbers that do not fill their shape, inputs that do not fit. The error names the node.
pub fn read(document: &Value) -> Result<Vec<SavedGraph>> {
    let version = version_of(document)?;
    let Some(graphs) = document.get("graphs").and_then(Value::as_array) else {
        return Err(Error::new("the document has no `graphs`"));
    };
    graphs.iter().map(|graph| opened(graph, version)).collect()
}

/// The version of a document of this schema.
fn version_of(document: &Value) -> Result<u64> {
    let schema = document.get("schema").and_then(Value::as_str);
    if schema != Some(SCHEMA) {
        return Err(Error::new(match schema {
            Some(other) => format!("unknown schema `{}`", clip(other)),
            None => "this is no saved computation: it has no `schema`".into(),
        })
        .help(format!("give a file of the schema `{SCHEMA}`, as --format json writes it")));
    }
    match document.get("version").and_then(Value::as_u64) {
        Some(version @ 1..=VERSION) => Ok(version),
        Some(version) => Err(Error::new(format!(
            "version {version} of the schema `{SCHEMA}` is not supported, only versions 1 to {VERSION}"
        ))),
        None => Err(Error::new(format!("a file of the schema `{SCHEMA}` needs a `version`"))),
    }
}

// Why a saved graph cannot be run again.

/// Why a saved graph is read-only: its numbers can be looked at, but it cannot be run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The file has version 1, in which ops have no parameters.
    OldVersion,
    /// The file does not have all steps.
    MissingInput {
        /// The first node that lacks an input.
        node: String,
        /// The input that the file does not have.
        input: String,
    },
    /// The fused kernel has computed it, which does not record its steps.
    Fused,
    /// The numbers of a node are not in the file.
    LeftOut(String),
    /// The computation never formed the numbers of a node.
    NeverFormed(String),
}

/// A sentence for people, without a full stop.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::OldVersion => {
                write!(f, "the file has version 1, which does not say how each step is computed")
            }
            Reason::MissingInput { node, input } => write!(
                f,
                "the file has {}, but not {}, which it is computed from; write all nodes, without --only",
                clip(node),
                clip(input)
            ),
            Reason::Fused => write!(
                f,
                "the fused kernel has computed it and does not record its steps; write it without --fast"
            ),
            Reason::LeftOut(node) => {
                write!(f, "the numbers of {} are too many, and are not in the file", clip(node))
            }
            Reason::NeverFormed(node) => write!(f, "the numbers of {} were never formed", clip(node)),
        }
    }
}

// The numbers of a node of a file.

/// Rows of numbers in this type; without a type they are a matrix of the exact path.
///
/// # Errors
/// If they do not fill the shape, one of them is no number or beyond the type, there is no such type, or no room for them.
fn tensor(values: &Value, shape: Shape, dtype: Option<&str>) -> Result<Tensor> {
    let rows = rows(values, shape)?;
    match dtype {
        None => {
            let cells = cells::<f64>(&rows, shape)?;
            Ok(Matrix::from_row_major(shape.rows, shape.cols, &cells)?.into())
        }
        Some("f32") => typed::<f32>(&rows, shape),
        Some("f64") => typed::<f64>(&rows, shape),
        Some("f16") => typed::<f16>(&rows, shape),
        Some("bf16") => typed::<bf16>(&rows, shape),
        Some("bool") => typed::<bool>(&rows, shape),
        Some(other) => Err(Error::new(format!("there is no type `{}`", clip(other)))
            .help("the types are f32, f64, f16, bf16 and bool")),
    }
}

/// The rows, each as long as the shape says. Only what the file really has is counted, so that a shape allocates nothing.
fn rows(values: &Value, shape: Shape) -> Result<Vec<&[Value]>> {
    let misfit = |what: String| Err(Error::new(what).of_kind(ErrorKind::Shape));
    let Some(rows) = values.as_array() else {
        return Err(Error::new("`values` is no list of rows"));
    };
    if rows.len() != shape.rows {
        return misfit(format!("its shape is {shape}, but its values have {}", counted(rows.len(), "row")));
    }
    let mut found = Vec::with_capacity(rows.len());
    for (i, row) in rows.iter().enumerate() {
        match row.as_array() {
            Some(row) if row.len() == shape.cols => found.push(row.as_slice()),
            Some(row) => {
                let count = counted(row.len(), "number");
                return misfit(format!("its shape is {shape}, but row {} of its values has {count}", i + 1));
            }
            None => return Err(Error::new(format!("row {} of its values is no list", i + 1))),
        }
    }
    Ok(found)
}

fn typed<T: Element>(rows: &[&[Value]], shape: Shape) -> Result<Tensor> {
    Tensor::new(cells::<T>(rows, shape)?, Layout::stacked(1, shape.rows, shape.cols))
}

/// All numbers, row by row.
fn cells<T: Element>(rows: &[&[Value]], shape: Shape) -> Result<Vec<T>> {
    let mut cells: Vec<T> = memory::reserved(shape.rows.saturating_mul(shape.cols))?;
    for (i, row) in rows.iter().enumerate() {
        for (j, cell) in row.iter().enumerate() {
            let place = || format!("row {}, column {}", i + 1, j + 1);
            let Some(x) = json_number::number(cell) else {
                return Err(Error::new(format!(
                    "{} of its values is {}, which is no number",
                    place(),
                    clip(&cell.to_string())
                ))
                .help("write a number, or one of \"inf\", \"-inf\", \"nan\""));
            };
            cells.push(in_type(x).map_err(|error| error.in_source(place()))?);
        }
    }
    Ok(cells)
}

// A node as it stands in a file.

/// A matrix that is never formed has at most this many cells: their number is still a whole `f64`.
const MOST_CELLS: u64 = 1 << 53;

/// The longest name of a node, in characters.
const LONGEST_NAME: usize = 200;

/// The fields of a node but its numbers and its parameters.
#[derive(Deserialize)]
struct Fields {
    name: String,
    label: Option<String>,
    step: Option<Step>,
    op: String,
    inputs: Vec<String>,
    collects: Option<String>,
    shape: (usize, usize),
    rows: Option<Vec<String>>,
    cols: Option<Vec<String>>,
    dtype: Option<String>,
    #[serde(default)]
    never_formed: bool,
}

/// A node of a file, each part of it checked for itself.
struct Entry {
    /// The node without its inputs; given numbers where the version of the file does not have the parameters of its op.
    node: Node,
    has_op: bool,
    /// The names of its inputs.
    inputs: Vec<String>,
    /// True if its numbers were too many for the file.
    is_left_out: bool,
}

impl Entry {
    /// The node number `at` of a graph, from 0.
    ///
    /// # Errors
    /// If a part of it is missing or cannot be what it should be.
    fn read(json: &Value, at: usize, version: u64) -> Result<Entry> {
        let fields = Fields::deserialize(json)
            .map_err(|error| of_node(&called(json, at), Error::new(format!("it cannot be read: {error}"))))?;
        let name = fields.name.clone();
        Entry::of(fields, json, version).map_err(|error| of_node(&name, error))
    }

    fn of(fields: Fields, json: &Value, version: u64) -> Result<Entry> {
        let Fields { name, label, step, op, inputs, collects, shape, rows, cols, dtype, never_formed } =
            fields;
        if name.is_empty() || visible(&name) != name || name.chars().count() > LONGEST_NAME {
            return Err(Error::new("this is no name of a node")
                .help(format!("a name has 1 to {LONGEST_NAME} characters, and all of them can be seen")));
        }
        let shown = |text: Option<String>| text.map(|text| visible(&text).into_owned());
        let (label, collects) = (shown(label), shown(collects));
        let op = if version == 1 {
            without_parameters(op)?
        } else {
            Some(with_parameters(op, json.get("params"))?)
        };
        let shape = Shape { rows: shape.0, cols: shape.1 };
        if shape.rows == 0 || shape.cols == 0 {
            return Err(Error::new(format!("a {shape} matrix has no numbers")));
        }
        let (rows, cols) = (labels("row", rows, shape.rows)?, labels("column", cols, shape.cols)?);
        let values = json.get("values").filter(|values| !values.is_null());
        let value = match values.filter(|_| !never_formed) {
            Some(values) => NodeValue::Formed(tensor(values, shape, dtype.as_deref())?.labelled(rows, cols)),
            None => {
                let cells = (shape.rows as u64).checked_mul(shape.cols as u64);
                if cells.is_none_or(|cells| cells > MOST_CELLS) {
                    return Err(Error::new(format!("a {shape} matrix is larger than any that can be")));
                }
                NodeValue::NeverFormed(shape)
            }
        };
        let is_left_out = !never_formed && matches!(value, NodeValue::NeverFormed(_));
        let (has_op, op) = (op.is_some(), op.unwrap_or(Op::Given(Origin::Saved)));
        let node = Node { name, op, inputs: Vec::new(), value, step, label, collects };
        Ok(Entry { node, has_op, inputs, is_left_out })
    }
}

/// The name of a node for an error, or its number where it has none.
fn called(json: &Value, at: usize) -> String {
    match json.get("name").and_then(Value::as_str) {
        Some(name) => name.to_string(),
        None => format!("{} of the list", at + 1),
    }
}

/// An op with its parameters.
fn with_parameters(name: String, params: Option<&Value>) -> Result<Op> {
    let name = Value::String(name);
    let form = [("op", &name), ("params", params.unwrap_or(&Value::Null))];
    // The op has a copy of its own.
    let _held = memory::hold(form.iter().map(|(_, value)| bytes(value)).sum())?;
    match <Op as Deserialize>::deserialize(MapDeserializer::<_, serde_json::Error>::new(form.into_iter())) {
        Ok(Op::Given(origin)) => Ok(Op::Given(origin.visible())),
        other => other.map_err(|error| Error::new(error.to_string())),
    }
}

/// An op of version 1: known only if it has no parameters.
fn without_parameters(name: String) -> Result<Option<Op>> {
    match OpKind::named(&name) {
        None => Err(Error::new(format!("there is no op `{}`", clip(&name)))),
        Some(OpKind::Given) => Ok(Some(Op::Given(Origin::Saved))),
        Some(_) => Ok(with_parameters(name, None).ok()),
    }
}

/// Names of rows or columns, one for each.
fn labels(what: &str, names: Option<Vec<String>>, count: usize) -> Result<Option<Labels>> {
    match names {
        Some(names) if names.len() != count => Err(Error::new(format!(
            "it has {}, but {}",
            counted(count, what),
            counted(names.len(), &format!("name of a {what}"))
        ))),
        names => Ok(names.map(Labels::from)),
    }
}

// A graph of a file, built node by node.

/// A graph of a document of this version.
///
/// # Errors
/// If a node cannot be read, or does not fit its inputs.
fn opened(json: &Value, version: u64) -> Result<SavedGraph> {
    let title = visible(json.get("title").and_then(Value::as_str).unwrap_or_default()).into_owned();
    let Some(nodes) = json.get("nodes").and_then(Value::as_array) else {
        return Err(Error::new("a graph has no `nodes`"));
    };
    let read = |(at, node)| Entry::read(node, at, version);
    let entries: Vec<Entry> = nodes.iter().enumerate().map(read).collect::<Result<_>>()?;
    let mut places = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if places.insert(entry.node.name.clone(), at).is_some() {
            return Err(Error::new(format!(
                "two nodes of one graph are called `{}`",
                clip(&entry.node.name)
            )));
        }
    }
    let read_only = reason(&entries, &places, version);
    let mut graph = empty(json)?;
    for entry in entries {
        let node = node(entry, &graph, &places, read_only.as_ref())?;
        let (name, op, inputs) = (node.name.clone(), node.op.clone(), node.inputs.clone());
        graph.restore(node)?;
        graph.warnings.extend(graph.warning(&name, &op, &inputs));
    }
    Ok(SavedGraph { title, graph, read_only })
}

/// A graph without nodes that computes as the saved one did.
fn empty(json: &Value) -> Result<Graph> {
    let precision = match json.get("precision") {
        None => Precision::Exact,
        Some(Value::String(name)) if name == "f64" => Precision::Exact,
        Some(Value::String(name)) if name == "f32" => Precision::Single(Machine::here()),
        Some(other) => {
            return Err(Error::new(format!("there is no precision {}", clip(&other.to_string())))
                .help("the precisions are f64 and f32"));
        }
    };
    let is_of_model = match json.get("of_model") {
        None => false,
        Some(Value::Bool(is_of_model)) => *is_of_model,
        Some(_) => return Err(Error::new("`of_model` is neither true nor false")),
    };
    // A model records as many numbers as there is memory for, and here all of them were in the file.
    let limit = is_of_model.then_some(usize::MAX);
    Ok(Graph { precision, is_of_model, limit, ..Graph::default() })
}

/// Why the graph cannot be run again, where it cannot.
fn reason(entries: &[Entry], places: &HashMap<String, usize>, version: u64) -> Option<Reason> {
    if version == 1 {
        return Some(Reason::OldVersion);
    }
    let missing = entries.iter().find_map(|entry| {
        let input = entry.inputs.iter().find(|input| !places.contains_key(*input))?;
        Some(Reason::MissingInput { node: entry.node.name.clone(), input: input.clone() })
    });
    let named =
        |is: fn(&Entry) -> bool| entries.iter().find(|entry| is(entry)).map(|entry| entry.node.name.clone());
    missing
        .or_else(|| named(|entry| matches!(entry.node.op, Op::Fused(_))).map(|_| Reason::Fused))
        .or_else(|| named(|entry| entry.is_left_out).map(Reason::LeftOut))
        .or_else(|| named(|entry| entry.node.is_never_formed()).map(Reason::NeverFormed))
}

/// A node of the graph. Where its op or its inputs are not known, its numbers stand as given.
fn node(
    entry: Entry,
    graph: &Graph,
    places: &HashMap<String, usize>,
    read_only: Option<&Reason>,
) -> Result<Node> {
    let Entry { mut node, has_op, inputs, .. } = entry;
    // With `--only` a file has its nodes in the order that was asked for.
    let any_order = matches!(read_only, Some(Reason::MissingInput { .. } | Reason::OldVersion));
    let mut known: Option<Vec<NodeId>> = Some(Vec::new());
    for input in &inputs {
        let place = places.get(input).filter(|place| **place < graph.nodes.len());
        match place {
            Some(place) => known.iter_mut().for_each(|known| known.push(NodeId(*place))),
            None if any_order => known = None,
            None => {
                let error = format!("its input `{}` does not come before it", clip(input));
                return Err(of_node(&node.name, Error::new(error).of_kind(ErrorKind::Unknown)));
            }
        }
    }
    match known.filter(|_| has_op) {
        Some(known) => node.inputs = known,
        None => (node.op, node.collects) = (Op::Given(Origin::Saved), None),
    }
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Op, Origin};
    use crate::matrix::Matrix;
    use serde_json::{Value, json};

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
        let sentence =
            "the file has Z, but not W, which it is computed from; write all nodes, without --only";
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
        fails(
            "sinusoidal",
            json!({ "first": u64::MAX, "tokens": 1, "width": 1 }),
            &[],
            one(),
            "the first of",
        );
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
}
