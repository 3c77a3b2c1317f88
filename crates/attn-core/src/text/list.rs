//! Lists of words in a sentence.

use super::clip;

/// Words as one list: “S”, “S and A”, “S, A and O”.
pub fn all_of<T: AsRef<str>>(words: &[T]) -> String {
    joined(words, "and")
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
