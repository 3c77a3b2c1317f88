//! Word vectors in the usual text form: `word v1 v2 …` on every line, with or without word2vec's first line
//! `count width`, plain or gzip.
//!
//! A line costs one look for its end and, where its first byte begins a wanted word, one comparison; only the numbers
//! of wanted words are read. Words are compared as bytes, since such files hold words that are not UTF-8.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use crate::error::{Error, Place, Result};
use crate::text::{clip, counted};

use super::allowed_numbers::AllowedNumbers;
use super::lines::each_line;
use super::number::number;
use super::vocabulary;
use super::word_file::{Stream, header_width, split_word};

/// The vectors that a file has for some words.
#[derive(Clone, Debug, PartialEq)]
pub struct WordVectors {
    /// The number of dimensions of a vector.
    pub width: usize,
    /// For each word asked for its vector, or that of its lower-case form; `None` where the file has neither.
    pub rows: Vec<Option<Vec<f64>>>,
    /// For words that are not there, which similar ones are: “for `rackett` did you mean `racket`?”.
    pub hints: Vec<String>,
}

/// The vectors of `words` as they are written, or in lower case.
///
/// # Errors
/// If the file has no vectors, or the line of a word is no vector of the file's width.
pub(super) fn find(name: &str, words: &[&str], stream: &mut Stream<'_>) -> Result<WordVectors> {
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let mut search = Search::new(name, words, &lower);
    if let Some(mut reader) = stream.open(name)? {
        each_line(name, &mut reader, |number, line| search.line(number, line))?;
    }
    let Some((width @ 1.., _)) = search.width else {
        return Err(Error::new("the file has no word vectors").in_source(name).help(EXAMPLE));
    };
    let found = |word: &str| search.found.get(word.as_bytes()).cloned();
    if search.found.is_empty() && !search.is_plausible {
        return Err(Error::new("the file has no word vectors").in_source(name).help(EXAMPLE));
    }
    let rows: Vec<_> =
        words.iter().zip(&lower).map(|(word, lower)| found(word).or_else(|| found(lower))).collect();
    let missing = words.iter().zip(&rows).filter(|(_, row)| row.is_none()).map(|(word, _)| *word);
    let missing: Vec<&str> = missing.collect();
    let hints = vocabulary::hints(name, &missing, stream)?;
    Ok(WordVectors { width, rows, hints })
}

/// A first pass through the file.
struct Search<'w> {
    name: &'w str,
    wanted: HashSet<&'w [u8]>,
    /// The words as they were asked for, as long as they are not found: with the last of them the search ends.
    awaited: HashSet<&'w [u8]>,
    /// Which first bytes the wanted words have.
    first_bytes: [bool; 256],
    found: HashMap<&'w [u8], Vec<f64>>,
    /// The common width, and the line that decided it.
    width: Option<(usize, usize)>,
    /// True if one of the first two lines is a vector of that width.
    is_plausible: bool,
}

impl<'w> Search<'w> {
    fn new(name: &'w str, words: &[&'w str], lower: &'w [String]) -> Search<'w> {
        let awaited: HashSet<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        let wanted: HashSet<&[u8]> =
            awaited.iter().copied().chain(lower.iter().map(|word| word.as_bytes())).collect();
        let mut first_bytes = [false; 256];
        for first in wanted.iter().filter_map(|word| word.first()) {
            first_bytes[usize::from(*first)] = true;
        }
        Search { name, wanted, awaited, first_bytes, found: HashMap::new(), width: None, is_plausible: false }
    }

