//! A change of a computation as data: `scale = none`, `relu(queries)`. A mistake is made of such changes.
//!
//! A setting is a path of the recipe's serde form, and its value is read by serde: a new field of [`Recipe`] can be changed without
//! a line here. [`crate::language::change`] reads the text of a change, and its `Display` writes it.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::graph::detours::Detour;
use crate::text::{clip, nearest};

use super::alteration::{Alter, Alteration, serde_text, text_of};
use super::mask_pattern::MaskPattern;
use super::recipe::Recipe;

/// One change of a computation.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Other values of a recipe's settings, which are one choice together: `scale = none`, `heads = 1, kv_heads = 1`.
    Settings(Vec<Setting>),
    /// `mask.pattern = turned`: a mask that no rule has.
    MaskPattern(MaskPattern),
    /// `backward = softmax(copied)`: a step of the backward pass.
    Gradient(Detour),
    /// `relu(queries)`: an operation that attention does not have.
    Alteration(Alteration),
    /// `result = transposed`: the result is read with its rows as columns.
    Transposed,
}

/// Another value of one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// The path of the setting in the recipe's serde form: `positions.kind.rotary.base`.
    #[serde(rename = "field")]
    path: String,
    /// The value, as serde reads it.
    value: Value,
}

impl Change {
    /// Another value of one setting, by its path and in its own type. The caller knows both, so nothing is checked.
    pub fn setting(path: &str, value: impl Serialize) -> Change {
        let value = serde_json::to_value(value).unwrap_or_default();
        Change::Settings(vec![Setting { path: path.to_string(), value }])
    }

    /// Other values of settings, one after the other. In a path `_` may stand for `-`. `default` is the value of a default recipe,
    /// `none` also no value at all, and an object changes only the fields that it names.
    ///
    /// # Errors
    /// If the recipe has no such setting, or the setting cannot have this value.
    pub fn settings(settings: Vec<(String, Value)>, recipe: &Recipe) -> Result<Change> {
        let mut tree = tree(recipe);
        let settings = settings.into_iter().map(|(path, value)| Setting::read(&path, &value, &mut tree));
        settings.collect::<Result<_>>().map(Change::Settings)
    }

    /// What one recipe has otherwise than another: its settings, each as a whole, and its operation that attention does not have.
    pub fn between(from: &Recipe, to: &Recipe) -> Vec<Change> {
        let (before, after) = (tree(from), tree(to));
        let fields = after.as_object().into_iter().flatten();
        let differs = fields.filter(|(name, value)| before.get(name) != Some(value));
        let mut changes: Vec<Change> = differs.map(|(name, value)| Change::setting(name, value)).collect();
        let altered = to.alteration.filter(|_| to.alteration != from.alteration);
        changes.extend(altered.map(Change::Alteration));
        changes
    }

    /// The settings that it changes.
    pub fn into_settings(self) -> Vec<Setting> {
        if let Change::Settings(settings) = self { settings } else { Vec::new() }
    }

    /// The paths of the settings that it changes.
    fn paths(&self) -> impl Iterator<Item = &str> {
        let (settings, other) = match self {
            Change::Settings(settings) => (&settings[..], None),
            Change::MaskPattern(_) => (&[][..], Some("mask")),
            _ => (&[][..], None),
        };
        settings.iter().map(|setting| &*setting.path).chain(other)
    }

    /// Whether it changes this setting or a part of it.
    pub fn is_of(&self, setting: &str) -> bool {
        self.paths().any(|path| is_within(path, setting))
    }

    /// Whether both change the same choice, so that they cannot be made together. Of several settings the first is the choice.
    pub fn same_field(&self, other: &Change) -> bool {
        match (self, other) {
            (Change::Gradient(a), Change::Gradient(b)) => a.same_step(b),
            (Change::Alteration(_), Change::Alteration(_)) | (Change::Transposed, Change::Transposed) => true,
            _ => match (self.paths().next(), other.paths().next()) {
                (Some(a), Some(b)) => is_within(a, b) || is_within(b, a),
                _ => false,
            },
        }
    }

    /// Whether it only rounds numbers.
    pub fn is_rounding(&self) -> bool {
        let is_cut = |alter| matches!(alter, Alter::Rounded(_) | Alter::Truncated(_));
        matches!(self, Change::Alteration(alteration) if is_cut(alteration.alter))
            || self.is_of("score_decimals")
            || self.is_of("weight_decimals")
    }

    /// Whether it is in the backward pass, so that it changes gradients alone.
    pub fn is_backward(&self) -> bool {
        matches!(self, Change::Gradient(_))
    }

    /// Puts changes into a recipe, one after the other. A setting that the recipe does not have, such as one of positions of another
    /// kind, changes nothing.
    pub fn put_all<'a>(changes: impl IntoIterator<Item = &'a Change>, recipe: &mut Recipe) {
        let own = *recipe;
        Change::put_into(|| tree(&own), changes, recipe);
    }

    /// The same where the serde form of the recipe is known.
    pub fn put_into<'a>(
        form: impl Fn() -> Value,
        changes: impl IntoIterator<Item = &'a Change>,
        recipe: &mut Recipe,
    ) {
        let (mut open, mut pattern) = (None, false);
        for change in changes {
            match change {
                Change::Settings(settings) => {
                    let open = open.get_or_insert_with(&form);
                    for Setting { path, value } in settings {
                        if let Ok((_, place)) = found(open, path) {
                            *place = value.clone();
                        }
                    }
                }
                Change::MaskPattern(_) => pattern = true,
                Change::Alteration(alteration) => recipe.alteration = Some(*alteration),
                Change::Gradient(_) | Change::Transposed => {}
            }
        }
        if let Some(changed) = open.and_then(|open| serde_json::from_value(open).ok()) {
            *recipe = Recipe { alteration: recipe.alteration, ..changed };
        }
        if pattern {
            recipe.mask = MaskPattern::mask();
        }
    }
}

