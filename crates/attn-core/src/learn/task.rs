//! Tasks that a small model learns in seconds: what its examples are.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::matrix::Labels;
use crate::random::LegacyStream;
use crate::{elementary, memory};

use super::example::{Batch, Example};

/// An example that is held out is drawn again this often.
const DRAWN_AGAIN: usize = 100;

/// Where examples come from.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    /// The sequence in reverse order; every token sees all.
    Reverse,
    /// The sequence, then its symbols in order.
    Sort,
    /// A few words of different symbols, again and again in random order.
    Induction,
    /// The sum of two numbers of two digits, its last digit first.
    Addition,
    /// Whole lines of the user's, with the mark at both ends.
    Lines(Listed),
    /// One text of the user's.
    Text(WholeText),
    /// An input, the mark, the output, the mark at the end; and the place of the first mark.
    Pairs(Listed),
}

/// A task.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    name: &'static str,
    symbols: Symbols,
    source: Source,
    /// The shortest and the longest length that is drawn.
    lengths: (usize, usize),
}

impl Task {
    /// To say a sequence of digits backwards. `lengths` are the shortest and the longest.
    pub fn reverse(lengths: (usize, usize)) -> Task {
        Task { name: "reverse", symbols: Symbols::of('0'..='9'), source: Source::Reverse, lengths }
    }

    /// To put a sequence of digits in order.
    pub fn sort(lengths: (usize, usize)) -> Task {
        Task { name: "sort", symbols: Symbols::of('0'..='9'), source: Source::Sort, lengths }
    }

    /// To finish words that the text has had before: `lengths` are those of a word. Each text has words of its own, of different
    /// letters, in random order.
    ///
    /// # Errors
    /// If a word is longer than the alphabet, or so short that it has no next letter.
    pub fn induction(lengths: (usize, usize)) -> Result<Task> {
        let symbols = Symbols::of(('a'..='z').take(LETTERS));
        if lengths.1 > LETTERS {
            let longest = lengths.1;
            let what = format!("a word of {longest} different letters cannot be drawn: there are {LETTERS}");
            return Err(Error::new(what).help(format!("take at most {LETTERS}")));
        }
        if lengths.0 < 2 {
            return Err(Error::new("a word of one letter has no next letter").help("take at least 2"));
        }
        Ok(Task { name: "induction", symbols, source: Source::Induction, lengths })
    }

    /// To add two numbers of two digits.
    pub fn addition() -> Task {
        let symbols = Symbols::of("0123456789+=".chars());
        Task { name: "addition", symbols, source: Source::Addition, lengths: (1, 1) }
    }

    /// To write lines like these, character by character: names. Longer lines than `context` are cut.
    ///
    /// # Errors
    /// If there are fewer than two lines, or they have the mark of their end in them.
    pub fn lines(name: &'static str, lines: &[Line], context: usize) -> Result<Task> {
        if let Some(Line { number, .. }) = lines.iter().find(|line| line.text.contains(END)) {
            return Err(Error::new(format!("line {number} has a “{END}”, which marks the end of a line")));
        }
        let lines = once_each(lines, |line| line.text)?;
        enough(lines.len(), "line")?;
        let characters = characters(lines.iter().map(|line| line.text))?;
        let symbols = Symbols::of(std::iter::once(END).chain(characters));
        let all = lines
            .iter()
            .map(|line| ([END].into_iter().chain(line.text.chars()).chain([END]).take(context + 1), 0));
        let source = Source::Lines(Listed::of(&symbols, all)?);
        Ok(Task { name, symbols, source, lengths: (1, 1) })
    }

