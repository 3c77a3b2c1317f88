//! A result whose parts have the wrong factors: the heads, their rows, the residual. The factors are solved for.

use std::ops::Range;

use crate::attention::Axis;
use crate::elementary;
use crate::graph::{Op, Role};
use crate::matrix::Matrix;

use super::Task;
use super::answer::Part;
use super::catalogue::Slip;
use super::catalogue::numbers::number;
use super::compare::spread;
use super::search::{DROPOUT, Fit, Handed, alone};
use super::task::standing_for;

/// The summands of the right result: the heads, and X where it has a residual.
struct ResultParts<'a> {
    /// The contribution of each head.
    heads: Vec<Matrix>,
    /// X, where it has the shape of the result.
    x: Option<&'a Matrix>,
    /// The factor of X in the right result.
    residual: f64,
}

/// Factors are the same if they differ by at most this.
const NEAR: f64 = 1e-4;

/// Whether all factors are those of dropout: 0, or 1 / (1 − p).
fn is_dropout(factors: &[f64]) -> bool {
    let is = |p: &f64| {
        factors.iter().all(|factor| factor.abs() <= NEAR || (factor * (1.0 - p) - 1.0).abs() <= NEAR)
    };
    DROPOUT.iter().any(is)
}

/// Heads and residual with other factors than 1.
pub(super) fn weighted(handed: &Handed<'_>) -> Option<Fit> {
    let (parts, yours, allowed) = (parts(handed)?, handed.yours, handed.allowed_beside(handed.yours));
    let columns: Vec<Vec<f64>> =
        parts.heads.iter().chain(parts.x).map(|matrix| matrix.cells().collect()).collect();
    let cells: Vec<f64> = yours.cells().collect();
    if cells.len() < 2 * columns.len() || !has_decimals(handed.part, 3) {
        return None;
    }
    let factors = least_squares(&columns, &cells)?;
    let near = |(at, y): (usize, &f64)| {
        let sum: f64 = columns.iter().zip(&factors).map(|(column, factor)| column[at] * factor).sum();
        (sum - y).abs() <= 4.0 * allowed.around(*y)
    };
    if !cells.iter().enumerate().all(near) {
        return None;
    }
    let (heads, x) = factors.split_at(parts.heads.len());
    // The precision of factors of rounded numbers.
    let near = (NEAR + 200.0 * allowed.rounding() / spread(yours).max(f64::MIN_POSITIVE)).min(0.05);
    if is_dropout(heads) {
        return None;
    }
    let slip = told(heads, x.first().copied(), parts.residual, near)?;
    let sum = |i: usize, j: usize| {
        let heads: f64 = parts.heads.iter().zip(heads).map(|(head, factor)| head[(i, j)] * factor).sum();
        heads + parts.x.zip(x.first()).map_or(0.0, |(x, factor)| x[(i, j)] * factor)
    };
    let graph = alone("O", Matrix::from_fn(yours.rows(), yours.cols(), sum))?;
    handed.search.solved(handed.part, slip, graph, columns.len())
}

/// The mistake that factors of the heads and of X stand for, if there is one.
fn told(heads: &[f64], x: Option<f64>, right: f64, near: f64) -> Option<Slip> {
    let is = |a: f64, b: f64| (a - b).abs() <= near * b.abs().max(1.0);
    let residual_is_right = x.is_none_or(|x| is(x, right));
    let first = *heads.first()?;
    let are_alike = heads.iter().all(|factor| is(*factor, first));
    let missing: Vec<String> =
        (0..heads.len()).filter(|&at| heads[at].abs() <= near).map(|at| (at + 1).to_string()).collect();
    let others_are_right = heads.iter().all(|factor| factor.abs() <= near || is(*factor, 1.0));
    if are_alike && is(first, 1.0) && !residual_is_right {
        let times = number(x?);
        let instead = if right == 1.0 { "once" } else { "not at all" };
        let said = format!("X was added {times} times instead of {instead}.");
        Some(Slip::solved("residual-scaled", format!("{times} times")).saying(said))
    } else if are_alike && residual_is_right && right != 0.0 && !is(first, 0.0) {
        let times = number(first);
        let said = format!("What attention gives was multiplied by {times} before X was added.");
        Some(Slip::solved("wrong-factor", format!("times {times}, before X is added")).saying(said))
    } else if !missing.is_empty() && missing.len() < heads.len() && others_are_right && residual_is_right {
        let (plural, verb) = if missing.len() == 1 { ("", "is") } else { ("s", "are") };
        let names = format!("head{plural} {}", missing.join(" and "));
        let said = format!("The result of {names} {verb} missing.");
        Some(Slip::solved("heads-weighted", format!("{names} missing")).saying(said))
    } else if !are_alike && residual_is_right {
        let all = heads.iter().map(|factor| number(*factor)).collect::<Vec<_>>().join(", ");
        let said = format!("The heads have different factors: {all}.");
        Some(Slip::solved("heads-weighted", format!("times {all}")).saying(said))
    } else {
        None
    }
}

