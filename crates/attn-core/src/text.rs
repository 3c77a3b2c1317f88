//! Text for people: counts with their nouns, lists of words, clipped quotations, quantities with units, likely meanings of a
//! mistyped word. Every module uses these, so that the same thing is written in one way everywhere.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use crate::foreign::{hidden, to_os, visible};

// Long texts, cut where a line has no more room.

/// The mark of a text that was cut off.
pub const CUT: char = '…';

/// The longest piece of a user's text that an error repeats.
const LONGEST_QUOTE: usize = 40;

/// The user's text as an error repeats it: visible, and at most 40 characters before the mark.
pub fn clip(text: &str) -> String {
    let mut chars = text.chars();
    let start: String = chars.by_ref().take(LONGEST_QUOTE).collect();
    let mut shown = visible(&start).into_owned();
    if chars.next().is_some() {
        shown.push(CUT);
    }
    shown
}

/// The longest line of a message, in characters, and the length of the end that is kept of a longer one.
const LONGEST_LINE: usize = 1000;
const KEPT_END: usize = 300;

/// An error or a note as it is shown: of a line of more than a thousand characters, which repeats an argument or a label at
/// length, the beginning and the end.
pub fn abridged(message: &str) -> Cow<'_, str> {
    // A line has at least as many bytes as characters.
    if message.lines().all(|line| line.len() <= LONGEST_LINE) {
        return Cow::Borrowed(message);
    }
    let kept = |line: &str| {
        let count = line.chars().count();
        if count <= LONGEST_LINE {
            return line.to_string();
        }
        let start = line.chars().take(LONGEST_LINE - KEPT_END - 1);
        start.chain([CUT]).chain(line.chars().skip(count - KEPT_END)).collect()
    };
    Cow::Owned(message.split('\n').map(kept).collect::<Vec<String>>().join("\n"))
}

/// A text in at most `most` characters, the mark included.
pub fn clipped(text: &str, most: usize) -> Cow<'_, str> {
    if text.chars().nth(most).is_none() {
        return Cow::Borrowed(text);
    }
    let start: String = text.chars().take(most.saturating_sub(1)).collect();
    Cow::Owned(format!("{}{CUT}", start.trim_end()))
}

/// A text in at most `most` columns, cut between words if there are several.
pub fn clipped_at_word(text: &str, most: usize) -> Cow<'_, str> {
    if ScreenWidth::width(text) <= most {
        return Cow::Borrowed(text);
    }
    let mut start: String = text.chars().take(most.saturating_sub(1)).collect();
    start.truncate(start.rfind(' ').unwrap_or(start.len()));
    Cow::Owned(format!("{start} {CUT}"))
}

// Counts as people write them.

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

// Lists of words in a sentence.

/// Words as one list: “S”, “S and A”, “S, A and O”.
pub fn all_of<T: AsRef<str>>(words: &[T]) -> String {
    joined(words, "and")
}

/// A text with a small letter at its beginning, as a continuation; symbols such as `K` keep theirs.
pub fn uncapitalised(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_string(),
    }
}

/// Words as alternatives: “a”, “a or b”, “a, b or c”.
pub fn one_of<T: AsRef<str>>(words: &[T]) -> String {
    joined(words, "or")
}

fn joined<T: AsRef<str>>(words: &[T], conjunction: &str) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match &words[..] {
        [first @ .., last] if !first.is_empty() => format!("{} {conjunction} {last}", first.join(", ")),
        few => few.concat(),
    }
}

/// A list for an error: the first few names in backticks, and the number of the others.
pub fn listed_briefly<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    briefly(names.into_iter().map(|name| format!("`{}`", clip(name))))
}

/// A list for an error: the first few, and the number of the others.
pub fn briefly(words: impl IntoIterator<Item = String>) -> String {
    first_of(words, 12, ", ")
}

/// Names to choose from, separated by blanks: the first forty, and the number of the others.
pub fn choices<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    first_of(names.into_iter().map(clip), 40, " ")
}

fn first_of(words: impl IntoIterator<Item = String>, most: usize, between: &str) -> String {
    let mut words = words.into_iter();
    let shown: Vec<String> = words.by_ref().take(most).collect();
    match words.count() {
        0 => shown.join(between),
        more => format!("{} and {more} more", shown.join(between)),
    }
}

// The words that a mistyped one may have meant, for “did you mean …?”.

/// The longest word that is compared, in characters.
const LONGEST_WORD: usize = 64;

