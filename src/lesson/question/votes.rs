//! A vote.

use crate::error::{Error, Result};
use crate::text::{clip, counted};

use crate::answer::{LONGEST, MOST_OPTIONS, last_letter, option_of};

/// The maximum number of votes for an option.
const MOST_HANDS: usize = 9999;

/// Whether a text is a vote, `A3 B14 C8` or `3 14 8`, and not a single answer.
pub fn is_show_of_hands(text: &str) -> bool {
    let has_letters = text.starts_with(|c: char| c.is_ascii_alphabetic());
    has_letters && text.contains(|c: char| c.is_ascii_digit()) || in_order(text).is_some()
}

/// The numbers of `3 14 8`, two of them at least.
fn in_order(text: &str) -> Option<Vec<&str>> {
    let numbers: Vec<&str> = text.split([' ', ',', ';']).filter(|number| !number.is_empty()).collect();
    let all = numbers.iter().all(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    (all && numbers.len() > 1).then_some(numbers)
}

/// Reads a show of hands: how many chose each of the options. An option that is not named has none; numbers alone are
/// those of all options in their order.
///
/// # Errors
/// If it is not letters with numbers, or names a letter that is not an option, or one twice; or not one number for each option.
pub fn votes(text: &str, options: usize) -> Result<Vec<usize>> {
    let last = last_letter(options);
    let help = format!("type a number for each option, or the letters A to {last} with their votes: A3 B14");
    let wrong = |what: String| Err(Error::new(what).help(help.clone()));
    if text.len() > LONGEST {
        return wrong(format!("`{}` is too long for votes", clip(text)));
    }
    let mut hands = vec![None; options.min(MOST_OPTIONS)];
    let lettered: String;
    let mut text = text;
    if let Some(numbers) = in_order(text) {
        if numbers.len() != hands.len() {
            return wrong(format!(
                "`{}` has {} for {} options",
                clip(text),
                counted(numbers.len(), "number"),
                hands.len()
            ));
        }
        lettered = ('A'..='Z').zip(numbers).map(|(letter, number)| format!("{letter}{number} ")).collect();
        text = &lettered;
    }
    let mut rest = text.trim();
    while let Some(letter) = rest.chars().next() {
        let behind = rest[letter.len_utf8()..].trim_start_matches([' ', ':', '=']);
        let digits = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        let (count, further) = behind.split_at(digits);
        let (Some(option), Ok(count)) = (option_of(letter, hands.len()), count.parse::<usize>()) else {
            return wrong(format!("`{}` is not an option with a number of votes", clip(rest)));
        };
        if count > MOST_HANDS {
            return wrong(format!("{count} votes are too many for a class"));
        }
        if hands[option].replace(count).is_some() {
            return wrong(format!("`{}` counts {} twice", clip(text), letter.to_ascii_uppercase()));
        }
        rest = further.trim_start_matches([' ', ',', ';']);
    }
    if hands.iter().all(Option::is_none) {
        return wrong("no votes were counted".to_string());
    }
    Ok(hands.into_iter().map(Option::unwrap_or_default).collect())
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
        assert_eq!(votes("3 14 8", 3).unwrap(), [3, 14, 8]);
        assert_eq!(votes("3, 0,8", 3).unwrap(), [3, 0, 8]);
        for text in [
            "3 14",
            "1 2 3 4",
            "3 99999 1",
            "",
            "A",
            "3",
            "A3 A4",
            "D1",
            "A99999",
            "A3 B",
            "A-1",
            "A3 é4",
            "A99999999999999999999999",
        ] {
            assert!(
                votes(text, 3).unwrap_err().to_string().ends_with("A to C with their votes: A3 B14"),
                "{text}"
            );
        }
        assert!(
            is_show_of_hands("A3 B14")
                && is_show_of_hands("3 14")
                && !is_show_of_hands("3")
                && !is_show_of_hands("A")
                && !is_show_of_hands("0.3")
        );
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
