//! Which entries of a file make up one attention layer.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::graph::Role;
use crate::text::{clip, listed_briefly};

use super::names::{
    Apart, EntryKind, Layout, Meaning, SCHEMES, Scheme, TOKENS, dotted, is_part_of_model, meanings, own,
};

/// Which layer of a file is read, and what its names leave open.
#[derive(Clone, Copy, Debug, Default)]
pub struct LayerOptions<'a> {
    /// One of several layers: its number, or the prefix of its names.
    pub layer: Option<&'a str>,
    /// Entries that are left out, by the ends of their names.
    pub ignore: &'a [String],
    /// The layout of weights, where the names are not to decide.
    pub layout: Option<Layout>,
    /// The number of heads, for matrices that have one head after the other.
    pub heads: Option<usize>,
}

/// The entries of a file that were chosen, each as its position.
pub(super) struct Choice {
    /// Those with names of our own.
    pub(super) own: Vec<(usize, EntryKind)>,
    /// Those of a layer of a model.
    pub(super) layer: Option<LayerEntries>,
}

/// The entries of one layer of a model.
pub(super) struct LayerEntries {
    pub(super) scheme: &'static Scheme,
    /// What its names begin with.
    pub(super) prefix: String,
    pub(super) weights: Vec<(usize, &'static [Role])>,
    pub(super) biases: Vec<usize>,
    pub(super) apart: Vec<(usize, Apart)>,
}

impl LayerEntries {
    fn has(&self, role: Role) -> bool {
        self.weights.iter().any(|(_, roles)| roles.contains(&role))
    }

    fn positions(&self) -> impl Iterator<Item = usize> {
        let weights = self.weights.iter().map(|(position, _)| *position);
        weights.chain(self.biases.iter().copied()).chain(self.apart.iter().map(|(position, _)| *position))
    }

    /// The numbers in its prefix, by which layers are ordered: 10 comes after 9.
    fn numbers(&self) -> Vec<usize> {
        self.prefix.split('.').filter_map(|part| part.parse().ok()).collect()
    }

    /// True if a user means this one: by its first number, or by its name.
    fn is(&self, wanted: &str) -> bool {
        dotted(wanted).trim_end_matches('.') == self.prefix
            || wanted.parse().is_ok_and(|wanted: usize| self.numbers().first() == Some(&wanted))
    }

