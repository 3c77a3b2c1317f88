//! One cell as a person writes it: a number, or `true` and `false`.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::memory;
use crate::tensor::Dtype;
use crate::text::clip;

use super::array::{AllowedNumbers, Array, ArrayFacts, MOST_CELLS};

/// An `f64` has at most 17 significant digits, so more decimals are not counted.
pub const MOST_DECIMALS: usize = 17;

/// Marks of numbers that were left out in printing.
const ELISIONS: [&str; 6] = ["...", "..", "…", "⋮", "⋯", "⋱"];

/// Whether a word stands for numbers that were left out in printing, as `…` does, and `<<8>>` of Mathematica.
pub(super) fn is_elision(word: &str) -> bool {
    ELISIONS.contains(&word) || word.starts_with("<<") && word.ends_with(">>")
}

/// The most numbers of an array whose decimals are counted.
pub const MOST_COUNTED: usize = 1 << 20;

/// A number, and how precisely it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// The nearest `f64`.
    pub value: f64,
    /// The decimals as written: 2 for `0.50`, 3 for `5e-3`; at most [`MOST_DECIMALS`].
    pub decimals: usize,
    /// The significant digits as written: 2 for `0.50`, 5 for `1.2345e-2`, 1 for `100`.
    pub digits: usize,
}

/// Reads one number: `2`, `-.5`, `1e-3`, `inf`, `-∞`, `nan` in any case. U+2212 (`−`) is a minus sign.
///
/// # Errors
/// If the text is no number, or is finite but beyond the range of an `f64`.
pub fn number(text: &str) -> Result<Number> {
    let text = text.trim();
    let plain = if text.is_ascii() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.replace('\u{2212}', "-").replace('∞', "inf"))
    };
    let Ok(value) = plain.parse::<f64>() else {
        return Err(not_a_number(text));
    };
    if value.is_infinite() && plain.contains(|c: char| c.is_ascii_digit()) {
        return Err(Error::new(format!("`{}` is beyond the range of a 64-bit float", clip(text)))
            .help("the largest is about 1.8e308; write inf or -inf if infinity is meant"));
    }
    Ok(Number { value, decimals: decimals_written(&plain), digits: digits_written(&plain) })
}

fn not_a_number(text: &str) -> Error {
    if text.is_empty() {
        return Error::new("a number is missing").help("write a number in every cell: 0, or -inf to mask");
    }
    if let Some(what) = spreadsheet_kind(text) {
        return Error::new(format!("`{}` is {what}, not a number", clip(text))).help(FORMULA_HELP);
    }
    if is_elision(text) {
        return Error::new(format!("`{text}` stands for numbers that were not printed")).help(
            "print all of it, in Python after np.set_printoptions(threshold=np.inf) or torch.set_printoptions(profile=\"full\"), of pandas by print(df.to_string()), or save it: np.save(\"o.npy\", o)",
        );
    }
    let error = Error::new(format!("`{}` is not a number", clip(text)));
    if has_decimal_comma(text) {
        return error.help("write a decimal point: 0.25");
    }
    error.help("write decimals such as 0.25, or -inf to mask")
}

/// True if a text would be a number with a point for its one comma.
pub(super) fn has_decimal_comma(text: &str) -> bool {
    text.split_once(',').is_some_and(|(_, decimals)| decimals.starts_with(|c: char| c.is_ascii_digit()))
        && number(&text.replace(',', ".")).is_ok()
}

/// Checks that the commas in a row of numbers can only stand between two of them: `1,5 2,5` may be two numbers or four.
///
/// # Errors
/// If a comma may be that of a decimal.
pub fn check_commas(row: &str) -> Result<()> {
    let parts_by_blanks = || row.split(',').any(|piece| piece.split_whitespace().nth(1).is_some());
    if !row.contains(',') || !parts_by_blanks() {
        return Ok(());
    }
    // `1,234.5` has a comma between thousands.
    let has_thousands = |word: &str| {
        word.split_once(',').is_some_and(|(_, behind)| behind.contains('.'))
            && number(&word.replace(',', "")).is_ok()
            && !word.ends_with(',')
    };
    match row.split_whitespace().find(|word| has_decimal_comma(word) || has_thousands(word)) {
        None => Ok(()),
        Some(word) => Err(Error::new(format!("`{}` may be one number or two", clip(word)))
            .help("write a decimal point, as in 1.5, or the same separator between all numbers: 1, 5, 2")),
    }
}

