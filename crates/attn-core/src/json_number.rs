//! A number as JSON: every bit of it. JSON has no ∞ and no NaN, so these are the strings `"inf"`, `"-inf"` and `"nan"`.
//!
//! Fields of parameters use it as `#[serde(with = "json_number")]`, optional ones as `#[serde(with = "json_number::optional")]`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The number as JSON writes it.
pub fn value(x: f64) -> Value {
    match x {
        _ if x.is_nan() => "nan".into(),
        f64::INFINITY => "inf".into(),
        f64::NEG_INFINITY => "-inf".into(),
        finite => finite.into(),
    }
}

/// The number that a JSON value is; none where it is something else.
pub fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match text.as_str() {
            "nan" => Some(f64::NAN),
            "inf" => Some(f64::INFINITY),
            "-inf" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// Writes a number.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    value(*x).serialize(serializer)
}

/// Reads a number.
///
/// # Errors
/// If it is none.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let value = Value::deserialize(deserializer)?;
    number(&value).ok_or_else(|| {
        D::Error::custom(format!("{value} is no number, and none of \"inf\", \"-inf\", \"nan\""))
    })
}

/// A number that may be missing: `null`.
pub mod optional {
    use super::{Deserializer, Serialize, Serializer, Value};
    use serde::Deserialize;
    use serde::de::Error as _;

    /// Writes a number or `null`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(x: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        x.map(super::value).serialize(serializer)
    }

    /// Reads a number or `null`.
    ///
    /// # Errors
    /// If it is neither.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(None),
            value => match super::number(&value) {
                Some(x) => Ok(Some(x)),
                None => Err(D::Error::custom(format!("{value} is neither a number nor null"))),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_a_number_survives_and_others_are_words() {
        for x in [0.1, -0.0, 1e-320, f64::MAX, 3.0, f64::INFINITY, f64::NEG_INFINITY, 1.0 / 3.0] {
            let text = value(x).to_string();
            let back = number(&serde_json::from_str(&text).unwrap()).unwrap();
            assert_eq!(back.to_bits(), x.to_bits(), "{text}");
        }
        assert!(number(&value(f64::NAN)).unwrap().is_nan());
        assert_eq!(number(&"infinity".into()), None);
        assert_eq!(number(&Value::Null), None);
    }
}
