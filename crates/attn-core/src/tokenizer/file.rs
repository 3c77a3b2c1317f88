//! A `tokenizer.json`, checked and read. What is wrong in it is found first, so that an error names its place.

use serde::de::Error as _;
use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::json_tree::{fault, tree};
use crate::memory;
use crate::text::{clip, grouped, size_in_brief};

use super::aligned::Aligned;
use super::model::{Merge, Model};
use super::normalizer::{Charsmap, Normalizer};
use super::part::field;
use super::processor::Processor;
use super::words::{Added, AddedVocabulary, PreTokenizer};

/// The largest file that is read.
const MOST_BYTES: usize = 100_000_000;
/// What the rules need in memory beside the tree of the file, in bytes for each of its own.
const RULES: u64 = 24;
/// The parts of a file; others are passed over.
const PARTS: [&str; 9] = [
    "version",
    "truncation",
    "padding",
    "added_tokens",
    "normalizer",
    "pre_tokenizer",
    "post_processor",
    "decoder",
    "model",
];
/// Ids above this are no ids: the largest vocabularies have a quarter of a million pieces.
const LARGEST_ID: u64 = 10_000_000;

/// The bytes that a letter of a piece with a score is counted as.
const A_LETTER: u64 = 300;

/// The most steps before the model, and after it: each goes through the whole text.
const MOST_PARTS: usize = 32;
/// The most tokens around a text.
const MOST_ADDED: usize = 1000;
/// The longest text in bytes that is put before or behind each word, or in its place.
const LONGEST_MARK: usize = 256;

const HELP: &str =
    "the `tokenizer.json` of the model may be cut off or changed: download it again, or give token ids";

/// What is in a file.
pub(super) struct TokenizerFile {
    /// What is done to a text before anything else.
    pub normalizer: Normalizer,
    /// What splits a text into words.
    pub pre_tokenizer: PreTokenizer,
    pub added: AddedVocabulary,
    pub model: Model,
    /// What comes after the model.
    pub processor: Processor,
    /// Whether each character of a piece is a byte.
    pub is_byte_level: bool,
    /// What pieces have for a space, if anything.
    pub space: Option<char>,
    /// The length of the longest piece in bytes.
    pub longest_piece: usize,
    /// What the file asks for that is not done, in words.
    pub left_out: Vec<String>,
}

