//! A text that is changed and split, with the place in the original text that each of its bytes comes from.

use std::mem;
use std::ops::Range;

use fancy_regex::Regex;
use serde::Deserialize;

/// A part of a text, as the rules have changed it.
#[derive(Clone)]
pub(super) struct Aligned {
    text: String,
    /// The bytes of the original text that each byte stands for, as their start and end.
    places: Vec<(usize, usize)>,
    /// The part of the original text.
    range: Range<usize>,
}

impl Aligned {
    /// A text before any change.
    pub fn of(text: &str) -> Aligned {
        let place = |(at, c): (usize, char)| std::iter::repeat_n((at, at + c.len_utf8()), c.len_utf8());
        Aligned {
            text: text.to_string(),
            places: text.char_indices().flat_map(place).collect(),
            range: 0..text.len(),
        }
    }

    /// The text as it is now.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The part of the original text.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// The bytes of the original text that some bytes stand for. Bytes that are not there stand for themselves.
    pub fn original(&self, bytes: Range<usize>) -> Range<usize> {
        match self.places.get(bytes.clone()) {
            Some([(start, end)]) | Some([(start, _), .., (_, end)]) => *start..*end,
            _ => bytes,
        }
    }

    /// Some bytes of it.
    pub fn part(&self, bytes: Range<usize>) -> Aligned {
        Aligned {
            text: self.text[bytes.clone()].to_string(),
            places: self.places[bytes.clone()].to_vec(),
            range: self.original(bytes),
        }
    }

    /// Takes white space away from its left and its right end; the part of the original text stays.
    pub fn strip(&mut self, [left, right]: [bool; 2]) {
        let end = if right { self.text.trim_end().len() } else { self.text.len() };
        let start = if left { end - self.text[..end].trim_start().len() } else { 0 };
        self.text = self.text[start..end].to_string();
        self.places = self.places[start..end].to_vec();
    }

    /// Puts a text before it, if it is not empty.
    pub fn prepend(&mut self, text: &str) {
        if let Some(&first) = self.places.first() {
            self.text.insert_str(0, text);
            self.places.splice(0..0, std::iter::repeat_n(first, text.len()));
        }
    }

    /// Writes other characters for each character.
    pub fn each(&mut self, write: impl Fn(char, &mut String)) {
        let (text, places) = (mem::take(&mut self.text), mem::take(&mut self.places));
        for (at, c) in text.char_indices() {
            write(c, &mut self.text);
            self.places.resize(self.text.len(), places[at]);
        }
    }

    /// Keeps the characters of a kind.
    pub fn retain(&mut self, is_kept: impl Fn(char) -> bool) {
        self.each(|c, out| out.extend(Some(c).filter(|&c| is_kept(c))));
    }

    /// Writes each byte as a character that can be seen.
    pub fn write_bytes(&mut self) {
        self.each(|c, out| out.extend(c.encode_utf8(&mut [0; 4]).bytes().map(character_of)));
    }

    /// Takes changed characters in place of all. With each goes how it came about: 1 if it was put in after the one before it, 0 if it
    /// replaces one, −n if it replaces one and n more that follow.
    pub fn transform(&mut self, changed: impl Iterator<Item = (char, isize)>) {
        let old = mem::take(&mut self.text);
        let (mut left, mut done, mut places) = (old.chars(), 0, Vec::with_capacity(self.places.len()));
        for (c, change) in changed {
            let at = if change > 0 { done.max(1) - 1 } else { done };
            let place = self.places.get(at).or(self.places.last()).copied().unwrap_or_default();
            self.text.push(c);
            places.resize(self.text.len(), place);
            done += left.by_ref().take((1 - change) as usize).map(char::len_utf8).sum::<usize>();
        }
        self.places = places;
    }

    /// Puts a text in place of some parts.
    pub fn replace(&mut self, parts: &[Range<usize>], content: &str) {
        let (text, places) = (mem::take(&mut self.text), mem::take(&mut self.places));
        let mut done = 0;
        for part in parts {
            self.text.push_str(&text[done..part.start]);
            self.places.extend(&places[done..part.start]);
            let place = part.end.checked_sub(1).map_or((self.range.start, self.range.start), |at| places[at]);
            self.text.push_str(content);
            self.places.resize(self.text.len(), place);
            done = part.end;
        }
        self.text.push_str(&text[done..]);
        self.places.extend(&places[done..]);
    }

    /// Its parts, between and at the matches of a pattern.
    pub fn split(&self, pattern: &Pattern, behavior: Behavior, invert: bool) -> Vec<Aligned> {
        let is_joined: fn(bool, bool) -> bool = match behavior {
            Behavior::Removed | Behavior::Isolated => |_, _| false,
            Behavior::Contiguous => |is_match, previous| is_match == previous,
            Behavior::MergedWithPrevious | Behavior::MergedWithNext => {
                |is_match, previous| is_match && !previous
            }
        };
        let mut pieces = self.pieces(pattern);
        if behavior == Behavior::MergedWithNext {
            pieces.reverse();
        }
        let (mut parts, mut previous): (Vec<Range<usize>>, bool) = (Vec::new(), false);
        for (piece, is_match) in pieces {
            let is_match = is_match != invert;
            match parts.last_mut() {
                Some(last) if is_joined(is_match, previous) => {
                    *last = last.start.min(piece.start)..last.end.max(piece.end);
                }
                _ if is_match && behavior == Behavior::Removed => {}
                _ => parts.push(piece),
            }
            previous = is_match;
        }
        if behavior == Behavior::MergedWithNext {
            parts.reverse();
        }
        parts.into_iter().map(|part| self.part(part)).collect()
    }

