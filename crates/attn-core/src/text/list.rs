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

/// A list for an error: the first few names in backticks, and how many more there are.
pub fn listed_briefly<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let names: Vec<&str> = names.into_iter().collect();
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{}`", clip(name))).collect();
    match names.len().checked_sub(SHOWN) {
        Some(more @ 1..) => format!("{} and {more} more", shown.join(", ")),
        _ => shown.join(", "),
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
    }
}
