//! Long texts, cut where a line has no more room.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr;

use crate::foreign::visible;

/// The mark of a text that was cut off.
pub const CUT: char = '…';

/// The longest piece of a user's text that an error repeats.
const LONGEST_QUOTE: usize = 40;

/// The user's text as an error repeats it: visible, and at most 40 characters before the mark.
pub fn clip(text: &str) -> String {
    let mut chars = text.chars();
    let start: String = chars.by_ref().take(LONGEST_QUOTE).collect();
    let mut shown = visible(&start).into_owned();
    if chars.next().is_some() {
        shown.push(CUT);
    }
    shown
}

/// The longest line of a message, in characters, and the length of the end that is kept of a longer one.
const LONGEST_LINE: usize = 1000;
const KEPT_END: usize = 300;

/// An error or a note as it is shown: of a line of more than a thousand characters, which repeats an argument or a label at
/// length, the beginning and the end.
pub fn abridged(message: &str) -> Cow<'_, str> {
    // A line has at least as many bytes as characters.
    if message.lines().all(|line| line.len() <= LONGEST_LINE) {
        return Cow::Borrowed(message);
    }
    let kept = |line: &str| {
        let count = line.chars().count();
        if count <= LONGEST_LINE {
            return line.to_string();
        }
        let start = line.chars().take(LONGEST_LINE - KEPT_END - 1);
        start.chain([CUT]).chain(line.chars().skip(count - KEPT_END)).collect()
    };
    Cow::Owned(message.split('\n').map(kept).collect::<Vec<String>>().join("\n"))
}

/// A text in at most `most` characters, the mark included.
pub fn clipped(text: &str, most: usize) -> Cow<'_, str> {
    if text.chars().nth(most).is_none() {
        return Cow::Borrowed(text);
    }
    let start: String = text.chars().take(most.saturating_sub(1)).collect();
    Cow::Owned(format!("{}{CUT}", start.trim_end()))
}

/// A text in at most `most` columns, cut between words if there are several.
pub fn clipped_at_word(text: &str, most: usize) -> Cow<'_, str> {
    if text.width() <= most {
        return Cow::Borrowed(text);
    }
    let mut start: String = text.chars().take(most.saturating_sub(1)).collect();
    start.truncate(start.rfind(' ').unwrap_or(start.len()));
    Cow::Owned(format!("{start} {CUT}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_clipped_in_errors() {
        assert_eq!(clip(&"x".repeat(1_000_000)).chars().count(), LONGEST_QUOTE + 1);
        assert_eq!(clip("short"), "short");
    }

    #[test]
    fn of_a_long_line_of_a_message_the_beginning_and_the_end_are_kept() {
        let said = abridged("`short` is not a number\n  help: write 1\n");
        assert!(matches!(said, Cow::Borrowed(_)));
        let long = format!("`{}` is not a number\n  help: write 1", "ö".repeat(120_000));
        let said = abridged(&long);
        assert_eq!(said.lines().next().unwrap().chars().count(), LONGEST_LINE);
        assert!(said.starts_with("`öö") && said.ends_with("öö` is not a number\n  help: write 1"), "{said}");
        assert_eq!(abridged(&said), said);
    }

    #[test]
    fn a_clipped_text_ends_in_the_mark_and_has_the_length_asked_for() {
        assert_eq!(clipped("1 2; 3 4", 8), "1 2; 3 4");
        assert_eq!(clipped("1 2; 3 4", 7), "1 2; 3…");
        assert_eq!(clipped("1 2; 3 4", 5), "1 2;…");
        assert_eq!(clipped_at_word("one two three", 9), "one two …");
        assert_eq!(clipped_at_word("one two", 9), "one two");
    }
}
