//! A question: from its `ask` to the end of its folded answer.

use std::ops::Range;
use std::time::Duration;

use crate::language::Gives;
use crate::lesson::blocks::Piece;
use crate::lesson::directive::{DirectiveText, settings};
use crate::lesson::key::Expression;
use crate::lesson::model::{Block, Choice, Claim, Question};
use crate::lesson::prose::{only_number, prose};
use crate::lesson::question::{KINDS, Kind, any_kind, kind_named};
use crate::lesson::source::{Fault, Faults, Source};
use crate::text::nearest;

/// A question while it is read.
pub(super) struct QuestionDraft {
    question: Question,
    key: Option<(String, usize)>,
    /// The version of the lesson.
    version: u8,
    /// Whether its kind could be read: without it its key cannot be read.
    has_kind: bool,
    /// Whether its `<details>` have begun.
    pub folded: bool,
}

impl QuestionDraft {
    /// Begins with `ask: id=zeros kind=choice think=30s`.
    pub(super) fn begin(text: &str, line: usize, version: u8, faults: &mut Faults) -> QuestionDraft {
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
                    kind = kind_named(value);
                    if kind.is_none() {
                        let words = KINDS.map(Kind::word);
                        let near = nearest(value, words).map(|near| format!("did you mean `{near}`?"));
                        faults.add(
                            line,
                            format!("`{value}` is not a kind of question"),
                            near.unwrap_or_else(|| format!("the kinds are {}", words.join(", "))),
                        );
                    }
                }
                _ => match value.strip_suffix('s').unwrap_or(value).parse::<u16>() {
                    Ok(seconds) => question.think = Some(Duration::from_secs(seconds.into())),
                    Err(_) => {
                        faults.add(line, format!("`think={value}` is not a time"), "write seconds: think=30s")
                    }
                },
            }
        }
        if question.id.is_empty() {
            faults.add(line, "this question has no id", "write <!-- ask: id=zeros kind=choice -->");
            question.id = format!("line-{line}");
        }
        if kind.is_none() && faults.0.len() == said {
            faults.add(
                line,
                format!("the question `{}` has no kind", question.id),
                format!("write <!-- ask: id=zeros kind=choice -->: {}", any_kind()),
            );
        }
        question.kind = kind.unwrap_or(Kind::Open);
        QuestionDraft { question, key: None, version, has_kind: kind.is_some(), folded: false }
    }

    /// Takes a block, into the question or its answer.
    pub(super) fn add(&mut self, block: Block) {
        if self.folded { &mut self.question.reveal } else { &mut self.question.asked }.push(block);
    }

    /// Reads a list as options if each entry begins with a letter: `- A. none`. Returns whether it did.
    pub(super) fn take_options(&mut self, piece: &Piece, source: &Source, faults: &mut Faults) -> bool {
        let options = options(&source.text, piece.at.clone());
        if self.folded || !self.question.choices.is_empty() || options.is_empty() {
            return false;
        }
        let lines = source.text[piece.at.clone()].lines().enumerate();
        for (row, text) in lines.filter(|(_, text)| !text.trim().is_empty() && option_letter(text).is_none())
        {
            faults.add(
                piece.line + row,
                format!("`{}` stands among the options, but is not one", text.trim()),
                "write an option as one line that begins with its letter: - A. none",
            );
        }
        for (at, letter) in options {
            let line = source.line(at.start);
            let expected = char::from(b'A' + (self.question.choices.len() % 26) as u8);
            if letter != expected {
                faults.add(
                    line,
                    format!("the next option must be {expected}, not {letter}"),
                    "letter them A, B, C …",
                );
            }
            let text = Some(prose(source, at, self.version, faults));
            self.question.choices.push(Choice::new(letter, line, text));
        }
        true
    }

    /// Takes `key`, `opt`, `if` or `hint`.
    pub(super) fn take(&mut self, written: DirectiveText, line: usize, faults: &mut Faults) {
        let version = self.version;
        match written.word {
            "key" if self.key.is_some() => {
                faults.add(line, "this question has two keys", "a question has one key; remove the other");
            }
            "key" => self.key = Some((written.text, line)),
            "hint" => self.question.hints.push(written.text),
            _ => {
                let Some(choice) = self.choice(&written.of, line, faults) else { return };
                let is_proven = choice.computed.is_some() || choice.condition.is_some();
                let twice = if written.word == "if" { choice.feedback.is_some() } else { is_proven };
                if twice {
                    faults.add(
                        line,
                        format!("a second `{} {}`", written.word, written.of),
                        "remove one of them",
                    );
                    return;
                }
                if written.word == "if" {
                    choice.feedback = Some(written.text);
                    return;
                }
                match Expression::parse(&written.text, version) {
                    Ok(condition) if written.iff => {
                        if let Some(fault) = no_condition(&condition, line) {
                            faults.push(fault);
                        }
                        choice.condition = Some(condition);
                    }
                    Ok(expression) => choice.computed = Some(expression),
                    Err(error) => {
                        let form = if written.iff {
                            "opt B iff count(RUN:A[bat], == 0) == 1"
                        } else {
                            "opt B: RUN:A[1,2]"
                        };
                        let fault = Fault::in_key(line, &written.text, error);
                        faults.push(fault.help(format!("write what computes it: {form}")));
                    }
                }
                choice.line = if choice.text.is_some() { choice.line } else { line };
            }
        }
    }

    /// The option of a letter; where none are listed, a wrong answer that is foreseen.
    fn choice(&mut self, letter: &str, line: usize, faults: &mut Faults) -> Option<&mut Choice> {
        let mut letters = letter.chars();
        let (Some(letter), None) = (letters.next().map(|c| c.to_ascii_uppercase()), letters.next()) else {
            faults.add(line, format!("`{letter}` is not an option"), "name it by its letter: opt B, if B");
            return None;
        };
        let choices = &mut self.question.choices;
        if let Some(at) = choices.iter().position(|choice| choice.letter == letter) {
            return choices.get_mut(at);
        }
        let listed = choices.iter().any(|choice| choice.text.is_some());
        if listed && self.question.kind.is_chosen_by_letter() || !letter.is_ascii_uppercase() {
            faults.add(line, format!("there is no option {letter}"), "list it above: - A. …");
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
        match &self.key {
            Some((_, line)) if !kind.is_graded() => faults.add(
                *line,
                format!("{name} is {}, so it cannot have a key", kind.word()),
                "give it another kind, or remove the key",
            ),
            Some((text, line)) => {
                self.question.key_line = *line;
                match kind.key(text, self.version) {
                    Ok(key) => self.question.key = Some(key),
                    Err(error) => faults.push(Fault::in_key(*line, text, error)),
                }
            }
            None if kind.is_graded() => faults.add(
                line,
                format!("{name} has no key"),
                "compute it: <!-- key: … -->; or make it kind=open",
            ),
            None if !self.has_note() => faults.add(
                line,
                format!("{name} is {}, but has no note", kind.word()),
                "tell the teacher what to listen for: <!-- note: … -->",
            ),
            None => {}
        }
        let offered = self.question.offered().count();
        if kind.is_chosen_by_letter() && offered < 2 {
            faults.add(
                line,
                format!("{name} has no options"),
                "list the options, each on its own line: - A. none",
            );
        }
        if kind.is_chosen_by_letter() {
            self.question.choices.iter_mut().for_each(|choice| claim_its_number(choice, faults));
        }
        self.question
    }

    fn has_note(&self) -> bool {
        let blocks = self.question.asked.iter().chain(&self.question.reveal);
        blocks.into_iter().any(|block| matches!(block, Block::Note(_)))
    }
}

