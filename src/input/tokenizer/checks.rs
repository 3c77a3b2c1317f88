//! What is wrong in a `tokenizer.json`, found before the crate reads it: the crate's own errors name no place, and some files
//! make it panic.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::memory;
use crate::text::{clip, grouped};

use super::charsmap;
use super::components::{components, preparing};
use super::merges::{Merge, merges};
use super::normalizing::Normalizing;

/// Ids above this are no ids: the largest vocabularies have a quarter of a million pieces.
const LARGEST_ID: u64 = 10_000_000;

/// The bytes that the crate takes for a letter of a tree of letters.
const A_LETTER: u64 = 300;

/// The most steps before the model, and after it: each goes through the whole text.
const MOST_PARTS: usize = 32;
/// The most tokens around a text.
const MOST_ADDED: usize = 1000;
/// The longest text in bytes that is put before or behind each word, or in its place.
const LONGEST_MARK: usize = 256;

/// What the checks have found out.
pub(super) struct Checked {
    /// The merges of the model; none if it is not BPE.
    pub merges: Vec<Merge>,
    /// The largest id of the model's vocabulary.
    pub largest_id: u32,
    /// The length of the longest piece in bytes.
    pub longest_piece: usize,
    /// The normalizer, step by step.
    pub normalizing: Normalizing,
}

/// Checks a parsed file.
///
/// # Errors
/// If a part of the file is missing, of the wrong type, or refers to what is not there.
pub(super) fn check(file: &Value) -> Result<Checked> {
    if !file.is_object() {
        return Err(Error::new("the tokenizer is not a JSON object"));
    }
    let model = file.get("model").and_then(Value::as_object);
    let model = model.ok_or_else(|| Error::new("the tokenizer has no `model`"))?;
    let kind = model.get("type").map(|kind| kind.as_str().unwrap_or_default());
    if let Some(kind) = kind.filter(|kind| !["BPE", "WordPiece", "WordLevel", "Unigram"].contains(kind)) {
        return Err(Error::new(format!("the type of tokenizer `{}` is not known", clip(kind)))
            .help("known are BPE, WordPiece, WordLevel and Unigram"));
    }
    for key in ["unk_token", "continuing_subword_prefix", "end_of_word_suffix"] {
        is_short(key, model.get(key))?;
    }
    let pieces: Box<dyn Iterator<Item = &str>> = match model.get("vocab") {
        Some(Value::Object(vocabulary)) => Box::new(vocabulary.keys().map(String::as_str)),
        Some(Value::Array(scored)) => Box::new(scored.iter().filter_map(|entry| entry.get(0)?.as_str())),
        _ => Box::new(std::iter::empty()),
    };
    let longest_piece = pieces.map(str::len).max().unwrap_or(0);
    let (ids, merges) = match model.get("vocab") {
        Some(Value::Object(vocabulary)) => {
            let is_bpe = kind.is_none_or(|kind| kind == "BPE");
            (ids(vocabulary)?, if is_bpe { merges(model, vocabulary)? } else { Vec::new() })
        }
        Some(Value::Array(scored)) => (scored_pieces(scored)?, Vec::new()),
        _ => return Err(Error::new("the tokenizer's `model` has no `vocab`")),
    };
    let (preparing, processing) =
        (preparing(file), file.get("post_processor").map(components).unwrap_or_default());
    if preparing.len().max(processing.len()) > MOST_PARTS {
        return Err(Error::new(format!("the tokenizer has more than {MOST_PARTS} steps"))
            .of_kind(ErrorKind::TooLarge));
    }
    let mut longest = 0;
    for part in preparing {
        prepared(part)?;
        if let Some(charsmap) = part.get("precompiled_charsmap") {
            longest = longest.max(charsmap::check(charsmap.as_str().unwrap_or_default())?);
        }
    }
    let normalizing = Normalizing::of(file, longest)?;
    added(file, &normalizing)?;
    let mut added = 0;
    for part in processing {
        added += template(part)?;
    }
    if added > MOST_ADDED {
        return Err(Error::new(format!(
            "the tokenizer puts {} tokens around each text; at most {} are put there",
            grouped(added as u64),
            grouped(MOST_ADDED as u64)
        ))
        .of_kind(ErrorKind::TooLarge));
    }
    let largest_id = u32::try_from(ids.saturating_sub(1)).unwrap_or(u32::MAX);
    Ok(Checked { merges, largest_id, longest_piece, normalizing })
}

/// Checks that a text that may be put before every word or in its place is short.
fn is_short(name: &str, text: Option<&Value>) -> Result<()> {
    match text.and_then(Value::as_str).map(str::len) {
        Some(length) if length > LONGEST_MARK => Err(Error::new(format!(
            "`{name}` of the tokenizer has {} bytes, and at most {LONGEST_MARK} are used",
            grouped(length as u64)
        ))
        .of_kind(ErrorKind::TooLarge)),
        _ => Ok(()),
    }
}

