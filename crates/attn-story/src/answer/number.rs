//! A number as students write it.

use super::value::Value;
use crate::error::{Error, Result};
use crate::text::{clip, number};

/// `0.3`, `.3`, `0,3`, `1/3`, `33%`, `−0.5`, `1e-3`, `1,234,567`
pub(super) fn read(text: &str) -> Result<Value> {
    let value = match (text.strip_suffix('%'), text.split_once('/')) {
        (Some(percent), _) => plain_number(percent.trim_end())? / 100.0,
        (None, Some((above, below))) => match (plain_number(above)?, plain_number(below)?) {
            (_, 0.0) => return Err(Error::new(format!("`{}` divides by zero", clip(text)))),
            (above, below) => above / below,
        },
        (None, None) => plain_number(text)?,
    };
    if value.is_nan() { Err(is_no_number(text)) } else { Ok(Value::Number(value)) }
}

pub(super) fn wanted() -> String {
    "a number, such as 0.3, 1/3 or 33%".to_string()
}

/// A number with a decimal point or comma, or with commas between the thousands.
fn plain_number(text: &str) -> Result<f64> {
    let groups: Vec<&str> = text.trim().split(',').collect();
    let is_thousands = groups[1..].iter().all(|group| {
        let whole = group.split('.').next().unwrap_or_default();
        whole.len() == 3 && whole.bytes().all(|b| b.is_ascii_digit())
    });
    let leads_with_zero = groups[0].trim_start_matches(['-', '−', '+']).starts_with('0');
    let plain = match groups.len() {
        1 => text.to_string(),
        2 if is_thousands && !leads_with_zero && !groups[0].is_empty() && !text.contains('.') => {
            let (point, thousand) = (groups.join("."), groups.concat());
            return Err(Error::new(format!("`{}` may be {point} or {thousand}", clip(text)))
                .help(format!("type {point} or {thousand}")));
        }
        2 if !text.contains('.') => groups.join("."),
        _ if is_thousands => groups.concat(),
        _ => text.to_string(),
    };
    number(&plain).ok_or_else(|| is_no_number(text))
}

fn is_no_number(text: &str) -> Error {
    Error::new(format!("`{}` is not a number", clip(text)))
}
