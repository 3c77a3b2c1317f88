//! A number as prose writes it, compared with a computed value.

use std::ops::Range;

use crate::read::number;

/// The characters allowed between a number and the directive that checks it: they close bold, italics and code.
const CLOSING: [char; 3] = ['*', '_', '`'];
/// Decimals of a value that takes the place of an infinity, as many as tables show.
const DECIMALS_OF_INFINITY: usize = 4;

/// A number in a text, with the form it is written in: `0.30`, `−1.5`, `+2`, `124,439,808`, `30%`, `1e-3`, `-∞`.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenNumber {
    text: String,
    /// The number as written, 30 for `30%`, without its sign.
    size: f64,
    sign: Option<char>,
    /// The digits after the point, in front of the exponent.
    decimals: usize,
    exponent: Option<char>,
    has_commas: bool,
    has_percent: bool,
}

impl WrittenNumber {
    /// Reads a text that is one number and nothing else.
    pub fn parse(text: &str) -> Option<WrittenNumber> {
        let length = length_of_number(text)?;
        if length != text.len() { None } else { WrittenNumber::of(text) }
    }

    /// The number that a text ends in, before the marks that close bold, italics or code; and where it is, in bytes.
    pub fn ending(text: &str) -> Option<(Range<usize>, WrittenNumber)> {
        let end = text.trim_end_matches(CLOSING).len();
        numbers_in(&text[..end]).pop().filter(|(range, _)| range.end == end)
    }

    /// From a text that is one number.
    fn of(text: &str) -> Option<WrittenNumber> {
        let sign = text.chars().next().filter(|first| ['-', '−', '+'].contains(first));
        let unsigned = &text[sign.map_or(0, char::len_utf8)..];
        let has_percent = unsigned.ends_with('%');
        let plain = unsigned.trim_end_matches('%').replace(',', "");
        let exponent = plain.chars().find(|c| ['e', 'E'].contains(c));
        let mantissa = plain.split(['e', 'E']).next().unwrap_or_default();
        Some(WrittenNumber {
            text: text.to_string(),
            size: number(&plain).ok()?.value,
            sign,
            decimals: mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len()),
            exponent,
            has_commas: unsigned.contains(','),
            has_percent,
        })
    }

    /// The text as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The value: 0.3 for `30%`.
    pub fn value(&self) -> f64 {
        let value = if self.has_percent { self.size / 100.0 } else { self.size };
        if matches!(self.sign, Some('-' | '−')) { -value } else { value }
    }

    /// The digits after the point, 2 for `0.30`; those of the mantissa where there is an exponent.
    pub fn decimals(&self) -> usize {
        self.decimals
    }

    /// Whether a value is this number at the digits written, rounded as the tables are; a zero may leave out the minus sign of
    /// the value that it rounds.
    pub fn agrees(&self, value: f64) -> bool {
        if value.is_nan() {
            return false;
        }
        let same_size = self.digits(value).parse::<f64>().is_ok_and(|size| size == self.size);
        let has_minus = matches!(self.sign, Some('-' | '−'));
        same_size && (has_minus == (value < 0.0) || (self.size == 0.0 && !has_minus))
    }

    /// Another value in the form of this number: as many decimals, its commas, its percent sign.
    pub fn refilled(&self, value: f64) -> String {
        if value.is_nan() {
            return "NaN".to_string();
        }
        let mut digits = self.digits(value).replace("inf", "∞");
        if self.has_commas {
            digits = with_commas(&digits);
        }
        if let Some(exponent) = self.exponent {
            digits = digits.replace('e', &exponent.to_string());
        }
        let begins_with_point = self.text.trim_start_matches(['-', '−', '+']).starts_with('.');
        if begins_with_point && digits.starts_with("0.") {
            digits.remove(0);
        }
        let is_zero = !digits.contains(|c: char| c == '∞' || ('1'..='9').contains(&c));
        let sign = match self.sign {
            _ if is_zero => "",
            Some('-') if value < 0.0 => "-",
            _ if value < 0.0 => "−",
            Some('+') => "+",
            _ => "",
        };
        format!("{sign}{digits}{}", if self.has_percent { "%" } else { "" })
    }

    /// A value without its sign, at the digits of this number.
    fn digits(&self, value: f64) -> String {
        let size = if self.has_percent { value.abs() * 100.0 } else { value.abs() };
        let decimals = if self.size.is_infinite() { DECIMALS_OF_INFINITY } else { self.decimals };
        match self.exponent {
            Some(_) if size.is_finite() => format!("{size:.decimals$e}"),
            _ => at_decimals(size, decimals),
        }
    }
}

