//! The names under which files keep the matrices of an attention layer.

use std::collections::HashMap;
use std::sync::LazyLock;

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

/// The meaning of a name of our own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// A whole matrix.
    Whole(Role),
    /// One head of Q, K or V, counted from 1: `Q_2`.
    Head(Role, usize),
    /// The bias of a projection: `b_Q`.
    ProjectionBias,
    Tokens,
}

/// The meaning of our own names, in any case: `X`, `W_Q`, `wq`, `Q_2`, `queries`, `mask`.
pub(super) fn own(name: &str) -> Option<EntryKind> {
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
        "q" | "query" | "queries" => Role::Q,
        "k" | "key" | "keys" => Role::K,
        "v" | "value" | "values" => Role::V,
        "m" | "mask" => Role::Mask,
        "b" | "bias" => Role::Bias,
        "gq" => Role::QueryGain,
        "gk" => Role::KeyGain,
        "fdivisors" => Role::Divisors,
        "r" => Role::PositionTable,
        "sink" | "sinks" => Role::Sink,
        "wg" => Role::Gate,
        "bq" | "bk" | "bv" | "bo" => return Some(EntryKind::ProjectionBias),
        TOKENS => return Some(EntryKind::Tokens),
        _ => return None,
    }))
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
    /// The bias of a projection.
    Bias,
    Apart(Apart),
}

/// What names of the other parts of models contain: embeddings, norms, the network behind attention, what predicts.
const OTHER_PARTS: [&str; 18] = [
    "norm",
    "emb",
    "mlp",
    "moe",
    "expert",
    "router",
    "dense",
    "linear",
    "conv",
    "pool",
    "head",
    "classif",
    "feed",
    "generator",
    "token",
    "scale",
    "shared",
    "score",
];
/// The same where they stand alone between points and `_`, before a number.
const SHORT_PARTS: [&str; 10] = ["ln", "ff", "ffn", "fc", "net", "wte", "wpe", "cls", "pos", "ls"];

/// True if a name with points is that of another part of a model than attention.
pub(super) fn is_part_of_model(dotted: &str) -> bool {
    let lower = dotted.to_ascii_lowercase();
    let mut words = lower.split(['.', '_']).map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()));
    OTHER_PARTS.iter().any(|part| lower.contains(part)) || words.any(|word| SHORT_PARTS.contains(&word))
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
                add(&bias, number, Meaning::Bias);
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
            ("mask", EntryKind::Whole(Role::Mask)),
            ("B", EntryKind::Whole(Role::Bias)),
            ("b_Q", EntryKind::ProjectionBias),
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
            Meaning::Bias
        )));
        assert_eq!(found("blocks.0.attn._b_K"), [("TransformerLens", "blocks.0.attn".into(), Meaning::Bias)]);
        assert_eq!(found("a.in_proj_bias")[0].2, Meaning::Bias);
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
