//! What is done to a text before it is split: the normalizer of a file. A few hundred bytes of rules can make gigabytes of one letter,
//! so each step is looked at before it is taken.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;
use unicode_categories::UnicodeCategories;
use unicode_normalization_alignments::UnicodeNormalization;
use unicode_normalization_alignments::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use crate::error::{Error, ErrorKind, Result};
use crate::memory;
use crate::text::{clip, counted, size_in_brief};

use super::aligned::{Aligned, Pattern};

/// A normalized text may have this many bytes for each of the text, and these.
const GROWTH: usize = 64;
const SHORT: usize = 1 << 16;
/// What a byte of a normalized text takes in memory: itself, its place in the text, and both again in the next step.
const MEMORY: u64 = 64;

/// The types that are read by their name.
const KNOWN: &str =
    "Bert Strip StripAccents NFC NFD NFKC NFKD Sequence Lowercase Nmt Precompiled Replace Prepend ByteLevel";

/// The steps of a normalizer.
#[derive(Default, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct Normalizer(Vec<Step>);

/// A step, with the names that files have for it and for its parts.
#[derive(Deserialize)]
#[serde(tag = "type")]
enum Step {
    #[serde(alias = "Bert")]
    BertNormalizer {
        clean_text: bool,
        handle_chinese_chars: bool,
        strip_accents: Option<bool>,
        lowercase: bool,
    },
    Strip {
        strip_left: bool,
        strip_right: bool,
    },
    StripAccents,
    #[serde(rename = "NFC")]
    Nfc,
    #[serde(rename = "NFD")]
    Nfd,
    #[serde(rename = "NFKC")]
    Nfkc,
    #[serde(rename = "NFKD")]
    Nfkd,
    Sequence {
        normalizers: Vec<Normalizer>,
    },
    Lowercase,
    Nmt,
    Precompiled {
        precompiled_charsmap: Charsmap,
    },
    Replace {
        pattern: Pattern,
        content: String,
    },
    Prepend {
        prepend: String,
    },
    ByteLevel,
}

/// A part of a file by its `type`; by its fields if it has none that is known, as in old files: then it is one of some types.
pub(super) fn tagged<T: serde::de::DeserializeOwned>(
    value: Value,
    known: &str,
    by_fields: &[&str],
    name: &str,
) -> serde_json::Result<T> {
    if value
        .get("type")
        .and_then(Value::as_str)
        .is_some_and(|kind| known.split(' ').any(|known| known == kind))
    {
        return serde_json::from_value(value);
    }
    let with_type = |kind: &&str| {
        let mut value = value.clone();
        value.as_object_mut()?.insert("type".to_string(), Value::from(*kind));
        serde_json::from_value(value).ok()
    };
    by_fields.iter().find_map(with_type).ok_or_else(|| {
        serde::de::Error::custom(format!("data did not match any variant of untagged enum {name}"))
    })
}

impl TryFrom<Value> for Normalizer {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> serde_json::Result<Normalizer> {
        let by_fields = ["BertNormalizer", "Strip", "Sequence", "Replace", "Prepend"];
        Ok(match tagged(value, KNOWN, &by_fields, "NormalizerUntagged")? {
            Step::Sequence { normalizers } => {
                Normalizer(normalizers.into_iter().flat_map(|normalizer| normalizer.0).collect())
            }
            step => Normalizer(vec![step]),
        })
    }
}

impl Normalizer {
    /// The normalizer of a file.
    ///
    /// # Errors
    /// If it cannot be read, or a pattern matches an empty place.
    pub fn of(file: &Value) -> Result<Normalizer> {
        let normalizer = Option::<Normalizer>::deserialize(file.get("normalizer").unwrap_or(&Value::Null))
            .map_err(|error| Error::new(format!("the normalizer cannot be used: {error}")))?
            .unwrap_or_default();
        let ascii = (' '..='~').map(String::from);
        for text in ascii.chain(["", "\n", "é", "▁", "日"].map(String::from)) {
            normalizer.apply(&mut Aligned::of(&text), text.len(), 0)?;
        }
        Ok(normalizer)
    }

