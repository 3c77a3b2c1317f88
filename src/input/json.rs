//! JSON as it is met in files of numbers: nested lists become one flat array while they are read.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;
use std::mem;

use serde::de::{self, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::error::{Error, Place, Result};
use crate::memory;

use super::json_list::List;
use super::json_value::Json;
use super::json_words::with_words_quoted;
use crate::text::clip;

/// Reads a JSON text. serde_json itself refuses what is nested deeper than 128.
///
/// # Errors
/// At the line and column of what is no JSON, or no rectangle of numbers.
pub(super) fn parse(name: &str, text: &str) -> Result<Json> {
    let text = with_words_quoted(text);
    let mut reader = serde_json::Deserializer::from_str(&text.text);
    let json = ValueVisitor(&Budget::default())
        .deserialize(&mut reader)
        .and_then(|json| reader.end().map(|()| json));
    json.map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let said = error.to_string();
        let what = said.split(&format!(" at line {line} column")).next().unwrap_or(&said);
        if what == memory::EXHAUSTED {
            return memory::exhausted().in_source(name);
        }
        let place = Place::Text(name.to_string(), line.max(1), text.column(line, column).max(1));
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
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { entries: Cell::new(1 << 18), texts: Cell::new(1 << 20) }
    }
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

/// Makes a value of what stands in the text.
#[derive(Clone, Copy)]
struct ValueVisitor<'b>(&'b Budget);

impl<'de> DeserializeSeed<'de> for ValueVisitor<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> ParseResult<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueVisitor<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows of numbers, or an object that names such lists")
    }

    fn visit_unit<E>(self) -> ParseResult<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> ParseResult<Json, E> {
        Ok(Json::Truth(truth))
    }

    fn visit_i64<E>(self, value: i64) -> ParseResult<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> ParseResult<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> ParseResult<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E>(self, text: &str) -> ParseResult<Json, E> {
        Ok(Json::Text(text.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> ParseResult<Json, A::Error> {
        let mut list = List::default();
        while seq.next_element_seed(ElementVisitor(&mut list, self))?.is_some() {}
        Ok(list.finish())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> ParseResult<Json, A::Error> {
        let mut entries: Vec<(String, Json)> = Vec::new();
        let mut names = HashSet::new();
        Budget::take(&self.0.entries, 1, "objects")?;
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
            let value = map.next_value_seed(self)?;
            self.0.entry(&value)?;
            entries.push((key, value));
        }
        Ok(Json::Object(entries))
    }
}

/// Adds an element to a list while the reader still stands on that element, so that its error names the place.
struct ElementVisitor<'l, 'b>(&'l mut List, ValueVisitor<'b>);

impl ElementVisitor<'_, '_> {
    fn add<E: de::Error>(self, element: Json) -> ParseResult<(), E> {
        *self.0 = mem::take(self.0).push(element).map_err(E::custom)?;
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for ElementVisitor<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> ParseResult<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ElementVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.1.expecting(f)
    }

    fn visit_unit<E: de::Error>(self) -> ParseResult<(), E> {
        let read = self.1;
        self.add(read.visit_unit()?)
    }

    fn visit_bool<E: de::Error>(self, truth: bool) -> ParseResult<(), E> {
        let read = self.1;
        self.add(read.visit_bool(truth)?)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> ParseResult<(), E> {
        let read = self.1;
        self.add(read.visit_i64(value)?)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> ParseResult<(), E> {
        let read = self.1;
        self.add(read.visit_u64(value)?)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> ParseResult<(), E> {
        let read = self.1;
        self.add(read.visit_f64(value)?)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> ParseResult<(), E> {
        let read = self.1;
        self.add(read.visit_str(text)?)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> ParseResult<(), A::Error> {
        let read = self.1;
        self.add(read.visit_seq(seq)?)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> ParseResult<(), A::Error> {
        let read = self.1;
        self.add(read.visit_map(map)?)
    }
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
        assert_eq!(array("[[0.25, 3]]").decimals(), Some(2));
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
        assert!(array("[[true, false], [true, true]]").is_boolean());
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
}
