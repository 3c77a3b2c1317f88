//! How a word becomes tokens: the model of a tokenizer, and the steps that it takes.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fmt;
use std::mem;
use std::ops::Range;

use serde::de::Error;
use serde_json::{Result, Value};

use crate::text::grouped;

use super::part::{field, optional, tagged};

/// How a tokenizer makes pieces of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenizerKind {
    /// Byte-pair encoding of bytes (GPT-2, Llama 3, Qwen): pairs of pieces are merged in the order of a list.
    ByteLevelBpe {
        /// The length of the list.
        merges: usize,
    },
    /// Byte-pair encoding of characters (Llama 2, Gemma).
    Bpe {
        /// The length of the list of merges.
        merges: usize,
        /// Whether a character outside the vocabulary becomes its bytes.
        byte_fallback: bool,
    },
    /// The longest piece of the vocabulary that the rest of a word begins with, again and again (BERT).
    WordPiece,
    /// The most probable pieces of a word (T5, XLM-R).
    Unigram,
    /// Whole words.
    WordLevel,
}

impl TokenizerKind {
    /// The length of the list of merges, if it has one.
    pub fn merges(self) -> Option<usize> {
        match self {
            TokenizerKind::ByteLevelBpe { merges } | TokenizerKind::Bpe { merges, .. } => Some(merges),
            TokenizerKind::WordPiece | TokenizerKind::Unigram | TokenizerKind::WordLevel => None,
        }
    }

    /// The name, without numbers.
    pub fn name(self) -> &'static str {
        match self {
            TokenizerKind::ByteLevelBpe { .. } => "byte-level BPE",
            TokenizerKind::Bpe { byte_fallback: true, .. } => "BPE with bytes for unknown characters",
            TokenizerKind::Bpe { byte_fallback: false, .. } => "BPE",
            TokenizerKind::WordPiece => "WordPiece",
            TokenizerKind::Unigram => "Unigram",
            TokenizerKind::WordLevel => "WordLevel",
        }
    }
}

impl fmt::Display for TokenizerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.merges() {
            None => write!(f, "{}", self.name()),
            Some(1) => write!(f, "{}, 1 merge", self.name()),
            Some(merges) => write!(f, "{}, {} merges", self.name(), grouped(merges as u64)),
        }
    }
}

/// A step on the way from a word to its tokens. Pieces are named by their ids.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The pieces of single characters, or bytes, that BPE begins with.
    Start(Vec<u32>),
    /// Two neighbours become one piece.
    Merge {
        /// The left piece.
        left: u32,
        /// The right piece.
        right: u32,
        /// The piece that replaces them.
        into: u32,
        /// The place of the merge in the list, from 1.
        number: usize,
    },
    /// The whole word is a piece of the vocabulary, and the file says to look there first.
    Whole(u32),
    /// WordPiece: the longest piece that the rest of the word begins with.
    Longest {
        /// The rest of the word; from the second piece on with the prefix of continued words.
        rest: String,
        /// The piece.
        piece: u32,
    },
    /// WordPiece: no piece begins the rest of the word, so that the whole word is unknown.
    NoPiece {
        /// The rest of the word.
        rest: String,
    },
    /// WordPiece: the word is too long, and counts as unknown.
    TooLong {
        /// The longest word in characters.
        most: usize,
    },
}

/// A part of a word that has become a token.
#[derive(Clone)]
pub(super) struct Piece {
    pub id: u32,
    /// The bytes of the word.
    pub bytes: Range<usize>,
}

/// A pair of neighbours that become one piece, by their ids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Merge {
    /// The left piece.
    pub left: u32,
    /// The right piece.
    pub right: u32,
    /// The piece that replaces them.
    pub into: u32,
}

/// The model of a file.
pub(super) struct Model {
    ids: HashMap<String, u32>,
    pieces: HashMap<u32, String>,
    /// The id of the piece for what is not in the vocabulary.
    unknown: Option<u32>,
    rules: Rules,
}

enum Rules {
    Bpe(Bpe),
    WordPiece { prefix: String, most: usize, prefixes: Prefixes },
    WordLevel,
    Unigram(Unigram),
}

struct Unigram {
    /// The scores by the ids of the pieces.
    scores: Vec<f64>,
    least: f64,
    byte_fallback: bool,
    prefixes: Prefixes,
}

