//! The tensors of a model, wherever they are.

use std::collections::BTreeMap;
use std::fmt::Debug;

use crate::error::Result;
use crate::matrix::Shape;
use crate::memory;
use crate::tensor::{Dtype, Tensor};

/// A tensor as a file's header describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its dimensions.
    pub dims: Vec<usize>,
    /// Its type in the file's own words: `BF16`.
    pub type_name: String,
    /// Its type, if attention computes with it.
    pub dtype: Option<Dtype>,
}

impl Entry {
    /// The number of its numbers.
    pub fn count(&self) -> u64 {
        self.dims.iter().fold(1, |count: u64, size| count.saturating_mul(*size as u64))
    }
}

/// Named tensors that can be asked for one by one.
pub trait Checkpoint: Debug + Send + Sync {
    /// Its name in errors: the folder.
    fn name(&self) -> &str;

    /// All tensors by their names in the files.
    fn entries(&self) -> &BTreeMap<String, Entry>;

    /// A tensor, which may stay in its file. A vector is one row.
    ///
    /// # Errors
    /// If there is none of this name, or its type is not computed with.
    fn tensor(&self, name: &str) -> Result<Tensor>;

    /// Returns true if two tensors have the same dimensions and the same numbers, of which a part at a time is read.
    ///
    /// # Errors
    /// Those of [`Checkpoint::tensor`], and if the numbers cannot be read.
    fn same_numbers(&self, name: &str, other: &str) -> Result<bool> {
        same_numbers(self, name, other)
    }
}

/// At most this many numbers of a tensor, or one row, are in memory while two are compared.
const COMPARED: usize = 1 << 18;

/// [`Checkpoint::same_numbers`], for a checkpoint that remembers the answer.
///
/// # Errors
/// Those of [`Checkpoint::same_numbers`].
pub fn same_numbers<C: Checkpoint + ?Sized>(checkpoint: &C, name: &str, other: &str) -> Result<bool> {
    let dims = |name: &str| checkpoint.entries().get(name).map(|entry| &entry.dims);
    if dims(name) != dims(other) || dims(name).is_some_and(|dims| dims.len() > 2) {
        return Ok(false);
    }
    let (one, other) = (checkpoint.tensor(name)?, checkpoint.tensor(other)?);
    let Shape { rows, cols } = one.shape();
    let step = (COMPARED / cols.max(1)).max(1);
    for start in (0..rows).step_by(step) {
        let _part = memory::part();
        let rows = start..rows.min(start + step);
        if !same(&one.rows(rows.clone())?, &other.rows(rows)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the numbers of two tensors of one shape are equal; NaN is equal to itself.
fn same(one: &Tensor, other: &Tensor) -> bool {
    let is_same = |(a, b): (f64, f64)| a == b || a.is_nan() && b.is_nan();
    one.dtype() == other.dtype() && one.bytes() == other.bytes() && one.bytes().is_some()
        || one.cells().zip(other.cells()).all(is_same)
}