/// The most words that one mistyped word is compared with.
const MOST_COMPARED: usize = 20_000;

/// The most names that “did you mean …?” offers.
const MOST_NEAR: usize = 3;

/// The entry of `known` that `word` most likely meant, for “did you mean …?”.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    near(word, known).into_iter().next()
}

/// The question after such an entry, as the help of an error.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, known).map(|near| format!("did you mean `{near}`?"))
}

/// The entries of `known` that are a likely mistyping away from `word`, equally near, at most three; those that begin with the
/// same letter come first. Words of more than 64 characters have none.
pub fn near<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let Some(typed) = short(word) else { return Vec::new() };
    let is_like = |meant: &[char]| {
        let further = typed.len().abs_diff(meant.len());
        further <= 1 || further * 10 <= typed.len().max(meant.len()) * 3
    };
    let like = known.into_iter().filter_map(|name| Some((name, short(name).filter(|meant| is_like(meant))?)));
    let mut best = usize::MAX;
    let mut found: Vec<(bool, &str)> = Vec::new();
    let mut seen = HashSet::new();
    for (name, meant) in like.take(MOST_COMPARED) {
        let distance = strsim::generic_damerau_levenshtein(&typed, &meant);
        if distance > best || !is_mistyping(distance, &typed, &meant) || !seen.insert(name) {
            continue;
        }
        if distance < best {
            best = distance;
            found.clear();
        }
        found.push((typed.first() != meant.first(), name));
    }
    found.sort_by_key(|&(other_letter, _)| other_letter);
    found.into_iter().map(|(_, name)| name).take(MOST_NEAR).collect()
}

/// The characters of a word in lower case, unless it is too long to be compared.
fn short(word: &str) -> Option<Vec<char>> {
    let is_short = word.chars().nth(LONGEST_WORD).is_none();
    is_short.then(|| word.chars().flat_map(char::to_lowercase).collect())
}

/// Returns true if a word at this distance may be a mistyping: one slip in a word of three letters or more, three in ten
/// letters, or a letter that moved. Another letter in a word of three letters is another word.
fn is_mistyping(distance: usize, typed: &[char], meant: &[char]) -> bool {
    let longest = typed.len().max(meant.len());
    let has_same_letters = || {
        let sorted = |word: &[char]| {
            let mut word = word.to_vec();
            word.sort_unstable();
            word
        };
        sorted(typed) == sorted(meant)
    };
    match distance {
        0 => true,
        1 => longest > 3 || longest == 3 && (typed.len() != meant.len() || has_same_letters()),
        2 if longest > 3 && has_same_letters() => true,
        _ => distance * 10 <= longest * 3,
    }
}

// A number as it is typed.

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

// Measured quantities as people write them: bytes, times, rates, shares.

/// Bytes in binary units with one decimal: `512 bytes`, `1.0 GiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    match in_units(bytes, &UNITS) {
        (_, None) => format!("{bytes} bytes"),
        (number, Some(unit)) => format!("{number:.1} {unit}"),
    }
}

/// Bytes as an error says them: `1.5 GiB`, `12 MiB`, `1.5 MiB`, `100 KiB`.
pub fn size_in_brief(bytes: u64) -> String {
    match in_units(bytes, &["KiB", "MiB", "GiB"]) {
        (_, None) => format!("{bytes} bytes"),
        (number, Some(unit)) if unit == "GiB" || unit == "MiB" && number < 10.0 => {
            format!("{number:.1} {unit}")
        }
        (number, Some(unit)) => format!("{number:.0} {unit}"),
    }
}