    /// True if a name with points belongs to it, as far as its prefix says.
    fn contains(&self, name: &str) -> bool {
        self.prefix.is_empty()
            || name.strip_prefix(&self.prefix).is_some_and(|behind| behind.starts_with('.'))
    }
}

/// Chooses what belongs to one attention layer.
///
/// # Errors
/// If nothing is recognised, a name of the layer is unknown, a projection is missing, or several layers are there and none was
/// chosen.
pub(super) fn choose(names: &[String], options: LayerOptions<'_>) -> Result<Choice> {
    let is_ignored = |name: &str| options.ignore.iter().any(|end| name.ends_with(end.as_str()));
    if let Some(end) =
        options.ignore.iter().find(|end| !names.iter().any(|name| name.ends_with(end.as_str())))
    {
        return Err(Error::new(format!("no name ends in `{}`, which --ignore has", clip(end)))
            .help(format!("the file has {}", listed(names))));
    }
    let kept: Vec<usize> = (0..names.len()).filter(|&position| !is_ignored(&names[position])).collect();
    let (layer, others) = chosen_layer(layers(names, &kept), options.layer, names)?;
    let of_layer: BTreeSet<usize> = layer.iter().flat_map(LayerEntries::positions).collect();
    let of_others: BTreeSet<usize> = others.iter().flat_map(LayerEntries::positions).collect();
    let mut own_entries = Vec::new();
    let mut unknown = Vec::new();
    for position in kept {
        let name = &names[position];
        match own(name) {
            _ if of_layer.contains(&position) => {}
            Some(kind) => own_entries.push((position, kind)),
            // The other parts of a model are left alone; beside other layers, all that has a place in it.
            None if of_others.contains(&position) => {}
            None if layer.as_ref().is_some_and(|layer| {
                let name = dotted(name);
                let has_place = !others.is_empty() && name.contains('.');
                !layer.contains(&name) && (has_place || is_part_of_model(&name))
            }) => {}
            None => unknown.push(name.as_str()),
        }
    }
    let is_empty = own_entries.is_empty() && layer.is_none();
    if is_empty || !unknown.is_empty() {
        return Err(not_found(names, &unknown, layer.as_ref()));
    }
    if let Some(layer) = &layer {
        check_complete(layer)?;
    }
    Ok(Choice { own: own_entries, layer })
}

/// The layers among the names at these positions, in order. Where names fit several schemes, the one with most of them counts.
fn layers(names: &[String], kept: &[usize]) -> Vec<LayerEntries> {
    let mut candidates: BTreeMap<(usize, String), LayerEntries> = BTreeMap::new();
    for &position in kept {
        let name = dotted(&names[position]);
        let is_own = matches!(own(&name), Some(kind) if kind != EntryKind::Whole(Role::Mask) && kind != EntryKind::Whole(Role::Bias));
        for (number, prefix, meaning) in meanings(&name) {
            if is_own && prefix.is_empty() {
                continue;
            }
            let entries = candidates.entry((number, prefix.to_string())).or_insert_with(|| LayerEntries {
                scheme: &SCHEMES[number],
                prefix: prefix.to_string(),
                weights: Vec::new(),
                biases: Vec::new(),
                apart: Vec::new(),
            });
            match meaning {
                Meaning::Weights(roles) => entries.weights.push((position, roles)),
                Meaning::Bias => entries.biases.push(position),
                Meaning::Apart(apart) => entries.apart.push((position, apart)),
            }
        }
    }
    let projects =
        |layer: &LayerEntries| [Role::WQ, Role::WK, Role::WV].into_iter().any(|role| layer.has(role));
    let mut candidates: Vec<LayerEntries> = candidates.into_values().filter(projects).collect();
    // Stable: of equal ones the first scheme.
    candidates.sort_by_key(|layer| std::cmp::Reverse(layer.weights.len()));
    let (mut taken, mut prefixes) = (BTreeSet::new(), BTreeSet::new());
    candidates.retain(|layer| {
        let is_free = layer.weights.iter().all(|(position, _)| !taken.contains(position))
            && !prefixes.contains(&layer.prefix);
        if is_free {
            taken.extend(layer.weights.iter().map(|(position, _)| *position));
            prefixes.insert(layer.prefix.clone());
        }
        is_free
    });
    candidates.sort_by_cached_key(|layer| (layer.numbers(), layer.prefix.clone()));
    candidates
}

/// The layer that is wanted, and the others.
///
/// # Errors
/// If it is none of them, or not one.
fn chosen_layer(
    layers: Vec<LayerEntries>,
    wanted: Option<&str>,
    names: &[String],
) -> Result<(Option<LayerEntries>, Vec<LayerEntries>)> {
    let list = listed_briefly(layers.iter().map(|layer| layer.prefix.as_str()));
    let count = layers.len();
    let (mut chosen, others): (Vec<_>, Vec<_>) =
        layers.into_iter().partition(|layer| wanted.is_none_or(|wanted| layer.is(wanted)));
    let help = "choose one with --layer, by its number, or by its name if numbers repeat".to_string();
    let error = match wanted {
        _ if chosen.len() == 1 || (chosen.is_empty() && wanted.is_none()) => {
            return Ok((chosen.pop(), others));
        }
        Some(wanted) if count == 0 => {
            return Err(with_known_names(Error::new(format!(
                "there is no layer `{}`: no name in this file is one of a layer that is known here; the file has {}",
                clip(wanted),
                listed(names)
            ))));
        }
        Some(wanted) if chosen.is_empty() => {
            format!("there is no layer `{}`; the layers are {list}", clip(wanted))
        }
        Some(wanted) => {
            format!("{} layers have the number `{}`; the layers are {list}", chosen.len(), clip(wanted))
        }
        None => format!("there are {count} layers, but one is needed: {list}"),
    };
    Err(Error::new(error).help(help))
}

/// # Errors
/// If the layer has some of its projections, but not all.
fn check_complete(layer: &LayerEntries) -> Result<()> {
    let Some(missing) = [Role::WQ, Role::WK, Role::WV].into_iter().find(|role| !layer.has(*role)) else {
        return Ok(());
    };
    let ends = layer.scheme.entries.iter().filter(|(_, roles)| roles.contains(&missing)).map(|(end, _)| *end);
    Err(Error::new(format!(
        "the layer{} has no {}: there is no {}",
        of_prefix(layer),
        missing.name(),
        listed_briefly(ends)
    ))
    .help("save all weights of the layer in one file"))
}

/// A name of a layer without its prefix.
pub(super) fn behind<'n>(prefix: &str, name: &'n str) -> &'n str {
    name.get(prefix.len()..).unwrap_or(name).trim_start_matches(['.', '/'])
}

