//! The rounding errors of half precision in the numbers of an exercise.

use crate::graph::{Graph, Origin};
use crate::matrix::Matrix;

use super::answer::Part;
use super::compare::{Difference, difference, distance, half_unit};
use super::diagnosis::{Distance, HALF_PRECISIONS, HalfPrecision, Verdict};
use super::task::standing_for;
use super::{Answer, Task};

/// The right computation is repeated this many times, each time rounded in another way.
const RUNS: u64 = 16;
/// A computation that rounds to the nearest number moves no cell further than the furthest of these runs, times this: measured
/// with NumPy on 2,000 computations in five orders of the operations.
const BEYOND_THE_RUNS: f64 = 1.6;

/// The rounding errors of half precision in the cells of an answer.
#[derive(Clone, Debug)]
pub struct HalfPrecisionMoves {
    /// The type.
    pub half: &'static HalfPrecision,
    /// The rounding error of each cell, for each matrix of the answer.
    cells: Vec<Matrix>,
    /// Half a unit of the last decimal, where a print has rounded the numbers of the type.
    printed: f64,
}

impl HalfPrecision {
    /// A graph with the same names, in which every number of every step is rounded. `None` where a step cannot be computed so.
    fn computed(&self, graph: &Graph, run: u64) -> Option<Graph> {
        let mut all: Vec<Matrix> = Vec::new();
        let mut rounded = Graph::new();
        for (_, node) in graph.nodes() {
            let exact = if node.op.is_given() {
                node.matrix()?.clone()
            } else {
                let inputs: Vec<&Matrix> = node.inputs.iter().map(|id| &all[id.position()]).collect();
                node.op.apply(&inputs).ok()?
            };
            let matrix = exact.map(|x| self.rounded(x, run));
            rounded.given(&node.name, matrix.clone(), Origin::Stated).ok()?;
            all.push(matrix);
        }
        Some(rounded)
    }

    /// How far the cells of an answer move. `None` where the right answer has no such node, or a step leaves the range of the
    /// type.
    pub(super) fn moves(&'static self, task: &Task, part: &Part<'_>) -> Option<HalfPrecisionMoves> {
        let exact: Option<Vec<&Matrix>> =
            part.matrices.iter().map(|(node, _)| standing_for(task.right(), node)).collect();
        let exact = exact?;
        let mut cells: Vec<Matrix> = exact.iter().map(|exact| exact.map(|_| 0.0)).collect();
        for run in 0..RUNS {
            let rounded = self.computed(task.right(), run)?;
            for ((most, exact), (node, _)) in cells.iter_mut().zip(&exact).zip(&part.matrices) {
                let moved = standing_for(&rounded, node)?;
                *most = Matrix::from_fn(most.rows(), most.cols(), |i, j| {
                    most[(i, j)].max(distance(moved[(i, j)], exact[(i, j)]))
                });
            }
        }
        let is_finite = cells.iter().flat_map(|matrix| matrix.cells()).all(f64::is_finite);
        let is_stored = part.matrices.iter().all(|(_, yours)| self.has(yours));
        let printed = part.answer.decimals.filter(|_| !is_stored).map_or(0.0, half_unit);
        is_finite.then_some(HalfPrecisionMoves { half: self, cells, printed })
    }
}

impl HalfPrecisionMoves {
    /// Whether each cell is off by no more than the rounding of the number itself, of its print, and what the computation moves
    /// it.
    pub(super) fn compared(&self, task: &Task, part: &Part<'_>) -> Option<Verdict> {
        let one = |((node, yours), moves): (&(String, &Matrix), &Matrix)| {
            let expected = standing_for(task.right(), node)?;
            let difference = difference(yours, expected, |at, right| self.allowed(moves, at, right))?;
            Some(Distance { node: node.clone(), difference })
        };
        let all: Option<Vec<Distance>> = part.matrices.iter().zip(&self.cells).map(one).collect();
        Verdict::of(all?)
    }

    fn allowed(&self, moves: &Matrix, at: (usize, usize), right: f64) -> f64 {
        self.half.unit * right.abs() + BEYOND_THE_RUNS * moves[at] + self.printed
    }

    /// The difference, with the cell that is furthest beyond its tolerance as the worst one.
    pub(super) fn furthest_beyond(&self, task: &Task, part: &Part<'_>) -> Option<Distance> {
        let mut furthest: Option<(f64, Distance)> = None;
        for ((node, yours), moves) in part.matrices.iter().zip(&self.cells) {
            let expected = standing_for(task.right(), node)?;
            let all = difference(yours, expected, |at, right| self.allowed(moves, at, right))?;
            for at in yours.shape().places() {
                let (off, allowed) =
                    (distance(yours[at], expected[at]), self.allowed(moves, at, expected[at]));
                let beyond = off / allowed.max(f64::MIN_POSITIVE);
                if furthest.as_ref().is_none_or(|(most, _)| beyond > *most) {
                    let (yours, expected) = (yours[at], expected[at]);
                    let difference = Difference { max: off, allowed, at, yours, expected, ..all };
                    furthest = Some((beyond, Distance { node: node.clone(), difference }));
                }
            }
        }
        furthest.map(|(_, distance)| distance)
    }
}

/// The type of half precision that has every number of an answer which a file stores in another type, if that type explains what
/// the answer is off by.
pub fn in_half_precision(task: &Task, answer: &Answer) -> Option<HalfPrecisionMoves> {
    let is_fraction = answer.matrices.iter().any(|matrix| matrix.cells().any(|x| x.fract() != 0.0));
    let part =
        answer.part(task.right()).ok().filter(|part| is_fraction && part.matrices.len() == part.expected)?;
    let has_all = |half: &&HalfPrecision| answer.matrices.iter().all(|matrix| half.has(matrix));
    let explains = |half: &'static HalfPrecision| {
        let moves = half.moves(task, &part)?;
        let verdict = moves.compared(task, &part)?;
        verdict.is_right().then_some(moves)
    };
    HALF_PRECISIONS.iter().filter(has_all).find_map(explains)
}
