//! The names under which files keep the matrices of an attention layer.
//!
//! Sources of the usual names: PyTorch's `nn.MultiheadAttention` (`in_proj_weight`, `out_proj.weight`) and, on Hugging
//! Face, the models of the families Llama and OPT (`q_proj.weight` …), BERT (`query.weight` …) and GPT-2 (`c_attn.weight`),
//! and Meta's own Llama files (`wq.weight` …).

use crate::graph::Role;

/// The layout of a weight matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// (in, out): a row of X times the matrix, x W.
    InOut,
    /// (out, in), as PyTorch's `Linear` keeps it: x Wᵀ.
    OutIn,
}

/// The tokens' own name in a file.
pub(super) const TOKENS: &str = "tokens";

/// The contents of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
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
pub(super) struct KnownEntry {
    pub(super) kind: EntryKind,
    /// The layout of the weights, where the name implies it.
    pub(super) layout: Option<Layout>,
    /// The layer of a model it belongs to; empty where the name has no prefix.
    pub(super) layer: String,
}

/// The ends of dotted names, the longer before those they end in.
const SUFFIXES: [(&str, EntryKind, Layout); 17] = [
    ("q_proj.weight", EntryKind::Whole(Role::WQ), Layout::OutIn),
    ("k_proj.weight", EntryKind::Whole(Role::WK), Layout::OutIn),
    ("v_proj.weight", EntryKind::Whole(Role::WV), Layout::OutIn),
    ("o_proj.weight", EntryKind::Whole(Role::WO), Layout::OutIn),
    ("out_proj.weight", EntryKind::Whole(Role::WO), Layout::OutIn),
    ("self.query.weight", EntryKind::Whole(Role::WQ), Layout::OutIn),
    ("self.key.weight", EntryKind::Whole(Role::WK), Layout::OutIn),
    ("self.value.weight", EntryKind::Whole(Role::WV), Layout::OutIn),
    ("query.weight", EntryKind::Whole(Role::WQ), Layout::OutIn),
    ("key.weight", EntryKind::Whole(Role::WK), Layout::OutIn),
    ("value.weight", EntryKind::Whole(Role::WV), Layout::OutIn),
    ("wq.weight", EntryKind::Whole(Role::WQ), Layout::OutIn),
    ("wk.weight", EntryKind::Whole(Role::WK), Layout::OutIn),
    ("wv.weight", EntryKind::Whole(Role::WV), Layout::OutIn),
    ("wo.weight", EntryKind::Whole(Role::WO), Layout::OutIn),
    ("in_proj_weight", EntryKind::Stacked, Layout::OutIn),
    ("c_attn.weight", EntryKind::Stacked, Layout::InOut),
];

/// Ends that mean W_O only behind a layer's attention: the same words end names of its MLP.
const AFTER_ATTENTION: [(&str, &str, Layout); 2] =
    [("attention.", "output.dense.weight", Layout::OutIn), ("attn.", "c_proj.weight", Layout::InOut)];

/// The meaning of a name.
pub(super) fn recognise(name: &str) -> Option<KnownEntry> {
    if let Some(kind) = plain(name) {
        return Some(KnownEntry { kind, layout: None, layer: String::new() });
    }
    for (suffix, kind, layout) in &SUFFIXES {
        if let Some(prefix) = name.strip_suffix(suffix)
            && (prefix.is_empty() || prefix.ends_with('.'))
        {
            return Some(KnownEntry { kind: kind.clone(), layout: Some(*layout), layer: layer_of(prefix) });
        }
    }
    AFTER_ATTENTION.iter().find_map(|&(block, suffix, layout)| {
        let prefix = name.strip_suffix(suffix).filter(|prefix| prefix.ends_with(block))?;
        Some(KnownEntry { kind: EntryKind::Whole(Role::WO), layout: Some(layout), layer: layer_of(prefix) })
    })
}

fn layer_of(prefix: &str) -> String {
    prefix.trim_end_matches('.').to_string()
}

/// Names without a model around them: `X`, `W_Q`, `wq`, `Q_2`, `mask`.
fn plain(name: &str) -> Option<EntryKind> {
    let lower = name.to_ascii_lowercase();
    if let Some((letter, number)) = lower.split_once('_')
        && let Some(role) =
            Role::all().find(|role| role.has_heads() && role.name().eq_ignore_ascii_case(letter))
        && number.bytes().all(|digit| digit.is_ascii_digit())
    {
        return number.parse().ok().map(|number| EntryKind::Head(role, number));
    }
    Some(EntryKind::Whole(match lower.replace('_', "").as_str() {
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
        "gq" => Role::QueryGain,
        "gk" => Role::KeyGain,
        "fdivisors" => Role::Divisors,
        "r" => Role::PositionTable,
        "sink" | "sinks" => Role::Sink,
        "wg" => Role::Gate,
        TOKENS => return Some(EntryKind::Tokens),
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_read_in_any_case_and_imply_no_layout() {
        for (name, kind) in [
            ("X", EntryKind::Whole(Role::X)),
            ("w_q", EntryKind::Whole(Role::WQ)),
            ("WQ", EntryKind::Whole(Role::WQ)),
            ("wo", EntryKind::Whole(Role::WO)),
            ("v", EntryKind::Whole(Role::V)),
            ("Q_2", EntryKind::Head(Role::Q, 2)),
            ("mask", EntryKind::Whole(Role::Mask)),
            ("B", EntryKind::Whole(Role::Bias)),
            ("W_g", EntryKind::Whole(Role::Gate)),
            ("sinks", EntryKind::Whole(Role::Sink)),
            ("R", EntryKind::Whole(Role::PositionTable)),
            ("g_Q", EntryKind::Whole(Role::QueryGain)),
            ("g_K", EntryKind::Whole(Role::KeyGain)),
            ("F_divisors", EntryKind::Whole(Role::Divisors)),
            ("Tokens", EntryKind::Tokens),
        ] {
            let found = recognise(name).unwrap();
            assert_eq!((found.kind, found.layout), (kind, None), "{name}");
        }
    }

    #[test]
    fn the_usual_names_of_models_are_known_with_their_layout() {
        for (name, kind, layout, layer) in [
            ("q_proj.weight", EntryKind::Whole(Role::WQ), Layout::OutIn, ""),
            (
                "model.layers.0.self_attn.k_proj.weight",
                EntryKind::Whole(Role::WK),
                Layout::OutIn,
                "model.layers.0.self_attn",
            ),
            ("layers.3.attention.wo.weight", EntryKind::Whole(Role::WO), Layout::OutIn, "layers.3.attention"),
            (
                "bert.encoder.layer.1.attention.self.value.weight",
                EntryKind::Whole(Role::WV),
                Layout::OutIn,
                "bert.encoder.layer.1.attention",
            ),
            (
                "bert.encoder.layer.1.attention.output.dense.weight",
                EntryKind::Whole(Role::WO),
                Layout::OutIn,
                "bert.encoder.layer.1.attention",
            ),
            ("attn.in_proj_weight", EntryKind::Stacked, Layout::OutIn, "attn"),
            ("out_proj.weight", EntryKind::Whole(Role::WO), Layout::OutIn, ""),
            ("h.0.attn.c_attn.weight", EntryKind::Stacked, Layout::InOut, "h.0.attn"),
            ("h.0.attn.c_proj.weight", EntryKind::Whole(Role::WO), Layout::InOut, "h.0.attn"),
        ] {
            let found = recognise(name).unwrap();
            assert_eq!(found, KnownEntry { kind, layout: Some(layout), layer: layer.into() }, "{name}");
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
