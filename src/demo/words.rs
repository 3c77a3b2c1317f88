//! The words that come with the program: two coordinates each, as on a blackboard.

use crate::matrix::Matrix;

/// A word as a point of a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Word {
    /// The word, in lower case.
    pub name: &'static str,
    /// Its coordinates in its plane.
    pub coordinates: [f64; 2],
    /// The meanings of the two axes of its plane. Words of different planes can be compared, but it means nothing.
    pub axes: [&'static str; 2],
    /// True if the coordinates are this program's own, and not those of document 002.
    pub ours: bool,
}

/// The plane of document 002 in which “bat” is an animal or a thing to play with. The names of the axes are ours.
const ANIMALS_AND_SPORT: [&str; 2] = ["animals", "sport"];
/// The plane of document 002 in which “squash” is done to commits or eaten. It gives no coordinates there.
const GIT_AND_VEGETABLES: [&str; 2] = ["git", "vegetables"];

const fn stated(name: &'static str, coordinates: [f64; 2]) -> Word {
    Word { name, coordinates, axes: ANIMALS_AND_SPORT, ours: false }
}

const fn ours(name: &'static str, coordinates: [f64; 2], axes: [&'static str; 2]) -> Word {
    Word { name, coordinates, axes, ours: true }
}

const WORDS: &[Word] = &[
    stated("bat", [3.0, 3.0]),
    stated("cave", [4.0, 0.0]),
    stated("racket", [0.0, 5.0]),
    ours("owl", [4.0, 1.0], ANIMALS_AND_SPORT),
    ours("tennis", [0.0, 4.0], ANIMALS_AND_SPORT),
    ours("baseball", [1.0, 4.0], ANIMALS_AND_SPORT),
    ours("squash", [2.0, 2.0], GIT_AND_VEGETABLES),
    ours("commit", [4.0, 1.0], GIT_AND_VEGETABLES),
    ours("pumpkin", [1.0, 4.0], GIT_AND_VEGETABLES),
];

/// All of them; those of document 002 (“Mathematical details behind self-attention”, section 3) come first.
pub fn known_words() -> &'static [Word] {
    WORDS
}

/// The word of this name, whatever the case of its letters.
pub fn find(name: &str) -> Option<&'static Word> {
    WORDS.iter().find(|word| word.name.eq_ignore_ascii_case(name))
}

/// The words as rows, (words, 2), labelled by their names; the columns are named if all words are in one plane.
pub fn matrix(words: &[Word]) -> Matrix {
    let names: Vec<&str> = words.iter().map(|word| word.name).collect();
    let matrix = Matrix::from_fn(words.len(), 2, |i, j| words[i].coordinates[j]).rows_named(&names);
    match words.split_first() {
        Some((first, others)) if others.iter().all(|word| word.axes == first.axes) => {
            matrix.cols_named(&first.axes)
        }
        _ => matrix,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_document_002_have_exactly_its_coordinates_and_no_other_word_claims_to() {
        let stated: Vec<(&str, [f64; 2])> = known_words()
            .iter()
            .filter(|word| !word.ours)
            .map(|word| (word.name, word.coordinates))
            .collect();
        assert_eq!(stated, [("bat", [3.0, 3.0]), ("cave", [4.0, 0.0]), ("racket", [0.0, 5.0])]);
    }

    #[test]
    fn a_word_is_found_in_any_case_and_every_name_is_used_once() {
        assert_eq!(find("Bat").map(|word| word.coordinates), Some([3.0, 3.0]));
        assert_eq!(find("wombat"), None);
        for (i, word) in known_words().iter().enumerate() {
            assert_eq!(find(word.name), Some(&known_words()[i]), "{} stands there twice", word.name);
        }
    }

    #[test]
    fn words_of_two_planes_have_no_common_names_for_their_columns() {
        let of = |names: &[&str]| matrix(&names.iter().map(|name| *find(name).unwrap()).collect::<Vec<_>>());
        assert_eq!(of(&["bat", "owl"]).col_labels().unwrap().join(" "), "animals sport");
        assert_eq!(of(&["bat", "squash"]).col_labels(), None);
        assert_eq!(of(&["bat", "squash"]).row_labels().unwrap().join(" "), "bat squash");
    }
}
