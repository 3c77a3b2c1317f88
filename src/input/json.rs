//! JSON as it is met in files of numbers: nested lists become one flat array while they are read.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::error::{Error, Place, Result};

use super::array::{Array, MOST_CELLS};
use super::label::clip;
use super::number::{decimals_of, number};

/// A value. Numbers may also be written as the strings `"-inf"`, `"inf"` and `"nan"`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Number(f64),
    Truth(bool),
    Text(String),
    /// `[]`
    Nothing,
    /// Rows of numbers, or rows of these, all of the same length.
    Numbers(Nested),
    Texts(Vec<String>),
    Objects(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Numbers in a rectangle, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Nested {
    dims: Vec<usize>,
    values: Vec<f64>,
    boolean: bool,
}

/// Reads a JSON text. serde_json itself refuses what is nested deeper than 128.
///
/// # Errors
/// At the line and column of what is no JSON, or no rectangle of numbers.
pub(super) fn parse(name: &str, text: &str) -> Result<Json> {
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let said = error.to_string();
        let what = said.split(&format!(" at line {line} column")).next().unwrap_or(&said);
        let place = Place::Text(name.to_string(), line.max(1), column.max(1));
        let not_json = error.is_syntax() || error.is_eof();
        let what = if not_json { format!("not JSON: {what}") } else { what.to_string() };
        let bare = text
            .lines()
            .nth(line.saturating_sub(1))
            .is_some_and(|line| ["NaN", "Infinity"].iter().any(|word| line.contains(word)));
        Error::new(what).at(place).help(match (not_json, bare) {
            (true, true) => "JSON has no NaN and no Infinity: write \"nan\", \"inf\" or \"-inf\", as strings",
            (true, false) => "a matrix is a list of rows: [[1, 2], [3, 4]]",
            (false, _) => "a matrix is a list of rows of equal length: [[1, 2], [3, \"-inf\"]]",
        })
    })
}

impl Json {
    /// What this is, for an error.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Number(_) => "a single number",
            Json::Truth(_) => "a truth value",
            Json::Text(_) => "a string",
            Json::Nothing => "an empty list",
            Json::Numbers(_) => "numbers",
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
        let nested = match self {
            Json::Numbers(nested) => nested,
            Json::Texts(texts) => Nested::of_texts(&texts).map_err(Error::new)?,
            Json::Nothing => return Err(Error::new("no numbers, only an empty list")),
            other => return Err(Error::new(format!("{} where a list of rows belongs", other.kind()))),
        };
        let decimals = (!nested.boolean).then(|| {
            nested.values.iter().map(|&value| decimals_of(value, |v| format!("{v:e}"))).max().unwrap_or(0)
        });
        Ok(Array::new(nested.dims, nested.values)?.as_boolean(nested.boolean).with_decimals(decimals))
    }
}

impl Nested {
    fn of_texts(texts: &[String]) -> std::result::Result<Nested, String> {
        let values: std::result::Result<Vec<f64>, String> =
            texts.iter().map(|text| number_in(text)).collect();
        Ok(Nested { dims: vec![texts.len()], values: values?, boolean: false })
    }
}

/// A number that had to be written as a string.
fn number_in(text: &str) -> std::result::Result<f64, String> {
    number(text).map(|number| number.value).map_err(|_| format!("`{}` is not a number", clip(text)))
}

/// A list as far as it has been read.
enum List {
    Nothing,
    /// Numbers and truth values themselves, or strings among numbers.
    Flat {
        values: Vec<f64>,
        boolean: bool,
    },
    /// Strings alone so far: labels, or numbers that had to be strings.
    Texts(Vec<String>),
    /// Lists of these dimensions.
    Stack {
        count: usize,
        inner: Vec<usize>,
        values: Vec<f64>,
        boolean: bool,
    },
    Objects(Vec<Json>),
}

type Outcome<T> = std::result::Result<T, String>;

impl List {
    fn push(self, element: Json) -> Outcome<List> {
        match (self, element) {
            (List::Nothing, Json::Text(text)) => Ok(List::Texts(vec![text])),
            (List::Texts(mut texts), Json::Text(text)) => {
                texts.push(text);
                Ok(List::Texts(texts))
            }
            (List::Nothing, object @ Json::Object(_)) => Ok(List::Objects(vec![object])),
            (List::Objects(mut objects), object @ Json::Object(_)) => {
                objects.push(object);
                Ok(List::Objects(objects))
            }
            (_, Json::Null) => Err("null where a number belongs".into()),
            (_, Json::Nothing) => Err("an empty row".into()),
            (list, Json::Number(value)) => list.push_cell(value, false),
            (list, Json::Truth(truth)) => list.push_cell(f64::from(u8::from(truth)), true),
            (list @ List::Flat { .. }, Json::Text(text)) => list.push_cell(number_in(&text)?, false),
            (list, Json::Numbers(row)) => list.push_row(row),
            (list, Json::Texts(texts)) => list.push_row(Nested::of_texts(&texts)?),
            (_, other) => Err(format!("{} where the elements before it are something else", other.kind())),
        }
    }

