//! Which step a dumped tensor is, by its name.

use crate::params::Family;

use super::right_numbers::{Place, Step};

/// What a dumped tensor's name means in a model of this family with this many layers.
pub(super) fn meaning(name: &str, family: Family, layers: usize) -> Meaning {
    if let Some(place) = own(name, layers) {
        return Meaning::Known(Naming::Own, place);
    }
    let dotted = dotted(name);
    let parts: Vec<&str> = dotted.split('.').filter(|part| !part.is_empty()).collect();
    let (naming, place) = match (parts.first(), parts.last()) {
        (_, Some(&"hook_scale")) => return Meaning::NotCompared,
        (first, Some(last)) if first == Some(&"blocks") || last.starts_with("hook_") => {
            (Naming::TransformerLens, hook(&parts, layers))
        }
        _ => {
            let module = Module::of(&parts);
            let place = match module.layer {
                Some((layer, at)) if layer < layers => in_layer(&module, at, (family, layer + 1, layers)),
                Some(_) => None,
                None => outside_layers(&module, family, layers),
            };
            (module.naming, place)
        }
    };
    place.map_or(Meaning::Unknown, |place| Meaning::Known(naming, place))
}

/// A node of this program. `L3.X` is what layer 2 gives.
fn own(name: &str, layers: usize) -> Option<Place> {
    let node = |layer| Some(Place { layer, step: Step::NODE });
    match name {
        "E" | "E_tokens" | "E_positions" | "E_sum" => return node(1),
        "X_final" => return node(layers),
        "X_final_normed" | "logits_uncapped" => return node(layers + 1),
        _ => {}
    }
    let (layer, step) = name.strip_prefix('L')?.split_once('.')?;
    let layer: usize = layer.parse().ok().filter(|layer| (1..=layers).contains(layer))?;
    node(if step == "X" { layer.max(2) - 1 } else { layer })
}

/// `h[0]` as `h.0`, without slashes.
fn dotted(name: &str) -> String {
    name.replace(['[', '/'], ".").replace([']', '\''], "")
}

// Whose names tensors have, and what a name may mean.

/// Whose names they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Naming {
    /// The nodes of this program: `L3.Q_2`.
    Own,
    /// Modules and outputs of `transformers`: `model.layers.0.self_attn.q_proj`.
    Transformers,
    /// Hooks of TransformerLens: `blocks.0.attn.hook_q`.
    TransformerLens,
    /// Modules with `.input` or `.output`, as nnsight has them.
    Nnsight,
}

impl Naming {
    /// All of them.
    pub(super) fn all() -> impl Iterator<Item = Naming> {
        // The last of several equal ones is the most usual.
        [Naming::Own, Naming::Nnsight, Naming::TransformerLens, Naming::Transformers].into_iter()
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Naming::Own => "names of attn",
            Naming::Transformers => "transformers",
            Naming::TransformerLens => "TransformerLens",
            Naming::Nnsight => "nnsight",
        }
    }
}

/// What a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A step of the model.
    Known(Naming, Place),
    /// A tensor that is known and not compared: the scale of a norm.
    NotCompared,
    /// No tensor of the model.
    Unknown,
}

// The path of a module of `transformers`, as dumps write it.

/// The path of a module, and which of its tensors is meant.
#[derive(Clone, Debug)]
pub(super) struct Module<'n> {
    pub naming: Naming,
    /// The parts of its path, without the wrappers around the model and without `output`.
    pub path: Vec<&'n str>,
    /// Its layer, counted from 0, and the number of parts up to it.
    pub layer: Option<(usize, usize)>,
    /// True if it is what the module reads.
    pub is_input: bool,
    /// The element of a tuple.
    pub element: Option<usize>,
    /// True if it is the function that computes attention.
    pub is_interface: bool,
}

/// Names of lists of layers.
const LISTS: [&str; 4] = ["h", "layers", "layer", "blocks"];
/// What wraps a model.
const WRAPPERS: [&str; 4] = ["_orig_mod", "module", "base_model", "_model"];

