//! The names of tensors in files: prefixes that may be there or not, old spellings, tensors that no step reads.

use crate::params::Family;

/// The name under which a tensor is listed, from its name in a file: with the family's prefix, and with `weight` and `bias` for the
/// `gamma` and `beta` of older files.
pub(super) fn listed_name(family: Family, name: &str) -> String {
    let name = match name.strip_prefix("language_model.") {
        Some(inner) => inner.to_string(),
        None => name.replacen("model.language_model.", "model.", 1),
    };
    let name = match name.rsplit_once('.') {
        Some((stem, "gamma")) => format!("{stem}.weight"),
        Some((stem, "beta")) => format!("{stem}.bias"),
        _ => name,
    };
    let (prefix, heads) = prefix(family);
    if name.starts_with(prefix) || heads.iter().any(|head| name.starts_with(head)) {
        name
    } else {
        format!("{prefix}{name}")
    }
}

/// The prefix of a family's tensors, and the beginnings of the names that stand without it.
fn prefix(family: Family) -> (&'static str, &'static [&'static str]) {
    match family {
        Family::Gpt2 => ("transformer.", &["lm_head."]),
        Family::GptNeox => ("gpt_neox.", &["embed_out."]),
        Family::Bert => ("bert.", &["cls."]),
        Family::AttnSmall => ("", &[]),
        _ => ("model.", &["lm_head.", "vision_tower.", "multi_modal_projector."]),
    }
}

/// Why no step reads a tensor of this listed name; none for a tensor that is no well-known one.
pub(super) fn reason_to_ignore(listed: &str) -> Option<&'static str> {
    let ends = |tails: &[&str]| tails.iter().any(|tail| listed.ends_with(tail));
    let begins = |heads: &[&str]| heads.iter().any(|head| listed.starts_with(head));
    if ends(&[".attn.bias", ".attn.masked_bias", ".attention.bias", ".attention.masked_bias"]) {
        Some("mask buffers")
    } else if ends(&["rotary_emb.inv_freq"]) {
        Some("rotary frequencies")
    } else if ends(&["embeddings.position_ids", "embeddings.token_type_ids"]) {
        Some("numbers of positions and types")
    } else if begins(&["bert.pooler."]) {
        Some("the pooler")
    } else if begins(&["cls.seq_relationship."]) {
        Some("the next-sentence head")
    } else if begins(&[
        "vision_tower.",
        "multi_modal_projector.",
        "model.vision_tower.",
        "model.multi_modal_projector.",
    ]) {
        Some("the vision tower")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_with_and_without_their_prefix() {
        for (family, name, listed) in [
            (Family::Gpt2, "h.0.attn.c_attn.weight", "transformer.h.0.attn.c_attn.weight"),
            (Family::Gpt2, "transformer.wte.weight", "transformer.wte.weight"),
            (Family::Gpt2, "lm_head.weight", "lm_head.weight"),
            (Family::Bert, "embeddings.LayerNorm.gamma", "bert.embeddings.LayerNorm.weight"),
            (
                Family::Bert,
                "cls.predictions.transform.LayerNorm.beta",
                "cls.predictions.transform.LayerNorm.bias",
            ),
            (Family::Gemma3, "language_model.model.norm.weight", "model.norm.weight"),
            (Family::Gemma3, "model.language_model.norm.weight", "model.norm.weight"),
            (Family::Llama, "layers.1.mlp.up_proj.weight", "model.layers.1.mlp.up_proj.weight"),
            (Family::GptNeox, "embed_out.weight", "embed_out.weight"),
        ] {
            assert_eq!(listed_name(family, name), listed);
        }
    }
}
