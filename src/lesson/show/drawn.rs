//! Questions drawn anew: other random numbers in what they show, ask and answer.

use std::borrow::Cow;

use super::Show;
use crate::lesson::key::{Answer, Expression, Kind, Value, WrittenNumber};
use crate::lesson::model::{Block, Lesson, Prose, Question};
use crate::lesson::values::RunValues;

/// Seeds that are tried before a question keeps its own numbers.
const TRIES: u32 = 50;

/// Whether a question can be drawn anew: everything it shows and asks comes from commands that have a `--seed`, and its
/// options are computed.
pub fn can_be_redrawn(lesson: &Lesson, question: &Question) -> bool {
    let options_are_computed =
        question.choices.iter().all(|choice| choice.text.is_none() || choice.computed.is_some());
    let runs: Vec<&str> = expressions(question).flat_map(Expression::runs).collect();
    let has_seed = |name: &str| {
        let run = lesson.runs.iter().find(|run| run.name == name);
        run.is_some_and(|run| run.command.seed().is_some())
    };
    question.key.is_some()
        && (question.kind != Kind::Choice || options_are_computed)
        && runs.into_iter().all(has_seed)
        && blocks(question).all(|block| match block {
            Block::Console(console) => {
                console.exchanges.iter().all(|exchange| exchange.command.seed().is_some())
            }
            _ => true,
        })
}

fn blocks(question: &Question) -> impl Iterator<Item = &Block> {
    question.asked.iter().chain(&question.reveal)
}

/// Everything that a question computes.
fn expressions(question: &Question) -> impl Iterator<Item = &Expression> {
    let prose = blocks(question).filter_map(|block| match block {
        Block::Prose(prose) => Some(prose),
        _ => None,
    });
    let prose = prose.chain(question.choices.iter().filter_map(|choice| choice.text.as_ref()));
    let claims = prose.flat_map(|prose| &prose.claims).map(|claim| &claim.expression);
    let options = question.choices.iter().filter_map(|choice| choice.computed.as_ref());
    let key = question.key.iter().map(|key| key.expression());
    key.chain(options).chain(claims)
}

impl<'a> Show<'a> {
    /// The show of a question. Where another seed is asked for and the question can be drawn anew, with the numbers of that
    /// seed, or of the next at which the right answer and the wrong ones are told apart.
    pub fn of_question(&self, question: &Question) -> Show<'a> {
        let own = Show { drawn: None, ..*self };
        match self.seed {
            Some(seed) if can_be_redrawn(self.lesson, question) => (0..TRIES)
                .map(|further| Show { drawn: Some(seed.wrapping_add(further)), ..own })
                .find(|drawn| drawn.is_sound(question))
                .unwrap_or(own),
            _ => own,
        }
    }

    /// The numbers of the lesson's commands, under the seed that is in force.
    pub fn values(&self) -> RunValues<'a> {
        RunValues { runs: &self.lesson.runs, runner: self.runner, seed: self.drawn }
    }

    /// The Markdown of a text, its checked numbers as they are under the seed in force.
    pub fn markdown<'p>(&self, prose: &'p Prose) -> Cow<'p, str> {
        if self.drawn.is_none() || prose.claims.is_empty() {
            return Cow::Borrowed(&prose.markdown);
        }
        let values = self.values();
        let mut text = prose.markdown.clone();
        for claim in prose.claims.iter().rev() {
            let written = WrittenNumber::parse(&prose.markdown[claim.at.clone()]);
            if let (Some(written), Ok(value)) = (written, claim.expression.number(&values)) {
                text.replace_range(claim.at.clone(), &written.refilled(value));
            }
        }
        Cow::Owned(text)
    }

    /// Whether a question has one right answer under the seed in force.
    fn is_sound(&self, question: &Question) -> bool {
        let Some(answer) = self.right(question) else { return false };
        let values = self.values();
        let options = question.choices.iter().filter_map(|choice| choice.computed.as_ref());
        let options: Option<Vec<Value>> = options.map(|option| option.evaluate(&values).ok()).collect();
        let Some(options) = options else { return false };
        let texts: Vec<_> = question
            .choices
            .iter()
            .filter_map(|choice| choice.text.as_ref())
            .map(|text| self.markdown(text))
            .collect();
        let are_different = (1..texts.len()).all(|at| !texts[..at].contains(&texts[at]));
        are_different && !options.iter().any(|option| answer.accepts(option))
    }

    /// The right answer of a question; none of an open one, nor of one whose key is false.
    pub fn right(&self, question: &Question) -> Option<Answer> {
        match question.key.as_ref()?.evaluate(&self.values()).ok()? {
            Answer::Choice { holds: false, .. } => None,
            answer => Some(answer),
        }
    }
}