/// True if a text is a cell of a matrix, or was clearly meant to be one, though it cannot be read: `1,5`, `1,000,000`, `1e400`,
/// `0x1F`, `1_000`, `+-1`, `1/4`, `10%`, `1:`, `=A1*2`, `1.5f`. A date is none.
pub fn is_meant_as_number(text: &str) -> bool {
    let text = text.trim().replace('\u{2212}', "-");
    let unsigned = text.trim_start_matches(['+', '-']);
    // With its commas and underscores taken away, and one sign at most.
    let bare: String = unsigned.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    let has_digits = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    is_cell(&text)
        || has_digits && bare.parse::<f64>().is_ok()
        || has_digits
            && unsigned.strip_suffix(['%', ':']).unwrap_or(unsigned).split('/').all(is_cell)
            && unsigned.matches('/').count() < 2
        || is_of_another_base(unsigned)
        || is_mistyped(unsigned)
        || is_formula(&text)
        || starts_with_error(&text)
}

/// Whether a text begins with a decimal number that goes on otherwise: `1'500.0`, `1.5f`, `$1.5`, `1.5±0.1`; or has a command of
/// LaTeX in it. A date is none.
pub(super) fn is_mistyped(text: &str) -> bool {
    let text = text.trim_start_matches(['~', '<', '>', '≈', '±', '$', '€', '£']);
    let behind = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let mut rest = behind.chars();
    behind.len() < text.len()
        && matches!(rest.next(), Some('.' | ',' | '\'' | '’' | '·' | '×' | '±' | '^'))
        && rest.next().is_some_and(|c| c.is_ascii_digit())
        && (text.matches('.').count() < 2 || text.contains(|c: char| !c.is_ascii_digit() && c != '.'))
        || text.contains('\\') && text.contains(|c: char| c.is_ascii_digit())
}

/// True if this is `0x1F`, `0b101` or `0o17`.
fn is_of_another_base(text: &str) -> bool {
    let (prefix, digits) = text.split_at_checked(2).unwrap_or_default();
    let base = match prefix {
        "0x" | "0X" => 16,
        "0o" | "0O" => 8,
        "0b" | "0B" => 2,
        _ => return false,
    };
    !digits.is_empty() && digits.chars().all(|c| c.is_digit(base) || c == '_')
}

/// The digits after the point, less the exponent.
fn decimals_written(text: &str) -> usize {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let digits = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    // `inf` and `nan` have neither; an exponent too long for an i64 belongs to zero or to an error.
    let exponent = exponent.parse::<i64>().unwrap_or(0);
    let digits = i64::try_from(digits).unwrap_or(i64::MAX);
    usize::try_from(digits.saturating_sub(exponent)).unwrap_or(0).min(MOST_DECIMALS)
}

/// The digits from the first that is not 0; the zeros that end a whole number count as none.
fn digits_written(text: &str) -> usize {
    let (mantissa, _) = text.split_once(['e', 'E']).unwrap_or((text, ""));
    let whole = if mantissa.contains('.') { mantissa } else { mantissa.trim_end_matches('0') };
    let first = whole.find(|c: char| matches!(c, '1'..='9')).unwrap_or(whole.len());
    whole[first..].chars().filter(char::is_ascii_digit).count()
}

