//! From a line to its tokens.

use std::ops::Range;

use super::At;
use crate::error::{Error, Place, Result};
use crate::text::{clip, number};

/// A token, and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub at: At,
    /// Its bytes in the text.
    pub bytes: Range<usize>,
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
    /// `plain:A[bat,cave]`: the run, and the address in it.
    Reference(String, String),
    /// `==`, `..`, `ᵀ` …, in the spelling that is written.
    Sign(&'static str),
}

/// The signs, the longest first, each with the spelling that stands for all of its kind.
const SIGNS: [(&str, &str); 42] = [
    ("+/-", "±"),
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

/// The error of something that came with version 2 of lessons, in a lesson of version 1.
pub(super) fn newer(file: &str, at: At, what: &str) -> Error {
    let error = wrong(file, at, format!("`{}` is not part of attn-lesson: 1", clip(what)));
    error.help("write attn-lesson: 2 in the head of the lesson")
}

/// The tokens of a text that begins at a place; ends of lines in it count as blanks. In a key of a lesson, which has its version,
/// cells are those of runs.
pub(super) fn tokens(file: &str, text: &str, start: At, lesson: Option<u8>) -> Result<Vec<Token>> {
    let mut lexer = Lexer { file, rest: text, at: start, lesson };
    let mut all = Vec::new();
    loop {
        let blank = lexer.skip_blanks();
        let Some(first) = lexer.rest.chars().next() else { return Ok(all) };
        let (at, begin) = (lexer.at, text.len() - lexer.rest.len());
        let (kind, spelled) = match lexer.reference()? {
            Some(reference) => (reference, ""),
            None => lexer.token(first)?,
        };
        let bytes = begin..text.len() - lexer.rest.len();
        all.push(Token { at, bytes, kind, spelled, after_blank: blank });
    }
}

struct Lexer<'a> {
    file: &'a str,
    rest: &'a str,
    at: At,
    lesson: Option<u8>,
}

/// What ends the name of a node in a key. Version 1 has no other signs.
const ENDS: [&str; 2] = ["[](),:=!<>+±", "[](),:=!<>+±-−*/·∘@^|≈~≠≤≥√ᵀ→;"];

/// Signs that version 1 of lessons does not have.
const NEWER: [&str; 15] = ["≠", "≤", "≥", "≈", "~=", "·", "@", "∘", "*", "/", "√", "^", "|", "..", "…"];

/// Whether a run of a lesson may have this name: letters, digits, `-` and `_`.
pub fn is_run_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(in_run)
}

fn in_run(c: char) -> bool {
    c.is_alphabetic() && !c.is_numeric() || c.is_ascii_digit() || matches!(c, '-' | '_')
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

    /// `plain:A`, `plain:A[the#2,bat]`: a label has no quotes, and holds anything but `]`.
    fn reference(&mut self) -> Result<Option<TokenKind>> {
        let Some(version) = self.lesson else { return Ok(None) };
        let run = self.rest.find(|c| !in_run(c)).unwrap_or(self.rest.len());
        let is_minus = version > 1 && self.rest.starts_with('-');
        let Some(address) = self.rest[run..].strip_prefix(':').filter(|_| run > 0 && !is_minus) else {
            return Ok(None);
        };
        let mut in_braces = false;
        let name = address.find(|c: char| {
            in_braces = c == '{' || in_braces && c != '}';
            !in_braces && (c.is_whitespace() || ENDS[usize::from(version > 1)].contains(c))
        });
        let mut end = name.unwrap_or(address.len());
        if end == 0 {
            return Ok(None);
        }
        if address[end..].starts_with('[') {
            let Some(close) = address.find(']') else {
                self.advance(run + 1 + end);
                return Err(wrong(self.file, self.at, "`[` is not closed")
                    .help("write a cell as A[3,2] or A[cave,bat]"));
            };
            end = close + 1;
        }
        let reference = TokenKind::Reference(self.rest[..run].to_string(), address[..end].to_string());
        self.advance(run + 1 + end);
        Ok(Some(reference))
    }

    fn token(&mut self, first: char) -> Result<(TokenKind, &'static str)> {
        let is_digit = |c: char| c.is_ascii_digit();
        if is_digit(first) || first == '.' && self.rest[1..].starts_with(is_digit) {
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
        if self.lesson == Some(1) && NEWER.contains(spelled) {
            return Err(newer(self.file, self.at, spelled));
        }
        self.advance(spelled.len());
        Ok((TokenKind::Sign(sign), spelled))
    }

    /// `0.5`, `.5`, `1.`, `1e-9`; the dots of `1..3` belong to no number.
    fn number(&mut self) -> Result<TokenKind> {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let exponent = |text: &str| {
            let sign = text.chars().nth(1).filter(|c| "-−+".contains(*c)).map_or(0, char::len_utf8);
            let begins = text.starts_with(['e', 'E']);
            if begins && digits(&text[1 + sign..]) > 0 { 1 + sign + digits(&text[1 + sign..]) } else { 0 }
        };
        let mut end = digits(self.rest);
        if let Some(after) = self.rest[end..].strip_prefix('.')
            && (exponent(after) > 0 || !after.starts_with(|c: char| c == '.' || c.is_alphabetic()))
        {
            end += 1 + digits(after);
        }
        end += exponent(&self.rest[end..]);
        let text = &self.rest[..end];
        let Some(number) = number(text) else {
            let error = format!("`{}` is beyond the range of a 64-bit float", clip(text));
            return Err(wrong(self.file, self.at, error).help("write a smaller one, or inf"));
        };
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

/// No name is longer, in bytes.
pub(super) const LONGEST_NAME: usize = 1000;
