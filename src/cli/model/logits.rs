//! The logits: as steps of a graph, and for `--save logits=FILE`, which computes the rows while they are written, since all of them
//! together are often more than the model's weights.

use std::cell::RefCell;

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::input::Table;
use crate::matrix::{Labels, Shape};
use crate::model::{Forward, ModelRun};
use crate::tensor::{Dtype, Tensor};

use super::folder::{OpenedModel, ReadText};

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
    run: ModelRun<'a>,
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
    pub fn new(model: &'a OpenedModel, forward: &'a Forward) -> Result<LogitsTable<'a>> {
        let run = model.run();
        let numbers = run.logits_of(forward, 0..1)?;
        let columns = numbers.shape().cols;
        let words = model.tokenizer.is_some().then(|| (0..columns).map(|id| model.token_text(id)).collect());
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

    fn labels(&self) -> [Option<&Labels>; 2] {
        [Some(&self.forward.text.tokens), self.words.as_ref()]
    }

    fn check(&self) -> Result<()> {
        std::mem::replace(&mut self.rows.borrow_mut().outcome, Ok(()))
    }
}

// The places of a text for which a model's predictions are shown.

/// A place of a text whose prediction is shown.
pub(super) struct Predicted {
    /// Its row, from 0.
    pub row: usize,
    /// The title of the prediction.
    pub title: String,
    /// The title of what each layer would predict.
    pub lens: String,
}

/// The places of a text whose predictions are shown: the last one of a decoder, which predicts the token after it; of an
/// encoder, which predicts the token at a place itself, those that are masked, or else the last one that the text gave. None of a
/// model whose predictions are shown at all positions.
pub(super) fn places(model: &OpenedModel, read: &ReadText) -> Vec<Predicted> {
    if is_of_all_positions(model) {
        return Vec::new();
    }
    let last = read.text.ids.len().saturating_sub(1);
    if !model.architecture.model.is_encoder() {
        let title = "The next token".to_string();
        return vec![Predicted {
            row: last,
            title,
            lens: "What each layer would predict (logit lens)".into(),
        }];
    }
    let place = |row: usize, verb: &str| Predicted {
        row,
        title: format!("What the model {verb} at position {}, `{}`", row + 1, read.text.tokens[row]),
        lens: format!("What each layer would put at position {} (logit lens)", row + 1),
    };
    let masked: Vec<usize> = masked(model, read).collect();
    if masked.is_empty() {
        return vec![place(last_of_text(read).unwrap_or(last), "would put")];
    }
    masked.into_iter().map(|row| place(row, "puts")).collect()
}

/// Returns true if a model predicts something at every position of a text, and not only at masked ones: its last row alone would say
/// little.
pub(super) fn is_of_all_positions(model: &OpenedModel) -> bool {
    let own = &model.architecture.model;
    own.family.is_small() && own.is_encoder()
}

/// What to do for a prediction of an encoder, where no place of the text is masked.
pub(super) fn how_to_mask(model: &OpenedModel, read: &ReadText) -> Option<String> {
    let is_predicted = model.architecture.model.is_encoder() && model.tensors.has_head;
    if !is_predicted || is_of_all_positions(model) || masked(model, read).next().is_some() {
        return None;
    }
    Some(match model.mask {
        None => "neither config.json nor the tokenizer names a mask token, so no place is masked".to_string(),
        Some(id) => {
            let mask = model.token_text(id as usize);
            format!(
                "no place is masked: put {mask} (id {id}) in place of a token to see what the model puts there"
            )
        }
    })
}

/// Checks that logits are numbers, so that there is a most probable token.
///
/// # Errors
/// If one is NaN or infinite.
pub(super) fn check_numbers(logits: &[f64], position: usize) -> Result<()> {
    let Some(wrong) = logits.iter().find(|logit| !logit.is_finite()) else { return Ok(()) };
    Err(Error::new(format!("the model predicts nothing at position {position}: a logit is {wrong}"))
        .help("weights of the file may be NaN or infinite; --layer 1 shows where it begins"))
}

fn masked(model: &OpenedModel, read: &ReadText) -> impl Iterator<Item = usize> {
    let mask = model.mask;
    let is_mask = move |id: usize| mask.is_some_and(|mask| id == mask as usize);
    let ids = read.text.ids.iter().enumerate();
    ids.filter(move |(_, id)| is_mask(**id)).map(|(row, _)| row)
}

/// The last token that the file's rules did not add.
fn last_of_text(read: &ReadText) -> Option<usize> {
    read.tokens.as_ref()?.tokens.iter().rposition(|token| !token.is_added())
}
