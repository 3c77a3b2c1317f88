//! One number about many: sums and maxima of rows, columns and blocks, and a number about a whole matrix.

use std::ops::Range;

use super::definition::*;
use super::norms::{mean, sum_of_squares};
use crate::graph::Statistic;

/// The sum of each row (or column).
pub fn sums<R: Request, A: Ask<R>>(op: A, axis: Axis) -> A {
    let op = op.rule(|of: &R| of.cells(|i, j| Number::sum(line_at(of, axis, (i, j)))));
    // Every cell gets the gradient of its sum.
    of_lines(axis, "sum", op).back(|step, _| {
        let (op, inputs) = step.repeated(axis, step.dy, step.input(0))?;
        step.finish(op, &inputs)
    })
}

/// The max of each row (or column).
pub fn max<R: Request, A: Ask<R>>(op: A, axis: Axis) -> A {
    let op = op.rule(|of: &R| of.cells(|i, j| Number::max(line_at(of, axis, (i, j)))));
    // The largest cell gets the gradient.
    of_lines(axis, "largest", op).back(|step, _| {
        let (a, dy) = (step.input(0), step.dy);
        let share = share_of_max(step, axis, a)?;
        let spread = step.spread("repeated", axis, dy, a)?;
        step.finish(Op::Multiply, &[share, spread])
    })
}

/// The line of a that has its one number in this cell of the result.
fn line_at<R: Request>(of: &R, axis: Axis, place: (usize, usize)) -> impl Iterator<Item = R::Number> {
    let (line, _) = line_of(axis, place, 0);
    of.places(axis, line).map(|(i, j)| of.at(0, i, j))
}

/// The share of each cell in the max: 1 for the largest, and equal shares where several are.
pub fn share_of_max(step: &mut Backward<'_>, axis: Axis, of: NodeId) -> Result<NodeId> {
    let gap = step.of_step("gap", Op::MinusMax(axis), &[of])?;
    let top = step.where_zero("largest", true, gap)?;
    step.of_step("largest_share", Op::DivideBySum(axis), &[top])
}

/// One number for each row, for each column, or for all cells.
fn of_lines<R: Request, A: Ask<R>>(axis: Axis, name: &'static str, op: A) -> A {
    op.shape(|inputs| {
        Ok(match axis {
            Axis::Rows => Shape { cols: 1, ..inputs[0] },
            Axis::Columns => Shape { rows: 1, ..inputs[0] },
            Axis::Whole => Shape { rows: 1, cols: 1 },
        })
    })
    .names(|inputs| match (axis, Some(labels(&[name]))) {
        (Axis::Rows, name) => (rows_of(inputs[0]), name),
        (Axis::Columns, name) => (name, cols_of(inputs[0])),
        (Axis::Whole, _) => (None, None),
    })
    .equation(|w| format!("{name} of {} of {}", w.each(axis), w.input(0)))
}

/// The sum of each block of neighbouring cells, as a tiled kernel cuts a matrix of scores; the last blocks are smaller where the sides do
/// not divide.
pub fn block_sums<R: Request, A: Ask<R>>(op: A, rows: usize, cols: usize) -> A {
    op.rule(|of: &R| {
        let whole = of.shape(0);
        of.cells(|i, j| {
            let columns = block(j, cols, whole.cols);
            let places = block(i, rows, whole.rows).flat_map(|k| columns.clone().map(move |l| (k, l)));
            Number::sum(places.map(|(k, l)| of.at(0, k, l)))
        })
    })
    .shape(|inputs| {
        let blocks = |length: usize, size: usize| length.div_ceil(size.max(1));
        let shape = Shape { rows: blocks(inputs[0].rows, rows), cols: blocks(inputs[0].cols, cols) };
        fit!(rows > 0 && cols > 0, shape, "a block of {rows}×{cols} cells holds nothing")
    })
    .names(|inputs| {
        let [a, b] = [
            (inputs[0].row_labels(), rows, inputs[0].rows()),
            (inputs[0].col_labels(), cols, inputs[0].cols()),
        ];
        (Some(spans(a)), Some(spans(b)))
    })
    .equation(|w| {
        let (rows, cols) = if w.convention == Convention::Rows { (rows, cols) } else { (cols, rows) };
        format!("sum of each {rows}×{cols} block of {}", w.input(0))
    })
    // The sum of a block goes to each of its cells: `da = Rᵀ dy Cᵀ`, with the blocks of rows R and of columns C.
    .back(|step, _| {
        let shape = step.shape(step.input(0));
        let of_rows = step.identity(shape.rows)?;
        let of_rows = step.of_step("row_blocks", Op::BlockSums { rows, cols: 1 }, &[of_rows])?;
        let of_cols = step.identity(shape.cols)?;
        let of_cols = step.of_step("column_blocks", Op::BlockSums { rows: 1, cols }, &[of_cols])?;
        let spread = step.part("rows", Op::TransposedProduct, &[of_rows, step.dy])?;
        step.finish(Op::ProductTransposed, &[spread, of_cols])
    })
}

