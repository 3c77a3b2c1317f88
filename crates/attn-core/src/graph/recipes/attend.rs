//! The graph of a whole attention pipeline, every intermediate a node.

use std::collections::BTreeMap;

use crate::attention::{MatrixRule, WeightLayout, added_out_of_range};
use crate::error::{Error, Result};
use crate::graph::{BackwardPass, Given, Graph, MAX_CELLS, Node, NodeId, Op, Origin, Role};
use crate::matrix::{Labels, Matrix};
use crate::tensor::Tensor;
use crate::text::counted;

use super::alter::altered;
use super::alteration::{Alter, Site};
use super::recipe::{Biasing, NormPlace, PositionKind, Projection, Qkv, QkvSource, Recipe, ScoreRows};
use super::weights::BiasAndMask;

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
    let mut pipeline = Pipeline::new(graph, recipe);
    pipeline.run(inputs)?;
    pipeline.graph.warn_of_range();
    Ok(pipeline.graph)
}

/// As [`attend`], but an impossible step ends the graph: returns the steps before it and the error. A recipe with a mistake may
/// have such a step.
pub fn attend_as_far_as_possible(recipe: &Recipe, inputs: AttendInputs) -> (Graph, Option<Error>) {
    let mut pipeline = Pipeline::new(Graph::new(), recipe);
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
}

/// What a pipeline has before its heads.
pub(super) struct Start {
    pub sources: SharedNodes,
    /// The correct queries, keys and values.
    pub own: [NodeId; 3],
    pub w_o: Option<NodeId>,
    /// The tokens that are added to the result.
    pub x: Option<NodeId>,
}

/// A tensor in the type of the fused kernel.
pub(super) type InType = fn(Tensor) -> Result<Tensor>;

/// A pipeline under construction, step by step or fused.
pub(super) struct Pipeline<'a> {
    pub graph: Graph,
    pub recipe: &'a Recipe,
    /// The keys and values of earlier tokens, where there are some.
    pub past: Option<HeadCache>,
    /// What stays of the steps of each head.
    pub steps: StepsOfHeads<'a>,
    /// On the fast path, the type of given queries, keys, values, bias and mask: its kernel does what lies between them and the
    /// mixed values, and these steps are never formed.
    pub kernel: Option<InType>,
}

impl<'a> Pipeline<'a> {
    /// A pipeline that forms and keeps every step.
    pub fn new(graph: Graph, recipe: &'a Recipe) -> Pipeline<'a> {
        Pipeline { graph, recipe, past: None, steps: StepsOfHeads::Kept, kernel: None }
    }
}

impl Pipeline<'_> {
    fn run(&mut self, mut inputs: AttendInputs) -> Result<()> {
        self.check(inputs.mask.is_some())?;
        check_room(self.recipe, &inputs)?;
        let backward = inputs.backward.take();
        let Start { sources, own, w_o, x } = self.start(inputs)?;
        let heads = self.heads(sources)?;
        let w_o = w_o.map(|w_o| self.altered(Site::OutputWeights, Role::WO, w_o)).transpose()?;
        let x = x.map(|x| self.altered(Site::Residual, Role::X, x)).transpose()?;
        self.output(heads, w_o, x, own)?;
        backward.map_or(Ok(()), |pass| pass.add(&mut self.graph))
    }

