//! The steps after the heads: joining, output projection, residual.

use crate::error::{Error, Result};
use crate::graph::{Factor, NodeId, Op, Role, Stage};
use crate::text::counted;

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
        let is_one = self.recipe.heads == 1;
        // With one head the mixed values and the joined heads are the same node.
        let sites = if is_one { &[Site::Mixes, Site::Heads][..] } else { &[Site::Heads] };
        let stage = after.stage();
        let name = if after.is_nothing() { self.before_result() } else { stage.name().to_string() };
        let merged = self.name_before(sites, &name);
        let last = if is_one {
            self.graph.add(&merged, Op::Product, &heads)?
        } else if after.is_nothing() {
            let last = self.merged(heads, Stage::Joined.name())?;
            self.graph.mark(last, Stage::Joined);
            self.graph.add(&merged, Op::Add, &[last])?
        } else {
            self.merged(heads, &merged)?
        };
        let last = self.altered(sites, &name, last)?;
        if !after.is_nothing() {
            self.graph.mark(last, stage);
        }
        self.finish(last, after)
    }

    /// The name of the result before an alteration of it.
    fn before_result(&self) -> String {
        self.name_before(&[Site::Result], Stage::Output.name())
    }

    /// The steps after the heads.
    pub fn after(&self, w_o: Option<NodeId>, x: Option<NodeId>, roles: [NodeId; 3]) -> Result<OutputSteps> {
        let residual = match (self.recipe.output.addition, x) {
            _ if !self.recipe.output.residual => None,
            (Residual::Of(role), _) => Some(roles[role as usize]),
            (_, Some(x)) => Some(x),
            (_, None) => {
                return Err(
                    Error::new("there is no X to add to the result").help("--residual needs --x or --words")
                );
            }
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
            last = self.projected(last, w_o, residual.is_none().then_some(&*result))?;
        }
        if let Some(x) = residual {
            let (tokens, shape) = (self.shape(x), self.shape(last));
            if tokens != shape {
                return Err(Error::new(format!(
                    "X is {tokens}, but the result is {shape}: they cannot be added"
                ))
                .help(format!("make the result {tokens} with another W_V or W_O, or leave out --residual")));
            }
            last = self.with_residual(&result, x, last)?;
        }
        last = match self.attends_again() {
            true => self.attended_again(last)?,
            false => self.altered(&[Site::Result], Stage::Output.name(), last)?,
        };
        self.graph.mark(last, Stage::Output);
        Ok(())
    }

    /// The joined heads times W_O, under the name of the result or its own.
    fn projected(&mut self, mut last: NodeId, w_o: NodeId, result: Option<&str>) -> Result<NodeId> {
        let (width, weights) = (self.shape(last).cols, self.shape(w_o));
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
        let (own, sites) = (Stage::Projected.name(), [Site::Projected]);
        let name = result.map_or_else(|| self.name_before(&sites, own), str::to_string);
        last = self.projected_with(&name, op, [last, w_o], self.graph.at(Role::BO))?;
        if result.is_none() {
            last = self.altered(&sites, own, last)?;
        }
        self.graph.mark(last, Stage::Projected);
        Ok(last)
    }

    /// The result with the residual, in the recipe's way of adding it.
    fn with_residual(&mut self, name: &str, x: NodeId, last: NodeId) -> Result<NodeId> {
        let mut normed =
            |norm: Op| -> Result<Vec<NodeId>> { Ok(vec![self.graph.add("X_normed", norm, &[x])?, last]) };
        let (op, inputs) = match self.recipe.output.addition {
            Residual::Added | Residual::Inside | Residual::InsideAndAfter | Residual::Of(_) => {
                (Op::Add, vec![x, last])
            }
            Residual::Twice => (Op::Add, vec![x, x, last]),
            Residual::Subtracted => (Op::Subtract, vec![last, x]),
            Residual::SubtractedFrom => (Op::Subtract, vec![x, last]),
            Residual::Multiplied => (Op::Multiply, vec![last, x]),
            Residual::LayerNormed => (Op::Add, normed(Op::LayerNorm(EPSILON))?),
            Residual::RmsNormed => (Op::Add, normed(Op::RmsNorm(EPSILON))?),
        };
        self.graph.add(name, op, &inputs)
    }

    /// Each head times its own block of W_O, side by side.
    fn projected_per_head(&mut self, heads: &[NodeId], w_o: NodeId, after: OutputSteps) -> Result<NodeId> {
        let (width, count) = (self.shape(heads[0]).cols, self.shape(w_o).cols / heads.len());
        let mut parts = Vec::new();
        for (head, &mix) in heads.iter().enumerate() {
            let mut add = |name: &str, op: Op, inputs: &[NodeId]| {
                self.graph.add(&format!("{name}_{}", head + 1), op, inputs)
            };
            let rows = add("W_O_rows", Op::Rows { start: head * width, count: width }, &[w_o])?;
            let block = add("W_O_block", Op::Columns { start: head * count, count }, &[rows])?;
            parts.push(add("P", Op::Product, &[mix, block])?);
        }
        let name = match after.residual {
            Some(_) => Stage::Projected.name().to_string(),
            None => self.before_result(),
        };
        let id = self.graph.add(&name, Op::Concatenate, &parts)?;
        self.graph.mark(id, Stage::Projected);
        Ok(id)
    }

    /// The joined heads.
    pub fn merged(&mut self, mut heads: Vec<NodeId>, name: &str) -> Result<NodeId> {
        let (count, own) = (heads.len(), self.shape(heads[0]));
        let (height, width) = (own.rows, own.cols);
        let (op, inputs) = match self.recipe.merge {
            Merge::SideBySide => (Op::Concatenate, heads),
            Merge::Reversed => {
                heads.reverse();
                (Op::Concatenate, heads)
            }
            Merge::Summed => (Op::Add, heads),
            Merge::Averaged => {
                (Op::Scale(Factor::Inverse(count)), vec![self.graph.add("C_sum", Op::Add, &heads)?])
            }
            Merge::Stacked => (Op::Stack(None), heads),
            Merge::TokenByToken => {
                let whole = self.graph.add("C_whole", Op::Concatenate, &heads)?;
                (Op::Reshape { rows: height * count, cols: width }, vec![whole])
            }
            Merge::Reshaped => {
                let stacked = self.graph.add("C_stacked", Op::Stack(None), &heads)?;
                (Op::Reshape { rows: height, cols: width * count }, vec![stacked])
            }
            Merge::ByColumn => {
                let column = Op::Reshape { rows: height * width, cols: 1 };
                let of_head = |(head, mix): (usize, &NodeId)| {
                    self.graph.add(&format!("C_column_{head}"), column.clone(), &[*mix])
                };
                let columns = (1..).zip(&heads).map(of_head).collect::<Result<Vec<_>>>()?;
                let beside = self.graph.add("C_columns", Op::Concatenate, &columns)?;
                (Op::Reshape { rows: height, cols: width * count }, vec![beside])
            }
        };
        self.graph.add(name, op, &inputs)
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
        let (gates, joined_heads, tokens) = (self.shape(w_g), self.shape(joined), self.shape(x));
        let (width, heads) = (joined_heads.cols, self.recipe.heads);
        if gates.rows != tokens.cols {
            let columns = counted(tokens.cols, "column");
            return Err(Error::new(format!("W_g is {gates}, but X has {columns}"))
                .help(format!("give W_g {}, one for each column of X", counted(tokens.cols, "row"))));
        }
        if tokens.rows != joined_heads.rows {
            let (rows, others) = (counted(tokens.rows, "row"), joined_heads.rows);
            return Err(Error::new(format!(
                "X has {rows}, but the result has {others}: each row needs a gate"
            )));
        }
        if gates.cols != width && gates.cols != heads {
            let columns = counted(width, "column");
            return Err(Error::new(format!("W_g is {gates}, but the heads together have {columns}")).help(
                format!("give W_g {width} columns, one for each of these, or {heads}: one for each head"),
            ));
        }
        let mut gate = self.step(Stage::GateInput, (Op::Product, vec![x, w_g]))?;
        if self.recipe.gate != Gating::WithoutSigmoid {
            gate = self.step(Stage::Gate, (Op::Sigmoid, vec![gate]))?;
        }
        if gates.cols != width {
            gate = self.graph.add("G_of_columns", Op::RepeatColumns(width / heads.max(1)), &[gate])?;
        }
        self.step(Stage::Gated, (Op::Multiply, vec![joined, gate]))
    }
}
