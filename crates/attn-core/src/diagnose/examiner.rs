//! Judging submissions: compare node by node, find the first that is wrong, and name the mistake.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::matrix::Matrix;

use super::answer::Part;
use super::cache::Row;
use super::candidates::standing_for;
use super::catalogue::Mistake;
use super::compare::{CellTolerance, differing_cells, residual};
use super::diagnosis::Diagnosis;
use super::half_precision::MovesCache;
use super::plans::{CandidateList, Candidates};
use super::walk::{Exercise, Walk};
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

/// Judges submissions to one exercise; the computations with mistakes are made once.
pub struct Examiner {
    exercise: Exercise,
    hidden: UnseenMistakesCache,
}

impl Examiner {
    /// An examiner for this exercise.
    pub fn new(task: Task, tolerance: Tolerance) -> Examiner {
        let candidates = Candidates::of(&task);
        Examiner {
            exercise: Exercise { task, candidates, tolerance, moves: MovesCache::default() },
            hidden: UnseenMistakesCache::default(),
        }
    }

    /// The exercise.
    pub fn task(&self) -> &Task {
        &self.exercise.task
    }

    /// Judges the submission of one student.
    ///
    /// # Errors
    /// If a node does not exist, is given and not computed, or is handed in twice.
    pub fn examine(&self, answers: &[Answer]) -> Result<Diagnosis> {
        let parts = self.in_order(answers)?;
        let mut walk = Walk::new(&self.exercise);
        let nodes = parts.iter().enumerate().map(|(at, part)| walk.judge(part, &parts[..at])).collect();
        let pairs_tried = walk.pairs_tried;
        let UnseenMistakes { undetectable, too_coarse } = self.hidden.of(&self.exercise, &parts);
        Ok(Diagnosis { nodes, undetectable, too_coarse, pairs_tried })
    }

    /// The matrices of a submission beside the right ones, with the cells that differ, in the order of computing.
    ///
    /// # Errors
    /// As [`Examiner::examine`].
    pub fn compare(&self, answers: &[Answer]) -> Result<Vec<ComparedMatrix>> {
        let right = self.exercise.task.right();
        let compared = |answer: &Answer, (node, yours): &(String, &Matrix)| {
            let right = standing_for(right, node)?;
            let allowed = CellTolerance::between(answer, right, &self.exercise.tolerance);
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
            answers.iter().map(|answer| answer.part(self.exercise.task.right())).collect::<Result<_>>()?;
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

/// The mistakes that cannot be seen in some parts.
#[derive(Clone)]
pub(super) struct UnseenMistakes {
    /// Mistakes that change neither these parts nor the result in any way of making them.
    pub undetectable: Vec<&'static Mistake>,
    /// Mistakes whose changes of these parts are smaller than the student's digits.
    pub too_coarse: Vec<&'static Mistake>,
}

/// The key of some parts: for each its nodes, its decimals, and the bits of its roundoff.
type Digits = Vec<(Vec<String>, Option<usize>, u64)>;

/// The unseen mistakes of earlier submissions, by their digits; they do not depend on the numbers.
#[derive(Default)]
pub(super) struct UnseenMistakesCache(Mutex<BTreeMap<Digits, UnseenMistakes>>);

/// The maximum number of kept entries.
const MOST_KEPT: usize = 1000;

impl UnseenMistakesCache {
    /// The mistakes that cannot be seen in these parts.
    pub(super) fn of(&self, exercise: &Exercise, parts: &[Part<'_>]) -> UnseenMistakes {
        let digits = |part: &Part<'_>| {
            let nodes = part.matrices.iter().map(|(node, _)| node.clone()).collect();
            (nodes, part.answer.decimals, part.answer.roundoff.to_bits())
        };
        let digits: Digits = parts.iter().map(digits).collect();
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&digits).cloned();
        known.unwrap_or_else(|| {
            let hidden = hidden(exercise, parts);
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if all.len() < MOST_KEPT {
                all.insert(digits, hidden.clone());
            }
            hidden
        })
    }
}

/// Whether a mistake can be seen in the submitted parts, over all ways of making it.
struct MistakeStanding {
    mistake: &'static Mistake,
    hidden: bool,
    too_coarse: bool,
}

/// The mistakes that do not change the numbers of these parts, or change them by less than the digits show. A mistake in a
/// later step is not listed.
fn hidden(exercise: &Exercise, parts: &[Part<'_>]) -> UnseenMistakes {
    let mut all: Vec<MistakeStanding> = Vec::new();
    let digits =
        |answer: &Answer| Answer { matrices: Vec::new(), decimals: None, digits: None, ..answer.clone() };
    let exact: Vec<Answer> = parts.iter().map(|part| digits(part.answer)).collect();
    // For each node the right numbers, and the tolerances with all digits and with the student's digits.
    type Expectation<'a> = (String, &'a Matrix, [CellTolerance; 2]);
    let asked = |node: &str, answers: [&Answer; 2]| -> Option<Expectation<'_>> {
        let right = standing_for(exercise.task.right(), node)?;
        let allowed = answers.map(|answer| CellTolerance::between(answer, right, &exercise.tolerance));
        Some((node.to_string(), right, allowed))
    };
    let nodes: Vec<Expectation<'_>> = parts
        .iter()
        .zip(&exact)
        .flat_map(|(part, exact)| {
            part.matrices.iter().filter_map(|(node, _)| asked(node, [exact, part.answer]))
        })
        .collect();
    let results = exercise.task.results().iter();
    let results: Vec<Expectation<'_>> =
        results.filter_map(|node| asked(node, [exact.first()?, exact.first()?])).collect();
    let changes = |row: &Row<'_>, (node, right, _): &Expectation<'_>, allowed: CellTolerance| {
        let mistaken = row.numbers(node);
        mistaken.is_none_or(|mistaken| residual(&mistaken.matrix, right, allowed).is_none())
    };
    let names: BTreeSet<String> = nodes.iter().chain(&results).map(|(node, ..)| node.clone()).collect();
    let names: Vec<String> = names.into_iter().collect();
    exercise.candidates.each(CandidateList::Classic, &exercise.task, &names, |row| {
        let Some(mistake) = exercise.candidates.mistake(row.plan) else { return };
        let shows = nodes.iter().any(|asked| changes(row, asked, asked.2[0]));
        let in_result = || results.iter().any(|asked| changes(row, asked, asked.2[0]));
        let hidden = !shows && !in_result();
        let too_coarse = shows && !nodes.iter().any(|asked| changes(row, asked, asked.2[1]));
        match all.iter_mut().find(|known| std::ptr::eq(known.mistake, mistake)) {
            Some(known) => {
                known.hidden &= hidden;
                known.too_coarse &= too_coarse;
            }
            None => all.push(MistakeStanding { mistake, hidden, too_coarse }),
        }
    });
    // With one head the widths of model and head may be equal, so they cannot be confused.
    let one_head = exercise.task.recipe().heads == 1;
    let is_possible = |mistake: &&'static Mistake| !(one_head && mistake.id == "scale-model-width");
    let those = |is: fn(&MistakeStanding) -> bool| {
        let standings = all.iter().filter(|standing| is(standing));
        standings.map(|standing| standing.mistake).filter(is_possible).collect()
    };
    UnseenMistakes {
        undetectable: those(|standing| standing.hidden),
        too_coarse: those(|standing| standing.too_coarse),
    }
}
