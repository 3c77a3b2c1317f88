//! The variables of the environment that set defaults of options: `ATTN_PRECISION=2` for `--precision 2`.

/// The beginning of each variable's name; the rest is the name of the option.
pub(super) const PREFIX: &str = "ATTN_";

/// The options that have a variable.
pub(super) const OPTIONS: [&str; 7] = ["charset", "color", "heat", "memory", "precision", "theme", "width"];

/// The variables that are set to something, with their values.
pub(super) fn set(variable: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let name = |option: &str| format!("{PREFIX}{}", option.to_uppercase());
    let value = |option: &&str| variable(&name(option)).filter(|value| !value.is_empty());
    OPTIONS.iter().filter_map(|option| Some((option.to_string(), value(option)?))).collect()
}
