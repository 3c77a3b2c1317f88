//! The output gate.

use super::attend::Pipeline;
use super::mechanisms::Gating;
use crate::error::{Error, Result};
use crate::graph::{NodeId, Op, Role, Stage};
use crate::text::counted;

impl Pipeline<'_> {
    /// The heads side by side times their gate: `O_gated = C ∘ sigmoid(X W_g)`. Weights with a column for each head gate whole
    /// heads.
    ///
    /// # Source
    /// Qiu et al. 2025, “Gated Attention for Large Language Models”; the attention of Qwen3-Next.
    pub fn gated(&mut self, joined: NodeId, w_g: NodeId) -> Result<NodeId> {
        let x = self.graph.at(Stage::Positioned).or_else(|| self.graph.at(Role::X)).ok_or_else(|| {
            Error::new("the gate is computed from X, and there is no X").help("give --x or --words")
        })?;
        let (gates, width, heads) = (self.shape(w_g), self.shape(joined), self.recipe.heads);
        let tokens = self.shape(x);
        if gates.0 != tokens.1 {
            return Err(Error::new(format!(
                "W_g is {}×{}, but X has {}",
                gates.0,
                gates.1,
                counted(tokens.1, "column")
            ))
            .help(format!("give W_g {}, one for each column of X", counted(tokens.1, "row"))));
        }
        if tokens.0 != width.0 {
            return Err(Error::new(format!(
                "X has {}, but the result has {}: each row needs a gate",
                counted(tokens.0, "row"),
                width.0
            )));
        }
        if gates.1 != width.1 && gates.1 != heads {
            return Err(Error::new(format!(
                "W_g is {}×{}, but the heads together have {}",
                gates.0,
                gates.1,
                counted(width.1, "column")
            ))
            .help(format!(
                "give W_g {} columns, one for each of these, or {heads}: one for each head",
                width.1
            )));
        }
        let input = self.stage(Stage::GateInput, None, Op::Product, &[x, w_g])?;
        let mut gate = match self.recipe.gate {
            Gating::WithoutSigmoid => input,
            Gating::Sigmoid | Gating::Missing => self.stage(Stage::Gate, None, Op::Sigmoid, &[input])?,
        };
        if gates.1 != width.1 {
            gate = self.graph.add("G_of_columns", Op::RepeatColumns(width.1 / heads.max(1)), &[gate])?;
        }
        self.stage(Stage::Gated, None, Op::Multiply, &[joined, gate])
    }
}
