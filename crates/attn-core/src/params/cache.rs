//! The memory that remembered keys and values take.

use crate::error::{Error, Result};

use super::model::{Model, Positions};
use super::weight::too_many;

/// The key/value cache of one sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    /// L: layers.
    pub layers: u64,
    /// G: key/value heads in a layer.
    pub key_value_heads: u64,
    /// d_k = d_v: the width of a head.
    pub head_width: u64,
    /// The number of tokens read.
    pub context: u64,
    /// Bytes that one number takes.
    pub element_bytes: u64,
    /// The number of layers with a window, and the tokens that they keep, at most the context.
    pub windowed: Option<(u64, u64)>,
    /// For compressed keys and values: the widths of the latent vector and of the rotated key, which all heads share.
    pub latent: Option<(u64, u64)>,
    /// All of it, in bytes.
    pub bytes: u64,
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
        if self.latent.is_some() {
            return "L · (d_c + d_R) · context · bytes".to_string();
        }
        match self.windowed {
            None => "2 · L · G · d_k · context · bytes".to_string(),
            Some((layers, _)) if layers == self.layers => "2 · L · G · d_k · window · bytes".to_string(),
            Some(_) => "2 · G · d_k · bytes · (L_full · context + L_window · window)".to_string(),
        }
    }

    /// The bytes in figures, in the order of [`Cache::formula`].
    pub fn figures(&self) -> String {
        let Cache { layers, key_value_heads, head_width, context, element_bytes, .. } = self;
        if let Some((latent, rotary)) = self.latent {
            return format!("{layers} · ({latent} + {rotary}) · {context} · {element_bytes}");
        }
        match self.windowed {
            Some((windowed, tokens)) if windowed < *layers => format!(
                "2 · {key_value_heads} · {head_width} · {element_bytes} · ({} · {context} + {windowed} · {tokens})",
                layers - windowed
            ),
            windowed => {
                let tokens = windowed.map_or(*context, |(_, tokens)| tokens);
                format!("2 · {layers} · {key_value_heads} · {head_width} · {tokens} · {element_bytes}")
            }
        }
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
    let (windowed_layers, window) = windowed.unwrap_or((0, 0));
    let bytes = (|| {
        let full = (model.layers - windowed_layers).checked_mul(context)?;
        let tokens = full.checked_add(windowed_layers.checked_mul(window)?)?;
        let factors = match model.latent {
            Some(latent) => [1, 1, latent.key_value.checked_add(latent.rotary)?, element_bytes],
            None => [2, model.key_value_heads, model.head_width, element_bytes],
        };
        factors.into_iter().try_fold(tokens, |product: u64, factor| product.checked_mul(factor))
    })();
    Ok(Cache {
        layers: model.layers,
        key_value_heads: model.key_value_heads,
        head_width: model.head_width,
        context,
        element_bytes,
        windowed,
        latent: model.latent.map(|latent| (latent.key_value, latent.rotary)),
        bytes: bytes.ok_or_else(|| too_many("the key/value cache in bytes"))?,
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
