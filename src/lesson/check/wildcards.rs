//! Comparison with trycmd's wildcards: `...` matches any lines, `[..]` any text within a line.

/// The printed text with the wildcards of `expected` wherever they match: it equals `expected` if and only if all of it
/// matches. As in trycmd the line after `...` says where it ends.
pub(super) fn with_wildcards(printed: &str, expected: &str) -> String {
    if printed == expected {
        return printed.to_string();
    }
    let printed: Vec<&str> = printed.split_inclusive('\n').collect();
    let mut expected = expected.split_inclusive('\n').peekable();
    let (mut text, mut at) = (String::new(), 0);
    while let Some(line) = expected.next() {
        if let "..." | "...\n" = line {
            let Some(next) = expected.peek() else { return text + line };
            let Some(more) = printed[at..].iter().position(|printed| matches(printed, next)) else { break };
            text.push_str(line);
            at += more;
        } else {
            let Some(found) = printed.get(at) else { break };
            text.push_str(if matches(found, line) { line } else { found });
            at += 1;
        }
    }
    text + &printed[at..].concat()
}

/// Whether a printed line is the expected one, with any text for each `[..]`: up to the first place of what follows it.
fn matches(mut printed: &str, expected: &str) -> bool {
    let mut sections = expected.split("[..]").peekable();
    while let Some(section) = sections.next() {
        let Some(rest) = printed.strip_prefix(section) else { break };
        match sections.peek() {
            Some(&"") => printed = "",
            Some(next) => printed = rest.find(next).map_or(printed, |at| &rest[at..]),
            None if rest.is_empty() => return true,
            None => break,
        }
    }
    printed == expected
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use snapbox::filter::NormalizeToExpected;

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

    /// What `cargo test` takes for equal, by the code of trycmd.
    fn by_trycmd(printed: &str, expected: &str) -> String {
        let [printed, expected] = [printed, expected].map(snapbox::Data::text);
        NormalizeToExpected::new().redact().normalize(printed, &expected).render().unwrap()
    }

    fn texts() -> impl Strategy<Value = String> {
        let pieces = vec!["a", "b", "ab", "[..]", "...", "\n", "a\n", "b\n", "ab\n", "...\n", "...\n[..]\n"];
        prop::collection::vec(prop::sample::select(pieces), 0..9).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn a_lesson_and_trycmd_take_the_same_outputs_for_equal(printed in texts(), expected in texts()) {
            prop_assert_eq!(with_wildcards(&printed, &expected), by_trycmd(&printed, &expected));
        }
    }
}
