//! Pieces of a vocabulary as people read them.
//!
//! Byte-level vocabularies write each byte as one character that can be seen: those of printable ASCII and Latin-1 as
//! themselves, the other 68 as U+0100 and what follows, so that `Ġ` is a space.

use crate::foreign::{hidden, visible};
use crate::text::ScreenWidth;

/// The mark of a space at the beginning or the end of a piece.
pub const SPACE: char = '␣';

/// What carries a combining character that a piece begins with.
const CARRIER: char = '◌';

/// The byte that a character of a byte-level vocabulary stands for.
pub(super) fn byte_of(c: char) -> Option<u8> {
    let code = u32::from(c);
    match code {
        0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => u8::try_from(code).ok(),
        0x100..=0x143 => (0..=u8::MAX).filter(|&byte| !is_printable(byte)).nth(code as usize - 0x100),
        _ => None,
    }
}

fn is_printable(byte: u8) -> bool {
    matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff)
}

/// A piece of a byte-level vocabulary as text; bytes that are not a whole character are written `<0xE2>`. A piece with a
/// character that stands for no byte stays as it is.
pub(super) fn of_byte_level(piece: &str) -> String {
    let Some(bytes) = piece.chars().map(byte_of).collect::<Option<Vec<u8>>>() else {
        return piece.to_string();
    };
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|byte| format!("<0x{byte:02X}>")));
    }
    out
}

/// A token as every table, label and format shows it: marks for the spaces at its beginning and end, a carrier for a combining
/// character at its beginning, and escapes for what cannot be seen, such as `\n` and `\u{A0}`.
pub fn marked(text: &str) -> String {
    let inner = text.trim_matches(' ');
    let before = text.len() - text.trim_start_matches(' ').len();
    let after = text.len() - before - inner.len();
    let mark = |count: usize| std::iter::repeat_n(SPACE, count);
    let carrier = inner.chars().next().filter(|c| is_combining(*c)).map(|_| CARRIER);
    let marked: String = mark(before).chain(carrier).chain(inner.chars()).chain(mark(after)).collect();
    let mut shown = String::new();
    for c in visible(&marked).chars() {
        match c {
            // Spaces of other widths than the usual one look like it, or like nothing.
            c if c.is_whitespace() && c != ' ' => shown.push_str(&format!("\\u{{{:X}}}", u32::from(c))),
            c => shown.push(c),
        }
    }
    shown
}

/// Whether a character is drawn over the one before it.
fn is_combining(c: char) -> bool {
    let text = c.to_string();
    text.width() == 0 && hidden(&text).next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_have_a_character_of_their_own() {
        let mut found: Vec<u8> = ('\0'..='\u{200}').filter_map(byte_of).collect();
        found.sort_unstable();
        assert_eq!(found, (0..=u8::MAX).collect::<Vec<u8>>());
        // As in GPT-2's encoder.py: the space is Ġ, the line end Ċ, the soft hyphen Ń.
        assert_eq!(['Ġ', 'Ċ', 'ł', 'Ń', '!', 'ÿ'].map(byte_of), [32, 10, 160, 173, 33, 255].map(Some));
    }

    #[test]
    fn bytes_that_are_no_whole_character_are_written_as_numbers() {
        assert_eq!(of_byte_level("Ġcave"), " cave");
        assert_eq!(of_byte_level("Ã©"), "é");
        assert_eq!(of_byte_level("ðŁ"), "<0xF0><0x9F>");
        assert_eq!(of_byte_level("日"), "日");
    }

    #[test]
    fn spaces_at_the_edges_are_marked() {
        assert_eq!(marked(" the"), "␣the");
        assert_eq!(marked("  "), "␣␣");
        assert_eq!(marked("a b "), "a b␣");
        assert_eq!(marked("\u{301}a"), "◌\u{301}a");
        assert_eq!(marked("\u{200b}a"), "\\u{200B}a");
        assert_eq!(marked(" \n"), "␣\\n");
        assert_eq!(marked("\u{a0}"), "\\u{A0}");
        assert_eq!(marked("a\u{3000}b"), "a\\u{3000}b");
        assert_eq!(marked(&marked(" \t\u{a0}")), marked(" \t\u{a0}"));
        assert_eq!(marked(""), "");
    }
}
