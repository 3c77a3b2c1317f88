//! What there is to say of a submission.

use std::sync::Arc;

use crate::graph::Graph;
use crate::matrix::Shape;

use super::catalogue::Mistake;
use super::compare::Difference;
use super::{Clue, EquivalentForm, Evidence, HalfPrecision, Resemblance, Slip};

/// Right or wrong, where, and what was done.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// Every node that was handed in, in the order of computing.
    pub nodes: Vec<JudgedNode>,
    /// Mistakes that would change nothing on these inputs, neither here nor in the result: neither blamed nor ruled out.
    pub undetectable: Vec<&'static Mistake>,
    /// Mistakes that would show here if more digits had been handed in.
    pub too_coarse: Vec<&'static Mistake>,
    /// Whether pairs of mistakes were looked at, or would have taken too long.
    pub pairs_tried: bool,
}

/// A node that was handed in.
#[derive(Clone, Debug)]
pub struct JudgedNode {
    /// Its name as handed in.
    pub name: String,
    /// What it is.
    pub verdict: Verdict,
    /// The mistakes that give these numbers, the closest first; all of them fit as well as the numbers can tell.
    pub mistakes: Vec<NamedMistake>,
    /// The later step of the scores that these numbers are, where the mistakes fit that: `S_scaled`.
    pub read_as: Option<String>,
    /// What was handed in instead, where no mistake explains it.
    pub resembles: Option<Resemblance>,
    /// What stands out in the numbers, where no mistake explains them.
    pub clues: Vec<Clue>,
    /// The cells that tell most: yours, the right ones, and what the closest mistake gives there.
    pub evidence: Vec<Evidence>,
    /// Whether the closest mistake may fit by chance: few numbers with few digits, or NaN alone.
    pub may_be_chance: bool,
    /// The type of half precision that has these numbers, where they are right within its rounding.
    pub half: Option<&'static HalfPrecision>,
    /// Whether mistakes were found that chance would have fitted as well: too few numbers, or too few digits.
    pub too_few_digits: bool,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The right numbers.
    Right(Distance),
    /// Numbers stored in half precision: near the right ones, but further away than that precision explains.
    Close(CloseNumbers),
    /// Other numbers that come to the same.
    AnotherForm(&'static EquivalentForm),
    /// Not the right numbers, but what follows from the student's own earlier nodes.
    Follows,
    /// Wrong numbers.
    Wrong(Distance),
    /// Another shape: handed in, and expected.
    OtherShape(Shape, Shape),
    /// Another number of matrices, one a head: handed in, and expected.
    OtherCount(usize, usize),
    /// The student's own earlier nodes allow no such step.
    Unjudged,
}

/// How far a node is from what is expected, and in which matrix of it.
#[derive(Clone, Debug)]
pub struct Distance {
    /// The node of the graph: `A_2` for the second head of `A`.
    pub node: String,
    /// How far.
    pub difference: Difference,
}

/// The distance of numbers that are near the right ones, but not right.
#[derive(Clone, Debug)]
pub struct CloseNumbers {
    /// How far they are.
    pub distance: Distance,
    /// The cell that is furthest beyond what their type explains, as the worst.
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
    /// How likely numbers without any meaning would have fitted one of all that was tried: small, or nothing is named.
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
    /// The verdict on matrices that are this far off: the first that is wrong decides, or the furthest of those that are right.
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

    /// All in one word: `right`, `close` where nothing worse was found, or `wrong`.
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
