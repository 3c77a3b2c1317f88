//! The size of a small model, and the weights that it has.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::kernel::Layout;
use crate::matrix::Shape;
use crate::model::{Architecture, Checkpoint, Entry};
use crate::random::LegacyStream;
use crate::tensor::{Dtype, MOST_LOOKED_AT, Tensor};
use crate::text::grouped;

use super::number::Number;

/// The most parameters of a model that is trained here: more take minutes for a step.
pub const MOST_PARAMETERS: usize = 10_000_000;

/// The most layers, and the most heads of a layer.
pub const MOST_LAYERS_AND_HEADS: usize = 64;

/// The sizes of a model of the family `attn-small`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelSize {
    /// The number of symbols.
    pub vocabulary: usize,
    /// The number of positions.
    pub context: usize,
    /// The width of the residual stream, d.
    pub width: usize,
    /// The number of layers.
    pub layers: usize,
    /// The number of heads of a layer.
    pub heads: usize,
    /// The width inside the MLP; none where layers have no MLP.
    pub mlp: Option<usize>,
    /// Whether there are RMS norms.
    pub normed: bool,
    /// Whether a token sees only itself and what comes before.
    pub causal: bool,
}

/// A weight of a small model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightName {
    /// Its name in the file: `layers.0.W_Q`.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
}

impl ModelSize {
    /// # Errors
    /// If a size is 0, the heads do not divide the width, or there are too many parameters.
    pub fn check(&self) -> Result<()> {
        let ModelSize { vocabulary, context, width, layers, heads, mlp, .. } = *self;
        let sizes = [
            ("layer", layers),
            ("head", heads),
            ("column", width),
            ("position", context),
            ("column in its MLP", mlp.unwrap_or(1)),
        ];
        let refuse = |what: String, help: String| Err(Error::new(what).help(help));
        if let Some((what, _)) = sizes.into_iter().find(|(_, size)| *size == 0) {
            return refuse(format!("a model has at least one {what}"), "give a number above 0".into());
        }
        if vocabulary < 2 {
            let what = "there is only one symbol, so there is nothing to predict";
            return refuse(what.into(), "give data with at least two different symbols".into());
        }
        let limits = [("heads", heads), ("layers", layers)];
        if let Some((what, _)) = limits.into_iter().find(|(_, count)| *count > MOST_LAYERS_AND_HEADS) {
            let help = format!("take fewer {what}");
            return refuse(format!("a model learns here with at most {MOST_LAYERS_AND_HEADS} {what}"), help);
        }
        if width % heads != 0 {
            let help = format!("take a width that is a multiple of {heads}");
            return refuse(format!("{heads} heads do not divide a width of {width}"), help);
        }
        let counted = |count: usize| grouped(count as u64);
        let largest = [vocabulary, context, width, mlp.unwrap_or(0)].into_iter().fold(0, usize::max);
        if width.saturating_mul(largest) > MOST_LOOKED_AT {
            let [largest, width, most] = [largest, width, MOST_LOOKED_AT].map(counted);
            let what = format!("a weight would have {largest} × {width} numbers, more than {most}");
            return refuse(what, "take a smaller width".into());
        }
        if self.parameters() > MOST_PARAMETERS {
            let [parameters, most] = [self.parameters(), MOST_PARAMETERS].map(counted);
            let what = format!("the model would have {parameters} parameters, more than {most}");
            return refuse(what, "take fewer layers or a smaller width".into());
        }
        Ok(())
    }

    /// The number of parameters.
    pub fn parameters(&self) -> usize {
        let ModelSize { vocabulary, context, width, layers, mlp, .. } = *self;
        let times = |a: usize, b: usize| a.saturating_mul(b);
        let layer = times(4, times(width, width)).saturating_add(times(2, times(width, mlp.unwrap_or(0))));
        let tables = times(width, vocabulary.saturating_mul(2).saturating_add(context));
        tables.saturating_add(times(layers, layer))
    }

    /// The weights of a head as the graph names them, `L2.A_1`, by its layer and its number from 0; of a single head no number.
    pub fn head_name(&self, layer: usize, head: usize) -> String {
        let number = if self.heads > 1 { format!("_{}", head + 1) } else { String::new() };
        format!("L{}.A{number}", layer + 1)
    }

