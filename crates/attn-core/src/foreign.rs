//! Text from elsewhere: labels, names of files, arguments, keys, the messages of other crates. Before it is shown, it passes
//! [`visible`], so that it cannot drive a terminal, reorder a line, or look like something that it is not.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use unicode_width::UnicodeWidthChar;

// Escapes characters that cannot be seen, such as `\u{200B}`.

/// The text as a screen or a page shows it: each control, bidirectional or invisible character is an escape such as `\n` or
/// `\u{200B}`, and a byte that is no UTF-8 one such as `\xE9`. A joiner (U+200C, U+200D) between letters or emoji stays.
/// The result is unchanged by another call.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// Like [`visible`], for a text of several lines: line ends stay.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\n')
}

/// The characters of a text that [`visible`] writes as escapes, each with the byte at which it begins.
pub fn hidden(text: &str) -> impl Iterator<Item = (usize, char)> {
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    let searched = if is_plain { "" } else { text };
    searched.char_indices().filter(|&(at, c)| match c {
        '\u{200c}' | '\u{200d}' => !joins(searched, at, c),
        '\u{fe0e}' | '\u{fe0f}' => !has_variants(searched, at),
        c => is_hidden(c),
    })
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let mut out = String::new();
    let mut end = 0;
    for (at, c) in hidden(text).filter(|&(_, c)| !stays(c)) {
        out.push_str(&text[end..at]);
        end = at + c.len_utf8();
        // Writing to a string cannot fail.
        let _ = match (c, byte_of(c)) {
            ('\n', _) => write!(out, "\\n"),
            ('\r', _) => write!(out, "\\r"),
            ('\t', _) => write!(out, "\\t"),
            (_, Some(byte)) => write!(out, "\\x{byte:02X}"),
            (c, None) => write!(out, "\\u{{{:X}}}", u32::from(c)),
        };
    }
    if end == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[end..]);
    Cow::Owned(out)
}

