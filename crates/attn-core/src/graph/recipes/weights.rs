//! From queries and keys to weights: the steps of one head, in the order in which every pipeline takes them.

use crate::attention::{Axis, Base, Mask};
use crate::error::{Error, Result};
use crate::graph::{Factor, Graph, NodeId, Op, Role, Stage};
use crate::matrix::Shape;

use super::alter::{altered, name_before};
use super::alteration::Site;
use super::recipe::{
    AfterNormalise, Biasing, CapPlace, Divisor, Featurewise, Hiding, Normalise, NormaliseAxis, Recipe, Score,
    ScoreFunction, ScoreRows, Shift, SinkUse,
};

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

/// The bias of the scores and the mask matrix of a head, both (T, N), where there are any.
#[derive(Clone, Copy, Default)]
pub(super) struct BiasAndMask {
    pub bias: Option<NodeId>,
    pub mask: Option<NodeId>,
}

impl BiasAndMask {
    /// Those of a head, counted from 1: its own, or the ones that all heads share.
    pub fn of_head(graph: &Graph, number: Option<usize>) -> BiasAndMask {
        let of = |role: Role| graph.at(Stage::Role(role).of_head(number)).or_else(|| graph.at(role));
        BiasAndMask { bias: of(Role::Bias), mask: of(Role::Mask) }
    }
}

/// Scores, scale, temperature, mask without a matrix, softmax; each node's name ends in the suffix.
///
/// # Shapes
/// q is (T, d_k), k is (N, d_k); all nodes are (T, N).
/// # Errors
/// If q and k differ in width, or a name is taken.
/// # Source
/// Vaswani et al. 2017, section 3.2.1, equation 1, and section 3.2.3.
pub fn weights(graph: &mut Graph, recipe: &Recipe, suffix: &str, pair: [NodeId; 2]) -> Result<Weights> {
    Head { graph, recipe, suffix, number: None, additions: BiasAndMask::default(), never: None }.steps(pair)
}

/// The number of a head, from 1, where there are several.
pub(super) fn number(head: usize, heads: usize) -> Option<usize> {
    (heads > 1).then_some(head + 1)
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
    pub additions: BiasAndMask,
    /// The shape of all steps, if none of them is formed.
    pub never: Option<Shape>,
}

impl Head<'_> {
    /// All steps.
    pub(super) fn steps(&mut self, pair: [NodeId; 2]) -> Result<Weights> {
        let (scores, scaled, read) = self.read(pair)?;
        Ok(Weights { scores, scaled, read, weights: self.weights(read)? })
    }

    /// Everything before the softmax: the scores, the scaled scores, and what the softmax reads.
    pub(super) fn read(&mut self, [q, k]: [NodeId; 2]) -> Result<(NodeId, NodeId, NodeId)> {
        let (bias, biasing) = (self.additions.bias, self.recipe.biasing);
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
        Ok((scores, scaled, read))
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
    fn altered(&mut self, at: Site, stage: Stage, node: NodeId) -> Result<NodeId> {
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
        let name = name_before(self.recipe, &[Site::Scores], Stage::Scores.name());
        let scores = self.compared(&name, pair)?;
        let scores = self.altered(Site::Scores, Stage::Scores, scores)?;
        let read = match bias {
            Some(bias) => self.add("S_with_bias", Op::Add, &[scores, bias])?,
            None => scores,
        };
        let read = self.capped(read, CapPlace::BeforeScale)?;
        let Some(factor) = factor else { return Ok((scores, read)) };
        let name = name_before(self.recipe, &[Site::Scaled], Stage::Scaled.name());
        let scaled = self.add(&name, Op::Scale(factor), &[read])?;
        let scaled = self.altered(Site::Scaled, Stage::Scaled, scaled)?;
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
                if self.recipe.score == Score::RowsAsColumn {
                    let ones = self.add("row_ones", Op::Ones { rows: 1, cols: rows }, &[])?;
                    return self.add(name, Op::Product, &[sums, ones]);
                }
                let ones = self.add("row_ones", Op::Ones { rows, cols: 1 }, &[])?;
                self.add(name, Op::ProductTransposed, &[ones, sums])
            }
        }
    }

    /// The weights, with hidden ones replaced where the recipe does that after the softmax, and rounded where it rounds them.
    pub(super) fn weights(&mut self, read: NodeId) -> Result<NodeId> {
        let recipe = self.recipe;
        let name = name_before(recipe, &[Site::Weights], Stage::Weights.name());
        let weights = match recipe.hiding {
            Hiding::AfterSoftmax if recipe.mask.is_some() => {
                let open = self.normalised("A_open", read)?;
                self.visible_part(&name, open, read)?
            }
            Hiding::WeightsReplaced(f64::NEG_INFINITY) if recipe.mask.is_some() => {
                let open = self.normalised("A_open", read)?;
                self.mask(&name, open)?
            }
            Hiding::WeightsReplaced(number) if recipe.mask.is_some() => {
                let open = self.normalised("A_open", read)?;
                let kept = self.visible_part("A_kept", open, read)?;
                self.filled(&name, kept, (read, number))?
            }
            _ => self.normalised(&name, read)?,
        };
        let weights = self.altered(Site::Weights, Stage::Weights, weights)?;
        match self.additions.bias.filter(|_| recipe.biasing == Biasing::ToWeights) {
            Some(bias) => self.add("A_biased", Op::Add, &[weights, bias]),
            None => Ok(weights),
        }
    }
}

