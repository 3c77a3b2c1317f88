//! The right answer of a question, and whether another one is it.

use std::fmt;
use std::mem::discriminant;

use crate::graph::number_text;
use crate::lesson::key::{Value, at_decimals};

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
    at_decimals(number, decimals).replace('-', "−")
}

fn is_within(number: f64, value: f64, tolerance: f64) -> bool {
    let allowed = tolerance + ROUNDING * (value.abs() + tolerance);
    // The difference of two equal infinities is NaN, and an infinite value would allow any difference.
    number == value || (value.is_finite() && (number - value).abs() <= allowed)
}

#[cfg(test)]
mod tests {
    use super::super::sample::{answer, is_right};
    use super::*;
    use crate::lesson::key::Expression;
    use crate::lesson::key::sample_runs::runs;

    fn number(value: f64, tolerance: f64) -> Answer {
        Answer { tolerance, ..Answer::exact(Value::Number(value)) }
    }

    fn option(text: &str) -> Value {
        Expression::parse(text).unwrap().evaluate(&runs()).unwrap()
    }

    #[test]
    fn a_number_is_right_up_to_its_tolerance_and_no_further() {
        let is_right = |text: &str, right: &Answer| is_right("number", text, right);
        let answer = number(0.3, 0.005);
        for text in ["0.3", "0,305", "0.295", "30%", ".304"] {
            assert!(is_right(text, &answer), "{text}");
        }
        for text in ["0.3051", "0.2949", "-0.3", "1/3", "inf"] {
            assert!(!is_right(text, &answer), "{text}");
        }
        let exact = number(1_391_569_403_904.0, 0.0);
        assert!(is_right("1,391,569,403,904", &exact) && !is_right("1391569403905", &exact));
        let small = number(1e-9, 0.3);
        assert!(is_right("0.300000001", &small) && !is_right("0.3000000011", &small));
        assert!(is_right("1/3", &number(1.0 / 3.0, 0.0)));
        let masked = number(f64::NEG_INFINITY, 0.1);
        assert!(is_right("−∞", &masked) && !is_right("-5", &masked) && !is_right("inf", &masked));
    }

    #[test]
    fn letters_cells_and_orders_are_right_or_wrong() {
        let choice = Answer::exact(Value::Letter('C'));
        assert!(is_right("choice", "c", &choice) && !is_right("choice", "B", &choice));
        let cell = answer("cell", "argmax(plain:A)");
        assert!(is_right("cell", "cave,cave", &cell) && is_right("cell", "2,2", &cell));
        assert!(!is_right("cell", "1,2", &cell));
        let order = answer("order", "rank(plain:A[bat])");
        assert!(
            is_right("order", "bat cave racket", &order) && !is_right("order", "cave bat racket", &order)
        );
        assert!(!choice.accepts(&Value::Number(1.0)));
    }

    #[test]
    fn a_wrong_answer_is_recognised_as_the_option_that_computes_it() {
        let is_option = |typed: &Value, option: &Value, right: &Answer| {
            right.with_value(option).is_some_and(|option| option.accepts(typed))
        };
        let right = answer("number", "plain:A[bat,cave] ± 0.005");
        let causal = option("causal:A[bat,bat]");
        assert!(is_option(&Value::Number(1.004), &causal, &right));
        assert!(!is_option(&Value::Number(1.006), &causal, &right));
        assert!(!right.accepts(&causal) && right.accepts(&option("round(plain:A[bat,cave], 2)")));

        let cell = answer("cell", "argmax(plain:A)");
        let other = option("argmin(plain:A)");
        assert!(is_option(&option("argmin(plain:A)"), &other, &cell));
        assert!(!is_option(&cell.value, &other, &cell));
        assert!(!cell.accepts(&other) && cell.accepts(&option("argmax(plain:A)")));
        assert!(!is_option(&causal, &other, &cell) && !is_option(&other, &causal, &cell));

        let order = answer("order", "rank(plain:A[bat])");
        let other = option("rank(plain:A[cave])");
        let Value::Order(typed) = &order.value else { panic!("an order") };
        assert!(is_option(&Value::Order(typed.with_positions(&[1, 2, 0])), &other, &order));
        assert!(!order.accepts(&other));
    }

    #[test]
    fn an_answer_is_shown_at_the_digits_of_its_tolerance() {
        let shown = |value, tolerance| number(value, tolerance).to_string();
        assert_eq!(shown(0.30123, 0.005), "0.301 ± 0.005");
        assert_eq!(shown(-2.0 / 3.0, 0.5), "−0.7 ± 0.5");
        assert_eq!(shown(3.0, 0.0), "3");
        assert_eq!(shown(f64::NEG_INFINITY, 0.1), "−∞");
        assert_eq!(number(0.41234, 0.01).typed(), "0.41");
        assert_eq!(number(12.0, 0.5).typed(), "12");
        assert_eq!(number(12.0, 0.0).typed(), "12");
    }
}
