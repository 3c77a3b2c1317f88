//! A lesson, read: plain data that the player, the check, the quiz and the exports share.

use std::collections::HashSet;
use std::iter::once;
use std::ops::Range;
use std::time::Duration;

use crate::error::Result;

use super::command::Command;
use super::key::{Expression, Key, Value, Values};
use super::question::{Answer, Kind, is_show_of_hands};
use super::source::{Fault, Faults};

/// A whole lesson.
#[derive(Clone, Debug, Default)]
pub struct Lesson {
    /// Its name on the command line: the file's name without its ending.
    pub name: String,
    /// The name of the file in messages.
    pub file: String,
    /// Its title.
    pub title: String,
    /// The minutes that it is planned for.
    pub minutes: Option<f64>,
    /// The screen that it is written for.
    pub size: Size,
    /// The named commands.
    pub runs: Vec<NamedRun>,
    /// The blocks before the first step.
    pub opening: Vec<Block>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The text, as far as it can be shown; the places in this structure are bytes of it.
    pub text: String,
    /// The faults with which it can still be played.
    pub faults: Vec<Fault>,
    /// The story of its steps, if they are the output of a command and not a text.
    pub story: Option<StoryPart>,
}

/// The story of a command, some or all of whose steps are played like those of a lesson. Each step prints its own heading.
#[derive(Clone, Debug, PartialEq)]
pub struct StoryPart {
    /// This many steps of the story come before the first one that is played.
    pub before: usize,
    /// The number of the last step of the story.
    pub last: usize,
    /// The command that shows the whole story, if there is one.
    pub whole: Option<String>,
}

/// Columns and rows of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Its columns.
    pub columns: usize,
    /// Its rows.
    pub rows: usize,
}

impl Default for Size {
    /// The screen of a lesson that gives none.
    fn default() -> Size {
        Size { columns: 80, rows: 24 }
    }
}

/// `<!-- run: NAME = attn … -->`
#[derive(Clone, Debug, PartialEq)]
pub struct NamedRun {
    /// Its name.
    pub name: String,
    /// The command.
    pub command: Command,
    /// Its line.
    pub line: usize,
}

/// A step: the text below one `##`.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// Its name, for jumps and saved progress.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// The line of its heading.
    pub line: usize,
    /// The minutes that it is planned for.
    pub minutes: Option<f64>,
    /// Its parts, separated by `###`; at least one.
    pub parts: Vec<Part>,
}

/// The text between two pauses.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// The text of its `###`; the first part of a step has none.
    pub title: Option<String>,
    /// Its blocks.
    pub blocks: Vec<Block>,
}

/// A block.
#[derive(Clone, Debug)]
pub enum Block {
    /// Text.
    Prose(Prose),
    /// Commands and what they print: a `console` block.
    Console(Vec<Exchange>),
    /// A fence that is only shown.
    Literal(Literal),
    /// Text for the teacher only, in one paragraph.
    Note(String),
    /// A question with its answer.
    Question(Box<Question>),
}

/// A paragraph, a list, a table or a quotation.
#[derive(Clone, Debug, Default)]
pub struct Prose {
    /// Its Markdown, without comments.
    pub markdown: String,
    /// Its first line.
    pub line: usize,
    /// The numbers in it that are checked.
    pub claims: Vec<Claim>,
}

/// A number in the text, and what it must be.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The number's bytes in the Markdown.
    pub at: Range<usize>,
    /// Its line in the file.
    pub line: usize,
    /// The expression whose value it must have.
    pub expression: Expression,
}

/// A command and what it is expected to print.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Its line.
    pub line: usize,
    /// The command.
    pub command: Command,
    /// The command in the lines that the lesson breaks it into, without prompts.
    pub typed: Vec<String>,
    /// The exit code that is expected.
    pub code: u8,
    /// The byte range of the expected output in the lesson's text: whole lines, without the empty line that closes the block.
    pub expected: Range<usize>,
    /// Whether each number may differ by one unit of its last printed place.
    pub last_digit_may_differ: bool,
}

