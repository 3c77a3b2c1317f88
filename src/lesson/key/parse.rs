//! From text to an expression, with a column for what cannot be read.

use crate::read::{MOST_DECIMALS, number};
use crate::text::{clip, nearest};

use super::{Comparison, Expression, Function, Key};

/// No key is longer than this, in bytes.
const LONGEST: usize = 1000;
/// Brackets within brackets; `round(sum(plain:A[1]), 6)` has two.
const DEEPEST: usize = 8;
/// How a sign is written.
const SIGNS: [&str; 3] = ["-", "−", "+"];
/// How infinity is written.
const INFINITY: [&str; 2] = ["inf", "∞"];

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
    !name.is_empty() && name.len() <= LONGEST && name.chars().all(in_run)
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
        whole(text, &closed_list(), |parser| parser.part(Parser::comparison))
    }
}

/// Reads a key of any kind of question; `help` says how the one that is wanted is written.
///
/// # Errors
/// Those of [`Expression::parse`].
pub(in crate::lesson) fn parse_key(text: &str, help: &str) -> Result<Key, ParseError> {
    whole(text, help, Parser::key)
}

/// What `part` reads of a whole text, or the error at the place where it cannot be read.
fn whole<'t, T>(
    text: &'t str,
    help: &str,
    part: impl FnOnce(&mut Parser<'t>) -> Option<Meant<T>>,
) -> Result<T, ParseError> {
    check_size(text)?;
    let mut parser = Parser::new(text);
    let read = part(&mut parser);
    if let (Some(meant), Some(())) = (read, parser.part(Parser::end)) {
        return meant;
    }
    let (what, help) = match text[parser.furthest..].trim() {
        "" if text.trim().is_empty() => ("there is no key".to_string(), help),
        "" => (format!("something is missing after `{}`", clip(text.trim())), help),
        rest if rest.starts_with('=') && !rest.starts_with("==") => {
            ("`=` is not a comparison".to_string(), "write == for equality")
        }
        rest => (format!("`{}` cannot be read here", clip(rest)), help),
    };
    Err(ParseError::new(text, parser.furthest, what, help))
}

/// Refuses texts that are too long or nested too deep, and unclosed brackets, before anything else is read.
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

/// What a part of a text that has the right form means, or why it means nothing: a name that is no function, say. Such an
/// error counts only where the whole text has the right form.
type Meant<T> = Result<T, ParseError>;

/// The argument of a function: an operand, or a comparison with a number as `count` has it.
enum Argument {
    Operand(Meant<Expression>),
    Condition(Comparison, Meant<f64>),
}

/// Reads a text from left to right. A method for a part of the language returns `None`, and stays where it is, if the text goes
/// on with something else.
pub(super) struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// The last place at which a part of the language was looked for, and was not there.
    furthest: usize,
}

impl<'t> Parser<'t> {
    pub fn new(text: &'t str) -> Parser<'t> {
        Parser { text, at: 0, furthest: 0 }
    }

    /// `C iff count(causal:A[bat], == 0) == 2`, `plain:A[bat,cave] ± 0.005`, `plain:O[bat,1] ± 0.05 from 2 decimals`
    fn key(&mut self) -> Option<Meant<Key>> {
        let letter = self.part(|parser| {
            let letter = parser.part(Self::letter)?;
            parser.part(|parser| parser.eat("iff").and_then(|()| parser.end_of_word()))?;
            Some(letter)
        });
        let expression = self.part(Self::comparison)?;
        let tolerance = self.part(|parser| {
            parser.part(|parser| parser.eat_any(&["±", "+-", "+/-"]))?;
            Some((parser.part(Self::number)?, parser.part(Self::decimals_shown)))
        });
        Some(expression.and_then(|expression| {
            let (tolerance, shown) = tolerance.unzip();
            let (tolerance, shown) = (tolerance.transpose()?, shown.flatten().transpose()?);
            Ok(Key { letter, expression, tolerance, shown })
        }))
    }

    /// The letter of an option, alone.
    fn letter(&mut self) -> Option<char> {
        let letter = self.eat_one(|c| c.is_ascii_alphabetic())?;
        self.end_of_word().map(|()| letter.to_ascii_uppercase())
    }

    /// `from 2 decimals`
    fn decimals_shown(&mut self) -> Option<Meant<usize>> {
        self.eat("from")?;
        let decimals = self.part(|parser| {
            let start = parser.at;
            let digits = parser.digits()?;
            parser.end_of_word().map(|()| parser.decimals(start, digits))
        })?;
        self.skip_blanks();
        self.eat_any(&["decimals", "decimal"]).map(|()| decimals)
    }

    /// One value, or two of them compared.
    fn comparison(&mut self) -> Option<Meant<Expression>> {
        let left = self.part(Self::operand)?;
        let compared = self.part(|parser| Some((parser.part(Self::operator)?, parser.part(Self::operand)?)));
        Some(left.and_then(|left| match compared {
            Some((operator, right)) => Ok(Expression::Compare(Box::new(left), operator, Box::new(right?))),
            None => Ok(left),
        }))
    }

    fn operator(&mut self) -> Option<Comparison> {
        use Comparison::{AtLeast, AtMost, Equal, Greater, Less, Unequal};
        let longest_first = [Equal, Unequal, AtMost, AtLeast, Less, Greater];
        longest_first.into_iter().find(|operator| self.eat(operator.symbol()).is_some())
    }

    fn operand(&mut self) -> Option<Meant<Expression>> {
        self.part(Self::reference)
            .or_else(|| self.part(Self::number).map(|number| number.map(Expression::Number)))
            .or_else(|| self.part(Self::call))
            .or_else(|| self.part(Self::bare))
    }

    /// `plain:A`, `plain:A[bat]`, `plain:A[the#2,bat]`, without blanks.
    fn reference(&mut self) -> Option<Meant<Expression>> {
        let run = self.eat_while(in_run)?.to_string();
        self.eat(":")?;
        let address = self.here(Self::address)?.to_string();
        Some(Ok(Expression::Reference { run, address }))
    }

    /// A node, or a row or cell of it: a label may hold anything that does not close the bracket.
    fn address(&mut self) -> Option<&'t str> {
        let start = self.at;
        self.eat_while(in_name)?;
        if let (true, Some(length)) = (self.rest().starts_with('['), self.rest().find(']')) {
            self.at += length + 1;
        }
        Some(&self.text[start..self.at])
    }

