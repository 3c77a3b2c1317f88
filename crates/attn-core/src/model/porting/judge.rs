//! A dumped tensor against the right numbers of its step.

use half::{bf16, f16};

use super::Dumped;
use super::names::Naming;
use super::right_numbers::{Convention, Step, Wanted};

/// Rows and columns exchanged.
const TRANSPOSED: &str = "rows and columns exchanged";

/// Where a dumped tensor differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The name of the dumped tensor.
    pub name: String,
    /// The node that it is, as `attn model` names it: `L3.Q_1`.
    pub node: String,
    /// What the step is, in words.
    pub step: String,
    /// The layer, counted from 1; the head of the model counts as one more.
    pub layer: usize,
    /// The head, counted from 1, where there are several.
    pub head: Option<usize>,
    /// The row and the column of the largest difference, counted from 1.
    pub at: (usize, usize),
    /// The number that was dumped.
    pub yours: f64,
    /// The right number.
    pub right: f64,
    /// The largest difference.
    pub largest: f64,
    /// The same as a part of the largest right number.
    pub relative: f64,
}

/// A dumped tensor against its step.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub node: String,
    pub position: usize,
    pub heads: usize,
    pub at: (usize, usize, usize),
    pub yours: f64,
    pub right: f64,
    pub largest: f64,
    pub relative: f64,
    /// The conventions that it follows.
    pub notes: Vec<&'static str>,
}

/// What is known of a dumped tensor when it is judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judging<'a> {
    pub dumped: &'a Dumped,
    pub step: &'static Step,
    pub naming: Naming,
    /// Differences up to this part of the largest number are none.
    pub tolerance: f64,
    /// True if values may lack their biases.
    pub value_biases: bool,
}

impl Judging<'_> {
    /// The form that is nearest; none if no form has these dimensions. A convention counts only if it explains everything.
    pub fn judge(&self, forms: &[Wanted]) -> Option<Judged> {
        let mut best: Option<Judged> = None;
        for (wanted, arrangement) in self.ways(forms) {
            let judged = self.one(wanted, arrangement);
            if judged.relative <= self.tolerance {
                return Some(judged);
            }
            if best.as_ref().is_none_or(|best| judged.relative < best.relative) {
                best = Some(judged);
            }
        }
        // Only whole tensors that agree are forms of other conventions; otherwise the plain form is shown.
        let plain = forms.iter().find(|form| form.note.is_none()).or(forms.first());
        let plain = plain.and_then(|wanted| {
            let first =
                Arrangement::all(&self.dumped.dims, wanted).into_iter().find(|way| !way.transposed)?;
            Some(self.one(wanted, first))
        });
        self.by_convention(forms).or(plain).or(best)
    }

    /// The plain form, or one that a convention explains.
    fn by_convention(&self, forms: &[Wanted]) -> Option<Judged> {
        let convention = self.step.convention?;
        let is_folding = self.value_biases && self.naming == Naming::TransformerLens;
        for (wanted, arrangement) in self.ways(forms) {
            let yours = self.arranged(wanted, arrangement);
            let (right, yours) = match convention {
                Convention::Centred | Convention::CentredLogits if wanted.heads == 1 => {
                    (centred(wanted), yours)
                }
                Convention::ValueBiases if is_folding && wanted.rows > 2 => {
                    let cells = without_offsets(wanted, &wanted.cells);
                    (Wanted { cells, ..wanted.clone() }, without_offsets(wanted, &yours))
                }
                Convention::Paired if wanted.cols % 2 == 0 => (paired(wanted), yours),
                _ => continue,
            };
            let mut judged = distance(&right, &yours);
            if judged.relative <= self.tolerance {
                judged.notes = notes(&right, arrangement);
                judged.notes.push(convention.note());
                return Some(judged);
            }
        }
        None
    }

    /// Each form in each arrangement that has its dimensions.
    fn ways<'f>(&self, forms: &'f [Wanted]) -> impl Iterator<Item = (&'f Wanted, Arrangement)> {
        let of = |wanted: &'f Wanted| {
            Arrangement::all(&self.dumped.dims, wanted).into_iter().map(move |way| (wanted, way))
        };
        forms.iter().flat_map(of)
    }

    fn one(&self, wanted: &Wanted, arrangement: Arrangement) -> Judged {
        let judged = distance(wanted, &self.arranged(wanted, arrangement));
        Judged { notes: notes(wanted, arrangement), ..judged }
    }

    /// The dumped numbers in the order of the right ones.
    fn arranged(&self, wanted: &Wanted, arrangement: Arrangement) -> Vec<f64> {
        let mut cells = Vec::with_capacity(wanted.cells.len());
        for h in 0..wanted.heads {
            for r in 0..wanted.rows {
                cells.extend((0..wanted.cols).map(|c| self.dumped.cells[arrangement.at(h, r, c)]));
            }
        }
        cells
    }
}

