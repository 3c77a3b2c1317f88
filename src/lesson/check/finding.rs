//! What a check has found.

use std::ops::Range;

use crate::lesson::faults::Fault;
use crate::lesson::model::{Block, Lesson};

use super::difference::Tag;

/// What a check has found, and how much there was to check.
#[derive(Clone, Debug)]
pub struct Report {
    /// What does not hold, in the order of the lines.
    pub findings: Vec<Finding>,
    /// How much there was.
    pub checked: Coverage,
}

/// One thing that does not hold, or could be better.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is about.
    pub concern: Concern,
    /// Where, what, and what to do.
    pub fault: Fault,
    /// Of an output that differs, the lines of a unified diff.
    pub diff: Vec<(Tag, String)>,
    /// Of an output that differs, what belongs there.
    pub rewrite: Option<Rewrite>,
}

/// What a finding is about, and thus who fixes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    /// A key, a command, a character that has no place there: an author fixes it before anything is rewritten.
    Structure,
    /// A number in the text, a table on the screen, the plan: an author fixes it.
    Text,
    /// What a command prints: `update` fixes it.
    Output,
    /// Nothing is wrong; something could go.
    Remark,
}

/// The lines of a block that an output takes the place of.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewrite {
    /// The lines of the file, from 0.
    pub lines: Range<usize>,
    /// What belongs there, with the empty line that closes it.
    pub text: String,
}

/// How much of a lesson was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Steps.
    pub steps: usize,
    /// Commands in blocks.
    pub commands: usize,
    /// Numbers in the text and in options.
    pub numbers: usize,
    /// Questions.
    pub questions: usize,
    /// Those of them that can be drawn again.
    pub drawable: usize,
}

impl Report {
    /// Whether the lesson holds; remarks do not count.
    pub fn holds(&self) -> bool {
        self.wrong() == 0
    }

    /// How many things do not hold.
    pub fn wrong(&self) -> usize {
        self.findings.iter().filter(|finding| finding.concern != Concern::Remark).count()
    }
}

impl Finding {
    /// A finding without a diff.
    pub(super) fn new(concern: Concern, fault: Fault) -> Finding {
        Finding { concern, fault, diff: Vec::new(), rewrite: None }
    }
}

impl Coverage {
    /// Adds what another lesson has.
    pub fn add(&mut self, other: Coverage) {
        self.steps += other.steps;
        self.commands += other.commands;
        self.numbers += other.numbers;
        self.questions += other.questions;
        self.drawable += other.drawable;
    }

    /// Counts what a lesson has.
    pub(super) fn of(lesson: &Lesson) -> Coverage {
        let prose = lesson.every_block().map(|block| match block {
            Block::Prose(prose) => prose.claims.len(),
            _ => 0,
        });
        let options = lesson.questions().flat_map(|question| &question.choices);
        let in_options = options.filter_map(|choice| choice.text.as_ref()).map(|text| text.claims.len());
        Coverage {
            steps: lesson.steps.len(),
            commands: lesson.consoles().map(|console| console.exchanges.len()).sum(),
            numbers: prose.sum::<usize>() + in_options.sum::<usize>(),
            questions: lesson.questions().count(),
            drawable: lesson.drawable(),
        }
    }
}