    /// Records what comes before the heads: given matrices, projections, and on the fast path norms and rotations.
    pub fn start(&mut self, mut inputs: AttendInputs) -> Result<Start> {
        let mechanisms = inputs.take_mechanisms();
        let AttendInputs {
            x,
            w_q,
            w_k,
            w_v,
            w_o,
            b_q,
            b_k,
            b_v,
            b_o,
            q,
            k,
            v,
            mut mask,
            bias,
            shift,
            tokens,
            instead,
            ..
        } = inputs;
        self.graph.take_instead(instead);
        let named = |given| named(given, tokens.as_ref());
        let x = self.optional(Role::X, x.map(named))?;
        if self.zeroes_padding() {
            self.optional(Role::Mask, mask.take())?;
        }
        let stages = [Site::Tokens, Site::TokensAndResidual];
        let name = Role::X.name();
        let read = x.map(|x| altered(&mut self.graph, self.recipe, &stages, name, (x, 0))).transpose()?;
        self.reads_tokens([&q, &k, &v].into_iter().any(Option::is_none))?;
        let (x, read) = match self.positioned(read)? {
            // The residual stream holds the positions, too.
            positioned if positioned != read => (positioned, positioned),
            _ => (x, read),
        };
        let own = [
            self.role(Role::Q, q.map(named), read, [w_q, b_q])?,
            self.role(Role::K, k.map(named), read, [w_k, b_k])?,
            self.role(Role::V, v.map(named), read, [w_v, b_v])?,
        ];
        let ([q, k, mixed], roles) = self.serving(own, read)?;
        self.fit(q, k, mixed)?;
        self.mechanisms(mechanisms)?;
        let [q, k] = self.prepared_whole([q, k])?;
        self.beside_scores(Role::Bias, bias, [q, k])?;
        self.beside_scores(Role::Mask, mask, [q, k])?;
        if self.recipe.comparison == ScoreRows::QueriesWithKeys {
            self.check_additions()?;
            self.check_bias_under_cap()?;
        }
        let w_o = self.optional(Role::WO, w_o)?;
        self.output_bias(w_o, b_o)?;
        shift.map(|Given { tensor, origin }| self.graph.given("b", tensor, origin)).transpose()?;
        let with_residual = self.recipe.alteration.is_some_and(|own| own.stage == Site::TokensAndResidual);
        let x = if with_residual { read } else { x };
        Ok(Start { sources: SharedNodes { q, k, mixed, roles }, own, w_o, x })
    }

