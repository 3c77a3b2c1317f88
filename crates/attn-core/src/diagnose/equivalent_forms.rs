//! Equivalent ways to compute attention: intermediate numbers differ, the result does not.

use FormContent::{Batch, CutOff, GradientOfLater, Later, MeanOfHeads, Prepared, Scaled, Shifted};

use crate::graph::{Graph, Op, Role, Stage, Step};
use crate::matrix::Matrix;

use super::task::standing_for;

/// An equivalent way to compute attention. (A mask that is applied after the softmax, with the rows divided by their new sums,
/// needs no entry: its weights are the right ones.)
#[derive(Debug)]
pub struct EquivalentForm {
    /// Its name in JSON.
    pub id: &'static str,
    /// The difference, as a clause.
    pub says: &'static str,
    holds: FormContent,
}

/// The content of a node in an equivalent form.
#[derive(Debug)]
enum FormContent {
    /// The scores hold what this later step of them holds.
    Later(Stage),
    /// This role is scaled already.
    Scaled(Role),
    /// This role holds what a norm or a rotation makes of it.
    Prepared(Role, Stage),
    /// The scores hold this step or a later one, with a number added to each row.
    Shifted,
    /// The gradient of scores holds that of a later step of them.
    GradientOfLater,
    /// One matrix for all heads: the mean of their weights.
    MeanOfHeads,
    /// Several matrices for one: each is the right one.
    Batch,
    /// The right numbers, with the decimals behind those handed in cut off by this function.
    CutOff(fn(f64) -> f64),
}

/// All equivalent forms.
pub const FORMS: &[EquivalentForm] = &[
    form(
        "scaled-scores",
        "these are the scaled scores, S_scaled; scaling the scores or the queries gives the same result",
        Later(Stage::Scaled),
    ),
    form("biased-scores", "these are the scores with the bias, S_biased", Later(Stage::Biased)),
    form(
        "tempered-scores",
        "these are the scores divided by the temperature, S_tempered",
        Later(Stage::Tempered),
    ),
    form("capped-scores", "these are the scores after the soft-cap, S_capped", Later(Stage::Capped)),
    form("masked-scores", "these are the masked scores, S_masked", Later(Stage::Masked)),
    form(
        "queries-rotated",
        "these are the rotated queries, Q_rotated",
        Prepared(Role::Q, Stage::QueriesRotated),
    ),
    form("keys-rotated", "these are the rotated keys, K_rotated", Prepared(Role::K, Stage::KeysRotated)),
    form("queries-normed", "these are the normed queries, Q_normed", Prepared(Role::Q, Stage::QueriesNormed)),
    form("keys-normed", "these are the normed keys, K_normed", Prepared(Role::K, Stage::KeysNormed)),
    form(
        "queries-scaled",
        "the queries were scaled before the product, which scales every score",
        Scaled(Role::Q),
    ),
    form("keys-scaled", "the keys were scaled before the product, which scales every score", Scaled(Role::K)),
    form(
        "shifted-scores",
        "these are the scores plus one number in each row, as a bias of the keys adds it; the softmax cancels it",
        Shifted,
    ),
    form(
        "gradient-of-later-scores",
        "this is the gradient of a later step of the scores; the factors between the two belong to dQ and dK then",
        GradientOfLater,
    ),
    form(
        "mean-of-heads",
        "this is the mean of the weights of all heads, which nn.MultiheadAttention returns with need_weights=True; \
               average_attn_weights=False returns those of each head",
        MeanOfHeads,
    ),
    form("batch", "this is a batch, and each matrix in it is the right one", Batch),
    form(
        "cut-off",
        "these are the right numbers, cut off after the last decimal instead of rounded",
        CutOff(f64::trunc),
    ),
    form(
        "rounded-down",
        "these are the right numbers, rounded down instead of to the nearest",
        CutOff(f64::floor),
    ),
];

/// An entry of the list.
const fn form(id: &'static str, says: &'static str, holds: FormContent) -> EquivalentForm {
    EquivalentForm { id, says, holds }
}

impl EquivalentForm {
    /// Whether this many matrices can be in this form, where this many are expected.
    pub(super) fn takes(&self, matrices: usize, expected: usize) -> bool {
        match self.holds {
            FormContent::MeanOfHeads => matrices == 1 && expected > 1,
            FormContent::Batch => matrices > 1 && expected == 1,
            _ => matrices == expected,
        }
    }

