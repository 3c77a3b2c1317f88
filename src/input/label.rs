//! Text from a file, made fit for a screen.

use std::borrow::Cow;

/// The longest piece of a user's text that an error repeats.
const LONGEST_QUOTE: usize = 40;

/// The label without what could move the cursor, change colours or reorder the line: escape sequences, control
/// characters and the Unicode direction overrides go; a tab or line break becomes a space.
pub fn clean_label(label: &str) -> Cow<'_, str> {
    if !label.chars().any(|c| c.is_control() || is_invisible(c)) {
        return Cow::Borrowed(label);
    }
    let mut clean = String::with_capacity(label.len());
    let mut rest = label.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => skip_escape(&mut rest),
            '\u{9b}' => skip_until_final(&mut rest),
            '\t' | '\n' | '\r' => clean.push(' '),
            c if c.is_control() || is_invisible(c) => {}
            c => clean.push(c),
        }
    }
    Cow::Owned(clean)
}

/// A name as a shell reads it: in quotes where it has to be.
pub fn quoted(name: &str) -> Cow<'_, str> {
    // A zero byte, which no shell can be given, is all that cannot be quoted.
    shlex::try_quote(name).unwrap_or(Cow::Borrowed(name))
}

/// Marks that reorder a line or end it unseen: U+061C, U+200E–200F, U+2028–202E, U+2066–2069, U+FEFF.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// What follows an ESC: `[ … letter`, a string such as `] … BEL`, or one more character.
fn skip_escape(rest: &mut std::str::Chars<'_>) {
    let ahead = rest.clone().next();
    match ahead {
        Some('[') => {
            rest.next();
            skip_until_final(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            // Ends at BEL or at ESC \ ; where neither comes, nothing after it could be trusted.
            while let Some(c) = rest.next() {
                if c == '\u{7}' || c == '\u{9c}' {
                    break;
                }
                if c == '\u{1b}' {
                    rest.next();
                    break;
                }
            }
        }
        Some(c) if !c.is_control() => {
            rest.next();
        }
        _ => {}
    }
}

/// The parameters of a control sequence and its final byte, `@` to `~`.
fn skip_until_final(rest: &mut std::str::Chars<'_>) {
    while let Some(c) = rest.clone().next() {
        if !(' '..='~').contains(&c) {
            return;
        }
        rest.next();
        if ('@'..='~').contains(&c) {
            return;
        }
    }
}

/// The user's text as an error repeats it: clean, and not longer than a line can bear.
pub fn clip(text: &str) -> String {
    let mut chars = text.chars();
    let start: String = chars.by_ref().take(LONGEST_QUOTE).collect();
    let clean = clean_label(&start).into_owned();
    if chars.next().is_some() { clean + "…" } else { clean }
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
    fn an_ordinary_label_stays_as_it_is() {
        for label in ["bat", "", " cat", "Fledermaus-höhle", "蝙蝠", "naïve 👍"] {
            assert!(matches!(clean_label(label), Cow::Borrowed(same) if same == label));
        }
    }

    #[test]
    fn escapes_and_control_characters_are_stripped() {
        for (label, clean) in [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{9b}2Jgone", "gone"),
            ("\u{1b}]0;title\u{7}bat", "bat"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("a\tb\nc\rd", "a b c d"),
            ("bell\u{7}\u{8}\u{0}", "bell"),
            ("abc\u{202e}def", "abcdef"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("\u{1b}[3", ""),
            ("\u{1b}cafter", "after"),
        ] {
            assert_eq!(clean_label(label), clean, "{label:?}");
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
