//! Examples from data: lines, a text, pairs.

use std::collections::BTreeSet;

use super::drawn::LONGEST;
use super::drawn::below;
use super::symbols::Symbols;
use crate::error::{Error, Result};
use crate::learn::batch::Example;
use crate::random::LegacyStream;

/// The number of examples that are kept from learning, to test on.
pub const HELD_OUT: usize = 1000;

/// A line of the data, and its number in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its text.
    pub text: String,
    /// Its number, from 1.
    pub number: usize,
}

/// An input and its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// What is asked.
    pub input: String,
    /// The answer.
    pub output: String,
    /// The number of its line, from 1.
    pub number: usize,
}

/// The mark of the start and the end of a line.
const END: char = '.';
/// The mark between an input and its output, and the one that ends an output.
const MARKS: [char; 2] = ['→', '⏎'];
/// Of this number of lines or pairs, one is held out.
const HELD_OUT_SHARE: usize = 10;

/// Data, as ids.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Data {
    /// Whole lines, with the mark at both ends.
    Lines(Vec<Vec<usize>>),
    /// One text.
    Text(Vec<usize>),
    /// An input, the mark, the output, the mark at the end; and the place of the first mark.
    Pairs(Vec<(Vec<usize>, usize)>),
}

/// The characters, in order.
fn characters<'t>(texts: impl Iterator<Item = &'t str>) -> BTreeSet<char> {
    texts.flat_map(str::chars).collect()
}

fn ids(symbols: &Symbols, text: &str) -> Vec<usize> {
    text.chars().filter_map(|symbol| symbols.id(symbol)).collect()
}

impl Data {
    pub(super) fn lines(lines: &[Line], context: usize) -> Result<(Symbols, Data)> {
        if let Some(line) = lines.iter().find(|line| line.text.contains(END)) {
            return Err(Error::new(format!(
                "line {} has a “{END}”, which marks the end of a line",
                line.number
            )));
        }
        let lines = once_each(lines, |line| line.text.clone());
        enough(lines.len(), "line")?;
        let characters = characters(lines.iter().map(|line| line.text.as_str()));
        let symbols = Symbols::of(std::iter::once(END).chain(characters));
        let all = lines.iter().map(|line| {
            let whole = ids(&symbols, &format!("{END}{}{END}", line.text));
            whole[..whole.len().min(context + 1)].to_vec()
        });
        let all = all.collect();
        Ok((symbols, Data::Lines(all)))
    }

    pub(super) fn text(text: &str, length: usize) -> Result<(Symbols, Data)> {
        let symbols = Symbols::of(characters(std::iter::once(text)).into_iter());
        let text = ids(&symbols, text);
        let needed = HELD_OUT_SHARE * (length + 1);
        if text.len() < needed {
            return Err(Error::new(format!(
                "the text has {} characters, too few for pieces of {length}",
                text.len()
            ))
            .help(format!("give a text with at least {needed} characters, or shorter pieces")));
        }
        Ok((symbols, Data::Text(text)))
    }

    pub(super) fn pairs(pairs: &[Pair]) -> Result<(Symbols, Data)> {
        let is_marked = |text: &str| text.contains(MARKS);
        if let Some(pair) = pairs.iter().find(|pair| is_marked(&pair.input) || is_marked(&pair.output)) {
            return Err(Error::new(format!(
                "line {} has more than one arrow, or the mark of an end, ⏎",
                pair.number
            ))
            .help("an input and an output have neither"));
        }
        // The mark between them is a token; the one at the end is only predicted.
        let tokens = |pair: &Pair| pair.input.chars().count() + 1 + pair.output.chars().count();
        if let Some(pair) = pairs.iter().find(|pair| tokens(pair) > LONGEST) {
            return Err(Error::new(format!(
                "line {} has {} tokens; an example has at most {LONGEST}",
                pair.number,
                tokens(pair)
            ))
            .help("give shorter inputs and outputs"));
        }
        let pairs = once_each(pairs, |pair| (pair.input.clone(), pair.output.clone()));
        enough(pairs.len(), "pair")?;
        let characters = characters(pairs.iter().flat_map(|pair| [pair.input.as_str(), &pair.output]));
        let symbols = Symbols::of(characters.into_iter().chain(MARKS));
        let [arrow, end] = MARKS;
        let all = pairs.iter().map(|pair| {
            let whole = format!("{}{arrow}{}{end}", pair.input, pair.output);
            (ids(&symbols, &whole), pair.input.chars().count())
        });
        let all = all.collect();
        Ok((symbols, Data::Pairs(all)))
    }

