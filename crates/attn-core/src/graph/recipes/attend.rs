//! The graph of a whole attention pipeline, every intermediate a node.

use std::collections::BTreeMap;

use crate::attention::{MatrixRule, WeightLayout, added_out_of_range};
use crate::error::{Error, Result};
use crate::graph::{BackwardPass, Fusion, Given, Graph, MAX_CELLS, Node, NodeId, Op, Origin, Role, Stage};
use crate::matrix::{Labels, Matrix, Shape};
use crate::tensor::Tensor;
use crate::text::counted;

use super::alteration::{Alter, Site};
use super::recipe::{Qkv, QkvSource, Recipe, ScoreRows};

/// Builds and runs the pipeline: `Q K V`, per head scores, scale, bias, temperature, mask, weights and mix, then the
/// concatenation `C`, the output projection, the residual, and `O` last.
///
/// Per head the nodes carry its number (`Q_1 S_1 A_1 O_1`); with one head they have none.
///
/// # Errors
/// If matrices are missing or do not fit, or more than [`MAX_CELLS`] numbers would be recorded.
pub fn attend(recipe: &Recipe, inputs: AttendInputs) -> Result<Graph> {
    attend_in(Graph::new(), recipe, inputs)
}

/// As [`attend`], in a graph that is prepared: with other numbers, or after one whose steps need not be computed again.
///
/// # Errors
/// Those of [`attend`].
pub fn attend_in(mut graph: Graph, recipe: &Recipe, inputs: AttendInputs) -> Result<Graph> {
    Pipeline::new(&mut graph, recipe).run(inputs)?;
    graph.warn_of_range();
    Ok(graph)
}

/// As [`attend`], but an impossible step ends the graph: returns the steps before it and the error. A recipe with a mistake may
/// have such a step.
pub fn attend_as_far_as_possible(recipe: &Recipe, inputs: AttendInputs) -> (Graph, Option<Error>) {
    let mut graph = Graph::new();
    let error = Pipeline::new(&mut graph, recipe).run(inputs).err();
    graph.warn_of_range();
    (graph, error)
}

/// The nodes that serve as queries, keys and values, and the role that each belongs to: normally Q, K and V.
pub(super) type Sources = [(NodeId, Role); 3];

/// What a pipeline has before its heads.
pub(super) struct Start {
    pub sources: Sources,
    /// The correct queries, keys and values.
    pub own: [NodeId; 3],
    pub w_o: Option<NodeId>,
    /// The tokens that are added to the result.
    pub x: Option<NodeId>,
}

/// The last of several steps, an op and its inputs: it is recorded by the caller, who knows its name.
pub(super) type Last = (Op, Vec<NodeId>);

/// A tensor in the type of the fused kernel.
pub(super) type InType = fn(Tensor) -> Result<Tensor>;

/// A pipeline under construction, step by step or fused.
pub(super) struct Pipeline<'a> {
    pub graph: &'a mut Graph,
    pub recipe: &'a Recipe,
    /// The head whose steps are recorded; the default for steps of all heads, or of the only one.
    pub head: Head,
    /// The keys and values of earlier tokens, where there are some.
    pub past: Option<HeadCache>,
    /// What stays of the steps of each head.
    pub steps: StepsOfHeads<'a>,
    /// On the fast path, the type of given queries, keys, values, bias and mask: its kernel does what lies between them and the
    /// mixed values, and these steps are never formed.
    pub kernel: Option<InType>,
}

/// A head whose steps are recorded.
#[derive(Clone, Default)]
pub(super) struct Head {
    /// Its number, from 1, where there are several.
    pub number: Option<usize>,
    /// The end of each step's name: `_2` for the second of several heads, or the case of a demo.
    pub suffix: String,
    /// The bias of its scores, (T, N), where there is one.
    pub bias: Option<NodeId>,
    /// Its mask matrix, (T, N), where there is one.
    pub mask: Option<NodeId>,
}

impl Head {
    /// A head, counted from 0, of this many; its bias and its mask are its own, or those that all heads share.
    pub fn of(graph: &Graph, head: usize, heads: usize) -> Head {
        let number = (heads > 1).then_some(head + 1);
        let suffix = number.map_or_else(String::new, |number| format!("_{number}"));
        let own = |role: Role| graph.at(Stage::Role(role).of_head(number)).or_else(|| graph.at(role));
        Head { number, suffix, bias: own(Role::Bias), mask: own(Role::Mask) }
    }
}

