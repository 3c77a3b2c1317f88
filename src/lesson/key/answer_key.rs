//! The key of a question: what its right answer is computed by.

use super::Expression;

/// The key of a question: `LETTER iff EXPRESSION ± TOLERANCE from SHOWN decimals`. Each kind of question uses some of these
/// parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The letter of the right option, a capital.
    pub letter: Option<char>,
    /// The expression that is computed.
    pub expression: Expression,
    /// The maximum difference between an answer and the computed number.
    pub tolerance: Option<f64>,
    /// The decimals at which the question shows the numbers that the answer is computed from: an answer may also be off by
    /// as much as that rounding allows.
    pub shown: Option<usize>,
}

impl Key {
    /// The same key with another expression.
    pub fn computed_by(&self, other: impl Fn(&Expression) -> Expression) -> Key {
        Key { expression: other(&self.expression), ..self.clone() }
    }

    /// The names of the runs that it reads, each once.
    pub fn runs(&self) -> Vec<&str> {
        self.expression.runs()
    }
}
