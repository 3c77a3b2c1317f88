//! Judging submissions: compare node by node, find the first that is wrong, and name the mistake.

use std::collections::BTreeSet;

use crate::error::{Error, Result};

use super::answer::Part;
use super::diagnosis::Diagnosis;
use super::exercise::Exercise;
use super::half_moves::MovesCache;
use super::hidden::{UnseenMistakes, UnseenMistakesCache};
use super::plans::Candidates;
use super::walk::Walk;
use super::{Answer, Task, Tolerance};

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
