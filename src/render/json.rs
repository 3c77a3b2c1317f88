//! The graph as JSON: every digit, `"-inf"`, `"inf"` and `"nan"` as strings.

use std::io::Write;

use serde_json::{Map, Value, json};

use super::Page;
use crate::demo::Table;
use crate::error::Result;
use crate::graph::{Convention, Graph, NodeId, formula};
use crate::input::{GRAPH_SCHEMA, GRAPH_VERSION};
use crate::matrix::{Labels, Matrix};

pub(super) fn write(pages: &[Page], command: &str, out: &mut dyn Write) -> Result<()> {
    let graphs: Vec<Value> = pages.iter().map(graph).collect();
    let whole =
        json!({ "schema": GRAPH_SCHEMA, "version": GRAPH_VERSION, "command": command, "graphs": graphs });
    finish(&whole, out)
}

pub(super) fn write_tables(parts: &[(String, Table)], command: &str, out: &mut dyn Write) -> Result<()> {
    let cell = |table: &Table, j: usize, cell: &str| match table.numbers.contains(&j) {
        // A number column has null where there is no number.
        true => serde_json::from_str::<serde_json::Number>(cell).map_or(Value::Null, Value::Number),
        false => cell.into(),
    };
    let row = |table: &Table, cells: &[String]| -> Value {
        let pairs = cells.iter().enumerate().zip(&table.header);
        Value::Object(
            pairs.map(|((j, text), head)| (head.clone(), cell(table, j, text))).collect::<Map<_, _>>(),
        )
    };
    let rows = |table: &Table| -> Vec<Value> { table.rows.iter().map(|cells| row(table, cells)).collect() };
    let tables: Vec<Value> =
        parts.iter().map(|(title, table)| json!({ "title": title, "rows": rows(table) })).collect();
    finish(
        &json!({ "schema": "attn-table", "version": GRAPH_VERSION, "command": command, "tables": tables }),
        out,
    )
}

pub(super) fn finish(value: &Value, out: &mut dyn Write) -> Result<()> {
    let text = serde_json::to_string(value).map_err(std::io::Error::from)?;
    writeln!(out, "{text}")?;
    Ok(())
}

fn graph(page: &Page) -> Value {
    let nodes: Vec<Value> = page.nodes.iter().map(|&id| node(&page.story.graph, id)).collect();
    json!({ "title": page.story.title, "nodes": nodes })
}

fn node(graph: &Graph, id: NodeId) -> Value {
    let node = &graph[id];
    let inputs: Vec<&str> = node.inputs.iter().map(|&input| graph[input].name.as_str()).collect();
    let (rows, cols) = node.labels();
    let mut object = json!({
        "name": node.name,
        "op": node.op.name(),
        "inputs": inputs,
        "formula": formula(graph, id, Convention::Rows, false),
        "shape": [node.shape().rows, node.shape().cols],
        "rows": labels(rows),
        "cols": labels(cols),
        "values": node.matrix().map_or(Value::Null, values),
    });
    // What the fast path makes has further keys: why there are no values, and the type of those that there are.
    if node.is_never_formed() {
        object["never_formed"] = true.into();
    }
    if let Some(numbers) = node.numbers() {
        object["dtype"] = numbers.dtype().name().into();
        if numbers.matrix().is_none() {
            object["left_out"] = format!("{} numbers; --save writes them to a file", node.shape()).into();
        }
    }
    object
}

fn labels(labels: Option<&Labels>) -> Value {
    labels.map_or(Value::Null, |labels| labels.iter().map(String::as_str).collect())
}

fn values(matrix: &Matrix) -> Value {
    (0..matrix.rows()).map(|i| matrix.row(i).map(number).collect::<Value>()).collect()
}

/// A number as JSON; what JSON has no numbers for becomes a string.
pub(super) fn number(x: f64) -> Value {
    match x {
        _ if x.is_nan() => "nan".into(),
        f64::INFINITY => "inf".into(),
        f64::NEG_INFINITY => "-inf".into(),
        finite => finite.into(),
    }
}
