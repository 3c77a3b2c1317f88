//! The graph of a whole attention pipeline, every intermediate a node.

use super::alter::{self, Alter, altered};
use super::choices::ScoreRows;
use super::forecast;
use super::head_cache::{HeadCache, StepsOfHeads};
use super::inputs::AttendInputs;
use super::recipe::Recipe;
use crate::attention::{MatrixRule, added_out_of_range};
use crate::error::{Error, Result};
use crate::graph::{Given, Graph, MAX_CELLS, NodeId, Role};
use crate::matrix::{Labels, Matrix};
use crate::text::counted;

/// Builds and runs the pipeline: `Q K V`, per head scores, scale, bias, temperature, mask, weights and mix, then the
/// concatenation `C`, the output projection, the residual, and `O` last.
///
/// Per head the nodes carry its number (`Q_1 S_1 A_1 O_1`); with one head they have none.
///
/// # Errors
/// If matrices are missing or do not fit, or more than [`MAX_CELLS`] numbers would be recorded.
pub fn attend(recipe: &Recipe, inputs: AttendInputs) -> Result<Graph> {
    match attend_as_far_as_possible(recipe, inputs) {
        (graph, None) => Ok(graph),
        (_, Some(error)) => Err(error),
    }
}

/// As [`attend`], in a graph that is prepared: with other numbers, or after one whose steps need not be computed again.
///
/// # Errors
/// Those of [`attend`].
pub fn attend_in(graph: Graph, recipe: &Recipe, inputs: AttendInputs) -> Result<Graph> {
    let mut pipeline = Pipeline { graph, recipe, past: None, steps: StepsOfHeads::Kept };
    pipeline.run(inputs)?;
    pipeline.graph.warn_of_range();
    Ok(pipeline.graph)
}

/// As [`attend`], but an impossible step ends the graph: returns the steps before it and the error. A recipe with a mistake may
/// have such a step.
pub fn attend_as_far_as_possible(recipe: &Recipe, inputs: AttendInputs) -> (Graph, Option<Error>) {
    let mut pipeline = Pipeline { graph: Graph::new(), recipe, past: None, steps: StepsOfHeads::Kept };
    let error = pipeline.run(inputs).err();
    pipeline.graph.warn_of_range();
    (pipeline.graph, error)
}

/// The nodes that every head reads.
#[derive(Clone, Copy)]
pub(super) struct SharedNodes {
    pub q: NodeId,
    pub k: NodeId,
    pub mixed: NodeId,
    /// The roles whose numbers serve as queries, keys and values; normally Q, K and V.
    pub roles: [Role; 3],
    pub bias: Option<NodeId>,
    pub mask: Option<NodeId>,
}

/// A pipeline under construction, step by step or fused.
pub(super) struct Pipeline<'a> {
    pub graph: Graph,
    pub recipe: &'a Recipe,
    /// The keys and values of earlier tokens, where there are some.
    pub past: Option<HeadCache>,
    /// What stays of the steps of each head.
    pub steps: StepsOfHeads<'a>,
}

