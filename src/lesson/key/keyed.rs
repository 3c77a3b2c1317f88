//! The key of a question: how its right answer is computed.

use crate::elementary::pow;
use crate::error::{self, Error};
use crate::foreign::clip;
use crate::graph::number_text;

use super::parse::{self, KeyParts, ParseError};
use super::written::at_decimals;
use super::{Answer, Expression, Function, Value, Values};

/// What a question asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The letter of an option.
    Choice,
    /// A number.
    Number,
    /// The place of a cell.
    Cell,
    /// The columns of a row, from the largest number to the smallest.
    Order,
    /// Anything; nobody grades it.
    Open,
}

/// How the right answer of a question is computed.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// `C iff count(causal:A[bat], == 0) == 2`
    Choice {
        /// The letter of the right option, a capital.
        letter: char,
        /// The comparison that makes it right.
        condition: Expression,
    },
    /// `plain:A[bat,cave] ± 0.005`, `plain:O[bat,1] ± 0.05 from 2 decimals`
    Number {
        /// The number.
        expression: Expression,
        /// How far from it an answer may lie.
        tolerance: f64,
        /// The decimals at which the question shows what the number is computed from: an answer may also be off by as much
        /// as that rounding allows.
        shown: Option<usize>,
    },
    /// `argmax(plain:A)`
    Cell(Expression),
    /// `rank(plain:A[bat])`
    Order(Expression),
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [Kind::Choice, Kind::Number, Kind::Cell, Kind::Order, Kind::Open];

    /// The word that a lesson has for it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Choice => "choice",
            Kind::Number => "number",
            Kind::Cell => "cell",
            Kind::Order => "order",
            Kind::Open => "open",
        }
    }

    /// How the key of such a question is written.
    fn form(self) -> &'static str {
        match self {
            Kind::Choice => "write the letter and what makes it right: C iff count(RUN:A[bat], == 0) == 2",
            Kind::Number => {
                "write what computes it, and the tolerance: RUN:A[bat,cave] ± 0.005, or \
                 RUN:O[bat,1] ± 0.05 from 2 decimals if the answer is computed from rounded numbers"
            }
            Kind::Cell => "write argmax(RUN:A) or argmin(RUN:A)",
            Kind::Order => "write rank(RUN:A[bat])",
            Kind::Open => "remove the key, or give the question another kind",
        }
    }
}

impl Key {
    /// Reads the key of a question of this kind.
    ///
    /// # Errors
    /// If it cannot be read, is not written as this kind wants it, or reads no run: then it is not computed. The error tells the
    /// column within the text.
    pub fn parse(kind: Kind, text: &str) -> Result<Key, ParseError> {
        let wrong = |what: String| Err(ParseError::new(text, leading_blanks(text), what, kind.form()));
        let quoted = clip(text.trim());
        if kind == Kind::Open {
            return wrong("an open question has no key".to_string());
        }
        if is_bare_answer(text) {
            return wrong(format!("the key `{quoted}` is typed, not computed"));
        }
        let KeyParts { letter, expression, tolerance, shown } = parse::key(text, kind.form())?;
        if expression.runs().is_empty() {
            return wrong(format!("the key `{quoted}` is typed, not computed: it reads no run"));
        }
        match (kind, letter, tolerance, &expression) {
            (Kind::Choice, Some(letter), None, Expression::Compare(..)) => {
                Ok(Key::Choice { letter, condition: expression })
            }
            (Kind::Number, None, None, _) if is_number(&expression) => {
                wrong(format!("`{quoted}` has no tolerance"))
            }
            (Kind::Number, None, Some(tolerance), _) if is_number(&expression) => {
                let of_a_cell = matches!(expression, Expression::Reference { .. });
                match tolerance.is_finite() && tolerance >= 0.0 {
                    _ if shown.is_some() && !of_a_cell => {
                        wrong(format!("`{quoted}` says “from … decimals”, but that needs a single cell"))
                    }
                    true => Ok(Key::Number { expression, tolerance, shown }),
                    false => wrong(format!("`{quoted}` has a tolerance below 0")),
                }
            }
            (Kind::Cell, None, None, Expression::Call(Function::Argmax | Function::Argmin, _)) => {
                Ok(Key::Cell(expression))
            }
            (Kind::Order, None, None, Expression::Call(Function::Rank, _)) => Ok(Key::Order(expression)),
            _ => wrong(format!("`{quoted}` is not a key for a {} question", kind.word())),
        }
    }

    /// The kind of question that it is for.
    pub fn kind(&self) -> Kind {
        match self {
            Key::Choice { .. } => Kind::Choice,
            Key::Number { .. } => Kind::Number,
            Key::Cell(_) => Kind::Cell,
            Key::Order(_) => Kind::Order,
        }
    }

    /// What it computes.
    pub fn expression(&self) -> &Expression {
        match self {
            Key::Choice { condition: expression, .. }
            | Key::Number { expression, .. }
            | Key::Cell(expression)
            | Key::Order(expression) => expression,
        }
    }

    /// The same key, computed by another expression of its kind.
    pub fn computed_by(&self, other: impl Fn(&Expression) -> Expression) -> Key {
        let mut key = self.clone();
        match &mut key {
            Key::Choice { condition: expression, .. }
            | Key::Number { expression, .. }
            | Key::Cell(expression)
            | Key::Order(expression) => *expression = other(expression),
        }
        key
    }

    /// The names of the runs that it reads, each once.
    pub fn runs(&self) -> Vec<&str> {
        self.expression().runs()
    }

