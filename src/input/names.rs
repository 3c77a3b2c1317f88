//! The names under which files keep the matrices of an attention layer.
//!
//! Sources of the usual names: PyTorch's `nn.MultiheadAttention` (`in_proj_weight`, `out_proj.weight`) and, on Hugging
//! Face, the models of the families Llama and OPT (`q_proj.weight` …), BERT (`query.weight` …) and GPT-2 (`c_attn.weight`),
//! and Meta's own Llama files (`wq.weight` …).

use std::collections::BTreeMap;

use crate::error::{Error, Result};

use super::bundle::Layout;
use super::label::{clip, enumerate};

/// What a bundle may hold, under the names of the field.
pub const CANONICAL: [&str; 10] = ["X", "W_Q", "W_K", "W_V", "W_O", "Q", "K", "V", "M", "B"];

/// The tokens' own name in a file.
pub(super) const TOKENS: &str = "tokens";

/// Which matrix an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A whole matrix under its canonical name.
    Whole(&'static str),
    /// One head of Q, K or V, counted from 1: `Q_2`.
    Head(&'static str, usize),
    /// W_Q, W_K and W_V in one.
    Stacked,
    Tokens,
}

/// An entry that was recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recognised {
    pub(super) role: Role,
    /// How the weights are stored, where the name implies it.
    pub(super) layout: Option<Layout>,
    /// The layer of a model it belongs to; empty where the name has no prefix.
    layer: String,
}

/// The ends of dotted names, the longer before those they end in.
const SUFFIXES: [(&str, Role, Layout); 17] = [
    ("q_proj.weight", Role::Whole("W_Q"), Layout::OutIn),
    ("k_proj.weight", Role::Whole("W_K"), Layout::OutIn),
    ("v_proj.weight", Role::Whole("W_V"), Layout::OutIn),
    ("o_proj.weight", Role::Whole("W_O"), Layout::OutIn),
    ("out_proj.weight", Role::Whole("W_O"), Layout::OutIn),
    ("self.query.weight", Role::Whole("W_Q"), Layout::OutIn),
    ("self.key.weight", Role::Whole("W_K"), Layout::OutIn),
    ("self.value.weight", Role::Whole("W_V"), Layout::OutIn),
    ("query.weight", Role::Whole("W_Q"), Layout::OutIn),
    ("key.weight", Role::Whole("W_K"), Layout::OutIn),
    ("value.weight", Role::Whole("W_V"), Layout::OutIn),
    ("wq.weight", Role::Whole("W_Q"), Layout::OutIn),
    ("wk.weight", Role::Whole("W_K"), Layout::OutIn),
    ("wv.weight", Role::Whole("W_V"), Layout::OutIn),
    ("wo.weight", Role::Whole("W_O"), Layout::OutIn),
    ("in_proj_weight", Role::Stacked, Layout::OutIn),
    ("c_attn.weight", Role::Stacked, Layout::InOut),
];

/// Ends that mean W_O only behind a layer's attention: the same words end names of its MLP.
const AFTER_ATTENTION: [(&str, &str, Layout); 2] =
    [("attention.", "output.dense.weight", Layout::OutIn), ("attn.", "c_proj.weight", Layout::InOut)];

/// What a name stands for.
pub(super) fn recognise(name: &str) -> Option<Recognised> {
    if let Some(role) = plain(name) {
        return Some(Recognised { role, layout: None, layer: String::new() });
    }
    for (suffix, role, layout) in &SUFFIXES {
        if let Some(prefix) = name.strip_suffix(suffix)
            && (prefix.is_empty() || prefix.ends_with('.'))
        {
            return Some(Recognised { role: role.clone(), layout: Some(*layout), layer: layer_of(prefix) });
        }
    }
    AFTER_ATTENTION.iter().find_map(|&(block, suffix, layout)| {
        let prefix = name.strip_suffix(suffix).filter(|prefix| prefix.ends_with(block))?;
        Some(Recognised { role: Role::Whole("W_O"), layout: Some(layout), layer: layer_of(prefix) })
    })
}

fn layer_of(prefix: &str) -> String {
    prefix.trim_end_matches('.').to_string()
}

