//! The diagnosis of a submission.

use std::sync::Arc;

use crate::graph::Graph;
use crate::matrix::Shape;

use super::catalogue::Mistake;
use super::compare::Difference;
use super::{Clue, EquivalentForm, Evidence, HalfPrecision, Resemblance, Slip};

/// The verdicts on the nodes of a submission, and the mistakes.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// Every node that was handed in, in the order of computing.
    pub nodes: Vec<JudgedNode>,
    /// Mistakes that change nothing on these inputs, neither here nor in the result; they are not ruled out.
    pub undetectable: Vec<&'static Mistake>,
    /// Mistakes that would show here if more digits had been handed in.
    pub too_coarse: Vec<&'static Mistake>,
    /// Whether pairs of mistakes were tried; false if that would have taken too long.
    pub pairs_tried: bool,
}

/// A submitted node with its verdict.
#[derive(Clone, Debug)]
pub struct JudgedNode {
    /// Its name as handed in.
    pub name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The mistakes that give these numbers, the closest first; all of them fit as well as the numbers can tell.
    pub mistakes: Vec<NamedMistake>,
    /// The later step of the scores that these numbers are, where the mistakes fit that: `S_scaled`.
    pub read_as: Option<String>,
    /// The matrix that was handed in instead, where no mistake explains the numbers.
    pub resembles: Option<Resemblance>,
    /// Clues, where no mistake explains the numbers.
    pub clues: Vec<Clue>,
    /// The most telling cells: yours, the right ones, and those of the closest mistake.
    pub evidence: Vec<Evidence>,
    /// Whether the closest mistake may fit by chance: few numbers with few digits, or NaN alone.
    pub may_be_chance: bool,
    /// The type of half precision that has these numbers, where they are right within its rounding.
    pub half: Option<&'static HalfPrecision>,
    /// Whether mistakes were found that chance would have fitted as well: too few numbers, or too few digits.
    pub too_few_digits: bool,
}

/// The verdict on a node.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The right numbers.
    Right(Distance),
    /// Numbers stored in half precision: near the right ones, but further away than that precision explains.
    Close(CloseNumbers),
    /// Other numbers that lead to the same result.
    AnotherForm(&'static EquivalentForm),
    /// Wrong numbers that follow correctly from the student's own earlier nodes.
    Follows,
    /// Wrong numbers.
    Wrong(Distance),
    /// Another shape: handed in, and expected.
    OtherShape(Shape, Shape),
    /// Another number of matrices, one a head: handed in, and expected.
    OtherCount(usize, usize),
    /// Not judged: the student's own earlier nodes do not allow this step.
    Unjudged,
}

/// The distance of a node from the expected numbers, and the matrix in which it occurs.
#[derive(Clone, Debug)]
pub struct Distance {
    /// The node of the graph: `A_2` for the second head of `A`.
    pub node: String,
    /// The difference.
    pub difference: Difference,
}

/// The distance of numbers that are near the right ones, but not right.
#[derive(Clone, Debug)]
pub struct CloseNumbers {
    /// The distance.
    pub distance: Distance,
    /// The distance of the cell that is furthest beyond the rounding of their type.
    pub beyond: Distance,
    /// The type in which they are stored.
    pub half: &'static HalfPrecision,
}

/// One mistake, or two together, that give the student's numbers.
#[derive(Clone, Debug)]
pub struct NamedMistake {
    /// The mistake, or both.
    pub slips: Vec<Slip>,
    /// The max difference that remains.
    pub residual: f64,
    /// The probability that meaningless numbers fit any of the tried candidates; always small for a named mistake.
    pub chance: f64,
    /// The computation with the mistakes in it.
    pub graph: Arc<Graph>,
}

impl NamedMistake {
    /// The names of the mistakes.
    pub fn ids(&self) -> Vec<&'static str> {
        self.slips.iter().map(|slip| slip.mistake.id).collect()
    }
}

impl Verdict {
    /// The verdict on matrices with these distances: the first wrong one decides, else the furthest right one.
    pub(super) fn of(all: Vec<Distance>) -> Option<Verdict> {
        let mut worst: Option<Distance> = None;
        for distance in all {
            let is_worse = match &worst {
                None => true,
                Some(known) if known.difference.fits() => {
                    !distance.difference.fits() || distance.difference.max > known.difference.max
                }
                Some(_) => false,
            };
            if is_worse {
                worst = Some(distance);
            }
        }
        worst.map(|distance| {
            if distance.difference.fits() { Verdict::Right(distance) } else { Verdict::Wrong(distance) }
        })
    }

    /// Whether there is nothing to correct.
    pub fn is_right(&self) -> bool {
        matches!(self, Verdict::Right(_) | Verdict::AnotherForm(_) | Verdict::Follows)
    }
}

impl Diagnosis {
    /// The first node that is wrong; where there is none, the first that is only close.
    pub fn first_wrong(&self) -> Option<&JudgedNode> {
        let is_close = |node: &JudgedNode| matches!(node.verdict, Verdict::Close(_));
        let wrong = self.nodes.iter().find(|node| !node.verdict.is_right() && !is_close(node));
        wrong.or_else(|| self.nodes.iter().find(|node| is_close(node)))
    }

    /// The verdict in one word: `right`, `close` where nothing worse was found, or `wrong`.
    pub fn verdict(&self) -> &'static str {
        let worse =
            |node: &&JudgedNode| !node.verdict.is_right() && !matches!(node.verdict, Verdict::Close(_));
        match (self.is_right(), self.nodes.iter().any(|node| worse(&node))) {
            (true, _) => "right",
            (false, false) => "close",
            (false, true) => "wrong",
        }
    }

    /// Whether nothing is wrong.
    pub fn is_right(&self) -> bool {
        self.first_wrong().is_none()
    }
}
