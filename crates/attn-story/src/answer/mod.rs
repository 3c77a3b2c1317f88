//! Answers to questions: what the right one is, how another one is typed, and whether it is right. No file, no key language, and no
//! sentences of a lesson: the program and its pages in a browser judge with the same code.

mod largest;
mod table;
mod value;

use std::fmt;
use std::mem::discriminant;

use serde::{Deserialize, Serialize};
use value::{SavedValue, saved_number};

use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::number_text;
use crate::text::{clip, number};

pub use largest::{extreme, ranked};
pub use table::{Cell, Order, Table};
pub use value::{Cells, Value};

// Limits of typed answers, and letters of options, for all kinds of question.

/// No answer is longer than this, in bytes.
pub const LONGEST: usize = 200;
/// The alphabet of options.
pub const MOST_OPTIONS: usize = 26;

/// The letter of the last of this many options.
pub fn last_letter(letters: usize) -> char {
    ('A'..='Z').nth(letters.clamp(1, MOST_OPTIONS) - 1).unwrap_or('Z')
}

/// The position of the option that a letter names.
pub fn option_of(letter: char, letters: usize) -> Option<usize> {
    ('A'..='Z').take(letters).position(|known| known == letter.to_ascii_uppercase())
}

// The right answer of a question, and whether another one is it.

/// The relative rounding error of a difference: 0.305 differs from 0.3 by 0.005 and not more.
const ROUNDING: f64 = 1e-14;

/// The right answer of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The letter of an option, a number, the place of a cell, or the order of a row.
    pub value: Value,
    /// The maximum difference of a right answer from the number, inclusive. 0 for anything but a number.
    pub tolerance: f64,
    /// Whether the condition of the key holds: if not, the key is false. A key without a condition holds.
    pub holds: bool,
}

impl Answer {
    /// An answer that is right or not, without a tolerance.
    pub fn exact(value: Value) -> Answer {
        Answer { value, tolerance: 0.0, holds: true }
    }

    /// Whether a student who gives this answer is right: a number within the tolerance, the same letter, cell or order.
    pub fn accepts(&self, given: &Value) -> bool {
        match (&self.value, given) {
            (Value::Cell(right), Value::Cell(cell)) => (cell.row, cell.col) == (right.row, right.col),
            (Value::Order(right), Value::Order(order)) => order.positions == right.positions,
            (Value::Number(right), given) => {
                given.number().is_some_and(|given| is_within(given, *right, self.tolerance))
            }
            (right, given) => given == right,
        }
    }

    /// Reads what a student types, where this answer is right and the question has this many options with letters (0 where it
    /// has none): a letter in either case; a number such as `0.3`, `0,3`, `1/3` or `33%`; a cell as `cave,bat` or `2,1`; an
    /// order as labels, positions or letters.
    ///
    /// # Errors
    /// If it cannot be such an answer: the error says what is wanted.
    pub fn read(&self, text: &str, letters: usize) -> Result<Value> {
        let help = || format!("type {}", self.wanted(letters));
        let text = text.trim();
        if text.len() > LONGEST {
            return Err(wrong(text, "is too long for an answer").help(help()));
        }
        // Whatever an error repeats of it, nothing of it reaches the terminal as a command.
        let text = visible(text);
        let text = text.trim();
        let value = match &self.value {
            _ if text.is_empty() => Err(Error::new("no answer was typed")),
            Value::Letter(_) => read_letter(text, letters),
            Value::Number(_) => read_number(text),
            Value::Cell(right) => read_cell(text, right),
            Value::Order(right) => read_order(text, right, letters),
            Value::Cells(_) | Value::Truth(_) => Err(Error::new("this question has no answer that is typed")),
        };
        value.map_err(|error| error.help(help()))
    }