    /// To go on with a text, character by character. `lengths` are those of the pieces that are read.
    ///
    /// # Errors
    /// If the text is too short.
    pub fn text(text: &str, lengths: (usize, usize)) -> Result<Task> {
        let (needed, count) = (HELD_OUT_SHARE * (lengths.1 + 1), text.chars().count());
        if count < needed {
            let what = format!("the text has {count} characters, too few for pieces of {}", lengths.1);
            return Err(Error::new(what)
                .help(format!("give a text with at least {needed} characters, or shorter pieces")));
        }
        let symbols = Symbols::of(characters(std::iter::once(text))?.into_iter());
        let mut ids = memory::reserved::<Id>(count)?;
        let id = ids_by_code(&symbols)?;
        ids.extend(text.chars().map(|c| id[c as usize]));
        let source = Source::Text(WholeText { learned: ids.len(), ids: Arc::new(ids) });
        Ok(Task { name: "text", symbols, source, lengths })
    }

    /// To answer an input with its output.
    ///
    /// # Errors
    /// If there are fewer than two pairs, or a mark is among their characters.
    pub fn pairs(pairs: &[Pair]) -> Result<Task> {
        let is_marked = |text: &str| text.contains(MARKS);
        if let Some(pair) = pairs.iter().find(|pair| is_marked(pair.input) || is_marked(pair.output)) {
            let number = pair.number;
            return Err(Error::new(format!(
                "line {number} has more than one arrow, or the mark of an end, ⏎"
            ))
            .help("an input and an output have neither"));
        }
        // The mark between them is a token; the one at the end is only predicted.
        let tokens = |pair: &Pair| pair.input.chars().count() + 1 + pair.output.chars().count();
        if let Some(pair) = pairs.iter().find(|pair| tokens(pair) > LONGEST) {
            let (number, count) = (pair.number, tokens(pair));
            return Err(Error::new(format!(
                "line {number} has {count} tokens; an example has at most {LONGEST}"
            ))
            .help("give shorter inputs and outputs"));
        }
        let pairs = once_each(pairs, |pair| (pair.input, pair.output))?;
        enough(pairs.len(), "pair")?;
        let characters = characters(pairs.iter().flat_map(|pair| [pair.input, pair.output]))?;
        let symbols = Symbols::of(characters.into_iter().chain(MARKS));
        let [arrow, end] = MARKS;
        let all = pairs.iter().map(|pair| {
            let whole = pair.input.chars().chain([arrow]).chain(pair.output.chars()).chain([end]);
            (whole, pair.input.chars().count())
        });
        let source = Source::Pairs(Listed::of(&symbols, all)?);
        Ok(Task { name: "pairs", symbols, source, lengths: (1, 1) })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What is learned, in a few words.
    pub fn sentence(&self) -> &'static str {
        match &self.source {
            Source::Reverse => "reverse a sequence of digits",
            Source::Sort => "put a sequence of digits in order",
            Source::Induction if words(self.lengths.1, self.symbols.count()) > 1 => {
                "finish words that the text has had before; each text has a few words of its own, in random order"
            }
            Source::Induction => {
                "finish a word that the text has had before; each text has one word of its own, again and again"
            }
            Source::Addition => "add two numbers, the last digit of the sum first",
            Source::Lines(_) => "write lines like these, letter by letter",
            Source::Text(_) => "go on with the text, character by character",
            Source::Pairs(_) => "answer an input with its output",
        }
    }

    /// The symbols, by their ids.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// Whether a token sees only what comes before.
    pub fn is_causal(&self) -> bool {
        self.source != Source::Reverse
    }

    /// Whether there is one right answer, so that all can be right.
    pub fn has_answers(&self) -> bool {
        !matches!(self.source, Source::Lines(_) | Source::Text(_))
    }

    /// The id that the model begins with when it writes, and whether this ends a line, too; none where it answers.
    pub fn starts_with(&self) -> Option<(usize, bool)> {
        match &self.source {
            Source::Lines(_) => Some((0, true)),
            Source::Text(text) => Some((text.ids[0].into(), false)),
            _ => None,
        }
    }

    /// The number of tokens of the longest example.
    pub fn context(&self) -> usize {
        match &self.source {
            Source::Reverse => self.lengths.1,
            Source::Sort => 2 * self.lengths.1 - 1,
            Source::Induction => INDUCTION_TOKENS,
            Source::Addition => ADDITION_TOKENS,
            Source::Text(_) => self.lengths.1,
            Source::Lines(listed) | Source::Pairs(listed) => listed.longest().saturating_sub(1),
        }
    }