/// Reads a file of this content; `name` is its name in errors.
///
/// # Errors
/// If it is too large, is no JSON, or describes no tokenizer.
pub(super) fn read(name: &str, bytes: &[u8]) -> Result<TokenizerFile> {
    if bytes.len() > MOST_BYTES {
        let (size, most) = (size_in_brief(bytes.len() as u64), size_in_brief(MOST_BYTES as u64));
        return Err(Error::new(format!("the file has {size}, but a tokenizer at most {most}"))
            .of_kind(ErrorKind::TooLarge)
            .in_source(name));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // The vocabulary is copied, twice.
    memory::hold((bytes.len() as u64).saturating_mul(RULES)).map_err(|error| error.in_source(name))?.keep();
    let file =
        tree(bytes, &[&PARTS], |error| syntax_error(&error, name)).map_err(|error| error.in_source(name))?;
    described(file).map_err(|error| error.in_source(name).help(HELP))
}

fn syntax_error(error: &serde_json::Error, name: &str) -> Error {
    let (said, place) = fault(error, name);
    Error::new(format!("this is not JSON: {said}")).at(place).help(HELP)
}

fn described(file: Value) -> Result<TokenizerFile> {
    let (merges, longest_piece, normalizer) = check(&file)?;
    let unusable = |error| Error::new(format!("this tokenizer cannot be used: {error}"));
    let (added, pre_tokenizer, processor, model) = rules(&file, &merges).map_err(unusable)?;
    Ok(TokenizerFile {
        added: AddedVocabulary::of(added, &model, &normalizer)?,
        is_byte_level: is_byte_level(&file),
        space: space_mark(&file),
        left_out: left_out(&file),
        normalizer,
        pre_tokenizer,
        model,
        processor,
        longest_piece,
    })
}

type Rules = (Vec<Added>, PreTokenizer, Processor, Model);

/// The parts of a file that have no checks of their own.
fn rules(file: &Value, merges: &[Merge]) -> serde_json::Result<Rules> {
    let part = |name: &str| file.get(name).unwrap_or(&Value::Null);
    if file.get("version").is_some() {
        let version: String = field(file, "version")?;
        if version != "1.0" {
            return Err(serde_json::Error::custom(format!("Unknown tokenizer version '{version}'")));
        }
    }
    let added = if file.get("added_tokens").is_some() { field(file, "added_tokens")? } else { Vec::new() };
    let pre_tokenizer = PreTokenizer::read(part("pre_tokenizer"))?;
    Ok((added, pre_tokenizer, Processor::read(part("post_processor"))?, Model::read(part("model"), merges)?))
}

/// What would change the tokens, and is for batches of texts or for training.
fn left_out(file: &Value) -> Vec<String> {
    let mut said = Vec::new();
    let is_set = |part: Option<&Value>| part.is_some_and(|part| !part.is_null());
    if is_set(file.get("truncation")) {
        let length = file.pointer("/truncation/max_length").map_or("some".to_string(), Value::to_string);
        said.push(format!("the file cuts texts after {length} tokens; here they stay whole"));
    }
    if is_set(file.get("padding")) {
        said.push("the file fills up short texts; here nothing is filled up".to_string());
    }
    if file.pointer("/model/dropout").and_then(Value::as_f64).is_some_and(|dropout| dropout > 0.0) {
        said.push("the file leaves out merges at random, for training; here all are applied".to_string());
    }
    said
}

/// The keys under which a sequence holds its parts.
const SEQUENCES: [&str; 3] = ["normalizers", "pretokenizers", "processors"];

/// A part and, if it is a sequence, all that it consists of.
fn components(part: &Value) -> Vec<&Value> {
    let inner = SEQUENCES.iter().filter_map(|key| part.get(key)?.as_array()).flatten();
    std::iter::once(part).chain(inner.flat_map(components)).collect()
}

/// All parts that prepare a text: those of the normalizer and of the splitting into words.
fn preparing(file: &Value) -> Vec<&Value> {
    ["normalizer", "pre_tokenizer"].iter().filter_map(|key| file.get(key)).flat_map(components).collect()
}

/// Whether a part is of this type.
fn is_a(part: &Value, name: &str) -> bool {
    part.get("type").and_then(Value::as_str) == Some(name)
}

/// Whether the words are bytes, each written as a character.
fn is_byte_level(file: &Value) -> bool {
    preparing(file).into_iter().any(|part| is_a(part, "ByteLevel"))
}

/// What the file writes for a space, if it does: `▁` in most files.
fn space_mark(file: &Value) -> Option<char> {
    preparing(file).into_iter().find_map(|part| {
        let mark = if is_a(part, "Metaspace") {
            part.get("replacement")
        } else if is_a(part, "Replace") && part.pointer("/pattern/String").is_some_and(|from| from == " ") {
            part.get("content")
        } else {
            None
        };
        let mut characters = mark?.as_str()?.chars();
        characters.next().filter(|_| characters.next().is_none())
    })
}

/// Checks a parsed file. Returns the merges of the model, none if it is not BPE; the length of the longest piece in bytes; and the
/// normalizer.
///
/// # Errors
/// If a part of the file is missing, of the wrong type, or refers to what is not there.
fn check(file: &Value) -> Result<(Vec<Merge>, usize, Normalizer)> {
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
    let (longest_piece, merges) = match model.get("vocab") {
        Some(Value::Object(vocabulary)) => {
            has_ids(vocabulary)?;
            let is_bpe = kind.is_none_or(|kind| kind == "BPE");
            let merges = if is_bpe { merges(model, vocabulary)? } else { Vec::new() };
            (vocabulary.keys().map(String::len).max(), merges)
        }
        Some(Value::Array(scored)) => (Some(has_scores(scored)?), Vec::new()),
        _ => return Err(Error::new("the tokenizer's `model` has no `vocab`")),
    };
    let (preparing, processing) =
        (preparing(file), file.get("post_processor").map(components).unwrap_or_default());
    if preparing.len().max(processing.len()) > MOST_PARTS {
        return Err(Error::new(format!("the tokenizer has more than {MOST_PARTS} steps"))
            .of_kind(ErrorKind::TooLarge));
    }
    for part in preparing {
        prepared(part)?;
    }
    let normalizer = Normalizer::of(file)?;
    added(file, &normalizer)?;
    let mut added = 0;
    for part in processing {
        added += template(part)?;
    }
    if added > MOST_ADDED {
        let [added, most] = [added, MOST_ADDED].map(|count| grouped(count as u64));
        let what =
            format!("the tokenizer puts {added} tokens around each text; at most {most} are put there");
        return Err(Error::new(what).of_kind(ErrorKind::TooLarge));
    }
    Ok((merges, longest_piece.unwrap_or(0), normalizer))
}

/// Checks that a text that may be put before every word or in its place is short.
fn is_short(name: &str, text: Option<&Value>) -> Result<()> {
    match text.and_then(Value::as_str).map(str::len) {
        Some(length) if length > LONGEST_MARK => {
            let length = grouped(length as u64);
            let what =
                format!("`{name}` of the tokenizer has {length} bytes, and at most {LONGEST_MARK} are used");
            Err(Error::new(what).of_kind(ErrorKind::TooLarge))
        }
        _ => Ok(()),
    }
}

/// Checks that every piece has an id of its own.
fn has_ids(vocabulary: &Map<String, Value>) -> Result<()> {
    if vocabulary.is_empty() {
        return Err(Error::new("the vocabulary is empty"));
    }
    let mut pieces: Vec<(u64, &str)> = memory::room_for(vocabulary.len())?;
    for (piece, id) in vocabulary {
        let Some(id) = id.as_u64().filter(|&id| id <= LARGEST_ID) else {
            let (piece, id) = (clip(piece), clip(&id.to_string()));
            return Err(Error::new(format!("piece `{piece}` has no usable id: {id}"))
                .help(format!("an id is a whole number from 0 to {}", grouped(LARGEST_ID))));
        };
        pieces.push((id, piece));
    }
    pieces.sort_by_key(|&(id, _)| id);
    if let Some([(id, one), (_, other)]) = pieces.array_windows().find(|[one, other]| one.0 == other.0) {
        let [one, other] = [one, other].map(|piece| clip(piece));
        return Err(Error::new(format!("pieces `{one}` and `{other}` have the same id, {id}")));
    }
    Ok(())
}

/// Unigram: checks that each entry is a piece and its score; its id is its position. Returns the length of the longest piece. Charges the
/// letters of the pieces, without those with which the piece before begins too.
fn has_scores(pieces: &[Value]) -> Result<usize> {
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
    let longest = sorted.iter().map(|piece| piece.len()).max();
    longest.ok_or_else(|| Error::new("the vocabulary is empty"))
}

/// The tokens that are added to the vocabulary: they are normalized too.
fn added(file: &Value, normalizer: &Normalizer) -> Result<()> {
    let Some(tokens) = file.get("added_tokens").filter(|tokens| !tokens.is_null()) else { return Ok(()) };
    let tokens = tokens.as_array().ok_or_else(|| Error::new("`added_tokens` is not a list"))?;
    for (at, token) in tokens.iter().enumerate() {
        let is_named = token.get("content").is_some_and(Value::is_string);
        let is_numbered = token.get("id").and_then(Value::as_u64).is_some_and(|id| id <= LARGEST_ID);
        if !is_named || !is_numbered {
            let number = at + 1;
            return Err(Error::new(format!("entry {number} of `added_tokens` has no `content` or no `id`")));
        }
        let content = token["content"].as_str().unwrap_or_default();
        normalizer.apply(&mut Aligned::of(content), content.len(), 0)?;
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
    is_short("prepend", part.get("prepend"))?;
    part.get("precompiled_charsmap")
        .map_or(Ok(()), |map| Charsmap::read(map.as_str().unwrap_or_default()).map(drop))
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
            let what = "but its `special_tokens` do not say which ids that is";
            return Err(Error::new(format!("the template adds `{}`, {what}", clip(name))));
        }
        added += count("tokens").unwrap_or(0);
    }
    let tokens = special.and_then(Value::as_object).into_iter().flat_map(|special| special.values());
    for token in tokens.filter_map(|token| token.get("tokens")?.as_array()).flatten() {
        is_short("special_tokens", Some(token))?;
    }
    Ok(added)
}

