//! Foreign text within sentences: clipped, listed, or as a shell reads it.

use std::borrow::Cow;
use std::fmt::Write;

use super::{hidden, to_os, visible};

/// The longest piece of a user's text that an error repeats.
const LONGEST_QUOTE: usize = 40;

/// A name as a shell reads it: in quotes where it has to be, and as `$'…'` where something in it cannot be seen.
pub fn quoted(name: &str) -> Cow<'_, str> {
    if hidden(name).next().is_none() {
        return shlex::try_quote(name).unwrap_or(Cow::Borrowed(name));
    }
    let mut out = String::from("$'");
    let mut end = 0;
    let plain = |out: &mut String, text: &str| out.push_str(&text.replace('\\', "\\\\").replace('\'', "\\'"));
    for (at, c) in hidden(name) {
        plain(&mut out, &name[end..at]);
        end = at + c.len_utf8();
        for byte in to_os(&name[at..end]).as_encoded_bytes() {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\x{byte:02X}");
        }
    }
    plain(&mut out, &name[end..]);
    out.push('\'');
    Cow::Owned(out)
}

/// The user's text as an error repeats it: visible, and not longer than a line can bear.
pub fn clip(text: &str) -> String {
    let mut chars = text.chars();
    let start: String = chars.by_ref().take(LONGEST_QUOTE).collect();
    let shown = visible(&start).into_owned();
    if chars.next().is_some() { shown + "…" } else { shown }
}

/// A list for an error: the first few names in backticks, and how many more there are.
pub fn listed_briefly<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let names: Vec<&str> = names.into_iter().collect();
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{}`", clip(name))).collect();
    match names.len().checked_sub(SHOWN) {
        Some(more @ 1..) => format!("{} and {more} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_quoted_name_as_the_name() {
        for (name, quoted_name) in [
            ("a.md", "a.md"),
            ("my lesson.md", "'my lesson.md'"),
            ("e\u{1b}]0;p'\u{7}.md", "$'e\\x1B]0;p\\'\\x07.md'"),
            ("caf\u{10ffe9} \\", "$'caf\\xE9 \\\\'"),
            ("b\u{200b}", "$'b\\xE2\\x80\\x8B'"),
        ] {
            assert_eq!(quoted(name), quoted_name);
        }
    }

    #[test]
    fn a_long_text_is_clipped_in_errors() {
        assert_eq!(clip(&"x".repeat(1_000_000)).chars().count(), LONGEST_QUOTE + 1);
        assert_eq!(clip("short"), "short");
    }

    #[test]
    fn a_long_list_says_how_many_more() {
        let names: Vec<String> = (0..15).map(|i| format!("n{i}")).collect();
        let said = listed_briefly(names.iter().map(String::as_str));
        assert!(said.ends_with("`n11` and 3 more"), "{said}");
        assert_eq!(listed_briefly(["a", "b"]), "`a`, `b`");
    }
}
