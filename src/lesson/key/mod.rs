//! The key language, in outline.
use crate::error::Result;
use crate::matrix::Matrix;
/// Why a text is none of the key language.
#[derive(Clone, Debug, PartialEq)]
pub struct ParseError {
    /// What.
    pub what: String,
    /// Column.
    pub column: usize,
    /// Remedy.
    pub help: Option<String>,
}
/// A value, or two compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression(pub String);
impl Expression {
    /// Reads. # Errors never
    pub fn parse(text: &str) -> std::result::Result<Expression, ParseError> {
        Ok(Expression(text.into()))
    }
}
/// Values of runs.
pub trait Values {
    /// A part. # Errors if missing
    fn matrix(&self, run: &str, address: &str) -> Result<Matrix>;
}
/// How a question is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Choice,
    Number,
    Cell,
    Order,
    Open,
}
impl Kind {
    /// All.
    pub const ALL: [Kind; 5] = [Kind::Choice, Kind::Number, Kind::Cell, Kind::Order, Kind::Open];
    /// The word.
    pub fn word(self) -> &'static str {
        ["choice", "number", "cell", "order", "open"][self as usize]
    }
}
/// A key.
#[derive(Clone, Debug, PartialEq)]
pub struct Key(pub String);
impl Key {
    /// Reads. # Errors never
    pub fn parse(_: Kind, text: &str) -> std::result::Result<Key, ParseError> {
        Ok(Key(text.into()))
    }
}
