//! The logits: as steps of a graph, and for `--save logits=FILE`, which computes the rows while they are written, since all of them
//! together are often more than the model's weights.

use std::cell::RefCell;

use super::opened::OpenedModel;
use crate::error::Result;
use crate::graph::Graph;
use crate::input::Table;
use crate::matrix::{Labels, Shape};
use crate::model::{Forward, ModelRun};
use crate::tensor::{Dtype, Tensor};

/// The graph of some layers with the steps from the last residual stream to the logits of all tokens.
///
/// # Errors
/// If the model has no head, or its weights cannot be read.
pub(super) fn with_logits(run: &ModelRun<'_>, forward: &Forward, mut graph: Graph) -> Result<Graph> {
    let x = match graph.find("X_final") {
        Some(x) => x,
        None => run.final_stream(forward, &mut graph)?,
    };
    // The caller has asked for all logits: they do not count against the limit.
    graph = graph.with_limit(usize::MAX);
    run.logits(&mut graph, x)?;
    Ok(graph)
}

/// The numbers that are formed at a time, at most.
const CHUNK: usize = 1 << 21;

/// A score for each token of the vocabulary, in rows that are computed when they are asked for.
pub(super) struct LogitsTable<'a> {
    run: &'a ModelRun<'a>,
    forward: &'a Forward,
    words: Option<Labels>,
    columns: usize,
    rows: RefCell<Rows>,
}

/// Some rows.
struct Rows {
    first: usize,
    numbers: Tensor,
    /// Whether the rows asked for last could not be computed.
    outcome: Result<()>,
}

impl<'a> LogitsTable<'a> {
    /// The logits after a pass. The first rows are computed.
    ///
    /// # Errors
    /// If the model has no head, or its weights cannot be read.
    pub fn new(model: &OpenedModel, run: &'a ModelRun<'a>, forward: &'a Forward) -> Result<LogitsTable<'a>> {
        let numbers = run.logits_of(forward, 0..1)?;
        let columns = numbers.shape().cols;
        let words = model.tokenizer.is_some().then(|| (0..columns).map(|id| model.shown(id)).collect());
        let rows = RefCell::new(Rows { first: 0, numbers, outcome: Ok(()) });
        Ok(LogitsTable { run, forward, words, columns, rows })
    }
}

impl Table for LogitsTable<'_> {
    fn shape(&self) -> Shape {
        Shape { rows: self.forward.text.ids.len(), cols: self.columns }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        let mut rows = self.rows.borrow_mut();
        if !(rows.first..rows.first + rows.numbers.shape().rows).contains(&i) && rows.outcome.is_ok() {
            let end = (i + (CHUNK / self.columns.max(1)).max(1)).min(self.shape().rows);
            match self.run.logits_of(self.forward, i..end) {
                Ok(numbers) => *rows = Rows { first: i, numbers, outcome: Ok(()) },
                Err(error) => rows.outcome = Err(error),
            }
        }
        if rows.outcome.is_ok() { rows.numbers.at(i - rows.first, j) } else { f64::NAN }
    }

    fn dtype(&self) -> Dtype {
        self.rows.borrow().numbers.dtype()
    }

    fn row_labels(&self) -> Option<&Labels> {
        Some(&self.forward.text.tokens)
    }

    fn col_labels(&self) -> Option<&Labels> {
        self.words.as_ref()
    }

    fn check(&self) -> Result<()> {
        std::mem::replace(&mut self.rows.borrow_mut().outcome, Ok(()))
    }
}
