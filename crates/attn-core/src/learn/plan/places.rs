//! Steps that choose, join and arrange.

use super::cells::Read;
use crate::error::{Error, Result};
use crate::learn::number::Number;
use crate::matrix::Shape;

/// The rows of a table at these ids.
///
/// # Errors
/// If there are too few ids, or one is outside of the table.
pub(super) fn look_up<T: Number>(
    table: Read<'_, T>,
    ids: &[usize],
    cols: usize,
    out: &mut [T],
) -> Result<()> {
    if ids.len() * cols != out.len() {
        return Err(Error::new(format!(
            "{} tokens are given, but the plan reads {}",
            ids.len(),
            out.len() / cols.max(1)
        )));
    }
    for (out, id) in out.chunks_exact_mut(cols.max(1)).zip(ids) {
        let row = table.numbers.get(id * cols..(id + 1) * cols).ok_or_else(|| {
            Error::new(format!("there is no token {id}: the table has {}", table.place.shape.rows))
        })?;
        out.copy_from_slice(row);
    }
    Ok(())
}

/// 1 at the target of each row, and 0 elsewhere.
///
/// # Errors
/// If there are too few targets, or one is outside of the vocabulary.
pub(super) fn one_hot<T: Number>(targets: &[Option<usize>], cols: usize, out: &mut [T]) -> Result<()> {
    if targets.len() * cols != out.len() {
        let read = out.len() / cols.max(1);
        return Err(Error::new(format!("{} targets are given, but the plan reads {read}", targets.len())));
    }
    out.fill(T::ZERO);
    for (row, target) in out.chunks_exact_mut(cols.max(1)).zip(targets) {
        let Some(target) = *target else { continue };
        let cell = row.get_mut(target);
        *cell.ok_or_else(|| Error::new(format!("there is no token {target}: there are {cols}")))? = T::ONE;
    }
    Ok(())
}

/// A block of rows of each example.
pub(super) fn rows<T: Number>(
    a: Read<'_, T>,
    start: usize,
    (shape, examples): (Shape, usize),
    out: &mut [T],
) {
    let count = shape.rows * shape.cols;
    for (example, part) in out.chunks_exact_mut(count.max(1)).enumerate().take(examples) {
        part.copy_from_slice(&a.of(example)[start * shape.cols..][..count]);
    }
}

/// A block of columns of all rows.
pub(super) fn columns<T: Number>(a: Read<'_, T>, start: usize, cols: usize, out: &mut [T]) {
    for (out, row) in out.chunks_exact_mut(cols.max(1)).zip(a.numbers.chunks_exact(a.place.shape.cols.max(1)))
    {
        out.copy_from_slice(&row[start..start + cols]);
    }
}

/// An input in its columns of the result.
pub(super) fn side_by_side<T: Number>(
    a: Read<'_, T>,
    start: usize,
    (shape, examples): (Shape, usize),
    out: &mut [T],
) {
    let (from, to) = (a.place.shape.cols, shape.cols.max(1));
    if from == 0 {
        return;
    }
    for (example, part) in out.chunks_exact_mut((shape.rows * to).max(1)).enumerate().take(examples) {
        for (out, row) in part.chunks_exact_mut(to).zip(a.of(example).chunks_exact(from)) {
            out[start..start + from].copy_from_slice(row);
        }
    }
}

/// An input in its rows of the result.
pub(super) fn on_top<T: Number>(
    a: Read<'_, T>,
    start: usize,
    (shape, examples): (Shape, usize),
    out: &mut [T],
) {
    let count = (shape.rows * shape.cols).max(1);
    for (example, part) in out.chunks_exact_mut(count).enumerate().take(examples) {
        let rows = a.of(example);
        part[start * shape.cols..][..rows.len()].copy_from_slice(rows);
    }
}

/// Rows become columns.
pub(super) fn transpose<T: Number>(a: Read<'_, T>, examples: usize, out: &mut [T]) {
    let Shape { rows, cols } = a.place.shape;
    for (example, part) in out.chunks_exact_mut(a.len().max(1)).enumerate().take(examples) {
        for (i, row) in a.of(example).chunks_exact(cols.max(1)).enumerate() {
            for (j, x) in row.iter().enumerate() {
                part[j * rows + i] = *x;
            }
        }
    }
}
