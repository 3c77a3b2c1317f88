//! The steps that a class has been shown, and its answers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::lesson::Question;

use super::scripted::ScriptedAnswers;

/// The answers, votes and hints of a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Record {
    /// The typed answers, in order.
    pub given: Vec<String>,
    /// Whether the last of them was right.
    pub right: bool,
    /// The last vote, option by option.
    pub hands: Option<Vec<usize>>,
    /// Whether the bars of that vote have been drawn since the question was asked.
    pub drawn: bool,
    /// The vote before it.
    pub hands_before: Option<Vec<usize>>,
    /// The wrong answers, by letter, whose feedback has been shown.
    pub explained: BTreeSet<char>,
    /// The number of hints that have been shown.
    pub hints: usize,
}

/// The steps that a class has been shown, and its answers.
#[derive(Default)]
pub(super) struct Class {
    /// The record of each question, by id.
    pub records: HashMap<String, Record>,
    /// Scripted answers, which are given when their questions are asked.
    pub scripted: ScriptedAnswers,
    /// The step that the class began at.
    pub first: usize,
    /// Whether more than the first page has been shown.
    pub has_begun: bool,
    /// The steps that have been shown to their end, by position.
    pub done: BTreeSet<usize>,
    /// The step that was left in an earlier hour.
    pub left: Option<String>,
}

impl Class {
    /// A class that begins at a step.
    pub(super) fn beginning_at(first: usize) -> Class {
        Class { first, ..Class::default() }
    }

    pub(super) fn record(&mut self, question: &Question) -> &mut Record {
        self.records.entry(question.id.clone()).or_default()
    }

    /// Whether a question has been answered, rightly or not.
    pub(super) fn has_tried(&self, question: &Question) -> bool {
        self.records.get(&question.id).is_some_and(|record| !record.given.is_empty())
    }

    /// The number of answered questions, and of those whose last answer was right.
    pub(super) fn score(&self) -> (usize, usize) {
        let answered = self.records.values().filter(|record| !record.given.is_empty());
        answered.fold((0, 0), |(all, right), record| (all + 1, right + usize::from(record.right)))
    }

    /// The typed answers to each question.
    pub(super) fn answers(&self) -> BTreeMap<String, Vec<String>> {
        let given = self.records.iter().filter(|(_, record)| !record.given.is_empty());
        given.map(|(question, record)| (question.clone(), record.given.clone())).collect()
    }

    /// The last vote at each question.
    pub(super) fn votes(&self) -> BTreeMap<String, Vec<usize>> {
        let votes =
            self.records.iter().filter_map(|(question, record)| Some((question, record.hands.as_ref()?)));
        votes.map(|(question, hands)| (question.clone(), hands.clone())).collect()
    }
}
