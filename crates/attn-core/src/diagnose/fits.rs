//! Mistakes with a number, or a row of numbers, of their own: solved for, not tried.

use std::collections::BTreeSet;

use crate::graph::recipes::{Alter, Alteration, Change, Scale, Site};
use crate::graph::{CellId, Graph, Role, Stage, Step, address_of};
use crate::matrix::{Matrix, Shape};
use crate::text::all_of;
use crate::{elementary, graph};

use super::answer::Part;
use super::candidates::{Variant, standing_for};
use super::catalogue::fitted;
use super::catalogue::numbers::{coincidence, in_words, number, short, to_digits};
use super::compare::{CellTolerance, distance, ends, residual};
use super::diagnosis::capital;
use super::plans::Number;
use super::search::{DROPOUT, Fit, Search, alone, fit, slip};
use super::{Slip, Task, linear};

/// In the test of chance a fit of one number counts as this many candidates.
const TRIED: usize = 100;
/// A bias counts as more than noise if it exceeds the rounding tolerance by this factor.
const LEAST_BIAS: f64 = 10.0;
/// The fits, and the number of tried possibilities.
pub(super) fn fits(search: &Search<'_>) -> (Vec<Fit>, usize) {
    let Some(part) = search.readings.first() else { return (Vec::new(), 1) };
    // The simplest fit wins: mistakes with more free numbers are not tried after it.
    let kinds: [&dyn Fn() -> Option<Fit>; 11] = [
        &|| reshaped(search, part),
        &|| incomplete(search, part),
        &|| reordered(search, part),
        &|| surplus(search, part),
        &|| one_cell(search, part),
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
    let kinds = [exchanged, zeroed];
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
        for at in right.shape().places() {
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
        let (low, high) = ends(moved);
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
        let (low, high) = ends(rows.iter().map(|&i| right[(i, j)]));
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
        _ if is_left_out(search, &row, rounding) => {
            "b_O was left out: the bias of the output projection.".to_string()
        }
        _ => format!("The same row was added to every row: a bias of V or of the output ({list})."),
    };
    let inputs = search.task.inputs();
    let has_biases = [Role::BV, Role::BO].into_iter().any(|role| inputs.get(role).is_some());
    let fix = has_biases
        .then(|| "Compare your biases of V and of the output with those of the exercise.".to_string());
    let slip = slip(fitted::BIAS, Some(list))?.saying(said, fix);
    let change = Change::Alteration(Alteration { stage, alter: Alter::Biased });
    let graph = search.task.with_shift([&change], row.clone());
    let graph = if node == "V" { graph_with(graph, "V", "V_altered") } else { graph };
    fit(search, part, slip, graph, yours.cols())
}

/// Whether a row is what is missing without the bias of the output projection.
fn is_left_out(search: &Search<'_>, row: &Matrix, rounding: impl Fn(usize) -> f64) -> bool {
    let bias = search.task.inputs().get(Role::BO).and_then(|given| given.tensor.matrix().ok());
    bias.is_some_and(|bias| {
        bias.cols() == row.cols()
            && (0..row.cols()).all(|j| (row[(0, j)] + bias[(0, j)]).abs() <= LEAST_BIAS * rounding(j))
    })
}

/// The graph in which a node has the numbers of another.
fn graph_with(graph: Graph, node: &str, other: &str) -> Graph {
    let matrix = graph.find(other).and_then(|id| graph[id].matrix().cloned());
    matrix.and_then(|matrix| alone(node, matrix)).unwrap_or(graph)
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
            (fitted::TEMPERATURE, Change::setting("scale", Scale::Number(right * factor)))
        }
        graph::Stage::Masked if factor > 0.0 => {
            (fitted::TEMPERATURE, Change::setting("temperature", search.task.recipe().temperature / factor))
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

// One number of the exercise that is not the right one, solved for from the result: the temperature, or what stands for −∞.

/// A number is found after at most this many halvings.
const HALVINGS: usize = 60;

/// The numbers of a part at one value, in the order of its nodes.
struct NumbersAt {
    value: f64,
    numbers: Vec<Matrix>,
}

/// The scores divided by another number.
pub(super) fn temperature(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    one_number(search, part, Number::Temperature)
}

/// Another number in the place of −∞. What it does may be as small as noise.
pub(super) fn hiding_number(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    if !search.task.recipe().mask.is_some() || !search.task.facts().mask_only_hides {
        return None;
    }
    let search = Search { near: true, ..*search };
    [Number::Written, Number::Added].into_iter().find_map(|of| one_number(&search, part, of))
}

/// A number: looked for between neighbouring values whose results the part lies between.
fn one_number(search: &Search<'_>, part: &Part<'_>, of: Number) -> Option<Fit> {
    let step = Step::parse(&part.matrices.first()?.0)?;
    let numbers = part.matrices.iter().all(|(_, matrix)| matrix.cells().all(f64::is_finite));
    if step.stage < Stage::Weights || !numbers {
        return None;
    }
    let nodes: Vec<String> = part.matrices.iter().map(|(node, _)| node.clone()).collect();
    let mut between: Vec<(NumbersAt, NumbersAt)> = Vec::new();
    let mut before: Option<NumbersAt> = None;
    search.candidates.each_number(of, search.task, &nodes, |value, row| {
        let numbers = nodes.iter().map(|node| Some(row.numbers(node)?.matrix.clone())).collect();
        let here = Option::map(numbers, |numbers| NumbersAt { value, numbers });
        if let (Some(cold), Some(warm)) = (before.take(), here.as_ref())
            && are_between(search, part, &cold, warm)
        {
            let warm = NumbersAt { value, numbers: warm.numbers.clone() };
            between.push((cold, warm));
        }
        before = here;
    });
    between.iter().find_map(|(cold, warm)| solved(search, part, of, (cold, warm)))
}

/// Whether all numbers of a part lie between those at two values, or near them.
fn are_between(search: &Search<'_>, part: &Part<'_>, cold: &NumbersAt, warm: &NumbersAt) -> bool {
    part.matrices.iter().zip(cold.numbers.iter().zip(&warm.numbers)).all(|((_, yours), (low, high))| {
        if low.shape() != yours.shape() || high.shape() != yours.shape() {
            return false;
        }
        let moved = low.cells().zip(high.cells()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let near = CellTolerance::between(part.answer, low, search.tolerance).around(0.0) + 0.3 * moved;
        let cells = yours.cells().zip(low.cells().zip(high.cells()));
        cells.into_iter().all(|(x, (a, b))| x >= a.min(b) - near && x <= a.max(b) + near)
    })
}

/// The value between two at which the numbers come nearest to those of the part.
fn solved(
    search: &Search<'_>,
    part: &Part<'_>,
    of: Number,
    (cold, warm): (&NumbersAt, &NumbersAt),
) -> Option<Fit> {
    // The position between the two ends, from 0 to 1.
    let along = |numbers: &[Matrix]| -> f64 {
        let parts = numbers.iter().zip(&part.matrices).zip(cold.numbers.iter().zip(&warm.numbers));
        parts
            .map(|((numbers, (_, yours)), (low, high))| {
                let cells = numbers.cells().zip(yours.cells()).zip(low.cells().zip(high.cells()));
                cells.map(|((x, y), (a, b))| (x - y) * (b - a)).sum::<f64>()
            })
            .sum()
    };
    let at = |value: f64| -> Option<Vec<Matrix>> {
        let graph = search.task.with([&of.change(value)]);
        part.matrices.iter().map(|(node, _)| standing_for(&graph, node).cloned()).collect()
    };
    let (mut a, mut b) = (cold.value, warm.value);
    let (mut at_a, mut at_b) = (along(&cold.numbers), along(&warm.numbers));
    // A value of the grid itself is at one of the ends, up to its last digits.
    if at_a.abs() <= 1e-6 * at_b.abs() {
        return with_number(search, part, of, cold.value);
    }
    if at_b.abs() <= 1e-6 * at_a.abs() {
        return with_number(search, part, of, warm.value);
    }
    if at_a * at_b > 0.0 {
        return None;
    }
    let mut middle = a;
    for _ in 0..HALVINGS {
        // The chord, kept away from the ends; halves where that does not help.
        let chord = a - at_a * (b - a) / (at_b - at_a);
        middle = if chord > a.min(b) && chord < a.max(b) { chord } else { (a + b) / 2.0 };
        let value = along(&at(middle)?);
        if value == 0.0 || (b - a).abs() < 1e-14 {
            break;
        }
        if (value > 0.0) == (at_a > 0.0) {
            (a, at_a, at_b) = (middle, value, at_b / 2.0);
        } else {
            (b, at_b, at_a) = (middle, value, at_a / 2.0);
        }
    }
    let plain = plain_ones(search, part, of, middle).into_iter();
    plain.chain([middle]).find_map(|value| with_number(search, part, of, value))
}

/// Values near this one that somebody chooses: with few digits, or the root of a whole number, as the divisor or beside it.
/// Empty where the numbers were not rounded, which show the value itself.
fn plain_ones(search: &Search<'_>, part: &Part<'_>, of: Number, value: f64) -> Vec<f64> {
    let is_rounded = part
        .matrices
        .iter()
        .any(|(_, yours)| CellTolerance::between(part.answer, yours, search.tolerance).rounding() > 0.0);
    if !is_rounded {
        return Vec::new();
    }
    if of != Number::Temperature {
        return (1..=4).map(|digits| to_digits(value, digits)).collect();
    }
    let (recipe, facts) = (search.task.recipe(), search.task.facts());
    let scale = recipe.scale.factor(facts.d_k).map_or(1.0, |factor| factor.value());
    let t = elementary::exp(value);
    let divisor = t / scale;
    let root = (divisor * divisor).round().max(1.0).sqrt();
    let by_digits = (1..=3).flat_map(|digits| [to_digits(divisor, digits) * scale, to_digits(t, digits)]);
    by_digits.chain([root * scale]).map(elementary::ln).collect()
}

/// The exercise with this value.
fn with_number(search: &Search<'_>, part: &Part<'_>, of: Number, value: f64) -> Option<Fit> {
    let slip = match of {
        Number::Temperature => divided(search.task, elementary::exp(value))?,
        Number::Written | Number::Added => {
            let how = if of == Number::Written { "in their place" } else { "added" };
            slip(fitted::WEAK_MASK, Some(format!("{} {how}", number(value))))?
        }
    };
    fit(search, part, slip, search.task.with([&of.change(value)]), 1)
}

/// A wrong temperature in words: the number that the scores were divided by.
fn divided(task: &Task, t: f64) -> Option<Slip> {
    let (recipe, facts) = (task.recipe(), task.facts());
    let scale = recipe.scale.factor(facts.d_k).map_or(1.0, |factor| factor.value());
    let right = recipe.temperature / scale;
    let divisor = t / scale;
    let is_root = scale == 1.0 / (facts.d_k as f64).sqrt() && recipe.temperature == 1.0;
    let instead = if is_root { format!("√{} = {}", facts.d_k, number(right)) } else { number(right) };
    let also = coincidence(1.0 / divisor, 1, recipe, facts).map_or(String::new(), |also| format!(" {also}"));
    let said = format!("The scores were divided by {} instead of {instead}.{also}", in_words(divisor));
    Some(slip(fitted::TEMPERATURE, Some(format!("by {}", in_words(divisor))))?.saying(said, None))
}

// The right numbers rearranged: in another shape, in another order, or only some of them.

/// The right numbers in another shape, read row by row or column by column.
pub(super) fn reshaped(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let [(node, yours)] = &part.matrices[..] else { return None };
    let right = standing_for(search.task.right(), node)?;
    if right.shape() == yours.shape() || right.rows() * right.cols() != yours.rows() * yours.cols() {
        return None;
    }
    let orders = [(right.clone(), "row by row"), (right.transposed(), "column by column")];
    orders.into_iter().find_map(|(source, order)| {
        let cells: Vec<f64> = source.cells().collect();
        let expected = Matrix::from_row_major(yours.rows(), yours.cols(), &cells).ok()?;
        let allowed = CellTolerance::between(part.answer, &expected, search.tolerance);
        let left = residual(yours, &expected, allowed)?;
        let said =
            format!("The numbers of {node} are right, read {order}, but {node} should be {}.", right.shape());
        let fix = format!("Reshape {node} to {} before you hand it in.", right.shape());
        let slip = slip(fitted::RESHAPED, Some(order.to_string()))?.saying(said, Some(fix));
        let reshape = Alter::Reshaped { rows: yours.rows(), cols: yours.cols() };
        let change = Change::Alteration(Alteration { stage: Site::Result, alter: reshape });
        let graph = if node == "O" { search.task.with([&change]) } else { search.task.right().clone() };
        // A right answer in another shape has the evidence of all its cells.
        Some(found(slip, graph, left, cells.len()))
    })
}

/// The right rows, or columns, in another order.
pub(super) fn reordered(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let [(node, yours)] = &part.matrices[..] else { return None };
    let right = standing_for(search.task.right(), node)?;
    if node != "O" || right.shape() != yours.shape() {
        return None;
    }
    let allowed = CellTolerance::between(part.answer, right, search.tolerance);
    let orders = [
        (order(yours, right, allowed), "rows", fitted::ROW_ORDER),
        (order(&yours.transposed(), &right.transposed(), allowed), "columns", fitted::COLUMN_ORDER),
    ];
    orders.into_iter().find_map(|(order, what, id)| {
        let order = order?;
        let list: Vec<String> = order.iter().map(|at| (at + 1).to_string()).collect();
        let said = format!("The {what} of {node} are right, but in the order {}.", list.join(" "));
        let moved =
            |i: usize, j: usize| if what == "rows" { right[(order[i], j)] } else { right[(i, order[j])] };
        let graph = alone(node, Matrix::from_fn(yours.rows(), yours.cols(), moved))?;
        let mut found = fit(search, part, slip(id, Some(list.join(" ")))?.saying(said, None), graph, 0)?;
        // Equal rows: any order fits.
        found.log_chance += (1..=order.len()).map(|n| elementary::ln(n as f64)).sum::<f64>();
        Some(found)
    })
}

/// Which row of the right matrix each row is, if each of them is another one.
fn order(yours: &Matrix, right: &Matrix, allowed: CellTolerance) -> Option<Vec<usize>> {
    const MOST: usize = 64;
    let rows = yours.rows();
    let is = |i: usize, k: usize| {
        (0..yours.cols()).all(|j| distance(yours[(i, j)], right[(k, j)]) <= allowed.around(right[(k, j)]))
    };
    let mut taken = vec![false; rows];
    let mut order = Vec::new();
    for i in 0..rows {
        let k = (rows <= MOST).then(|| (0..rows).find(|&k| !taken[k] && is(i, k))).flatten()?;
        taken[k] = true;
        order.push(k);
    }
    Some(order)
}

/// Some rows, or some columns, of the right result, and nothing else.
pub(super) fn incomplete(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let [(node, yours)] = &part.matrices[..] else { return None };
    let right = standing_for(search.task.right(), node)?;
    let (Shape { rows, cols }, whole) = (yours.shape(), right.shape());
    let fewer_rows = rows < whole.rows && cols == whole.cols;
    let fewer_cols = cols < whole.cols && rows == whole.rows;
    // One head alone is better called by its name.
    let is_another = search.task.right().nodes().filter_map(|(_, other)| other.matrix()).any(|other| {
        residual(yours, other, CellTolerance::between(part.answer, other, search.tolerance)).is_some()
    });
    if node != "O" || !(fewer_rows || fewer_cols) || rows * cols == 0 || is_another {
        return None;
    }
    let (what, from, count) =
        if fewer_rows { ("row", whole.rows - rows, rows) } else { ("column", whole.cols - cols, cols) };
    (0..=from).find_map(|start| {
        let cell =
            |i: usize, j: usize| if fewer_rows { right[(i + start, j)] } else { right[(i, j + start)] };
        let expected = Matrix::from_fn(rows, cols, cell);
        residual(yours, &expected, CellTolerance::between(part.answer, &expected, search.tolerance))?;
        let which = match count {
            1 => format!("{what} {}", start + 1),
            _ => format!("{what}s {} to {}", start + 1, start + count),
        };
        let said = format!("You handed in {which} of {node} alone; {node} should be {whole}.");
        let slip = slip(fitted::INCOMPLETE, Some(which))?.saying(said, None);
        fit(search, part, slip, alone(node, expected)?, 0)
    })
}

// The right numbers but for a part that says what happened: rows that stayed 0, one wrong number, a header among the numbers.

/// A result with fewer numbers is too small for one wrong number to stand out.
const LEAST_CELLS: usize = 6;
/// A wrong number, or two exchanged ones, are told from noise where they are off by more than this many times what is allowed around it.
const LEAST_DISTANCE: f64 = 100.0;

/// Rows, or columns, of the result that are 0 while all others are right.
pub(super) fn zeroed(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let whole = WholeResult::of(search, part)?;
    let Shape { rows, cols } = whole.right.shape();
    let wrong: Vec<(usize, usize)> = whole.wrong().collect();
    if wrong.len() < 2 {
        return None;
    }
    let wrong_rows: BTreeSet<usize> = wrong.iter().map(|&(i, _)| i).collect();
    let wrong_columns: BTreeSet<usize> = wrong.iter().map(|&(_, j)| j).collect();
    let are_rows =
        wrong_rows.len() < rows && wrong_rows.iter().all(|&i| whole.yours.row(i).all(|x| x == 0.0));
    let are_columns =
        wrong_columns.len() < cols && wrong_columns.iter().all(|&j| whole.yours.col(j).all(|x| x == 0.0));
    let (noun, lines, fix) = if are_rows {
        ("row", &wrong_rows, rows_fix(&wrong_rows, rows))
    } else if are_columns {
        let has_heads = search.task.recipe().heads > 1;
        ("column", &wrong_columns, columns_fix(has_heads))
    } else {
        return None;
    };
    let is_zero = |i: usize, j: usize| lines.contains(if are_rows { &i } else { &j });
    let expected = Matrix::from_fn(rows, cols, |i, j| if is_zero(i, j) { 0.0 } else { whole.right[(i, j)] });
    let names = numbered(noun, lines);
    let verb = if lines.len() == 1 { "is" } else { "are" };
    let said = format!("{} of O {verb} 0, and should not be.", capital(&names));
    let slip = slip(fitted::ZEROED, Some(names))?.saying(said, Some(fix.to_string()));
    whole.fit(slip, expected, wrong.len())
}

/// What to do where these rows of the result were left at 0.
fn rows_fix(zeros: &BTreeSet<usize>, rows: usize) -> &'static str {
    let is_end = zeros.iter().all(|row| *row >= rows - zeros.len());
    if is_end {
        "Fill every row: the loop over the queries runs to the last one, and `return` stands after the loop."
    } else if zeros.contains(&0) {
        "Fill every row: the loop over the queries begins at the first one, which has the index 0."
    } else {
        "Fill every row: each query has a result."
    }
}

fn columns_fix(has_heads: bool) -> &'static str {
    if has_heads {
        "Fill every column: each head writes its own columns."
    } else {
        "Fill every column: the loop over the columns of V runs to the last one."
    }
}

/// One number of the result that is wrong while all others are right.
pub(super) fn one_cell(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let whole = WholeResult::of(search, part)?;
    let Shape { rows, cols } = whole.right.shape();
    let mut wrong = whole.wrong();
    let at = wrong.next()?;
    let off = distance(whole.yours[at], whole.right[at]);
    let is_noise = off <= LEAST_DISTANCE * whole.allowed.around(whole.right[at]);
    if wrong.next().is_some() || rows * cols < LEAST_CELLS || is_noise {
        return None;
    }
    let graph = search.task.right();
    let cell = address_of(graph, CellId { node: graph.find("O")?, row: at.0, col: at.1 });
    let has_other_sign = distance(-whole.yours[at], whole.right[at]) <= whole.allowed.around(whole.right[at]);
    let said = if has_other_sign {
        format!("Only one number is wrong: {cell} has the wrong sign.")
    } else {
        format!("Only one number is wrong: {cell}.")
    };
    let detail = if has_other_sign { format!("the sign of {cell}") } else { cell };
    let cell = |i: usize, j: usize| if (i, j) == at { whole.yours[at] } else { whole.right[(i, j)] };
    let expected = Matrix::from_fn(rows, cols, cell);
    whole.fit(slip(fitted::ONE_CELL, Some(detail))?.saying(said, None), expected, rows * cols - 1)
}

/// Two numbers of the result that stand in each other's place while all others are right.
pub(super) fn exchanged(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let whole = WholeResult::of(search, part)?;
    let Shape { rows, cols } = whole.right.shape();
    let wrong: Vec<(usize, usize)> = whole.wrong().take(3).collect();
    let [a, b] = wrong[..] else { return None };
    let is = |at: (usize, usize), from: (usize, usize)| {
        distance(whole.yours[at], whole.right[from]) <= whole.allowed.around(whole.right[from])
    };
    let apart = distance(whole.right[a], whole.right[b]);
    let is_noise = apart <= LEAST_DISTANCE * whole.allowed.around(whole.right[a]);
    if rows * cols < LEAST_CELLS || is_noise || !is(a, b) || !is(b, a) {
        return None;
    }
    let graph = search.task.right();
    let node = graph.find("O")?;
    let [first, second] = [a, b].map(|(row, col)| address_of(graph, CellId { node, row, col }));
    let said =
        format!("Two numbers stand in each other's place: {first} and {second}. All others are right.");
    let cell = |i: usize, j: usize| match (i, j) {
        at if at == a => whole.right[b],
        at if at == b => whole.right[a],
        at => whole.right[at],
    };
    let expected = Matrix::from_fn(rows, cols, cell);
    let detail = Some(format!("{first} and {second}"));
    whole.fit(slip(fitted::EXCHANGED, detail)?.saying(said, None), expected, rows * cols)
}

/// The right result with a row before it, or a column, that is not part of it: a header or an index among the numbers.
pub(super) fn surplus(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let [(node, yours)] = &part.matrices[..] else { return None };
    let right = standing_for(search.task.right(), node)?;
    let (Shape { rows, cols }, whole) = (yours.shape(), right.shape());
    let is_row = rows == whole.rows + 1 && cols == whole.cols;
    let is_column = cols == whole.cols + 1 && rows == whole.rows;
    if node != "O" || !(is_row || is_column) || whole.rows * whole.cols < LEAST_CELLS {
        return None;
    }
    let allowed = CellTolerance::between(part.answer, right, search.tolerance);
    let (down, along) = (usize::from(is_row), usize::from(is_column));
    let is_right = |i: usize, j: usize| {
        distance(yours[(i + down, j + along)], right[(i, j)]) <= allowed.around(right[(i, j)])
    };
    if !(0..whole.rows).all(|i| (0..whole.cols).all(|j| is_right(i, j))) {
        return None;
    }
    let noun = if is_row { "row" } else { "column" };
    let said = format!("Your first {noun} is not part of O; everything else is right.");
    let fix = if is_row {
        "Write the numbers alone: a header of column numbers was read as a row (`to_csv(…, header=False, index=False)`)."
    } else {
        "Write the numbers alone: an index was read as a column (`to_csv(…, index=False)`)."
    };
    let slip = slip(fitted::SURPLUS, Some(format!("a {noun}")))?.saying(said, Some(fix.to_string()));
    let is_more = |i: usize, j: usize| i < down || j < along;
    let cell = |i: usize, j: usize| if is_more(i, j) { yours[(i, j)] } else { right[(i - down, j - along)] };
    let expected = Matrix::from_fn(rows, cols, cell);
    let left = residual(yours, &expected, CellTolerance::between(part.answer, &expected, search.tolerance))?;
    Some(found(slip, alone("O", expected)?, left, whole.rows * whole.cols))
}

/// A whole result of the right shape, next to the right one.
struct WholeResult<'a> {
    yours: &'a Matrix,
    right: &'a Matrix,
    allowed: CellTolerance,
}

