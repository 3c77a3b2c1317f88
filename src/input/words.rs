//! Word vectors in the usual text form: `word v1 v2 …` on every line, as GloVe and fastText write them, with or without word2vec's first
//! line `count width`, or with commas; in word2vec's binary form; or a table of any other form that names its rows. Each plain or gzip.
//!
//! A line costs one look for its end and, where its first byte begins a wanted word, one comparison; only the numbers
//! of wanted words are read. Words are compared as bytes, since such files hold words that are not UTF-8.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufRead, BufReader, Cursor, ErrorKind, Read};
use std::iter;
use std::ops::ControlFlow;

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Place, Result};
use crate::foreign::to_os;
use crate::read::{AllowedNumbers, Item, Limit, entries, is_punctuation, number};
use crate::text::{clip, counted, one_of};

use super::container::{Container, Purpose};
use super::open::{Input, empty, unreadable};

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
    let wanted = words.iter().copied().chain(lower.iter().map(String::as_str)).map(str::as_bytes);
    let mut search = Search {
        name,
        words,
        wanted: wanted.collect(),
        first_bytes: [false; 256],
        found: HashMap::new(),
        width: None,
        is_plausible: false,
        separator: None,
    };
    for first in search.wanted.iter().filter_map(|word| word.first()) {
        search.first_bytes[usize::from(*first)] = true;
    }
    let mut in_lines = true;
    if let Some(mut reader) = stream.open(name)? {
        let mut start = Vec::new();
        reader.by_ref().take(START).read_to_end(&mut start).map_err(|error| unreadable(name, &error))?;
        let kind = Form::of(&start);
        let mut whole = Cursor::new(start).chain(reader);
        in_lines = kind == Form::Lines;
        match kind {
            Form::Lines => each_line(name, &mut whole, |number, line| search.line(number, line))?,
            Form::Binary(count, width) => search.binary(&mut whole, count, width)?,
            Form::Table => search.table(Input::drain(name, &mut whole, Limit::ANY)?)?,
        }
    }
    let has_vectors = !search.found.is_empty() || search.is_plausible;
    let Some((width @ 1.., _)) = search.width.filter(|_| has_vectors) else {
        return Err(Error::new("the file has no word vectors").in_source(name).help(EXAMPLE));
    };
    let found = |word: &str| search.found.get(word.as_bytes()).cloned();
    let rows: Vec<_> =
        words.iter().zip(&lower).map(|(word, lower)| found(word).or_else(|| found(lower))).collect();
    let missing = words.iter().zip(&rows).filter(|(_, row)| row.is_none()).map(|(word, _)| *word);
    let missing: Vec<&str> = missing.collect();
    let hints = if in_lines { hints(name, &missing, search.separator, stream)? } else { Vec::new() };
    Ok(WordVectors { width, rows, hints })
}

/// A first pass through the file.
struct Search<'w> {
    name: &'w str,
    /// As they were asked for: when all of these are found, the search ends.
    words: &'w [&'w str],
    /// These, and the same in lower case.
    wanted: HashSet<&'w [u8]>,
    /// Which first bytes the wanted words have.
    first_bytes: [bool; 256],
    found: HashMap<&'w [u8], Vec<f64>>,
    /// The common width, and the line that decided it.
    width: Option<(usize, usize)>,
    /// True if one of the first two lines is a vector of that width.
    is_plausible: bool,
    /// What stands between a word and its numbers, if no blank.
    separator: Option<u8>,
}

/// The bytes by which the form of a file is known.
const START: u64 = 4096;

/// The form of a file of vectors.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Lines,
    /// word2vec's, with the number of words and that of the numbers of each.
    Binary(u64, usize),
    /// JSON, NumPy's archives, workbooks and the like.
    Table,
}

impl Form {
    fn of(start: &[u8]) -> Form {
        let text = start.strip_prefix("\u{feff}".as_bytes()).unwrap_or(start).trim_ascii_start();
        let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
        if let Some((count, width)) = header(line)
            && let Some(behind) = start.get(line.len() + 1..)
            && let Some(blank) = memchr::memchr(b' ', behind)
        {
            // In text a number follows the word.
            let first = behind[blank + 1..].split(u8::is_ascii_whitespace).next().unwrap_or_default();
            if str::from_utf8(first).map_or(true, |text| number(text).is_err()) {
                return Form::Binary(count, width);
            }
        }
        let is_json = text.starts_with(b"{") && text[1..].trim_ascii_start().starts_with(b"\"")
            || text.starts_with(b"[{");
        if is_json
            || start.starts_with(b"PK\x03\x04")
            || line.starts_with(b"| ") && line.iter().filter(|&&byte| byte == b'|').count() > 2
        {
            Form::Table
        } else {
            Form::Lines
        }
    }
}