struct Bpe {
    /// The length of the list of merges.
    listed: usize,
    /// The place in the list, from 1, and the result of each pair; of a pair that is listed twice the later one counts.
    merges: HashMap<(u32, u32), (usize, u32)>,
    prefix: String,
    suffix: String,
    has_unknown: bool,
    fuses_unknown: bool,
    byte_fallback: bool,
    ignores_merges: bool,
}

impl Model {
    /// The model of a file, with its merges. Old files do not say which one it is.
    ///
    /// # Errors
    /// If a part of it is missing, or of the wrong type.
    pub fn read(part: &Value, merges: &[Merge]) -> Result<Model> {
        let known = "BPE WordPiece WordLevel Unigram";
        let by_fields: Vec<&str> = known.split(' ').collect();
        tagged(part, known, &by_fields, "ModelUntagged", |kind| Model::of_kind(kind, part, merges))
    }

    fn of_kind(kind: &str, part: &Value, merges: &[Merge]) -> Result<Model> {
        if kind == "Unigram" {
            let byte_fallback = optional(part, "byte_fallback")?.unwrap_or(false);
            let unknown: Option<u32> = optional(part, "unk_id")?;
            let vocabulary: Vec<(String, f64)> = field(part, "vocab")?;
            if unknown.is_some_and(|id| id as usize >= vocabulary.len()) {
                return Err(Error::custom("Unable to load vocab UnkIdNotInVocabulary"));
            }
            let (pieces, scores): (Vec<String>, Vec<f64>) = vocabulary.into_iter().unzip();
            let ids: HashMap<String, u32> = pieces.iter().cloned().zip(0..).collect();
            let (prefixes, least) =
                (Prefixes::of(&ids), scores.iter().copied().fold(f64::INFINITY, f64::min));
            let rules = Rules::Unigram(Unigram { scores, least, byte_fallback, prefixes });
            return Ok(Model { ids, pieces: (0..).zip(pieces).collect(), unknown, rules });
        }
        let is_set = |name| Ok(optional(part, name)?.unwrap_or(false));
        let (unknown, rules): (Option<String>, Rules);
        let ids: HashMap<String, u32> = field(part, "vocab")?;
        if kind == "BPE" {
            let _: Vec<Value> = field(part, "merges")?;
            unknown = optional(part, "unk_token")?;
            let numbered = merges.iter().zip(1..);
            rules = Rules::Bpe(Bpe {
                listed: merges.len(),
                merges: numbered.map(|(merge, at)| ((merge.left, merge.right), (at, merge.into))).collect(),
                prefix: optional(part, "continuing_subword_prefix")?.unwrap_or_default(),
                suffix: optional(part, "end_of_word_suffix")?.unwrap_or_default(),
                has_unknown: unknown.is_some(),
                fuses_unknown: is_set("fuse_unk")?,
                byte_fallback: is_set("byte_fallback")?,
                ignores_merges: is_set("ignore_merges")?,
            });
        } else {
            unknown = Some(field(part, "unk_token")?);
            rules = if kind == "WordLevel" {
                Rules::WordLevel
            } else {
                let prefix = field(part, "continuing_subword_prefix")?;
                let most = field(part, "max_input_chars_per_word")?;
                Rules::WordPiece { prefix, most, prefixes: Prefixes::of(&ids) }
            };
        }
        let pieces = ids.iter().map(|(piece, &id)| (id, piece.clone())).collect();
        let unknown = unknown.and_then(|piece| ids.get(&piece).copied());
        Ok(Model { ids, pieces, unknown, rules })
    }

    /// The kind; `is_byte_level` says whether each character of a piece is a byte.
    pub fn kind(&self, is_byte_level: bool) -> TokenizerKind {
        match &self.rules {
            Rules::Bpe(bpe) if is_byte_level => TokenizerKind::ByteLevelBpe { merges: bpe.listed },
            &Rules::Bpe(Bpe { listed: merges, byte_fallback, .. }) => {
                TokenizerKind::Bpe { merges, byte_fallback }
            }
            Rules::WordPiece { .. } => TokenizerKind::WordPiece,
            Rules::WordLevel => TokenizerKind::WordLevel,
            Rules::Unigram(_) => TokenizerKind::Unigram,
        }
    }