impl<'a> WholeResult<'a> {
    fn of(search: &Search<'a>, part: &Part<'a>) -> Option<WholeResult<'a>> {
        let [(node, yours)] = &part.matrices[..] else { return None };
        let right = standing_for(search.task.right(), node)?;
        let allowed = CellTolerance::between(part.answer, right, search.tolerance);
        (node == "O" && right.shape() == yours.shape()).then_some(WholeResult { yours, right, allowed })
    }

    /// The places of the numbers that are wrong.
    fn wrong(&self) -> impl Iterator<Item = (usize, usize)> {
        let is_wrong = |at: (usize, usize)| {
            distance(self.yours[at], self.right[at]) > self.allowed.around(self.right[at])
        };
        self.right.shape().places().filter(move |at| is_wrong(*at))
    }

    fn fit(&self, slip: Slip, expected: Matrix, telling: usize) -> Option<Fit> {
        let left = residual(self.yours, &expected, self.allowed)?;
        Some(found(slip, alone("O", expected)?, left, telling))
    }
}

/// A fit by numbers that stand where they should, or are exactly 0: each of them is hardly ever there by chance.
fn found(slip: Slip, graph: Graph, residual: f64, telling: usize) -> Fit {
    let log_chance = -(telling as f64) * elementary::ln(100.0);
    Fit { variant: Variant::fitted(slip), graph: Some(graph), residual, reading: 0, log_chance }
}

/// “row 3”, “rows 1, 2 and 5”: the places from 0.
fn numbered(noun: &str, places: &BTreeSet<usize>) -> String {
    let numbers: Vec<String> = places.iter().map(|place| (place + 1).to_string()).collect();
    let plural = if places.len() == 1 { "" } else { "s" };
    format!("{noun}{plural} {}", all_of(&numbers))
}
