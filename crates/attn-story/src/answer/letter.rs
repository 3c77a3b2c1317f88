//! The letter of an option.

use super::typed::{last_letter, option_of};
use super::value::Value;
use crate::error::{Error, Result};
use crate::text::clip;

/// A letter in either case.
pub(super) fn read(text: &str, letters: usize) -> Result<Value> {
    let bare = text.trim_end_matches(['.', ')']);
    let mut characters = bare.chars();
    match (characters.next(), characters.next()) {
        (Some(letter), None) if option_of(letter, letters).is_some() => {
            Ok(Value::Letter(letter.to_ascii_uppercase()))
        }
        _ => Err(Error::new(format!("`{}` is not an option", clip(text)))),
    }
}

pub(super) fn wanted(letters: usize) -> String {
    format!("a letter A to {}", last_letter(letters))
}
