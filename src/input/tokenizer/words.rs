//! The words that a text is split into before each becomes tokens: first at tokens that were added to the vocabulary, then by the
//! pre-tokenizer of the file.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;
use unicode_categories::UnicodeCategories;
use unicode_script::{Script, UnicodeScript};

use crate::error::Result;

use super::aligned::{Aligned, Behavior, Pattern};
use super::model::{Model, Prefixes};
use super::normalizer::{Normalizer, tagged};

/// A word of a text.
pub(super) struct Word {
    /// As the model sees it: normalized, and in byte-level files with a character for each byte.
    pub text: Aligned,
    /// The id of a token that was added to the vocabulary, which is not split further.
    pub token: Option<u32>,
}

/// A token that was added to the vocabulary of the model, as in the file.
#[derive(Deserialize)]
pub(super) struct Added {
    pub content: String,
    single_word: bool,
    lstrip: bool,
    rstrip: bool,
    normalized: bool,
    pub special: bool,
}

/// The tokens that were added to the vocabulary of the model.
pub(super) struct AddedVocabulary {
    pub ids: HashMap<String, u32>,
    pub tokens: BTreeMap<u32, Added>,
    /// What is looked for in a text as it is, and in a normalized one.
    patterns: [Prefixes; 2],
}

impl AddedVocabulary {
    /// Gives each token the id that the model has for it, or the next one: the ids of the file do not count.
    ///
    /// # Errors
    /// If a token cannot be normalized.
    pub fn of(added: Vec<Added>, model: &Model, normalizer: &Normalizer) -> Result<AddedVocabulary> {
        let (mut ids, mut tokens, mut next) = (HashMap::new(), BTreeMap::new(), model.size() as u32);
        for token in added.into_iter().filter(|token| !token.content.is_empty()) {
            let known = ids.get(&token.content).copied().or_else(|| model.id(&token.content));
            let id = known.unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            ids.insert(token.content.clone(), id);
            tokens.insert(id, token);
        }
        let mut patterns = [Vec::new(), Vec::new()];
        for (&id, token) in &tokens {
            let mut text = Aligned::of(&token.content);
            if token.normalized {
                normalizer.apply(&mut text, token.content.len(), 0)?;
            }
            patterns[usize::from(token.normalized)].push((text.text().to_string(), id));
        }
        Ok(AddedVocabulary { ids, tokens, patterns: patterns.map(Prefixes::of) })
    }

    /// The id of a piece, also of the model.
    pub fn id(&self, piece: &str, model: &Model) -> Option<u32> {
        self.ids.get(piece).copied().or_else(|| model.id(piece))
    }

    /// The text, normalized, between the tokens that are in it.
    ///
    /// # Errors
    /// If it cannot be normalized.
    pub fn normalized(&self, text: &str, normalizer: &Normalizer) -> Result<Vec<Word>> {
        let [as_it_is, normalized] = &self.patterns;
        let (mut words, mut done) = (Vec::new(), 0);
        for mut word in self.split(&Aligned::of(text), as_it_is) {
            if word.token.is_some() {
                words.push(word);
                continue;
            }
            normalizer.apply(&mut word.text, text.len(), done)?;
            done += word.text.text().len();
            words.extend(self.split(&word.text, normalized));
        }
        Ok(words)
    }

    /// Cuts a text at the tokens that are in it, the longest of those that begin at a place.
    fn split(&self, text: &Aligned, patterns: &Prefixes) -> Vec<Word> {
        let (mut words, mut at, mut done) = (Vec::new(), 0, 0);
        let mut push = |range: Range<usize>, token| {
            if !range.is_empty() {
                words.push(Word { text: text.part(range), token });
            }
        };
        let now = text.text();
        while at < now.len() {
            let Some((length, id)) = patterns.of_text(now.bytes().skip(at)).last() else {
                at += 1;
                continue;
            };
            let (mut start, mut end) = (at, at + length);
            at = end;
            let token = &self.tokens[&id];
            let is_word = |c: Option<char>| c.is_some_and(is_word);
            if token.single_word
                && (is_word(now[..start].chars().next_back()) || is_word(now[end..].chars().next()))
            {
                continue;
            }
            if token.lstrip {
                start = now[..start].trim_end().len().max(done);
            }
            if token.rstrip {
                end = now.len() - now[end..].trim_start().len();
            }
            push(done..start.max(done), None);
            push(start..end, Some(id));
            done = end;
        }
        push(done..now.len(), None);
        words
    }
}

