//! Mistakes with a number, or a row of numbers, of their own: solved for, not tried.

use crate::graph::recipes::{Alter, Alteration, Scale, Site};
use crate::graph::{self, Graph, Step};
use crate::matrix::Matrix;

use super::Change;
use super::answer::Part;
use super::candidates::standing_for;
use super::catalogue::fitted;
use super::digits::{number, short, to_digits};
use super::fitting::{DROPOUT, fit, slip};
use super::search::{Fit, Search};
use super::temperature::{hiding_number, temperature};
use super::tolerance::CellTolerance;
use super::{linear, nearly_right, rearranged};

/// In the test of chance a fit of one number counts as this many candidates.
const TRIED: usize = 100;
/// A bias counts as more than noise if it exceeds the rounding tolerance by this factor.
const LEAST_BIAS: f64 = 10.0;
/// The fits, and the number of tried possibilities.
pub(super) fn fits(search: &Search<'_>) -> (Vec<Fit>, usize) {
    let Some(part) = search.readings.first() else { return (Vec::new(), 1) };
    // The simplest fit wins: mistakes with more free numbers are not tried after it.
    let kinds: [&dyn Fn() -> Option<Fit>; 11] = [
        &|| rearranged::reshaped(search, part),
        &|| rearranged::incomplete(search, part),
        &|| rearranged::reordered(search, part),
        &|| nearly_right::surplus(search, part),
        &|| nearly_right::one_cell(search, part),
        &|| dropped(search, part),
        &|| bias(search, part),
        &|| factor(search, part),
        &|| temperature(search, part),
        &|| linear::weighted(search, part),
        &|| hiding_number(search, part),
    ];
    let found: Vec<Fit> = kinds.iter().find_map(|kind| kind()).into_iter().collect();
    (found, TRIED)
}

/// Fits without a number of their own: they are tried beside the mistakes of the catalogue, some of which give the same numbers.
pub(super) fn fits_without_number(search: &Search<'_>) -> Vec<Fit> {
    let part = search.readings.first();
    let kinds = [nearly_right::exchanged, nearly_right::zeroed];
    part.into_iter().flat_map(|part| kinds.map(|kind| kind(search, part))).flatten().collect()
}

/// Numbers that are 0, or the right ones over 1 − p: dropout. What is added to the residual is seen next to it.
fn dropped(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let (task, mut nodes) = (search.task, Vec::new());
    let (mut zeros, mut largest) = (0, (0.0_f64, f64::NAN));
    for (node, yours) in &part.matrices {
        let right = standing_for(task.right(), node).filter(|right| right.shape() == yours.shape())?;
        if Step::parse(node)?.stage < graph::Stage::Weights || !yours.cells().all(f64::is_finite) {
            return None;
        }
        let is_sum = node == "O" && task.recipe().output.residual;
        let x = is_sum.then(|| standing_for(task.right(), "X")).flatten();
        let base = Matrix::from_fn(right.rows(), right.cols(), |i, j| x.map_or(0.0, |x| x[(i, j)]));
        let allowed = CellTolerance::between(part.answer, yours, search.tolerance);
        for at in (0..right.rows()).flat_map(|i| (0..right.cols()).map(move |j| (i, j))) {
            let (own, wanted) = (yours[at] - base[at], right[at] - base[at]);
            let near = allowed.around(yours[at]);
            if own.abs() <= near {
                zeros += usize::from(wanted.abs() > 2.0 * near);
            } else if wanted.abs() > largest.0 {
                largest = (wanted.abs(), own / wanted);
            }
        }
        nodes.push((node, *yours, right, base, allowed));
    }
    // A rate has two decimals at most.
    let rate = (100.0 * (1.0 - 1.0 / largest.1)).round() / 100.0;
    if zeros == 0 || !(0.01..=0.95).contains(&rate) {
        return None;
    }
    let mut given = Graph::new();
    for (node, yours, right, base, allowed) in nodes {
        let expected = Matrix::from_fn(right.rows(), right.cols(), |i, j| {
            let is_zero = (yours[(i, j)] - base[(i, j)]).abs() <= allowed.around(yours[(i, j)]);
            base[(i, j)] + if is_zero { 0.0 } else { (right[(i, j)] - base[(i, j)]) / (1.0 - rate) }
        });
        given.given(node, expected, graph::Origin::Stated).ok()?;
    }
    let said = format!(
        "Dropout was on (p = {}): it set {} of {} to 0 and divided the others by {}.",
        number(rate),
        crate::text::counted(zeros, "number"),
        part.answer.name,
        number(1.0 - rate)
    );
    let slip = slip(fitted::DROPPED, Some(format!("p = {}", number(rate))))?.saying(said, None);
    fit(search, part, slip, given, 1)
}

