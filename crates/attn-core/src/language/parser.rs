//! From a text to a program.

use std::sync::Arc;

use super::lexer::{LONGEST_NAME, Token, TokenKind, newer, tokens, wrong};
use super::{
    Arrow, At, Definition, Expression, ExpressionKind, Index, Line, LineKind, Lines, Name, Names, Over,
    Paragraph, Piece, Program, Repeat, Sign,
};
use crate::error::{Error, Result};
use crate::text::{clip, nearest};

/// No file is longer, in bytes.
pub const LONGEST: usize = 1 << 20;
/// Brackets are nested at most this deep.
const DEEPEST: usize = 40;

/// A line has at most this many operators: a chain of them is as deep as it is long.
const MOST_OPERATORS: usize = 1000;

/// Words that end an expression.
pub const KEYWORDS: [&str; 17] = [
    "if", "else", "and", "or", "not", "mod", "rows", "cols", "label", "of", "for", "in", "fitted",
    "repeated", "after", "origin", "stage",
];

/// Words that begin a line.
pub const LINE_WORDS: [&str; 14] = [
    "show",
    "fold",
    "brief",
    "columns",
    "symbols",
    "plane",
    "words",
    "if",
    "instead",
    "need",
    "gradients",
    "let",
    "for",
    "take",
];

/// The program of a demo's text; `file` is its name, for errors.
///
/// # Errors
/// At the line and column of what cannot be read: what was expected there.
pub fn program(file: &str, text: &str) -> Result<Program> {
    if text.len() > LONGEST {
        return Err(Error::new(format!("a demo has at most {} KiB", LONGEST >> 10)).in_source(file));
    }
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.first().map_or("", |line| line.trim());
    if first != "attn-demo: 1" {
        let error = wrong(
            file,
            At { line: 1, column: 1 },
            format!("a demo begins with `attn-demo: 1`, not with `{}`", clip(first)),
        );
        return Err(
            error.help("write attn-demo: 1 in the first line; attn demo new FILE.attn writes a first demo")
        );
    }
    let mut head = Vec::new();
    let mut at = 1;
    while at < lines.len() && !lines[at].trim().is_empty() {
        if lines[at].starts_with('#') {
            at += 1;
            continue;
        }
        let Some((key, value)) = lines[at].split_once(':') else {
            let error = wrong(file, At { line: at + 1, column: 1 }, "a line of the head has no colon");
            return Err(error.help("write title: and a title; an empty line ends the head"));
        };
        head.push((key.trim().to_string(), value.trim().to_string()));
        at += 1;
    }
    let mut paragraphs = Vec::new();
    let mut open: Option<Paragraph> = None;
    while at < lines.len() {
        let line = lines[at];
        if line.trim().is_empty() {
            paragraphs.extend(open.take());
            at += 1;
            continue;
        }
        if line.starts_with('#') {
            at += 1;
            continue;
        }
        let start = At { line: at + 1, column: 1 };
        if line.starts_with([' ', '\t']) {
            return Err(
                wrong(file, start, "this line continues no other one").help("begin a line without blanks")
            );
        }
        let mut whole = line.to_string();
        at += 1;
        while at < lines.len() && lines[at].starts_with([' ', '\t']) && !lines[at].trim().is_empty() {
            whole.push('\n');
            whole.push_str(lines[at]);
            at += 1;
        }
        let paragraph = open.get_or_insert_with(|| Paragraph { repeat: None, lines: Vec::new() });
        if let Some(rest) = after_word(&whole, "for") {
            if !paragraph.lines.is_empty() || paragraph.repeat.is_some() {
                return Err(wrong(file, start, "`for` stands in the middle of a paragraph")
                    .help("it repeats its paragraph: write it in the first line, below an empty one"));
            }
            let mut parser = Parser::of(file, rest, start, 3)?;
            paragraph.repeat = Some(parser.repeat()?);
            parser.end()?;
            continue;
        }
        paragraph.lines.push(Line { at: start, kind: line_kind(file, &whole, start)? });
    }
    paragraphs.extend(open);
    Ok(Program { head, paragraphs })
}

/// An expression by itself, such as `rows(X) > 1`.
///
/// # Errors
/// As [`program`].
pub fn expression(file: &str, text: &str, at: At) -> Result<Expression> {
    let mut parser = Parser::of(file, text, at, 0)?;
    let read = parser.expression()?;
    parser.end()?;
    Ok(read)
}

