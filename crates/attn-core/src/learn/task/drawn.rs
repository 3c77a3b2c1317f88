//! Examples that are drawn.

use crate::learn::batch::Example;
use crate::random::LegacyStream;

/// The most tokens of an example, since a head has a weight for each pair of them.
pub const LONGEST: usize = 512;

/// The letters of the patterns of `induction`.
pub(super) const LETTERS: usize = 16;
/// The tokens of an example of `induction`.
pub(super) const INDUCTION_TOKENS: usize = 24;
/// The tokens of `12+34=64`, without the last digit of the answer, which nothing follows: the answer is `640`, last digit first.
pub(super) const ADDITION_TOKENS: usize = 8;

/// A whole number from 0 to count − 1.
pub(super) fn below(stream: &mut LegacyStream, count: usize) -> usize {
    ((stream.uniform() * count as f64) as usize).min(count.saturating_sub(1))
}

/// A whole number between two, both included; where they are the same, nothing is drawn.
pub(super) fn between(stream: &mut LegacyStream, (least, most): (usize, usize)) -> usize {
    if most > least { least + below(stream, most - least + 1) } else { least }
}

/// Symbols drawn one by one.
fn sequence(stream: &mut LegacyStream, length: usize, symbols: usize) -> Vec<usize> {
    (0..length).map(|_| below(stream, symbols)).collect()
}

/// Each place asks for the symbol at the mirrored place.
pub(super) fn reverse(stream: &mut LegacyStream, length: usize, symbols: usize) -> Example {
    let tokens = sequence(stream, length, symbols);
    let targets = tokens.iter().rev().copied().map(Some).collect();
    Example { tokens, targets }
}

/// The last symbol of the sequence asks for the smallest, which asks for the next.
pub(super) fn sort(stream: &mut LegacyStream, length: usize, symbols: usize) -> Example {
    let mut tokens = sequence(stream, length, symbols);
    let mut sorted = tokens.clone();
    sorted.sort();
    let asked = sorted.iter().copied().map(Some);
    let targets = std::iter::repeat_n(None, length.saturating_sub(1)).chain(asked).collect();
    tokens.extend(&sorted[..length.saturating_sub(1)]);
    Example { tokens, targets }
}

/// A pattern of different symbols, repeated to the end; each symbol that has been there before asks for what followed it.
pub(super) fn induction(
    stream: &mut LegacyStream,
    (length, tokens): (usize, usize),
    symbols: usize,
) -> Example {
    let mut rest: Vec<usize> = (0..symbols).collect();
    let pattern: Vec<usize> =
        (0..length.min(symbols)).map(|_| rest.swap_remove(below(stream, rest.len()))).collect();
    let mut all = pattern.iter().copied().cycle().take(tokens + 1).collect::<Vec<usize>>();
    let targets = (0..tokens).map(|i| (i >= length).then(|| all[i + 1])).collect();
    all.truncate(tokens);
    Example { tokens: all, targets }
}

/// `12+34=`, and its sum with the last digit first; the sign of equality asks for that digit. Ids: the digits, + and =.
pub(super) fn addition(stream: &mut LegacyStream) -> Example {
    let [a, b] = [(); 2].map(|()| below(stream, 100));
    let digits = |x: usize| [x / 10, x % 10];
    let sum = a + b;
    let answer = [sum % 10, sum / 10 % 10, sum / 100];
    let tokens: Vec<usize> = digits(a)
        .into_iter()
        .chain([10])
        .chain(digits(b))
        .chain([11])
        .chain(answer[..2].iter().copied())
        .collect();
    let targets = std::iter::repeat_n(None, 5).chain(answer.map(Some)).collect();
    Example { tokens, targets }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> LegacyStream {
        LegacyStream::seeded(3)
    }

    #[test]
    fn a_sequence_and_its_mirror() {
        let Example { tokens, targets } = reverse(&mut stream(), 6, 10);
        let mirrored: Vec<Option<usize>> = tokens.iter().rev().map(|x| Some(*x)).collect();
        assert_eq!(targets, mirrored);
    }

    #[test]
    fn sorting_asks_from_the_last_symbol_on() {
        let Example { tokens, targets } = sort(&mut stream(), 4, 10);
        assert_eq!((tokens.len(), targets.len()), (7, 7));
        let mut sorted = tokens[..4].to_vec();
        sorted.sort();
        assert_eq!(tokens[4..], sorted[..3]);
        assert_eq!(targets[3..], sorted.into_iter().map(Some).collect::<Vec<_>>());
        assert!(targets[..3].iter().all(Option::is_none));
    }

    #[test]
    fn a_pattern_asks_only_for_what_has_been_seen() {
        let Example { tokens, targets } = induction(&mut stream(), (9, 24), 16);
        assert_eq!((tokens.len(), targets.len()), (24, 24));
        assert!((9..24).all(|i| tokens[i] == tokens[i - 9]), "{tokens:?}");
        assert!((9..23).all(|i| targets[i] == Some(tokens[i + 1])) && targets[23].is_some());
        assert!(targets[..9].iter().all(Option::is_none));
        let mut pattern = tokens[..9].to_vec();
        pattern.sort();
        pattern.dedup();
        assert_eq!(pattern.len(), 9);
    }

    #[test]
    fn a_sum_is_asked_for_from_its_last_digit_on() {
        for _ in 0..50 {
            let Example { tokens, targets } = addition(&mut stream());
            assert_eq!((tokens.len(), targets.len(), tokens[2], tokens[5]), (ADDITION_TOKENS, 8, 10, 11));
            let number = |at: usize| 10 * tokens[at] + tokens[at + 1];
            let answer: Vec<usize> = targets.iter().flatten().copied().collect();
            assert_eq!(answer[0] + 10 * answer[1] + 100 * answer[2], number(0) + number(3));
            assert_eq!(answer[..2], tokens[6..]);
        }
    }
}
