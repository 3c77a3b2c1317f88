//! From queries and keys to weights: the steps of one head, in the order in which every pipeline takes them.

use crate::attention::{Axis, Base, Mask};
use crate::error::{Error, Result};
use crate::graph::{Factor, Graph, NodeId, Op, Role, Stage};
use crate::matrix::Shape;

use super::alteration::Site;
use super::attend::{Head, Last, Pipeline};
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

/// Scores, scale, temperature, mask without a matrix, softmax; each node's name ends in the suffix.
///
/// # Shapes
/// q is (T, d_k), k is (N, d_k); all nodes are (T, N).
/// # Errors
/// If q and k differ in width, or a name is taken.
/// # Source
/// Vaswani et al. 2017, section 3.2.1, equation 1, and section 3.2.3.
pub fn weights(graph: &mut Graph, recipe: &Recipe, suffix: &str, pair: [NodeId; 2]) -> Result<Weights> {
    let head = Head { suffix: suffix.to_string(), ..Head::default() };
    Pipeline { head, ..Pipeline::new(graph, recipe) }.weights_of(pair)
}

/// Every cell with the other sign.
const NEGATED: Op = Op::Scale(Factor::Number(-1.0));

impl Pipeline<'_> {
    /// All steps of a head.
    pub(super) fn weights_of(&mut self, pair: [NodeId; 2]) -> Result<Weights> {
        let (scores, scaled, read) = self.read(pair)?;
        Ok(Weights { scores, scaled, read, weights: self.weights_from(read)? })
    }

    /// Everything before the softmax: the scores, the scaled scores, and what the softmax reads.
    pub(super) fn read(&mut self, [q, k]: [NodeId; 2]) -> Result<(NodeId, NodeId, NodeId)> {
        let (bias, biasing) = (self.head.bias, self.recipe.biasing);
        let scores = self.compared(match self.recipe.comparison {
            ScoreRows::QueriesWithKeys => [q, k],
            ScoreRows::KeysWithQueries => [k, q],
        })?;
        let scores = self.step(Stage::Scores, scores)?;
        let mut scaled = match bias.filter(|_| biasing == Biasing::BeforeScale) {
            Some(bias) => self.add("S_with_bias", Op::Add, &[scores, bias])?,
            None => scores,
        };
        scaled = self.capped(scaled, CapPlace::BeforeScale)?;
        if let Some(factor) = self.recipe.scale.factor(self.shape(k).cols) {
            scaled = self.step(Stage::Scaled, (Op::Scale(factor), vec![scaled]))?;
        }
        let mut read = self.biased([q, k], scaled)?;
        if self.recipe.temperature != 1.0 {
            read = self.step(Stage::Tempered, (Op::Temperature(self.recipe.temperature), vec![read]))?;
        }
        read = self.capped(read, CapPlace::BeforeMask)?;
        if let Some(masked) = self.masked(read)? {
            read = self.step(Stage::Masked, masked)?;
        }
        if let Some(decimals) = self.recipe.score_decimals {
            read = self.add("S_rounded", Op::Round(decimals), &[read])?;
        }
        Ok((scores, scaled, self.capped(read, CapPlace::AfterMask)?))
    }

    /// The scaled scores with the bias and that of the distances, in the recipe's way.
    fn biased(&mut self, pair: [NodeId; 2], scaled: NodeId) -> Result<NodeId> {
        let by_distance = self.position_bias(pair)?;
        let given = self.head.bias.and_then(|bias| {
            Some(match self.recipe.biasing {
                Biasing::Added => (Op::Add, [scaled, bias].into_iter().chain(by_distance).collect()),
                Biasing::Subtracted => (Op::Subtract, vec![scaled, bias]),
                Biasing::Twice => (Op::Add, vec![scaled, bias, bias]),
                Biasing::Multiplied => (Op::Multiply, vec![scaled, bias]),
                Biasing::Missing | Biasing::BeforeScale | Biasing::ToWeights => return None,
            })
        });
        match (given, by_distance) {
            (Some(biased), Some(by_distance)) if self.recipe.biasing != Biasing::Added => {
                let read = self.record("S_with_B", biased)?;
                self.step(Stage::Biased, (Op::Add, vec![read, by_distance]))
            }
            (Some(biased), _) => self.step(Stage::Biased, biased),
            (None, Some(by_distance)) => self.step(Stage::Biased, (Op::Add, vec![scaled, by_distance])),
            (None, None) => Ok(scaled),
        }
    }

    /// The scores after the soft-cap, where the recipe has it here.
    fn capped(&mut self, read: NodeId, place: CapPlace) -> Result<NodeId> {
        match self.recipe.soft_cap.filter(|_| self.recipe.cap_place == place) {
            Some(cap) => self.step(Stage::Capped, (Op::SoftCap(cap), vec![read])),
            None => Ok(read),
        }
    }

    /// Every query compared with every key.
    fn compared(&mut self, [a, b]: [NodeId; 2]) -> Result<Last> {
        let Shape { rows, cols } = self.shape(b);
        Ok(match self.recipe.score {
            Score::Dot => (Op::ProductTransposed, vec![a, b]),
            Score::Cosine => (Op::Cosine, vec![a, b]),
            Score::Untransposed => (Op::Product, vec![a, b]),
            Score::Featurewise(how) => self.featurewise(how, [a, b])?,
            Score::KeysReshaped => {
                let keys = self.add("K_reshaped", Op::Reshape { rows: cols, cols: rows }, &[b])?;
                (Op::Product, vec![a, keys])
            }
            Score::Distance => (NEGATED, vec![self.add("distance", Op::Euclidean, &[a, b])?]),
            Score::SquaredDistance => {
                let distance = self.add("distance", Op::Euclidean, &[a, b])?;
                (NEGATED, vec![self.add("distance_squared", Op::Multiply, &[distance, distance])?])
            }
            Score::RowsAsColumn | Score::RowsAsRow => {
                let products = self.add("products", Op::Multiply, &[a, b])?;
                let sums = self.add("row_sums", Op::Sums(Axis::Rows), &[products])?;
                let rows = self.shape(a).rows;
                if self.recipe.score == Score::RowsAsColumn {
                    let ones = self.add("row_ones", Op::Ones { rows: 1, cols: rows }, &[])?;
                    return Ok((Op::Product, vec![sums, ones]));
                }
                (Op::ProductTransposed, vec![self.add("row_ones", Op::Ones { rows, cols: 1 }, &[])?, sums])
            }
        })
    }

    /// The weights, with hidden ones replaced where the recipe does that after the softmax.
    pub(super) fn weights_from(&mut self, read: NodeId) -> Result<NodeId> {
        let recipe = self.recipe;
        let late = matches!(recipe.hiding, Hiding::AfterSoftmax | Hiding::WeightsReplaced(_));
        let weights = if late && recipe.mask.is_some() {
            let open = self.normalised("A_open", read)?;
            let open = self.record("A_open", open)?;
            match recipe.hiding {
                Hiding::WeightsReplaced(f64::NEG_INFINITY) => self.mask(open),
                Hiding::WeightsReplaced(number) => {
                    let kept = self.visible_part(open, read)?;
                    let kept = self.record("A_kept", kept)?;
                    self.filled(kept, (read, number))?
                }
                _ => self.visible_part(open, read)?,
            }
        } else {
            let name = self.name_before(&[Site::Weights], Stage::Weights.name());
            self.normalised(&name, read)?
        };
        let weights = self.step(Stage::Weights, weights)?;
        match self.head.bias.filter(|_| recipe.biasing == Biasing::ToWeights) {
            Some(bias) => self.add("A_biased", Op::Add, &[weights, bias]),
            None => Ok(weights),
        }
    }
}

