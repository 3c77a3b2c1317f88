//! What a student types as the answer.

use crate::error::{Error, Result};
use crate::foreign::{clip, visible};
use crate::input::number;

use super::{Answer, Cell, Order, within};

/// Nobody types more than this, in bytes.
pub(super) const LONGEST: usize = 200;
/// The alphabet of options.
pub(super) const MOST_OPTIONS: usize = 26;

/// What a student has given as the answer; positions from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// The letter of an option, a capital.
    Choice(char),
    /// A number.
    Number(f64),
    /// The place of a cell.
    Cell {
        /// Its row in the node.
        row: usize,
        /// Its column in the node.
        col: usize,
    },
    /// Columns, from the largest number to the smallest.
    Order(Vec<usize>),
}

impl Given {
    /// Reads what a student types for a question with this right answer and so many options with letters (0 where it has none).
    ///
    /// - `choice`: a letter in either case
    /// - `number`: `0.3`, `.3`, `0,3`, `1/3`, `33%`, `−0.5`, `1e-3`, `1,234,567`
    /// - `cell`: `cave,bat`, `2,1`, `(2, 1)`, `A[2,1]`; where the key searches one row, a column alone
    /// - `order`: labels or positions, separated by blanks, commas or `>`; where options have letters, which stand in the order of
    ///   the columns and go before labels, `b c a`, `b,c,a` or `bca`
    ///
    /// # Errors
    /// If it cannot be such an answer: the error says what is wanted.
    pub fn read(text: &str, answer: &Answer, options: usize) -> Result<Given> {
        let text = text.trim();
        if text.len() > LONGEST {
            return Err(Error::new(format!("`{}` is too long for an answer", clip(text)))
                .help(format!("type {}", wanted(answer, options))));
        }
        // Whatever an error repeats of it, nothing of it reaches the terminal as a command.
        let text = visible(text);
        let text = text.trim();
        let given = match answer {
            _ if text.is_empty() => Err(Error::new("no answer was typed")),
            Answer::Choice { .. } => choice(text, options).map(Given::Choice),
            Answer::Number { .. } => number_given(text).map(Given::Number),
            Answer::Cell(cell) => cell_given(text, cell),
            Answer::Order(order) => order_given(text, order, options).map(Given::Order),
        };
        given.map_err(|error| error.help(format!("type {}", wanted(answer, options))))
    }
}

impl Answer {
    /// Whether what a student types may begin with this character, capital or not.
    pub fn may_begin(&self, typed: char, options: usize) -> bool {
        let begins = |name: &str| {
            name.chars().next().is_some_and(|first| first.to_lowercase().eq(typed.to_lowercase()))
        };
        let begins_any = |names: &[String]| names.iter().any(|name| begins(name));
        let is_digit = typed.is_ascii_digit();
        match self {
            Answer::Choice { .. } => option_of(typed, options).is_some(),
            Answer::Number { .. } => is_digit || "-−+.,∞i".contains(typed),
            Answer::Cell(cell) => {
                let table = &cell.table;
                let names = [table.row_labels(), table.col_labels()].concat();
                is_digit || "[(".contains(typed) || begins(table.name()) || begins_any(&names)
            }
            Answer::Order(order) => {
                let is_option = option_of(typed, options.min(order.positions.len())).is_some();
                is_digit || is_option || begins_any(&order.table.col_labels())
            }
        }
    }

    /// As a student types it: `C`, `0.301` at the decimals of the tolerance, `cave,bat`, `cave bat racket`.
    pub fn typed(&self) -> String {
        match self {
            Answer::Number { value, tolerance } if *tolerance != 0.0 && value.is_finite() => {
                within(*value, *tolerance)
            }
            Answer::Cell(cell) => cell.typed(),
            _ => self.to_string(),
        }
    }
}