/// The parts of a key: the letter of the right option, the expression, the tolerance, and the decimals at which the numbers that
/// it is computed from are shown.
pub type KeyParts = (Option<char>, Expression, Option<f64>, Option<usize>);

/// The key of a question in a lesson of this version: `C iff EXPRESSION`, `EXPRESSION ± 0.05 from 2 decimals`.
///
/// # Errors
/// As [`key_expression`].
pub fn key(text: &str, version: u8) -> Result<KeyParts> {
    let mut parser = Parser::read("", text, FIRST, Some(version))?;
    let letter = parser.letter()?;
    let read = parser.expression()?.checked("", version)?;
    let tolerance = if parser.takes("±") { Some(parser.signed_number()?) } else { None };
    let mut shown = None;
    if tolerance.is_some() && parser.takes_word("from") {
        shown = Some(parser.decimals()?);
        if !parser.takes_word("decimal") {
            parser.word("decimals")?;
        }
    }
    parser.end()?;
    Ok((letter, read, tolerance, shown))
}

/// An expression of a lesson of this version, such as `count(plain:A[bat], == 0) == 2`.
///
/// # Errors
/// At the column of what cannot be read, or is not part of this version: what was expected there.
pub fn key_expression(text: &str, version: u8) -> Result<Expression> {
    let mut parser = Parser::read("", text, FIRST, Some(version))?;
    let read = parser.expression()?;
    parser.end()?;
    read.checked("", version)
}

/// Where a key begins.
const FIRST: At = At { line: 1, column: 1 };

/// `n in 1..4`, by itself.
pub(super) fn repeat(file: &str, text: &str, at: At) -> Result<Repeat> {
    let mut parser = Parser::of(file, text, at, 0)?;
    let read = parser.repeat()?;
    parser.end()?;
    Ok(read)
}

/// Arguments and settings by themselves, as they stand in the brackets of a call.
pub(super) fn arguments(file: &str, text: &str, at: At) -> Result<ExpressionKind> {
    let mut parser = Parser::of(file, &format!("{text})"), at, 0)?;
    let read = parser.call(String::new())?;
    parser.end()?;
    Ok(read)
}

/// The rest of a line that begins with a word.
fn after_word<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    line.strip_prefix(word).filter(|rest| rest.starts_with(|c: char| c.is_whitespace()))
}