    /// Takes all steps with a part of a text of `whole` bytes, of which others have become `done` bytes.
    ///
    /// # Errors
    /// If a step makes the text too long, needs more memory than is left, or replaces an empty place.
    pub fn apply(&self, text: &mut Aligned, whole: usize, done: usize) -> Result<()> {
        let most = whole.saturating_mul(GROWTH).saturating_add(SHORT);
        let check = |length: usize| {
            let length = length.saturating_add(done);
            if length <= most {
                return Ok(());
            }
            Err(Error::new(format!(
                "the normalizer makes {} of a text of {}, more than the {} that are read",
                size_in_brief(length as u64),
                counted(whole, "byte"),
                size_in_brief(most as u64)
            ))
            .of_kind(ErrorKind::TooLarge))
        };
        for step in &self.0 {
            let now = text.text();
            let mut replaced = Vec::new();
            let more = match step {
                Step::Replace { pattern, content } => {
                    replaced = pattern.matches(now);
                    if replaced.iter().any(|part| part.is_empty()) {
                        return Err(Error::new(format!(
                            "the pattern `{}` of the normalizer matches an empty place of the text",
                            clip(pattern.written())
                        )));
                    }
                    content.len().saturating_mul(replaced.len())
                }
                Step::Prepend { prepend } => prepend.len(),
                Step::Precompiled { precompiled_charsmap } => {
                    now.chars().count().saturating_mul(precompiled_charsmap.longest())
                }
                _ => 0,
            };
            let next = more.saturating_add(now.len());
            check(next)?;
            let _held = memory::hold((next as u64).saturating_mul(MEMORY))?;
            match step {
                Step::Replace { content, .. } => text.replace(&replaced, content),
                step => step.apply(text),
            }
            check(text.text().len())?;
        }
        Ok(())
    }
}

impl Step {
    fn apply(&self, text: &mut Aligned) {
        let old = || text.text().to_string();
        match self {
            &Step::BertNormalizer { clean_text, handle_chinese_chars, strip_accents, lowercase } => {
                if clean_text {
                    text.each(|c, out| match c {
                        '\t' | '\n' | '\r' => out.push(' '),
                        '\0' | '\u{fffd}' => {}
                        c if c.is_other() => {}
                        c => out.push(if c.is_whitespace() { ' ' } else { c }),
                    });
                }
                if handle_chinese_chars {
                    text.each(|c, out| if is_chinese(c) { out.extend([' ', c, ' ']) } else { out.push(c) });
                }
                if strip_accents.unwrap_or(lowercase) {
                    Step::Nfd.apply(text);
                    text.retain(|c| !c.is_mark_nonspacing());
                }
                if lowercase {
                    Step::Lowercase.apply(text);
                }
            }
            &Step::Strip { strip_left, strip_right } => {
                let now = text.text();
                let start = if strip_left { now.len() - now.trim_start().len() } else { 0 };
                let end = if strip_right { now.trim_end().len() } else { now.len() };
                text.keep(start..end.max(start));
            }
            Step::StripAccents => text.retain(|c| !is_combining_mark(c)),
            Step::Nfc => text.transform(old().nfc()),
            Step::Nfd => text.transform(old().nfd()),
            Step::Nfkc => text.transform(old().nfkc()),
            Step::Nfkd => text.transform(old().nfkd()),
            Step::Lowercase => text.each(|c, out| out.extend(c.to_lowercase())),
            Step::Nmt => text.each(|c, out| match u32::from(c) {
                0x01..=0x08 | 0x0b | 0x0e..=0x1f | 0x7f | 0x8f | 0x9f => {}
                0x09 | 0x0a | 0x0c | 0x0d | 0x1680 | 0x200b..=0x200f => out.push(' '),
                0x2028 | 0x2029 | 0x2581 | 0xfeff | 0xfffd => out.push(' '),
                _ => out.push(c),
            }),
            Step::Precompiled { precompiled_charsmap } => precompiled_charsmap.apply(text),
            Step::Prepend { prepend } => text.prepend(prepend),
            Step::ByteLevel => text.write_bytes(),
            Step::Replace { .. } | Step::Sequence { .. } => {}
        }
    }
}

/// Whether a character is in one of the blocks of Chinese, as BERT has them.
fn is_chinese(c: char) -> bool {
    matches!(
        u32::from(c),
        0x4e00..=0x9fff
            | 0x3400..=0x4dbf
            | 0x20000..=0x2a6df
            | 0x2a700..=0x2b73f
            | 0x2b740..=0x2b81f
            | 0x2b920..=0x2ceaf
            | 0xf900..=0xfaff
            | 0x2f800..=0x2fa1f
    )
}

/// The table of replaced characters of SentencePiece, in a file as base64: a double array over bytes, then the replacements.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Charsmap {
    units: Vec<usize>,
    replacements: String,
}

impl TryFrom<String> for Charsmap {
    type Error = Error;

    fn try_from(base64: String) -> Result<Charsmap> {
        Charsmap::read(&base64)
    }
}

impl Charsmap {
    /// Reads a table, in which every lookup stays within it.
    ///
    /// # Errors
    /// If the text is no base64, or a place in the table is outside it.
    pub fn read(base64: &str) -> Result<Charsmap> {
        let table = decoded(base64).and_then(|bytes| Charsmap::of(&bytes)).filter(Charsmap::is_sound);
        table.ok_or_else(|| {
            Error::new("the normalizer's `precompiled_charsmap` is broken").help("download the file again")
        })
    }

    /// The length of the array in bytes, the array, and the replacements.
    fn of(bytes: &[u8]) -> Option<Charsmap> {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize / 4 * 4;
        let (array, replacements) = rest.split_at_checked(length)?;
        let units = array.as_chunks::<4>().0.iter().map(|unit| u32::from_le_bytes(*unit) as usize).collect();
        Some(Charsmap { units, replacements: String::from_utf8(replacements.to_vec()).ok()? })
    }