    /// The node of a role, after the recipe's alteration at this site, if it has one.
    fn altered(&mut self, at: Site, role: Role, node: NodeId) -> Result<NodeId> {
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

    /// Checks that no bias hides a key where a soft-cap follows it.
    fn check_bias_under_cap(&self) -> Result<()> {
        let tensor = self.graph.at(Role::Bias).and_then(|bias| self.graph[bias].tensor());
        let hides = tensor.is_some_and(|tensor| tensor.cells().any(|x| x == f64::NEG_INFINITY));
        if !hides || self.recipe.soft_cap.is_none() {
            return Ok(());
        }
        Err(Error::new("a bias of -inf hides no key here: the soft-cap comes after it")
            .help("hide keys with --mask, which comes after the soft-cap"))
    }

    /// Checks that bias and mask are within the range of the scores, as the fused kernel does by itself.
    fn check_additions(&self) -> Result<()> {
        let cells = |id: NodeId| self.graph.matrix(id).map(Matrix::cells);
        let is_added = self.recipe.mask.matrix == Some(MatrixRule::Add) && !self.recipe.mask.inverted;
        for head in (1..=self.recipe.heads).filter(|_| self.kernel.is_none()) {
            let BiasAndMask { bias, mask } = BiasAndMask::of_head(&self.graph, Some(head));
            let (Some(bias), temperature) = (bias, self.recipe.temperature) else { return Ok(()) };
            let is_too_large = match mask.filter(|_| is_added) {
                Some(mask) => cells(bias)?
                    .zip(cells(mask)?)
                    .any(|(bias, mask)| bias / temperature + mask == f64::INFINITY),
                None => cells(bias)?.any(|bias| bias / temperature == f64::INFINITY),
            };
            if is_too_large {
                return Err(added_out_of_range(f64::INFINITY, "f64"));
            }
        }
        Ok(())
    }

    /// Records the given tensor of a role.
    pub fn given(&mut self, role: Role, Given { tensor, origin }: Given) -> Result<NodeId> {
        let is_truth = role == Role::Mask
            && matches!(self.recipe.mask.matrix, Some(MatrixRule::Allow | MatrixRule::Block));
        let id = match self.kernel.filter(|_| role.has_heads() || role.is_beside_scores()) {
            None => self.graph.given(role.name(), tensor, origin)?,
            Some(in_type) => {
                let in_type = if is_truth { Tensor::in_type::<bool> } else { in_type };
                let numbers = in_type(tensor).map_err(|error| error.in_source(role.name()))?;
                self.graph.record(role.name(), Op::Given(origin), &[], numbers)?
            }
        };
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
            check_split(name, width, heads)?;
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
}

/// Checks that the columns of a matrix can be shared out evenly.
pub(super) fn check_split(name: &str, width: usize, heads: usize) -> Result<()> {
    if heads > 0 && width > 0 && width.is_multiple_of(heads) {
        return Ok(());
    }
    Err(Error::new(format!(
        "the {} of {name} cannot be split into {}",
        counted(width, "column"),
        counted(heads, "head")
    ))
    .help(format!("give a number of heads that divides the width of {name}")))
}

/// A given tensor with the tokens' names as labels of its rows, where there are names.
pub(super) fn named(Given { tensor, origin }: Given, tokens: Option<&Labels>) -> Given {
    let (rows, cols) = (tokens.or(tensor.row_labels()).cloned(), tensor.col_labels().cloned());
    Given { tensor: tensor.labelled(rows, cols), origin }
}

// Keys and values of earlier tokens.

/// The keys and values that a layer has computed, as its heads read them: keys normed and rotated. A key/value cache keeps them for
/// the tokens to come.
#[derive(Clone, Debug, Default)]
pub struct HeadCache {
    /// The keys of each key/value head, a row for each token.
    pub keys: Vec<Tensor>,
    /// The values of each key/value head.
    pub values: Vec<Tensor>,
}

/// Looks at the weights of a head, counted from 1.
pub(crate) type LookAtWeights<'a> = &'a dyn Fn(usize, &Tensor);

/// What stays of the steps of each head.
#[derive(Clone, Copy, Default)]
pub(crate) enum StepsOfHeads<'a> {
    /// All of them stay recorded.
    #[default]
    Kept,
    /// None, once its weights have been looked at, where somebody looks.
    Forgotten(Option<LookAtWeights<'a>>),
}

impl StepsOfHeads<'_> {
    /// Returns true if they stay.
    pub fn are_kept(self) -> bool {
        matches!(self, StepsOfHeads::Kept)
    }
}

impl HeadCache {
    /// The number of tokens in it.
    pub fn tokens(&self) -> usize {
        self.keys.first().map_or(0, |keys| keys.shape().rows)
    }
}

// The inputs of a pipeline.

/// The inputs of a pipeline, on the exact path and on the fast one. Given Q, K and V replace the projections of X; without
/// weights, X itself serves as Q, K and V.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttendInputs {
    /// One row for each token.
    pub x: Option<Given>,
    /// (width of X, heads · d_k).
    pub w_q: Option<Given>,
    /// (width of X, key/value heads · d_k).
    pub w_k: Option<Given>,
    /// (width of X, key/value heads · d_v).
    pub w_v: Option<Given>,
    /// (heads · d_v, width of the result).
    pub w_o: Option<Given>,
    /// The bias that is added to each query, (1, heads · d_k).
    pub b_q: Option<Given>,
    /// The bias that is added to each key, (1, key/value heads · d_k).
    pub b_k: Option<Given>,
    /// The bias that is added to each value, (1, key/value heads · d_v).
    pub b_v: Option<Given>,
    /// The bias that is added after W_O, (1, width of the result).
    pub b_o: Option<Given>,
    /// T queries, (T, heads · d_k), or a stack of heads.
    pub q: Option<Given>,
    /// N keys, (N, key/value heads · d_k), or a stack of heads.
    pub k: Option<Given>,
    /// N values, (N, key/value heads · d_v), or a stack of heads.
    pub v: Option<Given>,
    /// The mask matrix, where the recipe has a rule for it: (T, N) for every head, or (T, heads · N), or a stack of heads.
    pub mask: Option<Given>,
    /// The bias that is added to the scores, likewise.
    pub bias: Option<Given>,
    /// The gains of the norm of the queries, (1, d_k) for each head alike, or (1, width of Q) for all heads together.
    pub query_gain: Option<Given>,
    /// The gains of the norm of the keys, likewise.
    pub key_gain: Option<Given>,
    /// The divisors of LongRoPE's frequencies, (1, rotated width / 2), or (2, …) for short and for long texts.
    pub divisors: Option<Given>,
    /// The table of T5's position biases, (buckets, heads).
    pub position_table: Option<Given>,
    /// A sink for each head, (1, heads).
    pub sink: Option<Given>,
    /// The weights of the output gate, (width of X, heads · d_v) or (width of X, heads).
    pub w_g: Option<Given>,
    /// A row of numbers that is added to every row of the result by mistake, (1, width of the result).
    pub shift: Option<Given>,
    /// Names of the tokens.
    pub tokens: Option<Labels>,
    /// Given nodes, by name, that replace computed ones.
    pub instead: BTreeMap<String, Given>,
    /// The backward pass after the result, where there is one. The fast path has none.
    pub backward: Option<BackwardPass>,
}

