//! Which entries of a file make up one attention layer.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::graph::Role;
use crate::read::{EntryKind, TOKENS, own};
use crate::text::{clip, listed_briefly};

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
    pub(super) biases: Vec<(usize, &'static [Role])>,
    pub(super) apart: Vec<(usize, Apart)>,
}

impl LayerEntries {
    fn has(&self, role: Role) -> bool {
        self.weights.iter().any(|(_, roles)| roles.contains(&role))
    }

    fn positions(&self) -> impl Iterator<Item = usize> {
        let weights = self.weights.iter().map(|(position, _)| *position);
        weights
            .chain(self.biases.iter().map(|(position, _)| *position))
            .chain(self.apart.iter().map(|(position, _)| *position))
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
                Meaning::Bias(roles) => entries.biases.push((position, roles)),
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
            let (wanted, names) = (clip(wanted), listed(names));
            return Err(with_known_names(Error::new(format!(
                "there is no layer `{wanted}`: no name in this file is one of a layer that is known here; the file has {names}"
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
    let (of_layer, role, ends) = (of_prefix(layer), missing.name(), listed_briefly(ends));
    Err(Error::new(format!("the layer{of_layer} has no {role}: there is no {ends}"))
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
        let (prefix, scheme, ends) = (of_prefix(layer), layer.scheme.of, listed_briefly(ends));
        let ignored = unknown.iter().take(12).map(|name| clip(name)).collect::<Vec<_>>().join(",");
        let without = "to compute without, which may give other numbers than the model";
        return Error::new(format!("unknown names {names}{of_layer}; the file has {found}"))
            .help(format!("the other names of the layer{prefix} are those of {scheme} ({ends})"))
            .and_help(&format!("{without}: --ignore {ignored}"));
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
    let roles = Role::all().map(Role::name).collect::<Vec<_>>().join(", ");
    error
        .help(format!("name the matrices {roles}, {TOKENS}, mask, bias"))
        .and_help(&format!("or as a model does: {}, with the names that go with it", firsts.join(", ")))
}

// The names under which files keep the matrices of an attention layer.

/// The layout of a weight matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// (in, out): a row of X times the matrix, x W.
    InOut,
    /// (out, in), as PyTorch's `Linear` keeps it: x Wᵀ.
    OutIn,
}

/// How a library keeps its weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// (out, in), as PyTorch's `Linear`.
    Linear,
    /// (in, out) as `Conv1D`, or (out, in) as `Linear`: the fused matrix is three times as long one way.
    Conv1dOrLinear,
    /// (in, out); or with a dimension for the heads, (in, H, d), of the output (H, d, out).
    Kernel,
    /// A matrix for each head, (H, in, d), of the output (H, d, out).
    Heads,
    /// A parameter by itself: nothing says which way round it is. It is read as (in, out), with a note.
    Parameter,
}

/// An entry of a layer that is no weight, and that other options or other steps have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Apart {
    CausalMask,
    Norm,
    /// The frequencies of rotary positions.
    Rotary,
}

/// The names that a library gives to the weights of one attention layer.
#[derive(Debug)]
pub(super) struct Scheme {
    /// Whose names they are.
    pub(super) of: &'static str,
    pub(super) kept: Kept,
    /// The ends of names, each with what the entry has, in its order: several roles in a fused matrix.
    pub(super) entries: &'static [(&'static str, &'static [Role])],
    /// True if a fused matrix has query, key and value of the first head, then those of the second.
    pub(super) head_by_head: bool,
    /// True if its scores are not divided by √d.
    pub(super) unscaled: bool,
    /// What else stands among the weights.
    pub(super) apart: &'static [(&'static str, Apart)],
}

const Q: &[Role] = &[Role::WQ];
const K: &[Role] = &[Role::WK];
const V: &[Role] = &[Role::WV];
const O: &[Role] = &[Role::WO];
const KV: &[Role] = &[Role::WK, Role::WV];
const QKV: &[Role] = &[Role::WQ, Role::WK, Role::WV];
const R: &[Role] = &[Role::PositionTable];

/// What most libraries have.
const LINEAR: Scheme =
    Scheme { of: "", kept: Kept::Linear, entries: &[], head_by_head: false, unscaled: false, apart: &[] };

/// All schemes; of two that fit a layer equally well the first counts. Behind a prefix, parts stand apart by `.` or `/`.
#[rustfmt::skip]
pub(super) const SCHEMES: [Scheme; 22] = [
    Scheme { of: "PyTorch's MultiheadAttention", entries: &[("in_proj_weight", QKV), ("q_proj_weight", Q), ("k_proj_weight", K), ("v_proj_weight", V), ("out_proj.weight", O)], ..LINEAR },
    Scheme { of: "Llama, Mistral, Qwen", entries: &[("q_proj.weight", Q), ("k_proj.weight", K), ("v_proj.weight", V), ("o_proj.weight", O)], apart: &[("rotary_emb.inv_freq", Apart::Rotary)], ..LINEAR },
    Scheme { of: "BART, OPT, CLIP, Whisper", entries: &[("q_proj.weight", Q), ("k_proj.weight", K), ("v_proj.weight", V), ("out_proj.weight", O)], ..LINEAR },
    Scheme { of: "Meta's Llama", entries: &[("wq.weight", Q), ("wk.weight", K), ("wv.weight", V), ("wo.weight", O)], ..LINEAR },
    Scheme { of: "BERT", entries: &[("self.query.weight", Q), ("self.key.weight", K), ("self.value.weight", V), ("output.dense.weight", O)], apart: &[("output.LayerNorm.weight", Apart::Norm), ("output.LayerNorm.bias", Apart::Norm), ("output.LayerNorm.gamma", Apart::Norm), ("output.LayerNorm.beta", Apart::Norm)], ..LINEAR },
    Scheme { of: "ViT in transformers", entries: &[("attention.query.weight", Q), ("attention.key.weight", K), ("attention.value.weight", V), ("output.dense.weight", O)], ..LINEAR },
    Scheme { of: "minGPT", entries: &[("query.weight", Q), ("key.weight", K), ("value.weight", V), ("proj.weight", O)], apart: &[("mask", Apart::CausalMask)], ..LINEAR },
    Scheme { of: "GPT-2 and nanoGPT", kept: Kept::Conv1dOrLinear, entries: &[("c_attn.weight", QKV), ("c_proj.weight", O)], apart: &[("bias", Apart::CausalMask), ("masked_bias", Apart::CausalMask)], ..LINEAR },
    Scheme { of: "LLMs-from-scratch", entries: &[("W_query.weight", Q), ("W_key.weight", K), ("W_value.weight", V), ("out_proj.weight", O)], apart: &[("mask", Apart::CausalMask)], ..LINEAR },
    Scheme { of: "LLMs-from-scratch, as parameters", kept: Kept::Parameter, entries: &[("W_query", Q), ("W_key", K), ("W_value", V), ("out_proj", O)], ..LINEAR },
    Scheme { of: "d2l.ai", entries: &[("W_q.weight", Q), ("W_k.weight", K), ("W_v.weight", V), ("W_o.weight", O)], ..LINEAR },
    Scheme { of: "hyunwoongko/transformer", entries: &[("w_q.weight", Q), ("w_k.weight", K), ("w_v.weight", V), ("w_concat.weight", O)], ..LINEAR },
    Scheme { of: "bentrevett/pytorch-seq2seq", entries: &[("fc_q.weight", Q), ("fc_k.weight", K), ("fc_v.weight", V), ("fc_o.weight", O)], ..LINEAR },
    Scheme { of: "the Annotated Transformer", entries: &[("linears.0.weight", Q), ("linears.1.weight", K), ("linears.2.weight", V), ("linears.3.weight", O)], ..LINEAR },
    Scheme { of: "timm", entries: &[("qkv.weight", QKV), ("proj.weight", O)], ..LINEAR },
    Scheme { of: "diffusers and vit-pytorch", entries: &[("to_q.weight", Q), ("to_k.weight", K), ("to_v.weight", V), ("to_kv.weight", KV), ("to_qkv.weight", QKV), ("to_out.0.weight", O), ("to_out.weight", O)], ..LINEAR },
    Scheme { of: "ModernBERT", entries: &[("Wqkv.weight", QKV), ("Wo.weight", O)], ..LINEAR },
    Scheme { of: "T5", entries: &[("q.weight", Q), ("k.weight", K), ("v.weight", V), ("o.weight", O), ("relative_attention_bias.weight", R)], unscaled: true, ..LINEAR },
    Scheme { of: "GPT-NeoX and BLOOM", entries: &[("query_key_value.weight", QKV), ("dense.weight", O)], head_by_head: true, apart: &[("bias", Apart::CausalMask), ("masked_bias", Apart::CausalMask), ("rotary_emb.inv_freq", Apart::Rotary)], ..LINEAR },
    Scheme { of: "TransformerLens", kept: Kept::Heads, entries: &[("W_Q", Q), ("W_K", K), ("_W_K", K), ("W_V", V), ("_W_V", V), ("W_O", O)], apart: &[("mask", Apart::CausalMask), ("IGNORE", Apart::CausalMask)], ..LINEAR },
    Scheme { of: "Flax", kept: Kept::Kernel, entries: &[("query.kernel", Q), ("key.kernel", K), ("value.kernel", V), ("out.kernel", O)], ..LINEAR },
    Scheme { of: "Keras", kept: Kept::Kernel, entries: &[("query.kernel", Q), ("key.kernel", K), ("value.kernel", V), ("attention_output.kernel", O)], ..LINEAR },
];

/// The place of a name in a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Weights(&'static [Role]),
    /// The bias of the projection with these weights.
    Bias(&'static [Role]),
    Apart(Apart),
}

/// What names of the other parts of models contain: embeddings, norms, the network behind attention, what predicts.
const OTHER_PARTS: &str = "norm emb mlp moe expert router dense linear conv pool \
    head classif feed generator token scale shared score";
/// The same where they stand alone between points and `_`, before a number.
const SHORT_PARTS: [&str; 10] = ["ln", "ff", "ffn", "fc", "net", "wte", "wpe", "cls", "pos", "ls"];

/// True if a name with points is that of another part of a model than attention.
pub(super) fn is_part_of_model(dotted: &str) -> bool {
    let lower = dotted.to_ascii_lowercase();
    let mut words = lower.split(['.', '_']).map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()));
    OTHER_PARTS.split(' ').any(|part| lower.contains(part)) || words.any(|word| SHORT_PARTS.contains(&word))
}

