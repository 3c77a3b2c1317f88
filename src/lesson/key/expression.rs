//! The expressions of the key language.

use std::fmt;

use crate::error::Result;
use crate::graph::number_text;
use crate::matrix::Matrix;

/// A value, or two of them compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number written out.
    Number(f64),
    /// Cells of a run: `plain:A`, `plain:A[bat]`, `plain:A[bat,cave]`.
    Reference {
        /// The name of the run.
        run: String,
        /// The node, row or cell, as everywhere in `attn`.
        address: String,
    },
    /// A function of a value.
    Call(Function, Box<Expression>),
    /// Two values compared.
    Compare(Box<Expression>, Comparison, Box<Expression>),
}

/// The functions, all of one value; `count` and `round` have their second argument with them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Function {
    /// The one cell that holds the largest number.
    Argmax,
    /// The one cell that holds the smallest number.
    Argmin,
    /// The columns of a row, from the largest number to the smallest.
    Rank,
    /// All cells added up, row by row.
    Sum,
    /// The smallest number.
    Min,
    /// The largest number.
    Max,
    /// The number of cells.
    Len,
    /// The number of cells for which the comparison with this number holds.
    Count(Comparison, f64),
    /// Every cell rounded to this many decimals, as the tables are.
    Round(usize),
}

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Function {
    /// The closed list, each name with a call that shows its arguments.
    pub const ALL: [(&'static str, &'static str); 9] = [
        ("argmax", "argmax(RUN:A)"),
        ("argmin", "argmin(RUN:A)"),
        ("rank", "rank(RUN:A[bat])"),
        ("sum", "sum(RUN:A[bat])"),
        ("min", "min(RUN:A)"),
        ("max", "max(RUN:A)"),
        ("len", "len(RUN:A[bat])"),
        ("count", "count(RUN:A[bat], == 0)"),
        ("round", "round(RUN:A[bat,cave], 2)"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Function::Argmax => "argmax",
            Function::Argmin => "argmin",
            Function::Rank => "rank",
            Function::Sum => "sum",
            Function::Min => "min",
            Function::Max => "max",
            Function::Len => "len",
            Function::Count(..) => "count",
            Function::Round(_) => "round",
        }
    }
}

impl Comparison {
    /// The text as written.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::Unequal => "!=",
            Comparison::Less => "<",
            Comparison::AtMost => "<=",
            Comparison::Greater => ">",
            Comparison::AtLeast => ">=",
        }
    }

    /// Whether it holds of two numbers, exactly.
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::Unequal => left != right,
            Comparison::Less => left < right,
            Comparison::AtMost => left <= right,
            Comparison::Greater => left > right,
            Comparison::AtLeast => left >= right,
        }
    }
}

impl Expression {
    /// The names of the runs that it reads, each once, in the order of the text.
    pub fn runs(&self) -> Vec<&str> {
        let mut runs = Vec::new();
        self.collect_runs(&mut runs);
        runs
    }

    /// The same expression over other runs: `other` maps the names.
    pub fn of_runs(&self, other: &dyn Fn(&str) -> String) -> Expression {
        let boxed = |inside: &Expression| Box::new(inside.of_runs(other));
        match self {
            Expression::Number(number) => Expression::Number(*number),
            Expression::Reference { run, address } => {
                Expression::Reference { run: other(run), address: address.clone() }
            }
            Expression::Call(function, of) => Expression::Call(*function, boxed(of)),
            Expression::Compare(left, comparison, right) => {
                Expression::Compare(boxed(left), *comparison, boxed(right))
            }
        }
    }

    fn collect_runs<'e>(&'e self, runs: &mut Vec<&'e str>) {
        match self {
            Expression::Number(_) => {}
            Expression::Reference { run, .. } if runs.contains(&run.as_str()) => {}
            Expression::Reference { run, .. } => runs.push(run),
            Expression::Call(_, of) => of.collect_runs(runs),
            Expression::Compare(left, _, right) => {
                left.collect_runs(runs);
                right.collect_runs(runs);
            }
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expression::Number(number) => f.write_str(&number_text(*number)),
            Expression::Reference { run, address } => write!(f, "{run}:{address}"),
            Expression::Call(Function::Count(comparison, number), of) => {
                write!(f, "count({of}, {} {})", comparison.symbol(), number_text(*number))
            }
            Expression::Call(Function::Round(decimals), of) => write!(f, "round({of}, {decimals})"),
            Expression::Call(function, of) => write!(f, "{}({of})", function.name()),
            Expression::Compare(left, comparison, right) => {
                write!(f, "{left} {} {right}", comparison.symbol())
            }
        }
    }
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
    /// The same key with another expression.
    pub fn computed_by(&self, other: impl Fn(&Expression) -> Expression) -> Key {
        Key { expression: other(&self.expression), ..self.clone() }
    }

    /// The names of the runs that it reads, each once.
    pub fn runs(&self) -> Vec<&str> {
        self.expression.runs()
    }
}

// The source of the numbers of expressions.

/// The source of the numbers of the runs.
pub trait Values {
    /// The cells that an address of a run names: a whole node, a row as 1×n, a cell as 1×1, each with its labels.
    ///
    /// # Errors
    /// If there is no such run, or the address names nothing in it.
    fn matrix(&self, run: &str, address: &str) -> Result<Matrix>;

    /// The maximum error of a cell that is computed from operands rounded to this many decimals.
    ///
    /// # Errors
    /// Those of [`Values::matrix`]; and if the cell is not a sum or product of other cells.
    fn slack(&self, run: &str, address: &str, decimals: usize) -> Result<f64>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_written_as_it_was_read() {
        for text in [
            "2",
            "−0.5",
            "plain:A",
            "plain:A[the#2,bat]",
            "count(causal:A[bat], == 0) == 2",
            "round(sum(plain:A[1]), 6) != 1",
            "count(causal:S_masked, == −∞) >= min(plain:A)",
            "argmax(plain:A)",
        ] {
            assert_eq!(Expression::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn every_function_of_the_list_is_read_under_its_name() {
        for (name, call) in Function::ALL {
            match Expression::parse(call).unwrap() {
                Expression::Call(function, _) => assert_eq!(function.name(), name),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn the_runs_are_named_once_each() {
        let expression = Expression::parse("round(b:A[1,2], 2) == a:A[1,2]").unwrap();
        assert_eq!(expression.runs(), ["b", "a"]);
        assert_eq!(Expression::parse("a:A[1,2] < a:A[2,1]").unwrap().runs(), ["a"]);
        assert!(Expression::parse("1 == 1").unwrap().runs().is_empty());
    }

    #[test]
    fn it_reads_other_runs_by_their_names_alone() {
        let expression = Expression::parse("round(b:A[1,2], 2) == sum(a:A[b])").unwrap();
        assert_eq!(
            expression.of_runs(&|run| format!("{run}2")).to_string(),
            "round(b2:A[1,2], 2) == sum(a2:A[b])"
        );
    }

    #[test]
    fn each_comparison_tells_less_equal_and_greater_apart() {
        let all = |comparison: Comparison| [1.0, 2.0, 3.0].map(|left| comparison.holds(left, 2.0));
        for (symbol, expected) in [
            ("==", [false, true, false]),
            ("!=", [true, false, true]),
            ("<", [true, false, false]),
            ("<=", [true, true, false]),
            (">", [false, false, true]),
            (">=", [false, true, true]),
        ] {
            let Expression::Compare(_, comparison, _) =
                Expression::parse(&format!("1 {symbol} a:A")).unwrap()
            else {
                panic!("{symbol}")
            };
            assert_eq!(all(comparison), expected, "{symbol}");
        }
    }
}
