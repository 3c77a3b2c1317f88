//! A vector for a word without a vector, invented from its letters.

use std::collections::BTreeMap;

/// The weight of a pair of neighbouring letters, relative to a letter.
const PAIR: f64 = 0.125;
/// The weight of a capital letter.
const CAPITAL: f64 = 0.125;
/// No vector is longer than this many usual lengths.
const LONGEST: f64 = 1.5;
/// The most decimals that a coordinate is rounded to; after that it is taken as it is.
const MOST_DECIMALS: u32 = 15;

/// Vectors for `words`, in their order: `width` numbers each, about as long as `length`. Different words get different
/// vectors, and none gets one of `taken`; equal words get equal ones.
///
/// A word is lower-cased and taken apart into letters and into pairs of neighbours (the ends of the word count as
/// neighbours too). Every feature f has a fixed direction u(f) of length 1: its coordinates come from an integer hash, so
/// they are the same on every machine. For a word of letters c₁ … c_n and a usual length ℓ,
///
/// ```text
/// v = Σᵢ u(cᵢ) + ⅛ Σᵢ u(cᵢ cᵢ₊₁) + ⅛ Σ u(each capital)
/// y = ℓ · 4/7 · n/(n+1) · v
/// x = y / √(1 + |y|² / (1.5 ℓ)²)
/// ```
///
/// so that no vector is longer than 1.5 ℓ. Changing one letter changes a few terms of the sum, so words with similar
/// spelling lie close together. The coordinates are rounded to the fewest decimals that leave about 30 steps up to a usual
/// coordinate; where two words would then be equal, they take as many more decimals as tell them apart. The numbers say how
/// a word is spelled, and nothing about what it means.
pub fn invented(words: &[&str], width: usize, length: f64, taken: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let decimals = decimals(length, width);
    let mut vectors: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut exact: BTreeMap<&str, (Vec<f64>, u32)> =
        words.iter().map(|&word| (word, (vector(word, width, length), decimals))).collect();
    // Words whose vectors are equal, or taken, get one more decimal until none are.
    loop {
        for (word, (exact, decimals)) in &exact {
            vectors.insert(word, rounded(exact, *decimals));
        }
        let clashing: Vec<&str> = clashes(&vectors, taken);
        let mut finer = false;
        for word in clashing {
            if let Some((_, decimals)) = exact.get_mut(word)
                && *decimals <= MOST_DECIMALS
            {
                *decimals += 1;
                finer = true;
            }
        }
        if !finer {
            break;
        }
    }
    // Two words with one hash: never seen, and told apart all the same.
    for (place, word) in clashes(&vectors, taken).into_iter().map(str::to_string).enumerate() {
        if let Some(first) = vectors.get_mut(word.as_str()).and_then(|vector| vector.first_mut()) {
            *first += length * (place + 1) as f64 / 1024.0;
        }
    }
    words.iter().map(|word| vectors[word].clone()).collect()
}

/// The words whose vector another word has too, or that is taken.
fn clashes<'w>(vectors: &BTreeMap<&'w str, Vec<f64>>, taken: &[Vec<f64>]) -> Vec<&'w str> {
    let bits = |vector: &[f64]| vector.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
    let mut uses: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
    for vector in vectors.values().chain(taken) {
        *uses.entry(bits(vector)).or_default() += 1;
    }
    vectors.iter().filter(|(_, vector)| uses[&bits(vector)] > 1).map(|(word, _)| *word).collect()
}

/// Decimals that leave about 30 steps up to a usual coordinate, and at least one.
fn decimals(length: f64, width: usize) -> u32 {
    let usual = length / (width.max(1) as f64).sqrt();
    (1..MOST_DECIMALS).find(|&decimals| usual * power_of_ten(decimals) >= 28.0).unwrap_or(MOST_DECIMALS)
}

fn rounded(vector: &[f64], decimals: u32) -> Vec<f64> {
    let power = power_of_ten(decimals);
    let rounded = |x: &f64| match decimals {
        // Beyond this a rounded number would not be the nearest one any more.
        _ if decimals > MOST_DECIMALS => *x,
        // 0 for −0.
        _ => (x * power).round() / power + 0.0,
    };
    vector.iter().map(rounded).collect()
}

