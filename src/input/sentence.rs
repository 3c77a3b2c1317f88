//! A sentence to its tokens, and a list of labels to its labels.

use crate::error::{Error, Result};
use crate::foreign::to_os;
use crate::text::clip;

/// The tokens of a sentence: it is split at white space, then punctuation before and behind a word is split off. A run of
/// one mark stays whole (`...`), and so do apostrophes and hyphens inside a word (`don't`, `self-attention`).
///
/// # Errors
/// If a token is not UTF-8 text.
pub fn sentence(text: &str) -> Result<Vec<String>> {
    all_text(text.split_whitespace().flat_map(word).collect())
}

/// The labels of a list: split at commas if there is one, else at white space.
///
/// # Errors
/// If a label is not UTF-8 text.
pub fn label_list(text: &str) -> Result<Vec<String>> {
    let labels: Vec<&str> = if text.contains(',') {
        text.split(',').map(str::trim).collect()
    } else {
        text.split_whitespace().collect()
    };
    all_text(labels.into_iter().filter(|label| !label.is_empty()).map(str::to_string).collect())
}

/// The same labels, unless one has bytes that are not UTF-8: no file of text could hold it as it is.
fn all_text(labels: Vec<String>) -> Result<Vec<String>> {
    match labels.iter().find(|label| to_os(label).to_str().is_none()) {
        Some(label) => Err(Error::new(format!("the name `{}` is not UTF-8 text", clip(label)))
            .help("write it in UTF-8; only the name of a file may have other bytes")),
        None => Ok(labels),
    }
}

/// The punctuation before a word, the word, and the punctuation behind it.
fn word(text: &str) -> Vec<String> {
    let start = text.len() - text.trim_start_matches(is_punctuation).len();
    let inner = text[start..].trim_end_matches(is_punctuation);
    let (before, behind) = (&text[..start], &text[start + inner.len()..]);
    let inner = (!inner.is_empty()).then(|| inner.to_string());
    runs(before).into_iter().chain(inner).chain(runs(behind)).collect()
}

/// Runs of one mark each.
fn runs(marks: &str) -> Vec<String> {
    let mut runs: Vec<String> = Vec::new();
    for mark in marks.chars() {
        match runs.last_mut() {
            Some(run) if run.ends_with(mark) => run.push(mark),
            _ => runs.push(mark.to_string()),
        }
    }
    runs
}

/// True if a character is punctuation: the marks of ASCII that are no mathematical signs, and those of the scripts in use.
fn is_punctuation(c: char) -> bool {
    match c {
        '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~' => false,
        c if c.is_ascii() => c.is_ascii_punctuation(),
        // Latin, Greek, Armenian, Hebrew.
        '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' | '\u{37e}' | '\u{387}' => true,
        '\u{55a}'..='\u{55f}' | '\u{589}' | '\u{58a}' | '\u{5be}' | '\u{5c0}' | '\u{5c3}' | '\u{5c6}' => true,
        '\u{5f3}' | '\u{5f4}' => true,
        // Arabic, Syriac, Devanagari, Thai, Tibetan, Georgian, Ethiopic, Khmer, Mongolian.
        '\u{60c}' | '\u{60d}' | '\u{61b}' | '\u{61d}'..='\u{61f}' | '\u{66a}'..='\u{66d}' | '\u{6d4}' => true,
        '\u{700}'..='\u{70d}' | '\u{964}' | '\u{965}' | '\u{970}' | '\u{e4f}' | '\u{e5a}' | '\u{e5b}' => true,
        '\u{f04}'..='\u{f12}' | '\u{10fb}' | '\u{1360}'..='\u{1368}' | '\u{17d4}'..='\u{17d6}' => true,
        '\u{1800}'..='\u{180a}' => true,
        // Dashes, quotation marks, the ellipsis, and what Chinese, Japanese and Korean write.
        '\u{2010}'..='\u{2027}'
        | '\u{2030}'..='\u{2043}'
        | '\u{2045}'..='\u{2051}'
        | '\u{2053}'..='\u{205e}' => true,
        '\u{3001}'..='\u{3003}'
        | '\u{3008}'..='\u{3011}'
        | '\u{3014}'..='\u{301f}'
        | '\u{3030}'
        | '\u{30fb}' => true,
        '\u{ff01}'..='\u{ff03}' | '\u{ff05}'..='\u{ff0a}' | '\u{ff0c}'..='\u{ff0f}' => true,
        '\u{ff1a}' | '\u{ff1b}' | '\u{ff1f}' | '\u{ff20}' | '\u{ff3b}'..='\u{ff3d}' | '\u{ff3f}' => true,
        '\u{ff5b}' | '\u{ff5d}' | '\u{ff5f}'..='\u{ff65}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_around_words_becomes_tokens_and_inside_them_stays() {
        for (text, tokens) in [
            ("A bat lives in the cave", "A|bat|lives|in|the|cave"),
            ("Well, don't!", "Well|,|don't|!"),
            ("self-attention  (or not?)", "self-attention|(|or|not|?|)"),
            ("“Wait...” he said", "“|Wait|...|”|he|said"),
            ("Eine Fledermaus wohnt in der Höhle, oder?", "Eine|Fledermaus|wohnt|in|der|Höhle|,|oder|?"),
            ("蝙蝠 住在 洞里。", "蝙蝠|住在|洞里|。"),
            ("الخفاش يعيش في الكهف؟", "الخفاش|يعيش|في|الكهف|؟"),
            ("3.14 is C++ 🦇!", "3.14|is|C++|🦇|!"),
            ("the dogs' — ?!", "the|dogs|'|—|?|!"),
            ("a\u{1b}[31m b\tc\n", "a\u{1b}[31m|b|c"),
            (" \n", ""),
        ] {
            assert_eq!(sentence(text).unwrap().join("|"), tokens, "{text:?}");
        }
    }

    #[test]
    fn labels_are_split_at_commas_or_else_at_blanks() {
        for (text, labels) in [
            ("cat,bat", "cat|bat"),
            ("the cat sat", "the|cat|sat"),
            ("New York, Berlin", "New York|Berlin"),
            ("cat", "cat"),
            ("cat,", "cat"),
            ("don't, stop!", "don't|stop!"),
            (" , ", ""),
        ] {
            assert_eq!(label_list(text).unwrap().join("|"), labels, "{text:?}");
        }
    }
    #[cfg(unix)]
    #[test]
    fn a_word_that_is_no_text_is_refused() {
        use std::os::unix::ffi::OsStrExt;
        let typed = crate::foreign::from_os(std::ffi::OsStr::from_bytes(b"bat, h\xf6hle")).into_owned();
        for read in [sentence(&typed), label_list(&typed)] {
            let said = read.unwrap_err().to_string();
            assert!(
                said.starts_with("the name `h\\xF6hle` is not UTF-8 text\n  help: write it in UTF-8"),
                "{said}"
            );
        }
    }
}
