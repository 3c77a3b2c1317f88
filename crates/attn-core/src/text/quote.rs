//! Names as a shell reads them.

use std::borrow::Cow;
use std::fmt::Write;

use crate::foreign::{hidden, to_os};

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
}
