//! The parts of blocks and questions, and the answer that a question computes.

use std::collections::HashSet;

use super::key::{Expression, Value, Values};
use super::model::{Block, Choice, Console, Exchange, Lesson, NamedRun, Prose, Question, Size};
use super::option_names::OptionNames;
use super::question::Answer;
use crate::error::Result;

impl Block {
    /// Its text, if it is prose.
    pub(super) fn prose(&self) -> Option<&Prose> {
        if let Block::Prose(prose) = self { Some(prose) } else { None }
    }

    /// Its commands, if it is a console.
    pub(super) fn console(&self) -> Option<&Console> {
        if let Block::Console(console) = self { Some(console) } else { None }
    }

    /// Its text, if it is a note.
    pub(super) fn note(&self) -> Option<&str> {
        if let Block::Note(note) = self { Some(&note.text) } else { None }
    }
}

impl Lesson {
    /// A lesson of a file without a name, a title and steps.
    pub(super) fn empty(file: &str, size: Size, options: &'static OptionNames) -> Lesson {
        Lesson {
            name: String::new(),
            file: file.to_string(),
            title: String::new(),
            minutes: None,
            size,
            options,
            runs: Vec::new(),
            opening: Vec::new(),
            steps: Vec::new(),
            text: String::new(),
            faults: Vec::new(),
            story: None,
        }
    }

    /// Every text with numbers that are checked: prose, and the options that are offered.
    pub(super) fn texts(&self) -> impl Iterator<Item = &Prose> {
        let options = self.questions().flat_map(Question::offered).map(|(_, text)| text);
        self.every_block().filter_map(Block::prose).chain(options)
    }

    /// The names of the runs that numbers, options and keys read.
    pub(super) fn used_runs(&self) -> HashSet<&str> {
        let claims = self.texts().flat_map(|text| &text.claims).map(|claim| &claim.expression);
        let all = claims.chain(self.questions().flat_map(Question::key_and_conditions));
        all.flat_map(Expression::runs).collect()
    }
}

impl Question {
    /// The options that are offered, with their texts; wrong answers that are only foreseen have none.
    pub(super) fn offered(&self) -> impl Iterator<Item = (&Choice, &Prose)> {
        self.choices.iter().filter_map(|choice| Some((choice, choice.text.as_ref()?)))
    }

    /// The letters of the options that are offered.
    pub(super) fn letters(&self) -> Vec<char> {
        self.offered().map(|(choice, _)| choice.letter).collect()
    }

    /// Whether options are offered under letters.
    pub(super) fn has_letters(&self) -> bool {
        self.offered().next().is_some()
    }

    /// The blocks that are shown before the answer and with it.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.asked.iter().chain(&self.reveal)
    }

    /// Everything that it computes: its key, its options, its numbers.
    fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let texts = self.blocks().filter_map(Block::prose).chain(self.offered().map(|(_, text)| text));
        self.key_and_conditions().chain(texts.flat_map(|text| &text.claims).map(|claim| &claim.expression))
    }

    /// The expressions of its key and of its options.
    fn key_and_conditions(&self) -> impl Iterator<Item = &Expression> {
        let key = self.key.iter().map(|key| &key.expression);
        key.chain(self.choices.iter().flat_map(|choice| choice.computed.iter().chain(&choice.condition)))
    }

    /// Its texts, those of its options first.
    pub(super) fn texts_mut(&mut self) -> impl Iterator<Item = &mut Prose> {
        let blocks = self.asked.iter_mut().chain(&mut self.reveal).filter_map(|block| match block {
            Block::Prose(prose) => Some(prose),
            _ => None,
        });
        self.choices.iter_mut().filter_map(|choice| choice.text.as_mut()).chain(blocks)
    }

    /// Its commands and what they print.
    pub(super) fn exchanges_mut(&mut self) -> impl Iterator<Item = &mut Exchange> {
        let consoles = self.asked.iter_mut().chain(&mut self.reveal).filter_map(|block| match block {
            Block::Console(console) => Some(console),
            _ => None,
        });
        consoles.flat_map(|console| &mut console.exchanges)
    }

    /// The runs that it reads.
    pub(super) fn runs<'a>(&self, lesson: &'a Lesson) -> Vec<&'a NamedRun> {
        let names: Vec<&str> = self.expressions().flat_map(Expression::runs).collect();
        lesson.runs.iter().filter(|run| names.contains(&run.name.as_str())).collect()
    }

    /// The right answer; an open question has none.
    ///
    /// # Errors
    /// If it cannot be computed: the lesson is wrong.
    pub fn right_answer(&self, values: &dyn Values) -> Result<Option<Answer>> {
        self.key.as_ref().map(|key| self.kind.evaluate(key, values)).transpose()
    }

    /// Reads what a student types, where the right answer is this one.
    ///
    /// # Errors
    /// If it cannot be an answer to this question.
    pub fn read_answer(&self, typed: &str, right: &Answer) -> Result<Value> {
        right.read(typed, self.letters().len())
    }
}
