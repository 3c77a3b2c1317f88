//! Line ends, comments and blank lines of a text.

use super::spreadsheet::starts_with_error;

/// Ends a line, alone or after one another: Unix, Windows, and old spreadsheets on the Mac.
pub(super) const LINE_ENDS: [char; 2] = ['\n', '\r'];

/// True if a text begins with a comment: `#`, unless it is the `#` of an error that a spreadsheet has exported.
pub(super) fn is_comment(text: &str) -> bool {
    text.starts_with('#') && !starts_with_error(text)
}

/// The first byte from `from` on that belongs to a record: after comment lines, and lines of nothing but blanks.
pub(super) fn skip_comments(text: &str, from: usize, is_blank: impl Fn(char) -> bool) -> usize {
    let mut at = from;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let end = memchr::memchr2(b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len());
        if !(is_comment(rest) || rest[..end].chars().all(&is_blank)) {
            break;
        }
        at += end + usize::from(end < rest.len());
    }
    at
}
