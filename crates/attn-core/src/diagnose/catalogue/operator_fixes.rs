//! What to look for in the code where something was done that attention does not do.

use super::stages::StageWords;
use crate::graph::recipes::{Alter, Combine, Move, Norm, Site};

/// “Use the queries as they are: look for `np.roll`, or a range that is off by one.”
pub(super) fn fix(place: &StageWords, alter: Alter) -> String {
    let are = if place.plural { "they are" } else { "it is" };
    let as_is = match place.stage {
        Site::Result => "Hand in the result as it is".to_string(),
        _ => format!("Use {} as {are}", place.noun),
    };
    match cause(alter) {
        Some(cause) => format!("{as_is}: {cause}."),
        None => format!("{as_is}."),
    }
}

/// What usually does it, and is to be deleted or corrected.
fn cause(alter: Alter) -> Option<&'static str> {
    let cause = match alter {
        Alter::Negated => "look for a minus sign that should not be there",
        Alter::Times(_) => "leave out the factor",
        Alter::Plus(_) | Alter::From(_) => "leave out the number that is added or subtracted",
        Alter::Relu
        | Alter::LeakyRelu
        | Alter::Gelu(_)
        | Alter::Elu
        | Alter::EluAndOne
        | Alter::Silu
        | Alter::Softplus
        | Alter::Sigmoid
        | Alter::Tanh => "leave out the activation function",
        Alter::Exponential
        | Alter::LogarithmOfSize
        | Alter::LogarithmOfOneAndSize
        | Alter::RootOfSize
        | Alter::Inverse
        | Alter::Squared
        | Alter::Cubed
        | Alter::Absolute
        | Alter::Sign
        | Alter::Clipped(..) => "leave out the function",
        Alter::Normed(Norm::Softmax, _) => "leave out the softmax",
        Alter::Normed(..) => "leave out the norm",
        Alter::Rounded(_) => "round only what you print",
        Alter::Truncated(_) => "look for a conversion to `int`, and round only what you print",
        Alter::Moved(how, _) => return moved(how),
        Alter::With(Combine::Added | Combine::Subtracted | Combine::SubtractedFrom, _) => {
            "leave out what is added or subtracted"
        }
        Alter::With(Combine::Multiplied | Combine::Product | Combine::ProductTransposed, _) => {
            "leave out the product"
        }
        Alter::With(Combine::Averaged, _) => "leave out the average",
        Alter::With(Combine::Replaced, _) => "look for a variable of another name",
        Alter::Transposed => "look for `.T` or `transpose`",
        Alter::ReadByColumn | Alter::ReshapedAndTransposed | Alter::Reshaped { .. } => {
            "look for a reshape where a transpose is meant"
        }
        Alter::Kept(_) => "look for `tril`, `triu` or `diag`",
        Alter::IdentityAdded => "look for an identity matrix (`eye`) that is added",
        Alter::Sorted(..) => "look for `sort`",
        Alter::TopK { .. } => "look for `topk`",
        Alter::Slanted(_) => "look for a reference without `$` in a formula that was filled down",
        Alter::Positions(_) | Alter::PositionsFromOne | Alter::PositionsInHalves => "leave out the positions",
        Alter::RotaryHalves | Alter::RotaryNeighbours => "leave out the rotary positions",
        Alter::PaddingZeroed(_) | Alter::Biased | Alter::AttendedAgain => return None,
    };
    Some(cause)
}

/// What usually moves, repeats or drops rows and columns.
fn moved(how: Move) -> Option<&'static str> {
    let cause = match how {
        Move::Reversed => "look for `[::-1]` or `flip`",
        Move::Later
        | Move::Earlier
        | Move::LaterFromZero
        | Move::EarlierToZero
        | Move::FirstTwice
        | Move::LastTwice => "look for `roll`, or an index that is off by one",
        Move::FirstGone => "look for a range that begins at 1, or a first line that was read as a header",
        Move::LastGone | Move::LastZero | Move::LastReplaced => "look for a range that ends one too early",
        Move::FirstZero => "look for a range that begins at 1",
        Move::FirstHalfZero | Move::LastHalfZero => "look for a loop over half of the range",
        Move::EndsSwapped | Move::HalvesSwapped | Move::NeighboursSwapped => {
            "look for an index in another order"
        }
        Move::FirstForAll | Move::FirstOnly => "look for an index of 0 where the loop's own index is meant",
        Move::LastForAll | Move::LastOnly => "look for an index of −1, or a variable that a loop overwrites",
        Move::MeanForAll | Move::MeanOnly => "look for a call of `mean` over the rows or columns",
        Move::SumForAll | Move::SumOnly => "look for a call of `sum` over the rows or columns",
        Move::MaxForAll | Move::MaxOnly => "look for a call of `max` over the rows or columns",
        Move::Cumulative | Move::CumulativeFromEnd => "look for `cumsum`, or a sum that is not set back to 0",
        Move::RunningMean => "look for a mean of all rows so far",
        Move::Differences => "look for `diff`",
        Move::Repeated => "look for `repeat` or `concatenate`",
    };
    Some(cause)
}
