//! Which entries of a file make up one attention layer.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::hint::Hint;

use super::names::{KnownEntry, TOKENS, recognise};
use crate::graph::Role;
use crate::text::{clip, listed_briefly};

/// The entries of a file that were chosen, and the names of the others.
pub(super) struct Choice {
    /// Positions in the file, each with what it is.
    pub(super) chosen: Vec<(usize, KnownEntry)>,
    /// Other parts of a model, among them biases.
    pub(super) ignored: Vec<String>,
}

/// A layer of a model, ordered as in the model: 10 comes after 9.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Layer {
    numbers: Vec<usize>,
    name: String,
}

impl Layer {
    /// True if a user means this one: by its first number, or by its name.
    fn is(&self, wanted: &str) -> bool {
        wanted.trim_end_matches('.') == self.name
            || wanted.parse().is_ok_and(|wanted: usize| self.numbers.first() == Some(&wanted))
    }
}

/// Chooses what belongs to one attention layer. `layer` is a number, or the prefix of its names.
///
/// # Errors
/// If nothing is recognised, a plain name is unknown, or several layers are there and none was chosen.
pub(super) fn choose(names: &[String], layer: Option<&str>) -> Result<Choice> {
    let mut layers: BTreeMap<Layer, Vec<(usize, KnownEntry)>> = BTreeMap::new();
    let mut chosen = Vec::new();
    let mut ignored = Vec::new();
    let mut unknown = Vec::new();
    for (position, name) in names.iter().enumerate() {
        match recognise(name) {
            Some(entry) if entry.layout.is_none() => chosen.push((position, entry)),
            Some(entry) => {
                let key = Layer { numbers: numbers_in(&entry.layer), name: entry.layer.clone() };
                layers.entry(key).or_default().push((position, entry));
            }
            None if is_part_of_a_model(name) => ignored.push(name.clone()),
            None => unknown.push(name.as_str()),
        }
    }
    if !unknown.is_empty() || (chosen.is_empty() && layers.is_empty()) {
        return Err(not_found(names, &unknown));
    }
    let found: Vec<String> = layers.keys().map(|layer| layer.name.clone()).collect();
    let (wanted, others): (Vec<_>, Vec<_>) =
        layers.into_iter().partition(|(candidate, _)| layer.is_none_or(|layer| candidate.is(layer)));
    if wanted.len() > 1 || (wanted.is_empty() && (layer.is_some() || !others.is_empty())) {
        return Err(which_layer(&found, layer, wanted.len()));
    }
    ignored.extend(
        others.into_iter().flat_map(|(_, entries)| entries).map(|(position, _)| names[position].clone()),
    );
    chosen.extend(wanted.into_iter().flat_map(|(_, entries)| entries));
    Ok(Choice { chosen, ignored })
}

/// True if a name that says nothing to us is a model's: its parts are joined by dots, or it is a known bias.
fn is_part_of_a_model(name: &str) -> bool {
    name.contains('.') || name == "in_proj_bias"
}

/// The numbers between the dots of a name.
fn numbers_in(layer: &str) -> Vec<usize> {
    layer.split('.').filter_map(|part| part.parse().ok()).collect()
}

fn which_layer(found: &[String], wanted: Option<&str>, matching: usize) -> Error {
    let list = listed_briefly(found.iter().map(String::as_str));
    let help = format!("choose one with {}, by its number, or by its name if numbers repeat", Hint::Layer);
    match wanted {
        Some(wanted) if matching == 0 && found.is_empty() => {
            Error::new(format!("there is no layer `{}`: no name in this file contains a layer", clip(wanted)))
        }
        Some(wanted) if matching == 0 => {
            Error::new(format!("there is no layer `{}`; the layers are {list}", clip(wanted))).help(help)
        }
        Some(wanted) => {
            Error::new(format!("{matching} layers have the number `{}`; the layers are {list}", clip(wanted)))
                .help(help)
        }
        None => Error::new(format!("there are {} layers, but one is needed: {list}", found.len())).help(help),
    }
}

fn not_found(names: &[String], unknown: &[&str]) -> Error {
    let found = listed_briefly(names.iter().map(String::as_str));
    let what = match unknown {
        [] if names.is_empty() => "the file kind no matrices".to_string(),
        [] => format!("no name in this file is that of a matrix of an attention layer; it has {found}"),
        unknown if unknown.len() == names.len() => {
            format!("no name in this file is that of a matrix of an attention layer; it has {found}")
        }
        unknown => format!("unknown names {}; the file has {found}", listed_briefly(unknown.iter().copied())),
    };
    Error::new(what).help(format!(
        "name the matrices {}, {TOKENS}, mask, bias, or as a model does: q_proj.weight, in_proj_weight",
        Role::all().map(Role::name).collect::<Vec<_>>().join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    fn fails(list: &[&str], layer: Option<&str>) -> String {
        choose(&names(list), layer).err().unwrap().to_string()
    }

    const MODEL: [&str; 5] = [
        "model.embed_tokens.weight",
        "model.layers.10.self_attn.q_proj.weight",
        "model.layers.2.self_attn.q_proj.weight",
        "model.layers.2.self_attn.k_proj.weight",
        "model.layers.2.self_attn.q_proj.bias",
    ];

    #[test]
    fn several_layers_are_listed_in_order_until_one_is_chosen() {
        let said = fails(&MODEL, None);
        assert!(
            said.starts_with(
                "there are 2 layers, but one is needed: `model.layers.2.self_attn`, `model.layers.10.self_attn`"
            ),
            "{said}"
        );
        for layer in ["2", "model.layers.2.self_attn", "model.layers.2.self_attn."] {
            let choice = choose(&names(&MODEL), Some(layer)).unwrap();
            assert_eq!(choice.chosen.iter().map(|(position, _)| *position).collect::<Vec<_>>(), [2, 3]);
            assert_eq!(choice.ignored.len(), 3);
        }
        assert!(fails(&MODEL, Some("7")).starts_with("there is no layer `7`; the layers are"));
    }

    #[test]
    fn a_number_that_two_layers_share_is_no_choice() {
        let list = ["encoder.0.q_proj.weight", "decoder.0.q_proj.weight"];
        assert!(fails(&list, Some("0")).contains("2 layers have the number"));
        assert!(choose(&names(&list), Some("decoder.0")).is_ok());
    }

    #[test]
    fn unknown_names_are_listed_beside_what_is_expected() {
        let said = fails(&["X", "W_QQ"], None);
        assert!(
            said.starts_with(
                "unknown names `W_QQ`; the file has `X`, `W_QQ`\n  help: name the matrices X, W_Q"
            ),
            "{said}"
        );
        assert!(fails(&["a.b"], None).starts_with("no name in this file is that of a matrix"));
        assert!(fails(&[], None).starts_with("the file kind no matrices"));
        assert!(fails(&["X"], Some("0")).contains("no name in this file contains a layer"));
    }
}
