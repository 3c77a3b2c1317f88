//! The rotary positions of a configuration, in its old keys or in its new ones.
//!
//! New files have `rope_parameters` with a `rope_type` and a `rope_theta`, in Gemma 3 one object for each type of layer. Older ones
//! have `rope_theta` beside `rope_scaling`, whose kind is called `type` or `rope_type`. A reader of one of them takes the other for
//! a model without scaling, and computes wrong scores without an error; so both are read, and what is unknown is refused.

use serde_json::{Map, Value};

use crate::attention::{RopeScaling, Yarn};
use crate::error::{Error, Result};
use crate::graph::recipes::Rotary;
use crate::matrix::Matrix;
use crate::params::Family;
use crate::params::family::Usual;
use crate::params::fields::{Fields, as_written, number};
use crate::text::clip;

/// The kinds of layers that may have positions of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LayerKind {
    /// It sees all tokens.
    Full,
    /// It sees a window.
    Sliding,
}

impl LayerKind {
    fn key(self) -> &'static str {
        match self {
            LayerKind::Full => "full_attention",
            LayerKind::Sliding => "sliding_attention",
        }
    }
}

/// Rotary positions, and LongRoPE's divisors.
pub(super) struct Rope {
    pub rotary: Rotary,
    pub divisors: Option<Matrix>,
}

/// The rotary positions of a kind of layer.
pub(super) fn rope(fields: &mut Fields, family: Family, head_width: u64, kind: LayerKind) -> Result<Rope> {
    let parameters = match fields.stated("rope_parameters") {
        None => old_keys(fields, family, kind)?,
        Some(Value::Object(parameters)) => {
            let parameters = match parameters.get(kind.key()) {
                Some(Value::Object(own)) => own.clone(),
                Some(Value::Null) | None if !parameters.values().any(Value::is_object) => parameters.clone(),
                _ => {
                    return Err(Error::new(format!("`rope_parameters` has no object `{}`", kind.key()))
                        .help("give one for each kind of layer, or one for all"));
                }
            };
            check_same(&parameters, &stated_in_old_keys(fields, family, kind)?)?;
            parameters
        }
        Some(other) => {
            return Err(Error::new(format!("`rope_parameters` is {}, not an object", as_written(other)))
                .help("write it as {\"rope_type\": \"default\", \"rope_theta\": 10000.0}"));
        }
    };
    let read = Fields { object: &parameters, assumed: Vec::new() };
    let stated = read.optional_number("rope_theta")?;
    let base = stated.map_or_else(|| missing_base(fields, family), Ok)?;
    if !(base > 1.0 && base.is_finite()) {
        return Err(Error::new(format!(
            "the base of the rotary positions is {base}, but it must be above 1"
        ))
        .help("`rope_theta` is usually 10000 or more: take the number that the model was trained with"));
    }
    let stated = read.optional_number("partial_rotary_factor")?;
    let part = stated.map_or_else(|| top_level_part(fields, family), Ok)?;
    let width = rotated_width(part, head_width)?;
    let (scaling, divisors) = scaling(fields, &read, base, width)?;
    let rotary = Rotary { base, width: Some(width as usize), scaling, ..Rotary::default() };
    Ok(Rope { rotary, divisors })
}

/// What older files say, in the words of the new ones, with the usual base of Gemma 3's layers with a window.
fn old_keys(fields: &Fields, family: Family, kind: LayerKind) -> Result<Map<String, Value>> {
    let mut parameters = stated_in_old_keys(fields, family, kind)?;
    if let (Some(base), LayerKind::Sliding) = (family.facts().local_base, kind) {
        parameters.entry("rope_theta").or_insert_with(|| base.into());
    }
    Ok(parameters)
}

