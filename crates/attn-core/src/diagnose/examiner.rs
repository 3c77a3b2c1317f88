//! Judging submissions: compare node by node, find the first that is wrong, and name the mistake.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::matrix::Matrix;

use super::answer::Part;
use super::cache::Memo;
use super::candidates::{CandidateList, Candidates, Row};
use super::catalogue::Mistake;
use super::compare::{CellTolerance, differing_cells, residual};
use super::diagnosis::Diagnosis;
use super::task::standing_for;
use super::walk::{Examiner, UnseenMistakes, Walk};
use super::{Answer, Task, Tolerance};

/// A matrix that was handed in, and the right one.
#[derive(Clone, Debug)]
pub struct ComparedMatrix {
    /// The node: `A_2` for the second head of `A`.
    pub node: String,
    /// What was handed in.
    pub yours: Matrix,
    /// The right numbers.
    pub right: Matrix,
    /// The cells that differ by more than rounding, from 0; none where the shapes differ.
    pub differing: Vec<(usize, usize)>,
}

impl Examiner {
    /// An examiner for this exercise.
    pub fn new(task: Task, tolerance: Tolerance) -> Examiner {
        let (moves, unseen) = (Memo::default(), Memo::default());
        Examiner { candidates: Candidates::of(task), tolerance, moves, unseen }
    }

    /// Judges the submission of one student.
    ///
    /// # Errors
    /// If a node does not exist, is given and not computed, or is handed in twice.
    pub fn examine(&self, answers: &[Answer]) -> Result<Diagnosis> {
        let parts = self.in_order(answers)?;
        let mut walk = Walk::new(self);
        let nodes = parts.iter().enumerate().map(|(at, part)| walk.judge(part, &parts[..at])).collect();
        let pairs_tried = walk.pairs_tried;
        let digits = parts.iter().map(digits).collect();
        let UnseenMistakes { undetectable, too_coarse } = self.unseen.get(digits, || self.unseen_in(&parts));
        Ok(Diagnosis { nodes, undetectable, too_coarse, pairs_tried })
    }

    /// The matrices of a submission beside the right ones, with the cells that differ, in the order of computing.
    ///
    /// # Errors
    /// As [`Examiner::examine`].
    pub fn compare(&self, answers: &[Answer]) -> Result<Vec<ComparedMatrix>> {
        let right = self.task().right();
        let compared = |answer: &Answer, (node, yours): &(String, &Matrix)| {
            let right = standing_for(right, node)?;
            let allowed = CellTolerance::between(answer, right, &self.tolerance);
            let differing = differing_cells(yours, right, |expected| allowed.around(expected));
            Some(ComparedMatrix {
                node: node.clone(),
                yours: (*yours).clone(),
                right: right.clone(),
                differing,
            })
        };
        let parts = self.in_order(answers)?;
        let of_part =
            |part: &Part<'_>| part.matrices.iter().filter_map(|one| compared(part.answer, one)).collect();
        Ok(parts.iter().map(of_part).collect::<Vec<Vec<_>>>().concat())
    }

    fn in_order<'a>(&self, answers: &'a [Answer]) -> Result<Vec<Part<'a>>> {
        let mut parts: Vec<Part<'a>> =
            answers.iter().map(|answer| answer.part(self.task().right())).collect::<Result<_>>()?;
        parts.sort_by_key(|part| part.first);
        let nodes =
            |part: &Part<'a>| part.matrices.iter().map(|(node, _)| node.clone()).collect::<BTreeSet<_>>();
        for (at, part) in parts.iter().enumerate() {
            let twice = parts[..at]
                .iter()
                .find_map(|earlier| nodes(earlier).intersection(&nodes(part)).next().cloned());
            if let Some(node) = twice {
                return Err(
                    Error::new(format!("{node} is handed in twice")).help("hand in each node only once")
                );
            }
        }
        Ok(parts)
    }
}

// Mistakes that cannot be seen, because of the input or because of too few digits.

fn digits(part: &Part<'_>) -> (Vec<String>, Option<usize>, u64) {
    let nodes = part.matrices.iter().map(|(node, _)| node.clone()).collect();
    (nodes, part.answer.decimals, part.answer.roundoff.to_bits())
}

/// A node with its right numbers, and the tolerances with all digits and with the student's digits.
type Expectation<'a> = (String, &'a Matrix, [CellTolerance; 2]);

impl Examiner {
    /// The mistakes that do not change the numbers of these parts, or change them by less than the digits show. A mistake in a
    /// later step is not listed.
    fn unseen_in(&self, parts: &[Part<'_>]) -> UnseenMistakes {
        let task = self.task();
        let exact =
            |answer: &Answer| Answer { matrices: Vec::new(), decimals: None, digits: None, ..answer.clone() };
        let exact: Vec<Answer> = parts.iter().map(|part| exact(part.answer)).collect();
        let expected = |node: &str, answers: [&Answer; 2]| -> Option<Expectation<'_>> {
            let right = standing_for(task.right(), node)?;
            let allowed = answers.map(|answer| CellTolerance::between(answer, right, &self.tolerance));
            Some((node.to_string(), right, allowed))
        };
        let of_part = |(part, exact): (&Part<'_>, &Answer)| {
            let nodes = part.matrices.iter().filter_map(|(node, _)| expected(node, [exact, part.answer]));
            nodes.collect::<Vec<_>>()
        };
        let nodes: Vec<Expectation<'_>> = parts.iter().zip(&exact).flat_map(of_part).collect();
        let results = task.results().iter();
        let results: Vec<Expectation<'_>> =
            results.filter_map(|node| expected(node, [exact.first()?; 2])).collect();
        let names: BTreeSet<String> = nodes.iter().chain(&results).map(|(node, ..)| node.clone()).collect();
        let names: Vec<String> = names.into_iter().collect();
        // Each mistake with whether all ways to make it are hidden, and whether they are too small to be seen.
        let mut all: Vec<(&Arc<Mistake>, [bool; 2])> = Vec::new();
        self.candidates.each(CandidateList::Classic, &names, None, |row: &Row<'_>| {
            let Some(mistake) = self.candidates.mistake(row.candidate) else { return };
            let shows = |nodes: &[Expectation<'_>], digits: usize| {
                nodes.iter().any(|(node, right, allowed)| {
                    let mistaken = row.numbers(node);
                    mistaken.is_none_or(|own| residual(&own.matrix, right, allowed[digits]).is_none())
                })
            };
            let is_exactly_seen = shows(&nodes, 0);
            let is_hidden = !is_exactly_seen && !shows(&results, 0);
            let is_too_coarse = is_exactly_seen && !shows(&nodes, 1);
            match all.iter_mut().find(|(known, _)| Arc::ptr_eq(known, mistake)) {
                Some((_, [hidden, too_coarse])) => {
                    *hidden &= is_hidden;
                    *too_coarse &= is_too_coarse;
                }
                None => all.push((mistake, [is_hidden, is_too_coarse])),
            }
        });
        // With one head the widths of model and head may be equal, so they cannot be confused.
        let one_head = task.recipe().heads == 1;
        all.retain(|(mistake, _)| !(one_head && mistake.id == "scale-model-width"));
        let [undetectable, too_coarse] = [0, 1].map(|which: usize| {
            let those = all.iter().filter(|(_, is)| is[which]);
            those.map(|(mistake, _)| Arc::clone(mistake)).collect()
        });
        UnseenMistakes { undetectable, too_coarse }
    }
}
