//! Text to the tokens of a model and back, by the rules of its `tokenizer.json`, and the steps by which a word became its tokens.

mod aligned;
mod file;
mod model;
mod normalizer;
mod part;
mod processor;
mod words;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use strum::Display;

use crate::error::{Error, ErrorKind, Result};
use crate::foreign::{hidden, to_os, visible};
use crate::memory;
use crate::read::entries;
use crate::text::{ScreenWidth, clip, grouped, near, one_of, quoted};

use aligned::byte_of;
use file::TokenizerFile;
pub use model::{Step, TokenizerKind};
use processor::Encoded;
pub use processor::{AddedToken, AddedTokens};
use words::Word;

/// The most bytes that are looked through for the pieces of words.
const MOST_COST: u64 = 2_000_000_000;
/// What a byte of a text needs in memory while it becomes tokens.
const TOKENS: u64 = 300;
/// The longest word whose steps are shown, in characters.
const LONGEST_WORD: usize = 5000;
/// The mark of a space at the beginning or the end of a piece.
pub const SPACE: char = '␣';
/// What carries a combining character that a piece begins with.
const CARRIER: char = '◌';

/// A token of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its id: a row of the model's embedding matrix.
    pub id: u32,
    /// The piece of the vocabulary, as the file writes it: `Ġcave`, `##ing`, `▁the`.
    pub piece: String,
    /// The piece as people read it: the text of its bytes, with [`SPACE`] for a space at its beginning or end. Bytes that
    /// are not a whole character are written `<0xE2>`.
    pub shown: String,
    /// The bytes of the text that it covers. A character that several tokens share is covered by each of them. Empty for a
    /// token that is not from a text.
    pub range: Range<usize>,
    /// Where it comes from.
    pub source: TokenSource,
}

/// The origin of a token; its name is one word in small letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display)]
#[strum(serialize_all = "lowercase")]
pub enum TokenSource {
    /// The text.
    Text,
    /// A special token that is written out in the text.
    Special,
    /// Text that is not in the vocabulary: one piece stands for all of that.
    Unknown,
    /// The file's rules, before the text.
    Before,
    /// The file's rules, after the text.
    After,
    /// An id that was typed.
    Id,
}

impl Token {
    /// Whether the file's rules added it.
    pub fn is_added(&self) -> bool {
        matches!(self.source, TokenSource::Before | TokenSource::After)
    }
}

/// The tokens of a text, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// The tokens.
    pub tokens: Vec<Token>,
}

impl Tokens {
    /// Their ids.
    pub fn ids(&self) -> Vec<u32> {
        self.tokens.iter().map(|token| token.id).collect()
    }

    /// The pieces as people read them, for labels.
    pub fn labels(&self) -> Vec<String> {
        self.tokens.iter().map(|token| token.shown.clone()).collect()
    }

    /// The number of tokens that the file's rules added.
    pub fn added(&self) -> usize {
        self.tokens.iter().filter(|token| token.is_added()).count()
    }
}

/// A word, and how it becomes tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct WordSteps {
    /// The word as the model sees it: `Ġcave`.
    pub word: String,
    /// The bytes of the text that it covers.
    pub range: Range<usize>,
    /// The steps, in order; none for a token that is special or was added to the vocabulary whole.
    pub steps: Vec<Step>,
    /// The ids of its tokens, in order.
    pub ids: Vec<u32>,
}

/// The tokenizer of a model, as a `tokenizer.json` describes it.
pub struct Tokenizer {
    /// The name of its file.
    name: String,
    file: TokenizerFile,
}

