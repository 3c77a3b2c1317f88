//! An input on which mistakes can be told from the right answer, and from each other.

use std::sync::Arc;

use crate::attention::RopeScaling;
use crate::error::Result;
use crate::graph::recipes::{AttendInputs, PositionKind, Rotary};
use crate::graph::{Given, Origin, Role};
use crate::matrix::Matrix;
use crate::random::LegacyStream;

use super::Task;
use super::candidates::{CandidateList, Candidates};
use super::catalogue::Mistake;
use super::compare::{distance, spread};
use super::task::standing_for;

/// A suggested input, and the mistakes that the result alone shows on it.
#[derive(Clone, Debug)]
pub struct Suggestion {
    /// Numbers of two decimals, in the shapes of the exercise where these can tell.
    pub inputs: AttendInputs,
    /// The number of possible mistakes that change the result.
    pub told_apart: usize,
    /// The mistakes that do not change it.
    pub hidden: Vec<Arc<Mistake>>,
}

/// The number of inputs drawn for each choice of shapes.
const DRAWS: u32 = 6;
/// Two results differ if some cell differs by this share of the spread of the right one: three digits show it.
const SHOWS: f64 = 1e-3;

/// Draws inputs until every mistake that can be made shows in the result `O`: first in the shapes of the exercise, then
/// with more tokens or wider, where the shapes themselves hide something (a width of 1 hides the scale).
///
/// # Errors
/// If the exercise cannot be computed with any of them.
pub fn suggest(task: &Task, seed: u32) -> Result<Suggestion> {
    let mut best: Option<(usize, Suggestion)> = None;
    let wanted = distinctions(task).hidden;
    for wider in [0, 1, 2] {
        for draw in 0..DRAWS {
            let inputs = drawn(task.inputs(), task, wider, seed.wrapping_add(draw));
            let exercise = match Task::new(*task.recipe(), inputs.clone())
                .and_then(|exercise| exercise.with_mistakes(task.own()))
            {
                Ok(exercise) => exercise,
                Err(error) if best.is_none() && wider == 2 => return Err(error),
                Err(_) => continue,
            };
            let found = distinctions(&exercise);
            let still = wanted
                .iter()
                .filter(|mistake| found.shown.iter().all(|shown| shown.id != mistake.id))
                .count();
            let cost = 1000 * still + 100 * found.hidden.len() + found.alike;
            if best.as_ref().is_none_or(|(known, _)| cost < *known) {
                let suggestion = Suggestion { inputs, told_apart: found.shown.len(), hidden: found.hidden };
                best = Some((cost, suggestion));
            }
            if still == 0 && found.alike == 0 {
                break;
            }
        }
        if best.as_ref().is_some_and(|(cost, _)| *cost < 100) {
            break;
        }
    }
    best.map(|(_, suggestion)| suggestion).ok_or_else(|| crate::error::Error::new("no input was found"))
}

/// The mistakes that an input makes visible in the result, and those that it hides.
struct Distinctions {
    shown: Vec<Arc<Mistake>>,
    hidden: Vec<Arc<Mistake>>,
    /// The number of pairs of different mistakes with the same result.
    alike: usize,
}

fn distinctions(task: &Task) -> Distinctions {
    let (mut shown, mut hidden): (Vec<Arc<Mistake>>, Vec<Arc<Mistake>>) = (Vec::new(), Vec::new());
    let Some(right) = standing_for(task.right(), "O") else {
        return Distinctions { shown, hidden, alike: 0 };
    };
    let near = SHOWS * spread(right);
    let same = |a: &Matrix, b: &Matrix| {
        a.shape() == b.shape() && a.cells().zip(b.cells()).all(|(a, b)| distance(a, b) <= near)
    };
    let mut results: Vec<(&Arc<Mistake>, Matrix)> = Vec::new();
    let candidates = Candidates::once(task.clone());
    candidates.each(CandidateList::Classic, &["O".to_string()], None, |row| {
        let mistake = candidates.mistake(row.candidate);
        let (Some(mistake), Some(numbers)) = (mistake, row.numbers("O")) else { return };
        let is_hidden = same(&numbers.matrix, right);
        let seen = if is_hidden { &mut hidden } else { &mut shown };
        if !seen.iter().any(|known| known.id == mistake.id) {
            seen.push(mistake.clone());
        }
        if !is_hidden {
            results.push((mistake, numbers.matrix.clone()));
        }
    });
    hidden.retain(|mistake| shown.iter().all(|known| known.id != mistake.id));
    let pairs = results.iter().enumerate().flat_map(|(i, a)| results[i + 1..].iter().map(move |b| (a, b)));
    let alike = pairs.filter(|((a, x), (b, y))| a.id != b.id && same(x, y)).count();
    Distinctions { shown, hidden, alike }
}

