//! The graph of a whole attention pipeline, every intermediate a node.

use super::recipe::Recipe;
use super::weights::{Additions, Weights, split, weights};
use crate::attention::key_value_head;
use crate::error::{Error, Result};
use crate::graph::{Graph, MAX_CELLS, NodeId, Op, Origin};
use crate::matrix::{Labels, Matrix};

/// A given matrix with where it came from.
pub type Given = (Matrix, Origin);

/// What a pipeline starts from. Q, K and V win over what X and the weights would give; where neither is there, X stands
/// for itself.
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
    /// T queries, (T, heads · d_k).
    pub q: Option<Given>,
    /// N keys, (N, key/value heads · d_k).
    pub k: Option<Given>,
    /// N values, (N, key/value heads · d_v).
    pub v: Option<Given>,
    /// The mask matrix, (T, N), where the recipe has a rule for it.
    pub mask: Option<Given>,
    /// What is added to the scores of every head, (T, N).
    pub bias: Option<Given>,
    /// Names of the tokens.
    pub tokens: Option<Labels>,
}

/// Builds and runs the pipeline: `Q K V`, per head scores, scale, bias, temperature, mask, weights and mix, then the
/// concatenation `C`, the output projection, the residual, and `O` last.
///
/// Per head the nodes carry its number (`Q_1 S_1 A_1 O_1`); with one head they have none.
///
/// # Errors
/// If matrices are missing or do not fit, or more than [`MAX_CELLS`] numbers would be recorded.
pub fn attend(recipe: &Recipe, inputs: AttendInputs) -> Result<Graph> {
    recipe.check()?;
    if recipe.mask.matrix.is_some() != inputs.mask.is_some() {
        return Err(Error::new("a mask matrix and the rule for it go together, and one of them is missing"));
    }
    let mut pipeline = Pipeline { graph: Graph::new(), recipe };
    let AttendInputs { x, w_q, w_k, w_v, w_o, q, k, v, mask, bias, tokens } = inputs;
    let named = |(matrix, origin): Given| {
        let labels = tokens.clone().or_else(|| matrix.row_labels().cloned());
        (matrix.with_row_labels(labels), origin)
    };
    let x = pipeline.optional("X", x.map(named))?;
    let q = pipeline.role("Q", q.map(named), x, w_q)?;
    let k = pipeline.role("K", k.map(named), x, w_k)?;
    let v = pipeline.role("V", v.map(named), x, w_v)?;
    pipeline.fit(q, k, v)?;
    let bias = pipeline.optional("B", bias)?;
    let mask = pipeline.optional("M", mask)?;
    let w_o = pipeline.optional("W_O", w_o)?;
    let heads = pipeline.heads(Sources { q, k, v, bias, mask })?;
    pipeline.output(heads, w_o, x)?;
    pipeline.graph.warn_of_nan();
    Ok(pipeline.graph)
}

/// The nodes that every head reads.
#[derive(Clone, Copy)]
struct Sources {
    q: NodeId,
    k: NodeId,
    v: NodeId,
    bias: Option<NodeId>,
    mask: Option<NodeId>,
}

struct Pipeline<'a> {
    graph: Graph,
    recipe: &'a Recipe,
}

