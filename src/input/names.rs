//! The names under which files keep the matrices of an attention layer.
//!
//! Sources of the usual names: PyTorch's `nn.MultiheadAttention` (`in_proj_weight`, `out_proj.weight`) and, on Hugging
//! Face, the models of the families Llama and OPT (`q_proj.weight` …), BERT (`query.weight` …) and GPT-2 (`c_attn.weight`),
//! and Meta's own Llama files (`wq.weight` …).

use super::bundle::Layout;
use crate::graph::Role;

/// The tokens' own name in a file.
pub(super) const TOKENS: &str = "tokens";

/// What an entry holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// A whole matrix.
    Whole(Role),
    /// One head of Q, K or V, counted from 1: `Q_2`.
    Head(Role, usize),
    /// W_Q, W_K and W_V in one.
    Stacked,
    Tokens,
}

/// An entry that was recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recognised {
    pub(super) holds: Holds,
    /// How the weights are stored, where the name implies it.
    pub(super) layout: Option<Layout>,
    /// The layer of a model it belongs to; empty where the name has no prefix.
    pub(super) layer: String,
}

/// The ends of dotted names, the longer before those they end in.
const SUFFIXES: [(&str, Holds, Layout); 17] = [
    ("q_proj.weight", Holds::Whole(Role::WQ), Layout::OutIn),
    ("k_proj.weight", Holds::Whole(Role::WK), Layout::OutIn),
    ("v_proj.weight", Holds::Whole(Role::WV), Layout::OutIn),
    ("o_proj.weight", Holds::Whole(Role::WO), Layout::OutIn),
    ("out_proj.weight", Holds::Whole(Role::WO), Layout::OutIn),
    ("self.query.weight", Holds::Whole(Role::WQ), Layout::OutIn),
    ("self.key.weight", Holds::Whole(Role::WK), Layout::OutIn),
    ("self.value.weight", Holds::Whole(Role::WV), Layout::OutIn),
    ("query.weight", Holds::Whole(Role::WQ), Layout::OutIn),
    ("key.weight", Holds::Whole(Role::WK), Layout::OutIn),
    ("value.weight", Holds::Whole(Role::WV), Layout::OutIn),
    ("wq.weight", Holds::Whole(Role::WQ), Layout::OutIn),
    ("wk.weight", Holds::Whole(Role::WK), Layout::OutIn),
    ("wv.weight", Holds::Whole(Role::WV), Layout::OutIn),
    ("wo.weight", Holds::Whole(Role::WO), Layout::OutIn),
    ("in_proj_weight", Holds::Stacked, Layout::OutIn),
    ("c_attn.weight", Holds::Stacked, Layout::InOut),
];

/// Ends that mean W_O only behind a layer's attention: the same words end names of its MLP.
const AFTER_ATTENTION: [(&str, &str, Layout); 2] =
    [("attention.", "output.dense.weight", Layout::OutIn), ("attn.", "c_proj.weight", Layout::InOut)];

/// What a name stands for.
pub(super) fn recognise(name: &str) -> Option<Recognised> {
    if let Some(holds) = plain(name) {
        return Some(Recognised { holds, layout: None, layer: String::new() });
    }
    for (suffix, holds, layout) in &SUFFIXES {
        if let Some(prefix) = name.strip_suffix(suffix)
            && (prefix.is_empty() || prefix.ends_with('.'))
        {
            return Some(Recognised { holds: holds.clone(), layout: Some(*layout), layer: layer_of(prefix) });
        }
    }
    AFTER_ATTENTION.iter().find_map(|&(block, suffix, layout)| {
        let prefix = name.strip_suffix(suffix).filter(|prefix| prefix.ends_with(block))?;
        Some(Recognised { holds: Holds::Whole(Role::WO), layout: Some(layout), layer: layer_of(prefix) })
    })
}

fn layer_of(prefix: &str) -> String {
    prefix.trim_end_matches('.').to_string()
}

/// Names without a model around them: `X`, `W_Q`, `wq`, `Q_2`, `mask`.
fn plain(name: &str) -> Option<Holds> {
    let lower = name.to_ascii_lowercase();
    if let Some((letter, number)) = lower.split_once('_')
        && let Some(role) =
            Role::all().find(|role| role.has_heads() && role.name().eq_ignore_ascii_case(letter))
        && number.bytes().all(|digit| digit.is_ascii_digit())
    {
        return number.parse().ok().map(|number| Holds::Head(role, number));
    }
    Some(Holds::Whole(match lower.replace('_', "").as_str() {
        "x" => Role::X,
        "wq" => Role::WQ,
        "wk" => Role::WK,
        "wv" => Role::WV,
        "wo" => Role::WO,
        "q" => Role::Q,
        "k" => Role::K,
        "v" => Role::V,
        "m" | "mask" => Role::Mask,
        "b" | "bias" => Role::Bias,
        TOKENS => return Some(Holds::Tokens),
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_read_in_any_case_and_imply_no_layout() {
        for (name, holds) in [
            ("X", Holds::Whole(Role::X)),
            ("w_q", Holds::Whole(Role::WQ)),
            ("WQ", Holds::Whole(Role::WQ)),
            ("wo", Holds::Whole(Role::WO)),
            ("v", Holds::Whole(Role::V)),
            ("Q_2", Holds::Head(Role::Q, 2)),
            ("mask", Holds::Whole(Role::Mask)),
            ("B", Holds::Whole(Role::Bias)),
            ("Tokens", Holds::Tokens),
        ] {
            let found = recognise(name).unwrap();
            assert_eq!((found.holds, found.layout), (holds, None), "{name}");
        }
    }

    #[test]
    fn the_usual_names_of_models_are_known_with_their_layout() {
        for (name, holds, layout, layer) in [
            ("q_proj.weight", Holds::Whole(Role::WQ), Layout::OutIn, ""),
            (
                "model.layers.0.self_attn.k_proj.weight",
                Holds::Whole(Role::WK),
                Layout::OutIn,
                "model.layers.0.self_attn",
            ),
            ("layers.3.attention.wo.weight", Holds::Whole(Role::WO), Layout::OutIn, "layers.3.attention"),
            (
                "bert.encoder.layer.1.attention.self.value.weight",
                Holds::Whole(Role::WV),
                Layout::OutIn,
                "bert.encoder.layer.1.attention",
            ),
            (
                "bert.encoder.layer.1.attention.output.dense.weight",
                Holds::Whole(Role::WO),
                Layout::OutIn,
                "bert.encoder.layer.1.attention",
            ),
            ("attn.in_proj_weight", Holds::Stacked, Layout::OutIn, "attn"),
            ("out_proj.weight", Holds::Whole(Role::WO), Layout::OutIn, ""),
            ("h.0.attn.c_attn.weight", Holds::Stacked, Layout::InOut, "h.0.attn"),
            ("h.0.attn.c_proj.weight", Holds::Whole(Role::WO), Layout::InOut, "h.0.attn"),
        ] {
            let found = recognise(name).unwrap();
            assert_eq!(found, Recognised { holds, layout: Some(layout), layer: layer.into() }, "{name}");
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
