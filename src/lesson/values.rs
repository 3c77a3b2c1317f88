//! The numbers of a lesson's named commands, for checked prose and for keys.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::graph::{CellId, Cells, Graph, Origin, resolve};
use crate::input::GRAPH_SCHEMA;
use crate::matrix::{Labels, Matrix, labels};
use crate::text::nearest;

use super::command::Command;
use super::key::Values;
use super::model::NamedRun;
use super::run::{Ran, Runner};
use super::shown_digits::ShownOperands;

/// The numbers of named commands.
pub struct RunValues<'a> {
    /// The commands.
    pub runs: &'a [NamedRun],
    /// Runs them.
    pub runner: &'a Runner<'a>,
}

impl RunValues<'_> {
    /// The command of a name.
    fn named(&self, run: &str) -> Result<&NamedRun> {
        self.runs.iter().find(|named| named.name == run).ok_or_else(|| {
            let error = Error::new(format!("no command is named `{run}`"));
            match nearest(run, self.runs.iter().map(|named| named.name.as_str())) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help(format!("name one: <!-- run: {run} = attn … -->")),
            }
        })
    }

    /// What a cell of a run is computed from.
    ///
    /// # Errors
    /// If there is no such run, or it cannot explain the cell.
    pub(super) fn explanation(&self, run: &str, address: &str) -> Result<Value> {
        self.runner.explanation(&self.named(run)?.command, address).map_err(Error::new)
    }
}

impl Values for RunValues<'_> {
    fn slack(&self, run: &str, address: &str, decimals: usize) -> Result<f64> {
        ShownOperands::of(&self.explanation(run, address)?)?.slack(decimals)
    }

    fn matrix(&self, run: &str, address: &str) -> Result<Matrix> {
        let named = self.named(run)?;
        let graph = self.runner.graph(&named.command);
        let graph = graph.as_ref().as_ref().map_err(|said| {
            Error::new(format!("`{}` gives no numbers", named.command.typed)).help(said.clone())
        })?;
        part(graph, address)
    }
}

/// A node, a row of it, or a cell of it, with the labels.
fn part(graph: &Graph, address: &str) -> Result<Matrix> {
    let row_of =
        |matrix: &Matrix, row: usize| matrix.row_labels().map(|names| labels(&[names[row].as_str()]));
    match resolve(graph, address)? {
        Cells::Node(node) => Ok(graph.matrix(node)?.clone()),
        Cells::Row(node, row) => {
            let matrix = graph.matrix(node)?;
            let values: Vec<f64> = matrix.row(row).collect();
            Ok(Matrix::from_row_major(1, matrix.cols(), &values)?
                .with_row_labels(row_of(matrix, row))
                .with_col_labels(matrix.col_labels().cloned()))
        }
        Cells::Cell(CellId { node, row, col }) => {
            let matrix = graph.matrix(node)?;
            let col_label = matrix.col_labels().map(|names| labels(&[names[col].as_str()]));
            Ok(Matrix::from_row_major(1, 1, &[matrix[(row, col)]])?
                .with_row_labels(row_of(matrix, row))
                .with_col_labels(col_label))
        }
    }
}

/// The nodes that a command printed as JSON, as a graph of given matrices. Of a table of words the columns of numbers are
/// a node, named by its first column's head: `part[all,count]`; of a second table of that head, `part_2`.
///
/// # Errors
/// If the command failed, shows several graphs, or prints neither a graph nor tables.
pub(super) fn graph(command: &Command, ran: &Ran) -> Result<Graph> {
    if ran.code != 0 {
        let said = ran.err.trim().trim_start_matches("error: ");
        return Err(Error::new(said));
    }
    let value: Value = serde_json::from_str(&ran.out).map_err(|_| no_numbers())?;
    if value["schema"] == GRAPH_SCHEMA {
        return match value["graphs"].as_array().map(Vec::as_slice) {
            Some([one]) => nodes(one),
            _ => Err(Error::new(format!("`{}` shows several computations", command.typed))
                .help("name a command that shows one computation")),
        };
    }
    match value["tables"].as_array() {
        Some(parts) => tables(parts),
        None => Err(no_numbers()),
    }
}

fn nodes(graph: &Value) -> Result<Graph> {
    let mut given = Graph::new();
    for node in graph["nodes"].as_array().into_iter().flatten() {
        let (Some(name), Some(values)) = (node["name"].as_str(), node["values"].as_array()) else { continue };
        let row = |row: &Value| row.as_array().into_iter().flatten().map(number).collect::<Vec<f64>>();
        let rows: Vec<Vec<f64>> = values.iter().map(row).collect();
        let matrix = Matrix::from_rows(&rows)?
            .with_row_labels(names(&node["rows"]))
            .with_col_labels(names(&node["cols"]));
        given.given(name, matrix, Origin::Stated)?;
    }
    Ok(given)
}

/// A number as JSON has it; `"-inf"`, `"inf"` and `"nan"` are strings.
fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().unwrap_or(f64::NAN),
        other => other.as_f64().unwrap_or(f64::NAN),
    }
}

fn names(value: &Value) -> Option<Labels> {
    let names: Vec<&str> = value.as_array()?.iter().filter_map(Value::as_str).collect();
    Some(labels(&names))
}

fn tables(parts: &[Value]) -> Result<Graph> {
    let mut given = Graph::new();
    for part in parts {
        let rows: Vec<_> =
            part["rows"].as_array().into_iter().flatten().filter_map(Value::as_object).collect();
        let Some(first) = rows.first() else { continue };
        let Some(name) = first.keys().next() else { continue };
        let heads: Vec<&str> =
            first.iter().filter(|(_, value)| value.is_number()).map(|(head, _)| head.as_str()).collect();
        if heads.is_empty() {
            continue;
        }
        let cells = |row: &&serde_json::Map<String, Value>| {
            heads.iter().map(|head| row.get(*head).map_or(f64::NAN, number)).collect::<Vec<f64>>()
        };
        let values: Vec<Vec<f64>> = rows.iter().map(cells).collect();
        let row_names: Vec<&str> =
            rows.iter().map(|row| row.get(name).and_then(Value::as_str).unwrap_or_default()).collect();
        let matrix = Matrix::from_rows(&values)?.rows_named(&row_names).cols_named(&heads);
        let free = (2..).map(|number| format!("{name}_{number}")).find(|free| given.find(free).is_none());
        let unused = if given.find(name).is_some() { free.unwrap_or_default() } else { name.clone() };
        given.given(&unused, matrix, Origin::Stated)?;
    }
    match given.last() {
        Some(_) => Ok(given),
        None => Err(no_numbers()),
    }
}

fn no_numbers() -> Error {
    Error::new("it cannot print its numbers as JSON").help("name a command that shows a computation")
}