    /// Its parts from each of these places to the next one or the end.
    pub fn cut(&self, mut starts: Vec<usize>) -> Vec<Aligned> {
        starts.push(self.text.len());
        starts.array_windows().map(|&[start, end]| self.part(start..end)).collect()
    }

    /// The whole text in pieces: each match of a pattern, and what is between them.
    fn pieces(&self, pattern: &Pattern) -> Vec<(Range<usize>, bool)> {
        let (mut pieces, mut done) = (Vec::new(), 0);
        for found in pattern.matches(&self.text) {
            if done < found.start {
                pieces.push((done..found.start, false));
            }
            done = found.end;
            pieces.push((found, true));
        }
        if done < self.text.len() {
            pieces.push((done..self.text.len(), false));
        }
        pieces
    }
}

/// What happens to the matches of a pattern when a text is split.
#[derive(Clone, Copy, PartialEq, Deserialize)]
pub(super) enum Behavior {
    /// They are left out.
    Removed,
    /// Each is a part.
    Isolated,
    /// Each is the end of the part before it.
    MergedWithPrevious,
    /// Each is the beginning of the part after it.
    MergedWithNext,
    /// Neighbours among them are one part.
    Contiguous,
}

/// What is looked for in a text.
#[derive(Deserialize)]
#[serde(try_from = "Written")]
pub(super) enum Pattern {
    Text(String),
    Regex(Box<Regex>),
    Character(fn(char) -> bool),
}

/// A pattern in a file.
#[derive(Deserialize)]
enum Written {
    String(String),
    Regex(String),
}

impl TryFrom<Written> for Pattern {
    type Error = Box<fancy_regex::Error>;

    fn try_from(written: Written) -> Result<Pattern, Self::Error> {
        Ok(match written {
            Written::String(text) => Pattern::Text(text),
            Written::Regex(text) => Pattern::Regex(Box::new(Regex::new(&text).map_err(Box::new)?)),
        })
    }
}

impl Pattern {
    /// A pattern of this program.
    pub fn regex(text: &str) -> Pattern {
        Pattern::Regex(Box::new(Regex::new(text).expect("it is tested")))
    }

    /// Where it is in a text, which is not empty. A search that takes too long ends early.
    pub fn matches(&self, text: &str) -> Vec<Range<usize>> {
        let range = |(at, found): (usize, &str)| at..at + found.len();
        match self {
            _ if text.is_empty() => Vec::new(),
            Pattern::Text(literal) => text.match_indices(literal.as_str()).map(range).collect(),
            Pattern::Character(is_match) => text.match_indices(is_match).map(range).collect(),
            Pattern::Regex(regex) => {
                regex.find_iter(text).map_while(Result::ok).map(|found| found.range()).collect()
            }
        }
    }

    /// As the file writes it.
    pub fn written(&self) -> &str {
        match self {
            Pattern::Text(text) => text,
            Pattern::Regex(regex) => regex.as_str(),
            Pattern::Character(_) => "",
        }
    }
}

// Byte-level vocabularies write each byte as one character that can be seen: those of printable ASCII and Latin-1 as
// themselves, the other 68 as U+0100 and what follows, so that `Ġ` is a space.

/// The character of a byte-level vocabulary that stands for a byte.
fn character_of(byte: u8) -> char {
    let code = u32::from(byte);
    char::from_u32(match byte {
        0..=0x20 => 0x100 + code,
        0x7f..=0xa0 => 0x121 + code - 0x7f,
        0xad => 0x143,
        _ => code,
    })
    .unwrap_or_default()
}

/// The byte that a character of a byte-level vocabulary stands for.
pub(super) fn byte_of(c: char) -> Option<u8> {
    let code = u32::from(c);
    let byte = match code {
        0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => code,
        0x100..=0x120 => code - 0x100,
        0x121..=0x142 => code - 0x121 + 0x7f,
        0x143 => 0xad,
        _ => return None,
    };
    u8::try_from(byte).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_have_a_character_of_their_own() {
        let mut found: Vec<u8> = ('\0'..='\u{200}').filter_map(byte_of).collect();
        found.sort_unstable();
        assert_eq!(found, (0..=u8::MAX).collect::<Vec<u8>>());
        assert!((0..=u8::MAX).all(|byte| byte_of(character_of(byte)) == Some(byte)));
        // As in GPT-2's encoder.py: the space is Ġ, the line end Ċ, the soft hyphen Ń.
        assert_eq!(['Ġ', 'Ċ', 'ł', 'Ń', '!', 'ÿ'].map(byte_of), [32, 10, 160, 173, 33, 255].map(Some));
    }
}