    /// What a node holds in this form, where that is not what it holds in the right graph; the numbers handed in say what was
    /// added to each row.
    pub(super) fn matrix(
        &self,
        right: &Graph,
        node: &str,
        yours: &Matrix,
        decimals: Option<usize>,
    ) -> Option<Matrix> {
        match self.holds {
            FormContent::Later(stage) => {
                let later = later(right, node).find(|later| later.stage == stage)?;
                right[right.find(&later.to_string())?].matrix().cloned()
            }
            FormContent::Scaled(role) if Step::parse(node)?.stage == Stage::Role(role) => {
                let factor = right.nodes().find_map(|(_, node)| match node.op {
                    Op::Scale(factor) => Some(factor.value()),
                    _ => None,
                })?;
                Some(standing_for(right, node)?.map(|x| x * factor))
            }
            FormContent::Scaled(_) => None,
            FormContent::Prepared(role, stage) => {
                let step = Step::parse(node).filter(|step| step.stage == Stage::Role(role))?;
                match right.find(&stage.of_head(step.head).to_string()) {
                    Some(id) => right[id].matrix().cloned(),
                    None => side_by_side(right, stage),
                }
            }
            FormContent::Shifted => {
                let is_scores = Step::parse(node).is_some_and(|step| step.stage.is_scores());
                let own = is_scores.then(|| node.to_string());
                let steps = own.into_iter().chain(later_steps(right, node));
                let all = steps.filter_map(|step| shifted(right[right.find(&step)?].matrix()?, yours));
                nearest(all)
            }
            FormContent::Batch => right[right.find(node)?].matrix().cloned(),
            FormContent::CutOff(cut) => {
                let right = standing_for(right, node).filter(|right| right.shape() == yours.shape())?;
                cut_off(right, yours, decimals?, cut)
            }
            FormContent::MeanOfHeads => {
                let stage =
                    Step::parse(node).map(|step| step.stage).filter(|stage| *stage == Stage::Weights)?;
                let find = |head| right.find(&stage.of_head(Some(head)).to_string());
                let heads: Vec<&Matrix> = (1..).map_while(find).filter_map(|id| right[id].matrix()).collect();
                let mean = |i, j| heads.iter().map(|head| head[(i, j)]).sum::<f64>() / heads.len() as f64;
                heads.first().map(|first| Matrix::from_fn(first.rows(), first.cols(), mean))
            }
            FormContent::GradientOfLater => {
                let steps = later_steps(right, node.strip_prefix('d')?);
                let gradients = steps.filter_map(|step| right[right.find(&format!("d{step}"))?].matrix());
                let alike = gradients.filter(|matrix| matrix.shape() == yours.shape());
                nearest(alike.map(|matrix| (furthest_apart(yours, matrix), matrix.clone())))
            }
        }
    }
}

/// A matrix with the decimals behind these cut off; nothing where fewer than three are left, or hardly more than zeros.
fn cut_off(right: &Matrix, yours: &Matrix, decimals: usize, cut: fn(f64) -> f64) -> Option<Matrix> {
    const DECIMALS: std::ops::RangeInclusive<usize> = 3..=9;
    const LEAST_UNITS: f64 = 100.0;
    let units = DECIMALS.contains(&decimals).then(|| (0..decimals).fold(1.0, |units, _| units * 10.0))?;
    let size = right.cells().filter(|x| x.is_finite()).fold(0.0, |max: f64, x| max.max(x.abs()));
    let cell = |i: usize, j: usize| {
        let (own, x) = (yours[(i, j)], right[(i, j)]);
        // A number that ends there already may be a hair below itself.
        if (own - x).abs() <= 1e-6 / units { own } else { cut(x * units) / units }
    };
    (size * units >= LEAST_UNITS).then(|| Matrix::from_fn(right.rows(), right.cols(), cell))
}

/// Of matrices with how far each is off, the nearest.
fn nearest(all: impl Iterator<Item = (f64, Matrix)>) -> Option<Matrix> {
    all.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, matrix)| matrix)
}

/// The largest distance between numbers of two matrices of one shape, where the second is finite.
fn furthest_apart(yours: &Matrix, matrix: &Matrix) -> f64 {
    let off = yours.cells().zip(matrix.cells()).filter(|(_, x)| x.is_finite()).map(|(a, b)| (a - b).abs());
    off.fold(0.0, f64::max)
}

/// The nodes of a step of all heads, side by side.
fn side_by_side(right: &Graph, stage: Stage) -> Option<Matrix> {
    let find = |head| right.find(&stage.of_head(Some(head)).to_string());
    let heads: Option<Vec<&Matrix>> = (1..).map_while(find).map(|id| right[id].matrix()).collect();
    let heads = heads.filter(|heads| !heads.is_empty())?;
    let width = heads[0].cols();
    let cell = |i, j: usize| heads[j / width][(i, j % width)];
    Some(Matrix::from_fn(heads[0].rows(), width * heads.len(), cell))
}

/// A matrix with what makes the first number of each row yours added to that row, and how far the others are off; nothing where
/// too few numbers are left to tell.
fn shifted(scores: &Matrix, yours: &Matrix) -> Option<(f64, Matrix)> {
    if scores.shape() != yours.shape() {
        return None;
    }
    let seen = |i: usize| (0..scores.cols()).filter(move |&j| scores[(i, j)].is_finite());
    let added = |i: usize| seen(i).next().map_or(0.0, |j| yours[(i, j)] - scores[(i, j)]);
    let added: Vec<f64> = (0..scores.rows()).map(added).collect();
    let telling: usize = (0..scores.rows()).map(|i| seen(i).count().saturating_sub(1)).sum();
    if telling < 2 || telling < scores.rows() || !added.iter().all(|x| x.is_finite()) {
        return None;
    }
    let matrix = Matrix::from_fn(scores.rows(), scores.cols(), |i, j| scores[(i, j)] + added[i]);
    Some((furthest_apart(yours, &matrix), matrix))
}

/// The nodes that may be meant where a student hands in scores: those that the right answer has after this one, before the
/// softmax.
pub(super) fn later_steps(right: &Graph, node: &str) -> impl Iterator<Item = String> {
    later(right, node).map(|step| step.to_string())
}

fn later(right: &Graph, node: &str) -> impl Iterator<Item = Step> {
    let own = Step::parse(node).filter(|step| step.stage.is_scores());
    let after = own.into_iter().flat_map(|own| {
        let after = Stage::all().filter(move |stage| stage.is_scores() && *stage > own.stage);
        after.map(move |stage| stage.of_head(own.head))
    });
    after.filter(|later| right.find(&later.to_string()).is_some())
}