impl Pipeline<'_> {
    fn optional(&mut self, name: &str, given: Option<Given>) -> Result<Option<NodeId>> {
        given.map(|(matrix, origin)| self.graph.given(name, matrix, origin)).transpose()
    }

    /// Q, K or V: as given, or from X and its weights, or X itself.
    fn role(
        &mut self,
        name: &str,
        given: Option<Given>,
        x: Option<NodeId>,
        weights: Option<Given>,
    ) -> Result<NodeId> {
        if let Some((matrix, origin)) = given {
            return self.graph.given(name, matrix, origin);
        }
        let Some(x) = x else {
            return Err(Error::new(format!("there is no {name}, and no X to compute it from"))
                .help(format!("give --{}, or --x with --w{}", name.to_lowercase(), name.to_lowercase())));
        };
        let width = self.graph[x].shape().cols;
        if weights.is_none() && width.saturating_mul(width) > MAX_CELLS {
            return Err(Error::new(format!(
                "W_{name} is not given, and an identity as wide as X has {width}×{width} numbers"
            ))
            .help(format!(
                "give --w{}, or a narrower X: at most {MAX_CELLS} numbers are kept",
                name.to_lowercase()
            )));
        }
        let (weights, origin) = weights.unwrap_or_else(|| (Matrix::identity(width), Origin::Identity));
        let weights = self.graph.given(&format!("W_{name}"), weights, origin)?;
        self.graph.add(name, Op::Product, &[x, weights])
    }

    fn shape(&self, id: NodeId) -> (usize, usize) {
        (self.graph[id].shape().rows, self.graph[id].shape().cols)
    }

    /// Checks that Q, K and V fit each other and the heads, and that recording everything is reasonable.
    fn fit(&self, q: NodeId, k: NodeId, v: NodeId) -> Result<()> {
        let (heads, groups) = (self.recipe.heads, self.recipe.kv_heads);
        let ((t, q_width), (n, k_width), (v_rows, v_width)) = (self.shape(q), self.shape(k), self.shape(v));
        for (name, width, heads) in [("Q", q_width, heads), ("K", k_width, groups), ("V", v_width, groups)] {
            if width == 0 || width % heads != 0 {
                return Err(Error::new(format!(
                    "the {width} columns of {name} cannot be split into {heads} heads"
                ))
                .help(format!("the width of {name} must be a multiple of its number of heads")));
            }
        }
        if q_width / heads != k_width / groups {
            return Err(Error::new(format!(
                "a query of width {} cannot be compared with a key of width {}: Q is {t}×{q_width} (heads: {heads}), \
                 K is {n}×{k_width} (heads: {groups})",
                q_width / heads,
                k_width / groups
            ))
            .help("d_k must be the same for queries and keys (see --heads and --kv-heads)"));
        }
        if n != v_rows {
            return Err(Error::new(format!(
                "{n} keys need {n} values, and there are {v_rows}: K is {n}×{k_width}, V is {v_rows}×{v_width}"
            )));
        }
        let per_head = 3 * t as u128 * n as u128 + (t * q_width / heads) as u128;
        let cells = heads as u128 * per_head + (t * v_width / groups * heads) as u128;
        if cells > MAX_CELLS as u128 {
            return Err(Error::new(format!(
                "recording every step of {heads} heads over {t} queries and {n} keys takes {cells} numbers, more \
                 than the {MAX_CELLS} that are kept"
            ))
            .help("take fewer tokens or heads: every intermediate matrix is held and shown"));
        }
        Ok(())
    }

    /// All heads, each with its own weights and mix. The mixes are returned; a single head's weights and values, which are
    /// mixed under the name that the result has.
    fn heads(&mut self, sources: Sources) -> Result<Vec<NodeId>> {
        let (heads, groups) = (self.recipe.heads, self.recipe.kv_heads);
        let additions = Additions { bias: sources.bias, mask: sources.mask };
        let graph = &mut self.graph;
        if heads == 1 {
            let Weights { weights, .. } = weights(graph, self.recipe, "", [sources.q, sources.k], additions)?;
            return Ok(vec![weights, sources.v]);
        }
        let queries = split(graph, "Q", sources.q, heads)?;
        let keys = split(graph, "K", sources.k, groups)?;
        let values = split(graph, "V", sources.v, groups)?;
        let mut mixes = Vec::new();
        for (head, &query) in queries.iter().enumerate() {
            let (suffix, group) = (format!("_{}", head + 1), key_value_head(head, heads, groups));
            let Weights { weights, .. } =
                weights(graph, self.recipe, &suffix, [query, keys[group]], additions)?;
            mixes.push(graph.add(&format!("O{suffix}"), Op::Product, &[weights, values[group]])?);
        }
        Ok(mixes)
    }

    /// The heads side by side, the output projection and the residual; whatever comes last is called `O`.
    fn output(&mut self, heads: Vec<NodeId>, w_o: Option<NodeId>, x: Option<NodeId>) -> Result<()> {
        let residual = match (self.recipe.output.residual, x) {
            (true, None) => {
                return Err(
                    Error::new("there is no X to add to the result").help("--residual needs --x or --words")
                );
            }
            (true, Some(x)) => Some(x),
            (false, _) => None,
        };
        let is_result = w_o.is_none() && residual.is_none();
        let mut last = match self.recipe.heads {
            1 => self.graph.add(if is_result { "O" } else { "C" }, Op::Product, &heads)?,
            _ => self.graph.add("C", Op::Concatenate, &heads)?,
        };
        if is_result && self.recipe.heads > 1 {
            self.graph.add("O", Op::Add, &[last])?;
        }
        if let Some(w_o) = w_o {
            last = self.graph.add(if residual.is_none() { "O" } else { "P" }, Op::Product, &[last, w_o])?;
        }
        if let Some(x) = residual {
            self.graph.add("O", Op::Add, &[x, last])?;
        }
        Ok(())
    }
}
