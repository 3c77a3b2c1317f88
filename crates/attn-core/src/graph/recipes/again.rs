//! A second pass: the result goes through the same attention.

use super::alter::{self, Alter, Alteration};
use super::attend::Pipeline;
use super::choices::Split;
use super::heads::split;
use super::weights::{BiasAndMask, weights};
use crate::attention::key_value_head;
use crate::error::{Error, Result};
use crate::graph::{NodeId, Op, Role, Stage};

impl Pipeline<'_> {
    /// Whether the recipe has a second pass.
    pub(super) fn attends_again(&self) -> bool {
        self.recipe.alteration == Some(Alteration { stage: alter::Site::Result, alter: Alter::AttendedAgain })
    }

    /// Adds a second pass that reads the result as the tokens, or as Q, K and V where those are given.
    ///
    /// # Errors
    /// If the result does not have the shape of the tokens, or of Q, K and V.
    pub(super) fn attended_again(&mut self, result: NodeId) -> Result<NodeId> {
        let (heads, groups) = (self.recipe.heads, self.recipe.kv_heads);
        let [q, k, v] = [Role::Q, Role::K, Role::V].map(|role| self.role_again(role, result));
        let blocks = [(q?, heads, Role::Q), (k?, groups, Role::K), (v?, groups, Role::V)]
            .map(|(whole, count, role)| self.blocks_again(whole, count, role));
        let [q, k, v] = blocks;
        let (q, k, v) = (q?, k?, v?);
        let additions = BiasAndMask { bias: self.graph.at(Role::Bias), mask: self.graph.at(Role::Mask) };
        let mut mixes = Vec::new();
        for (head, &query) in q.iter().enumerate() {
            let (suffix, group) = (format!("_again_{}", head + 1), key_value_head(head, heads, groups));
            let weights =
                weights(&mut self.graph, self.recipe, &suffix, [query, k[group]], additions)?.weights;
            mixes.push(self.graph.add(&format!("O{suffix}"), Op::Product, &[weights, v[group]])?);
        }
        let mut last = self.graph.add("C_again", Op::Concatenate, &mixes)?;
        if let Some(w_o) = self.graph.at(Role::WO).filter(|_| self.recipe.output.projected) {
            last = self.graph.add("P_again", Op::Product, &[last, w_o])?;
        }
        // The sum of one matrix is that matrix under another name.
        let parts = if self.recipe.output.residual { vec![result, last] } else { vec![last] };
        self.graph.add(Stage::Output.name(), Op::Add, &parts)
    }

    /// The node of a role in the second pass.
    fn role_again(&mut self, role: Role, result: NodeId) -> Result<NodeId> {
        let weights = role.weights().and_then(|weights| self.graph.at(weights));
        let replaced = self.graph.at(if weights.is_some() { Role::X } else { role });
        let shape = self.graph[result].shape();
        if replaced.is_none_or(|replaced| self.graph[replaced].shape() != shape) {
            return Err(Error::new(format!("the result is {shape}, and cannot go through attention again")));
        }
        match weights {
            Some(weights) => {
                self.graph.add(&format!("{}_again", role.name()), Op::Product, &[result, weights])
            }
            None => Ok(result),
        }
    }

    /// The columns of each head.
    fn blocks_again(&mut self, whole: NodeId, count: usize, role: Role) -> Result<Vec<NodeId>> {
        if count == 1 {
            return Ok(vec![whole]);
        }
        split(&mut self.graph, &format!("{}_again", role.name()), whole, count, Split::Blocks)
    }
}
