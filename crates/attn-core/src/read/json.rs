//! JSON as it is met in files of numbers: nested lists become one flat array while they are read.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::{fmt, mem};

use serde::de::{self, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::error::{Error, Place, Result};
use crate::matrix::Labels;
use crate::memory;
use crate::text::{clip, counted, listed_briefly};

use super::array::{Array, ArrayFacts, Item, MOST_CELLS};
use super::names::own;
use super::number::{MOST_COUNTED, decimals_of, number};

pub use crate::graph::saved::{SCHEMA as GRAPH_SCHEMA, VERSION as GRAPH_VERSION};

/// Reads a JSON text. serde_json itself refuses what is nested deeper than 128.
///
/// # Errors
/// At the line and column of what is no JSON, or no rectangle of numbers.
pub fn parse(name: &str, text: &str) -> Result<Json> {
    let text = with_words_quoted(text);
    let mut reader = serde_json::Deserializer::from_str(&text);
    let mut json = Json::Null;
    let mut keep = |read| {
        json = read;
        Ok(())
    };
    let quoted = matches!(text, Cow::Owned(_));
    let budget = Budget { entries: Cell::new(1 << 18), texts: Cell::new(1 << 20), quoted };
    let mut read = ValueVisitor { budget: &budget, to: &mut keep }.deserialize(&mut reader);
    // JSON lines: a value on each.
    let mut lines = Json::Nothing;
    let mut line = 1;
    while let (Ok(()), Err(error)) = (&read, reader.end()) {
        if error.line() <= line {
            read = Err(error);
            break;
        }
        line = error.line();
        let above = lines.push(mem::replace(&mut json, Json::Null)).map_err(serde_json::Error::custom);
        (lines, read) = above.map_or_else(|error| (Json::Nothing, Err(error)), |all| (all, Ok(())));
        let mut keep = |read| {
            json = read;
            Ok(())
        };
        read = read.and_then(|()| ValueVisitor { budget: &budget, to: &mut keep }.deserialize(&mut reader));
    }
    if read.is_ok() && lines != Json::Nothing {
        read = lines
            .push(mem::replace(&mut json, Json::Null))
            .map(|all| json = all)
            .map_err(serde_json::Error::custom);
    }
    read.map(|()| json).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let said = error.to_string();
        let what = said.split(&format!(" at line {line} column")).next().unwrap_or(&said);
        if what == memory::EXHAUSTED {
            return memory::exhausted().in_source(name);
        }
        let place = Place::Text(name.to_string(), line.max(1), column.max(1));
        let not_json = error.is_syntax() || error.is_eof();
        let what = if not_json { format!("this is not JSON: {what}") } else { what.to_string() };
        Error::new(what).at(place).help(if not_json {
            "write a matrix as a list of rows: [[1, 2], [3, 4]]"
        } else {
            "write a matrix as a list of rows of equal length: [[1, 2], [3, \"-inf\"]]"
        })
    })
}

type ParseResult<T, E> = std::result::Result<T, E>;

/// The remaining number of objects and strings that a text may have: each takes more memory than bytes of the text.
struct Budget {
    /// Objects, and entries of objects.
    entries: Cell<usize>,
    /// Strings that are kept as such.
    texts: Cell<usize>,
    /// True if a string may stand for NaN.
    quoted: bool,
}

impl Budget {
    fn take<E: de::Error>(left: &Cell<usize>, count: usize, what: &str) -> ParseResult<(), E> {
        let rest = left.get().checked_sub(count);
        left.set(rest.ok_or_else(|| E::custom(format!("there are too many {what} in this file")))?);
        Ok(())
    }

    fn entry<E: de::Error>(&self, value: &Json) -> ParseResult<(), E> {
        Budget::take(&self.entries, 1, "names")?;
        match value {
            Json::Texts(texts) => Budget::take(&self.texts, texts.len(), "strings"),
            _ => Ok(()),
        }
    }
}

/// Hands what stands in the text to `to` while the reader still stands there, so that an error of it names the place.
struct ValueVisitor<'b, 'r> {
    budget: &'b Budget,
    to: &'r mut dyn FnMut(Json) -> Outcome<()>,
}

impl ValueVisitor<'_, '_> {
    fn found<E: de::Error>(self, value: Json) -> ParseResult<(), E> {
        (self.to)(value).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for ValueVisitor<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> ParseResult<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows of numbers, or an object that names such lists")
    }

    fn visit_unit<E: de::Error>(self) -> ParseResult<(), E> {
        self.found(Json::Null)
    }

