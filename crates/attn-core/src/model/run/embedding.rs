//! From the ids of tokens to the input of the first layer.

use half::bf16;

use super::{ModelRun, Slot, Text};
use crate::error::{Error, Result};
use crate::graph::{Factor, Graph, NodeId, Op, Origin};
use crate::params::{NormSite, Positions};
use crate::tensor::Dtype;
use crate::text::counted;

impl ModelRun<'_> {
    /// The input of the first layer, `E`: the embedding of each token, with what the model adds for its position and its kind.
    /// `first` is the position of the first token.
    ///
    /// # Errors
    /// If an id is outside the vocabulary, or the text is longer than the model's positions.
    pub fn embed(&self, graph: &mut Graph, text: &Text, first: usize) -> Result<NodeId> {
        let model = &self.architecture.model;
        let tokens = text.ids.len();
        let is_learned = matches!(model.positions, Positions::Learned(_));
        let is_normed = self.tensors.has(Slot::Gain(NormSite::Embedding), None);
        let is_sum = is_learned || model.token_types.is_some();
        let last = |name: &str, more: bool| if more { name.to_string() } else { "E".to_string() };

        let table = self.table(graph, "W_E")?;
        let rows = Op::TokenRows(text.ids.clone());
        let mut e = graph.add(
            &last("E_tokens", is_sum || is_normed || self.architecture.embedding_scaled),
            rows,
            &[table],
        )?;
        graph.name_lines(e, Some(text.tokens.clone()), None);
        let mut parts = vec![e];
        if let Positions::Learned(positions) = model.positions {
            let first = first + self.architecture.slips.position_shift;
            if (first + tokens) as u64 > positions {
                let error = Error::new(format!(
                    "the text has {}, but the model has positions for {positions}",
                    counted(first + tokens, "token")
                ));
                return Err(error.help("give a shorter text"));
            }
            let table = self.table(graph, "W_P")?;
            parts.push(graph.add("E_positions", Op::Rows { start: first, count: tokens }, &[table])?);
        }
        if model.token_types.is_some() {
            let table = self.table(graph, "W_T")?;
            parts.push(graph.add("E_types", Op::TokenRows(vec![0; tokens]), &[table])?);
        }
        if is_sum {
            e = graph.add(&last("E_sum", is_normed), Op::Add, &parts)?;
        }
        if self.architecture.embedding_scaled {
            let factor = Op::Scale(Factor::Number(self.embedding_factor()?));
            e = graph.add("E", factor, &[e])?;
        }
        self.normed(graph, "E", e, (NormSite::Embedding, None))
    }

    /// √d as Gemma has it: rounded to single precision, and to the type of the weights.
    ///
    /// # Errors
    /// If that type is not known.
    pub fn embedding_factor(&self) -> Result<f64> {
        let root = (self.architecture.model.hidden as f64).sqrt();
        if self.architecture.slips.embedding_factor_unrounded {
            return Ok(f64::from(root as f32));
        }
        Ok(match self.tensors.dtype()? {
            Dtype::Bf16 => bf16::from_f64(root).to_f64(),
            Dtype::F16 => half::f16::from_f64(root).to_f64(),
            Dtype::F32 | Dtype::F64 | Dtype::Bool => f64::from(root as f32),
        })
    }

    /// A remark on the factor of the embeddings, where it is another number in the type of the weights than in single precision.
    ///
    /// # Errors
    /// Those of [`ModelRun::embedding_factor`].
    pub fn rounded_factor(&self) -> Result<Option<String>> {
        if !self.architecture.embedding_scaled {
            return Ok(None);
        }
        let (used, d) = (self.embedding_factor()?, self.architecture.model.hidden);
        let single = (d as f64).sqrt() as f32;
        Ok((used != f64::from(single)).then(|| {
            let name = match self.tensors.dtype() {
                Ok(Dtype::F16) => "float16",
                _ => "bfloat16",
            };
            format!(
                "E is the embedding times {used}: √d = √{d} = {single}, rounded to {name}, the type of the weights, as in a \
                 model that runs in {name}; one that is loaded in float32 has {single}"
            )
        }))
    }

    /// A table of embeddings, which stays in its file: only the rows of the text are read.
    fn table(&self, graph: &mut Graph, symbol: &'static str) -> Result<NodeId> {
        let table = self.tensors.stored(Slot::Weight(symbol), None)?;
        graph.weights(symbol, table.tensor, Origin::Weights(table.name))
    }
}
