//! The place of a cell as students write it.

use super::place::Cell;
use super::value::Value;
use crate::error::{Error, Result};
use crate::text::clip;

/// `cave,bat`, `2,1`, `(2, 1)`, `A[2,1]`; where the key searches one row, a column alone.
pub(super) fn read(text: &str, right: &Cell) -> Result<Value> {
    let mut inside = text;
    if let Some((name, rest)) = text.split_once('[')
        && let Some(rest) = rest.strip_suffix(']')
    {
        let name = name.trim();
        if !name.is_empty() && !name.eq_ignore_ascii_case(right.table.name()) {
            let node = right.table.name();
            return Err(Error::new(format!("`{}` is not a cell of {node}", clip(text))));
        }
        inside = rest;
    } else if let Some(rest) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        inside = rest;
    }
    let words: Vec<&str> =
        if inside.contains(',') { inside.split(',').collect() } else { inside.split_whitespace().collect() };
    let given_row = (right.row + 1).to_string();
    let (row, col) = match words[..] {
        [row, col] => right.table.cell(row, col),
        _ if right.in_given_row && !inside.contains(',') => right.table.cell(&given_row, inside),
        _ => Err(Error::new(format!("`{}` is not a row and a column", clip(text)))),
    }?;
    Ok(Value::Cell(Cell { row, col, ..right.clone() }))
}

pub(super) fn wanted(right: &Cell) -> String {
    if right.in_given_row {
        return "a column by its name or its number".to_string();
    }
    match right.table.address(0, 0).split_once('[') {
        Some((_, inside)) => format!("a row and a column, such as {} or 2,1", inside.trim_end_matches(']')),
        None => "a row and a column, such as 2,1".to_string(),
    }
}
