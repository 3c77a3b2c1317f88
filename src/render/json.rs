//! The graph as JSON: every digit, `"-inf"`, `"inf"` and `"nan"` as strings, and the parameters of every op, so that
//! [`crate::graph::saved`] can read it back.

use std::io::{BufWriter, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::ser::Formatter;
use serde_json::{Map, Value, json};

use super::Page;
use super::document::{NumberedStep, numbered};
use crate::error::Result;
use crate::foreign::hidden;
use crate::graph::{Convention, Graph, NodeId, Op, Origin, Precision, formula};
use crate::input::{self, GRAPH_SCHEMA, GRAPH_VERSION, Rows};
use crate::story::{Plane, StepItem, Table};
use crate::tensor::Tensor;

/// The version of tables.
const TABLE_VERSION: u64 = 1;

/// The graphs of all pages, piece by piece: they may hold more numbers than one would want to have in memory twice.
pub(super) fn write(pages: &[Page], command: &str, out: &mut dyn Write) -> Result<()> {
    finish(&Document { pages, command }, out)
}

struct Document<'a> {
    pages: &'a [Page],
    command: &'a str,
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", GRAPH_SCHEMA)?;
        map.serialize_entry("version", &GRAPH_VERSION)?;
        map.serialize_entry("command", self.command)?;
        map.serialize_entry("graphs", &self.pages.iter().map(PageObject).collect::<Vec<_>>())?;
        map.end()
    }
}

struct PageObject<'a>(&'a Page);

impl Serialize for PageObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Page { story, nodes, headed, .. } = self.0;
        let node = |&id: &NodeId| NodeObject { graph: &story.graph, id, whole: !headed };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("title", &story.title)?;
        let precision = match story.graph.precision() {
            Precision::Exact => "f64",
            Precision::Single(_) => "f32",
        };
        map.serialize_entry("precision", precision)?;
        if story.graph.is_of_model() {
            map.serialize_entry("of_model", &true)?;
        }
        // A demo has the same sentences under every convention; the story of a command on a user's numbers has not.
        if *headed && story.source.is_some() {
            map.serialize_entry("steps", &steps(self.0))?;
        }
        map.serialize_entry("nodes", &nodes.iter().map(node).collect::<Vec<_>>())?;
        let planes: Vec<Value> = story.planes().map(|plane| plane_object(plane, &story.graph)).collect();
        if !planes.is_empty() {
            map.serialize_entry("planes", &planes)?;
        }
        map.end()
    }
}

/// The steps that have a sentence: their number, the sentence, the notice, and the nodes that are shown.
fn steps(page: &Page) -> Vec<Value> {
    let object = |step: &NumberedStep<'_>| {
        let number = step.number?;
        let nodes: Vec<&str> = step
            .step
            .shown
            .iter()
            .flat_map(StepItem::nodes)
            .map(|id| page.story.graph[id].name.as_str())
            .collect();
        Some(json!({ "step": number, "text": step.step.text, "notice": step.step.notice, "nodes": nodes }))
    };
    numbered(page).iter().filter_map(object).collect()
}

/// A picture of the plane: whose rows are its points, and from which to which its arrows go.
fn plane_object(plane: &Plane, graph: &Graph) -> Value {
    let name = |id: &NodeId| graph[*id].name.as_str();
    let points: Vec<&str> = plane.points.iter().map(name).collect();
    let arrows: Vec<[&str; 2]> = plane.arrows.iter().map(|(from, to)| [name(from), name(to)]).collect();
    json!({ "name": plane.name, "points": points, "arrows": arrows })
}

/// A node; `whole` with all of its numbers, also where they are too many to be looked at.
struct NodeObject<'a> {
    graph: &'a Graph,
    id: NodeId,
    whole: bool,
}

impl Serialize for NodeObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let NodeObject { graph, id, whole } = *self;
        let node = &graph[id];
        let inputs: Vec<&str> = node.inputs.iter().map(|&input| graph[input].name.as_str()).collect();
        let (rows, cols) = node.labels();
        let stays_in_file = node.typed().is_some_and(Tensor::is_stored);
        let is_left_out = stays_in_file || node.matrix().is_none() && !whole;
        let table = input::table(graph, id).ok().filter(|_| !is_left_out);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &node.name)?;
        if let Some(label) = &node.label {
            map.serialize_entry("label", label)?;
        }
        if let Some(step) = &node.step {
            map.serialize_entry("step", step)?;
        }
        map.serialize_entry("op", node.op.name())?;
        map.serialize_entry("params", &node.op.params())?;
        map.serialize_entry("inputs", &inputs)?;
        if let Some(collects) = &node.collects {
            map.serialize_entry("collects", collects)?;
        }
        map.serialize_entry("formula", &formula(graph, id, Convention::Rows, false))?;
        map.serialize_entry("shape", &[node.shape().rows, node.shape().cols])?;
        map.serialize_entry("rows", &rows.map(|labels| &labels[..]))?;
        map.serialize_entry("cols", &cols.map(|labels| &labels[..]))?;
        map.serialize_entry("values", &table.map(Rows))?;
        // Rows that come from different places say from where.
        if let Op::Given(origin @ Origin::Rows(rows)) = &node.op {
            let rows: Vec<String> = (0..rows.len()).map(|row| origin.of_row(row).to_string()).collect();
            map.serialize_entry("origins", &rows)?;
        }
        // A node of the fast path has further keys: the reason why there are no values, or the type of its values.
        if node.is_never_formed() {
            map.serialize_entry("never_formed", &true)?;
        }
        if let Some(numbers) = node.typed() {
            map.serialize_entry("dtype", numbers.dtype().name())?;
            if stays_in_file {
                map.serialize_entry("left_out", &format!("{} numbers, in the model's file", node.shape()))?;
            } else if is_left_out {
                let name = &node.name;
                let text =
                    format!("{} numbers; --only {name} writes them here, --save to a file", node.shape());
                map.serialize_entry("left_out", &text)?;
            }
        }
        map.end()
    }
}

pub(super) fn write_tables(parts: &[(String, Table)], command: &str, out: &mut dyn Write) -> Result<()> {
    let cell = |table: &Table, j: usize, cell: &str| {
        if table.numbers.contains(&j) {
            // A number column has null where there is no number.
            serde_json::from_str::<serde_json::Number>(cell).map_or(Value::Null, Value::Number)
        } else {
            cell.into()
        }
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
        &json!({ "schema": "attn-table", "version": TABLE_VERSION, "command": command, "tables": tables }),
        out,
    )
}

pub(super) fn finish(value: &impl Serialize, out: &mut dyn Write) -> Result<()> {
    let mut out = BufWriter::new(out);
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, EscapingFormatter);
    value.serialize(&mut serializer).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// JSON in one line; invisible characters in its texts become escapes of JSON's own: `\u202e`. It is read as the same text.
struct EscapingFormatter;

impl Formatter for EscapingFormatter {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, out: &mut W, text: &str) -> std::io::Result<()> {
        let mut end = 0;
        for (at, c) in hidden(text) {
            out.write_all(&text.as_bytes()[end..at])?;
            end = at + c.len_utf8();
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
        }
        out.write_all(&text.as_bytes()[end..])
    }
}
