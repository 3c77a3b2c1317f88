//! Whether an op can have made a matrix of one shape from matrices of others: known without computing it.
//!
//! What a file says about a step is checked here before anything is allocated for it, so that no parameter of a file reaches a
//! sum or a place that the mathematics does not have.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::attention::{Axis, Mask, Places, RopeScaling};
use crate::error::{Error, ErrorKind, Result};
use crate::matrix::Shape;
use crate::text::{all_of, clip};

use super::op::Op;
use super::op_parameters::Fusion;
use super::origin::Origin;

/// Beyond this, not every whole number is an `f64`: no position and no width is larger.
const MOST: u64 = 1 << 53;
/// `f64` has no more decimals than this, 10³⁰⁸ being its largest power of ten.
const MOST_DECIMALS: u32 = 308;
/// More heads than any layer has: powers of this number are still whole numbers.
const MOST_HEADS: usize = 1 << 24;

impl Op {
    /// Checks that the op can have made a matrix of this shape from matrices of those shapes, and that its parameters are in
    /// their range. An op that passes can be [applied](Op::apply) to matrices of these shapes: it gives that shape, or an error.
    ///
    /// # Errors
    /// If the op takes another number of inputs, they do not fit it or each other, its result has another shape, or a parameter
    /// is out of its range.
    pub fn check_fits(&self, inputs: &[Shape], result: Shape) -> Result<()> {
        self.arity().check(self, inputs.len())?;
        if let Op::Given(Origin::Rows(rows)) = self
            && (rows.len() != result.rows || rows.iter().any(|row| matches!(row, Origin::Rows(_))))
        {
            return self.out_of_range("origin", "it has one origin for each row, and no list in it");
        }
        self.check_parameters()?;
        let given = self.result_shape(inputs, result).ok_or_else(|| self.misfit(inputs))?;
        if given == result {
            return Ok(());
        }
        Err(Error::new(format!("`{}`{} gives {given}, but the shape is {result}", self.name(), of(inputs)))
            .of_kind(ErrorKind::Shape))
    }

    fn misfit(&self, inputs: &[Shape]) -> Error {
        let params = self.params();
        let has_none = params.as_object().is_some_and(|params| params.is_empty());
        let with = if has_none { String::new() } else { format!(" with {}", clip(&params.to_string())) };
        Error::new(format!("`{}`{with} cannot be computed{}", self.name(), of(inputs)))
            .of_kind(ErrorKind::Shape)
    }

    /// The shape of the result; `None` where the inputs do not fit. What follows from no input is taken as it stands.
    fn result_shape(&self, inputs: &[Shape], result: Shape) -> Option<Shape> {
        let shape = |rows, cols| Some(Shape { rows, cols });
        // Ops without inputs never ask for them.
        let a = inputs.first().copied().unwrap_or(result);
        let b = inputs.get(1).copied();
        let row_of_a = Shape { rows: 1, cols: a.cols };
        let all = |wanted: Shape| inputs.iter().all(|input| *input == wanted);
        match self {
            Op::Given(_) => Some(result),
            Op::Fused(fusion) => fused(*fusion, a, result),
            Op::Product => b.filter(|b| a.cols == b.rows).and_then(|b| shape(a.rows, b.cols)),
            Op::TransposedProduct => b.filter(|b| a.rows == b.rows).and_then(|b| shape(a.cols, b.cols)),
            Op::ProductTransposed | Op::Cosine | Op::Euclidean => {
                b.filter(|b| a.cols == b.cols).and_then(|b| shape(a.rows, b.rows))
            }
            Op::Linear(layout) => {
                let (width, outputs) = layout.inputs_and_outputs(b?);
                let bias = inputs.get(2).copied();
                let fits = bias.is_none_or(|bias| bias == Shape { rows: 1, cols: outputs });
                (fits && a.cols == width).then_some(Shape { rows: a.rows, cols: outputs })
            }
            Op::TokenRows(ids) => ids.iter().all(|id| *id < a.rows).then_some(Shape { rows: ids.len(), ..a }),
            Op::Ones { rows, cols } => shape(*rows, *cols),
            Op::Transpose => shape(a.cols, a.rows),
            Op::Add | Op::Subtract | Op::Change | Op::Multiply | Op::Quotient | Op::Guard => {
                all(a).then_some(a)
            }
            Op::Mask(_) | Op::MaskPattern(_) => all(a).then_some(a),
            Op::Divide | Op::Times => b.filter(|b| *b == Shape { rows: 1, cols: 1 }).map(|_| a),
            Op::OnePlus
            | Op::Scale(_)
            | Op::Temperature(_)
            | Op::SoftCap(_)
            | Op::MinusMax(_)
            | Op::Exponential(_)
            | Op::Logarithm
            | Op::Root
            | Op::NormalShare
            | Op::SingleRange
            | Op::DivideBySum(_)
            | Op::Softmax(..)
            | Op::UnguardedSoftmax(..)
            | Op::NegativeLogSoftmax
            | Op::ReverseRows
            | Op::SortRows(_)
            | Op::Relu
            | Op::EluPlusOne
            | Op::Sigmoid
            | Op::Tanh
            | Op::Silu
            | Op::Gelu(_)
            | Op::MinusMean
            | Op::UnitRows
            | Op::Round(_)
            | Op::Truncate(_) => Some(a),
            Op::Sums(axis) | Op::Max(axis) => match axis {
                Axis::Rows => shape(a.rows, 1),
                Axis::Columns => shape(1, a.cols),
                Axis::Whole => shape(1, 1),
            },
            Op::BlockSums { rows, cols } => {
                let blocks = |length: usize, size: usize| (size > 0).then(|| length.div_ceil(size));
                shape(blocks(a.rows, *rows)?, blocks(a.cols, *cols)?)
            }
            Op::SoftmaxWithSink { head } => b.filter(|b| b.rows == 1 && *head < b.cols).map(|_| a),
            Op::Columns { start, count } => {
                start.checked_add(*count).filter(|end| *end <= a.cols).map(|_| Shape { cols: *count, ..a })
            }
            Op::Rows { start, count } => {
                start.checked_add(*count).filter(|end| *end <= a.rows).map(|_| Shape { rows: *count, ..a })
            }
            Op::EveryNthColumn { start, step } => {
                let taken = (*step > 0).then(|| a.cols.checked_sub(*start)).flatten()?;
                (taken > 0).then(|| Shape { cols: taken.div_ceil(*step), ..a })
            }
            Op::RepeatColumns(times) => {
                let cols = a.cols.checked_mul(*times).filter(|_| *times > 0)?;
                Some(Shape { cols, ..a })
            }
            Op::Concatenate => {
                let fits = inputs.iter().all(|input| input.rows == a.rows);
                fits.then(|| Shape { cols: inputs.iter().map(|input| input.cols).sum(), ..a })
            }
            Op::Stack(_) => {
                let fits = inputs.iter().all(|input| input.cols == a.cols);
                fits.then(|| Shape { rows: inputs.iter().map(|input| input.rows).sum(), ..a })
            }
            Op::Reshape { rows, cols } => {
                let same = rows.checked_mul(*cols) == a.rows.checked_mul(a.cols);
                (same && *cols > 0).then_some(Shape { rows: *rows, cols: *cols })
            }
            Op::RmsNorm(_) | Op::LayerNorm(_) => {
                inputs.iter().skip(1).all(|row| *row == row_of_a).then_some(a)
            }
            Op::Sinusoidal { tokens, width, .. } => shape(*tokens, *width),
            Op::Frequencies { width, .. } => shape(1, width / 2),
            Op::ScaledFrequencies(scaling) => {
                let is_wide = !matches!(scaling, RopeScaling::Dynamic { .. }) || a.cols > 1;
                (all(row_of_a) && is_wide).then_some(a)
            }
            Op::Rotary(_) => {
                b.filter(|f| f.rows == 1 && f.cols.checked_mul(2).is_some_and(|w| w <= a.cols)).map(|_| a)
            }
            Op::Alibi(_, Places { queries, keys, .. }) => shape(*queries, *keys),
            Op::BucketBias { column, buckets, places } => {
                let fits = *column < a.cols && buckets.count == a.rows;
                fits.then_some(Shape { rows: places.queries, cols: places.keys })
            }
            Op::SingularVectors { side, rank } => {
                let rows = if *side == super::Side::Left { a.rows } else { a.cols };
                (*rank <= a.rows.min(a.cols)).then_some(Shape { rows, cols: *rank })
            }
            Op::SingularValues => shape(1, a.rows.min(a.cols)),
            Op::Diagonal => (a.rows == 1).then_some(Shape { rows: a.cols, cols: a.cols }),
            Op::Summary(_) => shape(1, 1),
        }
    }

