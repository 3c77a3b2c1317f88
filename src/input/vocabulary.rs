//! After a miss: the words of a file of vectors that come nearest to the one that is not there.

use std::collections::HashSet;
use std::ops::ControlFlow;

use crate::error::Result;

use super::lines::each_line;
use super::word_file::{Stream, header_width, split_word};
use crate::text::{clip, one_of};

/// Words longer than this are addresses and accidents.
const LONGEST_WORD: usize = 64;
/// Shorter words get no hint: too many words are one letter away.
const SHORTEST_WORD: usize = 5;
/// The maximum number of words with a hint: if more are missing, it is the wrong file or another language.
const MOST_HINTED: usize = 20;
/// The number of near words in a hint.
const OFFERED: usize = 3;

/// For words that are missing, which similar ones the file has: found by a second pass, where one is possible.
///
/// # Errors
/// If the second pass fails.
pub(super) fn hints(name: &str, words: &[&str], stream: &mut Stream<'_>) -> Result<Vec<String>> {
    let mut seen = HashSet::new();
    let long = words.iter().filter(|word| word.chars().count() >= SHORTEST_WORD && seen.insert(**word));
    // Each costs a look at every line.
    let long = long.take(MOST_HINTED);
    let mut neighbours: Vec<Neighbours<'_>> = long.map(|word| Neighbours::new(word)).collect();
    if neighbours.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(mut reader) = stream.open(name)? {
        each_line(name, &mut reader, |number, line| {
            if number > 1 || header_width(line).is_none() {
                let (word, _) = split_word(line);
                if let Ok(word) = std::str::from_utf8(word)
                    && word.len() <= LONGEST_WORD
                {
                    neighbours.iter_mut().for_each(|neighbours| neighbours.consider(word));
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(neighbours.iter().filter_map(Neighbours::hint).collect())
}

/// The nearest words so far.
struct Neighbours<'w> {
    word: &'w str,
    lower: String,
    length: usize,
    /// The same word in other letters of case.
    otherwise_cased: Option<String>,
    /// By distance, the first of equals first.
    near: Vec<(usize, String)>,
}

impl<'w> Neighbours<'w> {
    fn new(word: &'w str) -> Neighbours<'w> {
        let lower = word.to_lowercase();
        let length = lower.chars().count();
        Neighbours { word, lower, length, otherwise_cased: None, near: Vec::new() }
    }

    fn consider(&mut self, candidate: &str) {
        // One letter, and one more for every three, as for commands and nodes.
        let tolerance = 1 + candidate.len() / 3;
        if candidate.len().abs_diff(self.lower.len()) > 4 * tolerance || self.length > LONGEST_WORD {
            return;
        }
        let lower = candidate.to_lowercase();
        if lower == self.lower {
            self.otherwise_cased.get_or_insert_with(|| candidate.to_string());
            return;
        }
        let letters = lower.chars().count();
        let tolerance = 1 + letters / 3;
        let furthest = self
            .near
            .get(OFFERED - 1)
            .map_or(tolerance, |(distance, _)| tolerance.min(distance.saturating_sub(1)));
        if letters.abs_diff(self.length) > furthest {
            return;
        }
        let distance = strsim::osa_distance(&lower, &self.lower);
        if distance <= furthest && !self.near.iter().any(|(_, word)| word == candidate) {
            let at = self.near.partition_point(|(other, _)| *other <= distance);
            self.near.insert(at, (distance, candidate.to_string()));
            self.near.truncate(OFFERED);
        }
    }

    fn hint(&self) -> Option<String> {
        if let Some(other) = &self.otherwise_cased {
            return Some(format!("`{}` is in the file: upper and lower case count", clip(other)));
        }
        let near: Vec<String> = self.near.iter().map(|(_, word)| format!("`{}`", clip(word))).collect();
        (!near.is_empty()).then(|| format!("for `{}` did you mean {}?", clip(self.word), one_of(&near)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::embeddings::find;
    use super::*;
    use std::io::Write;

    fn hints(text: &str, words: &[&str]) -> Vec<String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        find("v.txt", words, &mut Stream::File(file.path())).unwrap().hints
    }

    const WORDS: &str = "4 1\nbat 1\ncavern 2\nracket 3\nRocket 4\n";

    #[test]
    fn a_misspelt_word_is_answered_with_its_neighbours_the_nearest_first() {
        assert_eq!(hints(WORDS, &["rackett", "bat"]), ["for `rackett` did you mean `racket` or `Rocket`?"]);
    }

    #[test]
    fn no_more_than_three_neighbours_are_offered() {
        let said = hints("brats 1\ncoats 1\nboots 1\nboat 1\n", &["boats"]);
        assert!(said[0].ends_with("did you mean `brats`, `coats` or `boots`?"), "{said:?}");
    }

    #[test]
    fn another_case_is_said_to_be_there() {
        assert!(hints(WORDS, &["rocket"])[0].contains("`Rocket` is in the file: upper and lower case count"));
    }

    #[test]
    fn every_missing_word_gets_its_hint_and_short_words_none() {
        let said = hints(WORDS, &["xylophone", "cavernn", "racke", "bax"]);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].contains("for `cavernn` did you mean `cavern`?"), "{said:?}");
    }

    #[test]
    fn without_a_second_pass_there_is_no_hint_and_no_error() {
        let mut reader: &[u8] = WORDS.as_bytes();
        let found = find("v.txt", &["cavernn"], &mut Stream::Once(Some(&mut reader))).unwrap();
        assert_eq!((found.rows, found.hints), (vec![None], Vec::new()));
    }
}