/// Checks that every piece has an id of its own; returns the number of ids, with those that are left out between others.
fn ids(vocabulary: &Map<String, Value>) -> Result<usize> {
    if vocabulary.is_empty() {
        return Err(Error::new("the vocabulary is empty"));
    }
    let mut pieces: Vec<(u64, &str)> = memory::room_for(vocabulary.len())?;
    for (piece, id) in vocabulary {
        let Some(id) = id.as_u64().filter(|&id| id <= LARGEST_ID) else {
            return Err(Error::new(format!(
                "piece `{}` has no usable id: {}",
                clip(piece),
                clip(&id.to_string())
            ))
            .help(format!("an id is a whole number from 0 to {}", grouped(LARGEST_ID))));
        };
        pieces.push((id, piece));
    }
    pieces.sort_by_key(|&(id, _)| id);
    if let Some([(id, one), (_, other)]) = pieces.array_windows().find(|[one, other]| one.0 == other.0) {
        return Err(Error::new(format!(
            "pieces `{}` and `{}` have the same id, {id}",
            clip(one),
            clip(other)
        )));
    }
    Ok(pieces.last().map_or(0, |&(last, _)| last as usize + 1))
}

/// Unigram: checks that each entry is a piece and its score; its id is its position. Returns their number. Charges the crate's tree of
/// letters, in which pieces share how they begin.
fn scored_pieces(pieces: &[Value]) -> Result<usize> {
    let mut sorted: Vec<&[u8]> = memory::room_for(pieces.len())?;
    for (id, entry) in pieces.iter().enumerate() {
        let piece = entry.get(0).and_then(Value::as_str).filter(|piece| !piece.is_empty());
        let is_scored =
            entry.get(1).is_some_and(Value::is_number) && entry.as_array().is_some_and(|e| e.len() == 2);
        if piece.is_none() || !is_scored {
            return Err(Error::new(format!("entry {id} of the vocabulary is not a piece and its score")));
        }
        sorted.extend(piece.map(str::as_bytes));
    }
    sorted.sort_unstable();
    let shared = |[one, other]: &[&[u8]; 2]| one.iter().zip(*other).take_while(|(a, b)| a == b).count();
    let letters = sorted.iter().map(|piece| piece.len()).sum::<usize>()
        - sorted.array_windows().map(shared).sum::<usize>();
    memory::hold((letters as u64).saturating_mul(A_LETTER))?.keep();
    if pieces.is_empty() {
        return Err(Error::new("the vocabulary is empty"));
    }
    Ok(pieces.len())
}

/// The tokens that are added to the vocabulary: the crate normalizes them too.
fn added(file: &Value, normalizing: &Normalizing) -> Result<()> {
    let Some(tokens) = file.get("added_tokens").filter(|tokens| !tokens.is_null()) else { return Ok(()) };
    let tokens = tokens.as_array().ok_or_else(|| Error::new("`added_tokens` is not a list"))?;
    for (at, token) in tokens.iter().enumerate() {
        let is_named = token.get("content").is_some_and(Value::is_string);
        let is_numbered = token.get("id").and_then(Value::as_u64).is_some_and(|id| id <= LARGEST_ID);
        if !is_named || !is_numbered {
            return Err(Error::new(format!(
                "entry {} of `added_tokens` has no `content` or no `id`",
                at + 1
            )));
        }
        normalizing.length(token.get("content").and_then(Value::as_str).unwrap_or_default())?;
    }
    Ok(())
}

/// Words of a fixed length have at least one character, and so has what is put before a text.
fn prepared(part: &Value) -> Result<()> {
    if part.get("length").and_then(Value::as_u64) == Some(0) {
        return Err(Error::new("the tokenizer cuts words of length 0"));
    }
    if part.get("prepend").is_some_and(|prepend| prepend == "") {
        return Err(Error::new("the normalizer puts an empty text before each text"));
    }
    is_short("prepend", part.get("prepend"))
}

/// A template of the tokens around a text names the text, once, and special tokens that it lists. Returns the number of tokens.
fn template(part: &Value) -> Result<usize> {
    let Some(pieces) = part.get("single").and_then(Value::as_array) else { return Ok(0) };
    let special = part.get("special_tokens");
    let mut added = 0;
    match pieces.iter().filter(|piece| piece.get("Sequence").is_some()).count() {
        0 => return Err(Error::new("the template for one text has no place for the text")),
        1 => {}
        places => {
            return Err(Error::new(format!("the template for one text has {places} places for the text")));
        }
    }
    for piece in pieces {
        if let Some(sequence) = piece.pointer("/Sequence/id").filter(|id| *id != "A") {
            let shown = clip(&sequence.to_string());
            return Err(Error::new(format!("the template for one text asks for another one: {shown}")));
        }
        let Some(name) = piece.pointer("/SpecialToken/id").and_then(Value::as_str) else { continue };
        let token = special.and_then(|special| special.get(name));
        let count = |key: &str| token.and_then(|token| token.get(key)?.as_array()).map(Vec::len);
        if count("ids").is_none() || count("ids") != count("tokens") {
            return Err(Error::new(format!(
                "the template adds `{}`, but its `special_tokens` do not say which ids that is",
                clip(name)
            )));
        }
        added += count("tokens").unwrap_or(0);
    }
    let tokens = special.and_then(Value::as_object).into_iter().flat_map(|special| special.values());
    for token in tokens.filter_map(|token| token.get("tokens")?.as_array()).flatten() {
        is_short("special_tokens", Some(token))?;
    }
    Ok(added)
}
