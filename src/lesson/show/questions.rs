//! Questions and their answers.

use attn_story::live::{CheckedNumbers, Exercise, Opening};

use crate::answer::{Judge, Judgement};
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::lesson::command::as_live_page;
use crate::lesson::key::Value;
use crate::lesson::question::{Answer, rounded_to_tolerance};
use crate::lesson::{Block, Choice, Prose, Question, RunValues};
use crate::render::Screen;
use crate::text::ScreenWidth;

use super::markdown::{Ink, Text, Tone, joined};
use super::{LessonView, markdown};

/// Indent of options and remarks.
const INDENT: &str = "   ";
/// The maximum indentation of further lines below the words after a mark.
const DEEPEST: usize = 6;
/// The line for a handwritten answer, if the answer is left out.
pub const BLANK: &str = "Answer: ______________________________";

impl<'a> LessonView<'a> {
    /// The numbers of the lesson's commands.
    pub fn values(&self) -> RunValues<'a> {
        RunValues { runs: &self.lesson.runs, runner: self.runner }
    }

    /// The right answer of a question; none of an open one, nor of one whose key is false.
    pub fn right(&self, question: &Question) -> Option<Answer> {
        question.right_answer(&self.values()).ok()?.filter(|right| right.holds)
    }

    /// The letter of the right option.
    pub(in crate::lesson) fn right_letter(&self, question: &Question) -> Option<char> {
        question.right_answer(&self.values()).ok()??.value.letter()
    }

    /// The exercise behind a question whose answer is all numbers of a step; none for another question.
    ///
    /// # Errors
    /// If its run is no computation that can be judged.
    pub fn exercise(&self, question: &Question) -> Result<Option<Exercise>> {
        let key = question.key.as_ref().filter(|_| question.kind.is_numbers());
        let Some((run, address)) = key.and_then(|key| key.expression.reference()) else { return Ok(None) };
        let values = self.values();
        let command = &values.named(run)?.command;
        let ran = self.runner.run(&as_live_page(&command.args), Screen::plain(80));
        let shown = Opening::all_in(&ran.out).into_iter().next();
        let no_exercise = || {
            Error::new(format!("`{}` is no exercise whose numbers can be judged", command.typed))
                .help("name an `attn attend` of matrices")
        };
        Ok(Some(Exercise::new(shown.ok_or_else(no_exercise)?, address)?))
    }

    /// The question with its options and the time to think, without the answer.
    pub fn question(&self, question: &Question) -> Vec<String> {
        joined([self.question_head(question), self.blocks(&question.asked), self.options(question)])
    }

    /// The heading of a question, with the time to think.
    pub fn question_head(&self, question: &Question) -> Vec<String> {
        let mut head = Text::of("Question", Ink { bold: true, ..Ink::of(Tone::Asked) }, self.screen);
        if let Some(think) = question.think {
            head.push(&format!("  {} s to think", think.as_secs()), Ink::of(Tone::Quiet), self.screen);
        }
        head.wrapped(self.prose_width(), ["", ""], self.screen)
    }

    /// The options that are offered.
    pub fn options(&self, question: &Question) -> Vec<String> {
        let option =
            |(choice, text): (&Choice, &Prose)| self.marked(&format!("{}  ", choice.letter), &text.markdown);
        question.offered().flat_map(option).collect()
    }

    /// The answer, [`LessonView::answer`], and the rest of the details.
    pub fn reveal(&self, question: &Question) -> Vec<String> {
        let (answer, rest) = self.answer(question, None, |_| true);
        joined([answer, self.blocks(rest)])
    }

    /// The right answer with the feedback to some of the wrong ones, and the blocks of the details that are still to be
    /// shown. Details that begin with the answer are its first sentence: it is not stated twice. `given` is what was typed, if that
    /// was right.
    pub fn answer<'q>(
        &self,
        question: &'q Question,
        given: Option<&str>,
        has_feedback: impl Fn(&Choice) -> bool,
    ) -> (Vec<String>, &'q [Block]) {
        let foreseen = question.choices.iter().filter(|choice| has_feedback(choice));
        let feedback: Vec<String> = foreseen.flat_map(|choice| self.feedback(question, choice)).collect();
        let word = if given.is_some() { "Right: " } else { "Answer: " };
        let mut text = Text::of(word, Ink { bold: true, ..Ink::of(Tone::Right) }, self.screen);
        match self.stated(question) {
            Some((sentence, rest)) => {
                // The sentence has the names, so the letters are put before it.
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
            let option = self.option_text(question, &right).map(|text| format!(" {text}"));
            let words = escaped(&self.answer_words(question, &right));
            format!("**Answer: {words}**{}", option.unwrap_or_default())
        });
        (paragraph.unwrap_or_default(), &question.reveal[..])
    }

    /// The letters of the right order, `B C A: `, where its entries have letters and the sentence does not begin with them.
    fn letters_before(&self, question: &Question, sentence: &str) -> String {
        let right = self.right(question).filter(|_| question.has_letters());
        let Some(lettered) = right.and_then(|right| right.value.lettered()) else { return String::new() };
        let letters = lettered.split(':').next().unwrap_or_default();
        let begins_so = sentence.trim_start_matches('*').starts_with(letters);
        if begins_so { String::new() } else { format!("{letters}: ") }
    }

    /// The first paragraph of the details and what follows it, if the paragraph begins with the right answer in bold. The
    /// teacher's notes have the computed answer instead.
    fn stated<'q>(&self, question: &'q Question) -> Option<(&'q str, &'q [Block])> {
        let (Block::Prose(first), rest) = question.reveal.split_first().filter(|_| !self.notes)? else {
            return None;
        };
        let (bold, _) = first.markdown.trim_start().strip_prefix("**")?.split_once("**")?;
        let words = bold.replace('`', "");
        let right = self.right(question)?;
        let stated = question.read_answer(words.trim_end_matches(['.', ':', ',']), &right).ok()?;
        right.accepts(&stated).then_some((first.markdown.as_str(), rest))
    }

    /// The right answer after a word, as it was typed or as it is computed. Its tolerance is shown only with the teacher's
    /// notes.
    fn right_line(&self, question: &Question, word: Text, given: Option<&str>) -> Vec<String> {
        let Some(right) = self.right(question) else { return Vec::new() };
        let ink = Ink { bold: true, ..Ink::of(Tone::Right) };
        let mut text = word;
        let lettered = right.value.lettered().filter(|_| question.has_letters());
        let words = match (lettered, given) {
            (Some(lettered), _) => lettered,
            (None, Some(_)) if question.kind.is_numbers() => self.answer_words(question, &right),
            (None, Some(given)) if right.value.letter().is_none() => visible(given.trim()).into_owned(),
            (None, _) => self.answer_words(question, &right),
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
        if let Value::Cells(cells) = &right.value {
            let run = self.values().named(&cells.run).map(|run| run.command.typed.clone());
            return format!("{}, as `{}` computes it", cells.address, run.unwrap_or_default());
        }
        if self.notes {
            return right.with_tolerance();
        }
        stated_number(question).map_or_else(|| right.typed(), str::to_string)
    }

    /// The words of the option that is right, as Markdown.
    pub fn option_text<'q>(&self, question: &'q Question, right: &Answer) -> Option<&'q str> {
        let letter = right.value.letter()?;
        let choice = question.choices.iter().find(|choice| choice.letter == letter)?;
        Some(&choice.text.as_ref()?.markdown)
    }

    /// The feedback to an option, after its name.
    pub fn feedback(&self, question: &Question, choice: &Choice) -> Vec<String> {
        let Some(feedback) = &choice.feedback else { return Vec::new() };
        self.marked(&format!("{}: ", self.choice_name(question, choice)), feedback)
    }

    /// The name of an option: its letter, or the foreseen answer if it is not offered.
    pub fn choice_name(&self, question: &Question, choice: &Choice) -> String {
        let value = choice.computed.as_ref().and_then(|option| option.evaluate(&self.values()).ok());
        // Options that are columns have letters; a computed foreseen answer is a whole order.
        let is_offered = choice.text.is_some() && !question.kind.options_are_columns();
        let Some(value) = value.filter(|_| !is_offered) else { return choice.letter.to_string() };
        let lettered = value.lettered().filter(|_| question.has_letters());
        match (self.right(question), value.number(), lettered) {
            (Some(Answer { value: Value::Number(_), tolerance, .. }), Some(number), _) => {
                rounded_to_tolerance(number, tolerance)
            }
            (_, _, Some(lettered)) => lettered,
            _ => value.typed(),
        }
    }

    /// The feedback to wrong answers, each with the name of its option.
    pub fn named_feedback<'q>(&self, question: &'q Question) -> impl Iterator<Item = (String, &'q str)> {
        question
            .choices
            .iter()
            .filter_map(|choice| Some((self.choice_name(question, choice), choice.feedback.as_deref()?)))
    }

    /// A line to write an answer on.
    pub fn blank(&self) -> Vec<String> {
        vec![Ink::of(Tone::Asked).on(BLANK, self.screen)]
    }

    /// Words after a mark; further lines are indented below them, but not far to the right.
    pub(in crate::lesson) fn marked(&self, mark: &str, markdown: &str) -> Vec<String> {
        let mut text = Text::of(mark, Ink { bold: true, ..Ink::of(Tone::Asked) }, self.screen);
        text.extend(&markdown::inline(markdown, self.screen));
        let rest = format!("{INDENT}{}", " ".repeat(mark.width().min(DEEPEST)));
        text.wrapped(self.prose_width(), [INDENT, &rest], self.screen)
    }
}