/// The place of a role among the inputs, borrowed in one way or the other.
macro_rules! place {
    ($inputs:expr, $role:expr, $($borrowed:tt)+) => {
        match $role {
            Role::X => $($borrowed)+ $inputs.x,
            Role::WQ => $($borrowed)+ $inputs.w_q,
            Role::WK => $($borrowed)+ $inputs.w_k,
            Role::WV => $($borrowed)+ $inputs.w_v,
            Role::WO => $($borrowed)+ $inputs.w_o,
            Role::BQ => $($borrowed)+ $inputs.b_q,
            Role::BK => $($borrowed)+ $inputs.b_k,
            Role::BV => $($borrowed)+ $inputs.b_v,
            Role::BO => $($borrowed)+ $inputs.b_o,
            Role::Q => $($borrowed)+ $inputs.q,
            Role::K => $($borrowed)+ $inputs.k,
            Role::V => $($borrowed)+ $inputs.v,
            Role::Mask => $($borrowed)+ $inputs.mask,
            Role::Bias => $($borrowed)+ $inputs.bias,
            Role::QueryGain => $($borrowed)+ $inputs.query_gain,
            Role::KeyGain => $($borrowed)+ $inputs.key_gain,
            Role::Divisors => $($borrowed)+ $inputs.divisors,
            Role::PositionTable => $($borrowed)+ $inputs.position_table,
            Role::Sink => $($borrowed)+ $inputs.sink,
            Role::Gate => $($borrowed)+ $inputs.w_g,
        }
    };
}

impl AttendInputs {
    /// Tokens alone: they serve as queries, keys and values.
    pub fn of_tokens(x: impl Into<Given>) -> AttendInputs {
        AttendInputs { x: Some(x.into()), ..AttendInputs::default() }
    }

    /// The given tensor of a role, if there is one.
    pub fn get(&self, role: Role) -> Option<&Given> {
        place!(self, role, &).as_ref()
    }

    /// Gives something for a role, in place of what was given before.
    pub fn set(&mut self, role: Role, given: impl Into<Given>) {
        *self.place(role) = Some(given.into());
    }

    /// Takes the given matrices of positions, norms, sinks and gates out.
    pub(super) fn take_mechanisms(&mut self) -> Vec<(Role, Given)> {
        let roles = Role::all().filter(|role| role.is_of_mechanism());
        roles.filter_map(|role| Some((role, self.place(role).take()?))).collect()
    }

    fn place(&mut self, role: Role) -> &mut Option<Given> {
        place!(self, role, &mut)
    }
}

// From tokens to queries, keys and values.