/// The merges of a model in the order of the file: written as `"a b"`, or as `["a", "b"]`.
///
/// # Errors
/// If an entry is not a pair, or a piece is not in the vocabulary.
fn merges(model: &Map<String, Value>, vocabulary: &Map<String, Value>) -> Result<Vec<Merge>> {
    let list = match model.get("merges") {
        Some(Value::Array(list)) => list,
        None if !model.contains_key("type") => return Ok(Vec::new()),
        _ => return Err(Error::new("the tokenizer's `model` has no list of `merges`")),
    };
    let prefix = model.get("continuing_subword_prefix").and_then(Value::as_str).unwrap_or_default();
    // The first line of GPT-2's file of merges.
    let is_merge = |entry: &&Value| !entry.as_str().is_some_and(|text| text.starts_with("#version"));
    let entries = list.iter().filter(is_merge).enumerate();
    entries.map(|(at, entry)| merge(entry, at + 1, prefix, vocabulary)).collect()
}

fn merge(entry: &Value, number: usize, prefix: &str, vocabulary: &Map<String, Value>) -> Result<Merge> {
    let (left, right) = pair(entry).ok_or_else(|| {
        let shown = clip(&entry.to_string());
        Error::new(format!("merge {} is not a pair of pieces: {shown}", grouped(number as u64)))
    })?;
    let id = |piece: &str| {
        let id = vocabulary.get(piece).and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok());
        id.ok_or_else(|| {
            let (number, piece) = (grouped(number as u64), clip(piece));
            Error::new(format!("merge {number} has the piece `{piece}`, which is not in the vocabulary"))
        })
    };
    let rest = right.get(prefix.len()..).ok_or_else(|| {
        let (number, prefix) = (grouped(number as u64), clip(prefix));
        Error::new(format!("merge {number} has no `{prefix}` before its right piece"))
    })?;
    Ok(Merge { left: id(left)?, right: id(right)?, into: id(&format!("{left}{rest}"))? })
}

