//! A whole model, measured: a text at once, one more token, and reading its weights.

use std::time::Duration;

use super::timing::{Timing, time, time_in_turns};
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
    /// The bytes of the weights that a token is multiplied with: each new token reads them once.
    pub weight_bytes: u64,
    /// Reading them once, where nothing is done with them.
    pub reading: Timing,
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
        let weights = WeightReading::of(tensors)?;
        let (decode, reading) = if has_next {
            let [decode, reading] = decoded(&run, &text, &options, &weights, (machine, longest, budget))?;
            (Some(decode), reading)
        } else {
            (None, time(budget, || weights.read(machine))?)
        };
        let flop = tensors.weights_per_token().saturating_mul(2 * tokens as u64);
        Ok(ModelMeasurement {
            machine,
            tokens,
            forward,
            flop,
            decode,
            weight_bytes: weights.bytes(),
            reading,
        })
    }

    /// The bytes a second at which the weights are read.
    pub fn read_rate(&self) -> f64 {
        self.weight_bytes as f64 / self.reading.median
    }

    /// The share of the read rate that decoding reaches: 1 where reading the weights takes all of its time.
    pub fn share_of_reading(&self) -> Option<f64> {
        self.decode.map(|decode| self.reading.median / decode.median)
    }
}

/// The times of one token after another, each with the cache of those before, and of reading the weights, in turns; the text begins
/// again where it would become longer than `longest`.
fn decoded(
    run: &ModelRun<'_>,
    text: &Text,
    options: &PassOptions,
    weights: &WeightReading,
    (machine, longest, budget): (Machine, usize, Duration),
) -> Result<[Timing; 2]> {
    let more = Text { ids: vec![0], tokens: ["0".to_string()].into_iter().collect() };
    let begin = || run.forward(text.clone(), options.clone());
    let mut before = Some(begin()?);
    let mut token = || {
        let forward = match before.take().filter(|forward| forward.text.ids.len() < longest) {
            Some(forward) => forward,
            None => begin()?,
        };
        let last = forward.text.ids.len();
        let forward = before.insert(run.continued(forward, &more)?);
        run.logits_of(forward, last..last + 1).map(drop)
    };
    let mut read = || weights.read(machine);
    time_in_turns(budget, [&mut token, &mut read])
}

/// A text of the vocabulary's first tokens, over and over.
fn text_of(tokens: usize, vocabulary: usize) -> Text {
    let ids: Vec<usize> = (0..tokens).map(|at| at % vocabulary.max(1)).collect();
    let labels: Labels = ids.iter().map(usize::to_string).collect();
    Text { ids, tokens: labels }
}