impl Pipeline<'_> {
    /// The source of Q, K or V.
    fn source(&self, role: Role) -> QkvSource {
        match role {
            Role::Q => self.recipe.roles.q,
            Role::K => self.recipe.roles.k,
            _ => self.recipe.roles.v,
        }
    }

    /// The nodes that serve as queries, keys and values, and the role that each belongs to: usually its own.
    pub fn serving(&self, [q, k, v]: [NodeId; 3], x: Option<NodeId>) -> Result<([NodeId; 3], [Role; 3])> {
        let serving = |role: Role, own: NodeId| match (self.source(role), x) {
            (QkvSource::Own | QkvSource::Transposed | QkvSource::From(_), _) => Ok((own, role)),
            (QkvSource::Of(other), _) => Ok(([q, k, v][other as usize], other.into())),
            (QkvSource::Tokens, Some(x)) => Ok((x, Role::X)),
            (QkvSource::Tokens, None) => Err(Error::new("there is no X to take")),
        };
        let [q, k, v] = [serving(Role::Q, q)?, serving(Role::K, k)?, serving(Role::V, v)?];
        Ok(([q.0, k.0, v.0], [q.1, k.1, v.1]))
    }

    /// Q, K or V: as given, or from X, its weights and its bias, or X itself.
    pub fn role(
        &mut self,
        role: Role,
        given: Option<Given>,
        x: Option<NodeId>,
        [weights, bias]: [Option<Given>; 2],
    ) -> Result<NodeId> {
        let name = role.name();
        if let Some(given) = given {
            if bias.is_some() {
                return Err(Error::new(format!("b_{name} is added to X W_{name}, but {name} is given"))
                    .help(format!("leave out b_{name}, or give X and W_{name} in place of {name}")));
            }
            return self.given(role, given);
        }
        let Some(x) = x else {
            return Err(Error::new(format!("there is no {name}, and no X to compute it from")).help(
                format!(
                    "type a sentence, as in: attn attend --words \"bat cave racket\", or give --x, or {}",
                    option(name)
                ),
            ));
        };
        let x = match self.source(role) {
            QkvSource::From(other) => self
                .graph
                .at(Role::from(other))
                .ok_or_else(|| Error::new(format!("{name} cannot be computed from what comes after it")))?,
            _ => x,
        };
        let width = self.graph[x].shape().cols;
        if weights.is_none() && width.saturating_mul(width) > MAX_CELLS {
            return Err(Error::new(format!(
                "W_{name} is not given, and an identity matrix as wide as X would have {width}×{width} numbers"
            ))
            .help(format!(
                "give {}, or a narrower X: the limit is {MAX_CELLS} numbers",
                option(role.weights().map_or(name, Role::name))
            )));
        }
        let identity = || Given::new(Matrix::identity(width), Origin::Identity);
        let Given { tensor: weights, origin } = weights.unwrap_or_else(identity);
        let weights = weights.into_matrix().map_err(|error| error.in_source(format!("W_{name}")))?;
        let (op, side, length) = match self.source(role) {
            QkvSource::Transposed => (Op::ProductTransposed, "columns", weights.cols()),
            _ => (Op::Product, "rows", weights.rows()),
        };
        if length != width {
            return Err(Error::new(format!(
                "W_{name} is {}, but X has {}",
                weights.shape(),
                counted(width, "column")
            ))
            .help(format!("give W_{name} {width} {side}, one for each column of X")));
        }
        let weights = in_the_space_of(&self.graph[x], weights);
        let weights = match role.weights() {
            Some(of_role) => self.weights((role, of_role), Given::new(weights, origin))?,
            None => return Err(Error::new(format!("{name} is not computed from X"))),
        };
        let bias = match (bias, role.weights().and_then(Role::bias)) {
            (Some(bias), Some(of_role)) => Some(self.given(of_role, bias)?),
            _ => None,
        };
        let id = self.projected_with(name, op, [x, weights], bias)?;
        self.graph.mark(id, role);
        Ok(id)
    }

    /// `X W`, or `X W + b`: each row is projected, and the bias is added to it.
    pub fn projected_with(
        &mut self,
        name: &str,
        op: Op,
        [x, weights]: [NodeId; 2],
        bias: Option<NodeId>,
    ) -> Result<NodeId> {
        let Some(bias) = bias else { return self.graph.add(name, op, &[x, weights]) };
        let shape = self.graph[weights].shape();
        let (layout, width) = match op {
            Op::ProductTransposed => (WeightLayout::OutIn, shape.rows),
            _ => (WeightLayout::InOut, shape.cols),
        };
        if self.shape(bias) != (1, width) {
            let (bias, weights) = (&self.graph[bias], &self.graph[weights]);
            let error = format!(
                "{} is {}, but {} makes {}",
                bias.name,
                bias.shape(),
                weights.name,
                counted(width, "column")
            );
            return Err(Error::new(error).help(format!(
                "give {} one row of {}",
                bias.name,
                counted(width, "number")
            )));
        }
        self.graph.add(name, Op::Linear(layout), &[x, weights, bias])
    }

    /// Records the bias of the output projection.
    pub fn output_bias(&mut self, w_o: Option<NodeId>, bias: Option<Given>) -> Result<()> {
        let Some(bias) = bias else { return Ok(()) };
        if w_o.is_none() {
            return Err(Error::new("b_O is added after W_O, and there is no W_O")
                .help("give W_O too, or leave out b_O"));
        }
        self.given(Role::BO, bias).map(|_| ())
    }

    /// The weights of a role, after the recipe's alteration of them.
    fn weights(&mut self, (role, own): (Role, Role), given: Given) -> Result<NodeId> {
        let stage = match role {
            Role::Q => Site::QueryWeights,
            Role::K => Site::KeyWeights,
            _ => Site::ValueWeights,
        };
        let weights = self.given(own, given)?;
        altered(&mut self.graph, self.recipe, &[Site::RoleWeights, stage], own.name(), (weights, 0))
    }
}

