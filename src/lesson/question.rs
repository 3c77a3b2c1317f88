//! A question: from its `ask` to the end of its folded answer.

use std::time::Duration;

use crate::error::nearest;

use super::directive::Written;
use super::faults::{Fault, Faults};
use super::key::{Expression, Key, Kind};
use super::model::{Block, Choice, Claim, Question};
use super::pieces::Piece;
use super::prose::{only_number, prose};
use super::source::Source;

/// A question while it is read.
pub(super) struct Draft {
    question: Question,
    key: Option<(String, usize)>,
    /// Whether its kind could be read: without it nothing can be said of its key.
    has_kind: bool,
    /// Whether its `<details>` have begun.
    pub folded: bool,
}

impl Draft {
    /// Begins with `ask: id=zeros kind=choice think=30s`.
    pub(super) fn begin(text: &str, line: usize, faults: &mut Faults) -> Draft {
        let mut question = Question {
            id: String::new(),
            kind: Kind::Open,
            think: None,
            line,
            asked: Vec::new(),
            choices: Vec::new(),
            key: None,
            key_line: line,
            hints: Vec::new(),
            reveal: Vec::new(),
        };
        let mut kind = None;
        let said = faults.0.len();
        for (name, value) in settings(text, line, &["id", "kind", "think"], faults) {
            match name {
                "id" => question.id = value.to_string(),
                "kind" => {
                    kind = Kind::ALL.into_iter().find(|kind| kind.word() == value);
                    if kind.is_none() {
                        let words = Kind::ALL.map(Kind::word);
                        let near = nearest(value, words).map(|near| format!("did you mean `{near}`?"));
                        faults.push(
                            Fault::new(line, format!("`{value}` is not a kind of question"))
                                .help(near.unwrap_or_else(|| format!("the kinds are {}", words.join(", ")))),
                        );
                    }
                }
                _ => match value.strip_suffix('s').unwrap_or(value).parse::<u16>() {
                    Ok(seconds) => question.think = Some(Duration::from_secs(seconds.into())),
                    Err(_) => faults.push(
                        Fault::new(line, format!("`think={value}` is not a time"))
                            .help("write seconds: think=30s"),
                    ),
                },
            }
        }
        if question.id.is_empty() {
            faults.push(
                Fault::new(line, "this question has no id").help("write <!-- ask: id=zeros kind=choice -->"),
            );
            question.id = format!("line-{line}");
        }
        if kind.is_none() && faults.0.len() == said {
            faults.push(
                Fault::new(line, format!("the question `{}` has no kind", question.id))
                    .help("write <!-- ask: id=zeros kind=choice -->: choice, number, cell, order or open"),
            );
        }
        question.kind = kind.unwrap_or(Kind::Open);
        Draft { question, key: None, has_kind: kind.is_some(), folded: false }
    }

    /// Takes a block, into the question or its answer.
    pub(super) fn add(&mut self, block: Block) {
        if self.folded { &mut self.question.reveal } else { &mut self.question.asked }.push(block);
    }

    /// Takes a list, as options where each entry begins with a letter: `- A. none`. Gives it back where it is none.
    pub(super) fn take_options(&mut self, piece: &Piece, source: &Source, faults: &mut Faults) -> bool {
        let options = options(&source.text, piece.at.clone());
        if self.folded || !self.question.choices.is_empty() || options.is_empty() {
            return false;
        }
        let lines = source.text[piece.at.clone()].lines().enumerate();
        for (row, text) in lines.filter(|(_, text)| !text.trim().is_empty() && option_letter(text).is_none())
        {
            faults.push(
                Fault::new(
                    piece.line + row,
                    format!("`{}` stands among the options, but is not one", text.trim()),
                )
                .help("write an option as one line that begins with its letter: - A. none"),
            );
        }
        for (at, letter) in options {
            let line = source.line(at.start);
            let expected = char::from(b'A' + (self.question.choices.len() % 26) as u8);
            if letter != expected {
                faults.push(
                    Fault::new(line, format!("the next option must be {expected}, not {letter}"))
                        .help("letter them A, B, C …"),
                );
            }
            let text = Some(prose(source, at, faults));
            self.question.choices.push(Choice::new(letter, line, text));
        }
        true
    }

