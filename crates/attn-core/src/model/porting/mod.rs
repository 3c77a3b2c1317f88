//! Diagnosis for people who port a model: which of their tensors is the first that differs, and which mistake gives those numbers.
//!
//! 1. `names.rs`: which step of `data/porting.toml` a dumped tensor is, by its name in `transformers`, TransformerLens, nnsight, or here.
//! 2. `right_numbers.rs`: the right numbers of a step, in each form that people dump.
//! 3. `judge.rs`: a dumped tensor against them, whatever the order of its axes, and how near is near enough.
//! 4. `mistakes.rs`: the known mistakes of `data/porting.toml`, each as a changed [`Architecture`](super::Architecture).
//! 5. `trace.rs`: a pass of such a model against all tensors.
//! 6. `search.rs`: the first tensor that differs, the mistakes that give its numbers, and what they leave unexplained.

mod judge;
mod mistakes;
mod names;
mod right_numbers;
mod search;
mod trace;

use std::sync::LazyLock;

use serde::Deserialize;

use crate::data_file;

pub use judge::{Difference, DumpPrecision};
pub use mistakes::PortingMistake;
pub use names::Naming;
pub use search::{Found, PortingReport, diagnose};

/// The data file: the mistakes and the steps.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct File {
    mistake: Vec<mistakes::Entry>,
    step: Vec<right_numbers::Step>,
}

static FILE: LazyLock<File> = LazyLock::new(|| data_file::read(include_str!("../../../data/porting.toml")));

/// A tensor that was dumped: its name, its dimensions and its numbers, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Dumped {
    /// Its name in the file.
    pub name: String,
    /// Its dimensions; axes of 1 do not count.
    pub dims: Vec<usize>,
    /// Its numbers, the last axis first.
    pub cells: Vec<f64>,
}
