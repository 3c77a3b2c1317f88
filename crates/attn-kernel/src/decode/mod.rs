//! The lane version for a few queries: lanes along the columns.
//!
//! Reading keys and values takes most of the time here, so each is read once for all query heads that share it. See
//! [`plain_decode`](crate::plain_decode) for the steps and their order.

mod block;
mod finish;
mod group;
mod lanes;
mod part;
mod scores;
mod softmax;
mod values;

pub(crate) use finish::{finish_row, scratch_bytes_to_finish};
pub(crate) use group::{Group, Partials, Query};
pub(crate) use part::{attend_part, scratch_bytes};