/// A name as the schemes have it: `/` of Flax and Keras is a point, and `:0` of Keras is no part of it.
pub(super) fn dotted(name: &str) -> String {
    name.strip_suffix(":0").unwrap_or(name).replace('/', ".")
}

/// The ends of names in small letters, each with the schemes that have it and what it means there.
static ENDS: LazyLock<HashMap<String, Vec<(usize, Meaning)>>> = LazyLock::new(|| {
    let mut ends: HashMap<String, Vec<(usize, Meaning)>> = HashMap::new();
    let mut add = |end: &str, scheme: usize, meaning: Meaning| {
        ends.entry(end.to_ascii_lowercase()).or_default().push((scheme, meaning));
    };
    for (number, scheme) in SCHEMES.iter().enumerate() {
        for (weights, roles) in scheme.entries {
            add(weights, number, Meaning::Weights(roles));
            let stem = weights.strip_suffix("weight").or(weights.strip_suffix("kernel"));
            let bias = stem.map_or(weights.replace("W_", "b_"), |stem| format!("{stem}bias"));
            if bias != *weights {
                add(&bias, number, Meaning::Bias(roles));
            }
        }
        scheme.apart.iter().for_each(|(end, apart)| add(end, number, Meaning::Apart(*apart)));
    }
    ends
});