    /// Examples to learn from, and those that are held out: of data a tenth, at most 1,000.
    pub fn examples(mut self, seed: u32) -> Examples {
        // Another stream than that of the weights and of the batches.
        let mut stream = LegacyStream::seeded(seed.wrapping_add(0x9E37_79B9));
        let mut known = HashSet::new();
        let held_out = match &mut self.source {
            Source::Lines(listed) | Source::Pairs(listed) => listed.hold_out(&mut stream),
            Source::Text(text) => text.hold_out(self.lengths.1),
            _ => self.drawn_held_out(&mut stream, &mut known),
        };
        Examples { task: self, held_out, known }
    }

    /// Different examples to test on, each of its length; `known` are their tokens.
    fn drawn_held_out(&self, stream: &mut LegacyStream, known: &mut HashSet<Vec<usize>>) -> Vec<Example> {
        let all = (0..HELD_OUT).map(|_| {
            let length = between(stream, self.lengths);
            self.drawn(stream, length)
        });
        all.filter(|example| known.insert(example.tokens.clone())).collect()
    }

    /// An example to learn from; one that is made may be held out.
    fn drawn(&self, stream: &mut LegacyStream, length: usize) -> Example {
        match &self.source {
            Source::Reverse => reverse(stream, length, self.symbols.count()),
            Source::Sort => sort(stream, length, self.symbols.count()),
            Source::Induction => induction(stream, self.lengths, self.symbols.count()),
            Source::Addition => addition(stream),
            Source::Lines(listed) | Source::Pairs(listed) => listed.drawn(stream),
            Source::Text(text) => text.drawn(stream, length),
        }
    }
}

/// The examples of a task: those to learn from are drawn, some are held out.
#[derive(Clone, Debug)]
pub struct Examples {
    task: Task,
    held_out: Vec<Example>,
    /// The tokens of those that are held out, where examples are made: they may be made again.
    known: HashSet<Vec<usize>>,
}

impl Examples {
    /// The task.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The examples that are kept from learning.
    pub fn held_out(&self) -> &[Example] {
        &self.held_out
    }

    /// The loss of a guess by frequencies alone: `−Σ p ln p`, where p is the share of each symbol among what has to be predicted in
    /// the examples that are held out.
    pub fn loss_of_frequencies(&self) -> f64 {
        let mut counts = vec![0_usize; self.task.symbols.count()];
        for target in self.held_out.iter().flat_map(|example| example.targets.iter().flatten()) {
            counts[*target] += 1;
        }
        let all = counts.iter().sum::<usize>() as f64;
        let shares = counts.into_iter().filter(|count| *count > 0).map(|count| count as f64 / all);
        shares.fold(0.0, |sum, share| sum - share * elementary::ln(share))
    }

    /// The next batch to learn from.
    pub fn batch(&self, stream: &mut LegacyStream, examples: usize) -> Batch {
        let one_length = between(stream, self.task.lengths);
        let all = (0..examples).map(|_| self.new_example(stream, one_length));
        Batch::of(&all.collect::<Vec<_>>())
    }

    /// An example that is not held out, unless nearly all are.
    fn new_example(&self, stream: &mut LegacyStream, length: usize) -> Example {
        let mut example = self.task.drawn(stream, length);
        for _ in 0..DRAWN_AGAIN {
            if !self.known.contains(&example.tokens) {
                break;
            }
            example = self.task.drawn(stream, length);
        }
        example
    }
}

// Examples from data: lines, a text, pairs.

/// The number of examples that are kept from learning, to test on.
pub const HELD_OUT: usize = 1000;

/// A line of the data, and its number in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'t> {
    /// Its text.
    pub text: &'t str,
    /// Its number, from 1.
    pub number: usize,
}

/// An input and its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<'t> {
    /// What is asked.
    pub input: &'t str,
    /// The answer.
    pub output: &'t str,
    /// The number of its line, from 1.
    pub number: usize,
}