/// What is wanted, for an error: “a letter A to C”.
fn wanted(answer: &Answer, options: usize) -> String {
    match answer {
        Answer::Choice { .. } => format!("a letter A to {}", last_letter(options)),
        Answer::Number { .. } => "a number, such as 0.3, 1/3 or 33%".to_string(),
        Answer::Cell(cell) if cell.in_given_row => "a column by its name or its number".to_string(),
        Answer::Cell(cell) => match cell.table.address(0, 0).split_once('[') {
            Some((_, inside)) => {
                format!("a row and a column, such as {} or 2,1", inside.trim_end_matches(']'))
            }
            None => "a row and a column, such as 2,1".to_string(),
        },
        Answer::Order(order) if options > 0 => {
            format!("the letters A to {}, the largest first", last_letter(order.positions.len()))
        }
        Answer::Order(order) => {
            let mut columns: Vec<String> =
                (0..order.positions.len()).map(|at| order.table.col_name(at)).collect();
            columns.truncate(MOST_OPTIONS);
            format!("the columns from the largest to the smallest, each once: {}", columns.join(", "))
        }
    }
}

pub(super) fn last_letter(options: usize) -> char {
    letter(options.clamp(1, MOST_OPTIONS) - 1)
}

/// The letter of an option, from 0.
fn letter(at: usize) -> char {
    ('A'..='Z').nth(at).unwrap_or('Z')
}

/// Which option a letter names.
pub(super) fn option_of(letter: char, options: usize) -> Option<usize> {
    ('A'..='Z').take(options).position(|known| known == letter.to_ascii_uppercase())
}

fn choice(text: &str, options: usize) -> Result<char> {
    let bare = text.trim_end_matches(['.', ')']);
    let mut letters = bare.chars();
    match (letters.next(), letters.next()) {
        (Some(first), None) if option_of(first, options).is_some() => Ok(first.to_ascii_uppercase()),
        _ => Err(Error::new(format!("`{}` is not an option", clip(text)))),
    }
}

fn number_given(text: &str) -> Result<f64> {
    let value = match (text.strip_suffix('%'), text.split_once('/')) {
        (Some(percent), _) => plain_number(percent.trim_end())? / 100.0,
        (None, Some((above, below))) => match (plain_number(above)?, plain_number(below)?) {
            (_, 0.0) => return Err(Error::new(format!("`{}` divides by zero", clip(text)))),
            (above, below) => above / below,
        },
        (None, None) => plain_number(text)?,
    };
    match value.is_nan() {
        true => Err(Error::new(format!("`{}` is not a number", clip(text)))),
        false => Ok(value),
    }
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
    match number(&plain) {
        Ok(number) => Ok(number.value),
        // Its help is for cells of a matrix.
        Err(_) => Err(Error::new(format!("`{}` is not a number", clip(text)))),
    }
}

fn cell_given(text: &str, right: &Cell) -> Result<Given> {
    let mut inside = text;
    if let Some((name, rest)) = text.split_once('[')
        && let Some(rest) = rest.strip_suffix(']')
    {
        let name = name.trim();
        if !name.is_empty() && !name.eq_ignore_ascii_case(right.table.name()) {
            return Err(Error::new(format!("`{}` is not a cell of {}", clip(text), right.table.name())));
        }
        inside = rest;
    } else if let Some(rest) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        inside = rest;
    }
    let words: Vec<&str> = match inside.contains(',') {
        true => inside.split(',').collect(),
        false => inside.split_whitespace().collect(),
    };
    let given_row = (right.row + 1).to_string();
    let (row, col) = match words[..] {
        [row, col] => right.table.cell(row, col),
        _ if right.in_given_row && !inside.contains(',') => right.table.cell(&given_row, inside),
        _ => Err(Error::new(format!("`{}` is not a row and a column", clip(text)))),
    }?;
    Ok(Given::Cell { row, col })
}

fn order_given(text: &str, right: &Order, options: usize) -> Result<Vec<usize>> {
    let count = right.positions.len();
    let words: Vec<&str> = match text.contains([',', '>']) {
        true => text.split([',', '>']).map(str::trim).collect(),
        false => text.split_whitespace().collect(),
    };
    let positions = match letters(&words, count.min(options)) {
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
        None => Ok(positions),
    }
}

/// The options that words such as `b c a`, or `bca` alone, name by letters.
fn letters(words: &[&str], options: usize) -> Option<Vec<usize>> {
    let is_letters = words.len() == 1 || words.iter().all(|word| word.chars().count() == 1);
    let positions = words.iter().flat_map(|word| word.chars()).map(|letter| option_of(letter, options));
    if is_letters { positions.collect() } else { None }
}

#[cfg(test)]
mod tests;