    /// All weights, in the order of the file.
    pub fn weights(&self) -> Vec<WeightName> {
        let ModelSize { vocabulary, context, width, .. } = *self;
        let weight =
            |name: String, rows: usize, cols: usize| WeightName { name, shape: Shape { rows, cols } };
        let mut all = vec![weight("W_E".into(), vocabulary, width), weight("W_P".into(), context, width)];
        for layer in 0..self.layers {
            for symbol in ["W_Q", "W_K", "W_V", "W_O"] {
                all.push(weight(format!("layers.{layer}.{symbol}"), width, width));
            }
            if let Some(inside) = self.mlp {
                all.push(weight(format!("layers.{layer}.W_up"), width, inside));
                all.push(weight(format!("layers.{layer}.W_down"), inside, width));
            }
        }
        all.push(weight("W_U".into(), width, vocabulary));
        all
    }

    /// These numbers under the names of the weights, one list for each.
    ///
    /// # Errors
    /// If a list has another length.
    pub fn tensors<T: Number>(&self, numbers: &[Vec<T>]) -> Result<Vec<(String, Tensor)>> {
        let tensor = |(WeightName { name, shape }, numbers): (WeightName, &Vec<T>)| {
            Ok((name, Tensor::new(numbers.clone(), Layout::stacked(1, shape.rows, shape.cols))?))
        };
        self.weights().into_iter().zip(numbers).map(tensor).collect()
    }

    /// Numbers to start from, drawn from a normal distribution: with the standard deviation 1/2 for the two tables of embeddings, and
    /// 1/√inputs for matrices, so that what they make of a vector has its size.
    pub fn first_weights(&self, stream: &mut LegacyStream) -> Vec<Vec<f64>> {
        let deviation = |weight: &WeightName| match weight.name.as_str() {
            "W_E" | "W_P" => 0.5,
            _ => 1.0 / (weight.shape.rows as f64).sqrt(),
        };
        let draw = |weight: &WeightName| {
            let (count, deviation) = (weight.shape.rows * weight.shape.cols, deviation(weight));
            (0..count).map(|_| stream.standard_normal() * deviation).collect()
        };
        self.weights().iter().map(draw).collect()
    }

    /// The `config.json` of such a model.
    pub fn config(&self, dtype: Dtype) -> Value {
        json!({
            "model_type": "attn-small",
            "architectures": ["AttnSmallForCausalLM"],
            "auto_map": {
                "AutoConfig": "modeling_attn_small.AttnSmallConfig",
                "AutoModelForCausalLM": "modeling_attn_small.AttnSmallForCausalLM",
            },
            "vocab_size": self.vocabulary,
            "max_position_embeddings": self.context,
            "hidden_size": self.width,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "intermediate_size": self.mlp.unwrap_or(0),
            "norm": if self.normed { "rms" } else { "none" },
            "rms_norm_eps": 1e-5,
            "mlp": if self.mlp.is_some() { "relu" } else { "none" },
            "causal": self.causal,
            "tie_word_embeddings": false,
            "dtype": if dtype == Dtype::F64 { "float64" } else { "float32" },
        })
    }

    /// The steps of such a model.
    ///
    /// # Errors
    /// If a size does not fit another.
    pub fn architecture(&self) -> Result<Architecture> {
        self.check()?;
        Architecture::from_config(&self.config(Dtype::F64).to_string(), "the model that is trained")
    }
}

// The weights of a model in memory, as its steps read them.

/// The weights of a small model.
#[derive(Debug)]
pub struct WeightsInMemory(BTreeMap<String, (Tensor, Entry)>);

impl WeightsInMemory {
    /// These numbers, one list for each of [`ModelSize::weights`].
    ///
    /// # Errors
    /// If a list has another length.
    pub fn new<T: Number>(size: &ModelSize, numbers: &[Vec<T>]) -> Result<WeightsInMemory> {
        let with_entry = |(name, tensor): (String, Tensor)| {
            let (dims, dtype) = (vec![tensor.layout().rows, tensor.layout().columns], tensor.dtype());
            let entry = Entry { dims, type_name: dtype.name().to_uppercase(), dtype: Some(dtype) };
            (name, (tensor, entry))
        };
        Ok(WeightsInMemory(size.tensors(numbers)?.into_iter().map(with_entry).collect()))
    }
}

impl Checkpoint for WeightsInMemory {
    fn name(&self) -> &str {
        "the model that is trained"
    }

    fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.0.get(name).map(|(_, entry)| entry)
    }

    fn tensor(&self, name: &str) -> Result<Tensor> {
        let weight = self.0.get(name).map(|(tensor, _)| tensor.clone());
        weight.ok_or_else(|| Error::new(format!("there is no weight {name}")))
    }
}