/// Fits with a number for each row, which are tried last.
pub(super) fn fits_by_row(search: &Search<'_>) -> (Vec<Fit>, usize) {
    let found = search.readings.first().and_then(|part| linear::by_row(search, part));
    (found.into_iter().collect(), TRIED)
}

/// The same row of numbers added to every row.
fn bias(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let [(node, yours)] = &part.matrices[..] else { return None };
    let stage = match &**node {
        "O" => Site::Result,
        "V" => Site::Values,
        _ => return None,
    };
    let right = standing_for(search.task.right(), node)?;
    if right.shape() != yours.shape() || yours.rows() < 2 {
        return None;
    }
    let facts = search.task.facts();
    // A bias of V does not change fully masked rows.
    let of_values = stage == Site::Result
        && facts.empty_rows > 0
        && search.task.recipe().heads == 1
        && !facts.projects
        && !search.task.recipe().output.residual;
    let is_empty = |i: usize| right.row(i).all(|x| x == 0.0) && yours.row(i).all(|x| x == 0.0);
    let rows: Vec<usize> = (0..yours.rows()).filter(|&i| !(of_values && is_empty(i))).collect();
    let stage = if rows.len() < yours.rows() { Site::Values } else { stage };
    let allowed = CellTolerance::between(part.answer, yours, search.tolerance);
    // The median of all rows is least affected by rounding.
    let row = Matrix::from_fn(1, yours.cols(), |_, j| {
        let moved = rows.iter().map(|&i| yours[(i, j)] - right[(i, j)]);
        let (low, high) =
            moved.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        (low + high) / 2.0
    });
    let is_same = |i: &usize| {
        let near = |j: usize| 4.0 * allowed.around(right[(*i, j)].abs().max(yours[(*i, j)].abs()));
        (0..yours.cols()).all(|j| (yours[(*i, j)] - right[(*i, j)] - row[(0, j)]).abs() <= near(j))
    };
    if !row.cells().all(f64::is_finite) || !rows.iter().all(is_same) {
        return None;
    }
    // Where the right rows are equal as far as the digits tell, whatever is done moves every row alike.
    let range = |j: usize| {
        let column = rows.iter().map(|&i| right[(i, j)]);
        let (low, high) =
            column.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        high - low
    };
    let rounding = |j: usize| rows.iter().map(|&i| allowed.around(right[(i, j)])).fold(0.0, f64::max);
    if (0..yours.cols()).all(|j| range(j) <= LEAST_BIAS * rounding(j)) {
        return None;
    }
    // A bias within some units of the last digit is noise.
    if (0..row.cols()).all(|j| row[(0, j)].abs() <= LEAST_BIAS * rounding(j)) {
        return None;
    }
    let shown = |j: usize| if row[(0, j)].abs() <= rounding(j) { 0.0 } else { short(row[(0, j)]) };
    let numbers: Vec<String> = (0..row.cols().min(4)).map(|j| crate::graph::number_text(shown(j))).collect();
    let more = if row.cols() > 4 { " …" } else { "" };
    let list = format!("{}{more}", numbers.join(" "));
    let said = match stage {
        _ if node == "V" => format!("The same row was added to every row of V: a bias ({list})."),
        _ => format!("The same row was added to every row: a bias of V or of the output ({list})."),
    };
    let slip = slip(fitted::BIAS, Some(list))?.saying(said, None);
    let change = Change::Alteration(Alteration { stage, alter: Alter::Biased });
    let graph = search.task.with_shift([&change], row.clone());
    let graph = if node == "V" { graph_with(graph, "V", "V_altered") } else { graph };
    fit(search, part, slip, graph, yours.cols())
}

