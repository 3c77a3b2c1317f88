//! An op in JSON: `{"op": "scale", "params": {"factor": {"inverse-root": 64}}}`.
//!
//! The derived functions `Op::serialize` and `Op::deserialize` know neither GELU nor the fused kernel, whose forms are ops of their
//! own in JSON. The traits' functions here do, and serde_json calls those.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::op::{Op, OpKind};
use super::op_parameters::{Fusion, GeluForm};
use crate::text::{clip, nearest};

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
            OpKind::Gelu => GeluForm::deserialize(&form).map(Op::Gelu),
            OpKind::Fused => Fusion::deserialize(&form).map(Op::Fused),
            _ => Op::deserialize(&form),
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