/// Inputs with new numbers in every matrix but masks and biases; names stay.
fn drawn(inputs: &AttendInputs, task: &Task, wider: usize, seed: u32) -> AttendInputs {
    let mut stream = LegacyStream::seeded(seed);
    let (heads, groups) = (task.recipe().heads, task.recipe().kv_heads);
    // Gains and divisors have a number for each column, and rotations need pairs of them.
    let of_columns = [Role::QueryGain, Role::KeyGain, Role::Divisors, Role::Gate];
    let keeps_widths = of_columns.into_iter().any(|role| inputs.get(role).is_some())
        || matches!(task.recipe().positions.kind, PositionKind::Rotary(_));
    // Masks and biases have a cell for every query and key, so that the tokens stay as many as they are.
    let fixed = inputs.mask.is_some() || inputs.bias.is_some();
    let more = if fixed || wider == 0 { 0 } else { 3 };
    // Wider tokens where their width hides something, wider heads where that of a head does.
    let (e, d) = match wider {
        1 if !keeps_widths => (heads, 0),
        2.. if !keeps_widths => (2 * heads, 1),
        _ => (0, 0),
    };
    let width = |given: &Option<Given>| given.as_ref().map(|given| given.shape().cols);
    let back = if width(&inputs.w_o) == width(&inputs.x) { e } else { 0 };
    let tokens = inputs.tokens.clone().filter(|_| more == 0);
    let mut drawn = AttendInputs { shift: None, backward: None, tokens, ..inputs.clone() };
    // Where nothing is projected, tokens, queries, keys and values are the same numbers, and what is taken for what is hidden.
    for (weights, role) in [(Role::WQ, Role::Q), (Role::WK, Role::K), (Role::WV, Role::V)] {
        let is_identity = inputs.get(weights).is_none() && inputs.get(role).is_none();
        if let (Some(x), true, 1..) = (&inputs.x, is_identity, wider) {
            drawn.set(weights, Given::new(Matrix::identity(x.shape().cols), x.origin.clone()));
        }
    }
    for role in Role::all() {
        let Some(given) = drawn.get(role) else { continue };
        let own = given.shape();
        let root = 1.0 / ((own.rows + e) as f64).sqrt();
        let (rows, cols, size) = match role {
            Role::X => (more, e, 1.0),
            Role::WQ => (e, heads * d, 1.5 * root),
            Role::WK => (e, groups * d, 1.5 * root),
            Role::WV => (e, groups * d, root),
            Role::WO => (heads * d, back, root),
            Role::BQ => (0, heads * d, 0.5),
            Role::BK | Role::BV => (0, groups * d, 0.5),
            Role::BO => (0, back, 0.5),
            Role::Q => (more, heads * d, 1.2),
            Role::K => (more, groups * d, 1.2),
            Role::V => (more, groups * d, 1.0),
            Role::Gate => (0, 0, root),
            _ => continue,
        };
        let numbers = stream.standard_normal_matrix(own.rows + rows, own.cols + cols);
        let rounded = numbers.map(|x| (100.0 * size * x).round_ties_even() / 100.0);
        let labels = given.tensor.row_labels().filter(|_| rows == 0).cloned();
        drawn.set(role, Given::new(rounded.with_row_labels(labels), Origin::Drawn(seed)));
    }
    drawn
}

impl Task {
    /// Returns true if it is proven that a mistake leaves the result of this exercise as it is, whatever the numbers and however
    /// many tokens; false where that is not known.
    ///
    /// Scores of rotated queries and keys depend on distances alone (`positions-start`), a head of two columns has one pair
    /// (`rope-pairing`), a rotation keeps the root mean square of a row (`qk-norm-late`), and exp(−∞) is 0 (`sink-missing`).
    pub fn never_shows(&self, mistake: &Mistake) -> bool {
        let (recipe, inputs) = (self.recipe(), self.inputs());
        let rotary = match &recipe.positions.kind {
            PositionKind::Rotary(rotary) => Some(rotary),
            _ => None,
        };
        match &*mistake.id {
            "positions-start" => rotary.is_some_and(|rotary| !counts_tokens(rotary)),
            "rope-pairing" => rotary.is_some_and(|rotary| rotary.width.unwrap_or(self.facts().d_k) == 2),
            "qk-norm-late" => {
                let has_gains = inputs.query_gain.is_some() || inputs.key_gain.is_some();
                let scaling = rotary.and_then(|rotary| rotary.scaling);
                !has_gains && scaling.is_none_or(|scaling| scaling.magnitude() == 1.0)
            }
            "sink-missing" => inputs.sink.as_ref().is_some_and(is_infinite),
            _ => false,
        }
    }
}

/// Whether the frequencies depend on the position of the last token.
fn counts_tokens(rotary: &Rotary) -> bool {
    matches!(rotary.scaling, Some(RopeScaling::Dynamic { .. } | RopeScaling::LongRope { .. }))
}

/// Whether every sink is −∞.
fn is_infinite(sinks: &Given) -> bool {
    sinks.tensor.matrix().is_ok_and(|sinks| sinks.cells().all(|sink| sink == f64::NEG_INFINITY))
}