    /// A word that is no value: most often a cell without its run, or a function without its brackets.
    fn bare(&mut self) -> Option<Meant<Expression>> {
        let start = self.at;
        let word = self.address()?;
        let help = match Function::ALL.iter().find(|(name, _)| *name == word) {
            Some((_, usage)) => format!("write {usage}"),
            None if word.contains('[') => format!("write its run before it: RUN:{}", clip(word)),
            None => closed_list(),
        };
        let what = format!("`{}` is neither a number nor a cell of a run", clip(word));
        Some(Err(ParseError::new(self.text, start, what, help)))
    }

    fn call(&mut self) -> Option<Meant<Expression>> {
        let start = self.at;
        let name = self.part(|parser| parser.eat_while(in_name))?;
        self.skip_blanks();
        self.eat("(")?;
        let mut arguments = Vec::new();
        let mut next = self.part(Self::argument);
        while let Some(argument) = next {
            arguments.push(argument);
            next = self.attempt(|parser| {
                parser.skip_blanks();
                parser.eat(",")?;
                parser.part(Self::argument)
            });
        }
        self.skip_blanks();
        self.eat(")")?;
        Some(self.meaning_of_call(start, name, arguments))
    }

    /// The call that begins at a place and ends here.
    fn meaning_of_call(
        &self,
        start: usize,
        name: &str,
        arguments: Vec<(usize, &str, Argument)>,
    ) -> Meant<Expression> {
        let Some((name, usage)) = Function::ALL.iter().find(|(known, _)| *known == name) else {
            let near = nearest(name, Function::ALL.iter().map(|(known, _)| *known));
            let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            let what = format!("there is no function `{}`", clip(name));
            return Err(ParseError::new(self.text, start, what, near + &closed_list()));
        };
        let mut arguments = arguments.into_iter();
        let of = arguments.next().map(|(_, _, of)| of);
        let function = match (*name, arguments.next(), arguments.next()) {
            ("argmax", None, _) => Some(Function::Argmax),
            ("argmin", None, _) => Some(Function::Argmin),
            ("rank", None, _) => Some(Function::Rank),
            ("sum", None, _) => Some(Function::Sum),
            ("min", None, _) => Some(Function::Min),
            ("max", None, _) => Some(Function::Max),
            ("len", None, _) => Some(Function::Len),
            ("count", Some((_, _, Argument::Condition(comparison, number))), None) => {
                Some(Function::Count(comparison, number?))
            }
            ("round", Some((at, decimals, _)), None) => Some(Function::Round(self.decimals(at, decimals)?)),
            _ => None,
        };
        if let (Some(function), Some(Argument::Operand(of))) = (function, of) {
            return Ok(Expression::Call(function, Box::new(of?)));
        }
        let what = format!("`{}` is not a valid call of {name}", clip(&self.text[start..self.at]));
        Err(ParseError::new(self.text, start, what, format!("write {usage}")))
    }

    /// An argument, with its place and its text.
    fn argument(&mut self) -> Option<(usize, &'t str, Argument)> {
        let start = self.at;
        let condition = self.part(|parser| Some((parser.part(Self::operator)?, parser.part(Self::number)?)));
        let argument = match condition {
            Some((operator, number)) => Argument::Condition(operator, number),
            None => Argument::Operand(self.operand()?),
        };
        Some((start, &self.text[start..self.at], argument))
    }

