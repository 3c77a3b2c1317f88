//! The diagnosis of a submission.

use std::borrow::Cow;
use std::sync::Arc;

use half::{bf16, f16};

use crate::graph::{CellId, Graph, address_of};
use crate::matrix::{Matrix, Shape};

use super::answer::Part;
use super::candidates::Computation;
use super::catalogue::{Mistake, Slip};
use super::compare::{CellTolerance, Difference, Tolerance, distance, hiding_like};
use super::task::standing_for;
use super::{Answer, EquivalentForm};

/// The verdicts on the nodes of a submission, and the mistakes.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// Every node that was handed in, in the order of computing.
    pub nodes: Vec<JudgedNode>,
    /// Mistakes that change nothing on these inputs, neither here nor in the result; they are not ruled out.
    pub undetectable: Vec<Arc<Mistake>>,
    /// Mistakes that would show here if more digits had been handed in.
    pub too_coarse: Vec<Arc<Mistake>>,
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

impl JudgedNode {
    /// A node with a verdict, and nothing else yet.
    pub(super) fn new(name: &str, verdict: Verdict) -> JudgedNode {
        JudgedNode {
            name: name.to_string(),
            verdict,
            mistakes: Vec::new(),
            read_as: None,
            resembles: None,
            clues: Vec::new(),
            evidence: Vec::new(),
            may_be_chance: false,
            half: None,
            too_few_digits: false,
        }
    }
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
    /// Whether what was solved for is beyond doubt; true where nothing was.
    pub(super) is_sure: bool,
    /// The computation with the mistakes in it.
    pub(super) computation: Arc<Computation>,
}

impl NamedMistake {
    /// The names of the mistakes.
    pub fn ids(&self) -> Vec<&str> {
        self.slips.iter().map(|slip| &*slip.mistake.id).collect()
    }

    /// Whether what was solved for is beyond doubt: enough cells beyond it, and a quantity of the exercise. True where nothing was.
    pub fn is_sure(&self) -> bool {
        self.is_sure
    }

    /// The computation with the mistakes in it.
    pub fn graph(&self) -> &Graph {
        &self.computation.graph
    }
}

impl Verdict {
    /// The verdict on matrices with these distances: the first wrong one decides, else the furthest right one.
    pub(super) fn of(all: Vec<Distance>) -> Option<Verdict> {
        if let Some(wrong) = all.iter().find(|distance| !distance.difference.fits()) {
            return Some(Verdict::Wrong(wrong.clone()));
        }
        let further = |a: Distance, b: Distance| if b.difference.max > a.difference.max { b } else { a };
        all.into_iter().reduce(further).map(Verdict::Right)
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

// The types of half precision, and how they round.

/// A type of half precision.
#[derive(Debug)]
pub struct HalfPrecision {
    /// Its name, as NumPy or PyTorch has it.
    pub name: &'static str,
    /// Its unit roundoff: half the distance from 1 to the next number.
    pub unit: f64,
    /// The nearest number of the type, and the numbers before and after that.
    around: fn(f64) -> [f64; 3],
}

pub(super) static HALF_PRECISIONS: [HalfPrecision; 2] = [
    HalfPrecision {
        name: "float16",
        unit: 1.0 / 2048.0,
        around: |x| around(f16::from_f64(x).to_bits(), |bits| f16::from_bits(bits).to_f64()),
    },
    HalfPrecision {
        name: "bfloat16",
        unit: 1.0 / 256.0,
        around: |x| around(bf16::from_f64(x).to_bits(), |bits| bf16::from_bits(bits).to_f64()),
    },
];

/// The number with these bits between the next one towards 0 and the next one away from it, in either type.
fn around(bits: u16, number: impl Fn(u16) -> f64) -> [f64; 3] {
    let below = if bits & 0x7fff == 0 { bits } else { bits - 1 };
    [below, bits, bits + 1].map(number)
}

impl HalfPrecision {
    /// The type in which a file stores its numbers, if it is one of half precision.
    pub fn of(answer: &Answer) -> Option<&'static HalfPrecision> {
        HALF_PRECISIONS.iter().find(|half| half.unit == answer.roundoff)
    }

    /// Whether it has every number of a matrix.
    pub(super) fn has(&self, matrix: &Matrix) -> bool {
        matrix.cells().all(|x| x.is_nan() || (self.around)(x)[1] == x)
    }

    /// The number of the type before or after x, by chance: by the bits of x and the number of the run.
    pub(super) fn rounded(&self, x: f64, run: u64) -> f64 {
        let [below, nearest, above] = (self.around)(x);
        if nearest == x || !x.is_finite() {
            return x;
        }
        let other = if nearest.abs() < x.abs() { above } else { below };
        if mixed(x.to_bits() ^ mixed(run)) & 1 == 0 { nearest } else { other }
    }
}

/// A number whose bits depend on all bits of this one (SplitMix64).
fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

// The most telling cells of a student's matrix.

/// One cell: the student's number, the right one, and that of the mistake.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The node: `A_2` for the second head of `A`.
    pub node: String,
    /// Row and column from 0.
    pub at: (usize, usize),
    /// The student's number.
    pub yours: f64,
    /// The right number; `None` where the shapes differ.
    pub right: Option<f64>,
    /// The number that the named mistake gives; `None` if no mistake is named.
    pub mistaken: Option<f64>,
}

