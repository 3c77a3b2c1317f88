//! Steps that only choose, repeat, join and arrange: on the way back each number goes to where it came from.

use super::definition::*;
use crate::attention::{Order, token_rows};

/// `aᵀ`.
pub fn transpose<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| of.cells(|i, j| of.at(0, j, i)))
        .shape(|inputs| Ok(Shape { rows: inputs[0].cols, cols: inputs[0].rows }))
        .names(|inputs| (cols_of(inputs[0]), rows_of(inputs[0])))
        .written("{aᵀ}")
        .back(|step, _| step.finish(Op::Transpose, &[step.dy]))
}

// Columns of a.

/// A block of neighbouring columns, from 0.
pub fn columns<R: Request, A: Ask<R>>(op: A, start: usize, count: usize) -> A {
    op.rule(|of: &R| of.cells(|i, j| of.at(0, i, start + j)))
        .shape(|inputs| {
            let (a, end) = (inputs[0], start.saturating_add(count));
            let first = start.saturating_add(1);
            fit!(
                end <= a.cols,
                Shape { cols: count, ..a },
                "columns {first} to {end} are asked of a {a} matrix"
            )
        })
        .names(|inputs| (rows_of(inputs[0]), some_of(cols_of(inputs[0]), start, 1, count)))
        .equation(|w| part(w, false, start, count))
        .back(back_to_columns)
}

/// `y = a E`, where E is what the step makes of the identity: `da = dy Eᵀ`.
fn back_to_columns(step: &mut Backward<'_>, _: usize) -> Result<NodeId> {
    let identity = step.identity(step.shape(step.input(0)).cols)?;
    let selection = step.of_step("selection", step.op(), &[identity])?;
    step.finish(Op::ProductTransposed, &[step.dy, selection])
}

/// Some of these names, `step` apart.
fn some_of(names: Option<Labels>, start: usize, step: usize, count: usize) -> Option<Labels> {
    names.map(|names| names.iter().skip(start).step_by(step).take(count).cloned().collect())
}

/// `rows 2…4 of X`.
fn part(w: &FormulaWriter<'_>, of_rows: bool, start: usize, count: usize) -> String {
    match count {
        1 => format!("{} {} of {}", w.line(of_rows), start + 1, w.input(0)),
        _ => format!("{} {}…{} of {}", w.lines(of_rows), start + 1, start + count, w.input(0)),
    }
}

/// Every `step`-th column, from column `start` on.
pub fn every_nth_column<R: Request, A: Ask<R>>(op: A, start: usize, step: usize) -> A {
    op.rule(|of: &R| of.cells(|i, j| of.at(0, i, start + j * step)))
        .check(|op| in_range(op, (step as u64) < MOST, "step", "at most 2⁵³"))
        .shape(|inputs| {
            let (a, left) = (inputs[0], inputs[0].cols.saturating_sub(start));
            let (shape, first) = (Shape { cols: left.div_ceil(step.max(1)), ..a }, start.saturating_add(1));
            fit!(
                step > 0 && left > 0,
                shape,
                "every column {step} from column {first} on is asked of a {a} matrix"
            )
        })
        .names(|inputs| (rows_of(inputs[0]), some_of(cols_of(inputs[0]), start, step, usize::MAX)))
        .equation(|w| format!("{} {}, {}, … of {}", w.lines(false), start + 1, start + step + 1, w.input(0)))
        .back(back_to_columns)
}

/// Every column this many times, side by side.
pub fn repeat_columns<R: Request, A: Ask<R>>(op: A, times: usize) -> A {
    op.rule(|of: &R| of.cells(|i, j| of.at(0, i, j / times)))
        .shape(|inputs| {
            let cols = inputs[0].cols.checked_mul(times).filter(|_| times > 0);
            let shape = Shape { cols: cols.unwrap_or(0), ..inputs[0] };
            fit!(cols.is_some(), shape, "columns cannot be repeated 0 times")
        })
        .cells(|inputs| inputs[0].rows.saturating_mul(inputs[0].cols).saturating_mul(times))
        .names(|inputs| (rows_of(inputs[0]), None))
        .equation(|w| format!("{} with {} repeated {times} times", w.input(0), w.each(Axis::Columns)))
        .back(back_to_columns)
}

// Rows of a.

