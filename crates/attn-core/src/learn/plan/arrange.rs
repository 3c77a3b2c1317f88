//! Steps that choose, join and arrange.

use super::read::{Read, Reads};
use crate::error::{Error, Result};
use crate::learn::number::Number;
use crate::matrix::Shape;

/// A step that computes nothing: numbers are looked up, or put elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrange {
    /// The rows of a table at the ids of each example.
    LookUp,
    /// 1 at the target of each row, and 0 elsewhere.
    OneHot,
    /// A block of neighbouring rows from here.
    Rows(usize),
    /// A block of neighbouring columns from here.
    Columns(usize),
    /// All inputs side by side.
    Concatenate,
    /// All inputs on top of each other.
    Stack,
    /// `aᵀ`.
    Transpose,
}

impl Arrange {
    /// Does the step for all examples.
    ///
    /// # Errors
    /// If an id is outside of its table, or ids are missing.
    pub fn run<T: Number>(self, reads: Reads<'_, T>, out: &mut [T]) -> Result<()> {
        let Shape { cols, .. } = reads.shape;
        match self {
            Arrange::LookUp => return look_up(reads.input(0), &reads.batch.tokens, cols, out),
            Arrange::OneHot => return one_hot(&reads.batch.targets, cols, out),
            Arrange::Rows(start) => rows(reads.input(0), start, reads.shape, out),
            Arrange::Columns(start) => columns(reads.input(0), start, cols, out),
            Arrange::Concatenate => {
                reads.all().fold(0, |start, input| side_by_side(input, start, reads.shape, out));
            }
            Arrange::Stack => {
                reads.all().fold(0, |start, input| on_top(input, start, reads.shape, out));
            }
            Arrange::Transpose => transpose(reads.input(0), out),
        }
        Ok(())
    }
}

/// The rows of a table at these ids.
///
/// # Errors
/// If there are too few ids, or one is outside of the table.
fn look_up<T: Number>(table: Read<'_, T>, ids: &[usize], cols: usize, out: &mut [T]) -> Result<()> {
    fits("tokens", ids.len(), cols, out.len())?;
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
fn one_hot<T: Number>(targets: &[Option<usize>], cols: usize, out: &mut [T]) -> Result<()> {
    fits("targets", targets.len(), cols, out.len())?;
    out.fill(T::ZERO);
    for (row, target) in out.chunks_exact_mut(cols.max(1)).zip(targets) {
        let Some(target) = *target else { continue };
        let cell = row.get_mut(target);
        *cell.ok_or_else(|| Error::new(format!("there is no token {target}: there are {cols}")))? = T::ONE;
    }
    Ok(())
}

fn fits(what: &str, given: usize, cols: usize, numbers: usize) -> Result<()> {
    if given * cols == numbers {
        return Ok(());
    }
    Err(Error::new(format!("{given} {what} are given, but the plan reads {}", numbers / cols.max(1))))
}

/// A block of rows of each example.
fn rows<T: Number>(a: Read<'_, T>, start: usize, shape: Shape, out: &mut [T]) {
    let count = shape.rows * shape.cols;
    for (example, part) in out.chunks_exact_mut(count.max(1)).enumerate() {
        part.copy_from_slice(&a.of(example)[start * shape.cols..][..count]);
    }
}

/// A block of columns of all rows.
fn columns<T: Number>(a: Read<'_, T>, start: usize, cols: usize, out: &mut [T]) {
    for (out, row) in out.chunks_exact_mut(cols.max(1)).zip(a.rows()) {
        out.copy_from_slice(&row[start..start + cols]);
    }
}

/// An input in its columns of the result, from `start` on; the column after it.
fn side_by_side<T: Number>(a: Read<'_, T>, start: usize, shape: Shape, out: &mut [T]) -> usize {
    let (from, to) = (a.place.shape.cols, shape.cols.max(1));
    if from > 0 {
        for (example, part) in out.chunks_exact_mut((shape.rows * to).max(1)).enumerate() {
            for (out, row) in part.chunks_exact_mut(to).zip(a.of(example).chunks_exact(from)) {
                out[start..start + from].copy_from_slice(row);
            }
        }
    }
    start + from
}

/// An input in its rows of the result, from `start` on; the row after it.
fn on_top<T: Number>(a: Read<'_, T>, start: usize, shape: Shape, out: &mut [T]) -> usize {
    for (example, part) in out.chunks_exact_mut((shape.rows * shape.cols).max(1)).enumerate() {
        let rows = a.of(example);
        part[start * shape.cols..][..rows.len()].copy_from_slice(rows);
    }
    start + a.place.shape.rows
}

/// Rows become columns.
fn transpose<T: Number>(a: Read<'_, T>, out: &mut [T]) {
    let Shape { rows, cols } = a.place.shape;
    for (example, part) in out.chunks_exact_mut(a.len().max(1)).enumerate() {
        for (i, row) in a.of(example).chunks_exact(cols.max(1)).enumerate() {
            for (j, x) in row.iter().enumerate() {
                part[j * rows + i] = *x;
            }
        }
    }
}