// The divisors that turn scores or powers into weights, and ranges of a spreadsheet that move with the formula.

impl Pipeline<'_> {
    /// The function values over their divisor.
    fn divided(&mut self, powers: Last, axis: Axis) -> Result<Last> {
        let how = self.recipe.normalise;
        if how.divisor == Divisor::Nothing {
            return Ok(powers);
        }
        let powers = self.record("E", powers)?;
        let count = self.shape(powers).cols;
        Ok(match how.divisor {
            Divisor::Sum if !how.single => (Op::DivideBySum(axis), vec![powers]),
            Divisor::ColumnSum if !how.single => (Op::DivideBySum(Axis::Columns), vec![powers]),
            Divisor::WholeSum if !how.single => (Op::DivideBySum(Axis::Whole), vec![powers]),
            // Without a guard a row of zeros is 0/0, which a root mean square gives and a unit row does not.
            Divisor::Length => {
                let rows = self.add("E_rms", Op::RmsNorm(0.0), &[powers])?;
                (Op::Scale(Factor::InverseRoot(count)), vec![rows])
            }
            Divisor::Count => (Op::Scale(Factor::Inverse(count)), vec![powers]),
            Divisor::FirstSum => {
                let sums = self.sums("E_sum", powers)?;
                let first = self.add("E_sum_first", Op::Rows { start: 0, count: 1 }, &[sums])?;
                (Op::Divide, vec![powers, first])
            }
            _ => (Op::Quotient, vec![powers, self.divisor(powers)?]),
        })
    }

    /// The divisor of each cell.
    fn divisor(&mut self, powers: NodeId) -> Result<NodeId> {
        let (name, column) = match self.recipe.normalise.divisor {
            Divisor::SumFromHere(axis) => return self.sum_from_here(powers, axis),
            Divisor::MisplacedSum => {
                let sums = self.sums("E_sum", powers)?;
                return self.across("E_sum", sums, powers);
            }
            Divisor::Max => ("E_largest", self.add("E_largest", Op::Max(Axis::Rows), &[powers])?),
            Divisor::SumAnd(_) => ("E_sum", self.sums("E_sum", powers)?),
            Divisor::SizeSum => {
                let sizes = self.sizes("E", powers)?;
                let sizes = self.record("E_sizes", sizes)?;
                ("E_sum", self.sums("E_sum", sizes)?)
            }
            _ => {
                let sums = self.sums("E_sum_double", powers)?;
                ("E_sum", self.add("E_sum", Op::SingleRange, &[sums])?)
            }
        };
        let spread = self.down(name, column, powers)?;
        let Divisor::SumAnd(number) = self.recipe.normalise.divisor else { return Ok(spread) };
        let Shape { rows, cols } = self.shape(powers);
        let ones = self.add("ones", Op::Ones { rows, cols }, &[])?;
        let more = self.add("E_more", Op::Scale(Factor::Number(number)), &[ones])?;
        self.add("E_divisor", Op::Add, &[spread, more])
    }

    /// The sums of each row from each column on, of each column from each row on, or of each row and all rows below it.
    fn sum_from_here(&mut self, powers: NodeId, axis: Axis) -> Result<NodeId> {
        let Shape { rows, cols } = self.shape(powers);
        // A square with 1 in row i of columns 1 to i, and 0 elsewhere.
        let size = if axis == Axis::Rows { cols } else { rows };
        let square = self.add("square_of_ones", Op::Ones { rows: size, cols: size }, &[])?;
        let lower = Mask { causal: true, ..Mask::default() };
        let earlier = self.add("earlier", Op::MaskPattern(lower), &[square])?;
        if axis == Axis::Rows {
            return self.add("E_sums_from_here", Op::Product, &[powers, earlier]);
        }
        let later = self.add("later", Op::Transpose, &[earlier])?;
        if axis == Axis::Columns {
            return self.add("E_sums_from_here", Op::Product, &[later, powers]);
        }
        let sums = self.sums("E_sum", powers)?;
        let from_here = self.add("E_sum_from_here", Op::Product, &[later, sums])?;
        self.down("E_sum_from_here", from_here, powers)
    }

    /// The max of each row of the scores from each column on.
    fn max_from_here(&mut self, read: NodeId) -> Result<NodeId> {
        let cols = self.shape(read).cols;
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

impl Pipeline<'_> {
    /// One score for each query (T, d) and key (N, d): a function of each feature, and its sum or max over the features.
    fn featurewise(&mut self, how: Featurewise, [a, b]: [NodeId; 2]) -> Result<Last> {
        let mut last: Option<NodeId> = None;
        for feature in 0..self.shape(a).cols {
            let own = self.feature(how, feature, [a, b])?;
            last = Some(match last {
                None => own,
                Some(before) => self.joined(how, feature, [before, own])?,
            });
        }
        Ok(match (last, how) {
            (None, _) => (Op::ProductTransposed, vec![a, b]),
            (Some(last), Featurewise::Manhattan | Featurewise::MaxDifference) => (NEGATED, vec![last]),
            (Some(last), _) => (Op::Add, vec![last]),
        })
    }

    /// The values of one feature for every query and key, (T, N).
    fn feature(&mut self, how: Featurewise, feature: usize, [a, b]: [NodeId; 2]) -> Result<NodeId> {
        let (rows, cols) = (self.shape(a).rows, self.shape(b).rows);
        let mut add =
            |name: &str, op: Op, inputs: &[NodeId]| self.add(&format!("{name}_feature{feature}"), op, inputs);
        let column = Op::Columns { start: feature, count: 1 };
        let (q, k) = (add("q", column.clone(), &[a])?, add("k", column, &[b])?);
        if matches!(how, Featurewise::MaxProduct) {
            return add("product", Op::ProductTransposed, &[q, k]);
        }
        let across = add("across", Op::Ones { rows: cols, cols: 1 }, &[])?;
        let down = add("down", Op::Ones { rows, cols: 1 }, &[])?;
        let q = add("queries", Op::ProductTransposed, &[q, across])?;
        let k = add("keys", Op::ProductTransposed, &[down, k])?;
        if matches!(how, Featurewise::Manhattan | Featurewise::MaxDifference) {
            let (above, below) = (add("above", Op::Subtract, &[q, k])?, add("below", Op::Subtract, &[k, q])?);
            let parts = [add("above_0", Op::Relu, &[above])?, add("below_0", Op::Relu, &[below])?];
            return add("size", Op::Add, &parts);
        }
        let sum = add("sum", Op::Add, &[q, k])?;
        if how == Featurewise::Sum {
            return Ok(sum);
        }
        // tanh x = 2 σ(2 x) − 1.
        let twice = add("twice", Op::Scale(Factor::Number(2.0)), &[sum])?;
        let sigmoid = add("sigmoid", Op::Sigmoid, &[twice])?;
        let doubled = add("doubled", Op::Scale(Factor::Number(2.0)), &[sigmoid])?;
        let ones = add("ones", Op::Ones { rows, cols }, &[])?;
        add("tanh", Op::Subtract, &[doubled, ones])
    }

    /// Two features together: their sum, or the larger of them.
    fn joined(&mut self, how: Featurewise, feature: usize, [a, b]: [NodeId; 2]) -> Result<NodeId> {
        let mut more = b;
        if matches!(how, Featurewise::MaxProduct | Featurewise::MaxDifference) {
            more = self.add(&format!("more_feature{feature}"), Op::Subtract, &[b, a])?;
            more = self.add(&format!("more_0_feature{feature}"), Op::Relu, &[more])?;
        }
        self.add(&format!("features_to{feature}"), Op::Add, &[a, more])
    }
}