impl From<Qkv> for Role {
    fn from(role: Qkv) -> Role {
        match role {
            Qkv::Query => Role::Q,
            Qkv::Key => Role::K,
            Qkv::Value => Role::V,
        }
    }
}

/// Labels identity weights: rows and columns get the names of the columns of X.
fn in_the_space_of(x: &Node, weights: Matrix) -> Matrix {
    let (_, Some(names)) = x.labels() else { return weights };
    let is_named = weights.row_labels().is_some() || weights.col_labels().is_some();
    let is_identity =
        weights.rows() == weights.cols() && weights.same_bits(&Matrix::identity(weights.rows()));
    if is_identity && !is_named {
        weights.labelled_by(Some(&names.clone()), Some(&names.clone()))
    } else {
        weights
    }
}

/// The option that gives a matrix: `--wq` gives W_Q.
fn option(name: &str) -> String {
    format!("--{}", name.replace('_', "").to_ascii_lowercase())
}

// The count of numbers that a pipeline records, computed from the shapes of its inputs before any step.

/// Rows and columns.
type Sides = (u128, u128);

fn sides(given: &Option<Given>) -> Option<Sides> {
    given.as_ref().map(|given| (given.shape().rows as u128, given.shape().cols as u128))
}

/// Checks that a pipeline can record its steps. Shapes that do not fit are left to the step that reports them.
///
/// # Errors
/// If they are more than [`MAX_CELLS`] numbers.
fn check_room(recipe: &Recipe, inputs: &AttendInputs) -> Result<()> {
    let Some((cells, queries, keys)) = forecast(recipe, inputs) else { return Ok(()) };
    if cells <= MAX_CELLS as u128 {
        return Ok(());
    }
    Err(Error::new(format!(
        "recording every step of {} over {} and {} takes at least {cells} numbers, more than the limit of {MAX_CELLS}",
        counted(recipe.heads, "head"),
        counted(queries as usize, "query"),
        counted(keys as usize, "key")
    ))
    .help("give fewer tokens or heads, or use --fast, which does not store the steps"))
}

/// Checks that the fast path can record the steps before and after its heads. It records no matrix of the steps between them,
/// and given Q, K and V do not count.
///
/// # Errors
/// If they are more than [`MAX_CELLS`] numbers.
pub(super) fn check_fused(recipe: &Recipe, inputs: &AttendInputs) -> Result<()> {
    let x = sides(&inputs.x).unwrap_or_default();
    let roles = [(&inputs.q, &inputs.w_q), (&inputs.k, &inputs.w_k), (&inputs.v, &inputs.w_v)];
    let computed = roles.into_iter().filter(|(given, _)| given.is_none());
    let weights: Vec<&Option<Given>> = computed.map(|(_, weights)| weights).collect();
    // An identity that is too large by itself is left to its step.
    if inputs.x.is_none() && !weights.is_empty()
        || weights.iter().any(|weights| weights.is_none()) && x.1 * x.1 > MAX_CELLS as u128
    {
        return Ok(());
    }
    let before =
        cells_of(&inputs.x) + weights.iter().map(|weights| projection(x, weights, false).1).sum::<u128>();
    let queries = sides(&inputs.q).unwrap_or(x).0;
    let projected = sides(&inputs.w_o).filter(|_| recipe.output.projected);
    let behind = cells_of(&inputs.w_o)
        + projected.map_or(0, |(_, cols)| queries * cols)
        + if recipe.output.residual { x.0 * x.1 } else { 0 };
    // Queries and keys: split, normed, rotated, and put together.
    let again = match of_queries_and_keys(recipe) {
        0 => 0,
        times => times + if recipe.heads > 1 { 2 } else { 0 },
    };
    let shape = |(given, weights): (&Option<Given>, &Option<Given>)| {
        sides(given).unwrap_or_else(|| projection(x, weights, false).0)
    };
    let prepared: u128 =
        roles[..2].iter().map(|&role| shape(role)).map(|(rows, cols)| again * rows * cols).sum();
    let cells = before + prepared + behind;
    if cells <= MAX_CELLS as u128 {
        return Ok(());
    }
    Err(Error::new(format!(
            "X, the weights and what is computed from them step by step take {cells} numbers, more than the limit of \
             {MAX_CELLS}"
        ))
        .help("give fewer tokens or a narrower X, or give --q, --k and --v, computed elsewhere"))
}

