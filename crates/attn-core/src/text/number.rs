//! A number as it is typed.

/// The number that a text means: `1.5`, `-3`, `−3`, `1e-3`, `-inf`, `-∞`; never NaN, nor one beyond the range of an `f64`.
pub fn number(text: &str) -> Option<f64> {
    let plain = text.trim().replace('\u{2212}', "-").replace('∞', "inf");
    let number: f64 = plain.parse().ok()?;
    let is_beyond = number.is_infinite() && plain.contains(|c: char| c.is_ascii_digit());
    (!number.is_nan() && !is_beyond).then_some(number)
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
        for wrong in ["", "nan", "1,5", "--1", "1 2", "x", "1e400"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }
}
