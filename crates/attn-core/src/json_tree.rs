//! JSON as a tree, which takes many times the memory of its text: that is charged before it is allocated. And JSON in which no name
//! stands twice in one object: most readers take the last of the two without a word.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::error::{Error, Place, Result};
use crate::memory;
use crate::text::clip;

/// The bytes of an entry of an object, with its part of the table that finds it, beside its name.
const AN_ENTRY: u64 = size_of::<(u64, String, Value)>() as u64 + 20;

/// Reads a whole text. `known` are the names that objects have, by their depth, of which all others are passed over; deeper objects have
/// all of theirs.
///
/// # Errors
/// If the tree needs more memory than is left, or the text is no JSON; `no_json` says so.
pub fn tree(
    text: &[u8],
    known: &[&[&str]],
    no_json: impl FnOnce(serde_json::Error) -> Error,
) -> Result<Value> {
    let refused = RefCell::new(None);
    let mut reader = serde_json::Deserializer::from_slice(text);
    let read = Tree { known, refused: &refused, names: false }.deserialize(&mut reader);
    let read = read.and_then(|value| reader.end().map(|()| value));
    read.map_err(|error| refused.take().unwrap_or_else(|| no_json(error)))
}

/// What is wrong in a text that is no JSON, without its place, and its place in a file of this name.
pub fn fault(error: &serde_json::Error, name: &str) -> (String, Place) {
    let said = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = said.strip_suffix(&place).unwrap_or(&said).to_string();
    (said, Place::Text(name.to_string(), error.line().max(1), error.column().max(1)))
}

/// Reads a whole JSON text for its names; nothing is kept but those of the objects that are open.
///
/// # Errors
/// If it is no JSON, or at the second of two equal names in one object; that error is no syntax error.
pub fn check_names(text: &[u8]) -> serde_json::Result<()> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    Tree { known: &[], refused: &RefCell::new(None), names: true }.deserialize(&mut reader)?;
    reader.end()
}

/// The bytes that a tree takes.
pub fn bytes(tree: &Value) -> u64 {
    let inside = match tree {
        Value::String(text) => allocated(text.len()),
        Value::Array(list) => list.iter().map(bytes).sum(),
        Value::Object(entries) => {
            entries.iter().map(|(name, value)| AN_ENTRY + allocated(name.len()) + bytes(value)).sum()
        }
        _ => 0,
    };
    inside + memory::bytes_of::<Value>(1)
}

/// The bytes that an allocation of this length takes with its own head.
fn allocated(length: usize) -> u64 {
    (length as u64 + 8).next_multiple_of(16).max(32)
}

/// Makes the tree of a value, or looks at its names alone.
#[derive(Clone, Copy)]
struct Tree<'t> {
    known: &'t [&'t [&'t str]],
    /// Why there was no room.
    refused: &'t RefCell<Option<Error>>,
    /// True if names are compared, and nothing is made.
    names: bool,
}

impl Tree<'_> {
    fn charge<E: serde::de::Error>(&self, bytes: u64) -> std::result::Result<(), E> {
        memory::hold(bytes).map(memory::Charge::keep).map_err(|error| self.refusal(error))
    }

    fn refusal<E: serde::de::Error>(&self, error: Error) -> E {
        self.refused.replace(Some(error));
        E::custom("there is no room")
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> std::result::Result<Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> std::result::Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> std::result::Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> std::result::Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<Value, E> {
        if self.names {
            return Ok(Value::Null);
        }
        self.charge(allocated(text.len()))?;
        Ok(Value::String(text.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Value, A::Error> {
        let mut list: Vec<Value> = Vec::new();
        while let Some(value) = seq.next_element_seed(self)? {
            if self.names {
                continue;
            }
            if list.len() == list.capacity() {
                let more = list.capacity().max(4);
                self.charge(memory::bytes_of::<Value>(more) + 16)?;
                list.try_reserve_exact(more).map_err(|_| self.refusal(memory::exhausted()))?;
            }
            list.push(value);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Value, A::Error> {
        if self.names {
            let mut names = HashSet::new();
            while let Some(name) = map.next_key::<String>()? {
                if names.contains(&name) {
                    return Err(A::Error::custom(format!("`{}` appears twice", clip(&name))));
                }
                names.insert(name);
                map.next_value_seed(self)?;
            }
            return Ok(Value::Null);
        }
        let (known, deeper) = match self.known {
            [known, deeper @ ..] => (Some(known), deeper),
            [] => (None, self.known),
        };
        let mut entries = Map::new();
        // Room for 3 entries, then for 7, 14, 28, …: the least tables that are at most 7/8 full.
        let mut room = 0;
        while let Some(name) = map.next_key::<String>()? {
            if known.is_some_and(|known| !known.contains(&name.as_str())) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            if entries.len() == room {
                let more = match room {
                    0 => 3,
                    3 => 4,
                    _ => room,
                };
                self.charge(AN_ENTRY * more as u64 + 64)?;
                room += more;
            }
            self.charge(allocated(name.len()))?;
            entries.insert(name, map.next_value_seed(Tree { known: deeper, ..self })?);
        }
        Ok(Value::Object(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, known: &[&[&str]]) -> Result<Value> {
        tree(text.as_bytes(), known, |error| Error::new(error.to_string()))
    }

    #[test]
    fn a_tree_is_that_of_serde_json() {
        let text = r#"{"a": [1, -2, 1.5, 1e300, "x", null, true, {"b": {}}], "a b": 18446744073709551615, "c": 1e30}"#;
        assert_eq!(read(text, &[]).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        for wrong in ["", "[1", "[1] 2", "{\"a\": }", "1e999", &"[".repeat(1000)] {
            let said = serde_json::from_str::<Value>(wrong).unwrap_err().to_string();
            assert_eq!(read(wrong, &[]).unwrap_err().to_string(), said, "{wrong}");
        }
    }

    #[test]
    fn names_that_nobody_knows_are_passed_over_and_take_no_memory() {
        let _open = memory::enter(Some(10_000), || None);
        let many = format!("[{}1]", "1,".repeat(100_000));
        let text = format!(r#"{{"x": {many}, "a": {{"y": {many}, "b": {{"z": 1}}}}}}"#);
        assert_eq!(read(&text, &[&["a"], &["b"]]).unwrap(), serde_json::json!({"a": {"b": {"z": 1}}}));
        let said = read(&text, &[]).unwrap_err().to_string();
        assert!(said.contains("of memory, but at most"), "{said}");
        for large in
            [format!("{{{}\"a\": 1}}", "\"b\": 1,".repeat(100)), format!("\"{}\"", "a".repeat(20_000))]
        {
            assert!(read(&large, &[]).unwrap_err().to_string().contains("of memory"));
        }
    }

    #[test]
    fn a_name_that_stands_twice_in_one_object_is_refused_at_any_depth() {
        for text in [
            r#"{"a": 1, "a": 1}"#,
            r#"{"a": {"b": 1, "c": [], "b": 2}}"#,
            r#"[null, {"a": 1, "\u0061": true}]"#,
        ] {
            let error = check_names(text.as_bytes()).unwrap_err();
            assert!(error.is_data() && error.to_string().contains("appears twice"), "{error}");
        }
        for text in [r#"{"a": {"a": 1}, "b": {"a": -1, "A": 1.5}}"#, r#"[{"a": 1}, {"a": "a"}]"#, "1"] {
            check_names(text.as_bytes()).unwrap();
        }
        assert!(check_names(b"{").unwrap_err().is_eof());
    }
}