impl Pipeline<'_> {
    fn run(&mut self, mut inputs: AttendInputs) -> Result<()> {
        self.check(inputs.mask.is_some())?;
        forecast::check(self.recipe, &inputs)?;
        let mechanisms = inputs.take_mechanisms();
        let AttendInputs {
            x, w_q, w_k, w_v, w_o, q, k, v, mask, bias, shift, tokens, instead, backward, ..
        } = inputs;
        self.graph.take_instead(instead);
        let named = |given| named(given, tokens.as_ref());
        let x = self.optional(Role::X, x.map(named))?;
        let mut mask = mask;
        if self.zeroes_padding() {
            self.optional(Role::Mask, mask.take())?;
        }
        let stages = [alter::Site::Tokens, alter::Site::TokensAndResidual];
        let name = Role::X.name();
        let read = x.map(|x| altered(&mut self.graph, self.recipe, &stages, name, (x, 0))).transpose()?;
        self.reads_tokens([&q, &k, &v].into_iter().any(Option::is_none))?;
        let (x, read) = match self.positioned(read)? {
            // The residual stream holds the positions, too.
            positioned if positioned != read => (positioned, positioned),
            _ => (x, read),
        };
        let own = [
            self.role(Role::Q, q.map(named), read, w_q)?,
            self.role(Role::K, k.map(named), read, w_k)?,
            self.role(Role::V, v.map(named), read, w_v)?,
        ];
        let ([q, k, mixed], roles) = self.serving(own, read)?;
        self.fit(q, k, mixed)?;
        self.room_for_all(q, k, mixed)?;
        self.mechanisms(mechanisms)?;
        let bias = self.optional(Role::Bias, bias)?;
        self.fits_scores("bias", bias, [q, k])?;
        let mask = self.optional(Role::Mask, mask)?.or_else(|| self.graph.at(Role::Mask));
        if self.recipe.comparison == ScoreRows::QueriesWithKeys {
            self.fits_scores("mask", mask, [q, k])?;
            self.check_additions(bias, mask)?;
            self.check_bias_under_cap(bias)?;
        }
        let w_o = self.optional(Role::WO, w_o)?;
        shift.map(|Given { tensor, origin }| self.graph.given("b", tensor, origin)).transpose()?;
        let heads = self.heads(SharedNodes { q, k, mixed, roles, bias, mask })?;
        let with_residual =
            |alteration: super::Alteration| alteration.stage == alter::Site::TokensAndResidual;
        let x = if self.recipe.alteration.is_some_and(with_residual) { read } else { x };
        let w_o = w_o.map(|w_o| self.altered(alter::Site::OutputWeights, Role::WO, w_o)).transpose()?;
        let x = x.map(|x| self.altered(alter::Site::Residual, Role::X, x)).transpose()?;
        self.output(heads, w_o, x, own)?;
        backward.map_or(Ok(()), |pass| pass.add(&mut self.graph))
    }

    /// The node of a role, after the recipe's alteration at this site, if it has one.
    fn altered(&mut self, at: alter::Site, role: Role, node: NodeId) -> Result<NodeId> {
        altered(&mut self.graph, self.recipe, &[at], role.name(), (node, 0))
    }

    /// Whether the key mask sets rows of tokens to 0 instead of hiding keys.
    fn zeroes_padding(&self) -> bool {
        self.recipe.alteration.is_some_and(|alteration| matches!(alteration.alter, Alter::PaddingZeroed(_)))
    }

    /// Checks the recipe before any node is recorded.
    pub fn check(&self, has_mask: bool) -> Result<()> {
        self.recipe.check()?;
        if self.recipe.mask.matrix.is_some() != has_mask && !self.zeroes_padding() {
            return Err(Error::new(
                "a mask matrix needs a rule that says what its numbers mean, and a rule needs a matrix",
            ));
        }
        Ok(())
    }

    /// Checks that a bias or mask has a cell for each query and key.
    pub fn fits_scores(&self, what: &str, beside: Option<NodeId>, [q, k]: [NodeId; 2]) -> Result<()> {
        let scores = (self.shape(q).0, self.shape(k).0);
        match beside.filter(|&beside| self.shape(beside) != scores) {
            None => Ok(()),
            Some(beside) => {
                let ((queries, keys), shape) = (scores, self.graph[beside].shape());
                Err(Error::new(format!("the {what} is {shape}, but the scores are {queries}×{keys}"))
                    .help(format!("give the {what} a row for each query and a column for each key")))
            }
        }
    }

    /// Checks that no bias hides a key where a soft-cap follows it.
    pub fn check_bias_under_cap(&self, bias: Option<NodeId>) -> Result<()> {
        let tensor = bias.and_then(|bias| self.graph[bias].tensor());
        let hides = tensor.is_some_and(|tensor| tensor.cells().any(|x| x == f64::NEG_INFINITY));
        if !hides || self.recipe.soft_cap.is_none() {
            return Ok(());
        }
        Err(Error::new("a bias of -inf hides no key here: the soft-cap comes after it")
            .help("hide keys with --mask, which comes after the soft-cap"))
    }

    /// Checks that bias and mask are within the range of the scores, as the fused kernel does.
    fn check_additions(&self, bias: Option<NodeId>, mask: Option<NodeId>) -> Result<()> {
        let cells = |id: NodeId| self.graph.matrix(id).map(Matrix::cells);
        let (Some(bias), temperature) = (bias, self.recipe.temperature) else { return Ok(()) };
        let is_added = self.recipe.mask.matrix == Some(MatrixRule::Add) && !self.recipe.mask.inverted;
        let is_too_large = match mask.filter(|_| is_added) {
            Some(mask) => {
                cells(bias)?.zip(cells(mask)?).any(|(bias, mask)| bias / temperature + mask == f64::INFINITY)
            }
            None => cells(bias)?.any(|bias| bias / temperature == f64::INFINITY),
        };
        if is_too_large { Err(added_out_of_range(f64::INFINITY, "f64")) } else { Ok(()) }
    }

    /// Records the given tensor of a role.
    pub fn given(&mut self, role: Role, Given { tensor, origin }: Given) -> Result<NodeId> {
        let id = self.graph.given(role.name(), tensor, origin)?;
        self.graph.mark(id, role);
        Ok(id)
    }

    /// Records the given tensor of a role, if there is one.
    pub fn optional(&mut self, role: Role, given: Option<Given>) -> Result<Option<NodeId>> {
        given.map(|given| self.given(role, given)).transpose()
    }

    pub fn shape(&self, id: NodeId) -> (usize, usize) {
        (self.graph[id].shape().rows, self.graph[id].shape().cols)
    }

    /// Checks that Q, K and V fit each other and the heads.
    pub fn fit(&self, q: NodeId, k: NodeId, mixed: NodeId) -> Result<()> {
        let (heads, groups) = (self.recipe.heads, self.recipe.kv_heads);
        let ((t, q_width), (n, k_width), (v_rows, v_width)) =
            (self.shape(q), self.shape(k), self.shape(mixed));
        for (name, width, heads) in [("Q", q_width, heads), ("K", k_width, groups), ("V", v_width, groups)] {
            if width == 0 || width % heads != 0 {
                return Err(Error::new(format!(
                    "the {} of {name} cannot be split into {}",
                    counted(width, "column"),
                    counted(heads, "head")
                ))
                .help(format!("give a number of heads that divides the width of {name}")));
            }
        }
        if q_width / heads != k_width / groups {
            return Err(Error::new(format!(
                "a query of width {} cannot be compared with a key of width {}: Q is {t}×{q_width} (heads: {heads}), \
                 K is {n}×{k_width} (heads: {groups})",
                q_width / heads,
                k_width / groups
            ))
            .help("give queries and keys of the same width per head (see --heads and --kv-heads)"));
        }
        if n != v_rows {
            return Err(Error::new(format!(
                "{} but {}, and each key needs one value: K is {n}×{k_width}, V is {v_rows}×{v_width}",
                counted(n, "key"),
                counted(v_rows, "value")
            ))
            .help("give K and V the same number of rows, one for each token"));
        }
        Ok(())
    }

    /// Checks that the steps of all heads together have at most [`MAX_CELLS`] numbers.
    fn room_for_all(&self, q: NodeId, k: NodeId, mixed: NodeId) -> Result<()> {
        let (heads, groups) = (self.recipe.heads, self.recipe.kv_heads);
        let ((t, q_width), (n, _), (_, v_width)) = (self.shape(q), self.shape(k), self.shape(mixed));
        let per_head = 3 * t as u128 * n as u128 + (t * q_width / heads) as u128;
        let cells = heads as u128 * per_head + (t * v_width / groups * heads) as u128;
        if cells > MAX_CELLS as u128 {
            return Err(Error::new(format!(
                "recording every step of {} over {} and {} takes {cells} numbers, more than the limit of \
                 {MAX_CELLS}",
                counted(heads, "head"),
                counted(t, "query"),
                counted(n, "key")
            ))
            .help("give fewer tokens or heads, or use --fast, which does not store the steps"));
        }
        Ok(())
    }
}

/// A given tensor with the tokens' names as labels of its rows, where there are names.
pub(super) fn named(Given { tensor, origin }: Given, tokens: Option<&Labels>) -> Given {
    let (rows, cols) = (tokens.or(tensor.row_labels()).cloned(), tensor.col_labels().cloned());
    Given { tensor: tensor.labelled(rows, cols), origin }
}