impl Tokenizer {
    /// The tokenizer of a file with this content; `name` is the file's name in errors.
    ///
    /// # Errors
    /// If the content is larger than 100 MB, is no JSON, or describes no tokenizer.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Tokenizer> {
        Ok(Tokenizer { name: name.to_string(), file: file::read(name, bytes)? })
    }

    /// The tokens of a text, with those that the file's rules add.
    ///
    /// # Errors
    /// If the text is not UTF-8, or has a word that is not in the vocabulary where no piece stands for unknown text.
    pub fn encode(&self, text: &str) -> Result<Tokens> {
        let (words, model) = (self.words(text)?, &self.file.model);
        let mut tokens = Vec::new();
        // The pieces of words that have been split.
        let mut known = HashMap::new();
        for word in &words {
            let now = word.text.text();
            if let Some(id) = word.token {
                tokens.push(Encoded { id, text: now, range: word.text.original(0..now.len()) });
                continue;
            }
            let pieces = match known.entry(now) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    new.insert(model.split(now, &mut |_| ()).ok_or_else(|| self.unknown(text, word))?)
                }
            };
            tokens.extend(pieces.iter().map(|piece| Encoded {
                id: piece.id,
                text: model.text(piece, now),
                range: word.text.original(piece.bytes.clone()),
            }));
        }
        self.file.processor.trim(&mut tokens);
        let added = |token: &AddedToken, source| {
            let piece = self.piece(token.id).unwrap_or_else(|| token.piece.clone());
            self.token(token.id, piece, 0..0, source)
        };
        let AddedTokens { before, after } = self.added();
        let before = before.iter().map(|token| added(token, TokenSource::Before));
        let after = after.iter().map(|token| added(token, TokenSource::After));
        let tokens = tokens.into_iter().map(|token| self.token_of(token, text));
        Ok(Tokens { tokens: before.chain(tokens).chain(after).collect() })
    }

    fn token_of(&self, token: Encoded<'_>, text: &str) -> Token {
        let Encoded { id, range: Range { start, end }, .. } = token;
        let piece = self.piece(id).unwrap_or_else(|| token.text.to_string());
        let (start, end) = (text.floor_char_boundary(start), text.ceil_char_boundary(end));
        let range = if start > end { 0..0 } else { start..end };
        let source = if self.is_special(id) && text[range.clone()].trim() == piece.trim() {
            TokenSource::Special
        } else if self.file.model.unknown() == Some(id) {
            TokenSource::Unknown
        } else {
            TokenSource::Text
        };
        self.token(id, piece, range, source)
    }

    fn token(&self, id: u32, piece: String, range: Range<usize>, source: TokenSource) -> Token {
        Token { id, shown: self.label(id, &piece), piece, range, source }
    }

    /// The error for a text with a word that is not in the vocabulary.
    fn unknown(&self, text: &str, word: &Word) -> Error {
        let Range { start, end } = word.text.range();
        let now = word.text.text();
        let written = clip(text.get(start..end).filter(|written| !written.is_empty()).unwrap_or(now));
        let column = text.get(..start).map_or(1, |before| before.chars().count() + 1);
        let error = if self.kind() == TokenizerKind::WordLevel {
            let added = self.file.added.ids.iter().map(|(piece, &id)| (piece.as_str(), id));
            let all: HashMap<&str, u32> = self.file.model.pieces().chain(added).collect();
            let mut pieces: Vec<(&str, u32)> = all.into_iter().collect();
            pieces.sort_unstable_by_key(|(_, id)| *id);
            let near = near(now, pieces.iter().map(|(piece, _)| *piece));
            let near: Vec<String> = near.into_iter().map(|piece| format!("`{}`", clip(piece))).collect();
            let some: Vec<String> = pieces.iter().take(12).map(|(piece, _)| clip(piece)).collect();
            let count = grouped(pieces.len() as u64);
            Error::new(format!(
                "the word `{written}` in column {column} is not among the {count} words of the vocabulary"
            ))
            .help(if near.is_empty() {
                format!("its first words are: {}", some.join(" "))
            } else {
                format!("did you mean {}?", one_of(&near))
            })
        } else {
            Error::new(format!(
                "`{written}` in column {column} is not in the vocabulary, which has no piece for unknown text"
            ))
        };
        let place = self.name.strip_suffix(", tokenizer.json").unwrap_or(&self.name);
        let how_to_list = format!("attn model --tokens {} lists the whole vocabulary", quoted(place));
        error.of_kind(ErrorKind::Unknown).and_help(&how_to_list)
    }

    /// A token for each piece of the vocabulary, by its id.
    pub fn vocabulary(&self) -> Tokens {
        let token = |id: u32| Some(self.token(id, self.piece(id)?, 0..0, TokenSource::Id));
        Tokens { tokens: (0..=self.largest_id()).filter_map(token).collect() }
    }

    /// The tokens of typed ids.
    ///
    /// # Errors
    /// If no piece has one of the ids.
    pub fn tokens_of(&self, ids: &[u32]) -> Result<Tokens> {
        let token = |(at, &id): (usize, &u32)| {
            let piece = self.piece(id).ok_or_else(|| {
                let what = format!("id {} of the list, {id}, has no piece in the vocabulary", at + 1);
                Error::new(what)
                    .of_kind(ErrorKind::Unknown)
                    .help(format!("the largest id is {}", self.largest_id()))
            })?;
            Ok(self.token(id, piece, 0..0, TokenSource::Id))
        };
        let tokens: Result<Vec<Token>> = ids.iter().enumerate().map(token).collect();
        Ok(Tokens { tokens: tokens? })
    }

    /// How each word of a text becomes tokens, step by step; `None` for kinds of tokenizers that have no steps.
    ///
    /// # Errors
    /// If the text is not UTF-8 or cannot be split into words, or a word is too long to be shown.
    pub fn steps(&self, text: &str) -> Result<Option<Vec<WordSteps>>> {
        let words = self.words(text)?;
        if matches!(self.kind(), TokenizerKind::Unigram | TokenizerKind::WordLevel) {
            return Ok(None);
        }
        words.iter().map(|word| self.steps_of(word)).collect::<Result<_>>().map(Some)
    }

    fn steps_of(&self, word: &Word) -> Result<WordSteps> {
        let (text, range) = (word.text.text().to_string(), word.text.range());
        if let Some(id) = word.token {
            return Ok(WordSteps { word: text, range, steps: Vec::new(), ids: vec![id] });
        }
        let length = text.chars().count();
        if length > LONGEST_WORD {
            let (word, [length, most]) =
                (clip(&text), [length, LONGEST_WORD].map(|count| grouped(count as u64)));
            let what =
                format!("the word `{word}` has {length} characters; steps are shown of at most {most}");
            return Err(Error::new(what).of_kind(ErrorKind::TooLarge).help("give a shorter text"));
        }
        let mut steps = Vec::new();
        let pieces = self.file.model.split(&text, &mut |step| steps.push(step)).unwrap_or_default();
        let ids = pieces.into_iter().map(|piece| piece.id).collect();
        Ok(WordSteps { word: text, range, steps, ids })
    }

    /// The words of a text, each of which becomes tokens soon and within the budget of memory.
    fn words(&self, text: &str) -> Result<Vec<Word>> {
        if to_os(text).to_str().is_none() {
            return Err(Error::new(format!("the text `{}` is not UTF-8", clip(text)))
                .help("type it in a terminal that writes UTF-8"));
        }
        let TokenizerFile { added, normalizer, pre_tokenizer, model, longest_piece, .. } = &self.file;
        let mut words = added.normalized(text, normalizer)?;
        let length: usize = words.iter().map(|word| word.text.text().len()).sum();
        memory::room((length as u64).saturating_mul(TOKENS))?;
        words = pre_tokenizer.apply(words);
        let split = words.iter().filter(|word| word.token.is_none()).map(|word| word.text.text());
        let costs = split.map(|word| model.cost(word.len(), word.chars().count(), *longest_piece));
        let cost = costs.fold(0, u64::saturating_add);
        if cost <= MOST_COST {
            return Ok(words);
        }
        Err(Error::new(format!(
            "the words of this text are too long for this tokenizer: it would look through {} letters for their pieces, more than {}",
            grouped(cost),
            grouped(MOST_COST)
        ))
        .of_kind(ErrorKind::TooLarge)
        .help("give a shorter text, or one with shorter words"))
    }

    /// The piece of an id, as the file writes it.
    pub fn piece(&self, id: u32) -> Option<String> {
        let added = self.file.added.tokens.get(&id).map(|token| token.content.as_str());
        added.or_else(|| self.file.model.piece(id)).map(str::to_string)
    }

    /// The piece of an id as people read it: see [`Token::shown`].
    pub fn decode(&self, id: u32) -> Option<String> {
        self.piece(id).map(|piece| self.label(id, &piece))
    }

    /// The text of a piece or word of the model, its spaces not marked.
    pub fn text_of(&self, piece: &str) -> String {
        match self.file.space {
            _ if self.file.is_byte_level => of_byte_level(piece),
            Some(space) => piece.replace(space, " "),
            None => piece.to_string(),
        }
    }

    /// The text of some ids, as people read it; special tokens are written out. Bytes that are not a whole character are written
    /// `<0xE2>`.
    pub fn text_of_ids(&self, ids: &[u32]) -> String {
        let mut text = String::new();
        // Pieces of a vocabulary that stand side by side: a character may be spread over several.
        let mut pieces = String::new();
        let flush = |pieces: &mut String, text: &mut String| {
            let own = self.text_of(&std::mem::take(pieces));
            // A mark of a space at the start stands for no space that was typed.
            text.push_str(if text.is_empty() && self.file.space.is_some() {
                own.strip_prefix(' ').unwrap_or(&own)
            } else {
                &own
            });
        };
        let has_words = matches!(self.kind(), TokenizerKind::WordLevel | TokenizerKind::WordPiece);
        for &id in ids {
            let piece = self.piece(id);
            let is_added = piece.is_none() || self.file.added.tokens.contains_key(&id);
            let piece = piece.unwrap_or_else(|| format!("<id {id}>"));
            if has_words {
                let (piece, is_joined) = match piece.strip_prefix("##") {
                    Some(rest) if self.kind() == TokenizerKind::WordPiece => (rest, true),
                    _ => (&*piece, false),
                };
                if !text.is_empty() && !is_joined {
                    text.push(' ');
                }
                text.push_str(piece);
            } else if is_added {
                flush(&mut pieces, &mut text);
                text.push_str(&piece);
            } else {
                pieces.push_str(&piece);
            }
        }
        flush(&mut pieces, &mut text);
        text
    }

    /// The id of a piece, as the file writes it.
    pub fn id(&self, piece: &str) -> Option<u32> {
        self.file.added.id(piece, &self.file.model)
    }

    /// The number of pieces, with those that were added to the vocabulary.
    pub fn vocabulary_size(&self) -> usize {
        let is_new = |piece: &&String| self.file.model.id(piece).is_none();
        self.file.model.size() + self.file.added.ids.keys().filter(is_new).count()
    }

    /// The largest id. In files that leave out ids it is not the number of pieces less one.
    pub fn largest_id(&self) -> u32 {
        self.file.added.tokens.keys().copied().max().unwrap_or(0).max(self.file.model.largest_id())
    }

    /// The ids of special tokens, in order.
    pub fn special_ids(&self) -> Vec<u32> {
        self.file.added.tokens.iter().filter(|(_, token)| token.special).map(|(&id, _)| id).collect()
    }

    /// The tokens that the file's rules put around every text.
    pub fn added(&self) -> &AddedTokens {
        &self.file.processor.around
    }

    /// The token that the file's rules put before every text, if there is one.
    pub fn beginning(&self) -> Option<&AddedToken> {
        self.added().before.first()
    }

    /// The kind of the tokenizer.
    pub fn kind(&self) -> TokenizerKind {
        self.file.model.kind(self.file.is_byte_level)
    }

    /// What the file asks for that is not done here, in words.
    pub fn left_out(&self) -> &[String] {
        &self.file.left_out
    }

    fn is_special(&self, id: u32) -> bool {
        self.file.added.tokens.get(&id).is_some_and(|token| token.special)
    }

    fn label(&self, id: u32, piece: &str) -> String {
        let is_added = self.file.added.tokens.contains_key(&id);
        if is_added { marked(piece) } else { marked(&self.text_of(piece)) }
    }
}

