//! What comes after the model: tokens that are put around every text, and places without the spaces of their words.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;

/// A token on its way out.
pub(super) struct Encoded<'t> {
    pub id: u32,
    /// Its piece; of an added token the text.
    pub text: &'t str,
    /// The bytes of the text.
    pub range: Range<usize>,
    /// Whether a processor put it there.
    pub is_added: bool,
}

/// The processor of a file, with the names that files have for its parts. Files tell the kinds by their parts.
#[derive(Deserialize)]
#[serde(untagged, expecting = "data did not match any variant of untagged enum PostProcessorWrapper")]
pub(super) enum Processor {
    Roberta {
        sep: (String, u32),
        cls: (String, u32),
        trim_offsets: bool,
        add_prefix_space: bool,
    },
    Bert {
        sep: (String, u32),
        cls: (String, u32),
    },
    ByteLevel {
        #[serde(rename = "type")]
        _type: ByteLevelType,
        trim_offsets: bool,
        add_prefix_space: bool,
        #[serde(default, rename = "use_regex")]
        _use_regex: bool,
    },
    Template {
        single: Vec<Part>,
        #[serde(rename = "pair")]
        _pair: Vec<Part>,
        special_tokens: HashMap<String, Special>,
    },
    Sequence {
        #[serde(rename = "type")]
        _type: SequenceType,
        processors: Vec<Processor>,
    },
}

#[derive(Deserialize)]
pub(super) enum ByteLevelType {
    ByteLevel,
}

#[derive(Deserialize)]
pub(super) enum SequenceType {
    Sequence,
}

/// A part of a template: the place of the text, or of tokens with a name.
#[derive(Deserialize)]
pub(super) enum Part {
    Sequence {
        #[serde(rename = "id")]
        _id: Text,
        #[serde(rename = "type_id")]
        _type_id: u32,
    },
    SpecialToken {
        id: String,
        #[serde(rename = "type_id")]
        _type_id: u32,
    },
}

/// The first text or the second.
#[derive(Deserialize)]
pub(super) enum Text {
    A,
    B,
}

/// The tokens of a name.
#[derive(Deserialize)]
pub(super) struct Special {
    #[serde(rename = "id")]
    _id: String,
    ids: Vec<u32>,
    tokens: Vec<String>,
}

impl Processor {
    /// The tokens of a text with those around them.
    pub fn apply<'t>(&'t self, mut tokens: Vec<Encoded<'t>>) -> Vec<Encoded<'t>> {
        match self {
            Processor::ByteLevel { trim_offsets: true, add_prefix_space, .. }
            | Processor::Roberta { trim_offsets: true, add_prefix_space, .. } => {
                trim(&mut tokens, *add_prefix_space);
            }
            _ => {}
        }
        match self {
            Processor::Roberta { sep, cls, .. } | Processor::Bert { sep, cls } => {
                let [before, after] = [cls, sep].map(|(text, id)| added(*id, text));
                [before].into_iter().chain(tokens).chain([after]).collect()
            }
            Processor::ByteLevel { .. } => tokens,
            Processor::Template { single, special_tokens, .. } => {
                let mut around = Vec::with_capacity(tokens.len() + 2);
                for part in single {
                    match part {
                        Part::Sequence { .. } => around.append(&mut tokens),
                        Part::SpecialToken { id, .. } => around.extend(
                            special_tokens
                                .get(id)
                                .into_iter()
                                .flat_map(|special| special.ids.iter().zip(&special.tokens))
                                .map(|(&id, text)| added(id, text)),
                        ),
                    }
                }
                around
            }
            Processor::Sequence { processors, .. } => {
                processors.iter().fold(tokens, |tokens, processor| processor.apply(tokens))
            }
        }
    }
}

fn added(id: u32, text: &str) -> Encoded<'_> {
    Encoded { id, text, range: 0..0, is_added: true }
}

/// Takes the spaces of words out of their places. One before the first word has been put there if `has_prefix`.
fn trim(tokens: &mut [Encoded<'_>], has_prefix: bool) {
    let is_space = |c: &char| *c == 'Ġ' || c.is_whitespace();
    for (at, token) in tokens.iter_mut().enumerate() {
        let before = token.text.chars().take_while(is_space).count();
        let after = token.text.chars().rev().take_while(is_space).count();
        let Range { start, end } = &mut token.range;
        let is_put = has_prefix && before == 1 && (at == 0 || *start == 0);
        if before > 0 && !is_put {
            *start = (*start + before).min(*end);
        }
        if after > 0 && *end >= after {
            *end = (*end - after).max(*start);
        }
    }
}
