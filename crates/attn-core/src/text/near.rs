//! The words that a mistyped one may have meant, for “did you mean …?”.

use std::collections::HashSet;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
