//! A tokenizer.

use tokenizers::{Encoding, Model};

use crate::error::{Error, ErrorKind, Result};
use crate::foreign::to_os;
use crate::text::{clip, quoted};

use super::added::{AddedToken, AddedTokens};
use super::bytes::{marked, of_byte_level};
use super::file::{self, TokenizerFile};
use super::kind::TokenizerKind;
use super::step::WordSteps;
use super::steps;
use super::token::{Token, TokenSource, Tokens};
use super::unknown::unknown;

/// The tokenizer of a model, as a `tokenizer.json` describes it.
pub struct Tokenizer {
    /// The name of its file.
    name: String,
    file: TokenizerFile,
    added: AddedTokens,
}

impl Tokenizer {
    /// The tokenizer of a file with this content; `name` is the file's name in errors.
    ///
    /// # Errors
    /// If the content is larger than 100 MB, is no JSON, or describes no tokenizer.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Tokenizer> {
        let file = file::read(name, bytes)?;
        let added = around_text(&file).map_err(|error| error.in_source(name))?;
        Ok(Tokenizer { name: name.to_string(), file, added })
    }

    /// The tokens of a text, with those that the file's rules add.
    ///
    /// # Errors
    /// If the text is not UTF-8, or has a word that is not in the vocabulary where no piece stands for unknown text.
    pub fn encode(&self, text: &str) -> Result<Tokens> {
        self.check(text)?;
        let rules = &self.file.rules;
        let encoding = rules
            .encode(text, true)
            .map_err(|said| unknown(rules, self.file.kind, text, &said).and_help(&self.how_to_list()))?;
        let before = self.added.before.len();
        let tokens = (0..encoding.len()).map(|at| self.token_of(&encoding, at, text, before));
        Ok(Tokens { tokens: tokens.collect() })
    }

    /// The command that lists the vocabulary.
    fn how_to_list(&self) -> String {
        let place = self.name.strip_suffix(", tokenizer.json").unwrap_or(&self.name);
        format!("attn tokens {} lists the whole vocabulary", quoted(place))
    }

    fn token_of(&self, encoding: &Encoding, at: usize, text: &str, before: usize) -> Token {
        let id = encoding.get_ids()[at];
        let piece = self.piece(id).unwrap_or_else(|| encoding.get_tokens()[at].clone());
        let shown = self.shown(id, &piece);
        let is_added = encoding.get_special_tokens_mask()[at] == 1;
        let (start, end) = encoding.get_offsets()[at];
        let (start, end) = (text.floor_char_boundary(start), text.ceil_char_boundary(end));
        let range = if is_added || start > end { 0..0 } else { start..end };
        let is_written = || self.is_special(id) && text[range.clone()].trim() == piece.trim();
        let source = if is_added {
            if at < before { TokenSource::Before } else { TokenSource::After }
        } else if is_written() {
            TokenSource::Special
        } else if self.file.unknown == Some(id) {
            TokenSource::Unknown
        } else {
            TokenSource::Text
        };
        Token { id, piece, shown, range, source }
    }

    /// A token for each piece of the vocabulary, by its id.
    pub fn vocabulary(&self) -> Tokens {
        let token = |id: u32| {
            let piece = self.piece(id)?;
            Some(Token { id, shown: self.shown(id, &piece), piece, range: 0..0, source: TokenSource::Id })
        };
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
            Ok(Token { id, shown: self.shown(id, &piece), piece, range: 0..0, source: TokenSource::Id })
        };
        let tokens: Result<Vec<Token>> = ids.iter().enumerate().map(token).collect();
        Ok(Tokens { tokens: tokens? })
    }

    /// How each word of a text becomes tokens, step by step; `None` for kinds of tokenizers that have no steps.
    ///
    /// # Errors
    /// If the text is not UTF-8 or cannot be split into words, or a word is too long to be shown.
    pub fn steps(&self, text: &str) -> Result<Option<Vec<WordSteps>>> {
        self.check(text)?;
        steps::steps(&self.file, text)
    }

    /// The piece of an id, as the file writes it.
    pub fn piece(&self, id: u32) -> Option<String> {
        let added = self.file.rules.get_added_vocabulary().get_added_tokens_decoder().get(&id);
        added.map(|token| token.content.clone()).or_else(|| self.file.rules.get_model().id_to_token(id))
    }

    /// The piece of an id as people read it: see [`Token::shown`].
    pub fn decode(&self, id: u32) -> Option<String> {
        self.piece(id).map(|piece| self.shown(id, &piece))
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
        let added = self.file.rules.get_added_vocabulary().get_added_tokens_decoder();
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
        let has_words = matches!(self.file.kind, TokenizerKind::WordLevel | TokenizerKind::WordPiece);
        for &id in ids {
            let piece = self.piece(id);
            let is_added = piece.is_none() || added.contains_key(&id);
            let piece = piece.unwrap_or_else(|| format!("<id {id}>"));
            if has_words {
                let (piece, is_joined) = match piece.strip_prefix("##") {
                    Some(rest) if self.file.kind == TokenizerKind::WordPiece => (rest, true),
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
        self.file.rules.token_to_id(piece)
    }

    /// The number of pieces, with those that were added to the vocabulary.
    pub fn vocabulary_size(&self) -> usize {
        self.file.rules.get_vocab_size(true)
    }

    /// The largest id. In files that leave out ids it is not the number of pieces less one.
    pub fn largest_id(&self) -> u32 {
        let added = self.file.rules.get_added_vocabulary().get_added_tokens_decoder();
        added.keys().copied().max().unwrap_or(0).max(self.file.largest_id)
    }

    /// The ids of special tokens, in order.
    pub fn special_ids(&self) -> Vec<u32> {
        let added = self.file.rules.get_added_vocabulary().get_added_tokens_decoder();
        let mut ids: Vec<u32> = added.iter().filter(|(_, token)| token.special).map(|(&id, _)| id).collect();
        ids.sort_unstable();
        ids
    }

    /// The tokens that the file's rules put around every text.
    pub fn added(&self) -> &AddedTokens {
        &self.added
    }

    /// The token that the file's rules put before every text, if there is one.
    pub fn beginning(&self) -> Option<&AddedToken> {
        self.added.before.first()
    }

    /// The kind of the tokenizer.
    pub fn kind(&self) -> TokenizerKind {
        self.file.kind
    }

    /// What the file asks for that is not done here, in words.
    pub fn left_out(&self) -> &[String] {
        &self.file.left_out
    }

    /// Checks that a text from the command line has no bytes that are not UTF-8, and that the rules can be applied to it.
    fn check(&self, text: &str) -> Result<()> {
        if to_os(text).to_str().is_none() {
            return Err(Error::new(format!("the text `{}` is not UTF-8", clip(text)))
                .help("type it in a terminal that writes UTF-8"));
        }
        self.file.check(text)
    }

    fn is_special(&self, id: u32) -> bool {
        let added = self.file.rules.get_added_vocabulary().get_added_tokens_decoder();
        added.get(&id).is_some_and(|token| token.special)
    }

    fn shown(&self, id: u32, piece: &str) -> String {
        let is_added = self.file.rules.get_added_vocabulary().get_added_tokens_decoder().contains_key(&id);
        if is_added { marked(piece) } else { marked(&self.text_of(piece)) }
    }
}

/// The tokens that the rules put around a text, found by processing a text of one token.
fn around_text(file: &TokenizerFile) -> Result<AddedTokens> {
    let text = Encoding::from_tokens(vec![tokenizers::Token::new(0, "x".to_string(), (0, 1))], 0);
    let around = file.rules.post_process(text, None, true);
    let around =
        around.map_err(|error| Error::new(format!("the tokens around a text cannot be found: {error}")))?;
    let mask = around.get_special_tokens_mask();
    let place = mask.iter().position(|&mask| mask == 0).unwrap_or(mask.len());
    let token = |at: usize| AddedToken { id: around.get_ids()[at], piece: around.get_tokens()[at].clone() };
    let after = (place..mask.len()).filter(|&at| mask[at] == 1);
    Ok(AddedTokens { before: (0..place).map(token).collect(), after: after.map(token).collect() })
}