// The options of a question: the list that offers them, and the directives that compute them.

/// The fault of a condition of an option that is no comparison, or compares only numbers.
pub(super) fn no_condition(condition: &Expression, line: usize) -> Option<Fault> {
    let what = match condition.gives() {
        Gives::Truth if condition.runs().is_empty() => {
            format!("`{condition}` is typed, not computed: it reads no run")
        }
        Gives::Truth => return None,
        _ => format!("`{condition}` is not a comparison"),
    };
    Some(
        Fault::new(line, what)
            .help("write what would make the option right: opt B iff count(RUN:A[bat], == 0) == 1"),
    )
}

/// The number in an option's text is what the option is computed by.
pub(super) fn claim_its_number(choice: &mut Choice, faults: &mut Faults) {
    let (Some(text), Some(expression)) = (&mut choice.text, &choice.computed) else { return };
    if !text.claims.is_empty() {
        faults.add(
            choice.line,
            format!("option {} is computed twice, in its text and by its `opt`", choice.letter),
            "remove one of them: the `opt` checks the number",
        );
        return;
    }
    match only_number(&text.markdown) {
        Some(at) => text.claims.push(Claim { at, line: choice.line, expression: expression.clone() }),
        None => faults.add(
            choice.line,
            format!("option {} is computed, so it must contain exactly one number", choice.letter),
            "write one number in it, or remove its `opt`",
        ),
    }
}

/// The letter of `- A. none`, and where its text begins.
pub(super) fn option_letter(line: &str) -> Option<(char, usize)> {
    let rest = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?;
    let letter = rest.chars().next().filter(char::is_ascii_uppercase)?;
    rest[1..].strip_prefix(". ").map(|_| (letter, "- A. ".len()))
}

/// The position of the text of each option, and its letter.
pub(super) fn options(text: &str, at: Range<usize>) -> Vec<(Range<usize>, char)> {
    let mut found = Vec::new();
    let mut position = at.start;
    for line in text[at].split_inclusive('\n') {
        if let Some((letter, skipped)) = option_letter(line) {
            // An option may have no text behind its letter.
            let end = line.trim_end().len().max(skipped);
            found.push((position + skipped..position + end, letter));
        }
        position += line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_without_a_text_has_an_empty_one() {
        let text = "- A. none\n- B. \n- C. all\n";
        let found: Vec<(&str, char)> =
            options(text, 0..text.len()).into_iter().map(|(at, letter)| (&text[at], letter)).collect();
        assert_eq!(found, [("none", 'A'), ("", 'B'), ("all", 'C')]);
    }
}
