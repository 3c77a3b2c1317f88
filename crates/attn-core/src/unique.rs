//! JSON in which no name stands twice in one object: most readers take the last of the two without a word.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::text::clip;

/// Reads a whole JSON text for its names.
///
/// # Errors
/// If it is no JSON, or at the second of two equal names in one object; that error is no syntax error.
pub fn check_names(text: &[u8]) -> serde_json::Result<()> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    Names.deserialize(&mut reader)?;
    reader.end()
}

/// Looks at a value, and keeps nothing but the names of the objects that are open.
struct Names;

impl<'de> DeserializeSeed<'de> for Names {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Names {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Names)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if names.contains(&name) {
                return Err(A::Error::custom(format!("`{}` appears twice", clip(&name))));
            }
            names.insert(name);
            map.next_value_seed(Names)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
