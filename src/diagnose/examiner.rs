//! Judging submissions: compare node by node, find the first that is wrong, and name the mistake.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::graph::build::Given;
use crate::graph::{Graph, Origin};
use crate::matrix::Matrix;

use super::answer::Part;
use super::candidates::{Candidates, standing_for};
use super::catalogue::Mistake;
use super::compare::{Allowed, Difference, difference, residual};
use super::diagnosis::{Diagnosis, Distance, Judged, Verdict};
use super::forms::{self, FORMS, Form};
use super::search::{Searched, search};
use super::task::empty_rows;
use super::{Answer, Change, Task, Tolerance};

/// Judges any number of submissions to one exercise; what the mistakes give is computed once.
pub struct Examiner {
    task: Task,
    candidates: Candidates,
    tolerance: Tolerance,
}

impl Examiner {
    /// For this exercise.
    pub fn new(task: Task, tolerance: Tolerance) -> Examiner {
        let candidates = Candidates::of(&task);
        Examiner { task, candidates, tolerance }
    }

    /// The exercise.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Judges what one student handed in.
    ///
    /// # Errors
    /// If a node does not exist, is given and not computed, or is handed in twice.
    pub fn examine(&self, answers: &[Answer]) -> Result<Diagnosis> {
        let parts = self.in_order(answers)?;
        let mut walk = Walk {
            examiner: self,
            own: BTreeMap::new(),
            turned: false,
            any_wrong: false,
            pairs_tried: true,
            mistaken: Vec::new(),
        };
        let mut nodes = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            nodes.push(walk.judge(part, &parts[..at]));
        }
        let pairs_tried = walk.pairs_tried;
        Ok(Diagnosis { nodes, undetectable: self.undetectable(&parts), pairs_tried })
    }

    fn in_order<'a>(&self, answers: &'a [Answer]) -> Result<Vec<Part<'a>>> {
        let mut parts: Vec<Part<'a>> =
            answers.iter().map(|answer| answer.part(self.task.right())).collect::<Result<_>>()?;
        parts.sort_by_key(|part| part.first);
        let nodes =
            |part: &Part<'a>| part.matrices.iter().map(|(node, _)| node.clone()).collect::<BTreeSet<_>>();
        for (at, part) in parts.iter().enumerate() {
            let twice = parts[..at]
                .iter()
                .find_map(|earlier| nodes(earlier).intersection(&nodes(part)).next().cloned());
            if let Some(node) = twice {
                return Err(Error::new(format!("{node} is handed in twice")).help("hand in each node once"));
            }
        }
        Ok(parts)
    }

    /// The mistakes that can be made here, and none of whose ways changes any of these nodes.
    fn undetectable(&self, parts: &[Part<'_>]) -> Vec<&'static Mistake> {
        let mut hidden: Vec<(&'static Mistake, bool)> = Vec::new();
        self.candidates.each_single(&self.task, |candidate| {
            let mistake = candidate.slips[0].mistake;
            let same = parts.iter().all(|part| {
                part.matrices.iter().all(|(node, _)| {
                    let right = standing_for(self.task.right(), node);
                    right.zip(candidate.matrix(node)).is_some_and(|(right, mistaken)| {
                        let allowed = Allowed::between(part.answer, right, &self.tolerance);
                        residual(&mistaken, right, allowed).is_some()
                    })
                })
            });
            match hidden.iter_mut().find(|(known, _)| std::ptr::eq(*known, mistake)) {
                Some((_, all)) => *all &= same,
                None => hidden.push((mistake, same)),
            }
        });
        hidden.into_iter().filter(|(_, same)| *same).map(|(mistake, _)| mistake).collect()
    }
}

/// The way through what one student handed in.
struct Walk<'a> {
    examiner: &'a Examiner,
    /// The student's own nodes so far.
    own: BTreeMap<String, Given>,
    /// Whether the student works with tokens as columns.
    turned: bool,
    any_wrong: bool,
    pairs_tried: bool,
    /// The computations with the mistakes that earlier nodes show.
    mistaken: Vec<Arc<Graph>>,
}

impl Walk<'_> {
    fn judge(&mut self, part: &Part<'_>, earlier: &[Part<'_>]) -> Judged {
        let mut judged = Judged {
            name: part.answer.name.clone(),
            verdict: Verdict::Unjudged,
            mistakes: Vec::new(),
            too_few_digits: false,
        };
        let examiner = self.examiner;
        let compared = self.compared(part, examiner.task.right(), false);
        let is_right = matches!(&compared, Verdict::Right(_));
        if is_right {
            judged.verdict = compared;
        } else if let Some(form) = self.another_form(part) {
            judged.verdict = Verdict::AnotherForm(form);
            return judged;
        } else if !self.own.is_empty() {
            self.judge_own(part, earlier, compared, &mut judged);
        } else {
            judged.verdict = compared;
            self.name(part, &[], &mut judged);
        }
        for (node, matrix) in &part.matrices {
            let matrix = if self.turned { matrix.transposed() } else { (*matrix).clone() };
            self.own.insert(node.clone(), (matrix, Origin::User("the student".into())));
        }
        judged
    }

    /// Judges a node that is not right, after nodes that may have been wrong or rounded.
    fn judge_own(&mut self, part: &Part<'_>, earlier: &[Part<'_>], compared: Verdict, judged: &mut Judged) {
        let task = self.examiner.task.given_instead(self.own.clone());
        let follows = self.compared(part, task.right(), false);
        // The same mistake in another head, or further on, is not reported again.
        let again = self.mistaken.iter().any(|graph| self.fits(part, graph));
        if again || self.fits(part, task.right()) || self.fits_unguarded(part, &task) {
            judged.verdict = Verdict::Follows;
            return;
        }
        if !self.any_wrong {
            judged.verdict = compared;
            self.name(part, earlier, judged);
            if !judged.mistakes.is_empty() {
                return;
            }
        }
        judged.verdict = follows;
        if matches!(judged.verdict, Verdict::Unjudged) {
            return;
        }
        let own = Examiner::new(task, self.examiner.tolerance);
        let found = search(&own.task, &own.candidates, &self.examiner.tolerance, part, &[]);
        self.take(found, judged);
    }

    fn name(&mut self, part: &Part<'_>, earlier: &[Part<'_>], judged: &mut Judged) {
        let Examiner { task, candidates, tolerance } = self.examiner;
        let found = search(task, candidates, tolerance, part, earlier);
        self.take(found, judged);
    }

    fn take(&mut self, found: Searched, judged: &mut Judged) {
        self.any_wrong = true;
        self.pairs_tried &= found.pairs_tried;
        self.turned |= found.named.first().is_some_and(|named| named.ids().contains(&"column-convention"));
        self.mistaken.extend(found.named.iter().map(|named| named.graph.clone()));
        judged.mistakes = found.named;
        judged.too_few_digits = found.too_few_digits;
    }

    /// Whether a part has the numbers of a graph, also with rows as columns where the student works so.
    fn fits(&self, part: &Part<'_>, graph: &Graph) -> bool {
        let as_is = |turned| matches!(self.compared(part, graph, turned), Verdict::Right(_));
        as_is(false) || (self.turned && as_is(true))
    }

    /// Whether a part follows as NumPy and PyTorch compute it, where the student's own nodes leave rows with nothing to
    /// attend to that have something in the right answer.
    fn fits_unguarded(&self, part: &Part<'_>, own: &Task) -> bool {
        let emptied = empty_rows(own.right()) > self.examiner.task.facts().empty_rows;
        emptied && self.fits(part, &own.with([&Change::Unguarded]))
    }

    /// A part beside the same nodes of a graph, as they are or with their rows as columns.
    fn compared(&self, part: &Part<'_>, expected: &Graph, turned: bool) -> Verdict {
        if part.matrices.len() != part.expected {
            return Verdict::OtherCount(part.matrices.len(), part.expected);
        }
        let mut worst: Option<Distance> = None;
        for (node, matrix) in &part.matrices {
            let Some(expected) = standing_for(expected, node) else { return Verdict::Unjudged };
            let expected = if turned { expected.transposed() } else { expected.clone() };
            let Some(difference) = self.difference(part.answer, matrix, &expected) else {
                return Verdict::OtherShape(matrix.shape(), expected.shape());
            };
            let is_worse = match &worst {
                None => true,
                Some(known) if known.difference.fits() => {
                    !difference.fits() || difference.largest > known.difference.largest
                }
                Some(_) => false,
            };
            if is_worse {
                worst = Some(Distance { node: node.clone(), difference });
            }
        }
        match worst {
            Some(distance) if distance.difference.fits() => Verdict::Right(distance),
            Some(distance) => Verdict::Wrong(distance),
            None => Verdict::Unjudged,
        }
    }

    fn difference(&self, answer: &Answer, yours: &Matrix, expected: &Matrix) -> Option<Difference> {
        let allowed = Allowed::between(answer, expected, &self.examiner.tolerance);
        let plain = difference(yours, expected, allowed)?;
        if plain.fits() {
            return Some(plain);
        }
        // −1e9 hides a key as well as −∞ does.
        let hidden =
            forms::with_infinities(yours, expected).and_then(|yours| difference(&yours, expected, allowed));
        Some(hidden.filter(Difference::fits).unwrap_or(plain))
    }

    /// The other right way that gives these numbers.
    fn another_form(&self, part: &Part<'_>) -> Option<&'static Form> {
        let right = self.examiner.task.right();
        FORMS.iter().find(|form| {
            part.matrices.iter().all(|(node, matrix)| {
                let expected = form.matrix(right, node);
                expected
                    .and_then(|expected| self.difference(part.answer, matrix, &expected))
                    .is_some_and(|difference| difference.fits())
            })
        })
    }
}
