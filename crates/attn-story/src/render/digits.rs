//! The text of each number of a matrix, aligned at the point.

use super::{Charset, numpy};
use crate::matrix::Matrix;
use crate::story::Digits;

/// From here on a number is written with an exponent.
const LARGE: f64 = 1e9;

/// A whole number is written out up to here, so that a count of parameters keeps its digits.
const LARGE_COUNT: f64 = 1e15;

fn is_large(x: f64) -> bool {
    x.abs() >= if x.fract() == 0.0 { LARGE_COUNT } else { LARGE }
}

/// The texts of all cells, row by row. Zeros that no cell needs are not written, so integers stay integers; an exact 0
/// is “0”, a number that only rounds to it “0.0000”.
pub fn cells(matrix: &Matrix, digits: Digits, charset: Charset) -> Vec<String> {
    match digits {
        Digits::AsNumPy => {
            let mut texts = numpy::cells(matrix);
            // NumPy writes the integer 1 as “1.”; a table of nothing but integers does without the points.
            if texts.iter().all(|text| text.ends_with('.')) {
                texts.iter_mut().for_each(|text| text.truncate(text.trim_end_matches('.').len()));
            }
            // NumPy writes “-inf”; a table writes −∞ as everywhere, in the same width.
            let spelled = |text: String| match charset {
                Charset::Ascii => text,
                Charset::Utf8 => text.replace("-inf", "  -∞").replace("inf", "  ∞").replace("nan", "NaN"),
            };
            texts.into_iter().map(spelled).collect()
        }
        Digits::Places(places) => {
            // The first number that needs them all decides: to find the shortest text of a number takes longer than to write it.
            let more = |most: usize, x: f64| Some(most.max(decimals_of(x))).filter(|&most| most < places);
            let needed = matrix.cells().try_fold(0, more).unwrap_or(places);
            let text = |x: f64| number(x, if is_large(x) { places } else { needed });
            aligned(matrix.cells().map(|x| charset.spelled(&text(x)).into_owned()).collect())
        }
    }
}

/// The texts of all cells of a change, row by row: each with its sign, and a point where nothing has moved.
pub fn changes(matrix: &Matrix, digits: Digits, charset: Charset) -> Vec<String> {
    let unmoved = if charset == Charset::Utf8 { "·" } else { "." };
    let signed = |(text, x): (String, f64)| match x {
        0.0 => unmoved.to_string(),
        x if x > 0.0 => format!("+{}", text.trim()),
        _ => text.trim().to_string(),
    };
    aligned(cells(matrix, digits, charset).into_iter().zip(matrix.cells()).map(signed).collect())
}

/// One number by itself, as inside a formula, with a real minus sign.
pub fn one(x: f64, digits: Digits) -> String {
    let text = match digits {
        Digits::AsNumPy => cells(&Matrix::filled(1, 1, x), digits, Charset::Utf8).concat().trim().to_string(),
        Digits::Places(places) if is_large(x) => number(x, places),
        Digits::Places(places) => number(x, decimals_of(x).min(places)),
    };
    text.replace('-', "−")
}

/// One number by itself, with at most this many decimals.
pub fn number_alone(x: f64, decimals: usize) -> String {
    one(x, Digits::Places(decimals))
}

/// One number of a sum: with all decimals, though it needs fewer; a whole number, such as the 1 = exp(0) of a softmax, stays.
pub fn of_sum(x: f64, digits: Digits) -> String {
    match digits {
        Digits::Places(places) if x.fract() != 0.0 => number(x, places).replace('-', "−"),
        _ => one(x, digits),
    }
}

/// Returns true if some numbers are rounded and others need fewer decimals, so that each by itself would get its own number of
/// decimals.
pub fn are_mixed(numbers: &[f64], digits: Digits) -> bool {
    let Digits::Places(places) = digits else { return false };
    let is_rounded = |x: &f64| decimals_of(*x) > places;
    let is_short = |x: &f64| x.fract() != 0.0 && decimals_of(*x) < places;
    numbers.iter().any(is_rounded) && numbers.iter().any(is_short)
}

/// One number with a fixed number of decimals.
pub fn number(x: f64, places: usize) -> String {
    match x {
        _ if x.is_nan() => "NaN".into(),
        f64::INFINITY => "∞".into(),
        f64::NEG_INFINITY => "-∞".into(),
        0.0 => "0".into(),
        _ if is_large(x) => with_exponent(x, places),
        _ => without_sign_of_zero(format!("{x:.places$}")),
    }
}