/// What is in the older keys, in the words of the new ones.
fn stated_in_old_keys(fields: &Fields, family: Family, kind: LayerKind) -> Result<Map<String, Value>> {
    let mut parameters = match fields.stated("rope_scaling") {
        None => Map::new(),
        Some(Value::Object(scaling)) => scaling.clone(),
        Some(other) => {
            return Err(Error::new(format!("`rope_scaling` is {}, not an object", as_written(other)))
                .help("write it as {\"rope_type\": \"linear\", \"factor\": 2.0}, or null without scaling"));
        }
    };
    if kind == LayerKind::Sliding {
        // The scaling is that of the layers without a window.
        let base = fields.object.get("rope_local_base_freq");
        return Ok(base.map(|base| ("rope_theta".to_string(), base.clone())).into_iter().collect());
    }
    let mut keys = family.facts().rope_base_key.into_iter().chain(["rope_theta"]);
    if let Some(base) = keys.find_map(|key| fields.object.get(key)) {
        parameters.insert("rope_theta".into(), base.clone());
    }
    Ok(parameters)
}

/// Checks that what stands in old keys and in new ones is the same; a key that is in one of them alone is no contradiction.
fn check_same(new: &Map<String, Value>, old: &Map<String, Value>) -> Result<()> {
    let differs = |(key, value): &(&String, &Value)| {
        let own = new.get(*key).filter(|own| !own.is_null());
        !value.is_null()
            && *key != "type"
            && *key != "rope_type"
            && own.is_some_and(|own| !is_same(own, value))
    };
    if let Some((key, value)) = old.iter().find(differs) {
        let own = new.get(key).map(as_written).unwrap_or_default();
        return Err(contradiction(key, &own, &as_written(value)));
    }
    let kind = |object| Fields { object, assumed: Vec::new() }.rope_type().map(str::to_string);
    let (own, older) = (kind(new)?, kind(old)?);
    let is_stated = old.contains_key("type") || old.contains_key("rope_type");
    if is_stated && usual_kind(&own) != usual_kind(&older) {
        return Err(contradiction("rope_type", &own, &older));
    }
    Ok(())
}

/// Returns true for equal values; 10000 and 10000.0 are equal.
fn is_same(a: &Value, b: &Value) -> bool {
    a == b || a.as_f64().is_some_and(|a| Some(a) == b.as_f64())
}

fn contradiction(key: &str, new: &str, old: &str) -> Error {
    Error::new(format!(
        "`rope_parameters` and the older keys contradict each other: `{key}` is {new}, and {old} there"
    ))
    .help("keep the one that the model was trained with: the other one gives other scores")
}

/// A rope type by the first of its names.
fn usual_kind(kind: &str) -> &str {
    match kind {
        "ntk" => "dynamic",
        "su" => "longrope",
        other => other,
    }
}

fn missing_base(fields: &mut Fields, family: Family) -> Result<f64> {
    let usual = family.facts().rope_base.ok_or_else(|| {
        Error::new("the configuration has no `rope_theta`, the base of the rotary positions")
            .help("another base gives other numbers: add the one that the model was trained with")
    })?;
    Ok(fields.assume("rope_theta", usual, format!("{usual} (class default, not in the file)")))
}

/// The part of each head that is rotated, where `rope_parameters` does not say it.
fn top_level_part(fields: &mut Fields, family: Family) -> Result<f64> {
    let rotated = family.facts().rotated;
    let key = rotated.map_or("partial_rotary_factor", |rotated| rotated.key);
    match (fields.object.get(key), rotated) {
        (Some(value), _) => number(key, value),
        (None, Some(Usual { key, usual })) => Ok(fields.assume(key, usual, usual.to_string())),
        (None, None) => Ok(1.0),
    }
}

