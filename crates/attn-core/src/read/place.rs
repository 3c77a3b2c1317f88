//! The place of a byte in a text.

/// The line and the column, in characters and both from 1, of a position in bytes.
pub fn line_and_column(text: &str, position: usize) -> (usize, usize) {
    let before = text.get(..position).unwrap_or(text);
    // A carriage return ends a line too, and together with the newline behind it only one.
    let ends = |&at: &usize| before.as_bytes()[at] == b'\n' || text.as_bytes().get(at + 1) != Some(&b'\n');
    let line = memchr::memchr2_iter(b'\n', b'\r', before.as_bytes()).filter(ends).count() + 1;
    let last = memchr::memrchr2_iter(b'\n', b'\r', before.as_bytes()).find(ends);
    let start = last.map_or(0, |end| end + 1);
    (line, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        assert_eq!(line_and_column("äö,x", "äö,".len()), (1, 4));
        assert_eq!(line_and_column("1\n22\n3", 5), (3, 1));
    }
}