/// The number of the key as the details write it, if they do.
fn stated_number(question: &Question) -> Option<&str> {
    let key = question.key.as_ref().filter(|key| key.tolerance.is_some())?;
    question.reveal.iter().filter_map(Block::prose).find_map(|prose| {
        let claim = prose.claims.iter().find(|claim| claim.expression == key.expression)?;
        prose.markdown.get(claim.at.clone())
    })
}

/// The characters with a meaning in a line of Markdown.
const MARKS: [char; 8] = ['\\', '`', '*', '_', '[', ']', '<', '>'];

/// A plain text as Markdown.
pub(in crate::lesson) fn escaped(text: &str) -> String {
    text.chars().flat_map(|c| MARKS.contains(&c).then_some('\\').into_iter().chain([c])).collect()
}

// The verdict on an answer: right or wrong, and the feedback.

/// Whether an answer is right, and the feedback to it.
#[derive(Default)]
pub(crate) struct Verdict {
    /// Whether it is right; `None` for an open question.
    pub is_right: Option<bool>,
    /// The answer as it is repeated.
    pub repeated: String,
    /// The feedback to a wrong answer that is foreseen.
    pub feedback: Vec<String>,
    /// The letter of that wrong answer.
    pub foreseen: Option<char>,
    /// The mistakes in numbers that were handed in, by their names in the catalogue.
    pub mistakes: Vec<String>,
}