    fn out_of_range(&self, what: &str, range: &str) -> Result<()> {
        Err(Error::new(format!("the {what} of `{}` is out of its range: {range}", self.name())))
    }

    /// Checks the parameters that no shape limits, from a file, a recipe or a page.
    ///
    /// # Errors
    /// If one is out of its range.
    #[allow(clippy::wildcard_enum_match_arm, reason = "most ops have no such parameter")]
    pub(super) fn check_parameters(&self) -> Result<()> {
        let out_of_range = |what: &str, range: &str| self.out_of_range(what, range);
        let is_position = |first: usize| (first as u64) < MOST;
        match self {
            Op::Mask(Mask { window: Some(0), .. }) | Op::MaskPattern(Mask { window: Some(0), .. }) => {
                out_of_range("window", "a window of 1 shows the query's own position, and none is smaller")
            }
            Op::EveryNthColumn { step, .. } if !is_position(*step) => out_of_range("step", "at most 2⁵³"),
            Op::Sinusoidal { first, .. } if !is_position(*first) => out_of_range("first", "at most 2⁵³"),
            Op::Rotary(rotation) if !is_position(rotation.first) => out_of_range("first", "at most 2⁵³"),
            Op::ScaledFrequencies(scaling) => scaling.check(),
            Op::Alibi(head, _) if head.head == 0 || head.head > head.heads || head.heads > MOST_HEADS => {
                out_of_range("head", "it counts from 1 to the number of heads")
            }
            Op::Alibi(_, places) | Op::BucketBias { places, .. }
                if places.offset.unsigned_abs() as u64 > MOST =>
            {
                out_of_range("offset", "at most 2⁵³ to either side")
            }
            Op::BucketBias { buckets, .. } => buckets.check(),
            Op::Round(decimals) | Op::Truncate(decimals) if *decimals > MOST_DECIMALS => {
                out_of_range("decimals", "from 0 to 308")
            }
            _ => Ok(()),
        }
    }
}

/// What the fused kernel makes: a row for each query.
fn fused(fusion: Fusion, first: Shape, result: Shape) -> Option<Shape> {
    let fits = match fusion {
        Fusion::Output(_) | Fusion::LogSumExp => first.rows == result.rows,
    };
    fits.then_some(result)
}

/// “ of 2×3 and 3×2”, where there are inputs.
fn of(inputs: &[Shape]) -> String {
    if inputs.is_empty() {
        return String::new();
    }
    format!(" of {}", all_of(&inputs.iter().map(Shape::to_string).collect::<Vec<_>>()))
}