/// `` `h.0.attn` `` behind a blank, or nothing.
fn of_prefix(layer: &LayerEntries) -> String {
    if layer.prefix.is_empty() { String::new() } else { format!(" `{}`", clip(&layer.prefix)) }
}

fn listed<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    listed_briefly(names.into_iter().map(String::as_str))
}

fn not_found(names: &[String], unknown: &[&str], layer: Option<&LayerEntries>) -> Error {
    let found = listed(names);
    let unknown_names = listed_briefly(unknown.iter().copied());
    if let Some(layer) = layer {
        let ends = layer.scheme.entries.iter().map(|(end, _)| *end);
        let is_within = unknown.iter().all(|name| layer.contains(&dotted(name)));
        let prefix = if is_within { &layer.prefix } else { "" };
        let unknown: Vec<&str> = unknown.iter().map(|name| behind(prefix, name)).collect();
        let of_layer = match layer.prefix.as_str() {
            "" => String::new(),
            _ if is_within => format!(" in{}", of_prefix(layer)),
            _ => format!(" beside the layer{}", of_prefix(layer)),
        };
        let names = listed_briefly(unknown.iter().copied());
        return Error::new(format!("unknown names {names}{of_layer}; the file has {found}"))
            .help(format!(
                "the other names of the layer{} are those of {} ({})",
                of_prefix(layer),
                layer.scheme.of,
                listed_briefly(ends)
            ))
            .and_help(&format!(
                "to compute without, which may give other numbers than the model: --ignore {}",
                unknown.iter().take(12).map(|name| clip(name)).collect::<Vec<_>>().join(",")
            ));
    }
    let what = match unknown {
        [] if names.is_empty() => "the file has no matrices".to_string(),
        unknown if unknown.is_empty() || unknown.len() == names.len() => {
            format!("no name in this file is that of a matrix of an attention layer; it has {found}")
        }
        _ => format!("unknown names {unknown_names}; the file has {found}"),
    };
    with_known_names(Error::new(what))
}

