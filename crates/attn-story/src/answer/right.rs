//! The right answer of a question, and whether another one is it.

use std::fmt;
use std::mem::discriminant;

use super::typed::LONGEST;
use super::value::Value;
use super::{cell, letter, number, order};
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::number_text;
use crate::text::clip;

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
            return Err(Error::new(format!("`{}` is too long for an answer", clip(text))).help(help()));
        }
        // Whatever an error repeats of it, nothing of it reaches the terminal as a command.
        let text = visible(text);
        let text = text.trim();
        let value = if text.is_empty() {
            Err(Error::new("no answer was typed"))
        } else {
            self.read_value(text, letters)
        };
        value.map_err(|error| error.help(help()))
    }

    fn read_value(&self, text: &str, letters: usize) -> Result<Value> {
        match &self.value {
            Value::Letter(_) => letter::read(text, letters),
            Value::Number(_) => number::read(text),
            Value::Cell(right) => cell::read(text, right),
            Value::Order(right) => order::read(text, right, letters),
            Value::Cells(_) | Value::Truth(_) => Err(Error::new("this question has no answer that is typed")),
        }
    }

    /// The possible answers, for an error: “a letter A to C”.
    fn wanted(&self, letters: usize) -> String {
        match &self.value {
            Value::Letter(_) => letter::wanted(letters),
            Value::Number(_) => number::wanted(),
            Value::Cell(right) => cell::wanted(right),
            Value::Order(right) => order::wanted(right, letters),
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

fn is_within(number: f64, value: f64, tolerance: f64) -> bool {
    let allowed = tolerance + ROUNDING * (value.abs() + tolerance);
    // The difference of two equal infinities is NaN, and an infinite value would allow any difference.
    number == value || (value.is_finite() && (number - value).abs() <= allowed)
}