/// A number with this many decimals, rounded as the tables of `render` print it: to the nearest of what the 64-bit float exactly is.
pub(in crate::lesson) fn at_decimals(number: f64, decimals: usize) -> String {
    format!("{number:.decimals$}")
}

/// The bytes of the number that a text begins with: `0.30`, `−1.5`, `124,439,808`, `30%`, `1e-3`.
fn length_of_number(text: &str) -> Option<usize> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let sign = |text: &str| text.chars().next().filter(|c| "-−+".contains(*c)).map_or(0, char::len_utf8);
    let fraction = |text: &str| match text.strip_prefix('.').map_or(0, digits) {
        0 => 0,
        count => 1 + count,
    };
    let unsigned = &text[sign(text)..];
    let mut end = digits(unsigned);
    if let Some(infinity) = ["inf", "∞"].into_iter().find(|word| unsigned.starts_with(word)) {
        end = infinity.len();
    } else {
        let is_one_digit = end == 1 && !unsigned.starts_with('0') && !unsigned[1..].starts_with(',');
        while (1..=3).contains(&digits(unsigned))
            && unsigned[end..].strip_prefix(',').is_some_and(|group| digits(group) == 3)
        {
            end += 4;
        }
        end += fraction(&unsigned[end..]);
        if end == 0 {
            return None;
        }
        if let Some(exponent) = unsigned[end..].strip_prefix(['e', 'E']).filter(|_| is_one_digit)
            && digits(&exponent[sign(exponent)..]) > 0
        {
            end += 1 + sign(exponent) + digits(&exponent[sign(exponent)..]);
        }
    }
    let end = sign(text) + end;
    let end = end + usize::from(text[end..].starts_with('%'));
    let goes_on = |c: char| c.is_alphabetic() && !c.is_numeric() || c.is_ascii_digit();
    (!text[end..].starts_with(goes_on)).then_some(end)
}

/// The numbers of a text and their byte ranges. Digits in a word or after a slash are not numbers: `W_2`, `2nd`, `1/3`.
pub fn numbers_in(text: &str) -> Vec<(Range<usize>, WrittenNumber)> {
    let mut found: Vec<(Range<usize>, WrittenNumber)> = Vec::new();
    let mut end = 0;
    for (at, character) in text.char_indices() {
        // A `_` belongs to a name, as in `W_2`, or begins emphasis.
        let mut before = text[..at].chars().rev();
        let previous = match before.next() {
            Some('_') => before.next(),
            other => other,
        };
        let within_word = |c: char| c.is_alphanumeric() || ['_', '/', '.', ','].contains(&c);
        let after_operand = |c: char| c.is_alphanumeric() || [')', ']', '_'].contains(&c);
        let may_begin = match character {
            '-' | '−' | '+' => !previous.is_some_and(after_operand),
            '.' | '∞' | '0'..='9' | 'i' => !previous.is_some_and(within_word),
            _ => false,
        };
        if at < end || !may_begin {
            continue;
        }
        let Some(length) = length_of_number(&text[at..]) else { continue };
        if text[at + length..].starts_with('/') {
            continue;
        }
        if let Some(written) = WrittenNumber::of(&text[at..at + length]) {
            end = at + length;
            found.push((at..end, written));
        }
    }
    found
}

/// Commas between the thousands of the whole part.
fn with_commas(digits: &str) -> String {
    let whole = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let mut text = String::new();
    for (at, digit) in digits[..whole].chars().enumerate() {
        if at > 0 && (whole - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text + &digits[whole..]
}

#[cfg(test)]
mod tests;