    fn visit_bool<E: de::Error>(self, truth: bool) -> ParseResult<(), E> {
        self.found(Json::Truth(truth))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> ParseResult<(), E> {
        self.found(Json::Number(value as f64))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> ParseResult<(), E> {
        self.found(Json::Number(value as f64))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> ParseResult<(), E> {
        self.found(Json::Number(value))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> ParseResult<(), E> {
        let text = if self.budget.quoted && text == NAN { "nan" } else { text };
        self.found(Json::Text(text.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> ParseResult<(), A::Error> {
        let mut list = Json::Nothing;
        let mut add = |element| {
            list = mem::replace(&mut list, Json::Nothing).push(element)?;
            Ok(())
        };
        while seq.next_element_seed(ValueVisitor { budget: self.budget, to: &mut add })?.is_some() {}
        self.found(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> ParseResult<(), A::Error> {
        let mut entries: Vec<(String, Json)> = Vec::new();
        let mut names = HashSet::new();
        Budget::take(&self.budget.entries, 1, "objects")?;
        while let Some(key) = map.next_key::<String>()? {
            if !names.insert(key.clone()) {
                return Err(A::Error::custom(format!("`{}` appears twice", clip(&key))));
            }
            // Of a saved computation, what is beside the matrices: the parameters of a node, the pictures of a graph.
            let stands_behind = |own: &str, other: &str| key == own && names.contains(other);
            if stands_behind("params", "op") || stands_behind("planes", "nodes") {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let mut value = Json::Null;
            let mut keep = |read| {
                value = read;
                Ok(())
            };
            map.next_value_seed(ValueVisitor { budget: self.budget, to: &mut keep })?;
            self.budget.entry(&value)?;
            entries.push((key, value));
        }
        self.found(Json::Object(entries))
    }
}

// NaN and the infinities as Python's `json.dump` writes them, which JSON itself does not have.

/// The string that stands for NaN in three bytes.
const NAN: &str = "\u{7f}";

/// A word, and the string that is read in its place: as long, so that the places of errors stay.
const WORDS: [(&str, &str); 4] = [
    ("NaN", "\"\u{7f}\""),
    ("-NaN", "\"\u{7f}\" "),
    ("Infinity", "\"inf\"   "),
    ("-Infinity", "\"-inf\"   "),
];

/// The text with strings for `NaN`, `Infinity` and `-Infinity`, where they stand outside strings.
fn with_words_quoted(text: &str) -> Cow<'_, str> {
    if WORDS.iter().all(|(word, _)| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_none()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut in_word) = (text, false);
    while let Some(character) = rest.chars().next() {
        let is_word = |word| rest.strip_prefix(word).is_some_and(|behind| !goes_on(behind));
        let word = WORDS.iter().find(|(word, _)| !in_word && is_word(word));
        in_word = word.is_none() && goes_on(rest);
        let length = if character == '"' { string_length(rest) } else { character.len_utf8() };
        let (taken, written) = word.map_or((length, &rest[..length]), |(word, string)| (word.len(), *string));
        out.push_str(written);
        rest = &rest[taken..];
    }
    Cow::Owned(out)
}

/// True if a text begins with a character that belongs to the word or number before it.
fn goes_on(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'))
}

/// The length of the string at the start of a text, quotation marks included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

// A JSON value: what is named in it, and numbers in one flat array whatever the depth of their lists.

/// A JSON value. Numbers may also be written as the strings `"-inf"`, `"inf"` and `"nan"`, or as Python writes these: `NaN`.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// A number by itself.
    Number(f64),
    /// `true` or `false`
    Truth(bool),
    /// A string.
    Text(String),
    /// `[]`
    Nothing,
    /// Rows of numbers, or rows of these, all of the same length.
    Numbers(Rectangle),
    /// Numbers that are an array already, perhaps with labels.
    Array(Array),
    /// A list of strings.
    Texts(Vec<String>),
    /// A list of objects.
    Objects(Vec<Json>),
    /// An object; its entries in their order.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The kind of the value, for an error.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Number(_) => "a single number",
            Json::Truth(_) => "a truth value",
            Json::Text(_) => "a string",
            Json::Nothing => "an empty list",
            Json::Numbers(_) | Json::Array(_) => "numbers",
            Json::Texts(_) => "a list of strings",
            Json::Objects(_) => "a list of objects",
            Json::Object(_) => "an object",
        }
    }

    /// The numbers as an array. A list of strings is one if every string is a number; decimals are those of the
    /// shortest text, since JSON's readers do not keep a final zero.
    ///
    /// # Errors
    /// If this is anything else.
    pub(super) fn into_array(self) -> Result<Array> {
        let Rectangle { dims, values, boolean } = match self {
            Json::Array(array) => return Ok(array),
            Json::Numbers(rectangle) => rectangle,
            Json::Texts(texts) => Rectangle::of_texts(&texts).map_err(Error::new)?,
            Json::Nothing => return Err(Error::new("there are no numbers, only an empty list")),
            other => {
                return Err(Error::new(format!("this is {}, but a list of rows is needed", other.kind())));
            }
        };
        let decimals = (!boolean && values.len() <= MOST_COUNTED)
            .then(|| values.iter().map(|&value| decimals_of(value, |v| format!("{v:e}"))).max().unwrap_or(0));
        Ok(Array::new(dims, values)?.with(ArrayFacts { boolean, decimals, ..ArrayFacts::default() }))
    }
}

/// The error is a message without a place: the reader adds the place.
pub(super) type Outcome<T> = std::result::Result<T, String>;

/// Numbers in a rectangle, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Rectangle {
    pub(super) dims: Vec<usize>,
    pub(super) values: Vec<f64>,
    pub(super) boolean: bool,
}

impl Rectangle {
    /// A row of numbers that all had to be strings.
    ///
    /// # Errors
    /// If one of the strings is no number.
    pub(super) fn of_texts(texts: &[String]) -> Outcome<Rectangle> {
        let values: Outcome<Vec<f64>> = texts.iter().map(|text| number_in(text)).collect();
        Ok(Rectangle { dims: vec![texts.len()], values: values?, boolean: false })
    }
}

/// A number that had to be written as a string.
pub(super) fn number_in(text: &str) -> Outcome<f64> {
    number(text).map(|number| number.value).map_err(|_| format!("`{}` is not a number", clip(text)))
}

// Lists in JSON, put together element by element: a rectangle of numbers, or labels.

/// The most strings that one list holds as strings.
const MOST_TEXTS: usize = 1 << 20;

impl Json {
    /// The list with one more element; without any it is [`Json::Nothing`].
    ///
    /// # Errors
    /// If the element does not go with those before it.
    fn push(self, element: Json) -> Outcome<Json> {
        match (self, element) {
            (Json::Nothing, Json::Text(text)) => Ok(Json::Texts(vec![text])),
            // A list this long holds numbers, not labels, and a number takes less memory than a string.
            (Json::Texts(texts), Json::Text(text)) if texts.len() == MOST_TEXTS => {
                let numbers = Rectangle::of_texts(&texts)
                    .map_err(|_| format!("there are more than {MOST_TEXTS} strings"))?;
                Json::Numbers(numbers).push(Json::Text(text))
            }
            (Json::Texts(mut texts), Json::Text(text)) => {
                texts.push(text);
                Ok(Json::Texts(texts))
            }
            (Json::Nothing, object @ Json::Object(_)) => Ok(Json::Objects(vec![object])),
            (Json::Objects(mut objects), object @ Json::Object(_)) => {
                objects.push(object);
                Ok(Json::Objects(objects))
            }
            (_, Json::Null) => Err("there is null, but a number is needed".into()),
            (_, Json::Nothing) => Err("a row is empty".into()),
            (list, Json::Number(value)) => list.push_numbers(&[], Cow::Borrowed(&[value]), false),
            (list, Json::Truth(truth)) => {
                list.push_numbers(&[], Cow::Borrowed(&[f64::from(u8::from(truth))]), true)
            }
            (Json::Numbers(row), Json::Text(text)) if row.dims.len() == 1 => {
                Json::Numbers(row).push_numbers(&[], Cow::Borrowed(&[number_in(&text)?]), false)
            }
            (list, Json::Texts(texts)) => list.push(Json::Numbers(Rectangle::of_texts(&texts)?)),
            (list, Json::Numbers(Rectangle { dims, values, boolean })) => {
                list.push_numbers(&dims, Cow::Owned(values), boolean)
            }
            (_, other) => Err(format!("{} follows elements of another kind", other.kind())),
        }
    }

    /// The list with one more number, which has no dimensions, or with one more row of numbers, or of rows.
    fn push_numbers(self, dims: &[usize], values: Cow<'_, [f64]>, boolean: bool) -> Outcome<Json> {
        let is_cell = dims.is_empty();
        let mut all = match self {
            Json::Nothing => Rectangle { dims: [&[0], dims].concat(), values: Vec::new(), boolean },
            Json::Texts(texts) if is_cell => Rectangle::of_texts(&texts)?,
            Json::Numbers(all) if is_cell == (all.dims.len() == 1) => all,
            Json::Objects(_) if is_cell => return Err("a number follows objects".into()),
            _ if is_cell => return Err("a number follows rows".into()),
            _ => return Err("a row follows elements that are not rows".into()),
        };
        if all.dims[1..] != *dims {
            let (number, has, first) = (all.dims[0] + 1, side(dims), side(&all.dims[1..]));
            return Err(format!("row {number} has {has}, but row 1 has {first}"));
        }
        if all.boolean != boolean {
            return Err("this mixes numbers with true and false".into());
        }
        if all.values.len() + values.len() > MOST_CELLS {
            return Err(format!("there are more than {MOST_CELLS} numbers"));
        }
        // One row alone is not copied.
        if all.values.is_empty() {
            all.values = values.into_owned();
        } else {
            let room = memory::grow(&mut all.values, values.len(), MOST_CELLS);
            room.map_err(|_| memory::EXHAUSTED.to_string())?;
            all.values.extend_from_slice(&values);
        }
        all.dims[0] += 1;
        Ok(Json::Numbers(all))
    }
}

/// `3 numbers` or `2×3 numbers`.
fn side(dims: &[usize]) -> String {
    let sides: Vec<String> = dims.iter().map(usize::to_string).collect();
    format!("{} numbers", sides.join("×"))
}

// The meaning of an object in JSON: a matrix with labels, a saved computation, or several matrices by name.

/// The op of a node that was given rather than computed.
pub const GIVEN: &str = "given";

/// The selection of nodes that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nodes {
    /// Those that were given: what another computation starts from.
    Given,
    /// Those that were computed: what is judged.
    Computed,
    /// Those that were given, or where there are none those that were computed: one matrix.
    Either,
}

/// The entries of a whole document, each with its name, in the order of the text: of a computation, these nodes. One array alone has
/// no name.
///
/// # Errors
/// If it is neither numbers nor an object that names them.
pub fn document(json: Json, nodes: Nodes) -> Result<Vec<(Option<String>, Json)>> {
    if let Some(table) = of_shape(&json, nodes) {
        return Ok(vec![(None, Json::Array(table?))]);
    }
    let Json::Object(entries) = json else { return Ok(vec![(None, Json::Array(json.into_array()?))]) };
    if find(&entries, "nbformat").is_some() {
        return Err(Error::new("this is a notebook")
            .help("copy what a cell has printed, or save the array: np.save(\"o.npy\", o)"));
    }
    // Beside `keys`, `values` are those of attention.
    let is_bundle = entries.iter().any(|(key, _)| key != "values" && own(key).is_some());
    let entries = if find(&entries, "schema").is_some() {
        nodes_of(entries, nodes)?
    } else if find(&entries, "values").is_some() && !is_bundle {
        return Ok(vec![(None, Json::Array(item(Json::Object(entries))?.into_array()?))]);
    } else {
        entries
    };
    Ok(entries.into_iter().map(|(name, entry)| (Some(name), entry)).collect())
}

/// The matrix of a document in one of the shapes that other programs write: a list of records, words with a vector each, the split
/// tables and columns of pandas, numbers with their shape; `None` for another document.
fn of_shape(json: &Json, nodes: Nodes) -> Option<Result<Array>> {
    let entries = match json {
        Json::Objects(records) => return Some(of_records(records)),
        Json::Object(entries) if find(entries, "schema").is_none() => entries,
        _ => return None,
    };
    let numbers = |key: &str| match find(entries, key) {
        Some(Json::Numbers(numbers)) => Some(numbers),
        _ => None,
    };
    if let (Some(data), Some(shape)) =
        (numbers("data").or_else(|| numbers("values")), numbers("shape").or_else(|| numbers("dims")))
        && data.dims.len() == 1
    {
        let sides = shape.values.iter().map(|&side| side as usize).collect();
        return Some(told_as(data.values.clone(), sides, None, None, "numbers with their shape"));
    }
    if let Some(data) = numbers("data")
        && find(entries, "columns").is_some()
    {
        let [rows, cols] = ["index", "columns"].map(|key| find(entries, key).and_then(names_in));
        return Some(told_as(
            data.values.clone(),
            data.dims.clone(),
            rows,
            cols,
            "a table that pandas has split",
        ));
    }
    if entries.len() < 2 && !matches!(entries.first(), Some((_, Json::Object(_)))) {
        return None;
    }
    let names = || Some(entries.iter().map(|(name, _)| name.clone()).collect());
    // Each a row, but a step of attention may be a row itself.
    let rows: Option<Vec<&Rectangle>> = entries
        .iter()
        .map(|(name, entry)| match entry {
            Json::Numbers(row) if row.dims.len() == 1 && nodes == Nodes::Either && own(name).is_none() => {
                Some(row)
            }
            _ => None,
        })
        .collect();
    if let Some(rows) = rows
        && rows.len() > 1
        && rows.iter().all(|row| row.dims == rows[0].dims)
    {
        let values = rows.iter().flat_map(|row| &row.values).copied().collect();
        return Some(told_as(
            values,
            vec![rows.len(), rows[0].dims[0]],
            names(),
            None,
            "names with a row of numbers each",
        ));
    }
    // Each a column, with a number for each row.
    let columns: Option<Vec<Vec<(&str, f64)>>> = entries
        .iter()
        .map(|(_, entry)| match entry {
            Json::Object(cells) if !cells.is_empty() => cells
                .iter()
                .map(|(name, cell)| match cell {
                    Json::Number(number) => Some((name.as_str(), *number)),
                    _ => None,
                })
                .collect(),
            _ => None,
        })
        .collect();
    let columns = columns?;
    let rows: Vec<&str> = columns.first()?.iter().map(|(name, _)| *name).collect();
    if !columns.iter().all(|column| column.iter().map(|(name, _)| *name).eq(rows.iter().copied())) {
        return Some(Err(Error::new("the columns do not name the same rows")
            .help("write a list of rows: [[1, 2], [3, 4]]")));
    }
    let values = (0..rows.len()).flat_map(|i| columns.iter().map(move |column| column[i].1)).collect();
    let row_names = rows.iter().map(|name| name.to_string()).collect();
    Some(told_as(
        values,
        vec![rows.len(), columns.len()],
        Some(row_names),
        names(),
        "columns by their names, as pandas writes them",
    ))
}

/// A matrix of records: each number a column, or a list of numbers the whole row; a string names the row.
fn of_records(records: &[Json]) -> Result<Array> {
    let wrong = |what: String| Error::new(what).help("write a list of rows: [[1, 2], [3, 4]]");
    let (mut values, mut rows, mut cols) = (Vec::new(), Vec::new(), Vec::new());
    for (i, record) in records.iter().enumerate() {
        let Json::Object(entries) = record else {
            return Err(wrong("this mixes records and other values".into()));
        };
        let (mut names, before) = (Vec::new(), values.len());
        for (name, entry) in entries {
            match entry {
                Json::Number(number) => {
                    values.push(*number);
                    names.push(name.clone());
                }
                Json::Numbers(row) if row.dims.len() == 1 => values.extend(&row.values),
                Json::Text(text) if rows.len() == i => rows.push(text.clone()),
                other => {
                    return Err(wrong(format!("`{}` of record {} is {}", clip(name), i + 1, other.kind())));
                }
            }
        }
        if i == 0 {
            cols = names;
        } else if names != cols {
            return Err(wrong(format!(
                "record {} does not have the names of the first in their order",
                i + 1
            )));
        }
        if (values.len() - before) * (i + 1) != values.len() {
            return Err(wrong(format!(
                "record {} has {}, but the first has {}",
                i + 1,
                counted(values.len() - before, "number"),
                before / i.max(1)
            )));
        }
    }
    let width = values.len() / records.len().max(1);
    let rows = Some(rows).filter(|rows| rows.len() == records.len());
    let cols = Some(cols).filter(|cols| cols.len() == width);
    told_as(values, vec![records.len(), width], rows, cols, "records, each a row")
}

/// Numbers as an array with names, and what they were taken for.
fn told_as(
    values: Vec<f64>,
    dims: Vec<usize>,
    rows: Option<Vec<String>>,
    cols: Option<Vec<String>>,
    what: &str,
) -> Result<Array> {
    let shown = values.len();
    let array = Array::new(dims.clone(), values)
        .map_err(|error| error.help(format!("there are {}", counted(shown, "number"))))?;
    let rectangle = Rectangle { dims, values: array.values().to_vec(), boolean: false };
    let mut array = Json::Numbers(rectangle).into_array()?;
    array.facts.told.push(what.into());
    let fits = |names: Option<Vec<String>>, count: Option<&usize>| {
        names.filter(|names| Some(&names.len()) == count).map(Labels::from)
    };
    let (rows, cols) = (fits(rows, array.dims().iter().rev().nth(1)), fits(cols, array.dims().last()));
    Ok(array.labelled(rows, cols))
}

/// Names in a list, which may be numbers.
fn names_in(json: &Json) -> Option<Vec<String>> {
    match json {
        Json::Texts(names) => Some(names.clone()),
        Json::Numbers(numbers) if numbers.dims.len() == 1 => {
            Some(numbers.values.iter().map(f64::to_string).collect())
        }
        _ => None,
    }
}

/// One entry: a list of strings, a list of rows, or `{"rows": […], "cols": […], "values": [[…]]}`.
///
/// # Errors
/// If it is none of these, or its labels do not fit.
pub fn item(json: Json) -> Result<Item> {
    match json {
        Json::Texts(words) => Ok(Item::Words(words)),
        Json::Object(mut entries) => {
            let rows = labels(&entries, "rows")?;
            let cols = labels(&entries, "cols")?;
            let Some(values) = entries.iter().position(|(key, _)| key == "values") else {
                return Err(Error::new("the object has no `values`").help(MATRIX_OBJECT));
            };
            let array = entries.swap_remove(values).1.into_array()?;
            let [.., height, width] = array.dims()[..] else {
                return Err(
                    Error::new("`values` is a single row, but must be a list of rows").help(MATRIX_OBJECT)
                );
            };
            for (side, labels, count) in [("rows", &rows, height), ("cols", &cols, width)] {
                if let Some(labels) = labels
                    && labels.len() != count
                {
                    let (has, needs) =
                        (counted(labels.len(), "label"), counted(count, side.trim_end_matches('s')));
                    return Err(Error::new(format!("`{side}` has {has}, but the matrix has {needs}")));
                }
            }
            Ok(Item::Array(array.labelled(rows, cols)))
        }
        numbers => Ok(Item::Array(numbers.into_array()?)),
    }
}

const MATRIX_OBJECT: &str =
    r#"a matrix with labels is {"rows": ["bat"], "cols": ["x", "y"], "values": [[3, 3]]}"#;

fn find<'a>(entries: &'a [(String, Json)], key: &str) -> Option<&'a Json> {
    entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

fn taken(entries: Vec<(String, Json)>, key: &str) -> Option<Json> {
    entries.into_iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

fn labels(entries: &[(String, Json)], key: &str) -> Result<Option<Labels>> {
    match find(entries, key) {
        None | Some(Json::Null | Json::Nothing) => Ok(None),
        Some(Json::Texts(labels)) => Ok(Some(labels.as_slice().into())),
        Some(other) => {
            Err(Error::new(format!("`{key}` is {}, but it should be labels", other.kind()))
                .help(MATRIX_OBJECT))
        }
    }
}

/// The nodes that were given or computed, from a document that holds one computation.
fn nodes_of(document: Vec<(String, Json)>, wanted: Nodes) -> Result<Vec<(String, Json)>> {
    match find(&document, "schema") {
        Some(Json::Text(schema)) if schema == GRAPH_SCHEMA => {}
        Some(Json::Text(schema)) => {
            return Err(Error::new(format!("unknown schema `{}`", clip(schema))).help(format!(
                "give a file of the schema `{GRAPH_SCHEMA}`, or one without a schema that names matrices"
            )));
        }
        _ => return Err(Error::new("the schema is not a string")),
    }
    let version = find(&document, "version");
    // The matrices of a node are the same in all versions.
    if !(1..=GRAPH_VERSION).any(|known| version == Some(&Json::Number(known as f64))) {
        let found = match version {
            Some(Json::Number(found)) => format!("version {found}"),
            _ => "no version".to_string(),
        };
        return Err(Error::new(format!(
            "{found} of the schema `{GRAPH_SCHEMA}` is not supported, only versions 1 to {GRAPH_VERSION}"
        )));
    }
    let nodes = match taken(document, "graphs") {
        Some(Json::Objects(mut graphs)) if graphs.len() == 1 => match graphs.swap_remove(0) {
            Json::Object(graph) => taken(graph, "nodes"),
            _ => None,
        },
        Some(Json::Objects(graphs)) => return Err(several(&graphs)),
        _ => return Err(Error::new("the document has no `graphs`")),
    };
    let Some(Json::Objects(nodes)) = nodes else {
        return Err(Error::new("a graph has no `nodes`"));
    };
    let (mut found, mut computed) = (Vec::new(), Vec::new());
    for node in nodes {
        let Json::Object(entries) = node else { continue };
        let is_given = find(&entries, "op") == Some(&Json::Text(GIVEN.into()));
        if is_given != (wanted != Nodes::Computed) {
            if !is_given
                && wanted == Nodes::Either
                && find(&entries, "values").is_some_and(|values| *values != Json::Null)
                && let Some(Json::Text(name)) = find(&entries, "name")
            {
                computed.push((name.clone(), Json::Object(entries)));
            }
            continue;
        }
        let Some(Json::Text(name)) = find(&entries, "name") else {
            return Err(Error::new("a node has no `name`"));
        };
        if find(&entries, "never_formed").is_some() {
            continue;
        }
        if find(&entries, "left_out").is_some() {
            let what = format!("`{}` had too many numbers, so they are not in this file", clip(name));
            return Err(
                Error::new(what).help("compute again and save them in their own file: --save O=out.npy")
            );
        }
        found.push((name.clone(), Json::Object(entries)));
    }
    let mut given = match (found.is_empty(), wanted) {
        (true, Nodes::Either) if !computed.is_empty() => return Ok(computed),
        (true, Nodes::Given | Nodes::Either) => {
            return Err(Error::new(format!("there is no node whose op is `{GIVEN}`")));
        }
        (true, Nodes::Computed) => return Err(Error::new("no node of this graph is computed")),
        (false, Nodes::Computed) => return Ok(found),
        (false, Nodes::Given | Nodes::Either) => found,
    };
    // A demo has given matrices that no attention layer knows: they are left aside where there are others.
    let known = |(name, _): &(String, Json)| own(name).is_some();
    if given.iter().any(known) {
        given.retain(known);
    }
    Ok(given)
}

fn several(graphs: &[Json]) -> Error {
    let titles = graphs.iter().filter_map(|graph| {
        let Json::Object(entries) = graph else { return None };
        let Json::Text(title) = find(entries, "title")? else { return None };
        Some(title.as_str())
    });
    let (count, titles) = (graphs.len(), listed_briefly(titles));
    Error::new(format!("the file has {count} computations, but one is needed: {titles}"))
        .help("write one of them in its own file")
}

#[cfg(test)]
mod tests {
    use super::super::array::Array;
    use super::*;

    fn array(text: &str) -> Array {
        parse("x.json", text).and_then(Json::into_array).unwrap()
    }

    fn fails(text: &str) -> String {
        parse("x.json", text).and_then(Json::into_array).unwrap_err().to_string()
    }

    #[test]
    fn nested_lists_become_arrays_of_as_many_dimensions() {
        assert_eq!(array("[1, 2.5]").dims(), [2]);
        assert_eq!(array("[[1, 2], [3, 4], [5, 6]]").dims(), [3, 2]);
        let heads = array("[[[1, 2]], [[3, 4]]]");
        assert_eq!((heads.dims(), heads.values()), (&[2, 1, 2][..], &[1.0, 2.0, 3.0, 4.0][..]));
        assert_eq!(array("[[0.25, 3]]").facts.decimals, Some(2));
    }

    #[test]
    fn infinity_is_a_string_wherever_it_stands() {
        let row = array(r#"[["-inf", "inf"], [1, "-INF"], ["-inf", -0.0]]"#);
        assert_eq!(row.values()[..4], [f64::NEG_INFINITY, f64::INFINITY, 1.0, f64::NEG_INFINITY]);
        assert!(row.values()[5].is_sign_negative());
        assert!(array(r#"["nan"]"#).values()[0].is_nan());
        // json.dump([[float("-inf"), 1.0], [float("nan"), float("inf")]], file), Python 3.11
        let python = array("[[-Infinity, 1.0], [NaN, Infinity]]");
        assert_eq!((python.dims(), python.values()[0]), (&[2, 2][..], f64::NEG_INFINITY));
        assert!(python.values()[2].is_nan() && python.values()[3] == f64::INFINITY);
    }

    #[test]
    fn truth_values_make_a_boolean_array() {
        assert!(array("[[true, false], [true, true]]").facts.boolean);
        assert!(fails("[[true, 1]]").contains("this mixes"));
        assert!(fails("[[true], [1]]").contains("this mixes"));
    }

    #[test]
    fn what_is_no_rectangle_is_refused_at_its_place() {
        let said = fails("[[1, 2],\n [3]]");
        assert!(said.starts_with("x.json:2:4: row 2 has 1 numbers, but row 1 has 2 numbers"), "{said}");
        for text in
            ["[1, [2]]", "[[1], 2]", "[[1], []]", "[[1], null]", "[[[1]], [1]]", "[{}, 1]", "[]", "3", "{}"]
        {
            assert!(parse("x.json", text).and_then(Json::into_array).is_err(), "{text}");
        }
        assert!(fails(r#"[[1, "abc"]]"#).contains("`abc` is not a number"));
    }

    #[test]
    fn what_is_no_json_is_refused_at_its_place() {
        let said = fails("[[1, 2],\n [NaN, x]]");
        assert!(said.starts_with("x.json:2:8: this is not JSON"), "{said}");
        let said = fails("[[1, 2]");
        assert!(said.starts_with("x.json:1:7: this is not JSON"), "{said}");
        assert!(fails("[1] [2]").contains("trailing"));
        assert!(fails("[1e999]").contains("out of range"));
    }

    #[test]
    fn a_million_brackets_are_an_error_and_no_overflow() {
        let said = fails(&"[".repeat(1_000_000));
        assert!(said.contains("recursion limit"), "{said}");
        let said = fails(&"{\"a\":".repeat(1_000_000));
        assert!(said.contains("recursion limit"), "{said}");
    }

    #[test]
    fn a_name_given_twice_is_refused() {
        assert!(fails(r#"{"X": [[1]], "X": [[2]]}"#).contains("`X` appears twice"));
    }

    #[test]
    fn words_become_strings_outside_strings_alone() {
        for (text, expected) in [
            ("[NaN]", "[\"\u{7f}\"]"),
            ("[Infinity, -Infinity,NaN]", "[\"inf\"   , \"-inf\"   ,\"\u{7f}\"]"),
            ("{\"NaN\": -NaN}", "{\"NaN\": \"\u{7f}\" }"),
            ("[\"a \\\" NaN\", NaN]", "[\"a \\\" NaN\", \"\u{7f}\"]"),
            ("[NaNs, xNaN, 1Infinity, Infinity8]", "[NaNs, xNaN, 1Infinity, Infinity8]"),
            ("\"NaN", "\"NaN"),
            ("höhe NaN", "höhe \"\u{7f}\""),
        ] {
            assert_eq!(with_words_quoted(text), expected, "{text}");
        }
    }

    #[test]
    fn columns_are_those_of_the_text_as_it_was() {
        let said = fails("[[NaN, NaN],\n [NaN, Infinity, x]]");
        assert!(said.starts_with("x.json:2:18: this is not JSON"), "{said}");
        let said = fails("[[NaN, 1],\n [-NaN, -Infinity, 3]]");
        assert!(said.starts_with("x.json:2:21: row 2 has 3 numbers"), "{said}");
    }

    fn read(text: &str) -> Result<Vec<(Option<String>, Json)>> {
        document(parse("x.json", text)?, Nodes::Given)
    }

    fn names(text: &str) -> Vec<String> {
        read(text).unwrap().into_iter().map(|(name, _)| name.unwrap()).collect()
    }

    fn fails_as_document(text: &str) -> String {
        read(text).err().unwrap().to_string()
    }

    fn graph(version: u64, graphs: &str) -> String {
        format!(
            r#"{{"schema": "attn-graph", "version": {version}, "command": "attend", "graphs": [{graphs}]}}"#
        )
    }

    const ONE: &str = r#"{"title": "t", "nodes": [
        {"name": "Q", "op": "given", "inputs": [], "formula": "", "shape": [1, 2], "rows": ["bat"], "cols": null, "values": [[1, 2]]},
        {"name": "S", "op": "product", "inputs": ["Q", "Q"], "formula": "", "shape": [1, 1], "rows": null, "cols": null, "values": [[5]]}]}"#;

    #[test]
    fn a_matrix_object_carries_its_labels() {
        let text = r#"{"rows": ["bat"], "cols": ["x", "y"], "values": [[3, "-inf"]]}"#;
        let (name, json) = read(text).unwrap().pop().unwrap();
        let array = json.into_array().unwrap();
        assert_eq!(name, None);
        assert_eq!(array.row_labels().unwrap()[..], ["bat"]);
        assert_eq!(array.col_labels().unwrap()[..], ["x", "y"]);
        assert_eq!(array.values(), [3.0, f64::NEG_INFINITY]);
    }

    #[test]
    fn labels_that_do_not_fit_are_refused() {
        let said = fails_as_document(r#"{"rows": ["bat", "cave"], "values": [[3, 3]]}"#);
        assert!(said.contains("`rows` has 2 labels, but the matrix has 1 row"), "{said}");
        assert!(
            fails_as_document(r#"{"rows": [1], "values": [[3, 3]]}"#)
                .contains("`rows` is numbers, but it should be labels")
        );
    }

    #[test]
    fn the_given_nodes_of_one_graph_are_read() {
        for version in 1..=GRAPH_VERSION {
            assert_eq!(names(&graph(version, ONE)), ["Q"]);
        }
    }

    #[test]
    fn the_computed_nodes_of_one_graph_are_read_where_they_are_wanted() {
        let json = parse("x.json", &graph(1, ONE)).unwrap();
        let entries = document(json, Nodes::Computed).unwrap();
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].0.as_deref(), Some("S"));
    }

    #[test]
    fn several_graphs_another_version_and_another_schema_are_refused() {
        let said = fails_as_document(&graph(1, &format!("{ONE}, {ONE}")));
        assert!(said.contains("the file has 2 computations, but one is needed: `t`, `t`"), "{said}");
        assert!(
            fails_as_document(&graph(3, ONE))
                .contains("version 3 of the schema `attn-graph` is not supported, only versions 1 to 2")
        );
        assert!(fails_as_document(r#"{"schema": "other", "graphs": []}"#).contains("unknown schema `other`"));
        assert!(
            fails_as_document(&graph(1, r#"{"nodes": [{"name": "S", "op": "sum"}]}"#))
                .contains("no node whose op is `given`")
        );
        assert!(fails_as_document(&graph(1, "{}")).contains("no `nodes`"));
    }
}
