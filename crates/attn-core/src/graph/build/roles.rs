//! From tokens to queries, keys and values.

use super::alter::{Stage, altered};
use super::attend::{Given, Pipeline};
use super::choices::{Role, Source};
use crate::error::{Error, Result, counted};
use crate::graph::{MAX_CELLS, Node, NodeId, Op, Origin};
use crate::matrix::Matrix;

impl Pipeline<'_> {
    /// Where the numbers of Q, K or V come from.
    fn source(&self, name: &str) -> Source {
        match name {
            "Q" => self.recipe.roles.q,
            "K" => self.recipe.roles.k,
            _ => self.recipe.roles.v,
        }
    }

    /// What is taken for queries, keys and values: usually what they are, and what these nodes are called.
    pub fn taken(
        &self,
        [q, k, v]: [NodeId; 3],
        x: Option<NodeId>,
    ) -> Result<([NodeId; 3], [&'static str; 3])> {
        let taken = |role: Role, own: NodeId| match (self.recipe.roles.of(role), x) {
            (Source::Own | Source::Transposed, _) => Ok((own, name(role))),
            (Source::Of(other), _) => Ok(([q, k, v][other as usize], name(other))),
            (Source::Tokens, Some(x)) => Ok((x, "X")),
            (Source::Tokens, None) => Err(Error::new("there is no X to take")),
        };
        let [q, k, v] = [taken(Role::Query, q)?, taken(Role::Key, k)?, taken(Role::Value, v)?];
        Ok(([q.0, k.0, v.0], [q.1, k.1, v.1]))
    }

    /// Q, K or V: as given, or from X and its weights, or X itself.
    pub fn role(
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
            return Err(Error::new(format!("there is no {name}, and no X to compute it from")).help(
                format!(
                    "type a sentence, as in: attn attend --words \"bat cave racket\", or give --x, or --{}",
                    name.to_lowercase()
                ),
            ));
        };
        let width = self.graph[x].shape().cols;
        if weights.is_none() && width.saturating_mul(width) > MAX_CELLS {
            return Err(Error::new(format!(
                "W_{name} is not given, and an identity matrix as wide as X would have {width}×{width} numbers"
            ))
            .help(format!(
                "give --w{}, or a narrower X: the limit is {MAX_CELLS} numbers",
                name.to_lowercase()
            )));
        }
        let (weights, origin) = weights.unwrap_or_else(|| (Matrix::identity(width), Origin::Identity));
        let (op, side, length) = match self.source(name) {
            Source::Transposed => (Op::ProductTransposed, "columns", weights.cols()),
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
        let weights = self.graph.given(&format!("W_{name}"), weights, origin)?;
        let stages = [
            Stage::RoleWeights,
            match name {
                "Q" => Stage::QueryWeights,
                "K" => Stage::KeyWeights,
                _ => Stage::ValueWeights,
            },
        ];
        let own = format!("W_{name}");
        let weights = altered(&mut self.graph, self.recipe, &stages, &own, (weights, 0))?;
        self.graph.add(name, op, &[x, weights])
    }
}

fn name(role: Role) -> &'static str {
    match role {
        Role::Query => "Q",
        Role::Key => "K",
        Role::Value => "V",
    }
}

/// Weights that change nothing leave a token in its space: rows and columns then have the names of the columns of X.
fn in_the_space_of(x: &Node, weights: Matrix) -> Matrix {
    let (_, Some(names)) = x.labels() else { return weights };
    let is_named = weights.row_labels().is_some() || weights.col_labels().is_some();
    let is_identity =
        weights.rows() == weights.cols() && weights.same_bits(&Matrix::identity(weights.rows()));
    match is_identity && !is_named {
        true => weights.with_row_labels(Some(names.clone())).with_col_labels(Some(names.clone())),
        false => weights,
    }
}