    /// The id of a piece.
    pub fn id(&self, piece: &str) -> Option<u32> {
        self.ids.get(piece).copied()
    }

    /// The piece of an id.
    pub fn piece(&self, id: u32) -> Option<&str> {
        self.pieces.get(&id).map(String::as_str)
    }

    /// All pieces with their ids.
    pub fn pieces(&self) -> impl Iterator<Item = (&str, u32)> {
        self.ids.iter().map(|(piece, &id)| (piece.as_str(), id))
    }

    /// The number of ids.
    pub fn size(&self) -> usize {
        self.pieces.len()
    }

    /// The largest id.
    pub fn largest_id(&self) -> u32 {
        self.pieces.keys().copied().max().unwrap_or(0)
    }

    /// The id of the piece for what is not in the vocabulary.
    pub fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// The text of a piece of a word: what is not in the vocabulary of a Unigram model stays as it is.
    pub fn text<'t>(&'t self, piece: &Piece, word: &'t str) -> &'t str {
        match &self.rules {
            Rules::Unigram(_) if self.unknown == Some(piece.id) => &word[piece.bytes.clone()],
            _ => self.piece(piece.id).unwrap_or_default(),
        }
    }

    /// The bytes that are looked through, at most, for the pieces of a word of this many bytes and characters, where the longest piece
    /// has so many.
    pub fn cost(&self, bytes: usize, characters: usize, longest: usize) -> u64 {
        let (longest, bytes) = (longest.min(bytes) as u64, bytes as u64);
        match &self.rules {
            // Nothing is looked up for a word that is too long.
            Rules::WordPiece { most, .. } if characters > *most => 0,
            // Every end of the rest of the word, from each of its beginnings.
            Rules::WordPiece { .. } => bytes.saturating_mul(bytes).saturating_mul(bytes) / 6,
            // Every beginning of the rest of the word that is a piece.
            Rules::Unigram(_) => bytes.saturating_mul(longest).saturating_mul(longest) / 2,
            _ => 0,
        }
    }

    /// The pieces of a word; `note` is told each step. `None` if a part of it is not in the vocabulary, and no piece stands for that.
    pub fn split(&self, word: &str, note: &mut dyn FnMut(Step)) -> Option<Vec<Piece>> {
        let whole = |id| vec![Piece { id, bytes: 0..word.len() }];
        match &self.rules {
            Rules::Bpe(bpe) => self.merged(bpe, word, note),
            Rules::WordPiece { prefix, most, prefixes } => {
                longest_pieces(prefix, *most, prefixes, word, note).or_else(|| self.unknown.map(whole))
            }
            Rules::WordLevel => self.id(word).or(self.unknown).map(whole),
            Rules::Unigram(unigram) => self.most_probable(unigram, word),
        }
    }

    /// BPE: merges neighbours until no pair of neighbours is in the list, always the pair that is first in the list, and of several such
    /// pairs the leftmost.
    fn merged(&self, bpe: &Bpe, word: &str, note: &mut dyn FnMut(Step)) -> Option<Vec<Piece>> {
        if bpe.ignores_merges
            && let Some(id) = self.id(word)
        {
            note(Step::Whole(id));
            return Some(vec![Piece { id, bytes: 0..word.len() }]);
        }
        let mut symbols = self.symbols(bpe, word)?;
        note(Step::Start(symbols.iter().map(|symbol| symbol.id).collect()));
        let merge = |symbols: &[Symbol], at: usize| {
            let left = symbols.get(at)?;
            bpe.merges.get(&(left.id, symbols.get(left.next)?.id)).copied()
        };
        let pair = |symbols: &[Symbol], at: usize| {
            let (number, into) = merge(symbols, at)?;
            Some(Reverse((number, at, into)))
        };
        let mut queue: BinaryHeap<_> = (0..symbols.len()).filter_map(|at| pair(&symbols, at)).collect();
        while let Some(Reverse((_, at, into))) = queue.pop() {
            // It may have changed since.
            let Some((number, _)) = merge(&symbols, at).filter(|&(_, result)| result == into) else {
                continue;
            };
            if symbols[at].length == 0 {
                continue;
            }
            let (left, next) = (symbols[at].id, symbols[at].next);
            let right = mem::take(&mut symbols[next].length);
            note(Step::Merge { left, right: symbols[next].id, into, number });
            let after = symbols[next].next;
            symbols[at] = Symbol { id: into, length: symbols[at].length + right, next: after, ..symbols[at] };
            if let Some(after) = symbols.get_mut(after) {
                after.previous = at;
            }
            queue.extend([symbols[at].previous, at].into_iter().filter_map(|at| pair(&symbols, at)));
        }
        let mut done = 0;
        let pieces = symbols.iter().filter(|symbol| symbol.length > 0).map(|symbol| {
            done += symbol.length;
            Piece { id: symbol.id, bytes: done - symbol.length..done }
        });
        Some(pieces.collect())
    }