fn rotated_width(part: f64, head_width: u64) -> Result<u64> {
    let width = (head_width as f64 * part) as u64;
    if part == 1.0 && !width.is_multiple_of(2) {
        return Err(Error::new(format!(
            "a head has {head_width} columns, but rotary positions rotate pairs of columns"
        ))
        .help("check `head_dim`, or the width and the number of heads"));
    }
    if !(0.0..=1.0).contains(&part) || width == 0 || !width.is_multiple_of(2) {
        return Err(Error::new(format!(
            "{part} of the {head_width} columns of a head is {width}, but rotary positions rotate pairs of columns"
        ))
        .help("`partial_rotary_factor`, or `rotary_pct`, times the width of a head must be an even number"));
    }
    Ok(width)
}

/// The fields that only parameters of rotary positions have.
impl Fields<'_> {
    fn rope_type(&self) -> Result<&str> {
        let named = |key: &str| match self.stated(key) {
            None => Ok(None),
            Some(Value::String(kind)) => Ok(Some(kind.as_str())),
            Some(other) => Err(Error::new(format!("the rope type is {}, not a text", as_written(other)))
                .help("known are default, linear, dynamic (also called ntk), llama3, yarn and longrope")),
        };
        match (named("rope_type")?, named("type")?) {
            (Some(new), Some(old)) if usual_kind(new) != usual_kind(old) => {
                Err(Error::new(format!("`rope_type` is {}, but `type` is {}", clip(new), clip(old)))
                    .help("keep the one that the model was trained with"))
            }
            (new, old) => Ok(new.or(old).unwrap_or("default")),
        }
    }

    fn needed(&self, key: &str, kind: &str) -> Result<f64> {
        self.optional_number(key)?.ok_or_else(|| {
            Error::new(format!("the rope scaling {kind} has no `{key}`"))
                .help("add it to the configuration: another number gives other scores")
        })
    }

    fn row(&self, key: &str, length: u64) -> Result<Vec<f64>> {
        let listed = match self.object.get(key) {
            Some(Value::Array(listed)) => listed,
            _ => {
                return Err(Error::new(format!("the rope scaling longrope has no list `{key}`")).help(
                    "it has one number for each pair of columns: take the list of the model's own file",
                ));
            }
        };
        if listed.len() as u64 != length {
            return Err(Error::new(format!(
                "`{key}` has {} numbers, but {length} pairs of columns are rotated",
                listed.len()
            ))
            .help("write one number for each pair"));
        }
        let divisor = |entry: &Value| match number(key, entry)? {
            divisor if divisor > 0.0 && divisor.is_finite() => Ok(divisor),
            divisor => Err(Error::new(format!("`{key}` has the divisor {divisor}, but it must be above 0"))
                .help("the frequencies are divided by it: take the list that the model was trained with")),
        };
        listed.iter().map(divisor).collect()
    }
}

/// The scaling of the frequencies, with LongRoPE's divisors.
fn scaling(
    fields: &mut Fields,
    read: &Fields,
    base: f64,
    width: u64,
) -> Result<(Option<RopeScaling>, Option<Matrix>)> {
    let kind = read.rope_type()?;
    let context = fields.optional_size("max_position_embeddings")?.map(|context| context as f64);
    let scaling = match kind {
        "default" => return Ok((None, None)),
        "linear" => RopeScaling::Linear { factor: read.needed("factor", kind)? },
        "dynamic" | "ntk" => {
            let original = context.ok_or_else(|| {
                Error::new(format!("the rope scaling {kind} needs `max_position_embeddings`"))
                    .help("add it to the configuration: another length gives other scores")
            })?;
            RopeScaling::Dynamic { factor: read.needed("factor", kind)?, original, length: 0 }
        }
        "llama3" => RopeScaling::Llama3 {
            factor: read.needed("factor", kind)?,
            low: read.needed("low_freq_factor", kind)?,
            high: read.needed("high_freq_factor", kind)?,
            original: original(fields, read, context)?,
        },
        "yarn" => {
            let original = original(fields, read, context)?;
            RopeScaling::Yarn(yarn(fields, read, base, original, context)?)
        }
        "longrope" | "su" => {
            let original = original(fields, read, context)?;
            let factor = match (read.optional_number("factor")?, context) {
                (Some(factor), _) => factor,
                (None, Some(context)) => factor_of_contexts(fields, kind, context, original),
                (None, None) => fields.assume(&of(kind, "factor"), 1.0, "1".into()),
            };
            let rows = [read.row("short_factor", width / 2)?, read.row("long_factor", width / 2)?];
            let attention = read.optional_number("attention_factor")?;
            let scaling = RopeScaling::LongRope { factor, original, attention };
            checked(scaling)?;
            return Ok((Some(scaling), Some(Matrix::from_rows(&rows)?)));
        }
        other => {
            return Err(Error::new(format!("the rope type `{}` is not known", clip(other)))
                .help("known are default, linear, dynamic (also called ntk), llama3, yarn and longrope"));
        }
    };
    checked(scaling)?;
    Ok((Some(scaling), None))
}