/// The longest word of a binary file, and the most numbers of each.
const LONGEST_IN_BINARY: usize = 1 << 12;
const WIDEST_IN_BINARY: usize = 1 << 16;

impl<'w> Search<'w> {
    /// Looks the words up in word2vec's binary form: a word, a blank, and its numbers in four bytes each.
    fn binary(&mut self, stream: &mut dyn Read, count: u64, width: usize) -> Result<()> {
        let cut = || {
            Error::new("the file ends within a vector, or is no binary file of word2vec")
                .in_source(self.name)
                .help(BINARY)
        };
        if width == 0 || width > WIDEST_IN_BINARY {
            return Err(cut());
        }
        let mut stream = BufReader::new(stream);
        stream.skip_until(b'\n').map_err(|error| unreadable(self.name, &error))?;
        let (mut word, mut bytes) = (Vec::new(), vec![0; 4 * width]);
        let mut found = Vec::new();
        for _ in 0..count {
            word.clear();
            let read = stream.by_ref().take(LONGEST_IN_BINARY as u64).read_until(b' ', &mut word);
            read.map_err(|error| unreadable(self.name, &error))?;
            if word.pop() != Some(b' ') || stream.read_exact(&mut bytes).is_err() {
                return Err(cut());
            }
            if let Some(&wanted) = self.wanted.get(word.trim_ascii_start()) {
                let numbers: Vec<f64> =
                    bytes.as_chunks().0.iter().map(|&four| f64::from(f32::from_le_bytes(four))).collect();
                if !numbers.iter().all(|number| number.is_finite()) {
                    return Err(cut());
                }
                found.push((wanted, numbers));
            }
        }
        for (word, numbers) in found {
            self.found.entry(word).or_insert(numbers);
        }
        (self.width, self.is_plausible) = (Some((width, 1)), true);
        Ok(())
    }

    /// Looks the words up in a table that names its rows, or in an archive with a list of words and their vectors.
    fn table(&mut self, input: Input) -> Result<()> {
        let name = input.name.clone();
        let mut container = Container::open(input, Purpose::One(AllowedNumbers::FINITE))?;
        let (mut words, mut vectors) = (None, None);
        for position in 0..container.names.len() {
            match container.read(position)? {
                Item::Words(list) => words = Some(list),
                Item::Array(array) if array.dims().len() == 2 => vectors = Some(array),
                Item::Array(_) => {}
            }
        }
        let words = words.or_else(|| vectors.as_ref()?.row_labels().map(|labels| labels.to_vec()));
        let (Some(words), Some(vectors)) = (words, vectors) else {
            return Err(Error::new("the file does not name the words of its vectors")
                .in_source(name)
                .help(EXAMPLE));
        };
        let vectors = vectors.checked(&name, AllowedNumbers::FINITE)?;
        let width = vectors.dims()[1];
        if words.len() != vectors.dims()[0] {
            let (words, rows) = (counted(words.len(), "word"), counted(vectors.dims()[0], "vector"));
            return Err(Error::new(format!("the file has {words}, but {rows}"))
                .in_source(name)
                .help(EXAMPLE));
        }
        for (word, row) in words.iter().zip(vectors.values().chunks(width)) {
            if let Some(&wanted) = self.wanted.get(word.as_bytes()) {
                self.found.entry(wanted).or_insert_with(|| row.to_vec());
            }
        }
        (self.width, self.is_plausible) = (Some((width, 1)), true);
        Ok(())
    }