fn notes(wanted: &Wanted, arrangement: Arrangement) -> Vec<&'static str> {
    wanted.note.into_iter().chain(arrangement.transposed.then_some(TRANSPOSED)).collect()
}

/// The largest difference.
fn distance(wanted: &Wanted, yours: &[f64]) -> Judged {
    let compared = || wanted.cells.iter().zip(yours).enumerate().filter(|(_, (right, _))| !right.is_nan());
    let scale = compared().fold(0.0_f64, |scale, (_, (right, _))| scale.max(right.abs()));
    let mut judged = Judged {
        node: wanted.node.clone(),
        position: wanted.position,
        heads: wanted.heads,
        at: (0, 0, 0),
        yours: 0.0,
        right: 0.0,
        largest: -1.0,
        relative: 0.0,
        notes: Vec::new(),
    };
    for (place, (right, yours)) in compared() {
        let far = if right == yours { 0.0 } else { (right - yours).abs() };
        let far = if far.is_nan() { f64::INFINITY } else { far };
        if far > judged.largest {
            let (row, col) = (place / wanted.cols, place % wanted.cols);
            judged.at = (row / wanted.rows, row % wanted.rows, col);
            (judged.largest, judged.yours, judged.right) = (far, *yours, *right);
        }
    }
    judged.largest = judged.largest.max(0.0);
    judged.relative = match judged.largest {
        0.0 => 0.0,
        largest => largest / scale.max(f64::MIN_POSITIVE),
    };
    judged
}

/// Each row without its mean.
fn centred(wanted: &Wanted) -> Wanted {
    let mut centred = wanted.clone();
    for row in centred.cells.chunks_mut(wanted.cols.max(1)) {
        let mean = row.iter().sum::<f64>() / row.len() as f64;
        row.iter_mut().for_each(|x| *x -= mean);
    }
    centred
}

/// Each column of each head without its mean over the rows.
fn without_offsets(wanted: &Wanted, cells: &[f64]) -> Vec<f64> {
    let mut left = cells.to_vec();
    for head in left.chunks_mut(wanted.rows * wanted.cols) {
        for c in 0..wanted.cols {
            let mean = (0..wanted.rows).map(|r| head[r * wanted.cols + c]).sum::<f64>() / wanted.rows as f64;
            (0..wanted.rows).for_each(|r| head[r * wanted.cols + c] -= mean);
        }
    }
    left
}

/// Columns i and i + d/2 side by side.
fn paired(wanted: &Wanted) -> Wanted {
    let half = wanted.cols / 2;
    let source = |c: usize| c / 2 + (c % 2) * half;
    let cells = wanted.cells.chunks(wanted.cols).flat_map(|row| (0..row.len()).map(|c| row[source(c)]));
    Wanted { cells: cells.collect(), ..wanted.clone() }
}

// The order of the axes of a dumped tensor.

