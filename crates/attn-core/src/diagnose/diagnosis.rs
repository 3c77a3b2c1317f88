//! The diagnosis of a submission.

use std::sync::Arc;

use half::{bf16, f16};

use crate::graph::{CellId, Graph, address_of};
use crate::matrix::{Matrix, Shape};
use crate::text::counted;

use super::answer::Part;
use super::candidates::{Candidate, standing_for};
use super::catalogue::Mistake;
use super::compare::{CellTolerance, Difference, Tolerance, distance, hiding_like, residual};
use super::plans::Candidates;
use super::{Answer, EquivalentForm, Slip, Task};

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
    candidate: Option<&Candidate>,
    tolerance: &Tolerance,
) -> Vec<Evidence> {
    let mut all: Vec<(f64, Evidence)> = Vec::new();
    for (node, yours) in &part.matrices {
        let right = standing_for(right, node).filter(|right| right.shape() == yours.shape());
        let mistaken = candidate.and_then(|candidate| candidate.matrix(node));
        let mistaken = mistaken.filter(|mistaken| mistaken.shape() == yours.shape());
        let allowed = CellTolerance::between(part.answer, right.unwrap_or(yours), tolerance);
        let told = right.map_or(std::borrow::Cow::Borrowed(*yours), |right| hiding_like(yours, right));
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

/// The matrix that was handed in instead of a part, if it is a known one.
pub(super) fn resemblance(
    task: &Task,
    candidates: &Candidates,
    tolerance: &Tolerance,
    part: &Part<'_>,
) -> Option<Resemblance> {
    let all = |is: fn(f64) -> bool| part.matrices.iter().all(|(_, matrix)| matrix.cells().all(is));
    if all(|x| x == 0.0) {
        return Some(Resemblance::Zeros);
    }
    if all(f64::is_nan) {
        return Some(Resemblance::NotANumber);
    }
    let fits = |yours: &Matrix, expected: &Matrix| {
        residual(yours, expected, CellTolerance::between(part.answer, expected, tolerance)).is_some()
    };
    if let [(node, matrix)] = &part.matrices[..] {
        let right = task.right();
        let others = right.nodes().filter(|(_, other)| other.name != *node);
        let same = others.filter_map(|(_, other)| Some((other, other.matrix()?)));
        if let Some((other, _)) = same.into_iter().find(|(_, other)| fits(matrix, other)) {
            return Some(Resemblance::Node(other.name.clone()));
        }
    }
    let even = candidates.even(task);
    let is_even = part
        .matrices
        .iter()
        .all(|(node, matrix)| standing_for(even, node).is_some_and(|expected| fits(matrix, expected)));
    is_even.then_some(Resemblance::EvenWeights)
}

/// A conspicuous property of numbers that no mistake explains.
#[derive(Clone, Debug, PartialEq)]
pub enum Clue {
    /// Weights whose rows do not sum to 1.
    RowSums {
        /// The node.
        node: String,
        /// The min and max of these sums.
        between: (f64, f64),
        /// The rows (from 0) that do not sum to 1; all of them where none is listed.
        rows: Vec<usize>,
    },
    /// The columns of the weights sum to 1, and not the rows.
    ColumnSums(String),
    /// Some weights are negative: the node, and the min.
    Negative(String, f64),
    /// Some weights are above 1: the node, and the max.
    AboveOne(String, f64),
    /// NaN in some cells: the node, and the rows (from 0) that are nothing else.
    NotANumber {
        /// The node.
        node: String,
        /// The number of these cells.
        cells: usize,
        /// The rows that are NaN throughout.
        rows: Vec<usize>,
    },
    /// Infinite numbers: the node, and the number of cells.
    Infinite(String, usize),
    /// All rows are equal.
    EqualRows(String),
    /// Two rows (from 0) are equal that should not be.
    TwinRows(String, usize, usize),
    /// The matrix equals its own transpose, and should not.
    Symmetric(String),
    /// The rows are the right ones in another order; for each row (from 0) the one that it is.
    RowOrder(String, Vec<usize>),
    /// Only some rows are wrong: the node, the first wrong row (from 0), and the number of wrong rows.
    SomeRows(String, usize, usize),
    /// Only some columns are wrong: the node, the first wrong column (from 0), and the number of wrong columns.
    SomeColumns(String, usize, usize),
    /// Some heads (from 0) are wrong, and the others are right.
    SomeHeads(String, Vec<usize>),
    /// The sign is reversed in most cells.
    Signs(String),
    /// The rows of O are sums of the right values, with other weights.
    OtherWeights,
    /// Weights that dropout would leave.
    Dropout,
    /// A possible cause without proof: “a bias of the keys”.
    ConsistentWith(&'static str),
}

impl Clue {
    /// The clue as a sentence.
    pub fn sentence(&self) -> String {
        let number = |x: &f64| crate::graph::number_text(format!("{x:.3e}").parse().unwrap_or(*x));
        match self {
            Clue::RowSums { node, between: (low, high), rows } => {
                let sums = if low == high {
                    format!("to {}", number(low))
                } else {
                    format!("to numbers from {} to {}", number(low), number(high))
                };
                match rows.len() {
                    0 => format!("The rows of {node} sum {sums}, not to 1."),
                    1 => format!("Row {} of {node} sums {sums}, not to 1.", rows[0] + 1),
                    _ => format!("{} of {node} sum {sums}, not to 1.", capital(&listed("row", rows))),
                }
            }
            Clue::ColumnSums(node) => format!("The columns of {node} sum to 1, but its rows should."),
            Clue::Negative(node, least) => {
                format!("{node} has negative weights, down to {}; a softmax gives none below 0.", number(least))
            }
            Clue::AboveOne(node, most) => {
                format!("{node} has weights above 1, up to {}; a softmax gives none above 1.", number(most))
            }
            Clue::NotANumber { node, cells, rows } => match rows[..] {
                [] => format!("{node} has NaN in {}.", counted(*cells, "cell")),
                _ => format!("{node} is NaN in {}.", listed("row", rows)),
            },
            Clue::Infinite(node, 1) => format!("{node} has an infinite number in 1 cell."),
            Clue::Infinite(node, cells) => format!("{node} has infinite numbers in {cells} cells."),
            Clue::EqualRows(node) => format!("All rows of {node} are equal: the queries make no difference."),
            Clue::TwinRows(node, a, b) => format!("Rows {} and {} of {node} are equal.", a + 1, b + 1),
            Clue::Symmetric(node) => {
                format!("{node} equals its own transpose, as if queries and keys were the same.")
            }
            Clue::RowOrder(node, order) => {
                let order: Vec<String> = order.iter().map(|row| (row + 1).to_string()).collect();
                format!("The rows of {node} are right, but in the order {}.", order.join(" "))
            }
            Clue::SomeRows(node, first, wrong) => some_wrong("row", node, first + 1, *wrong),
            Clue::SomeColumns(node, first, wrong) => some_wrong("column", node, first + 1, *wrong),
            Clue::SomeHeads(node, heads) => {
                let verb = if heads.len() == 1 { "is" } else { "are" };
                format!("Only {} of {node} {verb} wrong; the other heads are right.", listed("head", heads))
            }
            Clue::Signs(node) => format!("Most numbers of {node} have the wrong sign."),
            Clue::OtherWeights => {
                "Every row of O is a sum of the right values: the values are right, and their weights are not.".into()
            }
            Clue::Dropout => "The numbers are consistent with dropout of the weights, which sets some to 0 and makes the others larger.".into(),
            Clue::ConsistentWith(what) => format!("The numbers are consistent with {what}."),
        }
    }
}

/// The same text with a capital letter at the beginning.
pub(super) fn capital(text: &str) -> String {
    let (first, rest) = text.split_at(text.len().min(1));
    format!("{}{rest}", first.to_uppercase())
}

fn some_wrong(what: &str, node: &str, first: usize, wrong: usize) -> String {
    match wrong {
        1 => format!("Only {what} {first} of {node} is wrong; the others are right."),
        _ => format!(
            "Only {wrong} {what}s of {node} are wrong, the first of them {what} {first}; the others are right."
        ),
    }
}

fn listed(what: &str, places: &[usize]) -> String {
    let numbers: Vec<String> = places.iter().take(6).map(|place| (place + 1).to_string()).collect();
    let more = if places.len() > 6 { " …" } else { "" };
    let plural = if places.len() == 1 { "" } else { "s" };
    format!("{what}{plural} {}{more}", numbers.join(", "))
}
