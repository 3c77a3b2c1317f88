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
use crate::text::{clip, counted, from_base64, size_in_brief};

use super::aligned::{Aligned, Pattern};
use super::part::{field, optional, sequence, tagged};

/// A normalized text may have this many bytes for each of the text, and these.
const GROWTH: usize = 64;
const SHORT: usize = 1 << 16;
/// What a byte of a normalized text takes in memory: itself, its place in the text, and both again in the next step.
const MEMORY: u64 = 64;

/// The types that are read by their name.
const KNOWN: &str =
    "Bert Strip StripAccents NFC NFD NFKC NFKD Sequence Lowercase Nmt Precompiled Replace Prepend ByteLevel";

/// The steps of a normalizer.
#[derive(Default)]
pub(super) struct Normalizer(Vec<Step>);

enum Step {
    Do(Change),
    Strip([bool; 2]),
    Precompiled(Charsmap),
    Replace(Pattern, String),
    Prepend(String),
}

/// A change of a text that needs nothing but the text.
type Change = fn(&mut Aligned);

/// The steps of a part of a file.
fn read(part: &Value) -> serde_json::Result<Vec<Step>> {
    let by_fields = ["BertNormalizer", "Strip", "Sequence", "Replace", "Prepend"];
    tagged(part, KNOWN, &by_fields, "NormalizerUntagged", |kind| {
        Ok(vec![match kind {
            "Bert" | "BertNormalizer" => {
                let lowercase: bool = field(part, "lowercase")?;
                let steps: [(bool, &[Change]); 4] = [
                    (field(part, "clean_text")?, &[clean]),
                    (field(part, "handle_chinese_chars")?, &[space_chinese]),
                    (optional(part, "strip_accents")?.unwrap_or(lowercase), &[nfd, strip_marks]),
                    (lowercase, &[lower]),
                ];
                let steps = steps.iter().filter(|(is_taken, _)| *is_taken).flat_map(|(_, steps)| *steps);
                return Ok(steps.map(|&step| Step::Do(step)).collect());
            }
            "Strip" => Step::Strip([field(part, "strip_left")?, field(part, "strip_right")?]),
            "StripAccents" => Step::Do(|text| text.retain(|c| !is_combining_mark(c))),
            "NFC" => Step::Do(|text| text.transform(text.text().to_string().nfc())),
            "NFD" => Step::Do(nfd),
            "NFKC" => Step::Do(|text| text.transform(text.text().to_string().nfkc())),
            "NFKD" => Step::Do(|text| text.transform(text.text().to_string().nfkd())),
            "Sequence" => return sequence(part, "normalizers", read),
            "Lowercase" => Step::Do(lower),
            "Nmt" => Step::Do(clean_for_translation),
            "Precompiled" => Step::Precompiled(field(part, "precompiled_charsmap")?),
            "Replace" => Step::Replace(field(part, "pattern")?, field(part, "content")?),
            "Prepend" => Step::Prepend(field(part, "prepend")?),
            _ => Step::Do(Aligned::write_bytes),
        }])
    })
}

fn nfd(text: &mut Aligned) {
    text.transform(text.text().to_string().nfd());
}

fn lower(text: &mut Aligned) {
    text.each(|c, out| out.extend(c.to_lowercase()));
}

/// BERT: spaces in place of all white space, and nothing in place of what cannot be seen.
fn clean(text: &mut Aligned) {
    text.each(|c, out| match c {
        '\t' | '\n' | '\r' => out.push(' '),
        '\0' | '\u{fffd}' => {}
        c if c.is_other() => {}
        c => out.push(if c.is_whitespace() { ' ' } else { c }),
    });
}

/// BERT: a space before and after each character of the blocks of Chinese.
fn space_chinese(text: &mut Aligned) {
    text.each(|c, out| match u32::from(c) {
        0x4e00..=0x9fff | 0x3400..=0x4dbf | 0x20000..=0x2a6df | 0x2a700..=0x2b73f => {
            out.extend([' ', c, ' '])
        }
        0x2b740..=0x2b81f | 0x2b920..=0x2ceaf | 0xf900..=0xfaff | 0x2f800..=0x2fa1f => {
            out.extend([' ', c, ' '])
        }
        _ => out.push(c),
    });
}

/// BERT: no accents.
fn strip_marks(text: &mut Aligned) {
    text.retain(|c| !c.is_mark_nonspacing());
}

/// The cleaning of models that translate.
fn clean_for_translation(text: &mut Aligned) {
    text.each(|c, out| match u32::from(c) {
        0x01..=0x08 | 0x0b | 0x0e..=0x1f | 0x7f | 0x8f | 0x9f => {}
        0x09 | 0x0a | 0x0c | 0x0d | 0x1680 | 0x200b..=0x200f => out.push(' '),
        0x2028 | 0x2029 | 0x2581 | 0xfeff | 0xfffd => out.push(' '),
        _ => out.push(c),
    });
}

impl Normalizer {
    /// The normalizer of a file.
    ///
    /// # Errors
    /// If it cannot be read, or a pattern matches an empty place.
    pub fn of(file: &Value) -> Result<Normalizer> {
        let part = file.get("normalizer").filter(|part| !part.is_null());
        let steps = part.map(read).transpose();
        let steps = steps.map_err(|error| Error::new(format!("the normalizer cannot be used: {error}")))?;
        let normalizer = Normalizer(steps.unwrap_or_default());
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
            let [made, most] = [length, most].map(|bytes| size_in_brief(bytes as u64));
            let whole = counted(whole, "byte");
            let what = format!(
                "the normalizer makes {made} of a text of {whole}, more than the {most} that are read"
            );
            Err(Error::new(what).of_kind(ErrorKind::TooLarge))
        };
        for step in &self.0 {
            let now = text.text();
            let mut replaced = Vec::new();
            let more = match step {
                Step::Replace(pattern, content) => {
                    replaced = pattern.matches(now);
                    if replaced.iter().any(|part| part.is_empty()) {
                        let pattern = clip(pattern.written());
                        let what = format!(
                            "the pattern `{pattern}` of the normalizer matches an empty place of the text"
                        );
                        return Err(Error::new(what));
                    }
                    content.len().saturating_mul(replaced.len())
                }
                Step::Prepend(text) => text.len(),
                Step::Precompiled(charsmap) => now.chars().count().saturating_mul(charsmap.longest()),
                _ => 0,
            };
            let next = more.saturating_add(now.len());
            check(next)?;
            let _held = memory::hold((next as u64).saturating_mul(MEMORY))?;
            match step {
                Step::Do(change) => change(text),
                Step::Strip(ends) => text.strip(*ends),
                Step::Precompiled(charsmap) => charsmap.apply(text),
                Step::Replace(_, content) => text.replace(&replaced, content),
                Step::Prepend(before) => text.prepend(before),
            }
            check(text.text().len())?;
        }
        Ok(())
    }
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
        let table = from_base64(base64).and_then(|bytes| Charsmap::of(&bytes)).filter(Charsmap::is_sound);
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

#[cfg(test)]
mod tests {
    use super::*;

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