/// Bytes in the largest of these units that is not too large; `None` for plain bytes.
fn in_units(bytes: u64, units: &[&'static str]) -> (f64, Option<&'static str>) {
    let mut number = bytes as f64;
    let mut unit = None;
    for larger in units {
        if number < 1024.0 {
            break;
        }
        number /= 1024.0;
        unit = Some(*larger);
    }
    (number, unit)
}

/// A time in the unit that leaves one to three digits before the point.
pub fn seconds(seconds: f64) -> String {
    let (number, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s if s >= 1e-6 => (s * 1e6, "µs"),
        s => (s * 1e9, "ns"),
    };
    format!("{} {unit}", three_digits(number))
}

/// A waiting time.
pub fn waiting(seconds: f64) -> String {
    match seconds {
        s if s >= 7200.0 => format!("{} hours", three_digits(s / 3600.0)),
        s if s >= 180.0 => format!("{:.0} minutes", s / 60.0),
        s => format!("{s:.0} seconds"),
    }
}

/// Three digits, or all before the point.
pub fn three_digits(number: f64) -> String {
    match number {
        x if x >= 100.0 => format!("{x:.0}"),
        x if x >= 10.0 => format!("{x:.1}"),
        x => format!("{x:.2}"),
    }
}

/// Per second, in thousands of millions.
pub fn giga(rate: f64) -> String {
    three_digits(rate / 1e9)
}

/// A part of a whole in percent.
pub fn percent(part: f64, whole: f64) -> String {
    let share = 100.0 * part / whole;
    if share < 10.0 { format!("{share:.1} %") } else { format!("{share:.0} %") }
}

/// The ratio of two numbers, in words.
pub fn times(now: f64, before: f64) -> String {
    if before > 0.0 { format!("×{}", three_digits(now / before)) } else { String::new() }
}

// Names as a shell reads them.

/// A name as a shell reads it: in quotes where it has to be, and as `$'…'` where something in it cannot be seen.
pub fn quoted(name: &str) -> Cow<'_, str> {
    if hidden(name).next().is_none() {
        return shlex::try_quote(name).unwrap_or(Cow::Borrowed(name));
    }
    let mut out = String::from("$'");
    let mut end = 0;
    let plain = |out: &mut String, text: &str| out.push_str(&text.replace('\\', "\\\\").replace('\'', "\\'"));
    for (at, c) in hidden(name) {
        plain(&mut out, &name[end..at]);
        end = at + c.len_utf8();
        for byte in to_os(&name[at..end]).as_encoded_bytes() {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\x{byte:02X}");
        }
    }
    plain(&mut out, &name[end..]);
    out.push('\'');
    Cow::Owned(out)
}

// The width of a text on a screen.

/// Texts that a screen shows in columns. The table of characters is read here and not by each caller: this crate is optimised
/// in tests as well, and layouts ask for thousands of widths.
pub trait ScreenWidth {
    /// The number of columns of a text in one line.
    fn width(&self) -> usize;

    /// The number of columns of the widest of its lines.
    fn widest_line(&self) -> usize;
}

impl ScreenWidth for str {
    fn width(&self) -> usize {
        UnicodeWidthStr::width(self)
    }

    fn widest_line(&self) -> usize {
        self.lines().map(UnicodeWidthStr::width).max().unwrap_or(0)
    }
}

