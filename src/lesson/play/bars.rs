//! A vote as bars.

use crate::lesson::show::{Ink, Tone};
use crate::render::Screen;
use crate::text::counted;

/// The longest bar.
const WIDEST: usize = 40;
/// Columns beside a bar: indent, letter, number.
const BESIDE: usize = 14;
/// Additional columns for the previous vote.
const BEFORE: usize = 13;

/// The line below bars once the right option is known: `B  14 of 25 hands  ← right`.
pub(super) fn right_bar(hands: &[usize], right: char, screen: Screen) -> Vec<String> {
    let option = ('A'..='Z').position(|letter| letter == right).unwrap_or_default();
    let count = hands.get(option).copied().unwrap_or_default();
    let mark = Ink { bold: true, ..Ink::of(Tone::Right) }.on(&right.to_string(), screen);
    let all = counted(hands.iter().sum(), "hand");
    vec![format!("   {mark}  {count} of {all}{}", screen.charset.spelled("  ← right"))]
}

/// The bars of a vote, one for each option from A on, next to the numbers of the previous vote if there are any. The right
/// option is marked once it is known.
pub(super) fn bars(
    hands: &[usize],
    before: Option<&[usize]>,
    right: Option<char>,
    screen: Screen,
) -> Vec<String> {
    let most = hands.iter().copied().max().unwrap_or(0).max(1);
    let beside = BESIDE + if before.is_some() { BEFORE } else { 0 };
    let widest = screen.width.saturating_sub(beside).clamp(4, WIDEST);
    let block = screen.charset.spelled("█");
    let mut lines: Vec<String> = ('A'..='Z')
        .zip(hands)
        .map(|(letter, &count)| {
            let is_right = right == Some(letter);
            let tone = if is_right { Tone::Right } else { Tone::Asked };
            let length = (count * widest).div_ceil(most);
            let bar = Ink::of(tone).on(&block.repeat(length), screen);
            let mark = Ink { bold: true, ..Ink::of(tone) }.on(&letter.to_string(), screen);
            let arrow = if is_right { screen.charset.spelled("  ← right") } else { "".into() };
            let gap = " ".repeat(widest - length);
            let option = letter as usize - 'A' as usize;
            let before = before.map(|before| before.get(option).copied().unwrap_or_default());
            let before = before.map(|before| format!("  before {before:>4}")).unwrap_or_default();
            format!("   {mark}  {bar}{gap} {count:>4}{before}{arrow}").trim_end().to_string()
        })
        .collect();
    let all = counted(hands.iter().sum(), "hand");
    lines.push(format!("      {}", Ink::of(Tone::Quiet).on(&all, screen)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Charset;

    #[test]
    fn bars_are_as_long_as_the_hands_are_many() {
        let screen = Screen::plain(34);
        let lines = bars(&[5, 10, 0], None, Some('B'), screen);
        assert_eq!(lines[0], format!("   A  {}{} {:>4}", "█".repeat(10), " ".repeat(10), 5));
        assert_eq!(lines[1], format!("   B  {} {:>4}  ← right", "█".repeat(20), 10));
        assert_eq!(lines[2], format!("   C  {} {:>4}", " ".repeat(20), 0));
        assert_eq!(lines[3].trim(), "15 hands");
    }

    #[test]
    fn the_vote_before_stands_next_to_the_present_one() {
        let lines = bars(&[2, 4], Some(&[5, 1]), None, Screen::plain(40));
        assert!(lines[0].ends_with("   2  before    5"), "{lines:?}");
        assert!(lines[1].ends_with("   4  before    1"), "{lines:?}");
        assert!(lines.iter().all(|line| line.chars().count() <= 40), "{lines:?}");
    }

    #[test]
    fn one_hand_is_seen_and_no_hand_is_none() {
        let screen = Screen { charset: Charset::Ascii, ..Screen::plain(80) };
        let lines = bars(&[400, 1, 0], None, None, screen);
        assert_eq!(lines.iter().map(|line| line.matches('@').count()).collect::<Vec<_>>(), [40, 1, 0, 0]);
        assert!(lines.iter().all(|line| line.is_ascii()));
    }
}
