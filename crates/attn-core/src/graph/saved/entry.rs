//! A node as it stands in a file.

use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::json_tree::bytes;
use crate::matrix::{Labels, Shape};
use crate::memory;
use crate::text::{clip, counted};

use super::super::run_again::of_node;
use super::super::{Op, OpKind, Origin, Step, Value as NodeValue};
use super::numbers::tensor;

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
pub(super) enum Numbers {
    /// In the file.
    Here,
    /// They were too many for it.
    LeftOut,
    /// Nowhere.
    NeverFormed,
}

/// A node of a file, each part of it checked for itself.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) label: Option<String>,
    pub(super) step: Option<Step>,
    /// The op; none where the version of the file does not have its parameters.
    pub(super) op: Option<Op>,
    pub(super) inputs: Vec<String>,
    pub(super) collects: Option<String>,
    pub(super) numbers: Numbers,
    pub(super) value: NodeValue,
}

impl Entry {
    /// The node number `at` of a graph, from 0.
    ///
    /// # Errors
    /// If a part of it is missing or cannot be what it should be.
    pub(super) fn read(json: &Value, at: usize, version: u64) -> Result<Entry> {
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