/// The shape of a projection of tokens of this shape, and the count of its numbers with its weights. Without given weights they
/// are the identity.
fn projection((rows, width): Sides, weights: &Option<Given>, transposed: bool) -> (Sides, u128) {
    let (inner, outer) = sides(weights).unwrap_or((width, width));
    let cols = if transposed { inner } else { outer };
    ((rows, cols), inner * outer + rows * cols)
}

fn cells_of(given: &Option<Given>) -> u128 {
    sides(given).map_or(0, |(rows, cols)| rows * cols)
}

/// The numbers that a pipeline will record, at least, and those of its queries and keys: inputs, projections, all matrices of scores
/// and weights, the heads and the result; `None` where an input is missing.
fn forecast(recipe: &Recipe, inputs: &AttendInputs) -> Option<(u128, u128, u128)> {
    let x = sides(&inputs.x);
    let role = |given: &Option<Given>, weights: &Option<Given>, source: QkvSource| -> Option<(Sides, u128)> {
        if let Some((rows, cols)) = sides(given) {
            return Some(((rows, cols), rows * cols));
        }
        Some(projection(x?, weights, source == QkvSource::Transposed))
    };
    let roles = recipe.roles;
    let (q, of_q) = role(&inputs.q, &inputs.w_q, roles.q)?;
    let (k, of_k) = role(&inputs.k, &inputs.w_k, roles.k)?;
    let (v, of_v) = role(&inputs.v, &inputs.w_v, roles.v)?;
    let taken = |source: QkvSource, own: Sides| match source {
        QkvSource::Own | QkvSource::Transposed | QkvSource::From(_) => Some(own),
        QkvSource::Of(Qkv::Query) => Some(q),
        QkvSource::Of(Qkv::Key) => Some(k),
        QkvSource::Of(Qkv::Value) => Some(v),
        QkvSource::Tokens => x,
    };
    let (q, k, mixed) = (taken(roles.q, q)?, taken(roles.k, k)?, taken(roles.v, v)?);
    let (heads, groups) = (recipe.heads as u128, recipe.kv_heads.max(1) as u128);
    let given = [&inputs.x, &inputs.mask, &inputs.bias, &inputs.w_o].into_iter().map(cells_of).sum::<u128>();
    let scores =
        heads * of_scores(recipe, inputs.bias.is_some() && recipe.biasing == Biasing::Added) * q.0 * k.0;
    let prepared = (q.0 * q.1 + k.0 * k.1) * of_queries_and_keys(recipe);
    let result = q.0 * (mixed.1 / groups * heads);
    let parts = match heads {
        1 => 0,
        // Queries, keys and values are split, and the heads joined.
        _ => q.0 * q.1 + k.0 * k.1 + result,
    };
    let projected = match sides(&inputs.w_o).filter(|_| recipe.output.projected) {
        Some((inner, outer)) => {
            q.0 * if recipe.output.projection == Projection::Transposed { inner } else { outer }
        }
        None => 0,
    };
    let cells = given + of_q + of_k + of_v + prepared + scores + parts + result + projected;
    Some((cells, q.0, k.0))
}

/// The number of times that queries and keys are recorded again: normed, and rotated.
fn of_queries_and_keys(recipe: &Recipe) -> u128 {
    u128::from(recipe.qk_norm.place != NormPlace::Nowhere)
        + u128::from(matches!(recipe.positions.kind, PositionKind::Rotary(_)))
}

/// The minimum number of matrices of scores and weights of a head.
fn of_scores(recipe: &Recipe, has_bias: bool) -> u128 {
    let scaled = recipe.scale.factor(1).is_some();
    let (is_masked, is_capped) = (recipe.mask.is_some(), recipe.soft_cap.is_some());
    let by_distance =
        matches!(recipe.positions.kind, PositionKind::Alibi { .. } | PositionKind::Buckets { .. });
    let rounded = [recipe.score_decimals, recipe.weight_decimals].into_iter().flatten().count();
    let others =
        [scaled, has_bias || by_distance, by_distance, recipe.temperature != 1.0, is_capped, is_masked];
    let others = others.into_iter().filter(|&is| is).count();
    // The scores and the weights themselves.
    2 + (others + rounded) as u128
}