    /// The possible answers, for an error: “a letter A to C”.
    fn wanted(&self, letters: usize) -> String {
        match &self.value {
            Value::Letter(_) => format!("a letter A to {}", last_letter(letters)),
            Value::Number(_) => "a number, such as 0.3, 1/3 or 33%".to_string(),
            Value::Cell(right) if right.in_given_row => "a column by its name or its number".to_string(),
            Value::Cell(right) => match right.table.address(0, 0).split_once('[') {
                Some((_, inside)) => {
                    format!("a row and a column, such as {} or 2,1", inside.trim_end_matches(']'))
                }
                None => "a row and a column, such as 2,1".to_string(),
            },
            Value::Order(right) if letters > 0 => {
                format!("the letters A to {}, the largest first", last_letter(right.positions.len()))
            }
            Value::Order(right) => {
                let mut columns = right.columns();
                columns.truncate(MOST_OPTIONS);
                format!("the columns from the largest to the smallest, each once: {}", columns.join(", "))
            }
            Value::Cells(_) | Value::Truth(_) => "anything".to_string(),
        }
    }

    /// The answer that would be right if the key computed `value`, as an option of the question does; none where that is of
    /// another type.
    pub fn with_value(&self, value: &Value) -> Option<Answer> {
        let value = match (&self.value, value) {
            (Value::Number(_), value) => Value::Number(value.number()?),
            (own, value) if discriminant(own) == discriminant(value) => value.clone(),
            _ => return None,
        };
        Some(Answer { value, ..self.clone() })
    }

    /// A number with so many digits and no tolerance that it cannot be typed.
    pub fn untypable_number(&self) -> Option<f64> {
        match self.value {
            Value::Number(number) if self.tolerance == 0.0 && number.fract() != 0.0 => Some(number),
            _ => None,
        }
    }

    /// The text that a student types: `C`, `0.301` at the decimals of the tolerance, `cave,bat`, `cave bat racket`.
    pub fn typed(&self) -> String {
        match &self.value {
            Value::Number(number) if self.tolerance != 0.0 && number.is_finite() => {
                rounded_to_tolerance(*number, self.tolerance)
            }
            value => value.typed(),
        }
    }

    /// The text for the teacher: a number with its tolerance, anything else as it is typed.
    pub fn with_tolerance(&self) -> String {
        if matches!(self.value, Value::Number(_)) { self.to_string() } else { self.typed() }
    }
}

impl fmt::Display for Answer {
    /// `C`, `0.301 ± 0.005`, `A[cave,bat]`, `cave bat racket`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::Number(number) if self.tolerance != 0.0 && !number.is_infinite() => {
                let allowed = number_text(self.tolerance);
                write!(f, "{} ± {allowed}", rounded_to_tolerance(*number, self.tolerance))
            }
            value => value.fmt(f),
        }
    }
}

/// A number at the decimals of its tolerance; a whole number has none.
pub fn rounded_to_tolerance(number: f64, tolerance: f64) -> String {
    if number.fract() == 0.0 {
        return number_text(number);
    }
    let decimals = number_text(tolerance).split_once('.').map_or(0, |(_, decimals)| decimals.len());
    format!("{number:.decimals$}").replace('-', "−")
}

/// The error about a text that was typed.
fn wrong(text: &str, what: &str) -> Error {
    Error::new(format!("`{}` {what}", clip(text)))
}

fn is_within(number: f64, value: f64, tolerance: f64) -> bool {
    let allowed = tolerance + ROUNDING * (value.abs() + tolerance);
    // The difference of two equal infinities is NaN, and an infinite value would allow any difference.
    number == value || (value.is_finite() && (number - value).abs() <= allowed)
}

// A number as students write it.

/// `0.3`, `.3`, `0,3`, `1/3`, `33%`, `−0.5`, `1e-3`, `1,234,567`
fn read_number(text: &str) -> Result<Value> {
    let value = match (text.strip_suffix('%'), text.split_once('/')) {
        (Some(percent), _) => plain_number(percent.trim_end())? / 100.0,
        (None, Some((above, below))) => match (plain_number(above)?, plain_number(below)?) {
            (_, 0.0) => return Err(wrong(text, "divides by zero")),
            (above, below) => above / below,
        },
        (None, None) => plain_number(text)?,
    };
    if value.is_nan() { Err(wrong(text, "is not a number")) } else { Ok(Value::Number(value)) }
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
            let choice = format!("{point} or {thousand}");
            return Err(wrong(text, &format!("may be {choice}")).help(format!("type {choice}")));
        }
        2 if !text.contains('.') => groups.join("."),
        _ if is_thousands => groups.concat(),
        _ => text.to_string(),
    };
    number(&plain).ok_or_else(|| wrong(text, "is not a number"))
}

// The place of a cell as students write it.

