//! From queries and keys to weights: the steps of one head, in the order in which every pipeline takes them.

use super::alter::{self, altered, name_before};
use super::choices::{Biasing, Hiding, ScoreRows};
use super::mechanisms::CapPlace;
use super::recipe::{Recipe, Score};
use crate::attention::Axis;
use crate::error::Result;
use crate::graph::{Factor, Graph, NodeId, Op, Role, Stage};
use crate::matrix::Shape;

/// The nodes between the queries and the mixing of values.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// `S`: every query compared with every key.
    pub scores: NodeId,
    /// `S_scaled`, or the scores where there is no scale.
    pub scaled: NodeId,
    /// The input of the softmax: the scores after scale, bias, temperature and mask, where the recipe has them.
    pub read: NodeId,
    /// `A`: the softmax of each row.
    pub weights: NodeId,
}

/// The bias of the scores and the mask matrix, both (T, N), for every head.
#[derive(Clone, Copy, Debug, Default)]
pub struct BiasAndMask {
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
    additions: BiasAndMask,
) -> Result<Weights> {
    let mut head = Head { graph, recipe, suffix, number: None, mask: additions.mask, never: None };
    let ScoreSteps { scores, scaled, read } = head.read([q, k], additions.bias)?;
    Ok(Weights { scores, scaled, read, weights: head.weights(read)? })
}

/// The same steps of one of several heads, counted from 1, or of the only one, recorded as never formed.
///
/// # Errors
/// If a name is taken.
pub(super) fn weights_never_formed(
    graph: &mut Graph,
    recipe: &Recipe,
    number: Option<usize>,
    [q, k]: [NodeId; 2],
    additions: BiasAndMask,
) -> Result<Weights> {
    let never = Some(Shape { rows: graph[q].shape().rows, cols: graph[k].shape().rows });
    let suffix = suffix(number);
    let mut head = Head { graph, recipe, suffix: &suffix, number, mask: additions.mask, never };
    let ScoreSteps { scores, scaled, read } = head.read([q, k], additions.bias)?;
    Ok(Weights { scores, scaled, read, weights: head.weights(read)? })
}

/// The input of one head's softmax, and the steps before it.
#[derive(Clone, Copy)]
pub(super) struct ScoreSteps {
    scores: NodeId,
    scaled: NodeId,
    pub read: NodeId,
}

/// `_2` for the second of several heads.
pub(super) fn suffix(head: Option<usize>) -> String {
    head.map_or_else(String::new, |head| format!("_{head}"))
}

/// The state of one head under construction.
pub(super) struct Head<'a> {
    pub graph: &'a mut Graph,
    pub recipe: &'a Recipe,
    /// The suffix of each node's name: the head, or the case of a demo.
    pub suffix: &'a str,
    /// The number of the head, from 1, where there are several.
    pub number: Option<usize>,
    pub mask: Option<NodeId>,
    /// The shape of all steps, if none of them is formed.
    pub never: Option<Shape>,
}

