//! A `tokenizer.json`, checked and handed to the crate that applies it.

use serde_json::Value;
use tokenizers::ModelWrapper;

use crate::error::{Error, ErrorKind, Place, Result};
use crate::json_tree::tree;
use crate::memory;
use crate::text::{grouped, size_in_brief};

use super::checks::{Checked, check};
use super::components::{is_byte_level, space_mark};
use super::kind::TokenizerKind;
use super::merges::Merge;
use super::normalizing::Normalizing;
use super::words::words;

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
/// The most bytes that are looked through for the pieces of words.
const MOST_COST: u64 = 2_000_000_000;
/// What a byte of a text needs in memory while it becomes tokens.
const TOKENS: u64 = 300;

const HELP: &str =
    "the `tokenizer.json` of the model may be cut off or changed: download it again, or give token ids";

/// What is in a file.
pub(super) struct TokenizerFile {
    /// The rules, as the crate applies them.
    pub rules: tokenizers::Tokenizer,
    pub kind: TokenizerKind,
    /// The merges, in the order of the file; none if it is not BPE.
    pub merges: Vec<Merge>,
    /// The largest id of the model's vocabulary.
    pub largest_id: u32,
    /// Whether each character of a piece is a byte.
    pub is_byte_level: bool,
    /// What pieces have for a space, if anything.
    pub space: Option<char>,
    /// The token for what is not in the vocabulary.
    pub unknown: Option<u32>,
    /// What is done to a text before anything else.
    pub normalizing: Normalizing,
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
    // The crate copies the tree.
    memory::hold((bytes.len() as u64).saturating_mul(RULES)).map_err(|error| error.in_source(name))?.keep();
    let file =
        tree(bytes, &[&PARTS], |error| syntax_error(&error, name)).map_err(|error| error.in_source(name))?;
    described(file).map_err(|error| error.in_source(name).help(HELP))
}

fn syntax_error(error: &serde_json::Error, name: &str) -> Error {
    let said = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = said.strip_suffix(&place).unwrap_or(&said);
    let place = Place::Text(name.to_string(), error.line().max(1), error.column().max(1));
    Error::new(format!("this is not JSON: {said}")).at(place).help(HELP)
}

fn described(mut file: Value) -> Result<TokenizerFile> {
    let Checked { merges, largest_id, longest_piece, normalizing } = check(&file)?;
    let (is_byte_level, space) = (is_byte_level(&file), space_mark(&file));
    let unknown = unknown_piece(&file).map(str::to_string);
    let left_out = leave_out(&mut file);
    let rules: tokenizers::Tokenizer = serde_json::from_value(file)
        .map_err(|error| Error::new(format!("this tokenizer cannot be used: {error}")))?;
    let unknown = unknown.and_then(|piece| rules.token_to_id(&piece));
    let kind = match rules.get_model() {
        ModelWrapper::BPE(_) if is_byte_level => TokenizerKind::ByteLevelBpe { merges: merges.len() },
        ModelWrapper::BPE(model) => {
            TokenizerKind::Bpe { merges: merges.len(), byte_fallback: model.byte_fallback }
        }
        ModelWrapper::WordPiece(_) => TokenizerKind::WordPiece,
        ModelWrapper::Unigram(_) => TokenizerKind::Unigram,
        ModelWrapper::WordLevel(_) => TokenizerKind::WordLevel,
    };
    Ok(TokenizerFile {
        rules,
        kind,
        merges,
        largest_id,
        is_byte_level,
        space,
        unknown,
        normalizing,
        longest_piece,
        left_out,
    })
}

impl TokenizerFile {
    /// Checks, before a text becomes tokens, that this ends soon and within the budget of memory.
    ///
    /// # Errors
    /// If it does not.
    pub(super) fn check(&self, text: &str) -> Result<()> {
        let length = self.normalizing.length(text)?;
        memory::room((length as u64).saturating_mul(TOKENS))?;
        if self.cost(length, 0) <= MOST_COST {
            return Ok(());
        }
        let words = words(&self.rules, text)?;
        let words = words.iter().filter(|word| word.token.is_none());
        let cost = words.fold(0, |cost: u64, word| {
            cost.saturating_add(self.cost(word.text.len(), word.text.chars().count()))
        });
        if cost <= MOST_COST {
            return Ok(());
        }
        Err(Error::new(format!(
            "the words of this text are too long for this tokenizer: it would look through {} letters for their pieces, more than {}",
            grouped(cost),
            grouped(MOST_COST)
        ))
        .of_kind(ErrorKind::TooLarge)
            .help("give a shorter text, or one with shorter words"))
    }

    /// The bytes that are looked through, at most, for the pieces of a word of this many bytes and characters.
    fn cost(&self, bytes: usize, characters: usize) -> u64 {
        let (bytes, longest) = (bytes as u64, self.longest_piece as u64);
        match self.rules.get_model() {
            // Nothing is looked up for a word that is too long.
            ModelWrapper::WordPiece(model) if characters > model.max_input_chars_per_word => 0,
            // Every end of the rest of the word, from each of its beginnings.
            ModelWrapper::WordPiece(_) => bytes.saturating_mul(bytes).saturating_mul(bytes) / 6,
            // Every beginning of the rest of the word that is a piece.
            ModelWrapper::Unigram(_) => {
                let longest = longest.min(bytes);
                bytes.saturating_mul(longest).saturating_mul(longest) / 2
            }
            _ => 0,
        }
    }
}

/// The piece for what is not in the vocabulary.
fn unknown_piece(file: &Value) -> Option<&str> {
    let model = file.get("model")?;
    match model.get("unk_id").and_then(Value::as_u64) {
        Some(id) => model.get("vocab")?.get(usize::try_from(id).ok()?)?.get(0)?.as_str(),
        None => model.get("unk_token")?.as_str(),
    }
}

/// Takes out what concerns batches of texts, training, and the way back to text; returns what would change the tokens.
fn leave_out(file: &mut Value) -> Vec<String> {
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
    for key in ["truncation", "padding", "decoder"] {
        if let Some(part) = file.get_mut(key) {
            *part = Value::Null;
        }
    }
    if let Some(dropout) = file.pointer_mut("/model/dropout") {
        *dropout = Value::Null;
    }
    said
}
