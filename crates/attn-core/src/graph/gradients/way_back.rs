//! The way back through each op: how its gradient is handed on to an input, or why it is not.
//!
//! A new op needs an arm here, or this does not compile.
#![deny(clippy::wildcard_enum_match_arm)]

use super::backward::Backward;
use super::{distances, functions, norms, positions, products, rows, selections, summaries};
use crate::attention::MatrixRule;
use crate::error::Result;
use crate::graph::{NodeId, Op};

/// Adds what a step hands on to one of its inputs.
pub type Rule = Box<dyn Fn(&mut Backward<'_>) -> Result<NodeId>>;

/// The way from an op back to one of its inputs.
pub enum WayBack {
    /// The gradient is handed on by this rule.
    Through(Rule),
    /// The gradient ends here, for this reason: the input says which numbers are taken, or is chosen and not learned.
    Ends(&'static str),
    /// The op has no gradient that would be of any use, for this reason.
    Refused(&'static str),
}

fn through(rule: impl Fn(&mut Backward<'_>) -> Result<NodeId> + 'static) -> WayBack {
    WayBack::Through(Box::new(rule))
}

const SELECTS: WayBack = WayBack::Ends("a mask says which cells are taken: it is chosen, not learned");
const FREQUENCIES: WayBack = WayBack::Ends("frequencies are chosen, not learned");
const ROUNDING: WayBack =
    WayBack::Refused("rounding is flat between its jumps, so that nothing could be learned through it");
const SINGULAR: WayBack =
    WayBack::Refused("singular values and vectors are checked, not derived: no step of attention reads them");

impl Op {
    /// The way back to an input, counted from 0.
    pub fn way_back(&self, input: usize) -> WayBack {
        match self {
            Op::Given(_)
            | Op::Ones { .. }
            | Op::Sinusoidal { .. }
            | Op::Frequencies { .. }
            | Op::Alibi(..) => WayBack::Ends("it reads nothing"),
            Op::Product => through(move |step| products::product(step, input)),
            Op::ProductTransposed => through(move |step| products::product_transposed(step, input)),
            Op::TransposedProduct => through(move |step| products::transposed_product(step, input)),
            Op::Linear(layout) => {
                let layout = *layout;
                through(move |step| products::linear(step, layout, input))
            }
            Op::Transpose => through(|step| step.finish(Op::Transpose, &[step.dy])),
            Op::Add | Op::OnePlus | Op::SingleRange => through(|step| step.same()),
            Op::Subtract => through(move |step| products::difference(step, input == 1)),
            Op::Change => through(move |step| products::difference(step, input == 0)),
            Op::Multiply => through(move |step| step.sloped(step.input(1 - input))),
            Op::Divide => through(move |step| products::divide(step, input)),
            Op::Times => through(move |step| products::times(step, input)),
            Op::Quotient => through(move |step| products::quotient(step, input)),
            Op::Scale(factor) => {
                let factor = *factor;
                through(move |step| step.finish(Op::Scale(factor), &[step.dy]))
            }
            Op::Temperature(temperature) => {
                let temperature = *temperature;
                through(move |step| step.finish(Op::Temperature(temperature), &[step.dy]))
            }
            Op::SoftCap(cap) => {
                let cap = *cap;
                through(move |step| functions::soft_cap(step, cap))
            }
            Op::Mask(mask) => match (input, mask.matrix) {
                (0, _) | (_, Some(MatrixRule::Add)) if input == 0 || !mask.inverted => {
                    let mask = *mask;
                    through(move |step| rows::mask(step, mask))
                }
                _ => SELECTS,
            },
            Op::MaskPattern(_) => SELECTS,
            Op::MinusMax(axis) => {
                let axis = *axis;
                through(move |step| summaries::minus_max(step, axis))
            }
            Op::Exponential(base) => {
                let base = *base;
                through(move |step| functions::exponential(step, base))
            }
            Op::Logarithm => through(|step| step.finish(Op::Quotient, &[step.dy, step.input(0)])),
            Op::Root => through(functions::root),
            Op::Sums(axis) => {
                let axis = *axis;
                through(move |step| summaries::sums(step, axis))
            }
            Op::BlockSums { rows, cols } => {
                let (rows, cols) = (*rows, *cols);
                through(move |step| selections::block_sums(step, rows, cols))
            }
            Op::Max(axis) => {
                let axis = *axis;
                through(move |step| summaries::max(step, axis))
            }
            Op::DivideBySum(axis) => {
                let axis = *axis;
                through(move |step| rows::divide_by_sum(step, axis))
            }
            Op::Softmax(axis, base) | Op::UnguardedSoftmax(axis, base) => {
                let (axis, base) = (*axis, *base);
                through(move |step| rows::softmax(step, axis, base))
            }
            Op::NegativeLogSoftmax => through(rows::negative_log_softmax),
            Op::SoftmaxWithSink { head } => {
                let head = *head;
                through(move |step| rows::softmax_with_sink(step, head, input))
            }
            Op::Guard if input == 0 => through(|step| step.finish(Op::Guard, &[step.dy, step.input(1)])),
            Op::Guard => WayBack::Ends("the scores only say which rows are hidden"),
            Op::Columns { .. } | Op::EveryNthColumn { .. } | Op::RepeatColumns(_) => {
                through(selections::of_columns)
            }
            Op::TokenRows(_) | Op::Rows { .. } => through(selections::of_rows),
            Op::ReverseRows => through(|step| step.finish(Op::ReverseRows, &[step.dy])),
            Op::SortRows(_) => {
                WayBack::Refused("sorting shows numbers in another order: no step of attention reads it")
            }
            Op::Concatenate => through(move |step| selections::concatenated(step, input)),
            Op::Stack(_) => through(move |step| selections::stacked(step, input)),
            Op::Reshape { .. } => through(selections::reshaped),
            Op::Relu => through(functions::relu),
            Op::EluPlusOne => through(functions::elu_plus_one),
            Op::Sigmoid => through(functions::sigmoid),
            Op::Tanh => through(functions::tanh),
            Op::Silu => through(functions::silu),
            Op::Gelu(form) => {
                let form = *form;
                through(move |step| functions::gelu(step, form))
            }
            Op::NormalShare => through(functions::normal_share),
            Op::MinusMean => through(|step| step.finish(Op::MinusMean, &[step.dy])),
            Op::RmsNorm(epsilon) => {
                let epsilon = *epsilon;
                through(move |step| norms::rms_norm(step, epsilon, input))
            }
            Op::LayerNorm(epsilon) => {
                let epsilon = *epsilon;
                through(move |step| norms::layer_norm(step, epsilon, input))
            }
            Op::Cosine => through(move |step| distances::cosine(step, input)),
            Op::Euclidean => through(move |step| distances::euclidean(step, input)),
            Op::UnitRows => through(|step| norms::unit_rows(step, step.input(0), step.y, step.dy)),
            Op::ScaledFrequencies(_) => FREQUENCIES,
            Op::Rotary(_) if input > 0 => FREQUENCIES,
            Op::Rotary(rotation) => {
                let rotation = *rotation;
                through(move |step| positions::rotary(step, rotation))
            }
            Op::BucketBias { column, buckets, places } => {
                let (column, buckets, places) = (*column, *buckets, *places);
                through(move |step| positions::bucket_bias(step, column, buckets, places))
            }
            Op::SingularVectors { .. } | Op::SingularValues => SINGULAR,
            Op::Diagonal => through(selections::diagonal),
            Op::Summary(statistic) => {
                let statistic = *statistic;
                through(move |step| summaries::summary(step, statistic))
            }
            Op::Round(_) | Op::Truncate(_) => ROUNDING,
            Op::Fused(_) => {
                WayBack::Refused("the fused kernel does not keep the steps that a gradient reads")
            }
        }
    }
}
