//! From masked scores to weights: the softmax, and its mistaken replacements.

use super::choices_of_weights::{AfterNormalise, Divisor, Normalise, NormaliseAxis, ScoreFunction, Shift};
use super::mechanisms::SinkUse;
use super::weights::Head;
use crate::attention::{Axis, Base, Mask};
use crate::error::{Error, Result};
use crate::graph::{Factor, NodeId, Op, Role};

impl Head<'_> {
    /// The weights `A` of one head: the softmax of its scores, and the recipe's further steps on the weights.
    pub(super) fn normalised(&mut self, name: &str, read: NodeId) -> Result<NodeId> {
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
            ScoreFunction::Absolute => {
                let minus = self.add("S_negated", Op::Scale(Factor::Number(-1.0)), &[read])?;
                let parts =
                    [self.add("S_above_0", Op::Relu, &[read])?, self.add("S_below_0", Op::Relu, &[minus])?];
                self.add(own, Op::Add, &parts)?
            }
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
            let visible = self.visible(read)?;
            let kept = if self.recipe.guarded { "A_visible" } else { name };
            let kept = self.add(kept, Op::Multiply, &[all, visible])?;
            return if self.recipe.guarded { self.add(name, Op::Guard, &[kept, read]) } else { Ok(kept) };
        }
        let all = self.add("A_logarithm", Op::Subtract, &[shifted, spread])?;
        if self.recipe.guarded {
            self.add(name, Op::Guard, &[all, read])
        } else {
            self.add(name, Op::Add, &[all])
        }
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
                let inputs = self.with_matrix(weights);
                let masked = self.add("A_masked", Op::Mask(recipe.mask), &inputs)?;
                self.add(name, softmax(recipe.guarded), &[masked])
            }
            AfterNormalise::Masked => {
                let visible = self.visible(weights)?;
                self.add(name, Op::Multiply, &[weights, visible])
            }
        }
    }

    /// `hidden`: 1 where the mask hides, 0 elsewhere.
    pub(super) fn hidden(&mut self, like: NodeId) -> Result<NodeId> {
        let mask = self.recipe.mask;
        self.pattern("hidden", like, Mask { inverted: !mask.inverted, ..mask })
    }

    /// `visible`: the mask as ones and zeros.
    pub(super) fn visible(&mut self, like: NodeId) -> Result<NodeId> {
        self.pattern("visible", like, self.recipe.mask)
    }

    pub(super) fn ones(&mut self, like: NodeId) -> Result<NodeId> {
        let shape = self.graph[like].shape();
        self.add("ones", Op::Ones { rows: shape.rows, cols: shape.cols }, &[])
    }

    /// A column (T, 1) repeated in as many columns as `like` has.
    pub(super) fn down(&mut self, name: &str, column: NodeId, like: NodeId) -> Result<NodeId> {
        let cols = self.graph[like].shape().cols;
        let ones = self.add(&format!("{name}_ones"), Op::Ones { rows: 1, cols }, &[])?;
        self.add(&format!("{name}_spread"), Op::Product, &[column, ones])
    }

    /// A column as a row, repeated in as many rows as `like` has: number j in column j.
    pub(super) fn across(&mut self, name: &str, column: NodeId, like: NodeId) -> Result<NodeId> {
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
