//! A what-if as data: the fields of a recipe that are otherwise.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::graph::recipes::Recipe;

/// A field of a recipe, and its other value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangedField {
    /// The name of the field: `temperature`.
    pub field: String,
    /// Its value as JSON.
    pub value: Value,
}

impl ChangedField {
    /// Its name in a sentence: `qk norm`.
    pub fn name(&self) -> String {
        self.field.replace('_', " ")
    }
}

/// The fields in which one recipe differs from another; `None` where they differ in what is not written.
pub fn changed_fields(from: &Recipe, to: &Recipe) -> Option<Vec<ChangedField>> {
    let (before, after) = (fields(from)?, fields(to)?);
    let differs = |(field, value): (String, Value)| {
        (before.get(&field) != Some(&value)).then_some(ChangedField { field, value })
    };
    let found: Vec<ChangedField> = after.into_iter().filter_map(differs).collect();
    let from = serde_json::to_value(from).ok()?;
    (changed(&from, &found).ok()? == *to).then_some(found)
}

/// The recipe in JSON, with some fields changed.
///
/// # Errors
/// If there is no such field, or it cannot have this value.
pub(super) fn changed(recipe: &Value, changes: &[ChangedField]) -> Result<Recipe> {
    let mut recipe = recipe.clone();
    if let Value::Object(fields) = &mut recipe {
        fields.extend(changes.iter().map(|change| (change.field.clone(), change.value.clone())));
    }
    Recipe::deserialize(&recipe)
        .map_err(|error| Error::new(format!("this recipe cannot be followed: {error}")))
}

fn fields(recipe: &Recipe) -> Option<Map<String, Value>> {
    match serde_json::to_value(recipe).ok()? {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::Mask;
    use crate::graph::recipes::Scale;

    #[test]
    fn a_what_if_is_the_fields_that_differ_and_gives_the_other_recipe() {
        let causal = Mask { causal: true, ..Mask::default() };
        let other = Recipe { temperature: 0.5, scale: Scale::None, mask: causal, ..Recipe::default() };
        let fields = changed_fields(&Recipe::default(), &other).unwrap();
        let names: Vec<&str> = fields.iter().map(|change| change.field.as_str()).collect();
        assert_eq!(names, ["scale", "temperature", "mask"]);
        let from = serde_json::to_value(Recipe::default()).unwrap();
        assert_eq!(changed(&from, &fields).unwrap(), other);
        assert_eq!(changed_fields(&other, &other), Some(Vec::new()));
    }

    #[test]
    fn a_field_that_no_recipe_has_is_refused() {
        let wrong = ChangedField { field: "heat".into(), value: 1.into() };
        let error = changed(&Value::Object(Map::new()), &[wrong]).unwrap_err();
        assert!(error.to_string().contains("heat"), "{error}");
    }
}