    fn push_cell(self, value: f64, is_truth: bool) -> Outcome<List> {
        let (mut values, boolean) = match self {
            List::Nothing => (Vec::new(), is_truth),
            List::Flat { values, boolean } => (values, boolean),
            List::Texts(texts) => (Nested::of_texts(&texts)?.values, false),
            List::Stack { .. } => return Err("a number where the elements before it are rows".into()),
            List::Objects(_) => return Err("a number where the elements before it are objects".into()),
        };
        if boolean != is_truth {
            return Err("a mixture of numbers and true/false".into());
        }
        if values.len() == MOST_CELLS {
            return Err(format!("more than {MOST_CELLS} numbers"));
        }
        values.push(value);
        Ok(List::Flat { values, boolean })
    }

    fn push_row(self, row: Nested) -> Outcome<List> {
        let (count, inner, mut values, boolean) = match self {
            List::Nothing => (0, row.dims.clone(), Vec::new(), row.boolean),
            List::Stack { count, inner, values, boolean } => (count, inner, values, boolean),
            _ => return Err("a row where the elements before it are none".into()),
        };
        if inner != row.dims {
            let (has, first) = (side(&row.dims), side(&inner));
            return Err(format!("row {} has {has}, row 1 has {first}", count + 1));
        }
        if boolean != row.boolean {
            return Err("a mixture of numbers and true/false".into());
        }
        if values.len() + row.values.len() > MOST_CELLS {
            return Err(format!("more than {MOST_CELLS} numbers"));
        }
        values.extend(row.values);
        Ok(List::Stack { count: count + 1, inner, values, boolean })
    }

    fn finish(self) -> Json {
        match self {
            List::Nothing => Json::Nothing,
            List::Flat { values, boolean } => {
                Json::Numbers(Nested { dims: vec![values.len()], values, boolean })
            }
            List::Texts(texts) => Json::Texts(texts),
            List::Stack { count, mut inner, values, boolean } => {
                inner.insert(0, count);
                Json::Numbers(Nested { dims: inner, values, boolean })
            }
            List::Objects(objects) => Json::Objects(objects),
        }
    }
}

/// `3 numbers` or `2×3 numbers`.
fn side(dims: &[usize]) -> String {
    let sides: Vec<String> = dims.iter().map(usize::to_string).collect();
    format!("{} numbers", sides.join("×"))
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Json, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows of numbers, or an object that names such lists")
    }

    fn visit_unit<E>(self) -> std::result::Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> std::result::Result<Json, E> {
        Ok(Json::Truth(truth))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Json, E> {
        Ok(Json::Text(text.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Json, A::Error> {
        let mut list = List::Nothing;
        while let Some(element) = seq.next_element::<Json>()? {
            list = list.push(element).map_err(A::Error::custom)?;
        }
        Ok(list.finish())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Json, A::Error> {
        let mut entries: Vec<(String, Json)> = Vec::new();
        let mut names = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if !names.insert(key.clone()) {
                return Err(A::Error::custom(format!("`{}` stands here a second time", clip(&key))));
            }
            let value = map.next_value()?;
            entries.push((key, value));
        }
        Ok(Json::Object(entries))
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(array("[[0.25, 3]]").decimals(), Some(2));
    }

    #[test]
    fn infinity_is_a_string_wherever_it_stands() {
        let row = array(r#"[["-inf", "inf"], [1, "-INF"], ["-inf", -0.0]]"#);
        assert_eq!(row.values()[..4], [f64::NEG_INFINITY, f64::INFINITY, 1.0, f64::NEG_INFINITY]);
        assert!(row.values()[5].is_sign_negative());
        assert!(array(r#"["nan"]"#).values()[0].is_nan());
    }

    #[test]
    fn truth_values_make_a_boolean_array() {
        assert!(array("[[true, false], [true, true]]").is_boolean());
        assert!(fails("[[true, 1]]").contains("a mixture"));
        assert!(fails("[[true], [1]]").contains("a mixture"));
    }

    #[test]
    fn what_is_no_rectangle_is_refused_at_its_place() {
        let said = fails("[[1, 2],\n [3]]");
        assert!(said.starts_with("x.json:2:5: row 2 has 1 numbers, row 1 has 2 numbers"), "{said}");
        for text in
            ["[1, [2]]", "[[1], 2]", "[[1], []]", "[[1], null]", "[[[1]], [1]]", "[{}, 1]", "[]", "3", "{}"]
        {
            assert!(fails(text).starts_with("x.json") || !fails(text).is_empty(), "{text}");
        }
        assert!(fails(r#"[[1, "abc"]]"#).contains("`abc` is not a number"));
    }

    #[test]
    fn what_is_no_json_is_refused_at_its_place() {
        let said = fails("[[1, 2],\n [3, NaN]]");
        assert!(said.starts_with("x.json:2:6: not JSON") && said.contains("as strings"), "{said}");
        let said = fails("[[1, 2]");
        assert!(said.starts_with("x.json:1:7: not JSON"), "{said}");
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
        assert!(fails(r#"{"X": [[1]], "X": [[2]]}"#).contains("`X` stands here a second time"));
    }
}