// The effect of the mask on the scores of a head, correct or mistaken.

impl Pipeline<'_> {
    /// The scores with the hidden ones replaced; none where nothing is hidden before the softmax.
    fn masked(&mut self, read: NodeId) -> Result<Option<Last>> {
        if !self.recipe.mask.is_some() {
            return Ok(None);
        }
        Ok(Some(match self.recipe.hiding {
            Hiding::MinusInfinity => self.mask(read),
            Hiding::PlusInfinity => {
                let negated = self.add("S_negated", NEGATED, &[read])?;
                let hidden = self.mask(negated);
                (NEGATED, vec![self.record("S_negated_masked", hidden)?])
            }
            Hiding::Replaced(number) => {
                let kept = self.visible_part(read, read)?;
                let kept = self.record("S_visible", kept)?;
                self.filled(kept, (read, number))?
            }
            Hiding::Zero => self.visible_part(read, read)?,
            Hiding::OneAddedToVisible => (Op::Add, vec![read, self.visible(read)?]),
            Hiding::Added(number) => self.filled(read, (read, number))?,
            Hiding::AfterSoftmax | Hiding::WeightsReplaced(_) => return Ok(None),
        }))
    }

    /// A matrix with this number added in the cells that are hidden in `like`.
    fn filled(&mut self, a: NodeId, (like, number): (NodeId, f64)) -> Result<Last> {
        let mask = self.recipe.mask;
        let hidden = self.pattern("hidden", like, Mask { inverted: !mask.inverted, ..mask })?;
        let filled = self.add("S_hidden", Op::Scale(Factor::Number(number)), &[hidden])?;
        Ok((Op::Add, vec![a, filled]))
    }

    /// A matrix with 0 in the cells that are hidden in `like`.
    fn visible_part(&mut self, a: NodeId, like: NodeId) -> Result<Last> {
        Ok((Op::Multiply, vec![a, self.visible(like)?]))
    }

    /// A matrix with −∞ in the cells that the mask hides.
    fn mask(&self, a: NodeId) -> Last {
        (Op::Mask(self.recipe.mask), self.with_matrix(a))
    }

    /// `visible`: the mask as ones and zeros.
    fn visible(&mut self, like: NodeId) -> Result<NodeId> {
        self.pattern("visible", like, self.recipe.mask)
    }

    /// A mask as ones and zeros.
    fn pattern(&mut self, name: &str, like: NodeId, mask: Mask) -> Result<NodeId> {
        match self.graph.find(&format!("{name}{}", self.head.suffix)) {
            Some(known) => Ok(known),
            None => self.add(name, Op::MaskPattern(mask), &self.with_matrix(like)),
        }
    }

    fn with_matrix(&self, scores: NodeId) -> Vec<NodeId> {
        let matrix = self.head.mask.filter(|_| self.recipe.mask.matrix.is_some());
        [Some(scores), matrix].into_iter().flatten().collect()
    }
}