    /// Takes `key`, `opt`, `if` or `hint`.
    pub(super) fn take(&mut self, written: Written, line: usize, faults: &mut Faults) {
        match written.word {
            "key" if self.key.is_some() => {
                faults.push(
                    Fault::new(line, "this question has two keys")
                        .help("a question has one key; remove the other"),
                );
            }
            "key" => self.key = Some((written.text, line)),
            "hint" => self.question.hints.push(written.text),
            _ => {
                let Some(choice) = self.choice(&written.of, line, faults) else { return };
                let is_proven = choice.computed.is_some() || choice.condition.is_some();
                let twice = if written.word == "if" { choice.feedback.is_some() } else { is_proven };
                if twice {
                    faults.push(
                        Fault::new(line, format!("a second `{} {}`", written.word, written.of))
                            .help("remove one of them"),
                    );
                    return;
                }
                if written.word == "if" {
                    choice.feedback = Some(written.text);
                    return;
                }
                match Expression::parse(&written.text) {
                    Ok(condition) if written.iff => {
                        if let Some(fault) = no_condition(&condition, line) {
                            faults.push(fault);
                        }
                        choice.condition = Some(condition);
                    }
                    Ok(expression) => choice.computed = Some(expression),
                    Err(error) => faults.push(Fault::in_key(line, error)),
                }
                choice.line = if choice.text.is_some() { choice.line } else { line };
            }
        }
    }

    /// The option of a letter; where none are listed, a wrong answer that is foreseen.
    fn choice(&mut self, letter: &str, line: usize, faults: &mut Faults) -> Option<&mut Choice> {
        let mut letters = letter.chars();
        let (Some(letter), None) = (letters.next().map(|c| c.to_ascii_uppercase()), letters.next()) else {
            faults.push(
                Fault::new(line, format!("`{letter}` is not an option"))
                    .help("name it by its letter: opt B, if B"),
            );
            return None;
        };
        let choices = &mut self.question.choices;
        if let Some(at) = choices.iter().position(|choice| choice.letter == letter) {
            return choices.get_mut(at);
        }
        let listed = choices.iter().any(|choice| choice.text.is_some());
        if listed && matches!(self.question.kind, Kind::Choice) || !letter.is_ascii_uppercase() {
            faults
                .push(Fault::new(line, format!("there is no option {letter}")).help("list it above: - A. …"));
            return None;
        }
        choices.push(Choice::new(letter, line, None));
        choices.last_mut()
    }

    /// The question, complete.
    pub(super) fn finish(mut self, faults: &mut Faults) -> Question {
        if !self.has_kind {
            return self.question;
        }
        let (kind, line) = (self.question.kind, self.question.line);
        let name = format!("the question `{}`", self.question.id);
        match (&self.key, kind) {
            (Some((_, line)), Kind::Open) => faults.push(
                Fault::new(*line, format!("{name} is open, so it cannot have a key"))
                    .help("give it another kind, or remove the key"),
            ),
            (None, Kind::Open) if !self.has_note() => faults.push(
                Fault::new(line, format!("{name} is open, but has no note"))
                    .help("tell the teacher what to listen for: <!-- note: … -->"),
            ),
            (None, Kind::Open) => {}
            (None, _) => faults.push(
                Fault::new(line, format!("{name} has no key"))
                    .help("compute it: <!-- key: … -->; or make it kind=open"),
            ),
            (Some((text, line)), _) => {
                self.question.key_line = *line;
                match Key::parse(kind, text) {
                    Ok(key) => self.question.key = Some(key),
                    Err(error) => faults.push(Fault::in_key(*line, error)),
                }
            }
        }
        let offered = self.question.choices.iter().filter(|choice| choice.text.is_some()).count();
        if kind == Kind::Choice && offered < 2 {
            faults.push(
                Fault::new(line, format!("{name} has no options"))
                    .help("list the options, each on its own line: - A. none"),
            );
        }
        for choice in &mut self.question.choices {
            claim_its_number(choice, kind, faults);
        }
        self.question
    }

