//! Q, K and V from X, as the demos of this document compute them.

use super::stream::ProjectedInputs;
use crate::demo::Builder;
use crate::error::Result;
use crate::graph::{NodeId, Op};

/// X and its three weight matrices, in the graph.
#[derive(Clone, Copy)]
pub struct Inputs {
    /// (T, E).
    pub x: NodeId,
    /// W_Q, W_K and W_V: (E, d_k), (E, d_k) and (E, d_v).
    pub weights: [NodeId; 3],
}

/// The widths of queries and keys, and of values.
#[derive(Clone, Copy)]
pub enum Widths {
    /// The width of X.
    AsX,
    /// d_k and d_v.
    Of(usize, usize),
}

/// Draws X and the weights, each with the suffix to its name; matrices after one of the user's fit its shape.
pub fn inputs(demo: &mut Builder, suffix: &str, places: &ProjectedInputs, widths: Widths) -> Result<Inputs> {
    let seed = demo.seed();
    let x = demo.drawn(&format!("X{suffix}"), places.x.tokens(seed))?;
    let features = demo.matrix(x)?.cols();
    let (d_k, d_v) = match widths {
        Widths::AsX => (features, features),
        Widths::Of(d_k, d_v) => (d_k, d_v),
    };
    let w_q = demo.drawn(&format!("W_Q{suffix}"), places.w_q.draw(seed, features, d_k))?;
    let d_k = demo.matrix(w_q)?.cols();
    let w_k = demo.drawn(&format!("W_K{suffix}"), places.w_k.draw(seed, features, d_k))?;
    let w_v = demo.drawn(&format!("W_V{suffix}"), places.w_v.draw(seed, features, d_v))?;
    Ok(Inputs { x, weights: [w_q, w_k, w_v] })
}

/// Q, K and V, with a suffix to their names.
pub fn projections(demo: &mut Builder, suffix: &str, inputs: Inputs) -> Result<[NodeId; 3]> {
    let mut project = |name: &str, weights: NodeId| {
        demo.compute(&format!("{name}{suffix}"), Op::Product, &[inputs.x, weights])
    };
    let [w_q, w_k, w_v] = inputs.weights;
    Ok([project("Q", w_q)?, project("K", w_k)?, project("V", w_v)?])
}