    /// The number of tokens of the longest example.
    pub(super) fn context(&self) -> usize {
        let longest = match self {
            Data::Lines(lines) => lines.iter().map(Vec::len).max(),
            Data::Text(text) => Some(text.len()),
            Data::Pairs(pairs) => pairs.iter().map(|(whole, _)| whole.len()).max(),
        };
        longest.unwrap_or(0).saturating_sub(1)
    }

    /// The data to learn from, and examples that are held out: a tenth, at most [`HELD_OUT`].
    pub(super) fn split(&self, stream: &mut LegacyStream, length: usize) -> (Data, Vec<Example>) {
        match self {
            Data::Lines(lines) => {
                let (rest, out) = parted(lines, stream);
                (Data::Lines(rest), out.iter().map(|line| going_on(line, 0)).collect())
            }
            Data::Pairs(pairs) => {
                let (rest, out) = parted(pairs, stream);
                (Data::Pairs(rest), out.iter().map(|(whole, mark)| going_on(whole, *mark)).collect())
            }
            Data::Text(text) => {
                // The end of the text, in pieces side by side.
                let rest = text.len() - text.len() / HELD_OUT_SHARE;
                let pieces = text[rest..].chunks_exact(length + 1).take(HELD_OUT);
                (Data::Text(text[..rest].to_vec()), pieces.map(|piece| going_on(piece, 0)).collect())
            }
        }
    }

    /// One of the examples; of a text, a piece of this length.
    pub(super) fn drawn(&self, stream: &mut LegacyStream, length: usize) -> Example {
        match self {
            Data::Lines(lines) => going_on(&lines[below(stream, lines.len())], 0),
            Data::Pairs(pairs) => {
                let (whole, mark) = &pairs[below(stream, pairs.len())];
                going_on(whole, *mark)
            }
            Data::Text(text) => {
                let start = below(stream, text.len().saturating_sub(length));
                going_on(&text[start..(start + length + 1).min(text.len())], 0)
            }
        }
    }
}

/// Each token asks for the next, from this place on.
fn going_on(whole: &[usize], from: usize) -> Example {
    let tokens = whole[..whole.len().saturating_sub(1)].to_vec();
    let targets = (0..tokens.len()).map(|i| (i >= from).then(|| whole[i + 1])).collect();
    Example { tokens, targets }
}

/// Each of them once, so that none is both learned from and held out.
fn once_each<T, K: Ord>(all: &[T], key: impl Fn(&T) -> K) -> Vec<&T> {
    let mut known = BTreeSet::new();
    all.iter().filter(|one| known.insert(key(one))).collect()
}

/// Parts a list into what is learned from and what is held out.
fn parted<T: Clone>(all: &[T], stream: &mut LegacyStream) -> (Vec<T>, Vec<T>) {
    let mut rest = all.to_vec();
    let count = (all.len() / HELD_OUT_SHARE).clamp(1, HELD_OUT);
    let out = (0..count).map(|_| rest.swap_remove(below(stream, rest.len()))).collect();
    (rest, out)
}

fn enough(count: usize, what: &str) -> Result<()> {
    match count {
        0 => Err(Error::new("there are no data").help(format!("give a file with a {what} in each line"))),
        1 => Err(Error::new(format!("there is one {what} alone, so there is none to test on"))
            .help(format!("give at least two {what}s"))),
        _ => Ok(()),
    }
}