/// The mark of the start and the end of a line.
const END: char = '.';
/// The mark between an input and its output, and the one that ends an output.
const MARKS: [char; 2] = ['→', '⏎'];
/// Of this number of lines or pairs, one is held out.
const HELD_OUT_SHARE: usize = 10;

/// The id of a symbol, which is kept for each character of the data.
type Id = u16;

/// A text, and the number of its symbols that are learned from.
#[derive(Clone, Debug, PartialEq)]
struct WholeText {
    ids: Arc<Vec<Id>>,
    learned: usize,
}

impl WholeText {
    /// Holds out the end of the text, in pieces side by side.
    fn hold_out(&mut self, length: usize) -> Vec<Example> {
        self.learned = self.ids.len() - self.ids.len() / HELD_OUT_SHARE;
        let pieces = self.ids[self.learned..].chunks_exact(length + 1).take(HELD_OUT);
        pieces.map(|piece| going_on(piece, 0)).collect()
    }

    /// A piece of what is learned from.
    fn drawn(&self, stream: &mut LegacyStream, length: usize) -> Example {
        let start = below(stream, self.learned.saturating_sub(length));
        going_on(&self.ids[start..(start + length + 1).min(self.learned)], 0)
    }
}

/// Examples one after the other, and which of them are learned from.
#[derive(Clone, Debug, PartialEq)]
struct Listed {
    ids: Arc<Vec<Id>>,
    /// The place in `ids` where each ends, and the place within it from which on it is predicted.
    ends: Arc<Vec<(usize, usize)>>,
    learned: Vec<usize>,
}

impl Listed {
    /// The texts with their marks, each with the place from which on it is predicted.
    fn of<T: Iterator<Item = char>>(
        symbols: &Symbols,
        texts: impl Iterator<Item = (T, usize)> + Clone,
    ) -> Result<Listed> {
        let (count, length) =
            texts.clone().fold((0, 0), |(count, length), (text, _)| (count + 1, length + text.count()));
        let (mut ids, mut ends) = (memory::reserved::<Id>(length)?, memory::reserved(count)?);
        let mut learned = memory::reserved(count)?;
        let id = ids_by_code(symbols)?;
        for (text, from) in texts {
            ids.extend(text.map(|c| id[c as usize]));
            learned.push(ends.len());
            ends.push((ids.len(), from));
        }
        Ok(Listed { ids: Arc::new(ids), ends: Arc::new(ends), learned })
    }

    /// An example, from 0.
    fn example(&self, at: usize) -> Example {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before].0);
        let (end, from) = self.ends[at];
        going_on(&self.ids[start..end], from)
    }

    /// Takes some out of what is learned from.
    fn hold_out(&mut self, stream: &mut LegacyStream) -> Vec<Example> {
        let count = (self.learned.len() / HELD_OUT_SHARE).clamp(1, HELD_OUT);
        let mut out = || self.learned.swap_remove(below(stream, self.learned.len()));
        let out: Vec<usize> = (0..count).map(|_| out()).collect();
        out.into_iter().map(|at| self.example(at)).collect()
    }

    /// One of those that are learned from.
    fn drawn(&self, stream: &mut LegacyStream) -> Example {
        self.example(self.learned[below(stream, self.learned.len())])
    }

    /// The number of symbols of the longest.
    fn longest(&self) -> usize {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(end, _)| *end));
        self.ends.iter().zip(starts).map(|((end, _), start)| end - start).max().unwrap_or(0)
    }
}

/// The number of codes of characters.
const CODES: usize = char::MAX as usize + 1;

/// The ids of characters, by their codes.
fn ids_by_code(symbols: &Symbols) -> Result<Vec<Id>> {
    let mut ids = memory::uncharged_zeros(CODES)?;
    for (id, symbol) in symbols.all().iter().enumerate() {
        ids[*symbol as usize] = Id::try_from(id).map_err(|_| {
            let count = symbols.count();
            Error::new(format!("the data have {count} different characters, too many to learn"))
                .help("give data with fewer different characters")
        })?;
    }
    Ok(ids)
}