    fn line(&mut self, line_number: usize, mut line: &[u8]) -> Result<ControlFlow<()>> {
        if line_number == 1 {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
            if memchr::memchr(0, line).is_some() {
                return Err(Error::new("not text").in_source(self.name).help(BINARY));
            }
            if let Some((_, width)) = header(line) {
                self.width = Some((width, 1));
                return Ok(ControlFlow::Continue(()));
            }
            self.separator = separator(line);
        }
        if self.width.is_none() {
            let (_, rest) = split_word(line, self.separator);
            let fields = fields(&String::from_utf8_lossy(rest), self.separator).len();
            self.width = (!line.trim_ascii().is_empty()).then_some((fields, line_number));
        }
        if !self.is_plausible && line_number <= 2 {
            let text = String::from_utf8_lossy(split_word(line, self.separator).1);
            let fields = fields(&text, self.separator);
            // Where commas part them, a line of numbers alone has no word.
            let has_word = self.separator.is_none()
                || number(&String::from_utf8_lossy(split_word(line, self.separator).0)).is_err();
            let is_vector = has_word && fields.iter().all(|field| number(field).is_ok());
            self.is_plausible = is_vector && self.width.is_some_and(|(width, _)| width == fields.len());
        }
        let bare = if self.separator.is_some() { line.strip_prefix(b"\"").unwrap_or(line) } else { line };
        if !bare.first().is_some_and(|&first| self.first_bytes[usize::from(first)]) {
            return Ok(ControlFlow::Continue(()));
        }
        let (word, rest) = split_word(line, self.separator);
        if let Some(&word) = self.wanted.get(word)
            && !self.found.contains_key(word)
            && let Some(vector) = self.vector(line_number, rest)?
        {
            self.found.insert(word, vector);
            if self.words.iter().all(|word| self.found.contains_key(word.as_bytes())) {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The numbers of a line; `None` if it belongs to a longer word with blanks in it, as some files have them.
    fn vector(&self, line: usize, rest: &[u8]) -> Result<Option<Vec<f64>>> {
        let (width, decided) = self.width.unwrap_or_default();
        let place = |column: usize| Place::Text(self.name.to_string(), line, column);
        let text = String::from_utf8_lossy(rest);
        let is_utf8 = str::from_utf8(rest).is_ok();
        let fields = fields(&text, self.separator);
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

const BINARY: &str = "give the text form, with a word and its numbers on each line: of fastText the .vec file, of gensim \
    model.save_word2vec_format(\"words.txt\")";

// The lines of a stream of any length, in blocks, with a buffer that does not grow.

/// Bytes that are asked for at once; a block stays in the processor's cache.
const BLOCK: usize = 256 << 10;

/// The longest line that is read.
const LONGEST_LINE: usize = 1 << 20;

/// Calls `each` with the number (from 1) and the bytes of every line, without its line feed, until it breaks off.
///
/// # Errors
/// If reading fails, a line is longer than [`LONGEST_LINE`], or `each` fails.
fn each_line(
    name: &str,
    stream: &mut dyn Read,
    mut each: impl FnMut(usize, &[u8]) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut buffer = vec![0; LONGEST_LINE + BLOCK];
    let mut kept = 0;
    let mut number = 0;
    loop {
        let read = match stream.read(&mut buffer[kept..kept + BLOCK]) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(name, &error)),
        };
        if read == 0 {
            if kept > 0 {
                let _ = each(number + 1, &buffer[..kept])?;
            }
            return Ok(());
        }
        let end = kept + read;
        let mut start = 0;
        // The bytes kept from the last block contain no line feed.
        for newline in memchr::memchr_iter(b'\n', &buffer[kept..end]) {
            number += 1;
            if each(number, &buffer[start..kept + newline])?.is_break() {
                return Ok(());
            }
            start = kept + newline + 1;
        }
        buffer.copy_within(start..end, 0);
        kept = end - start;
        if kept > LONGEST_LINE {
            return Err(Error::new(format!("this line is longer than {} KiB", LONGEST_LINE >> 10))
                .at(Place::Text(name.to_string(), number + 1, 1))
                .help("write lines such as `word 0.1 0.2 0.3`"));
        }
    }
}

// A file of word vectors as bytes: where it is read from, and the parts of a line.

/// The stream of a file of vectors.
pub(super) enum Stream<'s> {
    /// A file, which can be read again.
    File(Input),
    /// A stream that can be read once.
    Once(Option<&'s mut dyn Read>),
}

impl Stream<'_> {
    /// From the beginning, unpacked; `None` when that is not to be had again.
    fn open(&mut self, name: &str) -> Result<Option<Box<dyn Read + '_>>> {
        let mut raw: Box<dyn Read + '_> = match self {
            Stream::File(input) => {
                input.rewind()?;
                Box::new(&mut input.reader)
            }
            Stream::Once(stream) => match stream.take() {
                Some(stream) => Box::new(stream),
                None => return Ok(None),
            },
        };
        let mut start = Vec::new();
        raw.by_ref().take(2).read_to_end(&mut start).map_err(|error| unreadable(name, &error))?;
        if start.is_empty() {
            return Err(empty(name));
        }
        let packed = start == [0x1f, 0x8b];
        let whole = Cursor::new(start).chain(raw);
        Ok(Some(if packed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) }))
    }
}