    fn line(&mut self, line_number: usize, mut line: &[u8]) -> Result<ControlFlow<()>> {
        if line_number == 1 {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
            if memchr::memchr(0, line).is_some() {
                return Err(Error::new("not text").in_source(self.name).help(BINARY));
            }
            if let Some(width) = header_width(line) {
                self.width = Some((width, 1));
                return Ok(ControlFlow::Continue(()));
            }
        }
        if self.width.is_none() {
            let fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).count();
            self.width = (fields > 0).then(|| (fields - 1, line_number));
        }
        if !self.is_plausible && line_number <= 2 {
            let text = String::from_utf8_lossy(split_word(line).1);
            let fields: Vec<&str> = text.split_ascii_whitespace().collect();
            let is_vector = fields.iter().all(|field| number(field).is_ok());
            self.is_plausible = is_vector && self.width.is_some_and(|(width, _)| width == fields.len());
        }
        if !line.first().is_some_and(|&first| self.first_bytes[usize::from(first)]) {
            return Ok(ControlFlow::Continue(()));
        }
        let (word, rest) = split_word(line);
        if let Some(&word) = self.wanted.get(word)
            && let Some(vector) = self.vector(line_number, rest)?
        {
            self.found.insert(word, vector);
            self.wanted.remove(word);
            self.awaited.remove(word);
        }
        Ok(if self.awaited.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// The numbers of a line; `None` if it belongs to a longer word with blanks in it, as some files have them.
    fn vector(&self, line: usize, rest: &[u8]) -> Result<Option<Vec<f64>>> {
        let (width, decided) = self.width.unwrap_or_default();
        let place = |column: usize| Place::Text(self.name.to_string(), line, column);
        let text = String::from_utf8_lossy(rest);
        let is_utf8 = str::from_utf8(rest).is_ok();
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        if fields.len() > width && fields.first().is_some_and(|field| number(field).is_err()) {
            return Ok(None);
        }
        if fields.len() != width || width == 0 {
            let found = fields.len();
            return Err(Error::new(format!(
                "this vector has {}, but line {decided} has {width}",
                counted(found, "number")
            ))
            .at(place(1))
            .help("give all vectors of a file the same width"));
        }
        fields
            .iter()
            .enumerate()
            .map(|(i, field)| {
                let read = number(field).map_err(|_| {
                    if !is_utf8 && field.contains(char::REPLACEMENT_CHARACTER) {
                        return Error::new(format!("number {} of the vector is not UTF-8 text", i + 1))
                            .help(EXAMPLE);
                    }
                    Error::new(format!("`{}` is not a number (number {} of the vector)", clip(field), i + 1))
                });
                read.and_then(|read| AllowedNumbers::FINITE.check(read.value).map(|()| read.value))
                    .map_err(|error| error.at(place(1)))
            })
            .collect::<Result<Vec<f64>>>()
            .map(Some)
    }
}

const EXAMPLE: &str = "write a word and its numbers on each line, such as: bat 3 3";

const BINARY: &str = "convert the binary form to text first, with a word and its numbers on each line";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn search(bytes: &[u8], words: &[&str]) -> Result<WordVectors> {
        let mut reader = bytes;
        find("v.txt", words, &mut Stream::Once(Some(&mut reader)))
    }

    fn look_up(bytes: &[u8], words: &[&str]) -> Result<Matrix> {
        let rows: Vec<Vec<f64>> = search(bytes, words)?.rows.into_iter().flatten().collect();
        Matrix::from_rows(&rows)
    }

    fn fails(bytes: &[u8], words: &[&str]) -> String {
        look_up(bytes, words).unwrap_err().to_string()
    }

    const PLAIN: &[u8] = b"bat 3 3\ncave 4 0\nracket 0 5\n";

    #[test]
    fn words_come_back_in_the_order_asked_for() {
        let matrix = look_up(PLAIN, &["racket", "bat", "racket"]).unwrap();
        assert!(matrix.same_bits(&Matrix::of([[0.0, 5.0], [3.0, 3.0], [0.0, 5.0]])));
    }

    #[test]
    fn a_word_is_looked_up_as_it_is_written_and_then_in_lower_case() {
        let text = b"Bat 1 1\nbat 3 3\ncave 4 0\n";
        assert_eq!(
            search(text, &["Bat", "bat", "CAVE", "owl"]).unwrap().rows,
            [Some(vec![1.0, 1.0]), Some(vec![3.0, 3.0]), Some(vec![4.0, 0.0]), None]
        );
    }

