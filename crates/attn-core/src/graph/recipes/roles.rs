//! From tokens to queries, keys and values.

use super::alter::{Site, altered};
use super::attend::Pipeline;
use super::choices::{self, QkvSource};
use crate::error::{Error, Result};
use crate::graph::{Given, MAX_CELLS, Node, NodeId, Op, Origin, Role};
use crate::matrix::Matrix;
use crate::text::counted;

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

    /// Q, K or V: as given, or from X and its weights, or X itself.
    pub fn role(
        &mut self,
        role: Role,
        given: Option<Given>,
        x: Option<NodeId>,
        weights: Option<Given>,
    ) -> Result<NodeId> {
        if let Some(given) = given {
            return self.given(role, given);
        }
        let name = role.name();
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
        let id = self.graph.add(name, op, &[x, weights])?;
        self.graph.mark(id, role);
        Ok(id)
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

impl From<choices::Qkv> for Role {
    fn from(role: choices::Qkv) -> Role {
        match role {
            choices::Qkv::Query => Role::Q,
            choices::Qkv::Key => Role::K,
            choices::Qkv::Value => Role::V,
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
        weights.with_row_labels(Some(names.clone())).with_col_labels(Some(names.clone()))
    } else {
        weights
    }
}

/// The option that gives a matrix: `--wq` gives W_Q.
fn option(name: &str) -> String {
    format!("--{}", name.replace('_', "").to_ascii_lowercase())
}
