//! Names and numbers inside texts, such as the `d_k` of `√d_k`: the formats set them in their own way.

use std::iter::Peekable;
use std::str::Chars;

/// Returns true if a character can be part of a name or a number.
pub fn is_in_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '.')
}

/// Takes the name or number that the characters begin with; empty if they begin with something else.
pub fn take_name(characters: &mut Peekable<Chars<'_>>) -> String {
    std::iter::from_fn(|| characters.next_if(|next| is_in_name(*next))).collect()
}
