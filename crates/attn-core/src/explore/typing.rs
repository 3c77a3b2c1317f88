//! Numbers as they are typed.

/// A character that a number may begin with.
pub fn begins_number(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '-' | '−' | '.')
}
