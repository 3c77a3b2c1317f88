//! Questions and their answers.

use super::Show;
use super::markdown;
use super::spans::{Ink, Text, Tone};
use crate::lesson::{Choice, Question};

/// Options and remarks are set in by so much.
const INDENT: &str = "   ";

impl Show<'_> {
    /// What is asked, with its options and the time to think; no word of the answer.
    pub fn question(&self, question: &Question) -> Vec<String> {
        let mut head = Text::of("Question", Ink { bold: true, ..Ink::of(Tone::Asked) }, self.screen);
        if let Some(think) = question.think {
            head.push(&format!("  {} s to think", think.as_secs()), Ink::of(Tone::Quiet), self.screen);
        }
        let mut lines = head.wrapped(self.prose_width(), ["", ""], self.screen);
        let asked = self.blocks(&question.asked);
        if !asked.is_empty() {
            lines.push(String::new());
            lines.extend(asked);
        }
        let options: Vec<String> = question.choices.iter().flat_map(|choice| self.option(choice)).collect();
        if !options.is_empty() {
            lines.push(String::new());
            lines.extend(options);
        }
        lines
    }

    /// The lines of an option; none of a wrong answer that is only foreseen.
    fn option(&self, choice: &Choice) -> Vec<String> {
        let Some(text) = &choice.text else { return Vec::new() };
        self.marked(&choice.letter.to_string(), &text.markdown, Tone::Asked)
    }

    /// What is said when the answer is due: what to say to each wrong one, and what stands in the details.
    pub fn reveal(&self, question: &Question) -> Vec<String> {
        let mut lines: Vec<String> =
            question.choices.iter().flat_map(|choice| self.feedback(choice)).collect();
        let details = self.blocks(&question.reveal);
        if !lines.is_empty() && !details.is_empty() {
            lines.push(String::new());
        }
        lines.extend(details);
        lines
    }

    /// What is said to those who chose this.
    pub fn feedback(&self, choice: &Choice) -> Vec<String> {
        let Some(feedback) = &choice.feedback else { return Vec::new() };
        self.marked(&choice.letter.to_string(), feedback, Tone::Asked)
    }

    /// Words that hang behind a mark.
    pub(in crate::lesson) fn marked(&self, mark: &str, markdown: &str, tone: Tone) -> Vec<String> {
        let mut text = Text::of(mark, Ink { bold: true, ..Ink::of(tone) }, self.screen);
        text.push("  ", Ink::default(), self.screen);
        text.extend(&markdown::inline(markdown, self.screen));
        let rest = format!("{INDENT}{}", " ".repeat(mark.chars().count() + 2));
        text.wrapped(self.prose_width(), [INDENT, &rest], self.screen)
    }
}
