//! A number as it is typed.

/// The number that a text means: `1.5`, `-3`, `−3`, `1e-3`, `-inf`, `-∞`; never NaN, nor one beyond the range of an `f64`.
pub fn number(text: &str) -> Option<f64> {
    let plain = text.trim().replace('\u{2212}', "-").replace('∞', "inf");
    let number: f64 = plain.parse().ok()?;
    let is_beyond = number.is_infinite() && plain.contains(|c: char| c.is_ascii_digit());
    (!number.is_nan() && !is_beyond).then_some(number)
}

/// The shortest text of a number, with an exponent where it would have many digits: `0.02`, `1e300`.
pub fn typed(number: f64) -> String {
    let text = format!("{number:?}");
    text.strip_suffix(".0").unwrap_or(&text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_as_people_type_it() {
        assert_eq!([5.0, 0.02, 1e300, 1e-9, -1.5].map(typed), ["5", "0.02", "1e300", "1e-9", "-1.5"]);
    }

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