impl Verdict {
    /// Judges an answer as it was typed.
    ///
    /// # Errors
    /// If it is no answer to this question, or the right one cannot be computed.
    pub(crate) fn of(typed: &str, question: &Question, show: &LessonView<'_>) -> Result<Verdict> {
        let Some(right) = question.right_answer(&show.values())? else { return Ok(Verdict::default()) };
        if let Some(exercise) = show.exercise(question)? {
            let checked = exercise.check(typed, None)?;
            if !checked.has_asked {
                let asked = question.key.as_ref().map(|key| key.expression.to_string()).unwrap_or_default();
                let step = asked.rsplit(':').next().unwrap_or_default();
                return Err(Error::new(format!("these are numbers of another step, not of {step}"))
                    .help(format!("hand in {step}; beside it other steps may stand")));
            }
            return Ok(Verdict::of_numbers(checked, show));
        }
        let Judgement { is_right, repeated, foreseen } = judge(question, right, show).judge(typed)?;
        let foreseen = foreseen.and_then(|at| with_feedback(question).nth(at));
        let feedback = foreseen.map(|choice| show.feedback(question, choice)).unwrap_or_default();
        let foreseen = foreseen.map(|choice| choice.letter);
        Ok(Verdict { is_right: Some(is_right), repeated, feedback, foreseen, ..Verdict::default() })
    }

