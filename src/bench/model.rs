//! A whole model, measured: a text at once, one more token, and the rate at which its weights can be read.

use std::time::Duration;

use super::timing::{Timing, time};
use crate::error::Result;
use crate::graph::Precision;
use crate::kernel::Machine;
use crate::matrix::Labels;
use crate::model::{Architecture, ModelRun, PassOptions, Tensors, Text, WeightReading};
use crate::params::Positions;

/// The number of tokens after which a text begins again.
const MOST_MORE_TOKENS: usize = 64;

/// The measurement of a model in `f32`.
#[derive(Clone, Debug)]
pub struct ModelMeasurement {
    /// The machine that it was measured on.
    pub machine: Machine,
    /// The number of tokens of the text.
    pub tokens: usize,
    /// A pass over the text, with the logits of all tokens.
    pub forward: Timing,
    /// The flop of that pass in products with weights: two for each weight and token.
    pub flop: u64,
    /// One more token, with its logits, from a cache of the text; `None` for an encoder, and where the text fills the context.
    pub decode: Option<Timing>,
    /// The weights that each more token reads once, in memory.
    pub reading: WeightReading,
}

impl ModelMeasurement {
    /// Measures a model on the first `tokens` ids of its vocabulary, each part for about `budget`.
    ///
    /// # Errors
    /// If the text is longer than the model's context, or weights cannot be read.
    pub fn measure(
        architecture: &Architecture,
        tensors: &Tensors<'_>,
        tokens: usize,
        (machine, budget): (Machine, Duration),
    ) -> Result<ModelMeasurement> {
        let run = ModelRun::new(architecture, tensors);
        let vocabulary = architecture.model.vocabulary as usize;
        let options = PassOptions {
            precision: Precision::Single(machine),
            measured: false,
            limit: usize::MAX,
            ..PassOptions::default()
        };
        let text = text_of(tokens, vocabulary);
        let forward = time(budget, || {
            let forward = run.forward(text.clone(), options.clone())?;
            if tensors.has_head() { run.logits_of(&forward, 0..tokens).map(drop) } else { Ok(()) }
        })?;
        let longest = match architecture.model.positions {
            Positions::Learned(positions) => (tokens + MOST_MORE_TOKENS).min(positions as usize),
            _ => tokens + MOST_MORE_TOKENS,
        };
        let has_next = !architecture.model.is_encoder() && longest > tokens;
        let decode = if has_next { Some(decoded(&run, &text, &options, (longest, budget))?) } else { None };
        let reading = WeightReading::measure(tensors, machine, budget)?;
        let flop = tensors.weights_per_token().saturating_mul(2 * tokens as u64);
        Ok(ModelMeasurement { machine, tokens, forward, flop, decode, reading })
    }

    /// The share of the read rate that decoding reaches: 1 where reading the weights takes all of its time. Both are the best of
    /// their runs.
    pub fn share_of_reading(&self) -> Option<f64> {
        let seconds = self.reading.bytes as f64 / self.reading.rate;
        self.decode.map(|decode| seconds / decode.least)
    }
}

/// The time of one token after another, each with the cache of those before; the text begins again where it would become longer
/// than `longest`.
fn decoded(
    run: &ModelRun<'_>,
    text: &Text,
    options: &PassOptions,
    (longest, budget): (usize, Duration),
) -> Result<Timing> {
    let more = Text { ids: vec![0], tokens: ["0".to_string()].into_iter().collect() };
    let begin = || run.forward(text.clone(), options.clone());
    let mut before = Some(begin()?);
    time(budget, || {
        let forward = match before.take().filter(|forward| forward.text.ids.len() < longest) {
            Some(forward) => forward,
            None => begin()?,
        };
        let last = forward.text.ids.len();
        let forward = before.insert(run.continued(forward, &more)?);
        run.logits_of(forward, last..last + 1).map(drop)
    })
}

/// A text of the vocabulary's first tokens, over and over.
fn text_of(tokens: usize, vocabulary: usize) -> Text {
    let ids: Vec<usize> = (0..tokens).map(|at| at % vocabulary.max(1)).collect();
    let labels: Labels = ids.iter().map(usize::to_string).collect();
    Text { ids, tokens: labels }
}