    fn has_note(&self) -> bool {
        let blocks = self.question.asked.iter().chain(&self.question.reveal);
        blocks.into_iter().any(|block| matches!(block, Block::Note(_)))
    }
}

/// What is wrong with the condition of an option that compares nothing, or nothing that is computed.
fn no_condition(condition: &Expression, line: usize) -> Option<Fault> {
    let what = match condition {
        Expression::Compare(..) if condition.runs().is_empty() => {
            format!("`{condition}` is typed, not computed: it reads no run")
        }
        Expression::Compare(..) => return None,
        _ => format!("`{condition}` is not a comparison"),
    };
    Some(
        Fault::new(line, what)
            .help("write what would make the option right: opt B iff count(RUN:A[bat], == 0) == 1"),
    )
}

/// The number in an option's text is what the option is computed by.
fn claim_its_number(choice: &mut Choice, kind: Kind, faults: &mut Faults) {
    let (Some(text), Some(expression), Kind::Choice) = (&mut choice.text, &choice.computed, kind) else {
        return;
    };
    if !text.claims.is_empty() {
        faults.push(
            Fault::new(
                choice.line,
                format!("option {} is computed twice, in its text and by its `opt`", choice.letter),
            )
            .help("remove one of them: the `opt` checks the number"),
        );
        return;
    }
    match only_number(&text.markdown) {
        Some(at) => text.claims.push(Claim { at, line: choice.line, expression: expression.clone() }),
        None => faults.push(
            Fault::new(
                choice.line,
                format!("option {} is computed, so it must contain exactly one number", choice.letter),
            )
            .help("write one number in it, or remove its `opt`"),
        ),
    }
}

/// The letter of `- A. none`, and where its text begins.
fn option_letter(line: &str) -> Option<(char, usize)> {
    let rest = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?;
    let letter = rest.chars().next().filter(char::is_ascii_uppercase)?;
    rest[1..].strip_prefix(". ").map(|_| (letter, "- A. ".len()))
}

/// Where the text of each option stands, and its letter.
fn options(text: &str, at: std::ops::Range<usize>) -> Vec<(std::ops::Range<usize>, char)> {
    let mut found = Vec::new();
    let mut position = at.start;
    for line in text[at].split_inclusive('\n') {
        if let Some((letter, skipped)) = option_letter(line) {
            found.push((position + skipped..position + line.trim_end().len(), letter));
        }
        position += line.len();
    }
    found
}

/// The `name=value` pairs of a directive.
pub(super) fn settings<'a>(
    text: &'a str,
    line: usize,
    names: &[&'static str],
    faults: &mut Faults,
) -> Vec<(&'static str, &'a str)> {
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        let pair = word.split_once('=');
        let known = pair.and_then(|(name, _)| names.iter().find(|known| **known == name));
        match (pair, known) {
            (Some(_), Some(name)) if found.iter().any(|(other, _)| other == name) => {
                faults.push(Fault::new(line, format!("a second `{name}=`")).help("remove one of them"))
            }
            (Some((_, value)), Some(name)) if !value.is_empty() => found.push((*name, value)),
            _ => {
                let near = nearest(pair.map_or(word, |(name, _)| name), names.iter().copied());
                faults.push(Fault::new(line, format!("`{word}` is not understood")).help(match near {
                    Some(near) => format!("did you mean `{near}=…`?"),
                    None => format!("you can set {}=…", names.join("=… ")),
                }));
            }
        }
    }
    found
}
