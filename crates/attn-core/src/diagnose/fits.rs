//! Mistakes with a number, or a row of numbers, of their own: solved for, not tried.

use std::collections::BTreeSet;

use crate::elementary;
use crate::graph::recipes::{Alter, Alteration, Change, Scale, Site};
use crate::graph::{Graph, Origin, Role, Stage, Step, number_text};
use crate::matrix::{Matrix, Shape};
use crate::text::{all_of, counted};

use super::answer::Part;
use super::candidates::CandidateList;
use super::catalogue::Slip;
use super::catalogue::numbers::{coincidence, in_words, number, short, to_digits};
use super::compare::{CellTolerance, distance, ends, residual};
use super::diagnosis::capital;
use super::search::{DROPOUT, Fit, Handed, Search, alone, by_place};
use super::task::standing_for;
use super::{Task, linear};

/// In the test of chance a fit of one number counts as this many candidates.
const TRIED: usize = 100;
/// A bias counts as more than noise if it exceeds the rounding tolerance by this factor.
const LEAST_BIAS: f64 = 10.0;
/// The fits, and the number of tried possibilities.
pub(super) fn fits(search: &Search<'_>) -> (Vec<Fit>, usize) {
    let Some(part) = search.readings.first() else { return (Vec::new(), 1) };
    let handed = Handed::of(search);
    let alone = |solve: fn(&Handed<'_>) -> Option<Fit>| solve(handed.as_ref()?);
    // The simplest fit wins: mistakes with more free numbers are not tried after it.
    let found = alone(reshaped)
        .or_else(|| alone(incomplete))
        .or_else(|| alone(reordered))
        .or_else(|| alone(surplus))
        .or_else(|| one_cell(&Handed::only_wrong(search)?))
        .or_else(|| dropped(search, part))
        .or_else(|| alone(bias))
        .or_else(|| factor(search, part))
        .or_else(|| one_number(search, part, CandidateList::Temperature))
        .or_else(|| alone(linear::weighted))
        .or_else(|| hiding_number(search, part));
    (found.into_iter().collect(), TRIED)
}

/// Fits without a number of their own: they are tried beside the mistakes of the catalogue, some of which give the same numbers.
pub(super) fn fits_without_number(search: &Search<'_>) -> Vec<Fit> {
    let two = Handed::only_wrong(search).and_then(|handed| exchanged(&handed));
    two.into_iter().chain(Handed::of(search).and_then(|handed| zeroed(&handed))).collect()
}

/// Fits with a number for each row, which are tried last.
pub(super) fn fits_by_row(search: &Search<'_>) -> (Vec<Fit>, usize) {
    let found = Handed::of(search).and_then(|handed| linear::by_row(&handed));
    (found.into_iter().collect(), TRIED)
}

/// Numbers that are 0, or the right ones over 1 − p: dropout. What is added to the residual is seen next to it.
fn dropped(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let (task, mut nodes) = (search.task(), Vec::new());
    let (mut zeros, mut largest) = (0, (0.0_f64, f64::NAN));
    for (node, yours) in &part.matrices {
        let right = standing_for(task.right(), node).filter(|right| right.shape() == yours.shape())?;
        if Step::parse(node)?.stage < Stage::Weights || !yours.cells().all(f64::is_finite) {
            return None;
        }
        let is_sum = node == "O" && task.recipe().output.residual;
        let x = is_sum.then(|| standing_for(task.right(), "X")).flatten();
        let base = Matrix::from_fn(right.rows(), right.cols(), |i, j| x.map_or(0.0, |x| x[(i, j)]));
        let allowed = search.allowed(part, yours);
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
        given.given(node, expected, Origin::Stated).ok()?;
    }
    let (p, zeros, left) = (number(rate), counted(zeros, "number"), number(1.0 - rate));
    let name = &part.answer.name;
    let said =
        format!("Dropout was on (p = {p}): it set {zeros} of {name} to 0 and divided the others by {left}.");
    search.solved(part, Slip::solved("dropout", format!("p = {p}")).saying(said), given, 1)
}

/// The same row of numbers added to every row.
fn bias(handed: &Handed<'_>) -> Option<Fit> {
    let Handed { search, node, yours, right, .. } = *handed;
    let (task, facts) = (search.task(), search.task().facts());
    let is_values = node == "V";
    if !(is_values || node == "O") || !handed.has_right_shape() || yours.rows() < 2 {
        return None;
    }
    // A bias of V does not change fully masked rows.
    let plain = task.recipe().heads == 1 && !facts.projects && !task.recipe().output.residual;
    let skips_empty = !is_values && facts.empty_rows > 0 && plain;
    let is_empty = |i: usize| right.row(i).all(|x| x == 0.0) && yours.row(i).all(|x| x == 0.0);
    let rows: Vec<usize> = (0..yours.rows()).filter(|&i| !(skips_empty && is_empty(i))).collect();
    let of_values = is_values || rows.len() < yours.rows();
    let allowed = handed.allowed_beside(yours);
    // The median of all rows is least affected by rounding.
    let row = Matrix::from_fn(1, yours.cols(), |_, j| {
        let (low, high) = ends(rows.iter().map(|&i| yours[(i, j)] - right[(i, j)]));
        (low + high) / 2.0
    });
    let is_moved = |i: usize, j: usize| {
        let (own, wanted) = (yours[(i, j)], right[(i, j)]);
        (own - wanted - row[(0, j)]).abs() <= 4.0 * allowed.around(wanted.abs().max(own.abs()))
    };
    let are_moved = |&i: &usize| (0..yours.cols()).all(|j| is_moved(i, j));
    if !row.cells().all(f64::is_finite) || !rows.iter().all(are_moved) {
        return None;
    }
    let range = |j: usize| {
        let (low, high) = ends(rows.iter().map(|&i| right[(i, j)]));
        high - low
    };
    let rounding = |j: usize| rows.iter().map(|&i| allowed.around(right[(i, j)])).fold(0.0, f64::max);
    let are_small =
        |size: &dyn Fn(usize) -> f64| (0..row.cols()).all(|j| size(j) <= LEAST_BIAS * rounding(j));
    // Where the right rows are equal as far as the digits tell, whatever is done moves every row alike. A bias within some units of
    // the last digit is noise.
    if are_small(&range) || are_small(&|j| row[(0, j)].abs()) {
        return None;
    }
    let shown = |j: usize| if row[(0, j)].abs() <= rounding(j) { 0.0 } else { short(row[(0, j)]) };
    let numbers: Vec<String> = (0..row.cols().min(4)).map(|j| number_text(shown(j))).collect();
    let more = if row.cols() > 4 { " …" } else { "" };
    let list = format!("{}{more}", numbers.join(" "));
    let given = |role| task.inputs().get(role).and_then(|given| given.tensor.matrix().ok());
    let is_left_out = given(Role::BO)
        .is_some_and(|bias| bias.cols() == row.cols() && are_small(&|j| (row[(0, j)] + bias[(0, j)]).abs()));
    let said = if is_values {
        format!("The same row was added to every row of V: a bias ({list}).")
    } else if is_left_out {
        "b_O was left out: the bias of the output projection.".to_string()
    } else {
        format!("The same row was added to every row: a bias of V or of the output ({list}).")
    };
    let mut slip = Slip::solved("bias-added", list).saying(said);
    if [Role::BV, Role::BO].into_iter().any(|role| task.inputs().get(role).is_some()) {
        slip = slip.with_fix("Compare your biases of V and of the output with those of the exercise.");
    }
    let stage = if of_values { Site::Values } else { Site::Result };
    let change = Change::Alteration(Alteration { stage, alter: Alter::Biased });
    let graph = task.with_shift([&change], row);
    let altered = graph.find("V_altered").filter(|_| is_values).and_then(|id| graph[id].matrix().cloned());
    let graph = altered.and_then(|values| alone("V", values)).unwrap_or(graph);
    search.solved(handed.part, slip, graph, yours.cols())
}

/// Dropout that drops no cell at all is looked for only where it happens at least this often.
const LEAST_CHANCE: f64 = 0.05;

/// Everything times one number.
fn factor(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let factor = common_factor(search, part)?;
    let step = Step::parse(&part.matrices.first()?.0)?.stage;
    // Dropout that drops nothing, as may happen with few cells, leaves the factor that makes up for it; scores are not dropped.
    let cells: usize =
        part.matrices.iter().map(|(_, matrix)| matrix.cells().filter(|&x| x != 0.0).count()).sum();
    let dropout = DROPOUT.iter().find(|&p| !step.is_scores() && (factor * (1.0 - p) - 1.0).abs() < 1e-6);
    if dropout.is_some_and(|p| std::iter::repeat_n(1.0 - p, cells).product::<f64>() > LEAST_CHANCE) {
        return None;
    }
    let recipe = search.task().recipe();
    let at = |stage| Change::Alteration(Alteration { stage, alter: Alter::Times(factor) });
    let change = match step {
        Stage::Scores => at(Site::Scores),
        Stage::Scaled => {
            let right = recipe.scale.factor(search.task().facts().d_k)?.value();
            Change::setting("scale", Scale::Number(right * factor))
        }
        Stage::Masked if factor > 0.0 => Change::setting("temperature", recipe.temperature / factor),
        Stage::Weights => at(Site::Weights),
        Stage::Role(Role::V) => at(Site::Values),
        Stage::Joined => at(Site::Heads),
        Stage::Mixed | Stage::Output => at(Site::Result),
        _ => return None,
    };
    let id = if step.is_scores() { "temperature" } else { "wrong-factor" };
    let said = format!("Every number of {} is the right one times {}.", step.name(), number(factor));
    let mut slip = Slip::solved(id, format!("times {}", number(factor))).saying(said);
    if let Some(p) = dropout {
        let times = number(factor);
        slip = slip
            .with_fix(format!("Look for the factor {times}. Dropout with p = {p} has it: 1 / (1 − {p})."));
    }
    search.solved(part, slip, search.task().with([&change]), 1)
}

/// The number that all right numbers are multiplied by: of those that the digits of the part allow, the one with the fewest digits.
fn common_factor(search: &Search<'_>, part: &Part<'_>) -> Option<f64> {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut max, mut nearest) = (0.0_f64, f64::NAN);
    let mut rounding = 0.0_f64;
    for (node, yours) in &part.matrices {
        let right =
            standing_for(search.task().right(), node).filter(|right| right.shape() == yours.shape())?;
        let allowed = search.allowed(part, yours);
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

// One number of the exercise that is not the right one, solved for from the result: the temperature, or what stands for −∞.

/// A number is found after at most this many halvings.
const HALVINGS: usize = 60;

/// The numbers of a part at one value, in the order of its nodes.
struct NumbersAt {
    value: f64,
    numbers: Vec<Matrix>,
}

/// Another number in the place of −∞. What it does may be as small as noise.
fn hiding_number(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    if !search.task().recipe().mask.is_some() || !search.task().facts().mask_only_hides {
        return None;
    }
    let search = search.near();
    [CandidateList::Written, CandidateList::Added].into_iter().find_map(|of| one_number(&search, part, of))
}

/// A number: looked for between neighbouring values whose results the part lies between.
fn one_number(search: &Search<'_>, part: &Part<'_>, of: CandidateList) -> Option<Fit> {
    let step = Step::parse(&part.matrices.first()?.0)?;
    let numbers = part.matrices.iter().all(|(_, matrix)| matrix.cells().all(f64::is_finite));
    if step.stage < Stage::Weights || !numbers || !search.candidates.is_feasible(of) {
        return None;
    }
    let nodes: Vec<String> = part.matrices.iter().map(|(node, _)| node.clone()).collect();
    let mut all: Vec<Option<NumbersAt>> = Vec::new();
    search.candidates.each(of, &nodes, None, |row| {
        let numbers = || Some(row.of_part(part)?.iter().map(|numbers| numbers.matrix.clone()).collect());
        all.extend(row.candidate.number.map(|value| Some(NumbersAt { value, numbers: numbers()? })));
    });
    all.windows(2).find_map(|ends| match ends {
        [Some(cold), Some(warm)] if are_between(search, part, cold, warm) => {
            solved(search, part, of, (cold, warm))
        }
        _ => None,
    })
}

/// Whether all numbers of a part lie between those at two values, or near them.
fn are_between(search: &Search<'_>, part: &Part<'_>, cold: &NumbersAt, warm: &NumbersAt) -> bool {
    part.matrices.iter().zip(cold.numbers.iter().zip(&warm.numbers)).all(|((_, yours), (low, high))| {
        if low.shape() != yours.shape() || high.shape() != yours.shape() {
            return false;
        }
        let moved = low.cells().zip(high.cells()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let near = search.allowed(part, low).around(0.0) + 0.3 * moved;
        let mut cells = yours.cells().zip(low.cells().zip(high.cells()));
        cells.all(|(x, (a, b))| x >= a.min(b) - near && x <= a.max(b) + near)
    })
}

/// The value between two at which the numbers come nearest to those of the part.
fn solved(
    search: &Search<'_>,
    part: &Part<'_>,
    of: CandidateList,
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
        let graph = search.task().with(&of.change(value));
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
fn plain_ones(search: &Search<'_>, part: &Part<'_>, of: CandidateList, value: f64) -> Vec<f64> {
    if part.matrices.iter().all(|(_, yours)| search.allowed(part, yours).rounding() <= 0.0) {
        return Vec::new();
    }
    if of != CandidateList::Temperature {
        return (1..=4).map(|digits| to_digits(value, digits)).collect();
    }
    let scale = scale(search.task());
    let t = elementary::exp(value);
    let divisor = t / scale;
    let root = (divisor * divisor).round().max(1.0).sqrt();
    let by_digits = (1..=3).flat_map(|digits| [to_digits(divisor, digits) * scale, to_digits(t, digits)]);
    by_digits.chain([root * scale]).map(elementary::ln).collect()
}

/// The exercise with this value.
fn with_number(search: &Search<'_>, part: &Part<'_>, of: CandidateList, value: f64) -> Option<Fit> {
    let (slip, is_known) = match of {
        CandidateList::Temperature => divided(search.task(), elementary::exp(value)),
        CandidateList::Written => (weak_mask(search.task(), value, "in their place"), true),
        _ => (weak_mask(search.task(), value, "added"), true),
    };
    let found = search.solved(part, slip, search.task().with(&of.change(value)), 1)?;
    Some(Fit { is_sure: found.is_sure && is_known, ..found })
}

/// A number in the place of −∞ in words: before the scale, where it has fewer digits there.
fn weak_mask(task: &Task, value: f64, how: &str) -> Slip {
    let before = value / scale(task);
    let digits =
        |x: f64| (1..6).find(|&digits| (to_digits(x, digits) - x).abs() < 1e-9 * x.abs()).unwrap_or(6);
    let detail = match digits(before) < digits(value) {
        true => format!("{} {how}, before the scale", number(before)),
        false => format!("{} {how}", number(value)),
    };
    Slip::solved("mask-weak", detail)
}

/// The factor of the scores.
fn scale(task: &Task) -> f64 {
    task.recipe().scale.factor(task.facts().d_k).map_or(1.0, |factor| factor.value())
}

/// A wrong temperature in words: the number that the scores were divided by, and whether it is a quantity of the exercise.
fn divided(task: &Task, t: f64) -> (Slip, bool) {
    let (recipe, facts, scale) = (task.recipe(), task.facts(), scale(task));
    let (right, divisor) = (recipe.temperature / scale, t / scale);
    let is_root = scale == 1.0 / (facts.d_k as f64).sqrt() && recipe.temperature == 1.0;
    let instead = if is_root { format!("√{} = {}", facts.d_k, number(right)) } else { number(right) };
    let known = coincidence(1.0 / divisor, 1, recipe, facts);
    let divided = if known.is_some() {
        "The scores were divided"
    } else {
        "The numbers are as if the scores were divided"
    };
    let also = known.as_ref().map_or(String::new(), |also| format!(" {also}"));
    let said = format!("{divided} by {} instead of {instead}.{also}", in_words(divisor));
    (Slip::solved("temperature", format!("by {}", in_words(divisor))).saying(said), known.is_some())
}

// The right numbers rearranged: in another shape, in another order, or only some of them.

/// The right numbers in another shape, read row by row or column by column.
fn reshaped(handed: &Handed<'_>) -> Option<Fit> {
    let Handed { search, node, yours, right, .. } = *handed;
    let (Shape { rows, cols }, whole) = (yours.shape(), right.shape());
    if handed.has_right_shape() || whole.rows * whole.cols != rows * cols {
        return None;
    }
    let orders = [(right.clone(), "row by row"), (right.transposed(), "column by column")];
    orders.into_iter().find_map(|(source, order)| {
        let cells: Vec<f64> = source.cells().collect();
        let expected = Matrix::from_row_major(rows, cols, &cells).ok()?;
        let left = residual(yours, &expected, handed.allowed_beside(&expected))?;
        let slip = Slip::solved("result-reshaped", order)
            .saying(format!("The numbers of {node} are right, read {order}, but {node} should be {whole}."))
            .with_fix(format!("Reshape {node} to {whole} before you hand it in."));
        let alter = Alter::Reshaped { rows, cols };
        let change = Change::Alteration(Alteration { stage: Site::Result, alter });
        let task = search.task();
        let graph = if node == "O" { task.with([&change]) } else { task.right().clone() };
        // A right answer in another shape has the evidence of all its cells.
        Some(Fit::solved(slip, graph, (left, by_place(cells.len()))))
    })
}

/// The right rows, or columns, in another order.
fn reordered(handed: &Handed<'_>) -> Option<Fit> {
    let Handed { node, yours, right, allowed, .. } = *handed;
    if !handed.has_right_shape() {
        return None;
    }
    let orders = [
        (order(yours, right, allowed), "rows", "rows-reordered"),
        (order(&yours.transposed(), &right.transposed(), allowed), "columns", "columns-reordered"),
    ];
    orders.into_iter().find_map(|(order, what, id)| {
        let order = order?;
        let list = order.iter().map(|at| (at + 1).to_string()).collect::<Vec<_>>().join(" ");
        let said = format!("The {what} of {node} are right, but in the order {list}.");
        let moved =
            |i: usize, j: usize| if what == "rows" { right[(order[i], j)] } else { right[(i, order[j])] };
        let graph = alone(node, Matrix::from_fn(yours.rows(), yours.cols(), moved))?;
        let mut found = handed.search.solved(handed.part, Slip::solved(id, list).saying(said), graph, 0)?;
        // Equal rows: any order fits.
        found.log_chance += (1..=order.len()).map(|n| elementary::ln(n as f64)).sum::<f64>();
        Some(found)
    })
}

/// Which row of the right matrix each row is, if each of them is another one.
fn order(yours: &Matrix, right: &Matrix, allowed: CellTolerance) -> Option<Vec<usize>> {
    const MOST: usize = 64;
    let rows = yours.rows();
    let is = |i: usize, k: usize| (0..yours.cols()).all(|j| allowed.allows(yours[(i, j)], right[(k, j)]));
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
fn incomplete(handed: &Handed<'_>) -> Option<Fit> {
    let Handed { search, part, node, yours, right, .. } = *handed;
    let (Shape { rows, cols }, whole) = (yours.shape(), right.shape());
    let fewer_rows = rows < whole.rows && cols == whole.cols;
    let fewer_cols = cols < whole.cols && rows == whole.rows;
    let fits = |expected: &Matrix| residual(yours, expected, handed.allowed_beside(expected)).is_some();
    // One head alone is better called by its name.
    let is_another = || search.task().right().nodes().filter_map(|(_, other)| other.matrix()).any(fits);
    if node != "O" || !(fewer_rows || fewer_cols) || rows * cols == 0 || is_another() {
        return None;
    }
    let (what, from, count) =
        if fewer_rows { ("row", whole.rows - rows, rows) } else { ("column", whole.cols - cols, cols) };
    (0..=from).find_map(|start| {
        let cell =
            |i: usize, j: usize| if fewer_rows { right[(i + start, j)] } else { right[(i, j + start)] };
        let expected = Some(Matrix::from_fn(rows, cols, cell)).filter(|expected| fits(expected))?;
        let which = match count {
            1 => format!("{what} {}", start + 1),
            _ => format!("{what}s {} to {}", start + 1, start + count),
        };
        let said = format!("You handed in {which} of {node} alone; {node} should be {whole}.");
        let slip = Slip::solved("result-incomplete", which).saying(said);
        search.solved(part, slip, alone(node, expected)?, 0)
    })
}

// The right numbers but for a part that says what happened: rows that stayed 0, one wrong number, a header among the numbers.

/// A result with fewer numbers is too small for one wrong number to stand out.
const LEAST_CELLS: usize = 6;
/// A wrong number, or two exchanged ones, are told from noise where they are off by more than this many times what is allowed around it.
const LEAST_DISTANCE: f64 = 100.0;

/// Rows, or columns, of the result that are 0 while all others are right.
fn zeroed(handed: &Handed<'_>) -> Option<Fit> {
    let Handed { yours, right, .. } = *handed;
    if !handed.is_result() {
        return None;
    }
    let Shape { rows, cols } = right.shape();
    let wrong: Vec<(usize, usize)> = handed.wrong().collect();
    if wrong.len() < 2 {
        return None;
    }
    let wrong_rows: BTreeSet<usize> = wrong.iter().map(|&(i, _)| i).collect();
    let wrong_columns: BTreeSet<usize> = wrong.iter().map(|&(_, j)| j).collect();
    let are_rows = wrong_rows.len() < rows && wrong_rows.iter().all(|&i| yours.row(i).all(|x| x == 0.0));
    let are_columns =
        wrong_columns.len() < cols && wrong_columns.iter().all(|&j| yours.col(j).all(|x| x == 0.0));
    let (noun, lines, fix) = if are_rows {
        let is_end = wrong_rows.iter().all(|row| *row >= rows - wrong_rows.len());
        let fix = if is_end {
            "Fill every row: the loop over the queries runs to the last one, and `return` stands after the loop."
        } else if wrong_rows.contains(&0) {
            "Fill every row: the loop over the queries begins at the first one, which has the index 0."
        } else {
            "Fill every row: each query has a result."
        };
        ("row", &wrong_rows, fix)
    } else if are_columns {
        let fix = match handed.search.task().recipe().heads {
            1 => "Fill every column: the loop over the columns of V runs to the last one.",
            _ => "Fill every column: each head writes its own columns.",
        };
        ("column", &wrong_columns, fix)
    } else {
        return None;
    };
    let is_zero = |i: usize, j: usize| lines.contains(if are_rows { &i } else { &j });
    let expected = Matrix::from_fn(rows, cols, |i, j| if is_zero(i, j) { 0.0 } else { right[(i, j)] });
    let names = numbered(noun, lines.iter().copied());
    let verb = if lines.len() == 1 { "is" } else { "are" };
    let said = format!("{} of O {verb} 0, and should not be.", capital(&names));
    let slip = Slip::solved("result-left-zero", names).saying(said).with_fix(fix);
    handed.in_place(slip, expected, wrong.len())
}

/// One number that is wrong while all others are right.
fn one_cell(handed: &Handed<'_>) -> Option<Fit> {
    let Handed { yours, right, allowed, .. } = *handed;
    let Shape { rows, cols } = right.shape();
    if !handed.has_right_shape() || rows * cols < LEAST_CELLS {
        return None;
    }
    let wrong: Vec<(usize, usize)> = handed.wrong().take(2).collect();
    let [at] = wrong[..] else { return None };
    if distance(yours[at], right[at]) <= LEAST_DISTANCE * allowed.around(right[at]) {
        return None;
    }
    let cell = handed.address(at)?;
    let has_other_sign = handed.is_right(-yours[at], at);
    let said = if has_other_sign { format!("{cell} has the wrong sign") } else { cell.clone() };
    let detail = if has_other_sign { format!("the sign of {cell}") } else { cell };
    let number = |i: usize, j: usize| if (i, j) == at { yours[at] } else { right[(i, j)] };
    let expected = Matrix::from_fn(rows, cols, number);
    let slip = Slip::solved("one-number-wrong", detail).saying(format!("Only one number is wrong: {said}."));
    handed.in_place(slip, expected, rows * cols - 1)
}

/// Two numbers that stand in each other's place while all others are right.
fn exchanged(handed: &Handed<'_>) -> Option<Fit> {
    let Handed { yours, right, allowed, .. } = *handed;
    let Shape { rows, cols } = right.shape();
    if !handed.has_right_shape() || rows * cols < LEAST_CELLS {
        return None;
    }
    let wrong: Vec<(usize, usize)> = handed.wrong().take(3).collect();
    let [a, b] = wrong[..] else { return None };
    let is_noise = distance(right[a], right[b]) <= LEAST_DISTANCE * allowed.around(right[a]);
    if is_noise || !handed.is_right(yours[a], b) || !handed.is_right(yours[b], a) {
        return None;
    }
    let (first, second) = (handed.address(a)?, handed.address(b)?);
    let said =
        format!("Two numbers stand in each other's place: {first} and {second}. All others are right.");
    let cell = |i: usize, j: usize| match (i, j) {
        at if at == a => right[b],
        at if at == b => right[a],
        at => right[at],
    };
    let slip = Slip::solved("numbers-exchanged", format!("{first} and {second}")).saying(said);
    handed.in_place(slip, Matrix::from_fn(rows, cols, cell), rows * cols)
}

/// The right result with a row before it, or a column, that is not part of it: a header or an index among the numbers.
fn surplus(handed: &Handed<'_>) -> Option<Fit> {
    let Handed { node, yours, right, .. } = *handed;
    let (Shape { rows, cols }, whole) = (yours.shape(), right.shape());
    let is_row = rows == whole.rows + 1 && cols == whole.cols;
    let is_column = cols == whole.cols + 1 && rows == whole.rows;
    if node != "O" || !(is_row || is_column) || whole.rows * whole.cols < LEAST_CELLS {
        return None;
    }
    let (down, along) = (usize::from(is_row), usize::from(is_column));
    if !whole.places().all(|(i, j)| handed.is_right(yours[(i + down, j + along)], (i, j))) {
        return None;
    }
    let (noun, fix) = if is_row {
        (
            "row",
            "Write the numbers alone: a header of column numbers was read as a row (`to_csv(…, header=False, index=False)`).",
        )
    } else {
        ("column", "Write the numbers alone: an index was read as a column (`to_csv(…, index=False)`).")
    };
    let said = format!("Your first {noun} is not part of O; everything else is right.");
    let slip = Slip::solved("result-surplus", format!("a {noun}")).saying(said).with_fix(fix);
    let is_more = |i: usize, j: usize| i < down || j < along;
    let cell = |i: usize, j: usize| if is_more(i, j) { yours[(i, j)] } else { right[(i - down, j - along)] };
    handed.in_place(slip, Matrix::from_fn(rows, cols, cell), whole.rows * whole.cols)
}

/// “row 3”, “rows 1, 2 and 5”: the places from 0.
pub(super) fn numbered(noun: &str, places: impl Iterator<Item = usize>) -> String {
    let numbers: Vec<String> = places.map(|place| (place + 1).to_string()).collect();
    let plural = if numbers.len() == 1 { "" } else { "s" };
    format!("{noun}{plural} {}", all_of(&numbers))
}
