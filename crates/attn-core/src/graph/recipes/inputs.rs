//! The inputs of a pipeline.

use std::collections::BTreeMap;

use crate::graph::{BackwardPass, Given, Role};
use crate::matrix::Labels;

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
    /// T queries, (T, heads · d_k), or a stack of heads.
    pub q: Option<Given>,
    /// N keys, (N, key/value heads · d_k), or a stack of heads.
    pub k: Option<Given>,
    /// N values, (N, key/value heads · d_v), or a stack of heads.
    pub v: Option<Given>,
    /// The mask matrix, (T, N), where the recipe has a rule for it.
    pub mask: Option<Given>,
    /// The bias that is added to the scores of every head, (T, N).
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

impl AttendInputs {
    /// Tokens alone: they serve as queries, keys and values.
    pub fn of_tokens(x: impl Into<Given>) -> AttendInputs {
        AttendInputs { x: Some(x.into()), ..AttendInputs::default() }
    }

    /// The given tensor of a role, if there is one.
    pub fn get(&self, role: Role) -> Option<&Given> {
        match role {
            Role::X => self.x.as_ref(),
            Role::WQ => self.w_q.as_ref(),
            Role::WK => self.w_k.as_ref(),
            Role::WV => self.w_v.as_ref(),
            Role::WO => self.w_o.as_ref(),
            Role::Q => self.q.as_ref(),
            Role::K => self.k.as_ref(),
            Role::V => self.v.as_ref(),
            Role::Mask => self.mask.as_ref(),
            Role::Bias => self.bias.as_ref(),
            Role::QueryGain => self.query_gain.as_ref(),
            Role::KeyGain => self.key_gain.as_ref(),
            Role::Divisors => self.divisors.as_ref(),
            Role::PositionTable => self.position_table.as_ref(),
            Role::Sink => self.sink.as_ref(),
            Role::Gate => self.w_g.as_ref(),
        }
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
        match role {
            Role::X => &mut self.x,
            Role::WQ => &mut self.w_q,
            Role::WK => &mut self.w_k,
            Role::WV => &mut self.w_v,
            Role::WO => &mut self.w_o,
            Role::Q => &mut self.q,
            Role::K => &mut self.k,
            Role::V => &mut self.v,
            Role::Mask => &mut self.mask,
            Role::Bias => &mut self.bias,
            Role::QueryGain => &mut self.query_gain,
            Role::KeyGain => &mut self.key_gain,
            Role::Divisors => &mut self.divisors,
            Role::PositionTable => &mut self.position_table,
            Role::Sink => &mut self.sink,
            Role::Gate => &mut self.w_g,
        }
    }
}