/// The different characters, in order.
fn characters<'t>(texts: impl Iterator<Item = &'t str>) -> Result<Vec<char>> {
    let mut is_there = memory::uncharged_zeros::<u8>(CODES)?;
    texts.flat_map(str::chars).for_each(|c| is_there[c as usize] = 1);
    let codes = is_there.into_iter().zip(0..).filter(|(is_there, _)| *is_there != 0);
    Ok(codes.filter_map(|(_, code)| char::from_u32(code)).collect())
}

/// Each token asks for the next, from this place on.
fn going_on(whole: &[Id], from: usize) -> Example {
    let tokens: Vec<usize> =
        whole[..whole.len().saturating_sub(1)].iter().map(|id| usize::from(*id)).collect();
    let targets = (0..tokens.len()).map(|i| (i >= from).then(|| whole[i + 1].into())).collect();
    Example { tokens, targets }
}

/// Each of them once, so that none is both learned from and held out.
fn once_each<T: Copy, K: Eq + Hash>(all: &[T], key: impl Fn(&T) -> K) -> Result<Vec<T>> {
    // A set has room for up to twice as many as it has.
    let _held = memory::hold(memory::bytes_of::<(K, u64)>(2 * all.len()))?;
    let (mut known, mut once) = (HashSet::new(), memory::reserved(all.len())?);
    known.try_reserve(all.len()).map_err(|_| memory::exhausted())?;
    once.extend(all.iter().filter(|one| known.insert(key(one))));
    Ok(once)
}

fn enough(count: usize, what: &str) -> Result<()> {
    match count {
        0 => Err(Error::new("there are no data").help(format!("give a file with a {what} in each line"))),
        1 => Err(Error::new(format!("there is one {what} alone, so there is none to test on"))
            .help(format!("give at least two {what}s"))),
        _ => Ok(()),
    }
}

// The symbols of a task: each is one character, and its id is its place.

/// The symbols of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbols {
    symbols: Vec<char>,
}

impl Symbols {
    /// These characters, in this order.
    pub fn of(symbols: impl Iterator<Item = char>) -> Symbols {
        Symbols { symbols: symbols.collect() }
    }

    /// The number of symbols.
    pub fn count(&self) -> usize {
        self.symbols.len()
    }

    /// All symbols, by their ids.
    pub fn all(&self) -> &[char] {
        &self.symbols
    }

    /// The symbols of some ids.
    pub fn text(&self, ids: &[usize]) -> String {
        ids.iter().filter_map(|id| self.symbols.get(*id)).collect()
    }

    /// The symbols of some ids, one label each; space and the end of a line are made visible.
    pub fn labels(&self, ids: &[usize]) -> Labels {
        let label = |id: &usize| match self.symbols.get(*id) {
            Some(' ') => "␣".to_string(),
            Some('\n') => "↵".to_string(),
            Some('\t') => "⇥".to_string(),
            Some(symbol) => symbol.to_string(),
            None => format!("token {id}"),
        };
        ids.iter().map(label).collect()
    }
}

// Examples that are drawn.

/// The most tokens of an example, since a head has a weight for each pair of them.
pub const LONGEST: usize = 512;

/// The letters of `induction`, and the most words of a text.
const LETTERS: usize = 16;
const WORDS: usize = 4;
/// The tokens of an example of `induction`.
const INDUCTION_TOKENS: usize = 24;
/// The tokens of `12+34=64`, without the last digit of the answer, which nothing follows: the answer is `640`, last digit first.
const ADDITION_TOKENS: usize = 8;

/// A whole number from 0 to count − 1.
fn below(stream: &mut LegacyStream, count: usize) -> usize {
    ((stream.uniform() * count as f64) as usize).min(count.saturating_sub(1))
}

/// A whole number between two, both included; where they are the same, nothing is drawn.
fn between(stream: &mut LegacyStream, (least, most): (usize, usize)) -> usize {
    if most > least { least + below(stream, most - least + 1) } else { least }
}

