//! The configurations of the small models that this program trains.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::text::clip;

use super::config_other_families::common;
use super::family::Family;
use super::fields::{Fields, shown};
use super::model::{Model, NormKind, NormPlaces, Norms, Positions, QueryKeyNorm};

/// Learned positions, a head of its own, no biases; a norm without gains, an MLP and a causal mask where the configuration has them.
pub(super) fn read(fields: &mut Fields, name: &str) -> Result<Model> {
    let model = common(fields, Family::AttnSmall, name)?;
    let norms = match choice(fields, "norm", ["none", "rms"])? {
        "none" => None,
        _ => {
            Some(Norms { kind: NormKind::RmsNorm, places: NormPlaces::Before, query_key: QueryKeyNorm::None })
        }
    };
    let intermediate = match choice(fields, "mlp", ["none", "relu"])? {
        "none" => without_mlp(fields)?,
        _ => fields.size("intermediate_size")?,
    };
    if fields.flag("tie_word_embeddings", false)? {
        return Err(Error::new("`tie_word_embeddings` is true, but these models have a head of their own")
            .help("write false: the file has a matrix `W_U` beside `W_E`"));
    }
    Ok(Model {
        intermediate,
        causal: fields.flag_stated("causal", true)?,
        positions: Positions::Learned(fields.size("max_position_embeddings")?),
        norms,
        ..model
    })
}

/// The width inside an MLP that is not there: 0.
fn without_mlp(fields: &Fields) -> Result<u64> {
    match fields.whole_or_none("intermediate_size")? {
        None | Some(0) => Ok(0),
        Some(width) => Err(Error::new(format!("`mlp` is `none`, but `intermediate_size` is {width}"))
            .help("write \"relu\" for layers with an MLP, or the size 0 for layers without")),
    }
}

/// One of two words, which must be stated: models with and without a norm or an MLP compute different numbers.
fn choice(fields: &Fields, key: &str, words: [&'static str; 2]) -> Result<&'static str> {
    let [first, second] = words;
    let said = match fields.object.get(key) {
        Some(Value::String(stated)) => match words.into_iter().find(|word| word == stated) {
            Some(word) => return Ok(word),
            None => format!("`{key}` is `{}`, which is not known", clip(stated)),
        },
        None | Some(Value::Null) => format!("the configuration has no `{key}`"),
        Some(other) => format!("`{key}` is {}, not a text", shown(other)),
    };
    Err(Error::new(said).help(format!("write \"{first}\" or \"{second}\"")))
}