impl Head<'_> {
    /// Everything before the softmax.
    pub(super) fn read(&mut self, [q, k]: [NodeId; 2], bias: Option<NodeId>) -> Result<ScoreSteps> {
        let biasing = self.recipe.biasing;
        let early = bias.filter(|_| biasing == Biasing::BeforeScale);
        let (scores, scaled) = self.scores([q, k], early)?;
        let mut read = scaled;
        let mut by_distance = self.position_bias([q, k])?;
        if let Some(bias) = bias {
            let biased: Option<(Op, Vec<NodeId>)> = match biasing {
                Biasing::Added => {
                    Some((Op::Add, [read, bias].into_iter().chain(by_distance.take()).collect()))
                }
                Biasing::Subtracted => Some((Op::Subtract, vec![read, bias])),
                Biasing::Twice => Some((Op::Add, vec![read, bias, bias])),
                Biasing::Multiplied => Some((Op::Multiply, vec![read, bias])),
                Biasing::Missing | Biasing::BeforeScale | Biasing::ToWeights => None,
            };
            read = match (biased, by_distance) {
                (Some((op, inputs)), None) => self.step(Stage::Biased, op, &inputs)?,
                (Some((op, inputs)), Some(_)) => self.add("S_with_B", op, &inputs)?,
                (None, _) => read,
            };
        }
        if let Some(bias) = by_distance {
            read = self.step(Stage::Biased, Op::Add, &[read, bias])?;
        }
        if self.recipe.temperature != 1.0 {
            read = self.step(Stage::Tempered, Op::Temperature(self.recipe.temperature), &[read])?;
        }
        let read = self.capped(read, CapPlace::BeforeMask)?;
        let read = self.masked(read)?;
        let read = self.capped(read, CapPlace::AfterMask)?;
        Ok(ScoreSteps { scores, scaled, read })
    }

    /// The scores after the soft-cap, where the recipe has it here.
    fn capped(&mut self, read: NodeId, place: CapPlace) -> Result<NodeId> {
        match self.recipe.soft_cap.filter(|_| self.recipe.cap_place == place) {
            Some(cap) => self.step(Stage::Capped, Op::SoftCap(cap), &[read]),
            None => Ok(read),
        }
    }

    pub(super) fn add(&mut self, name: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let name = format!("{name}{}", self.suffix);
        match self.never {
            Some(shape) => self.graph.never_formed(&name, op, inputs, shape),
            None => self.graph.add(&name, op, inputs),
        }
    }

    /// A step of attention, under its own name.
    pub(super) fn step(&mut self, stage: Stage, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let id = self.add(stage.name(), op, inputs)?;
        self.graph.mark(id, stage.of_head(self.number));
        Ok(id)
    }

    /// A step of attention, after the recipe's alteration at this site.
    pub(super) fn altered(&mut self, at: alter::Site, stage: Stage, node: NodeId) -> Result<NodeId> {
        let name = format!("{}{}", stage.name(), self.suffix);
        let node = altered(self.graph, self.recipe, &[at], &name, (node, 0))?;
        self.graph.mark(node, stage.of_head(self.number));
        Ok(node)
    }

    /// The scores, and the scaled scores.
    fn scores(&mut self, [q, k]: [NodeId; 2], bias: Option<NodeId>) -> Result<(NodeId, NodeId)> {
        let factor = self.recipe.scale.factor(self.graph[k].shape().cols);
        let pair = match self.recipe.comparison {
            ScoreRows::QueriesWithKeys => [q, k],
            ScoreRows::KeysWithQueries => [k, q],
        };
        let name = name_before(self.recipe, &[alter::Site::Scores], Stage::Scores.name());
        let scores = self.compared(&name, pair)?;
        let scores = self.altered(alter::Site::Scores, Stage::Scores, scores)?;
        let read = match bias {
            Some(bias) => self.add("S_with_bias", Op::Add, &[scores, bias])?,
            None => scores,
        };
        let read = self.capped(read, CapPlace::BeforeScale)?;
        let Some(factor) = factor else { return Ok((scores, read)) };
        let name = name_before(self.recipe, &[alter::Site::Scaled], Stage::Scaled.name());
        let scaled = self.add(&name, Op::Scale(factor), &[read])?;
        let scaled = self.altered(alter::Site::Scaled, Stage::Scaled, scaled)?;
        Ok((scores, scaled))
    }

    /// Every query compared with every key.
    fn compared(&mut self, name: &str, [a, b]: [NodeId; 2]) -> Result<NodeId> {
        let negative = Op::Scale(Factor::Number(-1.0));
        match self.recipe.score {
            Score::Dot => self.add(name, Op::ProductTransposed, &[a, b]),
            Score::Cosine => self.add(name, Op::Cosine, &[a, b]),
            Score::Untransposed => self.add(name, Op::Product, &[a, b]),
            Score::Featurewise(how) => self.featurewise(name, how, [a, b]),
            Score::KeysReshaped => {
                let shape = self.graph[b].shape();
                let keys = Op::Reshape { rows: shape.cols, cols: shape.rows };
                let keys = self.add("K_reshaped", keys, &[b])?;
                self.add(name, Op::Product, &[a, keys])
            }
            Score::Distance => {
                let distance = self.add("distance", Op::Euclidean, &[a, b])?;
                self.add(name, negative, &[distance])
            }
            Score::SquaredDistance => {
                let distance = self.add("distance", Op::Euclidean, &[a, b])?;
                let square = self.add("distance_squared", Op::Multiply, &[distance, distance])?;
                self.add(name, negative, &[square])
            }
            Score::RowsAsColumn | Score::RowsAsRow => {
                let products = self.add("products", Op::Multiply, &[a, b])?;
                let sums = self.add("row_sums", Op::Sums(Axis::Rows), &[products])?;
                let rows = self.graph[a].shape().rows;
                match self.recipe.score {
                    Score::RowsAsColumn => {
                        let ones = self.add("row_ones", Op::Ones { rows: 1, cols: rows }, &[])?;
                        self.add(name, Op::Product, &[sums, ones])
                    }
                    _ => {
                        let ones = self.add("row_ones", Op::Ones { rows, cols: 1 }, &[])?;
                        self.add(name, Op::ProductTransposed, &[ones, sums])
                    }
                }
            }
        }
    }

    /// The weights, with hidden ones replaced where the recipe does that after the softmax, and rounded where it rounds them.
    pub(super) fn weights(&mut self, read: NodeId) -> Result<NodeId> {
        let recipe = self.recipe;
        let name = name_before(recipe, &[alter::Site::Weights], Stage::Weights.name());
        let weights = match recipe.hiding {
            Hiding::AfterSoftmax if recipe.mask.is_some() => {
                let open = self.normalised("A_open", read)?;
                let visible = self.visible(read)?;
                self.add(&name, Op::Multiply, &[open, visible])?
            }
            Hiding::WeightsReplaced(f64::NEG_INFINITY) if recipe.mask.is_some() => {
                let open = self.normalised("A_open", read)?;
                let inputs = self.with_matrix(open);
                self.add(&name, Op::Mask(recipe.mask), &inputs)?
            }
            Hiding::WeightsReplaced(number) if recipe.mask.is_some() => {
                let open = self.normalised("A_open", read)?;
                let visible = self.visible(read)?;
                let kept = self.add("A_kept", Op::Multiply, &[open, visible])?;
                let filled = self.filled(read, number)?;
                self.add(&name, Op::Add, &[kept, filled])?
            }
            _ => self.normalised(&name, read)?,
        };
        let weights = self.altered(alter::Site::Weights, Stage::Weights, weights)?;
        match self.graph.find(Role::Bias.name()).filter(|_| recipe.biasing == Biasing::ToWeights) {
            Some(bias) => self.add("A_biased", Op::Add, &[weights, bias]),
            None => Ok(weights),
        }
    }
}