    /// The right answer. That of a `choice` also says whether its condition holds; where it does not, the key is false.
    ///
    /// # Errors
    /// As [`Expression::evaluate`]; ties among them.
    pub fn evaluate(&self, values: &dyn Values) -> error::Result<Answer> {
        let value = match self {
            Key::Number { expression, tolerance, shown } => {
                let value = expression.number(values)?;
                let tolerance = match (shown, expression) {
                    (Some(shown), Expression::Reference { run, address }) => {
                        widened(*tolerance, values.slack(run, address, *shown)?)
                    }
                    _ => *tolerance,
                };
                return Ok(Answer::Number { value, tolerance });
            }
            key => key.expression().evaluate(values)?,
        };
        match (self, value) {
            (Key::Choice { letter, .. }, Value::Truth(holds)) => {
                Ok(Answer::Choice { letter: *letter, holds })
            }
            (Key::Cell(_), Value::Cell(cell)) => Ok(Answer::Cell(cell)),
            (Key::Order(_), Value::Order(order)) => Ok(Answer::Order(order)),
            (key, value) => {
                let what = format!("`{}` is {}", key.expression(), value.kind());
                Err(Error::new(what).help(key.kind().form()))
            }
        }
    }
}

/// A tolerance and what rounded operands add to it, rounded up to the decimals of the tolerance.
fn widened(tolerance: f64, slack: f64) -> f64 {
    let decimals = number_text(tolerance).split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let unit = pow(10.0, -(decimals as f64));
    // What binary fractions leave behind is no reason for one more unit.
    let units = ((tolerance + slack) / unit - 1e-6).ceil();
    at_decimals(units * unit, decimals).parse().unwrap_or(tolerance + slack)
}

/// A letter, a word or words without anything that computes: `C`, `bat cave`.
fn is_bare_answer(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphabetic() || c.is_whitespace();
    !text.trim().is_empty() && text.chars().all(is_plain)
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

fn leading_blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::super::fake::runs;
    use super::*;

    fn refused(kind: Kind, text: &str) -> ParseError {
        Key::parse(kind, text).expect_err(text)
    }

    fn answer(kind: Kind, text: &str) -> Answer {
        Key::parse(kind, text).unwrap().evaluate(&runs()).unwrap()
    }

    #[test]
    fn a_key_that_is_not_computed_is_refused_with_the_form_that_is() {
        for (kind, text, form) in [
            (Kind::Choice, "C", "C iff count(RUN:A[bat], == 0) == 2"),
            (Kind::Choice, " C ", "C iff "),
            (Kind::Choice, "C iff 1 == 1", "C iff "),
            (Kind::Number, "0.3 ± 0.005", "± 0.005"),
            (Kind::Number, "0.3", "RUN:A[bat,cave] ± 0.005"),
            (Kind::Order, "bat cave", "rank(RUN:A[bat])"),
        ] {
            let error = refused(kind, text);
            assert!(error.what.contains("typed, not computed"), "{text}: {}", error.what);
            assert!(error.help.is_some_and(|help| help.contains(form)), "{text}");
        }
        assert_eq!(refused(Kind::Choice, "  C").column, 3);
    }

    #[test]
    fn a_key_of_another_kind_is_refused() {
        for (kind, text) in [
            (Kind::Choice, "plain:A[bat,cave] ± 0.1"),
            (Kind::Choice, "count(plain:A, == 0) == 2"),
            (Kind::Choice, "C iff sum(plain:A)"),
            (Kind::Choice, "C iff sum(plain:A) == 1 ± 0.1"),
            (Kind::Number, "argmax(plain:A) ± 0.1"),
            (Kind::Number, "C iff len(plain:A) == 9"),
            (Kind::Cell, "rank(plain:A[bat])"),
            (Kind::Cell, "argmax(plain:A) ± 0.1"),
            (Kind::Order, "argmax(plain:A)"),
            (Kind::Open, "argmax(plain:A)"),
            (Kind::Number, "plain:A[bat,cave] ± -0.1"),
            (Kind::Number, "plain:A[bat,cave] ± inf"),
        ] {
            assert_eq!(refused(kind, text).help.as_deref(), Some(kind.form()), "{text}");
        }
        assert_eq!(refused(Kind::Number, "plain:A[bat,cave]").what, "`plain:A[bat,cave]` has no tolerance");
        assert_eq!(refused(Kind::Choice, "C if sum(plain:A) == 3").column, 3);
    }

    #[test]
    fn each_kind_has_its_answer() {
        assert_eq!(
            answer(Kind::Choice, "c iff count(causal:A[bat], == 0) == 2"),
            Answer::Choice { letter: 'C', holds: true }
        );
        assert_eq!(
            answer(Kind::Choice, "B iff count(causal:A[bat], == 0) == 1"),
            Answer::Choice { letter: 'B', holds: false }
        );
        for text in ["plain:A[bat,cave] ± 0.005", "plain:A[bat,cave]+-.005", "plain:A[bat,cave] +/- 5e-3"] {
            assert_eq!(
                answer(Kind::Number, text),
                Answer::Number { value: 0.25, tolerance: 0.005 },
                "{text}"
            );
        }
        assert_eq!(
            answer(Kind::Number, "len(plain:A[bat]) ± 0"),
            Answer::Number { value: 3.0, tolerance: 0.0 }
        );
        assert_eq!(answer(Kind::Cell, "argmax(plain:A)").to_string(), "A[cave,cave]");
        assert_eq!(answer(Kind::Order, "rank(plain:A[bat])").to_string(), "bat cave racket");
    }

    #[test]
    fn a_key_names_the_runs_it_reads() {
        let key = Key::parse(Kind::Choice, "C iff plain:A[1,2] > causal:A[1,2]").unwrap();
        assert_eq!(key.runs(), ["plain", "causal"]);
        assert_eq!(key.kind(), Kind::Choice);
    }
}
