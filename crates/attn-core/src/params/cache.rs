//! The memory that remembered keys and values take.

use crate::error::{Error, Result};

use super::model::{Latent, Model, Positions};
use super::weight::too_many;

/// The key/value cache of one sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    /// G: key/value heads in a layer.
    pub key_value_heads: u64,
    /// All of it, in bytes.
    pub bytes: u64,
    /// What is multiplied, in letters and in figures.
    factors: Vec<[String; 2]>,
}

/// The usual abbreviation of the way in which the query heads of a layer share their keys and values: MHA if each has its own, MQA if
/// all share one, GQA between. A single head counts as MHA.
fn sharing(model: &Model) -> &'static str {
    match model.key_value_heads {
        heads if heads == model.query_heads => "MHA",
        1 => "MQA",
        _ => "GQA",
    }
}

impl Cache {
    /// The bytes in letters; with windows each kind of layer has its own product.
    pub fn formula(&self) -> String {
        self.factors.iter().map(|[letters, _]| &**letters).collect::<Vec<_>>().join(" · ")
    }

    /// The bytes in figures, in the order of [`Cache::formula`].
    pub fn figures(&self) -> String {
        self.factors.iter().map(|[_, figures]| &**figures).collect::<Vec<_>>().join(" · ")
    }
}

/// The key/value cache after `context` tokens, `element_bytes` a number (2 for half precision):
/// Σ over layers of `2 · G · d_k · tokens · element_bytes`, where a layer with a window keeps
/// `min(context, window)` tokens and every other layer all of them.
///
/// # Errors
/// If the context or the element is empty, the model has no positions so far out, or the bytes exceed 2⁶⁴ − 1.
pub fn cache(model: &Model, context: u64, element_bytes: u64) -> Result<Cache> {
    model.check()?;
    if model.is_encoder() {
        return Err(Error::new(format!("{} is an encoder, which keeps no keys and values", model.name))
            .help("only models that write a text token by token have a cache"));
    }
    if context == 0 || element_bytes == 0 {
        return Err(Error::new("a cache needs at least one token and one byte per number"));
    }
    if let Positions::Learned(positions) = model.positions
        && context > positions
    {
        let error = Error::new(format!("a context of {context} tokens is longer than {positions}"));
        let help =
            format!("{} has a learned vector for each of {positions} positions and no more", model.name);
        return Err(error.help(help));
    }
    let windowed = model
        .windows
        .map(|windows| (windows.layers.min(model.layers), windows.window))
        .filter(|&(layers, window)| layers > 0 && window < context);
    let factor = |letters: &str, value: u64| ([letters.to_string(), value.to_string()], Some(value));
    let (layers, heads, bytes) =
        (factor("L", model.layers), factor("G", model.key_value_heads), factor("bytes", element_bytes));
    let width = factor("d_k", model.head_width);
    let factors = match (model.latent, windowed) {
        (Some(Latent { key_value, rotary, .. }), _) => {
            let figures = format!("({key_value} + {rotary})");
            let width = (["(d_c + d_R)".to_string(), figures], key_value.checked_add(rotary));
            vec![layers, width, factor("context", context), bytes]
        }
        (None, Some((windowed, window))) if windowed < model.layers => {
            let full = model.layers - windowed;
            let letters = "(L_full · context + L_window · window)".to_string();
            let figures = format!("({full} · {context} + {windowed} · {window})");
            let tokens = full.checked_mul(context).zip(windowed.checked_mul(window));
            let tokens = tokens.and_then(|(full, windowed)| full.checked_add(windowed));
            vec![factor("2", 2), heads, width, bytes, ([letters, figures], tokens)]
        }
        (None, windowed) => {
            let tokens = windowed.map_or(factor("context", context), |(_, window)| factor("window", window));
            vec![factor("2", 2), layers, heads, width, tokens, bytes]
        }
    };
    let product = factors.iter().try_fold(1, |product: u64, (_, value)| product.checked_mul((*value)?));
    Ok(Cache {
        key_value_heads: model.key_value_heads,
        bytes: product.ok_or_else(|| too_many("the key/value cache in bytes"))?,
        factors: factors.into_iter().map(|(said, _)| said).collect(),
    })
}

/// The cache of the model as it is, and as it would be with a key/value head for every query head (MHA) and with a single one
/// (MQA), each under the usual abbreviation; the model's own is among them, most heads first. With compressed keys and values there is nothing
/// to compare: all heads share the cache.
///
/// # Errors
/// Those of [`cache`].
pub fn caches_by_sharing(
    model: &Model,
    context: u64,
    element_bytes: u64,
) -> Result<Vec<(&'static str, Cache)>> {
    if model.latent.is_some() {
        return Ok(Vec::new());
    }
    let mut heads = vec![model.query_heads, model.key_value_heads, 1];
    heads.dedup();
    heads
        .into_iter()
        .map(|key_value_heads| {
            let shared = Model { key_value_heads, ..model.clone() };
            Ok((sharing(&shared), cache(&shared, context, element_bytes)?))
        })
        .collect()
}
