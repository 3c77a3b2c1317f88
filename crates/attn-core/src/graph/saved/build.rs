//! A graph of a file, built node by node.

use std::collections::HashMap;

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::foreign::visible;
use crate::kernel::Machine;
use crate::text::clip;

use super::super::run_again::of_node;
use super::super::{Graph, Node, NodeId, Op, Origin, Precision};
use super::entry::{Entry, Numbers};
use super::{Reason, SavedGraph};

/// A graph of a document of this version.
///
/// # Errors
/// If a node cannot be read, or does not fit its inputs.
pub(super) fn graph(json: &Value, version: u64) -> Result<SavedGraph> {
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
