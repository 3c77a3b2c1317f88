//! The names that today's models use, next to ours.

use crate::story::Table;

/// The mark for a name that a model's files do not have.
const NONE: &str = "–";

/// The meaning; our name; our option; the name in the configuration or the file of a model on the hub.
const OF_MODELS: &[[&str; 4]] = &[
    ["frequencies", "F", "--rope-base", "rope_theta; inv_freq"],
    ["frequencies for longer texts", "F_scaled", "--rope-scaling", "rope_scaling, rope_parameters"],
    ["rotated columns of a head", "2 · width of F", "--rope-width", "partial_rotary_factor · head_dim"],
    ["rotated queries and keys", "Q_rotated, K_rotated", "--position rope", NONE],
    ["bias by distance", "B_position", "--position alibi", "alibi"],
    ["table of biases by distance", "R", "--position-table", "relative_attention_bias.weight"],
    ["positions added to X", "PE, X_positioned", "--position sinusoidal", NONE],
    ["normed queries and keys", "Q_normed, K_normed", "--qk-norm", NONE],
    ["gains of these norms", "g_Q, g_K", "--qk-norm FILE", "q_norm.weight, k_norm.weight"],
    ["soft-cap of the scores", "S_capped", "--softcap", "attn_logit_softcapping"],
    ["window", "key > query − W", "--window", "sliding_window"],
    ["first tokens kept", "key < N", "--keep-first", NONE],
    ["sinks", "sink", "--sink", "self_attn.sinks"],
    ["gate of the heads", "W_g, G, O_gated", "--gate", NONE],
];

/// A table of what today's models add, a column for our name, our option, and the name in a model's files.
pub(super) fn notation_of_models() -> Table {
    let header = ["what", "attn", "option", "in a model's files"];
    Table::new(&header, OF_MODELS.iter().map(|row| row.map(String::from).to_vec()))
}