impl Setting {
    /// Its name in a sentence: `qk norm`.
    pub fn name(&self) -> String {
        self.path.replace('_', " ")
    }

    /// The recipe with these settings.
    ///
    /// # Errors
    /// Those of [`Change::settings`].
    pub fn put_into(recipe: &Recipe, settings: &[Setting]) -> Result<Recipe> {
        let named = settings.iter().map(|setting| (setting.path.clone(), setting.value.clone()));
        let mut recipe = *recipe;
        Change::put_all(&[Change::settings(named.collect(), &recipe)?], &mut recipe);
        Ok(recipe)
    }

    /// The setting with this value, which is put into the tree, too.
    fn read(path: &str, value: &Value, recipe: &mut Value) -> Result<Setting> {
        let (path, place) = found(recipe, path)?;
        let right = place.clone();
        let candidates = match value {
            Value::String(word) if word == "default" => {
                vec![found(&mut tree(&Recipe::default()), &path)?.1.clone()]
            }
            Value::Object(_) => [merged(&right, value), Some(value.clone())].into_iter().flatten().collect(),
            // A choice of which one is a number: `scale = 0.5`.
            Value::Number(_) => vec![value.clone(), json!({ "number": value })],
            _ => vec![value.clone()],
        };
        let mut refused = None;
        for candidate in candidates.into_iter().flat_map(|value| [value.clone(), with_nothing(value)]) {
            *found(recipe, &path)?.1 = candidate;
            match Recipe::deserialize(&*recipe) {
                Ok(changed) => {
                    // As serde writes it, so that equal values are equal.
                    *recipe = tree(&changed);
                    let value = found(recipe, &path)?.1.clone();
                    return Ok(Setting { path, value });
                }
                Err(error) => refused.get_or_insert(error),
            };
        }
        *found(recipe, &path)?.1 = right;
        let why = refused.map_or_else(String::new, |error| error.to_string());
        let what = format!("`{path}` cannot be `{}`", clip(&text_of(value)));
        Err(match why.split_once("expected one of ") {
            Some(_) => Error::of_serde(&why).saying(what),
            None => Error::new(format!("{what}: {why}")),
        })
    }
}

/// The serde form of a recipe.
pub fn tree(recipe: &Recipe) -> Value {
    serde_json::to_value(recipe).unwrap_or_default()
}

/// Whether a path is another one, or leads into it.
fn is_within(path: &str, other: &str) -> bool {
    path.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Settings with a shorter name than their path.
const SHORT_NAMES: [(&str, &str); 4] = [
    ("causal", "mask.causal"),
    ("window", "mask.window"),
    ("keep_first", "mask.keep_first"),
    ("residual", "output.residual"),
];

/// The place of a setting in a tree, and its path as the tree spells it.
fn found<'t>(recipe: &'t mut Value, path: &str) -> Result<(String, &'t mut Value)> {
    let path = SHORT_NAMES.iter().find(|(name, _)| *name == path).map_or(path, |(_, path)| path);
    let (mut spelled, mut place) = (String::new(), recipe);
    for name in path.split('.') {
        let fields = place.as_object();
        let own = || fields.filter(|fields| fields.contains_key(name)).map(|_| name.to_string());
        let is_it = |key: &&String| key.replace('-', "_") == name.replace('-', "_");
        let otherwise = || fields.and_then(|fields| fields.keys().find(is_it)).cloned();
        let Some(key) = own().or_else(otherwise) else {
            let names: Vec<&str> =
                fields.into_iter().flat_map(|fields| fields.keys().map(String::as_str)).collect();
            let error = match (&*spelled, fields) {
                ("", _) => Error::new(format!("there is no setting `{}`", clip(name))),
                (_, None) => {
                    let is = text_of(place);
                    return Err(Error::new(format!("`{spelled}` is `{is}`, and has no `{}`", clip(name))));
                }
                _ => Error::new(format!("`{spelled}` has no `{}`", clip(name))),
            };
            return Err(match nearest(name, names.iter().copied()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help(format!("it has {}", names.join(", "))),
            });
        };
        spelled = if spelled.is_empty() { key.clone() } else { format!("{spelled}.{key}") };
        place = &mut place[key.as_str()];
    }
    Ok((spelled, place))
}

/// The fields of an object with those that another one names; none where it has no such field.
fn merged(fields: &Value, other: &Value) -> Option<Value> {
    let mut all: Map<String, Value> = fields.as_object()?.clone();
    for (name, value) in other.as_object()? {
        let (_, field) = all.iter_mut().find(|(key, _)| key.replace('-', "_") == name.replace('-', "_"))?;
        *field = merged(field, value).unwrap_or_else(|| value.clone());
    }
    Some(Value::Object(all))
}

/// The value with nothing in the place of each word `none`.
fn with_nothing(value: Value) -> Value {
    match value {
        Value::String(word) if word == "none" => Value::Null,
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, with_nothing(value))).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

impl fmt::Display for Change {
    /// As [`crate::language::change`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Settings(settings) => {
                let texts: Vec<String> = settings
                    .iter()
                    .map(|Setting { path, value }| format!("{path} = {}", text_of(value)))
                    .collect();
                write!(f, "{}", texts.join(", "))
            }
            Change::MaskPattern(pattern) => write!(f, "mask.pattern = {}", serde_text(pattern)),
            Change::Gradient(detour) => write!(f, "backward = {}", serde_text(detour)),
            Change::Alteration(alteration) => write!(f, "{alteration}"),
            Change::Transposed => write!(f, "result = transposed"),
        }
    }
}