// The divisors that turn scores or powers into weights, and ranges of a spreadsheet that move with the formula.

impl Head<'_> {
    /// The function values over their divisor.
    fn divided(&mut self, name: &str, powers: NodeId, axis: Axis) -> Result<NodeId> {
        let how = self.recipe.normalise;
        let sum_axis = match how.divisor {
            Divisor::ColumnSum => Axis::Columns,
            Divisor::WholeSum => Axis::Whole,
            _ => axis,
        };
        match how.divisor {
            Divisor::Nothing => Ok(powers),
            Divisor::Sum | Divisor::ColumnSum | Divisor::WholeSum if !how.single => {
                self.add(name, Op::DivideBySum(sum_axis), &[powers])
            }
            Divisor::Length => {
                // Without a guard a row of zeros is 0/0, which a root mean square gives and a unit row does not.
                let width = self.graph[powers].shape().cols;
                let rows = self.add("E_rms", Op::RmsNorm(0.0), &[powers])?;
                self.add(name, Op::Scale(Factor::InverseRoot(width)), &[rows])
            }
            Divisor::Count => {
                let count = self.graph[powers].shape().cols;
                self.add(name, Op::Scale(Factor::Inverse(count)), &[powers])
            }
            Divisor::FirstSum => {
                let sums = self.add("E_sum", Op::Sums(Axis::Rows), &[powers])?;
                let first = self.add("E_sum_first", Op::Rows { start: 0, count: 1 }, &[sums])?;
                self.add(name, Op::Divide, &[powers, first])
            }
            _ => {
                let divisor = self.divisor(powers)?;
                self.add(name, Op::Quotient, &[powers, divisor])
            }
        }
    }

    /// The divisor of each cell.
    fn divisor(&mut self, powers: NodeId) -> Result<NodeId> {
        match self.recipe.normalise.divisor {
            Divisor::Max => {
                let max = self.add("E_largest", Op::Max(Axis::Rows), &[powers])?;
                self.down("E_largest", max, powers)
            }
            Divisor::MisplacedSum => {
                let sums = self.add("E_sum", Op::Sums(Axis::Rows), &[powers])?;
                self.across("E_sum", sums, powers)
            }
            Divisor::SizeSum => {
                let sizes = self.sizes("E", "E_sizes", powers)?;
                let sums = self.add("E_sum", Op::Sums(Axis::Rows), &[sizes])?;
                self.down("E_sum", sums, powers)
            }
            Divisor::SumAnd(number) => {
                let sums = self.add("E_sum", Op::Sums(Axis::Rows), &[powers])?;
                let spread = self.down("E_sum", sums, powers)?;
                let Shape { rows, cols } = self.graph[powers].shape();
                let ones = self.add("ones", Op::Ones { rows, cols }, &[])?;
                let more = self.add("E_more", Op::Scale(Factor::Number(number)), &[ones])?;
                self.add("E_divisor", Op::Add, &[spread, more])
            }
            Divisor::SumFromHere(axis) => self.sum_from_here(powers, axis),
            _ => {
                let sums = self.add("E_sum_double", Op::Sums(Axis::Rows), &[powers])?;
                let sums = self.add("E_sum", Op::SingleRange, &[sums])?;
                self.down("E_sum", sums, powers)
            }
        }
    }

    /// The sums of each row from each column on, of each column from each row on, or of each row and all rows below it.
    fn sum_from_here(&mut self, powers: NodeId, axis: Axis) -> Result<NodeId> {
        if axis == Axis::Rows {
            let earlier = self.ones_up_to_here(self.graph[powers].shape().cols)?;
            return self.add("E_sums_from_here", Op::Product, &[powers, earlier]);
        }
        let earlier = self.ones_up_to_here(self.graph[powers].shape().rows)?;
        let later = self.add("later", Op::Transpose, &[earlier])?;
        if axis == Axis::Columns {
            return self.add("E_sums_from_here", Op::Product, &[later, powers]);
        }
        let sums = self.add("E_sum", Op::Sums(Axis::Rows), &[powers])?;
        let from_here = self.add("E_sum_from_here", Op::Product, &[later, sums])?;
        self.down("E_sum_from_here", from_here, powers)
    }

    /// A square with 1 in row i of columns 1 to i, and 0 elsewhere.
    fn ones_up_to_here(&mut self, size: usize) -> Result<NodeId> {
        let square = self.add("square_of_ones", Op::Ones { rows: size, cols: size }, &[])?;
        let lower = Mask { causal: true, ..Mask::default() };
        self.add("earlier", Op::MaskPattern(lower), &[square])
    }

    /// The max of each row of the scores from each column on.
    fn max_from_here(&mut self, read: NodeId) -> Result<NodeId> {
        let cols = self.graph[read].shape().cols;
        let mut parts = Vec::new();
        for start in 0..cols {
            let rest = Op::Columns { start, count: cols - start };
            let rest = self.add(&format!("S_from_{}", start + 1), rest, &[read])?;
            parts.push(self.add(&format!("S_largest_from_{}", start + 1), Op::Max(Axis::Rows), &[rest])?);
        }
        self.add("S_largest_from_here", Op::Concatenate, &parts)
    }
}

