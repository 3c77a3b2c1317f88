//! The names under which files keep the matrices of an attention layer.
//!
//! Sources of the usual names: PyTorch's `nn.MultiheadAttention` (`in_proj_weight`, `out_proj.weight`) and, on Hugging
//! Face, the models of the families Llama and OPT (`q_proj.weight` …), BERT (`query.weight` …) and GPT-2 (`c_attn.weight`),
//! and Meta's own Llama files (`wq.weight` …).

use super::bundle::Layout;

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
    pub(super) layer: String,
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
