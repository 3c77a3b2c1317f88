//! Limits of typed answers, and letters of options, for all kinds of question.

/// No answer is longer than this, in bytes.
pub const LONGEST: usize = 200;
/// The alphabet of options.
pub const MOST_OPTIONS: usize = 26;

/// The letter of the last of this many options.
pub fn last_letter(letters: usize) -> char {
    ('A'..='Z').nth(letters.clamp(1, MOST_OPTIONS) - 1).unwrap_or('Z')
}

/// The position of the option that a letter names.
pub fn option_of(letter: char, letters: usize) -> Option<usize> {
    ('A'..='Z').take(letters).position(|known| known == letter.to_ascii_uppercase())
}