// From masked scores to weights: the softmax, and its mistaken replacements.

impl Pipeline<'_> {
    /// The weights of one head, which will have this name: the softmax of its scores, and the recipe's further steps on the weights.
    fn normalised(&mut self, name: &str, read: NodeId) -> Result<Last> {
        let then = self.recipe.normalise.then;
        if matches!(then, AfterNormalise::Logarithm | AfterNormalise::LogarithmOfVisible) {
            return self.logarithm(read, then == AfterNormalise::LogarithmOfVisible);
        }
        let once = self.once(read)?;
        if then == AfterNormalise::Mixed {
            return Ok(once);
        }
        let once = self.record(&format!("{name}_once"), once)?;
        Ok(match then {
            AfterNormalise::Masked => self.visible_part(once, once)?,
            AfterNormalise::AgainMasked => {
                let masked = self.mask(once);
                let masked = self.record("A_masked", masked)?;
                (softmax_with(self.recipe.guarded, Axis::Rows, Base::E), vec![masked])
            }
            _ => (softmax_with(true, Axis::Rows, Base::E), vec![once]),
        })
    }

    /// Function, divisor and guard.
    fn once(&mut self, read: NodeId) -> Result<Last> {
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
            return Ok((Op::SoftmaxWithSink { head }, vec![read, sink]));
        }
        if is_softmax {
            return Ok((softmax_with(self.recipe.guarded, axis, self.recipe.base), vec![read]));
        }
        if how.function == ScoreFunction::HardMaximum {
            // The limit of a softmax at temperature 0.
            let sharp = self.add("S_sharp", Op::Scale(Factor::Number(1e12)), &[read])?;
            return Ok((Op::Softmax(axis, Base::E), vec![sharp]));
        }
        // A softmax in single steps may have a guard for fully masked rows, too.
        let guards = self.recipe.guarded
            && matches!(how.function, ScoreFunction::Exponential | ScoreFunction::Sigmoid)
            && !matches!(how.divisor, Divisor::MisplacedSum);
        let powers = self.powers(read, axis, guards)?;
        let weights = self.divided(powers, axis)?;
        if !guards {
            return Ok(weights);
        }
        let name = if how.divisor == Divisor::Nothing { "E" } else { "A_unguarded" };
        Ok((Op::Guard, vec![self.record(name, weights)?, read]))
    }

    /// The sinks that this head reads, and the place of its own among them.
    fn sink_of_head(&mut self, sinks: NodeId) -> Result<(NodeId, usize)> {
        let own = self.head.number.map_or(0, |number| number - 1);
        let heads = self.shape(sinks).cols;
        Ok(match self.recipe.sink {
            SinkUse::InSoftmax | SinkUse::Missing => (sinks, own),
            SinkUse::OfHead(other) => (sinks, other.saturating_sub(1)),
            SinkUse::Reversed => (sinks, heads.saturating_sub(own + 1)),
            SinkUse::Negated => (self.add("sink_negated", NEGATED, &[sinks])?, own),
            SinkUse::Number(number) => {
                let ones = self.add("sink_ones", Op::Ones { rows: 1, cols: heads }, &[])?;
                let factor = Factor::Number(f64::from(number));
                (self.add("sink_replaced", Op::Scale(factor), &[ones])?, own)
            }
        })
    }

    /// The function of every score.
    fn powers(&mut self, read: NodeId, axis: Axis, guards: bool) -> Result<Last> {
        let how = self.recipe.normalise;
        Ok(match how.function {
            ScoreFunction::Exponential => {
                let shifted = self.shifted(read, axis, guards)?;
                let powers = (Op::Exponential(self.recipe.base), vec![shifted]);
                if !how.single {
                    return Ok(powers);
                }
                (Op::SingleRange, vec![self.record("E_double", powers)?])
            }
            // The sum of one matrix is that matrix: the same numbers under another name.
            ScoreFunction::Identity | ScoreFunction::HardMaximum => (Op::Add, vec![read]),
            ScoreFunction::Absolute => self.sizes("S", read)?,
            ScoreFunction::Squared => (Op::Multiply, vec![read, read]),
            ScoreFunction::Relu => (Op::Relu, vec![read]),
            ScoreFunction::Sigmoid => (Op::Sigmoid, vec![read]),
            ScoreFunction::Tanh => (Op::Tanh, vec![read]),
        })
    }

    /// The scores minus the shift; without a guard −∞ − (−∞) is NaN.
    fn shifted(&mut self, read: NodeId, axis: Axis, guards: bool) -> Result<NodeId> {
        let spread = match self.recipe.normalise.shift {
            Shift::Nothing => return Ok(read),
            Shift::Max if guards || axis != Axis::Rows => {
                return self.add("S_shifted", Op::MinusMax(axis), &[read]);
            }
            Shift::MaxFromHere => self.max_from_here(read)?,
            Shift::Max => {
                let max = self.add("S_largest", Op::Max(Axis::Rows), &[read])?;
                self.down("S_largest", max, read)?
            }
            Shift::Misplaced => {
                let max = self.add("S_largest", Op::Max(Axis::Rows), &[read])?;
                self.across("S_largest", max, read)?
            }
            Shift::OfColumns => {
                let max = self.add("S_largest", Op::Max(Axis::Columns), &[read])?;
                let max = self.add("S_largest_turned", Op::Transpose, &[max])?;
                self.across("S_largest", max, read)?
            }
        };
        self.add("S_shifted", Op::Subtract, &[read, spread])
    }

    /// The log-softmax, computed without the logarithm of a weight, which may be 0.
    fn logarithm(&mut self, read: NodeId, of_visible: bool) -> Result<Last> {
        let shifted = self.add("S_shifted", Op::MinusMax(Axis::Rows), &[read])?;
        let powers = self.add("E", Op::Exponential(self.recipe.base), &[shifted])?;
        let sums = self.sums("E_sum", powers)?;
        let logarithms = self.add("E_sum_ln", Op::Logarithm, &[sums])?;
        let spread = self.down("E_sum_ln", logarithms, read)?;
        // Hidden cells come from the unmasked scores, multiplied by 0.
        let masked = matches!(self.graph[read].op, Op::Mask(_)).then(|| self.graph[read].inputs[0]);
        let Some(open) = masked.filter(|_| of_visible) else {
            let all = self.add("A_logarithm", Op::Subtract, &[shifted, spread])?;
            let guarded = self.recipe.guarded;
            return Ok(if guarded { (Op::Guard, vec![all, read]) } else { (Op::Add, vec![all]) });
        };
        let max = self.add("S_largest", Op::Max(Axis::Rows), &[read])?;
        let max = self.down("S_largest", max, read)?;
        let shifted = self.add("S_open_shifted", Op::Subtract, &[open, max])?;
        let all = self.add("A_logarithm", Op::Subtract, &[shifted, spread])?;
        let kept = self.visible_part(all, read)?;
        if self.recipe.guarded {
            return Ok((Op::Guard, vec![self.record("A_visible", kept)?, read]));
        }
        Ok(kept)
    }

    /// The sum of each row.
    fn sums(&mut self, name: &str, a: NodeId) -> Result<NodeId> {
        self.add(name, Op::Sums(Axis::Rows), &[a])
    }

    /// The absolute values of a matrix with this letter.
    fn sizes(&mut self, letter: &str, a: NodeId) -> Result<Last> {
        let minus = self.add(&format!("{letter}_negated"), NEGATED, &[a])?;
        let above = self.add(&format!("{letter}_above_0"), Op::Relu, &[a])?;
        Ok((Op::Add, vec![above, self.add(&format!("{letter}_below_0"), Op::Relu, &[minus])?]))
    }

    /// A column (T, 1) repeated in as many columns as `like` has.
    fn down(&mut self, name: &str, column: NodeId, like: NodeId) -> Result<NodeId> {
        let ones = Op::Ones { rows: 1, cols: self.shape(like).cols };
        let ones = self.add(&format!("{name}_ones"), ones, &[])?;
        self.add(&format!("{name}_spread"), Op::Product, &[column, ones])
    }

    /// A column as a row, repeated in as many rows as `like` has: number j in column j.
    fn across(&mut self, name: &str, column: NodeId, like: NodeId) -> Result<NodeId> {
        let row = self.add(&format!("{name}_as_row"), Op::Transpose, &[column])?;
        let ones = Op::Ones { rows: self.shape(like).rows, cols: 1 };
        let ones = self.add(&format!("{name}_ones"), ones, &[])?;
        self.add(&format!("{name}_spread"), Op::Product, &[ones, row])
    }
}

/// A softmax with or without a guard for rows of −∞.
pub(super) fn softmax_with(guarded: bool, axis: Axis, base: Base) -> Op {
    if guarded { Op::Softmax(axis, base) } else { Op::UnguardedSoftmax(axis, base) }
}