// Scores computed feature by feature: mistaken replacements of the dot product.

impl Head<'_> {
    /// One score for each query (T, d) and key (N, d): a function of each feature, and its sum or max over the features.
    fn featurewise(&mut self, name: &str, how: Featurewise, [a, b]: [NodeId; 2]) -> Result<NodeId> {
        let width = self.graph[a].shape().cols;
        let mut last: Option<NodeId> = None;
        for feature in 0..width {
            let own = self.feature(how, feature, [a, b])?;
            last = Some(match last {
                None => own,
                Some(before) => self.joined(how, feature, [before, own])?,
            });
        }
        let Some(last) = last else { return self.add(name, Op::ProductTransposed, &[a, b]) };
        match how {
            Featurewise::Manhattan | Featurewise::MaxDifference => {
                self.add(name, Op::Scale(Factor::Number(-1.0)), &[last])
            }
            _ => self.add(name, Op::Add, &[last]),
        }
    }

    /// The values of one feature for every query and key, (T, N).
    fn feature(&mut self, how: Featurewise, feature: usize, [a, b]: [NodeId; 2]) -> Result<NodeId> {
        let (rows, cols) = (self.graph[a].shape().rows, self.graph[b].shape().rows);
        let column = Op::Columns { start: feature, count: 1 };
        let q = self.add(&format!("q_feature{feature}"), column.clone(), &[a])?;
        let k = self.add(&format!("k_feature{feature}"), column, &[b])?;
        let named = |what: &str| format!("{what}_feature{feature}");
        if matches!(how, Featurewise::MaxProduct) {
            return self.add(&named("product"), Op::ProductTransposed, &[q, k]);
        }
        let across = self.add(&named("across"), Op::Ones { rows: cols, cols: 1 }, &[])?;
        let down = self.add(&named("down"), Op::Ones { rows, cols: 1 }, &[])?;
        let q = self.add(&named("queries"), Op::ProductTransposed, &[q, across])?;
        let k = self.add(&named("keys"), Op::ProductTransposed, &[down, k])?;
        match how {
            Featurewise::Sum => self.add(&named("sum"), Op::Add, &[q, k]),
            Featurewise::TanhOfSum => {
                // tanh x = 2 σ(2 x) − 1.
                let sum = self.add(&named("sum"), Op::Add, &[q, k])?;
                let twice = self.add(&named("twice"), Op::Scale(Factor::Number(2.0)), &[sum])?;
                let sigmoid = self.add(&named("sigmoid"), Op::Sigmoid, &[twice])?;
                let doubled = self.add(&named("doubled"), Op::Scale(Factor::Number(2.0)), &[sigmoid])?;
                let ones = self.add(&named("ones"), Op::Ones { rows, cols }, &[])?;
                self.add(&named("tanh"), Op::Subtract, &[doubled, ones])
            }
            _ => {
                let parts = [
                    self.add(&named("above"), Op::Subtract, &[q, k])?,
                    self.add(&named("below"), Op::Subtract, &[k, q])?,
                ];
                let parts = [
                    self.add(&named("above_0"), Op::Relu, &[parts[0]])?,
                    self.add(&named("below_0"), Op::Relu, &[parts[1]])?,
                ];
                self.add(&named("size"), Op::Add, &parts)
            }
        }
    }

    /// Two features together: their sum, or the larger of them.
    fn joined(&mut self, how: Featurewise, feature: usize, [a, b]: [NodeId; 2]) -> Result<NodeId> {
        let name = format!("features_to{feature}");
        match how {
            Featurewise::MaxProduct | Featurewise::MaxDifference => {
                let more = self.add(&format!("more_feature{feature}"), Op::Subtract, &[b, a])?;
                let more = self.add(&format!("more_0_feature{feature}"), Op::Relu, &[more])?;
                self.add(&name, Op::Add, &[a, more])
            }
            _ => self.add(&name, Op::Add, &[a, b]),
        }
    }
}