/// Names without a model around them: `X`, `W_Q`, `wq`, `Q_2`, `mask`.
fn plain(name: &str) -> Option<Role> {
    let lower = name.to_ascii_lowercase();
    if let Some((letter, number)) = lower.split_once('_')
        && let Some(canonical) =
            ["Q", "K", "V"].into_iter().find(|canonical| canonical.eq_ignore_ascii_case(letter))
        && number.bytes().all(|digit| digit.is_ascii_digit())
    {
        return number.parse().ok().map(|number| Role::Head(canonical, number));
    }
    Some(Role::Whole(match lower.replace('_', "").as_str() {
        "x" => "X",
        "wq" => "W_Q",
        "wk" => "W_K",
        "wv" => "W_V",
        "wo" => "W_O",
        "q" => "Q",
        "k" => "K",
        "v" => "V",
        "m" | "mask" => "M",
        "b" | "bias" => "B",
        TOKENS => return Some(Role::Tokens),
        _ => return None,
    }))
}

/// The entries of a file that were chosen, and the names of the others.
pub(super) struct Choice {
    /// Positions in the file, each with what it is.
    pub(super) chosen: Vec<(usize, Recognised)>,
    /// Other parts of a model, among them biases.
    pub(super) ignored: Vec<String>,
}

/// Chooses what belongs to one attention layer. `layer` is a number, or the prefix of its names.
///
/// # Errors
/// If nothing is recognised, a plain name is unknown, or several layers are there and none was chosen.
pub(super) fn choose(names: &[String], layer: Option<&str>) -> Result<Choice> {
    let mut layers: BTreeMap<(Vec<usize>, String), Vec<(usize, Recognised)>> = BTreeMap::new();
    let mut chosen = Vec::new();
    let mut ignored = Vec::new();
    let mut unknown = Vec::new();
    for (position, name) in names.iter().enumerate() {
        match recognise(name) {
            Some(entry) if entry.layout.is_none() => chosen.push((position, entry)),
            Some(entry) => {
                let key = (numbers_in(&entry.layer), entry.layer.clone());
                layers.entry(key).or_default().push((position, entry));
            }
            None if is_part_of_a_model(name) => ignored.push(name.clone()),
            None => unknown.push(name.as_str()),
        }
    }
    if !unknown.is_empty() || (chosen.is_empty() && layers.is_empty()) {
        return Err(not_found(names, &unknown));
    }
    let found: Vec<String> = layers.keys().map(|(_, layer)| layer.clone()).collect();
    let (wanted, others): (Vec<_>, Vec<_>) = layers
        .into_iter()
        .partition(|((numbers, name), _)| layer.is_none_or(|layer| is_layer(layer, numbers, name)));
    if wanted.len() > 1 || (wanted.is_empty() && (layer.is_some() || !others.is_empty())) {
        return Err(which_layer(&found, layer, wanted.len()));
    }
    ignored.extend(
        others.into_iter().flat_map(|(_, entries)| entries).map(|(position, _)| names[position].clone()),
    );
    chosen.extend(wanted.into_iter().flat_map(|(_, entries)| entries));
    Ok(Choice { chosen, ignored })
}

/// Whether a name that says nothing to us is a model's: its parts are joined by dots, or it is a known bias.
fn is_part_of_a_model(name: &str) -> bool {
    name.contains('.') || name == "in_proj_bias"
}

/// Numbers between the dots, so that layer 10 comes after layer 9.
fn numbers_in(layer: &str) -> Vec<usize> {
    layer.split('.').filter_map(|part| part.parse().ok()).collect()
}

fn is_layer(wanted: &str, numbers: &[usize], name: &str) -> bool {
    wanted.trim_end_matches('.') == name
        || wanted.parse().is_ok_and(|wanted: usize| numbers.first() == Some(&wanted))
}

fn which_layer(found: &[String], wanted: Option<&str>, matching: usize) -> Error {
    let list = enumerate(found.iter().map(String::as_str));
    let help = "choose one by its number, or by its name where numbers repeat";
    match wanted {
        Some(wanted) if matching == 0 && found.is_empty() => {
            Error::new(format!("no layer `{}`: the names here belong to no layer", clip(wanted)))
        }
        Some(wanted) if matching == 0 => {
            Error::new(format!("no layer `{}` among {list}", clip(wanted))).help(help)
        }
        Some(wanted) => {
            Error::new(format!("`{}` is the number of {matching} layers of {list}", clip(wanted))).help(help)
        }
        None => Error::new(format!("{} layers where one belongs: {list}", found.len())).help(help),
    }
}