/// Symbols drawn one by one.
fn sequence(stream: &mut LegacyStream, length: usize, symbols: usize) -> Vec<usize> {
    (0..length).map(|_| below(stream, symbols)).collect()
}

/// Each place asks for the symbol at the mirrored place.
fn reverse(stream: &mut LegacyStream, length: usize, symbols: usize) -> Example {
    let tokens = sequence(stream, length, symbols);
    let targets = tokens.iter().rev().copied().map(Some).collect();
    Example { tokens, targets }
}

/// The last symbol of the sequence asks for the smallest, which asks for the next.
fn sort(stream: &mut LegacyStream, length: usize, symbols: usize) -> Example {
    let mut tokens = sequence(stream, length, symbols);
    let mut sorted = tokens.clone();
    sorted.sort();
    let asked = sorted.iter().copied().map(Some);
    let targets = std::iter::repeat_n(None, length.saturating_sub(1)).chain(asked).collect();
    tokens.extend(&sorted[..length.saturating_sub(1)]);
    Example { tokens, targets }
}

/// The number of words of a text of `induction`, whose longest has this many letters: no letter is in two of them.
fn words(longest: usize, symbols: usize) -> usize {
    (symbols / longest.max(1)).clamp(1, WORDS)
}

/// Words of different symbols, again and again in random order. Where a word has been there before, each of its symbols asks for
/// the next, all but the last. Which word comes next is never asked.
fn induction(stream: &mut LegacyStream, lengths: (usize, usize), symbols: usize) -> Example {
    let tokens = INDUCTION_TOKENS;
    let mut rest: Vec<usize> = (0..symbols).collect();
    let mut word = || -> Vec<usize> {
        let length = between(stream, lengths);
        (0..length).map(|_| rest.swap_remove(below(stream, rest.len()))).collect()
    };
    let words: Vec<Vec<usize>> = (0..words(lengths.1, symbols)).map(|_| word()).collect();
    let mut was_there = vec![false; words.len()];
    let (mut all, mut asks) = (Vec::new(), Vec::new());
    while all.len() <= tokens {
        let at = below(stream, words.len());
        for (place, symbol) in words[at].iter().enumerate() {
            all.push(*symbol);
            asks.push(was_there[at] && place + 1 < words[at].len());
        }
        was_there[at] = true;
    }
    let targets = (0..tokens).map(|i| asks[i].then(|| all[i + 1])).collect();
    all.truncate(tokens);
    Example { tokens: all, targets }
}

