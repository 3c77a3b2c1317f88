//! The terms of the field, each in a sentence or two, with a command that shows it: `data/glossary.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::text::{near, one_of, quoted};
use attn_core::data_file::entries;

/// A term of the field.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GlossaryTerm {
    /// The term.
    pub name: &'static str,
    /// Other names for it.
    #[serde(default)]
    pub also: Vec<&'static str>,
    /// Its meaning.
    pub means: &'static str,
    /// Its formula, if it has one.
    pub formula: Option<&'static str>,
    /// The node of `attn attend` or `attn similarity` that holds it, if there is one.
    pub node: Option<&'static str>,
    /// Commands that show it, as they are typed.
    pub see: Vec<&'static str>,
}

impl GlossaryTerm {
    /// Its name and its other names.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.also.iter().copied())
    }
}

/// All terms, sorted by name.
pub fn glossary() -> &'static [GlossaryTerm] {
    static ENTRIES: LazyLock<Vec<GlossaryTerm>> =
        LazyLock::new(|| entries(include_str!("../../data/glossary.toml")));
    &ENTRIES
}

/// The term of this name, or with this other name; a plural counts too.
///
/// # Errors
/// If there is none: the error names the nearest.
pub fn term(name: &str) -> Result<&'static GlossaryTerm> {
    let asked = name.trim().to_lowercase();
    let singular = asked.strip_suffix('s').unwrap_or(&asked);
    let found =
        |asked: &str| glossary().iter().find(|term| term.names().any(|name| name.to_lowercase() == asked));
    found(&asked).or_else(|| found(singular)).ok_or_else(|| {
        let error = Error::new(format!("the glossary has no `{}`", visible(name)));
        let near: Vec<String> = near(&asked, glossary().iter().flat_map(GlossaryTerm::names))
            .iter()
            .map(|name| format!("attn find --terms {}", quoted(name)))
            .collect();
        match &near[..] {
            [_, ..] => error.help(format!("did you mean: {}", one_of(&near))),
            [] => error.help(format!(
                "`attn find --terms` lists the terms; attn find {} searches everything",
                quoted(&visible(name))
            )),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_is_found_by_each_of_its_names_and_by_a_plural_and_no_name_is_used_twice() {
        let mut names = std::collections::HashSet::new();
        for term in glossary() {
            for name in term.names() {
                assert!(names.insert(name.to_lowercase()), "{name} names two terms");
                assert_eq!(super::term(&name.to_uppercase()).unwrap().name, term.name);
            }
        }
        assert_eq!(term("heads").unwrap().name, "head");
        assert!(term("sofmax").unwrap_err().to_string().contains("attn find --terms softmax"));
    }

    #[test]
    fn the_terms_are_sorted_and_each_is_a_sentence_or_two() {
        let names: Vec<String> = glossary().iter().map(|term| term.name.to_lowercase()).collect();
        assert!(names.is_sorted(), "{names:?}");
        for term in glossary() {
            assert!(term.means.ends_with('.') && term.means.matches(". ").count() <= 2, "{}", term.name);
            assert!(!term.see.is_empty(), "{}", term.name);
        }
    }
}