/// What a name with points may be: the number of a scheme, the prefix, and the meaning.
pub(super) fn meanings(dotted: &str) -> Vec<(usize, &str, Meaning)> {
    let lower = dotted.to_ascii_lowercase();
    // No end has more than three parts.
    let points = lower.rmatch_indices('.').map(|(at, _)| at).take(3);
    let whole = ENDS.get(&lower).into_iter().flatten().map(|&(scheme, meaning)| (scheme, "", meaning));
    let behind = points.flat_map(|at| {
        let found = ENDS.get(&lower[at + 1..]).into_iter().flatten();
        found.map(move |&(scheme, meaning)| (scheme, &dotted[..at], meaning))
    });
    behind.chain(whole).collect()
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

    #[test]
    fn our_own_names_are_read_in_any_case() {
        for (name, kind) in [
            ("X", EntryKind::Whole(Role::X)),
            ("w_q", EntryKind::Whole(Role::WQ)),
            ("WQ", EntryKind::Whole(Role::WQ)),
            ("wo", EntryKind::Whole(Role::WO)),
            ("v", EntryKind::Whole(Role::V)),
            ("queries", EntryKind::Whole(Role::Q)),
            ("Q_2", EntryKind::Head(Role::Q, 2)),
            ("m_2", EntryKind::Head(Role::Mask, 2)),
            ("mask", EntryKind::Whole(Role::Mask)),
            ("B", EntryKind::Whole(Role::Bias)),
            ("b_Q", EntryKind::Whole(Role::BQ)),
            ("W_g", EntryKind::Whole(Role::Gate)),
            ("sinks", EntryKind::Whole(Role::Sink)),
            ("R", EntryKind::Whole(Role::PositionTable)),
            ("g_Q", EntryKind::Whole(Role::QueryGain)),
            ("g_K", EntryKind::Whole(Role::KeyGain)),
            ("F_divisors", EntryKind::Whole(Role::Divisors)),
            ("Tokens", EntryKind::Tokens),
        ] {
            assert_eq!(own(name), Some(kind), "{name}");
        }
        for name in ["W_Z", "q_x", "W_query", "q_proj.weight"] {
            assert_eq!(own(name), None, "{name}");
        }
    }

    #[test]
    fn an_end_counts_behind_a_point_and_not_within_a_word() {
        let found = |name: &str| -> Vec<(&str, String, Meaning)> {
            let dotted = dotted(name);
            let meanings = meanings(&dotted).into_iter();
            meanings
                .map(|(scheme, prefix, meaning)| (SCHEMES[scheme].of, prefix.to_string(), meaning))
                .collect()
        };
        assert!(found("my_q_proj.weight").is_empty() && found("model.norm.weight").is_empty());
        assert_eq!(found("mha/query/kernel:0")[0], ("Flax", "mha".into(), Meaning::Weights(Q)));
        assert!(found("to_out.0.bias").contains(&(
            "diffusers and vit-pytorch",
            String::new(),
            Meaning::Bias(O)
        )));
        let of_keys = ("TransformerLens", "blocks.0.attn".into(), Meaning::Bias(K));
        assert_eq!(found("blocks.0.attn._b_K"), [of_keys]);
        assert_eq!(found("a.in_proj_bias")[0].2, Meaning::Bias(QKV));
    }

    #[test]
    fn the_documents_have_the_table() {
        let page = include_str!("../../docs/formats.md");
        for scheme in &SCHEMES {
            let ends: Vec<String> = scheme.entries.iter().map(|(end, _)| format!("`{end}`")).collect();
            let row = format!("| {} | {} | ", ends.join(" "), scheme.of);
            assert!(page.contains(&row), "docs/formats.md has no row {row}");
        }
    }
}