// The effect of the mask on the scores of a head, correct or mistaken.

impl Head<'_> {
    /// The scores with the hidden ones replaced, rounded where the recipe rounds them.
    fn masked(&mut self, mut read: NodeId) -> Result<NodeId> {
        let recipe = self.recipe;
        let given = read;
        let name = name_before(recipe, &[Site::Masked], Stage::Masked.name());
        if recipe.mask.is_some() {
            read = match recipe.hiding {
                Hiding::MinusInfinity => self.mask(&name, read)?,
                Hiding::PlusInfinity => {
                    let negative = || Op::Scale(Factor::Number(-1.0));
                    let negated = self.add("S_negated", negative(), &[read])?;
                    let hidden = self.mask("S_negated_masked", negated)?;
                    self.add(&name, negative(), &[hidden])?
                }
                Hiding::Replaced(number) => {
                    let kept = self.visible_part("S_visible", read, read)?;
                    self.filled(&name, kept, (read, number))?
                }
                Hiding::Zero => self.visible_part(&name, read, read)?,
                Hiding::OneAddedToVisible => {
                    let visible = self.visible(read)?;
                    self.add(&name, Op::Add, &[read, visible])?
                }
                Hiding::Added(number) => self.filled(&name, read, (read, number))?,
                Hiding::AfterSoftmax | Hiding::WeightsReplaced(_) => read,
            };
        }
        // Where nothing is hidden before the softmax, there is no such step.
        if read != given {
            read = self.altered(Site::Masked, Stage::Masked, read)?;
        }
        match recipe.score_decimals {
            Some(decimals) => self.add("S_rounded", Op::Round(decimals), &[read]),
            None => Ok(read),
        }
    }

    /// A matrix with this number added in the cells that are hidden in `like`.
    fn filled(&mut self, name: &str, a: NodeId, (like, number): (NodeId, f64)) -> Result<NodeId> {
        let mask = self.recipe.mask;
        let hidden = self.pattern("hidden", like, Mask { inverted: !mask.inverted, ..mask })?;
        let filled = self.add("S_hidden", Op::Scale(Factor::Number(number)), &[hidden])?;
        self.add(name, Op::Add, &[a, filled])
    }

    /// A matrix with 0 in the cells that are hidden in `like`.
    fn visible_part(&mut self, name: &str, a: NodeId, like: NodeId) -> Result<NodeId> {
        let visible = self.visible(like)?;
        self.add(name, Op::Multiply, &[a, visible])
    }

    /// A matrix with −∞ in the cells that the mask hides.
    fn mask(&mut self, name: &str, a: NodeId) -> Result<NodeId> {
        let inputs = self.with_matrix(a);
        self.add(name, Op::Mask(self.recipe.mask), &inputs)
    }

    /// A mask as ones and zeros.
    fn pattern(&mut self, name: &str, like: NodeId, mask: Mask) -> Result<NodeId> {
        if let Some(known) = self.graph.find(&format!("{name}{}", self.suffix)) {
            return Ok(known);
        }
        let inputs = self.with_matrix(like);
        self.add(name, Op::MaskPattern(mask), &inputs)
    }

    fn with_matrix(&self, scores: NodeId) -> Vec<NodeId> {
        let matrix = self.additions.mask.filter(|_| self.recipe.mask.matrix.is_some());
        [Some(scores), matrix].into_iter().flatten().collect()
    }
}

