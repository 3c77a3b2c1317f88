//! The layers that a configuration names: those with a sliding window, those with rotary positions.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::text::counted;

use super::family_defaults::{USUAL_FULL_LAYERS, USUAL_WINDOW, WindowRule};
use super::fields::{Fields, shown};
use super::model::Windows;

/// Some layers of a model. They are counted by formula, never one by one: a configuration may claim any number of layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SomeLayers {
    /// None of them.
    None,
    /// All of them.
    All,
    /// All from this one on, counted from 0.
    From(u64),
    /// All but each n-th.
    AllButEach(u64),
    /// Each n-th.
    Each(u64),
    /// Those that a list marks.
    Listed(Vec<bool>),
}

impl SomeLayers {
    /// The number of these among the first `layers`.
    pub fn count(&self, layers: u64) -> u64 {
        match self {
            SomeLayers::None => 0,
            SomeLayers::All => layers,
            SomeLayers::From(first) => layers.saturating_sub(*first),
            SomeLayers::AllButEach(nth) => layers - layers / nth,
            SomeLayers::Each(nth) => layers / nth,
            SomeLayers::Listed(marks) => marks.iter().filter(|mark| **mark).count() as u64,
        }
    }

    /// Returns true if a layer, counted from 0, is one of them.
    pub fn has(&self, layer: u64) -> bool {
        match self {
            SomeLayers::None => false,
            SomeLayers::All => true,
            SomeLayers::From(first) => layer >= *first,
            SomeLayers::AllButEach(nth) => !(layer + 1).is_multiple_of(*nth),
            SomeLayers::Each(nth) => (layer + 1).is_multiple_of(*nth),
            SomeLayers::Listed(marks) => marks.get(layer as usize).copied().unwrap_or(false),
        }
    }

    /// All layers that are none of these.
    fn others(self) -> SomeLayers {
        match self {
            SomeLayers::None => SomeLayers::All,
            SomeLayers::All => SomeLayers::None,
            SomeLayers::AllButEach(nth) => SomeLayers::Each(nth),
            SomeLayers::Each(nth) => SomeLayers::AllButEach(nth),
            SomeLayers::Listed(marks) => SomeLayers::Listed(marks.into_iter().map(|mark| !mark).collect()),
            SomeLayers::From(_) => SomeLayers::None,
        }
    }
}

/// The sliding windows of a model, if it has any.
pub(super) fn windows(fields: &mut Fields, rule: WindowRule, layers: u64) -> Result<Option<Windows>> {
    let Some((window, windowed)) = windowed_layers(fields, rule, layers)? else { return Ok(None) };
    Ok(Some(Windows { window, layers: windowed.count(layers) }).filter(|windows| windows.layers > 0))
}

/// The window, and the layers that have it.
pub(crate) fn windowed_layers(
    fields: &mut Fields,
    rule: WindowRule,
    layers: u64,
) -> Result<Option<(u64, SomeLayers)>> {
    let used = match rule {
        WindowRule::Never => false,
        WindowRule::UpperLayers | WindowRule::WithoutPositions => fields.flag("use_sliding_window", false)?,
        WindowRule::WhereStated => fields.object.contains_key("sliding_window"),
        WindowRule::EveryLayer | WindowRule::AllButEach { .. } => true,
    };
    // Unlike elsewhere, null says something here: there is no window.
    if !used || fields.object.get("sliding_window").is_some_and(Value::is_null) {
        return Ok(None);
    }
    if let WindowRule::WithoutPositions = rule
        && !fields.object.contains_key("sliding_window")
    {
        return Ok(None);
    }
    let window = fields.size_or("sliding_window", USUAL_WINDOW, "")?;
    let windowed = match rule {
        WindowRule::Never => SomeLayers::None,
        WindowRule::EveryLayer | WindowRule::WhereStated => SomeLayers::All,
        WindowRule::UpperLayers | WindowRule::AllButEach { .. } | WindowRule::WithoutPositions => {
            match layer_types(fields, layers)? {
                Some(marks) => SomeLayers::Listed(marks),
                None => by_rule(fields, rule, layers)?,
            }
        }
    };
    Ok(Some((window, windowed)))
}

