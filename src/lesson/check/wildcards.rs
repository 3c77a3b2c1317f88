//! Comparison with trycmd's wildcards: `...` matches any lines, `[..]` any text within a line.

use snapbox::Data;
use snapbox::filter::NormalizeToExpected;

/// The printed text with the wildcards of `expected` wherever they match: it equals `expected` if and only if all of it
/// matches.
pub(super) fn with_wildcards(printed: &str, expected: &str) -> String {
    let normalized =
        NormalizeToExpected::new().redact().normalize(Data::text(printed), &Data::text(expected));
    normalized.render().unwrap_or_else(|| printed.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stay_where_they_match_and_the_rest_is_what_was_printed() {
        for (printed, expected, result) in [
            ("a\nb\nc\n", "a\n...\nc\n", "a\n...\nc\n"),
            ("a\nb\nc\n", "a\n...\n", "a\n...\n"),
            ("took 3 ms\nb\n", "took [..] ms\nb\n", "took [..] ms\nb\n"),
            ("took 3 ms\nc\n", "took [..] ms\nb\n", "took [..] ms\nc\n"),
            ("a\nb\n", "a\n", "a\nb\n"),
            ("a\n", "a\nb\n", "a\n"),
            ("a\nx\n", "...\nc\n", "a\nx\n"),
        ] {
            assert_eq!(with_wildcards(printed, expected), result, "{printed:?} {expected:?}");
        }
    }
}