    /// Whether each byte after each beginning of a key leads to a place in the table, and each end of a key to a replacement.
    fn is_sound(&self) -> bool {
        let Some(&root) = self.units.first() else { return false };
        let mut nodes = vec![offset(root)];
        let mut seen = HashSet::new();
        while let Some(node) = nodes.pop() {
            if !seen.insert(node) {
                continue;
            }
            for byte in 1..=0xff {
                let Some(&unit) = self.units.get(node ^ byte) else { return false };
                if label(unit) != byte {
                    continue;
                }
                let next = node ^ byte ^ offset(unit);
                if has_leaf(unit) && self.replacement(next).is_none() {
                    return false;
                }
                nodes.push(next);
            }
        }
        true
    }

    /// The replacement at a leaf: up to the next zero.
    fn replacement(&self, leaf: usize) -> Option<&str> {
        let start = self.units.get(leaf)? & ((1 << 31) - 1);
        self.replacements.get(start..)?.split('\0').next()
    }

    /// The length of the longest replacement in bytes.
    fn longest(&self) -> usize {
        self.replacements.split('\0').map(str::len).max().unwrap_or(0)
    }

    /// The replacement of the shortest key that a text begins with.
    fn lookup(&self, text: &str) -> Option<&str> {
        let mut node = offset(self.units[0]);
        for byte in text.bytes().map(usize::from).take_while(|&byte| byte != 0) {
            let unit = *self.units.get(node ^ byte)?;
            if label(unit) != byte {
                return None;
            }
            node ^= byte ^ offset(unit);
            if has_leaf(unit) {
                return self.replacement(node);
            }
        }
        None
    }

    /// Replaces what is in the table: short clusters of characters as a whole, else their characters.
    fn apply(&self, text: &mut Aligned) {
        let old = text.text().to_string();
        let mut changed: Vec<(char, isize)> = Vec::with_capacity(old.len());
        let mut put = |part: &str, new: &str| {
            let (count, new_count) = (part.chars().count(), new.chars().count());
            changed.extend(new.chars().enumerate().map(|(at, c)| (c, isize::from(at >= count))));
            if let Some((_, change)) = changed.last_mut() {
                *change -= count.saturating_sub(new_count) as isize;
            }
        };
        for cluster in old.graphemes(true) {
            match self.lookup(cluster).filter(|_| cluster.len() < 6) {
                Some(new) => put(cluster, new),
                None => cluster.split_inclusive(|_| true).for_each(|c| put(c, self.lookup(c).unwrap_or(c))),
            }
        }
        text.transform(changed.into_iter());
    }
}

/// The byte that leads to a unit.
fn label(unit: usize) -> usize {
    unit & (1 << 31 | 0xff)
}

/// Whether a key ends at a unit.
fn has_leaf(unit: usize) -> bool {
    unit >> 8 & 1 == 1
}

/// The distance from a unit to its children.
fn offset(unit: usize) -> usize {
    unit >> 10 << ((unit & 1 << 9) >> 6)
}

/// The bytes of a text in base64, padded.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    if !text.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    for group in digits.as_bytes().chunks(4) {
        let mut bits = 0u32;
        for &c in group {
            bits = bits << 6 | u32::from(digit(c)?);
        }
        bits <<= 6 * (4 - group.len());
        let bytes = bits.to_be_bytes();
        let whole = group.len() * 6 / 8;
        if bytes[1 + whole..].iter().any(|&byte| byte != 0) {
            return None;
        }
        out.extend(&bytes[1..=whole]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_with_its_padding() {
        assert_eq!(decoded("YmF0").unwrap(), b"bat");
        assert_eq!(decoded("YmE=").unwrap(), b"ba");
        assert_eq!(decoded("Yg==").unwrap(), b"b");
        for wrong in ["Y", "YmF", "YmF=", "Yh==", "Y===", "Ym 0"] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }

    /// A table with one key, `a`, that becomes `b`.
    fn table(leaf: u32, last: usize) -> Vec<u8> {
        let mut units = vec![0u32; last];
        // Children of the root begin at 0 ^ 256.
        units[0] = 256 << 10;
        units[256 ^ 0x61] = (0x61 << 10) | 1 << 8 | 0x61;
        units[256] = leaf;
        let array = units.iter().flat_map(|unit| unit.to_le_bytes());
        ((last * 4) as u32).to_le_bytes().into_iter().chain(array).chain(*b"b\0").collect()
    }

    #[test]
    fn a_place_outside_the_table_is_found() {
        let is_sound = |bytes: Vec<u8>| Charsmap::of(&bytes).unwrap().is_sound();
        assert!(is_sound(table(1 << 31, 512)));
        assert!(!is_sound(table(1 << 31 | 9, 512)), "a replacement outside");
        assert!(!is_sound(table(1 << 31, 500)), "a byte outside");
        assert!(Charsmap::of(&[255, 0, 0, 0, 1]).is_none());
    }
}
