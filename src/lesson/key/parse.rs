//! From text to an expression, with a column for what cannot be read.

use crate::text::{clip, nearest};
use pest::Parser;
use pest::error::InputLocation;
use pest::iterators::{Pair, Pairs};
use pest_derive::Parser;

use crate::input::{MOST_DECIMALS, number};

use super::{Comparison, Expression, Function, Key};

/// No key is longer than this, in bytes.
const LONGEST: usize = 1000;
/// Brackets within brackets; `round(sum(plain:A[1]), 6)` has two.
const DEEPEST: usize = 8;

#[derive(Parser)]
#[grammar = "lesson/key/key.pest"]
pub(super) struct Grammar;

/// The error of an expression or a key that cannot be read, with its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct ParseError {
    /// The error, as a sentence without a full stop.
    pub what: String,
    /// The fix.
    pub help: Option<String>,
    /// The line within the text, from 1.
    pub line: usize,
    /// The column within that line, from 1, in characters.
    pub column: usize,
}

impl ParseError {
    /// An error at a byte of the text.
    pub(in crate::lesson) fn new(
        text: &str,
        offset: usize,
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> ParseError {
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        ParseError {
            what: what.into(),
            help: Some(help.into()),
            line: 1 + before.matches('\n').count(),
            column: 1 + before[line_start..].chars().count(),
        }
    }
}

/// Whether a run may be called so: letters, digits, `-` and `_`.
pub fn is_run_name(name: &str) -> bool {
    name.len() <= LONGEST && name.trim() == name && Grammar::parse(Rule::run_name, name).is_ok()
}

/// The forms of the language, for an error.
pub(super) fn closed_list() -> String {
    let names: Vec<&str> = Function::ALL.iter().map(|(name, _)| *name).collect();
    format!(
        "there are numbers, RUN:A[bat,cave], {} and one comparison (== != < <= > >=); nothing more",
        names.join(" ")
    )
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// If the text is not one: the error has the column, and the forms of the language.
    pub fn parse(text: &str) -> Result<Expression, ParseError> {
        let pairs = parse(Rule::expression, text, &closed_list())?;
        Builder { text }.comparison(first(pairs, Rule::comparison))
    }
}

/// Reads a key of any kind of question; `help` says how the one that is wanted is written.
///
/// # Errors
/// Those of [`Expression::parse`].
pub(in crate::lesson) fn parse_key(text: &str, help: &str) -> Result<Key, ParseError> {
    let builder = Builder { text };
    let mut letter = None;
    let mut expression = None;
    let mut tolerance = None;
    let mut shown = None;
    for pair in parse(Rule::key, text, help)? {
        match pair.as_rule() {
            Rule::letter => letter = pair.as_str().chars().next().map(|letter| letter.to_ascii_uppercase()),
            Rule::comparison => expression = Some(builder.comparison(pair)?),
            Rule::number => tolerance = Some(builder.number(&pair)?),
            Rule::shown => shown = Some(builder.decimals(&first(pair.into_inner(), Rule::places))?),
            _ => {}
        }
    }
    let expression = expression.unwrap_or_else(|| unreachable!("the grammar wants a comparison"));
    Ok(Key { letter, expression, tolerance, shown })
}

/// The parts of a whole text, or the error at the place where it cannot be read.
fn parse<'t>(rule: Rule, text: &'t str, help: &str) -> Result<Pairs<'t, Rule>, ParseError> {
    check_size(text)?;
    let parsed = Grammar::parse(rule, text).map_err(|error| {
        let at = match error.location {
            InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
        };
        let (what, help) = match text[at..].trim() {
            "" if text.trim().is_empty() => ("there is no key".to_string(), help),
            "" => (format!("something is missing after `{}`", clip(text.trim())), help),
            rest if rest.starts_with('=') && !rest.starts_with("==") => {
                ("`=` is not a comparison".to_string(), "write == for equality")
            }
            rest => (format!("`{}` cannot be read here", clip(rest)), help),
        };
        ParseError::new(text, at, what, help)
    })?;
    Ok(parsed.into_iter().next().unwrap_or_else(|| unreachable!("a whole text is one pair")).into_inner())
}

/// Refuses texts that are too long or nested too deep, and unclosed brackets, before the grammar is applied.
fn check_size(text: &str) -> Result<(), ParseError> {
    if text.len() > LONGEST {
        let what = format!("`{}` is longer than {LONGEST} bytes", clip(text));
        return Err(ParseError::new(text, 0, what, closed_list()));
    }
    let mut open = Vec::new();
    let mut label = None;
    for (at, character) in text.char_indices() {
        match (label, character) {
            (Some(_), ']') => label = None,
            (Some(_), _) => {}
            (None, '[') => label = Some(at),
            (None, '(') if open.len() == DEEPEST => {
                let what = format!("brackets are nested more than {DEEPEST} deep");
                return Err(ParseError::new(text, at, what, closed_list()));
            }
            (None, '(') => open.push(at),
            (None, ')') if open.pop().is_none() => {
                return Err(ParseError::new(text, at, "`)` closes nothing", "remove it"));
            }
            _ => {}
        }
    }
    match (label, open.pop()) {
        (Some(at), _) => {
            Err(ParseError::new(text, at, "`[` is not closed", "write a cell as A[3,2] or A[cave,bat]"))
        }
        (None, Some(at)) => Err(ParseError::new(text, at, "`(` is not closed", "close it with `)`")),
        (None, None) => Ok(()),
    }
}

