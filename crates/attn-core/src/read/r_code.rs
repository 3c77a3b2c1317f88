//! A matrix as code of R makes it: `matrix(c(1, 2, 3, 4), nrow = 2)`, `rbind(c(1, 2), c(3, 4))`.

use crate::error::{Error, Result};
use crate::text::{clip, counted};

use super::array::{AllowedNumbers, Array, ArrayFacts};
use super::inline::length_of_group;
use super::number::{Cells, LINE_ENDS};

/// The matrix that a call of R makes; `None` for any other text.
///
/// # Errors
/// If an argument is none of those that are read, or the numbers do not fill the shape.
pub(super) fn r_code(name: &str, text: &str, allow: AllowedNumbers) -> Option<Result<Array>> {
    let is_name = |name: &str| name.trim().chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    let text = text.trim();
    let assigned =
        ["<-", "="].iter().find_map(|sign| text.split_once(sign).filter(|(name, _)| is_name(name)));
    let code = assigned.map_or(text, |(_, code)| code.trim_start());
    let kind = ["matrix", "rbind", "cbind"].into_iter().find(|kind| code.starts_with(kind))?;
    let call = &code[kind.len()..];
    let length = call.starts_with('(').then(|| length_of_group(call)).flatten()?;
    let arguments = arguments(&call[1..length - 1]);
    // `matrix` of Python's packages is given a list.
    let is_list = |(_, value): &(&str, &str)| value.starts_with(['[', '{', '(']);
    if arguments.iter().any(is_list) {
        return None;
    }
    let behind = call[length..].trim();
    let is_over =
        behind.is_empty() || behind == ";" || behind.starts_with('#') && !behind.contains(LINE_ENDS);
    let read = if is_over { called(kind, &arguments, allow) } else { Err(not_read(behind)) };
    Some(read.map_err(|error| error.in_source(name)))
}

fn not_read(what: &str) -> Error {
    Error::new(format!("`{}` in this code of R is not read, and nothing is computed here", clip(what)))
        .help("save what it makes: write.csv(q, \"q.csv\", row.names = FALSE)")
}

fn called(kind: &str, arguments: &[(&str, &str)], allow: AllowedNumbers) -> Result<Array> {
    let mut cells = Cells::new(allow);
    let mut push_all = |value: &str| -> Result<usize> {
        let inside = value.strip_prefix("c(").and_then(|inside| inside.strip_suffix(')'));
        let numbers = inside.ok_or_else(|| not_read(value))?.split(',');
        numbers
            .map(|number| cells.push(number.trim().trim_end_matches('L')))
            .try_fold(0, |n, read| read.map(|()| n + 1))
    };
    // The rows as R lays them out, or the columns.
    let (outer, inner, by_row) = if kind == "matrix" {
        let ([mut rows, mut cols], mut by_row) = ([None; 2], false);
        let count = push_all(arguments[0].1)?;
        for (i, &(key, value)) in arguments.iter().enumerate().skip(1) {
            let side = || value.trim_end_matches('L').parse::<usize>().ok().filter(|side| *side > 0);
            let wrong = || not_read(if key.is_empty() { value } else { key });
            match (key, i) {
                ("nrow", _) | ("", 1) => rows = Some(side().ok_or_else(wrong)?),
                ("ncol", _) | ("", 2) => cols = Some(side().ok_or_else(wrong)?),
                ("byrow", _) | ("", 3) => {
                    by_row = match value {
                        "TRUE" | "T" => true,
                        "FALSE" | "F" => false,
                        _ => return Err(wrong()),
                    };
                }
                _ => return Err(wrong()),
            }
        }
        let (rows, cols) = match (rows, cols) {
            (Some(rows), Some(cols)) => (rows, cols),
            (Some(rows), None) => (rows, count.div_ceil(rows)),
            (None, Some(cols)) => (count.div_ceil(cols), cols),
            (None, None) => (count, 1),
        };
        if rows.checked_mul(cols) != Some(count) {
            return Err(Error::new(format!("{count} numbers do not fill a matrix of {rows}×{cols}"))
                .help("give as many numbers as it has cells"));
        }
        if by_row { (rows, cols, true) } else { (cols, rows, false) }
    } else {
        let mut inner = None;
        for (i, &(_, value)) in arguments.iter().enumerate() {
            let count = push_all(value)?;
            if *inner.get_or_insert(count) != count {
                let first = inner.unwrap_or_default();
                let has = counted(count, "number");
                return Err(Error::new(format!("vector {} has {has}, but the first has {first}", i + 1))
                    .help("give all of them as many numbers"));
            }
        }
        (arguments.len(), inner.unwrap_or_default(), kind == "rbind")
    };
    let read = cells.into_array(vec![outer, inner])?;
    if by_row {
        return Ok(read);
    }
    let mut facts = ArrayFacts { fortran: true, ..read.facts.clone() };
    facts.told.push("code of R, which gives a matrix column by column".into());
    Ok(Array::new(vec![inner, outer], read.values().to_vec())?.with(facts).row_by_row())
}

/// The arguments of a call, each with its name, or with none: `nrow = 2`, `c(1, 2)`.
fn arguments(inside: &str) -> Vec<(&str, &str)> {
    let (mut depth, mut start, mut parts) = (0i64, 0, Vec::new());
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[start..]);
    let named = parts.into_iter().map(|part| part.split_once('=').unwrap_or(("", part)));
    named.map(|(key, value)| (key.trim(), value.trim())).collect()
}
