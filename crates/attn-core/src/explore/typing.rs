//! Numbers as they are typed.

/// A character that a number may begin with.
pub fn begins_number(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '-' | '−' | '.')
}

/// The number that a text means: `1.5`, `-3`, `−3`, `1e-3`, `-inf`; never NaN.
pub(super) fn number(text: &str) -> Option<f64> {
    let plain = text.trim().replace('−', "-").replace('∞', "inf");
    let number: f64 = plain.parse().ok()?;
    (!number.is_nan()).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_type_them() {
        assert_eq!(number(" 1.5 "), Some(1.5));
        assert_eq!(number("−3"), Some(-3.0));
        assert_eq!(number(".5"), Some(0.5));
        assert_eq!(number("-∞"), Some(f64::NEG_INFINITY));
        for wrong in ["", "nan", "1,5", "--1", "1 2", "x"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }
}
