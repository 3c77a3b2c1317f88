//! A question: from its `ask` to the end of its folded answer.

use std::ops::Range;
use std::time::Duration;

use crate::language::Gives;
use crate::lesson::directive::{DirectiveText, settings};
use crate::lesson::key::Expression;
use crate::lesson::model::{Block, Choice, Claim, Question};
use crate::lesson::prose::{only_number, prose};
use crate::lesson::question::{KINDS, Kind, any_kind, kind_named};
use crate::lesson::source::{Fault, Faults, Source};
use crate::text::did_you_mean;

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
        let mut question = Question { line, key_line: line, ..Question::default() };
        let mut kind = None;
        let said = faults.0.len();
        for (name, value) in settings(text, line, &["id", "kind", "think"], faults) {
            match name {
                "id" => question.id = value.to_string(),
                "kind" => {
                    kind = kind_named(value);
                    if kind.is_none() {
                        let words = KINDS.map(Kind::word);
                        let all = || format!("the kinds are {}", words.join(", "));
                        let help = did_you_mean(value, words).unwrap_or_else(all);
                        faults.add(line, format!("`{value}` is not a kind of question"), help);
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
            let what = format!("the question `{}` has no kind", question.id);
            faults.add(line, what, format!("write <!-- ask: id=zeros kind=choice -->: {}", any_kind()));
        }
        question.kind = kind.unwrap_or_default();
        QuestionDraft { question, key: None, version, has_kind: kind.is_some(), folded: false }
    }

    /// Takes a block, into the question or its answer.
    pub(super) fn add(&mut self, block: Block) {
        if self.folded { &mut self.question.reveal } else { &mut self.question.asked }.push(block);
    }

    /// Reads a list as options if an entry begins with a letter: `- A. none`. Returns whether one did.
    pub(super) fn take_options(
        &mut self,
        at: Range<usize>,
        line: usize,
        source: &Source,
        faults: &mut Faults,
    ) -> bool {
        let list = &source.text[at.clone()];
        let is_taken = self.folded || !self.question.choices.is_empty();
        if is_taken || !list.lines().any(|line| option_letter(line).is_some()) {
            return false;
        }
        let mut position = at.start;
        for (line, text) in (line..).zip(list.split_inclusive('\n')) {
            if let Some((letter, skipped)) = option_letter(text) {
                let expected = char::from(b'A' + (self.question.choices.len() % 26) as u8);
                if letter != expected {
                    let what = format!("the next option must be {expected}, not {letter}");
                    faults.add(line, what, "letter them A, B, C …");
                }
                // An option may have no text behind its letter.
                let end = text.trim_end().len().max(skipped);
                let text = prose(source, position + skipped..position + end, self.version, faults);
                self.question.choices.push(Choice::new(letter, line, Some(text)));
            } else if !text.trim().is_empty() {
                let what = format!("`{}` stands among the options, but is not one", text.trim());
                faults.add(line, what, "write an option as one line that begins with its letter: - A. none");
            }
            position += text.len();
        }
        true
    }

    /// Takes `key`, `opt`, `if` or `hint`.
    ///
    /// # Errors
    /// If it does not fit what was taken before, or what it computes cannot be read.
    pub(super) fn take(&mut self, written: DirectiveText, line: usize) -> Result<(), Fault> {
        let DirectiveText { word, of, text, iff } = written;
        let version = self.version;
        match word {
            "key" if self.key.is_some() => {
                return Err(Fault::new(line, "this question has two keys")
                    .help("a question has one key; remove the other"));
            }
            "key" => self.key = Some((text, line)),
            "hint" => self.question.hints.push(text),
            _ => {
                let choice = self.choice(&of, line)?;
                let is_second = match word {
                    "if" => choice.feedback.is_some(),
                    _ => choice.computed.is_some() || choice.condition.is_some(),
                };
                if is_second {
                    return Err(
                        Fault::new(line, format!("a second `{word} {of}`")).help("remove one of them")
                    );
                }
                if word == "if" {
                    choice.feedback = Some(text);
                    return Ok(());
                }
                if choice.text.is_none() {
                    choice.line = line;
                }
                let form = if iff { CONDITION } else { "opt B: RUN:A[1,2]" };
                let expression = Expression::parse(&text, version).map_err(|error| {
                    Fault::in_key(line, &text, error).help(format!("write what computes it: {form}"))
                })?;
                if iff {
                    return is_condition(choice.condition.insert(expression), line);
                }
                choice.computed = Some(expression);
            }
        }
        Ok(())
    }

    /// The option of a letter; where none are listed, a wrong answer that is foreseen.
    fn choice(&mut self, letter: &str, line: usize) -> Result<&mut Choice, Fault> {
        let mut letters = letter.chars();
        let (Some(letter), None) = (letters.next().map(|c| c.to_ascii_uppercase()), letters.next()) else {
            let fault = Fault::new(line, format!("`{letter}` is not an option"));
            return Err(fault.help("name it by its letter: opt B, if B"));
        };
        let by_letter = self.question.has_letters() && self.question.kind.is_chosen_by_letter();
        let choices = &mut self.question.choices;
        let at = choices.iter().position(|choice| choice.letter == letter).unwrap_or(choices.len());
        if at == choices.len() {
            if by_letter || !letter.is_ascii_uppercase() {
                let fault = Fault::new(line, format!("there is no option {letter}"));
                return Err(fault.help("list it above: - A. …"));
            }
            choices.push(Choice::new(letter, line, None));
        }
        Ok(&mut choices[at])
    }

    /// The question, complete.
    pub(super) fn finish(mut self, faults: &mut Faults) -> Question {
        if !self.has_kind {
            return self.question;
        }
        let question = &mut self.question;
        let (kind, line) = (question.kind, question.line);
        let name = format!("the question `{}`", question.id);
        match &self.key {
            Some((_, line)) if !kind.is_graded() => {
                let what = format!("{name} is {}, so it cannot have a key", kind.word());
                faults.add(*line, what, "give it another kind, or remove the key");
            }
            Some((text, line)) => {
                question.key_line = *line;
                match kind.key(text, self.version) {
                    Ok(key) => question.key = Some(key),
                    Err(error) => faults.push(Fault::in_key(*line, text, error)),
                }
            }
            None if kind.is_graded() => {
                let help = "compute it: <!-- key: … -->; or make it kind=open";
                faults.add(line, format!("{name} has no key"), help);
            }
            None if !question.blocks().any(|block| block.note().is_some()) => {
                let what = format!("{name} is {}, but has no note", kind.word());
                faults.add(line, what, "tell the teacher what to listen for: <!-- note: … -->");
            }
            None => {}
        }
        if kind.is_chosen_by_letter() {
            if question.offered().count() < 2 {
                let help = "list the options, each on its own line: - A. none";
                faults.add(line, format!("{name} has no options"), help);
            }
            faults.0.extend(question.choices.iter_mut().filter_map(|choice| claim_its_number(choice).err()));
        }
        self.question
    }
}

// The options of a question: the list that offers them, and the directives that compute them.

/// The form of the condition of an option.
const CONDITION: &str = "opt B iff count(RUN:A[bat], == 0) == 1";

/// # Errors
/// If the condition of an option is no comparison, or compares only numbers.
fn is_condition(condition: &Expression, line: usize) -> Result<(), Fault> {
    let what = match condition.gives() {
        Gives::Truth if condition.runs().is_empty() => {
            format!("`{condition}` is typed, not computed: it reads no run")
        }
        Gives::Truth => return Ok(()),
        _ => format!("`{condition}` is not a comparison"),
    };
    Err(Fault::new(line, what).help(format!("write what would make the option right: {CONDITION}")))
}

/// The number in an option's text is what the option is computed by.
///
/// # Errors
/// If its text has another number that is computed, or not exactly one number.
fn claim_its_number(choice: &mut Choice) -> Result<(), Fault> {
    let (Some(text), Some(expression)) = (&mut choice.text, &choice.computed) else { return Ok(()) };
    let (letter, line) = (choice.letter, choice.line);
    if !text.claims.is_empty() {
        let what = format!("option {letter} is computed twice, in its text and by its `opt`");
        return Err(Fault::new(line, what).help("remove one of them: the `opt` checks the number"));
    }
    let Some(at) = only_number(&text.markdown) else {
        let what = format!("option {letter} is computed, so it must contain exactly one number");
        return Err(Fault::new(line, what).help("write one number in it, or remove its `opt`"));
    };
    text.claims.push(Claim { at, line, expression: expression.clone() });
    Ok(())
}

/// The letter of `- A. none`, and where its text begins.
fn option_letter(line: &str) -> Option<(char, usize)> {
    let rest = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?;
    let letter = rest.chars().next().filter(char::is_ascii_uppercase)?;
    rest[1..].strip_prefix(". ").map(|_| (letter, "- A. ".len()))
}