/// The bytes of a text in base64, padded; `None` if it is none.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let (mut bytes, mut rest, mut bits) = (Vec::with_capacity(text.len() / 4 * 3), 0, 0);
    for c in digits.bytes() {
        rest = rest << 6 | DIGITS.iter().position(|&digit| digit == c)?;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((rest >> bits) as u8);
            rest &= (1 << bits) - 1;
        }
    }
    (rest == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_clipped_in_errors() {
        assert_eq!(clip(&"x".repeat(1_000_000)).chars().count(), LONGEST_QUOTE + 1);
        assert_eq!(clip("short"), "short");
    }

    #[test]
    fn of_a_long_line_of_a_message_the_beginning_and_the_end_are_kept() {
        let said = abridged("`short` is not a number\n  help: write 1\n");
        assert!(matches!(said, Cow::Borrowed(_)));
        let long = format!("`{}` is not a number\n  help: write 1", "ö".repeat(120_000));
        let said = abridged(&long);
        assert_eq!(said.lines().next().unwrap().chars().count(), LONGEST_LINE);
        assert!(said.starts_with("`öö") && said.ends_with("öö` is not a number\n  help: write 1"), "{said}");
        assert_eq!(abridged(&said), said);
    }

    #[test]
    fn a_clipped_text_ends_in_the_mark_and_has_the_length_asked_for() {
        assert_eq!(clipped("1 2; 3 4", 8), "1 2; 3 4");
        assert_eq!(clipped("1 2; 3 4", 7), "1 2; 3…");
        assert_eq!(clipped("1 2; 3 4", 5), "1 2;…");
        assert_eq!(clipped_at_word("one two three", 9), "one two …");
        assert_eq!(clipped_at_word("one two", 9), "one two");
    }

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

    #[test]
    fn a_list_has_commas_and_one_conjunction() {
        assert_eq!([all_of::<&str>(&[]), all_of(&["S"]), all_of(&["S", "A"])], ["", "S", "S and A"]);
        assert_eq!(all_of(&["S", "A", "O"]), "S, A and O");
        assert_eq!(one_of(&["a", "b", "c"]), "a, b or c");
    }

    #[test]
    fn a_long_list_says_how_many_more() {
        let names: Vec<String> = (0..15).map(|i| format!("n{i}")).collect();
        let said = listed_briefly(names.iter().map(String::as_str));
        assert!(said.ends_with("`n11` and 3 more"), "{said}");
        assert_eq!(listed_briefly(["a", "b"]), "`a`, `b`");
        assert_eq!(
            briefly((1..=13).map(|i| i.to_string())),
            "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 1 more"
        );
    }

    #[test]
    fn a_misspelt_word_finds_its_neighbour_and_a_strange_one_none() {
        assert_eq!(nearest("racquet", ["bat", "cave", "racket"]), Some("racket"));
        assert_eq!(nearest("xylophone", ["bat", "cave", "racket"]), None);
        assert_eq!(nearest("MASK", ["mask"]), Some("mask"));
        assert_eq!(nearest("wq", ["W_Q", "W_K"]), Some("W_Q"));
        assert_eq!(nearest("hte", ["the"]), Some("the"));
        for (typed, name) in
            [("bananas", "blanks"), ("cat", "bat"), ("x", "y"), ("xyzzy", "fuzzy"), ("ab", "A")]
        {
            assert_eq!(nearest(typed, [name]), None, "{typed}");
        }
    }

    #[test]
    fn of_equally_near_names_at_most_three_are_offered_the_same_first_letter_first() {
        assert_eq!(near("heat", ["seat", "heap", "head", "hear", "beat"]), ["heap", "head", "hear"]);
        assert_eq!(near("paly", ["play", "pale", "quiz"]), ["play", "pale"]);
        assert_eq!(near("maske", ["mask", "masked", "tasks"]), ["mask", "masked"]);
    }

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

    #[test]
    fn bytes_have_the_largest_unit_that_fits() {
        assert_eq!([size(1_073_741_824), size(512), size(80 << 20)], ["1.0 GiB", "512 bytes", "80.0 MiB"]);
        let brief = [1023, 100 << 10, 3 << 19, 12 << 20, 3 << 29, 5 << 40].map(size_in_brief);
        assert_eq!(brief, ["1023 bytes", "100 KiB", "1.5 MiB", "12 MiB", "1.5 GiB", "5120.0 GiB"]);
    }

    #[test]
    fn quantities_have_three_digits_and_a_unit() {
        assert_eq!(seconds(0.001_234), "1.23 ms");
        assert_eq!(seconds(123.4e-6), "123 µs");
        assert_eq!(seconds(12.0), "12.0 s");
        assert_eq!(giga(498.3e9), "498");
        assert_eq!(percent(1.0, 8.0), "12 %");
        assert_eq!(percent(1.0, 80.0), "1.2 %");
        assert_eq!(times(8.0, 2.0), "×4.00");
        assert_eq!(times(8.0, 0.0), "");
        assert_eq!(waiting(60.0), "60 seconds");
        assert_eq!(waiting(273.0), "5 minutes");
        assert_eq!(waiting(36_000.0), "10.0 hours");
    }

    #[test]
    fn a_shell_reads_the_quoted_name_as_the_name() {
        for (name, quoted_name) in [
            ("a.md", "a.md"),
            ("my lesson.md", "'my lesson.md'"),
            ("e\u{1b}]0;p'\u{7}.md", "$'e\\x1B]0;p\\'\\x07.md'"),
            ("caf\u{10ffe9} \\", "$'caf\\xE9 \\\\'"),
            ("b\u{200b}", "$'b\\xE2\\x80\\x8B'"),
        ] {
            assert_eq!(quoted(name), quoted_name);
        }
    }

    #[test]
    fn a_wide_character_takes_two_columns_and_of_several_lines_the_widest_counts() {
        assert_eq!(["", "cave", "洞穴", "e\u{301}", "👩‍👩‍👧"].map(ScreenWidth::width), [0, 4, 4, 1, 2]);
        assert_eq!(["", "a\n洞穴\nbat"].map(ScreenWidth::widest_line), [0, 4]);
    }

    #[test]
    fn base64_is_read_with_its_padding() {
        assert_eq!(from_base64("YmF0").unwrap(), b"bat");
        assert_eq!(from_base64("YmE=").unwrap(), b"ba");
        assert_eq!(from_base64("Yg==").unwrap(), b"b");
        for wrong in ["Y", "YmF", "YmF=", "Yh==", "Y===", "Ym 0"] {
            assert_eq!(from_base64(wrong), None, "{wrong}");
        }
    }
}