/// A block of neighbouring rows, from 0.
pub fn rows<R: Request, A: Ask<R>>(op: A, start: usize, count: usize) -> A {
    op.rule(|of: &R| of.cells(|i, j| of.at(0, start + i, j)))
        .in_place(|inputs| {
            let rows = || (start..start.saturating_add(count)).collect::<Vec<_>>();
            (!inputs[0].is_exact()).then(|| token_rows(inputs[0], &rows()))
        })
        .shape(|inputs| {
            let (a, end) = (inputs[0], start.saturating_add(count));
            let first = start.saturating_add(1);
            fit!(end <= a.rows, Shape { rows: count, ..a }, "rows {first} to {end} are asked of a {a} matrix")
        })
        .cells(|inputs| count.saturating_mul(inputs[0].cols))
        .names(|inputs| (some_of(rows_of(inputs[0]), start, 1, count), cols_of(inputs[0])))
        .equation(|w| part(w, true, start, count))
        .back(back_to_rows)
}

/// `y = E a`, where E is what the step makes of the identity: `da = Eᵀ dy`.
fn back_to_rows(step: &mut Backward<'_>, _: usize) -> Result<NodeId> {
    let identity = step.identity(step.shape(step.input(0)).rows)?;
    let selection = step.of_step("selection", step.op(), &[identity])?;
    step.finish(Op::TransposedProduct, &[selection, step.dy])
}

/// The rows of the table a at these places, from 0: the embeddings of a text's tokens.
pub fn rows_of_tokens<R: Request, A: Ask<R>>(op: A, ids: &[usize]) -> A {
    op.rule(|of: &R| of.cells(|i, j| of.at(0, ids[i], j)))
        .in_place(|inputs| Some(token_rows(inputs[0], ids)))
        .shape(|inputs| {
            let are_there = ids.iter().all(|id| *id < inputs[0].rows);
            are_there.then_some(Shape { rows: ids.len(), ..inputs[0] }).ok_or(None)
        })
        .cells(|inputs| ids.len().saturating_mul(inputs[0].cols))
        .written("{rows} of {a}, one for each token")
        .back(back_to_rows)
}

/// The rows in reverse order.
pub fn reverse_rows<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| {
        let last = of.shape(0).rows.saturating_sub(1);
        of.cells(|i, j| of.at(0, last - i, j))
    })
    .names(|inputs| {
        (rows_of(inputs[0]).map(|names| names.iter().rev().cloned().collect()), cols_of(inputs[0]))
    })
    .written("{rows} of {a} in reverse order")
    .back(|step, _| step.finish(Op::ReverseRows, &[step.dy]))
}

/// The numbers of each row in the order of their size; NaN is the largest of all, as in NumPy, and of equal numbers the left one is the
/// smaller.
pub fn sort_rows<R: Request, A: Ask<R>>(op: A, order: Order) -> A {
    op.rule(|of: &R| {
        of.each_line(Axis::Rows, |mut row| {
            row.sort_by(|a, b| {
                let (a, b) = (a.value(), b.value());
                a.is_nan().cmp(&b.is_nan()).then(a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal))
            });
            if order == Order::Descending {
                row.reverse();
            }
            move |j: usize| row[j].clone()
        })
    })
    .names(|inputs| (rows_of(inputs[0]), None))
    .written(match order {
        Order::Ascending => "{each row} of {a}, sorted",
        Order::Descending => "{each row} of {a}, sorted from the largest to the smallest",
    })
    .way_back(|_| WayBack::Refused("sorting shows numbers in another order: no step of attention reads it"))
}

// All inputs together.

/// All inputs side by side.
pub fn concatenate<R: Request, A: Ask<R>>(op: A) -> A {
    put_together(op, false).names(|inputs| (rows_of(inputs[0]), joined(inputs, Matrix::col_labels)))
}

/// All inputs on top of each other; the rows keep their own names unless new ones are given.
pub fn stack<R: Request, A: Ask<R>>(op: A, names: Option<&Labels>) -> A {
    put_together(op, true).names(|inputs| {
        let rows: usize = inputs.iter().map(|input| input.rows()).sum();
        let own = names.filter(|names| names.len() == rows).cloned();
        (own.or_else(|| joined(inputs, Matrix::row_labels)), cols_of(inputs[0]))
    })
}