impl<'n> Module<'n> {
    /// The module behind the parts of a name.
    pub fn of(parts: &[&'n str]) -> Module<'n> {
        let mut path: Vec<&str> = parts.iter().copied().filter(|part| !WRAPPERS.contains(part)).collect();
        let mut naming = Naming::Transformers;
        let mut element = None;
        let interface = path.iter().position(|part| *part == "source");
        let is_number = |part: &&str| part.parse::<usize>().is_ok();
        let ends = |path: &[&str], words: &[&str]| path.last().is_some_and(|last| words.contains(last));
        if path.len() > 2
            && is_number(&path[path.len() - 1])
            && ends(&path[..path.len() - 1], &["output", "nns_output"])
        {
            element = path.pop().and_then(|last| last.parse().ok());
        }
        let is_input = path.len() > 1 && ends(&path, &["input", "inputs"]);
        let is_layer_norm_of_bert = |path: &[&str]| path.len() > 3 && path[path.len() - 3] == "layer";
        let is_output = path.len() > 1
            && ends(&path, &["output", "nns_output"])
            && !(is_layer_norm_of_bert(&path)
                || ends(&path[..path.len() - 1], &["attention"]) && path.contains(&"encoder"));
        if is_input || is_output {
            path.pop();
            naming = Naming::Nnsight;
        }
        if let Some(at) = interface {
            path.truncate(at);
            naming = Naming::Nnsight;
        }
        let layer = path.windows(2).position(|pair| LISTS.contains(&pair[0]) && is_number(&pair[1]));
        let layer = layer.and_then(|at| Some((path[at + 1].parse().ok()?, at + 2)));
        Module { naming, path, layer, is_input, element, is_interface: interface.is_some() }
    }

    /// The path within its layer, or after the names of the model's parts.
    pub fn inside(&self, at: usize) -> String {
        self.path.get(at..).unwrap_or_default().join(".")
    }
}

// Modules and outputs of `transformers`, as steps.

/// A module in a layer; `at` parts of its path lead to the layer.
fn in_layer(
    module: &Module<'_>,
    at: usize,
    (family, layer, layers): (Family, usize, usize),
) -> Option<Place> {
    let inside = module.inside(at);
    if inside.is_empty() {
        return Some(if module.is_input {
            entering(layer)
        } else {
            Place { layer, step: Step::LEAVING_LAYER }
        });
    }
    if inside.ends_with("source") || module.is_interface {
        let step = if module.element == Some(1) { Step::PATTERN } else { Step::MIXED };
        return Some(Place { layer, step });
    }
    let step =
        if module.is_input { input(&inside, family) } else { output(&inside, family, module.element) }?;
    // What the first norm of a layer reads is the residual stream that enters it.
    Some(match step {
        Step::EMBEDDED => entering(layer),
        step => Place { layer: layer.min(layers), step },
    })
}

/// The residual stream that enters a layer is the one that leaves the layer before.
fn entering(layer: usize) -> Place {
    match layer {
        0 | 1 => Place { layer: 1, step: Step::EMBEDDED },
        layer => Place { layer: layer - 1, step: Step::LEAVING_LAYER },
    }
}

/// Returns true if a layer has norms behind its sublayers and before them, or only behind.
fn is_normed_behind(family: Family) -> bool {
    matches!(family, Family::Gemma2 | Family::Gemma3 | Family::Olmo2)
}

fn output(inside: &str, family: Family, element: Option<usize>) -> Option<Step> {
    Some(match inside {
        "ln_1" | "input_layernorm" => Step::NORMED,
        "attn.c_attn" | "attention.query_key_value" | "self_attn.qkv_proj" => Step::FUSED,
        "self_attn.q_proj" | "attention.self.query" => Step::QUERIES,
        "self_attn.k_proj" | "attention.self.key" => Step::KEYS,
        "self_attn.v_proj" | "attention.self.value" => Step::VALUES,
        "self_attn.q_norm" => Step::QUERIES_NORMED,
        "self_attn.k_norm" => Step::KEYS_NORMED,
        "attn" | "self_attn" | "attention" | "attention.self" if element == Some(1) => Step::PATTERN,
        "attention.self" => Step::MIXED,
        "attention" | "attention.output" | "attention.output.LayerNorm" if family == Family::Bert => {
            Step::MIDDLE
        }
        "attn"
        | "self_attn"
        | "attention"
        | "attn.c_proj"
        | "attn.resid_dropout"
        | "self_attn.o_proj"
        | "attention.dense"
        | "attention.output.dense" => Step::ATTENTION_PROJECTED,
        "post_attention_layernorm" if is_normed_behind(family) => Step::ATTENTION_ADDED,
        "ln_2" | "post_attention_layernorm" | "pre_feedforward_layernorm" => Step::MIDDLE_NORMED,
        "mlp.c_fc" | "mlp.dense_h_to_4h" | "intermediate.dense" | "mlp.up_proj" => Step::UP,
        "mlp.gate_proj" => Step::GATE,
        "mlp.gate_up_proj" => Step::GATE_AND_UP,
        "mlp.act" | "mlp.act_fn" | "mlp.activation_fn" | "intermediate" => Step::ACTIVE,
        "mlp" | "mlp.c_proj" | "mlp.dropout" | "mlp.down_proj" | "mlp.dense_4h_to_h" | "output.dense" => {
            Step::MLP_PROJECTED
        }
        "post_feedforward_layernorm" => Step::MLP_ADDED,
        "output" | "output.LayerNorm" => Step::LEAVING_LAYER,
        _ => return None,
    })
}

/// What a module reads. [`Step::EMBEDDED`] stands for the residual stream that enters the layer.
fn input(inside: &str, family: Family) -> Option<Step> {
    let is_parallel = family == Family::GptNeox;
    Some(match inside {
        "ln_1" | "input_layernorm" => Step::EMBEDDED,
        "attn"
        | "self_attn"
        | "attn.c_attn"
        | "attention"
        | "attention.query_key_value"
        | "self_attn.qkv_proj"
        | "self_attn.q_proj"
        | "self_attn.k_proj"
        | "self_attn.v_proj"
            if family != Family::Bert && family != Family::Olmo2 =>
        {
            Step::NORMED
        }
        "attention"
        | "attention.self"
        | "self_attn"
        | "attention.self.query"
        | "attention.self.key"
        | "attention.self.value"
        | "self_attn.q_proj"
        | "self_attn.k_proj"
        | "self_attn.v_proj" => Step::EMBEDDED,
        "attn.c_proj" | "self_attn.o_proj" | "attention.dense" | "attention.output.dense" => Step::MIXED,
        "post_attention_layernorm" if is_normed_behind(family) => Step::ATTENTION_PROJECTED,
        "post_attention_layernorm" if is_parallel => return None,
        "ln_2" | "post_attention_layernorm" | "pre_feedforward_layernorm" => Step::MIDDLE,
        "mlp" | "mlp.c_fc" | "mlp.gate_proj" | "mlp.up_proj" | "mlp.gate_up_proj" | "mlp.dense_h_to_4h"
            if family != Family::Olmo2 =>
        {
            Step::MIDDLE_NORMED
        }
        "intermediate" | "intermediate.dense" | "mlp" | "mlp.gate_proj" | "mlp.up_proj" => Step::MIDDLE,
        "mlp.act" | "mlp.activation_fn" => Step::UP,
        "mlp.act_fn" => Step::GATE,
        "mlp.c_proj" | "mlp.down_proj" | "mlp.dense_4h_to_h" | "output.dense" => Step::INSIDE,
        "post_feedforward_layernorm" => Step::MLP_PROJECTED,
        "attn.resid_dropout" => Step::ATTENTION_PROJECTED,
        "mlp.dropout" => Step::MLP_PROJECTED,
        _ => return None,
    })
}

/// A module outside the layers, or an output of the whole model: `hidden_states.3`, `attentions.0`, `logits`.
fn outside_layers(module: &Module<'_>, family: Family, layers: usize) -> Option<Place> {
    let last = *module.path.last()?;
    if let (Ok(number), Some(list)) = (last.parse::<usize>(), module.path.iter().rev().nth(1)) {
        return of_list(list, number, family, layers);
    }
    let (layer, step) = match (last, module.is_input) {
        ("wte" | "embed_tokens" | "embed_in" | "word_embeddings", false) => (1, Step::TOKEN_EMBEDDING),
        ("wpe" | "position_embeddings", false) => (1, Step::POSITION_EMBEDDING),
        ("drop" | "embeddings", _) => (1, Step::EMBEDDED),
        ("ln_f" | "norm" | "final_layer_norm" | "ln_final", false) => (layers + 1, Step::FINAL_NORMED),
        ("ln_f" | "norm" | "final_layer_norm" | "ln_final", true) => (layers, Step::LEAVING_LAYER),
        ("lm_head" | "embed_out", true) => (layers + 1, Step::FINAL_NORMED),
        ("lm_head" | "embed_out" | "decoder", false) => (layers + 1, Step::UNCAPPED_LOGITS),
        ("logits", _) => (layers + 1, Step::LOGITS),
        ("last_hidden_state", _) => (layers + 1, Step::LAST_HIDDEN),
        ("LayerNorm", false) if module.path.contains(&"embeddings") => (1, Step::EMBEDDED),
        _ => return None,
    };
    Some(Place { layer, step })
}

/// An entry of a list of outputs, counted from 0.
fn of_list(list: &str, number: usize, family: Family, layers: usize) -> Option<Place> {
    let is_layer = number < layers;
    let place = |layer, step| Some(Place { layer, step });
    match list {
        "hidden_states" if number == layers && family == Family::Bert => place(layers, Step::LEAVING_LAYER),
        "hidden_states" if number == layers => place(layers + 1, Step::LAST_HIDDEN),
        "hidden_states" | "layers_input" if is_layer => Some(entering(number + 1)),
        "attentions" | "attention_probabilities" if is_layer => place(number + 1, Step::PATTERN),
        "layers_output" if is_layer => place(number + 1, Step::LEAVING_LAYER),
        "attentions_output" if is_layer => place(number + 1, Step::ATTENTION_PROJECTED),
        "mlps_output" if is_layer => place(number + 1, Step::MLP_PROJECTED),
        _ => None,
    }
}

// Hooks of TransformerLens, as steps.

/// What a hook is.
fn hook(parts: &[&str], layers: usize) -> Option<Place> {
    if let ["blocks", number, inside @ ..] = parts {
        let layer = number.parse::<usize>().ok().filter(|layer| *layer < layers)? + 1;
        return match inside.join(".").as_str() {
            "hook_resid_pre" | "hook_in" => Some(entering(layer)),
            inside => Some(Place { layer, step: in_block(inside)? }),
        };
    }
    let (layer, step) = match parts.join(".").as_str() {
        "hook_embed" | "embed.hook_out" => (1, Step::TOKEN_EMBEDDING),
        "hook_pos_embed" | "pos_embed.hook_out" => (1, Step::POSITION_EMBEDDING),
        "ln_final.hook_normalized" | "ln_final.hook_out" => (layers + 1, Step::FINAL_NORMED),
        "hook_unembed" | "unembed.hook_out" => (layers + 1, Step::UNCAPPED_LOGITS),
        _ => return None,
    };
    Some(Place { layer, step })
}

fn in_block(inside: &str) -> Option<Step> {
    Some(match inside {
        "ln1.hook_normalized" | "ln1.hook_out" => Step::NORMED,
        "attn.hook_q" | "attn.q.hook_out" => Step::QUERIES,
        "attn.hook_k" | "attn.k.hook_out" => Step::KEYS,
        "attn.hook_v" | "attn.v.hook_out" => Step::VALUES,
        "attn.hook_rot_q" => Step::QUERIES_ROTATED,
        "attn.hook_rot_k" => Step::KEYS_ROTATED,
        "attn.hook_attn_scores" => Step::SCORES,
        "attn.hook_pattern" => Step::PATTERN,
        "attn.hook_z" | "attn.o.hook_in" => Step::MIXED,
        "hook_attn_out" | "attn.hook_out" => Step::ATTENTION_ADDED,
        "hook_resid_mid" => Step::MIDDLE,
        "ln2.hook_normalized" | "ln2.hook_out" => Step::MIDDLE_NORMED,
        "mlp.hook_pre" => Step::BEFORE_ACTIVATION,
        "mlp.hook_pre_linear" => Step::UP,
        "mlp.hook_post" => Step::INSIDE,
        "hook_mlp_out" | "mlp.hook_out" => Step::MLP_ADDED,
        "hook_resid_post" | "hook_out" => Step::LEAVING_LAYER,
        _ => return None,
    })
}