impl<'a> Pipeline<'a> {
    /// A pipeline that forms and keeps every step.
    pub fn new(graph: &'a mut Graph, recipe: &'a Recipe) -> Pipeline<'a> {
        let (head, steps) = (Head::default(), StepsOfHeads::Kept);
        Pipeline { graph, recipe, head, past: None, steps, kernel: None }
    }
}

// Recording steps.

impl Pipeline<'_> {
    /// Records what is done in each of these heads; its steps have its number, where there are several.
    pub fn each_head<T>(
        &mut self,
        count: usize,
        mut record: impl FnMut(&mut Self, usize) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut of_head = |head| {
            self.head = Head::of(self.graph, head, self.recipe.heads);
            record(self, head)
        };
        let all = (0..count).map(&mut of_head).collect();
        self.head = Head::default();
        all
    }

    /// Records a step of the head.
    pub fn add(&mut self, name: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        self.graph.add(&format!("{name}{}", self.head.suffix), op, inputs)
    }

    /// The same for the last of several steps.
    pub fn record(&mut self, name: &str, (op, inputs): Last) -> Result<NodeId> {
        self.add(name, op, &inputs)
    }

    /// Records a step of attention under its own name, with the recipe's alteration of it.
    pub fn step(&mut self, stage: Stage, (op, inputs): Last) -> Result<NodeId> {
        let site = Site::of(stage);
        let id = self.add(&self.name_before(site.as_slice(), stage.name()), op, &inputs)?;
        let name = format!("{}{}", stage.name(), self.head.suffix);
        let id = self.altered(site.as_slice(), &name, id)?;
        self.graph.mark(id, stage.of_head(self.head.number));
        Ok(id)
    }

    pub fn shape(&self, id: NodeId) -> Shape {
        self.graph[id].shape()
    }
}