/// Where the number of a head, a row and a column stands in a dumped tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrangement {
    head: usize,
    row: usize,
    col: usize,
    /// True if rows and columns are exchanged.
    pub transposed: bool,
}

impl Arrangement {
    pub fn at(self, head: usize, row: usize, col: usize) -> usize {
        head * self.head + row * self.row + col * self.col
    }

    /// The arrangements in which these dimensions hold the numbers: heads before or after the rows, heads side by side, rows and
    /// columns exchanged. Axes of 1 do not count.
    pub fn all(dims: &[usize], wanted: &Wanted) -> Vec<Arrangement> {
        let (h, r, c) = (wanted.heads, wanted.rows, wanted.cols);
        let heads_first = Arrangement { head: r * c, row: c, col: 1, transposed: false };
        let rows_first = Arrangement { head: c, row: h * c, col: 1, transposed: false };
        let transposed = Arrangement { head: c * r, row: 1, col: r, transposed: true };
        let known: [(&[usize], Arrangement); 5] = [
            (&[h, r, c], heads_first),
            (&[r, h, c], rows_first),
            (&[r, h * c], rows_first),
            (&[h, c, r], transposed),
            (&[h * c, r], transposed),
        ];
        let dims = without_ones(dims);
        let mut fitting: Vec<Arrangement> = Vec::new();
        for (shape, arrangement) in known {
            if without_ones(shape) == dims && !fitting.contains(&arrangement) {
                fitting.push(arrangement);
            }
        }
        fitting
    }
}

fn without_ones(dims: &[usize]) -> Vec<usize> {
    dims.iter().copied().filter(|side| *side != 1).collect()
}

// How near is near enough: the numbers that a dump was computed in.

/// The numbers that a dump was computed in, as its values show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DumpPrecision {
    /// Its name: `bf16`.
    pub name: &'static str,
    /// The distance of a number from its neighbours, as a part of it.
    pub unit: f64,
    /// The same as a power: `2⁻⁸`.
    pub power: &'static str,
    /// Rounding leaves at most this many units in a right tensor, before errors grow with the layers.
    units: f64,
    /// A mistake may leave this difference: what a pass in few bits is off by.
    pub(super) noise: f64,
    /// Up to this difference, what no known mistake gives is counted as rounding.
    pub(super) doubtful: f64,
}

/// bfloat16: 8 significant bits.
const BF16: DumpPrecision =
    DumpPrecision {
        name: "bf16", unit: 1.0 / 256.0, power: "2⁻⁸", units: 4.0, noise: 0.05, doubtful: 0.1
    };
/// Half precision: 11 significant bits.
const F16: DumpPrecision =
    DumpPrecision {
        name: "f16", unit: 1.0 / 2048.0, power: "2⁻¹¹", units: 4.0, noise: 0.01, doubtful: 0.02
    };
/// Single precision or better.
const F32: DumpPrecision = DumpPrecision {
    name: "f32",
    unit: 1.0 / 16_777_216.0,
    power: "2⁻²⁴",
    units: 16.0,
    noise: 0.0,
    doubtful: 1e-4,
};

impl DumpPrecision {
    /// The coarsest type that most of the tensors fit exactly.
    pub(super) fn of(dump: &[Dumped]) -> DumpPrecision {
        let fits = |is_exact: fn(f64) -> bool| {
            let exact = |dumped: &&Dumped| dumped.cells.iter().all(|x| !x.is_finite() || is_exact(*x));
            2 * dump.iter().filter(exact).count() > dump.len()
        };
        if fits(|x| bf16::from_f64(x).to_f64() == x) {
            BF16
        } else if fits(|x| f16::from_f64(x).to_f64() == x) {
            F16
        } else {
            F32
        }
    }

    /// The largest difference of a right tensor in a layer, as a part of its largest number: errors grow with the layers.
    pub(super) fn tolerance(self, layer: usize) -> f64 {
        self.units * self.unit * (1.0 + layer as f64 / 2.0)
    }
}