/// Reads `true` or `false`, in any case.
pub fn truth(text: &str) -> Option<bool> {
    match text.trim() {
        text if text.eq_ignore_ascii_case("true") => Some(true),
        text if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// True if a cell of a matrix can be read from this text.
pub(super) fn is_cell(text: &str) -> bool {
    truth(text).is_some() || cell(text).is_ok()
}

/// The number of a cell of a matrix, which may also be a fraction, a percentage or a power of ten: `1/4`, `25%`, `1.5 × 10⁻³`.
///
/// # Errors
/// As [`number`].
pub fn cell(text: &str) -> Result<Number> {
    let plain = number(text);
    if plain.is_ok() || text.is_ascii() && !text.contains(['/', '%', 'D', 'd', '^']) {
        return plain;
    }
    if let Some(power) = with_power_of_ten(text) {
        return number(&power).or(plain);
    }
    // Fortran's double precision: `0.5D+00`.
    if let Some((mantissa, exponent)) = text.split_once(['D', 'd'])
        && mantissa.ends_with(|c: char| c.is_ascii_digit() || c == '.')
        && exponent.starts_with(['+', '-'])
    {
        return number(&format!("{mantissa}e{exponent}")).or(plain);
    }
    let exact = |value: f64| Number { value, decimals: decimals_of(value, |v| format!("{v:e}")), digits: 1 };
    if let Some(percent) = text.trim().strip_suffix('%').and_then(|text| number(text).ok()) {
        let decimals = (percent.decimals + 2).min(MOST_DECIMALS);
        return Ok(Number { value: percent.value / 100.0, decimals, ..percent });
    }
    // Julia writes 1//2.
    match text.replacen("//", "/", 1).split_once('/').map(|(top, bottom)| (number(top), number(bottom))) {
        Some((Ok(top), Ok(bottom))) if bottom.value != 0.0 && bottom.value.is_finite() => {
            Ok(exact(top.value / bottom.value))
        }
        _ => plain,
    }
}

/// The number with an exponent that a text has with a power of ten: `1.5e-3` for `1.5·10^-3`, `1.5 × 10⁻³` and `1.5*10^{-3}`.
fn with_power_of_ten(text: &str) -> Option<String> {
    const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹";
    let is_raised = |c: char| RAISED.contains(c) || matches!(c, '⁻' | '⁺');
    let start = text.find(|c: char| c == '^' || is_raised(c))?;
    let (before, power) = text.split_at(start);
    let factor = before.trim_end().strip_suffix("10")?.trim();
    let factor = match factor.strip_suffix(['×', '·', '*', '⋅']) {
        Some(factor) => factor.trim_end(),
        None if matches!(factor, "" | "-" | "\u{2212}") => factor,
        None => return None,
    };
    let one = if factor.ends_with(|c: char| c.is_ascii_digit() || c == '.') { "" } else { "1" };
    let power: String = power
        .trim_start_matches('^')
        .trim_matches(['{', '}', '(', ')', ' '])
        .chars()
        .map(|c| match RAISED.chars().position(|raised| raised == c) {
            Some(digit) => char::from(b'0' + digit as u8),
            None if matches!(c, '⁻' | '\u{2212}') => '-',
            None if c == '⁺' => '+',
            None => c,
        })
        .collect();
    power.parse::<i64>().is_ok().then(|| format!("{factor}{one}e{power}"))
}

/// The decimals that the shortest text of `value` has, as the type that `print` writes with `{:e}` counts them.
pub fn decimals_of(value: f64, print: impl Fn(f64) -> String) -> usize {
    if value.is_finite() && value != value.trunc() { decimals_written(&print(value)) } else { 0 }
}

/// The shortest decimal that reads back as the same number of its type: `0.1`, `-0`, `5e-324`, `-inf`, `nan`.
pub fn shortest(value: f64, dtype: Dtype) -> String {
    let size = value.abs();
    let is_plain = size == 0.0 || (1e-5..1e16).contains(&size) || size.is_infinite();
    match (is_plain, dtype) {
        _ if value.is_nan() => "nan".to_string(),
        (true, Dtype::F32 | Dtype::F16 | Dtype::Bf16) => (value as f32).to_string(),
        (false, Dtype::F32 | Dtype::F16 | Dtype::Bf16) => format!("{:e}", value as f32),
        (true, Dtype::F64 | Dtype::Bool) => value.to_string(),
        (false, Dtype::F64 | Dtype::Bool) => format!("{value:e}"),
    }
}

/// The shortest decimal of a number, for a sentence.
pub(super) fn shortest_decimal(value: f64) -> String {
    shortest(value, Dtype::F64)
}

// Cells that a spreadsheet exports in place of numbers: formulas and its own errors.

/// The help of an error about such a cell.
pub(super) const FORMULA_HELP: &str =
    "export the values of the cells, not their formulas; put a label in quotation marks";

/// The errors of spreadsheets. They begin like a comment, but a row that begins with one is a row.
const SPREADSHEET_ERRORS: [&str; 7] = ["#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"];

/// The kind of a cell that begins as a formula or an error does, for an error; `None` for any other text.
pub(super) fn spreadsheet_kind(text: &str) -> Option<&'static str> {
    let text = text.trim();
    let begins = |c: char| c.is_ascii_alphabetic() || matches!(c, '$' | '(');
    let is_begun = text.len() > 1 && text.starts_with('=')
        || text.strip_prefix(['+', '@']).is_some_and(|rest| rest.starts_with(begins));
    if starts_with_error(text) {
        Some("an error of a spreadsheet")
    } else {
        (is_begun || is_formula(text)).then_some("a formula")
    }
}

/// True if a text is a formula for certain: `=A1*2`, `=SUM(A1:A3)`, `+B2/2`, `@SUM(A1:A3)`. The tokens `=`, `=>`, `+x` and
/// `@bat` are none.
pub(super) fn is_formula(text: &str) -> bool {
    let Some(body) = text.strip_prefix(['=', '+', '-', '@']) else { return false };
    let name = body.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '$' | '.'));
    let has_name = name.len() < body.len() && body.starts_with(|c: char| c.is_ascii_alphabetic() || c == '$');
    let is_call = has_name && name.starts_with('(');
    let is_computed = has_name
        && body[..body.len() - name.len()].contains(|c: char| c.is_ascii_digit())
        && name.starts_with(['+', '-', '*', '/', '^', '&', ':']);
    is_call || is_computed || (text.starts_with('=') && body.contains(|c: char| c.is_ascii_digit()))
}