/// The places of block `index` (from 0) on a side of this length, cut into blocks of `size`.
fn block(index: usize, size: usize, length: usize) -> Range<usize> {
    let start = index.saturating_mul(size).min(length);
    start..start.saturating_add(size).min(length)
}

/// The names of the blocks along one side, from the first name to the last: `3…4`, or `3` alone.
fn spans((names, size, length): (Option<&Labels>, usize, usize)) -> Labels {
    let name = |at: usize| names.map_or_else(|| (at + 1).to_string(), |names| names[at].clone());
    let span = |index: usize| {
        let places = block(index, size, length);
        match places.len() {
            1 => name(places.start),
            _ => format!("{}…{}", name(places.start), name(places.end - 1)),
        }
    };
    (0..length.div_ceil(size)).map(span).collect()
}

/// One number about all cells of a.
pub fn summary<R: Request, A: Ask<R>>(op: A, statistic: Statistic) -> A {
    let (name, text) = match statistic {
        Statistic::Mean => ("mean", "mean of {a}"),
        Statistic::RootMeanSquare => ("root mean square", "root mean square of {a}"),
        Statistic::Max => ("largest", "largest value of {a}"),
        Statistic::MaxSize => ("largest by size", "largest absolute value of {a}"),
    };
    op.rule(|of: &R| {
        of.cells(|_, _| {
            let all = of.line(Axis::Whole, 0);
            match statistic {
                Statistic::Mean => mean(&all),
                Statistic::RootMeanSquare => sum_of_squares(&all).over(Number::of(all.len() as f64)).root(),
                Statistic::Max => Number::max(all),
                Statistic::MaxSize => Number::max(all.into_iter().map(|x| x.function(Function::Size))),
            }
        })
    })
    .shape(|_| Ok(Shape { rows: 1, cols: 1 }))
    .names(|_| (None, Some(labels(&[name]))))
    .written(text)
    .back(|step, _| {
        let (a, y, dy) = (step.input(0), step.y, step.dy);
        let shape = step.shape(a);
        let count = Op::Scale(Factor::Inverse(shape.rows * shape.cols));
        match statistic {
            Statistic::Mean => {
                let spread = step.spread("repeated", Axis::Whole, dy, a)?;
                step.finish(count, &[spread])
            }
            Statistic::RootMeanSquare => {
                let share = step.part("share", Op::Quotient, &[dy, y])?;
                let share = step.part("share_of_cell", count, &[share])?;
                step.finish(Op::Times, &[a, share])
            }
            Statistic::Max => Op::Max(Axis::Whole).back(step, 0),
            Statistic::MaxSize => back_to_max_size(step),
        }
    })
}

/// The largest absolute value: its sign, times the gradient, in the cell that has it.
fn back_to_max_size(step: &mut Backward<'_>) -> Result<NodeId> {
    let (a, dy) = (step.input(0), step.dy);
    let negative = step.of_step("negative", scale(-1.0), &[a])?;
    let above = step.of_step("above", Op::Relu, &[a])?;
    let below = step.of_step("below", Op::Relu, &[negative])?;
    let size = step.of_step("size", Op::Add, &[above, below])?;
    let (plus, minus) = (step.where_zero("plus", false, above)?, step.where_zero("minus", false, below)?);
    let sign = step.of_step("sign", Op::Subtract, &[plus, minus])?;
    let share = share_of_max(step, Axis::Whole, size)?;
    let signed = step.of_step("signed_share", Op::Multiply, &[share, sign])?;
    step.finish(Op::Times, &[signed, dy])
}
