//! Counts as people write them.

/// A count with its noun: “1 number”, “2 numbers”, “0 matrices”, “3 entries”.
pub fn counted(count: usize, noun: &str) -> String {
    let (stem, ending) = match noun {
        _ if count == 1 => (noun, ""),
        "matrix" => ("matri", "ces"),
        _ => match noun.strip_suffix('y') {
            Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => (stem, "ies"),
            _ => (noun, "s"),
        },
    };
    format!("{count} {stem}{ending}")
}

/// A count with commas: 8,030,261,248.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_and_its_noun_agree() {
        let said = [(1, "row"), (0, "row"), (2, "matrix"), (1, "matrix"), (3, "entry"), (2, "key")]
            .map(|(count, noun)| counted(count, noun));
        assert_eq!(said, ["1 row", "0 rows", "2 matrices", "1 matrix", "3 entries", "2 keys"]);
    }

    #[test]
    fn counts_are_grouped_in_thousands() {
        assert_eq!(grouped(8_030_261_248), "8,030,261,248");
        assert_eq!(grouped(999), "999");
    }
}