/// True if a text is an error of a spreadsheet, alone or as the first cell of a row.
pub(super) fn starts_with_error(text: &str) -> bool {
    let rest = SPREADSHEET_ERRORS.iter().find_map(|error| text.strip_prefix(error));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([',', ';', '\t', '\r', '\n']))
}

// Line ends, comments and blank lines of a text.

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

// The cells of a text, gathered one by one.

/// Gathers the cells of a text, which are all numbers or all truth values.
#[derive(Default)]
pub(super) struct Cells {
    values: Vec<f64>,
    boolean: Option<bool>,
    decimals: usize,
    longest: Longest,
    allow: AllowedNumbers,
    /// At least one number is a percentage.
    percent: bool,
}

impl Cells {
    pub(super) fn new(allow: AllowedNumbers) -> Cells {
        Cells { allow, ..Cells::default() }
    }

    /// Reads one more cell.
    ///
    /// # Errors
    /// If it is neither a number nor a truth value, or not of the kind of the cells before it, or not allowed.
    pub(super) fn push(&mut self, text: &str) -> Result<()> {
        let truth = truth(text);
        let value = match truth {
            Some(truth) => f64::from(u8::from(truth)),
            None => {
                let number = cell(text)?;
                self.percent |= text.ends_with('%');
                self.allow.check(number.value)?;
                self.decimals = self.decimals.max(number.decimals);
                self.longest.add(number);
                number.value
            }
        };
        if *self.boolean.get_or_insert(truth.is_some()) != truth.is_some() {
            return Err(Error::new("this mixes numbers with true and false")
                .help("use only numbers, or only true and false"));
        }
        if self.values.len() == MOST_CELLS {
            return Err(Error::new(format!("there are more than {MOST_CELLS} numbers")));
        }
        memory::grow(&mut self.values, 1, MOST_CELLS)?;
        self.values.push(value);
        Ok(())
    }

    /// The cells as an array.
    ///
    /// # Errors
    /// If there are none, or they do not fill the shape.
    pub(super) fn into_array(self, dims: Vec<usize>) -> Result<Array> {
        let boolean = self.boolean == Some(true);
        let (decimals, digits) = ((!boolean).then_some(self.decimals), self.longest.digits());
        let told = if self.percent { vec!["percentages as hundredths".to_string()] } else { Vec::new() };
        let facts = ArrayFacts { boolean, decimals, digits, told, ..ArrayFacts::default() };
        Ok(Array::new(dims, self.values)?.with(facts))
    }
}

/// The numbers with the most significant digits. If some of them have more decimals than others, the text has this number
/// of digits in each: `1.388e+00 7.681e-02`. If not, it has the same number of decimals in each: `1.39 0.08`.
#[derive(Default)]
struct Longest {
    digits: usize,
    least_decimals: usize,
    most_decimals: usize,
}

impl Longest {
    fn add(&mut self, Number { decimals, digits, .. }: Number) {
        if digits > self.digits {
            *self = Longest { digits, least_decimals: decimals, most_decimals: decimals };
        } else if digits == self.digits {
            self.least_decimals = self.least_decimals.min(decimals);
            self.most_decimals = self.most_decimals.max(decimals);
        }
    }

