//! Numbers in the sentences of a diagnosis.

/// A number with four digits; `√7 = 2.646` where it is the root of a whole number.
pub(super) fn in_words(x: f64) -> String {
    let square = x * x;
    let is_root = (square - square.round()).abs() < 1e-4 && square.round() < 4097.0 && square.round() >= 1.0;
    let is_whole = (x - x.round()).abs() < 1e-4;
    if is_root && !is_whole { format!("√{} = {}", square.round(), number(x)) } else { number(x) }
}

/// A number with four digits.
pub(super) fn number(x: f64) -> String {
    crate::graph::number_text(short(x))
}

/// Four digits of a number.
pub(super) fn short(x: f64) -> f64 {
    to_digits(x, 4)
}

/// A number rounded to this many digits, at least one.
pub(super) fn to_digits(x: f64, digits: usize) -> f64 {
    format!("{x:.0$e}", digits.saturating_sub(1)).parse().unwrap_or(x)
}
