//! The right answer of a question, and whether a given one is it.

use std::fmt;

use crate::graph::number_text;

use super::written::at_decimals;
use super::{Cell, Given, Order, Value};

/// What rounding may add to a distance, as a part of the numbers: 0.305 lies 0.005 from 0.3, not a bit further.
const ROUNDING: f64 = 1e-14;

/// The right answer of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The letter of an option.
    Choice {
        /// The letter, a capital.
        letter: char,
        /// Whether the condition of the key holds: if not, the key is false.
        holds: bool,
    },
    /// A number.
    Number {
        /// The exact one.
        value: f64,
        /// How far from it an answer may lie; exactly so far is still right.
        tolerance: f64,
    },
    /// The place of a cell.
    Cell(Cell),
    /// The order of a row.
    Order(Order),
}

impl Answer {
    /// Whether the value of an option would be taken for this answer. For `number`: whether it lies within the tolerance.
    pub fn accepts(&self, option: &Value) -> bool {
        match (self, option) {
            (Answer::Number { value, tolerance }, option) => {
                option.number().is_some_and(|option| is_within(option, *value, *tolerance))
            }
            (Answer::Cell(right), Value::Cell(cell)) => (cell.row, cell.col) == (right.row, right.col),
            (Answer::Order(right), Value::Order(order)) => order.positions == right.positions,
            _ => false,
        }
    }
}

impl fmt::Display for Answer {
    /// `C`, `0.301 ± 0.005`, `A[cave,bat]`, `cave bat racket`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Choice { letter, .. } => write!(f, "{letter}"),
            Answer::Number { value, tolerance } if *tolerance == 0.0 || value.is_infinite() => {
                f.write_str(&number_text(*value))
            }
            Answer::Number { value, tolerance } => {
                let allowed = number_text(*tolerance);
                write!(f, "{} ± {allowed}", within(*value, *tolerance))
            }
            Answer::Cell(cell) => cell.fmt(f),
            Answer::Order(order) => order.fmt(f),
        }
    }
}

/// A number at the decimals of what it may be off by; a whole number has none.
pub fn within(value: f64, tolerance: f64) -> String {
    if value.fract() == 0.0 {
        return number_text(value);
    }
    let decimals = number_text(tolerance).split_once('.').map_or(0, |(_, decimals)| decimals.len());
    at_decimals(value, decimals).replace('-', "−")
}

/// Whether what a student has given is right.
pub fn judge(given: &Given, answer: &Answer) -> bool {
    match (given, answer) {
        (Given::Choice(given), Answer::Choice { letter, .. }) => given == letter,
        (Given::Number(given), Answer::Number { value, tolerance }) => is_within(*given, *value, *tolerance),
        (Given::Cell { row, col }, Answer::Cell(cell)) => (*row, *col) == (cell.row, cell.col),
        (Given::Order(given), Answer::Order(order)) => *given == order.positions,
        _ => false,
    }
}

/// Whether what a student has given is what a wrong option computes: a number within the tolerance of the answer, the same cell,
/// the same order. What is chosen by its letter is matched by its letter.
pub fn matches_option(given: &Given, option: &Value, answer: &Answer) -> bool {
    match (given, option, answer) {
        (Given::Number(given), option, Answer::Number { tolerance, .. }) => {
            option.number().is_some_and(|option| is_within(*given, option, *tolerance))
        }
        (Given::Cell { row, col }, Value::Cell(cell), _) => (*row, *col) == (cell.row, cell.col),
        (Given::Order(given), Value::Order(order), _) => *given == order.positions,
        _ => false,
    }
}

fn is_within(number: f64, value: f64, tolerance: f64) -> bool {
    let allowed = tolerance + ROUNDING * (value.abs() + tolerance);
    // The difference of two equal infinities is NaN, and an infinite value would allow any difference.
    number == value || (value.is_finite() && (number - value).abs() <= allowed)
}

#[cfg(test)]
mod tests {
    use super::super::fake::runs;
    use super::super::{Expression, Key, Kind};
    use super::*;