/// Whether a character is part of a word.
fn is_word(c: char) -> bool {
    static WORD: LazyLock<Pattern> = LazyLock::new(|| Pattern::regex(r"\w"));
    !WORD.matches(c.encode_utf8(&mut [0; 4])).is_empty()
}

/// The types that are read by their name.
const KNOWN: &str = "BertPreTokenizer ByteLevel Metaspace Whitespace Sequence Split Punctuation WhitespaceSplit Digits UnicodeScripts FixedLength";

/// What splits a text into words, with the names that files have for it and for its parts.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct PreTokenizer(Vec<Splitter>);

/// A step of it.
#[derive(Deserialize)]
#[serde(tag = "type")]
enum Splitter {
    BertPreTokenizer,
    ByteLevel {
        add_prefix_space: bool,
        #[serde(rename = "trim_offsets")]
        _trim_offsets: bool,
        #[serde(default = "yes")]
        use_regex: bool,
    },
    CharDelimiterSplit {
        delimiter: char,
    },
    Metaspace {
        replacement: char,
        add_prefix_space: Option<bool>,
        #[serde(default)]
        prepend_scheme: PrependScheme,
        split: Option<bool>,
    },
    Whitespace,
    Sequence {
        pretokenizers: Vec<PreTokenizer>,
    },
    Split {
        pattern: Pattern,
        behavior: Behavior,
        invert: bool,
    },
    Punctuation {
        #[serde(default = "isolated")]
        behavior: Behavior,
    },
    WhitespaceSplit,
    Digits {
        individual_digits: bool,
    },
    UnicodeScripts,
    FixedLength {
        #[serde(default = "five")]
        length: usize,
    },
}

/// Where a space is put before words.
#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PrependScheme {
    First,
    Never,
    #[default]
    Always,
}

// What files leave out.

fn yes() -> bool {
    true
}

fn isolated() -> Behavior {
    Behavior::Isolated
}

fn five() -> usize {
    5
}

impl TryFrom<Value> for PreTokenizer {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> serde_json::Result<PreTokenizer> {
        Ok(match tagged(value, KNOWN, &["CharDelimiterSplit"], "PreTokenizerUntagged")? {
            Splitter::Sequence { pretokenizers } => {
                PreTokenizer(pretokenizers.into_iter().flat_map(|pre_tokenizer| pre_tokenizer.0).collect())
            }
            Splitter::Metaspace { add_prefix_space: Some(false), prepend_scheme, .. }
                if prepend_scheme != PrependScheme::Never =>
            {
                let what = "add_prefix_space does not match declared prepend_scheme";
                return Err(serde::de::Error::custom(what));
            }
            splitter => PreTokenizer(vec![splitter]),
        })
    }
}

impl PreTokenizer {
    /// Splits the parts of a text that are no tokens.
    pub fn apply(&self, mut words: Vec<Word>) -> Vec<Word> {
        for splitter in &self.0 {
            let parts = |word: Word| match word.token {
                Some(_) => vec![word],
                None => {
                    let parts = splitter.apply(word.text).into_iter().filter(|part| !part.text().is_empty());
                    parts.map(|text| Word { text, token: None }).collect()
                }
            };
            words = words.into_iter().flat_map(parts).collect();
        }
        words
    }
}

