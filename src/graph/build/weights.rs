//! From queries and keys to weights: the steps of one head, in the order in which every pipeline takes them.

use super::choices::{Comparison, Hiding, Normalise, Split};
use super::recipe::{Recipe, Scale, Score};
use crate::attention::{Axis, Mask};
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
    let mut head = Head { graph, recipe, suffix, mask: additions.mask };
    let (scores, scaled) = head.scores(q, k)?;
    let mut read = scaled;
    if let Some(bias) = additions.bias {
        read = head.add("S_biased", Op::Add, &[read, bias])?;
    }
    if recipe.temperature != 1.0 {
        read = head.add("S_tempered", Op::Temperature(recipe.temperature), &[read])?;
    }
    let read = head.masked(read)?;
    let weights = head.weights(read)?;
    Ok(Weights { scores, scaled, read, weights })
}

/// One head on its way.
struct Head<'a> {
    graph: &'a mut Graph,
    recipe: &'a Recipe,
    suffix: &'a str,
    mask: Option<NodeId>,
}

impl Head<'_> {
    fn add(&mut self, name: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        self.graph.add(&format!("{name}{}", self.suffix), op, inputs)
    }

    /// The scores, and the scaled scores.
    fn scores(&mut self, q: NodeId, k: NodeId) -> Result<(NodeId, NodeId)> {
        let compare = match self.recipe.score {
            Score::Dot => Op::ProductTransposed,
            Score::Cosine => Op::Cosine,
        };
        let width = self.graph[k].shape().cols;
        let factor = match self.recipe.scale {
            Scale::Auto => Some(Factor::InverseRoot(width)),
            Scale::Number(number) => Some(Factor::Number(number)),
            Scale::Inverse => Some(Factor::Inverse(width)),
            Scale::Root => Some(Factor::Root(width)),
            Scale::InverseRootOf(width) => Some(Factor::InverseRoot(width)),
            Scale::None => None,
        };
        let pair = match self.recipe.comparison {
            Comparison::QueriesWithKeys => [q, k],
            Comparison::KeysWithQueries => [k, q],
        };
        let scores = self.add("S", compare, &pair)?;
        match factor {
            Some(factor) => Ok((scores, self.add("S_scaled", Op::Scale(factor), &[scores])?)),
            None => Ok((scores, scores)),
        }
    }

    /// The scores after what is done to the hidden ones, rounded where the recipe rounds them.
    fn masked(&mut self, mut read: NodeId) -> Result<NodeId> {
        let recipe = self.recipe;
        if recipe.mask.is_some() {
            read = match recipe.hiding {
                Hiding::MinusInfinity => {
                    let inputs = self.with_matrix(read);
                    self.add("S_masked", Op::Mask(recipe.mask), &inputs)?
                }
                Hiding::MinusBillion => {
                    let visible = self.pattern(read, recipe.mask)?;
                    let kept = self.add("S_visible", Op::Multiply, &[read, visible])?;
                    let hidden = Mask { inverted: !recipe.mask.inverted, ..recipe.mask };
                    let inputs = self.with_matrix(read);
                    let hidden = self.add("hidden", Op::MaskPattern(hidden), &inputs)?;
                    let filled = self.add("S_hidden", Op::Scale(Factor::Number(-1e9)), &[hidden])?;
                    self.add("S_masked", Op::Add, &[kept, filled])?
                }
                Hiding::Zero => {
                    let visible = self.pattern(read, recipe.mask)?;
                    self.add("S_masked", Op::Multiply, &[read, visible])?
                }
                Hiding::OneAddedToVisible => {
                    let visible = self.pattern(read, recipe.mask)?;
                    self.add("S_masked", Op::Add, &[read, visible])?
                }
                Hiding::OneAddedToHidden => {
                    let hidden = Mask { inverted: !recipe.mask.inverted, ..recipe.mask };
                    let hidden = self.pattern(read, hidden)?;
                    self.add("S_masked", Op::Add, &[read, hidden])?
                }
                Hiding::AfterSoftmax => read,
            };
        }
        match recipe.score_decimals {
            Some(decimals) => self.add("S_rounded", Op::Round(decimals), &[read]),
            None => Ok(read),
        }
    }

    /// The weights, after what is done to the hidden ones where that waits for the softmax.
    fn weights(&mut self, read: NodeId) -> Result<NodeId> {
        let recipe = self.recipe;
        let softmax = |axis| match recipe.guarded {
            true => Op::Softmax(axis, recipe.base),
            false => Op::UnguardedSoftmax(axis, recipe.base),
        };
        let normalise = match recipe.normalise {
            Normalise::OverKeys => softmax(Axis::Rows),
            Normalise::OverQueries => softmax(Axis::Columns),
            Normalise::OverAll => softmax(Axis::Whole),
            // The sum of one matrix is that matrix: the same numbers under another name.
            Normalise::Not => Op::Add,
            Normalise::BySum => Op::DivideBySum(Axis::Rows),
        };
        if !(recipe.hiding == Hiding::AfterSoftmax && recipe.mask.is_some()) {
            return self.add("A", normalise, &[read]);
        }
        let open = self.add("A_open", normalise, &[read])?;
        let visible = self.pattern(read, recipe.mask)?;
        self.add("A", Op::Multiply, &[open, visible])
    }

    /// `visible`: the mask as ones and zeros.
    fn pattern(&mut self, like: NodeId, mask: Mask) -> Result<NodeId> {
        let inputs = self.with_matrix(like);
        self.add("visible", Op::MaskPattern(mask), &inputs)
    }

    fn with_matrix(&self, scores: NodeId) -> Vec<NodeId> {
        [Some(scores), self.mask].into_iter().flatten().collect()
    }
}

/// A block of columns for each head: `Q_1`, `Q_2` …
///
/// # Errors
/// If the columns cannot be shared out evenly, or a name is taken.
pub fn split(graph: &mut Graph, name: &str, whole: NodeId, heads: usize, how: Split) -> Result<Vec<NodeId>> {
    let width = graph[whole].shape().cols;
    if heads == 0 || width == 0 || !width.is_multiple_of(heads) {
        return Err(Error::new(format!("the {width} columns of {name} cannot be split into {heads} heads"))
            .help(format!("the width of {name} must be a multiple of its number of heads")));
    }
    let count = width / heads;
    let block = |head| match how {
        Split::Blocks => Op::Columns { start: head * count, count },
        Split::Interleaved => Op::EveryNthColumn { start: head, step: heads },
    };
    (0..heads).map(|head| graph.add(&format!("{name}_{}", head + 1), block(head), &[whole])).collect()
}
