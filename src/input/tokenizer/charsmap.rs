//! The table of replaced characters of SentencePiece, in a file as base64: a double array over bytes, then the replacements.
//! The crate that looks characters up in it does not check its places.

use std::collections::HashSet;

use crate::error::{Error, Result};

/// Checks that every lookup stays within the table. Returns the length of the longest replacement in bytes.
///
/// # Errors
/// If the text is no base64, or a place in the table is outside it.
pub(super) fn check(base64: &str) -> Result<usize> {
    let table = decoded(base64).and_then(|bytes| Table::of(&bytes)).filter(Table::is_sound);
    let broken =
        || Error::new("the normalizer's `precompiled_charsmap` is broken").help("download the file again");
    let table = table.ok_or_else(broken)?;
    Ok(table.replacements.split('\0').map(str::len).max().unwrap_or(0))
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

struct Table {
    units: Vec<usize>,
    replacements: String,
}

impl Table {
    /// The length of the array in bytes, the array, and the replacements.
    fn of(bytes: &[u8]) -> Option<Table> {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize / 4 * 4;
        let (array, replacements) = rest.split_at_checked(length)?;
        let units = array.as_chunks::<4>().0.iter().map(|unit| u32::from_le_bytes(*unit) as usize).collect();
        Some(Table { units, replacements: String::from_utf8(replacements.to_vec()).ok()? })
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
                if unit & (1 << 31 | 0xff) != byte {
                    continue;
                }
                let next = node ^ byte ^ offset(unit);
                if unit >> 8 & 1 == 1 && !self.has_replacement(next) {
                    return false;
                }
                nodes.push(next);
            }
        }
        true
    }

    fn has_replacement(&self, leaf: usize) -> bool {
        let start = self.units.get(leaf).map(|unit| unit & ((1 << 31) - 1));
        start.is_some_and(|start| self.replacements.is_char_boundary(start))
    }
}

/// The distance from a unit to its children.
fn offset(unit: usize) -> usize {
    unit >> 10 << ((unit & 1 << 9) >> 6)
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
        let is_sound = |bytes: Vec<u8>| Table::of(&bytes).unwrap().is_sound();
        assert!(is_sound(table(1 << 31, 512)));
        assert!(!is_sound(table(1 << 31 | 9, 512)), "a replacement outside");
        assert!(!is_sound(table(1 << 31, 500)), "a byte outside");
        assert!(Table::of(&[255, 0, 0, 0, 1]).is_none());
    }
}
