//! After a miss: the words of a file of vectors that come nearest to the one that is not there.

use std::ops::ControlFlow;

use crate::error::{Error, Result};

use super::embeddings::{Stream, header_width, split_word};
use super::label::clip;
use super::lines::each_line;

/// Words longer than this are addresses and accidents; nobody meant them.
const LONGEST_WORD: usize = 64;
/// How many near words an error offers.
const OFFERED: usize = 3;

/// The error for words that are missing, after a second pass for their neighbours, where a second pass is possible.
///
/// # Errors
/// If the second pass fails.
pub(super) fn missing(name: &str, words: &[&str], lines: usize, stream: &mut Stream<'_>) -> Result<Error> {
    let mut neighbours: Vec<Neighbours<'_>> = words.iter().map(|word| Neighbours::new(word)).collect();
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
    let list: Vec<String> = words.iter().map(|word| format!("`{}`", clip(word))).collect();
    let verb = if list.len() == 1 { "is" } else { "are" };
    let error = Error::new(format!("{} {verb} not among its {lines} lines", list.join(", "))).in_source(name);
    let hints: Vec<String> = neighbours.iter().filter_map(Neighbours::hint).collect();
    Ok(if hints.is_empty() {
        error.help("choose words that the file has")
    } else {
        error.help(hints.join("; "))
    })
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
        // One slip, and one more for every three letters, as for commands and nodes.
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
            return Some(format!("`{}` is there: upper and lower case count", clip(other)));
        }
        let near: Vec<String> = self.near.iter().map(|(_, word)| format!("`{}`", clip(word))).collect();
        let (last, others) = near.split_last()?;
        let list = if others.is_empty() { last.clone() } else { format!("{} or {last}", others.join(", ")) };
        Some(format!("for `{}` did you mean {list}?", clip(self.word)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::embeddings::find;
    use super::*;
    use std::io::Write;

    fn fails(text: &str, words: &[&str]) -> String {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        find("v.txt", words, &mut Stream::File(file.path())).unwrap_err().to_string()
    }

    const WORDS: &str = "4 1\nbat 1\ncave 2\nracket 3\nRocket 4\n";

    #[test]
    fn a_misspelt_word_is_answered_with_its_neighbours_the_nearest_first() {
        let said = fails(WORDS, &["rackett", "bat"]);
        assert_eq!(
            said,
            "v.txt: `rackett` is not among its 5 lines\n  help: for `rackett` did you mean `racket` or `Rocket`?"
        );
    }

    #[test]
    fn no_more_than_three_neighbours_are_offered() {
        let said = fails("bats 1\ncat 1\nrat 1\nbat 1\n", &["baat"]);
        assert!(said.ends_with("did you mean `bat`, `bats` or `cat`?"), "{said}");
    }

    #[test]
    fn another_case_is_said_to_be_there() {
        assert!(fails(WORDS, &["BAT"]).contains("`bat` is there: upper and lower case count"));
        assert!(fails(WORDS, &["rocket"]).contains("`Rocket` is there"));
    }

    #[test]
    fn every_missing_word_is_named() {
        let said = fails(WORDS, &["xylophone", "cavee"]);
        assert!(said.contains("`xylophone`, `cavee` are not among"), "{said}");
        assert!(said.contains("for `cavee` did you mean `cave`?"), "{said}");
    }

    #[test]
    fn without_neighbours_and_without_a_second_pass_there_is_still_an_answer() {
        assert!(fails(WORDS, &["xylophone"]).contains("choose words"));
        let mut reader: &[u8] = WORDS.as_bytes();
        let said = find("v.txt", &["cavee"], &mut Stream::Once(Some(&mut reader))).unwrap_err().to_string();
        assert!(said.contains("`cavee` is not among its 5 lines"), "{said}");
    }
}