/// A negative number that rounds to 0 is “0.00” like a positive one.
fn without_sign_of_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(size) if !size.contains(|c| matches!(c, '1'..='9')) => size.to_string(),
        _ => text,
    }
}

/// A number with an exponent, its mantissa without trailing zeros.
fn with_exponent(x: f64, places: usize) -> String {
    let text = format!("{x:.places$e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) if mantissa.contains('.') => {
            format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

/// The number of decimals of a number's shortest text.
fn decimals_of(x: f64) -> usize {
    if !x.is_finite() || x.fract() == 0.0 || is_large(x) {
        return 0;
    }
    x.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// Pads so that the points stand under each other and all texts are equally wide.
pub fn aligned(texts: Vec<String>) -> Vec<String> {
    let split = |text: &str| match text.split_once('.') {
        Some((whole, rest)) => (whole.chars().count(), rest.chars().count() + 1),
        None => (text.chars().count(), 0),
    };
    let whole = texts.iter().map(|text| split(text).0).max().unwrap_or(0);
    let rest = texts.iter().map(|text| split(text).1).max().unwrap_or(0);
    let pad = |text: String| {
        let (before, after) = split(&text);
        format!("{0:1$}{text}{0:2$}", "", whole - before, rest - after)
    };
    texts.into_iter().map(pad).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<const N: usize>(row: [f64; N], places: usize) -> Vec<String> {
        cells(&Matrix::of([row]), Digits::Places(places), Charset::Utf8)
    }

    #[test]
    fn integers_stay_integers_and_points_align() {
        assert_eq!(texts([1.0, -12.0, 3.0], 4), ["  1", "-12", "  3"]);
        assert_eq!(texts([0.5, 10.25], 4), [" 0.50", "10.25"]);
    }

    #[test]
    fn a_change_carries_its_sign_and_what_has_not_moved_is_a_point() {
        let change = Matrix::of([[0.5, 0.0, -12.25, f64::INFINITY]]);
        let texts = |charset| changes(&change, Digits::Places(4), charset);
        assert_eq!(texts(Charset::Utf8), [" +0.50", "  ·   ", "-12.25", " +∞   "]);
        assert_eq!(texts(Charset::Ascii), ["  +0.50", "    .  ", " -12.25", "+inf   "]);
        assert_eq!(changes(&change, Digits::AsNumPy, Charset::Utf8)[..2], [" +0.5 ", "  ·   "]);
    }

    #[test]
    fn an_exact_zero_is_told_from_one_that_rounds_to_it() {
        assert_eq!(texts([0.0, 3.3e-6, 1.0 / 3.0], 4), ["0     ", "0.0000", "0.3333"]);
        assert_eq!(texts([-3.3e-6, -0.5], 2), [" 0.00", "-0.50"]);
    }

    #[test]
    fn integers_in_numpys_digits_have_no_bare_points() {
        assert_eq!(cells(&Matrix::identity(2), Digits::AsNumPy, Charset::Utf8), ["1", "0", "0", "1"]);
        assert_eq!(cells(&Matrix::of([[1.0, 0.5]]), Digits::AsNumPy, Charset::Utf8), ["1. ", "0.5"]);
    }

    #[test]
    fn infinity_and_nan_have_their_signs_and_huge_numbers_an_exponent() {
        assert_eq!(texts([f64::NEG_INFINITY, 1.5], 4), ["-∞  ", " 1.5"]);
        assert_eq!(texts([1e30, f64::NAN], 2), ["1e30", " NaN"]);
    }

    #[test]
    fn a_sum_has_one_number_of_decimals_unless_all_its_numbers_are_exact() {
        let digits = Digits::Places(4);
        let noisy = 0.1 + 0.2;
        assert!(are_mixed(&[4.32, noisy], digits) && are_mixed(&[0.5, 1.0 / 3.0], digits));
        assert!(!are_mixed(&[0.5, 0.25, 3.0], digits) && !are_mixed(&[1.0, noisy], digits));
        assert!(!are_mixed(&[4.32, noisy], Digits::AsNumPy));
        assert_eq!([4.32, noisy, -1.0, 0.0].map(|x| of_sum(x, digits)), ["4.3200", "0.3000", "−1", "0"]);
    }

    #[test]
    fn a_count_of_parameters_keeps_its_digits() {
        assert_eq!(texts([1_391_569_403_904.0], 4), ["1391569403904"]);
        assert_eq!(texts([1_391_569_403_904.5, 1.0], 4), ["1.3916e12", "1        "]);
    }
}
