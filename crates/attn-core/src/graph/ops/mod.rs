//! All ops, each in one place: its rule, which is its value, its explanation and its slope, its inputs, its shape, its equation, and its
//! way back.
#![deny(clippy::wildcard_enum_match_arm)]

mod arithmetic;
pub mod back;
pub mod definition;
mod functions;
mod given;
mod masks;
mod norms;
mod parts;
pub mod positions;
mod products;
mod singular;
pub mod softmax;
mod statistics;

use super::op::Op;
use super::rule::Request;
use definition::Ask;

impl Op {
    /// Asks the op's definition.
    pub(super) fn ask<R: Request, A: Ask<R>>(&self, op: A) -> A {
        match *self {
            Op::Given(ref origin) => given::given(op, origin),
            Op::Ones { rows, cols } => given::ones(op, rows, cols),
            Op::Fused(fusion) => given::fused(op, fusion),
            Op::Product => products::product(op),
            Op::ProductTransposed => products::product_transposed(op),
            Op::TransposedProduct => products::transposed_product(op),
            Op::Linear(layout) => products::linear(op, layout),
            Op::Add => arithmetic::add(op),
            Op::Subtract => arithmetic::subtract(op),
            Op::Change => arithmetic::change(op),
            Op::Multiply => arithmetic::multiply(op),
            Op::Quotient => arithmetic::quotient(op),
            Op::Divide => arithmetic::divide(op),
            Op::Times => arithmetic::times(op),
            Op::OnePlus => arithmetic::one_plus(op),
            Op::Scale(factor) => arithmetic::scaled(op, factor),
            Op::Temperature(temperature) => arithmetic::temperature(op, temperature),
            Op::SingleRange => arithmetic::single_range(op),
            Op::Round(decimals) => arithmetic::round(op, decimals),
            Op::Truncate(decimals) => arithmetic::truncate(op, decimals),
            Op::Exponential(base) => functions::exponential(op, base),
            Op::Logarithm => functions::logarithm(op),
            Op::Root => functions::root(op),
            Op::Tanh => functions::tanh(op),
            Op::SoftCap(cap) => functions::soft_cap(op, cap),
            Op::Relu => functions::relu(op),
            Op::EluPlusOne => functions::elu_plus_one(op),
            Op::Sigmoid => functions::sigmoid(op),
            Op::Silu => functions::silu(op),
            Op::Gelu(form) => functions::gelu(op, form),
            Op::NormalShare => functions::normal_share(op),
            Op::Mask(mask) => masks::masked(op, mask),
            Op::MaskPattern(mask) => masks::mask_pattern(op, mask),
            Op::Guard => masks::guard(op),
            Op::MinusMax(axis) => softmax::minus_max(op, axis),
            Op::DivideBySum(axis) => softmax::divide_by_sum(op, axis),
            Op::Softmax(axis, base) => softmax::softmax(op, axis, base),
            Op::UnguardedSoftmax(axis, base) => softmax::unguarded_softmax(op, axis, base),
            Op::NegativeLogSoftmax => softmax::negative_log_softmax(op),
            Op::SoftmaxWithSink { head } => softmax::softmax_with_sink(op, head),
            Op::Sums(axis) => statistics::sums(op, axis),
            Op::Max(axis) => statistics::max(op, axis),
            Op::BlockSums { rows, cols } => statistics::block_sums(op, rows, cols),
            Op::Summary(statistic) => statistics::summary(op, statistic),
            Op::MinusMean => norms::minus_mean(op),
            Op::RmsNorm(epsilon) => norms::rms_norm(op, epsilon),
            Op::LayerNorm(epsilon) => norms::layer_norm(op, epsilon),
            Op::UnitRows => norms::unit_rows(op),
            Op::Cosine => norms::cosine(op),
            Op::Euclidean => norms::euclidean(op),
            Op::Sinusoidal { first, tokens, width } => positions::sinusoidal(op, first, tokens, width),
            Op::Frequencies { width, base } => positions::frequencies(op, width, base),
            Op::ScaledFrequencies(scaling) => positions::scaled_frequencies(op, scaling),
            Op::Rotary(rotation) => positions::rotary(op, rotation),
            Op::Alibi(head, places) => positions::alibi(op, head, places),
            Op::BucketBias { column, buckets, places } => positions::bucket_bias(op, column, buckets, places),
            Op::Transpose => parts::transpose(op),
            Op::Columns { start, count } => parts::columns(op, start, count),
            Op::EveryNthColumn { start, step } => parts::every_nth_column(op, start, step),
            Op::RepeatColumns(times) => parts::repeat_columns(op, times),
            Op::Rows { start, count } => parts::rows(op, start, count),
            Op::TokenRows(ref ids) => parts::rows_of_tokens(op, ids),
            Op::ReverseRows => parts::reverse_rows(op),
            Op::SortRows(order) => parts::sort_rows(op, order),
            Op::Concatenate => parts::concatenate(op),
            Op::Stack(ref names) => parts::stack(op, names.as_ref()),
            Op::Reshape { rows, cols } => parts::reshape(op, rows, cols),
            Op::Diagonal => parts::diagonal(op),
            Op::SingularVectors { side, rank } => singular::vectors(op, side, rank),
            Op::SingularValues => singular::values(op),
        }
    }
}