impl Evidence {
    /// `O[bat,1]`; a cell of another shape than the right matrix has no labels.
    pub fn address(&self, right: &Graph) -> String {
        let (row, col) = self.at;
        match right.find(&self.node).filter(|_| self.right.is_some()) {
            Some(node) => address_of(right, CellId { node, row, col }),
            None => format!("{}[{},{}]", self.node, row + 1, col + 1),
        }
    }
}

/// The number of shown cells.
const SHOWN: usize = 3;

/// The cells that are furthest off, the furthest first; a cell that is right is no evidence. Where a graph is compared whose
/// matrices have another shape than the student's, the first cells that are not 0.
pub(super) fn evidence(
    part: &Part<'_>,
    right: &Graph,
    mistake: Option<&NamedMistake>,
    tolerance: &Tolerance,
) -> Vec<Evidence> {
    let mut all: Vec<(f64, Evidence)> = Vec::new();
    for (node, yours) in &part.matrices {
        let right = standing_for(right, node).filter(|right| right.shape() == yours.shape());
        let mistaken = mistake.and_then(|named| named.computation.matrix(node));
        let mistaken = mistaken.filter(|mistaken| mistaken.shape() == yours.shape());
        let allowed = CellTolerance::between(part.answer, right.unwrap_or(yours), tolerance);
        let told = right.map_or(Cow::Borrowed(*yours), |right| hiding_like(yours, right));
        for at in yours.shape().places() {
            let own = told[at];
            let off = match (right, &mistaken) {
                (Some(right), _) if distance(own, right[at]) > allowed.around(right[at]) => {
                    distance(own, right[at])
                }
                (None, Some(_)) if own != 0.0 => 0.0,
                _ => continue,
            };
            let cell = Evidence {
                node: node.clone(),
                at,
                yours: own,
                right: right.map(|right| right[at]),
                mistaken: mistaken.as_ref().map(|mistaken| mistaken[at]),
            };
            all.push((off, cell));
        }
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.into_iter().take(SHOWN).map(|(_, cell)| cell).collect()
}

// Submitted numbers that are no attention at all: zeros, NaN, or another matrix of the exercise.

/// The matrix that a student handed in instead of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Resemblance {
    /// All zeros.
    Zeros,
    /// All NaN.
    NotANumber,
    /// The numbers of this node of the right answer.
    Node(String),
    /// The numbers with equal weights for all visible keys.
    EvenWeights,
}

/// A conspicuous property of numbers that no mistake explains.
#[derive(Clone, Debug, PartialEq)]
pub struct Clue {
    /// The clue as a sentence.
    pub sentence: String,
    /// Its usual cause, with a fix; none where there is no usual cause.
    pub cause: Option<String>,
}

/// The same text with a capital letter at the beginning.
pub(super) fn capital(text: &str) -> String {
    let (first, rest) = text.split_at(text.len().min(1));
    format!("{}{rest}", first.to_uppercase())
}