/// A fence that is only shown.
#[derive(Clone, Debug)]
pub struct Literal {
    /// The line of its fence.
    pub line: usize,
    /// Its label.
    pub label: String,
    /// Its content.
    pub text: String,
}

/// A question.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Its name, for saved answers.
    pub id: String,
    /// The kind of question.
    pub kind: Kind,
    /// The time to think.
    pub think: Option<Duration>,
    /// The line of its `ask`.
    pub line: usize,
    /// The blocks between `ask` and the answer, without the options.
    pub asked: Vec<Block>,
    /// The options, and the wrong answers that are foreseen.
    pub choices: Vec<Choice>,
    /// The right answer, but for `open`.
    pub key: Option<Key>,
    /// The line of its key.
    pub key_line: usize,
    /// Hints, in order.
    pub hints: Vec<String>,
    /// Its contents `<details>`.
    pub reveal: Vec<Block>,
}

/// An option, or a wrong answer that is foreseen.
#[derive(Clone, Debug)]
pub struct Choice {
    /// `A`, `B` …
    pub letter: char,
    /// Its line.
    pub line: usize,
    /// The text of the option; `None` for a foreseen wrong answer. A computed number is its only claim.
    pub text: Option<Prose>,
    /// The expression of its number, if it is computed.
    pub computed: Option<Expression>,
    /// The condition that would make it right: the comparison of `opt B iff …`, which must not hold.
    pub condition: Option<Expression>,
    /// The feedback for those who choose it.
    pub feedback: Option<String>,
}

/// What comes next as a lesson is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item<'a> {
    /// The heading of the step at this position.
    Step(usize),
    /// The heading of a part after a pause.
    Pause(&'a str),
    /// A block.
    Block(&'a Block),
}

impl Lesson {
    /// Headings and blocks in the order of the file, from a step on, or from the blocks before the first one.
    pub(super) fn items(&self, first: Option<usize>) -> impl Iterator<Item = Item<'_>> {
        let opening = self.opening.iter().filter(move |_| first.is_none()).map(Item::Block);
        let steps = self.steps.iter().enumerate().skip(first.unwrap_or(0));
        opening.chain(
            steps.flat_map(|(at, step)| once(Item::Step(at)).chain(step.parts.iter().flat_map(Part::items))),
        )
    }

    /// Every question, in order.
    pub fn questions(&self) -> impl Iterator<Item = &Question> {
        self.every_block().filter_map(Block::question)
    }

    /// Every block outside of questions, in the order of the file.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.opening.iter().chain(self.steps.iter().flat_map(Step::blocks))
    }

    /// Every block in the order of the file, those of a question after the question itself.
    pub fn every_block(&self) -> impl Iterator<Item = &Block> {
        self.blocks().flat_map(Block::with_inner)
    }

    /// Every command that is shown with its output, in order.
    pub fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        self.every_block().flat_map(Block::exchanges)
    }

    /// The step of a line.
    pub fn step_at(&self, line: usize) -> Option<&Step> {
        // Steps are in the order of their lines.
        self.steps.partition_point(|step| step.line <= line).checked_sub(1).map(|at| &self.steps[at])
    }

    /// Faults in the order of their lines, each with the title of its step.
    pub(super) fn sorted(&self, mut faults: Faults) -> Faults {
        for fault in &mut faults.0 {
            fault.step = self.step_at(fault.line).map(|step| step.title.clone());
        }
        faults.0.sort_by_key(|fault| fault.line);
        faults
    }

    /// The position of the step of an id.
    pub fn step_of(&self, id: &str) -> Option<usize> {
        self.steps.iter().position(|step| step.id == id)
    }

    /// The position of a step by its id, or else by its number, from 1.
    pub fn find_step(&self, asked: &str) -> Option<usize> {
        self.step_of(asked).or_else(|| self.numbered(asked.parse().ok()?))
    }

    /// The number of the step at a position: steps count from 1, and those of a part of a story keep their numbers.
    pub fn number(&self, step: usize) -> usize {
        self.steps_before() + step + 1
    }

    /// The position of the step of a number.
    pub fn numbered(&self, number: usize) -> Option<usize> {
        number.checked_sub(self.steps_before() + 1).filter(|&step| step < self.steps.len())
    }

    /// The steps of a story before the first one that is played.
    fn steps_before(&self) -> usize {
        self.story.as_ref().map_or(0, |story| story.before)
    }

    /// The number of the last step, whether it is played or not.
    pub fn last_number(&self) -> usize {
        self.story.as_ref().map_or(self.steps.len(), |story| story.last)
    }

    /// The minutes that the steps up to, and without, a step are planned for.
    pub fn minutes_before(&self, step: usize) -> f64 {
        self.steps.iter().take(step).filter_map(|step| step.minutes).sum()
    }
}

