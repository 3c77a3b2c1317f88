//! NaN and the infinities as Python's `json.dump` writes them, which JSON itself does not have.

use std::borrow::Cow;

/// A word, and the string that is read in its place.
const WORDS: [(&str, &str); 2] = [("NaN", "\"nan\""), ("Infinity", "\"inf\"")];

/// A text in which NaN and the infinities are strings.
pub(super) struct JsonText<'t> {
    pub(super) text: Cow<'t, str>,
    /// The bytes of it behind each word that has become longer, and by how much.
    longer: Vec<(usize, usize)>,
}

/// The text with `NaN`, `Infinity` and `-Infinity`, where they stand outside strings, as `"nan"`, `"inf"` and `"-inf"`.
pub(super) fn with_words_quoted(text: &str) -> JsonText<'_> {
    if WORDS.iter().all(|(word, _)| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_none()) {
        return JsonText { text: Cow::Borrowed(text), longer: Vec::new() };
    }
    let (mut out, mut longer) = (String::with_capacity(text.len()), Vec::new());
    let (mut rest, mut in_word) = (text, false);
    while let Some(character) = rest.chars().next() {
        let (sign, unsigned) = rest.strip_prefix('-').map_or(("", rest), |rest| ("-", rest));
        let word = WORDS.iter().find(|(word, _)| unsigned.starts_with(word) && !in_word);
        let taken = match (character, word) {
            ('"', _) => string(rest),
            (_, Some((word, string))) if !goes_on(&unsigned[word.len()..]) => {
                let taken = sign.len() + word.len();
                let before = out.len();
                out.push_str(&string[..1]);
                out.push_str(sign);
                out.push_str(&string[1..]);
                let grown = out.len() - before;
                // A shorter replacement is padded, so that the places of errors stay.
                out.push_str(&" ".repeat(taken.saturating_sub(grown)));
                if grown > taken {
                    longer.push((out.len(), grown - taken));
                }
                rest = &rest[taken..];
                continue;
            }
            _ => character.len_utf8(),
        };
        in_word = goes_on(rest);
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    JsonText { text: Cow::Owned(out), longer }
}

impl JsonText<'_> {
    /// The column of the text as it was for a column, in bytes from 1, of a line (from 1) as it is.
    pub(super) fn column(&self, line: usize, column: usize) -> usize {
        let start = match line.saturating_sub(2) {
            _ if line < 2 => 0,
            newline => memchr::memchr_iter(b'\n', self.text.as_bytes()).nth(newline).map_or(0, |at| at + 1),
        };
        let within = self.longer.iter().filter(|(at, _)| (start..start + column).contains(at));
        column - within.map(|(_, more)| more).sum::<usize>()
    }
}

/// True if a text begins with a character that belongs to the word or number before it.
fn goes_on(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'))
}

/// The length of the string at the start of a text, quotation marks included.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_strings_outside_strings_alone() {
        for (text, expected) in [
            ("[NaN]", "[\"nan\"]"),
            ("[Infinity, -Infinity,NaN]", "[\"inf\"   , \"-inf\"   ,\"nan\"]"),
            ("{\"NaN\": -NaN}", "{\"NaN\": \"-nan\"}"),
            ("[\"a \\\" NaN\", NaN]", "[\"a \\\" NaN\", \"nan\"]"),
            ("[NaNs, xNaN, 1Infinity, Infinity8]", "[NaNs, xNaN, 1Infinity, Infinity8]"),
            ("\"NaN", "\"NaN"),
            ("höhe NaN", "höhe \"nan\""),
        ] {
            assert_eq!(with_words_quoted(text).text, expected, "{text}");
        }
    }

    #[test]
    fn columns_are_those_of_the_text_as_it_was() {
        let read = with_words_quoted("[[NaN, NaN],\n [NaN, Infinity, x]]");
        assert_eq!(read.column(2, read.text.lines().nth(1).unwrap().find('x').unwrap() + 1), 18);
        assert_eq!(read.column(2, 2), 2);
        assert_eq!(read.column(1, 3), 3);
        assert_eq!(with_words_quoted("[1]").column(1, 2), 2);
    }
}
