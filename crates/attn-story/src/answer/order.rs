//! The order of a row's columns as students write it.

use super::place::Order;
use super::typed::{MOST_OPTIONS, last_letter, option_of};
use super::value::Value;
use crate::error::{Error, Result};
use crate::text::clip;

/// Labels or positions, separated by blanks, commas or `>`; where options have letters, which stand in the order of the
/// columns and go before labels, `b c a`, `b,c,a` or `bca`.
pub(super) fn read(text: &str, right: &Order, letters: usize) -> Result<Value> {
    let count = right.positions.len();
    let words: Vec<&str> = if text.contains([',', '>']) {
        text.split([',', '>']).map(str::trim).collect()
    } else {
        text.split_whitespace().collect()
    };
    let positions = match lettered(&words, count.min(letters)) {
        Some(positions) => positions,
        None => {
            let position = |word: &&str| right.table.cell("1", word).map(|(_, col)| col);
            words.iter().map(position).collect::<Result<Vec<usize>>>()?
        }
    };
    let twice = (1..positions.len()).find(|&at| positions[..at].contains(&positions[at]));
    match twice {
        Some(at) => {
            let name = right.table.col_name(positions[at]);
            Err(Error::new(format!("`{}` names {name} twice", clip(text))))
        }
        None if positions.len() != count => {
            Err(Error::new(format!("`{}` names {} of {count} columns", clip(text), positions.len())))
        }
        None => Ok(Value::Order(right.with_positions(&positions))),
    }
}

pub(super) fn wanted(right: &Order, letters: usize) -> String {
    if letters > 0 {
        return format!("the letters A to {}, the largest first", last_letter(right.positions.len()));
    }
    let mut columns = right.columns();
    columns.truncate(MOST_OPTIONS);
    format!("the columns from the largest to the smallest, each once: {}", columns.join(", "))
}

/// The options that words such as `b c a`, or `bca` alone, name by letters.
fn lettered(words: &[&str], letters: usize) -> Option<Vec<usize>> {
    let are_letters = words.len() == 1 || words.iter().all(|word| word.chars().count() == 1);
    let positions = words.iter().flat_map(|word| word.chars()).map(|letter| option_of(letter, letters));
    if are_letters { positions.collect() } else { None }
}