impl Splitter {
    fn apply(&self, mut text: Aligned) -> Vec<Aligned> {
        /// The words of GPT-2.
        static GPT2: LazyLock<Pattern> = LazyLock::new(|| {
            Pattern::regex(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
        });
        static WORDS: LazyLock<Pattern> = LazyLock::new(|| Pattern::regex(r"\w+|[^\w\s]+"));
        let characters = |text: &Aligned, is_match: fn(char) -> bool, behavior| {
            text.split(&Pattern::Character(is_match), behavior, false)
        };
        match self {
            Splitter::BertPreTokenizer => {
                let words = characters(&text, char::is_whitespace, Behavior::Removed);
                words.iter().flat_map(|word| characters(word, is_punctuation, Behavior::Isolated)).collect()
            }
            Splitter::ByteLevel { add_prefix_space, use_regex, .. } => {
                if *add_prefix_space && !text.text().starts_with(' ') {
                    text.prepend(" ");
                }
                let mut parts =
                    if *use_regex { text.split(&GPT2, Behavior::Isolated, false) } else { vec![text] };
                parts.iter_mut().for_each(Aligned::write_bytes);
                parts
            }
            Splitter::CharDelimiterSplit { delimiter } => {
                text.split(&Pattern::Text(delimiter.to_string()), Behavior::Removed, false)
            }
            Splitter::Metaspace { replacement, prepend_scheme, split, .. } => {
                let mark = Pattern::Text(replacement.to_string());
                let spaces = Pattern::Text(" ".to_string()).matches(text.text());
                text.replace(&spaces, mark.written());
                let is_marked = match prepend_scheme {
                    PrependScheme::First => text.range().start == 0,
                    PrependScheme::Never => false,
                    PrependScheme::Always => true,
                };
                if is_marked && !text.text().starts_with(*replacement) {
                    text.prepend(mark.written());
                }
                if split.unwrap_or(true) {
                    text.split(&mark, Behavior::MergedWithNext, false)
                } else {
                    vec![text]
                }
            }
            Splitter::Whitespace => text.split(&WORDS, Behavior::Removed, true),
            Splitter::Split { pattern, behavior, invert } => text.split(pattern, *behavior, *invert),
            Splitter::Punctuation { behavior } => characters(&text, is_punctuation, *behavior),
            Splitter::WhitespaceSplit => characters(&text, char::is_whitespace, Behavior::Removed),
            Splitter::Digits { individual_digits } => {
                let behavior = if *individual_digits { Behavior::Isolated } else { Behavior::Contiguous };
                characters(&text, char::is_numeric, behavior)
            }
            Splitter::UnicodeScripts => scripts(&text),
            Splitter::FixedLength { length } => {
                let mut starts: Vec<usize> =
                    text.text().char_indices().map(|(at, _)| at).step_by(*length).collect();
                starts.push(text.text().len());
                starts.array_windows().map(|&[start, end]| text.part(start..end)).collect()
            }
            Splitter::Sequence { .. } => vec![text],
        }
    }
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.is_punctuation()
}

/// The parts of a text that are in one script each. What has none goes with what is before it.
fn scripts(text: &Aligned) -> Vec<Aligned> {
    let (mut starts, mut last) = (Vec::new(), None);
    for (at, c) in text.text().char_indices() {
        let script = script(c);
        if script.is_some() && script != last {
            starts.push(at);
            last = script;
        }
    }
    starts.push(text.text().len());
    starts.array_windows().map(|&[start, end]| text.part(start..end)).collect()
}

/// The script of a character as SentencePiece has it: by Unicode 9, and one for all of Japanese and Chinese.
fn script(c: char) -> Option<Script> {
    static ASSIGNED: LazyLock<Pattern> = LazyLock::new(|| Pattern::regex(r"\p{Age=9.0}"));
    if ASSIGNED.matches(c.encode_utf8(&mut [0; 4])).is_empty() {
        return None;
    }
    match (c, c.script()) {
        (' ', _) | (_, Script::Unknown) => None,
        ('ー', _) | (_, Script::Hiragana | Script::Katakana) => Some(Script::Han),
        ('\u{953}' | '\u{954}', _) => Some(Script::Devanagari),
        ('\u{589}' | '\u{61c}', _) => Some(Script::Common),
        (_, script) => Some(script),
    }
}