/// A piece of a byte-level vocabulary as text; bytes that are not a whole character are written `<0xE2>`. A piece with a
/// character that stands for no byte stays as it is.
fn of_byte_level(piece: &str) -> String {
    let Some(bytes) = piece.chars().map(byte_of).collect::<Option<Vec<u8>>>() else {
        return piece.to_string();
    };
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|byte| format!("<0x{byte:02X}>")));
    }
    out
}

/// A token as every table, label and format shows it: marks for the spaces at its beginning and end, a carrier for a combining
/// character at its beginning, and escapes for what cannot be seen, such as `\n` and `\u{A0}`.
pub fn marked(text: &str) -> String {
    let inner = text.trim_matches(' ');
    let before = text.len() - text.trim_start_matches(' ').len();
    let after = text.len() - before - inner.len();
    let mark = |count: usize| std::iter::repeat_n(SPACE, count);
    let carrier = inner.chars().next().filter(|c| is_combining(*c)).map(|_| CARRIER);
    let marked: String = mark(before).chain(carrier).chain(inner.chars()).chain(mark(after)).collect();
    let mut shown = String::new();
    for c in visible(&marked).chars() {
        match c {
            // Spaces of other widths than the usual one look like it, or like nothing.
            c if c.is_whitespace() && c != ' ' => shown.push_str(&format!("\\u{{{:X}}}", u32::from(c))),
            c => shown.push(c),
        }
    }
    shown
}

