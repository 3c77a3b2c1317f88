//! Our own names of the matrices in a file.

use crate::graph::Role;

/// The tokens' own name in a file.
pub const TOKENS: &str = "tokens";

/// The meaning of a name of our own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A whole matrix.
    Whole(Role),
    /// One head of Q, K, V, a mask or a bias, counted from 1: `Q_2`.
    Head(Role, usize),
    /// The names of the tokens.
    Tokens,
}

/// The meaning of our own names, in any case: `X`, `W_Q`, `wq`, `Q_2`, `queries`, `mask`.
pub fn own(name: &str) -> Option<EntryKind> {
    let lower = name.to_ascii_lowercase();
    if let Some((letter, number)) = lower.split_once('_')
        && let Some(role) = Role::all()
            .filter(|role| role.has_heads() || role.is_beside_scores())
            .find(|role| role.name().eq_ignore_ascii_case(letter))
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
        "bq" => Role::BQ,
        "bk" => Role::BK,
        "bv" => Role::BV,
        "bo" => Role::BO,
        TOKENS => return Some(EntryKind::Tokens),
        _ => return None,
    }))
}
