//! Graphs that were written as JSON, read back.
//!
//! Version 2 of the schema `attn-graph` has the parameters of every op, so that a file of all steps is the graph that wrote it:
//! its cells can be explained, and it can be [run again](super::Graph::run_again). A file that lacks something opens
//! [read-only](Reason). Nothing in a file is trusted: its nodes are checked as [`super::Graph::restore`] does.

mod build;
mod entry;
mod numbers;
mod reason;

pub use reason::Reason;

use serde_json::Value;

use super::Graph;
use crate::error::{Error, Result};
use crate::text::clip;

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
    graphs.iter().map(|graph| build::graph(graph, version)).collect()
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
