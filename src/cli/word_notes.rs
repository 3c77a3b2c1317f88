//! Notes on the vectors of words: which are built in, which are invented, and which definitions are not used.

use crate::demo::{Document, words};
use crate::foreign::visible;
use crate::graph::Origin;
use crate::text::{all_of, nearest};

use super::word_vector::WordVector;

/// The notes on words whose vectors are built in or invented.
pub(super) fn notes_on(names: &[String], words: &[&str], found: &[WordVector]) -> Vec<String> {
    let at = |name: &str| words.binary_search(&name).ok().map(|at| &found[at]);
    let mut in_order: Vec<&str> = Vec::new();
    for name in names {
        if !in_order.contains(&name.as_str()) {
            in_order.push(name);
        }
    }
    let mut notes: Vec<String> = Vec::new();
    let is_invented = |name: &&str| at(name).is_some_and(|found| found.origin == Origin::Letters);
    let letters: Vec<&str> = in_order.iter().copied().filter(is_invented).collect();
    if !letters.is_empty() {
        let has = match letters.len() {
            1 => "has no vector of its own: it is",
            _ => "have no vectors of their own: each is",
        };
        notes.push(format!(
            "{} {has} {}. Words with similar spelling get similar vectors; the numbers say nothing about meaning. \
             --define WORD=1,2 gives a word your own numbers.",
            listed(&letters),
            Origin::Letters
        ));
        notes.extend(letters.iter().filter_map(|word| misspelt(word)));
        notes.extend(meant_columns(in_order.iter().filter_map(|name| at(name)?.built_in)));
    }
    if let [only] = in_order[..]
        && names.len() == 1
        && is_without_blanks(only)
    {
        notes.push("This is one token: put spaces between the words.".into());
    }
    let of_list = |ours: bool| -> Vec<&str> {
        let built_in = in_order.iter().filter_map(|name| at(name)?.built_in);
        built_in.filter(|word| word.ours == ours).map(|word| word.name).collect()
    };
    let (ours, stated) = (of_list(true), of_list(false));
    if !ours.is_empty() {
        let document = Document::Similarity;
        let theirs = if stated.is_empty() {
            String::new()
        } else {
            format!(
                "; those of {} are in “{}” (document {})",
                listed(&stated),
                document.title(),
                document.number()
            )
        };
        notes.push(format!("We chose the coordinates of {}{theirs}.", listed(&ours)));
    }
    notes
}

/// Whether a text is in a script that sets no spaces between words, and is long for one word.
fn is_without_blanks(text: &str) -> bool {
    let is_of_such = |c: &char| {
        matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
            | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
    };
    const LONGEST_WORD: usize = 3;
    text.chars().filter(is_of_such).count() > LONGEST_WORD
}

/// The note on the columns of built-in words, for matrices without column labels because they contain invented vectors.
fn meant_columns(words: impl Iterator<Item = &'static words::Word>) -> Option<String> {
    let words: Vec<_> = words.collect();
    let [across, up] = words.first()?.axes;
    let names: Vec<&str> = words.iter().map(|word| word.name).collect();
    words
        .iter()
        .all(|word| word.axes == [across, up])
        .then(|| format!("For {} the columns are {across} and {up}.", listed(&names)))
}

/// A list of words, with punctuation in quotation marks; of many words only the first: `bat, cave and “,”`.
fn listed(words: &[&str]) -> String {
    const MOST: usize = 12;
    let name = |word: &&str| {
        if word.contains(char::is_alphanumeric) {
            visible(word).into_owned()
        } else {
            format!("“{}”", visible(word))
        }
    };
    let shown = if words.len() > MOST + 1 { MOST } else { words.len() };
    let mut names: Vec<String> = words[..shown].iter().map(name).collect();
    if words.len() > shown {
        names.push(format!("{} more", words.len() - shown));
    }
    all_of(&names)
}

/// A note for a long word that is nearly a built-in one.
fn misspelt(word: &str) -> Option<String> {
    let near = nearest(word, words::known_words().iter().map(|word| word.name))?;
    let distance = strsim::osa_distance(&word.to_lowercase(), near);
    (word.chars().count() >= 5 && distance == 1)
        .then(|| format!("For {} did you mean {near}, which has coordinates here?", visible(word)))
}

/// Notes on words that are defined and do not occur.
pub(super) fn unused(defined: &[(String, Vec<f64>)], names: &[String]) -> Vec<String> {
    let occurs = |word: &str| names.iter().any(|name| name == word || name.to_lowercase() == word);
    let unused = defined.iter().filter(|(word, _)| !occurs(word));
    unused.map(|(word, _)| format!("{} is defined but does not occur.", visible(word))).collect()
}