impl Choice {
    /// An option of which only its letter and its text are known.
    pub(super) fn new(letter: char, line: usize, text: Option<Prose>) -> Choice {
        Choice { letter, line, text, computed: None, condition: None, feedback: None }
    }
}

impl Part {
    fn items(&self) -> impl Iterator<Item = Item<'_>> {
        self.title.as_deref().map(Item::Pause).into_iter().chain(self.blocks.iter().map(Item::Block))
    }
}

impl Step {
    /// Its blocks, over all pauses.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.parts.iter().flat_map(|part| &part.blocks)
    }
}

// The parts of blocks and questions, and the answer that a question computes.

impl Block {
    /// Its text, if it is prose.
    pub(super) fn prose(&self) -> Option<&Prose> {
        if let Block::Prose(prose) = self { Some(prose) } else { None }
    }

    /// Its commands, if it is a console.
    pub(super) fn exchanges(&self) -> &[Exchange] {
        if let Block::Console(exchanges) = self { exchanges } else { &[] }
    }

    /// The question, if it is one.
    pub(super) fn question(&self) -> Option<&Question> {
        if let Block::Question(question) = self { Some(question) } else { None }
    }

    /// The block, and after it those of a question.
    pub(super) fn with_inner(&self) -> impl Iterator<Item = &Block> {
        once(self).chain(self.question().into_iter().flat_map(Question::blocks))
    }

    /// Its text, if it is a note.
    pub(super) fn note(&self) -> Option<&str> {
        if let Block::Note(note) = self { Some(note) } else { None }
    }
}

impl Lesson {
    /// Every text with numbers that are checked: prose, and the options that are offered.
    pub(super) fn texts(&self) -> impl Iterator<Item = &Prose> {
        let options = self.questions().flat_map(Question::options);
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

    /// The texts of the options that are offered.
    pub(super) fn options(&self) -> impl Iterator<Item = &Prose> {
        self.choices.iter().filter_map(|choice| choice.text.as_ref())
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

    /// Its texts, those of its options last.
    pub(super) fn texts(&self) -> impl Iterator<Item = &Prose> {
        self.blocks().filter_map(Block::prose).chain(self.options())
    }

    /// Everything that it computes: its key, its options, its numbers.
    fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let claims = self.texts().flat_map(|text| &text.claims).map(|claim| &claim.expression);
        self.key_and_conditions().chain(claims)
    }

    /// The expressions of its key and of its options.
    fn key_and_conditions(&self) -> impl Iterator<Item = &Expression> {
        let key = self.key.iter().map(|key| &key.expression);
        key.chain(self.choices.iter().flat_map(|choice| choice.computed.iter().chain(&choice.condition)))
    }

    /// The blocks that are shown before the answer and with it.
    pub(super) fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        self.asked.iter_mut().chain(&mut self.reveal)
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

    /// Whether a typed text is a show of hands on its options.
    pub(super) fn is_vote(&self, typed: &str) -> bool {
        self.kind.is_chosen_by_letter() && is_show_of_hands(typed)
    }

    /// Reads what a student types, where the right answer is this one.
    ///
    /// # Errors
    /// If it cannot be an answer to this question.
    pub fn read_answer(&self, typed: &str, right: &Answer) -> Result<Value> {
        right.read(typed, self.letters().len())
    }
}