fn first<'t>(pairs: Pairs<'t, Rule>, rule: Rule) -> Pair<'t, Rule> {
    let mut pairs = pairs.filter(|pair| pair.as_rule() == rule);
    pairs.next().unwrap_or_else(|| unreachable!("the grammar wants {rule:?}"))
}

/// Turns the pairs of the grammar into an expression; keeps the text for the columns of its errors.
struct Builder<'t> {
    text: &'t str,
}

impl Builder<'_> {
    fn error<T>(
        &self,
        pair: &Pair<'_, Rule>,
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Result<T, ParseError> {
        Err(ParseError::new(self.text, pair.as_span().start(), what, help))
    }

    fn comparison(&self, pair: Pair<'_, Rule>) -> Result<Expression, ParseError> {
        let mut inside = pair.into_inner();
        let left = inside.next().unwrap_or_else(|| unreachable!("a comparison begins with an operand"));
        let left = self.operand(left)?;
        match (inside.next(), inside.next()) {
            (Some(operator), Some(right)) => Ok(Expression::Compare(
                Box::new(left),
                comparison_of(operator.as_str()),
                Box::new(self.operand(right)?),
            )),
            _ => Ok(left),
        }
    }

    fn operand(&self, pair: Pair<'_, Rule>) -> Result<Expression, ParseError> {
        let pair = pair.into_inner().next().unwrap_or_else(|| unreachable!("an operand is something"));
        match pair.as_rule() {
            Rule::number => Ok(Expression::Number(self.number(&pair)?)),
            Rule::reference => {
                let (run, address) = pair.as_str().split_once(':').unwrap_or_default();
                Ok(Expression::Reference { run: run.to_string(), address: address.to_string() })
            }
            Rule::call => self.call(pair),
            _ => self.bare(&pair),
        }
    }

    /// A word that is no value: most often a cell without its run, or a function without its brackets.
    fn bare(&self, pair: &Pair<'_, Rule>) -> Result<Expression, ParseError> {
        let word = pair.as_str();
        let what = format!("`{}` is neither a number nor a cell of a run", clip(word));
        match Function::ALL.iter().find(|(name, _)| *name == word) {
            Some((_, usage)) => self.error(pair, what, format!("write {usage}")),
            None if word.contains('[') => {
                self.error(pair, what, format!("write its run before it: RUN:{}", clip(word)))
            }
            None => self.error(pair, what, closed_list()),
        }
    }

    fn call(&self, pair: Pair<'_, Rule>) -> Result<Expression, ParseError> {
        let mut inside = pair.clone().into_inner();
        let name = inside.next().map_or("", |name| name.as_str());
        let Some((name, usage)) = Function::ALL.iter().find(|(known, _)| *known == name) else {
            let near = nearest(name, Function::ALL.iter().map(|(known, _)| *known));
            let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            let what = format!("there is no function `{}`", clip(name));
            return self.error(&pair, what, near + &closed_list());
        };
        let arguments: Vec<Pair<'_, Rule>> =
            inside.map(|argument| argument.into_inner().next().unwrap_or_else(|| unreachable!())).collect();
        let wrong = || {
            let what = format!("`{}` is not a valid call of {name}", clip(pair.as_str()));
            self.error(&pair, what, format!("write {usage}"))
        };
        let (of, function) = match (*name, &arguments[..]) {
            ("argmax", [of]) => (of, Function::Argmax),
            ("argmin", [of]) => (of, Function::Argmin),
            ("rank", [of]) => (of, Function::Rank),
            ("sum", [of]) => (of, Function::Sum),
            ("min", [of]) => (of, Function::Min),
            ("max", [of]) => (of, Function::Max),
            ("len", [of]) => (of, Function::Len),
            ("count", [of, condition]) if condition.as_rule() == Rule::condition => {
                let mut condition = condition.clone().into_inner();
                let (Some(operator), Some(number)) = (condition.next(), condition.next()) else {
                    return wrong();
                };
                (of, Function::Count(comparison_of(operator.as_str()), self.number(&number)?))
            }
            ("round", [of, decimals]) => (of, Function::Round(self.decimals(decimals)?)),
            _ => return wrong(),
        };
        match of.as_rule() {
            Rule::operand => Ok(Expression::Call(function, Box::new(self.operand(of.clone())?))),
            _ => wrong(),
        }
    }

    fn decimals(&self, pair: &Pair<'_, Rule>) -> Result<usize, ParseError> {
        match pair.as_str().trim().parse() {
            Ok(decimals) if decimals <= MOST_DECIMALS => Ok(decimals),
            _ => {
                let what = format!("`{}` is not a number of decimals", clip(pair.as_str().trim()));
                self.error(pair, what, format!("write a whole number from 0 to {MOST_DECIMALS}"))
            }
        }
    }

    fn number(&self, pair: &Pair<'_, Rule>) -> Result<f64, ParseError> {
        number(pair.as_str()).map(|number| number.value).or_else(|error| {
            self.error(pair, error.to_string().lines().next().unwrap_or_default(), "write a smaller one")
        })
    }
}

fn comparison_of(symbol: &str) -> Comparison {
    match symbol {
        "==" => Comparison::Equal,
        "!=" => Comparison::Unequal,
        "<" => Comparison::Less,
        "<=" => Comparison::AtMost,
        ">" => Comparison::Greater,
        _ => Comparison::AtLeast,
    }
}

#[cfg(test)]
mod tests;