/// A sentence in one line.
fn sentence(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn line_kind(file: &str, line: &str, at: At) -> Result<LineKind> {
    if let Some(text) = line.strip_prefix(':') {
        return Ok(LineKind::Say(sentence(text)));
    }
    if let Some(row) = line.strip_prefix('|') {
        let (row, repeat) = match row.rsplit_once('|') {
            Some((cells, rest)) if after_word(rest.trim_start(), "for").is_some() => {
                let repeat = &rest.trim_start()[3..];
                let skipped = line[..line.len() - repeat.len()].chars().count();
                let mut parser = Parser::of(file, repeat, at, skipped)?;
                let repeat = parser.repeat()?;
                parser.end()?;
                (cells, Some(repeat))
            }
            _ => (row.trim_end().trim_end_matches('|'), None),
        };
        let row = row.replace("\\|", "\0");
        let cells = row.split('|').map(|cell| sentence(cell).replace('\0', "|"));
        return Ok(LineKind::Row(cells.collect(), repeat));
    }
    let first = line.split(char::is_whitespace).next().unwrap_or_default();
    if !LINE_WORDS.contains(&first) || first.len() == line.len() {
        let read = Parser::of(file, line, at, 0)?.definition();
        return read.map(|definition| LineKind::Define(Box::new(definition))).map_err(|error| {
            let first = line.split_whitespace().next().unwrap_or_default();
            match nearest(first, LINE_WORDS) {
                Some(near) if !line.contains('=') => error.help(format!("did you mean `{near}`?")),
                _ => error,
            }
        });
    }
    let mut rest = &line[first.len()..];
    let mut text = "";
    if first == "instead" {
        rest = after_word(rest.trim_start(), "if").ok_or_else(|| {
            wrong(file, at, "`instead` needs a condition").help("write instead if own(X): and a sentence")
        })?;
    }
    let skipped = line.len() - rest.len();
    if matches!(first, "if" | "instead" | "need") {
        let colon = colon(rest).ok_or_else(|| {
            let error = wrong(file, at, "the condition has no colon behind it");
            error.help("write if A[1,1] == 1: and a sentence")
        })?;
        (rest, text) = (&rest[..colon], &rest[colon + 1..]);
    }
    let mut parser = Parser::of(file, rest, at, skipped)?;
    let read = parser.line_of(first, sentence(text))?;
    parser.end()?;
    Ok(read)
}

/// The place of the colon behind a condition: none in brackets or quotes.
fn colon(text: &str) -> Option<usize> {
    let (mut depth, mut quoted) = (0_usize, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 && !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

struct Parser<'a> {
    file: &'a str,
    text: Arc<str>,
    /// The version of the lesson whose key this is. There a word before a bracket is a function, also with a blank between them.
    lesson: Option<u8>,
    tokens: Vec<Token>,
    next: usize,
    end: At,
    depth: usize,
    operators: usize,
}

impl<'a> Parser<'a> {
    /// A parser of a part of a line: `skipped` bytes of ASCII stand before it.
    fn of(file: &'a str, text: &str, line: At, skipped: usize) -> Result<Parser<'a>> {
        Parser::read(file, text, At { line: line.line, column: line.column + skipped }, None)
    }

    fn read(file: &'a str, text: &str, start: At, lesson: Option<u8>) -> Result<Parser<'a>> {
        let tokens = tokens(file, text, start, lesson)?;
        let end = tokens.last().map_or(start, |last| last.at);
        Ok(Parser { file, text: Arc::from(text), lesson, tokens, next: 0, end, depth: 0, operators: 0 })
    }

    /// The place of the next token, and its first byte.
    fn begin(&self) -> (At, usize) {
        self.tokens.get(self.next).map_or((self.end, self.text.len()), |token| (token.at, token.bytes.start))
    }

    /// What begins at a place and ends before the next token.
    fn made(&self, (at, begin): (At, usize), kind: ExpressionKind) -> Expression {
        let end = self.tokens[..self.next].last().map_or(begin, |token| token.bytes.end.max(begin));
        Expression { at, kind: Box::new(kind), text: Arc::clone(&self.text), bytes: begin..end }
    }

    fn at(&self) -> At {
        self.tokens.get(self.next).map_or(self.end, |token| token.at)
    }

    fn error(&self, expected: &str) -> Error {
        let found = match self.tokens.get(self.next).map(|token| &token.kind) {
            None => "the line ends here".to_string(),
            Some(TokenKind::Word(word)) => format!("here stands `{}`", clip(word)),
            Some(TokenKind::Number(number)) => format!("here stands `{number}`"),
            Some(TokenKind::Text(text)) => format!("here stands `\"{}\"`", clip(text)),
            Some(TokenKind::Reference(run, address)) => {
                format!("here stands `{}`", clip(&format!("{run}:{address}")))
            }
            Some(TokenKind::Sign(_)) => format!("here stands `{}`", self.tokens[self.next].spelled),
        };
        wrong(self.file, self.at(), format!("{found}, where {expected} is expected"))
    }

    fn peek(&self) -> Option<&TokenKind> {
        self.tokens.get(self.next).map(|token| &token.kind)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(TokenKind::Sign(found)) if *found == sign)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is = self.is_sign(sign);
        self.next += usize::from(is);
        is
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(TokenKind::Word(found)) if found == word)
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        self.next += usize::from(is);
        is
    }

    fn expect(&mut self, sign: &'static str) -> Result<()> {
        if self.takes(sign) { Ok(()) } else { Err(self.error(&format!("`{sign}`"))) }
    }

    fn word(&mut self, word: &str) -> Result<()> {
        if self.takes_word(word) { Ok(()) } else { Err(self.error(&format!("`{word}`"))) }
    }

    fn end(&self) -> Result<()> {
        if self.next == self.tokens.len() { Ok(()) } else { Err(self.error("the end of the line")) }
    }

    /// Whether the next token is a sign without a blank before it.
    fn is_joined(&self, sign: &str) -> bool {
        self.is_sign(sign) && !self.tokens[self.next].after_blank
    }

    /// What a line says behind its first word; of one with a condition, also its text.
    fn line_of(&mut self, first: &str, text: String) -> Result<LineKind> {
        Ok(match first {
            "show" if self.takes_word("alone") => LineKind::Together(self.names()?.0),
            "show" => match self.names()? {
                (names, true) => LineKind::Together(names),
                (names, false) => LineKind::Show(names),
            },
            "fold" => LineKind::Fold(self.names()?.0),
            "brief" => LineKind::Brief(self.name()?),
            "symbols" => LineKind::Symbols(self.name()?),
            "columns" => LineKind::Columns(self.columns()?),
            "plane" => {
                let (points, arrows) = self.plane()?;
                LineKind::Plane(points, arrows)
            }
            "words" => {
                let name = self.name()?;
                self.expect(":")?;
                LineKind::Words(name, self.labels()?)
            }
            "take" => {
                let names = self.listed()?;
                self.word("from")?;
                LineKind::Take(names, self.plain_name()?)
            }
            "let" => {
                let name = self.plain_name()?;
                self.expect("=")?;
                LineKind::Let(name, self.expression()?)
            }
            "gradients" => {
                self.word("of")?;
                let of = self.name()?;
                let from = if self.takes_word("from") { Some(self.name()?) } else { None };
                self.word("to")?;
                LineKind::Gradients { of, from, to: self.listed()? }
            }
            "need" => {
                let condition = self.expression()?;
                let (error, help) = match text.split_once(" help: ") {
                    Some((error, help)) => (error.to_string(), Some(help.to_string())),
                    None => (text, None),
                };
                LineKind::Need { condition, error, help }
            }
            _ => LineKind::If { instead: first == "instead", condition: self.expression()?, text },
        })
    }

    // Keys.

    /// `C iff`
    fn letter(&mut self) -> Result<Option<char>> {
        let letter = match &self.tokens[..] {
            [Token { kind: TokenKind::Word(word), .. }, Token { kind: TokenKind::Word(_), .. }, ..] => {
                word.chars().next().filter(|letter| word.len() == 1 && letter.is_ascii_alphabetic())
            }
            _ => None,
        };
        if letter.is_some() {
            self.next += 1;
            self.word("iff")?;
        }
        Ok(letter.map(|letter| letter.to_ascii_uppercase()))
    }

    /// A number that is written out.
    fn signed_number(&mut self) -> Result<f64> {
        let read = self.unary()?;
        let error = || wrong(self.file, read.at, format!("`{}` is not a number", clip(&read.to_string())));
        read.literal().ok_or_else(error)
    }

    /// A number of decimals.
    fn decimals(&mut self) -> Result<usize> {
        let read = self.unary()?;
        read.decimals(self.file)
    }

    // Names.

    fn name(&mut self) -> Result<Name> {
        let at = self.at();
        let name = match self.peek() {
            Some(TokenKind::Word(word)) => name_of(self.file, &word.clone(), at)?,
            // In quotes it may have any letters.
            Some(TokenKind::Text(text)) => Name { at, pieces: vec![Piece::Text(text.clone())] },
            _ => return Err(self.error("a name")),
        };
        self.next += 1;
        Ok(name)
    }

    /// A name without braces.
    fn plain_name(&mut self) -> Result<String> {
        match self.peek() {
            Some(TokenKind::Word(word)) if !word.contains('{') => {
                let word = word.clone();
                self.next += 1;
                Ok(word)
            }
            _ => Err(self.error("a name")),
        }
    }

    /// `A, B` or `A | B`, and whether it is the second.
    fn names(&mut self) -> Result<(Names, bool)> {
        let begins = self.takes("|");
        let mut names = vec![self.name()?];
        let together = begins || self.is_sign("|");
        let between = if together { "|" } else { "," };
        if self.takes(between) {
            names.extend(self.separated(between, Self::name)?);
        }
        let repeat = if self.takes_word("for") { Some(self.repeat()?) } else { None };
        Ok((Names { names, repeat }, together))
    }

    /// One or more of a kind, with a sign between them.
    fn separated<T>(&mut self, sign: &str, one: fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut read = vec![one(self)?];
        while self.takes(sign) {
            read.push(one(self)?);
        }
        Ok(read)
    }

    /// `X, W_Q`
    fn listed(&mut self) -> Result<Vec<Name>> {
        self.separated(",", Self::name)
    }

    /// `S | P sum total`
    fn columns(&mut self) -> Result<Vec<(Name, Option<Name>)>> {
        self.separated("|", |parser| {
            let name = parser.name()?;
            Ok((name, if parser.takes_word("sum") { Some(parser.name()?) } else { None }))
        })
    }

    /// `X, Y, X → O`
    fn plane(&mut self) -> Result<(Vec<Name>, Vec<Arrow>)> {
        let (mut points, mut arrows) = (Vec::new(), Vec::new());
        loop {
            let name = self.name()?;
            match self.takes("→") {
                true => arrows.push((name, self.name()?)),
                false => points.push(name),
            }
            if !self.takes(",") {
                return Ok((points, arrows));
            }
        }
    }

    /// `h in 1..4`, `width in 4, 64`
    fn repeat(&mut self) -> Result<Repeat> {
        let variable = self.plain_name()?;
        self.word("in")?;
        let first = self.sum()?;
        if self.takes("..") {
            return Ok(Repeat { variable, over: Over::Range(first, self.sum()?) });
        }
        let mut each = vec![first];
        if self.takes(",") {
            each.extend(self.separated(",", Self::sum)?);
        }
        Ok(Repeat { variable, over: Over::Each(each) })
    }

    // Definitions.

    fn definition(&mut self) -> Result<Definition> {
        let name = self.name()?;
        self.expect("=")?;
        let is = self.defined()?;
        let mut read =
            Definition { name, is, rows: None, cols: None, label: None, of: None, origin: None, stage: None };
        loop {
            if self.takes_word("rows") {
                read.rows = Some(self.lines()?);
            } else if self.takes_word("cols") {
                read.cols = Some(self.lines()?);
            } else if self.takes_word("label") {
                read.label = Some(self.label()?);
            } else if self.takes_word("of") {
                read.of = Some(self.label()?);
            } else if self.takes_word("origin") {
                read.origin = Some(self.primary()?);
            } else if self.takes_word("stage") {
                read.stage = Some(self.primary()?);
            } else {
                self.end()?;
                return Ok(read);
            }
        }
    }

    fn label(&mut self) -> Result<String> {
        let label = match self.peek() {
            Some(TokenKind::Word(text) | TokenKind::Text(text)) => text.clone(),
            Some(TokenKind::Number(number)) => number.to_string(),
            _ => return Err(self.error("a word, or a text in quotes,")),
        };
        self.next += 1;
        Ok(label)
    }

    /// The names of rows or columns.
    fn lines(&mut self) -> Result<Lines> {
        let mut read = Lines { names: Vec::new(), repeat: None, like: None, own: Vec::new() };
        if self.takes("(") {
            self.expect(")")?;
            return Ok(read);
        }
        if !self.is_word("like") {
            read.names = self.labels()?;
        }
        if self.takes_word("for") {
            read.repeat = Some(self.repeat()?);
        }
        if self.takes_word("like") {
            let of_rows = self.is_word("rows");
            if !of_rows && !self.is_word("cols") {
                return Err(self.error("`rows(X)` or `cols(X)`"));
            }
            self.next += 1;
            self.expect("(")?;
            read.like = Some((of_rows, self.name()?));
            self.expect(")")?;
        }
        if self.takes_word("if") {
            self.word("own")?;
            self.expect("(")?;
            read.own = self.listed()?;
            self.expect(")")?;
        }
        Ok(read)
    }

    fn labels(&mut self) -> Result<Vec<String>> {
        self.separated(",", Self::label)
    }

    /// What a definition says, with the forms that stand nowhere else.
    fn defined(&mut self) -> Result<Expression> {
        let read = self.expression()?;
        let begin = read.begin();
        let kind = match *read.kind {
            ExpressionKind::Matrix(rows) if self.takes_word("fitted") => {
                self.word("to")?;
                ExpressionKind::Fitted(rows, self.name()?)
            }
            ExpressionKind::Matrix(rows) if self.takes_word("repeated") => {
                self.word("to")?;
                ExpressionKind::Repeated(rows, self.sum()?)
            }
            ExpressionKind::Call { function, arguments, settings }
                if settings.is_empty()
                    && arguments.len() == 2
                    && ["table", "draw"].contains(&function.as_str()) =>
            {
                let [rows, cols] = arguments.try_into().unwrap_or_else(|_| unreachable!("two were counted"));
                if function == "table" {
                    self.expect(":")?;
                    ExpressionKind::Table(rows, cols, self.expression()?)
                } else {
                    let after = if self.takes_word("after") { Some(self.sum()?) } else { None };
                    ExpressionKind::Draw(rows, cols, after)
                }
            }
            kind if self.takes_word("in") => {
                let number = self.made(begin, kind);
                let from = self.sum()?;
                self.expect("..")?;
                ExpressionKind::Whole(number, from, self.sum()?)
            }
            kind => kind,
        };
        Ok(self.made(begin, kind))
    }

    /// # Errors
    /// If something is nested deeper than this reader goes.
    fn not_deeper(&self, depth: usize, at: At, what: &str) -> Result<()> {
        if depth <= DEEPEST {
            return Ok(());
        }
        Err(wrong(self.file, at, format!("more than {DEEPEST} {what}")))
    }

    // Expressions, from the loosest to the strongest.

    fn expression(&mut self) -> Result<Expression> {
        self.depth += 1;
        self.not_deeper(self.depth, self.at(), "brackets are open")?;
        let read = self.choice();
        self.depth -= 1;
        read
    }

    fn choice(&mut self) -> Result<Expression> {
        let yes = self.any()?;
        if !self.takes_word("if") {
            return Ok(yes);
        }
        let condition = self.any()?;
        self.word("else")?;
        let no = self.expression()?;
        Ok(self.made(yes.begin(), ExpressionKind::Choice(yes, condition, no)))
    }

    fn any(&mut self) -> Result<Expression> {
        let mut read = self.all()?;
        while self.takes_word("or") {
            read = self.binary(Sign::Or, read, Self::all)?;
        }
        Ok(read)
    }

    fn all(&mut self) -> Result<Expression> {
        let mut read = self.negated()?;
        while self.takes_word("and") {
            read = self.binary(Sign::And, read, Self::negated)?;
        }
        Ok(read)
    }

    fn negated(&mut self) -> Result<Expression> {
        let begin = self.begin();
        let mut count = 0;
        while self.takes_word("not") {
            count += 1;
            self.not_deeper(count, begin.0, "signs follow each other")?;
        }
        let read = self.compared()?;
        Ok((0..count).fold(read, |read, _| self.made(begin, ExpressionKind::Unary(Sign::Not, read))))
    }

    /// A sign that compares, where one stands here.
    fn comparison(&mut self) -> Option<Sign> {
        self.sign_of(&[
            ("==", Sign::Equal),
            ("!=", Sign::Differs),
            ("<=", Sign::AtMost),
            (">=", Sign::AtLeast),
            ("<", Sign::Less),
            (">", Sign::More),
        ])
    }

    fn compared(&mut self) -> Result<Expression> {
        let a = self.sum()?;
        if self.takes("≈") {
            let b = self.sum()?;
            let within = if self.takes("±") { Some(self.sum()?) } else { None };
            return Ok(self.made(a.begin(), ExpressionKind::Close(a, b, within)));
        }
        match self.comparison() {
            None => Ok(a),
            Some(sign) => self.binary(sign, a, Self::sum),
        }
    }

    fn sum(&mut self) -> Result<Expression> {
        let mut read = self.product()?;
        while let Some(sign) = self.sign_of(&[("+", Sign::Plus), ("−", Sign::Minus)]) {
            read = self.binary(sign, read, Self::product)?;
        }
        Ok(read)
    }

    fn product(&mut self) -> Result<Expression> {
        let mut read = self.unary()?;
        loop {
            let signs = [("·", Sign::Product), ("∘", Sign::Multiply), ("/", Sign::Divide)];
            let sign = match self.sign_of(&signs) {
                Some(sign) => sign,
                None if self.takes_word("mod") => Sign::Modulo,
                None if self.begins_factor() => Sign::Product,
                None => return Ok(read),
            };
            read = self.binary(sign, read, Self::unary)?;
        }
    }

    /// The operator of the sign that stands here, if it is one of these.
    fn sign_of(&mut self, signs: &[(&str, Sign)]) -> Option<Sign> {
        signs.iter().find(|(sign, _)| self.takes(sign)).map(|(_, sign)| *sign)
    }

    /// `a` and what follows an operator.
    fn binary(
        &mut self,
        sign: Sign,
        a: Expression,
        follows: fn(&mut Self) -> Result<Expression>,
    ) -> Result<Expression> {
        self.operators += 1;
        if self.operators > MOST_OPERATORS {
            return Err(wrong(
                self.file,
                self.at(),
                format!("a line has at most {MOST_OPERATORS} operators"),
            ));
        }
        let b = follows(self)?;
        Ok(self.made(a.begin(), ExpressionKind::Binary(sign, a, b)))
    }

    /// Whether a factor stands here, side by side with the one before it.
    fn begins_factor(&self) -> bool {
        match self.peek() {
            Some(TokenKind::Word(word)) => {
                let is_call = matches!(self.tokens.get(self.next + 1), Some(token) if token.kind == TokenKind::Sign("(") && !token.after_blank);
                is_call || !KEYWORDS.contains(&word.as_str())
            }
            Some(TokenKind::Number(_) | TokenKind::Reference(..) | TokenKind::Sign("(" | "√")) => true,
            _ => false,
        }
    }

    fn unary(&mut self) -> Result<Expression> {
        let begin = self.begin();
        self.depth += 1;
        self.not_deeper(self.depth, self.at(), "signs follow each other")?;
        let read = if self.takes("−") {
            let read = self.unary()?;
            Ok(self.made(begin, ExpressionKind::Unary(Sign::Minus, read)))
        } else if self.lesson.is_some() && self.takes("+") {
            self.unary()
        } else if self.takes("√") {
            let arguments = vec![self.unary()?];
            let kind = ExpressionKind::Call { function: "sqrt".into(), arguments, settings: Vec::new() };
            Ok(self.made(begin, kind))
        } else {
            self.power()
        };
        self.depth -= 1;
        read
    }

    /// `0.5 ^ n`
    fn power(&mut self) -> Result<Expression> {
        let read = self.transposed()?;
        if self.takes("^") { self.binary(Sign::Power, read, Self::unary) } else { Ok(read) }
    }

    fn transposed(&mut self) -> Result<Expression> {
        let mut read = self.primary()?;
        let mut count = 0;
        while self.takes("ᵀ") {
            count += 1;
            self.not_deeper(count, self.at(), "signs follow each other")?;
            read = self.made(read.begin(), ExpressionKind::Transposed(read));
        }
        Ok(read)
    }

    fn primary(&mut self) -> Result<Expression> {
        let begin = self.begin();
        let kind = match self.peek().cloned() {
            Some(TokenKind::Number(number)) => self.skipping(ExpressionKind::Number(number)),
            Some(TokenKind::Sign("∞")) => self.skipping(ExpressionKind::Number(f64::INFINITY)),
            Some(TokenKind::Text(text)) => self.skipping(ExpressionKind::Text(text)),
            Some(TokenKind::Reference(run, address)) => {
                self.skipping(ExpressionKind::Reference { run, address })
            }
            Some(TokenKind::Sign("(")) if self.is_setting(1) => {
                self.next += 1;
                ExpressionKind::Object(self.settings()?)
            }
            Some(TokenKind::Sign("(")) if self.lesson == Some(1) => {
                return Err(newer(self.file, begin.0, "("));
            }
            Some(TokenKind::Sign("(")) => {
                self.next += 1;
                let read = self.expression()?;
                self.expect(")")?;
                let at = read.at;
                return Ok(Expression { at, ..self.made(begin, *read.kind) });
            }
            Some(TokenKind::Sign("[")) => {
                self.next += 1;
                ExpressionKind::Matrix(self.matrix()?)
            }
            Some(TokenKind::Word(word)) => {
                let name = self.name()?;
                let is_call = self.is_joined("(") || self.lesson.is_some() && self.is_sign("(");
                if let Some(number) = number_in_words(&word).filter(|_| !is_call) {
                    ExpressionKind::Number(number)
                } else if word == "max" && self.takes("|") {
                    let read = self.expression()?;
                    self.expect("|")?;
                    ExpressionKind::LargestSize(read)
                } else if is_call {
                    self.next += 1;
                    self.call(word)?
                } else if self.is_joined("[") {
                    self.next += 1;
                    ExpressionKind::Part(name, self.indices()?)
                } else {
                    ExpressionKind::Name(name)
                }
            }
            _ => return Err(self.error("a name, a number or a bracket")),
        };
        Ok(self.made(begin, kind))
    }

    /// What the next token is.
    fn skipping(&mut self, kind: ExpressionKind) -> ExpressionKind {
        self.next += 1;
        kind
    }

    /// The rows of a matrix, behind its bracket.
    fn matrix(&mut self) -> Result<Vec<Vec<f64>>> {
        let mut rows = vec![Vec::new()];
        loop {
            if self.takes("]") {
                break;
            }
            if self.takes(";") {
                rows.push(Vec::new());
                continue;
            }
            self.takes(",");
            let sign = if self.takes("−") { -1.0 } else { 1.0 };
            let number = match self.peek() {
                Some(TokenKind::Number(number)) => *number,
                Some(TokenKind::Sign("∞")) => f64::INFINITY,
                Some(TokenKind::Word(word)) if number_in_words(word).is_some() => {
                    number_in_words(word).unwrap_or_default()
                }
                _ => return Err(self.error("a number, `;` or `]`")),
            };
            self.next += 1;
            rows.last_mut().expect("there is a row").push(sign * number);
        }
        let widths: Vec<usize> = rows.iter().map(Vec::len).collect();
        match widths.iter().position(|width| *width != widths[0] || *width == 0) {
            None => Ok(rows),
            Some(0) => {
                Err(wrong(self.file, self.end_of_last(), "this matrix has no number in its first row"))
            }
            Some(row) => {
                let error =
                    format!("row {} has {} numbers, and row 1 has {}", row + 1, widths[row], widths[0]);
                Err(wrong(self.file, self.end_of_last(), error)
                    .help("separate rows with `;`, and give each as many numbers"))
            }
        }
    }

    fn end_of_last(&self) -> At {
        self.tokens.get(self.next.saturating_sub(1)).map_or(self.end, |token| token.at)
    }

    /// A call, behind its bracket.
    fn call(&mut self, function: String) -> Result<ExpressionKind> {
        let mut first = Vec::new();
        while !self.is_sign(")") && !self.is_setting(0) {
            let begin = self.begin();
            let argument = match self.comparison() {
                Some(sign) => {
                    let with = self.sum()?;
                    self.made(begin, ExpressionKind::Is(sign, with))
                }
                None => self.expression()?,
            };
            if self.takes_word("for") {
                let repeat = self.repeat()?;
                self.expect(")")?;
                return Ok(ExpressionKind::Each { function, first, argument, repeat });
            }
            first.push(argument);
            if !self.is_sign(")") && !self.takes(",") {
                return Err(self.error("`,` or `)`"));
            }
        }
        let settings = self.settings()?;
        Ok(ExpressionKind::Call { function, arguments: first, settings })
    }

    /// Whether `key =` stands this far from here.
    fn is_setting(&self, after: usize) -> bool {
        let at = self.next + after;
        let is_key = matches!(self.tokens.get(at), Some(token) if matches!(token.kind, TokenKind::Word(_) | TokenKind::Text(_)));
        is_key && matches!(self.tokens.get(at + 1), Some(token) if token.kind == TokenKind::Sign("="))
    }

    /// `key = value` and others, to the end of their bracket.
    fn settings(&mut self) -> Result<Vec<(String, Expression)>> {
        let mut settings = Vec::new();
        while !self.takes(")") {
            if !settings.is_empty() && !self.takes(",") {
                return Err(self.error("`,` or `)`"));
            }
            let name = self.label()?;
            self.expect("=")?;
            settings.push((name, self.expression()?));
        }
        Ok(settings)
    }

    /// Rows and columns, behind their bracket.
    fn indices(&mut self) -> Result<Vec<Index>> {
        let mut indices = Vec::new();
        loop {
            if self.takes(":") {
                indices.push(Index::All);
            } else {
                let first = self.expression()?;
                let index = if self.takes("..") {
                    Index::Range(first, self.expression()?)
                } else {
                    Index::One(first)
                };
                indices.push(index);
            }
            if self.takes("]") {
                return Ok(indices);
            }
            self.expect(",")?;
        }
    }
}

/// The numbers that are written as words.
fn number_in_words(word: &str) -> Option<f64> {
    Some(match word {
        "inf" => f64::INFINITY,
        "nan" => f64::NAN,
        _ => return None,
    })
}

/// The pieces of a word with numbers in braces.
fn name_of(file: &str, word: &str, at: At) -> Result<Name> {
    if word.len() > LONGEST_NAME {
        return Err(wrong(file, at, format!("a name has at most {LONGEST_NAME} letters")));
    }
    let mut pieces = Vec::new();
    let mut rest = word;
    while let Some((text, inside)) = rest.split_once('{') {
        if !text.is_empty() {
            pieces.push(Piece::Text(text.to_string()));
        }
        let (number, after) = inside.split_once('}').ok_or_else(|| wrong(file, at, "a `{` has no `}`"))?;
        let column = at.column + word.chars().count() - inside.chars().count();
        pieces.push(Piece::Number(expression(file, number, At { line: at.line, column })?));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_string()));
    }
    Ok(Name { at, pieces })
}
