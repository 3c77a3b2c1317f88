//! Questions and their answers.

use crate::foreign::visible;
use unicode_width::UnicodeWidthStr;

use super::Show;
use super::markdown;
use super::spans::{Ink, Text, Tone};
use crate::lesson::key::{Answer, Given, Key, Kind, Value, judge, within};
use crate::lesson::{Block, Choice, Question, RunValues};

/// Options and remarks are set in by so much.
const INDENT: &str = "   ";
/// Further lines stand below the words behind a mark, up to so many columns.
const DEEPEST: usize = 6;
/// Where an answer is left out there is room to write one.
pub const BLANK: &str = "Answer: ______________________________";

impl<'a> Show<'a> {
    /// The numbers of the lesson's commands.
    pub fn values(&self) -> RunValues<'a> {
        RunValues { runs: &self.lesson.runs, runner: self.runner }
    }

    /// The right answer of a question; none of an open one, nor of one whose key is false.
    pub fn right(&self, question: &Question) -> Option<Answer> {
        match question.key.as_ref()?.evaluate(&self.values()).ok()? {
            Answer::Choice { holds: false, .. } => None,
            answer => Some(answer),
        }
    }

    /// What is asked, with its options and the time to think; no word of the answer.
    pub fn question(&self, question: &Question) -> Vec<String> {
        joined([self.question_head(question), self.blocks(&question.asked), self.options(question)])
    }

    /// That there is a question, and the time to think.
    pub fn question_head(&self, question: &Question) -> Vec<String> {
        let mut head = Text::of("Question", Ink { bold: true, ..Ink::of(Tone::Asked) }, self.screen);
        if let Some(think) = question.think {
            head.push(&format!("  {} s to think", think.as_secs()), Ink::of(Tone::Quiet), self.screen);
        }
        head.wrapped(self.prose_width(), ["", ""], self.screen)
    }

    /// The options that are offered.
    pub fn options(&self, question: &Question) -> Vec<String> {
        let option = |choice: &Choice| match &choice.text {
            Some(text) => self.marked(&format!("{}  ", choice.letter), &text.markdown),
            None => Vec::new(),
        };
        question.choices.iter().flat_map(option).collect()
    }

    /// What is shown when the answer is due: [`Show::answer`], and the rest of what stands in the details.
    pub fn reveal(&self, question: &Question) -> Vec<String> {
        let (answer, rest) = self.answer(question, None, |_| true);
        joined([answer, self.blocks(rest)])
    }

    /// The right answer with what is said to some of the wrong ones, and the blocks of the details that are still to be
    /// shown. Details that begin with the answer are its first sentence: it is told once. `given` is what was typed, if that
    /// was right.
    pub fn answer<'q>(
        &self,
        question: &'q Question,
        given: Option<&str>,
        is_told: impl Fn(&Choice) -> bool,
    ) -> (Vec<String>, &'q [Block]) {
        let told = question.choices.iter().filter(|choice| is_told(choice));
        let feedback: Vec<String> = told.flat_map(|choice| self.feedback(question, choice)).collect();
        let word = if given.is_some() { "Right: " } else { "Answer: " };
        let mut text = Text::of(word, Ink { bold: true, ..Ink::of(Tone::Right) }, self.screen);
        match self.stated(question) {
            Some((sentence, rest)) => {
                // The sentence has the names; the letters stand before it.
                text.push(&self.letters_before(question, sentence), Ink::bold(), self.screen);
                text.extend(&markdown::inline(sentence, self.screen));
                (joined([text.wrapped(self.prose_width(), ["", INDENT], self.screen), feedback]), rest)
            }
            None => (joined([self.right_line(question, text, given), feedback]), &question.reveal[..]),
        }
    }

    /// The right answer as one paragraph of Markdown, and the blocks of the details that are still to be shown: details that
    /// begin with the answer tell it in their own words and digits. The paragraph is empty if the answer is not known.
    pub fn answer_paragraph<'q>(&self, question: &'q Question) -> (String, &'q [Block]) {
        if let Some((sentence, rest)) = self.stated(question) {
            let letters = self.letters_before(question, sentence);
            let sentence = sentence.trim_start();
            let bold = sentence.strip_prefix("**").unwrap_or(sentence);
            return (format!("**Answer: {letters}{bold}"), rest);
        }
        let paragraph = self.right(question).map(|right| {
            let option =
                self.option_text(question, &right).map(|text| format!(" {text}")).unwrap_or_default();
            format!("**Answer: {}**{option}", escaped(&self.answer_words(question, &right)))
        });
        (paragraph.unwrap_or_default(), &question.reveal[..])
    }

    /// The letters of the right order, `B C A: `, where its entries have letters and the sentence does not begin with them.
    fn letters_before(&self, question: &Question, sentence: &str) -> String {
        let Some(Answer::Order(order)) = self.right(question).filter(|_| question.has_letters()) else {
            return String::new();
        };
        let lettered = order.lettered();
        let letters = lettered.split(':').next().unwrap_or_default();
        match sentence.trim_start_matches('*').starts_with(letters) {
            true => String::new(),
            false => format!("{letters}: "),
        }
    }

    /// The first paragraph of the details and what follows it, if the paragraph begins with the right answer in bold. The
    /// teacher's notes have the computed answer instead.
    fn stated<'q>(&self, question: &'q Question) -> Option<(&'q str, &'q [Block])> {
        let (Block::Prose(first), rest) = question.reveal.split_first().filter(|_| !self.notes)? else {
            return None;
        };
        let (bold, _) = first.markdown.trim_start().strip_prefix("**")?.split_once("**")?;
        let words = bold.replace('`', "");
        let options = question.choices.iter().filter(|choice| choice.text.is_some()).count();
        let right = self.right(question)?;
        let given = Given::read(words.trim_end_matches(['.', ':', ',']), &right, options).ok()?;
        judge(&given, &right).then_some((first.markdown.as_str(), rest))
    }

    /// The right answer behind a word: as it was typed, or as it is computed. How far off a number may be stands with the
    /// teacher's notes alone.
    fn right_line(&self, question: &Question, word: Text, given: Option<&str>) -> Vec<String> {
        let Some(right) = self.right(question) else { return Vec::new() };
        let ink = Ink { bold: true, ..Ink::of(Tone::Right) };
        let mut text = word;
        let words = match (given, &right) {
            (_, Answer::Order(order)) if question.has_letters() => order.lettered(),
            (None, _) | (_, Answer::Choice { .. }) => self.answer_words(question, &right),
            (Some(given), _) => visible(given.trim()).into_owned(),
        };
        text.push(&words, ink, self.screen);
        if let Some(option) = self.option_text(question, &right) {
            text.push("  ", Ink::default(), self.screen);
            text.extend(&markdown::inline(option, self.screen));
        }
        text.wrapped(self.prose_width(), ["", INDENT], self.screen)
    }

    /// An answer as it is typed, a number with the digits that the details state; among the teacher's notes with what it may
    /// be off by.
    fn answer_words(&self, question: &Question, right: &Answer) -> String {
        match (self.notes, right, stated_number(question)) {
            (true, _, _) => noted(right),
            (false, Answer::Number { .. }, Some(number)) => number.to_string(),
            (false, _, _) => right.typed(),
        }
    }

    /// The words of the option that is right, as Markdown.
    pub fn option_text<'q>(&self, question: &'q Question, right: &Answer) -> Option<&'q str> {
        let Answer::Choice { letter, .. } = right else { return None };
        let choice = question.choices.iter().find(|choice| choice.letter == *letter)?;
        Some(&choice.text.as_ref()?.markdown)
    }

    /// What is said to those who chose this, behind its name.
    pub fn feedback(&self, question: &Question, choice: &Choice) -> Vec<String> {
        let Some(feedback) = &choice.feedback else { return Vec::new() };
        self.marked(&format!("{}: ", self.choice_name(question, choice)), feedback)
    }

    /// What an option is called: its letter, or what was foreseen, where it is not offered.
    pub fn choice_name(&self, question: &Question, choice: &Choice) -> String {
        let value = choice.computed.as_ref().and_then(|option| option.evaluate(&self.values()).ok());
        // The lettered entries of an order are the columns; what is computed next to them is a whole order.
        let offered = choice.text.as_ref().filter(|_| question.kind != Kind::Order);
        match (offered, value, self.right(question)) {
            (None, Some(value), Some(Answer::Number { tolerance, .. })) => match value.number() {
                Some(number) => within(number, tolerance),
                None => value.to_string(),
            },
            (None, Some(Value::Cell(cell)), _) => cell.typed(),
            (None, Some(Value::Order(order)), _) if question.has_letters() => order.lettered(),
            (None, Some(value), _) => value.to_string(),
            _ => choice.letter.to_string(),
        }
    }

    /// A line to write an answer on.
    pub fn blank(&self) -> Vec<String> {
        vec![Ink::of(Tone::Asked).on(BLANK, self.screen)]
    }

    /// Words that hang behind a mark, but not far to the right.
    pub(in crate::lesson) fn marked(&self, mark: &str, markdown: &str) -> Vec<String> {
        let mut text = Text::of(mark, Ink { bold: true, ..Ink::of(Tone::Asked) }, self.screen);
        text.extend(&markdown::inline(markdown, self.screen));
        let rest = format!("{INDENT}{}", " ".repeat(mark.width().min(DEEPEST)));
        text.wrapped(self.prose_width(), [INDENT, &rest], self.screen)
    }
}

