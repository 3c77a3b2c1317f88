//! The words that a text is split into before each becomes tokens: first at tokens that were added to the vocabulary, then by the
//! pre-tokenizer of the file.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::Error;
use serde_json::Value;
use unicode_categories::UnicodeCategories;
use unicode_script::{Script, UnicodeScript};

use crate::error;

use super::aligned::{Aligned, Behavior, Pattern};
use super::model::{Model, Prefixes};
use super::normalizer::Normalizer;
use super::part::{field, optional, sequence, tagged};

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
    pub fn of(added: Vec<Added>, model: &Model, normalizer: &Normalizer) -> error::Result<AddedVocabulary> {
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
        let mut patterns = [HashMap::new(), HashMap::new()];
        for (&id, token) in &tokens {
            let mut text = Aligned::of(&token.content);
            if token.normalized {
                normalizer.apply(&mut text, token.content.len(), 0)?;
            }
            patterns[usize::from(token.normalized)].insert(text.text().to_string(), id);
        }
        Ok(AddedVocabulary { ids, tokens, patterns: patterns.map(|patterns| Prefixes::of(&patterns)) })
    }

    /// The id of a piece, also of the model.
    pub fn id(&self, piece: &str, model: &Model) -> Option<u32> {
        self.ids.get(piece).copied().or_else(|| model.id(piece))
    }

    /// The text, normalized, between the tokens that are in it.
    ///
    /// # Errors
    /// If it cannot be normalized.
    pub fn normalized(&self, text: &str, normalizer: &Normalizer) -> error::Result<Vec<Word>> {
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
/// The words of GPT-2.
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// What splits a text into words, step by step.
#[derive(Default)]
pub(super) struct PreTokenizer(Vec<Splitter>);

enum Splitter {
    /// At a pattern, or where it is not.
    At(Pattern, Behavior, bool),
    /// A space before the text.
    Space,
    Bytes,
    /// A mark in place of each space, and one before the text.
    Mark(char, PrependScheme),
    Scripts,
    Length(usize),
}

/// The texts that a mark is put before: the first one, none or all.
#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PrependScheme {
    First,
    Never,
    Always,
}

const SPACES: Pattern = Pattern::Character(char::is_whitespace);
const NUMBERS: Pattern = Pattern::Character(char::is_numeric);
const PUNCTUATION: Pattern = Pattern::Character(is_punctuation);

/// The steps of a part of a file.
fn read(part: &Value) -> serde_json::Result<Vec<Splitter>> {
    use Behavior::{Contiguous, Isolated, MergedWithNext, Removed};
    use Splitter::{At, Bytes, Length, Mark, Scripts, Space};
    let of_type = |kind: &str| {
        Ok(match kind {
            "BertPreTokenizer" => vec![At(SPACES, Removed, false), At(PUNCTUATION, Isolated, false)],
            "ByteLevel" => {
                field::<bool>(part, "trim_offsets")?;
                let space = field::<bool>(part, "add_prefix_space")?.then_some(Space);
                let is_split = optional(part, "use_regex")?.unwrap_or(true);
                let split = is_split.then(|| At(Pattern::regex(GPT2), Isolated, false));
                space.into_iter().chain(split).chain([Bytes]).collect()
            }
            "CharDelimiterSplit" => {
                vec![At(Pattern::Text(field::<char>(part, "delimiter")?.to_string()), Removed, false)]
            }
            "Metaspace" => {
                let mark: char = field(part, "replacement")?;
                let scheme = optional(part, "prepend_scheme")?.unwrap_or(PrependScheme::Always);
                if optional(part, "add_prefix_space")? == Some(false) && scheme != PrependScheme::Never {
                    return Err(Error::custom("add_prefix_space does not match declared prepend_scheme"));
                }
                let is_split = optional(part, "split")?.unwrap_or(true);
                let split = is_split.then(|| At(Pattern::Text(mark.to_string()), MergedWithNext, false));
                [Mark(mark, scheme)].into_iter().chain(split).collect()
            }
            "Whitespace" => vec![At(Pattern::regex(r"\w+|[^\w\s]+"), Removed, true)],
            "Sequence" => sequence(part, "pretokenizers", read)?,
            "Split" => vec![At(field(part, "pattern")?, field(part, "behavior")?, field(part, "invert")?)],
            "Punctuation" => vec![At(PUNCTUATION, optional(part, "behavior")?.unwrap_or(Isolated), false)],
            "WhitespaceSplit" => vec![At(SPACES, Removed, false)],
            "Digits" if field(part, "individual_digits")? => vec![At(NUMBERS, Isolated, false)],
            "Digits" => vec![At(NUMBERS, Contiguous, false)],
            "UnicodeScripts" => vec![Scripts],
            _ => vec![Length(optional(part, "length")?.unwrap_or(5))],
        })
    };
    tagged(part, KNOWN, &["CharDelimiterSplit"], "PreTokenizerUntagged", of_type)
}

impl PreTokenizer {
    /// The pre-tokenizer of a file.
    ///
    /// # Errors
    /// If a part of it is missing, or of the wrong type.
    pub fn read(part: &Value) -> serde_json::Result<PreTokenizer> {
        Ok(PreTokenizer(if part.is_null() { Vec::new() } else { read(part)? }))
    }

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
        match self {
            Splitter::At(pattern, behavior, invert) => return text.split(pattern, *behavior, *invert),
            Splitter::Scripts => return text.cut(script_starts(text.text())),
            Splitter::Length(length) => {
                return text.cut(text.text().char_indices().map(|(at, _)| at).step_by(*length).collect());
            }
            Splitter::Space if text.text().starts_with(' ') => {}
            Splitter::Space => text.prepend(" "),
            Splitter::Bytes => text.write_bytes(),
            Splitter::Mark(mark, scheme) => {
                text.each(|c, out| out.push(if c == ' ' { *mark } else { c }));
                let is_first = text.range().start == 0;
                let is_marked =
                    *scheme == PrependScheme::Always || *scheme == PrependScheme::First && is_first;
                if is_marked && !text.text().starts_with(*mark) {
                    text.prepend(&mark.to_string());
                }
            }
        }
        vec![text]
    }
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.is_punctuation()
}

/// Where the script of a text changes. What has none goes with what is before it.
fn script_starts(text: &str) -> Vec<usize> {
    let mut last = None;
    let mut is_start = |c| {
        let script = script(c);
        let is_start = script.is_some() && script != last;
        last = script.or(last);
        is_start
    };
    text.char_indices().filter(|&(_, c)| is_start(c)).map(|(at, _)| at).collect()
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