#[cfg(test)]
mod tests {
    use crate::attention::Mask;
    use crate::graph::recipes::{Output, Scale, attend};
    use crate::matrix::Matrix;

    use super::*;

    fn given(rows: usize, cols: usize) -> Option<Given> {
        Some(Matrix::filled(rows, cols, 0.5).into())
    }

    /// The forecast count, and the recorded one.
    fn both(recipe: &Recipe, inputs: AttendInputs) -> (u128, u128) {
        let forecast = forecast(recipe, &inputs).expect("nothing is missing").0;
        let graph = attend(recipe, inputs).expect("the shapes fit");
        let recorded =
            graph.nodes().filter_map(|(_, node)| node.matrix()).map(|m| (m.rows() * m.cols()) as u128);
        (forecast, recorded.sum())
    }

    #[test]
    fn of_a_usual_pipeline_the_forecast_is_what_is_recorded() {
        let projected = || AttendInputs {
            x: given(5, 4),
            w_q: given(4, 4),
            w_k: given(4, 4),
            w_v: given(4, 6),
            ..AttendInputs::default()
        };
        let usual = Recipe::default();
        for recipe in [
            usual,
            Recipe::causal(),
            Recipe { scale: Scale::None, ..usual },
            Recipe { temperature: 2.0, mask: Mask { causal: true, ..Mask::default() }, ..usual },
        ] {
            let (forecast, recorded) = both(&recipe, projected());
            assert_eq!(forecast, recorded, "{recipe:?}");
        }
        let bare = AttendInputs { q: given(3, 2), k: given(7, 2), v: given(7, 5), ..AttendInputs::default() };
        let (forecast, recorded) = both(&usual, bare);
        assert_eq!(forecast, recorded);
        let alone = AttendInputs { x: given(5, 4), bias: given(5, 5), ..AttendInputs::default() };
        let (forecast, recorded) = both(&usual, alone);
        assert_eq!(forecast, recorded);
    }

    #[test]
    fn no_pipeline_records_less_than_is_forecast() {
        let usual = Recipe::default();
        for recipe in [
            Recipe { heads: 2, kv_heads: 2, ..usual },
            Recipe { heads: 4, kv_heads: 2, ..Recipe::causal() },
            Recipe { heads: 2, kv_heads: 2, output: Output { residual: true, ..usual.output }, ..usual },
            Recipe { output: Output { projected: false, ..usual.output }, ..usual },
        ] {
            let inputs = AttendInputs {
                x: given(5, 8),
                w_q: given(8, 8),
                w_k: given(8, 8 / recipe.heads * recipe.kv_heads),
                w_v: given(8, 8 / recipe.heads * recipe.kv_heads),
                w_o: given(8, 8),
                ..AttendInputs::default()
            };
            let (forecast, recorded) = both(&recipe, inputs);
            assert!(
                forecast <= recorded && recorded - forecast <= 5 * 8 * 2,
                "{recipe:?}: {forecast}, {recorded}"
            );
        }
    }

    #[test]
    fn the_fast_path_counts_what_it_records_step_by_step() {
        let at_most = |width: usize, projected: bool| AttendInputs {
            x: given(100, width),
            w_o: projected.then(|| given(width, width)).flatten(),
            ..AttendInputs::default()
        };
        // Three identities, X, Q, K and V; and W_O with the result.
        for (width, projected) in [(2516, false), (2174, true)] {
            let cells = |width: usize| (if projected { 4 } else { 3 }) * width * width;
            let others = |width: usize| (if projected { 5 } else { 4 }) * 100 * width;
            assert!(cells(width) + others(width) <= MAX_CELLS, "{width}");
            assert!(cells(width + 1) + others(width + 1) > MAX_CELLS, "{width}");
            let check = |width| check_fused(&Recipe::default(), &at_most(width, projected));
            assert!(check(width).is_ok(), "{width}");
            let said = check(width + 1).unwrap_err().to_string();
            assert!(said.contains("more than the limit of 20000000"), "{said}");
        }
    }
}