/// `cave,bat`, `2,1`, `(2, 1)`, `A[2,1]`; where the key searches one row, a column alone.
fn read_cell(text: &str, right: &Cell) -> Result<Value> {
    let mut inside = text;
    if let Some((name, rest)) = text.split_once('[')
        && let Some(rest) = rest.strip_suffix(']')
    {
        let name = name.trim();
        if !name.is_empty() && !name.eq_ignore_ascii_case(right.table.name()) {
            return Err(wrong(text, &format!("is not a cell of {}", right.table.name())));
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
        _ => Err(wrong(text, "is not a row and a column")),
    }?;
    Ok(Value::Cell(Cell { row, col, ..right.clone() }))
}

// The order of a row's columns as students write it.

/// Labels or positions, separated by blanks, commas or `>`; where options have letters, which stand in the order of the
/// columns and go before labels, `b c a`, `b,c,a` or `bca`.
fn read_order(text: &str, right: &Order, letters: usize) -> Result<Value> {
    let count = right.positions.len();
    let words: Vec<&str> = if text.contains([',', '>']) {
        text.split([',', '>']).map(str::trim).collect()
    } else {
        text.split_whitespace().collect()
    };
    let position = |word: &&str| right.table.cell("1", word).map(|(_, col)| col);
    let positions = match lettered(&words, count.min(letters)) {
        Some(positions) => positions,
        None => words.iter().map(position).collect::<Result<Vec<usize>>>()?,
    };
    let twice = (1..positions.len()).find(|&at| positions[..at].contains(&positions[at]));
    match twice {
        Some(at) => Err(wrong(text, &format!("names {} twice", right.table.col_name(positions[at])))),
        None if positions.len() != count => {
            Err(wrong(text, &format!("names {} of {count} columns", positions.len())))
        }
        None => Ok(Value::Order(right.with_positions(&positions))),
    }
}

/// The options that words such as `b c a`, or `bca` alone, name by letters.
fn lettered(words: &[&str], letters: usize) -> Option<Vec<usize>> {
    let are_letters = words.len() == 1 || words.iter().all(|word| word.chars().count() == 1);
    let positions = words.iter().flat_map(|word| word.chars()).map(|letter| option_of(letter, letters));
    if are_letters { positions.collect() } else { None }
}

// The letter of an option.

/// A letter in either case.
fn read_letter(text: &str, letters: usize) -> Result<Value> {
    let bare = text.trim_end_matches(['.', ')']);
    let mut characters = bare.chars();
    match (characters.next(), characters.next()) {
        (Some(letter), None) if option_of(letter, letters).is_some() => {
            Ok(Value::Letter(letter.to_ascii_uppercase()))
        }
        _ => Err(wrong(text, "is not an option")),
    }
}

// The judgement of an answer.

/// What judges the answers to one question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedJudge", into = "SavedJudge")]
pub struct Judge {
    /// The right answer.
    pub right: Answer,
    /// The number of options with letters; 0 where there are none.
    pub letters: usize,
    /// The answers that get a feedback of their own, in its order; `None` for one that cannot be computed.
    pub foreseen: Vec<Option<Answer>>,
}

/// What is said of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// Whether it is right.
    pub is_right: bool,
    /// The answer as it is repeated.
    pub repeated: String,
    /// The place of a wrong answer among those that are foreseen.
    pub foreseen: Option<usize>,
}

impl Judge {
    /// Judges an answer as it was typed.
    ///
    /// # Errors
    /// If it is no answer to this question.
    pub fn judge(&self, typed: &str) -> Result<Judgement> {
        let value = self.right.read(typed, self.letters)?;
        let is_right = self.right.accepts(&value);
        let typed = visible(typed.trim());
        let repeated = match value.lettered().filter(|_| self.letters > 0) {
            Some(lettered) => lettered,
            None if value.letter().is_some() => typed.to_uppercase(),
            None => typed.into_owned(),
        };
        let is_it = |foreseen: &Option<Answer>| foreseen.as_ref().is_some_and(|one| one.accepts(&value));
        let foreseen = if is_right { None } else { self.foreseen.iter().position(is_it) };
        Ok(Judgement { is_right, repeated, foreseen })
    }
}

