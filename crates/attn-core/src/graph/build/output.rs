//! Behind the heads: putting them together, the output projection, the residual.

use super::attend::Pipeline;
use super::choices::{Merge, Projection};
use crate::error::{Error, Result, counted};
use crate::graph::{NodeId, Op};

/// What comes after the heads, as far as there is something.
#[derive(Clone, Copy)]
pub(super) struct After {
    w_o: Option<NodeId>,
    residual: Option<NodeId>,
}

impl After {
    /// Whether the heads side by side are the result.
    pub fn is_nothing(self) -> bool {
        self.w_o.is_none() && self.residual.is_none()
    }

    /// What the heads side by side are called: the result, or what comes before it.
    pub fn name(self) -> &'static str {
        if self.is_nothing() { "O" } else { "C" }
    }
}

impl Pipeline<'_> {
    /// The heads side by side, the output projection and the residual; whatever comes last is called `O`.
    pub fn output(&mut self, heads: Vec<NodeId>, w_o: Option<NodeId>, x: Option<NodeId>) -> Result<()> {
        let after = self.after(w_o, x)?;
        let last = match self.recipe.heads {
            1 => self.graph.add(after.name(), Op::Product, &heads)?,
            _ => self.merged(heads)?,
        };
        if after.is_nothing() && self.recipe.heads > 1 {
            self.graph.add("O", Op::Add, &[last])?;
        }
        self.finish(last, after)
    }

    /// What comes after the heads.
    pub fn after(&self, w_o: Option<NodeId>, x: Option<NodeId>) -> Result<After> {
        let residual = match (self.recipe.output.residual, x) {
            (true, None) => {
                return Err(
                    Error::new("there is no X to add to the result").help("--residual needs --x or --words")
                );
            }
            (true, Some(x)) => Some(x),
            (false, _) => None,
        };
        Ok(After { w_o: w_o.filter(|_| self.recipe.output.projected), residual })
    }

    /// The output projection and the residual.
    pub fn finish(&mut self, mut last: NodeId, After { w_o, residual }: After) -> Result<()> {
        if let Some(w_o) = w_o {
            let ((_, width), weights) = (self.shape(last), self.graph[w_o].shape());
            let (op, side, length) = match self.recipe.projection {
                Projection::AllTransposed => (Op::ProductTransposed, "columns", weights.cols),
                _ => (Op::Product, "rows", weights.rows),
            };
            if length != width {
                let heads = counted(width, "column");
                return Err(Error::new(format!("W_O is {weights}, but the heads together have {heads}"))
                    .help(format!("give W_O {width} {side}, one for each of these columns")));
            }
            last = self.graph.add(if residual.is_none() { "O" } else { "P" }, op, &[last, w_o])?;
        }
        if let Some(x) = residual {
            let (tokens, result) = (self.graph[x].shape(), self.graph[last].shape());
            if tokens != result {
                return Err(Error::new(format!(
                    "X is {tokens}, but the result is {result}: they cannot be added"
                ))
                .help(format!("make the result {tokens} with another W_V or W_O, or leave out --residual")));
            }
            self.graph.add("O", Op::Add, &[x, last])?;
        }
        Ok(())
    }

    /// `C`: the heads put together.
    fn merged(&mut self, mut heads: Vec<NodeId>) -> Result<NodeId> {
        match self.recipe.merge {
            Merge::SideBySide => self.graph.add("C", Op::Concatenate, &heads),
            Merge::Reversed => {
                heads.reverse();
                self.graph.add("C", Op::Concatenate, &heads)
            }
            Merge::Summed => self.graph.add("C", Op::Add, &heads),
            Merge::Reshaped => {
                let stacked = self.graph.add("C_stacked", Op::Stack(None), &heads)?;
                let (rows, width) = self.shape(stacked);
                let shape = Op::Reshape { rows: rows / heads.len(), cols: width * heads.len() };
                self.graph.add("C", shape, &[stacked])
            }
        }
    }
}
