//! What comes after the model: tokens that are put around every text, and places without the spaces of their words.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use serde::de::Error;
use serde_json::{Result, Value};

use crate::text::all_of;

use super::part::{field, optional};

/// A token as the file's rules name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedToken {
    /// Its id.
    pub id: u32,
    /// Its piece: `<s>`, `[CLS]`.
    pub piece: String,
}

/// The tokens that the file's rules put around every text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddedTokens {
    /// Those before it.
    pub before: Vec<AddedToken>,
    /// Those after it.
    pub after: Vec<AddedToken>,
}

impl AddedTokens {
    /// In words: “`[CLS]` before the text and `[SEP]` after it”; `None` if there are none.
    pub fn described(&self) -> Option<String> {
        let pieces = |tokens: &[AddedToken]| {
            let pieces: Vec<&str> = tokens.iter().map(|token| token.piece.as_str()).collect();
            all_of(&pieces)
        };
        match (&self.before[..], &self.after[..]) {
            ([], []) => None,
            (before, []) => Some(format!("{} before the text", pieces(before))),
            ([], after) => Some(format!("{} after the text", pieces(after))),
            (before, after) => {
                Some(format!("{} before the text and {} after it", pieces(before), pieces(after)))
            }
        }
    }
}

/// A token of the text.
pub(super) struct Encoded<'t> {
    pub id: u32,
    /// Its piece; of a token that was added to the vocabulary the text.
    pub text: &'t str,
    /// The bytes of the text.
    pub range: Range<usize>,
}

/// The processor of a file.
#[derive(Default)]
pub(super) struct Processor {
    /// For each time that spaces are taken away, whether one was put before the text.
    trims: Vec<bool>,
    pub around: AddedTokens,
}

/// A part of a template: the place of the text, or of tokens with a name.
#[derive(Deserialize)]
enum Part {
    Sequence {
        #[serde(rename = "type_id")]
        _type_id: u32,
    },
    SpecialToken {
        id: String,
        #[serde(rename = "type_id")]
        _type_id: u32,
    },
}

/// The tokens of a name.
#[derive(Deserialize)]
struct Special {
    ids: Vec<u32>,
    tokens: Vec<String>,
}

impl Processor {
    /// The processor of a file. Files tell the kinds by their fields.
    ///
    /// # Errors
    /// If it is of no kind.
    pub fn read(part: &Value) -> Result<Processor> {
        let mut processor = Processor::default();
        if !part.is_null() {
            let unknown = "data did not match any variant of untagged enum PostProcessorWrapper";
            processor.add(part).map_err(|_| Error::custom(unknown))?;
        }
        Ok(processor)
    }

    fn add(&mut self, part: &Value) -> Result<()> {
        let is_a = |kind: &str| part.get("type").is_some_and(|name| name == kind);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        if let (Ok(sep), Ok(cls)) = (field(part, "sep"), field(part, "cls")) {
            self.trims.extend(trims(part).ok().flatten());
            let token = |(piece, id): (String, u32)| vec![AddedToken { id, piece }];
            (before, after) = (token(cls), token(sep));
        } else if is_a("ByteLevel") {
            optional::<bool>(part, "use_regex")?;
            self.trims.extend(trims(part)?);
        } else if let Ok(single) = field::<Vec<Part>>(part, "single") {
            field::<Vec<Part>>(part, "pair")?;
            let special: HashMap<String, Special> = field(part, "special_tokens")?;
            let mut list = &mut before;
            for piece in single {
                match piece {
                    Part::Sequence { .. } => list = &mut after,
                    Part::SpecialToken { id, .. } => {
                        let special = special.get(&id).ok_or_else(|| Error::custom(id))?;
                        let tokens = special.ids.iter().zip(&special.tokens);
                        list.extend(tokens.map(|(&id, piece)| AddedToken { id, piece: piece.clone() }));
                    }
                }
            }
        } else {
            let processors: Vec<Value> = field(part, "processors")?;
            let kind = if is_a("Sequence") { Ok(()) } else { Err(Error::custom("no type")) };
            return processors.iter().try_fold(kind?, |(), part| self.add(part));
        }
        self.around.before.splice(0..0, before);
        self.around.after.extend(after);
        Ok(())
    }

    /// Takes the spaces of words out of their places, if the file says so.
    pub fn trim(&self, tokens: &mut [Encoded<'_>]) {
        let is_space = |c: &char| *c == 'Ġ' || c.is_whitespace();
        for has_prefix in &self.trims {
            for (at, token) in tokens.iter_mut().enumerate() {
                let before = token.text.chars().take_while(is_space).count();
                let after = token.text.chars().rev().take_while(is_space).count();
                let Range { start, end } = &mut token.range;
                let is_put = *has_prefix && before == 1 && (at == 0 || *start == 0);
                if !is_put {
                    *start = (*start + before).min(*end);
                }
                if *end >= after {
                    *end = (*end - after).max(*start);
                }
            }
        }
    }
}

/// Whether a space was put before the text, if a part takes spaces away.
fn trims(part: &Value) -> Result<Option<bool>> {
    let has_prefix = field(part, "add_prefix_space")?;
    Ok(field::<bool>(part, "trim_offsets")?.then_some(has_prefix))
}
