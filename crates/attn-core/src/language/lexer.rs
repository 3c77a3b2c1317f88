//! From a line to its tokens.

use super::At;
use crate::error::{Error, Place, Result};

/// A token, and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub at: At,
    pub kind: TokenKind,
    /// A sign as it is written.
    pub spelled: &'static str,
    /// Whether a blank stands before it.
    pub after_blank: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A name; `{…}` in it is not read yet.
    Word(String),
    Number(f64),
    /// In quotes.
    Text(String),
    /// `==`, `..`, `ᵀ` …, in the spelling that is written.
    Sign(&'static str),
}

/// The signs, the longest first, each with the spelling that stands for all of its kind.
const SIGNS: [(&str, &str); 41] = [
    ("==", "=="),
    ("!=", "!="),
    ("<=", "<="),
    (">=", ">="),
    ("~=", "≈"),
    ("..", ".."),
    (".T", "ᵀ"),
    ("+-", "±"),
    ("->", "→"),
    ("→", "→"),
    ("=", "="),
    ("<", "<"),
    (">", ">"),
    ("≠", "!="),
    ("≤", "<="),
    ("≥", ">="),
    ("≈", "≈"),
    ("±", "±"),
    ("ᵀ", "ᵀ"),
    ("·", "·"),
    ("@", "·"),
    ("∘", "∘"),
    ("*", "∘"),
    ("/", "/"),
    ("+", "+"),
    ("−", "−"),
    ("-", "−"),
    ("√", "√"),
    ("^", "^"),
    ("(", "("),
    (")", ")"),
    ("[", "["),
    ("]", "]"),
    (",", ","),
    (";", ";"),
    (":", ":"),
    ("|", "|"),
    ("∞", "∞"),
    ("{", "{"),
    ("}", "}"),
    ("…", ".."),
];

/// The error at a place of a demo's text.
pub(super) fn wrong(file: &str, at: At, what: impl Into<String>) -> Error {
    Error::new(what).at(Place::Text(file.to_string(), at.line, at.column))
}

/// The tokens of a text that begins at a place; ends of lines in it count as blanks.
pub(super) fn tokens(file: &str, text: &str, start: At) -> Result<Vec<Token>> {
    let mut lexer = Lexer { file, rest: text, at: start };
    let mut all = Vec::new();
    loop {
        let blank = lexer.skip_blanks();
        let Some(first) = lexer.rest.chars().next() else { return Ok(all) };
        let at = lexer.at;
        let (kind, spelled) = lexer.token(first)?;
        all.push(Token { at, kind, spelled, after_blank: blank });
    }
}

struct Lexer<'a> {
    file: &'a str,
    rest: &'a str,
    at: At,
}

impl Lexer<'_> {
    fn advance(&mut self, bytes: usize) {
        for c in self.rest[..bytes].chars() {
            match c {
                '\n' => self.at = At { line: self.at.line + 1, column: 1 },
                _ => self.at.column += 1,
            }
        }
        self.rest = &self.rest[bytes..];
    }

    fn skip_blanks(&mut self) -> bool {
        let blanks = self.rest.len() - self.rest.trim_start().len();
        self.advance(blanks);
        blanks > 0
    }

    fn token(&mut self, first: char) -> Result<(TokenKind, &'static str)> {
        if first.is_ascii_digit() {
            return Ok((self.number()?, ""));
        }
        if first.is_alphabetic() && first != 'ᵀ' || first == '_' {
            return Ok((self.word()?, ""));
        }
        if first == '"' {
            // A doubled quote stands for one.
            let mut end = 1;
            loop {
                let Some(quote) = self.rest[end..].find('"') else {
                    return Err(
                        wrong(self.file, self.at, "a text in quotes has no end").help("write a second \"")
                    );
                };
                end += quote;
                if !self.rest[end + 1..].starts_with('"') {
                    break;
                }
                end += 2;
            }
            let text = self.rest[1..end].replace("\"\"", "\"");
            self.advance(end + 1);
            return Ok((TokenKind::Text(text), ""));
        }
        let Some((spelled, sign)) = SIGNS.iter().find(|(spelled, _)| self.rest.starts_with(spelled)) else {
            return Err(wrong(self.file, self.at, format!("`{first}` means nothing here")));
        };
        self.advance(spelled.len());
        Ok((TokenKind::Sign(sign), spelled))
    }

    /// `0.5`, `1e-9`; the dots of `1..3` belong to no number.
    fn number(&mut self) -> Result<TokenKind> {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let mut end = digits(self.rest);
        if self.rest[end..].starts_with('.') && self.rest[end + 1..].starts_with(|c: char| c.is_ascii_digit())
        {
            end += 1 + digits(&self.rest[end + 1..]);
        }
        if let Some(exponent) = self.rest[end..].strip_prefix(['e', 'E']) {
            let sign = usize::from(exponent.starts_with(['-', '+']));
            let count = digits(&exponent[sign..]);
            end += if count > 0 { 1 + sign + count } else { 0 };
        }
        let number = self.rest[..end].parse();
        let number =
            number.map_err(|_| wrong(self.file, self.at, format!("`{}` is no number", &self.rest[..end])))?;
        self.advance(end);
        Ok(TokenKind::Number(number))
    }

    /// A name: letters, digits, `_`, dots between them, and numbers in braces.
    fn word(&mut self) -> Result<TokenKind> {
        let mut end = 0;
        while let Some(c) = self.rest[end..].chars().next() {
            let next = &self.rest[end + c.len_utf8()..];
            match c {
                '{' => {
                    let Some(close) = next.find('}') else {
                        return Err(wrong(self.file, self.at, "a `{` in a name has no `}`"));
                    };
                    end += 1 + close + 1;
                }
                '.' if next.starts_with(|c: char| c.is_alphabetic()) && !is_transposed(next) => end += 1,
                c if c.is_alphanumeric() && c != 'ᵀ' || c == '_' || c == '#' => end += c.len_utf8(),
                _ => break,
            }
        }
        let word = self.rest[..end].to_string();
        self.advance(end);
        Ok(TokenKind::Word(word))
    }
}

/// Whether the text behind a dot is the `T` of `K.T`.
fn is_transposed(text: &str) -> bool {
    text.strip_prefix('T').is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}
