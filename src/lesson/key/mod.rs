//! The keys of lessons: what a number in the prose, an option and an answer key are computed by, in the language of the conditions
//! of demos; docs/language.md tells it to people.
//!
//! ```text
//! plain:A[bat,cave]                        a cell of the run called `plain`
//! count(causal:A[bat], == 0) == 2          two values compared
//! C iff len(plain:A[bat]) == 3             the key of a `choice`
//! plain:A[bat,cave] ± 0.005                of a `number`
//! plain:O[bat,1] ± 0.05 from 2 decimals    of a `number` that is computed from numbers shown at two decimals
//! argmax(plain:A)                          of a `cell`
//! rank(plain:A[bat])                       of an `order`
//! ```

mod written_number;

#[cfg(test)]
pub(super) mod sample_runs;

use std::fmt;

use crate::error::{Error, Result};
use crate::language::{self, CELL_FUNCTIONS, ExpressionKind as Kind, Gives};
use crate::story::condition::{self, Numbers};
use crate::text::clip;

pub use crate::answer::{Cell, Cells, Order, Value};
pub use crate::language::is_run_name;
pub(super) use written_number::at_decimals;
pub use written_number::{WrittenNumber, numbers_in};

/// No key is longer than this, in bytes.
const LONGEST: usize = 1000;

/// An expression over the runs of a lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    tree: language::Expression,
    /// The version of the lesson.
    version: u8,
    /// The names of the runs that it reads, each once, in the order of the text.
    runs: Vec<String>,
}

impl Expression {
    /// Reads an expression of a lesson of this version.
    ///
    /// # Errors
    /// At the column of what cannot be read or is not part of the version.
    pub fn parse(text: &str, version: u8) -> Result<Expression> {
        check_size(text)?;
        language::key_expression(text, version).map(|tree| Expression::of(tree, version))
    }

    fn of(tree: language::Expression, version: u8) -> Expression {
        let mut runs: Vec<String> = Vec::new();
        tree.clone().each(&mut |kind| match kind {
            Kind::Reference { run, .. } if !runs.contains(run) => runs.push(run.clone()),
            _ => {}
        });
        Expression { tree, version, runs }
    }

    /// The value of the expression: see [`condition::evaluate`].
    ///
    /// # Errors
    /// If it has none.
    pub fn evaluate(&self, values: &dyn Values) -> Result<Value> {
        condition::evaluate(&self.tree, values, self.version)
    }

    /// The value of the expression, which must be a number.
    ///
    /// # Errors
    /// Those of [`Expression::evaluate`]; and if the value is not a number.
    pub fn number(&self, values: &dyn Values) -> Result<f64> {
        condition::number(&self.tree, values, self.version)
    }

    /// The names of the runs that it reads, each once, in the order of the text.
    pub fn runs(&self) -> Vec<&str> {
        self.runs.iter().map(String::as_str).collect()
    }

    /// The same expression over other runs: `other` maps the names.
    #[must_use]
    pub fn of_runs(&self, other: &dyn Fn(&str) -> String) -> Expression {
        let mut tree = self.tree.clone();
        tree.each(&mut |kind| {
            if let Kind::Reference { run, .. } = kind {
                *run = other(run);
            }
        });
        Expression::of(tree, self.version)
    }

    /// What it gives.
    pub fn gives(&self) -> Gives {
        self.tree.gives()
    }

    /// The run and the address, if it is cells of a run and nothing else.
    pub fn reference(&self) -> Option<(&str, &str)> {
        match &*self.tree.kind {
            Kind::Reference { run, address } => Some((run, address)),
            _ => None,
        }
    }

    /// Whether it is a number that is written out.
    pub fn is_literal(&self) -> bool {
        self.tree.is_literal()
    }

    /// The two sides, if it is a comparison.
    pub fn sides(&self) -> Option<[Expression; 2]> {
        match &*self.tree.kind {
            Kind::Binary(sign, a, b) if sign.is_comparison() => Some([a, b]),
            Kind::Close(a, b, _) => Some([a, b]),
            _ => None,
        }
        .map(|sides| sides.map(|side| Expression::of(side.clone(), self.version)))
    }

    /// The same function of cells that are rounded first.
    #[must_use]
    pub fn of_rounded(&self, decimals: usize) -> Expression {
        let mut tree = self.tree.clone();
        if let Kind::Call { arguments, .. } = &mut *tree.kind
            && let Some(first) = arguments.first_mut()
        {
            let decimals = first.with(Kind::Number(decimals as f64));
            let (function, settings) = ("round".to_string(), Vec::new());
            *first = first.with(Kind::Call { function, arguments: vec![first.clone(), decimals], settings });
        }
        Expression::of(tree, self.version)
    }
}

impl fmt::Display for Expression {
    /// As it is written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tree.fmt(f)
    }
}

fn check_size(text: &str) -> Result<()> {
    if text.len() <= LONGEST {
        return Ok(());
    }
    let error = Error::new(format!("`{}` is longer than {LONGEST} bytes", clip(text)));
    Err(error.help("write a shorter one, or name another command"))
}

/// The functions that came with a version of lessons.
pub fn functions(version: u8) -> impl Iterator<Item = language::CellFunction> {
    CELL_FUNCTIONS.into_iter().filter(move |function| function.version == version)
}

// The key of a question: what its right answer is computed by.

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
    /// Reads a key of any kind of question in a lesson of this version.
    ///
    /// # Errors
    /// Those of [`Expression::parse`].
    pub(super) fn parse(text: &str, version: u8) -> Result<Key> {
        check_size(text)?;
        let (letter, tree, tolerance, shown) = language::key(text, version)?;
        Ok(Key { letter, expression: Expression::of(tree, version), tolerance, shown })
    }

    /// The same key with another expression.
    pub fn computed_by(&self, other: impl Fn(&Expression) -> Expression) -> Key {
        Key { expression: other(&self.expression), ..self.clone() }
    }

    /// The names of the runs that it reads, each once.
    pub fn runs(&self) -> Vec<&str> {
        self.expression.runs()
    }
}

/// The source of the numbers of the runs.
pub trait Values: Numbers {
    /// The maximum error of a cell that is computed from operands rounded to this many decimals.
    ///
    /// # Errors
    /// Those of [`Numbers::matrix`]; and if the cell is not a sum or product of other cells.
    fn slack(&self, run: &str, address: &str, decimals: usize) -> Result<f64>;
}

#[cfg(test)]
mod tests;