/// The mark between the fields of a line, if no blank: a comma or a semicolon behind the first word, which is more than this mark.
fn separator(line: &[u8]) -> Option<u8> {
    let first = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let is_whole = first.len() == line.trim_ascii_end().len();
    let mark =
        |mark: u8| if is_whole { first.contains(&mark) } else { first.len() > 1 && first.ends_with(&[mark]) };
    [b';', b','].into_iter().find(|&candidate| mark(candidate))
}

/// The numbers of a line as they are written.
fn fields(text: &str, separator: Option<u8>) -> Vec<Cow<'_, str>> {
    match separator {
        None => text.split_ascii_whitespace().map(Cow::Borrowed).collect(),
        Some(mark) => {
            let cells = text.trim_start_matches(char::from(mark)).split(char::from(mark)).map(str::trim);
            // Behind semicolons a comma is that of a decimal.
            cells
                .filter(|_| !text.is_empty())
                .map(|cell| if mark == b';' { cell.replace(',', ".").into() } else { cell.into() })
                .collect()
        }
    }
}

/// The word at the start of a line, and the rest.
fn split_word(line: &[u8], separator: Option<u8>) -> (&[u8], &[u8]) {
    if let Some(mark) = separator {
        let end = memchr::memchr(mark, line).unwrap_or(line.len());
        let (word, rest) = line.split_at(end);
        let bare = word.trim_ascii();
        let inside = bare.strip_prefix(b"\"").and_then(|word| word.strip_suffix(b"\""));
        return (inside.unwrap_or(bare), rest);
    }
    match memchr::memchr2(b' ', b'\t', line) {
        Some(end) => line.split_at(end),
        None => (line.trim_ascii_end(), &[]),
    }
}

/// The number of words and that of the numbers of each, which word2vec's first line announces; `None` if this is another line.
fn header(line: &[u8]) -> Option<(u64, usize)> {
    let mut fields = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let count = fields.next()?.parse().ok()?;
    let width = fields.next()?.parse().ok()?;
    fields.next().is_none().then_some((count, width))
}

// After a miss: the words of a file of vectors that come nearest to the one that is not there.

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
fn hints(name: &str, words: &[&str], separator: Option<u8>, stream: &mut Stream<'_>) -> Result<Vec<String>> {
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
            let is_header = number == 1 && header(line).is_some();
            if let Ok(word) = str::from_utf8(split_word(line, separator).0)
                && word.len() <= LONGEST_WORD
                && !is_header
            {
                neighbours.iter_mut().for_each(|neighbours| neighbours.consider(word));
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

// A vector for a word without a vector, invented from its letters.

/// The weight of a pair of neighbouring letters, relative to a letter.
const PAIR: f64 = 0.125;
/// The weight of a capital letter.
const CAPITAL: f64 = 0.125;
/// No vector is longer than this many usual lengths.
const LONGEST: f64 = 1.5;
/// The most decimals that a coordinate is rounded to; after that it is taken as it is.
const MOST_DECIMALS: u32 = 15;

/// Vectors for `words`, in their order: `width` numbers each, about as long as `length`. Different words get different
/// vectors, and none gets one of `taken`; equal words get equal ones.
///
/// A word is lower-cased and taken apart into letters and into pairs of neighbours (the ends of the word count as
/// neighbours too). Every feature f has a fixed direction u(f) of length 1: its coordinates come from an integer hash, so
/// they are the same on every machine. For a word of letters c₁ … c_n and a usual length ℓ,
///
/// ```text
/// v = Σᵢ u(cᵢ) + ⅛ Σᵢ u(cᵢ cᵢ₊₁) + ⅛ Σ u(each capital)
/// y = ℓ · 4/7 · n/(n+1) · v
/// x = y / √(1 + |y|² / (1.5 ℓ)²)
/// ```
///
/// so that no vector is longer than 1.5 ℓ. Changing one letter changes a few terms of the sum, so words with similar
/// spelling lie close together. The coordinates are rounded to the fewest decimals that leave about 30 steps up to a usual
/// coordinate; where two words would then be equal, they take as many more decimals as tell them apart. The numbers say how
/// a word is spelled, and nothing about what it means.
pub fn invented(words: &[&str], width: usize, length: f64, taken: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let decimals = decimals(length, width);
    let mut exact: BTreeMap<&str, (Vec<f64>, u32)> =
        words.iter().map(|&word| (word, (vector(word, width, length), decimals))).collect();
    loop {
        let mut vectors: BTreeMap<&str, Vec<f64>> =
            exact.iter().map(|(word, (exact, decimals))| (*word, rounded(exact, *decimals))).collect();
        // Words whose vectors are equal, or taken, get one more decimal until none are.
        let clashing = clashes(&vectors, taken);
        let mut finer = false;
        for word in &clashing {
            if let Some((_, decimals)) = exact.get_mut(word)
                && *decimals <= MOST_DECIMALS
            {
                *decimals += 1;
                finer = true;
            }
        }
        if finer {
            continue;
        }
        // Two words with one hash: never seen, and told apart all the same.
        for (place, word) in clashing.into_iter().enumerate() {
            if let Some(first) = vectors.get_mut(word).and_then(|vector| vector.first_mut()) {
                *first += length * (place + 1) as f64 / 1024.0;
            }
        }
        return words.iter().map(|word| vectors[word].clone()).collect();
    }
}

/// The words whose vector another word has too, or that is taken.
fn clashes<'w>(vectors: &BTreeMap<&'w str, Vec<f64>>, taken: &[Vec<f64>]) -> Vec<&'w str> {
    let bits = |vector: &[f64]| vector.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
    let mut uses: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
    for vector in vectors.values().chain(taken) {
        *uses.entry(bits(vector)).or_default() += 1;
    }
    vectors.iter().filter(|(_, vector)| uses[&bits(vector)] > 1).map(|(word, _)| *word).collect()
}