fn power_of_ten(exponent: u32) -> f64 {
    10_u64.pow(exponent) as f64
}

/// The vector of a word before it is rounded.
fn vector(word: &str, width: usize, length: f64) -> Vec<f64> {
    let mut sum = vec![0.0; width];
    let letters: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
    for &letter in &letters {
        add(&mut sum, 1.0, &[1, letter.into()]);
    }
    let ends = [u32::MAX];
    let all: Vec<u32> =
        ends.iter().copied().chain(letters.iter().map(|&letter| letter.into())).chain(ends).collect();
    for pair in all.windows(2) {
        add(&mut sum, PAIR, &[2, pair[0], pair[1]]);
    }
    for capital in word.chars().filter(|letter| letter.is_uppercase()) {
        add(&mut sum, CAPITAL, &[3, capital.into()]);
    }
    let size = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let count = letters.len() as f64;
    let scale = length * (4.0 * count / (7.0 * (count + 1.0)));
    let scaled: Vec<f64> = sum.iter().map(|x| x * scale).collect();
    let share = size(&scaled) / (LONGEST * length);
    let shrink = (1.0 + share * share).sqrt();
    scaled.iter().map(|x| x / shrink).collect()
}

/// Adds a feature's direction, `weight` long.
fn add(sum: &mut [f64], weight: f64, feature: &[u32]) {
    let mut state = feature.iter().flat_map(|part| part.to_le_bytes()).fold(0xcbf2_9ce4_8422_2325, fnv);
    let direction: Vec<f64> = sum.iter().map(|_| coordinate(&mut state)).collect();
    let size = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
    for (sum, x) in sum.iter_mut().zip(&direction) {
        *sum += weight * x / size;
    }
}

/// One byte of a 64-bit FNV-1a hash.
fn fnv(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

/// The next number of the stream that begins at `state` (SplitMix64): between −1 and 1, never 0.
fn coordinate(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    // The upper 52 bits, and a half: an odd number of 2⁻⁵³, exact in 64 bits.
    ((mixed >> 12) as f64 + 0.5) / (1_u64 << 51) as f64 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_the_same_numbers_on_every_machine() {
        // The sums worked out apart, in Python, from the formula of `invented`.
        let words = ["lives", "A", "蝙蝠"];
        let vectors = invented(&words, 2, 4.0, &[]);
        assert_eq!(vectors, EXPECTED.map(|row| row.to_vec()));
    }

    const EXPECTED: [[f64; 2]; 3] = [[-3.6, 2.8], [-1.2, -0.1], [-1.3, -2.0]];

    #[test]
    fn words_that_would_be_equal_take_more_decimals_and_the_others_do_not() {
        let alone = invented(&["cave"], 2, 4.0, &[]);
        let beside = invented(&["cave", "racket"], 2, 4.0, &alone);
        assert_ne!(beside[0], alone[0]);
        assert!((beside[0][0] - alone[0][0]).abs() <= 0.05 && (beside[0][1] - alone[0][1]).abs() <= 0.05);
        assert_eq!(beside[1], invented(&["racket"], 2, 4.0, &[])[0]);
    }

    #[test]
    fn equal_words_get_equal_vectors_and_capitals_move_a_word_a_little() {
        let vectors = invented(&["the", "bats", "the", "The"], 3, 4.0, &[]);
        assert_eq!(vectors[0], vectors[2]);
        let apart =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        let moved = apart(&vectors[0], &vectors[3]);
        assert!(moved > 0.0 && moved < 0.5, "{moved}");
    }

    #[test]
    fn any_text_and_any_width_get_finite_numbers() {
        for word in ["", "👩‍👩‍👧", "e\u{301}", "الخفاش", &"x".repeat(10_000)] {
            for width in [1, 2, 300] {
                let vector = &invented(&[word], width, 4.0, &[])[0];
                let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
                assert!(length.is_finite() && length <= 6.1 && vector.len() == width, "{word:?} {length}");
            }
        }
    }
}