/// Adds the names that are known.
fn with_known_names(error: Error) -> Error {
    let mut firsts: Vec<&str> = Vec::new();
    for (end, _) in SCHEMES.iter().filter_map(|scheme| scheme.entries.first()) {
        if !firsts.contains(end) {
            firsts.push(end);
        }
    }
    error
        .help(format!(
            "name the matrices {}, {TOKENS}, mask, bias",
            Role::all().map(Role::name).collect::<Vec<_>>().join(", ")
        ))
        .and_help(&format!("or as a model does: {}, with the names that go with it", firsts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    fn choice(list: &[&str], layer: Option<&str>) -> Result<Choice> {
        choose(&names(list), LayerOptions { layer, ..LayerOptions::default() })
    }

    fn fails(list: &[&str], layer: Option<&str>) -> String {
        choice(list, layer).err().unwrap().to_string()
    }

    const MODEL: [&str; 8] = [
        "model.embed_tokens.weight",
        "model.layers.10.self_attn.q_proj.weight",
        "model.layers.2.self_attn.q_proj.weight",
        "model.layers.2.self_attn.k_proj.weight",
        "model.layers.2.self_attn.v_proj.weight",
        "model.layers.2.self_attn.q_proj.bias",
        "model.layers.2.mlp.c_proj.weight",
        "model.layers.2.input_layernorm.weight",
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
            let chosen = choice(&MODEL, Some(layer)).unwrap().layer.unwrap();
            assert_eq!(chosen.positions().collect::<Vec<_>>(), [2, 3, 4, 5]);
        }
        assert!(fails(&MODEL, Some("7")).starts_with("there is no layer `7`; the layers are"));
    }

    #[test]
    fn a_number_that_two_layers_share_is_no_choice() {
        let list = ["encoder.0.qkv.weight", "decoder.0.qkv.weight"];
        assert!(fails(&list, Some("0")).contains("2 layers have the number"));
        assert!(choice(&list, Some("decoder.0")).is_ok());
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
        assert!(fails(&[], None).starts_with("the file has no matrices"));
        assert!(fails(&["X"], Some("0")).contains("no name in this file is one of a layer"));
    }

    #[test]
    fn a_name_within_the_layer_is_no_other_part_of_a_model() {
        let said = fails(&["qkv.weight", "proj.weight", "q_norm.weight"], None);
        assert!(said.contains("unknown names `q_norm.weight`") && said.contains("those of timm"), "{said}");
        let said = fails(&["b.attn.qkv.weight", "b.attn.q_norm.weight", "b.norm.weight"], None);
        assert!(said.contains("unknown names `q_norm.weight` in `b.attn`; the file"), "{said}");
        assert!(choice(&["b.attn.qkv.weight", "b.norm.weight", "norm.weight"], None).is_ok());
        let beside = |name| choice(&["b.0.attn.qkv.weight", "b.0.attn.proj.weight", name], None);
        for name in ["b.0.foo", "foo", "b.0.attn_extra.weight", "b.0.out_proj.weight", "other.0.weight"] {
            let said = beside(name).err().unwrap().to_string();
            assert!(
                said.starts_with(&format!("unknown names `{name}` beside the layer `b.0.attn`; the file")),
                "{said}"
            );
            assert!(said.contains("(`qkv.weight`, `proj.weight`)"), "{said}");
        }
        for name in ["b.0.ln_1.weight", "b.0.mlp.fc1.bias", "wte.weight", "lm_head.weight", "cls_token"] {
            assert!(beside(name).is_ok(), "{name}");
        }
        let two = ["b.0.attn.qkv.weight", "b.1.attn.qkv.weight", "b.0.mixer.weight"];
        assert!(choice(&two, Some("0")).is_ok());
        let said = fails(&[&two[..], &["foo"]].concat(), Some("0"));
        assert!(said.starts_with("unknown names `foo` beside the layer `b.0.attn`"), "{said}");
        let said = fails(&["a.W_QQ.weight", "a.out_proj.weight", "X"], None);
        assert!(said.contains("unknown names `a.W_QQ.weight`, `a.out_proj.weight`"), "{said}");
    }

    #[test]
    fn a_layer_has_all_its_projections() {
        let said = fails(&["a.q_proj.weight", "a.k_proj.weight", "a.o_proj.weight"], None);
        assert!(said.starts_with("the layer `a` has no W_V: there is no `v_proj.weight`"), "{said}");
    }

    #[test]
    fn the_scheme_that_most_names_fit_is_taken() {
        for (list, of) in [
            (
                &["q_proj.weight", "k_proj.weight", "v_proj.weight", "out_proj.weight"][..],
                "BART, OPT, CLIP, Whisper",
            ),
            (&["W_q.weight", "W_k.weight", "W_v.weight", "w_concat.weight"], "hyunwoongko/transformer"),
            (&["q/query/kernel", "q/key/kernel", "q/value/kernel", "q/attention_output/kernel:0"], "Keras"),
            (
                &[
                    "l.1.self.query.weight",
                    "l.1.self.key.weight",
                    "l.1.self.value.weight",
                    "l.1.output.dense.weight",
                ],
                "BERT",
            ),
        ] {
            assert_eq!(choice(list, None).unwrap().layer.unwrap().scheme.of, of);
        }
    }

    #[test]
    fn an_end_that_is_to_be_left_out_is_the_end_of_a_name() {
        let options = |ignore| LayerOptions { ignore, ..LayerOptions::default() };
        let list = names(&["qkv.weight", "q_norm.weight"]);
        let [norm, bias] = [["norm.weight".to_string()], ["bias".to_string()]];
        assert!(choose(&list, options(&norm)).is_ok());
        let said = choose(&list, options(&bias)).err().unwrap().to_string();
        assert!(said.starts_with("no name ends in `bias`"), "{said}");
    }
}
