//! `number`: a number, right within a tolerance.

use crate::answer::Answer;
use crate::elementary::pow;
use crate::error::Result;
use crate::graph::number_text;
use crate::lesson::key::{Expression, Function, Key, Value, Values, at_decimals};

use super::kind::{Example, QuestionKind, of_another_kind};

/// A number: `plain:A[bat,cave] ± 0.005`, `plain:O[bat,1] ± 0.05 from 2 decimals`.
pub(super) struct NumberKind;

impl QuestionKind for NumberKind {
    fn word(&self) -> &'static str {
        "number"
    }

    fn key_help(&self) -> &'static str {
        "write what computes it, and the tolerance: RUN:A[bat,cave] ± 0.005, or \
         RUN:O[bat,1] ± 0.05 from 2 decimals if the answer is computed from rounded numbers"
    }

    fn example(&self) -> Example {
        Example { key: "plain:A[bat,cave] ± 0.005", typed: "a number, 1/3 or 33%" }
    }

    fn fault(&self, key: &Key) -> Option<String> {
        if key.letter.is_some() || !is_number(&key.expression) {
            return of_another_kind(self);
        }
        let Some(tolerance) = key.tolerance else { return Some("has no tolerance".to_string()) };
        if key.shown.is_some() && !matches!(key.expression, Expression::Reference { .. }) {
            return Some("says “from … decimals”, but that needs a single cell".to_string());
        }
        let is_possible = tolerance.is_finite() && tolerance >= 0.0;
        if is_possible { None } else { Some("has a tolerance below 0".to_string()) }
    }

    fn evaluate(&self, key: &Key, values: &dyn Values) -> Result<Answer> {
        let value = key.expression.number(values)?;
        let tolerance = key.tolerance.unwrap_or_default();
        let tolerance = match (key.shown, &key.expression) {
            (Some(shown), Expression::Reference { run, address }) => {
                widened(tolerance, values.slack(run, address, shown)?)
            }
            _ => tolerance,
        };
        Ok(Answer { tolerance, ..Answer::exact(Value::Number(value)) })
    }

    fn may_begin(&self, typed: char, _: &Answer, _: usize) -> bool {
        typed.is_ascii_digit() || "-−+.,∞i".contains(typed)
    }

    fn quiz_prompt(&self, _: &[char]) -> Option<String> {
        Some("a number".to_string())
    }

    fn status_hint(&self, _: usize) -> Option<String> {
        Some("type a number".to_string())
    }
}

/// Whether an expression can be a number.
fn is_number(expression: &Expression) -> bool {
    match expression {
        Expression::Number(_) | Expression::Reference { .. } => true,
        Expression::Call(function, _) => {
            !matches!(function, Function::Argmax | Function::Argmin | Function::Rank)
        }
        Expression::Compare(..) => false,
    }
}

/// A tolerance and what rounded operands add to it, rounded up to the decimals of the tolerance.
fn widened(tolerance: f64, slack: f64) -> f64 {
    let decimals = number_text(tolerance).split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let unit = pow(10.0, -(decimals as f64));
    // The error of binary fractions is no reason for one more unit.
    let units = ((tolerance + slack) / unit - 1e-6).ceil();
    at_decimals(units * unit, decimals).parse().unwrap_or(tolerance + slack)
}

#[cfg(test)]
mod tests {
    use super::super::sample::{answer, beginnings, refusal, refused};
    use super::*;

    #[test]
    fn its_key_is_a_number_and_a_tolerance() {
        let right = |value, tolerance| Answer { tolerance, ..Answer::exact(Value::Number(value)) };
        for text in ["plain:A[bat,cave] ± 0.005", "plain:A[bat,cave]+-.005", "plain:A[bat,cave] +/- 5e-3"] {
            assert_eq!(answer("number", text), right(0.25, 0.005), "{text}");
        }
        assert_eq!(answer("number", "len(plain:A[bat]) ± 0"), right(3.0, 0.0));
        assert_eq!(refused("number", "plain:A[bat,cave]").what, "`plain:A[bat,cave]` has no tolerance");
    }

    #[test]
    fn a_number_is_read_as_students_write_it() {
        let right = answer("number", "sum(plain:A) ± 0.1");
        for (text, value) in [
            ("0.3", 0.3),
            (".3", 0.3),
            ("0,3", 0.3),
            (",3", 0.3),
            ("−0,125", -0.125),
            ("1/3", 1.0 / 3.0),
            ("-1 / 4", -0.25),
            ("33%", 0.33),
            ("12,5 %", 0.125),
            ("−0.5", -0.5),
            ("1e-3", 0.001),
            ("124,439,808", 124_439_808.0),
            ("1,234.5", 1234.5),
            ("-inf", f64::NEG_INFINITY),
        ] {
            let read = right.read(text, 0).unwrap();
            assert_eq!(read, Value::Number(value), "{text}");
        }
        let refusal = |text: &str| refusal(text, &right, 0);
        for text in ["", "x", "nan", "1/0", "0/0", "1/2/3", "1,2,3", "1.2.3", "%", "/", "∞/∞"] {
            assert!(refusal(text).ends_with("type a number, such as 0.3, 1/3 or 33%"), "{text}");
        }
        assert_eq!(refusal("1,234"), "`1,234` may be 1.234 or 1234\n  help: type 1.234 or 1234");
        assert_eq!(beginnings("number", &right, 0), "+,-.0123456789i");
    }
}
