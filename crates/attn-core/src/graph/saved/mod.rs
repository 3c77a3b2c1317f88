//! Graphs that were written as JSON, read back.
//!
//! Version 2 of the schema `attn-graph` has the parameters of every op, so that a file of all steps is the graph that wrote it:
//! its cells can be explained, and it can be [run again](super::Graph::run_again). A file that lacks something opens
//! [read-only](Reason). Nothing in a file is trusted: its nodes are checked as [`super::Graph::restore`] does.

use std::collections::HashMap;
use std::fmt;

use half::{bf16, f16};
use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::foreign::visible;
use crate::json_tree::bytes;
use crate::kernel::{Layout, Machine};
use crate::matrix::{Labels, Matrix, Shape};
use crate::tensor::{Element, Tensor, in_type};
use crate::text::{clip, counted};
use crate::{json_number, memory};

use super::prepared::of_node;
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
    match document.get("schema") {
        Some(Value::String(schema)) if schema == SCHEMA => {}
        Some(Value::String(schema)) => {
            return Err(Error::new(format!("unknown schema `{}`", clip(schema)))
                .help(format!("give a file of the schema `{SCHEMA}`, as --format json writes it")));
        }
        _ => {
            return Err(Error::new("this is no saved computation: it has no `schema`")
                .help(format!("give a file of the schema `{SCHEMA}`, as --format json writes it")));
        }
    }
    match document.get("version").and_then(Value::as_u64) {
        Some(version @ 1..=VERSION) => Ok(version),
        Some(version) => Err(Error::new(format!(
            "version {version} of the schema `{SCHEMA}` is not supported, only versions 1 to {VERSION}"
        ))),
        None => Err(Error::new(format!("a file of the schema `{SCHEMA}` needs a `version`"))),
    }
}

#[cfg(test)]
mod broken;
#[cfg(test)]
mod tests;

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

/// Where the numbers of a node are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    /// In the file.
    Here,
    /// They were too many for it.
    LeftOut,
    /// Nowhere.
    NeverFormed,
}

/// A node of a file, each part of it checked for itself.
struct Entry {
    name: String,
    label: Option<String>,
    step: Option<Step>,
    /// The op; none where the version of the file does not have its parameters.
    op: Option<Op>,
    inputs: Vec<String>,
    collects: Option<String>,
    numbers: Numbers,
    value: NodeValue,
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
        let (numbers, value) = match values {
            Some(values) if !never_formed => {
                let numbers = tensor(values, shape, dtype.as_deref())?;
                (Numbers::Here, NodeValue::Formed(numbers.labelled(rows, cols)))
            }
            _ => {
                let cells = (shape.rows as u64).checked_mul(shape.cols as u64);
                if cells.is_none_or(|cells| cells > MOST_CELLS) {
                    return Err(Error::new(format!("a {shape} matrix is larger than any that can be")));
                }
                let numbers = if never_formed { Numbers::NeverFormed } else { Numbers::LeftOut };
                (numbers, NodeValue::NeverFormed(shape))
            }
        };
        Ok(Entry { name, label, step, op, inputs, collects, numbers, value })
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
        if places.insert(entry.name.clone(), at).is_some() {
            return Err(Error::new(format!("two nodes of one graph are called `{}`", clip(&entry.name))));
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
        Some(Reason::MissingInput { node: entry.name.clone(), input: input.clone() })
    });
    let is_fused = || entries.iter().any(|entry| matches!(entry.op, Some(Op::Fused(_))));
    let without = |numbers: Numbers| {
        entries.iter().find(|entry| entry.numbers == numbers).map(|entry| entry.name.clone())
    };
    missing
        .or_else(|| is_fused().then_some(Reason::Fused))
        .or_else(|| without(Numbers::LeftOut).map(Reason::LeftOut))
        .or_else(|| without(Numbers::NeverFormed).map(Reason::NeverFormed))
}

/// A node of the graph. Where its op or its inputs are not known, its numbers stand as given.
fn node(
    entry: Entry,
    graph: &Graph,
    places: &HashMap<String, usize>,
    read_only: Option<&Reason>,
) -> Result<Node> {
    let Entry { name, label, step, op, inputs, collects, value, .. } = entry;
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
                return Err(of_node(&name, Error::new(error).of_kind(ErrorKind::Unknown)));
            }
        }
    }
    Ok(match (op, known) {
        (Some(op), Some(inputs)) => Node { name, op, inputs, value, step, label, collects },
        _ => {
            let op = Op::Given(Origin::Saved);
            Node { name, op, inputs: Vec::new(), value, step, label, collects: None }
        }
    })
}