fn pair(entry: &Value) -> Option<(&str, &str)> {
    match entry {
        Value::String(text) => text.split_once(' ').filter(|(_, right)| !right.contains(' ')),
        Value::Array(pair) => match &pair[..] {
            [Value::String(left), Value::String(right)] => Some((left, right)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(merges: Value) -> Result<Vec<Merge>> {
        let model = serde_json::json!({ "type": "BPE", "vocab": { "a": 0, "b": 1, "ab": 2, "abab": 3 }, "merges": merges });
        let model = model.as_object().unwrap();
        super::merges(model, model["vocab"].as_object().unwrap())
    }

    #[test]
    fn merges_are_strings_or_pairs() {
        let as_strings = model(serde_json::json!(["#version: 0.2", "a b", "ab ab"])).unwrap();
        let as_pairs = model(serde_json::json!([["a", "b"], ["ab", "ab"]])).unwrap();
        assert_eq!(as_strings, as_pairs);
        assert_eq!(as_pairs[1], Merge { left: 2, right: 2, into: 3 });
        for (wrong, said) in [
            (serde_json::json!(["a b c"]), "merge 1 is not a pair"),
            (serde_json::json!([["a", "b"], ["a"]]), "merge 2 is not a pair"),
            (serde_json::json!(["a x"]), "merge 1 has the piece `x`"),
            (serde_json::json!(["b a"]), "merge 1 has the piece `ba`"),
            (serde_json::json!("a b"), "no list of `merges`"),
        ] {
            let error = model(wrong).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
