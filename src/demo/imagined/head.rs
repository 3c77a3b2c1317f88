//! One attention head, as several demos of this document take it: scores, scale, mask, weights, mix.

use crate::attention::{Axis, Base, Mask};
use crate::demo::Builder;
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op};

/// The nodes of a head.
#[derive(Clone, Copy)]
pub(super) struct Head {
    /// The weights.
    pub a: NodeId,
    /// The mix of the values.
    pub o: NodeId,
}

/// `O = softmax(Q Kᵀ / √d_k) V`, each node named with the suffix; with `causal` no query sees a later key.
pub(super) fn head(demo: &mut Builder, suffix: &str, [q, k, v]: [NodeId; 3], causal: bool) -> Result<Head> {
    let d_k = demo.matrix(k)?.cols();
    let mut s = demo.compute(&format!("S{suffix}"), Op::ProductTransposed, &[q, k])?;
    s = demo.compute(&format!("S_scaled{suffix}"), Op::Scale(Factor::InverseRoot(d_k)), &[s])?;
    if causal {
        let mask = Mask { causal, ..Mask::default() };
        s = demo.compute(&format!("S_masked{suffix}"), Op::Mask(mask), &[s])?;
    }
    let a = demo.compute(&format!("A{suffix}"), Op::Softmax(Axis::Rows, Base::E), &[s])?;
    let o = demo.compute(&format!("O{suffix}"), Op::Product, &[a, v])?;
    Ok(Head { a, o })
}