impl Pipeline<'_> {
    fn run(&mut self, mut inputs: AttendInputs) -> Result<()> {
        self.check(&inputs)?;
        let backward = inputs.backward.take();
        self.check_room(&inputs)?;
        self.forward(inputs)?;
        backward.map_or(Ok(()), |pass| pass.add(self.graph))
    }

    /// Records all steps from the given matrices to the result.
    fn forward(&mut self, inputs: AttendInputs) -> Result<()> {
        let Start { sources, own, mut w_o, mut x } = self.start(inputs)?;
        let heads = self.heads(sources)?;
        self.alter_given(Site::OutputWeights, Role::WO, &mut w_o)?;
        if !self.is_altered_at(Site::TokensAndResidual) {
            self.alter_given(Site::Residual, Role::X, &mut x)?;
        }
        self.output(heads, w_o, x, own)
    }

    /// Records what comes before the heads: given matrices, projections, and on the fast path norms and rotations.
    pub fn start(&mut self, mut inputs: AttendInputs) -> Result<Start> {
        let mechanisms = inputs.take_mechanisms();
        let biases = self.recipe.projection_biases;
        for (role, is_added) in
            [(Role::BQ, biases.q), (Role::BK, biases.k), (Role::BV, biases.v), (Role::BO, biases.o)]
        {
            if !is_added {
                inputs.take(role);
            }
        }
        self.graph.take_instead(std::mem::take(&mut inputs.instead));
        let (tokens, keys) = (inputs.tokens.clone(), inputs.key_tokens.clone());
        let named = |role: Role, given: Option<Given>| {
            let of_keys = keys.as_ref().filter(|_| matches!(role, Role::K | Role::V));
            given.map(|given| named(given, of_keys.or(tokens.as_ref())))
        };
        let x = self.optional(Role::X, named(Role::X, inputs.take(Role::X)))?;
        let mut mask = inputs.take(Role::Mask);
        if self.zeroes_padding() {
            self.optional(Role::Mask, mask.take())?;
        }
        let mut read = x;
        self.alter_given(Site::Tokens, Role::X, &mut read)?;
        let is_given = |role| inputs.get(role).is_some();
        self.reads_tokens(!(is_given(Role::Q) && is_given(Role::K) && is_given(Role::V)))?;
        let (x, read) = match self.positioned(read)? {
            // The residual stream holds the positions, too.
            positioned if positioned != read => (positioned, positioned),
            _ => (x, read),
        };
        let mut of_role = |role| {
            let given = named(role, inputs.take(role));
            self.role(role, given, read, &mut inputs)
        };
        let own = [of_role(Role::Q)?, of_role(Role::K)?, of_role(Role::V)?];
        let mut sources = self.serving(own, read)?;
        self.fit(sources.map(|(id, _)| id))?;
        self.mechanisms(mechanisms)?;
        self.prepare_whole(&mut sources)?;
        let [(q, _), (k, _), _] = sources;
        self.beside_scores(Role::Bias, inputs.take(Role::Bias), [q, k])?;
        self.beside_scores(Role::Mask, mask, [q, k])?;
        if self.recipe.comparison == ScoreRows::QueriesWithKeys {
            self.check_additions()?;
        }
        let w_o = self.optional(Role::WO, inputs.take(Role::WO))?;
        self.output_bias(w_o, inputs.take(Role::BO))?;
        if let Some(Given { tensor, origin }) = inputs.shift {
            self.graph.given("b", tensor, origin)?;
        }
        let x = if self.is_altered_at(Site::TokensAndResidual) { read } else { x };
        Ok(Start { sources, own, w_o, x })
    }

    fn is_altered_at(&self, site: Site) -> bool {
        self.recipe.alteration.is_some_and(|alteration| alteration.stage == site)
    }

    /// Puts the recipe's alteration at this site, if it has one, in the place of a given matrix.
    fn alter_given(&mut self, site: Site, role: Role, node: &mut Option<NodeId>) -> Result<()> {
        if let Some(own) = *node {
            *node = Some(self.altered(&[site], role.name(), own)?);
        }
        Ok(())
    }

    /// Whether the key mask sets rows of tokens to 0 instead of hiding keys.
    fn zeroes_padding(&self) -> bool {
        self.recipe.alteration.is_some_and(|alteration| matches!(alteration.alter, Alter::PaddingZeroed(_)))
    }

    /// Checks the recipe before any node is recorded.
    pub fn check(&self, inputs: &AttendInputs) -> Result<()> {
        self.recipe.check()?;
        let has_mask = inputs.get(Role::Mask).is_some();
        if self.recipe.mask.matrix.is_some() != has_mask && !self.zeroes_padding() {
            return Err(Error::new(
                "a mask matrix needs a rule that says what its numbers mean, and a rule needs a matrix",
            ));
        }
        Ok(())
    }

    /// Checks that bias and mask are within the range of the scores, as the fused kernel does by itself, and that no bias hides a key
    /// where a soft-cap follows it.
    fn check_additions(&self) -> Result<()> {
        let tensor = |id: Option<NodeId>| id.and_then(|id| self.graph[id].tensor());
        let is_added = self.recipe.mask.matrix == Some(MatrixRule::Add) && !self.recipe.mask.inverted;
        for head in (0..self.recipe.heads).filter(|_| self.kernel.is_none()) {
            let Head { bias, mask, .. } = Head::of(self.graph, head, self.recipe.heads);
            let (Some(bias), temperature) = (tensor(bias), self.recipe.temperature) else { break };
            let is_too_large = match tensor(mask.filter(|_| is_added)) {
                Some(mask) => bias
                    .cells()
                    .zip(mask.cells())
                    .any(|(bias, mask)| bias / temperature + mask == f64::INFINITY),
                None => bias.cells().any(|bias| bias / temperature == f64::INFINITY),
            };
            if is_too_large {
                return Err(added_out_of_range(f64::INFINITY, "f64"));
            }
        }
        let hides = |tensor: &Tensor| tensor.cells().any(|x| x == f64::NEG_INFINITY);
        if self.recipe.soft_cap.is_none() || !tensor(self.graph.at(Role::Bias)).is_some_and(hides) {
            return Ok(());
        }
        Err(Error::new("a bias of -inf hides no key here: the soft-cap comes after it")
            .help("hide keys with --mask, which comes after the soft-cap"))
    }

    /// Records the given tensor of a role.
    pub fn given(&mut self, role: Role, Given { tensor, origin }: Given) -> Result<NodeId> {
        let is_truth = role == Role::Mask
            && matches!(self.recipe.mask.matrix, Some(MatrixRule::Allow | MatrixRule::Block));
        let id = match self.kernel.filter(|_| is_read_by_kernel(role)) {
            Some(in_type) if self.graph.forms_steps() => {
                let in_type = if is_truth { Tensor::in_type::<bool> } else { in_type };
                let numbers = in_type(tensor).map_err(|error| error.in_source(role.name()))?;
                self.graph.record(role.name(), Op::Given(origin), &[], numbers)?
            }
            _ => self.graph.given(role.name(), tensor, origin)?,
        };
        self.graph.mark(id, role);
        Ok(id)
    }

    /// Records the given tensor of a role, if there is one.
    pub fn optional(&mut self, role: Role, given: Option<Given>) -> Result<Option<NodeId>> {
        given.map(|given| self.given(role, given)).transpose()
    }

    /// Checks that Q, K and V fit each other and the heads.
    pub fn fit(&self, nodes: [NodeId; 3]) -> Result<()> {
        let (heads, groups) = (self.recipe.heads, self.recipe.kv_heads);
        let [q, k, v] = nodes.map(|id| self.shape(id));
        for (name, shape, heads) in [("Q", q, heads), ("K", k, groups), ("V", v, groups)] {
            check_split(name, shape.cols, heads)?;
        }
        if q.cols / heads != k.cols / groups {
            return Err(Error::new(format!(
                "a query of width {} cannot be compared with a key of width {}: Q is {q} (heads: {heads}), K is {k} \
                 (heads: {groups})",
                q.cols / heads,
                k.cols / groups
            ))
            .help("give queries and keys of the same width per head (see --heads and --kv-heads)"));
        }
        if k.rows != v.rows {
            let (keys, values) = (counted(k.rows, "key"), counted(v.rows, "value"));
            return Err(Error::new(format!(
                "{keys} but {values}, and each key needs one value: K is {k}, V is {v}"
            ))
            .help("give K and V the same number of rows, one for each token"));
        }
        Ok(())
    }
}