/// Rows of the weights that are the right ones times a number of their own, for each head.
pub(super) fn by_row(handed: &Handed<'_>) -> Option<Fit> {
    let (search, part, yours, allowed) =
        (handed.search, handed.part, handed.yours, handed.allowed_beside(handed.yours));
    let parts = parts(handed)?;
    let heads = parts.heads.len();
    // Rounded numbers need several times as many columns as factors to be told from chance.
    let is_wide = yours.cols() >= 4 * heads && has_decimals(part, 2);
    if yours.rows() < 2 || !(is_wide || has_decimals(part, 6)) {
        return None;
    }
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let (mut places, mut factors): (Vec<(usize, usize)>, Vec<f64>) = (Vec::new(), Vec::new());
    for i in 0..yours.rows() {
        let x = |j: usize| parts.x.map_or(0.0, |x| parts.residual * x[(i, j)]);
        let wanted: Vec<f64> = (0..yours.cols()).map(|j| yours[(i, j)] - x(j)).collect();
        let columns: Vec<Vec<f64>> = parts.heads.iter().map(|head| head.row(i).collect()).collect();
        // A row of zeros in a head does not determine that head's factor; every head needs two numbers.
        let telling: Vec<usize> = (0..heads).filter(|&h| columns[h].iter().any(|x| *x != 0.0)).collect();
        let chosen: Vec<Vec<f64>> = telling.iter().map(|&h| columns[h].clone()).collect();
        if wanted.len() <= chosen.len() || chosen.iter().any(|c| c.iter().filter(|x| **x != 0.0).count() < 2)
        {
            return None;
        }
        let solved = least_squares(&chosen, &wanted)?;
        let row: Vec<f64> = (0..yours.cols())
            .map(|j| {
                x(j) + chosen.iter().zip(&solved).map(|(column, factor)| column[j] * factor).sum::<f64>()
            })
            .collect();
        if !row.iter().zip(yours.row(i)).all(|(a, b)| (a - b).abs() <= 4.0 * allowed.around(b)) {
            return None;
        }
        for (&head, factor) in telling.iter().zip(&solved) {
            places.push((i, head));
            factors.push(*factor);
        }
        rows.push(row);
    }
    if is_dropout(&factors) {
        return None;
    }
    // Rounding moves a factor of 1 a little.
    let near = if allowed.rounding() > 0.0 { 0.02 } else { NEAR };
    let others: Vec<String> = (places.iter().zip(&factors))
        .filter(|(_, factor)| (*factor - 1.0).abs() > near)
        .map(|((row, head), factor)| {
            let head = if heads == 1 { String::new() } else { format!(", head {}", head + 1) };
            format!("row {}{head}: {}", row + 1, number(*factor))
        })
        .collect();
    if others.is_empty() {
        return None;
    }
    let more = if others.len() > 4 { " …" } else { "" };
    let list = format!("{}{more}", others[..others.len().min(4)].join("; "));
    let said = format!("Rows of the weights are the right ones times a number of their own ({list}).");
    let mut slip = Slip::solved("rows-scaled", format!("times {list}")).saying(&*said);
    if let Some(count) = more_keys(search.task(), places.iter().zip(&factors), near) {
        let more = match count {
            1 => "So does one more key".to_string(),
            _ => format!("So do {count} more keys"),
        };
        slip = slip
            .saying(format!("{said} {more} with the score 0 in every sum."))
            .with_fix("Mask the keys that were added to fill up the length: their scores are −∞, not 0.");
    } else if search.task().facts().has_sink {
        slip = slip.with_fix("Divide each row of exp(S) by its own sum, with exp(sink) of the head in it.");
    }
    search.solved(part, slip, alone("O", Matrix::from_rows(&rows).ok()?)?, factors.len())
}

/// The number of further keys with the score 0 that make these factors of the rows: they are sums of exponentials over the same
/// sums and that number.
fn more_keys<'f>(
    task: &Task,
    factors: impl Iterator<Item = (&'f (usize, usize), &'f f64)>,
    near: f64,
) -> Option<usize> {
    let right = task.right();
    let softmaxes = right.nodes().filter(|(_, node)| matches!(node.op, Op::Softmax(Axis::Rows, _)));
    let read: Vec<&Matrix> =
        softmaxes.map(|(_, node)| right[*node.inputs.first()?].matrix()).collect::<Option<_>>()?;
    let mut count: Option<f64> = None;
    for (&(row, head), factor) in factors {
        let sum: f64 = read.get(head)?.row(row).map(elementary::exp).sum();
        let own = sum * (1.0 / factor - 1.0);
        let whole = count.unwrap_or(own.round());
        if whole < 1.0 || (sum / (sum + whole) - factor).abs() > near * factor {
            return None;
        }
        count = Some(whole);
    }
    count.filter(|count| *count < 1e6).map(|count| count as usize)
}

/// Whether a part has at least this many decimals: with fewer, numbers to solve for would fit anything.
fn has_decimals(part: &Part<'_>, least: usize) -> bool {
    let typed = part.answer.decimals.is_none_or(|decimals| decimals >= least);
    typed && (0..least).fold(part.answer.roundoff, |unit, _| unit * 10.0) < 1.0
}