    /// The pieces that BPE begins with: of each character, else of its bytes, else the piece for unknown text.
    fn symbols(&self, bpe: &Bpe, word: &str) -> Option<Vec<Symbol>> {
        let mut symbols: Vec<Symbol> = Vec::with_capacity(word.len());
        let mut push = |id, length| {
            let at = symbols.len();
            symbols.push(Symbol { id, length, previous: at.wrapping_sub(1), next: at + 1 });
        };
        // The length of unknown text for which there is no symbol yet.
        let mut unknown = 0;
        for (at, c) in word.char_indices() {
            let end = at + c.len_utf8();
            let prefix = if at > 0 { bpe.prefix.as_str() } else { "" };
            let suffix = if end == word.len() { bpe.suffix.as_str() } else { "" };
            let mut piece = Cow::Borrowed(&word[at..end]);
            if !prefix.is_empty() || !suffix.is_empty() {
                piece = Cow::Owned(format!("{prefix}{piece}{suffix}"));
            }
            let known = self.id(&piece);
            if known.is_none()
                && bpe.byte_fallback
                && let Some(bytes) = self.bytes(&piece)
            {
                bytes.into_iter().for_each(|id| push(id, 1));
                continue;
            }
            if unknown > 0 && (known.is_some() || !bpe.fuses_unknown) {
                push(self.unknown?, mem::take(&mut unknown));
            }
            match known {
                Some(id) => push(id, c.len_utf8()),
                None if bpe.has_unknown => unknown += self.unknown.map(|_| c.len_utf8())?,
                None => {}
            }
        }
        if unknown > 0 {
            push(self.unknown?, unknown);
        }
        Some(symbols)
    }

    /// The pieces of the bytes of a text, if each has one.
    fn bytes(&self, text: &str) -> Option<Vec<u32>> {
        text.bytes().map(|byte| self.id(&format!("<0x{byte:02X}>"))).collect()
    }

    /// Unigram: of all ways to cut a word into pieces the one whose scores have the largest sum.
    fn most_probable(&self, model: &Unigram, word: &str) -> Option<Vec<Piece>> {
        // The best way to each end of a piece: the sum, the last piece, and where that begins.
        let mut best: Vec<Option<(f64, u32, usize)>> = vec![None; word.len() + 1];
        for (start, c) in word.char_indices() {
            let here = best[start].map_or(0.0, |(sum, ..)| sum);
            let is_better =
                |best: Option<(f64, u32, usize)>, score| best.is_none_or(|(sum, ..)| score + here > sum);
            let mut has_letter = false;
            for (length, id) in model.prefixes.of_text(word.bytes().skip(start)) {
                let (end, score) = (start + length, model.scores[id as usize]);
                if is_better(best[end], score) {
                    best[end] = Some((score + here, id, start));
                }
                has_letter |= length == c.len_utf8();
            }
            let (end, score) = (start + c.len_utf8(), model.least - UNKNOWN);
            if !has_letter && is_better(best[end], score) {
                best[end] = Some((score + here, self.unknown?, start));
            }
        }
        // From the end; neighbours that are unknown are one part.
        let (mut parts, mut end, mut after_unknown) = (Vec::<Range<usize>>::new(), word.len(), false);
        while end > 0 {
            let (_, id, start) = best[end]?;
            let is_unknown = self.unknown == Some(id);
            match parts.last_mut() {
                Some(part) if is_unknown && after_unknown => part.start = start,
                _ => parts.push(start..end),
            }
            (end, after_unknown) = (start, is_unknown);
        }
        let mut pieces = Vec::with_capacity(parts.len());
        for bytes in parts.into_iter().rev() {
            let text = &word[bytes.clone()];
            let fallback = || self.bytes(text).filter(|_| model.byte_fallback);
            let ids = self.id(text).map(|id| vec![id]).or_else(fallback);
            let ids = ids.or_else(|| self.unknown.map(|id| vec![id]))?;
            pieces.extend(ids.into_iter().map(|id| Piece { id, bytes: bytes.clone() }));
        }
        Some(pieces)
    }
}