fn by_rule(fields: &mut Fields, rule: WindowRule, layers: u64) -> Result<SomeLayers> {
    Ok(match rule {
        WindowRule::UpperLayers => SomeLayers::From(fields.whole_or("max_window_layers", USUAL_FULL_LAYERS)?),
        WindowRule::AllButEach { nth, field } => SomeLayers::AllButEach(match field {
            Some(field) => fields.size_or(field, nth, "")?,
            None => nth,
        }),
        WindowRule::WithoutPositions => rotated_layers(fields, layers)?.others(),
        WindowRule::EveryLayer | WindowRule::WhereStated => SomeLayers::All,
        WindowRule::Never => SomeLayers::None,
    })
}

/// The layers of SmolLM3 whose queries and keys are rotated: in `no_rope_layers` these have a 1.
pub(crate) fn rotated_layers(fields: &mut Fields, layers: u64) -> Result<SomeLayers> {
    let listed = match fields.object.get("no_rope_layers") {
        None | Some(Value::Null) => {
            let nth = fields.size_or("no_rope_layer_interval", 4, "")?;
            let said = format!("no position in every layer whose number {nth} divides");
            return Ok(fields.assume("no_rope_layers", SomeLayers::AllButEach(nth), said));
        }
        Some(Value::Array(listed)) => listed,
        Some(other) => return Err(Error::new(format!("`no_rope_layers` is {}, not a list", shown(other)))),
    };
    same_length("no_rope_layers", listed.len(), layers)?;
    let mark = |(i, entry): (usize, &Value)| match entry.as_u64() {
        Some(mark @ 0..=1) => Ok(mark == 1),
        _ => Err(Error::new(format!("entry {} of `no_rope_layers` is {}", i + 1, shown(entry)))
            .help("write 1 for a layer with rotary positions and 0 for one without")),
    };
    Ok(SomeLayers::Listed(listed.iter().enumerate().map(mark).collect::<Result<_>>()?))
}

/// The layers with a window according to the list `layer_types`; `None` without such a list.
fn layer_types(fields: &Fields, layers: u64) -> Result<Option<Vec<bool>>> {
    let listed = match fields.object.get("layer_types") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(listed)) => listed,
        Some(other) => return Err(Error::new(format!("`layer_types` is {}, not a list", shown(other)))),
    };
    same_length("layer_types", listed.len(), layers)?;
    let is_windowed = |(i, entry): (usize, &Value)| match entry.as_str() {
        Some("sliding_attention") => Ok(true),
        Some("full_attention") => Ok(false),
        _ => Err(Error::new(format!("entry {} of `layer_types` is {}", i + 1, shown(entry)))
            .help("known are `full_attention` and `sliding_attention`")),
    };
    listed.iter().enumerate().map(is_windowed).collect::<Result<_>>().map(Some)
}

fn same_length(field: &str, listed: usize, layers: u64) -> Result<()> {
    if listed as u64 == layers {
        return Ok(());
    }
    let what = format!("`{field}` lists {}, `num_hidden_layers` says {layers}", counted(listed, "layer"));
    Err(Error::new(what).help("write one entry for each layer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_counted_by_the_same_rule_that_picks_them() {
        let listed = SomeLayers::Listed(vec![true, false, true, true, false, false, true]);
        let all = [
            SomeLayers::None,
            SomeLayers::All,
            SomeLayers::From(3),
            SomeLayers::From(9),
            SomeLayers::AllButEach(2),
            SomeLayers::Each(3),
            SomeLayers::AllButEach(1),
            listed,
        ];
        for some in all {
            let picked = (0..7).filter(|layer| some.has(*layer)).count();
            assert_eq!(some.count(7), picked as u64, "{some:?}");
        }
    }
}