    fn digits(&self) -> Option<usize> {
        (self.least_decimals < self.most_decimals).then_some(self.digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        number(text).unwrap().value
    }

    #[test]
    fn numbers_are_read_in_every_spelling() {
        for (text, expected) in [
            ("2", 2.0),
            (" -.5 ", -0.5),
            ("+1e-3", 1e-3),
            ("\u{2212}4.25", -4.25),
            ("inf", f64::INFINITY),
            ("-INF", f64::NEG_INFINITY),
            ("\u{2212}Infinity", f64::NEG_INFINITY),
            ("-∞", f64::NEG_INFINITY),
            ("\u{2212}∞", f64::NEG_INFINITY),
            ("1E\u{2212}2", 1e-2),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
        assert!(value("NaN").is_nan());
        assert_eq!(value("-0").to_bits(), (-0.0f64).to_bits());
    }

    #[test]
    fn text_is_no_number_and_is_quoted_in_the_error() {
        for text in ["abc", "", "1 2", "0x10", "1_000", "--1", "∞∞", "e5"] {
            assert!(number(text).is_err(), "{text}");
        }
        let said = number("abc").unwrap_err().to_string();
        assert!(said.starts_with("`abc` is not a number\n  help: "), "{said}");
    }

    #[test]
    fn a_decimal_comma_is_explained() {
        let said = number("0,25").unwrap_err().to_string();
        assert!(said.contains("write a decimal point"), "{said}");
    }

    #[test]
    fn a_comma_among_blanks_may_be_that_of_a_decimal() {
        for row in ["1,5 2,5", "1,5 2", "\u{2212}1,5 2", "2 -1,5"] {
            let said = check_commas(row).unwrap_err().to_string();
            assert!(said.contains("may be one number or two"), "{row}: {said}");
        }
        for row in ["1,5", "1,2,3", "1, 2, 3", "1, 2 3", "1 2 3", "-inf,2", "1,2, 3,4"] {
            assert!(check_commas(row).is_ok(), "{row}");
        }
    }

    #[test]
    fn a_finite_number_never_turns_into_infinity() {
        let said = number("1e999").unwrap_err().to_string();
        assert!(said.contains("beyond the range"), "{said}");
    }

    #[test]
    fn decimals_are_counted_as_written() {
        for (text, decimals) in [
            ("3", 0),
            ("0.50", 2),
            ("-1.125", 3),
            ("5e-3", 3),
            ("1.5e3", 0),
            ("1.2345e2", 2),
            ("-inf", 0),
            ("1e-300", MOST_DECIMALS),
            ("1e-99999999999999999999", 0),
        ] {
            assert_eq!(number(text).unwrap().decimals, decimals, "{text}");
        }
    }

    #[test]
    fn formulas_are_told_from_tokens_that_begin_like_them() {
        for text in ["=A1*2", "=SUM(A1:A3)", "=2+3", "=$B$2", "+B2/2", "-A1*2", "@SUM(A1:A3)", "+A1:A3"] {
            assert!(is_formula(text), "{text}");
            assert_eq!(spreadsheet_kind(text), Some("a formula"), "{text}");
        }
        for text in ["=", "==", "=>", "+", "+x", "+x1", "-x1", "@", "@bat", "@bat1", "+=", "=)", "x=1", ""] {
            assert!(!is_formula(text), "{text}");
        }
        assert_eq!(
            (spreadsheet_kind("@bat"), spreadsheet_kind("+total"), spreadsheet_kind("=x")),
            (Some("a formula"), Some("a formula"), Some("a formula"))
        );
        for text in ["=", "-x", "+-1", "+1,5", "+1_0", "@", "+"] {
            assert_eq!(spreadsheet_kind(text), None, "{text}");
        }
    }

    #[test]
    fn an_error_begins_a_row_and_no_comment() {
        for text in ["#REF!", "#N/A,2", "#DIV/0!;1", "#NUM!\n1"] {
            assert!(starts_with_error(text), "{text}");
            assert_eq!(spreadsheet_kind(text), Some("an error of a spreadsheet"), "{text}");
        }
        for text in ["# REF!", "#REF! is an error", "#N/Axis", "#", "#tag"] {
            assert!(!starts_with_error(text), "{text}");
        }
    }

    #[test]
    fn numbers_and_truth_values_do_not_mix() {
        let mut cells = Cells::new(AllowedNumbers::FINITE);
        cells.push("true").unwrap();
        assert!(cells.push("1").is_err());
    }

    #[test]
    fn numbers_have_as_many_digits_or_as_many_decimals() {
        let digits = |text: &str| {
            let mut cells = Cells::new(AllowedNumbers::FINITE);
            text.split(' ').for_each(|number| cells.push(number).unwrap());
            cells.into_array(vec![text.split(' ').count()]).unwrap().facts.digits
        };
        // What Python's %.4e and %.4g write.
        assert_eq!(digits("1.3882e+00 -7.6811e-02 2.0000e+00"), Some(5));
        assert_eq!(digits("1.388 -0.07681 2 12.5"), Some(4));
        // %.4f, and numbers typed by hand.
        assert_eq!(digits("1.3882 -0.0768 12.5000"), None);
        assert_eq!(digits("1 0.5 0.25 100"), None);
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(line_and_column("äö,x", "äö,".len()), (1, 4));
        assert_eq!(line_and_column("1\n22\n3", 5), (3, 1));
    }
}