/// What a letter outside the vocabulary loses against the least probable piece.
const UNKNOWN: f64 = 10.0;

/// A piece on the way to a token, in a list of neighbours.
#[derive(Clone, Copy)]
struct Symbol {
    id: u32,
    /// Its bytes; 0 if it went into its left neighbour.
    length: usize,
    previous: usize,
    next: usize,
}

/// WordPiece: the longest piece that the rest of a word begins with, again and again.
fn longest_pieces(
    prefix: &str,
    most: usize,
    prefixes: &Prefixes,
    word: &str,
    note: &mut dyn FnMut(Step),
) -> Option<Vec<Piece>> {
    if word.chars().count() > most {
        note(Step::TooLong { most });
        return None;
    }
    let (mut pieces, mut start) = (Vec::new(), 0);
    while start < word.len() {
        let prefix = if start > 0 { prefix } else { "" };
        let rest = format!("{prefix}{}", &word[start..]);
        let known = prefixes.of_text(rest.bytes()).filter(|&(length, _)| length > prefix.len()).last();
        let Some((length, piece)) = known else {
            note(Step::NoPiece { rest });
            return None;
        };
        note(Step::Longest { rest, piece });
        let end = start + length - prefix.len();
        pieces.push(Piece { id: piece, bytes: start..end });
        start = end;
    }
    Some(pieces)
}

/// Pieces in order, to find those that a text begins with.
pub(super) struct Prefixes {
    pieces: Vec<(String, u32)>,
    /// Where the pieces that begin with each byte start.
    starts: Vec<usize>,
}

impl Prefixes {
    /// Of these pieces and their ids.
    pub fn of(pieces: &HashMap<String, u32>) -> Prefixes {
        let mut pieces: Vec<(String, u32)> = pieces.iter().map(|(piece, &id)| (piece.clone(), id)).collect();
        pieces.sort_unstable();
        let first = |piece: &str| piece.bytes().next().map_or(0, |byte| u16::from(byte) + 1);
        let start = |byte: u16| pieces.partition_point(|(piece, _)| first(piece) <= byte);
        Prefixes { starts: (0..=256).map(start).collect(), pieces }
    }

    /// The pieces that a text begins with, the shortest first: their lengths and ids.
    pub fn of_text(&self, text: impl Iterator<Item = u8>) -> impl Iterator<Item = (usize, u32)> {
        let mut range = 0..0;
        let found = text.enumerate().map_while(move |(at, byte)| {
            let first = usize::from(byte);
            range = if at == 0 {
                self.starts[first]..self.starts[first + 1]
            } else {
                // A piece that has ended comes before those that go on.
                let within = &self.pieces[range.clone()];
                let before = |is_before: fn(u8, u8) -> bool| {
                    within.partition_point(|(piece, _)| {
                        piece.as_bytes().get(at).is_none_or(|&letter| is_before(letter, byte))
                    })
                };
                range.start + before(|letter, byte| letter < byte)
                    ..range.start + before(|letter, byte| letter <= byte)
            };
            let (piece, id) = self.pieces[range.clone()].first()?;
            Some((piece.len() == at + 1).then_some((at + 1, *id)))
        });
        found.flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_merge_of_the_list_comes_first_and_the_leftmost_of_its_pairs() {
        let file = serde_json::json!({ "type": "BPE", "vocab": { "a": 0, "b": 1, "ab": 2, "abab": 3 }, "merges": [] });
        let merges = [Merge { left: 0, right: 1, into: 2 }, Merge { left: 2, right: 2, into: 3 }];
        let model = Model::read(&file, &merges).unwrap();
        let mut numbers = Vec::new();
        let mut note = |step| {
            if let Step::Merge { number, .. } = step {
                numbers.push(number);
            }
        };
        let pieces = model.split("abababb", &mut note).unwrap();
        assert_eq!(numbers, [1, 1, 1, 2]);
        assert_eq!(pieces.iter().map(|piece| piece.id).collect::<Vec<_>>(), [3, 2, 1]);
    }
}
