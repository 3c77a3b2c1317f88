//! Negative numbers as arguments. clap takes `-2` for a flag; so, before it looks, the minus of whatever reads as a number
//! or a matrix becomes the typographic minus U+2212, which the reading of numbers accepts.

use std::ffi::OsString;

const TYPOGRAPHIC_MINUS: char = '−';

/// The argument, its leading `-` exchanged if it is a negative number or a matrix that begins with one.
pub(super) fn shielded(arg: OsString) -> OsString {
    match arg.to_str().and_then(|text| text.strip_prefix('-')) {
        Some(rest) if is_numbers(rest) => format!("{TYPOGRAPHIC_MINUS}{rest}").into(),
        _ => arg,
    }
}

/// A message in which the minus is again as it was typed.
pub(super) fn unshielded(message: &str) -> String {
    message.replace(TYPOGRAPHIC_MINUS, "-")
}

/// Whether a text is numbers with spaces, commas or semicolons between them.
fn is_numbers(text: &str) -> bool {
    let mut parts = text.split([' ', '\t', '\n', ',', ';']).filter(|part| !part.is_empty()).peekable();
    !text.starts_with(|c: char| c == '-' || c.is_whitespace())
        && parts.peek().is_some()
        && parts.all(|part| part.parse::<f64>().is_ok() || part == "∞" || part == "-∞")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_numbers_and_matrices_are_values_and_flags_stay_flags() {
        for (typed, seen) in [
            ("-2", "−2"),
            ("-.5", "−.5"),
            ("-1e-3", "−1e-3"),
            ("-inf", "−inf"),
            ("-1 2; 3 4", "−1 2; 3 4"),
            ("-1,-2", "−1,-2"),
            ("--2", "--2"),
            ("-h", "-h"),
            ("--scale", "--scale"),
            ("-", "-"),
            ("-x 1", "-x 1"),
        ] {
            assert_eq!(shielded(typed.into()), OsString::from(seen), "{typed}");
        }
    }
}
