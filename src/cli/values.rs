//! Values of options: positive numbers and paths.

use std::convert::Infallible;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::foreign::{to_path, visible};
use crate::input;

/// A positive number given to an option.
pub(super) fn positive(option: &str, text: &str) -> Result<f64> {
    let number = match input::number(text) {
        Ok(number) => number.value,
        Err(error) if text.contains(',') => return Err(error.in_source(option)),
        Err(_) => f64::NAN,
    };
    if number > 0.0 && number.is_finite() {
        return Ok(number);
    }
    Err(Error::new(format!("{option} {} is not a positive number", visible(text)))
        .help("give a number above 0, such as 0.5"))
}

/// An argument that names a file, of whatever bytes.
pub(super) fn path(text: &str) -> std::result::Result<PathBuf, Infallible> {
    Ok(to_path(text))
}
