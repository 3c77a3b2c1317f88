//! Parts of a `tokenizer.json`, read by the names of their fields.

use serde::Deserialize;
use serde::de::{DeserializeOwned, Error};
use serde_json::{Result, Value};

/// A field that has to be there.
pub(super) fn field<T: DeserializeOwned>(part: &Value, name: &'static str) -> Result<T> {
    T::deserialize(part.get(name).ok_or_else(|| Error::missing_field(name))?)
}

/// A field that may be missing or null.
pub(super) fn optional<T: DeserializeOwned>(part: &Value, name: &str) -> Result<Option<T>> {
    Option::deserialize(part.get(name).unwrap_or(&Value::Null))
}

/// The steps of the parts of a sequence.
pub(super) fn sequence<T>(
    part: &Value,
    name: &'static str,
    read: fn(&Value) -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    let steps: Result<Vec<Vec<T>>> = field::<Vec<Value>>(part, name)?.iter().map(read).collect();
    Ok(steps?.into_iter().flatten().collect())
}

/// A part by its `type`. If that is none of those that are known it is told by its fields, as in old files: then it is one of some types.
pub(super) fn tagged<T>(
    part: &Value,
    known: &str,
    by_fields: &[&str],
    name: &str,
    read: impl Fn(&str) -> Result<T>,
) -> Result<T> {
    match part.get("type").and_then(Value::as_str) {
        Some(kind) if known.split(' ').any(|known| known == kind) => read(kind),
        _ => by_fields
            .iter()
            .find_map(|kind| read(kind).ok())
            .ok_or_else(|| Error::custom(format!("data did not match any variant of untagged enum {name}"))),
    }
}