/// What is written of a judge.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedJudge {
    right: SavedValue,
    tolerance: String,
    letters: usize,
    foreseen: Vec<Option<SavedValue>>,
}

impl From<Judge> for SavedJudge {
    fn from(judge: Judge) -> SavedJudge {
        let Judge { right, letters, foreseen } = judge;
        SavedJudge {
            tolerance: right.tolerance.to_string(),
            right: right.value.into(),
            letters,
            foreseen: foreseen.into_iter().map(|answer| answer.map(|answer| answer.value.into())).collect(),
        }
    }
}

impl TryFrom<SavedJudge> for Judge {
    type Error = Error;

    fn try_from(saved: SavedJudge) -> Result<Judge> {
        let tolerance = saved_number(&saved.tolerance)?;
        let answer = |value: SavedValue| Ok(Answer { tolerance, ..Answer::exact(value.value()?) });
        let foreseen = saved.foreseen.into_iter().map(|value| value.map(answer).transpose());
        let foreseen = foreseen.collect::<Result<_>>()?;
        Ok(Judge { right: answer(saved.right)?, letters: saved.letters, foreseen })
    }
}

#[cfg(test)]
mod tests {
    use crate::matrix::Matrix;

    use super::*;

    fn judge(value: Value, tolerance: f64, letters: usize, foreseen: &[Option<Value>]) -> Judge {
        let right = Answer { tolerance, ..Answer::exact(value) };
        let foreseen = foreseen.iter().map(|value| right.with_value(value.as_ref()?)).collect();
        Judge { right, letters, foreseen }
    }

    fn table(name: &str, rows: usize) -> Table {
        let words = ["bat", "cave", "racket"];
        let matrix = Matrix::filled(rows, 3, 0.0).cols_named(&words);
        Table::new(name, if rows == 3 { matrix.rows_named(&words) } else { matrix }).unwrap()
    }

    fn judges() -> [Judge; 4] {
        let cell = |row, col| Value::Cell(Cell { row, col, in_given_row: false, table: table("A", 3) });
        let order = |of: &[usize]| Value::Order(Order { positions: of.to_vec(), table: table("A", 1) });
        [
            judge(Value::Letter('C'), 0.0, 3, &[Some(Value::Letter('A'))]),
            judge(Value::Number(f64::NEG_INFINITY), 0.1, 0, &[None, Some(Value::Number(0.1 + 0.2))]),
            judge(cell(1, 0), 0.0, 0, &[Some(cell(0, 1))]),
            judge(order(&[1, 0, 2]), 0.0, 3, &[Some(order(&[2, 0, 1]))]),
        ]
    }

    #[test]
    fn a_judge_that_was_written_and_read_judges_the_same() {
        for judge in judges() {
            let written = serde_json::to_string(&judge).unwrap();
            let read: Judge = serde_json::from_str(&written).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), written);
            for typed in ["a", "C", "0.3", "-inf", "cave,bat", "1,2", "b a c", "cave bat racket", "", "x y"] {
                let said = |judge: &Judge| judge.judge(typed).map_err(|error| error.to_string());
                assert_eq!(said(&read), said(&judge), "{typed}: {written}");
            }
        }
    }

    #[test]
    fn a_wrong_answer_is_found_among_those_that_are_foreseen() {
        let [choice, number, cell, order] = judges();
        let said = |judge: &Judge, typed: &str| {
            let Judgement { is_right, repeated, foreseen } = judge.judge(typed).unwrap();
            (is_right, repeated, foreseen)
        };
        assert_eq!(said(&choice, "a)"), (false, "A)".into(), Some(0)));
        assert_eq!(said(&choice, "b"), (false, "B".into(), None));
        assert_eq!(said(&choice, "c"), (true, "C".into(), None));
        assert_eq!(said(&number, "0,25"), (false, "0,25".into(), Some(1)));
        assert_eq!(said(&number, "−∞"), (true, "−∞".into(), None));
        assert_eq!(said(&cell, "bat, CAVE"), (false, "bat, CAVE".into(), Some(0)));
        assert_eq!(said(&cell, "2,1"), (true, "2,1".into(), None));
        assert_eq!(said(&order, "bac"), (true, "B A C: cave, bat, racket".into(), None));
        assert!(cell.judge("bta,bat").unwrap_err().to_string().contains("did you mean `bat`"));
    }
}