/// Decimals that leave about 30 steps up to a usual coordinate, and at least one.
fn decimals(length: f64, width: usize) -> u32 {
    let usual = length / (width.max(1) as f64).sqrt();
    (1..MOST_DECIMALS).find(|&decimals| usual * power_of_ten(decimals) >= 28.0).unwrap_or(MOST_DECIMALS)
}

fn rounded(vector: &[f64], decimals: u32) -> Vec<f64> {
    // Beyond this a rounded number would not be the nearest one any more.
    if decimals > MOST_DECIMALS {
        return vector.to_vec();
    }
    let power = power_of_ten(decimals);
    // 0 for −0.
    vector.iter().map(|x| (x * power).round() / power + 0.0).collect()
}

fn power_of_ten(exponent: u32) -> f64 {
    10_u64.pow(exponent) as f64
}

/// The vector of a word before it is rounded.
fn vector(word: &str, width: usize, length: f64) -> Vec<f64> {
    let mut sum = vec![0.0; width];
    let letters: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
    for &letter in &letters {
        add(&mut sum, 1.0, &[1, letter.into()]);
    }
    let ends = || iter::once(u32::MAX);
    let all: Vec<u32> = ends().chain(letters.iter().map(|&letter| letter.into())).chain(ends()).collect();
    for pair in all.windows(2) {
        add(&mut sum, PAIR, &[2, pair[0], pair[1]]);
    }
    for capital in word.chars().filter(|letter| letter.is_uppercase()) {
        add(&mut sum, CAPITAL, &[3, capital.into()]);
    }
    let size = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let count = letters.len() as f64;
    let scale = length * (4.0 * count / (7.0 * (count + 1.0)));
    let scaled: Vec<f64> = sum.iter().map(|x| x * scale).collect();
    let share = size(&scaled) / (LONGEST * length);
    let shrink = (1.0 + share * share).sqrt();
    scaled.iter().map(|x| x / shrink).collect()
}

/// Adds a feature's direction, `weight` long.
fn add(sum: &mut [f64], weight: f64, feature: &[u32]) {
    let mut state = feature.iter().flat_map(|part| part.to_le_bytes()).fold(0xcbf2_9ce4_8422_2325, fnv);
    let direction: Vec<f64> = sum.iter().map(|_| coordinate(&mut state)).collect();
    let size = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
    for (sum, x) in sum.iter_mut().zip(&direction) {
        *sum += weight * x / size;
    }
}

