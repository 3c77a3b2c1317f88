//! The questions that can be drawn again: those that depend on random numbers only.

use crate::lesson::command::Command;
use crate::lesson::model::{Block, Choice, Lesson, NamedRun, Question};
use crate::lesson::unchecked_numbers::{first_unchecked_number, unchecked_numbers};

impl Question {
    /// The seed of a question that can be drawn again: all its commands take that seed, all its options are computed,
    /// nothing outside of it shows its numbers, and no number in it would stay as it is.
    pub(in crate::lesson) fn seed<'a>(&'a self, lesson: &'a Lesson) -> Option<&'a str> {
        self.seed_whatever_its_words(lesson).filter(|_| self.number_that_stays(lesson).is_none())
    }

    /// The number for which alone it cannot be drawn again.
    pub(in crate::lesson) fn number_that_prevents_drawing(&self, lesson: &Lesson) -> Option<String> {
        self.seed_whatever_its_words(lesson).and_then(|_| self.number_that_stays(lesson))
    }

    fn seed_whatever_its_words<'a>(&'a self, lesson: &'a Lesson) -> Option<&'a str> {
        self.one_seed(lesson).filter(|seed| !self.is_shown_elsewhere(seed, lesson))
    }

    /// The first number in its words, or in the headings above it, that nothing computes: next to other random numbers it
    /// would tell of the old ones.
    fn number_that_stays(&self, lesson: &Lesson) -> Option<String> {
        let options = self.offered().map(|(_, text)| text);
        let in_prose = self
            .blocks()
            .filter_map(Block::prose)
            .chain(options)
            .flat_map(unchecked_numbers)
            .map(|loose| loose.text);
        let feedback = self.choices.iter().filter_map(|choice| choice.feedback.as_deref());
        let plain = self.hints.iter().map(String::as_str).chain(feedback).chain(self.headings(lesson));
        in_prose.chain(plain.filter_map(first_unchecked_number)).next()
    }

    /// The titles of its step and its part.
    fn headings<'a>(&self, lesson: &'a Lesson) -> impl Iterator<Item = &'a str> {
        let is_own = |block: &Block| matches!(block, Block::Question(question) if question.id == self.id);
        let parts = lesson.steps.iter().flat_map(|step| step.parts.iter().map(move |part| (step, part)));
        let own = parts.into_iter().find(|(_, part)| part.blocks.iter().any(is_own));
        own.into_iter()
            .flat_map(|(step, part)| std::iter::once(step.title.as_str()).chain(part.title.as_deref()))
    }

    /// The one seed of all its commands, where every option is computed.
    fn one_seed<'a>(&'a self, lesson: &'a Lesson) -> Option<&'a str> {
        let is_computed = |choice: &Choice| choice.text.is_none() || choice.computed.is_some();
        if self.key.is_none() || self.kind.is_chosen_by_letter() && !self.choices.iter().all(is_computed) {
            return None;
        }
        let named = self.runs(lesson).into_iter().map(|run| &run.command);
        let shown = self.blocks().flat_map(commands);
        let mut seeds = named.chain(shown).map(|command| command.seed(lesson.options));
        let seed = seeds.next()??;
        seeds.all(|other| other == Some(seed)).then_some(seed)
    }

    /// Whether a text or a command outside of all questions has its numbers: it would tell of others than the question
    /// drawn again. Commands of the same kind with the same seed count as the same numbers.
    fn is_shown_elsewhere(&self, seed: &str, lesson: &Lesson) -> bool {
        let outside = || lesson.opening.iter().chain(lesson.steps.iter().flat_map(|step| step.blocks()));
        let runs = self.runs(lesson);
        let reads = |name: &str| runs.iter().any(|run| run.name == name);
        let mut claims = outside().filter_map(Block::prose).flat_map(|prose| &prose.claims);
        let is_alike = |command: &Command| {
            let of_the_kind = |run: &&NamedRun| run.command.args.first() == command.args.first();
            command.seed(lesson.options) == Some(seed) && runs.iter().any(of_the_kind)
        };
        claims.any(|claim| claim.expression.runs().into_iter().any(reads))
            || outside().flat_map(commands).any(is_alike)
    }
}

impl Lesson {
    /// The number of questions that can be drawn again.
    pub fn drawable(&self) -> usize {
        self.questions().filter(|question| question.seed(self).is_some()).count()
    }
}

fn commands(block: &Block) -> impl Iterator<Item = &Command> {
    block.console().into_iter().flat_map(|console| &console.exchanges).map(|exchange| &exchange.command)
}
