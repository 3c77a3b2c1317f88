//! The numbers of many computations at a few nodes: kept for the next submission where there is room, else computed again.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use crate::matrix::Shape;

use super::answer::Part;
use super::compare::{AnswerTolerance, NodeNumbers, Tolerance};

/// The overhead of a matrix besides its numbers, counted in numbers.
pub(super) const EACH: usize = 16;

/// The numbers of many computations at one node, stored for a fast comparison of one number with all of them.
#[derive(Default)]
pub(super) struct Column {
    /// For each computation the index of its numbers in `distinct`; `None` if it stops before this node.
    places: Vec<Option<usize>>,
    /// The numbers without repetitions: computations with equal numbers share an entry.
    distinct: Vec<NodeNumbers>,
    /// The indices of the distinct numbers by their bits.
    by_bits: HashMap<u64, Vec<usize>>,
    /// For each row the last number of it in each of the distinct matrices; NaN where one has no such row.
    last_of_rows: Vec<Vec<f64>>,
}

/// One number of a submission. All computations are compared with it before any is compared with all numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe<'a> {
    /// The node that it is for.
    pub node: &'a str,
    /// The shape of the submission.
    shape: Shape,
    /// The number is the last one of this row.
    row: usize,
    number: f64,
    allowance: AnswerTolerance,
}

impl<'a> Probe<'a> {
    /// The last number in a row of the first matrix of a part; `None` where it has no matrix.
    pub(super) fn of(part: &'a Part<'_>, row: usize, tolerance: &Tolerance) -> Option<Probe<'a>> {
        let (node, matrix) = part.matrices.first()?;
        let last = (row < matrix.rows()).then(|| matrix.row(row).last()).flatten();
        let number = last.unwrap_or(f64::NAN);
        let allowance = AnswerTolerance::of(part.answer, tolerance);
        Some(Probe { node, shape: matrix.shape(), row, number, allowance })
    }

    /// The same in the last row in which that number is not NaN, or in the first row.
    pub(super) fn in_any_row(part: &'a Part<'_>, tolerance: &Tolerance) -> Option<Probe<'a>> {
        let (_, matrix) = part.matrices.first()?;
        let is_number = |row: &usize| matrix.row(*row).last().is_some_and(|x| !x.is_nan());
        let row = (0..matrix.rows()).rev().find(is_number).unwrap_or(0);
        Probe::of(part, row, tolerance)
    }

    /// Whether numbers of its shape may be near it, where this one stands in its place.
    fn is_near(&self, numbers: &NodeNumbers, expected: f64) -> bool {
        let distance = (self.number - expected).abs();
        // NaN is near NaN alone; a very negative number may stand for −∞.
        let is_other = if distance.is_nan() {
            self.number.is_nan() != expected.is_nan()
        } else {
            distance > self.allowance.at_most(numbers.max_size, expected)
        };
        !is_other || expected == f64::NEG_INFINITY
    }
}

impl Column {
    /// Appends the numbers of one more computation; returns the room that they take, in numbers.
    pub(super) fn push(&mut self, numbers: Option<NodeNumbers>) -> usize {
        let Some(numbers) = numbers else {
            self.places.push(None);
            return 0;
        };
        let alike = self.by_bits.entry(numbers.bits()).or_default();
        let same = |place: &&usize| self.distinct[**place].matrix.same_bits(&numbers.matrix);
        if let Some(&place) = alike.iter().find(same) {
            self.places.push(Some(place));
            return 0;
        }
        let place = self.distinct.len();
        let Shape { rows, cols } = numbers.matrix.shape();
        alike.push(place);
        self.places.push(Some(place));
        if self.last_of_rows.len() < rows {
            self.last_of_rows.resize(rows, vec![f64::NAN; place]);
        }
        for (row, cells) in self.last_of_rows.iter_mut().enumerate() {
            let last = (row < rows).then(|| numbers.matrix.row(row).last()).flatten();
            cells.push(last.unwrap_or(f64::NAN));
        }
        self.distinct.push(numbers);
        EACH + rows * (cols + 1)
    }

    /// The numbers of a computation.
    pub(super) fn numbers(&self, computation: usize) -> Option<&NodeNumbers> {
        Some(&self.distinct[self.places[computation]?])
    }

    /// Marks the computations of the shape of a probe that have a number near it.
    pub(super) fn mark_near(&self, probe: &Probe<'_>, is_near: &mut [bool]) {
        let last = self.last_of_rows.get(probe.row);
        let near = |(at, numbers): (usize, &NodeNumbers)| {
            let expected = last.map_or(f64::NAN, |cells| cells[at]);
            numbers.matrix.shape() == probe.shape && probe.is_near(numbers, expected)
        };
        let near: Vec<bool> = self.distinct.iter().enumerate().map(near).collect();
        for (marked, place) in is_near.iter_mut().zip(&self.places) {
            *marked |= place.is_some_and(|place| near[place]);
        }
    }
}

/// What was computed for some keys, at most `MOST` of them.
pub(super) struct Memo<K, V, const MOST: usize>(Mutex<BTreeMap<K, V>>);

impl<K, V, const MOST: usize> Default for Memo<K, V, MOST> {
    fn default() -> Self {
        Memo(Mutex::default())
    }
}

impl<K: Ord, V: Clone, const MOST: usize> Memo<K, V, MOST> {
    /// The value of a key, computed where it is not known.
    pub(super) fn get(&self, key: K, compute: impl FnOnce() -> V) -> V {
        let all = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all().get(&key).cloned();
        known.unwrap_or_else(|| {
            let value = compute();
            if all().len() < MOST {
                all().insert(key, value.clone());
            }
            value
        })
    }
}