/// Whether a character is drawn over the one before it.
fn is_combining(c: char) -> bool {
    let text = c.to_string();
    text.width() == 0 && hidden(&text).next().is_none()
}

/// The ids of a list such as `464,3290` or `464 3290`, all below the size of the vocabulary.
///
/// # Errors
/// If an entry is no whole number or not below `vocabulary`, with its position; or if there is none.
pub fn parse_ids(text: &str, vocabulary: usize) -> Result<Vec<u32>> {
    let entries = entries(text);
    if entries.iter().all(|entry| entry.is_empty()) {
        return Err(Error::new("there is no token id").help("write ids with commas between them: 464,3290"));
    }
    let ids = entries.iter().enumerate().map(|(at, entry)| id(entry, at + 1, vocabulary));
    ids.collect()
}

fn id(entry: &str, position: usize, vocabulary: usize) -> Result<u32> {
    if entry.is_empty() {
        return Err(Error::new(format!("id {position} of the list is empty"))
            .help("write one number between two commas: 464,3290"));
    }
    let is_number = entry.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(Error::new(format!("id {position} of the list, `{}`, is not a token id", clip(entry)))
            .help("write whole numbers from 0, with commas between them: 464,3290"));
    }
    match entry.parse::<u32>() {
        Ok(id) if (id as usize) < vocabulary => Ok(id),
        _ => {
            let (entry, count) = (clip(entry), grouped(vocabulary as u64));
            let what =
                format!("id {position} of the list, {entry}, is outside the vocabulary of {count} pieces");
            let help = format!("ids run from 0 to {}", vocabulary.saturating_sub(1));
            Err(Error::new(what).of_kind(ErrorKind::Unknown).help(help))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_whole_character_are_written_as_numbers() {
        assert_eq!(of_byte_level("Ġcave"), " cave");
        assert_eq!(of_byte_level("Ã©"), "é");
        assert_eq!(of_byte_level("ðŁ"), "<0xF0><0x9F>");
        assert_eq!(of_byte_level("日"), "日");
    }

    #[test]
    fn spaces_at_the_edges_are_marked() {
        assert_eq!(marked(" the"), "␣the");
        assert_eq!(marked("  "), "␣␣");
        assert_eq!(marked("a b "), "a b␣");
        assert_eq!(marked("\u{301}a"), "◌\u{301}a");
        assert_eq!(marked("\u{200b}a"), "\\u{200B}a");
        assert_eq!(marked(" \n"), "␣\\n");
        assert_eq!(marked("\u{a0}"), "\\u{A0}");
        assert_eq!(marked("a\u{3000}b"), "a\\u{3000}b");
        assert_eq!(marked(&marked(" \t\u{a0}")), marked(" \t\u{a0}"));
        assert_eq!(marked(""), "");
    }

    #[test]
    fn ids_are_separated_by_commas_or_blanks() {
        for text in ["464,3290", "464, 3290", " 464 3290 ", "464\n3290"] {
            assert_eq!(parse_ids(text, 50_257).unwrap(), [464, 3290], "{text}");
        }
        assert_eq!(parse_ids("0", 1).unwrap(), [0]);
    }

    #[test]
    fn a_wrong_id_is_named_with_its_position() {
        for (text, said) in [
            ("", "there is no token id"),
            (" , ", "there is no token id"),
            ("1,,2", "id 2 of the list is empty"),
            ("1,2,", "id 3 of the list is empty"),
            ("1,cat", "id 2 of the list, `cat`, is not a token id"),
            ("1 -2", "id 2 of the list, `-2`, is not a token id"),
            ("1.5", "id 1 of the list, `1.5`, is not a token id"),
            ("3,9,10", "id 3 of the list, 10, is outside the vocabulary of 10 pieces"),
            ("99999999999999999999", "id 1 of the list, 99999999999999999999, is outside"),
        ] {
            let error = parse_ids(text, 10).unwrap_err().to_string();
            assert!(error.starts_with(said), "{text}: {error}");
        }
    }
}