    fn answer(kind: Kind, text: &str) -> Answer {
        Key::parse(kind, text).unwrap().evaluate(&runs()).unwrap()
    }

    fn option(text: &str) -> Value {
        Expression::parse(text).unwrap().evaluate(&runs()).unwrap()
    }

    fn is_right(text: &str, answer: &Answer) -> bool {
        judge(&Given::read(text, answer, 3).unwrap(), answer)
    }

    #[test]
    fn a_number_is_right_up_to_its_tolerance_and_no_further() {
        let answer = Answer::Number { value: 0.3, tolerance: 0.005 };
        for text in ["0.3", "0,305", "0.295", "30%", ".304"] {
            assert!(is_right(text, &answer), "{text}");
        }
        for text in ["0.3051", "0.2949", "-0.3", "1/3", "inf"] {
            assert!(!is_right(text, &answer), "{text}");
        }
        let exact = Answer::Number { value: 1_391_569_403_904.0, tolerance: 0.0 };
        assert!(is_right("1,391,569,403,904", &exact) && !is_right("1391569403905", &exact));
        let small = Answer::Number { value: 1e-9, tolerance: 0.3 };
        assert!(is_right("0.300000001", &small) && !is_right("0.3000000011", &small));
        assert!(is_right("1/3", &Answer::Number { value: 1.0 / 3.0, tolerance: 0.0 }));
        let masked = Answer::Number { value: f64::NEG_INFINITY, tolerance: 0.1 };
        assert!(is_right("−∞", &masked) && !is_right("-5", &masked) && !is_right("inf", &masked));
    }

    #[test]
    fn letters_cells_and_orders_are_right_or_wrong() {
        let choice = Answer::Choice { letter: 'C', holds: true };
        assert!(is_right("c", &choice) && !is_right("B", &choice));
        let cell = answer(Kind::Cell, "argmax(plain:A)");
        assert!(is_right("cave,cave", &cell) && is_right("2,2", &cell) && !is_right("1,2", &cell));
        let order = answer(Kind::Order, "rank(plain:A[bat])");
        assert!(is_right("bat cave racket", &order) && !is_right("cave bat racket", &order));
        assert!(!judge(&Given::Number(1.0), &choice));
    }

    #[test]
    fn a_wrong_answer_is_recognised_as_the_option_that_computes_it() {
        let number = answer(Kind::Number, "plain:A[bat,cave] ± 0.005");
        let causal = option("causal:A[bat,bat]");
        assert!(matches_option(&Given::Number(1.004), &causal, &number));
        assert!(!matches_option(&Given::Number(1.006), &causal, &number));
        assert!(!number.accepts(&causal) && number.accepts(&option("round(plain:A[bat,cave], 2)")));

        let cell = answer(Kind::Cell, "argmax(plain:A)");
        let other = option("argmin(plain:A)");
        assert!(matches_option(&Given::Cell { row: 2, col: 0 }, &other, &cell));
        assert!(!matches_option(&Given::Cell { row: 1, col: 1 }, &other, &cell));
        assert!(!cell.accepts(&other) && cell.accepts(&option("argmax(plain:A)")));

        let order = answer(Kind::Order, "rank(plain:A[bat])");
        let other = option("rank(plain:A[cave])");
        assert!(matches_option(&Given::Order(vec![1, 2, 0]), &other, &order));
        assert!(!order.accepts(&other));
    }

    #[test]
    fn an_answer_is_shown_at_the_digits_of_its_tolerance() {
        let shown = |value, tolerance| Answer::Number { value, tolerance }.to_string();
        assert_eq!(shown(0.30123, 0.005), "0.301 ± 0.005");
        assert_eq!(shown(-2.0 / 3.0, 0.5), "−0.7 ± 0.5");
        assert_eq!(shown(3.0, 0.0), "3");
        assert_eq!(shown(f64::NEG_INFINITY, 0.1), "−∞");
    }
}
