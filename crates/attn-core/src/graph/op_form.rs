//! The names that the parameters of ops have in JSON, where they have none in Rust.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::named::named;
use super::op_parameters::{Factor, Statistic};
use super::origin::Origin;
use crate::attention::{Axis, Base, HeadOf, Order, Places, WeightLayout};
use crate::matrix::Labels;

named!(Given { origin: Origin });
named!(Linear { weights: WeightLayout });
named!(TokenRows { ids: Vec<usize> });
named!(Scale { factor: Factor });
named!(Temperature {
    #[serde(with = "crate::json_number")]
    temperature: f64
});
named!(SoftCap {
    #[serde(with = "crate::json_number")]
    cap: f64
});
named!(Along { axis: Axis });
named!(Exponential { base: Base });
named!(Softmax { axis: Axis, base: Base });
named!(RepeatColumns { times: usize });
named!(SortRows { order: Order });
named!(Norm {
    #[serde(with = "crate::json_number")]
    epsilon: f64
});
named!(Alibi { head: HeadOf, places: Places });
named!(Summary { statistic: Statistic });
named!(Decimals { decimals: u32 });

/// The new names of stacked rows, where they have any: a list of strings, or `null`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stack {
    labels: Option<Vec<String>>,
}

impl Stack {
    pub(super) fn serialize<S: Serializer>(labels: &Option<Labels>, to: S) -> Result<S::Ok, S::Error> {
        Serialize::serialize(&Stack { labels: labels.as_ref().map(|labels| labels.to_vec()) }, to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Labels>, D::Error> {
        let stack = <Stack as Deserialize>::deserialize(from)?;
        Ok(stack.labels.map(Labels::from))
    }
}