    #[test]
    fn the_width_is_known_where_no_word_is() {
        assert_eq!(search(PLAIN, &["owl"]).unwrap().width, 2);
        assert_eq!(search(b"7 2\ncave 4 0\n", &["owl"]).unwrap().width, 2);
        assert!(fails(b"bat\n", &["owl"]).contains("no word vectors"));
    }

    #[test]
    fn header_lines_and_white_space_are_no_part_of_a_vector() {
        for text in
            ["3 2\nbat 3 3 \ncave 4 0 \n", "bat\t3\t3\r\ncave\t4\t0", "\u{feff}bat 3 3\n", "bat 3  3\n"]
        {
            let matrix = look_up(text.as_bytes(), &["bat"]).unwrap();
            assert!(matrix.same_bits(&Matrix::of([[3.0, 3.0]])), "{text:?}");
        }
    }

    #[test]
    fn gzip_is_recognised_and_may_have_several_members() {
        let pack = |bytes: &[u8]| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        };
        let packed = [pack(b"bat 3 3\n"), pack(b"cave 4 0\n")].concat();
        assert!(look_up(&packed, &["cave"]).unwrap().same_bits(&Matrix::of([[4.0, 0.0]])));
        let cut = &packed[..packed.len() - 9];
        assert!(fails(cut, &["none"]).contains("ends too early"), "{}", fails(cut, &["none"]));
    }

    #[test]
    fn of_a_repeated_word_the_first_counts() {
        assert_eq!(look_up(b"bat 1 2\nbat 3 4\n", &["bat"]).unwrap()[(0, 0)], 1.0);
    }

    #[test]
    fn reading_ends_with_the_last_wanted_word() {
        let mut reader: &[u8] = b"bat 3 3\n\xff not looked at";
        assert!(find("v.txt", &["bat"], &mut Stream::Once(Some(&mut reader))).is_ok());
    }

    #[test]
    fn a_vector_of_another_width_is_an_error_that_names_the_line() {
        let said = fails(b"bat 3 3\ncave 4\n", &["cave"]);
        assert!(said.starts_with("v.txt:2:1: this vector has 1 number, but line 1 has 2"), "{said}");
        assert!(fails(b"5 3\nbat 3 3\n", &["bat"]).contains("2 numbers, but line 1 has 3"));
        assert!(fails(b"bat\n", &["bat"]).contains("this vector has 0 numbers"));
        assert!(fails(b"bat 3 3\ncave 4 0 1\n", &["cave"]).contains("this vector has 3 numbers"));
    }

    #[test]
    fn what_is_no_finite_number_is_an_error_that_names_the_line() {
        assert!(fails(b"bat 3 x\n", &["bat"]).starts_with("v.txt:1:1: `x` is not a number (number 2"));
        assert!(
            fails(b"bat 3 \xff\n", &["bat"]).starts_with("v.txt:1:1: number 2 of the vector is not UTF-8")
        );
        assert!(fails(b"bat 3 nan\n", &["bat"]).starts_with("v.txt:1:1: this is NaN"));
    }

    #[test]
    fn a_word_with_blanks_in_it_is_not_taken_for_its_first_part() {
        let matrix = look_up(b"cave 4 0\nat home 9 9\nat 1 2\n", &["at"]).unwrap();
        assert!(matrix.same_bits(&Matrix::of([[1.0, 2.0]])));
    }

    #[test]
    fn words_are_compared_as_bytes() {
        let matrix = look_up(b"\xff\xfe 9 9\nh\xc3\xb6hle 1 2\n", &["höhle"]).unwrap();
        assert_eq!(matrix[(0, 1)], 2.0);
    }

    #[test]
    fn empty_and_binary_streams_are_refused() {
        assert!(fails(b"", &["bat"]).contains("0 bytes"));
        assert!(fails(b"bat \0\0\x80?\n", &["bat"]).contains("not text"));
    }
}
