//! Examples from data: lines, a text, pairs.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use super::drawn::LONGEST;
use super::drawn::below;
use super::symbols::Symbols;
use crate::error::{Error, Result};
use crate::learn::batch::Example;
use crate::memory;
use crate::random::LegacyStream;

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

/// Data, as ids.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Data {
    /// Whole lines, with the mark at both ends.
    Lines(Listed),
    /// One text.
    Text(WholeText),
    /// An input, the mark, the output, the mark at the end; and the place of the first mark.
    Pairs(Listed),
}

/// A text, and the number of its symbols that are learned from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WholeText {
    ids: Arc<Vec<Id>>,
    learned: usize,
}

impl WholeText {
    /// The first symbol.
    pub fn first(&self) -> usize {
        self.ids[0].into()
    }
}

/// Examples one after the other, and which of them are learned from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Listed {
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
        let id = Ids::of(symbols)?;
        for (text, from) in texts {
            ids.extend(text.map(|c| id.of_symbol(c)));
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

    /// Parts the list into what is learned from and what is held out.
    fn parted(&self, stream: &mut LegacyStream) -> (Listed, Vec<Example>) {
        let mut rest = self.clone();
        let count = (rest.learned.len() / HELD_OUT_SHARE).clamp(1, HELD_OUT);
        let out = (0..count).map(|_| rest.learned.swap_remove(below(stream, rest.learned.len())));
        let out = out.collect::<Vec<usize>>().into_iter().map(|at| self.example(at)).collect();
        (rest, out)
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

/// The ids of characters, by their codes.
struct Ids(Vec<Id>);

/// The number of codes of characters.
const CODES: usize = char::MAX as usize + 1;

impl Ids {
    fn of(symbols: &Symbols) -> Result<Ids> {
        let mut ids = memory::uncharged_zeros(CODES)?;
        for (id, symbol) in symbols.all().iter().enumerate() {
            ids[*symbol as usize] = Id::try_from(id).map_err(|_| {
                Error::new(format!(
                    "the data have {} different characters, too many to learn",
                    symbols.count()
                ))
                .help("give data with fewer different characters")
            })?;
        }
        Ok(Ids(ids))
    }

    /// The id of a character that is a symbol.
    fn of_symbol(&self, symbol: char) -> Id {
        self.0[symbol as usize]
    }
}

/// The different characters, in order.
fn characters<'t>(texts: impl Iterator<Item = &'t str>) -> Result<Vec<char>> {
    let mut is_there = memory::uncharged_zeros::<u8>(CODES)?;
    texts.flat_map(str::chars).for_each(|c| is_there[c as usize] = 1);
    let codes = is_there.into_iter().zip(0..).filter(|(is_there, _)| *is_there != 0);
    Ok(codes.filter_map(|(_, code)| char::from_u32(code)).collect())
}

impl Data {
    pub(super) fn lines(lines: &[Line], context: usize) -> Result<(Symbols, Data)> {
        if let Some(line) = lines.iter().find(|line| line.text.contains(END)) {
            return Err(Error::new(format!(
                "line {} has a “{END}”, which marks the end of a line",
                line.number
            )));
        }
        let lines = once_each(lines, |line| line.text)?;
        enough(lines.len(), "line")?;
        let characters = characters(lines.iter().map(|line| line.text))?;
        let symbols = Symbols::of(std::iter::once(END).chain(characters));
        let all = lines
            .iter()
            .map(|line| ([END].into_iter().chain(line.text.chars()).chain([END]).take(context + 1), 0));
        let all = Listed::of(&symbols, all)?;
        Ok((symbols, Data::Lines(all)))
    }

    pub(super) fn text(text: &str, length: usize) -> Result<(Symbols, Data)> {
        let (needed, count) = (HELD_OUT_SHARE * (length + 1), text.chars().count());
        if count < needed {
            return Err(Error::new(format!(
                "the text has {count} characters, too few for pieces of {length}"
            ))
            .help(format!("give a text with at least {needed} characters, or shorter pieces")));
        }
        let symbols = Symbols::of(characters(std::iter::once(text))?.into_iter());
        let mut ids = memory::reserved::<Id>(count)?;
        let id = Ids::of(&symbols)?;
        ids.extend(text.chars().map(|c| id.of_symbol(c)));
        Ok((symbols, Data::Text(WholeText { learned: ids.len(), ids: Arc::new(ids) })))
    }

    pub(super) fn pairs(pairs: &[Pair]) -> Result<(Symbols, Data)> {
        let is_marked = |text: &str| text.contains(MARKS);
        if let Some(pair) = pairs.iter().find(|pair| is_marked(pair.input) || is_marked(pair.output)) {
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
        let pairs = once_each(pairs, |pair| (pair.input, pair.output))?;
        enough(pairs.len(), "pair")?;
        let characters = characters(pairs.iter().flat_map(|pair| [pair.input, pair.output]))?;
        let symbols = Symbols::of(characters.into_iter().chain(MARKS));
        let [arrow, end] = MARKS;
        let all = pairs.iter().map(|pair| {
            let whole = pair.input.chars().chain([arrow]).chain(pair.output.chars()).chain([end]);
            (whole, pair.input.chars().count())
        });
        let all = Listed::of(&symbols, all)?;
        Ok((symbols, Data::Pairs(all)))
    }

    /// The number of tokens of the longest example.
    pub(super) fn context(&self) -> usize {
        let longest = match self {
            Data::Lines(listed) | Data::Pairs(listed) => listed.longest(),
            Data::Text(text) => text.ids.len(),
        };
        longest.saturating_sub(1)
    }

    /// The data to learn from, and examples that are held out: a tenth, at most [`HELD_OUT`].
    pub(super) fn split(&self, stream: &mut LegacyStream, length: usize) -> (Data, Vec<Example>) {
        match self {
            Data::Lines(lines) => {
                let (rest, out) = lines.parted(stream);
                (Data::Lines(rest), out)
            }
            Data::Pairs(pairs) => {
                let (rest, out) = pairs.parted(stream);
                (Data::Pairs(rest), out)
            }
            Data::Text(text) => {
                // The end of the text, in pieces side by side.
                let learned = text.ids.len() - text.ids.len() / HELD_OUT_SHARE;
                let pieces = text.ids[learned..].chunks_exact(length + 1).take(HELD_OUT);
                let out = pieces.map(|piece| going_on(piece, 0)).collect();
                (Data::Text(WholeText { learned, ..text.clone() }), out)
            }
        }
    }

    /// One of the examples; of a text, a piece of this length.
    pub(super) fn drawn(&self, stream: &mut LegacyStream, length: usize) -> Example {
        match self {
            Data::Lines(listed) | Data::Pairs(listed) => listed.drawn(stream),
            Data::Text(WholeText { ids, learned }) => {
                let start = below(stream, learned.saturating_sub(length));
                going_on(&ids[start..(start + length + 1).min(*learned)], 0)
            }
        }
    }
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
