//! From queries and keys to weights: the steps of one head, in the order in which every pipeline takes them.

use super::choices::{Comparison, Hiding, Normalise, Split};
use super::recipe::{Recipe, Score};
use crate::attention::{Axis, Mask};
use crate::error::{Error, Result, counted};
use crate::graph::{Factor, Graph, NodeId, Op};
use crate::matrix::Shape;

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
    Head { graph, recipe, suffix, mask: additions.mask, never: None }.run([q, k], additions.bias)
}

/// The same steps, each recorded as one whose matrix is never formed.
///
/// # Errors
/// If a name is taken.
pub fn weights_never_formed(
    graph: &mut Graph,
    recipe: &Recipe,
    suffix: &str,
    [q, k]: [NodeId; 2],
    additions: Additions,
) -> Result<Weights> {
    let never = Some(Shape { rows: graph[q].shape().rows, cols: graph[k].shape().rows });
    Head { graph, recipe, suffix, mask: additions.mask, never }.run([q, k], additions.bias)
}

/// One head on its way.
struct Head<'a> {
    graph: &'a mut Graph,
    recipe: &'a Recipe,
    suffix: &'a str,
    mask: Option<NodeId>,
    /// The shape of all steps, if none of them is formed.
    never: Option<Shape>,
}

impl Head<'_> {
    fn run(mut self, [q, k]: [NodeId; 2], bias: Option<NodeId>) -> Result<Weights> {
        let (scores, scaled) = self.scores(q, k)?;
        let mut read = scaled;
        if let Some(bias) = bias {
            read = self.add("S_biased", Op::Add, &[read, bias])?;
        }
        if self.recipe.temperature != 1.0 {
            read = self.add("S_tempered", Op::Temperature(self.recipe.temperature), &[read])?;
        }
        let read = self.masked(read)?;
        let weights = self.weights(read)?;
        Ok(Weights { scores, scaled, read, weights })
    }

    fn add(&mut self, name: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let name = format!("{name}{}", self.suffix);
        match self.never {
            Some(shape) => self.graph.never_formed(&name, op, inputs, shape),
            None => self.graph.add(&name, op, inputs),
        }
    }

    /// The scores, and the scaled scores.
    fn scores(&mut self, q: NodeId, k: NodeId) -> Result<(NodeId, NodeId)> {
        let compare = match self.recipe.score {
            Score::Dot => Op::ProductTransposed,
            Score::Cosine => Op::Cosine,
        };
        let factor = self.recipe.scale.factor(self.graph[k].shape().cols);
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
    let blocks = blocks(graph, name, whole, heads, how)?;
    let add = |(head, block)| graph.add(&format!("{name}_{}", head + 1), block, &[whole]);
    blocks.into_iter().enumerate().map(add).collect()
}

/// The same blocks, read where they are and never formed by themselves.
///
/// # Errors
/// As [`split`].
pub fn split_never_formed(graph: &mut Graph, name: &str, whole: NodeId, heads: usize) -> Result<Vec<NodeId>> {
    let blocks = blocks(graph, name, whole, heads, Split::Blocks)?;
    let Shape { rows, cols } = graph[whole].shape();
    let shape = Shape { rows, cols: cols / heads };
    let add = |(head, block)| graph.never_formed(&format!("{name}_{}", head + 1), block, &[whole], shape);
    blocks.into_iter().enumerate().map(add).collect()
}

fn blocks(graph: &Graph, name: &str, whole: NodeId, heads: usize, how: Split) -> Result<Vec<Op>> {
    let width = graph[whole].shape().cols;
    if heads == 0 || width == 0 || !width.is_multiple_of(heads) {
        return Err(Error::new(format!(
            "the {} of {name} cannot be split into {}",
            counted(width, "column"),
            counted(heads, "head")
        ))
        .help(format!("give a number of heads that divides the width of {name}")));
    }
    let count = width / heads;
    let block = |head| match how {
        Split::Blocks => Op::Columns { start: head * count, count },
        Split::Interleaved => Op::EveryNthColumn { start: head, step: heads },
    };
    Ok((0..heads).map(block).collect())
}