/// One byte of a 64-bit FNV-1a hash.
fn fnv(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

/// The next number of the stream that begins at `state` (SplitMix64): between −1 and 1, never 0.
fn coordinate(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    // The upper 52 bits, and a half: an odd number of 2⁻⁵³, exact in 64 bits.
    ((mixed >> 12) as f64 + 0.5) / (1_u64 << 51) as f64 - 1.0
}

// A sentence to its tokens, and a list of labels to its labels.

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
    if text.trim_start().starts_with('[')
        && let Ok(labels) = serde_json::from_str(text)
    {
        return all_text(labels);
    }
    let labels = entries(text).into_iter().filter(|label| !label.is_empty());
    all_text(labels.map(str::to_string).collect())
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

#[cfg(test)]
mod tests {
    use std::io;
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use crate::matrix::Matrix;
    use crate::read::Limit;

    use super::{find, *};

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

    /// Hands out its bytes in pieces of the given size.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            let (now, later) = self.0.split_at(count);
            buffer[..count].copy_from_slice(now);
            self.0 = later;
            Ok(count)
        }
    }

    fn lines(bytes: &[u8], piece: usize) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        each_line("x", &mut Pieces(bytes, piece), |number, line| {
            found.push(line.to_vec());
            assert_eq!(number, found.len());
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn lines_are_the_same_in_whatever_pieces_they_arrive(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..300),
            piece in 1usize..50,
        ) {
            let mut expected: Vec<Vec<u8>> = bytes.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
            if expected.last().is_some_and(Vec::is_empty) {
                expected.pop();
            }
            prop_assert_eq!(lines(&bytes, piece), expected);
        }
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
        assert_eq!(lines(&vec![b'1'; LONGEST_LINE], 1 << 20).len(), 1);
        let said = each_line("x.txt", &mut io::repeat(0), |_, _| Ok(ControlFlow::Continue(())))
            .unwrap_err()
            .to_string();
        assert!(said.starts_with("x.txt:1:1: this line is longer than 1024 KiB"), "{said}");
    }

    #[test]
    fn reading_stops_when_told_to() {
        let mut seen = 0;
        each_line("x", &mut Pieces(b"a\nb\nc\n", 100), |_, _| {
            seen += 1;
            Ok(if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .unwrap();
        assert_eq!(seen, 2);
    }

    fn hints(text: &str, words: &[&str]) -> Vec<String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        find("v.txt", words, &mut Stream::File(Input::open("v.txt", file.path(), Limit::ANY).unwrap()))
            .unwrap()
            .hints
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

    #[test]
    fn a_word_has_the_same_numbers_on_every_machine() {
        // The sums worked out apart, in Python, from the formula of `invented`.
        let words = ["lives", "A", "蝙蝠"];
        let vectors = invented(&words, 2, 4.0, &[]);
        assert_eq!(vectors, EXPECTED.map(|row| row.to_vec()));
    }

    const EXPECTED: [[f64; 2]; 3] = [[-3.6, 2.8], [-1.2, -0.1], [-1.3, -2.0]];

    #[test]
    fn words_that_would_be_equal_take_more_decimals_and_the_others_do_not() {
        let alone = invented(&["cave"], 2, 4.0, &[]);
        let beside = invented(&["cave", "racket"], 2, 4.0, &alone);
        assert_ne!(beside[0], alone[0]);
        assert!((beside[0][0] - alone[0][0]).abs() <= 0.05 && (beside[0][1] - alone[0][1]).abs() <= 0.05);
        assert_eq!(beside[1], invented(&["racket"], 2, 4.0, &[])[0]);
    }

    #[test]
    fn equal_words_get_equal_vectors_and_capitals_move_a_word_a_little() {
        let vectors = invented(&["the", "bats", "the", "The"], 3, 4.0, &[]);
        assert_eq!(vectors[0], vectors[2]);
        let apart =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        let moved = apart(&vectors[0], &vectors[3]);
        assert!(moved > 0.0 && moved < 0.5, "{moved}");
    }

    #[test]
    fn any_text_and_any_width_get_finite_numbers() {
        for word in ["", "👩‍👩‍👧", "e\u{301}", "الخفاش", &"x".repeat(10_000)] {
            for width in [1, 2, 300] {
                let vector = &invented(&[word], width, 4.0, &[])[0];
                let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
                assert!(length.is_finite() && length <= 6.1 && vector.len() == width, "{word:?} {length}");
            }
        }
    }

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