    fn decimals(&self, start: usize, text: &str) -> Meant<usize> {
        text.parse().ok().filter(|&decimals| decimals <= MOST_DECIMALS).ok_or_else(|| {
            let what = format!("`{}` is not a number of decimals", clip(text));
            ParseError::new(self.text, start, what, format!("write a whole number from 0 to {MOST_DECIMALS}"))
        })
    }

    /// `2`, `-.5`, `1.`, `1e-3`, `−∞`
    fn number(&mut self) -> Option<Meant<f64>> {
        let start = self.at;
        self.eat_any(&SIGNS);
        if self.eat_any(&INFINITY).is_none() {
            let whole = self.digits();
            let decimals = self.eat(".").and_then(|()| self.digits());
            whole.or(decimals)?;
            self.exponent();
        }
        self.end_of_word()?;
        Some(number(&self.text[start..self.at]).map(|number| number.value).map_err(|error| {
            let what = error.to_string().lines().next().unwrap_or_default().to_string();
            ParseError::new(self.text, start, what, "write a smaller one")
        }))
    }

    /// A number as prose writes it: `0.30`, `−1.5`, `124,439,808`, `30%`, `1e-3`. Returns where it ends.
    pub fn written_number(&mut self) -> Option<usize> {
        self.eat_any(&SIGNS);
        let scientific = |parser: &mut Self| {
            parser.eat_one(|c| ('1'..='9').contains(&c))?;
            parser.fraction();
            parser.exponent()
        };
        if self.eat_any(&INFINITY).or_else(|| self.attempt(scientific)).is_none() {
            let whole = self.attempt(Self::thousands).or_else(|| self.digits().map(|_| ()));
            let fraction = self.fraction();
            whole.or(fraction)?;
        }
        self.eat("%");
        (!self.rest().starts_with(|c: char| is_letter(c) || c.is_ascii_digit())).then_some(self.at)
    }

    /// `124,439,808`
    fn thousands(&mut self) -> Option<()> {
        let is_digit = |c: char| c.is_ascii_digit();
        self.eat_one(is_digit)?;
        let _ = self.eat_one(is_digit).and_then(|_| self.eat_one(is_digit));
        let group = |parser: &mut Self| {
            parser.eat(",")?;
            parser.digits().filter(|digits| digits.len() == 3)
        };
        self.attempt(group)?;
        while self.attempt(group).is_some() {}
        Some(())
    }

    /// `.30`
    fn fraction(&mut self) -> Option<()> {
        self.attempt(|parser| parser.eat(".").and_then(|()| parser.digits())).map(|_| ())
    }

    /// `e-3`
    fn exponent(&mut self) -> Option<()> {
        self.attempt(|parser| {
            parser.eat_any(&["e", "E"])?;
            parser.eat_any(&SIGNS);
            parser.digits().map(|_| ())
        })
    }

    /// A part of the language, after blanks.
    fn part<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.attempt(|parser| {
            parser.skip_blanks();
            parser.here(read)
        })
    }

    /// A part of the language that begins here.
    fn here<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let start = self.at;
        let part = self.attempt(read);
        if part.is_none() {
            self.furthest = self.furthest.max(start);
        }
        part
    }

    /// What is read, or nothing, and the text is where it was.
    fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let start = self.at;
        let found = read(self);
        if found.is_none() {
            self.at = start;
        }
        found
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn end(&mut self) -> Option<()> {
        self.rest().is_empty().then_some(())
    }

    fn end_of_word(&self) -> Option<()> {
        (!self.rest().starts_with(in_name)).then_some(())
    }

    fn skip_blanks(&mut self) {
        self.eat_while(is_blank);
    }

    fn digits(&mut self) -> Option<&'t str> {
        self.eat_while(|c| c.is_ascii_digit())
    }

    fn eat(&mut self, text: &str) -> Option<()> {
        self.rest().starts_with(text).then(|| self.at += text.len())
    }

    fn eat_any(&mut self, texts: &[&str]) -> Option<()> {
        texts.iter().find_map(|text| self.eat(text))
    }

    fn eat_one(&mut self, belongs: impl Fn(char) -> bool) -> Option<char> {
        let one = self.rest().chars().next().filter(|&c| belongs(c))?;
        self.at += one.len_utf8();
        Some(one)
    }

    /// All characters up to the first that does not belong; at least one.
    fn eat_while(&mut self, belongs: impl Fn(char) -> bool) -> Option<&'t str> {
        let rest = self.rest();
        let length = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += length;
        (length > 0).then(|| &rest[..length])
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn in_name(c: char) -> bool {
    !is_blank(c) && !"[](),:=!<>+±".contains(c)
}

fn in_run(c: char) -> bool {
    is_letter(c) || c.is_ascii_digit() || matches!(c, '-' | '_')
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !c.is_numeric()
}

#[cfg(test)]
mod tests;
