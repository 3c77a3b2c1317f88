//! Models known by name: their published configurations in `data/models.toml`, read like a user's own.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::data_file::entries;
use crate::error::{Error, Result};
use crate::text::nearest;

use super::family::Family;
use super::model::{Biases, Model, Positions};

/// A model known by name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuiltIn {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its description.
    pub title: &'static str,
    /// Its `config.json`, without the fields that no count depends on.
    config: &'static str,
}

/// Every model known by name, for help and for errors.
pub fn built_in() -> &'static [BuiltIn] {
    static ENTRIES: LazyLock<Vec<BuiltIn>> =
        LazyLock::new(|| entries(include_str!("../../data/models.toml")));
    &ENTRIES
}

/// The model of this name, once for each way in which it is counted: GPT-3 first as the lecture that document 004
/// follows counts it, then as it is built; every other model once. Case does not matter.
///
/// # Errors
/// If no model has this name; the nearest one is named, and all of them.
pub fn named(name: &str) -> Result<Vec<Model>> {
    let Some(known) = built_in().iter().find(|known| known.name.eq_ignore_ascii_case(name)) else {
        return Err(unknown(name));
    };
    let mut model = Model::from_config(known.config, known.name)?;
    // Defaults that a published configuration leaves to its family are not our assumptions.
    model.assumed.clear();
    Ok(match known.name {
        "gpt3" => vec![lecture(&model), built(model)],
        _ => vec![model],
    })
}

/// GPT-3 as it is built.
fn built(model: Model) -> Model {
    let notes = vec![
        "its checkpoint was never published: the names are those of GPT-2, which has the same architecture"
            .to_string(),
        "every other layer attends within a band of unpublished width; the cache is that of full attention"
            .to_string(),
    ];
    Model { counting: Some("as it is built"), notes, ..model }
}

/// GPT-3 as the lecture counts it: the matrices alone, and the unembedding apart from the embedding.
fn lecture(model: &Model) -> Model {
    Model {
        counting: Some("matrices alone, as the lecture behind document 004 counts"),
        family: Family::head_by_head(),
        positions: Positions::NotCounted,
        tied: false,
        biases: Biases::default(),
        norms: None,
        notes: vec![
            "left out: positions, biases and norms; W_U, which is W_E transposed, is counted a second time"
                .into(),
        ],
        ..model.clone()
    }
}

fn unknown(name: &str) -> Error {
    let names: Vec<&str> = built_in().iter().map(|known| known.name).collect();
    // A name with other digits is another model, whose count would be wrong for the one that is meant.
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let with_its_digits = names.iter().copied().filter(|known| digits(known) == digits(name));
    let hint = match nearest(name, with_its_digits) {
        Some(near) => format!("did you mean `{near}`? "),
        // The name of a family, or a name without its size.
        None => {
            let start = name.to_lowercase();
            let longer = names.iter().filter(|known| start.len() > 1 && known.starts_with(&start));
            let longer: Vec<String> = longer.map(|known| format!("`{known}`")).collect();
            if longer.is_empty() {
                String::new()
            } else {
                format!("built-in names that begin with `{name}`: {}; ", longer.join(", "))
            }
        }
    };
    let help = format!(
        "{hint}`attn model --params` lists the {} built-in models; for another give its config.json",
        names.len()
    );
    Error::new(format!("there is no built-in model `{name}`")).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_is_read_and_no_name_is_used_twice() {
        let mut names = std::collections::HashSet::new();
        for model in built_in() {
            assert!(names.insert(model.name), "{} stands there twice", model.name);
            assert!(named(model.name).is_ok_and(|models| !models.is_empty()), "{}", model.name);
        }
    }
}