/// All inputs on top of each other, or side by side.
fn put_together<R: Request, A: Ask<R>>(op: A, by_rows: bool) -> A {
    // The sides that add up, and those that have to be the same.
    let sides = |shape: Shape| if by_rows { (shape.rows, shape.cols) } else { (shape.cols, shape.rows) };
    op.rule(|of: &R| {
        let lengths: Vec<usize> = (0..of.inputs()).map(|input| sides(of.shape(input)).0).collect();
        of.cells(|i, j| {
            let (input, at) = place_in(&lengths, if by_rows { i } else { j });
            if by_rows { of.at(input, at, j) } else { of.at(input, i, at) }
        })
    })
    .inputs_from(1, None)
    .shape(|inputs| {
        let a = inputs[0];
        let whole = inputs.iter().map(|input| sides(*input).0).sum();
        let other = inputs.iter().find(|input| sides(**input).1 != sides(a).1).unwrap_or(&a);
        let fits = sides(*other).1 == sides(a).1;
        if by_rows {
            let shape = Shape { rows: whole, ..a };
            return fit!(
                fits,
                shape,
                "a {other} matrix cannot stand below a {a} one: the numbers of columns differ"
            );
        }
        fit!(
            fits,
            Shape { cols: whole, ..a },
            "a {other} matrix and a {a} matrix cannot stand side by side: they have different numbers of rows"
        )
    })
    .equation(|w| {
        let is_below = by_rows == (w.convention == Convention::Rows);
        format!("[{}]", w.joined(if is_below { " ; " } else { " | " }))
    })
    // The rows or columns that an input has in the whole.
    .back(|step, input| {
        let length = |at: usize| sides(step.shape(step.input(at))).0;
        let (start, count) = ((0..input).map(length).sum(), length(input));
        let block = if by_rows { Op::Rows { start, count } } else { Op::Columns { start, count } };
        step.finish(block, &[step.dy])
    })
}

/// The input that has line `at` of all of them, and its own line there.
fn place_in(lengths: &[usize], mut at: usize) -> (usize, usize) {
    for (input, length) in lengths.iter().enumerate() {
        if at < *length {
            return (input, at);
        }
        at -= length;
    }
    unreachable!("what is put together is as long as its parts")
}

/// The names of all inputs, one after the other, if all have them.
fn joined(inputs: &[&Matrix], of: fn(&Matrix) -> Option<&Labels>) -> Option<Labels> {
    let all: Option<Vec<&Labels>> = inputs.iter().map(|input| of(input)).collect();
    all.map(|all| all.iter().flat_map(|names| names.iter().cloned()).collect())
}

// The cells of a in another shape.

/// The cells of a, row by row, in another shape.
pub fn reshape<R: Request, A: Ask<R>>(op: A, rows: usize, cols: usize) -> A {
    op.rule(|of: &R| {
        let width = of.shape(0).cols;
        of.cells(|i, j| {
            let place = i * cols + j;
            of.at(0, place / width, place % width)
        })
    })
    .shape(|inputs| {
        let (a, shape) = (inputs[0], Shape { rows, cols });
        let same = rows.checked_mul(cols) == a.rows.checked_mul(a.cols);
        fit!(same && cols > 0, shape, "a {a} matrix cannot be read as a {shape} one")
    })
    .names(|_| (None, None))
    .equation(|w| format!("{} read as {rows}×{cols}", w.input(0)))
    // The shape of before.
    .back(|step, _| {
        let Shape { rows, cols } = step.shape(step.input(0));
        step.finish(Op::Reshape { rows, cols }, &[step.dy])
    })
}

/// A square matrix with the numbers of the row a down its diagonal, and zeros elsewhere.
pub fn diagonal<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| {
        of.cells(|i, j| match i == j {
            true => of.at(0, 0, j).because("it is on the diagonal"),
            false => R::Number::of(0.0).because("it is not on the diagonal"),
        })
    })
    .shape(|inputs| {
        let a = inputs[0];
        fit!(
            a.rows == 1,
            Shape { rows: a.cols, cols: a.cols },
            "a diagonal is written from one row of numbers, not from a {a} matrix"
        )
    })
    .cells(|inputs| inputs[0].cols.saturating_mul(inputs[0].cols))
    .names(|inputs| (cols_of(inputs[0]), cols_of(inputs[0])))
    .written("diag({a})")
    // The diagonal, as a row.
    .back(|step, _| {
        let identity = step.identity(step.shape(step.y).cols)?;
        let kept = step.part("diagonal", Op::Multiply, &[step.dy, identity])?;
        step.finish(Op::Sums(Axis::Columns), &[kept])
    })
}