/// The graph in which a node has the numbers of another.
fn graph_with(graph: Graph, node: &str, other: &str) -> Graph {
    let Some(matrix) = graph.find(other).and_then(|id| graph[id].matrix().cloned()) else { return graph };
    let mut alone = Graph::new();
    match alone.given(node, matrix, crate::graph::Origin::Stated) {
        Ok(_) => alone,
        Err(_) => graph,
    }
}

/// Everything times one number.
fn factor(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let factor = common_factor(search, part)?;
    let step = Step::parse(&part.matrices.first()?.0)?.stage;
    // Dropout of nothing leaves the factor that makes up for it; scores are not dropped.
    if !step.is_scores() && DROPOUT.iter().any(|p| (factor * (1.0 - p) - 1.0).abs() < 1e-6) {
        return None;
    }
    let (id, change) = match step {
        graph::Stage::Scores => (fitted::TEMPERATURE, at(Site::Scores, factor)),
        graph::Stage::Scaled => {
            let right = search.task.recipe().scale.factor(search.task.facts().d_k)?.value();
            (fitted::TEMPERATURE, Change::Scale(Scale::Number(right * factor)))
        }
        graph::Stage::Masked if factor > 0.0 => {
            (fitted::TEMPERATURE, Change::Temperature(search.task.recipe().temperature / factor))
        }
        graph::Stage::Weights => (fitted::FACTOR, at(Site::Weights, factor)),
        graph::Stage::Role(graph::Role::V) => (fitted::FACTOR, at(Site::Values, factor)),
        graph::Stage::Joined => (fitted::FACTOR, at(Site::Heads, factor)),
        graph::Stage::Mixed | graph::Stage::Output => (fitted::FACTOR, at(Site::Result, factor)),
        _ => return None,
    };
    let said = format!("Every number of {} is the right one times {}.", step.name(), number(factor));
    let slip = slip(id, Some(format!("times {}", number(factor))))?.saying(said, None);
    let graph = search.task.with([&change]);
    fit(search, part, slip, graph, 1)
}

/// The number that all right numbers are multiplied by: of those that the digits of the part allow, the one with the fewest digits.
fn common_factor(search: &Search<'_>, part: &Part<'_>) -> Option<f64> {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut max, mut nearest) = (0.0_f64, f64::NAN);
    let mut rounding = 0.0_f64;
    for (node, yours) in &part.matrices {
        let right = standing_for(search.task.right(), node)?;
        if right.shape() != yours.shape() {
            return None;
        }
        let allowed = CellTolerance::between(part.answer, yours, search.tolerance);
        rounding = rounding.max(allowed.rounding());
        for (yours, right) in yours.cells().zip(right.cells()) {
            if !yours.is_finite() || !right.is_finite() {
                continue;
            }
            let near = allowed.around(yours);
            if right == 0.0 {
                if yours.abs() > near {
                    return None;
                }
                continue;
            }
            let ends = [(yours - near) / right, (yours + near) / right];
            (low, high) = (low.max(ends[0].min(ends[1])), high.min(ends[0].max(ends[1])));
            if right.abs() > max {
                (max, nearest) = (right.abs(), yours / right);
            }
        }
    }
    let is_factor = |factor: &f64| *factor != 0.0 && (low..=high).contains(factor);
    let rounded = || (1..=6).map(|digits| to_digits((low + high) / 2.0, digits)).find(is_factor);
    let factor = if rounding > 0.0 { rounded() } else { None };
    let factor = factor.or(Some(nearest).filter(is_factor))?;
    // What moves no number by more than some units of its last digit is noise.
    ((factor - 1.0).abs() * max > LEAST_BIAS * rounding).then_some(factor)
}

fn at(stage: Site, factor: f64) -> Change {
    Change::Alteration(Alteration { stage, alter: Alter::Times(factor) })
}