/// `12+34=`, and its sum with the last digit first; the sign of equality asks for that digit. Ids: the digits, + and =.
fn addition(stream: &mut LegacyStream) -> Example {
    let [a, b] = [(); 2].map(|()| below(stream, 100));
    let digits = |x: usize| [x / 10, x % 10];
    let sum = a + b;
    let answer = [sum % 10, sum / 10 % 10, sum / 100];
    let tokens: Vec<usize> = digits(a)
        .into_iter()
        .chain([10])
        .chain(digits(b))
        .chain([11])
        .chain(answer[..2].iter().copied())
        .collect();
    let targets = std::iter::repeat_n(None, 5).chain(answer.map(Some)).collect();
    Example { tokens, targets }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> LegacyStream {
        LegacyStream::seeded(3)
    }

    #[test]
    fn a_sequence_and_its_mirror() {
        let Example { tokens, targets } = reverse(&mut stream(), 6, 10);
        let mirrored: Vec<Option<usize>> = tokens.iter().rev().map(|x| Some(*x)).collect();
        assert_eq!(targets, mirrored);
    }

    #[test]
    fn sorting_asks_from_the_last_symbol_on() {
        let Example { tokens, targets } = sort(&mut stream(), 4, 10);
        assert_eq!((tokens.len(), targets.len()), (7, 7));
        let mut sorted = tokens[..4].to_vec();
        sorted.sort();
        assert_eq!(tokens[4..], sorted[..3]);
        assert_eq!(targets[3..], sorted.into_iter().map(Some).collect::<Vec<_>>());
        assert!(targets[..3].iter().all(Option::is_none));
    }

    #[test]
    fn a_word_that_was_there_before_asks_for_its_next_letter_in_every_text() {
        let mut stream = stream();
        for (least, most) in (2..=LETTERS).flat_map(|most| (2..=most).map(move |least| (least, most))) {
            let Example { tokens, targets } = induction(&mut stream, (least, most), LETTERS);
            assert_eq!((tokens.len(), targets.len()), (INDUCTION_TOKENS, INDUCTION_TOKENS));
            assert!(targets.iter().any(Option::is_some), "{least}-{most}: nothing is asked in {tokens:?}");
            for (i, target) in targets.iter().enumerate() {
                let Some(target) = *target else { continue };
                // What is asked for came after each earlier token of the kind, and comes now.
                assert_eq!(tokens.get(i + 1).unwrap_or(&target), &target);
                let earlier = (0..i).filter(|j| tokens[*j] == tokens[i]);
                assert!(earlier.clone().count() > 0 && earlier.into_iter().all(|j| tokens[j + 1] == target));
            }
        }
    }

    /// The share of right predictions of a rule that says the next letter from the tokens up to a place.
    fn right(examples: &[Example], rule: impl Fn(&[usize]) -> Option<usize>) -> f64 {
        let (mut right, mut asked) = (0, 0);
        for Example { tokens, targets } in examples {
            for (i, target) in targets.iter().enumerate().filter(|(_, target)| target.is_some()) {
                asked += 1;
                right += usize::from(rule(&tokens[..=i]) == *target);
            }
        }
        right as f64 / f64::from(asked)
    }

    #[test]
    fn no_rule_of_place_age_or_frequency_is_right_half_of_the_time() {
        let mut stream = stream();
        let examples: Vec<Example> = (0..2000).map(|_| induction(&mut stream, (2, 4), LETTERS)).collect();
        let share = |rule: &dyn Fn(&[usize]) -> Option<usize>| right(&examples, rule);
        let last = |text: &[usize], symbol: usize| text.iter().rposition(|x| *x == symbol);
        let best = |text: &[usize], key: &dyn Fn(usize) -> usize| {
            (0..LETTERS).filter(|x| text.contains(x)).max_by_key(|x| key(*x))
        };
        // The letter that stands a fixed number of places back.
        for back in 1..INDUCTION_TOKENS {
            let rule = |text: &[usize]| (text.len() > back).then(|| text[text.len() - 1 - back]);
            assert!(share(&rule) < 0.25, "{back} places back: {}", share(&rule));
        }
        // The one that was not there for the longest time, and the most frequent one.
        let oldest = |text: &[usize]| best(text, &|x| LETTERS * text.len() - last(text, x).unwrap_or(0));
        let frequent = |text: &[usize]| best(text, &|x| text.iter().filter(|y| **y == x).count());
        assert!((0.35..0.45).contains(&share(&oldest)) && share(&frequent) < 0.25);
        // What came after the same letter is always right.
        let followed = |text: &[usize]| {
            let now = text[text.len() - 1];
            last(&text[..text.len() - 1], now).map(|at| text[at + 1])
        };
        assert_eq!(share(&followed), 1.0);
    }

    #[test]
    fn a_sum_is_asked_for_from_its_last_digit_on() {
        for _ in 0..50 {
            let Example { tokens, targets } = addition(&mut stream());
            assert_eq!((tokens.len(), targets.len(), tokens[2], tokens[5]), (ADDITION_TOKENS, 8, 10, 11));
            let number = |at: usize| 10 * tokens[at] + tokens[at + 1];
            let answer: Vec<usize> = targets.iter().flatten().copied().collect();
            assert_eq!(answer[0] + 10 * answer[1] + 100 * answer[2], number(0) + number(3));
            assert_eq!(answer[..2], tokens[6..]);
        }
    }
}