/// The number of the key as the details write it, if they do.
fn stated_number(question: &Question) -> Option<&str> {
    let Some(Key::Number { expression, .. }) = &question.key else { return None };
    let prose = question.reveal.iter().filter_map(|block| match block {
        Block::Prose(prose) => Some(prose),
        _ => None,
    });
    prose
        .flat_map(|prose| prose.claims.iter().map(move |claim| (prose, claim)))
        .find(|(_, claim)| claim.expression == *expression)
        .and_then(|(prose, claim)| prose.markdown.get(claim.at.clone()))
}

/// An answer as the teacher reads it: with what a number may be off by.
pub(in crate::lesson) fn noted(right: &Answer) -> String {
    match right {
        Answer::Number { .. } => right.to_string(),
        _ => right.typed(),
    }
}

/// What means something to Markdown within a line.
const MARKS: [char; 8] = ['\\', '`', '*', '_', '[', ']', '<', '>'];

/// A plain text as Markdown.
pub(in crate::lesson) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if MARKS.contains(&character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Groups of lines, an empty one between any two.
pub(super) fn joined(groups: impl IntoIterator<Item = Vec<String>>) -> Vec<String> {
    let mut lines = Vec::new();
    for group in groups.into_iter().filter(|group| !group.is_empty()) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(group);
    }
    lines
}
