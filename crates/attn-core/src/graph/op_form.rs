//! How JSON has an op: `{"op": "scale", "params": {"factor": {"inverse-root": 64}}}`. Parameters that have no name in Rust get one.
//!
//! The derived functions `Op::serialize` and `Op::deserialize` know neither GELU nor the fused kernel, whose forms are ops of their
//! own in JSON. The traits' functions here do, and serde_json calls those.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::op::{Op, OpKind};
use super::op_parameters::{Factor, Fusion, GeluForm, Statistic};
use super::origin::Origin;
use crate::attention::{Axis, Base, HeadOf, Order, Places, WeightLayout};
use crate::text::{clip, nearest};

/// A module that writes the fields of a tuple variant by name, and reads them: `named!(softmax { axis: Axis, base: Base })`.
macro_rules! named {
    ($module:ident { $($(#[$attribute:meta])* $field:ident: $type:ty),+ }) => {
        pub(super) mod $module {
            use super::*;

            #[derive(Serialize, Deserialize)]
            #[serde(deny_unknown_fields)]
            struct Fields {
                $($(#[$attribute])* $field: $type),+
            }

            pub fn serialize<S: Serializer>($($field: &$type,)+ serializer: S) -> Result<S::Ok, S::Error> {
                Fields { $($field: $field.clone()),+ }.serialize(serializer)
            }

            #[allow(unused_parens, reason = "one field alone is no tuple")]
            pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<($($type),+), D::Error> {
                let fields = Fields::deserialize(from)?;
                Ok(($(fields.$field),+))
            }
        }
    };
}

named!(given { origin: Origin });
named!(linear { weights: WeightLayout });
named!(token_rows { ids: Vec<usize> });
named!(scale { factor: Factor });
named!(temperature {
    #[serde(with = "crate::json_number")]
    temperature: f64
});
named!(soft_cap {
    #[serde(with = "crate::json_number")]
    cap: f64
});
named!(along { axis: Axis });
named!(exponential { base: Base });
named!(softmax { axis: Axis, base: Base });
named!(repeat_columns { times: usize });
named!(sort_rows { order: Order });
named!(norm {
    #[serde(with = "crate::json_number")]
    epsilon: f64
});
named!(alibi { head: HeadOf, places: Places });
named!(summary { statistic: Statistic });
named!(decimals { decimals: u32 });

named!(drawn { seed: u32 });
named!(user { source: String });
named!(weights { name: String });
named!(stream { layer: usize });
named!(config { field: String });
named!(rows_from { origins: Vec<Origin> });

/// The new names of stacked rows, where they have any: a list of strings, or `null`.
pub(super) mod stack {
    use super::{Deserialize, Deserializer, Serialize, Serializer};
    use crate::matrix::Labels;

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Fields {
        labels: Option<Vec<String>>,
    }

    pub fn serialize<S: Serializer>(labels: &Option<Labels>, serializer: S) -> Result<S::Ok, S::Error> {
        Fields { labels: labels.as_ref().map(|labels| labels.to_vec()) }.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Labels>, D::Error> {
        Ok(Fields::deserialize(from)?.labels.map(Labels::from))
    }
}

impl Serialize for Op {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Op::Gelu(form) = self {
            return form.serialize(serializer);
        }
        if let Op::Fused(fusion) = self {
            return fusion.serialize(serializer);
        }
        Op::serialize(self, serializer)
    }
}

/// An op as it stands in a file, before its name is known.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NameAndParameters {
    op: String,
    #[serde(default)]
    params: Value,
}

impl<'de> Deserialize<'de> for Op {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Op, D::Error> {
        let NameAndParameters { op: name, params } = NameAndParameters::deserialize(from)?;
        let Some(kind) = OpKind::named(&name) else {
            let known: Vec<&str> = OpKind::all().flat_map(OpKind::names).collect();
            let near = nearest(&name, known.iter().copied());
            let near = near.map_or_else(String::new, |near| format!(", did you mean `{near}`?"));
            return Err(D::Error::custom(format!("there is no op `{}`{near}", clip(&name))));
        };
        // `{}`, `null` and nothing at all are the same: no parameters.
        let has_none = params.is_null() || params.as_object().is_some_and(Map::is_empty);
        let mut form = Map::from_iter([("op".to_string(), Value::String(name.clone()))]);
        if !has_none {
            form.insert("params".into(), params);
        }
        let form = Value::Object(form);
        let op = match kind {
            OpKind::Gelu => GeluForm::deserialize(form).map(Op::Gelu),
            OpKind::Fused => Fusion::deserialize(form).map(Op::Fused),
            _ => Op::deserialize(form),
        };
        op.map_err(|error| D::Error::custom(format!("the params of `{name}` cannot be used: {error}")))
    }
}

impl Op {
    /// The op's parameters in JSON, an object; `{}` where it has none.
    pub fn params(&self) -> Value {
        let form = serde_json::to_value(self).ok();
        let params = form.and_then(|form| form.get("params").cloned());
        params.filter(|params| !params.is_null()).unwrap_or_else(|| Value::Object(Map::new()))
    }
}
