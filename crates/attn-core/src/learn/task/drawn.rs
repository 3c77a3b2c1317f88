//! Examples that are drawn.

use crate::learn::batch::Example;
use crate::random::LegacyStream;

/// The most tokens of an example, since a head has a weight for each pair of them.
pub const LONGEST: usize = 512;

/// The letters of `induction`, and the most words of a text.
pub(super) const LETTERS: usize = 16;
const WORDS: usize = 4;
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

/// The number of words of a text of `induction`, whose longest has this many letters: no letter is in two of them.
pub(super) fn words(longest: usize, symbols: usize) -> usize {
    (symbols / longest.max(1)).clamp(1, WORDS)
}

/// Words of different symbols, again and again in random order. Where a word has been there before, each of its symbols asks for
/// the next, all but the last. Which word comes next is never asked.
pub(super) fn induction(
    stream: &mut LegacyStream,
    (lengths, tokens): ((usize, usize), usize),
    symbols: usize,
) -> Example {
    let mut rest: Vec<usize> = (0..symbols).collect();
    let mut word = || -> Vec<usize> {
        let length = between(stream, lengths);
        (0..length).map(|_| rest.swap_remove(below(stream, rest.len()))).collect()
    };
    let words: Vec<Vec<usize>> = (0..words(lengths.1, symbols)).map(|_| word()).collect();
    let mut was_there = vec![false; words.len()];
    let (mut all, mut asks) = (Vec::new(), Vec::new());
    while all.len() <= tokens {
        let at = below(stream, words.len());
        for (place, symbol) in words[at].iter().enumerate() {
            all.push(*symbol);
            asks.push(was_there[at] && place + 1 < words[at].len());
        }
        was_there[at] = true;
    }
    let targets = (0..tokens).map(|i| asks[i].then(|| all[i + 1])).collect();
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
    fn a_word_that_was_there_before_asks_for_its_next_letter_in_every_text() {
        let mut stream = stream();
        for (least, most) in (2..=LETTERS).flat_map(|most| (2..=most).map(move |least| (least, most))) {
            let Example { tokens, targets } =
                induction(&mut stream, ((least, most), INDUCTION_TOKENS), LETTERS);
            assert_eq!((tokens.len(), targets.len()), (INDUCTION_TOKENS, INDUCTION_TOKENS));
            assert!(targets.iter().any(Option::is_some), "{least}-{most}: nothing is asked in {tokens:?}");
            for (i, target) in targets.iter().enumerate() {
                let Some(target) = *target else { continue };
                // What is asked for came after each earlier token of the kind, and comes now.
                assert_eq!(tokens.get(i + 1).unwrap_or(&target), &target);
                let earlier = (0..i).filter(|j| tokens[*j] == tokens[i]);
                assert!(earlier.clone().count() > 0 && earlier.into_iter().all(|j| tokens[j + 1] == target));
            }
        }
    }

    /// The share of right predictions of a rule that says the next letter from the tokens up to a place.
    fn right(examples: &[Example], rule: impl Fn(&[usize]) -> Option<usize>) -> f64 {
        let (mut right, mut asked) = (0, 0);
        for Example { tokens, targets } in examples {
            for (i, target) in targets.iter().enumerate().filter(|(_, target)| target.is_some()) {
                asked += 1;
                right += usize::from(rule(&tokens[..=i]) == *target);
            }
        }
        right as f64 / f64::from(asked)
    }

    #[test]
    fn no_rule_of_place_age_or_frequency_is_right_half_of_the_time() {
        let mut stream = stream();
        let examples: Vec<Example> =
            (0..2000).map(|_| induction(&mut stream, ((2, 4), INDUCTION_TOKENS), LETTERS)).collect();
        let share = |rule: &dyn Fn(&[usize]) -> Option<usize>| right(&examples, rule);
        let last = |text: &[usize], symbol: usize| text.iter().rposition(|x| *x == symbol);
        let best = |text: &[usize], key: &dyn Fn(usize) -> usize| {
            (0..LETTERS).filter(|x| text.contains(x)).max_by_key(|x| key(*x))
        };
        // The letter that stands a fixed number of places back.
        for back in 1..INDUCTION_TOKENS {
            let rule = |text: &[usize]| (text.len() > back).then(|| text[text.len() - 1 - back]);
            assert!(share(&rule) < 0.25, "{back} places back: {}", share(&rule));
        }
        // The one that was not there for the longest time, and the most frequent one.
        let oldest = |text: &[usize]| best(text, &|x| LETTERS * text.len() - last(text, x).unwrap_or(0));
        let frequent = |text: &[usize]| best(text, &|x| text.iter().filter(|y| **y == x).count());
        assert!((0.35..0.45).contains(&share(&oldest)) && share(&frequent) < 0.25);
        // What came after the same letter is always right.
        let followed = |text: &[usize]| {
            let now = text[text.len() - 1];
            last(&text[..text.len() - 1], now).map(|at| text[at + 1])
        };
        assert_eq!(share(&followed), 1.0);
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