/// A field of a rope scaling, for a remark.
fn of(kind: &str, field: &str) -> String {
    format!("{field} of the rope scaling {kind}")
}

/// The length of the original context: beside the scaling, at the top, or the model's own context.
fn original(fields: &mut Fields, read: &Fields, context: Option<f64>) -> Result<f64> {
    let key = "original_max_position_embeddings";
    let kind = read.rope_type()?;
    let beside = fields.optional_size(key)?.map(|length| length as f64);
    match (read.optional_number(key)?.or(beside), context) {
        (Some(original), _) => Ok(original),
        (None, Some(context)) => {
            Ok(fields.assume(&of(kind, key), context, format!("{context} (`max_position_embeddings`)")))
        }
        (None, None) => Err(Error::new(format!("the rope scaling {kind} has no `{key}`"))
            .help("add it to the configuration: another length gives other scores")),
    }
}

/// The factor of a scaling that does not say it.
fn factor_of_contexts(fields: &mut Fields, kind: &str, context: f64, original: f64) -> f64 {
    let said = format!("{} ({context} / {original} positions)", context / original);
    fields.assume(&of(kind, "factor"), context / original, said)
}

fn checked(scaling: RopeScaling) -> Result<()> {
    let checked = scaling.check();
    checked.map_err(|error| {
        error.help("take the number that the model was trained with: another one gives other scores")
    })
}

fn yarn(fields: &mut Fields, read: &Fields, base: f64, original: f64, context: Option<f64>) -> Result<Yarn> {
    let factor = match (read.optional_number("factor")?, context) {
        (Some(factor), _) => factor,
        (None, Some(context)) => factor_of_contexts(fields, "yarn", context, original),
        (None, None) => read.needed("factor", "yarn")?,
    };
    let positive = |key: &str| Ok::<_, Error>(read.optional_number(key)?.filter(|number| *number != 0.0));
    let attention =
        match (read.optional_number("attention_factor")?, positive("mscale")?, positive("mscale_all_dim")?) {
            (Some(attention), ..) => Some(attention),
            (None, Some(m), Some(all)) => Some(Yarn::scale(factor, m) / Yarn::scale(factor, all)),
            _ => None,
        };
    let truncate = match read.object.get("truncate") {
        None | Some(Value::Null) => fields.assume(&of("yarn", "truncate"), true, "true".into()),
        Some(Value::Bool(truncate)) => *truncate,
        Some(other) => {
            return Err(Error::new(format!("`truncate` is {}, not true or false", as_written(other))));
        }
    };
    let mut turns = |key: &str, usual: f64| -> Result<f64> {
        let stated = positive(key)?;
        Ok(stated.unwrap_or_else(|| fields.assume(&of("yarn", key), usual, usual.to_string())))
    };
    let (fast, slow) = (turns("beta_fast", 32.0)?, turns("beta_slow", 1.0)?);
    Ok(Yarn { factor, original, base, fast, slow, truncate, attention })
}
