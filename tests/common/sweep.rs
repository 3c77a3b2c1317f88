//! How much of a sweep is run.

/// A sweep goes over all demos, lessons, mistakes, sizes or widths, or over many random cases. `cargo test` takes one in `n` of them, so
/// that it stays short, and with `ATTN_SWEEPS=all`, as in `.ci/run`, all: then this is 1.
pub fn one_in(n: usize) -> usize {
    let is_all = std::env::var_os("ATTN_SWEEPS").is_some_and(|value| value == "all");
    if is_all { 1 } else { n }
}
