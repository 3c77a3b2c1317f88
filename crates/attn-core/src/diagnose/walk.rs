//! The walk through one submission, in the order of computing.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::graph::recipes::Change;
use crate::graph::{Given, Graph, Origin, Step};
use crate::matrix::Matrix;

use super::Task;
use super::answer::{Part, readings};
use super::cache::Memo;
use super::candidates::{Candidates, Computation};
use super::catalogue::Mistake;
use super::compare::{CellTolerance, Difference, Tolerance, difference, residual};
use super::diagnosis::{CloseNumbers, Distance, HalfPrecision, JudgedNode, Verdict, evidence};
use super::equivalent_forms::{EquivalentForm, FORMS};
use super::half_precision::{HalfPrecisionMoves, in_half_precision};
use super::task::empty_rows;
use super::task::standing_for;

/// Judges submissions to one exercise; the computations with mistakes are made once.
pub struct Examiner {
    pub(super) candidates: Candidates,
    pub(super) tolerance: Tolerance,
    /// The rounding errors of half precision, by type and nodes.
    pub(super) moves: Memo<(&'static str, Vec<String>), Option<HalfPrecisionMoves>, 100>,
    /// The mistakes that earlier submissions cannot show, by their digits; they do not depend on the numbers.
    pub(super) unseen: Memo<Digits, UnseenMistakes, 1000>,
}

impl Examiner {
    /// The exercise.
    pub fn task(&self) -> &Task {
        &self.candidates.task
    }
}

/// The mistakes that cannot be seen in some parts.
#[derive(Clone)]
pub(super) struct UnseenMistakes {
    /// Mistakes that change neither these parts nor the result in any way of making them.
    pub undetectable: Vec<Arc<Mistake>>,
    /// Mistakes whose changes of these parts are smaller than the student's digits.
    pub too_coarse: Vec<Arc<Mistake>>,
}

/// For each part its nodes, its decimals, and the bits of its roundoff.
pub(super) type Digits = Vec<(Vec<String>, Option<usize>, u64)>;

/// The state of the walk: the answers judged so far, and what they say about later ones.
pub(super) struct Walk<'a> {
    pub(super) examiner: &'a Examiner,
    /// The student's own nodes so far.
    own: BTreeMap<String, Given>,
    /// Scores of the student's that are wrong in an unknown way, and may be meant as any of these steps.
    pub(super) unread: Vec<Vec<String>>,
    /// Whether one of the student's nodes cannot be computed with.
    broken: bool,
    /// Whether the student works with tokens as columns.
    pub(super) turned: bool,
    pub(super) any_wrong: bool,
    /// Whether the mistakes in scores of the student's were found by reading them as a later step.
    pub(super) reads_scores: bool,
    /// Whether pairs of mistakes were tried wherever they were looked for.
    pub pairs_tried: bool,
    /// The computations with the mistakes that earlier nodes show.
    pub(super) mistaken: Vec<Arc<Computation>>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(examiner: &'a Examiner) -> Walk<'a> {
        Walk {
            examiner,
            own: BTreeMap::new(),
            unread: Vec::new(),
            broken: false,
            turned: false,
            any_wrong: false,
            reads_scores: false,
            pairs_tried: true,
            mistaken: Vec::new(),
        }
    }

    /// The exercise.
    pub(super) fn task(&self) -> &'a Task {
        self.examiner.task()
    }