/// Returns true if a character cannot be seen: controls, marks of direction, joiners and fillers without a width, tags,
/// variation selectors. Spaces count as visible.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || byte_of(c).is_some()
        || matches!(c,
            // The soft hyphen, the joiner of graphemes, the mark of Arabic letters, fillers of Hangul and Khmer.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{3164}' | '\u{ffa0}'
            // Mongolian selectors; zero width space, marks, separators, embeddings; word joiner, invisible signs, isolates.
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            // Variation selectors, the mark of byte order, annotations.
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
            // Controls of shorthand and of notes; tags, and the selectors behind them.
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns true if a joiner has a letter or an emoji on both sides.
fn joins(text: &str, at: usize, joiner: char) -> bool {
    let before = text[..at].chars().next_back();
    let behind = text[at + joiner.len_utf8()..].chars().next();
    before.is_some_and(is_joined) && behind.is_some_and(is_joined)
}

fn is_joined(c: char) -> bool {
    // A vowel sign or a virama, which has no width of its own, belongs to the letter before it.
    let is_mark = || c.width() == Some(0) && !is_hidden(c);
    c.is_alphabetic() || is_mark() || is_pictured(c) || matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

/// Returns true if a variation selector follows a character that has variants: an emoji, or a digit in a box.
fn has_variants(text: &str, at: usize) -> bool {
    let is_boxed = text[at..].chars().nth(1) == Some('\u{20e3}');
    text[..at].chars().next_back().is_some_and(|c| is_pictured(c) || is_boxed && c.is_ascii_graphic())
}

/// Returns true if a character is a symbol that may be an emoji.
fn is_pictured(c: char) -> bool {
    matches!(c, '©' | '®' | '\u{203c}'..='\u{2049}' | '\u{2100}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}'
        | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

// Names of files that are no UTF-8, as text and back again without loss. The system's names are bytes; a byte that is part
// of no character is held as one of the last 128 code points, which no text has a use for.

/// Byte `b` is held as this code point and `b` more.
const BYTES: u32 = 0x10ff00;

/// The path for a text of [`from_path`], or for an argument.
pub fn to_path(text: &str) -> PathBuf {
    PathBuf::from(to_os(text).into_owned())
}

/// A path as text: [`to_path`] gives it back, whatever its bytes are.
pub fn from_path(path: &Path) -> String {
    from_os(path.as_os_str()).into_owned()
}

/// The byte that a character of [`from_os`] represents.
fn byte_of(c: char) -> Option<u8> {
    u32::from(c).checked_sub(BYTES).and_then(|byte| u8::try_from(byte).ok()).filter(|byte| *byte >= 0x80)
}

#[cfg(unix)]
fn held(byte: u8) -> char {
    char::from_u32(BYTES + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// An argument, or the name of a file, as text: [`to_os`] gives it back, whatever its bytes are.
#[cfg(unix)]
pub fn from_os(name: &OsStr) -> Cow<'_, str> {
    use std::os::unix::ffi::OsStrExt;
    if let Some(text) = name.to_str().filter(|text| !text.chars().any(|c| byte_of(c).is_some())) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for chunk in name.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            // A character in the range that stands for bytes is escaped as its own bytes.
            match byte_of(c) {
                Some(_) => out.extend(c.encode_utf8(&mut [0; 4]).bytes().map(held)),
                None => out.push(c),
            }
        }
        out.extend(chunk.invalid().iter().copied().map(held));
    }
    Cow::Owned(out)
}

/// The file name for a text of [`from_os`].
#[cfg(unix)]
pub fn to_os(text: &str) -> Cow<'_, OsStr> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    if !text.chars().any(|c| byte_of(c).is_some()) {
        return Cow::Borrowed(OsStr::new(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    Cow::Owned(OsString::from_vec(bytes))
}

/// On systems whose names are not bytes, parts that are not Unicode are lost.
#[cfg(not(unix))]
pub fn from_os(name: &OsStr) -> Cow<'_, str> {
    name.to_string_lossy()
}

/// The file name for a text.
#[cfg(not(unix))]
pub fn to_os(text: &str) -> Cow<'_, OsStr> {
    Cow::Borrowed(OsStr::new(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_text_stays_as_it_is() {
        for text in [
            "bat",
            "",
            " cat",
            "Fledermaus-höhle",
            "蝙蝠",
            "naïve 👍",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "👩\u{200d}🔬",
            "❤\u{fe0f}",
            "❤\u{fe0f}\u{200d}🔥",
            "1\u{fe0f}\u{20e3}",
            "a\u{a0}b",
            "e\u{301}",
            "\\u{200B}",
        ] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_seen_is_seen_as_an_escape() {
        for (text, shown) in [
            ("\u{1b}[31mred\u{1b}[0m", "\\u{1B}[31mred\\u{1B}[0m"),
            ("\u{9b}2J", "\\u{9B}2J"),
            ("a\tb\nc\rd", "a\\tb\\nc\\rd"),
            ("bell\u{7}\u{0}\u{7f}", "bell\\u{7}\\u{0}\\u{7F}"),
            ("abc\u{202e}def", "abc\\u{202E}def"),
            ("b\u{200b}a\u{ad}t\u{2060}", "b\\u{200B}a\\u{AD}t\\u{2060}"),
            ("bat\u{e0041}\u{e0100}", "bat\\u{E0041}\\u{E0100}"),
            ("\u{200c}bat\u{200d}", "\\u{200C}bat\\u{200D}"),
            ("a\u{200d}\u{200d}b", "a\\u{200D}\\u{200D}b"),
            ("1\u{200d}2", "1\\u{200D}2"),
            ("bat\u{fe0f}", "bat\\u{FE0F}"),
            ("\u{feff}x\u{2028}y\u{3164}", "\\u{FEFF}x\\u{2028}y\\u{3164}"),
        ] {
            assert_eq!(visible(text), shown, "{text:?}");
            assert_eq!(visible(shown), shown, "twice");
        }
        assert_eq!(visible_lines("a\nb\u{7}\r\n"), "a\nb\\u{7}\\r\n");
    }

    #[test]
    fn no_text_comes_out_with_anything_hidden() {
        for c in '\0'..=char::MAX {
            let shown = visible(&format!("a{c}1")).into_owned();
            assert_eq!(hidden(&shown).count(), 0, "{:x}", u32::from(c));
        }
    }

    #[cfg(unix)]
    #[test]
    fn every_name_comes_back_as_it_was() {
        use std::os::unix::ffi::OsStrExt;

        let names: [&[u8]; 7] = [
            b"plain.csv",
            b"caf\xe9.csv",
            b"\xff\xfe",
            b"a\xf0\x9f\x92",
            "höhle \u{10ffe9} \u{10ff80}".as_bytes(),
            b"\x80\xf4\x8f\xbf\xa9\xe9",
            b"",
        ];
        for name in names {
            let name = OsStr::from_bytes(name);
            let text = from_os(name).into_owned();
            assert_eq!(&*to_os(&text), name);
            assert_eq!(from_os(&to_os(&text)), text);
        }
        assert_eq!(visible(&from_os(OsStr::from_bytes(b"caf\xe9.csv"))), "caf\\xE9.csv");
    }
}
