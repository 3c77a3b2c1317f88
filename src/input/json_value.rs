//! A JSON value: what is named in it, and numbers in one flat array whatever the depth of their lists.

use crate::error::{Error, Result};
use crate::text::clip;

use super::array::Array;
use super::cell_type::MOST_COUNTED;
use super::number::{decimals_of, number};

/// A JSON value. Numbers may also be written as the strings `"-inf"`, `"inf"` and `"nan"`, or as Python writes these: `NaN`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Number(f64),
    Truth(bool),
    Text(String),
    /// `[]`
    Nothing,
    /// Rows of numbers, or rows of these, all of the same length.
    Numbers(Rectangle),
    Texts(Vec<String>),
    Objects(Vec<Json>),
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
        let rectangle = match self {
            Json::Numbers(rectangle) => rectangle,
            Json::Texts(texts) => Rectangle::of_texts(&texts).map_err(Error::new)?,
            Json::Nothing => return Err(Error::new("there are no numbers, only an empty list")),
            other => {
                return Err(Error::new(format!("this is {}, but a list of rows is needed", other.kind())));
            }
        };
        let decimals = (!rectangle.boolean && rectangle.values.len() <= MOST_COUNTED).then(|| {
            rectangle.values.iter().map(|&value| decimals_of(value, |v| format!("{v:e}"))).max().unwrap_or(0)
        });
        Ok(Array::new(rectangle.dims, rectangle.values)?
            .with_boolean(rectangle.boolean)
            .with_decimals(decimals))
    }
}

/// The error is a message without a place: the reader adds the place.
pub(super) type Outcome<T> = std::result::Result<T, String>;

/// Numbers in a rectangle, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rectangle {
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