fn not_found(names: &[String], unknown: &[&str]) -> Error {
    let found = enumerate(names.iter().map(String::as_str));
    let what = match unknown {
        [] if names.is_empty() => "holds no matrices".to_string(),
        [] => format!("no matrix of an attention layer by name; found {found}"),
        unknown => format!("unknown names {}; found {found}", enumerate(unknown.iter().copied())),
    };
    Error::new(what).help(format!(
        "expected are {}, {TOKENS}, mask, bias, and names such as q_proj.weight or in_proj_weight",
        CANONICAL.join(", ")
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

    #[test]
    fn plain_names_are_read_in_any_case_and_imply_no_layout() {
        for (name, role) in [
            ("X", Role::Whole("X")),
            ("w_q", Role::Whole("W_Q")),
            ("WQ", Role::Whole("W_Q")),
            ("wo", Role::Whole("W_O")),
            ("v", Role::Whole("V")),
            ("Q_2", Role::Head("Q", 2)),
            ("mask", Role::Whole("M")),
            ("B", Role::Whole("B")),
            ("Tokens", Role::Tokens),
        ] {
            let found = recognise(name).unwrap();
            assert_eq!((found.role, found.layout), (role, None), "{name}");
        }
    }

    #[test]
    fn the_usual_names_of_models_are_known_with_their_layout() {
        for (name, role, layout, layer) in [
            ("q_proj.weight", Role::Whole("W_Q"), Layout::OutIn, ""),
            (
                "model.layers.0.self_attn.k_proj.weight",
                Role::Whole("W_K"),
                Layout::OutIn,
                "model.layers.0.self_attn",
            ),
            ("layers.3.attention.wo.weight", Role::Whole("W_O"), Layout::OutIn, "layers.3.attention"),
            (
                "bert.encoder.layer.1.attention.self.value.weight",
                Role::Whole("W_V"),
                Layout::OutIn,
                "bert.encoder.layer.1.attention",
            ),
            (
                "bert.encoder.layer.1.attention.output.dense.weight",
                Role::Whole("W_O"),
                Layout::OutIn,
                "bert.encoder.layer.1.attention",
            ),
            ("attn.in_proj_weight", Role::Stacked, Layout::OutIn, "attn"),
            ("out_proj.weight", Role::Whole("W_O"), Layout::OutIn, ""),
            ("h.0.attn.c_attn.weight", Role::Stacked, Layout::InOut, "h.0.attn"),
            ("h.0.attn.c_proj.weight", Role::Whole("W_O"), Layout::InOut, "h.0.attn"),
        ] {
            let found = recognise(name).unwrap();
            assert_eq!(found, Recognised { role, layout: Some(layout), layer: layer.into() }, "{name}");
        }
        for name in [
            "h.0.mlp.c_proj.weight",
            "bert.encoder.layer.1.output.dense.weight",
            "W_Z",
            "my_q_proj.weight",
            "q_x",
        ] {
            assert_eq!(recognise(name), None, "{name}");
        }
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
                "2 layers where one belongs: `model.layers.2.self_attn`, `model.layers.10.self_attn`"
            ),
            "{said}"
        );
        for layer in ["2", "model.layers.2.self_attn", "model.layers.2.self_attn."] {
            let choice = choose(&names(&MODEL), Some(layer)).unwrap();
            assert_eq!(choice.chosen.iter().map(|(position, _)| *position).collect::<Vec<_>>(), [2, 3]);
            assert_eq!(choice.ignored.len(), 3);
        }
        assert!(fails(&MODEL, Some("7")).starts_with("no layer `7` among"));
    }

    #[test]
    fn a_number_that_two_layers_share_is_no_choice() {
        let list = ["encoder.0.q_proj.weight", "decoder.0.q_proj.weight"];
        assert!(fails(&list, Some("0")).contains("is the number of 2 layers"));
        assert!(choose(&names(&list), Some("decoder.0")).is_ok());
    }

    #[test]
    fn unknown_names_are_listed_beside_what_is_expected() {
        let said = fails(&["X", "W_QQ"], None);
        assert!(
            said.starts_with("unknown names `W_QQ`; found `X`, `W_QQ`\n  help: expected are X, W_Q"),
            "{said}"
        );
        assert!(fails(&["a.b"], None).starts_with("no matrix of an attention layer"));
        assert!(fails(&[], None).starts_with("holds no matrices"));
        assert!(fails(&["X"], Some("0")).contains("belong to no layer"));
    }
}
