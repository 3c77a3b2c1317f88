//! The steps after the heads: joining, output projection, residual.

use crate::error::{Error, Result};
use crate::graph::{Factor, NodeId, Op, Role, Stage};
use crate::text::counted;

use super::alter::{altered, name_before};
use super::alteration::Site;
use super::attend::Pipeline;
use super::recipe::{Gating, Merge, Projection, Residual};

/// The ε of a norm, PyTorch's default.
const EPSILON: f64 = 1e-5;

/// The steps after the heads: the gate, the output projection and the residual, each where the recipe has it.
#[derive(Clone, Copy)]
pub(super) struct OutputSteps {
    gate: Option<NodeId>,
    w_o: Option<NodeId>,
    residual: Option<NodeId>,
}

impl OutputSteps {
    /// Whether the heads side by side are the result.
    pub fn is_nothing(self) -> bool {
        self.gate.is_none() && self.w_o.is_none() && self.residual.is_none()
    }

    /// The stage of the heads side by side: the result, or a step before it.
    pub fn stage(self) -> Stage {
        if self.is_nothing() { Stage::Output } else { Stage::Joined }
    }
}

impl Pipeline<'_> {
    /// Joins the heads, applies the output projection and adds the residual; the last node is called `O`. `roles` are the correct
    /// queries, keys and values.
    pub fn output(
        &mut self,
        heads: Vec<NodeId>,
        w_o: Option<NodeId>,
        x: Option<NodeId>,
        roles: [NodeId; 3],
    ) -> Result<()> {
        let mut after = self.after(w_o, x, roles)?;
        if let (Projection::PerHead, Some(w_o), 2.., None, None) =
            (self.recipe.output.projection, after.w_o, heads.len(), after.gate, self.graph.at(Role::BO))
        {
            let last = self.projected_per_head(&heads, w_o, after)?;
            after.w_o = None;
            return self.finish(last, after);
        }
        // With one head the mixed values and the joined heads are the same node.
        let stages: &[Site] = match self.recipe.heads {
            1 => &[Site::Mixes, Site::Heads],
            _ => &[Site::Heads],
        };
        let stage = after.stage();
        let name = if after.is_nothing() { self.before_result() } else { stage.name().to_string() };
        let merged = name_before(self.recipe, stages, &name);
        let last = match self.recipe.heads {
            1 => self.graph.add(&merged, Op::Product, &heads)?,
            _ => self.merged(heads, if after.is_nothing() { Stage::Joined.name() } else { &merged })?,
        };
        let last = if self.recipe.heads > 1 && after.is_nothing() {
            self.graph.mark(last, Stage::Joined);
            self.graph.add(&merged, Op::Add, &[last])?
        } else {
            last
        };
        let last = altered(&mut self.graph, self.recipe, stages, &name, (last, 0))?;
        if !after.is_nothing() {
            self.graph.mark(last, stage);
        }
        self.finish(last, after)
    }

    /// The name of the result before an alteration of it.
    fn before_result(&self) -> String {
        name_before(self.recipe, &[Site::Result], Stage::Output.name())
    }

    /// The steps after the heads.
    pub fn after(&self, w_o: Option<NodeId>, x: Option<NodeId>, roles: [NodeId; 3]) -> Result<OutputSteps> {
        let residual = match (self.recipe.output.residual, self.recipe.output.addition, x) {
            (true, Residual::Of(role), _) => Some(roles[role as usize]),
            (true, _, None) => {
                return Err(
                    Error::new("there is no X to add to the result").help("--residual needs --x or --words")
                );
            }
            (true, _, Some(x)) => Some(x),
            (false, ..) => None,
        };
        let gate = self.graph.at(Role::Gate).filter(|_| self.recipe.gate != Gating::Missing);
        Ok(OutputSteps { gate, w_o: w_o.filter(|_| self.recipe.output.projected), residual })
    }

    /// Applies the gate and the output projection, and adds the residual.
    pub fn finish(&mut self, mut last: NodeId, after: OutputSteps) -> Result<()> {
        let OutputSteps { gate, w_o, residual } = after;
        let result = self.before_result();
        if let Some(gate) = gate {
            last = self.gated(last, gate)?;
            if w_o.is_none() && residual.is_none() {
                last = self.graph.add(&result, Op::Add, &[last])?;
            }
        }
        let addition = self.recipe.output.addition;
        let inside = matches!(addition, Residual::Inside | Residual::InsideAndAfter);
        if let (true, Some(x)) = (inside, residual) {
            last = self.graph.add(if w_o.is_some() { "C_and_X" } else { &result }, Op::Add, &[x, last])?;
        }
        let residual = residual.filter(|_| addition != Residual::Inside);
        if let Some(w_o) = w_o {
            let ((_, width), weights) = (self.shape(last), self.graph[w_o].shape());
            let (op, side, length) = match self.recipe.output.projection {
                Projection::Transposed => (Op::ProductTransposed, "columns", weights.cols),
                _ => (Op::Product, "rows", weights.rows),
            };
            if length != width {
                let heads = counted(width, "column");
                return Err(Error::new(format!("W_O is {weights}, but the heads together have {heads}"))
                    .help(format!("give W_O {width} {side}, one for each of these columns")));
            }
            if self.recipe.output.projection == Projection::Twice {
                last = self.graph.add("P_once", Op::Product, &[last, w_o])?;
            }
            let name = name_before(self.recipe, &[Site::Projected], Stage::Projected.name());
            let name = if residual.is_none() { &result } else { &name };
            last = self.projected_with(name, op, [last, w_o], self.graph.at(Role::BO))?;
            if residual.is_some() {
                let stages = &[Site::Projected];
                last = altered(&mut self.graph, self.recipe, stages, Stage::Projected.name(), (last, 0))?;
            }
            self.graph.mark(last, Stage::Projected);
        }
        if let Some(x) = residual {
            let (tokens, shape) = (self.graph[x].shape(), self.graph[last].shape());
            if tokens != shape {
                return Err(Error::new(format!(
                    "X is {tokens}, but the result is {shape}: they cannot be added"
                ))
                .help(format!("make the result {tokens} with another W_V or W_O, or leave out --residual")));
            }
            last = self.with_residual(&result, x, last)?;
        }
        let name = Stage::Output.name();
        let last = if self.attends_again() {
            self.attended_again(last)?
        } else {
            altered(&mut self.graph, self.recipe, &[Site::Result], name, (last, 0))?
        };
        self.graph.mark(last, Stage::Output);
        Ok(())
    }

    /// The result with the residual, in the recipe's way of adding it.
    fn with_residual(&mut self, name: &str, x: NodeId, last: NodeId) -> Result<NodeId> {
        let graph = &mut self.graph;
        match self.recipe.output.addition {
            Residual::Added | Residual::Inside | Residual::InsideAndAfter | Residual::Of(_) => {
                graph.add(name, Op::Add, &[x, last])
            }
            Residual::Twice => graph.add(name, Op::Add, &[x, x, last]),
            Residual::Subtracted => graph.add(name, Op::Subtract, &[last, x]),
            Residual::SubtractedFrom => graph.add(name, Op::Subtract, &[x, last]),
            Residual::Multiplied => graph.add(name, Op::Multiply, &[last, x]),
            Residual::LayerNormed => {
                let normed = graph.add("X_normed", Op::LayerNorm(EPSILON), &[x])?;
                graph.add(name, Op::Add, &[normed, last])
            }
            Residual::RmsNormed => {
                let normed = graph.add("X_normed", Op::RmsNorm(EPSILON), &[x])?;
                graph.add(name, Op::Add, &[normed, last])
            }
        }
    }

    /// Each head times its own block of W_O, side by side.
    fn projected_per_head(&mut self, heads: &[NodeId], w_o: NodeId, after: OutputSteps) -> Result<NodeId> {
        let (count, (_, width), (_, cols)) = (heads.len(), self.shape(heads[0]), self.shape(w_o));
        let mut parts = Vec::new();
        for (head, &mix) in heads.iter().enumerate() {
            let rows = Op::Rows { start: head * width, count: width };
            let rows = self.graph.add(&format!("W_O_rows_{}", head + 1), rows, &[w_o])?;
            let block = Op::Columns { start: head * (cols / count), count: cols / count };
            let block = self.graph.add(&format!("W_O_block_{}", head + 1), block, &[rows])?;
            parts.push(self.graph.add(&format!("P_{}", head + 1), Op::Product, &[mix, block])?);
        }
        let projected = || Stage::Projected.name().to_string();
        let name = if after.residual.is_some() { projected() } else { self.before_result() };
        let id = self.graph.add(&name, Op::Concatenate, &parts)?;
        self.graph.mark(id, Stage::Projected);
        Ok(id)
    }

    /// The joined heads.
    pub fn merged(&mut self, mut heads: Vec<NodeId>, name: &str) -> Result<NodeId> {
        match self.recipe.merge {
            Merge::SideBySide => self.graph.add(name, Op::Concatenate, &heads),
            Merge::Reversed => {
                heads.reverse();
                self.graph.add(name, Op::Concatenate, &heads)
            }
            Merge::Summed => self.graph.add(name, Op::Add, &heads),
            Merge::Averaged => {
                let sum = self.graph.add("C_sum", Op::Add, &heads)?;
                self.graph.add(name, Op::Scale(Factor::Inverse(heads.len())), &[sum])
            }
            Merge::Stacked => self.graph.add(name, Op::Stack(None), &heads),
            Merge::TokenByToken => {
                let whole = self.graph.add("C_whole", Op::Concatenate, &heads)?;
                let (rows, width) = self.shape(whole);
                let shape = Op::Reshape { rows: rows * heads.len(), cols: width / heads.len() };
                self.graph.add(name, shape, &[whole])
            }
            Merge::Reshaped => {
                let stacked = self.graph.add("C_stacked", Op::Stack(None), &heads)?;
                let (rows, width) = self.shape(stacked);
                let shape = Op::Reshape { rows: rows / heads.len(), cols: width * heads.len() };
                self.graph.add(name, shape, &[stacked])
            }
            Merge::ByColumn => {
                let (rows, width) = self.shape(heads[0]);
                let mut columns = Vec::new();
                for (head, &mix) in heads.iter().enumerate() {
                    let column = Op::Reshape { rows: rows * width, cols: 1 };
                    columns.push(self.graph.add(&format!("C_column_{}", head + 1), column, &[mix])?);
                }
                let beside = self.graph.add("C_columns", Op::Concatenate, &columns)?;
                self.graph.add(name, Op::Reshape { rows, cols: width * heads.len() }, &[beside])
            }
        }
    }
}

// The output gate.

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
