//! From queries and keys to weights: the steps of one head, in the order in which every pipeline takes them.

use super::recipe::{Recipe, Scale, Score};
use crate::attention::{Axis, Base};
use crate::error::{Error, Result};
use crate::graph::{Factor, Graph, NodeId, Op};

/// The nodes between the queries and the mixing of values.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// `S`: every query compared with every key.
    pub scores: NodeId,
    /// `S_scaled`, or the scores where there is no scale.
    pub scaled: NodeId,
    /// What the softmax reads: after scale, bias, temperature and mask, as far as there are any.
    pub read: NodeId,
    /// `A`: the softmax of each row.
    pub weights: NodeId,
}

/// What is added to the scores of every head, and the mask matrix, both (T, N).
#[derive(Clone, Copy, Debug, Default)]
pub struct Additions {
    /// The bias.
    pub bias: Option<NodeId>,
    /// The mask matrix, where the recipe has a rule for it.
    pub mask: Option<NodeId>,
}

/// Scores, scale, bias, temperature, mask, softmax; each node's name ends in the suffix.
///
/// # Shapes
/// q is (T, d_k), k is (N, d_k); all nodes are (T, N).
/// # Errors
/// If q and k differ in width, bias or mask in shape, or a name is taken.
/// # Source
/// Vaswani et al. 2017, section 3.2.1, equation 1, and section 3.2.3.
pub fn weights(
    graph: &mut Graph,
    recipe: &Recipe,
    suffix: &str,
    [q, k]: [NodeId; 2],
    additions: Additions,
) -> Result<Weights> {
    let compare = match recipe.score {
        Score::Dot => Op::ProductTransposed,
        Score::Cosine => Op::Cosine,
    };
    let factor = match recipe.scale {
        Scale::Auto => Some(Factor::InverseRoot(graph[k].shape().cols)),
        Scale::Number(number) => Some(Factor::Number(number)),
        Scale::None => None,
    };
    let mut add = |name: &str, op, inputs: &[NodeId]| graph.add(&format!("{name}{suffix}"), op, inputs);
    let scores = add("S", compare, &[q, k])?;
    let scaled = match factor {
        Some(factor) => add("S_scaled", Op::Scale(factor), &[scores])?,
        None => scores,
    };
    let mut read = scaled;
    if let Some(bias) = additions.bias {
        read = add("S_biased", Op::Add, &[read, bias])?;
    }
    if recipe.temperature != 1.0 {
        read = add("S_tempered", Op::Temperature(recipe.temperature), &[read])?;
    }
    if recipe.mask.is_some() {
        let inputs: Vec<NodeId> = [Some(read), additions.mask].into_iter().flatten().collect();
        read = add("S_masked", Op::Mask(recipe.mask), &inputs)?;
    }
    let weights = add("A", Op::Softmax(Axis::Rows, Base::E), &[read])?;
    Ok(Weights { scores, scaled, read, weights })
}

/// Contiguous blocks of columns, one for each head: `Q_1`, `Q_2` …
///
/// # Errors
/// If the columns cannot be shared out evenly, or a name is taken.
pub fn split(graph: &mut Graph, name: &str, whole: NodeId, heads: usize) -> Result<Vec<NodeId>> {
    let width = graph[whole].shape().cols;
    if heads == 0 || width == 0 || !width.is_multiple_of(heads) {
        return Err(Error::new(format!("the {width} columns of {name} cannot be split into {heads} heads"))
            .help(format!("the width of {name} must be a multiple of its number of heads")));
    }
    let count = width / heads;
    let block = |head| Op::Columns { start: head * count, count };
    (0..heads).map(|head| graph.add(&format!("{name}_{}", head + 1), block(head), &[whole])).collect()
}