    /// The verdict on numbers, in the words of `attn diagnose`.
    fn of_numbers(checked: CheckedNumbers, show: &LessonView<'_>) -> Verdict {
        let CheckedNumbers { is_right, report, mistakes, remarks, .. } = checked;
        let screen = show.screen;
        let line = |text: &String| {
            let text = Text::of(&screen.charset.spelled(text), Ink::default(), screen);
            text.wrapped(show.prose_width(), [INDENT, INDENT], screen)
        };
        Verdict {
            is_right: Some(is_right),
            repeated: report.headline.trim_end_matches('.').to_string(),
            feedback: remarks.iter().chain(&report.lines).flat_map(line).collect(),
            mistakes,
            ..Verdict::default()
        }
    }

    /// The lines below a wrong answer: that it is wrong, what to do `next`, and the feedback. None below another.
    pub(crate) fn lines(self, next: &str, screen: Screen) -> Vec<String> {
        if self.is_right != Some(false) {
            return Vec::new();
        }
        let mut text = Text::of("Not quite", Ink { bold: true, ..Ink::of(Tone::Asked) }, screen);
        let next = if next.is_empty() { String::new() } else { format!(". {next}") };
        text.push(&format!(": {}{next}", self.repeated), Ink::default(), screen);
        let mut lines = text.wrapped(screen.width, ["", "   "], screen);
        lines.extend(self.feedback);
        lines
    }
}

/// The next possibilities after a wrong answer, if this many hints have been shown.
pub(crate) fn next_try(question: &Question, hints: usize) -> &'static str {
    if question.hints.len() > hints { "Try again, or h for a hint." } else { "Try again." }
}

/// What judges the answers to a question whose right answer this is.
pub(crate) fn judge(question: &Question, right: Answer, show: &LessonView<'_>) -> Judge {
    let is_letter = right.value.letter().is_some();
    let answer = |choice: &Choice| {
        if is_letter {
            return Some(Answer::exact(Value::Letter(choice.letter)));
        }
        right.with_value(&choice.computed.as_ref()?.evaluate(&show.values()).ok()?)
    };
    let foreseen = with_feedback(question).map(answer).collect();
    Judge { letters: question.letters().len(), foreseen, right }
}

/// The options and the foreseen wrong answers that get a feedback.
fn with_feedback(question: &Question) -> impl Iterator<Item = &Choice> {
    question.choices.iter().filter(|choice| choice.feedback.is_some())
}

#[cfg(test)]
mod tests {
    use crate::lesson::Runner;
    use crate::lesson::play::tests::sample;

    use super::*;

    fn verdict(id: &str, typed: &str) -> (Option<bool>, String) {
        let lesson = sample::lesson();
        let runner = Runner::new(&sample::run);
        let show = LessonView::new(&lesson, &runner, Screen::plain(80));
        let question = lesson.questions().find(|question| question.id == id).unwrap();
        let verdict = Verdict::of(typed, question, &show).unwrap();
        (verdict.is_right, verdict.lines("", show.screen).join("\n"))
    }

    #[test]
    fn a_wrong_option_gets_its_own_feedback_and_the_right_one_none() {
        let (right, lines) = verdict("zeros", "a");
        assert_eq!(right, Some(false));
        assert!(lines.starts_with("Not quite: A") && lines.contains("True for finite scores."), "{lines}");
        assert_eq!(verdict("zeros", "b"), (Some(false), "Not quite: B".to_string()));
        assert_eq!(verdict("zeros", "C"), (Some(true), String::new()));
    }

    #[test]
    fn a_foreseen_number_gets_its_feedback_and_another_none() {
        let (right, lines) = verdict("left", "0.505");
        assert!(right == Some(false) && lines.contains("So it was without the mask."), "{lines}");
        assert_eq!(verdict("left", "0.7"), (Some(false), "Not quite: 0.7".to_string()));
        assert_eq!(verdict("left", "100%").0, Some(true));
        assert_eq!(verdict("order", "a c b").0, Some(true));
    }
}
