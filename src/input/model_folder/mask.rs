//! The token that stands for a masked word, as a folder names it.

use super::{ModelFolder, read_config};
use crate::error::{Error, Result};
use crate::json_tree::tree;

/// The token that stands for a masked word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MaskToken {
    /// Its id: `mask_token_id` in `config.json`.
    Id(u32),
    /// Its piece: `mask_token` in `tokenizer_config.json`.
    Piece(String),
}

impl ModelFolder {
    /// The token that stands for a masked word, where the folder names one.
    ///
    /// # Errors
    /// If `tokenizer_config.json` cannot be read.
    pub fn mask_token(&self) -> Result<Option<MaskToken>> {
        let id = self.config.tree().and_then(|config| config.get("mask_token_id")?.as_u64());
        if let Some(id) = id.and_then(|id| u32::try_from(id).ok()) {
            return Ok(Some(MaskToken::Id(id)));
        }
        let Some(file) = &self.tokenizer_config else { return Ok(None) };
        let text = read_config(file)?.text;
        let settings = tree(text.as_bytes(), &[&["mask_token"]], |error| {
            Error::new(format!("this is not JSON: {error}")).help("download or save the file again")
        });
        let settings = settings.map_err(|error| error.in_source(file.name()))?;
        // Older files have a text, newer ones an object with its text.
        let token = settings.get("mask_token");
        let piece = token.and_then(|token| token.as_str().or_else(|| token.get("content")?.as_str()));
        Ok(piece.map(|piece| MaskToken::Piece(piece.to_string())))
    }
}