/// Whether the fused kernel reads the matrix of a role.
fn is_read_by_kernel(role: Role) -> bool {
    role.has_heads() || role.is_beside_scores()
}

/// Checks that the columns of a matrix can be shared out evenly.
pub(super) fn check_split(name: &str, width: usize, heads: usize) -> Result<()> {
    if heads > 0 && width > 0 && width.is_multiple_of(heads) {
        return Ok(());
    }
    let (columns, heads) = (counted(width, "column"), counted(heads, "head"));
    Err(Error::new(format!("the {columns} of {name} cannot be split into {heads}"))
        .help(format!("give a number of heads that divides the width of {name}")))
}

/// A given tensor with the tokens' names as labels of its rows, where there are names.
fn named(Given { tensor, origin }: Given, tokens: Option<&Labels>) -> Given {
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
    /// Names of the keys and values, where they are those of other tokens, as in cross-attention.
    pub key_tokens: Option<Labels>,
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

    /// Takes the given tensor of a role out, if there is one.
    pub(super) fn take(&mut self, role: Role) -> Option<Given> {
        self.place(role).take()
    }

    /// Takes the given matrices of positions, norms, sinks and gates out.
    pub(super) fn take_mechanisms(&mut self) -> Vec<(Role, Given)> {
        let roles = Role::all().filter(|role| role.is_of_mechanism());
        roles.filter_map(|role| Some((role, self.take(role)?))).collect()
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
    fn serving(&self, [q, k, v]: [NodeId; 3], x: Option<NodeId>) -> Result<Sources> {
        let serving = |role: Role, own: NodeId| match (self.source(role), x) {
            (QkvSource::Own | QkvSource::Transposed | QkvSource::From(_), _) => Ok((own, role)),
            (QkvSource::Of(other), _) => Ok(([q, k, v][other as usize], other.into())),
            (QkvSource::Tokens, Some(x)) => Ok((x, Role::X)),
            (QkvSource::Tokens, None) => Err(Error::new("there is no X to take")),
        };
        Ok([serving(Role::Q, q)?, serving(Role::K, k)?, serving(Role::V, v)?])
    }

    /// Q, K or V: as given, or from X, its weights and its bias, or X itself.
    fn role(
        &mut self,
        role: Role,
        given: Option<Given>,
        x: Option<NodeId>,
        inputs: &mut AttendInputs,
    ) -> Result<NodeId> {
        let name = role.name();
        let (Some(of_weights), site) = (role.weights(), Site::of_weights(role)) else {
            return Err(Error::new(format!("{name} is not computed from X")));
        };
        let of_bias = of_weights.bias();
        let bias = of_bias.and_then(|role| Some((role, inputs.take(role)?)));
        if let Some(given) = given {
            if bias.is_some() {
                return Err(Error::new(format!("b_{name} is added to X W_{name}, but {name} is given"))
                    .help(format!("leave out b_{name}, or give X and W_{name} in place of {name}")));
            }
            return self.given(role, given);
        }
        let Some(mut x) = x else {
            let help = "type a sentence, as in: attn attend --words \"bat cave racket\", or give --x, or";
            return Err(Error::new(format!("there is no {name}, and no X to compute it from"))
                .help(format!("{help} {}", option(name))));
        };
        if let QkvSource::From(other) = self.source(role) {
            let comes_after = || Error::new(format!("{name} cannot be computed from what comes after it"));
            x = self.graph.at(Role::from(other)).ok_or_else(comes_after)?;
        }
        let width = self.shape(x).cols;
        let weights = inputs.take(of_weights);
        if weights.is_none() && width.saturating_mul(width) > MAX_CELLS {
            let size = format!("{width}×{width}");
            return Err(Error::new(format!(
                "W_{name} is not given, and an identity matrix as wide as X would have {size} numbers"
            ))
            .help(format!(
                "give {}, or a narrower X: the limit is {MAX_CELLS} numbers",
                option(of_weights.name())
            )));
        }
        let shape = weights.as_ref().map_or(Shape { rows: width, cols: width }, Given::shape);
        let (op, side, length) = match self.source(role) {
            QkvSource::Transposed => (Op::ProductTransposed, "columns", shape.cols),
            _ => (Op::Product, "rows", shape.rows),
        };
        if length != width {
            let columns = counted(width, "column");
            return Err(Error::new(format!("W_{name} is {shape}, but X has {columns}"))
                .help(format!("give W_{name} {width} {side}, one for each column of X")));
        }
        let weights = self.weights(of_weights, x, weights)?;
        let weights = self.altered(&[site], of_weights.name(), weights)?;
        if let Some((of_bias, bias)) = bias {
            self.given(of_bias, bias)?;
        }
        let bias = of_bias.and_then(|bias| self.graph.at(bias));
        let id = self.projected_with(name, op, [x, weights], bias)?;
        self.graph.mark(id, role);
        Ok(id)
    }

    /// Records weights for these tokens, or the identity where none are given.
    fn weights(&mut self, role: Role, x: NodeId, weights: Option<Given>) -> Result<NodeId> {
        let cols = self.shape(x).cols;
        if weights.is_none() && !self.graph.forms_steps() {
            let (identity, shape) = (Op::Given(Origin::Identity), Shape { rows: cols, cols });
            return self.graph.never_formed(role.name(), identity, &[], shape);
        }
        let identity = || Given::new(Matrix::identity(cols), Origin::Identity);
        let mut given = weights.unwrap_or_else(identity);
        if self.graph.forms_steps() {
            let matrix = given.tensor.into_matrix().map_err(|error| error.in_source(role.name()))?;
            given.tensor = in_the_space_of(&self.graph[x], matrix).into();
        }
        self.given(role, given)
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
        let layout = match op {
            Op::ProductTransposed => WeightLayout::OutIn,
            _ => WeightLayout::InOut,
        };
        let (_, width) = layout.inputs_and_outputs(self.shape(weights));
        if self.shape(bias) != (Shape { rows: 1, cols: width }) {
            let ([bias, weights], columns) =
                ([bias, weights].map(|id| &self.graph[id]), counted(width, "column"));
            let (name, shape) = (&bias.name, bias.shape());
            return Err(Error::new(format!("{name} is {shape}, but {} makes {columns}", weights.name))
                .help(format!("give {name} one row of {}", counted(width, "number"))));
        }
        self.graph.add(name, Op::Linear(layout), &[x, weights, bias])
    }

    /// Records the bias of the output projection.
    fn output_bias(&mut self, w_o: Option<NodeId>, bias: Option<Given>) -> Result<()> {
        if bias.is_some() && w_o.is_none() {
            return Err(Error::new("b_O is added after W_O, and there is no W_O")
                .help("give W_O too, or leave out b_O"));
        }
        self.optional(Role::BO, bias).map(|_| ())
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

// The count of numbers that a pipeline records: that of a pipeline in which steps have a shape and no numbers.

impl Pipeline<'_> {
    /// Checks that a pipeline can record its steps; on the fast path, those before and after its heads. What does not fit is left to the
    /// step that reports it.
    ///
    /// # Errors
    /// If they are more than [`MAX_CELLS`] numbers.
    pub fn check_room(&self, inputs: &AttendInputs) -> Result<()> {
        // No side of a step is longer than the longest that is given, once for each head, and no head has a hundred steps.
        let sides = Role::all().filter_map(|role| inputs.get(role)).map(Given::shape);
        let longest = sides.map(|shape| shape.rows.max(shape.cols)).max().unwrap_or(0);
        let most = [longest, longest, self.recipe.heads, 100].into_iter().fold(1, usize::saturating_mul);
        if most <= MAX_CELLS {
            return Ok(());
        }
        let (cells, graph) = self.forecast(inputs);
        let limit = MAX_CELLS;
        let rows = |role: Role| graph.at(role).map(|id| graph[id].shape().rows);
        let (true, Some(queries), Some(keys)) = (cells > limit as u128, rows(Role::Q), rows(Role::K)) else {
            return Ok(());
        };
        if self.kernel.is_some() {
            return Err(Error::new(format!(
                "X, the weights and what is computed from them step by step take {cells} numbers, more than the limit of \
                 {limit}"
            ))
            .help("give fewer tokens or a narrower X, or give --q, --k and --v, computed elsewhere"));
        }
        let heads = counted(self.recipe.heads, "head");
        let (queries, keys) = (counted(queries, "query"), counted(keys, "key"));
        Err(Error::new(format!(
            "recording every step of {heads} over {queries} and {keys} takes at least {cells} numbers, more than the \
             limit of {limit}"
        ))
        .help("give fewer tokens or heads, or use --fast, which does not store the steps"))
    }

    /// The count of the numbers that will be recorded, and the pipeline with shapes alone, as far as it is possible.
    fn forecast(&self, inputs: &AttendInputs) -> (u128, Graph) {
        let mut graph = Graph::new().with_shapes_alone();
        let mut forecast = Pipeline { kernel: self.kernel, ..Pipeline::new(&mut graph, self.recipe) };
        let _ = forecast.sketched(inputs.clone());
        let cells = graph.nodes().filter(|(_, node)| self.is_recorded(node));
        let cells = cells.map(|(_, node)| node.shape()).map(|shape| shape.rows as u128 * shape.cols as u128);
        (cells.sum(), graph)
    }

    /// The steps with shapes alone; the fused kernel has one.
    fn sketched(&mut self, inputs: AttendInputs) -> Result<()> {
        if self.kernel.is_none() {
            return self.forward(inputs);
        }
        let Start { sources: [(q, _), _, (v, _)], own, w_o, x } = self.start(inputs)?;
        let after = self.after(w_o, x, own)?;
        let cols = self.shape(v).cols / self.recipe.kv_heads * self.recipe.heads;
        let (name, shape) = (after.stage().name(), Shape { rows: self.shape(q).rows, cols });
        let heads = self.graph.never_formed(name, Op::Fused(Fusion::LogSumExp), &[], shape)?;
        self.finish(heads, after)
    }

    /// Whether the numbers of a node count as recorded: on the fast path those of the kernel do not.
    fn is_recorded(&self, node: &Node) -> bool {
        let is_of_kernel = |stage: Stage| matches!(stage, Stage::Role(role) if is_read_by_kernel(role));
        let is_given = node.op.is_given() && node.step.is_some_and(|step| is_of_kernel(step.stage));
        self.kernel.is_none() || !is_given && !matches!(node.op, Op::Fused(_))
    }
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
        let forecast = Pipeline::new(&mut Graph::new(), recipe).forecast(&inputs).0;
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
    fn so_it_is_of_several_heads() {
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
            assert_eq!(forecast, recorded, "{recipe:?}");
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
            let check = |width| {
                let (graph, recipe) = (&mut Graph::new(), &Recipe::default());
                let kernel = Some(Tensor::in_type::<f32> as InType);
                Pipeline { kernel, ..Pipeline::new(graph, recipe) }.check_room(&at_most(width, projected))
            };
            assert!(check(width).is_ok(), "{width}");
            let said = check(width + 1).unwrap_err().to_string();
            assert!(said.contains("more than the limit of 20000000"), "{said}");
        }
    }
}