    /// Judges a part; those before it have been judged.
    pub(super) fn judge(&mut self, part: &Part<'a>, earlier: &[Part<'a>]) -> JudgedNode {
        let verdict = self.compared(part, self.task().right(), false);
        let verdict = self.in_half_precision(part, &verdict).unwrap_or(verdict);
        let mut judged = JudgedNode::new(&part.answer.name, verdict);
        if let Verdict::Right(distance) = &judged.verdict {
            let by_hand = distance.difference.rounded_by_hand(part.answer);
            judged.half = HalfPrecision::of(part.answer).filter(|_| !by_hand);
        } else if let Some((verdict, half)) = self.stored_elsewhere(part, &judged.verdict) {
            (judged.verdict, judged.half) = (verdict, Some(half));
        }
        if !matches!(judged.verdict, Verdict::Right(_) | Verdict::Close(_)) {
            if let Some(form) = self.another_form(part) {
                judged.verdict = Verdict::AnotherForm(form);
                return judged;
            }
            if self.own.is_empty() && !self.broken {
                self.name(part, &[], &mut judged);
            } else {
                self.judge_own(part, earlier, &mut judged);
            }
        }
        self.carry_on(part, &judged);
        judged
    }

    /// Judges a node that is not right, after nodes that may have been wrong or rounded.
    fn judge_own(&mut self, part: &Part<'a>, earlier: &[Part<'a>], judged: &mut JudgedNode) {
        // The same mistake in another head, or further on, is not reported again.
        let is_mistaken = |reading: &Part<'a>| {
            self.mistaken.iter().any(|computation| self.fits_mistaken(reading, computation))
        };
        let mut own = self.own_tasks();
        let follows = |task: &Task| self.fits(part, task.right()) || self.fits_unguarded(part, task);
        // Scores of another head are the same later step as those before. They are still what further steps are computed from.
        let is_later = || readings(part, self.task().right())[1..].iter().any(is_mistaken);
        if is_mistaken(part) || own.iter().any(follows) || (self.reads_scores && is_later()) {
            judged.verdict = Verdict::Follows;
            return;
        }
        if !self.any_wrong {
            self.name(part, earlier, judged);
            if !judged.mistakes.is_empty() {
                return;
            }
        }
        judged.verdict = Verdict::Unjudged;
        if self.broken || own.is_empty() {
            return;
        }
        let task = own.swap_remove(0);
        judged.verdict = self.compared(part, task.right(), false);
        if matches!(judged.verdict, Verdict::Wrong(_)) {
            let candidates = Candidates::once_for(task, part);
            let readings = std::slice::from_ref(part);
            let search = self.search(&candidates, readings, &[]);
            let found = search.singles();
            let found = if found.named.is_empty() { found.or(|| search.general()) } else { found };
            judged.evidence =
                evidence(part, search.task().right(), found.named.first(), &self.examiner.tolerance);
            self.take(part, found, judged);
        }
    }

    /// The exercise from the student's own nodes, under every reading of scores that are wrong in an unknown way.
    fn own_tasks(&self) -> Vec<Task> {
        let mut all = vec![self.task().given_instead(self.own.clone())];
        let readings = self.unread.iter().map(Vec::len).max().unwrap_or(0);
        for reading in 1..readings {
            let renamed = |name: &String| {
                let steps = self.unread.iter().find(|steps| steps[0] == *name)?;
                steps.get(reading)
            };
            let own =
                self.own.iter().map(|(name, given)| (renamed(name).unwrap_or(name).clone(), given.clone()));
            all.push(self.task().given_instead(own.collect()));
        }
        all
    }

    /// What follows is judged with the student's own node as input, if it can be computed with.
    fn carry_on(&mut self, part: &Part<'a>, judged: &JudgedNode) {
        // A mean of heads and a batch are right, and nothing is computed from them.
        if matches!(judged.verdict, Verdict::AnotherForm(_)) && part.matrices.len() != part.expected {
            return;
        }
        for (node, matrix) in &part.matrices {
            let of_head =
                |step: Step| step.stage.of_head(Step::parse(node).and_then(|own| own.head)).to_string();
            let read = judged.read_as.as_deref().and_then(Step::parse).map(of_head);
            let node = read.as_ref().unwrap_or(node);
            let matrix = if self.turned { matrix.transposed() } else { (*matrix).clone() };
            let shape = standing_for(self.task().right(), node).map(Matrix::shape);
            if shape == Some(matrix.shape()) && part.matrices.len() == part.expected {
                self.own.insert(node.clone(), Given::new(matrix, Origin::User("the student".into())));
            } else {
                self.broken = true;
            }
        }
    }

    /// Whether a part has the numbers of a graph, also with rows as columns where the student works so.
    fn fits(&self, part: &Part<'_>, graph: &Graph) -> bool {
        let as_is = |turned| matches!(self.compared(part, graph, turned), Verdict::Right(_));
        as_is(false) || (self.turned && as_is(true))
    }

    /// The same of a computation with mistakes in it, in which one node may stand for another.
    fn fits_mistaken(&self, part: &Part<'_>, computation: &Computation) -> bool {
        part.matrices.iter().all(|(node, yours)| {
            let fits = |expected: &Matrix| residual(yours, expected, self.allowed(part, expected)).is_some();
            let upright = computation.upright(node);
            upright.is_some_and(|matrix| fits(matrix) || (self.turned && fits(&matrix.transposed())))
        })
    }

    /// The tolerance of a part beside these numbers.
    fn allowed(&self, part: &Part<'_>, expected: &Matrix) -> CellTolerance {
        CellTolerance::between(part.answer, expected, &self.examiner.tolerance)
    }

    /// Whether a part follows as NumPy and PyTorch compute it, where the student's own nodes leave rows with nothing to
    /// attend to that have something in the right answer.
    fn fits_unguarded(&self, part: &Part<'_>, own: &Task) -> bool {
        let emptied = empty_rows(own.right()) > self.task().facts().empty_rows;
        emptied && self.fits(part, &own.with([&Change::setting("guarded", false)]))
    }

    /// A part compared with the same nodes of a graph, as they are or with their rows as columns.
    pub(super) fn compared(&self, part: &Part<'_>, graph: &Graph, turned: bool) -> Verdict {
        if part.matrices.len() != part.expected {
            return Verdict::OtherCount(part.matrices.len(), part.expected);
        }
        let mut all = Vec::new();
        for (node, matrix) in &part.matrices {
            let Some(expected) = standing_for(graph, node) else { return Verdict::Unjudged };
            let expected = if turned { expected.transposed() } else { expected.clone() };
            let Some(difference) = self.difference(part, matrix, &expected) else {
                return Verdict::OtherShape(matrix.shape(), expected.shape());
            };
            all.push(Distance { node: node.clone(), difference });
        }
        Verdict::of(all).unwrap_or(Verdict::Unjudged)
    }

    fn difference(&self, part: &Part<'_>, yours: &Matrix, expected: &Matrix) -> Option<Difference> {
        let usual = self.allowed(part, expected);
        let beside = |allowed: CellTolerance| difference(yours, expected, |_, right| allowed.around(right));
        let difference = beside(usual)?;
        if difference.fits() {
            return Some(difference);
        }
        // Small numbers of which rounding leaves little are right if each of them is rounded correctly.
        let rounded = usual.rounded(part.answer).and_then(beside).filter(Difference::fits);
        Some(rounded.unwrap_or(difference))
    }

    /// The other right way that gives these numbers.
    fn another_form(&self, part: &Part<'_>) -> Option<&'static EquivalentForm> {
        let right = self.task().right();
        FORMS.iter().find(|form| {
            form.takes(part.matrices.len(), part.expected)
                && part.matrices.iter().all(|(node, matrix)| {
                    let expected = form.matrix(right, node, matrix, part.answer.decimals);
                    let difference = expected.and_then(|expected| self.difference(part, matrix, &expected));
                    difference.is_some_and(|difference| difference.fits())
                })
        })
    }

    // Verdicts on numbers in half precision.

    /// Another verdict where the numbers are stored in half precision and no tolerance is given: right within the rounding
    /// that this type causes in this exercise, and only close where the usual tolerance allows more.
    fn in_half_precision(&self, part: &Part<'_>, verdict: &Verdict) -> Option<Verdict> {
        let (task, Examiner { tolerance, moves, .. }) = (self.task(), self.examiner);
        let half = HalfPrecision::of(part.answer).filter(|_| *tolerance == Tolerance::default())?;
        match verdict {
            Verdict::Right(usual) if usual.difference.rounded_by_hand(part.answer) => return None,
            Verdict::Right(_) | Verdict::Wrong(_) => {}
            _ => return None,
        }
        let nodes = part.matrices.iter().map(|(node, _)| node.clone()).collect();
        let moves = moves.get((half.name, nodes), || half.moves(task, part))?;
        match (moves.compared(task, part)?, verdict) {
            (Verdict::Wrong(distance), Verdict::Right(_)) => {
                let beyond = moves.furthest_beyond(task, part)?;
                Some(Verdict::Close(CloseNumbers { distance, beyond, half }))
            }
            (right @ Verdict::Right(_), _) => Some(right),
            _ => None,
        }
    }

    /// Right where another type stores numbers of half precision, and that explains what they are off by.
    fn stored_elsewhere(
        &self,
        part: &Part<'_>,
        verdict: &Verdict,
    ) -> Option<(Verdict, &'static HalfPrecision)> {
        /// Fewer decimals are what somebody rounded by hand, and not what a type keeps.
        const LEAST_DECIMALS: usize = 4;
        let is_typed = part.answer.decimals.is_some_and(|decimals| decimals < LEAST_DECIMALS);
        let has_tolerance = self.examiner.tolerance != Tolerance::default();
        if has_tolerance || is_typed || !matches!(verdict, Verdict::Wrong(_)) {
            return None;
        }
        let moves = in_half_precision(self.task(), part.answer)?;
        Some((moves.compared(self.task(), part)?, moves.half))
    }
}