/// The summands of the right result, where a finite one of its shape was handed in.
fn parts<'s>(handed: &Handed<'s>) -> Option<ResultParts<'s>> {
    let (task, whole) = (handed.search.task(), handed.right);
    let right = task.right();
    let is_finite = handed.yours.cells().all(f64::is_finite);
    if !handed.is_result() || !is_finite || right.at(Role::BO).is_some() {
        return None;
    }
    let count = task.recipe().heads;
    let w_o = right.find("W_O").and_then(|id| right[id].matrix());
    let mut heads = Vec::new();
    let mut start = 0;
    for head in 1..=count {
        let own = match count {
            1 => right.find("C").or_else(|| right.find("O")),
            _ => right.find(&format!("O_{head}")),
        };
        let own = right[own?].matrix()?;
        let columns = start..start + own.cols();
        let added = |i: usize, j: usize| contribution(|k| own[(i, k)], &columns, w_o, j);
        heads.push(Matrix::from_fn(whole.rows(), whole.cols(), added));
        start = columns.end;
    }
    let x = standing_for(right, "X").filter(|x| x.shape() == whole.shape());
    let residual = if task.recipe().output.residual { 1.0 } else { 0.0 };
    Some(ResultParts { heads, x, residual })
}

/// What a head, whose columns of the joined heads are these, adds to column `j` of a row of the result with its own numbers of that
/// row: one of them, or all of them times its rows of W_O.
pub(super) fn contribution(
    own: impl Fn(usize) -> f64,
    columns: &Range<usize>,
    w_o: Option<&Matrix>,
    j: usize,
) -> f64 {
    match w_o {
        Some(w_o) => columns.clone().map(|k| own(k - columns.start) * w_o[(k, j)]).sum(),
        None if columns.contains(&j) => own(j - columns.start),
        None => 0.0,
    }
}

/// Vectors of length 1 at right angles to each other, of which the given ones are sums of multiples.
pub(super) fn orthonormal(vectors: impl IntoIterator<Item = Vec<f64>>) -> Vec<Vec<f64>> {
    /// Less than this share of a vector's length is rounding.
    const ROUNDING: f64 = 1e-9;
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for vector in vectors {
        let length = norm(&vector);
        // Twice, because the first pass leaves the rounding of long projections.
        let left = rest(&basis, rest(&basis, vector));
        let left_length = norm(&left);
        if left_length > ROUNDING * length {
            basis.push(left.iter().map(|x| x / left_length).collect());
        }
    }
    basis
}

/// A vector minus its projections onto a basis.
pub(super) fn rest(basis: &[Vec<f64>], mut vector: Vec<f64>) -> Vec<f64> {
    for unit in basis {
        let along: f64 = unit.iter().zip(&vector).map(|(a, b)| a * b).sum();
        for (x, unit) in vector.iter_mut().zip(unit) {
            *x -= along * unit;
        }
    }
    vector
}

/// The length of a vector.
pub(super) fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Least squares by orthogonalised columns: the factors of the columns. `None` where the columns are linearly dependent.
pub(super) fn least_squares(columns: &[Vec<f64>], target: &[f64]) -> Option<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let count = columns.len();
    let mut orthogonal: Vec<Vec<f64>> = Vec::new();
    // column j = Σ upper[i][j] · orthogonal i.
    let mut upper = vec![vec![0.0; count]; count];
    let mut along = Vec::new();
    let mut left = target.to_vec();
    for (j, column) in columns.iter().enumerate() {
        let mut own = column.clone();
        for (i, known) in orthogonal.iter().enumerate() {
            let share = dot(known, &own) / dot(known, known);
            upper[i][j] = share;
            own.iter_mut().zip(known).for_each(|(own, known)| *own -= share * known);
        }
        let size = dot(&own, &own);
        if size.is_nan() || size <= 1e-12 * dot(column, column) {
            return None;
        }
        let share = dot(&own, &left) / size;
        left.iter_mut().zip(&own).for_each(|(left, own)| *left -= share * own);
        upper[j][j] = 1.0;
        along.push(share);
        orthogonal.push(own);
    }
    let mut factors = along;
    for j in (0..count).rev() {
        let further: f64 = (j + 1..count).map(|k| upper[j][k] * factors[k]).sum();
        factors[j] -= further;
    }
    Some(factors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_solved_for_and_dependent_columns_have_none() {
        let columns = [vec![1.0, 0.0, 2.0], vec![1.0, 1.0, 0.0]];
        // 3 · (1, 0, 2) − 2 · (1, 1, 0) = (1, −2, 6).
        let factors = least_squares(&columns, &[1.0, -2.0, 6.0]).unwrap();
        assert!((factors[0] - 3.0).abs() < 1e-12 && (factors[1] + 2.0).abs() < 1e-12, "{factors:?}");
        assert!(least_squares(&[vec![1.0, 2.0], vec![2.0, 4.0]], &[1.0, 1.0]).is_none());
    }
}
