//! A show of hands.

use crate::error::{Error, Result};
use crate::input::clip;

use super::given::{LONGEST, MOST_OPTIONS, last_letter, option_of};

/// No class is larger.
const MOST_HANDS: usize = 9999;

/// Whether a text is a show of hands, `A3 B14 C8`, and not the letter of one pupil.
pub fn is_show_of_hands(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.contains(|c: char| c.is_ascii_digit())
}

/// Reads a show of hands: how many chose each of so many options. An option that is not named has none.
///
/// # Errors
/// If it is not letters with numbers, or names a letter that is no option, or one twice.
pub fn votes(text: &str, options: usize) -> Result<Vec<usize>> {
    let help = format!("type the letters A to {} with their hands: A3 B14", last_letter(options));
    let wrong = |what: String| Err(Error::new(what).help(help.clone()));
    if text.len() > LONGEST {
        return wrong(format!("`{}` is too long for a show of hands", clip(text)));
    }
    let mut hands = vec![None; options.min(MOST_OPTIONS)];
    let mut rest = text.trim();
    while let Some(letter) = rest.chars().next() {
        let behind = rest[letter.len_utf8()..].trim_start_matches([' ', ':', '=']);
        let digits = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        let (count, further) = behind.split_at(digits);
        let (Some(option), Ok(count)) = (option_of(letter, hands.len()), count.parse::<usize>()) else {
            return wrong(format!("`{}` is not an option with its hands", clip(rest)));
        };
        if count > MOST_HANDS {
            return wrong(format!("{count} hands are more than a class has"));
        }
        if hands[option].replace(count).is_some() {
            return wrong(format!("`{}` counts {} twice", clip(text), letter.to_ascii_uppercase()));
        }
        rest = further.trim_start_matches([' ', ',', ';']);
    }
    match hands.iter().all(Option::is_none) {
        true => wrong("no hands were counted".to_string()),
        false => Ok(hands.into_iter().map(Option::unwrap_or_default).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_show_of_hands_is_counted_by_option() {
        assert_eq!(votes("A3 B14 C8", 3).unwrap(), [3, 14, 8]);
        assert_eq!(votes("c8,a3", 3).unwrap(), [3, 0, 8]);
        assert_eq!(votes("A: 3; B=14", 4).unwrap(), [3, 14, 0, 0]);
        assert_eq!(votes("a3b4", 2).unwrap(), [3, 4]);
        for text in
            ["", "A", "3", "A3 A4", "D1", "A99999", "A3 B", "A-1", "A3 é4", "A99999999999999999999999"]
        {
            assert!(
                votes(text, 3).unwrap_err().to_string().ends_with("A to C with their hands: A3 B14"),
                "{text}"
            );
        }
        assert!(is_show_of_hands("A3 B14") && !is_show_of_hands("A") && !is_show_of_hands("0.3"));
    }

    proptest! {
        #[test]
        fn hands_that_are_shown_are_counted(hands in prop::collection::vec(0usize..40, 1..6)) {
            let shown: Vec<String> = ('A'..).zip(&hands).map(|(letter, hands)| format!("{letter}{hands}")).collect();
            prop_assert_eq!(votes(&shown.join(" "), hands.len()).unwrap(), hands);
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}|[A-Ca-c0-9 ,:=;-]{0,30}") {
            if let Ok(hands) = votes(&text, 3) {
                prop_assert!(hands.len() == 3 && is_show_of_hands(text.trim()));
            }
        }
    }

    #[test]
    fn what_is_too_long_is_refused_unread() {
        assert!(votes(&"A".repeat(10_000_000), 3).unwrap_err().to_string().contains("too long"));
    }
}