// From masked scores to weights: the softmax, and its mistaken replacements.

impl Head<'_> {
    /// The weights `A` of one head: the softmax of its scores, and the recipe's further steps on the weights.
    fn normalised(&mut self, name: &str, read: NodeId) -> Result<NodeId> {
        let how = self.recipe.normalise;
        let first = match how.then {
            AfterNormalise::Mixed => name.to_string(),
            AfterNormalise::Logarithm => return self.logarithm(name, read, false),
            AfterNormalise::LogarithmOfVisible => return self.logarithm(name, read, true),
            _ => format!("{name}_once"),
        };
        let weights = self.once(&first, read)?;
        self.then(name, weights)
    }

    /// Function, divisor and guard.
    fn once(&mut self, name: &str, read: NodeId) -> Result<NodeId> {
        let how = self.recipe.normalise;
        let axis = match how.along {
            NormaliseAxis::Keys | NormaliseAxis::Heads => Axis::Rows,
            NormaliseAxis::Queries => Axis::Columns,
            NormaliseAxis::All => Axis::Whole,
        };
        let is_softmax = Normalise { along: how.along, then: how.then, ..Normalise::default() } == how;
        let sink = self.graph.at(Role::Sink).filter(|_| self.recipe.sink != SinkUse::Missing);
        // Mistaken weights without a softmax along the keys have no place for a sink.
        if let Some(sink) = sink.filter(|_| is_softmax && how.along == NormaliseAxis::Keys) {
            if self.recipe.base != Base::E {
                return Err(Error::new("a sink belongs to a softmax with powers of e"));
            }
            let (sink, head) = self.sink_of_head(sink)?;
            return self.add(name, Op::SoftmaxWithSink { head }, &[read, sink]);
        }
        if is_softmax {
            let softmax = softmax_with(self.recipe.guarded, axis, self.recipe.base);
            return self.add(name, softmax, &[read]);
        }
        if how.function == ScoreFunction::HardMaximum {
            // The limit of a softmax at temperature 0.
            let sharp = self.add("S_sharp", Op::Scale(Factor::Number(1e12)), &[read])?;
            return self.add(name, Op::Softmax(axis, Base::E), &[sharp]);
        }
        // A softmax in single steps may have a guard for fully masked rows, too.
        let guards = self.recipe.guarded
            && matches!(how.function, ScoreFunction::Exponential | ScoreFunction::Sigmoid)
            && !matches!(how.divisor, Divisor::MisplacedSum);
        let is_last = how.divisor == Divisor::Nothing && !guards;
        let powers = self.powers(if is_last { name } else { "E" }, read, axis, guards)?;
        let weights = match (how.divisor, guards) {
            (Divisor::Nothing, _) => powers,
            (_, true) => self.divided("A_unguarded", powers, axis)?,
            (_, false) => self.divided(name, powers, axis)?,
        };
        if guards { self.add(name, Op::Guard, &[weights, read]) } else { Ok(weights) }
    }

    /// The sinks that this head reads, and the place of its own among them.
    fn sink_of_head(&mut self, sinks: NodeId) -> Result<(NodeId, usize)> {
        let own = self.number.map_or(0, |number| number - 1);
        let heads = self.graph[sinks].shape().cols;
        match self.recipe.sink {
            SinkUse::InSoftmax | SinkUse::Missing => Ok((sinks, own)),
            SinkUse::OfHead(other) => Ok((sinks, other.saturating_sub(1))),
            SinkUse::Reversed => Ok((sinks, heads.saturating_sub(own + 1))),
            SinkUse::Negated => {
                let negated = self.add("sink_negated", Op::Scale(Factor::Number(-1.0)), &[sinks])?;
                Ok((negated, own))
            }
            SinkUse::Number(number) => {
                let ones = self.add("sink_ones", Op::Ones { rows: 1, cols: heads }, &[])?;
                let factor = Factor::Number(f64::from(number));
                Ok((self.add("sink_replaced", Op::Scale(factor), &[ones])?, own))
            }
        }
    }

    /// The function of every score.
    fn powers(&mut self, name: &str, read: NodeId, axis: Axis, guards: bool) -> Result<NodeId> {
        let how = self.recipe.normalise;
        let single = how.single && how.function == ScoreFunction::Exponential;
        let own = if single { "E_double" } else { name };
        let powers = match how.function {
            ScoreFunction::Exponential => {
                let shifted = self.shifted(read, axis, guards)?;
                self.add(own, Op::Exponential(self.recipe.base), &[shifted])?
            }
            // The sum of one matrix is that matrix: the same numbers under another name.
            ScoreFunction::Identity | ScoreFunction::HardMaximum => self.add(own, Op::Add, &[read])?,
            ScoreFunction::Absolute => self.sizes("S", own, read)?,
            ScoreFunction::Squared => self.add(own, Op::Multiply, &[read, read])?,
            ScoreFunction::Relu => self.add(own, Op::Relu, &[read])?,
            ScoreFunction::Sigmoid => self.add(own, Op::Sigmoid, &[read])?,
            ScoreFunction::Tanh => self.add(own, Op::Tanh, &[read])?,
        };
        if single { self.add(name, Op::SingleRange, &[powers]) } else { Ok(powers) }
    }

    /// The scores minus the shift; without a guard −∞ − (−∞) is NaN.
    fn shifted(&mut self, read: NodeId, axis: Axis, guards: bool) -> Result<NodeId> {
        let shift = self.recipe.normalise.shift;
        let max = match shift {
            Shift::Nothing => return Ok(read),
            Shift::Max if guards || axis != Axis::Rows => {
                return self.add("S_shifted", Op::MinusMax(axis), &[read]);
            }
            Shift::Max | Shift::Misplaced => self.add("S_largest", Op::Max(Axis::Rows), &[read])?,
            Shift::MaxFromHere => {
                let max = self.max_from_here(read)?;
                return self.add("S_shifted", Op::Subtract, &[read, max]);
            }
            Shift::OfColumns => {
                let max = self.add("S_largest", Op::Max(Axis::Columns), &[read])?;
                self.add("S_largest_turned", Op::Transpose, &[max])?
            }
        };
        let spread = match shift {
            Shift::Max => self.down("S_largest", max, read)?,
            _ => self.across("S_largest", max, read)?,
        };
        self.add("S_shifted", Op::Subtract, &[read, spread])
    }

    /// The log-softmax, computed without the logarithm of a weight, which may be 0.
    fn logarithm(&mut self, name: &str, read: NodeId, of_visible: bool) -> Result<NodeId> {
        let shifted = self.add("S_shifted", Op::MinusMax(Axis::Rows), &[read])?;
        let powers = self.add("E", Op::Exponential(self.recipe.base), &[shifted])?;
        let sums = self.add("E_sum", Op::Sums(Axis::Rows), &[powers])?;
        let logarithms = self.add("E_sum_ln", Op::Logarithm, &[sums])?;
        let spread = self.down("E_sum_ln", logarithms, read)?;
        // Hidden cells come from the unmasked scores, multiplied by 0.
        let masked = matches!(self.graph[read].op, Op::Mask(_)).then(|| self.graph[read].inputs[0]);
        if let (true, Some(open)) = (of_visible, masked) {
            let max = self.add("S_largest", Op::Max(Axis::Rows), &[read])?;
            let max = self.down("S_largest", max, read)?;
            let shifted = self.add("S_open_shifted", Op::Subtract, &[open, max])?;
            let all = self.add("A_logarithm", Op::Subtract, &[shifted, spread])?;
            let kept = if self.recipe.guarded { "A_visible" } else { name };
            let kept = self.visible_part(kept, all, read)?;
            return if self.recipe.guarded { self.add(name, Op::Guard, &[kept, read]) } else { Ok(kept) };
        }
        let all = self.add("A_logarithm", Op::Subtract, &[shifted, spread])?;
        let (op, inputs): (Op, &[NodeId]) =
            if self.recipe.guarded { (Op::Guard, &[all, read]) } else { (Op::Add, &[all]) };
        self.add(name, op, inputs)
    }

    /// The recipe's further steps on the weights.
    fn then(&mut self, name: &str, weights: NodeId) -> Result<NodeId> {
        let softmax = |guarded| softmax_with(guarded, Axis::Rows, Base::E);
        let recipe = self.recipe;
        match recipe.normalise.then {
            AfterNormalise::Mixed | AfterNormalise::Logarithm | AfterNormalise::LogarithmOfVisible => {
                Ok(weights)
            }
            AfterNormalise::Again => self.add(name, softmax(true), &[weights]),
            AfterNormalise::AgainMasked => {
                let masked = self.mask("A_masked", weights)?;
                self.add(name, softmax(recipe.guarded), &[masked])
            }
            AfterNormalise::Masked => self.visible_part(name, weights, weights),
        }
    }

    /// `visible`: the mask as ones and zeros.
    fn visible(&mut self, like: NodeId) -> Result<NodeId> {
        self.pattern("visible", like, self.recipe.mask)
    }

    /// The absolute values of a matrix with this letter.
    fn sizes(&mut self, letter: &str, name: &str, a: NodeId) -> Result<NodeId> {
        let minus = self.add(&format!("{letter}_negated"), Op::Scale(Factor::Number(-1.0)), &[a])?;
        let above = self.add(&format!("{letter}_above_0"), Op::Relu, &[a])?;
        let below = self.add(&format!("{letter}_below_0"), Op::Relu, &[minus])?;
        self.add(name, Op::Add, &[above, below])
    }

    /// A column (T, 1) repeated in as many columns as `like` has.
    fn down(&mut self, name: &str, column: NodeId, like: NodeId) -> Result<NodeId> {
        let cols = self.graph[like].shape().cols;
        let ones = self.add(&format!("{name}_ones"), Op::Ones { rows: 1, cols }, &[])?;
        self.add(&format!("{name}_spread"), Op::Product, &[column, ones])
    }

    /// A column as a row, repeated in as many rows as `like` has: number j in column j.
    fn across(&mut self, name: &str, column: NodeId, like: NodeId) -> Result<NodeId> {
        let rows = self.graph[like].shape().rows;
        let row = self.add(&format!("{name}_as_row"), Op::Transpose, &[column])?;
        let ones = self.add(&format!("{name}_ones"), Op::Ones { rows, cols: 1 }, &[])?;
        self.add(&format!("{name}_spread"), Op::Product, &[ones, row])
    }
}

/// A softmax with or without a guard for rows of −∞.
pub(super) fn softmax_with(guarded: bool, axis: Axis, base: Base) -> Op {
    if guarded { Op::Softmax(axis, base) } else { Op::UnguardedSoftmax(axis, base) }
}
