//! An op in JSON: `{"op": "scale", "params": {"factor": {"inverse-root": 64}}}`.
//!
//! The derived functions `Op::serialize` and `Op::deserialize` have the form `{"scale": {…}}`, which takes the least code in a page.
//! They know neither GELU nor the fused kernel, whose forms are ops of their own in JSON. The traits' functions here do, and
//! serde_json calls those.

use serde::de::Error as _;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::text::{clip, nearest};

use super::op::{Op, OpKind};
use super::op_parameters::{Fusion, GeluForm};

impl Serialize for Op {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("op", self.name())?;
        let params = self.params();
        if params.as_object().is_none_or(|params| !params.is_empty()) {
            map.serialize_entry("params", &params)?;
        }
        map.end()
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
        let params = if has_none { Value::Null } else { params };
        let form = Value::Object(Map::from_iter([(name.clone(), params)]));
        let op = match kind {
            OpKind::Gelu => GeluForm::deserialize(&form).map(Op::Gelu),
            OpKind::Fused => Fusion::deserialize(&form).map(Op::Fused),
            _ => Op::deserialize(&form),
        };
        let wrong = |error| format!("the params of `{name}` cannot be used: {error}");
        let missing = || format!("the params of `{name}` are missing");
        op.map_err(|error| D::Error::custom(if has_none { missing() } else { wrong(error) }))
    }
}

impl Op {
    /// The op's parameters in JSON, an object; `{}` where it has none.
    pub fn params(&self) -> Value {
        let form = match self {
            Op::Gelu(form) => serde_json::to_value(form),
            Op::Fused(fusion) => serde_json::to_value(fusion),
            _ => Op::serialize(self, serde_json::value::Serializer),
        };
        let params = form.ok().and_then(|form| form.get(self.name()).cloned());
        params.filter(|params| !params.is_null()).unwrap_or_else(|| Value::Object(Map::new()))
    }
}
